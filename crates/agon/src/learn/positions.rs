//! Positions of plays with what came of them, for programs that learn elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_game::{Budget, Rng, Role};
use agon_learn::{CannotLearn, OneStep};
use agon_search::{Mcts, MctsOptions, Search as _};
use rand::{RngExt as _, SeedableRng as _};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::models::GameModel;
use crate::player::{Player, SpecError};

/// Which positions are collected.
#[derive(Clone, Debug)]
pub struct PositionOptions {
    /// Number of positions.
    pub n: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The probability of a random step, for plays that are not random as a whole.
    pub exploration: f64,
    /// Maximum number of random steps at the beginning of such a play.
    pub opening: u32,
    /// Maximum number of steps of a play. A play that is longer is left out.
    pub max_steps: usize,
    /// Number of iterations of a tree search that values each position. `None`: no search.
    pub search_iterations: Option<u64>,
    /// Ends the work when it is set.
    pub stop: Arc<AtomicBool>,
}

impl Default for PositionOptions {
    fn default() -> PositionOptions {
        PositionOptions {
            n: 10_000,
            seed: 1,
            exploration: 0.1,
            opening: 4,
            max_steps: 1000,
            search_iterations: None,
            stop: Arc::default(),
        }
    }
}

/// The source of the moves of plays.
#[derive(Copy, Clone, Debug)]
pub enum PlayedBy<'a> {
    /// All moves are random.
    Random,
    /// The best moves by a model, one step ahead.
    Model(&'a GameModel),
    /// A built-in player in every seat.
    Player {
        /// Its specification.
        spec: &'a str,
        /// The budget of a move.
        iterations: u64,
    },
}

/// Positions of plays, in the order in which they were played. Rows of all lists belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayedPositions {
    /// Number of words of a state.
    pub n_words: usize,
    /// Number of players, without nature.
    pub n_players: usize,
    /// The states: a bit for each fact, in rows of `n_words`.
    pub words: Vec<u64>,
    /// The number of the play.
    pub plays: Vec<u32>,
    /// The number of steps before the position.
    pub steps: Vec<u32>,
    /// The player who chooses alone, or -1.
    pub movers: Vec<i32>,
    /// What came of the play: by player, its payoff as a part of the range of payoffs.
    pub outcomes: Vec<f32>,
    /// The values by search, as parts of that range; NaN for players who have no choice, except that
    /// of two players alone in a game of constant sum one gains what the other loses. Empty without
    /// a search.
    pub searched: Vec<f32>,
}

impl PlayedPositions {
    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.plays.len()
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.plays.is_empty()
    }
}

/// Why positions were not collected.
#[derive(Debug)]
#[non_exhaustive]
pub enum PositionsError {
    /// The game, or the model, does not allow it.
    Cannot(CannotLearn),
    /// The specification is not one of a built-in player.
    Player(SpecError),
    /// No play ends within the maximum number of steps.
    NoEnd(usize),
}

impl std::fmt::Display for PositionsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PositionsError::Cannot(why) => write!(f, "there are no positions to collect: {why}"),
            PositionsError::Player(error) => error.fmt(f),
            PositionsError::NoEnd(max) => write!(f, "no play has ended within {max} steps"),
        }
    }
}

impl std::error::Error for PositionsError {}

/// Number of plays without an end after which the work is given up.
const MAX_ENDLESS: usize = 200;
/// Number of nodes of the tree of a search.
const MAX_NODES: usize = 20_000;

/// Plays a game until there are enough positions. The last play is cut off there. Fewer are
/// returned if the work was stopped.
///
/// # Errors
/// [`PositionsError`] if the game has no circuit, the player is unknown, or plays have no end.
pub fn collect_positions(
    game: &Game,
    by: PlayedBy<'_>,
    options: &PositionOptions,
) -> Result<PlayedPositions, PositionsError> {
    game.run(Work { game, by, options })
}

struct Work<'a> {
    game: &'a Game,
    by: PlayedBy<'a>,
    options: &'a PositionOptions,
}

/// The players of a play, ready to choose.
enum Policy<P: GamePosition> {
    Random,
    OneStep(Box<OneStep<P>>),
    /// By role.
    Players(Vec<Player>, u64),
}

