//! Unification of a rule's head with a binding pattern.

use crate::program::{Atom, Goal, Pattern, Rule};

use super::BindingPattern;

/// A rule specialised to a binding pattern.
pub(super) struct SpecialisedRule {
    pub(super) body: Vec<Goal>,
    /// Patterns of the known values, in the order of the binding pattern.
    pub(super) inputs: Vec<Pattern>,
    /// Patterns of the wanted values, in the order of the binding pattern.
    pub(super) outputs: Vec<Pattern>,
    pub(super) n_variables: usize,
}

/// Specialises a rule to a binding pattern. Returns `None` if the head does not fit.
pub(super) fn specialise(rule: &Rule, bindings: &[BindingPattern]) -> Option<SpecialisedRule> {
    let mut fresh = rule.n_variables;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let specialised: Vec<Pattern> =
        bindings.iter().map(|s| pattern_of(s, &mut fresh, &mut inputs, &mut outputs)).collect();
    let mut bindings = vec![None; fresh as usize];
    let fits =
        specialised.iter().zip(&rule.head.arguments).all(|(a, b)| unify(a, b, &mut bindings));
    if !fits {
        return None;
    }
    let atom = |atom: &Atom| Atom {
        predicate: atom.predicate,
        arguments: atom.arguments.iter().map(|p| resolve(p, &bindings)).collect(),
    };
    let body = rule.body.iter().map(|goal| match goal {
        Goal::Holds(a) => Goal::Holds(atom(a)),
        Goal::Fails(a) => Goal::Fails(atom(a)),
        Goal::Differ(a, b) => Goal::Differ(resolve(a, &bindings), resolve(b, &bindings)),
    });
    let resolved = |vars: &[u32]| {
        vars.iter().map(|&v| resolve(&Pattern::Variable(v), &bindings)).collect::<Vec<_>>()
    };
    Some(SpecialisedRule {
        body: body.collect(),
        inputs: resolved(&inputs),
        outputs: resolved(&outputs),
        n_variables: fresh as usize,
    })
}

/// Returns the binding pattern as a term pattern with one variable for each known and each wanted
/// place.
fn pattern_of(
    bindings: &BindingPattern,
    fresh: &mut u32,
    inputs: &mut Vec<u32>,
    outputs: &mut Vec<u32>,
) -> Pattern {
    match bindings {
        BindingPattern::Form(symbol, parts) => Pattern::Function(
            *symbol,
            parts.iter().map(|part| pattern_of(part, fresh, inputs, outputs)).collect(),
        ),
        BindingPattern::Bound | BindingPattern::Free => {
            let list = if *bindings == BindingPattern::Bound { inputs } else { outputs };
            list.push(*fresh);
            *fresh += 1;
            Pattern::Variable(*fresh - 1)
        }
    }
}

/// Unifies two patterns. No occurs check is needed: each variable of a binding pattern occurs once,
/// so a variable cannot occur inside its own value.
fn unify(a: &Pattern, b: &Pattern, bindings: &mut [Option<Pattern>]) -> bool {
    let (a, b) = (walk(a, bindings), walk(b, bindings));
    match (a, b) {
        (Pattern::Variable(x), Pattern::Variable(y)) if x == y => true,
        (Pattern::Variable(x), other) | (other, Pattern::Variable(x)) => {
            bindings[x as usize] = Some(other);
            true
        }
        (Pattern::Function(f, xs), Pattern::Function(g, ys)) => {
            f == g && xs.len() == ys.len() && xs.iter().zip(&ys).all(|(x, y)| unify(x, y, bindings))
        }
    }
}

fn walk(pattern: &Pattern, bindings: &[Option<Pattern>]) -> Pattern {
    let mut current = pattern;
    while let Pattern::Variable(v) = current {
        match &bindings[*v as usize] {
            Some(next) => current = next,
            None => break,
        }
    }
    current.clone()
}

fn resolve(pattern: &Pattern, bindings: &[Option<Pattern>]) -> Pattern {
    match walk(pattern, bindings) {
        Pattern::Variable(v) => Pattern::Variable(v),
        Pattern::Function(symbol, arguments) => {
            Pattern::Function(symbol, arguments.iter().map(|a| resolve(a, bindings)).collect())
        }
    }
}
