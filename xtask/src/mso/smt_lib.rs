//! Sentences about sets as scripts for z3: another system that decides the same problems.
//!
//! Quantifiers over elements become conjunctions and disjunctions. Those over sets become
//! quantifiers over Booleans, one for each element, so z3 gets the sentence without any hint.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use agon_structures::formula::{Argument, Formula, Sign, Sort, Term, Variable};
use agon_structures::structure::{Element, Structure};

/// Maximum number of bytes of a script.
const MAX_BYTES: usize = 50_000_000;

/// Reads a script and prints the answer and the seconds it took.
const PROGRAM: &str = "
import sys, time, z3
z3.set_param('timeout', 20000)
solver = z3.Solver()
solver.from_string(sys.stdin.read())
began = time.perf_counter()
answer = solver.check()
print(answer, time.perf_counter() - began)
";

/// Returns the answer of z3 to a sentence and the seconds that it took. The text says why there is
/// none.
pub(super) fn ask(structure: &Structure, sentence: &Formula) -> Result<(bool, f64), &'static str> {
    let mut writer = Writer { structure, elements: BTreeMap::new(), text: String::new() };
    writer.formula(sentence).ok_or("too large")?;
    let script = format!("(assert {})\n", writer.text);
    let python = std::env::var("AGON_Z3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let answer = || -> std::io::Result<String> {
        let mut child = Command::new(&python)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(script.as_bytes())?;
        }
        Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned())
    };
    let output = answer().map_err(|_| "-")?;
    let (answer, seconds) = output.trim().split_once(' ').ok_or("-")?;
    let seconds: f64 = seconds.parse().map_err(|_| "-")?;
    match answer {
        "sat" => Ok((true, seconds)),
        "unsat" => Ok((false, seconds)),
        _ => Err("> 20"),
    }
}

struct Writer<'a> {
    structure: &'a Structure,
    elements: BTreeMap<Variable, Element>,
    text: String,
}

impl Writer<'_> {
    /// Writes a formula. Returns `None` if it is too long, or of a kind that no problem has.
    fn formula(&mut self, formula: &Formula) -> Option<()> {
        if self.text.len() > MAX_BYTES {
            return None;
        }
        match formula {
            Formula::Relation(name, arguments) => {
                let relation = self.structure.vocabulary().relation(name)?;
                let tuple: Vec<Element> = arguments
                    .iter()
                    .map(|argument| self.element(argument))
                    .collect::<Option<_>>()?;
                self.text.push_str(if self.structure.holds(relation, &tuple) {
                    "true"
                } else {
                    "false"
                });
            }
            Formula::Member(argument, set) => {
                let element = self.element(argument)?;
                self.member(set, element);
            }
            Formula::Not(inner) => {
                self.text.push_str("(not ");
                self.formula(inner)?;
                self.text.push(')');
            }
            Formula::And(parts) => self.joined("and true", parts)?,
            Formula::Or(parts) => self.joined("or false", parts)?,
            Formula::Exists(variables, body) => self.quantified("exists", variables, body)?,
            Formula::All(variables, body) => self.quantified("forall", variables, body)?,
            Formula::Compare(left, sign, right) => {
                let sign = match sign {
                    Sign::Equal => "=",
                    Sign::AtMost => "<=",
                    _ => return None,
                };
                let _ = write!(self.text, "({sign} ");
                self.term(left)?;
                self.text.push(' ');
                self.term(right)?;
                self.text.push(')');
            }
            _ => return None,
        }
        Some(())
    }

    fn joined(&mut self, operator: &str, parts: &[Formula]) -> Option<()> {
        let _ = write!(self.text, "({operator}");
        for part in parts {
            self.text.push(' ');
            self.formula(part)?;
        }
        self.text.push(')');
        Some(())
    }

    fn quantified(
        &mut self,
        quantifier: &str,
        variables: &[Variable],
        body: &Formula,
    ) -> Option<()> {
        let all: Vec<Element> = self.structure.elements().collect();
        let sets: Vec<&Variable> = variables.iter().filter(|v| v.sort() == Sort::Set).collect();
        if !sets.is_empty() {
            let _ = write!(self.text, "({quantifier} (");
            for set in &sets {
                for &element in &all {
                    self.text.push('(');
                    self.member(set, element);
                    self.text.push_str(" Bool)");
                }
            }
            self.text.push_str(") ");
        }
        let elements: Vec<Variable> =
            variables.iter().filter(|v| v.sort() == Sort::Element).cloned().collect();
        let operator = if quantifier == "exists" { "(or false" } else { "(and true" };
        self.rows(&elements, &all, operator, &mut |writer| writer.formula(body))?;
        if !sets.is_empty() {
            self.text.push(')');
        }
        Some(())
    }

    /// Writes something for each assignment of elements to variables.
    fn rows(
        &mut self,
        variables: &[Variable],
        all: &[Element],
        operator: &str,
        write: &mut dyn FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let Some((first, rest)) = variables.split_first() else { return write(self) };
        self.text.push_str(operator);
        for &element in all {
            self.text.push(' ');
            self.elements.insert(first.clone(), element);
            self.rows(rest, all, operator, write)?;
        }
        self.text.push(')');
        Some(())
    }

    fn term(&mut self, term: &Term) -> Option<()> {
        match term {
            Term::Number(number) => {
                let _ = write!(self.text, "{number}");
                Some(())
            }
            Term::Aggregate(sum) => {
                let all: Vec<Element> = self.structure.elements().collect();
                self.rows(&sum.variables, &all, "(+ 0", &mut |writer| {
                    writer.text.push_str("(ite ");
                    writer.formula(&sum.guard)?;
                    writer.text.push_str(" 1 0)");
                    Some(())
                })
            }
            _ => None,
        }
    }

    fn element(&self, argument: &Argument) -> Option<Element> {
        match argument {
            Argument::Variable(variable) => self.elements.get(variable).copied(),
            _ => None,
        }
    }

    fn member(&mut self, set: &Variable, element: Element) {
        let _ = write!(self.text, "{}_{}", set.name(), element.index());
    }
}
