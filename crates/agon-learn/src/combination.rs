//! A weighted combination of heuristics (Kaiser & Stafiniak 2011, "Perspectives").
//!
//! Many heuristics can be derived from the rules of a game, and none is good for all games. Here
//! each is an [`Expert`] that gives numbers for a position, and one model says from all of them who
//! will win. Its weights are learnt from the results of self-play, by logistic regression or by
//! boosting (Freund & Schapire 1995).
//!
//! 1. Plays: the first half by short tree searches with many random moves, the rest by what was
//!    learnt from the plays before (`self_play`). Engines without batches are too slow for
//!    searches; there the first half is random.
//! 2. What each expert says at positions of these plays, and what came of them, are the examples.
//!    Where the position was searched, the mean of the result and of the value of the search
//!    counts. One play of five is kept for the test.
//! 3. `logistic` or `boosting` fits the model. Each expert alone is fitted in the same way, so that
//!    the test says what the combination is worth beside each of them.
//!
//! A value of an expert belongs to one player, or to the position as a whole. The model sees what
//! an expert says about the player, less the mean of what it says about the other players. Two
//! players have one model, because what one gains, the other loses.

mod boosting;
mod logistic;
pub mod material;
mod self_play;
#[cfg(test)]
mod tests;

use std::time::Instant;

use agon_game::{Position, Role};

use crate::train::Players;
use boosting::Boosted;
use logistic::Logistic;
pub(crate) use logistic::solved;

/// A heuristic that can be combined with others.
pub trait Expert<P>: Send {
    /// Returns its name. Experts of a game have different names.
    fn name(&self) -> String;

    /// Returns whether its values are about the position as a whole, such as a count, rather than
    /// about one player.
    fn is_common(&self) -> bool;

    /// Writes what it says about a position: one value for each player, or a single one if it is
    /// common. Any finite numbers will do.
    fn values(&mut self, position: &P, values: &mut [f64]);

    /// Returns an independent expert with the same values, for another thread.
    fn fork(&self) -> Box<dyn Expert<P>>;
}

/// How weights are learnt.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeightMethod {
    /// Logistic regression on the values of the experts.
    #[default]
    Logistic,
    /// Boosting of thresholds on the values of the experts.
    Boosting,
}

/// How a combination is learnt.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CombineOptions {
    /// How weights are learnt.
    pub method: WeightMethod,
    /// Number of plays.
    pub n_plays: usize,
    /// The seed of the plays.
    pub seed: u64,
}

impl Default for CombineOptions {
    fn default() -> CombineOptions {
        CombineOptions { method: WeightMethod::Logistic, n_plays: 200, seed: 1 }
    }
}

/// The experts of a game, asked together.
pub struct Experts<P> {
    list: Vec<Box<dyn Expert<P>>>,
    players: Vec<Role>,
    values: Vec<f64>,
}

/// The name of the expert that every combination has: the player who moves alone.
const TURN: &str = "turn";

impl<P: Position> Experts<P> {
    /// Puts experts together for games with the roles of a position.
    pub fn new(position: &P, list: Vec<Box<dyn Expert<P>>>) -> Experts<P> {
        let players: Vec<Role> = position.shape().players().collect();
        Experts { list, values: vec![0.0; players.len()], players }
    }

    /// Returns the names of the experts. The last one is `turn`: who moves alone.
    pub fn names(&self) -> Vec<String> {
        let names = self.list.iter().map(|expert| expert.name());
        names.chain([TURN.to_owned()]).collect()
    }

    /// Returns independent experts with the same values, for another thread.
    #[must_use]
    pub fn fork(&self) -> Experts<P> {
        Experts {
            list: self.list.iter().map(|expert| expert.fork()).collect(),
            players: self.players.clone(),
            values: self.values.clone(),
        }
    }

