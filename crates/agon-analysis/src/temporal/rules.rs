//! Rules that make the conditions of a formula, or its violation, percepts of the first role.
//!
//! Percepts have no influence on play, nor do fluents that only they depend on. Each negated part becomes a relation of its own, whose
//! arguments are the variables that it shares with the rest, so that every variable inside means
//! "for some value".

use std::collections::BTreeSet;
use std::fmt::Write as _;

use agon_gdl::interpreter::Game;
use agon_gdl::symbols::keyword;
use agon_gdl::syntax::TermKind;
use agon_text::did_you_mean;

use super::TemporalError;
use super::formula::{Condition, Tree};
use super::linear::Linear;

/// The percept of bad states.
pub(super) const BAD: &str = "agon_bad";
/// The percept of states after which nothing matters.
pub(super) const STOP: &str = "agon_stop";

/// The start of the names of percepts that mark pending states. A number follows.
pub(super) const PENDING: &str = "agon_pending";
/// The start of the names of percepts that mark the states of a condition. A number follows.
pub(super) const LABEL: &str = "agon_label";

/// Returns rules that mark the states of each condition with a percept, in KIF.
pub(super) fn labels(game: &Game, conditions: &[&Condition]) -> Result<String, TemporalError> {
    let mut writer = Writer::new(game);
    for (number, condition) in conditions.iter().enumerate() {
        let holds = writer.condition(condition)?;
        writer.percept(&format!("{LABEL}{number}"), &[holds]);
    }
    Ok(writer.text)
}

/// Rules that watch a play for a violation of a formula. See [`monitor`].
pub(super) struct Monitor {
    /// The rules, in KIF.
    pub(super) rules: String,
    /// Number of percepts that mark pending states.
    pub(super) n_pending: usize,
    /// Whether the rules add fluents, so that there are more states than in the game.
    pub(super) has_fluents: bool,
}

/// Returns rules that watch a play. They keep track of what the formula requires at each state:
/// all of it at the first one, and later what `always` and `until` carry on from the state before.
/// What they carry is a fluent, unless it is required at every state.
///
/// A state is bad if something is required that does not hold, or if play ends and the goal of an
/// `until` is required and missing. It is pending for an `until` if its goal is required and
/// missing.
pub(super) fn monitor(game: &Game, formula: &Linear) -> Result<Monitor, TemporalError> {
    let mut writer = Writer::new(game);
    writer.require(formula, &Required::AtStart)?;
    // Without requirements at every state, nothing matters once nothing is required.
    let lasting = std::mem::take(&mut writer.lasting);
    let is_live = if lasting.is_empty() { Vec::new() } else { vec!["(not agon_live)".to_owned()] };
    if !writer.is_permanent {
        lasting.into_iter().for_each(|lasting| writer.rule("agon_live", &[lasting]));
        writer.percept(STOP, &is_live);
    }
    let has_fluents = writer.has_fluents;
    Ok(Monitor { rules: writer.text, n_pending: writer.n_pending, has_fluents })
}

/// The states at which something is required.
#[derive(Clone)]
enum Required {
    /// Only at the first state.
    AtStart,
    /// At every state.
    Everywhere,
    /// Where these conditions of a rule hold.
    Where(Vec<String>),
}

struct Writer {
    names: Names,
    /// The first role.
    role: String,
    text: String,
    n_relations: usize,
    n_carried: usize,
    n_pending: usize,
    /// Relations that hold where something is required of later states.
    lasting: Vec<String>,
    /// Whether something is required at every state.
    is_permanent: bool,
    has_start: bool,
    /// Whether a state may have several sets of requirements.
    has_fluents: bool,
}

impl Writer {
    fn new(game: &Game) -> Writer {
        Writer {
            names: Names::new(game),
            role: game.shape().role_names[0].clone(),
            text: String::new(),
            n_relations: 0,
            n_carried: 0,
            n_pending: 0,
            lasting: Vec::new(),
            is_permanent: false,
            has_start: false,
            has_fluents: false,
        }
    }

    fn rule(&mut self, head: &str, body: &[String]) {
        let _ = match body {
            [] => writeln!(self.text, "{head}"),
            body => writeln!(self.text, "(<= {head} {})", body.join(" ")),
        };
    }

