//! What a learnt evaluation is worth against the truth: positions whose moves have exact values.
//!
//! Positions come from plays that do not depend on what was learnt, so that all models of a game
//! are measured at the same positions. Only positions at which moves differ in value count.

use std::fmt;

use agon_game::{Budget, Rng, Role};
use agon_learn::GameModel;
use agon_search::{Minimax, MinimaxOptions, NoEvaluation, Search as _};
use rand::{RngExt as _, SeedableRng as _};

use super::exact::Exact;
use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::player::SpecError;

/// How positions are chosen and measured.
#[derive(Clone, Debug)]
pub struct TruthOptions {
    /// Number of positions.
    pub n_positions: usize,
    /// Maximum number of nodes to solve all moves of a position.
    pub max_nodes: u64,
    /// The seed of the plays that positions come from.
    pub seed: u64,
}

impl Default for TruthOptions {
    fn default() -> TruthOptions {
        TruthOptions { n_positions: 100, max_nodes: 20_000, seed: 1 }
    }
}

/// A position at which the values of all moves are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The joint moves that lead there.
    pub history: Vec<Vec<String>>,
    /// The player to move.
    pub role: Role,
    /// The moves of that player with their values for it: its payoff minus that of the other.
    pub moves: Vec<(String, f64)>,
}

impl Judged {
    /// Returns the value of the best move.
    pub fn value(&self) -> f64 {
        self.moves.iter().fold(f64::MIN, |best, (_, value)| best.max(*value))
    }

    /// Returns whether a move has the best value.
    pub fn is_best(&self, text: &str) -> bool {
        self.moves.iter().any(|(other, value)| other == text && *value >= self.value())
    }

    /// Returns the part of the moves that have the best value.
    pub fn chance(&self) -> f64 {
        let n_best = self.moves.iter().filter(|(_, value)| *value >= self.value()).count();
        n_best as f64 / self.moves.len().max(1) as f64
    }
}

/// How often something was right.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Number of times it was right.
    pub n_right: u32,
    /// Number of times it was asked.
    pub n: u32,
}

impl Share {
    /// Returns the share, or `None` if nothing was asked.
    pub fn part(self) -> Option<f64> {
        (self.n > 0).then(|| f64::from(self.n_right) / f64::from(self.n))
    }

    /// Returns the 95 % interval of the share (Wilson 1927).
    pub fn interval(self) -> Option<[f64; 2]> {
        const Z: f64 = 1.96;
        let part = self.part()?;
        let n = f64::from(self.n);
        let middle = part + Z * Z / (2.0 * n);
        let half = Z * (part * (1.0 - part) / n + Z * Z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + Z * Z / n;
        Some([(middle - half) / scale, (middle + half) / scale])
    }

    fn count(&mut self, is_right: bool) {
        self.n += 1;
        self.n_right += u32::from(is_right);
    }
}

/// Why positions cannot be judged.
#[derive(Debug)]
#[non_exhaustive]
pub enum CannotJudge {
    /// The game is not one of two players who take turns, or it has no circuit.
    Game,
    /// No position was found that can be solved and at which moves differ.
    NoPositions,
    /// The player cannot be made.
    Player(SpecError),
    /// The player failed before its first move.
    Broken(agon_match::PlayerError),
}

impl fmt::Display for CannotJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotJudge::Game => f.write_str(
                "only games with a circuit, of two players who take turns without chance and \
                 hidden information, can be solved",
            ),
            CannotJudge::NoPositions => {
                f.write_str("no position was found that can be solved and at which moves differ")
            }
            CannotJudge::Player(error) => error.fmt(f),
            CannotJudge::Broken(error) => write!(f, "the player failed: {error}"),
        }
    }
}

impl std::error::Error for CannotJudge {}

/// Number of nodes for a move of the plays that positions come from, and the probability that the
/// move is random instead.
const PLAY: (u64, f64) = (60, 0.5);
/// Maximum number of steps of these plays.
const MAX_STEPS: usize = 400;
/// Maximum number of plays for each wanted position.
const PLAYS_PER_POSITION: usize = 8;
/// Each try to solve a position of a play is this many steps later than the one before.
const STEPS_LATER: usize = 2;

