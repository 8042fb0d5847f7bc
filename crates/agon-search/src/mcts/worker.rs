//! Workers: the tools of one thread.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agon_game::{Batch, PlayoutKind, Position, Rng, Role, SequentialBatch};
use rand::SeedableRng;

use super::attitude::Utilities;
use super::batch_size::BatchSize;
use super::facts::Facts;
use super::heuristic::ActionHeuristic;
use super::leaf_batch::LeafBatch;
use super::options::{MctsOptions, PlayoutPolicy};
use super::preference::PreferenceLearner;
use super::select::{BatchSelection, SelectScratch};
use super::simulate::{BulkPlayouts, EvaluatedBatch, LeafValues, Lockstep, PlayoutScratch, Policy};
use super::threads::Shared;
use super::tree::{BackupScratch, MAX_EXAMINED, Tree};
use crate::Budget;

/// The children of the root are examined one by one only if that takes at most this part of the
/// time left.
const EXAMINE_PART: f64 = 0.1;

/// While the opponent thinks, a piece of work that cannot be interrupted takes at most this part of
/// the time left. The next request may come at any moment.
const PONDER_PART: u32 = 32;

/// Whether a search answers a request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A move must be made when the budget is used up.
    Move,
    /// The search uses the time until the next request, which may come at any moment.
    Ponder,
}

/// The state of one thread, except the tree. Each group of fields is a struct of the module that
/// uses it.
pub(crate) struct Worker<P: Position> {
    pub(crate) facts: Facts,
    pub(crate) us: Role,
    /// What the players are assumed to want.
    pub(crate) utilities: Utilities,
    pub(crate) position: P,
    pub(crate) rng: Rng,
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) purpose: Purpose,
    pub(crate) policy: Option<Policy<P::Move>>,
    pub(crate) heuristic: Option<Box<dyn ActionHeuristic<P>>>,
    /// The equivalence parameter of the heuristic (Trutman 2015, section 3.4).
    pub(crate) prior_k: f64,
    pub(crate) size: BatchSize,
    pub(crate) preference: PreferenceLearner<P::Move>,
    /// The batch in work.
    pub(crate) batch: Box<LeafBatch<P>>,
    pub(crate) bulk: BulkPlayouts<P>,
    pub(crate) lockstep: Lockstep<P>,
    pub(crate) selection: BatchSelection,
    pub(crate) select_scratch: SelectScratch,
    pub(crate) playout_scratch: PlayoutScratch<P::Move>,
    pub(crate) backup_scratch: BackupScratch,
}

/// What a thread knows beyond the rules.
pub(crate) struct Advisers<P: Position> {
    /// Values moves before they are tried.
    pub(crate) heuristic: Option<Box<dyn ActionHeuristic<P>>>,
    /// Values leaves beside playouts.
    pub(crate) leaf_values: Option<LeafValues<P::State>>,
}

impl<P: Position> Worker<P> {
    pub(crate) fn new(
        position: &P,
        us: Role,
        options: &MctsOptions,
        seed: u64,
        Advisers { heuristic, leaf_values }: Advisers<P>,
    ) -> Worker<P> {
        let facts = Facts::new(position);
        let n_roles = facts.n_roles;
        let wants_engine = options.look_ahead || options.allows_bulk();
        let engine = if wants_engine { position.batch(seed) } else { None };
        let mut engine = match (engine, leaf_values) {
            (Some(engine), Some(values)) => {
                Some(Box::new(EvaluatedBatch::new(engine, values, n_roles)) as _)
            }
            (engine, _) => engine,
        };
        if let Some(engine) = &mut engine {
            let engine: &mut dyn Batch<State = P::State, Move = P::Move> = engine.as_mut();
            engine.set_playouts(options.playout_kind.unwrap_or(PlayoutKind::Careful));
        }
        let mut bulk = BulkPlayouts::new(engine, n_roles);
        bulk.warm_up(position, n_roles);
        let learns = options.policy != PlayoutPolicy::Uniform;
        Worker {
            position: position.clone(),
            rng: Rng::seed_from_u64(seed),
            deadline: None,
            stop: Arc::default(),
            purpose: Purpose::Move,
            policy: learns.then(|| Policy::new(options.policy, options.choice, &facts)),
            heuristic,
            prior_k: 0.0,
            us,
            utilities: Utilities::plain(&facts),
            size: BatchSize::new(options),
            facts,
            preference: PreferenceLearner::new(options.playout_preference),
            batch: Box::new(LeafBatch::new(n_roles)),
            bulk,
            lockstep: Lockstep::new(),
            selection: BatchSelection::default(),
            select_scratch: SelectScratch::default(),
            playout_scratch: PlayoutScratch::default(),
            backup_scratch: BackupScratch::default(),
        }
    }

