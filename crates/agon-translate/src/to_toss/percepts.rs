//! Recognition of percepts that give full information.
//!
//! A role that sees every move knows the state, because all roles know the initial state. In
//! GDL-II, roles see only what the rules reveal. So rulesheets with chance contain a rule such as
//! `(<= (sees ?watcher (did ?mover ?move)) (role ?watcher) (does ?mover ?move))`.

use std::collections::BTreeSet;

use agon_datalog::Symbol;
use agon_gdl::check::CheckedRules;
use agon_gdl::rules::{Condition, Rule, RuleTerm};
use agon_gdl::symbols::keyword;

/// Returns whether the rules reveal every move with its role to every role except nature.
/// Additional percepts are harmless.
pub(super) fn give_full_information(rules: &CheckedRules) -> bool {
    let sees: Vec<&Rule> =
        rules.rules().iter().filter(|rule| rule.head.relation == keyword::SEES).collect();
    let nature = rules.nature().map(|index| rules.roles()[index]);
    let mut elements: BTreeSet<Symbol> = BTreeSet::new();
    for rule in &sees {
        let Some((watcher, form)) = revealed(rule) else { continue };
        // A percept of the same form with another cause could be mistaken for this one.
        if sees.iter().any(|other| may_look_like(other, form) && revealed(other).is_none()) {
            continue;
        }
        match watcher {
            Some(role) => drop(elements.insert(role)),
            None => elements.extend(rules.roles()),
        }
    }
    rules.roles().iter().all(|role| elements.contains(role) || Some(*role) == nature)
}

/// The form of a percept: functor and arity.
type Form = (Symbol, usize);

/// Returns the informed role (or `None` for all roles) and the form of the percept, if a rule
/// reveals every move with its role.
fn revealed(rule: &Rule) -> Option<(Option<Symbol>, Form)> {
    let [watcher, percept] = rule.head.arguments.as_slice() else { return None };
    let RuleTerm::Function(functor, arguments) = percept else { return None };
    let mut does = rule.body.iter().filter_map(|condition| match condition {
        Condition::Holds(atom) if atom.relation == keyword::DOES => Some(&atom.arguments),
        _ => None,
    });
    let (Some(actions), None) = (does.next(), does.next()) else { return None };
    let [mover @ RuleTerm::Variable(who), made @ RuleTerm::Variable(what)] = actions.as_slice()
    else {
        return None;
    };
    if who == what
        || watcher == mover
        || watcher == made
        || !percept.mentions(*who)
        || !percept.mentions(*what)
    {
        return None;
    }
    // No other condition is allowed, except that roles are roles and that a role need not see its
    // own move.
    let is_free = rule.body.iter().all(|condition| match condition {
        Condition::Holds(atom) if atom.relation == keyword::DOES => true,
        Condition::Holds(atom) => {
            atom.relation == keyword::ROLE
                && atom.arguments.iter().all(|role| role == watcher || role == mover)
        }
        Condition::Differ(a, b, _) => (a, b) == (watcher, mover) || (a, b) == (mover, watcher),
        Condition::Fails(_) => false,
    });
    let whom = match watcher {
        RuleTerm::Variable(_) => None,
        RuleTerm::Function(..) => Some(watcher.as_constant()?),
    };
    is_free.then_some((whom, (*functor, arguments.len())))
}

/// Returns whether a rule may produce percepts of a form.
fn may_look_like(rule: &Rule, form: Form) -> bool {
    match rule.head.arguments.get(1) {
        Some(RuleTerm::Function(functor, arguments)) => (*functor, arguments.len()) == form,
        Some(RuleTerm::Variable(_)) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agon_text::Source;

    use super::give_full_information;

    /// Returns whether a two-player game with a coin toss and these percept rules has full
    /// information.
    fn gives_full_information(sees: &str) -> bool {
        let text = format!(
            "(role a) (role b) (role random) (init (turn 0)) (legal a go) (legal a stay) (legal b go) (legal random (coin heads))
             (legal random (coin tails)) (<= (next (turn 1)) (true (turn 0))) (<= (next (fell ?x)) (does random (coin ?x)))
             (<= terminal (true (turn 1))) (goal a 50) (goal b 50) {sees}"
        );
        let checked = agon_gdl::check::check(Arc::new(Source::new("coin.kif", text)));
        give_full_information(&checked.rules.expect("the rules are sound"))
    }

    #[test]
    fn percepts_of_all_moves_give_full_information() {
        assert!(gives_full_information("(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m))"));
        assert!(gives_full_information(
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m) (distinct ?w ?r))"
        ));
        assert!(gives_full_information(
            "(<= (sees a (did ?r ?m)) (does ?r ?m)) (<= (sees b (done ?r ?m)) (does ?r ?m))"
        ));
        assert!(gives_full_information(
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m)) (<= (sees a begun) (true (turn 0)))"
        ));
    }

    #[test]
    fn partial_percepts_do_not_give_full_information() {
        let less = [
            // One role, one mover, moves without their roles.
            "(<= (sees a (did ?r ?m)) (does ?r ?m))",
            "(<= (sees ?w (did random ?m)) (role ?w) (does random ?m))",
            "(<= (sees ?w (did ?m)) (role ?w) (does ?r ?m))",
            "(<= (sees ?w (did ?r ?r)) (role ?w) (does ?r ?m))",
            // Only some moves, only sometimes, only own moves.
            "(<= (sees ?w (did ?r (coin ?x))) (role ?w) (does ?r (coin ?x)))",
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m) (true (turn 1)))",
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m) (not (true (turn 0))))",
            "(<= (sees ?w (did ?w ?m)) (does ?w ?m))",
            // A percept that looks like a move may have another cause.
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m)) (<= (sees a (did b go)) (true (turn 0)))",
        ];
        for sees in less {
            assert!(!gives_full_information(sees), "{sees}");
        }
    }
}
