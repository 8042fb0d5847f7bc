//! The choice between searches by short matches before the first move.

pub(crate) mod short_match;

use std::time::{Duration, Instant};

use agon_analysis::ConceptSource;
use agon_analysis::concepts::{HeuristicKind, LearnOptions};
use agon_analysis::fuzzy::FuzzyOptions;
use agon_analysis::goal_formulas::GoalOptions;
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Notation, Position, Rng, Role};
use agon_learn::{Learner, LearntEvaluator};
use agon_search::{
    AlphaBetaOptions, Budget, HeuristicUse, MctsOptions, Minimax, MinimaxOptions, NoEvaluation,
    Report, Search,
};
use rand::{RngExt as _, SeedableRng as _};

use crate::adaptive_mcts::{AdaptiveMcts, threads_for};
use crate::budget::share;
use crate::evaluation::{Evaluation, LEARNING_SEED, alphabeta_with};
use crate::goal_terms::informative_evaluator;
use crate::heuristics::MoveHeuristic;
use crate::learnt::{LEAF_PART, LearningSearch, description, mcts_with, minimax_with, new_learner};
use crate::{GoalTermOptions, MethodChoice, RegressedGoalOptions, Rules};
use short_match::{MAX_STEPS, MIN_MATCHES, ShortMatch, significant_score};

/// A search that is chosen by short matches against plain Monte Carlo tree search, before the first
/// move. Without a clock there are no such matches and plain search is used, so that the match can
/// be repeated.
pub(crate) struct TrialSelected<P: Position> {
    rules: Rules,
    options: MctsOptions,
    seed: u64,
    /// How concepts are learned.
    learn_options: LearnOptions,
    search: Option<Box<dyn Search<P>>>,
    is_decided: bool,
    /// What was learnt before the first move.
    learner: Option<Learner<P>>,
    /// The evaluation of a stored model. Nothing is learnt if there is one.
    stored: Option<LearntEvaluator<P>>,
    /// What was chosen and why.
    method: Option<String>,
}

/// A search that can be chosen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Contender {
    /// Plain Monte Carlo tree search.
    Plain,
    /// Minimax search with an evaluation learnt by self-play.
    Learnt,
    /// Monte Carlo tree search whose leaves are valued by playouts and by the learnt evaluation.
    LearntLeaves,
    /// Monte Carlo tree search with regressed goals in its tree (Trutman 2015).
    RegressedGoals,
    /// Alpha-beta search with fuzzy logic over the goals (Michulke 2011).
    Fuzzy,
    /// Alpha-beta search with concepts of two facts, learned from random playouts (Sato & Cazenave
    /// 2016).
    Concepts,
    /// Alpha-beta search with terms made of the goals (Kaiser & Stafiniak 2011).
    GoalTerms,
    /// Monte Carlo tree search with terms made of the goals in its tree.
    GoalTermsInTree,
}

impl Contender {
    /// Returns the name as a person reads it.
    fn name(self) -> &'static str {
        match self {
            Contender::Plain => "mcts",
            Contender::Learnt => "minimax with a learnt evaluation",
            Contender::LearntLeaves => "mcts with a learnt evaluation",
            Contender::RegressedGoals => "mcts with regressed goals",
            Contender::Fuzzy => "alphabeta with fuzzy goals",
            Contender::Concepts => "alphabeta with learned concepts",
            Contender::GoalTerms => "alphabeta with goal terms",
            Contender::GoalTermsInTree => "mcts with goal terms",
        }
    }
}

