//! Regressed goals in words and as JSON.

use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::interpreter::Interpreter;
use serde_json::{Value, json};

use crate::regression::{
    ActionHeuristics, Aim, Evaluator, Extent, Logic, Network, Reader, formula_text, normalise,
};

/// Parts of a formula that are shown.
const MAX_PARTS: usize = 80;

/// What is said of a legal move.
struct Judged {
    role: String,
    text: String,
    /// By goal value: the formula.
    formulas: Vec<(i64, String)>,
    /// From 0 for the worst to 1 for the best legal move of the role.
    value: f64,
}

/// The legal moves at a position with the goals regressed through them, the most promising first.
pub fn action_heuristic_json(heuristics: &ActionHeuristics, position: &Interpreter) -> Value {
    let moves: Vec<Value> = judged(heuristics, position)
        .into_iter()
        .map(|judged| {
            let formulas = judged.formulas.iter();
            json!({
                "role": judged.role, "move": judged.text, "value": judged.value,
                "formulas": formulas.map(|(goal, text)| json!({"goal": goal, "formula": text})).collect::<Vec<_>>(),
            })
        })
        .collect();
    let Extent { aim, n_steps, max_level } = heuristics.extent;
    let aim = match aim {
        Aim::Reach => "reach",
        Aim::ReachAtEnd => "reach-at-end",
        Aim::AvoidWorst => "avoid-worst",
    };
    json!({
        "moves": moves, "operands": heuristics.formulas.size(),
        "aim": aim, "steps": n_steps, "cut_below_level": max_level,
    })
}

/// The same in words.
pub fn action_heuristic_text(
    heuristics: &ActionHeuristics,
    position: &Interpreter,
    n_shown: usize,
) -> Vec<String> {
    let all = judged(heuristics, position);
    let mut lines = Vec::new();
    if let Some(level) = heuristics.extent.max_level {
        lines.push(format!(
            "what lies more than {level} levels deep in the goals is left unknown: it is too large"
        ));
    }
    let comes = match (heuristics.extent.aim, heuristics.extent.n_steps) {
        (Aim::Reach, 1) => "comes next if",
        (Aim::Reach, _) => "comes in two steps if",
        (Aim::ReachAtEnd, _) => "comes next, and the end, if",
        (Aim::AvoidWorst, _) => "does not end play if",
    };
    for judged in all.iter().take(n_shown) {
        lines.push(format!("{:.2}  {} {}", judged.value, judged.role, judged.text));
        for (goal, text) in &judged.formulas {
            lines.push(format!("        goal {goal} {comes} {text}"));
        }
    }
    if all.len() > n_shown {
        lines.push(format!("… and {} more moves", all.len() - n_shown));
    }
    lines
}

fn judged(heuristics: &ActionHeuristics, position: &Interpreter) -> Vec<Judged> {
    let reader = Reader::new(position, heuristics);
    let mut evaluator = Evaluator::new(Arc::new(Network::new(heuristics, Logic::PRODUCT)));
    let mut state = Vec::new();
    reader.state(position, &mut state);
    evaluator.go_to(&state);
    let mut all = Vec::new();
    let choosers: Vec<Role> = position.choosers().collect();
    for role in choosers {
        let own = &heuristics.roles[role.index()];
        let mut of_role = Vec::new();
        for m in position.legal_moves(role) {
            let Some(place) = reader.move_idx(position, role, m) else { continue };
            let Some(regressed) = own.regressed.get(place).and_then(Option::as_ref) else {
                continue;
            };
            let formulas = own.goals.iter().zip(regressed).map(|(&goal, &formula)| {
                (goal, formula_text(&heuristics.formulas, formula, &heuristics.fluents, MAX_PARTS))
            });
            of_role.push(Judged {
                role: own.name.clone(),
                text: position.move_text(m),
                formulas: formulas.collect(),
                value: evaluator.value(role, place).unwrap_or(0.0),
            });
        }
        let mut values: Vec<f64> = of_role.iter().map(|judged| judged.value).collect();
        normalise(&mut values);
        of_role.iter_mut().zip(values).for_each(|(judged, value)| judged.value = value);
        of_role.sort_by(|a, b| b.value.total_cmp(&a.value));
        all.extend(of_role);
    }
    all
}
