//! The syntax of temporal formulas.

use std::collections::BTreeSet;
use std::fmt;

use agon_text::did_you_mean;

use super::TemporalError;

/// A temporal formula: a statement about a state and the plays from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// The condition holds at this state.
    Condition(Condition),
    /// The formula does not hold.
    Not(Box<Formula>),
    /// All hold.
    And(Vec<Formula>),
    /// At least one holds.
    Or(Vec<Formula>),
    /// The formula holds at this state and at every one that can be reached from it.
    Always(Box<Formula>),
    /// The formula holds at this state or at some one that can be reached from it.
    Reachable(Box<Formula>),
    /// In every play from this state, the first formula holds until the second one does.
    Until(Box<Formula>, Box<Formula>),
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

/// The words that join formulas and conditions.
const CONNECTIVES: [&str; 5] = ["and", "or", "not", "implies", "=>"];

impl Formula {
    /// Reads a formula such as `(always (implies (cell 1 1 x) (eventually terminal)))`.
    ///
    /// # Errors
    /// [`TemporalError`] says what is wrong and what is expected.
    pub fn parse(text: &str) -> Result<Formula, TemporalError> {
        let mut trees = trees(text)?;
        let (1, Some(tree @ Tree::List(_))) = (trees.len(), trees.pop()) else {
            return Err(fail("a formula is one list, such as `(always (not terminal))`"));
        };
        let Tree::List(parts) = &tree else { unreachable!("matched above") };
        let Some(Tree::Word(word)) = parts.first() else {
            return Err(fail("a formula starts with a word: always, never, reachable or until"));
        };
        if !tree.is_temporal() {
            let hint = match did_you_mean(word, WORDS) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("a formula starts with {}", WORDS.join(", ")),
            };
            return Err(TemporalError(match CONNECTIVES.contains(&word.as_str()) {
                true => format!("the formula has none of the words {}", WORDS.join(", ")),
                false => format!("`{word}` does not start a formula; {hint}"),
            }));
        }
        formula(tree)
    }

    /// Returns whether the formula says something about other states than this one.
    pub(super) fn is_temporal(&self) -> bool {
        match self {
            Formula::Condition(_) => false,
            Formula::Not(inner) => inner.is_temporal(),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(Formula::is_temporal),
            Formula::Always(_) | Formula::Reachable(_) | Formula::Until(..) => true,
        }
    }
}

/// Reads a formula that may be a condition.
fn formula(tree: Tree) -> Result<Formula, TemporalError> {
    if !tree.is_temporal() {
        return condition(tree).map(Formula::Condition);
    }
    let Tree::List(parts) = &tree else { unreachable!("words are not temporal") };
    let Some(Tree::Word(word)) = parts.first() else {
        return Err(fail("a formula starts with a name, not with a list"));
    };
    let is_operator = WORDS.contains(&word.as_str());
    if !is_operator && !CONNECTIVES.contains(&word.as_str()) {
        return Err(TemporalError(format!(
            "`{word}` is not one of {}, {}, so that no temporal word can stand in it",
            CONNECTIVES.join(", "),
            WORDS.join(", ")
        )));
    }
    let wanted = match word.as_str() {
        "until" | "implies" | "=>" => Some(2),
        "and" | "or" => None,
        _ => Some(1),
    };
    let given = parts.len() - 1;
    if let Some(wanted) = wanted.filter(|&wanted| wanted != given) {
        let kind = if is_operator { "condition" } else { "part" };
        let kind = format!("{kind}{}", if wanted == 1 { "" } else { "s" });
        return Err(TemporalError(format!("`{word}` takes {wanted} {kind}, here it has {given}")));
    }
    check_shared(word, &parts[1..])?;
    let mut inner: Vec<Formula> = Vec::new();
    // Conditions side by side are one condition, so that they can share variables.
    let (temporal, plain): (Vec<Tree>, Vec<Tree>) = match word.as_str() {
        "and" => parts[1..].iter().cloned().partition(Tree::is_temporal),
        _ => (parts[1..].to_vec(), Vec::new()),
    };
    if !plain.is_empty() {
        let parts = plain.into_iter().map(condition).collect::<Result<_, _>>()?;
        inner.push(Formula::Condition(Condition::And(parts)));
    }
    for tree in temporal {
        inner.push(formula(tree)?);
    }
    let boxed = |formula: Option<Formula>| Box::new(formula.expect("the number was checked"));
    let not = |formula: Option<Formula>| match *boxed(formula) {
        Formula::Condition(condition) => Formula::Condition(Condition::Not(Box::new(condition))),
        other => Formula::Not(Box::new(other)),
    };
    Ok(match word.as_str() {
        "and" => Formula::And(inner),
        "or" => Formula::Or(inner),
        "not" => not(inner.pop()),
        "always" => Formula::Always(boxed(inner.pop())),
        "never" => Formula::Always(Box::new(not(inner.pop()))),
        "reachable" => Formula::Reachable(boxed(inner.pop())),
        "eventually" => {
            let anything = Box::new(Formula::Condition(Condition::True));
            Formula::Until(anything, boxed(inner.pop()))
        }
        "until" => {
            let goal = boxed(inner.pop());
            Formula::Until(boxed(inner.pop()), goal)
        }
        _ => {
            let then = inner.pop().expect("the number was checked");
            Formula::Or(vec![not(inner.pop()), then])
        }
    })
}

