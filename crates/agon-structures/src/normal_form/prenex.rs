//! Prenex normal form.

use crate::formula::{Formula, Fresh, Variable};

use super::{Oversize, conjunction, disjunction, nnf};

/// Returns the formula with all quantifiers in front of a Boolean combination of literals. `let`s
/// are expanded.
///
/// # Errors
/// If expanding the `let`s would create more than `limit` parts.
pub fn pnf(formula: &Formula, limit: usize) -> Result<Formula, Oversize> {
    let formula = nnf(&formula.without_lets(limit)?);
    let formula = formula.with_distinct_binders(&mut Fresh::default());
    let (prefix, matrix) = pulled(&formula);
    let quantified = prefix.into_iter().rev().fold(matrix, |inner, (exists, variables)| {
        if exists { Formula::exists(&variables, inner) } else { Formula::all(&variables, inner) }
    });
    Ok(quantified)
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

/// Merges prefixes block by block, with few alternations.
fn interleaved(mut prefixes: Vec<Prefix>) -> Prefix {
    prefixes.iter_mut().for_each(|prefix| prefix.reverse());
    let mut merged = Prefix::new();
    // Start with the kind of quantifier with which the longest prefix begins.
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