impl GameTask for Work<'_> {
    type Output = Result<PlayedPositions, PositionsError>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        let Work { game, by, options } = self;
        let cannot = PositionsError::Cannot;
        if start.is_terminal() {
            return Err(cannot(CannotLearn::Ended));
        }
        let shape = start.shape().clone();
        let n_words = P::state_words(start.state()).map(<[u64]>::len);
        let n_words = n_words.ok_or_else(|| cannot(CannotLearn::NoBits))?;
        let players: Vec<Role> = shape.players().collect();
        let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
        let part = |payoff: f64| {
            ((payoff - least) / (most - least).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0) as f32
        };
        let mut policy = match by {
            PlayedBy::Random => Policy::Random,
            PlayedBy::Model(model) => {
                let evaluator =
                    model.evaluator(&start).ok_or_else(|| cannot(CannotLearn::NoBits))?;
                let policy = OneStep::new(&start, evaluator, options.seed).map_err(cannot)?;
                Policy::OneStep(Box::new(policy))
            }
            PlayedBy::Player { spec, iterations } => {
                let make = |_| game.player(spec).map(|player| player.with_seed(options.seed));
                let made: Result<Vec<Player>, SpecError> = shape.roles().map(make).collect();
                Policy::Players(made.map_err(PositionsError::Player)?, iterations)
            }
        };
        let is_stopped = || options.stop.load(Ordering::Relaxed);
        let mut rng = Rng::seed_from_u64(options.seed);
        let mut all = PlayedPositions { n_words, n_players: players.len(), ..Default::default() };
        let (mut n_plays, mut n_endless) = (0, 0);
        let mut joint = Vec::new();
        while all.len() < options.n && !is_stopped() {
            let mut position = start.clone();
            let mut told = matches!(policy, Policy::Players(..)).then(|| game.start());
            if let Policy::Players(players, _) = &mut policy {
                // Plays of the same players differ only by their seeds.
                let seed = rng.random();
                *players = players.drain(..).map(|player| player.with_seed(seed)).collect();
            }
            let mut n_random = rng.random_range(0..=options.opening);
            let first = all.len();
            while !position.is_terminal() && all.len() - first < options.max_steps {
                if is_stopped() {
                    break;
                }
                let choosers: Vec<Role> = position.choosers().collect();
                let words = P::state_words(position.state());
                all.words.extend_from_slice(words.expect("all states are bits, like the first"));
                all.plays.push(n_plays);
                all.steps.push((all.len() - first - 1) as u32);
                all.movers.push(match choosers[..] {
                    [one] => players.iter().position(|&p| p == one).map_or(-1, |p| p as i32),
                    _ => -1,
                });
                if let Some(iterations) = options.search_iterations {
                    let mut values = vec![f32::NAN; players.len()];
                    for (value, &us) in values.iter_mut().zip(&players) {
                        if choosers.contains(&us) {
                            let search =
                                MctsOptions { max_nodes: MAX_NODES, ..MctsOptions::default() };
                            let mut search = Mcts::new(search, rng.random());
                            let stop = Arc::clone(&options.stop);
                            let budget = Budget { stop, ..Budget::iterations(iterations) };
                            *value = part(search.think(&mut position, us, &budget).value);
                        }
                    }
                    if let ([one, two], Some(sum)) = (&mut values[..], shape.constant_sum)
                        && shape.nature.is_none()
                    {
                        let other =
                            |value: f32| part(sum - (least + f64::from(value) * (most - least)));
                        if one.is_nan() {
                            *one = other(*two);
                        } else if two.is_nan() {
                            *two = other(*one);
                        }
                    }
                    all.searched.extend(values);
                }
                position.draw(&mut rng, &mut joint);
                let explores = n_random > 0 || rng.random::<f64>() < options.exploration;
                n_random = n_random.saturating_sub(1);
                match &mut policy {
                    _ if explores => {}
                    Policy::Random => {}
                    Policy::OneStep(policy) => {
                        joint = policy.joint(position.state(), &mut rng).unwrap_or(joint);
                    }
                    Policy::Players(thinkers, iterations) => {
                        let told = told.as_ref().expect("players are told of the play");
                        for &role in &choosers {
                            let stop = Arc::clone(&options.stop);
                            let budget = Budget { stop, ..Budget::iterations(*iterations) };
                            let report = thinkers[role.index()].think_as(role, told, budget);
                            if let Some(chosen) = position.parse_move(role, &report.best_move) {
                                joint[role.index()] = chosen;
                            }
                        }
                    }
                }
                if let Some(told) = &mut told {
                    let texts: Vec<String> = joint.iter().map(|m| position.move_text(m)).collect();
                    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                    told.play_joint(&texts).expect("these moves are legal here");
                }
                position.advance(&joint);
            }
            let n_new = all.len() - first;
            if !position.is_terminal() || position.fault().is_some() {
                // What came of the play is unknown.
                all.cut(first);
                n_endless += 1;
                if n_endless >= MAX_ENDLESS && all.is_empty() {
                    return Err(PositionsError::NoEnd(options.max_steps));
                }
                continue;
            }
            let outcome: Vec<f32> =
                players.iter().map(|&role| part(position.payoff(role))).collect();
            (0..n_new).for_each(|_| all.outcomes.extend_from_slice(&outcome));
            n_plays += 1;
        }
        all.cut(options.n);
        Ok(all)
    }
}