/// Finds positions of a game and solves them: from each play the earliest one of a few that can be
/// solved within the limit.
///
/// # Errors
/// [`CannotJudge`] if the game is not of a kind that can be solved this way.
pub fn judged_positions(game: &Game, options: &TruthOptions) -> Result<Vec<Judged>, CannotJudge> {
    struct Find<'a>(&'a TruthOptions);
    impl GameTask for Find<'_> {
        type Output = Result<Vec<Judged>, CannotJudge>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            find(&start, self.0)
        }
    }
    game.run(Find(options))
}

fn find<P: GamePosition + 'static>(
    start: &P,
    options: &TruthOptions,
) -> Result<Vec<Judged>, CannotJudge> {
    let mut exact = Exact::new(start).ok_or(CannotJudge::Game)?;
    let players: Vec<Role> = start.shape().players().collect();
    let mut found: Vec<Judged> = Vec::new();
    for play in 0..(PLAYS_PER_POSITION * options.n_positions) as u64 {
        if found.len() >= options.n_positions {
            break;
        }
        let seed = options.seed ^ play.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Rng::seed_from_u64(seed);
        let (states, joints) = play_once(start, &mut rng);
        if states.len() < 2 {
            continue;
        }
        // A fixed place in the play would favour the player who moves there.
        let mut at = rng.random_range(states.len() / 4..states.len());
        while at < states.len() {
            if let Ok(children) = exact.children(&states[at], options.max_nodes) {
                let mover = exact.mover(&states[at]);
                let role = players[mover];
                let sign = if mover == 0 { 1.0 } else { -1.0 };
                let moves: Vec<(String, f64)> = children
                    .iter()
                    .map(|(joint, value)| (start.move_text(&joint[role.index()]), sign * value))
                    .collect();
                let history = joints[..at].to_vec();
                let judged = Judged { history, role, moves };
                let is_new = || found.iter().all(|other| other.history != judged.history);
                if judged.chance() < 1.0 && is_new() {
                    found.push(judged);
                    break;
                }
            }
            at += STEPS_LATER;
        }
    }
    if found.is_empty() { Err(CannotJudge::NoPositions) } else { Ok(found) }
}

/// Plays once, half at random and half by a short search that knows nothing. Returns the states
/// before each step, and the steps as text.
fn play_once<P: GamePosition + 'static>(
    start: &P,
    rng: &mut Rng,
) -> (Vec<P::State>, Vec<Vec<String>>) {
    let small = MinimaxOptions { table_entries: 1 << 10, ..MinimaxOptions::default() };
    let mut search = Minimax::new(small, NoEvaluation);
    let mut position = start.clone();
    let (mut states, mut joints, mut joint) = (Vec::new(), Vec::new(), Vec::new());
    while !position.is_terminal() && states.len() < MAX_STEPS {
        states.push(position.state().clone());
        position.draw(rng, &mut joint);
        let chooser = position.choosers().next();
        if let Some(role) = chooser.filter(|_| rng.random::<f64>() >= PLAY.1) {
            let budget = Budget { nodes: Some(PLAY.0), ..Budget::default() };
            joint[role.index()] = search.think(&mut position, role, &budget).best;
        }
        joints.push(joint.iter().map(|m| position.move_text(m)).collect());
        position.advance(&joint);
    }
    (states, joints)
}

/// What a learnt evaluation is worth without search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct EvaluationTruth {
    /// How often the move to the child with the best value was a best one.
    pub best_moves: Share,
    /// How often the value of a position was on the right side. Drawn positions do not count.
    pub signs: Share,
}

