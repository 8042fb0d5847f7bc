//! Proof of a symmetry: a permutation of fluents and moves maps the circuit onto itself.

use agon_circuit::{Circuit, Signal};

use crate::regression::{Formula, Formulas, Shape};

/// A permutation of the fluents and moves of a game.
pub(super) struct Permutation {
    /// By base bit: its image.
    pub(super) bits: Vec<usize>,
    /// By role and move: its image.
    pub(super) moves: Vec<Vec<usize>>,
}

/// Maximum number of gates of a circuit that is checked.
const MAX_GATES: usize = 300_000;
/// Maximum number of operands of all formulas together. Larger ones are given up.
const MAX_OPERANDS: usize = 8_000_000;
/// Maximum number of operands read while the formulas are built, shared or not.
const MAX_READ: usize = 100_000_000;

/// Returns whether each output of the circuit, with its leaves permuted, equals the image of that
/// output. If so, every play is still a play after the permutation, with the same outcome.
///
/// Outputs are compared as simplified, shared formulas. Equal formulas have equal meaning, so
/// `true` is a proof. `false` proves nothing, because two different formulas may still be
/// equivalent.
pub(super) fn is_automorphism(circuit: &Circuit, permutation: &Permutation) -> bool {
    let Permutation { bits, moves } = permutation;
    let is_permuted = is_bijection(bits, circuit.base.len())
        && moves.len() == circuit.roles.len()
        && moves
            .iter()
            .zip(&circuit.roles)
            .all(|(moves, role)| is_bijection(moves, role.moves.len()));
    if !is_permuted || circuit.n_gates() > MAX_GATES {
        return false;
    }
    if bits.iter().zip(&circuit.initial).any(|(&to, &holds)| circuit.initial[to] != holds) {
        return false;
    }
    // Inputs are leaves like base bits here.
    let first_and = circuit.first_and();
    let mut formulas = Formulas::new(first_and - 1);
    let mut plain: Vec<usize> = (0..first_and - 1).collect();
    let Some(as_it_is) = outputs(circuit, &plain, &mut formulas) else { return false };
    plain[..bits.len()].copy_from_slice(bits);
    for (role, moves) in circuit.role_ids().zip(moves) {
        let inputs = circuit.inputs(role);
        for (gate, &to) in inputs.clone().zip(moves) {
            plain[gate - 1] = inputs.start + to - 1;
        }
    }
    let Some(permuted) = outputs(circuit, &plain, &mut formulas) else { return false };
    let is_mapped = |own: &[Formula], other: &[Formula], to: &[usize]| {
        to.iter().enumerate().all(|(from, &to)| other[from] == own[to])
    };
    as_it_is.terminal == permuted.terminal
        && as_it_is.goals == permuted.goals
        && is_mapped(&as_it_is.next, &permuted.next, bits)
        && (as_it_is.legal.iter().zip(&permuted.legal).zip(moves))
            .all(|((own, other), moves)| is_mapped(own, other, moves))
}

fn is_bijection(to: &[usize], n: usize) -> bool {
    let mut is_met = vec![false; n];
    to.len() == n && to.iter().all(|&to| to < n && !std::mem::replace(&mut is_met[to], true))
}

/// The outputs of a circuit as formulas.
struct Computed {
    next: Vec<Formula>,
    terminal: Formula,
    legal: Vec<Vec<Formula>>,
    goals: Vec<Vec<Formula>>,
}

/// Returns the outputs with the given leaves in place of base bits and inputs. `None` if the
/// formulas become too large.
///
/// Conjunctions are merged whatever their width. A circuit has them as trees of pairs, and the
/// shape of the tree depends on the order of the leaves, which a permutation changes.
fn outputs(circuit: &Circuit, leaves: &[usize], formulas: &mut Formulas) -> Option<Computed> {
    let first_and = circuit.first_and();
    let mut values = vec![Formula::FALSE; circuit.n_gates()];
    for (at, &leaf) in leaves.iter().enumerate() {
        values[1 + at] = formulas.fluent(leaf);
    }
    let read =
        |values: &[Formula], signal: Signal| values[signal.gate()].negated_if(signal.is_inverted());
    let is_whole = wholes(circuit);
    let mut met_by = vec![0_u32; circuit.n_gates()];
    let (mut list, mut left) = (Vec::new(), Vec::new());
    let mut n_read = 0;
    for gate in (first_and..circuit.n_gates()).filter(|&gate| is_whole[gate]) {
        list.clear();
        left.extend(circuit.ands[gate - first_and]);
        while let Some(signal) = left.pop() {
            let inner = signal.gate();
            if inner >= first_and && !is_whole[inner] {
                // Gates that are not whole are read without negation. Two readers may belong to the
                // same conjunction.
                if std::mem::replace(&mut met_by[inner], gate as u32) != gate as u32 {
                    left.extend(circuit.ands[inner - first_and]);
                }
                n_read += 1;
                continue;
            }
            let formula = read(&values, signal);
            match formulas.shape(formula) {
                Shape::And(operands) if !formula.is_negated() => list.extend_from_slice(operands),
                _ => list.push(formula),
            }
        }
        n_read += list.len();
        values[gate] = formulas.and(&mut list);
        if formulas.size() > MAX_OPERANDS || n_read > MAX_READ {
            return None;
        }
    }
    let all = |signals: &[Signal]| -> Vec<Formula> {
        signals.iter().map(|&signal| read(&values, signal)).collect()
    };
    let goals = circuit.outputs.goals.iter().map(|goals| {
        let signals: Vec<Signal> = goals.iter().map(|&(_, signal)| signal).collect();
        all(&signals)
    });
    Some(Computed {
        next: all(&circuit.outputs.next),
        terminal: read(&values, circuit.outputs.terminal),
        legal: circuit.outputs.legal.iter().map(|legal| all(legal)).collect(),
        goals: goals.collect(),
    })
}

