//! One thread coordinates: it does all work in the tree, and the other threads, the helpers,
//! simulate batches for it.
//!
//! Where playouts are fast, half of all work is in the tree. Threads that take turns at the tree
//! would wait for each other, and for the cache lines that the other thread wrote last. So one
//! thread alone descends and backs up. Helpers find a batch ready when they return one. In the time
//! that is left, the coordinator simulates a batch of its own, a few steps at a time, so that no
//! helper waits for it.

use std::time::Instant;

use agon_game::Position;

use super::backoff::Backoff;
use super::leaf_queue::LeafQueue;
use super::load_balance::LoadBalance;
use super::shared::{HintTimer, Shared};
use crate::mcts::leaf_batch::LeafBatch;
use crate::mcts::options::MctsOptions;
use crate::mcts::worker::Worker;

/// The coordinator looks at the queue after this number of steps of its own playouts: at most a
/// sixth of the time of a batch.
const FEW_STEPS: u64 = 16;

/// The thread that does all work in the tree.
pub(crate) struct Coordinator<'a, P: Position> {
    worker: &'a mut Worker<P>,
    queue: &'a LeafQueue<P>,
    options: &'a MctsOptions,
    n_helpers: usize,
    /// The next step for the coordinator's own batch.
    own: OwnBatch,
    load: LoadBalance,
    /// The time that it took to gather the last batch for a helper.
    gather_seconds: f64,
    /// Batches whose memory can be used again.
    #[expect(
        clippy::vec_box,
        reason = "batches are large and are swapped with others all the time"
    )]
    spare: Vec<Box<LeafBatch<P>>>,
}

/// The next step for the coordinator's own batch. After each of these the coordinator looks at the
/// queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum OwnBatch {
    /// There is none.
    None,
    Examine,
    Begin,
    Play,
    Apply,
}

impl<P: Position> Worker<P> {
    /// Simulates batches of the coordinator until the queue is closed.
    pub(crate) fn help(&mut self, queue: &LeafQueue<P>, options: &MctsOptions) {
        let _guard = queue.panic_guard();
        while let Some(mut batch) = queue.wait_for_ready() {
            std::mem::swap(&mut self.batch, &mut batch);
            let began = Instant::now();
            self.examine_leaves(options);
            self.play_out_leaves(options);
            self.batch.seconds = began.elapsed().as_secs_f64();
            std::mem::swap(&mut self.batch, &mut batch);
            queue.put_played(batch);
        }
    }
}

