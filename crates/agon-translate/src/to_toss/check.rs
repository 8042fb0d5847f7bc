//! Lockstep play of a translation and its original.
//!
//! Each side has an interpreter, and a circuit where one can be built. The interpreters are the
//! oracle for the circuits, so a few plays use them. All other plays use the fastest engines.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use agon_circuit::ScalarCircuit;
use agon_game::laws::Plan;
use agon_game::lockstep::{
    self, Agreement, Comparison, Difference, Draw, Faults, Mismatch, MoveOrder, Options, Payoffs,
    Side,
};
use agon_game::{Fault, Notation, Role};
use agon_gdl::interpreter::{Game, GoalPolicy};
use agon_structures::evaluate::Limits;
use agon_structures::interrupt::Interrupt;
use agon_toss::circuit::CircuitLimits;

use super::{ToTossError, Translation, open};

/// Number of plays that use the interpreters on both sides.
const INTERPRETED_PLAYS: usize = 3;

/// The interpreted plays may take this fraction of all steps. It is several times their share,
/// because plays differ in length. A translation that needs more would not finish.
const INTERPRETED_FRACTION: u64 = 5;

/// Limits on the cost of the plays.
#[derive(Clone, Debug)]
pub(super) struct PlayLimits {
    /// Time to stop at.
    pub(super) deadline: Option<Instant>,
    /// Maximum number of steps for evaluating the translation's formulas.
    pub(super) steps: u64,
    /// Maximum number of plays if the translation has no circuit.
    pub(super) slow_plays: usize,
}

impl Translation {
    /// Plays an engine of the GDL game and an engine of the translation with the same random moves.
    /// Stops after `max_differences` plays with a difference.
    ///
    /// Ends of play, legal moves and payoffs at the end must be the same. A play is abandoned where
    /// the GDL engine has a fault, because the rules then do not define how play continues.
    pub fn differences<A: Notation, B: Notation>(
        &self,
        gdl: &A,
        toss: &B,
        plan: &Plan,
        max_differences: usize,
    ) -> Comparison {
        self.differences_until(gdl, toss, plan, &|| false, max_differences)
    }

    fn differences_until<A: Notation, B: Notation>(
        &self,
        gdl: &A,
        toss: &B,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
        max_differences: usize,
    ) -> Comparison {
        let second_move = |role: Role, text: &str| self.gdl_move(role.index(), text);
        let options = Options {
            plan: plan.clone(),
            draw: Draw::Uniform,
            stop: Some(stop),
            second_move: Some(&second_move),
            move_order: MoveOrder::Any,
            states: false,
            payoffs: Payoffs::AtEnd,
            faults: Faults::FirstMayFail,
            ..Options::default()
        };
        lockstep::differences(gdl, toss, &options, max_differences)
    }

    /// Plays an engine of the GDL game and an engine of the translation with the same random moves.
    /// See [`Translation::differences`].
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn compare<A: Notation, B: Notation>(
        &self,
        gdl: &A,
        toss: &B,
        plan: &Plan,
    ) -> Result<Agreement, Difference> {
        self.compare_until(gdl, toss, plan, &|| false)
    }

    /// Compares like [`Translation::compare`], until `stop` returns true.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn compare_until<A: Notation, B: Notation>(
        &self,
        gdl: &A,
        toss: &B,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
    ) -> Result<Agreement, Difference> {
        first_difference(self.differences_until(gdl, toss, plan, stop, 1))
    }
}

/// A GDL game and its translation, ready for lockstep play.
pub struct TranslationCheck<'t> {
    translation: &'t Translation,
    gdl: Arc<Game>,
    gdl_circuit: Option<ScalarCircuit>,
    toss: Arc<agon_toss::interpreter::Game>,
    deadline: Option<Instant>,
    /// Built on first use, because most differences are found before it is needed.
    toss_circuit: OnceCell<Option<ScalarCircuit>>,
}