/// Returns, by gate, whether it is read negated or is an output. All other gates are only parts of
/// conjunctions.
fn wholes(circuit: &Circuit) -> Vec<bool> {
    let mut is_whole = vec![false; circuit.n_gates()];
    circuit.outputs.signals().for_each(|output| is_whole[output.gate()] = true);
    let negated = circuit.ands.iter().flatten().filter(|operand| operand.is_inverted());
    negated.for_each(|operand| is_whole[operand.gate()] = true);
    is_whole
}

#[cfg(test)]
mod tests {
    use agon_gdl::circuit::CircuitLimits;

    use super::*;
    use crate::tests::game;

    /// Returns the circuit of a game with a row of lamps that are switched on one at a time.
    /// `reward` is the rule for payoffs.
    fn lamps(reward: &str) -> Circuit {
        let text = format!(
            "(role a) (place 1) (place 2) (place 3) (init (dark 1)) (init (dark 2)) (init (dark 3))
             (<= (legal a (switch ?x)) (true (dark ?x)))
             (<= (next (lit ?x)) (does a (switch ?x))) (<= (next (lit ?x)) (true (lit ?x)))
             (<= (next (dark ?x)) (true (dark ?x)) (not (does a (switch ?x))))
             (<= terminal (true (lit ?x)) (true (lit ?y)) (distinct ?x ?y)) {reward}"
        );
        game(&text).ground(&CircuitLimits::default()).expect("it is small").circuit
    }

    /// Returns the permutation that maps places 1, 2 and 3 to these.
    fn places(circuit: &Circuit, to: [usize; 3]) -> Permutation {
        let image = |texts: &[String]| -> Vec<usize> {
            let of = |text: &String| {
                let place: usize =
                    text.split([' ', ')']).nth(1).and_then(|x| x.parse().ok()).expect("a place");
                let other = text.replace(&format!(" {place}"), &format!(" {}", to[place - 1]));
                texts
                    .iter()
                    .position(|text| *text == other)
                    .expect("every place has the same terms")
            };
            texts.iter().map(of).collect()
        };
        Permutation {
            bits: image(&circuit.base),
            moves: circuit.roles.iter().map(|role| image(&role.moves)).collect(),
        }
    }

    #[test]
    fn only_interchangeable_lamps_can_be_permuted() {
        let all = lamps(
            "(<= (goal a 100) (true (lit 1)) (true (lit 2))) (<= (goal a 0) (true (dark 3)))",
        );
        assert!(is_automorphism(&all, &places(&all, [1, 2, 3])));
        assert!(is_automorphism(&all, &places(&all, [2, 1, 3])));
        assert!(
            !is_automorphism(&all, &places(&all, [3, 2, 1])),
            "the third lamp has another payoff"
        );
        assert!(!is_automorphism(&all, &places(&all, [2, 3, 1])));
        let even = lamps("(<= (goal a 100) (true (lit 1)) (true (lit 2)) (true (lit 3)))");
        for to in [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]] {
            assert!(is_automorphism(&even, &places(&even, to)), "{to:?}");
        }
        // Three permutations that must be rejected: fluents without their moves, a different
        // initial state, not a bijection.
        let mut only_bits = places(&even, [2, 1, 3]);
        only_bits.moves = places(&even, [1, 2, 3]).moves;
        assert!(!is_automorphism(&even, &only_bits));
        let mut begun = even.clone();
        begun.initial[0] = !begun.initial[0];
        assert!(!is_automorphism(&begun, &places(&begun, [2, 3, 1])));
        let mut twice = places(&even, [1, 2, 3]);
        twice.bits[0] = twice.bits[1];
        assert!(!is_automorphism(&even, &twice));
        twice.bits.pop();
        assert!(!is_automorphism(&even, &twice));
    }

    #[test]
    fn wide_conditions_are_compared_whatever_their_order() {
        // Wider than the limit for splicing: as pairs, the first lamps would stay together.
        let n = 100;
        let facts = |of: &dyn Fn(usize) -> String| (1..=n).map(of).collect::<Vec<_>>().join(" ");
        let text = format!(
            "(role a) {} {}
             (<= (legal a (switch ?x)) (true (dark ?x)))
             (<= (next (lit ?x)) (does a (switch ?x))) (<= (next (lit ?x)) (true (lit ?x)))
             (<= (next (dark ?x)) (true (dark ?x)) (not (does a (switch ?x))))
             (<= some (true (lit ?x))) (<= left (true (dark ?x)))
             (<= terminal (not left)) (<= (goal a 100) (not left)) (<= (goal a 0) left)
             (<= (goal a 50) some left)",
            facts(&|x| format!("(place {x})")),
            facts(&|x| format!("(init (dark {x}))")),
        );
        let circuit = game(&text).ground(&CircuitLimits::default()).expect("it is small").circuit;
        let image = |texts: &[String]| -> Vec<usize> {
            let of = |text: &String| {
                let (name, place) =
                    text.trim_matches(['(', ')']).split_once(' ').expect("a name and a place");
                let other =
                    format!("({name} {})", n + 1 - place.parse::<usize>().expect("a number"));
                texts
                    .iter()
                    .position(|text| *text == other)
                    .expect("every place has the same terms")
            };
            texts.iter().map(of).collect()
        };
        let mut mirrored = Permutation {
            bits: image(&circuit.base),
            moves: circuit.roles.iter().map(|role| image(&role.moves)).collect(),
        };
        assert!(is_automorphism(&circuit, &mirrored));
        mirrored.moves[0].swap(0, 1);
        assert!(!is_automorphism(&circuit, &mirrored));
    }
}
