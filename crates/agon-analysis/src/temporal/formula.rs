//! The syntax of temporal formulas.

use std::collections::BTreeSet;
use std::fmt;

use agon_text::did_you_mean;

use super::TemporalError;

/// A temporal formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// The condition holds at every reachable state.
    Always(Condition),
    /// The condition holds at no reachable state.
    Never(Condition),
    /// The condition holds at some reachable state.
    Reachable(Condition),
    /// In every play, the first condition holds until the second one does.
    Until(Condition, Condition),
}

/// A condition on a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Holds always.
    True,
    /// An atom or a comparison: a list of terms, or a single word.
    Atom(Tree),
    /// Does not hold.
    Not(Box<Condition>),
    /// All hold.
    And(Vec<Condition>),
    /// At least one holds.
    Or(Vec<Condition>),
}

/// A word or a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    /// A name, number or variable.
    Word(String),
    /// A list in parentheses.
    List(Vec<Tree>),
}

/// Maximum nesting of a formula.
const MAX_DEPTH: usize = 100;

/// The words that start a formula.
const WORDS: [&str; 5] = ["always", "never", "reachable", "until", "eventually"];

impl Formula {
    /// Reads a formula such as `(never (and (goal white 100) (goal black 100)))`.
    ///
    /// # Errors
    /// [`TemporalError`] says what is wrong and what is expected.
    pub fn parse(text: &str) -> Result<Formula, TemporalError> {
        let mut trees = trees(text)?;
        let (1, Some(Tree::List(parts))) = (trees.len(), trees.pop()) else {
            return Err(fail("a formula is one list, such as `(always (not terminal))`"));
        };
        let mut parts = parts.into_iter();
        let Some(Tree::Word(word)) = parts.next() else {
            return Err(fail("a formula starts with a word: always, never, reachable or until"));
        };
        let mut conditions: Vec<Condition> = parts.map(condition).collect::<Result<_, _>>()?;
        let wanted = if word == "until" { 2 } else { 1 };
        if !WORDS.contains(&word.as_str()) {
            let hint = match did_you_mean(&word, WORDS) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("a formula starts with {}", WORDS.join(", ")),
            };
            return Err(TemporalError(format!("`{word}` does not start a formula; {hint}")));
        }
        if conditions.len() != wanted {
            let conditions = conditions.len();
            return Err(TemporalError(format!(
                "`{word}` takes {wanted} condition{}, here it has {conditions}",
                if wanted == 1 { "" } else { "s" }
            )));
        }
        let last = conditions.pop().expect("the number was checked");
        Ok(match word.as_str() {
            "always" => Formula::Always(last),
            "never" => Formula::Never(last),
            "reachable" => Formula::Reachable(last),
            "eventually" => Formula::Until(Condition::True, last),
            _ => Formula::Until(conditions.pop().expect("the number was checked"), last),
        })
    }
}

fn fail(why: &str) -> TemporalError {
    TemporalError(why.to_owned())
}

fn condition(tree: Tree) -> Result<Condition, TemporalError> {
    let parts = match &tree {
        Tree::Word(word) if word == "true" => return Ok(Condition::True),
        Tree::Word(word) if word.starts_with('?') => {
            return Err(TemporalError(format!("the variable `{word}` is not a condition")));
        }
        Tree::Word(_) => return Ok(Condition::Atom(tree)),
        Tree::List(parts) => parts,
    };
    let Some(Tree::Word(word)) = parts.first() else {
        return Err(fail("a condition starts with a name, not with a list"));
    };
    let rest = || parts[1..].iter().cloned().map(condition).collect::<Result<Vec<_>, _>>();
    let exactly = |n: usize| match parts.len() - 1 == n {
        true => Ok(()),
        false => {
            let given = parts.len() - 1;
            Err(TemporalError(format!("`{word}` takes {n} parts, here it has {given}")))
        }
    };
    match word.as_str() {
        "and" => Ok(Condition::And(rest()?)),
        "or" => Ok(Condition::Or(rest()?)),
        "not" => {
            exactly(1)?;
            Ok(Condition::Not(Box::new(rest()?.remove(0))))
        }
        "implies" | "=>" => {
            exactly(2)?;
            let mut parts = rest()?;
            let then = parts.remove(1);
            Ok(Condition::Or(vec![Condition::Not(Box::new(parts.remove(0))), then]))
        }
        "does" => Err(fail("a condition is about a state; `does` is about a step")),
        word if WORDS.contains(&word) => Err(TemporalError(format!(
            "`{word}` cannot stand inside of a condition; a formula has one temporal word, at its \
             start"
        ))),
        _ => Ok(Condition::Atom(tree)),
    }
}

/// Reads words and lists.
fn trees(text: &str) -> Result<Vec<Tree>, TemporalError> {
    let mut stack: Vec<Vec<Tree>> = vec![Vec::new()];
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    for word in spaced.split_whitespace() {
        match word {
            "(" => stack.push(Vec::new()),
            ")" => {
                let list = stack.pop().unwrap_or_default();
                let Some(outer) = stack.last_mut() else {
                    return Err(fail("a closing parenthesis has no partner"));
                };
                if list.is_empty() {
                    return Err(fail("`()` is empty"));
                }
                outer.push(Tree::List(list));
            }
            word => stack.last_mut().expect("checked above").push(Tree::Word(word.to_lowercase())),
        }
        if stack.len() > MAX_DEPTH {
            return Err(TemporalError(format!("formulas nest at most {MAX_DEPTH} deep")));
        }
    }
    match (stack.pop(), stack.is_empty()) {
        (Some(trees), true) => Ok(trees),
        _ => Err(fail("an opening parenthesis has no partner")),
    }
}

impl Condition {
    /// Adds the variables of the condition.
    pub(super) fn variables(&self, found: &mut BTreeSet<String>) {
        match self {
            Condition::True => {}
            Condition::Atom(tree) => tree.variables(found),
            Condition::Not(inner) => inner.variables(found),
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|part| part.variables(found));
            }
        }
    }
}

impl Tree {
    fn variables(&self, found: &mut BTreeSet<String>) {
        match self {
            Tree::Word(word) if word.starts_with('?') => {
                found.insert(word.clone());
            }
            Tree::Word(_) => {}
            Tree::List(parts) => parts.iter().for_each(|part| part.variables(found)),
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Word(word) => f.write_str(word),
            Tree::List(parts) => {
                f.write_str("(")?;
                for (index, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if index == 0 { "" } else { " " })?;
                }
                f.write_str(")")
            }
        }
    }
}
