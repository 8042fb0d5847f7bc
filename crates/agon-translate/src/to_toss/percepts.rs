//! Whether percepts tell everybody everything.
//!
//! Who sees every move of everybody knows the state, as all know how play starts. Rulesheets with nature in them say so by a rule such as
//! `(<= (sees ?watcher (did ?mover ?move)) (role ?watcher) (does ?mover ?move))`, because in GDL-II nobody sees what no rule tells.

use std::collections::BTreeSet;

use agon_datalog::Symbol;
use agon_gdl::check::CheckedRules;
use agon_gdl::rules::{Condition, Rule, RuleTerm};
use agon_gdl::symbols::keyword;

/// Whether rules tell every role but nature who made which move. What they tell besides does no harm.
pub(super) fn tell_all(rules: &CheckedRules) -> bool {
    let sees: Vec<&Rule> =
        rules.rules().iter().filter(|rule| rule.head.relation == keyword::SEES).collect();
    let nature = rules.nature().map(|index| rules.roles()[index]);
    let mut told: BTreeSet<Symbol> = BTreeSet::new();
    for rule in &sees {
        let Some((watcher, form)) = telling(rule) else { continue };
        // A percept of the same form for another reason could be mistaken for this one.
        if sees.iter().any(|other| may_look_like(other, form) && telling(other).is_none()) {
            continue;
        }
        match watcher {
            Some(role) => drop(told.insert(role)),
            None => told.extend(rules.roles()),
        }
    }
    rules.roles().iter().all(|role| told.contains(role) || Some(*role) == nature)
}

/// The form of a percept: a functor and its number of arguments.
type Form = (Symbol, usize);

/// If a rule tells every move with its maker: whom it tells, everybody or one role, and in which form.
fn telling(rule: &Rule) -> Option<(Option<Symbol>, Form)> {
    let [watcher, percept] = rule.head.arguments.as_slice() else { return None };
    let RuleTerm::Function(functor, arguments) = percept else { return None };
    let mut does = rule.body.iter().filter_map(|condition| match condition {
        Condition::Holds(atom) if atom.relation == keyword::DOES => Some(&atom.arguments),
        _ => None,
    });
    let (Some(doing), None) = (does.next(), does.next()) else { return None };
    let [mover @ RuleTerm::Variable(who), made @ RuleTerm::Variable(what)] = doing.as_slice()
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
    // Nothing else may be asked for, but that roles are roles, and that one is not told what oneself does.
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

/// Whether a rule may give percepts of a form.
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

    use super::tell_all;

    /// A game for two in which nature throws a coin, with these rules for what is seen.
    fn tells_all(sees: &str) -> bool {
        let text = format!(
            "(role a) (role b) (role random) (init (turn 0)) (legal a go) (legal a stay) (legal b go) (legal random (coin heads))
             (legal random (coin tails)) (<= (next (turn 1)) (true (turn 0))) (<= (next (fell ?x)) (does random (coin ?x)))
             (<= terminal (true (turn 1))) (goal a 50) (goal b 50) {sees}"
        );
        let checked = agon_gdl::check::check(Arc::new(Source::new("coin.kif", text)));
        tell_all(&checked.rules.expect("the rules are sound"))
    }

    #[test]
    fn all_is_told_by_every_move_of_everybody() {
        assert!(tells_all("(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m))"));
        assert!(tells_all("(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m) (distinct ?w ?r))"));
        assert!(tells_all(
            "(<= (sees a (did ?r ?m)) (does ?r ?m)) (<= (sees b (done ?r ?m)) (does ?r ?m))"
        ));
        assert!(tells_all(
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m)) (<= (sees a begun) (true (turn 0)))"
        ));
    }

    #[test]
    fn less_than_all_is_not_all() {
        let less = [
            // One role, one mover, moves without their makers.
            "(<= (sees a (did ?r ?m)) (does ?r ?m))",
            "(<= (sees ?w (did random ?m)) (role ?w) (does random ?m))",
            "(<= (sees ?w (did ?m)) (role ?w) (does ?r ?m))",
            "(<= (sees ?w (did ?r ?r)) (role ?w) (does ?r ?m))",
            // Only some moves, only at times, only one's own.
            "(<= (sees ?w (did ?r (coin ?x))) (role ?w) (does ?r (coin ?x)))",
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m) (true (turn 1)))",
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m) (not (true (turn 0))))",
            "(<= (sees ?w (did ?w ?m)) (does ?w ?m))",
            // What looks like a move may be none.
            "(<= (sees ?w (did ?r ?m)) (role ?w) (does ?r ?m)) (<= (sees a (did b go)) (true (turn 0)))",
        ];
        for sees in less {
            assert!(!tells_all(sees), "{sees}");
        }
    }
}
