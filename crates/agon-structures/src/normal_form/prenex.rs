//! Prenex normal form.

use crate::formula::{Formula, Fresh, Variable};

use super::{Oversize, conjunction, disjunction, is_literal, nnf};

/// Quantifiers in front of a Boolean combination of literals. `let`s are put in place.
pub fn pnf(formula: &Formula, limit: usize) -> Result<Formula, Oversize> {
    let formula = nnf(&formula.without_lets(limit)?);
    let formula = formula.with_distinct_binders(&mut Fresh::default());
    let (prefix, matrix) = pulled(&formula);
    let quantified = prefix.into_iter().rev().fold(matrix, |inner, (exists, variables)| {
        if exists { Formula::exists(&variables, inner) } else { Formula::all(&variables, inner) }
    });
    Ok(quantified)
}

/// Whether all quantifiers that are not within an atom stand in front.
pub fn is_pnf(formula: &Formula) -> bool {
    let mut inner = formula;
    while let Formula::Exists(_, next) | Formula::All(_, next) = inner {
        inner = next;
    }
    is_matrix(inner)
}

fn is_matrix(formula: &Formula) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_matrix),
        other => is_literal(other),
    })
}

/// Blocks of quantifiers from the outside in, with whether they are existential.
type Prefix = Vec<(bool, Vec<Variable>)>;

fn pulled(formula: &Formula) -> (Prefix, Formula) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
            let exists = matches!(formula, Formula::Exists(..));
            let (mut prefix, matrix) = pulled(inner);
            match prefix.first_mut() {
                Some((same, first)) if *same == exists => {
                    first.splice(0..0, variables.iter().cloned());
                }
                _ => prefix.insert(0, (exists, variables.clone())),
            }
            (prefix, matrix)
        }
        Formula::And(parts) | Formula::Or(parts) => {
            let (prefixes, matrices): (Vec<Prefix>, Vec<Formula>) =
                parts.iter().map(pulled).unzip();
            let matrix = if matches!(formula, Formula::And(_)) {
                conjunction(matrices)
            } else {
                disjunction(matrices)
            };
            (interleaved(prefixes), matrix)
        }
        other => (Vec::new(), other.clone()),
    })
}

/// One prefix for all, with as few changes between the quantifiers as merging block by block gives.
fn interleaved(mut prefixes: Vec<Prefix>) -> Prefix {
    prefixes.iter_mut().for_each(|prefix| prefix.reverse());
    let mut merged = Prefix::new();
    // The kind with which the longest prefix begins is taken first.
    let longest = prefixes.iter().max_by_key(|prefix| prefix.len());
    let mut exists = longest.and_then(|prefix| prefix.last()).is_none_or(|block| block.0);
    while prefixes.iter().any(|prefix| !prefix.is_empty()) {
        let mut block = Vec::new();
        for prefix in &mut prefixes {
            if prefix.last().is_some_and(|next| next.0 == exists)
                && let Some((_, variables)) = prefix.pop()
            {
                block.extend(variables);
            }
        }
        if !block.is_empty() {
            merged.push((exists, block));
        }
        exists = !exists;
    }
    merged
}
