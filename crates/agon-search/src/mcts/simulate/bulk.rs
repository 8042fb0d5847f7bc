//! Playouts of many leaves at once, by an engine that runs many states together.

use std::sync::Arc;
use std::time::Instant;

use agon_game::{
    Batch, Children, PlayoutRequest, PlayoutStats, Position, Preferences, TerminalChildren,
};

use super::playout::PlayoutLimits;
use crate::mcts::leaf_batch::{LeafBatch, PathEnd};

/// Number of steps by which the speed of an engine is measured, and the least number of steps that
/// are asked for.
const FEW_STEPS: u64 = 8;
/// Number of playouts that engines run at a time, more or less.
const LANES: f64 = 256.0;

/// A batch engine, if there is one, with its requests and results.
pub(crate) struct BulkPlayouts<P: Position> {
    engine: Option<Box<dyn Batch<State = P::State, Move = P::Move>>>,
    children: Children<P::State, P::Move>,
    requests: Vec<PlayoutRequest<P::State>>,
    /// By request: the number of its leaf.
    leaves: Vec<usize>,
    stats: Vec<PlayoutStats>,
    /// The time that the engine has spent on the requests, if there is a deadline.
    play_seconds: f64,
    /// The time that the engine needs at most for a step of all playouts, as far as it is known.
    step_seconds: Option<f64>,
    /// The moves that the engine prefers.
    preferences: Option<Arc<Preferences<P::Move>>>,
}

impl<P: Position> BulkPlayouts<P> {
    pub(crate) fn new(
        engine: Option<Box<dyn Batch<State = P::State, Move = P::Move>>>,
        n_roles: usize,
    ) -> BulkPlayouts<P> {
        BulkPlayouts {
            engine,
            children: Children::new(n_roles),
            requests: Vec::new(),
            leaves: Vec::new(),
            stats: Vec::new(),
            play_seconds: 0.0,
            step_seconds: None,
            preferences: None,
        }
    }

    /// Uses the engine once. The first use generates code, which takes a while for large games:
    /// better now than when time is short.
    pub(crate) fn warm_up(&mut self, position: &P, n_roles: usize) {
        let Some(engine) = &mut self.engine else { return };
        let state = position.state().clone();
        engine.play_out(&[PlayoutRequest { state, n_playouts: 1, expected_steps: 0 }], 1);
        engine.advance_all(&[], &mut Children::new(n_roles));
        engine.look_ahead(&[position.state()], &mut TerminalChildren::default());
    }

    pub(crate) fn has_engine(&self) -> bool {
        self.engine.is_some()
    }

    pub(crate) fn engine_mut(
        &mut self,
    ) -> Option<&mut (dyn Batch<State = P::State, Move = P::Move> + 'static)> {
        self.engine.as_deref_mut()
    }

    /// Makes the last steps of all leaves that are outside the tree, and adds the positions that
    /// they lead to.
    pub(super) fn expand(&mut self, batch: &mut LeafBatch<P>, position: &mut P) {
        let Some(engine) = &mut self.engine else { return };
        let leaves = batch.leaves.iter().enumerate();
        let open = leaves.filter(|(_, leaf)| leaf.end == PathEnd::Unexpanded);
        let steps: Vec<(&P::State, &[P::Move])> = open
            .map(|(at, leaf)| {
                let state = leaf.state.as_ref().expect("a move is made in a state");
                (state, batch.joint(at))
            })
            .collect();
        engine.advance_all(&steps, &mut self.children);
        let LeafBatch { leaves, pending, .. } = batch;
        let open = leaves.iter_mut().filter(|leaf| leaf.end == PathEnd::Unexpanded);
        for (child, leaf) in open.enumerate() {
            leaf.pending_node = Some(pending.push_child(position, &self.children, child));
        }
    }

    /// Removes all requests.
    pub(super) fn clear(&mut self) {
        self.requests.clear();
        self.leaves.clear();
        self.play_seconds = 0.0;
    }

