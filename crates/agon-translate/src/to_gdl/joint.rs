//! The judge of a translation: both games are played with the same moves, at random, and must agree at every step. The second one is
//! the translation, or what became of it when it was translated back.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_game::{Notation, Position as _, Rng, Role};
use rand::SeedableRng as _;

use super::{Payoffs, Translation};

/// How much is played.
#[derive(Copy, Clone, Debug)]
pub struct Plan {
    /// So many plays.
    pub plays: u64,
    /// Plays longer than this are cut off.
    pub max_steps: usize,
    /// The seed of the moves.
    pub seed: u64,
}

/// What was played, and alike.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Agreement {
    /// Plays.
    pub plays: u64,
    /// Steps of all plays together.
    pub steps: u64,
    /// Plays that came to their end.
    pub ended: u64,
}

/// The first difference between the two games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The play, counted from 1.
    pub play: u64,
    /// Steps made in it.
    pub step: usize,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "play {}, after {} steps: {}", self.play, self.step, self.what)
    }
}

impl std::error::Error for Disagreement {}

/// Plays both games with the same moves: ends, legal moves, chances and payoffs must be the same all the way.
///
/// # Errors
/// With the first difference.
pub fn play_jointly(
    toss: &Arc<agon_toss::interpreter::Game>,
    gdl: &Arc<agon_gdl::interpreter::Game>,
    translation: &Translation,
    plan: Plan,
) -> Result<Agreement, Disagreement> {
    let reading = Reading {
        toss_move: &|_, text| Some(translation.toss_move(text)),
        goals: &|there: &agon_gdl::interpreter::Interpreter, role| {
            there.goal_values(role).iter().map(|&value| value as f64).collect()
        },
        payoffs: &translation.payoffs,
        is_paid_at_ends_alone: false,
    };
    play_reading(toss, &gdl.start(), &reading, plan)
}

type Toss = agon_toss::interpreter::Interpreter;

/// How what the second game says is said in the first.
pub(crate) struct Reading<'r, B> {
    /// The move of the first game that a role's move of the second stands for, in lower case.
    pub(crate) toss_move: &'r dyn Fn(usize, &str) -> Option<String>,
    /// What a role gets in the second game: there should be one value.
    pub(crate) goals: &'r dyn Fn(&B, Role) -> Vec<f64>,
    /// What payoffs of the first became.
    pub(crate) payoffs: &'r Payoffs,
    /// Whether what roles would get in the midst of play is of no matter.
    pub(crate) is_paid_at_ends_alone: bool,
}

/// The same for whatever the first game has become.
pub(crate) fn play_reading<B: Notation>(
    toss: &Arc<agon_toss::interpreter::Game>,
    second: &B,
    reading: &Reading<'_, B>,
    plan: Plan,
) -> Result<Agreement, Disagreement> {
    let mut agreement = Agreement::default();
    let mut rng = Rng::seed_from_u64(plan.seed);
    let toss = toss.start();
    for play in 1..=plan.plays {
        let (mut here, mut there) = (toss.clone(), second.clone());
        let mut step = 0;
        loop {
            let differ = |what: String| Disagreement { play, step, what };
            same_state(&here, &there, reading).map_err(differ)?;
            if here.is_terminal() {
                agreement.ended += 1;
                break;
            }
            if step == plan.max_steps {
                break;
            }
            let mut joint = Vec::new();
            here.draw(&mut rng, &mut joint);
            let mut answer = Vec::with_capacity(joint.len());
            for role in here.shape().roles() {
                let chosen = normal(&here.move_text(&joint[role.index()]));
                answer.push(
                    same_moves(&here, &there, reading, role).map_err(differ)?[&chosen].clone(),
                );
            }
            here.advance(&joint);
            there.advance(&answer);
            step += 1;
            agreement.steps += 1;
        }
        agreement.plays += 1;
    }
    Ok(agreement)
}

/// Compares what there is to be known of a state but for moves.
pub(crate) fn same_state<B: Notation>(
    here: &Toss,
    there: &B,
    reading: &Reading<'_, B>,
) -> Result<(), String> {
    if let Some(fault) = here.fault() {
        return Err(format!("the game itself cannot be played on: {fault:?}"));
    }
    if let Some(fault) = there.fault() {
        return Err(format!("the translation cannot be played on: {fault:?}"));
    }
    if !reading.is_paid_at_ends_alone || here.is_terminal() {
        same_payoffs(here, there, reading)?;
    }
    if here.is_terminal() != there.is_terminal() {
        let (ended, other) =
            if here.is_terminal() { ("game", "translation") } else { ("translation", "game") };
        return Err(format!("the {ended} has ended and the {other} has not"));
    }
    Ok(())
}

fn same_payoffs<B: Notation>(
    here: &Toss,
    there: &B,
    reading: &Reading<'_, B>,
) -> Result<(), String> {
    let Ok(payoffs) = here.exact_payoffs() else { return Ok(()) };
    for role in here.shape().roles().filter(|role| Some(*role) != here.shape().nature) {
        let (payoff, goals) = (payoffs[role.index()], (reading.goals)(there, role));
        let expected = reading.payoffs.goal(payoff);
        if goals != [expected as f64] {
            let name = &here.shape().role_names[role.index()];
            return Err(format!(
                "`{name}` gets {payoff}, which is {expected}, and the translation says {goals:?}"
            ));
        }
    }
    Ok(())
}

/// Compares what a role may do; gives the translation's moves by what they are called in the game.
pub(crate) fn same_moves<B: Notation>(
    here: &Toss,
    there: &B,
    reading: &Reading<'_, B>,
    role: Role,
) -> Result<BTreeMap<String, B::Move>, String> {
    let mut expected: BTreeMap<String, f64> = BTreeMap::new();
    let name = &here.shape().role_names[role.index()];
    let is_nature = Some(role) == here.shape().nature;
    for m in here.legal_moves(role) {
        let chance = if is_nature { here.chance(m) } else { 1.0 };
        expected.insert(normal(&here.move_text(m)), chance);
    }
    // Where nature draws, several moves may stand for one, and their chances count together; else a move is had once.
    let mut found: BTreeMap<String, (f64, B::Move)> = BTreeMap::new();
    for m in there.legal_moves(role) {
        let text = there.move_text(m);
        let Some(text) = (reading.toss_move)(role.index(), &text) else {
            return Err(format!(
                "the move {text} of `{name}` in the translation stands for nothing"
            ));
        };
        let chance = if is_nature { there.chance(m) } else { 1.0 };
        found.entry(text).or_insert_with(|| (0.0, m.clone())).0 += chance;
    }
    if let Some(text) = expected.keys().find(|text| !found.contains_key(*text)) {
        return Err(format!("`{name}` may do {text}, and not in the translation"));
    }
    if let Some(text) = found.keys().find(|text| !expected.contains_key(*text)) {
        return Err(format!("`{name}` may do {text} in the translation alone"));
    }
    for (text, (chance, _)) in &found {
        if (expected[text] - chance).abs() > 1e-9 {
            let what = if is_nature { "chance" } else { "so many moves:" };
            return Err(format!(
                "{text} has {what} {}, and {chance} in the translation",
                expected[text]
            ));
        }
    }
    Ok(found.into_iter().map(|(text, (_, m))| (text, m)).collect())
}

/// A move in lower case with single spaces.
pub(crate) fn normal(text: &str) -> String {
    super::joined(super::words(text).iter().map(String::as_str))
}
