//! The judge of a translation: both games are played with the same moves, at random, and must agree at every step.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Rng, Role};
use rand::SeedableRng as _;

use super::Translation;

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
    let mut agreement = Agreement::default();
    let mut rng = Rng::seed_from_u64(plan.seed);
    let (toss, gdl) = (toss.start(), gdl.start());
    for play in 1..=plan.plays {
        let (mut here, mut there) = (toss.clone(), gdl.clone());
        let mut step = 0;
        loop {
            let differ = |what: String| Disagreement { play, step, what };
            if let Some(fault) = here.fault() {
                return Err(differ(format!("the game itself cannot be played on: {fault:?}")));
            }
            if let Some(fault) = there.fault() {
                return Err(differ(format!("the translation cannot be played on: {fault:?}")));
            }
            same_payoffs(&here, &there, translation).map_err(differ)?;
            if here.is_terminal() != there.is_terminal() {
                let (ended, other) =
                    if here.is_terminal() { ("game", "translation") } else { ("translation", "game") };
                return Err(differ(format!("the {ended} has ended and the {other} has not")));
            }
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
                answer.push(same_moves(&here, &there, translation, role, &chosen).map_err(differ)?);
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

type Toss = agon_toss::interpreter::Interpreter;
type Gdl = agon_gdl::interpreter::Interpreter;

fn same_payoffs(here: &Toss, there: &Gdl, translation: &Translation) -> Result<(), String> {
    let Ok(payoffs) = here.exact_payoffs() else { return Ok(()) };
    for role in here.shape().roles().filter(|role| Some(*role) != here.shape().nature) {
        let (payoff, goals) = (payoffs[role.index()], there.goal_values(role));
        let expected = translation.payoffs.goal(payoff);
        if goals != [expected] {
            let name = &here.shape().role_names[role.index()];
            return Err(format!(
                "`{name}` gets {payoff}, which is {expected}, and the translation says {goals:?}"
            ));
        }
    }
    Ok(())
}

/// Compares what a role may do; gives the translation's move for the chosen one.
fn same_moves(
    here: &Toss,
    there: &Gdl,
    translation: &Translation,
    role: Role,
    chosen: &str,
) -> Result<agon_gdl::interpreter::Move, String> {
    let mut expected: BTreeMap<String, f64> = BTreeMap::new();
    let is_nature = Some(role) == here.shape().nature;
    for m in here.legal_moves(role) {
        let chance = if is_nature { here.chance(m) } else { 1.0 };
        expected.insert(normal(&here.move_text(m)), chance);
    }
    let mut found: BTreeMap<String, (usize, agon_gdl::interpreter::Move)> = BTreeMap::new();
    for m in there.legal_moves(role) {
        let text = translation.toss_move(&there.move_text(m));
        found.entry(text).or_insert((0, *m)).0 += 1;
    }
    let name = &here.shape().role_names[role.index()];
    if let Some(text) = expected.keys().find(|text| !found.contains_key(*text)) {
        return Err(format!("`{name}` may do {text}, and not in the translation"));
    }
    if let Some(text) = found.keys().find(|text| !expected.contains_key(*text)) {
        return Err(format!("`{name}` may do {text} in the translation alone"));
    }
    if is_nature {
        let n_lots = there.legal_moves(role).len() as f64;
        for (text, (lots, _)) in &found {
            if (expected[text] - *lots as f64 / n_lots).abs() > 1e-9 {
                return Err(format!("{text} has chance {}, and {lots} of {n_lots} lots", expected[text]));
            }
        }
    }
    Ok(found[chosen].1)
}

/// A move in lower case with single spaces.
fn normal(text: &str) -> String {
    super::joined(super::words(text).iter().map(String::as_str))
}