    fn percept(&mut self, name: &str, body: &[String]) {
        let head = format!("(sees {} {name})", self.role);
        self.rule(&head, body);
    }

    /// Declares a fluent.
    fn fluent(&mut self, name: &str) {
        if self.names.relations.contains("base") {
            let _ = writeln!(self.text, "(base {name})");
        }
    }

    /// Defines a relation without arguments that holds where the condition does.
    fn condition(&mut self, condition: &Condition) -> Result<String, TemporalError> {
        self.relation(condition, &BTreeSet::new())
    }

    /// Returns conditions of a rule that hold where something is required.
    fn place(&mut self, required: &Required) -> Vec<String> {
        match required {
            Required::AtStart => {
                if !self.has_start {
                    self.has_start = true;
                    self.has_fluents = true;
                    self.fluent("agon_start");
                    self.text.push_str("(init agon_start)\n");
                }
                vec!["(true agon_start)".to_owned()]
            }
            Required::Everywhere => {
                self.is_permanent = true;
                Vec::new()
            }
            Required::Where(body) => body.clone(),
        }
    }

    /// Writes the rules for a formula that is required at some states.
    fn require(&mut self, formula: &Linear, required: &Required) -> Result<(), TemporalError> {
        match formula {
            Linear::State(condition) => {
                let holds = self.condition(condition)?;
                let mut body = self.place(required);
                body.push(format!("(not {holds})"));
                self.percept(BAD, &body);
            }
            Linear::And(parts) => {
                parts.iter().try_for_each(|part| self.require(part, required))?;
            }
            Linear::Unless(condition, inner) => {
                let holds = self.condition(condition)?;
                let mut body = self.place(required);
                body.push(format!("(not {holds})"));
                self.require(inner, &Required::Where(body))?;
            }
            Linear::Always(inner) => match required {
                Required::AtStart | Required::Everywhere => {
                    self.is_permanent = true;
                    self.require(inner, &Required::Everywhere)?;
                }
                Required::Where(body) => {
                    self.has_fluents = true;
                    let number = self.n_carried;
                    self.n_carried += 1;
                    let (fluent, now) = (format!("agon_owed{number}"), format!("agon_o{number}"));
                    self.fluent(&fluent);
                    self.rule(&now, body);
                    self.rule(&now, &[format!("(true {fluent})")]);
                    self.rule(&format!("(next {fluent})"), std::slice::from_ref(&now));
                    self.lasting.push(now.clone());
                    self.require(inner, &Required::Where(vec![now]))?;
                }
            },
            Linear::Until(inner, goal) => {
                let goal = self.condition(goal)?;
                let number = self.n_carried;
                self.n_carried += 1;
                let missing = format!("(not {goal})");
                let (fluent, pending) = (format!("agon_owed{number}"), format!("agon_o{number}"));
                let carried = vec![format!("(true {fluent})"), missing.clone()];
                match required {
                    Required::Everywhere => {
                        self.is_permanent = true;
                        self.rule(&pending, &[missing]);
                    }
                    Required::AtStart => {
                        // Once it is not required, play is not followed any further.
                        self.has_fluents |= self.n_carried > 1;
                        self.fluent(&fluent);
                        let _ = writeln!(self.text, "(init {fluent})");
                        self.rule(&pending, &carried);
                    }
                    Required::Where(body) => {
                        self.has_fluents = true;
                        self.fluent(&fluent);
                        let mut first = body.clone();
                        first.push(missing);
                        self.rule(&pending, &first);
                        self.rule(&pending, &carried);
                    }
                }
                if !matches!(required, Required::Everywhere) {
                    self.rule(&format!("(next {fluent})"), std::slice::from_ref(&pending));
                }
                let name = format!("{PENDING}{}", self.n_pending);
                self.n_pending += 1;
                self.percept(&name, std::slice::from_ref(&pending));
                self.percept(BAD, &[pending.clone(), "terminal".to_owned()]);
                self.lasting.push(pending.clone());
                self.require(inner, &Required::Where(vec![pending]))?;
            }
        }
        Ok(())
    }

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