    /// Replaces `features` by what the experts say: for each head in turn, one number for each
    /// expert.
    fn read(&mut self, position: &P, n_heads: usize, features: &mut Vec<f64>) {
        let Experts { list, players, values } = self;
        let n = list.len() + 1;
        features.clear();
        features.resize(n_heads * n, 0.0);
        let mut put = |at: usize, values: &[f64], is_common: bool| {
            let sum: f64 = values.iter().sum();
            for head in 0..n_heads {
                let own = values[if is_common { 0 } else { head }];
                let others = (sum - own) / (values.len() - 1).max(1) as f64;
                let value = if is_common { own } else { own - others };
                features[head * n + at] = if value.is_finite() { value } else { 0.0 };
            }
        };
        for (at, expert) in list.iter_mut().enumerate() {
            values.fill(0.0);
            expert.values(position, values);
            put(at, values, expert.is_common());
        }
        let mut choosers = position.choosers();
        let mover = choosers.next().filter(|_| choosers.next().is_none());
        for (value, player) in values.iter_mut().zip(players) {
            *value = if mover == Some(*player) { 1.0 } else { 0.0 };
        }
        put(n - 1, values, false);
    }
}

/// A learnt combination of experts. It knows them by their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    names: Vec<String>,
    /// By head.
    models: Vec<Model>,
    /// What the test says of the combination, and of each expert alone.
    pub measured: CombinationTest,
    /// Number of plays that were learnt from, without those of the test.
    pub n_plays: usize,
    /// Number of positions that were learnt from.
    pub n_positions: usize,
}

/// The model of one head.
#[derive(Clone, Debug, PartialEq)]
enum Model {
    Logistic(Logistic),
    Boosted(Boosted),
}

impl Model {
    fn fit(method: WeightMethod, examples: &Examples<'_>) -> Model {
        match method {
            WeightMethod::Logistic => Model::Logistic(Logistic::fit(examples)),
            WeightMethod::Boosting => Model::Boosted(Boosted::fit(examples)),
        }
    }

    /// Returns the expected result, from 0 to 1.
    fn value(&self, features: &[f64]) -> f64 {
        let sum = match self {
            Model::Logistic(model) => model.sum(features),
            Model::Boosted(model) => model.sum(features),
        };
        squash(sum)
    }

    fn weight(&self, feature: usize) -> f64 {
        match self {
            Model::Logistic(model) => model.weight(feature),
            Model::Boosted(model) => model.weight(feature),
        }
    }
}

/// Returns the probability that belongs to a logarithm of odds.
fn squash(sum: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-sum))
}

/// Positions with their results, for one head: rows of equal length.
struct Examples<'e> {
    rows: Vec<&'e [f64]>,
    /// By row: what came of it, from 0 to 1.
    results: Vec<f64>,
}

/// How well models predict the results of plays that they were not fitted to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CombinationTest {
    /// Number of plays and of positions of the test.
    pub n_plays: usize,
    /// Number of positions with each player's view.
    pub n_positions: usize,
    /// The combination.
    pub combined: Prediction,
    /// By expert: a model of this expert alone.
    pub alone: Vec<(String, Prediction)>,
}

/// How well a model predicts results.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// The weight of the expert in the combination, for the first player: how much a usual
    /// difference of its values adds to the logarithm of the odds. 0 for the combination itself.
    pub weight: f64,
    /// The part of the positions, of those with a winner, in which the winner is predicted.
    pub hits: f64,
    /// The mean logarithmic loss, in bits. A model that knows nothing has about 1.
    pub bits: f64,
}

/// Plays and learns how to combine experts. Returns `None` if no play came to an end before the
/// deadline, or if all had the same result.
pub fn combine<P: Position + 'static>(
    start: &P,
    experts: &mut Experts<P>,
    options: &CombineOptions,
    deadline: Option<Instant>,
) -> Option<Combination> {
    let played = Played::new(start, experts, options, deadline);
    let all: Vec<usize> = (0..played.names.len()).collect();
    played.fit(&all)
}

