//! Random sentences against z3, where it is installed as a Python module. The environment variable
//! `AGON_Z3_PYTHON` names the interpreter; otherwise it is `python3`.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{Random, Shape};
use crate::elimination::{EliminationLimits, RealFormula, decide, smt_lib};

/// Reads scripts, each up to a line `----`, and prints a line with the answer to each.
const PROGRAM: &str = "
import sys, z3
for script in sys.stdin.read().split('----\\n'):
    if script.strip():
        solver = z3.Solver()
        solver.set('timeout', 3000)
        solver.from_string(script)
        print(solver.check(), flush=True)
";

fn interpreter() -> Option<String> {
    let python = std::env::var("AGON_Z3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let import = Command::new(&python).args(["-c", "import z3"]).stderr(Stdio::null()).status();
    import.is_ok_and(|status| status.success()).then_some(python)
}

/// Returns the answers of z3: whether each sentence is true, and `None` if z3 does not know.
fn answers(python: &str, sentences: &[RealFormula]) -> Vec<Option<bool>> {
    let scripts: String =
        sentences.iter().map(|sentence| smt_lib::script(sentence) + "----\n").collect();
    let mut child = Command::new(python)
        .args(["-c", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter was found before");
    let mut input = child.stdin.take().expect("the input is piped");
    input.write_all(scripts.as_bytes()).expect("the program reads all of its input");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = |line: &str| match line {
        "sat" => Some(true),
        "unsat" => Some(false),
        _ => None,
    };
    lines.lines().map(answer).collect()
}

#[test]
fn sentences_agree_with_z3() {
    let Some(python) = interpreter() else {
        eprintln!("SKIPPED: z3 is not installed (python3 -c 'import z3' fails)");
        return;
    };
    let mut random = Random::new(71);
    let mut sentences = Vec::new();
    for _ in 0..300 {
        let shape = Shape {
            n_variables: 1 + random.below(3),
            degree: 1 + random.below(3),
            n_terms: 2 + random.below(2),
            n_atoms: 1 + random.below(4),
        };
        let mut sentence = random.formula(shape);
        for variable in 0..shape.n_variables {
            sentence = random.quantify(variable, sentence);
        }
        sentences.push(sentence);
    }
    let theirs = answers(&python, &sentences);
    assert_eq!(theirs.len(), sentences.len(), "z3 answers every script");
    let limits = EliminationLimits { max_steps: 500_000, ..Default::default() };
    let (mut n_both, mut n_refused, mut n_unknown) = (0, 0, 0);
    for (sentence, theirs) in sentences.iter().zip(theirs) {
        let ours = decide(sentence, &limits);
        n_refused += usize::from(ours.is_err());
        n_unknown += usize::from(theirs.is_none());
        if let (Ok(ours), Some(theirs)) = (ours, theirs) {
            assert_eq!(ours, theirs, "{sentence}");
            n_both += 1;
        }
    }
    eprintln!("{n_both} answers agree; refused here {n_refused}, unknown to z3 {n_unknown}");
    assert!(n_both >= 250, "{n_both} of 300 sentences are decided by both");
}
