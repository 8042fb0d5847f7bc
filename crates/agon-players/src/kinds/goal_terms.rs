//! Options of the terms that are made of the goals of a structure rewriting game (Kaiser &
//! Stafiniak 2011), shared by several kinds of players.

use agon_analysis::goal_formulas::{GoalOptions, Method, Rational, Weights};

use crate::option::Settings;
use crate::{GoalTermOptions, MethodChoice, OptionKind};

/// Options beside the one that selects the method.
pub(super) static OPTIONS: [OptionKind; 5] = [
    OptionKind::real(
        "tnf-alpha",
        0.0..=1.0,
        0.25,
        "tnf: weight of a step relative to the step after it",
    ),
    OptionKind::word(
        "tnf-weights",
        &["powers", "example"],
        "tnf, descriptions: weights are powers of alpha, or 1, 1/4, 1/8, ... \
         (Kaiser & Stafiniak 2011, example 8)",
    ),
    OptionKind::real(
        "descriptions-alpha",
        0.0..=1.0,
        0.25,
        "descriptions: weight of a step relative to the step after it",
    ),
    OptionKind::integer(
        "rule-conditions-m",
        1..=16,
        4,
        "rule-conditions: power to which the part that is present is raised",
    ),
    OptionKind::word(
        "terms-choice",
        &["rule", "trial"],
        "terms: rule-conditions if moves only add and are many, else descriptions; \
         or the method that wins short matches against that one",
    ),
];

/// Returns the terms that an option selects, if it does.
pub(super) fn selected_by(settings: &Settings, option: &str) -> Option<GoalTermOptions> {
    let choice = match settings.word(option) {
        "tnf" => MethodChoice::Given(Method::Existential),
        "descriptions" => MethodChoice::Given(Method::Descriptions),
        "rule-conditions" => MethodChoice::Given(Method::RuleConditions),
        "terms" if settings.word("terms-choice") == "trial" => MethodChoice::Trial,
        "terms" => MethodChoice::Recommended,
        _ => return None,
    };
    let millionths =
        |name: &str| Rational::fraction((settings.real(name) * 1e6).round() as i128, 1_000_000);
    let alpha = if choice == MethodChoice::Given(Method::Existential) {
        "tnf-alpha"
    } else {
        "descriptions-alpha"
    };
    let weights = match millionths(alpha) {
        Some(alpha) if settings.word("tnf-weights") == "powers" => Weights::Powers(alpha),
        Some(_) | None => Weights::of_example_8(),
    };
    let power = settings.integer_u32("rule-conditions-m");
    Some(GoalTermOptions {
        choice,
        options: GoalOptions { weights, power, ..GoalOptions::default() },
    })
}