/// Plays once by all experts, and learns from the same plays how to combine each choice of them: a
/// list of places, among which the player who moves need not be. Returns `None` if no play came to
/// an end before the deadline, or if all had the same result.
pub fn combine_choices<P: Position + 'static>(
    start: &P,
    experts: &mut Experts<P>,
    choices: &[Vec<usize>],
    options: &CombineOptions,
    deadline: Option<Instant>,
) -> Option<Vec<Combination>> {
    let played = Played::new(start, experts, options, deadline);
    let turn = played.names.len() - 1;
    let with_turn = |places: &Vec<usize>| [&places[..], &[turn]].concat();
    choices.iter().map(|places| played.fit(&with_turn(places))).collect()
}

/// Plays from which combinations are learnt.
struct Played {
    method: WeightMethod,
    n_heads: usize,
    /// The names of the experts, by place.
    names: Vec<String>,
    learnt: self_play::Seen,
    tested: self_play::Seen,
}

impl Played {
    fn new<P: Position + 'static>(
        start: &P,
        experts: &mut Experts<P>,
        options: &CombineOptions,
        deadline: Option<Instant>,
    ) -> Played {
        let players = Players::new(start.shape());
        let n_heads = players.n_heads();
        let mut play = self_play::SelfPlay::new(start, experts, &players, options.seed);
        let names = play.experts.names();
        // Half of the plays are by search. Later ones are by what the earlier ones have taught.
        let mut policy: Option<Vec<Model>> = None;
        for (stage, part) in [2, 4, 4].into_iter().enumerate() {
            if stage > 0 {
                policy = fit_heads(options.method, &play.chosen(|_| true), n_heads, names.len());
            }
            play.run(options.n_plays.div_ceil(part), policy.as_deref(), deadline);
        }
        let learnt = play.chosen(|play| play % TEST_EVERY != TEST_EVERY - 1);
        let tested = play.chosen(|play| play % TEST_EVERY == TEST_EVERY - 1);
        Played { method: options.method, n_heads, names, learnt, tested }
    }

    /// Learns how to combine the experts in some places.
    fn fit(&self, places: &[usize]) -> Option<Combination> {
        let Played { method, n_heads, ref learnt, ref tested, .. } = *self;
        let chosen = |row: &[f64]| places.iter().map(|&place| row[place]).collect::<Vec<f64>>();
        let models = fit_heads(method, &learnt.mapped(chosen), n_heads, places.len())?;
        let names: Vec<String> = places.iter().map(|&place| self.names[place].clone()).collect();
        let mut measured = CombinationTest {
            n_plays: tested.n_plays,
            n_positions: tested.n_positions(),
            combined: tested.prediction(&models, n_heads, chosen),
            alone: Vec::new(),
        };
        for (at, (name, &place)) in names.iter().zip(places).enumerate() {
            let single = |row: &[f64]| vec![row[place]];
            let alone = learnt.mapped(single);
            let Some(fitted) = fit_heads(method, &alone, n_heads, 1) else { continue };
            let found = tested.prediction(&fitted, n_heads, single);
            let weight = models[0].weight(at);
            measured.alone.push((name.clone(), Prediction { weight, ..found }));
        }
        let (n_plays, n_positions) = (learnt.n_plays, learnt.n_positions());
        Some(Combination { names, models, measured, n_plays, n_positions })
    }
}

/// One play of this many is kept for the test.
const TEST_EVERY: usize = 5;

/// Fits a model for each head. Returns `None` if all results of a head are equal.
fn fit_heads(
    method: WeightMethod,
    seen: &self_play::Seen,
    n_heads: usize,
    n_features: usize,
) -> Option<Vec<Model>> {
    let fit = |head: usize| {
        let examples = seen.examples(head, n_features);
        let first = *examples.results.first()?;
        let differs = examples.results.iter().any(|&result| result != first);
        differs.then(|| Model::fit(method, &examples))
    };
    (0..n_heads).map(fit).collect()
}

