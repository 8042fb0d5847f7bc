//! Times quantifier elimination over the reals on known problems, and prints a table:
//! `cargo xtask elimination`
//!
//! Where z3 is installed as a Python module, it answers the same sentences. The environment
//! variable `AGON_Z3_PYTHON` names the interpreter; otherwise it is `python3`.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use agon_reals::elimination::{
    EliminationLimits, Polynomial, RealFormula, Sign, decide, eliminate, least, smt_lib,
};

/// Reads scripts, each up to a line `----`, and prints the answer to each and the seconds it took.
const PROGRAM: &str = "
import sys, time, z3
for script in sys.stdin.read().split('----\\n'):
    if script.strip():
        solver = z3.Solver()
        solver.set('timeout', 20000)
        solver.from_string(script)
        began = time.perf_counter()
        answer = solver.check()
        print(answer, time.perf_counter() - began, flush=True)
";

/// A sentence, with its truth value.
struct Problem {
    name: &'static str,
    sentence: RealFormula,
    expected: bool,
}

pub(crate) fn run(_args: Vec<String>) {
    let limits = EliminationLimits {
        max_steps: 50_000_000,
        max_atoms: 200_000,
        ..EliminationLimits::default()
    };
    let problems = sentences();
    let theirs = ask_z3(&problems);
    println!("| sentence | seconds here | seconds z3 | answers |");
    println!("|---|---|---|---|");
    for (place, problem) in problems.iter().enumerate() {
        let (seconds, answer) = timed(|| decide(&problem.sentence, &limits));
        let their_seconds = theirs.get(place).map_or("-".to_owned(), |their| their.1.clone());
        let expected = problem.expected;
        let verdict = match (answer, theirs.get(place).map(|their| their.0.as_str())) {
            (Err(error), _) => format!("refused here: {error}"),
            (Ok(ours), _) if ours != expected => format!("WRONG: {ours}, expected {expected}"),
            (Ok(ours), Some("sat")) if ours => "agree: true".to_owned(),
            (Ok(ours), Some("unsat")) if !ours => "agree: false".to_owned(),
            (Ok(ours), Some("unknown")) => format!("{ours} here, z3 does not know"),
            (Ok(ours), Some(other)) => format!("DIFFERENT: {ours} here, z3 says {other}"),
            (Ok(ours), None) => format!("{ours} here, z3 not tried"),
        };
        println!("| {} | {seconds:.6} | {their_seconds} | {verdict} |", problem.name);
    }
    println!();
    println!("| elimination with parameters | seconds | comparisons in the result |");
    println!("|---|---|---|");
    for (name, formula) in open_formulas() {
        let (seconds, result) = timed(|| eliminate(&formula, &limits));
        let size = match result {
            Ok(result) => result.size().n_atoms.to_string(),
            Err(error) => format!("refused: {error}"),
        };
        println!("| {name} | {seconds:.6} | {size} |");
    }
    println!();
    println!("| in play | microseconds | value |");
    println!("|---|---|---|");
    for (name, formula) in play() {
        let (seconds, value) = timed(|| least(&formula, variable('t'), &limits));
        let value = value.map_or_else(|error| error.to_string(), |value| value.to_string());
        println!("| {name} | {:.1} | {value} |", seconds * 1e6);
    }
}

/// Returns the mean time of a computation, which is repeated if it is short, and its result.
fn timed<T>(compute: impl Fn() -> T) -> (f64, T) {
    let began = Instant::now();
    let result = compute();
    let once = began.elapsed().as_secs_f64();
    let n_rounds = (0.2 / once.max(1e-7)) as usize;
    if n_rounds < 2 {
        return (once, result);
    }
    let began = Instant::now();
    for _ in 0..n_rounds {
        std::hint::black_box(compute());
    }
    (began.elapsed().as_secs_f64() / n_rounds as f64, result)
}

/// Returns the answers and times of z3; none if it is not installed.
fn ask_z3(problems: &[Problem]) -> Vec<(String, String)> {
    let python = std::env::var("AGON_Z3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let scripts: String =
        problems.iter().map(|problem| smt_lib::script(&problem.sentence) + "----\n").collect();
    let answer = || -> std::io::Result<String> {
        let mut child = Command::new(&python)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(scripts.as_bytes())?;
        }
        Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned())
    };
    let Ok(output) = answer() else { return Vec::new() };
    let pair = |line: &str| {
        let (answer, seconds) = line.split_once(' ')?;
        Some((answer.to_owned(), format!("{:.6}", seconds.parse::<f64>().ok()?)))
    };
    let answers: Vec<_> = output.lines().filter_map(pair).collect();
    if answers.is_empty() {
        eprintln!("z3 is not installed: `{python} -c 'import z3'` fails");
    }
    answers
}

