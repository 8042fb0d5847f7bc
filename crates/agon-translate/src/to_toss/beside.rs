//! A translation played beside its original.
//!
//! Each side plays by the rules as they stand, and by its circuit where there is one. A few plays are made by the rules, which are
//! the judges of the circuits, and the others by what is fast.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use agon_circuit::ScalarCircuit;
use agon_gdl::interpreter::{Game, GoalPolicy};
use agon_structures::evaluate::Limits;
use agon_toss::circuit::CircuitLimits;

use super::{Translation, Untranslatable, open};
use crate::joint::{Agreement, Difference, Extent, Played, differences_until};

/// So many plays are made by the rules on both sides.
const BY_THE_RULES: usize = 3;

/// These plays may take such a part of all steps, which is several times their share: plays are of different length, and who needs more
/// will not come to an end.
const PART_BY_THE_RULES: u64 = 5;

/// What plays may cost.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// When to stop.
    pub(super) deadline: Option<Instant>,
    /// Steps of evaluating the translation's formulas.
    pub(super) steps: u64,
}

/// Both games, ready to be played with the same moves.
pub struct Beside<'t> {
    translation: &'t Translation,
    gdl: Arc<Game>,
    gdl_circuit: Option<ScalarCircuit>,
    toss: Arc<agon_toss::interpreter::Game>,
    /// Made when it is needed: most of what is wrong is found before.
    toss_circuit: OnceCell<Option<ScalarCircuit>>,
}

impl<'t> Beside<'t> {
    /// Opens the translation of a game, and makes circuits of both games where that is done soon.
    ///
    /// # Errors
    /// If the text is none that can be played: a fault of the translator.
    pub fn new(
        game: &Arc<Game>,
        translation: &'t Translation,
        deadline: Option<Instant>,
    ) -> Result<Beside<'t>, Untranslatable> {
        let mut limits =
            agon_gdl::circuit::CircuitLimits { gates: 1_000_000, ..Default::default() };
        limits.ground.steps = 100_000_000;
        limits.ground.rules = limits.gates;
        limits.ground.deadline = deadline;
        let ground = game.ground(&limits).ok();
        let circuit = ground.map(|ground| ScalarCircuit::at_once(Arc::new(ground.circuit)));
        Beside::with_circuit(game, circuit, translation)
    }

    /// The same, where the circuit of the original is known.
    pub(super) fn with_circuit(
        game: &Arc<Game>,
        circuit: Option<ScalarCircuit>,
        translation: &'t Translation,
    ) -> Result<Beside<'t>, Untranslatable> {
        let toss = open(&translation.text)?;
        // Circuits pay the highest goal value that holds.
        let gdl_circuit = circuit.filter(|_| game.options().goal_policy == GoalPolicy::Highest);
        Ok(Beside {
            translation,
            gdl: Arc::clone(game),
            gdl_circuit,
            toss,
            toss_circuit: OnceCell::new(),
        })
    }

    /// Whether the translation plays by a circuit.
    pub fn has_circuit(&self) -> bool {
        self.toss_circuit().is_some()
    }

    fn toss_circuit(&self) -> Option<&ScalarCircuit> {
        let made = || {
            let ground = self.toss.ground(&limits()).ok()?;
            Some(ScalarCircuit::at_once(Arc::new(ground.circuit)))
        };
        self.toss_circuit.get_or_init(made).as_ref()
    }

    /// How many rules the translation has.
    pub fn n_rules(&self) -> usize {
        self.toss.arena().rules().len()
    }

    /// Plays both games with random moves, by the deadline.
    ///
    /// # Errors
    /// The first difference.
    pub fn play(
        &self,
        extent: &Extent,
        deadline: Option<Instant>,
    ) -> Result<Agreement, Difference> {
        let played = self.differences(extent, extent.plays, &Cost { deadline, steps: u64::MAX }, 1);
        match played.differences.into_iter().next() {
            Some(difference) => Err(difference),
            None => Ok(played.agreement),
        }
    }

    /// The same until so many plays had a difference. Where the translation has no circuit, `slow_plays` are made; that they take more
    /// steps than allowed is a fault.
    pub(super) fn differences(
        &self,
        extent: &Extent,
        slow_plays: usize,
        cost: &Cost,
        most: usize,
    ) -> Played {
        let translate = |role: usize, text: &str| self.translation.gdl_move(role, text);
        let (gdl, toss) = (self.gdl.start(), self.toss.start());
        let few = Extent { plays: extent.plays.min(BY_THE_RULES), ..extent.clone() };
        let before = self.toss.spent();
        let has_spent = |steps: u64| self.toss.spent() - before > steps;
        let is_late = || cost.deadline.is_some_and(|deadline| Instant::now() > deadline);
        let few_steps = cost.steps / PART_BY_THE_RULES;
        let is_enough = || is_late() || has_spent(few_steps);
        let mut played = differences_until(&gdl, &toss, &translate, &few, &is_enough, most);
        if !played.differences.is_empty() || few.plays == extent.plays {
            return played;
        }
        let too_long = |played: Played| {
            let what = format!(
                "so many plays take more than {} million steps of evaluation",
                cost.steps / 1_000_000
            );
            let play = played.agreement.plays;
            Played {
                differences: vec![Difference { play, moves: Vec::new(), what, is_fault: true }],
                ..played
            }
        };
        if has_spent(few_steps) && !self.has_circuit() {
            return too_long(played);
        }
        let plays = if self.has_circuit() { extent.plays } else { slow_plays };
        let rest = Extent {
            plays: plays.saturating_sub(few.plays),
            // Other plays than those that were made by the rules.
            seed: extent.seed.wrapping_mul(2).wrapping_add(1),
            ..extent.clone()
        };
        let is_enough = || is_late() || has_spent(cost.steps);
        let fast = match (&self.gdl_circuit, self.toss_circuit()) {
            (Some(gdl), Some(toss)) => {
                differences_until(gdl, toss, &translate, &rest, &is_enough, most)
            }
            (Some(gdl), None) => differences_until(gdl, &toss, &translate, &rest, &is_enough, most),
            (None, Some(toss)) => {
                differences_until(&gdl, toss, &translate, &rest, &is_enough, most)
            }
            (None, None) => differences_until(&gdl, &toss, &translate, &rest, &is_enough, most),
        };
        played.agreement.plays += fast.agreement.plays;
        played.agreement.states += fast.agreement.states;
        played.agreement.ended += fast.agreement.ended;
        let later =
            |difference: Difference| Difference { play: difference.play + few.plays, ..difference };
        played.differences = fast.differences.into_iter().map(later).collect();
        if played.differences.is_empty() && !self.has_circuit() && has_spent(cost.steps) {
            return too_long(played);
        }
        played
    }
}

/// What a circuit of the translation may cost: a second or so, which is what the plays often take without it. Rules whose elements are
/// chosen freely have so many matches that it is no use.
fn limits() -> CircuitLimits {
    CircuitLimits {
        gates: 600_000,
        rows: 100_000,
        work: 1_200_000,
        evaluation: Limits { steps: 10_000_000, cells: 1 << 22, ..Limits::default() },
        ..CircuitLimits::modest()
    }
}
