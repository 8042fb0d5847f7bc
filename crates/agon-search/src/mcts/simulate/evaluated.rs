//! Leaves that are valued by an evaluator, alone or mixed with playouts.

use agon_game::{
    Batch, Children, PlayoutKind, PlayoutRequest, PlayoutStats, Preferences, TerminalChildren,
};

/// An evaluator of the leaves of a tree.
pub trait EvaluateLeaves<S>: Send {
    /// Returns an independent evaluator with the same values, for another thread.
    fn fork(&self) -> Box<dyn EvaluateLeaves<S>>;

    /// Writes the expected payoff of every role at a state.
    fn evaluate(&mut self, state: &S, payoffs: &mut [f64]);
}

/// An evaluator of leaves with its part in their values.
pub(crate) struct LeafValues<S> {
    pub(crate) evaluator: Box<dyn EvaluateLeaves<S>>,
    /// From 0 to 1. The rest comes from playouts.
    pub(crate) part: f64,
}

impl<S> LeafValues<S> {
    /// Returns an independent evaluator with its part, for another thread.
    pub(crate) fn fork(&self) -> LeafValues<S> {
        LeafValues { evaluator: self.evaluator.fork(), part: self.part }
    }
}

/// A batch engine whose playouts are mixed with the values of an evaluator.
///
/// The mean payoff of a leaf is `part` times its value plus the rest times the mean of its playouts.
/// If the part is 1, there are no playouts.
pub(crate) struct EvaluatedBatch<S, M> {
    engine: Box<dyn Batch<State = S, Move = M>>,
    evaluator: Box<dyn EvaluateLeaves<S>>,
    part: f64,
    n_roles: usize,
    /// By request: the number of playouts.
    n_playouts: Vec<u64>,
    /// By request and role: the value.
    values: Vec<f64>,
}

impl<S, M> EvaluatedBatch<S, M> {
    pub(crate) fn new(
        engine: Box<dyn Batch<State = S, Move = M>>,
        LeafValues { evaluator, part }: LeafValues<S>,
        n_roles: usize,
    ) -> EvaluatedBatch<S, M> {
        let part = part.clamp(0.0, 1.0);
        EvaluatedBatch {
            engine,
            evaluator,
            part,
            n_roles,
            n_playouts: Vec::new(),
            values: Vec::new(),
        }
    }

    fn plays(&self) -> bool {
        self.part < 1.0
    }
}

impl<S, M> Batch for EvaluatedBatch<S, M> {
    type State = S;
    type Move = M;

    fn set_playouts(&mut self, kind: PlayoutKind) -> PlayoutKind {
        self.engine.set_playouts(kind)
    }

    fn prefer(&mut self, preferences: &Preferences<M>) -> bool {
        self.engine.prefer(preferences)
    }

    fn begin(&mut self, requests: &[PlayoutRequest<S>], max_steps: u64) {
        self.n_playouts.clear();
        self.n_playouts.extend(requests.iter().map(|request| request.n_playouts));
        self.values.clear();
        self.values.resize(requests.len() * self.n_roles, 0.0);
        for (request, values) in requests.iter().zip(self.values.chunks_mut(self.n_roles.max(1))) {
            self.evaluator.evaluate(&request.state, values);
        }
        if self.plays() {
            self.engine.begin(requests, max_steps);
        }
    }

    fn step(&mut self, n_steps: u64) -> bool {
        !self.plays() || self.engine.step(n_steps)
    }

    fn finish(&mut self, stats: &mut Vec<PlayoutStats>) {
        if self.plays() {
            self.engine.finish(stats);
        } else {
            PlayoutStats::reset_all(stats, self.n_playouts.len(), self.n_roles);
            for (each, &n) in stats.iter_mut().zip(&self.n_playouts) {
                each.n_playouts = n;
            }
        }
        for (each, values) in stats.iter_mut().zip(self.values.chunks(self.n_roles.max(1))) {
            let n = each.n_playouts as f64;
            let sums = each.payoff_sums.iter_mut().zip(&mut each.square_sums);
            for ((sum, squares), &value) in sums.zip(values) {
                // Every payoff p becomes (1 - part) p + part value.
                let (rest, share) = (1.0 - self.part, self.part * value);
                *squares = rest * rest * *squares + 2.0 * rest * share * *sum + n * share * share;
                *sum = rest * *sum + n * share;
            }
        }
    }

    fn advance_all(&mut self, steps: &[(&S, &[M])], children: &mut Children<S, M>) {
        self.engine.advance_all(steps, children);
    }

    fn expand(&mut self, states: &[&S], children: &mut Children<S, M>) {
        self.engine.expand(states, children);
    }

    fn look_ahead(&mut self, states: &[&S], ends: &mut TerminalChildren) {
        self.engine.look_ahead(states, ends);
    }
}