/// Refuses a variable that occurs in several parts, one of which has a temporal word: each of them
/// would mean "for some value" by itself.
fn check_shared(word: &str, parts: &[Tree]) -> Result<(), TemporalError> {
    let variables = |tree: &Tree| {
        let mut found = BTreeSet::new();
        tree.variables(&mut found);
        found
    };
    for (index, first) in parts.iter().enumerate() {
        for second in &parts[index + 1..] {
            let may_share = word != "until" && !first.is_temporal() && !second.is_temporal();
            if let (false, Some(shared)) =
                (may_share, variables(first).intersection(&variables(second)).next())
            {
                return Err(TemporalError(format!(
                    "`{shared}` occurs in two parts of `{word}` that are about different states, \
                     and means \"for some value\" in each of them; write a value in its place, or \
                     another variable in one part"
                )));
            }
        }
    }
    Ok(())
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
    /// Returns whether a temporal word stands in the tree, at a place of a formula.
    fn is_temporal(&self) -> bool {
        let Tree::List(parts) = self else { return false };
        match parts.first() {
            Some(Tree::Word(word)) if WORDS.contains(&word.as_str()) => true,
            _ => parts.iter().any(Tree::is_temporal),
        }
    }

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

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::True => f.write_str("true"),
            Condition::Atom(tree) => write!(f, "{tree}"),
            Condition::Not(inner) => write!(f, "(not {inner})"),
            Condition::And(parts) if parts.len() == 1 => write!(f, "{}", parts[0]),
            Condition::And(parts) => list(f, "and", parts),
            Condition::Or(parts) => list(f, "or", parts),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Condition(condition) => write!(f, "{condition}"),
            Formula::Not(inner) => write!(f, "(not {inner})"),
            Formula::And(parts) => list(f, "and", parts),
            Formula::Or(parts) => list(f, "or", parts),
            Formula::Always(inner) => match &**inner {
                Formula::Not(inner) => write!(f, "(never {inner})"),
                Formula::Condition(Condition::Not(inner)) => write!(f, "(never {inner})"),
                inner => write!(f, "(always {inner})"),
            },
            Formula::Reachable(inner) => write!(f, "(reachable {inner})"),
            Formula::Until(first, second) => match &**first {
                Formula::Condition(Condition::True) => write!(f, "(eventually {second})"),
                first => write!(f, "(until {first} {second})"),
            },
        }
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, word: &str, parts: &[T]) -> fmt::Result {
    write!(f, "({word}")?;
    parts.iter().try_for_each(|part| write!(f, " {part}"))?;
    f.write_str(")")
}
