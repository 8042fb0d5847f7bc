//! Conjunctions grown one literal at a time, as in the Apriori algorithm (Agrawal & Srikant 1994).

use std::collections::BTreeSet;

use super::conjunction::{Conjunction, Literal, When};
use super::examples::Examples;
use super::view::View;

/// Limits of the conjunctions that are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowthLimits {
    /// Maximum number of literals.
    pub literals: usize,
    /// Maximum number of variables.
    pub variables: usize,
    /// Number of conjunctions of each size that are extended.
    pub beam: usize,
    /// Least share of the moves of which a conjunction must hold, and of which it must not hold.
    pub support: f64,
}

impl Default for GrowthLimits {
    fn default() -> GrowthLimits {
        GrowthLimits { literals: 4, variables: 3, beam: 10, support: 0.02 }
    }
}

/// A conjunction with the moves of which it holds.
#[derive(Clone, Debug)]
pub(super) struct Grown {
    pub(super) conjunction: Conjunction,
    pub(super) holds: Vec<usize>,
    pub(super) score: f64,
    /// The number of conjunctions among which each of its literals was chosen, as a sum of
    /// logarithms to the base 2: its description length in bits.
    pub(super) bits: f64,
}

/// Grows conjunctions and returns the best one, together with the number that were tried. `score`
/// is given the moves of which a conjunction holds and its description length; higher is better.
pub(super) fn grow(
    examples: &Examples,
    among: &[usize],
    limits: &GrowthLimits,
    score: &dyn Fn(&[usize], f64) -> f64,
) -> (Option<Grown>, usize) {
    let least = ((limits.support * among.len() as f64).ceil() as usize).max(1);
    let start = Grown {
        conjunction: Conjunction::default(),
        holds: among.to_vec(),
        score: f64::NEG_INFINITY,
        bits: 0.0,
    };
    let (mut kept, mut best, mut n_tried) = (vec![start], None::<Grown>, 0);
    let mut seen: BTreeSet<Conjunction> = BTreeSet::new();
    for _ in 0..limits.literals {
        let mut larger: Vec<Grown> = Vec::new();
        for parent in &kept {
            let literals = extensions(&parent.conjunction, &examples.view, limits.variables);
            let bits = parent.bits + libm::log2(literals.len().max(1) as f64);
            for literal in literals {
                let conjunction = parent.conjunction.with(literal);
                if !seen.insert(conjunction.clone()) {
                    continue;
                }
                n_tried += 1;
                // A larger conjunction holds only where the smaller one does.
                let holds = examples.select(&conjunction, &parent.holds);
                if holds.len() < least {
                    continue;
                }
                let score = score(&holds, bits);
                larger.push(Grown { conjunction, holds, score, bits });
            }
        }
        larger.sort_by(|a, b| {
            // Of formulas that say the same, those with fewer negations are easier to read.
            let n_negated = |of: &Grown| of.conjunction.n_negated();
            let by_score = b.score.total_cmp(&a.score);
            by_score
                .then_with(|| n_negated(a).cmp(&n_negated(b)))
                .then_with(|| a.conjunction.cmp(&b.conjunction))
        });
        let is_selective = |grown: &&Grown| among.len() - grown.holds.len() >= least;
        if let Some(first) = larger.iter().find(is_selective)
            && best.as_ref().is_none_or(|best| first.score > best.score)
        {
            best = Some(first.clone());
        }
        larger.truncate(limits.beam);
        if larger.is_empty() {
            break;
        }
        kept = larger;
    }
    (best, n_tried)
}

/// Returns the literals by which a conjunction may grow. A new variable comes with a positive
/// literal, and the first one excepted, that literal links it to another variable.
fn extensions(conjunction: &Conjunction, view: &View, max_variables: usize) -> Vec<Literal> {
    let n = conjunction.n_variables;
    let may_add = usize::from(n) < max_variables;
    let mut all = Vec::new();
    for (relation, entry) in view.relations.iter().enumerate() {
        if entry.arity == 0 || entry.arity > 3 {
            continue;
        }
        let times: &[When] =
            if view.is_changing(relation) { &[When::Now, When::Before] } else { &[When::Now] };
        for arguments in tuples(entry.arity, n + u8::from(may_add)) {
            let is_new = arguments.contains(&n);
            if is_new && n > 0 && arguments.iter().all(|&v| v == n) {
                continue;
            }
            for &when in times {
                for is_positive in [true, false] {
                    // Negated facts that never change describe the board, not the move.
                    let is_useful = is_positive || !is_new && view.is_changing(relation);
                    let arguments = arguments.clone();
                    let literal = Literal { relation, when, is_positive, arguments };
                    if is_useful && !conjunction.decides(&literal) {
                        all.push(literal);
                    }
                }
            }
        }
    }
    all
}

fn tuples(arity: usize, n_variables: u8) -> Vec<Vec<u8>> {
    (0..arity).fold(vec![Vec::new()], |shorter, _| {
        shorter
            .iter()
            .flat_map(|tuple: &Vec<u8>| (0..n_variables).map(move |v| [&tuple[..], &[v]].concat()))
            .collect()
    })
}
