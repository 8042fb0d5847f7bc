//! Temporal difference learning by self-play.
//!
//! Many games are played side by side. At each step the children of all current states are made in
//! one pass and evaluated; the mover takes the best one, and now and then a random one. Two players
//! who choose at the same time follow an equilibrium of the values of the children. More players,
//! and players beside chance, choose the move that is best on average over the moves of the others.
//! When a game ends, the values of its states are moved towards the λ-return (Sutton 1988). Each
//! weight has a step size of its own, which shrinks where updates disagree in sign (temporal
//! coherence: Beal & Smith 1999).

use std::sync::atomic::Ordering;
use std::time::Instant;

use agon_game::{Batch, Budget, Children, Position, Rng, Shape};
use agon_search::solve::matrix_game;
use rand::RngExt as _;

use crate::form::{Form, FormScratch, ModelKind};
use crate::search_targets::Targets;
use crate::weights::Learning;

/// The options of learning.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainOptions {
    /// The form of the evaluation. A learner that goes on from a model has that of the model.
    pub kind: ModelKind,
    /// Maximum number of cells of a pattern. Larger patterns know more and take longer to learn.
    pub max_cells: usize,
    /// What values are moved towards.
    pub targets: Targets,
    /// Whether the players know the state although the game has percepts: it has chance, and all
    /// that happens is seen. Games with percepts are refused otherwise.
    pub is_open: bool,
    /// The weight of later values in a target, from 0 to 1.
    pub lambda: f32,
    /// The probability of a random move.
    pub exploration: f64,
    /// The size of a step: how far the sum of weights moves for an error of 1.
    pub rate: f32,
    /// The size of a step of a network: how far a weight moves for an error of 1, times its
    /// derivative.
    pub network_rate: f32,
    /// Number of games that are played side by side.
    pub n_games: usize,
    /// Maximum number of random moves at the beginning of a game.
    pub max_opening: u32,
    /// Maximum number of steps of a game. Longer games count as they stand.
    pub max_steps: usize,
    /// The seed of random moves.
    pub seed: u64,
    /// Number of threads. Results can be repeated only with one.
    pub threads: usize,
}

impl Default for TrainOptions {
    fn default() -> TrainOptions {
        TrainOptions {
            kind: ModelKind::Tables,
            max_cells: 6,
            targets: Targets::Differences,
            is_open: false,
            lambda: 0.7,
            exploration: 0.1,
            rate: 10.0,
            network_rate: 0.02,
            n_games: 64,
            max_opening: 4,
            max_steps: 400,
            seed: 1,
            threads: 1,
        }
    }
}

/// Whose values are learnt, and how results are valued.
#[derive(Clone, Debug)]
pub(crate) struct Players {
    /// By player: its role.
    roles: Vec<usize>,
    /// The role of nature.
    nature: Option<usize>,
    least: f64,
    range: f64,
}

impl Players {
    pub(crate) fn new(shape: &Shape) -> Players {
        let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
        Players {
            roles: shape.players().map(agon_game::Role::index).collect(),
            nature: shape.nature.map(agon_game::Role::index),
            least,
            range: (most - least).max(f64::MIN_POSITIVE),
        }
    }

    /// Returns the two players of a game in which only they choose. One value is enough for both:
    /// what one gains, the other loses.
    pub(crate) fn opponents(&self) -> Option<[usize; 2]> {
        match (&self.roles[..], self.nature) {
            (&[first, second], None) => Some([first, second]),
            _ => None,
        }
    }

    /// Returns the number of values that are learnt for a state.
    pub(crate) fn n_heads(&self) -> usize {
        if self.opponents().is_some() { 1 } else { self.roles.len() }
    }

    /// Returns a payoff as a part of the range of payoffs.
    pub(crate) fn part(&self, payoff: f64) -> f32 {
        ((payoff - self.least) / self.range).clamp(0.0, 1.0) as f32
    }

    /// Returns the value of an ended game, by head.
    pub(crate) fn result(&self, payoffs: &[f64], head: usize) -> f32 {
        let result = match self.opponents() {
            Some([first, second]) => 0.5 + (payoffs[first] - payoffs[second]) / self.range / 2.0,
            None => (payoffs[self.roles[head]] - self.least) / self.range,
        };
        result as f32
    }
}

/// A game that is being played.
struct Play<S> {
    state: S,
    /// The states that were reached by moves.
    steps: Vec<Step<S>>,
    /// Number of random moves left of the opening.
    n_random: u32,
}

/// A state of a game.
struct Step<S> {
    state: S,
    /// Where the next move was a random one: the values of the best move in its place, by head.
    instead: Option<Vec<f32>>,
}

