//! A rule's head matched with the way it is asked.

use crate::program::{Atom, Goal, Pattern, Rule};

use super::Skeleton;

/// A rule as seen from one way of asking.
pub(super) struct Asked {
    pub(super) body: Vec<Goal>,
    /// What the known values look like, in the order of the skeleton.
    pub(super) inputs: Vec<Pattern>,
    /// What is wanted, in the order of the skeleton.
    pub(super) outputs: Vec<Pattern>,
    pub(super) n_variables: usize,
}

/// `None` if the head cannot fit the skeleton.
pub(super) fn specialise(rule: &Rule, skeleton: &[Skeleton]) -> Option<Asked> {
    let mut fresh = rule.n_variables;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let asked: Vec<Pattern> =
        skeleton.iter().map(|s| pattern_of(s, &mut fresh, &mut inputs, &mut outputs)).collect();
    let mut bindings = vec![None; fresh as usize];
    let fits = asked.iter().zip(&rule.head.arguments).all(|(a, b)| unify(a, b, &mut bindings));
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
    Some(Asked {
        body: body.collect(),
        inputs: resolved(&inputs),
        outputs: resolved(&outputs),
        n_variables: fresh as usize,
    })
}

/// The skeleton as a pattern in which every known and every wanted place is a variable of its own.
fn pattern_of(
    skeleton: &Skeleton,
    fresh: &mut u32,
    inputs: &mut Vec<u32>,
    outputs: &mut Vec<u32>,
) -> Pattern {
    match skeleton {
        Skeleton::Form(symbol, parts) => Pattern::Function(
            *symbol,
            parts.iter().map(|part| pattern_of(part, fresh, inputs, outputs)).collect(),
        ),
        Skeleton::Known | Skeleton::Wanted => {
            let list = if *skeleton == Skeleton::Known { inputs } else { outputs };
            list.push(*fresh);
            *fresh += 1;
            Pattern::Variable(*fresh - 1)
        }
    }
}

/// Makes two patterns one. No occurs check: in a skeleton every variable stands once, so a variable cannot come
/// to stand inside its own value.
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
