//! What each rule of a game costs, and which rules and conditions are never used in play.

pub use agon_gdl::profile::profile;
pub use agon_text::profile::{Profile, ProfileOptions, RuleProfile};
pub use agon_toss::profile::profile as profile_rewriting;
use serde_json::{Value, json};

/// Returns the profile as JSON, with the rules in the order of the text.
pub fn to_json(profile: &Profile) -> Value {
    let rules = profile.rules.iter().map(|rule| {
        let never_true = rule.never_true.iter();
        json!({
            "line": rule.line, "head": rule.head, "measured": rule.is_measured,
            "steps": rule.steps, "used_at_states": rule.used,
            "instances": profile.has_gates.then_some(rule.instances),
            "gates": profile.has_gates.then_some(rule.gates),
            "never_true": never_true
                .map(|(line, text)| json!({"line": line, "condition": text}))
                .collect::<Vec<_>>(),
        })
    });
    json!({
        "plays": profile.plays, "states": profile.states,
        "rules": rules.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn unused_rules_and_conditions_are_found() {
        let text = "(role a) (init (n 1)) (succ 1 2) (succ 2 3)
            (<= (legal a go) (true (n ?x)))
            (<= (next (n ?y)) (does a go) (true (n ?x)) (succ ?x ?y))
            (<= (next lost) (does a go) (true (n 9)) (succ 1 2))
            (<= terminal (true (n 3)))
            (<= (goal a 100) (true (n 3)))
            (<= (goal a 0) (not (true (n 3))))";
        let game = crate::Game::open(text).expect("the rules are sound");
        let rules = game.gdl().expect("it is GDL");
        let profile = profile(rules, &ProfileOptions::default()).expect("it can be played");
        let lost = profile.rules.iter().find(|rule| rule.head == "(next lost)");
        let lost = lost.expect("the rule is listed");
        assert_eq!(lost.used, 0);
        assert_eq!(lost.never_true, [(4, "(true (n 9))".to_owned())]);
        let steps = profile.rules.iter().find(|rule| rule.head == "(next (n ?y))");
        let steps = steps.expect("the rule is listed");
        assert_eq!(steps.used * 3, profile.states * 2, "it applies before the end");
        assert!(profile.has_gates && profile.to_string().contains("never true: (true (n 9))"));
    }

    #[test]
    fn rules_and_conditions_that_never_apply_are_found() {
        let text = "PLAYERS X\n\
            RULE Go: [a | - | -] -> [a | P(a) | -] emb P\n\
            RULE Never: [a | - | -] -> [a | P(a) | -] emb P pre ex x Q(x)\n\
            PAYOFF { X: 1 }\n\
            LOC 0 { PLAYER X MOVES [Go -> 0]; [Never -> 0] }\n\
            START [ a, b | P:1 {}; Q:1 {} | ]\n";
        let source = Arc::new(agon_text::Source::new("x.toss", text));
        let game =
            crate::open::open_toss(source, &Default::default()).expect("the rules are sound");
        let profile = profile_rewriting(&game, &ProfileOptions::default()).expect("it plays");
        let [go, never] = profile.rules.as_slice() else { panic!("{profile:?}") };
        assert_eq!((go.head.as_str(), go.line, never.line), ("Go", 2, 3));
        assert_eq!(go.used * 3, profile.states * 2, "it applies before the end: {profile:?}");
        assert_eq!(never.used, 0);
        assert_eq!(never.never_true.len(), 1, "{profile:?}");
        assert!(profile.to_string().contains("never true: "), "{profile}");
    }
}
