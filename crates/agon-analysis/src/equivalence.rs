//! Whether two circuits play the same game: the product of both, and the question whether they ever
//! differ.
//!
//! The product makes the same joint move in both circuits. A state of it is bad if the circuits
//! disagree about the end of play, the legal moves, or the payoffs at the end. The states may be
//! described by other fluents: only what players can notice is compared.
//!
//! A proof needs to know how the states correspond. Pairs of fluents that were equal in all random
//! plays are candidates. They are proved together by induction: a counterexample refutes some of
//! them, and the proof is repeated with the rest (the Houdini algorithm of Flanagan & Leino 2001).
//! If the rest does not suffice, [`crate::safety`] looks for a difference or another proof.

use std::collections::BTreeMap;
use std::time::Instant;

use agon_circuit::{Builder, Circuit, CircuitRole, Compiled, Outputs, Signal};

use crate::properties::{Group, Known};
use crate::prove::{Answer, Literal, ProofLimits};
use crate::safety::{Line, Outcome, Problem, Reason, SafetyLimits, Unrolling};

/// The result of comparing two circuits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// They play the same game.
    Same {
        /// How that is known.
        reason: Reason,
        /// Number of pairs of fluents that are proved to be equal.
        n_pairs: usize,
    },
    /// After this play they differ.
    Differ(Line),
    /// They do not differ within this number of steps. More is not known.
    Unknown {
        /// Number of steps.
        steps: usize,
        /// Why nothing more is known.
        why: String,
    },
}

/// Compares two compiled games with the same roles.
///
/// # Errors
/// If the circuits cannot be compared, a sentence that says why.
pub fn compare(
    first: &Compiled,
    second: &Compiled,
    limits: &SafetyLimits,
) -> Result<Comparison, String> {
    let (a, b) = (&*first.circuit, &*second.circuit);
    if !a.is_exact() || !b.is_exact() {
        return Err("a circuit leaves some conditions of moves to the states after them".into());
    }
    if a.roles.len() != b.roles.len() {
        return Err("the games have different numbers of roles".into());
    }
    let product = product(a, b);
    let groups: Vec<Group> = (first.groups.iter().cloned())
        .chain(
            second
                .groups
                .iter()
                .map(|group| group.iter().map(|bit| bit + a.base.len()).collect::<Vec<usize>>()),
        )
        .map(|fluents| Group { fluents, at_most_one: Known::Proved, exactly_one: None })
        .collect();
    let problem = Problem {
        circuit: &product,
        bad: product.outputs.percepts[0][0].1,
        stop: Signal::FALSE,
        pending: &[],
        groups: &groups,
        longest: None,
    };
    if product.n_gates() <= limits.gates
        && let Some(n_pairs) = correspondence(&problem, a.base.len(), limits)
    {
        return Ok(Comparison::Same { reason: Reason::Induction(1), n_pairs });
    }
    Ok(match problem.decide(limits) {
        Outcome::Never(reason) => Comparison::Same { reason, n_pairs: 0 },
        Outcome::Reached(line, _) | Outcome::Repeats(line, _) => Comparison::Differ(line),
        Outcome::Unknown { steps, why } => Comparison::Unknown { steps, why: why.to_owned() },
    })
}

/// Builds the product of two circuits. Its only percept marks the states at which they differ.
fn product(a: &Circuit, b: &Circuit) -> Circuit {
    let mut roles = Vec::new();
    // By role: the moves of both, by text, with their numbers in each circuit.
    let mut moves: Vec<Vec<[Option<usize>; 2]>> = Vec::new();
    for (first, second) in a.roles.iter().zip(&b.roles) {
        let mut all: BTreeMap<String, [Option<usize>; 2]> = BTreeMap::new();
        for (side, role) in [first, second].into_iter().enumerate() {
            for (number, text) in role.moves.iter().enumerate() {
                all.entry(text.to_lowercase()).or_default()[side] = Some(number);
            }
        }
        roles.push(CircuitRole {
            name: first.name.clone(),
            moves: all.keys().cloned().collect(),
            is_nature: first.is_nature,
        });
        moves.push(all.into_values().collect());
    }
    let base = [a, b].into_iter().enumerate().flat_map(|(side, circuit)| {
        let bits = circuit.base.iter().zip(&circuit.initial);
        bits.map(move |(text, &value)| (format!("{} {text}", side + 1), value))
    });
    let mut builder = Builder::new(roles, base.collect());
    let maps =
        [embed(&mut builder, a, 0, 0, &moves), embed(&mut builder, b, a.base.len(), 1, &moves)];
    let at =
        |side: usize, signal: Signal| maps[side][signal.gate()].inverted_if(signal.is_inverted());
    let (end_a, end_b) = (at(0, a.outputs.terminal), at(1, b.outputs.terminal));
    let mut differences = vec![builder.xor(end_a, end_b)];
    let is_open = builder.and(!end_a, !end_b);
    let is_over = builder.and(end_a, end_b);
    let mut legal = Vec::new();
    for (role, moves) in moves.iter().enumerate() {
        let mut of_role = Vec::new();
        for [x, y] in moves {
            let x = x.map_or(Signal::FALSE, |x| at(0, a.outputs.legal[role][x]));
            let y = y.map_or(Signal::FALSE, |y| at(1, b.outputs.legal[role][y]));
            let differ = builder.xor(x, y);
            differences.push(builder.and(is_open, differ));
            of_role.push(builder.and(x, y));
        }
        legal.push(of_role);
        let pays = [(0, a), (1, b)].map(|(side, circuit)| {
            let goals =
                circuit.outputs.goals[role].iter().map(|&(v, signal)| (v, at(side, signal)));
            payoffs(&mut builder, goals.collect())
        });
        let values: std::collections::BTreeSet<i64> =
            pays.iter().flat_map(|pay| pay.keys().copied()).collect();
        for value in values {
            let [x, y] = [0, 1].map(|i| pays[i].get(&value).copied().unwrap_or(Signal::FALSE));
            let differ = builder.xor(x, y);
            differences.push(builder.and(is_over, differ));
        }
    }
    let bad = builder.or_all(&differences);
    let next = a.outputs.next.iter().map(|&signal| at(0, signal));
    let next = next.chain(b.outputs.next.iter().map(|&signal| at(1, signal))).collect();
    let terminal = builder.or(end_a, end_b);
    let n_roles = a.roles.len();
    let mut percepts = vec![Vec::new(); n_roles];
    percepts[0].push(("differ".to_owned(), bad));
    builder.finish(Outputs {
        legal,
        next,
        terminal,
        goals: vec![vec![(0, Signal::TRUE)]; n_roles],
        percepts,
        rejected: Signal::FALSE,
    })
}

