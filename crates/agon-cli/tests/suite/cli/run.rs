//! Runs the program for tests.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::super::games;

/// Time limit against hanging. Most commands take less than a second on an idle machine, rules that
/// explode up to half a minute, and all of them many times as long on a busy one.
const MAX_TIME: Duration = Duration::from_secs(300);

/// The result of a run of the program.
pub(super) struct Run {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
    shown: String,
}

impl Run {
    #[track_caller]
    pub(super) fn succeeds(self) -> Run {
        assert_eq!(self.code, 0, "{}\n{}{}", self.shown, self.out, self.err);
        self.does_not_panic()
    }

    #[track_caller]
    pub(super) fn fails_with(self, code: i32) -> Run {
        assert_eq!(self.code, code, "{}\n{}{}", self.shown, self.out, self.err);
        self.does_not_panic()
    }

    /// Asserts that the run failed with the code and a message that contains `part`.
    #[track_caller]
    pub(super) fn complains(self, code: i32, part: &str) {
        let run = self.fails_with(code);
        assert!(run.err.contains(part), "{}: no `{part}` in\n{}", run.shown, run.err);
    }

    #[track_caller]
    fn does_not_panic(self) -> Run {
        assert!(!self.err.contains("panicked"), "{}\n{}", self.shown, self.err);
        self
    }
}

/// Runs the program with empty standard input.
pub(super) fn agon(args: &[&str]) -> Run {
    agon_reading(args, "")
}

/// Runs the program with empty standard input and variables of the environment.
pub(super) fn agon_with(args: &[&str], variables: &[(&str, &str)]) -> Run {
    run(args, variables, "")
}

/// Runs the program with a text on standard input.
pub(super) fn agon_reading(args: &[&str], input: impl AsRef<str>) -> Run {
    run(args, &[], input.as_ref())
}

fn run(args: &[&str], variables: &[(&str, &str)], input: &str) -> Run {
    let shown = format!("agon {}", args.join(" "));
    let mut child = games::program()
        .args(args)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // A program may end without reading its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    // Both pipes are read while the program runs; otherwise it would block when they are full.
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let out = std::thread::spawn(move || std::io::read_to_string(stdout.expect("it is piped")));
    let err = std::thread::spawn(move || std::io::read_to_string(stderr.expect("it is piped")));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            break status;
        }
        if began.elapsed() > MAX_TIME {
            child.kill().expect("a child process can be killed");
            panic!("{shown}: still running after {} s", MAX_TIME.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |reader: std::thread::JoinHandle<std::io::Result<String>>| {
        reader.join().expect("reading does not panic").expect("the program writes text")
    };
    Run {
        code: status.code().expect("the program was not killed by a signal"),
        out: text(out),
        err: text(err),
        shown,
    }
}
