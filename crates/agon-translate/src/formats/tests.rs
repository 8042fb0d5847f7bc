use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_gdl::check::{CheckedRules, check};
use agon_text::Source;

use super::{asp, dot};

fn checked(text: &str) -> CheckedRules {
    check(Arc::new(Source::new("test.kif", text)))
        .rules
        .unwrap_or_else(|| panic!("not sound: {text}"))
}

/// Returns the paths of the shipped rulesheets.
fn shipped() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut found = Vec::new();
    for folder in ["gdl", "gdl2"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("games ship").flatten();
        found.extend(
            entries
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|e| e == "kif")),
        );
    }
    found.sort();
    found
}

/// Splits a logic program into tokens, or reports the first character that does not belong to one.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            ' ' | '\n' => 1,
            '%' => rest.find('\n').unwrap_or(rest.len()),
            '0'..='9' => {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                if rest[..digits].len() > 1 && first == '0' {
                    return Err(format!("{} is several numbers", &rest[..digits]));
                }
                digits
            }
            'a'..='z' | 'A'..='Z' => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            '#' => 1 + rest[1..].find(|c| !is_name(c)).unwrap_or(rest.len() - 1),
            _ => {
                let signs =
                    [":-", "!=", "(", ")", "{", "}", ",", ".", ":", "<", "+", "=", "/", "-"];
                let sign = signs.iter().find(|sign| rest.starts_with(**sign));
                sign.ok_or_else(|| format!("`{first}` has no meaning"))?.len()
            }
        };
        if !first.is_whitespace() && first != '%' {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// Splits a body into its conditions, at the commas outside of parentheses.
fn conditions(body: &[String]) -> Vec<&[String]> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (place, token) in body.iter().enumerate() {
        match token.as_str() {
            "(" | "{" => depth += 1,
            ")" | "}" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&body[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    if start < body.len() {
        parts.push(&body[start..]);
    }
    parts
}

/// Checks the form that solvers require: terminated statements, balanced parentheses, safe
/// variables. Returns the number of statements.
fn check_program(program: &str) -> Result<usize, String> {
    let tokens = tokens(program)?;
    let mut n_rules = 0;
    for statement in tokens.split(|token| token == ".").filter(|statement| !statement.is_empty()) {
        let shown = statement.join(" ");
        let depth = statement.iter().try_fold(0_i32, |depth, token| match token.as_str() {
            "(" | "{" => Some(depth + 1),
            ")" | "}" if depth == 0 => None,
            ")" | "}" => Some(depth - 1),
            _ => Some(depth),
        });
        if depth != Some(0) {
            return Err(format!("parentheses do not match in {shown}"));
        }
        if statement[0].starts_with('#') {
            continue;
        }
        n_rules += 1;
        let arrow = statement.iter().position(|token| token == ":-").unwrap_or(statement.len());
        let is_variable = |token: &&String| token.starts_with(|c: char| c.is_ascii_uppercase());
        let mut bound: BTreeSet<&String> = BTreeSet::new();
        let body = statement.get(arrow + 1..).unwrap_or_default();
        for condition in conditions(body) {
            let compares = condition.iter().any(|token| token == "!=" || token == "<");
            let counts = condition.iter().any(|token| token == "+");
            if condition[0] != "not" && !compares && !counts {
                bound.extend(condition.iter().filter(is_variable));
            }
        }
        // The choice rule for moves binds its own variables.
        let choice: BTreeSet<&String> = if statement[0] == "1" {
            let colon =
                statement.iter().position(|token| token == ":").ok_or("a choice of what?")?;
            statement[colon..arrow].iter().filter(is_variable).collect()
        } else {
            BTreeSet::new()
        };
        let loose = statement
            .iter()
            .filter(is_variable)
            .find(|v| !bound.contains(v) && !choice.contains(v));
        if let Some(variable) = loose {
            return Err(format!("nothing binds {variable} in {shown}"));
        }
    }
    if tokens.last().is_some_and(|token| token != ".") {
        return Err("the last statement has no end".to_owned());
    }
    Ok(n_rules)
}

#[test]
fn programs_of_shipped_games_are_well_formed() {
    for path in shipped() {
        let text = std::fs::read_to_string(&path).expect("it ships");
        let rules = checked(&text);
        let program =
            asp::program(&rules, 20).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let n_rules =
            check_program(&program).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        assert!(n_rules > rules.rules().len(), "{}: every rule is there", path.display());
    }
}

#[test]
fn malformed_programs_are_detected() {
    for wrong in [
        "p(X).",
        "p(X) :- not q(X).",
        "p(X) :- q(Y), X != Y.",
        "p :- q(.",
        "p",
        "p(007).",
        "p('a').",
    ] {
        assert!(check_program(wrong).is_err(), "{wrong}");
    }
    assert_eq!(check_program("p(X) :- q(X), not r(X), X != a. q(1)."), Ok(2));
}

const SMALL: &str =
    "(role white) (init (now 007)) (next a) (<= (legal white ?T) (result ?T)) (result X) (result (+ y))
    (<= terminal (true (now ?t)) (not (result ?t))) (goal white 50)";

#[test]
fn relation_names_do_not_clash_with_generated_ones() {
    let program = asp::program(&checked(SMALL), 5).expect("it is safe");
    assert!(program.contains("legal(white,T_2,T) :- now(T), result_2(T_2)."), "{program}");
    assert!(program.contains("true(now(n_007),0)."), "{program}");
    assert!(program.contains("true(a,T+1) :- now(T), now(T+1)."), "{program}");
    assert!(program.contains("goal(white,50,T) :- now(T)."), "{program}");
    check_program(&program).unwrap_or_else(|why| panic!("{why}\n{program}"));
}

#[test]
fn graphs_contain_all_names() {
    let graph = dot::dependencies(&checked(SMALL));
    assert!(
        graph.contains("\"fluent now/1\" -> \"terminal/0\" [style=solid, color=black];"),
        "{graph}"
    );
    assert!(
        graph.contains("\"result/1\" -> \"terminal/0\" [style=dashed, color=black];"),
        "{graph}"
    );
    for path in shipped() {
        let graph = dot::dependencies(&checked(&std::fs::read_to_string(&path).expect("it ships")));
        assert_eq!(graph.matches('"').count() % 2, 0, "{}", path.display());
        assert!(graph.ends_with("}\n"));
    }
}
