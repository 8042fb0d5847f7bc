//! The files of `tests/hostile`, and some that are too large to be kept, through every command:
//! each ends by itself, within limits of time and memory, and without a panic.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::super::games::{self, Scratch};

/// Time limit of one command. Most take less than a second on an idle machine.
const MAX_TIME: Duration = Duration::from_secs(100);

/// Limit on the address space of one command in kilobytes.
const MAX_KILOBYTES: u64 = 8 << 20;

/// Every command that takes a game, with short limits.
const COMMANDS: [&str; 17] = [
    "check GAME",
    "check GAME --plays 2 --max-steps 20 --json",
    "check GAME --fix --dry-run",
    "show GAME --stage rules",
    "show GAME --stage checked",
    "translate GAME --to kif",
    "translate GAME --to toss --seconds 2",
    "why GAME terminal",
    "simulate GAME -n 2 --max-steps 20 --engine auto --json",
    "perft GAME --depth 1",
    "record GAME -n 1 --max-steps 10 --out OUT",
    "ground GAME --seconds 2",
    "solve GAME --seconds 1 --nodes 10000",
    "match GAME --start-clock 1 --play-clock 0.3 --max-steps 3 --json",
    "host GAME --start-clock 1 --play-clock 0.3 --max-steps 3 --players random",
    "info GAME --seconds 1",
    "replay GAME GAME",
];

/// Commands that stop at a limit of the interpreter only, and that take long on files that explode.
const QUICK_COMMANDS: [usize; 6] = [0, 2, 3, 5, 11, 16];

struct Outcome {
    code: Option<i32>,
    err: String,
    took: Duration,
}

/// Runs a command with limits on memory and time.
fn run(arguments: &[String]) -> Outcome {
    let program = games::program();
    let mut child = std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -v {MAX_KILOBYTES}; exec \"$0\" \"$@\"")])
        .arg(program.get_program())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let stderr = child.stderr.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = std::io::Read::read_to_end(&mut { stderr }, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program can be waited for") {
            break Some(status);
        }
        if began.elapsed() > MAX_TIME {
            child.kill().expect("a child process can be killed");
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let code = status.and_then(|status| status.code());
    Outcome { code, err: reader.join().expect("reading does not panic"), took: began.elapsed() }
}

/// Texts that are too large to be kept as files.
fn generated() -> Vec<(&'static str, String)> {
    let base = "(role r)(init (s 0))(legal r a)(<= (next (s 1)) (true (s 0)))\
                (<= terminal (true (s 1)))(goal r 50)";
    let mut one_line = base.to_owned();
    let mut chain = format!("{base}(<= (p0 ?x) (true (s ?x)))");
    for i in 0..20_000 {
        let _ = write!(one_line, "(<= (p{i} ?x) (true (s ?x)))");
    }
    for i in 0..20_000 {
        let _ = write!(chain, "(<= (p{} ?x) (p{i} ?x))", i + 1);
    }
    // 2^200 joint moves in every state.
    let roles: String = (0..200).map(|i| format!("(role r{i})")).collect();
    let many_roles = format!(
        "{roles}(init (s 0))(<= (legal ?r a) (role ?r))(<= (legal ?r b) (role ?r))\
         (<= (next (s 1)) (true (s 0)))(<= terminal (true (s 1)))(<= (goal ?r 50) (role ?r))"
    );
    let arguments: String = (0..200_000).map(|i| format!(" a{i}")).collect();
    let conditions: String = (0..3000).map(|i| format!("(e ?y{i})")).collect();
    vec![
        ("one-line", one_line),
        ("chain", chain + "(<= (goal r 7) (p20000 9))"),
        ("many-roles", many_roles),
        ("wide-fact", format!("{base}(f{arguments})")),
        ("wide-term", format!("{base}(g (f{arguments}))")),
        (
            "long-rule",
            format!("{base}(e 1)(<= (p ?x) (true (s ?x)) {conditions})(<= (goal r 9) (p 7))"),
        ),
        ("deep", format!("{base}{}a{}", "(f ".repeat(50_000), ")".repeat(50_000))),
        ("closing", ")".repeat(50_000)),
        ("opening", "(".repeat(50_000)),
        ("empty", String::new()),
    ]
}