/// Builds the gates of one circuit in the product. Returns the signal of each of its gates.
fn embed(
    builder: &mut Builder,
    circuit: &Circuit,
    first_bit: usize,
    side: usize,
    moves: &[Vec<[Option<usize>; 2]>],
) -> Vec<Signal> {
    let mut map = vec![Signal::FALSE; circuit.n_gates()];
    for bit in 0..circuit.base.len() {
        map[1 + bit] = builder.base(first_bit + bit);
    }
    for role in circuit.role_ids() {
        for (number, both) in moves[role.index()].iter().enumerate() {
            if let Some(own) = both[side] {
                map[circuit.inputs(role).start + own] = builder.input(role.index(), number);
            }
        }
    }
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        let [a, b] = [a, b].map(|signal| map[signal.gate()].inverted_if(signal.is_inverted()));
        map[gate] = builder.and(a, b);
    }
    map
}

/// Returns the signals of the payoffs: the highest goal value counts, and none counts as 0.
fn payoffs(builder: &mut Builder, goals: Vec<(i64, Signal)>) -> BTreeMap<i64, Signal> {
    let mut pays: BTreeMap<i64, Signal> = BTreeMap::new();
    let mut is_higher = Signal::FALSE;
    for &(value, signal) in goals.iter().rev() {
        pays.insert(value, builder.and(signal, !is_higher));
        is_higher = builder.or(is_higher, signal);
    }
    let zero = pays.get(&0).copied().unwrap_or(Signal::FALSE);
    let zero = builder.or(zero, !is_higher);
    pays.insert(0, zero);
    pays
}

/// Proves by induction that the circuits never differ, with the help of pairs of fluents that are
/// always equal. Returns the number of these pairs.
fn correspondence(problem: &Problem<'_>, n_first: usize, limits: &SafetyLimits) -> Option<usize> {
    let pairs = candidates(problem, n_first, limits)?;
    let now = Instant::now();
    let proof = ProofLimits {
        gates: limits.gates,
        conflicts: 50_000,
        conflicts_in_all: u64::MAX / 4,
        deadline: limits.deadline.map(|end| now + end.saturating_duration_since(now) / 2),
    };
    let mut unrolling = Unrolling::new(problem, &proof, false);
    unrolling.assume_harmless(0);
    unrolling.add_step();
    let circuit = problem.circuit;
    // By pair: a literal under which it is equal before the step, and one under which it differs
    // after it.
    let literals: Vec<(Literal, Literal)> = pairs
        .iter()
        .map(|&(x, y)| {
            let [before, after] = [0, 1].map(|state| {
                let [x, y] = [x, y].map(|bit| unrolling.signal(state, circuit.base(bit)));
                (x, y)
            });
            (unrolling.equal_if(before), unrolling.different_if(after))
        })
        .collect();
    let mut alive: Vec<usize> = (0..pairs.len()).collect();
    loop {
        let mut question: Vec<Literal> = alive.iter().map(|&pair| literals[pair].0).collect();
        let differences: Vec<Literal> = alive.iter().map(|&pair| literals[pair].1).collect();
        question.push(unrolling.some(&differences));
        match unrolling.ask(&question) {
            Answer::Undecided => return None,
            Answer::Impossible => break,
            Answer::Possible => {
                let n_before = alive.len();
                alive.retain(|&pair| {
                    let (x, y) = pairs[pair];
                    let [x, y] = [x, y].map(|bit| unrolling.is_set(1, circuit.base(bit)));
                    x == y
                });
                if alive.len() == n_before {
                    return None;
                }
            }
        }
    }
    let mut question: Vec<Literal> = alive.iter().map(|&pair| literals[pair].0).collect();
    let bad = unrolling.signal(1, problem.bad);
    question.push(bad);
    (unrolling.ask(&question) == Answer::Impossible).then_some(alive.len())
}

/// Returns pairs of base bits, one of each circuit, that were equal in all random plays. `None` if
/// the circuits differed in a play. Fluents of the same name come first.
fn candidates(
    problem: &Problem<'_>,
    n_first: usize,
    limits: &SafetyLimits,
) -> Option<Vec<(usize, usize)>> {
    let histories = problem.histories(limits)?;
    let base = &problem.circuit.base;
    let mut by_history: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
    for (bit, history) in histories.iter().enumerate().skip(n_first) {
        by_history.entry(history).or_default().push(bit);
    }
    let name = |bit: usize| base[bit][2..].to_lowercase();
    let pairs = (0..n_first).filter_map(|bit| {
        let same = by_history.get(&histories[bit][..])?;
        let named = same.iter().find(|&&other| name(other) == name(bit));
        Some((bit, *named.unwrap_or(&same[0])))
    });
    Some(pairs.collect())
}