impl<'t> TranslationCheck<'t> {
    /// Opens the translation of a game, and builds circuits of both games where that is quick.
    ///
    /// # Errors
    /// Returns an error if the text of the translation is invalid, which is a defect of the
    /// translator.
    pub fn new(
        game: &Arc<Game>,
        translation: &'t Translation,
        deadline: Option<Instant>,
    ) -> Result<TranslationCheck<'t>, ToTossError> {
        let mut limits =
            agon_gdl::circuit::CircuitLimits { gates: 1_000_000, ..Default::default() };
        limits.ground.steps = 100_000_000;
        limits.ground.rules = limits.gates;
        limits.ground.deadline = deadline;
        let ground = game.ground(&limits).ok();
        let circuit = ground.map(|ground| ScalarCircuit::quick_start(Arc::new(ground.circuit)));
        TranslationCheck::with_circuit(game, circuit, translation, deadline)
    }

    /// Opens the translation of a game whose circuit is known.
    pub(super) fn with_circuit(
        game: &Arc<Game>,
        circuit: Option<ScalarCircuit>,
        translation: &'t Translation,
        deadline: Option<Instant>,
    ) -> Result<TranslationCheck<'t>, ToTossError> {
        let toss = open(&translation.text, deadline)?;
        // Circuits pay the highest goal value that holds.
        let gdl_circuit = circuit.filter(|_| game.options().goal_policy == GoalPolicy::Highest);
        Ok(TranslationCheck {
            translation,
            gdl: Arc::clone(game),
            gdl_circuit,
            toss,
            deadline,
            toss_circuit: OnceCell::new(),
        })
    }

    /// Returns whether the translation has a circuit.
    pub fn has_circuit(&self) -> bool {
        self.toss_circuit().is_some()
    }

    fn toss_circuit(&self) -> Option<&ScalarCircuit> {
        let made = || {
            let ground = self.toss.ground(&limits(self.deadline)).ok()?;
            Some(ScalarCircuit::quick_start(Arc::new(ground.circuit)))
        };
        self.toss_circuit.get_or_init(made).as_ref()
    }

    /// Returns the number of rules of the translation.
    pub fn n_rules(&self) -> usize {
        self.toss.arena().rules().len()
    }

    /// Plays both games with the same random moves until the deadline.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn play(&self, plan: &Plan, deadline: Option<Instant>) -> Result<Agreement, Difference> {
        let limits = PlayLimits { deadline, steps: u64::MAX, slow_plays: plan.plays };
        first_difference(self.differences(plan, &limits, 1))
    }

    /// Plays until `max_differences` plays had a difference. Exceeding the limit on steps is
    /// reported as a fault of the translation.
    pub(super) fn differences(
        &self,
        plan: &Plan,
        limits: &PlayLimits,
        max_differences: usize,
    ) -> Comparison {
        let (gdl, toss) = (self.gdl.start(), self.toss.start());
        let few = Plan { plays: plan.plays.min(INTERPRETED_PLAYS), ..plan.clone() };
        let before = self.toss.spent();
        let has_spent = |steps: u64| self.toss.spent() - before > steps;
        let is_late = || limits.deadline.is_some_and(|deadline| Instant::now() > deadline);
        let few_steps = limits.steps / INTERPRETED_FRACTION;
        let stop = || is_late() || has_spent(few_steps);
        let mut played =
            self.translation.differences_until(&gdl, &toss, &few, &stop, max_differences);
        if !played.differences.is_empty() || few.plays == plan.plays {
            return played;
        }
        if has_spent(few_steps) && !self.has_circuit() {
            return too_long(played.agreement, limits);
        }
        let plays = if self.has_circuit() { plan.plays } else { limits.slow_plays };
        let rest = Plan {
            plays: plays.saturating_sub(few.plays),
            // A different seed, so that the plays differ from the interpreted ones.
            seed: plan.seed.wrapping_mul(2).wrapping_add(1),
            ..plan.clone()
        };
        let stop = || is_late() || has_spent(limits.steps);
        let fast = self.fastest_differences(&rest, &stop, max_differences);
        played.agreement.plays += fast.agreement.plays;
        played.agreement.states += fast.agreement.states;
        played.agreement.ended += fast.agreement.ended;
        let later =
            |difference: Difference| Difference { play: difference.play + few.plays, ..difference };
        played.differences = fast.differences.into_iter().map(later).collect();
        if played.differences.is_empty() && !self.has_circuit() && has_spent(limits.steps) {
            return too_long(played.agreement, limits);
        }
        played
    }

    /// Plays with the fastest engine of each side.
    fn fastest_differences(
        &self,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
        max_differences: usize,
    ) -> Comparison {
        let (translation, most) = (self.translation, max_differences);
        match (&self.gdl_circuit, self.toss_circuit()) {
            (Some(gdl), Some(toss)) => translation.differences_until(gdl, toss, plan, stop, most),
            (Some(gdl), None) => {
                translation.differences_until(gdl, &self.toss.start(), plan, stop, most)
            }
            (None, Some(toss)) => {
                translation.differences_until(&self.gdl.start(), toss, plan, stop, most)
            }
            (None, None) => {
                let (gdl, toss) = (self.gdl.start(), self.toss.start());
                translation.differences_until(&gdl, &toss, plan, stop, most)
            }
        }
    }
}

fn first_difference(comparison: Comparison) -> Result<Agreement, Difference> {
    match comparison.differences.into_iter().next() {
        Some(difference) => Err(difference),
        None => Ok(comparison.agreement),
    }
}

/// Reports that the plays take more evaluation steps than allowed.
fn too_long(agreement: Agreement, limits: &PlayLimits) -> Comparison {
    let why = format!(
        "the plays take more than {} million steps of evaluation",
        limits.steps / 1_000_000
    );
    let mismatch = Mismatch::Fault { side: Side::Second, fault: Fault::Refused(why) };
    let difference = Difference { play: agreement.plays, moves: Vec::new(), mismatch };
    Comparison { agreement, differences: vec![difference] }
}

/// Returns the limits for a circuit of the translation: about a second, which is what the plays
/// often take without it. Rules whose elements are unconstrained have too many embeddings for a
/// circuit.
fn limits(deadline: Option<Instant>) -> CircuitLimits {
    CircuitLimits {
        gates: 600_000,
        rows: 100_000,
        work: 1_200_000,
        evaluation: Limits { steps: 10_000_000, cells: 1 << 22, ..Limits::default() },
        interrupt: Interrupt::at(deadline),
        ..CircuitLimits::modest()
    }
}
