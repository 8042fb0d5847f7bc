//! A GDL game that remembers its moves for one step.
//!
//! A rewriting rule depends on its own embedding only, so a joint effect of several roles' moves
//! cannot be an effect of one rule. Instead, each rule records its move in the state. The effect
//! can then be derived from the state. Where the original rulesheet has `(true F)`, the new one
//! asks whether `F` holds now, given the previous state, the recorded moves and the `next` rules.
//! The following step updates the state, which no longer depends on any choice. Legal moves, ends
//! and goals are those of the original, state by state.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use agon_datalog::Symbol;
use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;
use agon_text::Source;

/// The state that a condition refers to.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Moment {
    /// The stored state, before the recorded moves.
    Then,
    /// The state after the recorded moves.
    Now,
}

/// Returns the game that remembers its moves, or `None` if a variable stands for a whole state
/// term.
pub(super) fn delayed(game: &Game) -> Option<Arc<Game>> {
    let text = Delay::new(game)?.text()?;
    let checked = agon_gdl::check::check(Arc::new(Source::new("delayed.kif", text)));
    Game::open(checked.rules?, game.options().clone()).ok()
}

struct Delay<'g> {
    game: &'g Game,
    statics: BTreeSet<(Symbol, usize)>,
    begun: &'static str,
    /// Whether moves are recorded as terms, because variables stand for them. Otherwise their
    /// arguments are recorded.
    whole: bool,
}

