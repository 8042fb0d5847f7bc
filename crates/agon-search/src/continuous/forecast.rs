//! Payoffs that are predicted from the margins of a position.
//!
//! Where plays hardly ever reach what the rules ask for, as a pursuer that moves at random hardly
//! ever catches, their payoffs say little about a move. The margins of a position
//! ([`Continuous::margins`]) say how far it is from each condition of the rules. Which of them
//! matter to whom, and how much, is learnt from plays by linear regression.

use agon_game::{Continuous, Rng, Role};

use super::actions::{Actions, draw_joint};
use super::evaluation::{MoveEvaluator, payoffs};
use super::play::Play;
use super::surface::solve;
use rand::RngExt as _;

/// A linear function of the terms of a position.
type Weights = Vec<f64>;

/// What was learnt from plays. It is kept from move to move.
#[derive(Clone, Debug, Default)]
pub(super) struct Forecaster {
    samples: Vec<Sample>,
    /// By role: the predicted payoff.
    weights: Option<Vec<Weights>>,
    n_explored: usize,
    n_plays: usize,
    /// What predictions gained over uniform choices in simulated plays, by play.
    gains: Vec<f64>,
}

/// A position of a play, with the payoffs at the end of the play.
#[derive(Clone, Debug)]
struct Sample {
    terms: Vec<f64>,
    payoffs: Vec<f64>,
    explores: bool,
}

/// Number of plays that explore before predictions are used.
const N_EXPLORING: usize = 48;
/// Number of plays after which predictions are fitted again.
const PLAYS_PER_FIT: usize = 8;
/// Maximum number of samples. Older ones are forgotten.
const MAX_SAMPLES: usize = 6000;
/// Number of moves that a player of a learning play compares in each step.
const N_COMPARED: usize = 6;
/// Probability of a move that is drawn in a learning play.
const EXPLORATION: f64 = 0.15;
/// Share of plays that explore after the first ones.
const EXPLORING_SHARE: f64 = 0.2;
/// Weight of a sample of a play that explored, if predictions have been used in enough plays.
const EXPLORING_WEIGHT: f64 = 0.2;
/// Number of pairs of plays of the first trial of predictions, and of each later one.
const FIRST_TRIALS: usize = 6;
const LATER_TRIALS: usize = 2;
/// Number of the last pairs of plays that count.
const MEMORY: usize = 12;
/// Least mean gain of predictions that counts as help, as a share of the range of payoffs.
const LEAST_GAIN: f64 = 0.01;
/// Number of trials after which predictions that do not help are given up.
const LAST_TRIAL: usize = 24;
/// Ridge of the regression, relative to the number of samples.
const RIDGE: f64 = 1e-4;

impl Forecaster {
    /// Returns whether the positions of a game have margins.
    pub(super) fn applies<P: Continuous>(position: &P) -> bool {
        !position.margins().is_empty()
    }

    /// Learns from plays that start where `before` stands, until a share of the budget is used.
    /// Returns `None` if the budget ends first.
    pub(super) fn learn<P: Continuous>(
        &mut self,
        play: &mut Play<'_, '_, P>,
        share: f64,
    ) -> Option<()> {
        let home = play.before.state().clone();
        while play.meter.share_used() < share {
            let learnt = self.learn_play(play, &home);
            play.before.go_to(&home);
            learnt?;
        }
        self.fit();
        Some(())
    }

    fn learn_play<P: Continuous>(
        &mut self,
        play: &mut Play<'_, '_, P>,
        home: &P::State,
    ) -> Option<()> {
        play.before.go_to(home);
        let n_roles = play.before.shape().role_names.len();
        let n_terms = terms(&*play.before).len();
        let explores = self.weights.is_none()
            || self.n_explored < N_EXPLORING
            || play.rng.random::<f64>() < EXPLORING_SHARE;
        let policies: Vec<Policy> = (0..n_roles)
            .map(|role| match &self.weights {
                Some(weights) if !explores => Policy::Predict(weights[role].clone()),
                _ => Policy::draw(n_terms, play.rng),
            })
            .collect();
        let (seen, payoffs) = follow(play, &policies, EXPLORATION)?;
        self.record(seen, payoffs, explores);
        Some(())
    }