/// What the players choose at a state, by the values of its children for the first player.
pub(crate) struct Turn {
    /// The chosen child.
    pub(crate) chosen: usize,
    /// The value of the state for the first player.
    pub(crate) value: f32,
    /// Whether the choice ends play with a win for certain.
    wins: bool,
}

impl Turn {
    /// Chooses the best child for the player whose moves differ. If both players choose, they follow
    /// an equilibrium of the values.
    pub(crate) fn of<'c, M: PartialEq + 'c>(
        values: &[f32],
        ended: &[bool],
        [first, second]: [usize; 2],
        joint: impl Fn(usize) -> &'c [M],
        rng: &mut Rng,
    ) -> Turn {
        let slow = first.min(second);
        let n_columns = (1..values.len())
            .find(|&child| joint(child)[slow] != joint(0)[slow])
            .unwrap_or(values.len());
        if n_columns > 1 && n_columns < values.len() {
            let payoffs: Vec<f64> = values
                .iter()
                .map(|&value| f64::from(if slow == first { value } else { 1.0 - value }))
                .collect();
            let solution = matrix_game(&payoffs, n_columns);
            let row = draw(&solution.rows, rng);
            let column = draw(&solution.columns, rng);
            let value = solution.value as f32;
            let value = if slow == first { value } else { 1.0 - value };
            return Turn { chosen: row * n_columns + column, value, wins: false };
        }
        let is_second = joint(0)[second] != joint(values.len() - 1)[second];
        let own = |child: usize| if is_second { 1.0 - values[child] } else { values[child] };
        let best = (0..values.len()).fold(
            0,
            |best, child| {
                if own(child) > own(best) { child } else { best }
            },
        );
        let value = if is_second { 1.0 - own(best) } else { own(best) };
        Turn { chosen: best, value, wins: own(best) >= 1.0 && ended[best] }
    }
}

/// Draws an index by its probability.
fn draw(probabilities: &[f64], rng: &mut Rng) -> usize {
    let mut mark = rng.random::<f64>();
    let place = probabilities.iter().position(|probability| {
        mark -= probability;
        mark < 0.0
    });
    place.unwrap_or(0)
}

/// Chooses a child in a game that is not one of two players alone. `values` are those of all
/// children for the first player, then for the second, and so on. Players choose the move that is
/// best on average over the moves of the others. Returns the child, and whether it wins for
/// certain.
pub(crate) fn choose_among_many<'c, M: PartialEq + 'c>(
    values: &[f32],
    ended: &[bool],
    players: &Players,
    joint: impl Fn(usize) -> &'c [M],
    rng: &mut Rng,
) -> (usize, bool) {
    let n_children = ended.len();
    let has_choice =
        |role: usize| (1..n_children).any(|child| joint(child)[role] != joint(0)[role]);
    // A child that was drawn gives the move of nature, and those of players without a choice.
    let mut chosen = rng.random_range(0..n_children);
    let mut n_choosers = usize::from(players.nature.is_some_and(has_choice));
    let mut wins = false;
    for (player, &role) in players.roles.iter().enumerate() {
        if !has_choice(role) {
            continue;
        }
        n_choosers += 1;
        let own = &values[player * n_children..(player + 1) * n_children];
        // By move: a child of it, the sum of the values of its children, and their number.
        let mut moves: Vec<(usize, f32, f32)> = Vec::new();
        for (child, value) in own.iter().enumerate() {
            let known = moves.iter_mut().find(|known| joint(known.0)[role] == joint(child)[role]);
            match known {
                Some(known) => *known = (known.0, known.1 + value, known.2 + 1.0),
                None => moves.push((child, *value, 1.0)),
            }
        }
        let mean = |known: &(usize, f32, f32)| known.1 / known.2;
        let best = moves
            .iter()
            .skip(1)
            .fold(&moves[0], |best, other| if mean(other) > mean(best) { other } else { best });
        wins = mean(best) >= 1.0 && ended[best.0];
        let is_wanted = |child: usize| {
            let same = |other: usize| joint(child)[other] == joint(chosen)[other];
            joint(child)[role] == joint(best.0)[role]
                && (0..joint(child).len()).all(|other| other == role || same(other))
        };
        chosen = (0..n_children).find(|&child| is_wanted(child)).unwrap_or(chosen);
    }
    (chosen, wins && n_choosers == 1)
}

/// What is played and learnt, for all threads.
pub(crate) struct SelfPlay<'a, S> {
    pub(crate) start: &'a S,
    pub(crate) shape: &'a Shape,
    pub(crate) players: &'a Players,
    pub(crate) form: &'a Form,
    pub(crate) learning: &'a Learning,
    pub(crate) options: &'a TrainOptions,
    pub(crate) budget: &'a Budget,
    /// Number of games learnt before.
    pub(crate) n_before: u64,
}