impl<'a, P: Position> Coordinator<'a, P> {
    pub(crate) fn new(
        worker: &'a mut Worker<P>,
        queue: &'a LeafQueue<P>,
        n_helpers: usize,
        options: &'a MctsOptions,
    ) -> Coordinator<'a, P> {
        Coordinator {
            worker,
            queue,
            options,
            n_helpers,
            own: OwnBatch::None,
            load: LoadBalance::default(),
            gather_seconds: 0.0,
            spare: Vec::new(),
        }
    }

    /// Grows the tree until the budget is used up or our payoff is proved.
    pub(crate) fn run(&mut self, shared: &mut Shared<'_, P>) {
        let _guard = self.queue.panic_guard();
        let mut hint = HintTimer::start(shared);
        let mut backoff = Backoff::default();
        while !self.queue.is_broken() {
            hint.tick(shared);
            // When the last iteration has begun, the batches in flight are waited for. When time is
            // up or our payoff is proved, they are not.
            let is_ending = shared.is_done();
            if is_ending && (shared.n_left() > 0 || shared.is_proven() || self.worker.is_late()) {
                break;
            }
            let is_full = shared.tree.nodes.len() >= self.options.max_nodes;
            if shared.n_in_flight == 0
                && (is_ending || is_full && !self.worker.recycle_in_time(shared, self.options))
            {
                break;
            }
            let may_gather = !is_ending && shared.tree.nodes.len() < self.options.max_nodes;
            let has_time = self.load.has_time(self.n_helpers) || backoff.is_long();
            let has_own = has_time || self.own != OwnBatch::None;
            // Each helper works on one batch and has one ready.
            self.worker.size.set_n_batches(2 * self.n_helpers as u32 + u32::from(has_own));
            if may_gather && self.queue.is_starving() {
                self.fill_queue(shared);
            }
            if let Some(played) = self.queue.take_played() {
                self.apply_played(shared, played);
                backoff = Backoff::default();
                continue;
            }
            if may_gather {
                self.fill_queue(shared);
            }
            if self.step_own_batch(shared)
                || may_gather && has_time && self.gather_own_batch(shared)
                || is_ending && self.take_queued_batch()
            {
                backoff = Backoff::default();
            } else if shared.n_in_flight > 0 {
                backoff.wait();
            }
        }
        self.finish(shared);
    }

    /// Applies a batch that a helper has simulated.
    fn apply_played(&mut self, shared: &mut Shared<'_, P>, mut batch: Box<LeafBatch<P>>) {
        std::mem::swap(&mut self.worker.batch, &mut batch);
        let began = Instant::now();
        self.worker.apply_results(shared, self.options);
        self.load.note_served(began.elapsed().as_secs_f64() + self.gather_seconds);
        let seconds = self.worker.batch.seconds;
        self.load.note_played(seconds);
        self.worker.size.adapt(seconds, self.options);
        shared.n_in_flight -= 1;
        std::mem::swap(&mut self.worker.batch, &mut batch);
        self.spare.push(batch);
    }

    /// Gathers batches until there is one ready for each helper. More would be worse: the more
    /// batches are in flight, the less is known when the next ones are selected.
    fn fill_queue(&mut self, shared: &mut Shared<'_, P>) {
        while self.queue.n_ready() < self.n_helpers {
            let began = Instant::now();
            let n_roles = self.worker.facts.n_roles;
            let mut batch = self.spare.pop().unwrap_or_else(|| Box::new(LeafBatch::new(n_roles)));
            std::mem::swap(&mut self.worker.batch, &mut batch);
            self.worker.gather(shared, self.options);
            std::mem::swap(&mut self.worker.batch, &mut batch);
            if batch.leaves.is_empty() {
                // All leaves that are worth a visit are in flight.
                self.spare.push(batch);
                return;
            }
            shared.n_in_flight += 1;
            self.queue.put_ready(batch);
            self.gather_seconds = began.elapsed().as_secs_f64();
        }
    }

    /// Continues the coordinator's own batch. Returns false if it has none.
    fn step_own_batch(&mut self, shared: &mut Shared<'_, P>) -> bool {
        let (worker, options) = (&mut *self.worker, self.options);
        self.own = match self.own {
            OwnBatch::None => return false,
            OwnBatch::Examine => {
                worker.examine_leaves(options);
                OwnBatch::Begin
            }
            OwnBatch::Begin => {
                worker.begin_playouts(options);
                OwnBatch::Play
            }
            OwnBatch::Play if !worker.step_playouts(FEW_STEPS) => OwnBatch::Play,
            OwnBatch::Play => {
                worker.finish_playouts();
                OwnBatch::Apply
            }
            OwnBatch::Apply => {
                worker.apply_results(shared, options);
                shared.n_in_flight -= 1;
                OwnBatch::None
            }
        };
        true
    }

    /// Gathers a batch for the coordinator itself. Returns false if there is no leaf for it.
    fn gather_own_batch(&mut self, shared: &mut Shared<'_, P>) -> bool {
        self.worker.gather(shared, self.options);
        if self.worker.batch.leaves.is_empty() {
            return false;
        }
        shared.n_in_flight += 1;
        self.own = OwnBatch::Examine;
        true
    }

    /// Takes a batch that was meant for a helper. Returns false if there is none.
    fn take_queued_batch(&mut self) -> bool {
        let Some(mut ready) = self.queue.take_ready() else { return false };
        std::mem::swap(&mut self.worker.batch, &mut ready);
        self.spare.push(ready);
        self.own = OwnBatch::Examine;
        true
    }

    /// Cancels the batches that will not be simulated, and waits for those that helpers work on.
    fn finish(&mut self, shared: &mut Shared<'_, P>) {
        self.queue.close();
        match self.own {
            OwnBatch::None => {}
            OwnBatch::Examine | OwnBatch::Begin | OwnBatch::Play => {
                shared.cancel(&self.worker.batch);
            }
            OwnBatch::Apply => {
                self.step_own_batch(shared);
            }
        }
        while let Some(ready) = self.queue.take_ready() {
            shared.cancel(&ready);
        }
        let mut backoff = Backoff::default();
        while shared.n_in_flight > 0 && !self.queue.is_broken() {
            match self.queue.take_played() {
                Some(played) => self.apply_played(shared, played),
                None => backoff.wait(),
            }
        }
    }
}
