//! The files of `tests/hostile`, and some that are too large to be kept, through every command:
//! each ends by itself, within limits of time and memory, and without a panic.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::games::{self, Scratch};

/// Time limit of one command. Most take less than a second on an idle machine.
const MAX_TIME: Duration = Duration::from_secs(100);

/// Limit on the address space of one command in kilobytes.
const MAX_KILOBYTES: u64 = 8 << 20;

/// A command line of `tests/hostile/commands.txt`.
struct CommandLine {
    words: Vec<String>,
    /// Whether it stops at limits of the engines only, so that it takes long on files that explode.
    is_slow: bool,
}

fn command_lines() -> Vec<CommandLine> {
    let path = games::root().join("tests/hostile/commands.txt");
    let text = std::fs::read_to_string(path).expect("the command lines are there");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| CommandLine {
            words: line.trim_start_matches("+ ").split(' ').map(str::to_owned).collect(),
            is_slow: line.starts_with('+'),
        })
        .collect()
}

/// Commands without a file: they serve others, and tests of their own send them hostile rules.
const SERVERS: [&str; 2] = ["serve", "player"];

struct Outcome {
    code: Option<i32>,
    err: String,
    took: Duration,
}

/// Runs a command with limits on memory and time, and with an input.
fn run(arguments: &[String], input: &[u8]) -> Outcome {
    let program = games::program();
    let mut child = std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -v {MAX_KILOBYTES}; exec \"$0\" \"$@\"")])
        .arg(program.get_program())
        .args(arguments)
        .env("AGON_NO_MODELS", "1")
        .env("AGON_MODELS", "/nonexistent/agon-models")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_vec();
    // A command that does not read its input closes it.
    let writer = std::thread::spawn(move || {
        let _ = std::io::Write::write_all(&mut stdin, &input);
    });
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
    writer.join().expect("writing does not panic");
    let code = status.and_then(|status| status.code());
    Outcome { code, err: reader.join().expect("reading does not panic"), took: began.elapsed() }
}

/// Texts that are too large to be kept as files.
fn generated() -> Vec<(&'static str, String)> {
    let toss = |rules: &str, model: &str| {
        format!(
            "PLAYERS X\n{rules}\nPAYOFF {{ X: 0 }}\nLOC 0 {{ PLAYER X MOVES [Cross -> 0] }}\n\
             MODEL [ | P:1 {{}} | ] \"\n{model}\"\n"
        )
    };
    let cross = "RULE Cross: [a | - | -] -> [a | P(a) | -] emb P";
    let nots = "not ".repeat(20_000);
    let parens = ["(".repeat(20_000), ")".repeat(20_000)];
    let names: String = (0..5_000).map(|i| format!("x{i},")).collect();
    let edges: String = (0..20_000).map(|i| format!("[Cross -> {}];", i % 7)).collect();
    let tuples: String = (0..50_000).map(|i| format!("(e{i}, e{});", (i * 7) % 50_000)).collect();
    let elements: String = (0..50_000).map(|i| format!("e{i},")).collect();
    let sums: String = "Sum (x | not P(x) : 1) * ".repeat(60);
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
        ("one-line.kif", one_line),
        ("chain.kif", chain + "(<= (goal r 7) (p20000 9))"),
        ("many-roles.kif", many_roles),
        ("wide-fact.kif", format!("{base}(f{arguments})")),
        ("wide-term.kif", format!("{base}(g (f{arguments}))")),
        (
            "long-rule.kif",
            format!("{base}(e 1)(<= (p ?x) (true (s ?x)) {conditions})(<= (goal r 9) (p 7))"),
        ),
        ("deep.kif", format!("{base}{}a{}", "(f ".repeat(50_000), ")".repeat(50_000))),
        ("closing.kif", ")".repeat(50_000)),
        ("opening.kif", "(".repeat(50_000)),
        ("empty.kif", String::new()),
        ("deep.toss", toss(&format!("{cross} pre {nots}P(a)"), " . .\n")),
        ("parens.toss", toss(&format!("{cross} pre {}P(a){}", parens[0], parens[1]), " . .\n")),
        (
            "product.toss",
            toss(&format!("{cross} pre {sums}1 > 0"), &" . . . . . . . .\n".repeat(8)),
        ),
        (
            "wide.toss",
            toss(&format!("REL Big({names} y) = P(y)\n{cross} pre ex {names} y P(y)"), " . .\n"),
        ),
        ("large-board.toss", toss(cross, &format!("{}\n", " .".repeat(200)).repeat(200))),
        (
            "edges.toss",
            format!("PLAYERS X\n{cross}\nPAYOFF {{ X: 0 }}\nLOC 0 {{ PLAYER X MOVES {edges} }}\n"),
        ),
        (
            "elements.toss",
            format!(
                "PLAYERS X\n{cross}\nPAYOFF {{ X: 0 }}\nLOC 0 {{ PLAYER X MOVES [Cross -> 0] }}\n\
                 START [ {elements} e | E {{{tuples}}}; P:1 {{}} | - ]\n"
            ),
        ),
        ("empty.toss", "PLAYERS".to_owned()),
    ]
}