/// Minimum time before the first move for learning an evaluation.
const MIN_LEARNING_TIME: Duration = Duration::from_millis(500);
/// Part of the time before the first move for learning an evaluation before its trial, in percent.
const LEARNING_PERCENT: u32 = 40;
/// Part of the rest for the trial of the learnt evaluation, in percent. What is left after it is for
/// learning more.
const LEARNT_TRIAL_PERCENT: u32 = 50;
/// Part of the rest for learning more if the learnt evaluation was chosen, in percent. The search
/// itself gets what remains.
const LEARNING_ON_PERCENT: u32 = 85;
/// The number of matches of the learnt evaluation against each opponent.
const N_LEARNT_MATCHES: usize = 12;
/// Minimum time before the first move for a trial.
const MIN_TIME: Duration = Duration::from_secs(4);
/// The time for the matches of all contenders is the time before the first move divided by this.
const TRIAL_DIVISOR: u32 = 4;
/// The time for the confirmation of the best contender, with more time per move, is the time before
/// the first move divided by this.
const CONFIRMATION_DIVISOR: u32 = 4;
/// The time to make each evaluator is the time before the first move divided by this.
const EVALUATOR_DIVISOR: u32 = 12;
/// The number of matches of each contender, in pairs with roles swapped.
const N_MATCHES: usize = 16;
/// The number of matches by which the time per move is computed. It is below [`N_MATCHES`], because
/// matches between players may be longer than random ones.
const N_PLANNED: u32 = 10;
/// The number of matches that confirm the winner with more time per move.
const N_CONFIRMING: usize = 4;
/// Minimum time per move of a short match. The result of a faster match does not carry over to
/// moves of seconds.
const MIN_MOVE_TIME: Duration = Duration::from_millis(2);
/// Minimum number of matches for which there must be time.
const MIN_PLANNED: u32 = 4;
/// Maximum size of regressed goals. Preparing larger ones takes longer than a short match.
const MAX_OPERANDS: usize = 300_000;
/// Maximum number of pairs of facts counted to learn concepts, which takes some tenths of a second.
const MAX_PAIRS: usize = 200_000;
/// Separates the seeds of confirming matches from those of the others.
const CONFIRMATION_STREAM: u64 = 0xc0f1;