impl PlayedPositions {
    /// Keeps the first positions.
    fn cut(&mut self, n: usize) {
        let n_players = self.n_players;
        self.words.truncate(n * self.n_words);
        self.plays.truncate(n);
        self.steps.truncate(n);
        self.movers.truncate(n);
        self.outcomes.truncate(n * n_players);
        self.searched.truncate(n * n_players);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions are those of plays: they begin at the start, and belong to their outcomes.
    #[test]
    fn positions_belong_to_plays() {
        let game = Game::open("connect-three").expect("it ships");
        let options = PositionOptions { n: 500, ..PositionOptions::default() };
        let random =
            collect_positions(&game, PlayedBy::Random, &options).expect("it has a circuit");
        assert_eq!((random.len(), random.n_players), (500, 2));
        assert_eq!(random.outcomes.len(), 1000);
        assert_eq!(random.words.len(), 500 * random.n_words);
        assert!(random.searched.is_empty());
        for at in 0..random.len() {
            let is_first = at == 0 || random.plays[at] != random.plays[at - 1];
            assert_eq!(random.steps[at] == 0, is_first);
            assert_eq!(random.movers[at], (random.steps[at] % 2) as i32, "players take turns");
            assert_eq!(random.outcomes[2 * at] + random.outcomes[2 * at + 1], 1.0);
        }
        assert_eq!(
            random,
            collect_positions(&game, PlayedBy::Random, &options).expect("it has a circuit"),
            "the seed decides"
        );
        let other = PositionOptions { seed: 2, ..options.clone() };
        assert_ne!(random, collect_positions(&game, PlayedBy::Random, &other).expect("again"));
        let by = PlayedBy::Player { spec: "mcts", iterations: 20 };
        let searched = PositionOptions { n: 40, search_iterations: Some(30), ..options };
        let played = collect_positions(&game, by, &searched).expect("a built-in player");
        assert_eq!((played.len(), played.searched.len()), (40, 80));
        for pair in played.searched.chunks(2) {
            assert!((pair[0] + pair[1] - 1.0).abs() < 1e-5, "{pair:?}");
        }
        let unknown = PlayedBy::Player { spec: "mtcs", iterations: 20 };
        let refused = collect_positions(&game, unknown, &searched);
        assert!(matches!(refused, Err(PositionsError::Player(_))), "{refused:?}");
        let short = PositionOptions { max_steps: 2, ..searched };
        let refused = collect_positions(&game, PlayedBy::Random, &short);
        assert!(matches!(refused, Err(PositionsError::NoEnd(2))), "{refused:?}");
    }

    /// A stopped collection returns what it has, without a play whose end is unknown.
    #[test]
    fn collecting_can_be_stopped() {
        let game = Game::open("connect-three").expect("it ships");
        let options =
            PositionOptions { stop: Arc::new(AtomicBool::new(true)), ..Default::default() };
        let found = collect_positions(&game, PlayedBy::Random, &options).expect("it has a circuit");
        assert!(found.is_empty());
    }
}