/// Returns a sheet as messages to the language server: opened, asked about, closed.
fn lsp_messages(text: &str, name: &str) -> Vec<u8> {
    let language = if name.ends_with(".toss") { "toss" } else { "gdl" };
    let uri = format!("file://{name}");
    let document = json!({"uri": uri});
    let at = json!({"textDocument": document, "position": {"line": 2, "character": 7}});
    let opened = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let messages = [
        json!({"id": 1, "method": "initialize", "params": {"capabilities": {}}}),
        json!({"method": "initialized", "params": {}}),
        json!({"method": "textDocument/didOpen", "params": {"textDocument": opened}}),
        json!({"id": 2, "method": "textDocument/hover", "params": at}),
        json!({"id": 3, "method": "textDocument/completion", "params": at}),
        json!({"id": 4, "method": "textDocument/documentSymbol",
            "params": {"textDocument": document}}),
        json!({"id": 5, "method": "textDocument/formatting",
            "params": {"textDocument": document, "options": options}}),
        json!({"id": 6, "method": "shutdown"}),
        json!({"method": "exit"}),
    ];
    let mut bytes = Vec::new();
    for mut message in messages {
        message["jsonrpc"] = json!("2.0");
        let message = message.to_string();
        bytes.extend(format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes());
    }
    bytes
}

/// Returns calls of `agon engine` about a sheet.
fn engine_calls(text: &str, name: &str) -> Vec<u8> {
    let calls = [
        json!({"call": "load", "game": text}),
        json!({"call": "load", "game": name}),
        json!({"call": "facts"}),
        json!({"call": "legal"}),
        json!({"call": "next", "moves": "a"}),
        json!({"call": "goals"}),
        json!({"call": "playout", "n": 2, "seed": 1}),
        json!({"call": "search", "player": "mcts", "seconds": 0.2}),
        json!({"call": "explain"}),
        json!({"call": "drop", "states": [18446744073709551615_u64, -1, 0]}),
    ];
    calls.iter().flat_map(|call| format!("{call}\n").into_bytes()).collect()
}

/// Every file goes through every command line if `SLOW` is set. Without it each file takes every
/// fourth line, another one for each file.
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
    assert!(sheets.len() >= 29, "the files are there");
    for (name, text) in generated() {
        sheets.push((scratch.file(name, text), false));
    }
    let commands = command_lines();
    let mut cases: Vec<(&String, &CommandLine, String)> = Vec::new();
    for (place, (sheet, explodes)) in sheets.iter().enumerate() {
        for (at, command) in commands.iter().enumerate() {
            let is_chosen = (place + at) % 4 == 0 && !(command.is_slow && *explodes);
            if is_chosen || is_slow_run() {
                cases.push((sheet, command, format!("out-{}", cases.len())));
            }
        }
    }
    games::for_each(&cases, |(sheet, command, out)| {
        let out = scratch.path(out).to_string_lossy().into_owned();
        let word = |word: &String| word.replace("GAME", sheet).replace("OUT", &out);
        let mut arguments: Vec<String> = command.words.iter().map(word).collect();
        let mut input = Vec::new();
        if let Some(at) = arguments.iter().position(|word| word == "<") {
            let bytes = std::fs::read(sheet).expect("the file is there");
            let text = String::from_utf8_lossy(&bytes);
            input = match arguments[at + 1].as_str() {
                "LSP" => lsp_messages(&text, sheet),
                _ => engine_calls(&text, sheet),
            };
            arguments.truncate(at);
        }
        let Outcome { code, err, took } = run(&arguments, &input);
        let shown = format!("agon {} ({took:?})", arguments.join(" "));
        match code {
            None => Err(format!("{shown}: did not end by itself: {err}")),
            Some(0..=3) if err.contains("panicked") => Err(format!("{shown}: {err}")),
            Some(0..=3) if err.contains(['\u{1b}', '\u{9b}', '\u{202e}']) => {
                Err(format!("{shown}: control characters in {err:?}"))
            }
            Some(0..=3) if err.lines().count() > 1000 => Err(format!("{shown}: endless errors")),
            Some(0..=3) => Ok(()),
            Some(code) => Err(format!("{shown}: exit code {code}: {err}")),
        }
    });
}