impl<P: Notation + 'static> TrialSelected<P> {
    pub(crate) fn new(rules: Rules, options: MctsOptions, seed: u64) -> TrialSelected<P> {
        let n_facts = rules.gdl.as_ref().map_or(0, |game| game.game().initial_fluents().len());
        let learn_options = learn_options(n_facts);
        TrialSelected {
            rules,
            options,
            seed,
            learn_options,
            search: None,
            is_decided: false,
            learner: None,
            stored: None,
            method: None,
        }
    }

    /// Returns the stored or learnt evaluation.
    fn evaluator(&self) -> Option<LearntEvaluator<P>> {
        self.stored.clone().or_else(|| self.learner.as_ref().map(Learner::evaluator))
    }

    /// Makes the search of a contender.
    fn search(
        &self,
        contender: Contender,
        position: &P,
        options: &MctsOptions,
        seed: u64,
    ) -> Box<dyn Search<P>> {
        let heuristic = HeuristicUse { tree: true, ..options.heuristic };
        let in_tree = MctsOptions { heuristic, ..options.clone() };
        let alphabeta = |evaluation: Evaluation| -> Box<dyn Search<P>> {
            let options = AlphaBetaOptions { seed, ..AlphaBetaOptions::default() };
            let (rules, start) = (self.rules.clone(), position.clone());
            Box::new(alphabeta_with(evaluation, rules, start, options))
        };
        match (contender, &self.rules.gdl, &self.rules.rewriting) {
            (Contender::Learnt, _, _) => {
                let options =
                    MinimaxOptions { threads: options.threads, ..MinimaxOptions::default() };
                Box::new(minimax_with(options, self.evaluator()))
            }
            (Contender::LearntLeaves, _, _) => {
                let evaluator = self.evaluator();
                Box::new(mcts_with(options.clone(), seed, position, evaluator, LEAF_PART))
            }
            (Contender::RegressedGoals, Some(game), _) => {
                let options = RegressedGoalOptions::default();
                let heuristic = MoveHeuristic::RegressedGoals(game.clone(), options, options);
                Box::new(AdaptiveMcts::new(in_tree, seed).with_heuristic(heuristic))
            }
            (Contender::Fuzzy, _, _) => alphabeta(Evaluation::Fuzzy(FuzzyOptions::default())),
            (Contender::Concepts, _, _) => {
                alphabeta(Evaluation::Concepts(self.learn_options, ConceptSource::Own))
            }
            (Contender::GoalTerms, _, _) => alphabeta(Evaluation::GoalTerms(goal_term_options())),
            (Contender::GoalTermsInTree, _, Some(game)) => {
                let heuristic = MoveHeuristic::GoalTerms(game.clone(), goal_term_options());
                Box::new(AdaptiveMcts::new(in_tree, seed).with_heuristic(heuristic))
            }
            (Contender::Plain | Contender::RegressedGoals | Contender::GoalTermsInTree, _, _) => {
                Box::new(AdaptiveMcts::new(options.clone(), seed))
            }
        }
    }

    /// Returns the contenders that the game has, besides plain search. `time` is the time before
    /// the first move.
    fn contenders(&self, time: Duration) -> Vec<Contender> {
        let mut contenders = Vec::new();
        let time = time / EVALUATOR_DIVISOR;
        if let Some(game) = &self.rules.gdl {
            let regressed = game.action_heuristics(HeuristicRequest::default(), time);
            if regressed.is_ok_and(|made| made.formulas.size() <= MAX_OPERANDS) {
                contenders.push(Contender::RegressedGoals);
            }
            if game.fuzzy(&FuzzyOptions::default(), time).is_ok() {
                contenders.push(Contender::Fuzzy);
            }
            let learned = game.concepts(&self.learn_options, &ConceptSource::Own, time);
            if learned.n_roles_with_rules() == 2 {
                contenders.push(Contender::Concepts);
            }
        }
        if let Some(game) = &self.rules.rewriting {
            let terms = goal_term_options();
            let method = terms.choice.without_trial(game);
            if informative_evaluator(game, method, &terms.options).is_some() {
                contenders.extend([Contender::GoalTerms, Contender::GoalTermsInTree]);
            }
        }
        contenders
    }

    /// Chooses the search, by trials if there is time for them.
    fn choose(&mut self, position: &P, budget: &Budget) -> Contender {
        if Minimax::<P, NoEvaluation>::suits(position) {
            self.stored = self.rules.model.as_ref().and_then(|model| model.evaluator(position));
        }
        let Some(deadline) = budget.deadline.filter(|_| has_only_clock(budget)) else {
            let Some(model) = self.rules.model.as_ref().filter(|_| self.stored.is_some()) else {
                return Contender::Plain;
            };
            self.method = Some(format!("minimax with {}", description(model)));
            return Contender::Learnt;
        };
        let players: Vec<Role> = position.shape().players().collect();
        let [first, second] = players[..] else { return Contender::Plain };
        let roles = [first, second];
        if let Some(learnt) = self.preferred_learnt(position, roles, budget) {
            return learnt;
        }
        let time = deadline.saturating_duration_since(Instant::now());
        if time < MIN_TIME {
            return Contender::Plain;
        }
        let best = self.best_contender(position, roles, time);
        if best == Contender::Plain {
            return Contender::Plain;
        }
        let until = Instant::now() + time / CONFIRMATION_DIVISOR;
        let opponent = Contender::Plain;
        let trial = Trial { selection: self, contender: best, opponent, roles, until };
        let seed = self.seed ^ CONFIRMATION_STREAM;
        let scores = trial.play(position, seed, N_CONFIRMING, N_CONFIRMING as u32);
        if !is_confirmed(&scores) {
            return Contender::Plain;
        }
        self.method = Some(format!("{}: it won short matches against plain mcts", best.name()));
        best
    }

    /// Learns an evaluation and returns the search that uses it best, if one holds its own against
    /// plain search. Without time for matches that is minimax search, because it is stronger in most
    /// games.
    fn preferred_learnt(
        &mut self,
        position: &P,
        roles: [Role; 2],
        budget: &Budget,
    ) -> Option<Contender> {
        let left = budget.deadline?.saturating_duration_since(Instant::now());
        let is_stored = self.stored.is_some();
        if !Minimax::<P, NoEvaluation>::suits(position) || (left < MIN_LEARNING_TIME && !is_stored)
        {
            return None;
        }
        let source = match self.rules.model.as_ref().filter(|_| is_stored) {
            Some(model) => description(model),
            None => {
                let time = share(budget, LEARNING_PERCENT);
                let mut learner = new_learner(position, self.seed, time.deadline)?;
                learner.learn(&time);
                let n_games = learner.n_games();
                self.learner = Some(learner);
                format!("an evaluation learnt from {n_games} games")
            }
        };
        // Half of the time for matches is for each of the two opponents of the final choice.
        let play = |selection: &Self, [contender, opponent]: [Contender; 2], percent: u32| {
            let until = share(budget, percent).deadline.unwrap_or_else(Instant::now);
            let trial = Trial { selection, contender, opponent, roles, until };
            let planned = N_LEARNT_MATCHES as u32;
            let scores = trial.play(position, selection.seed, N_LEARNT_MATCHES, planned);
            (scores.iter().sum::<f64>(), scores.len())
        };
        let first = [Contender::Learnt, Contender::Plain];
        let (points, n_matches) = play(self, first, LEARNT_TRIAL_PERCENT / 2);
        let best = if points >= 0.5 * n_matches as f64 { first[0] } else { first[1] };
        let second = [Contender::LearntLeaves, best];
        let (leaf_points, n_leaf_matches) = play(self, second, LEARNT_TRIAL_PERCENT / 2);
        let best = if leaf_points > 0.5 * n_leaf_matches as f64 { second[0] } else { best };
        let score = |points: f64, n_matches: usize| match n_matches {
            0 => "had no time for short matches".to_owned(),
            n => format!("got {points} of {n} points in short matches"),
        };
        self.method = Some(format!(
            "{}: with {source}, minimax {} against mcts, and mcts with the evaluation {} against {}",
            best.name(),
            score(points, n_matches),
            score(leaf_points, n_leaf_matches),
            second[1].name(),
        ));
        if best == Contender::Plain {
            (self.learner, self.stored) = (None, None);
            return None;
        }
        if let Some(learner) = &mut self.learner {
            learner.learn(&share(budget, LEARNING_ON_PERCENT));
        }
        Some(best)
    }

    /// Returns the contender with the highest significant score against plain search.
    fn best_contender(&self, position: &P, roles: [Role; 2], time: Duration) -> Contender {
        let contenders = self.contenders(time);
        let mut best = (Contender::Plain, 0.5);
        let end = Instant::now() + time / TRIAL_DIVISOR;
        for (at, &contender) in contenders.iter().enumerate() {
            // Time that earlier contenders did not use is shared by the remaining ones.
            let now = Instant::now();
            let until = now + end.saturating_duration_since(now) / (contenders.len() - at) as u32;
            let opponent = Contender::Plain;
            let trial = Trial { selection: self, contender, opponent, roles, until };
            let seed = self.seed.wrapping_add(at as u64);
            let scores = trial.play(position, seed, N_MATCHES, N_PLANNED);
            if let Some(score) = significant_score(&scores)
                && score > best.1
            {
                best = (contender, score);
            }
        }
        best.0
    }
}

