//! A batch that is made of single steps.

use crate::{
    Batch, Children, LegalMoves, PlayoutKind, PlayoutRequest, PlayoutStats, Position, Rng,
    TerminalChildren, play_out_ahead,
};

/// A [`Batch`] that steps through the games one after another by any position.
///
/// It serves engines without a faster batch, and as the oracle in tests of those that have one.
pub struct SequentialBatch<P: Position> {
    position: P,
    rng: Rng,
    kind: PlayoutKind,
    requests: Vec<PlayoutRequest<P::State>>,
    max_steps: u64,
    /// By request: the results so far.
    stats: Vec<PlayoutStats>,
    /// Number of requests that are complete.
    n_done: usize,
}

impl<P: Position> SequentialBatch<P> {
    /// Returns a batch that steps and plays out by a position, with random moves from `rng`.
    pub fn new(position: P, rng: Rng) -> SequentialBatch<P> {
        SequentialBatch {
            position,
            rng,
            kind: PlayoutKind::Uniform,
            requests: Vec::new(),
            max_steps: 0,
            stats: Vec::new(),
            n_done: 0,
        }
    }

    fn push(&self, joint: &[P::Move], children: &mut Children<P::State, P::Move>) {
        let position = &self.position;
        children.states.push(position.state().clone());
        children.ended.push(position.is_terminal());
        children.joints.extend_from_slice(joint);
        let LegalMoves::Lists { moves, ends } = &mut children.legal else {
            unreachable!("`clear` has made lists of them")
        };
        for role in position.shape().roles() {
            children.payoffs.push(position.payoff(role));
            moves.extend_from_slice(position.legal_moves(role));
            ends.push(moves.len());
        }
    }

    /// Clears the collection and makes it one with lists of legal moves.
    fn clear(children: &mut Children<P::State, P::Move>) {
        children.clear();
        if !matches!(children.legal, LegalMoves::Lists { .. }) {
            children.legal = LegalMoves::Lists { moves: Vec::new(), ends: Vec::new() };
        }
    }
}

impl<P: Position> Batch for SequentialBatch<P> {
    type State = P::State;
    type Move = P::Move;

    fn set_playouts(&mut self, kind: PlayoutKind) -> PlayoutKind {
        self.kind = kind;
        kind
    }

    fn begin(&mut self, requests: &[PlayoutRequest<P::State>], max_steps: u64) {
        self.requests.clear();
        self.requests.extend_from_slice(requests);
        self.max_steps = max_steps;
        self.n_done = 0;
        let n_roles = self.position.shape().role_names.len();
        PlayoutStats::reset_all(&mut self.stats, requests.len(), n_roles);
    }

    fn step(&mut self, n_steps: u64) -> bool {
        let mut n_made = 0;
        while let Some(request) = self.requests.get(self.n_done) {
            let stats = &mut self.stats[self.n_done];
            if stats.n_playouts == request.n_playouts {
                self.n_done += 1;
                continue;
            }
            if n_made >= n_steps {
                return false;
            }
            self.position.go_to(&request.state);
            let (position, max_steps) = (&mut self.position, self.max_steps as usize);
            let n = match self.kind {
                PlayoutKind::Uniform => position.play_out(&mut self.rng, max_steps),
                kind => play_out_ahead(position, kind, &mut self.rng, max_steps, None),
            } as u64;
            // A playout from a terminal state counts as one step, so that this loop ends.
            n_made += n.max(1);
            stats.n_steps += n;
            stats.n_playouts += 1;
            stats.n_cut += u64::from(!self.position.is_terminal());
            for role in self.position.shape().roles() {
                let payoff = self.position.payoff(role);
                stats.payoff_sums[role.index()] += payoff;
                stats.square_sums[role.index()] += payoff * payoff;
            }
        }
        true
    }

    fn finish(&mut self, stats: &mut Vec<PlayoutStats>) {
        std::mem::swap(stats, &mut self.stats);
    }

    fn advance_all(
        &mut self,
        steps: &[(&P::State, &[P::Move])],
        children: &mut Children<P::State, P::Move>,
    ) {
        Self::clear(children);
        for (state, joint) in steps {
            self.position.go_to(state);
            self.position.advance(joint);
            self.push(joint, children);
            children.child_ends.push(children.states.len());
        }
    }

    fn expand(&mut self, states: &[&P::State], children: &mut Children<P::State, P::Move>) {
        Self::clear(children);
        for state in states {
            self.position.go_to(state);
            for joint in joint_moves(&self.position) {
                self.position.go_to(state);
                self.position.advance(&joint);
                self.push(&joint, children);
            }
            children.child_ends.push(children.states.len());
        }
    }

    fn look_ahead(&mut self, states: &[&P::State], ends: &mut TerminalChildren) {
        let mut children = Children::new(self.position.shape().role_names.len());
        self.expand(states, &mut children);
        ends.collect_from(&children);
    }
}

/// Returns every legal joint move at a position, where the moves of the last role change fastest.
/// There is none at a terminal position.
pub fn joint_moves<P: Position>(position: &P) -> Vec<Vec<P::Move>> {
    if position.is_terminal() {
        return Vec::new();
    }
    let mut joints = vec![Vec::new()];
    for role in position.shape().roles() {
        let legal = position.legal_moves(role);
        joints = joints
            .iter()
            .flat_map(|joint: &Vec<P::Move>| {
                legal.iter().map(|m| joint.iter().cloned().chain([m.clone()]).collect())
            })
            .collect();
    }
    joints
}
