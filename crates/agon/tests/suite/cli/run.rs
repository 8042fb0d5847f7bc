//! Running the program and looking at what came of it.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::super::games;

/// No command of these tests takes a second on its own; this is for a busy machine, and against hanging.
const MAX_TIME: Duration = Duration::from_secs(60);

/// What a run of the program came to.
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

    /// Fails with the code, and says so in words that contain `part`.
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

/// Runs the program with nothing on standard input.
pub(super) fn agon(args: &[&str]) -> Run {
    agon_reading(args, "")
}

/// Runs the program with a text on standard input.
pub(super) fn agon_reading(args: &[&str], input: impl AsRef<str>) -> Run {
    let shown = format!("agon {}", args.join(" "));
    let mut child = games::program()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A program that does not read is none the worse for it.
    let _ = stdin.write_all(input.as_ref().as_bytes());
    drop(stdin);
    // Both pipes are emptied while it runs, or it would wait for us as we wait for it.
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let out = std::thread::spawn(move || std::io::read_to_string(stdout.expect("it is piped")));
    let err = std::thread::spawn(move || std::io::read_to_string(stderr.expect("it is piped")));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            break status;
        }
        if began.elapsed() > MAX_TIME {
            child.kill().expect("our own child can be ended");
            panic!("{shown}: still running after {} s", MAX_TIME.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |reader: std::thread::JoinHandle<std::io::Result<String>>| {
        reader.join().expect("reading does not panic").expect("the program writes text")
    };
    Run { code: status.code().expect("no signal ended it"), out: text(out), err: text(err), shown }
}