    /// Requests playouts for a leaf.
    pub(super) fn request(&mut self, leaf: usize, request: PlayoutRequest<P::State>) {
        self.requests.push(request);
        self.leaves.push(leaf);
    }

    /// Makes the engine prefer these moves, if it does not yet.
    pub(super) fn prefer(&mut self, wanted: Option<&Arc<Preferences<P::Move>>>) {
        let (Some(wanted), Some(engine)) = (wanted, &mut self.engine) else { return };
        if self.preferences.as_ref().is_none_or(|known| !Arc::ptr_eq(known, wanted)) {
            engine.prefer(wanted);
            self.preferences = Some(Arc::clone(wanted));
        }
    }

    /// Begins the playouts that were requested, if any.
    pub(super) fn begin(&mut self, limits: PlayoutLimits) {
        if self.requests.is_empty() {
            return;
        }
        let max_steps = self.max_steps(limits);
        let engine = self.engine.as_mut().expect("playouts in bulk have an engine");
        engine.begin(&self.requests, max_steps);
    }

    /// Continues the playouts for about `n_steps` steps. Returns whether all of them are finished.
    pub(super) fn step(&mut self, n_steps: u64, is_timed: bool) -> bool {
        let Some(engine) = self.engine.as_mut().filter(|_| !self.requests.is_empty()) else {
            return true;
        };
        if !is_timed {
            return engine.step(n_steps);
        }
        let began = Instant::now();
        let is_done = engine.step(n_steps);
        self.play_seconds += began.elapsed().as_secs_f64();
        is_done
    }

    /// Returns the results of all requests, by leaf. To be called when all playouts are finished.
    pub(super) fn finish(
        &mut self,
        is_timed: bool,
    ) -> impl Iterator<Item = (usize, &PlayoutStats)> {
        self.stats.clear();
        if let Some(engine) = self.engine.as_mut().filter(|_| !self.requests.is_empty()) {
            engine.finish(&mut self.stats);
            if is_timed {
                self.measure();
            }
        }
        self.leaves.iter().copied().zip(&self.stats)
    }

    /// Estimates the time of a step. The number of steps of the longest playout is not known; with
    /// the mean, the time is rather over- than underestimated.
    fn measure(&mut self) {
        let (n, steps) = self
            .stats
            .iter()
            .fold((0, 0), |(n, steps), own| (n + own.n_playouts, steps + own.n_steps));
        let n_steps = steps as f64 / n.max(1) as f64 * (n as f64 / LANES).max(1.0);
        let now = self.play_seconds / n_steps.max(1.0);
        self.step_seconds = Some(self.step_seconds.map_or(now, |before| 0.5 * (before + now)));
    }

    /// Returns the number of steps after which playouts are cut off. Under a deadline it is at most
    /// what the time left allows, because an engine cannot be stopped. A few steps tell how fast
    /// the engine is, and make it ready.
    fn max_steps(&mut self, limits: PlayoutLimits) -> u64 {
        let most = limits.max_steps;
        let (Some(deadline), Some(engine)) = (limits.deadline, &mut self.engine) else {
            return most;
        };
        let step_seconds = *self.step_seconds.get_or_insert_with(|| {
            let few = &self.requests[..1];
            engine.play_out(few, 1);
            let began = Instant::now();
            engine.play_out(few, FEW_STEPS);
            began.elapsed().as_secs_f64() / FEW_STEPS as f64
        });
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        // Lanes are filled again as long as there are playouts, and some playouts take twice the
        // steps.
        let n_playouts: u64 = self.requests.iter().map(|request| request.n_playouts).sum();
        let n_fills = (n_playouts as f64 / LANES).max(1.0);
        let fitting = 0.5 * left / (step_seconds * n_fills).max(1e-9);
        (fitting as u64).clamp(FEW_STEPS, most.max(FEW_STEPS))
    }
}
