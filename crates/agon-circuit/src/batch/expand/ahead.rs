//! One step ahead: which moves end play at once. Nothing else is asked of where they lead, so nothing else is worked out.

use agon_game::Ends;

use super::Expander;
use crate::graph::Graph;
use crate::jit::Work;
use crate::kernel::{Backend, Kernel};
use crate::program::lower;
use crate::{Bits, Circuit, Plane, Signal};

/// Two steps of logic as one: from a state and moves to whether play has ended after them, and with what.
pub(super) struct Ahead {
    kernel: Kernel,
    /// Whether play has ended, then what it pays.
    answers: Vec<Plane>,
    /// By further answer: whose it is, and what it pays. Of each role in ascending order, so that the highest that holds stays.
    goals: Vec<(usize, f64)>,
    /// Who sits in the lanes, in the order of the lanes.
    families: Vec<Seated>,
}

/// Some joint moves of a state, side by side.
struct Seated {
    lane: usize,
    /// The number of the first.
    choice: usize,
    n: usize,
    /// Whether these are the last ones of the state.
    is_last: bool,
}

impl Ahead {
    pub(super) fn new(circuit: &Circuit, backend: Backend) -> Ahead {
        let n_base = circuit.base.len();
        let mut graph = Graph::new(n_base + circuit.n_inputs());
        let mut now: Vec<Signal> = (0..circuit.first_and()).map(Signal::of_gate).collect();
        now.resize(circuit.n_gates(), Signal::FALSE);
        graph.embed(circuit, &mut now, |_| true);
        let to =
            |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
        let mut then = vec![Signal::FALSE; circuit.n_gates()];
        for (bit, &next) in circuit.outputs.next.iter().enumerate() {
            then[1 + bit] = to(&now, next);
        }
        // What is said of a state does not depend on moves made there.
        let reads_input = circuit.reads_input();
        graph.embed(circuit, &mut then, |gate| !reads_input[gate]);
        let mut ended = to(&then, circuit.outputs.terminal);
        for legal in &circuit.outputs.legal {
            let legal: Vec<Signal> = legal.iter().map(|&signal| to(&then, signal)).collect();
            let any = graph.or_all(&legal);
            ended = graph.or(ended, !any);
        }
        let (mut roots, mut goals) = (vec![ended], Vec::new());
        for (role, of_role) in circuit.outputs.goals.iter().enumerate() {
            for (rank, &(value, signal)) in of_role.iter().enumerate() {
                // Nothing is paid before goals are looked at.
                if (rank, value) != (0, 0) {
                    roots.push(to(&then, signal));
                    goals.push((role, value as f64));
                }
            }
        }
        let program = lower(graph.first_and() - 1, graph.ands(), &roots);
        Ahead {
            kernel: Kernel::new(&program, n_base, backend),
            answers: vec![Plane::ZERO; roots.len()],
            goals,
            families: Vec::new(),
        }
    }
}

/// Looks ahead from at most 256 states.
pub(super) struct Look<'e, 's> {
    pub(super) expander: &'e mut Expander,
    pub(super) ahead: &'e mut Ahead,
    pub(super) states: &'e [&'s Bits],
    pub(super) ends: &'e mut Ends,
}

impl Work for Look<'_, '_> {
    #[inline(always)]
    fn work(self) {
        let Look { expander, ahead, states, ends } = self;
        let ended = expander.look_at(states);
        for (lane, state) in states.iter().enumerate() {
            let Expander { seats, own_rows, answers, .. } = &mut *expander;
            if ended.lane(lane) {
                ahead.families.push(Seated { lane: seats.n, choice: 0, n: 0, is_last: true });
                continue;
            }
            seats.list_moves(own_rows, lane, answers.role_ends());
            let mut next = 0;
            while next < expander.seats.n_joints {
                let (first, lane) = (next, expander.seats.n);
                next = expander.seats.seat(state.words(), first);
                let is_last = next == expander.seats.n_joints;
                ahead.families.push(Seated { lane, choice: first, n: next - first, is_last });
                if expander.seats.n == Plane::LANES {
                    pass(expander, ahead, ends);
                }
            }
        }
        pass(expander, ahead, ends);
    }
}

/// Makes the steps in the lanes, takes down which of them end play, and gives the lanes up.
#[inline(always)]
fn pass(expander: &mut Expander, ahead: &mut Ahead, ends: &mut Ends) {
    let seats = &mut expander.seats;
    let n_roles = seats.n_roles;
    if seats.n > 0 {
        ahead.kernel.run(&seats.state, &seats.inputs, &mut ahead.answers);
    }
    let ended = ahead.answers[0];
    for Seated { lane: first, choice, n, is_last } in ahead.families.drain(..) {
        let own = ended & Plane::range(first..first + n);
        let mut quarter = first / 64;
        while 64 * quarter < first + n {
            let mut word = own.0[quarter];
            while word != 0 {
                let lane = 64 * quarter + word.trailing_zeros() as usize;
                word &= word - 1;
                ends.choices.push((choice + lane - first) as u32);
                let start = ends.payoffs.len();
                ends.payoffs.resize(start + n_roles, 0.0);
                for (answer, &(role, value)) in ahead.answers[1..].iter().zip(&ahead.goals) {
                    if answer.lane(lane) {
                        ends.payoffs[start + role] = value;
                    }
                }
            }
            quarter += 1;
        }
        if is_last {
            ends.family_ends.push(ends.choices.len());
        }
    }
    ends.n_looked_at += seats.n as u64;
    seats.clear();
    seats.n_before = 0;
}
