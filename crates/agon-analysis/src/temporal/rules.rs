//! Rules that make the conditions of a formula percepts of the first role.
//!
//! Percepts have no influence on play. Each negated part becomes a relation of its own, whose
//! arguments are the variables that it shares with the rest, so that every variable inside means
//! "for some value".

use std::collections::BTreeSet;
use std::fmt::Write as _;

use agon_gdl::interpreter::Game;
use agon_gdl::symbols::keyword;
use agon_gdl::syntax::TermKind;
use agon_text::did_you_mean;

use super::TemporalError;
use super::formula::{Condition, Formula, Tree};

/// The percept of bad states.
pub(super) const BAD: &str = "agon_bad";
/// The percept of states after which nothing matters.
pub(super) const STOP: &str = "agon_stop";

/// Returns the rules for a formula, in KIF.
pub(super) fn rules(game: &Game, formula: &Formula) -> Result<String, TemporalError> {
    let mut writer = Writer { names: Names::new(game), text: String::new(), n_relations: 0 };
    let not = |condition: &Condition| Condition::Not(Box::new(condition.clone()));
    let terminal = Condition::Atom(Tree::Word("terminal".to_owned()));
    let (bad, stop) = match formula {
        Formula::Always(condition) => (not(condition), None),
        Formula::Never(condition) | Formula::Reachable(condition) => (condition.clone(), None),
        Formula::Until(first, second) => {
            let ends = Condition::Or(vec![not(first), terminal]);
            (Condition::And(vec![not(second), ends]), Some(second.clone()))
        }
    };
    let role = &game.shape().role_names[0];
    for (name, condition) in [(BAD, Some(bad)), (STOP, stop)] {
        if let Some(condition) = condition {
            let body = writer.relation(&condition, &BTreeSet::new())?;
            let _ = writeln!(writer.text, "(<= (sees {role} {name}) {body})");
        }
    }
    Ok(writer.text)
}

struct Writer {
    names: Names,
    text: String,
    n_relations: usize,
}

impl Writer {
    /// Defines a relation that holds where the condition does. Its arguments are those variables of
    /// the condition that occur in `outside`.
    fn relation(
        &mut self,
        condition: &Condition,
        outside: &BTreeSet<String>,
    ) -> Result<String, TemporalError> {
        let number = self.n_relations;
        self.n_relations += 1;
        let mut own = BTreeSet::new();
        condition.variables(&mut own);
        let shared: Vec<&str> = own.intersection(outside).map(String::as_str).collect();
        let head = match shared.as_slice() {
            [] => format!("agon_f{number}"),
            shared => format!("(agon_f{number} {})", shared.join(" ")),
        };
        let shared = shared.into_iter().map(str::to_owned).collect();
        let body = self.body(condition, &shared)?;
        let rule = match body.as_str() {
            "" => head.clone(),
            body => format!("(<= {head} {body})"),
        };
        self.text.push_str(&rule);
        self.text.push('\n');
        Ok(head)
    }

    /// Writes a condition as conditions of a rule. `outside` are the variables of the other
    /// conditions and of the head.
    fn body(
        &mut self,
        condition: &Condition,
        outside: &BTreeSet<String>,
    ) -> Result<String, TemporalError> {
        match condition {
            Condition::True => Ok(String::new()),
            Condition::Atom(tree) => self.names.atom(tree),
            Condition::And(parts) => {
                let mut texts = Vec::new();
                for (index, part) in parts.iter().enumerate() {
                    let mut around = outside.clone();
                    let others = parts.iter().enumerate().filter(|(other, _)| *other != index);
                    others.for_each(|(_, other)| other.variables(&mut around));
                    texts.push(self.body(part, &around)?);
                }
                texts.retain(|text| !text.is_empty());
                Ok(texts.join(" "))
            }
            Condition::Or(parts) => {
                let mut ways = Vec::new();
                for part in parts {
                    ways.push(match part {
                        Condition::Atom(_) | Condition::Not(_) => self.body(part, outside)?,
                        Condition::True | Condition::And(_) | Condition::Or(_) => {
                            self.relation(part, outside)?
                        }
                    });
                }
                Ok(format!("(or {})", ways.join(" ")))
            }
            Condition::Not(inner) => {
                // Variables that occur nowhere else are quantified inside of the negation.
                let mut own = BTreeSet::new();
                inner.variables(&mut own);
                let inner = match &**inner {
                    Condition::Atom(tree) if own.is_subset(outside) => self.names.atom(tree)?,
                    other => self.relation(other, outside)?,
                };
                Ok(format!("(not {inner})"))
            }
        }
    }
}

/// The names that formulas may use.
struct Names {
    relations: BTreeSet<String>,
    fluents: BTreeSet<String>,
    /// Every other name, for which a term may be mistaken.
    others: BTreeSet<String>,
}

impl Names {
    fn new(game: &Game) -> Names {
        let sheet = game.rules().sheet();
        let name = |symbol| sheet.symbols.name(symbol).to_lowercase();
        let mut names = Names {
            relations: BTreeSet::from_iter(["true", "distinct", "terminal"].map(str::to_owned)),
            fluents: BTreeSet::new(),
            others: sheet.symbols.all().map(|(_, name)| name.to_lowercase()).collect(),
        };
        for clause in &sheet.clauses {
            names.relations.insert(name(clause.head.relation));
            let is_fluent =
                [keyword::INIT, keyword::NEXT, keyword::BASE].contains(&clause.head.relation);
            if let (true, Some(fluent)) = (is_fluent, clause.head.arguments.first())
                && let TermKind::Constant(symbol) | TermKind::Function(symbol, _) = &fluent.kind
            {
                names.fluents.insert(name(*symbol));
            }
        }
        names
    }

    /// Writes an atom. A fluent gets its `true`.
    fn atom(&self, tree: &Tree) -> Result<String, TemporalError> {
        let word = match tree {
            Tree::Word(word) => word,
            Tree::List(parts) => match parts.first() {
                Some(Tree::Word(word)) => word,
                _ => {
                    let why = format!("`{tree}` starts with a list instead of a name");
                    return Err(TemporalError(why));
                }
            },
        };
        if ["next", "init", "sees", "base", "input"].contains(&word.as_str()) {
            let why = format!("`{word}` cannot be asked for; ask for the fluent with `true`");
            return Err(TemporalError(why));
        }
        self.check_words(tree)?;
        if self.relations.contains(word) {
            return Ok(tree.to_string());
        }
        if self.fluents.contains(word) {
            return Ok(format!("(true {tree})"));
        }
        let known = self.relations.iter().chain(&self.fluents).map(String::as_str);
        Err(TemporalError(match did_you_mean(word, known) {
            Some(meant) => format!("the rules have no `{word}`; did you mean `{meant}`?"),
            None => format!("the rules have neither a relation nor a fluent `{word}`"),
        }))
    }

    /// Reports names that occur nowhere in the rules, so that the atom could never hold.
    fn check_words(&self, tree: &Tree) -> Result<(), TemporalError> {
        match tree {
            Tree::Word(word) if word.starts_with('?') || word.parse::<i64>().is_ok() => Ok(()),
            Tree::Word(word) if self.others.contains(word) => Ok(()),
            Tree::Word(word) => {
                let known = self.others.iter().map(String::as_str);
                Err(TemporalError(match did_you_mean(word, known) {
                    Some(meant) => {
                        format!("the rules do not mention `{word}`; did you mean `{meant}`?")
                    }
                    None => format!("the rules do not mention `{word}`"),
                }))
            }
            Tree::List(parts) => parts.iter().try_for_each(|part| self.check_words(part)),
        }
    }
}