impl<P: Notation + 'static> Search<P> for TrialSelected<P> {
    fn method(&self) -> Option<String> {
        self.method.clone()
    }

    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        // A budget with both a count and a clock is that of a preparation before the start clock.
        let is_preparation = budget.deadline.is_some() && !has_only_clock(budget);
        if !self.is_decided && !is_preparation {
            self.is_decided = true;
            self.search = match self.choose(position, budget) {
                Contender::Plain => self.search.take(),
                Contender::Learnt => {
                    let threads = self.options.threads;
                    let options = MinimaxOptions { threads, ..MinimaxOptions::default() };
                    let search = match self.stored.take() {
                        Some(stored) => LearningSearch::with_stored(options, stored),
                        None => LearningSearch::new(options, self.learner.take()),
                    };
                    Some(Box::new(search))
                }
                contender => {
                    let threads = threads_for(self.options.threads, position, budget);
                    let options = MctsOptions { threads, ..self.options.clone() };
                    Some(self.search(contender, position, &options, self.seed))
                }
            };
        }
        if self.search.is_none() {
            let search = self.search(Contender::Plain, position, &self.options, self.seed);
            self.search = Some(search);
        }
        self.search.as_mut().expect("it was made above").think(position, us, budget)
    }

    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        if let Some(search) = &mut self.search {
            search.ponder(position, us, budget);
        }
    }
}

fn goal_term_options() -> GoalTermOptions {
    GoalTermOptions { choice: MethodChoice::Recommended, options: GoalOptions::default() }
}