#[test]
fn hostile_files_go_through_every_command() {
    let scratch = Scratch::new("hostile");
    let mut sheets: Vec<(String, bool)> = Vec::new();
    for entry in std::fs::read_dir(games::root().join("tests/hostile")).expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|ending| ending == "kif" || ending == "toss") {
            let name = path.to_string_lossy().into_owned();
            let explodes = name.contains("exploding") || name.contains("all-pairs");
            sheets.push((name, explodes));
        }
    }
    sheets.sort();
    assert!(sheets.len() >= 13, "the files are there");
    for (name, text) in generated() {
        sheets.push((scratch.file(&format!("{name}.kif"), text), false));
    }
    let out = scratch.path("out.json").to_string_lossy().into_owned();
    let cases: Vec<(&String, &str)> = sheets
        .iter()
        .flat_map(|(sheet, explodes)| {
            let chosen = (0..COMMANDS.len())
                .filter(move |at| !explodes || QUICK_COMMANDS.contains(at) || is_slow_run());
            chosen.map(move |at| (sheet, COMMANDS[at]))
        })
        .collect();
    games::for_each(&cases, |(sheet, command)| {
        let word = |word: &str| word.replace("GAME", sheet).replace("OUT", &out);
        let arguments: Vec<String> = command.split(' ').map(word).collect();
        let Outcome { code, err, took } = run(&arguments);
        let shown = format!("agon {} ({took:?})", arguments.join(" "));
        match code {
            None => Err(format!("{shown}: did not end by itself: {err}")),
            Some(0..=2) if err.contains("panicked") => Err(format!("{shown}: {err}")),
            Some(0..=2) if err.contains(['\u{1b}', '\u{9b}']) => {
                Err(format!("{shown}: control characters in {err:?}"))
            }
            Some(0..=2) if err.lines().count() > 1000 => Err(format!("{shown}: endless errors")),
            Some(0..=2) => Ok(()),
            Some(code) => Err(format!("{shown}: exit code {code}: {err}")),
        }
    });
}

/// Returns whether the long runs are wanted, too.
fn is_slow_run() -> bool {
    std::env::var_os("SLOW").is_some()
}

#[test]
fn errors_of_garbage_are_capped_and_escaped() {
    let scratch = Scratch::new("garbage");
    let garbage = scratch.file("garbage.kif", "\u{1b}[2J )\n".repeat(5000));
    for command in ["simulate", "info", "perft", "match"] {
        let arguments: Vec<String> = [command, &garbage].map(str::to_owned).to_vec();
        let Outcome { code, err, .. } = run(&arguments);
        assert!(code == Some(1) || code == Some(2), "{command}: {err}");
        assert!(err.lines().count() < 1000, "{command}: {} lines", err.lines().count());
        assert!(err.contains("more"), "{command}: the message tells of more errors");
        assert!(!err.contains('\u{1b}'), "{command}");
    }
}

/// A check says that it could not try the rules, instead of calling them good.
#[test]
fn rules_that_explode_are_a_finding_of_a_quick_check() {
    for file in ["exploding-init.kif", "exploding-legal.kif", "exploding-next.kif"] {
        let path = games::root().join("tests/hostile").join(file);
        let found = super::json(&super::agon(&["check", &path.to_string_lossy(), "--json"]));
        assert_eq!(found["errors"], 0, "{file}: {found}");
        let findings = found["findings"].as_array().expect("findings are a list");
        let is_refusal = |finding: &serde_json::Value| finding["code"] == "play-refused";
        assert!(findings.iter().any(is_refusal), "{file}: {found}");
    }
}