impl<S: Clone> SelfPlay<'_, S> {
    pub(crate) fn is_over(&self) -> bool {
        let n_games = || self.learning.n_games() - self.n_before;
        self.budget.iterations.is_some_and(|n| n_games() >= n)
            || self.budget.deadline.is_some_and(|end| Instant::now() >= end)
            || self.budget.is_cancelled()
    }

    fn new_play(&self, rng: &mut Rng) -> Play<S> {
        Play {
            state: self.start.clone(),
            steps: Vec::new(),
            n_random: rng.random_range(0..=self.options.max_opening),
        }
    }

    /// Plays and learns until the budget is used up. An iteration is a game.
    pub(crate) fn run<P: Position<State = S>>(
        &self,
        batch: &mut dyn Batch<State = S, Move = P::Move>,
        rng: &mut Rng,
    ) {
        let n_heads = self.players.n_heads();
        let mut children = Children::new(self.shape.role_names.len());
        let mut scratches = vec![FormScratch::default(); n_heads];
        let mut values = Vec::new();
        let mut plays: Vec<Play<S>> =
            (0..self.options.n_games).map(|_| self.new_play(rng)).collect();
        while !self.is_over() {
            let states: Vec<S> = plays.iter().map(|play| play.state.clone()).collect();
            let states: Vec<&S> = states.iter().collect();
            batch.expand(&states, &mut children);
            for (number, play) in plays.iter_mut().enumerate() {
                let range = children.children_of(number);
                if range.is_empty() {
                    *play = self.new_play(rng);
                    continue;
                }
                self.learning.n_steps.fetch_add(1, Ordering::Relaxed);
                values.clear();
                for (head, scratch) in scratches.iter_mut().enumerate() {
                    let weights = self.learning.head(head);
                    scratch.set_parent(self.form, words_of::<P>(&play.state));
                    values.extend(range.clone().map(|child| {
                        if children.ended[child] {
                            self.players.result(children.payoffs(child), head)
                        } else {
                            let words = words_of::<P>(&children.states[child]);
                            scratch.value(self.form, &weights, words)
                        }
                    }));
                }
                let ended = &children.ended[range.clone()];
                let joint = |child: usize| children.joint(range.start + child);
                let turn = match self.players.opponents() {
                    Some(players) => Turn::of(&values, ended, players, joint, rng),
                    None => {
                        let (chosen, wins) =
                            choose_among_many(&values, ended, self.players, joint, rng);
                        Turn { chosen, value: values[chosen], wins }
                    }
                };
                let explores = !turn.wins
                    && range.len() > 1
                    && (play.n_random > 0 || rng.random::<f64>() < self.options.exploration);
                play.n_random = play.n_random.saturating_sub(1);
                let chosen = if explores {
                    rng.random_range(range.clone())
                } else {
                    range.start + turn.chosen
                };
                if explores && let Some(last) = play.steps.last_mut() {
                    let mut instead: Vec<f32> =
                        values.iter().skip(turn.chosen).step_by(range.len()).copied().collect();
                    instead[0] = turn.value;
                    last.instead = Some(instead);
                }
                let ended = children.ended[chosen];
                if ended || play.steps.len() + 1 >= self.options.max_steps {
                    for (head, scratch) in scratches.iter_mut().enumerate().take(n_heads) {
                        let end = match ended {
                            true => self.players.result(children.payoffs(chosen), head),
                            false => 0.5,
                        };
                        self.learn::<P>(&play.steps, head, end, scratch, rng);
                    }
                    self.learning.n_games.fetch_add(1, Ordering::Relaxed);
                    *play = self.new_play(rng);
                } else {
                    play.state = children.states[chosen].clone();
                    play.steps.push(Step { state: play.state.clone(), instead: None });
                }
            }
        }
    }

    /// Moves the values of the states of a game towards their targets, the last one first.
    fn learn<P: Position<State = S>>(
        &self,
        steps: &[Step<S>],
        head: usize,
        end: f32,
        scratch: &mut FormScratch,
        rng: &mut Rng,
    ) {
        let weights = self.learning.head(head);
        let mut target = end;
        for step in steps.iter().rev() {
            if let Some(instead) = &step.instead {
                target = instead[head];
            }
            let words = words_of::<P>(&step.state);
            let value = scratch.learn(self.form, weights, words, target, self.options, rng);
            target = self.options.lambda * target + (1.0 - self.options.lambda) * value;
        }
    }
}

/// Returns the bits of a state.
fn words_of<P: Position>(state: &P::State) -> &[u64] {
    P::state_words(state).unwrap_or(&[])
}

/// Returns the logistic function.
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}