/// A new command gets a line in `tests/hostile/commands.txt`.
#[test]
fn every_command_meets_the_hostile_files() {
    let help = super::agon(&["--help"]).out;
    let listed = help.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = listed
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        .filter(|word| !word.starts_with('-') && *word != "agon")
        .collect();
    assert!(names.len() > 30, "the help lists the commands: {help}");
    let lines = command_lines();
    for name in names {
        let is_met = lines.iter().any(|line| line.words[0] == name);
        assert!(is_met || SERVERS.contains(&name), "no hostile file goes through `agon {name}`");
    }
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
        let Outcome { code, err, .. } = run(&arguments, &[]);
        assert!(code == Some(1) || code == Some(2), "{command}: {err}");
        assert!(err.lines().count() < 1000, "{command}: {} lines", err.lines().count());
        assert!(err.contains("more"), "{command}: the message tells of more errors");
        assert!(!err.contains('\u{1b}'), "{command}");
    }
}

/// Files that are not files: a device that never ends, and one that is always full.
#[cfg(target_os = "linux")]
#[test]
fn devices_are_refused_at_once_and_stay() {
    let scratch = Scratch::new("devices");
    let zero: [&[&str]; 5] = [
        &["tournament", "/dev/zero"],
        &["models", "import", "tic-tac-toe", "/dev/zero"],
        &["draw", "tic-tac-toe", "--stylesheet", "/dev/zero"],
        &["match", "tic-tac-toe", "--players", "bestfirst(eval=concepts(file=/dev/zero)),random"],
        &["check", "/dev/zero"],
    ];
    for arguments in zero {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let Outcome { code, err, .. } = run(&arguments, &[]);
        assert!(matches!(code, Some(1 | 2)), "{arguments:?}: {code:?} {err}");
        assert!(err.contains("larger than 64 MiB"), "{arguments:?}: {err}");
    }
    // A socket stands for a device here: a test must not risk one of the system.
    let socket = scratch.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let out = socket.to_string_lossy();
    let arguments = ["learn", "tic-tac-toe", "--seconds", "1", "--threads", "1", "--out", &out];
    let Outcome { code, err, .. } = run(&arguments.map(str::to_owned), &[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("not a file"), "{err}");
    assert!(!socket.is_file(), "the socket is still there");
}

/// A full disk is told, and a reader that has seen enough is not.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_told() {
    let to = |out: Stdio| {
        let child = games::program().arg("games").stdout(out).stderr(Stdio::piped()).output();
        let output = child.expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
    let (code, err) = to(full.into());
    assert_eq!(code, Some(2));
    assert!(err.contains("cannot write to the standard output"), "{err}");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert_eq!(to(writer.into()), (Some(0), String::new()));
}

/// Counting a million moves ends when its time is over.
#[test]
fn counting_obeys_its_time_limit() {
    let path = games::root().join("tests/hostile/all-pairs.kif");
    let path = path.to_string_lossy();
    let arguments = ["perft", &path, "--depth", "3", "--seconds", "1"].map(str::to_owned);
    let Outcome { code, err, took } = run(&arguments, &[]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("the time is over"), "{err}");
    assert!(took < Duration::from_secs(60), "{took:?}");
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