    /// Returns whether predictions help a role. Plays in which it chooses by predictions are
    /// compared with plays in which it chooses uniformly, against the same opponents, which choose
    /// by predictions. They end when a share of the budget is used. Predictions help unless plays
    /// show the contrary. Returns `None` if the budget ends.
    pub(super) fn helps<P: Continuous>(
        &mut self,
        play: &mut Play<'_, '_, P>,
        us: Role,
        share: f64,
    ) -> Option<bool> {
        let Some(weights) = self.weights.clone() else { return Some(false) };
        let home = play.before.state().clone();
        let n_trials = if self.gains.is_empty() { FIRST_TRIALS } else { LATER_TRIALS };
        let range = play.before.shape().payoffs.clone();
        for _ in 0..n_trials {
            if play.meter.share_used() >= share {
                break;
            }
            let policies = |own: Option<&Policy>| -> Vec<Policy> {
                let of = |(role, weights): (usize, &Weights)| match own {
                    Some(own) if role == us.index() => own.clone(),
                    _ => Policy::Predict(weights.clone()),
                };
                weights.iter().enumerate().map(of).collect()
            };
            let mut results = [0.0; 2];
            for (result, own) in results.iter_mut().zip([None, Some(&Policy::Uniform)]) {
                play.before.go_to(&home);
                let played = follow(play, &policies(own), 0.0);
                play.before.go_to(&home);
                let (seen, payoffs) = played?;
                *result = payoffs[us.index()];
                self.record(seen, payoffs, own.is_some());
            }
            self.gains.push((results[0] - results[1]) / (range.end() - range.start()).max(1e-9));
        }
        Some(self.gains.is_empty() || self.mean_gain() > LEAST_GAIN)
    }

    /// Returns whether many trials have shown that predictions do not help.
    pub(super) fn is_given_up(&self) -> bool {
        self.gains.len() >= LAST_TRIAL && self.mean_gain() <= LEAST_GAIN
    }

    fn mean_gain(&self) -> f64 {
        let last = &self.gains[self.gains.len().saturating_sub(MEMORY)..];
        last.iter().sum::<f64>() / last.len().max(1) as f64
    }

    fn record(&mut self, seen: Vec<Vec<f64>>, payoffs: Vec<f64>, explores: bool) {
        self.n_plays += 1;
        self.n_explored += usize::from(explores);
        let sample = |terms| Sample { terms, payoffs: payoffs.clone(), explores };
        self.samples.extend(seen.into_iter().map(sample));
        if self.samples.len() > MAX_SAMPLES {
            self.samples.drain(..self.samples.len() - MAX_SAMPLES);
        }
        if self.n_plays.is_multiple_of(PLAYS_PER_FIT) && self.n_explored >= N_EXPLORING / 2 {
            self.fit();
        }
    }

    /// Fits the predictions to the samples by ridge regression.
    fn fit(&mut self) {
        let Some(first) = self.samples.first() else { return };
        let (n_terms, n_roles) = (first.terms.len(), first.payoffs.len());
        let is_known = self.n_plays - self.n_explored >= N_EXPLORING;
        let weight = |sample: &Sample| match sample.explores && is_known {
            true => EXPLORING_WEIGHT,
            false => 1.0,
        };
        let n: f64 = self.samples.iter().map(weight).sum();
        let mut means = vec![0.0; n_terms];
        let mut scales = vec![0.0; n_terms];
        for sample in &self.samples {
            let share = weight(sample) / n;
            means.iter_mut().zip(&sample.terms).for_each(|(mean, x)| *mean += share * x);
        }
        for sample in &self.samples {
            let share = weight(sample) / n;
            for ((scale, mean), x) in scales.iter_mut().zip(&means).zip(&sample.terms) {
                *scale += share * (x - mean) * (x - mean);
            }
        }
        scales.iter_mut().for_each(|scale| *scale = scale.sqrt());
        // A term that does not vary explains nothing. The constant term stands for the bias.
        let varies = |scale: f64| scale > 1e-12;
        let standard = |terms: &[f64]| -> Vec<f64> {
            let mut all = vec![1.0];
            all.extend((0..n_terms).map(|i| match varies(scales[i]) {
                true => (terms[i] - means[i]) / scales[i],
                false => 0.0,
            }));
            all
        };
        let size = n_terms + 1;
        let mut gram = vec![vec![0.0; size]; size];
        let mut right = vec![vec![0.0; size]; n_roles];
        for sample in &self.samples {
            let (x, weight) = (standard(&sample.terms), weight(sample));
            for (row, a) in gram.iter_mut().zip(&x) {
                row.iter_mut().zip(&x).for_each(|(cell, b)| *cell += weight * a * b);
            }
            for (right, payoff) in right.iter_mut().zip(&sample.payoffs) {
                right.iter_mut().zip(&x).for_each(|(cell, a)| *cell += weight * a * payoff);
            }
        }
        for (index, row) in gram.iter_mut().enumerate() {
            row[index] += RIDGE * n;
        }
        let mut all = Vec::new();
        for right in right {
            let rows = gram.iter().zip(right).map(|(row, cell)| {
                let mut row = row.clone();
                row.push(cell);
                row
            });
            let Some(solved) = solve(rows.collect()) else { return };
            let mut weights = vec![0.0; size];
            weights[0] = solved[0];
            for i in (0..n_terms).filter(|&i| varies(scales[i])) {
                weights[i + 1] = solved[i + 1] / scales[i];
                weights[0] -= weights[i + 1] * means[i];
            }
            all.push(weights);
        }
        self.weights = Some(all);
    }