fn sentences() -> Vec<Problem> {
    let problem = |name, sentence, expected| Problem { name, sentence, expected };
    let ellipse = |c: &str| {
        let on = atom(&format!("4*(x - {c})^2 + 16*y^2 = 1"));
        all("xy", on.implies(atom("x^2 + y^2 <= 1")))
    };
    let reach = exists(
        "xy",
        RealFormula::And(vec![
            and(&["x^2 + y^2 <= 1", "(x - 2)^2 + y^2 <= 4"]),
            all("uv", and(&["u^2 + v^2 <= 1", "u > x + 1/2"]).implies(atom("v < 2"))),
        ]),
    );
    vec![
        problem(
            "discriminant of x^2 + b x + c",
            all("bc", exists("x", atom("x^2 + b*x + c = 0")).is_equivalent_to(atom("b^2 >= 4*c"))),
            true,
        ),
        problem(
            "every monic cubic has a root",
            all("bcd", exists("x", atom("x^3 + b*x^2 + c*x + d = 0"))),
            true,
        ),
        problem("x^3 - 3 x takes every value", all("y", exists("x", atom("x^3 - 3*x = y"))), true),
        problem("x^5 - x takes every value", all("y", exists("x", atom("x^5 - x = y"))), true),
        problem(
            "Cauchy-Schwarz in two dimensions",
            all("abcd", atom("(a^2 + b^2)*(c^2 + d^2) >= (a*c + b*d)^2")),
            true,
        ),
        problem(
            "Motzkin polynomial is not negative",
            all("xy", atom("x^4*y^2 + x^2*y^4 - 3*x^2*y^2 + 1 >= 0")),
            true,
        ),
        problem(
            "Motzkin polynomial with 31/10 is negative somewhere",
            exists("xy", atom("x^4*y^2 + x^2*y^4 - 31/10*x^2*y^2 + 1 < 0")),
            true,
        ),
        problem(
            "arithmetic and geometric mean of a^3, b^3, 1",
            all("ab", and(&["a >= 0", "b >= 0"]).implies(atom("a^3 + b^3 + 1 >= 3*a*b"))),
            true,
        ),
        problem("ellipse (1/2, 1/4) at 1/2 in the unit disc", ellipse("1/2"), true),
        problem("ellipse (1/2, 1/4) at 3/5 in the unit disc", ellipse("3/5"), false),
        problem(
            "quartic x^4 - 2 x^2 + x + 1 is positive",
            all("x", atom("x^4 - 2*x^2 + x + 1 > 0")),
            false,
        ),
        problem(
            "some quartic x^4 + p x^2 + p x + 1 has a double root",
            exists("px", and(&["x^4 + p*x^2 + p*x + 1 = 0", "4*x^3 + 2*p*x + p = 0"])),
            true,
        ),
        problem(
            "order is dense",
            all("xy", atom("x < y").implies(exists("z", and(&["x < z", "z < y"])))),
            true,
        ),
        problem("two discs, exists-forall over four reals", reach, true),
    ]
}

fn open_formulas() -> Vec<(&'static str, RealFormula)> {
    vec![
        ("exists x: a x^2 + b x + c = 0", exists("x", atom("a*x^2 + b*x + c = 0"))),
        (
            "exists x: x^3 + p x + q = 0 and x > 0",
            exists("x", and(&["x^3 + p*x + q = 0", "x > 0"])),
        ),
        ("all x: x^4 + p x^2 + q x + r >= 0", all("x", atom("x^4 + p*x^2 + q*x + r >= 0"))),
        (
            "exists y: (x, y) in a disc and above a line",
            exists("y", and(&["(x - a)^2 + (y - b)^2 <= r^2", "y >= m*x"])),
        ),
        (
            "cat and mouse: some speed at most 1 catches by time t",
            exists("uv", and(&["u^2 + v^2 <= 1", "u*t = a", "v*t = b"])),
        ),
    ]
}

fn play() -> Vec<(&'static str, RealFormula)> {
    let ten: Vec<String> =
        (1..=10).map(|n| format!("{n}*t^2 - {}*t + {} >= 0", 7 * n + 3, n * n)).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    vec![
        ("linear: least t >= 0 with 3 t - 7 > 0", and(&["t >= 0", "3*t - 7 > 0"])),
        ("falling ball: least t >= 0 below 10 m", and(&["t >= 0", "30 - 981/200*t^2 < 10"])),
        ("ten quadratic comparisons", and(&ten)),
        ("cubic: t^3 - 2 t - 5 >= 0", atom("t^3 - 2*t - 5 >= 0")),
        (
            "one quantifier over a quadratic",
            exists("x", and(&["x^2 + t^2 <= 4", "x >= 1", "x - 2*t < 1"])),
        ),
    ]
}

/// Returns a polynomial in variables that are single letters, where `a` is number 0.
fn polynomial(text: &str) -> Polynomial {
    let number = |letter: char| match letter {
        'a'..='z' => format!("x{}", variable(letter)),
        other => other.to_string(),
    };
    let numbered: String = text.chars().map(number).collect();
    numbered.parse().expect("the problems are polynomials")
}

fn variable(letter: char) -> u32 {
    u32::from(letter) - u32::from('a')
}

fn atom(text: &str) -> RealFormula {
    let signs = [Sign::LessOrEqual, Sign::GreaterOrEqual, Sign::Less, Sign::Greater, Sign::Equal];
    let split = |sign: &Sign| text.split_once(sign.symbol()).map(|sides| (*sign, sides));
    let (sign, (left, right)) = signs.iter().find_map(split).expect("the problems are comparisons");
    RealFormula::compare(&polynomial(left), sign, &polynomial(right))
}

fn and(parts: &[&str]) -> RealFormula {
    RealFormula::And(parts.iter().map(|part| atom(part)).collect())
}

fn exists(letters: &str, body: RealFormula) -> RealFormula {
    RealFormula::exists(&letters.chars().map(variable).collect::<Vec<_>>(), body)
}

fn all(letters: &str, body: RealFormula) -> RealFormula {
    RealFormula::all(&letters.chars().map(variable).collect::<Vec<_>>(), body)
}
