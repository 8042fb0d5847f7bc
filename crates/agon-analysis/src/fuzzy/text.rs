//! Conditions in the syntax of the rulesheet.

use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, RuleAtom, RuleTerm};
use agon_gdl::syntax::Syntax;

/// Writes conditions in the syntax of the rulesheet.
pub(crate) fn conditions(
    game: &Game,
    conditions: &[Condition],
    name: &dyn Fn(u32) -> String,
) -> String {
    let texts: Vec<String> =
        conditions.iter().map(|condition| self::condition(game, condition, name)).collect();
    match game.rules().sheet().syntax {
        Syntax::Kif => texts.join(" "),
        Syntax::Infix => texts.join(", "),
    }
}

fn condition(game: &Game, condition: &Condition, name: &dyn Fn(u32) -> String) -> String {
    let is_kif = game.rules().sheet().syntax == Syntax::Kif;
    match condition {
        Condition::Holds(atom) => self::atom(game, atom, name),
        Condition::Fails(atom) if is_kif => format!("(not {})", self::atom(game, atom, name)),
        Condition::Fails(atom) => format!("not {}", self::atom(game, atom, name)),
        Condition::Differ(a, b, _) => {
            let (a, b) = (term(game, a, name), term(game, b, name));
            if is_kif { format!("(distinct {a} {b})") } else { format!("distinct({a}, {b})") }
        }
    }
}

fn atom(game: &Game, atom: &RuleAtom, name: &dyn Fn(u32) -> String) -> String {
    term(game, &RuleTerm::Function(atom.relation, atom.arguments.clone()), name)
}

/// Writes a term in the syntax of the rulesheet.
pub(crate) fn term(game: &Game, of: &RuleTerm, name: &dyn Fn(u32) -> String) -> String {
    match of {
        RuleTerm::Variable(v) => match game.rules().sheet().syntax {
            Syntax::Kif => name(*v),
            Syntax::Infix => name(*v).trim_start_matches('?').to_uppercase(),
        },
        RuleTerm::Function(symbol, arguments) => {
            let own = game.rules().sheet().symbols.name(*symbol);
            let arguments: Vec<String> =
                arguments.iter().map(|argument| term(game, argument, name)).collect();
            match game.rules().sheet().syntax {
                _ if arguments.is_empty() => own.to_owned(),
                Syntax::Kif => format!("({own} {})", arguments.join(" ")),
                Syntax::Infix => format!("{own}({})", arguments.join(", ")),
            }
        }
    }
}