impl Combination {
    /// Returns the weight of each expert for the first player: how much a usual difference of its
    /// values adds to the logarithm of the odds.
    pub fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        let model = &self.models[0];
        self.names.iter().enumerate().map(|(at, name)| (name.as_str(), model.weight(at)))
    }

    /// Returns the evaluator of a game by experts. Those that are missing say nothing, and those
    /// that the combination does not know are not heard.
    pub fn evaluator<P: Position>(&self, experts: Experts<P>) -> CombinedEvaluator<P> {
        let known = experts.names();
        let places =
            self.names.iter().map(|name| known.iter().position(|other| other == name)).collect();
        CombinedEvaluator {
            combination: self.clone(),
            experts,
            places,
            read: Vec::new(),
            row: Vec::new(),
            values: Vec::new(),
            key: None,
        }
    }
}

/// Evaluates positions by a combination of experts.
pub struct CombinedEvaluator<P> {
    combination: Combination,
    experts: Experts<P>,
    /// By expert of the combination: its place among the experts.
    places: Vec<Option<usize>>,
    read: Vec<f64>,
    row: Vec<f64>,
    /// By head: the value of the position whose key is `key`.
    values: Vec<f64>,
    key: Option<u64>,
}

impl<P: Position> CombinedEvaluator<P> {
    /// Returns the expected result of a player at a position, from 0 to 1.
    pub fn value(&mut self, position: &P, player: Role) -> f64 {
        let key = position.key();
        if self.key != Some(key) {
            self.key = Some(key);
            self.evaluate(position);
        }
        let number = self.experts.players.iter().position(|&other| other == player).unwrap_or(0);
        match self.values[..] {
            [value] if self.experts.players.len() == 2 && number == 1 => 1.0 - value,
            [value] => value,
            _ => self.values[number],
        }
    }

    fn evaluate(&mut self, position: &P) {
        let CombinedEvaluator { combination, experts, places, read, row, values, .. } = self;
        let n_heads = combination.models.len();
        experts.read(position, n_heads, read);
        let n_known = read.len() / n_heads;
        values.clear();
        for (head, model) in combination.models.iter().enumerate() {
            row.clear();
            // An expert that is missing has the value that it usually has.
            let value = |at: usize, place: Option<usize>| match place {
                Some(place) => read[head * n_known + place],
                None => model.usual(at),
            };
            row.extend(places.iter().enumerate().map(|(at, &place)| value(at, place)));
            values.push(model.value(row));
        }
    }

    /// Returns an independent evaluator with the same values, for another thread.
    #[must_use]
    pub fn fork(&self) -> CombinedEvaluator<P> {
        self.combination.evaluator(self.experts.fork())
    }
}

impl Model {
    /// Returns the mean value of a feature where the model was fitted.
    fn usual(&self, feature: usize) -> f64 {
        match self {
            Model::Logistic(model) => model.usual(feature),
            Model::Boosted(model) => model.usual(feature),
        }
    }
}

/// The mean and the standard deviation of each feature.
#[derive(Clone, Debug, PartialEq)]
struct Scales(Vec<(f64, f64)>);

/// Deviations below this part of the largest value come from rounding.
const LEAST_DEVIATION: f64 = 1e-9;

impl Scales {
    fn of(examples: &Examples<'_>) -> Scales {
        let n = examples.rows.len().max(1) as f64;
        let n_features = examples.rows.first().map_or(0, |row| row.len());
        let scale = |at: usize| {
            let values = || examples.rows.iter().map(|row| row[at]);
            let mean = values().sum::<f64>() / n;
            let variance = values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            let largest = values().fold(0.0, |most: f64, x| most.max(x.abs()));
            let deviation = variance.sqrt();
            // A feature that is the same everywhere says nothing.
            (mean, if deviation > LEAST_DEVIATION * largest { deviation } else { 0.0 })
        };
        Scales((0..n_features).map(scale).collect())
    }

    /// Returns a value in units of the standard deviation. A constant feature is always 0.
    fn scaled(&self, feature: usize, value: f64) -> f64 {
        let (mean, deviation) = self.0[feature];
        if deviation > 0.0 { (value - mean) / deviation } else { 0.0 }
    }
}