impl<'g> Delay<'g> {
    fn new(game: &'g Game) -> Option<Delay<'g>> {
        let statics = game
            .is_static()
            .into_iter()
            .filter(|(_, is_static)| *is_static)
            .map(|(r, _)| r)
            .collect();
        let symbols = &game.rules().sheet().symbols;
        let begun = ["begun", "has_begun", "play_has_begun"]
            .into_iter()
            .find(|name| symbols.find(name).is_none())?;
        let is_variable = |atom: &RuleAtom| {
            [keyword::DOES, keyword::LEGAL].contains(&atom.relation)
                && matches!(atom.arguments.get(1), Some(RuleTerm::Variable(_)))
        };
        let whole = game.rules().rules().iter().any(|rule| {
            std::iter::once(&rule.head)
                .chain(rule.body.iter().filter_map(Condition::atom))
                .any(is_variable)
        });
        Some(Delay { game, statics, begun, whole })
    }

    fn name(&self, symbol: Symbol) -> &str {
        self.game.rules().sheet().symbols.name(symbol)
    }

    fn text(&self) -> Option<String> {
        let mut text = String::new();
        let mut functors: BTreeSet<(Symbol, usize)> = BTreeSet::new();
        let mut moves: BTreeSet<(Symbol, usize)> = BTreeSet::new();
        for rule in self.game.rules().rules() {
            let atoms =
                std::iter::once(&rule.head).chain(rule.body.iter().filter_map(Condition::atom));
            for atom in atoms {
                let (term, found) = match atom.relation {
                    keyword::TRUE | keyword::NEXT | keyword::INIT => {
                        (atom.arguments.first()?, &mut functors)
                    }
                    keyword::DOES | keyword::LEGAL if self.whole => continue,
                    keyword::DOES | keyword::LEGAL => (atom.arguments.get(1)?, &mut moves),
                    _ => continue,
                };
                let RuleTerm::Function(symbol, arguments) = term else { return None };
                found.insert((*symbol, arguments.len()));
            }
        }
        for rule in self.game.rules().rules() {
            self.rule(rule, &mut text)?;
        }
        let begun = self.begun;
        let _ = writeln!(text, "(next {begun})");
        for &(symbol, arity) in &functors {
            let arguments: String = (0..arity).map(|index| format!(" ?a{index}")).collect();
            let name = self.name(symbol);
            let term = if arity == 0 { name.to_owned() } else { format!("({name}{arguments})") };
            let now = now_atom(name, &arguments);
            let _ = writeln!(text, "(<= (next {term}) (true {term}) (not (true {begun})))");
            let _ = writeln!(text, "(<= {now} (true {term}) (not (true {begun})))");
        }
        if self.whole {
            let _ = writeln!(text, "(<= (next (did ?r ?m)) (does ?r ?m))");
        }
        for &(symbol, arity) in &moves {
            let arguments: String = (0..arity).map(|index| format!(" ?a{index}")).collect();
            let name = self.name(symbol);
            let term = if arity == 0 { name.to_owned() } else { format!("({name}{arguments})") };
            let _ = writeln!(text, "(<= (next (did_{name} ?r{arguments})) (does ?r {term}))");
        }
        Some(text)
    }

    fn rule(&self, rule: &Rule, text: &mut String) -> Option<()> {
        let head = &rule.head;
        match head.relation {
            keyword::BASE | keyword::INPUT => {}
            keyword::INIT | keyword::ROLE => {
                self.write(&self.atom(head, rule), rule, None, text)?;
            }
            keyword::NEXT => {
                let RuleTerm::Function(symbol, arguments) = head.arguments.first()? else {
                    return None;
                };
                let arguments: String =
                    arguments.iter().map(|a| format!(" {}", self.term(a, rule))).collect();
                self.write(&self.atom(head, rule), rule, Some(Moment::Then), text)?;
                self.write(
                    &now_atom(self.name(*symbol), &arguments),
                    rule,
                    Some(Moment::Then),
                    text,
                )?;
            }
            keyword::LEGAL | keyword::GOAL | keyword::TERMINAL => {
                self.write(&self.atom(head, rule), rule, Some(Moment::Now), text)?;
            }
            relation if self.statics.contains(&(relation, head.arguments.len())) => {
                self.write(&self.atom(head, rule), rule, None, text)?;
            }
            _ => {
                self.write(
                    &self.derived(head, rule, Moment::Then),
                    rule,
                    Some(Moment::Then),
                    text,
                )?;
                // Relations that depend on moves are never needed for the current state.
                let mut now = String::new();
                if self
                    .write(
                        &self.derived(head, rule, Moment::Now),
                        rule,
                        Some(Moment::Now),
                        &mut now,
                    )
                    .is_some()
                {
                    text.push_str(&now);
                }
            }
        }
        Some(())
    }

    /// Writes a rule with another head and a body for the given moment. The moment is `None` for
    /// static rules.
    fn write(
        &self,
        head: &str,
        rule: &Rule,
        moment: Option<Moment>,
        text: &mut String,
    ) -> Option<()> {
        let mut body = String::new();
        if matches!(rule.head.relation, keyword::NEXT) {
            let _ = write!(body, " (true {})", self.begun);
        }
        for condition in &rule.body {
            match condition {
                Condition::Holds(atom) => {
                    let _ = write!(body, " {}", self.condition(atom, rule, moment)?);
                    if atom.relation == keyword::DOES {
                        let _ =
                            write!(body, " (role {})", self.term(atom.arguments.first()?, rule));
                    }
                }
                Condition::Fails(atom) => {
                    let _ = write!(body, " (not {})", self.condition(atom, rule, moment)?);
                }
                Condition::Differ(a, b, _) => {
                    let _ =
                        write!(body, " (distinct {} {})", self.term(a, rule), self.term(b, rule));
                }
            }
        }
        if body.is_empty() {
            let _ = writeln!(text, "{head}");
        } else {
            let _ = writeln!(text, "(<= {head}{body})");
        }
        Some(())
    }

    fn condition(&self, atom: &RuleAtom, rule: &Rule, moment: Option<Moment>) -> Option<String> {
        let arguments = |terms: &[RuleTerm]| -> String {
            terms.iter().map(|term| format!(" {}", self.term(term, rule))).collect()
        };
        match (atom.relation, moment) {
            (keyword::TRUE, Some(Moment::Now)) => {
                let RuleTerm::Function(symbol, terms) = atom.arguments.first()? else {
                    return None;
                };
                Some(now_atom(self.name(*symbol), &arguments(terms)))
            }
            (keyword::DOES, Some(Moment::Then)) if self.whole => {
                Some(format!("(true (did{}))", arguments(&atom.arguments)))
            }
            (keyword::DOES, Some(Moment::Then)) => {
                let RuleTerm::Function(symbol, terms) = atom.arguments.get(1)? else { return None };
                let role = self.term(atom.arguments.first()?, rule);
                Some(format!("(true (did_{} {role}{}))", self.name(*symbol), arguments(terms)))
            }
            (keyword::DOES, _) => None,
            (keyword::TRUE | keyword::ROLE, _) => Some(self.atom(atom, rule)),
            (relation, _) if self.statics.contains(&(relation, atom.arguments.len())) => {
                Some(self.atom(atom, rule))
            }
            (_, Some(moment)) => Some(self.derived(atom, rule, moment)),
            (_, None) => None,
        }
    }

    fn derived(&self, atom: &RuleAtom, rule: &Rule, moment: Moment) -> String {
        let suffix = if moment == Moment::Then { "then" } else { "now" };
        self.applied(&format!("{}_{suffix}", self.name(atom.relation)), &atom.arguments, rule)
    }

    fn atom(&self, atom: &RuleAtom, rule: &Rule) -> String {
        self.applied(self.name(atom.relation), &atom.arguments, rule)
    }

    fn term(&self, term: &RuleTerm, rule: &Rule) -> String {
        match term {
            RuleTerm::Variable(v) => {
                let clause = &self.game.rules().sheet().clauses[rule.clause];
                let name = clause
                    .variables
                    .get(*v as usize)
                    .map_or("v", |variable| variable.name.as_str());
                format!("?{name}")
            }
            RuleTerm::Function(symbol, arguments) => {
                self.applied(self.name(*symbol), arguments, rule)
            }
        }
    }

    fn applied(&self, name: &str, arguments: &[RuleTerm], rule: &Rule) -> String {
        if arguments.is_empty() {
            return name.to_owned();
        }
        let arguments: String =
            arguments.iter().map(|argument| format!(" {}", self.term(argument, rule))).collect();
        format!("({name}{arguments})")
    }
}

fn now_atom(functor: &str, arguments: &str) -> String {
    if arguments.is_empty() {
        format!("now_{functor}")
    } else {
        format!("(now_{functor}{arguments})")
    }
}
