//! One step ahead: which moves end play. Nothing else of the next states is computed.

use agon_game::TerminalChildren;

use super::Expander;
use crate::form::graph::Graph;
use crate::native::Work;
use crate::run::kernel::{Backend, Kernel};
use crate::run::program::lower;
use crate::{Bits, Circuit, Plane, Signal};

/// Two steps of logic as one: from a state and moves to whether play has ended after them, and the
/// goals. A clone shares the code.
#[derive(Clone)]
pub(in crate::run::batch) struct LookAhead {
    kernel: Kernel,
    /// Whether play has ended, then the goals.
    answers: Vec<Plane>,
    /// By goal: its role and payoff. Ascending for each role, so that the highest that holds is
    /// written last.
    goals: Vec<(usize, f64)>,
    /// The states whose joint moves are in the lanes, in the order of the lanes.
    families: Vec<Family>,
}

/// Some joint moves of a state, in neighbouring lanes.
#[derive(Copy, Clone)]
struct Family {
    lane: usize,
    /// The number of the first joint move.
    choice: usize,
    n: usize,
    /// Whether these are the last joint moves of the state.
    is_last: bool,
}

impl LookAhead {
    pub(in crate::run::batch) fn new(circuit: &Circuit, backend: Backend) -> LookAhead {
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
        // The outputs of a state do not depend on the moves made there.
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
                // Payoffs are 0 before goals are read.
                if (rank, value) != (0, 0) {
                    roots.push(to(&then, signal));
                    goals.push((role, value as f64));
                }
            }
        }
        let program = lower(graph.first_and() - 1, graph.ands(), &roots);
        LookAhead {
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
    pub(super) ahead: &'e mut LookAhead,
    pub(super) states: &'e [&'s Bits],
    pub(super) ends: &'e mut TerminalChildren,
}

/// Maximum number of joint moves of a state whose children are looked at.
const MAX_JOINTS: usize = 1 << 20;

impl Work for Look<'_, '_> {
    #[inline(always)]
    fn work(self) {
        let Look { expander, ahead, states, ends } = self;
        let ended = expander.look_at(states);
        for (lane, state) in states.iter().enumerate() {
            let Expander { lanes, own_rows, answers, .. } = &mut *expander;
            if ended.lane(lane) {
                ahead.families.push(Family { lane: lanes.n, choice: 0, n: 0, is_last: true });
                continue;
            }
            lanes.list_moves(own_rows, lane, answers.role_ends());
            // With many roles there can be more joint moves than time or memory for them. Nothing
            // is then known of the children.
            if lanes.n_joints > MAX_JOINTS {
                ahead.families.push(Family { lane: lanes.n, choice: 0, n: 0, is_last: true });
                continue;
            }
            let mut next = 0;
            while next < expander.lanes.n_joints {
                let (first, lane) = (next, expander.lanes.n);
                next = expander.lanes.add_joints(state.words(), first);
                let is_last = next == expander.lanes.n_joints;
                ahead.families.push(Family { lane, choice: first, n: next - first, is_last });
                if expander.lanes.n == Plane::LANES {
                    pass(expander, ahead, ends);
                }
            }
        }
        pass(expander, ahead, ends);
    }
}

/// Makes the steps in the lanes, writes which of them end play, and frees the lanes.
#[inline(always)]
fn pass(expander: &mut Expander, ahead: &mut LookAhead, ends: &mut TerminalChildren) {
    let lanes = &mut expander.lanes;
    let n_roles = lanes.n_roles;
    if lanes.n > 0 {
        ahead.kernel.run(&lanes.state, &lanes.inputs, &mut ahead.answers);
    }
    let ended = ahead.answers[0];
    for Family { lane: first, choice, n, is_last } in ahead.families.drain(..) {
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
            ends.child_ends.push(ends.choices.len());
        }
    }
    ends.n_examined += lanes.n as u64;
    lanes.clear();
    lanes.n_before = 0;
}