/// Returns how concepts are learned if positions have about `n_facts` facts. The number of playouts
/// decreases with the number of facts, because all pairs of facts are counted.
fn learn_options(n_facts: usize) -> LearnOptions {
    let n_pairs = n_facts * n_facts.saturating_sub(1) / 2;
    let n_wins = (MAX_PAIRS / n_pairs.max(1)).clamp(10, 300);
    LearnOptions { kind: HeuristicKind::Concepts, max_size: 2, n_wins, seed: LEARNING_SEED }
}

fn has_only_clock(budget: &Budget) -> bool {
    budget.deadline.is_some() && budget.iterations.is_none() && budget.nodes.is_none()
}

/// Returns whether the scores with more time per move do not contradict those of short matches.
fn is_confirmed(scores: &[f64]) -> bool {
    scores.len() >= 2 && scores.iter().sum::<f64>() >= 0.5 * scores.len() as f64
}

/// Short matches of one contender against another.
struct Trial<'a, P: Position> {
    selection: &'a TrialSelected<P>,
    contender: Contender,
    opponent: Contender,
    roles: [Role; 2],
    until: Instant,
}

impl<P: Notation + 'static> Trial<'_, P> {
    /// Plays matches and returns the scores of the contender. The time per move is such that there
    /// is time for `n_planned` matches, or for fewer if moves would be too fast otherwise.
    fn play(&self, start: &P, seed: u64, n_matches: usize, n_planned: u32) -> Vec<f64> {
        let mut rng = Rng::seed_from_u64(seed);
        let mut scores = Vec::new();
        let left = self.until.saturating_duration_since(Instant::now());
        let Some(move_time) = move_time(left, n_planned, mean_length(start, &mut rng)) else {
            return scores;
        };
        let mut opening = start.clone();
        for at in 0..n_matches {
            if at % 2 == 0 {
                opening = start.clone();
                ShortMatch::open(&mut opening, at / 2 % 3, &mut rng);
            }
            let own = self.roles[at % 2];
            let mut budget = || {
                let now = Instant::now();
                (now < self.until).then(|| Budget::until(now + move_time))
            };
            match self.play_one(&opening, own, &mut budget, &mut rng) {
                Some(score) => scores.push(score),
                None => break,
            }
            // A contender that is behind after several matches is given up to save time.
            if scores.len() >= MIN_MATCHES / 2
                && scores.iter().sum::<f64>() < 0.5 * scores.len() as f64
            {
                break;
            }
        }
        scores
    }

    /// Plays a match with the contender in the role `own` and returns its score. `budget` returns
    /// the budget of a move, or `None` if time is over; then the match has no score.
    fn play_one(
        &self,
        opening: &P,
        own: Role,
        budget: &mut dyn FnMut() -> Option<Budget>,
        rng: &mut Rng,
    ) -> Option<f64> {
        // The two searches take turns, so one thread each is fair to both.
        let options = MctsOptions { threads: 1, ..self.selection.options.clone() };
        let searches = [self.contender, self.opponent]
            .map(|contender| self.selection.search(contender, opening, &options, rng.random()));
        ShortMatch { roles: self.roles, own }.play(opening, searches, budget, rng)
    }
}

/// Returns the time for a move if there is time `left` for `n_planned` matches of this many choices.
/// If moves would be too fast, fewer matches are planned. `None` if there is no time even for
/// [`MIN_PLANNED`] matches.
fn move_time(left: Duration, n_planned: u32, length: u32) -> Option<Duration> {
    let for_a_match = left / n_planned / length;
    let fewest = left / MIN_PLANNED.min(n_planned) / length;
    (fewest >= MIN_MOVE_TIME).then_some(for_a_match.max(MIN_MOVE_TIME))
}

/// Returns the mean number of choices in a random playout, at least 1.
fn mean_length<P: Position>(start: &P, rng: &mut Rng) -> u32 {
    const N_PLAYOUTS: u32 = 8;
    let mut n_choices = 0;
    let mut joint = Vec::new();
    for _ in 0..N_PLAYOUTS {
        let mut position = start.clone();
        for _ in 0..MAX_STEPS {
            if position.is_terminal() {
                break;
            }
            let nature = position.shape().nature;
            n_choices += position.choosers().filter(|&role| Some(role) != nature).count() as u32;
            position.draw(rng, &mut joint);
            position.advance(&joint);
        }
    }
    (n_choices / N_PLAYOUTS).max(1)
}

#[cfg(test)]
mod tests;