/// Measures a learnt evaluation at depth 1.
///
/// # Errors
/// [`CannotJudge::Game`] if the game is not the one of the positions or has no circuit.
pub fn evaluation_truth(
    game: &Game,
    model: &GameModel,
    positions: &[Judged],
) -> Result<EvaluationTruth, CannotJudge> {
    struct Measure<'a>(&'a GameModel, &'a [Judged]);
    impl GameTask for Measure<'_> {
        type Output = Option<EvaluationTruth>;

        fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
            measure(&start, self.0, self.1)
        }
    }
    game.run(Measure(model, positions)).ok_or(CannotJudge::Game)
}

fn measure<P: GamePosition + 'static>(
    start: &P,
    model: &GameModel,
    positions: &[Judged],
) -> Option<EvaluationTruth> {
    let mut evaluator = model.evaluator(start)?;
    let players: Vec<Role> = start.shape().players().collect();
    let [first, second] = players[..] else { return None };
    let range = start.shape().payoffs.end() - start.shape().payoffs.start();
    let mut truth = EvaluationTruth::default();
    for judged in positions {
        let mut position = start.clone();
        for joint in &judged.history {
            step(&mut position, joint)?;
        }
        let is_first = judged.role == first;
        let for_mover = |value: f64| if is_first { value } else { 1.0 - value };
        let here = for_mover(f64::from(evaluator.value(position.state())));
        if judged.value() != 0.0 {
            truth.signs.count((here > 0.5) == (judged.value() > 0.0));
        }
        let mut best: Option<(f64, &str)> = None;
        for (text, _) in &judged.moves {
            let mut child = position.clone();
            let mut joint = Vec::new();
            for role in child.shape().roles() {
                let own = (role == judged.role).then_some(text.as_str());
                let m = match own {
                    Some(text) => child.parse_move(role, text)?,
                    None => child.legal_moves(role).first()?.clone(),
                };
                joint.push(m);
            }
            child.advance(&joint);
            let value = if child.is_terminal() {
                0.5 + (child.payoff(first) - child.payoff(second)) / range / 2.0
            } else {
                f64::from(evaluator.value(child.state()))
            };
            let value = for_mover(value);
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, text));
            }
        }
        truth.best_moves.count(judged.is_best(best?.1));
    }
    Some(truth)
}

/// Makes a joint move that is given as text. Returns `None` if it is not legal.
fn step<P: GamePosition>(position: &mut P, joint: &[String]) -> Option<()> {
    let roles = position.shape().roles();
    let moves: Option<Vec<P::Move>> =
        roles.zip(joint).map(|(role, text)| position.parse_move(role, text)).collect();
    position.advance(&moves?);
    Some(())
}

/// What a player thinks with.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Thinking {
    /// Seconds for each position.
    Seconds(f64),
    /// Iterations for each position.
    Iterations(u64),
}

/// Measures how often a player of a game chooses a best move. It meets each position without
/// knowing the others. It prepares as long as it thinks: where it learns before it plays, in that
/// time.
///
/// # Errors
/// [`CannotJudge`] if the player cannot be made, or a position does not belong to the game.
pub fn player_truth(
    game: &Game,
    player: &str,
    thinking: Thinking,
    positions: &[Judged],
) -> Result<Share, CannotJudge> {
    let mut share = Share::default();
    for (seed, judged) in (1..).zip(positions) {
        let mut player = game.player(player).map_err(CannotJudge::Player)?.with_seed(seed);
        let mut position = game.start();
        for joint in &judged.history {
            let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
            position.play_joint(&joint).map_err(|_| CannotJudge::Game)?;
        }
        let budget = || match thinking {
            Thinking::Seconds(seconds) => Budget::seconds(seconds),
            Thinking::Iterations(n) => Budget::iterations(n),
        };
        // The clock of the move starts when the player is ready. Otherwise a player that learns, or
        // fills a large table with zeros, would have no time left for a short move.
        player.prepare_as(judged.role, &position, &budget()).map_err(CannotJudge::Broken)?;
        let budget = budget();
        let report = player.think_as(judged.role, &position, budget);
        share.count(judged.is_best(&report.best_move));
    }
    Ok(share)
}

#[cfg(test)]
mod tests;