    /// Prepares for the next move: for this role, from where the position stands, under this
    /// budget.
    pub(crate) fn prepare(
        &mut self,
        position: &P,
        us: Role,
        (budget, purpose): (&Budget, Purpose),
        options: &MctsOptions,
        prior_k: f64,
    ) {
        self.us = us;
        self.prior_k = prior_k;
        self.size.prepare(budget, options);
        self.deadline = budget.deadline;
        self.stop = Arc::clone(&budget.stop);
        self.purpose = purpose;
        self.preference.begin();
        if let Some(heuristic) = &mut self.heuristic {
            heuristic.commit(position);
        }
    }

    /// Moves the root to where the position stands: to a node that is known, or to the only node of
    /// a new tree. The position is where it was when the call returns. Returns whether the node was
    /// known.
    pub(crate) fn set_root(
        &mut self,
        position: &mut P,
        tree: &mut Tree<P>,
        options: &MctsOptions,
    ) -> bool {
        self.batch.pending.clear();
        let root = self.batch.pending.push_position(position);
        if options.heuristic.implicit > 0.0
            && let Some(heuristic) = self.heuristic.as_deref_mut()
        {
            self.batch.pending.push_worths(heuristic, position);
        }
        if let Some(id) = tree.find(&self.batch.pending, root) {
            tree.root = id;
            tree.ensure_arms(id);
            return true;
        }
        *tree = Tree::new(self.facts.clone(), options);
        if options.look_ahead {
            self.examine_root_children(position);
        }
        self.finish_pending();
        tree.root = tree.add(&self.batch.pending, root);
        tree.ensure_arms(tree.root);
        false
    }

    /// Examines the children of the root: by the batch engine, or one by one if there is time.
    fn examine_root_children(&mut self, position: &mut P) {
        if let Some(engine) = self.bulk.engine_mut() {
            self.batch.pending.examine_children(engine);
        } else if self.upkeep_end().is_none_or(|end| has_time_to_examine(position, end)) {
            let mut engine = SequentialBatch::new(self.position.clone(), self.rng.clone());
            self.batch.pending.examine_children(&mut engine);
        }
    }

    /// Applies the results of the batch to the tree.
    pub(crate) fn apply_results(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        shared.playouts += self.batch.n_playouts;
        shared.meter.n_nodes += self.batch.n_examined;
        shared.tree.apply_results(&mut self.batch, options, &mut self.backup_scratch);
    }

    /// Recycles nodes of a full tree, unless that takes too long. Returns whether it was done.
    pub(crate) fn recycle_in_time(
        &self,
        shared: &mut Shared<'_, P>,
        options: &MctsOptions,
    ) -> bool {
        let is_done = shared.tree.can_recycle_before(self.upkeep_end());
        if is_done {
            shared.tree.recycle(options.max_nodes / 2);
        }
        is_done
    }

    /// Returns the moment until which work that cannot be interrupted may last, if there is a
    /// deadline.
    pub(crate) fn upkeep_end(&self) -> Option<Instant> {
        let deadline = self.deadline?;
        let now = Instant::now();
        Some(match self.purpose {
            Purpose::Move => deadline,
            Purpose::Ponder => now + deadline.saturating_duration_since(now) / PONDER_PART,
        })
    }

    /// Returns whether one thread does all work in the tree and the others simulate for it.
    pub(crate) fn has_coordinator(&self, options: &MctsOptions) -> bool {
        options.threads > 1 && self.plays_in_bulk(options)
    }

    /// Returns whether an engine plays out many leaves at once.
    pub(crate) fn plays_in_bulk(&self, options: &MctsOptions) -> bool {
        self.bulk.has_engine() && options.allows_bulk()
    }

    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Returns whether all children of a position can be examined one by one in a small part of the
/// time left. One step is made to find out.
fn has_time_to_examine<P: Position>(position: &mut P, deadline: Instant) -> bool {
    let began = Instant::now();
    let home = position.state().clone();
    let joint: Vec<P::Move> =
        position.shape().roles().map(|role| position.legal_moves(role)[0].clone()).collect();
    let n_joint: f64 =
        position.shape().roles().map(|role| position.legal_moves(role).len() as f64).product();
    position.advance(&joint);
    position.is_terminal();
    position.go_to(&home);
    let left = deadline.saturating_duration_since(began).as_secs_f64();
    began.elapsed().as_secs_f64() * n_joint.min(MAX_EXAMINED as f64) < EXAMINE_PART * left
}