    /// Returns an evaluator of moves by the predictions.
    pub(super) fn evaluator(&self) -> Option<PredictedPayoffs> {
        self.weights.clone().map(|weights| PredictedPayoffs { weights })
    }
}

/// How a role chooses its moves in a learning play.
#[derive(Clone)]
enum Policy {
    /// Uniformly.
    Uniform,
    /// The largest linear function of the terms after the step.
    Direction(Weights),
    /// The largest predicted payoff, or the payoff if play ends.
    Predict(Weights),
}

impl Policy {
    /// Draws a policy that makes one of the terms as large or as small as possible.
    fn draw(n_terms: usize, rng: &mut Rng) -> Policy {
        let place = rng.random_range(0..=n_terms);
        if place == 0 {
            return Policy::Uniform;
        }
        let mut weights = vec![0.0; n_terms + 1];
        weights[place] = if rng.random() { 1.0 } else { -1.0 };
        Policy::Direction(weights)
    }

    fn score<P: Continuous>(&self, position: &P, role: Role) -> f64 {
        match self {
            Policy::Uniform => 0.0,
            Policy::Predict(_) if position.is_terminal() => position.payoff(role),
            Policy::Direction(weights) | Policy::Predict(weights) => {
                value(weights, &terms(position))
            }
        }
    }
}

/// Plays from where `before` stands to the end. Returns the terms of the positions on the way and
/// the payoffs, or `None` if the budget ends first.
fn follow<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    policies: &[Policy],
    exploration: f64,
) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
    let mut seen: Vec<Vec<f64>> = Vec::new();
    for _ in 0..play.options.max_steps {
        if play.before.is_terminal() {
            break;
        }
        seen.push(terms(&*play.before));
        let joint = step(play, policies, exploration)?;
        play.before.advance(&joint);
        play.meter.n_nodes += 1;
    }
    play.n_playouts += 1;
    play.meter.n_iterations += 1;
    Some((seen, payoffs(&*play.before)))
}

/// Chooses a joint move at the position `before`. Each player compares a few of its moves against
/// drawn moves of the others. Returns `None` if the budget ends first.
fn step<P: Continuous>(
    play: &mut Play<'_, '_, P>,
    policies: &[Policy],
    exploration: f64,
) -> Option<Vec<P::Move>> {
    let drawn = draw_joint(&*play.before, play.rng);
    let mut joint = drawn.clone();
    let players: Vec<Role> = play.before.shape().players().collect();
    for role in players {
        let policy = &policies[role.index()];
        let actions = Actions::at(&*play.before, role);
        let is_drawn = !actions.has_choice()
            || matches!(policy, Policy::Uniform)
            || play.rng.random::<f64>() < exploration;
        if is_drawn {
            continue;
        }
        if play.meter.is_over(1) {
            return None;
        }
        let mut tried = Vec::with_capacity(N_COMPARED);
        for _ in 0..N_COMPARED {
            let mut joint = drawn.clone();
            joint[role.index()] = actions.draw(&*play.before, role, play.rng).m;
            tried.push(joint);
        }
        let mut best: Option<(f64, usize)> = None;
        for (index, state) in play.before.successors(&tried).iter().enumerate() {
            play.after.go_to(state);
            play.meter.n_nodes += 1;
            let score = policy.score(&play.after, role);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, index));
            }
        }
        let (_, index) = best.expect("some moves were compared");
        joint[role.index()] = tried[index][role.index()].clone();
    }
    Some(joint)
}

/// The evaluation game whose outcome is the predicted payoff after a move.
pub(super) struct PredictedPayoffs {
    weights: Vec<Weights>,
}

impl<P: Continuous> MoveEvaluator<P> for PredictedPayoffs {
    fn assess(&mut self, _: &P, _: &[P::Move], after: &P, _: &mut Rng) -> Option<Vec<f64>> {
        let terms = terms(after);
        Some(self.weights.iter().map(|weights| value(weights, &terms)).collect())
    }
}

/// Returns the terms of a position: its margins and their square roots. Many margins are
/// differences of squares, such as those of distances.
fn terms<P: Continuous>(position: &P) -> Vec<f64> {
    let mut terms = position.margins();
    let roots: Vec<f64> =
        terms.iter().map(|margin| libm::copysign(margin.abs().sqrt(), *margin)).collect();
    terms.extend(roots);
    terms
}

fn value(weights: &[f64], terms: &[f64]) -> f64 {
    let Some((bias, rest)) = weights.split_first() else { return 0.0 };
    bias + rest.iter().zip(terms).map(|(weight, term)| weight * term).sum::<f64>()
}
