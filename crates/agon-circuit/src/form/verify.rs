//! Checks the invariants of a circuit.

use std::fmt;

use hashbrown::HashTable;

use crate::Circuit;
use crate::form::graph::hash;

/// Checks every invariant of a circuit. Takes time linear in the gates, and sorts names.
///
/// 1. Every signal names a gate of the circuit.
/// 2. An AND gate reads only gates before it, two different ones, and never the constant.
/// 3. The operands of an AND gate are in ascending order, and no two gates have the same operands.
/// 4. There is one initial value and one next signal per base bit, one list of legal signals, of
///    goals and of percepts per role, and one legal signal per move.
/// 5. Legal, terminal and goal signals depend on no input.
/// 6. The goal values of a role are in ascending order, each once.
/// 7. Every role has a move, and at most one role is nature.
/// 8. The texts of the moves of a role are different, and so are those of the base bits.
/// 9. The percepts of a role are sorted by text, each once.
///
/// # Errors
/// Returns the first broken invariant.
pub fn verify(circuit: &Circuit) -> Result<(), BrokenInvariant> {
    shapes(circuit)?;
    gates(circuit)?;
    outputs(circuit)?;
    names(circuit)
}

/// A broken invariant of a circuit. Always a bug of the program that built the circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenInvariant {
    /// Its number in the list of [`verify`].
    pub invariant: u8,
    /// A description of the violation.
    pub what: String,
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {} of circuits is broken: {}", self.invariant, self.what)
    }
}

impl std::error::Error for BrokenInvariant {}

fn check(invariant: u8, holds: bool, what: impl FnOnce() -> String) -> Result<(), BrokenInvariant> {
    if holds { Ok(()) } else { Err(BrokenInvariant { invariant, what: what() }) }
}

fn shapes(circuit: &Circuit) -> Result<(), BrokenInvariant> {
    let (n_base, n_roles) = (circuit.base.len(), circuit.roles.len());
    let outputs = &circuit.outputs;
    let per_bit = [("initial values", circuit.initial.len()), ("next signals", outputs.next.len())];
    for (what, n) in per_bit {
        check(4, n == n_base, || format!("{n} {what} for {n_base} base bits"))?;
    }
    let per_role = [
        ("legal", outputs.legal.len()),
        ("goals", outputs.goals.len()),
        ("percepts", outputs.percepts.len()),
    ];
    for (what, n) in per_role {
        check(4, n == n_roles, || format!("{n} lists of {what} for {n_roles} roles"))?;
    }
    for (role, legal) in circuit.roles.iter().zip(&outputs.legal) {
        let (n_legal, n_moves) = (legal.len(), role.moves.len());
        check(4, n_legal == n_moves, || {
            format!("{n_legal} legal signals for {n_moves} moves of {}", role.name)
        })?;
        check(7, n_moves > 0, || format!("{} has no move", role.name))?;
    }
    let n_nature = circuit.roles.iter().filter(|role| role.is_nature).count();
    check(7, n_nature < 2, || format!("{n_nature} roles are nature"))
}

fn gates(circuit: &Circuit) -> Result<(), BrokenInvariant> {
    let mut seen = HashTable::with_capacity(circuit.ands.len());
    for (gate, operands) in (circuit.first_and()..).zip(&circuit.ands) {
        let [a, b] = *operands;
        check(1, a.gate() < circuit.n_gates() && b.gate() < circuit.n_gates(), || {
            format!("g{gate} = {a} & {b}")
        })?;
        let sound = a.gate() < gate
            && b.gate() < gate
            && a.gate() != b.gate()
            && a.gate() != 0
            && b.gate() != 0;
        check(2, sound, || format!("g{gate} = {a} & {b}"))?;
        check(3, a < b, || format!("g{gate} = {a} & {b} is out of order"))?;
        let is_new = seen.find(hash(a, b), |other| other == operands).is_none();
        check(3, is_new, || format!("g{gate} = {a} & {b} occurs twice"))?;
        seen.insert_unique(hash(a, b), *operands, |&[a, b]| hash(a, b));
    }
    Ok(())
}

fn outputs(circuit: &Circuit) -> Result<(), BrokenInvariant> {
    for signal in circuit.outputs.signals() {
        check(1, signal.gate() < circuit.n_gates(), || format!("output {signal}"))?;
    }
    let reads_input = circuit.reads_input();
    for signal in circuit.outputs.state_signals() {
        check(5, !reads_input[signal.gate()], || {
            format!("{signal} is an output of a state but depends on a move")
        })?;
    }
    for (role, goals) in circuit.roles.iter().zip(&circuit.outputs.goals) {
        let ascending = goals.windows(2).all(|pair| pair[0].0 < pair[1].0);
        check(6, ascending, || format!("the goal values of {} are out of order", role.name))?;
    }
    for (role, percepts) in circuit.roles.iter().zip(&circuit.outputs.percepts) {
        let ascending = percepts.windows(2).all(|pair| pair[0].0 < pair[1].0);
        check(9, ascending, || format!("the percepts of {} are out of order", role.name))?;
    }
    Ok(())
}

fn names(circuit: &Circuit) -> Result<(), BrokenInvariant> {
    let lists = circuit.roles.iter().map(|role| (&role.moves, role.name.as_str()));
    for (texts, of) in lists.chain([(&circuit.base, "the state")]) {
        let mut sorted: Vec<&str> = texts.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let double = sorted.windows(2).find(|pair| pair[0] == pair[1]);
        check(8, double.is_none(), || {
            format!("`{}` occurs twice for {of}", double.map_or("", |pair| pair[0]))
        })?;
    }
    Ok(())
}
