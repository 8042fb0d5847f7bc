//! Whether what can be read out of the rules helps in a game, found out by a few short matches before the first move.

pub(crate) mod bout;

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::concepts::{self, LearnOptions};
use agon_analysis::fuzzy::FuzzyOptions;
use agon_analysis::goal_formulas::{GoalOptions, RewritingGame};
use agon_analysis::regression::Wanted;
use agon_analysis::{ConceptsFrom, Subject};
use agon_game::{Notation, Position, Rng, Role};
use agon_search::{AlphaBeta, AlphaBetaOptions, Budget, HeuristicUse, MctsOptions, Report, Search};
use rand::{RngExt as _, SeedableRng as _};

use crate::MethodChoice;
use crate::judged::{ByGoals, Judged, Taught};
use crate::searches::{ByNodes, Fitted, Insight};
use crate::terms::telling_judge;
use bout::{Bout, MAX_STEPS, MIN_MATCHES, sure_score};

/// Monte Carlo tree search as it is, or with insight, or alpha-beta by fuzzy logic, by concepts or by terms made of goals: whatever
/// wins short matches against the first of them. Without a clock nothing is tried and nothing changed, so that a match can be repeated.
pub(crate) struct Tried<P: Position> {
    /// The game in GDL.
    subject: Option<Subject>,
    /// The game as structure rewriting.
    rewriting: Option<Arc<RewritingGame>>,
    options: MctsOptions,
    seed: u64,
    /// How concepts are learnt.
    lessons: LearnOptions,
    search: Option<Box<dyn Search<P>>>,
    is_decided: bool,
}

/// Who is tried.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    /// Monte Carlo tree search as it is.
    Plain,
    /// The same with goals regressed by a step in its tree (003).
    Tree,
    /// Alpha-beta search with goals in fuzzy logic (001).
    Fuzzy,
    /// Alpha-beta search with concepts of two facts, learnt from random plays (004).
    Concepts,
    /// Alpha-beta search with terms made of goals (000).
    Terms,
    /// Monte Carlo tree search with such terms in its tree.
    TermsInTree,
}

/// With less time than this before the first move, nothing is tried.
const WORTH_IT: Duration = Duration::from_secs(4);
/// The part of the time that goes into the matches of all contenders, that into those of the best of them with more time to a
/// move, and that into making each judge.
const TRIAL_PART: u32 = 4;
const CONFIRMATION_PART: u32 = 4;
const MAKING_PART: u32 = 12;
/// Matches of each contender: in pairs with roles swapped.
const N_MATCHES: usize = 16;
/// The time is given out as if there were so many: matches between players may be longer than random ones.
const N_PLANNED: u32 = 10;
/// Matches with more time to a move: what wins only in a hurry is not wanted.
const N_CONFIRMING: usize = 4;
/// A search that has less time to a move than this says nothing about one that has seconds.
const MIN_TO_A_MOVE: Duration = Duration::from_millis(2);
/// Regressed goals with more operands take longer to be made ready for a search than a short match lasts.
const MAX_OPERANDS: usize = 300_000;
/// Pairs of facts that are counted to learn concepts: some tenths of a second.
const MAX_PAIRS: usize = 200_000;
/// Matches with more time to a move begin otherwise.
const CONFIRMING: u64 = 0xc0f1;
/// The seed of the random plays that concepts are learnt from.
const LEARNING: u64 = 1;

impl<P: Notation + 'static> Tried<P> {
    pub(crate) fn new(
        subject: Option<Subject>,
        rewriting: Option<Arc<RewritingGame>>,
        options: MctsOptions,
        seed: u64,
    ) -> Tried<P> {
        let lessons =
            lessons(subject.as_ref().map_or(0, |subject| subject.game().initial_fluents().len()));
        Tried { subject, rewriting, options, seed, lessons, search: None, is_decided: false }
    }

    /// The search of a contender.
    fn search(&self, contender: Contender, options: &MctsOptions, seed: u64) -> Box<dyn Search<P>> {
        let heuristic = HeuristicUse { tree: true, ..options.heuristic };
        let in_tree = MctsOptions { heuristic, ..options.clone() };
        let alphabeta = AlphaBetaOptions { seed, ..AlphaBetaOptions::default() };
        let make = move |judge| ByNodes(AlphaBeta::with_evaluator(alphabeta.clone(), judge));
        let terms = (MethodChoice::Suitable, GoalOptions::default());
        match (contender, &self.subject, &self.rewriting) {
            (Contender::Tree, Some(subject), _) => {
                let insight = Insight::Regressed(subject.clone(), Wanted::default());
                Box::new(Fitted::new(in_tree, seed).with_insight(insight))
            }
            (Contender::Fuzzy, subject, _) => {
                Box::new(Judged::new(subject.as_ref(), FuzzyOptions::default(), make))
            }
            (Contender::Concepts, subject, _) => {
                let learnt = (self.lessons, ConceptsFrom::Own);
                Box::new(Taught::new(subject.as_ref(), learnt, make))
            }
            (Contender::Terms, _, game) => Box::new(ByGoals::new(game.as_ref(), terms, make)),
            (Contender::TermsInTree, _, Some(game)) => {
                let insight = Insight::Stepwise(Arc::clone(game), terms.0, terms.1);
                Box::new(Fitted::new(in_tree, seed).with_insight(insight))
            }
            (Contender::Plain | Contender::Tree | Contender::TermsInTree, _, _) => {
                Box::new(Fitted::new(options.clone(), seed))
            }
        }
    }

    /// Who can be tried, besides plain search.
    pub(crate) fn contenders(&self, time: Duration) -> Vec<Contender> {
        let mut contenders = Vec::new();
        if let Some(subject) = &self.subject {
            let regressed = subject.action_heuristics(Wanted::default(), time / MAKING_PART);
            if regressed.is_ok_and(|made| made.formulas.size() <= MAX_OPERANDS) {
                contenders.push(Contender::Tree);
            }
            if subject.fuzzy(&FuzzyOptions::default(), time / MAKING_PART).is_ok() {
                contenders.push(Contender::Fuzzy);
            }
            let learnt = subject.concepts(&self.lessons, &ConceptsFrom::Own, time / MAKING_PART);
            if learnt.rules.iter().filter(|rules| !rules.is_empty()).count() == 2 {
                contenders.push(Contender::Concepts);
            }
        }
        if let Some(game) = &self.rewriting {
            let method = MethodChoice::Suitable.method(game);
            if telling_judge(game, method, &GoalOptions::default()).is_some() {
                contenders.extend([Contender::Terms, Contender::TermsInTree]);
            }
        }
        contenders
    }

    /// Who is to play, after a trial if there is time for one.
    pub(crate) fn choose(&self, position: &P, budget: &Budget) -> Contender {
        let Some(deadline) = budget.deadline.filter(|_| is_timed(budget)) else {
            return Contender::Plain;
        };
        let time = deadline.saturating_duration_since(Instant::now());
        let players: Vec<Role> = position.shape().players().collect();
        let [first, second] = players[..] else { return Contender::Plain };
        if time < WORTH_IT {
            return Contender::Plain;
        }
        let contenders = self.contenders(time);
        let mut best = (Contender::Plain, 0.5);
        let end = Instant::now() + time / TRIAL_PART;
        for (at, &contender) in contenders.iter().enumerate() {
            // What those before have left over is for those who are left.
            let now = Instant::now();
            let until = now + end.saturating_duration_since(now) / (contenders.len() - at) as u32;
            let trial = Trial { by: self, contender, roles: [first, second], until };
            let scores =
                trial.play(position, self.seed.wrapping_add(at as u64), N_MATCHES, N_PLANNED);
            if let Some(score) = sure_score(&scores)
                && score > best.1
            {
                best = (contender, score);
            }
        }
        if best.0 == Contender::Plain {
            return Contender::Plain;
        }
        let until = Instant::now() + time / CONFIRMATION_PART;
        let trial = Trial { by: self, contender: best.0, roles: [first, second], until };
        let scores =
            trial.play(position, self.seed ^ CONFIRMING, N_CONFIRMING, N_CONFIRMING as u32);
        if is_confirmed(&scores) { best.0 } else { Contender::Plain }
    }
}

impl<P: Notation + 'static> Search<P> for Tried<P> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        // A count together with a clock is asked for before the clock of the match has started.
        let is_early = budget.deadline.is_some() && !is_timed(budget);
        if !self.is_decided && !is_early {
            self.is_decided = true;
            let contender = self.choose(position, budget);
            if contender != Contender::Plain {
                self.search = Some(self.search(contender, &self.options, self.seed));
            }
        }
        if self.search.is_none() {
            self.search = Some(self.search(Contender::Plain, &self.options, self.seed));
        }
        self.search.as_mut().expect("made above").think(position, us, budget)
    }
}

/// How concepts are learnt where positions have about so many facts: from fewer plays where there are many, because all pairs of
/// facts are counted.
fn lessons(n_facts: usize) -> LearnOptions {
    let n_pairs = n_facts * n_facts.saturating_sub(1) / 2;
    let n_wins = (MAX_PAIRS / n_pairs.max(1)).clamp(10, 300);
    LearnOptions { kind: concepts::Kind::Concepts, max_size: 2, n_wins, seed: LEARNING }
}

fn is_timed(budget: &Budget) -> bool {
    budget.deadline.is_some() && budget.iterations.is_none() && budget.nodes.is_none()
}

/// Whether a few matches with more time to a move do not speak against what won the short ones.
fn is_confirmed(scores: &[f64]) -> bool {
    scores.len() >= 2 && scores.iter().sum::<f64>() >= 0.5 * scores.len() as f64
}

/// Short matches of one contender.
struct Trial<'a, P: Position> {
    by: &'a Tried<P>,
    contender: Contender,
    roles: [Role; 2],
    until: Instant,
}

impl<P: Notation + 'static> Trial<'_, P> {
    /// By match: the score of the contender, 1 if it got everything and plain search nothing. The time to a move is such that
    /// `n_planned` matches can be played.
    fn play(&self, start: &P, seed: u64, n_matches: usize, n_planned: u32) -> Vec<f64> {
        let mut rng = Rng::seed_from_u64(seed);
        let mut scores = Vec::new();
        let left = self.until.saturating_duration_since(Instant::now());
        let to_a_move = left / n_planned / mean_length(start, &mut rng);
        if to_a_move < MIN_TO_A_MOVE {
            return scores;
        }
        let mut opening = start.clone();
        for at in 0..n_matches {
            if at % 2 == 0 {
                opening = start.clone();
                Bout::open(&mut opening, at / 2 % 3, &mut rng);
            }
            let own = self.roles[at % 2];
            let mut budget = || {
                let now = Instant::now();
                (now < self.until).then(|| Budget::until(now + to_a_move))
            };
            match self.play_one(&opening, own, &mut budget, &mut rng) {
                Some(score) => scores.push(score),
                None => break,
            }
            // What does not look like winning any more is not worth the time.
            if scores.len() >= MIN_MATCHES / 2
                && scores.iter().sum::<f64>() < 0.5 * scores.len() as f64
            {
                return Vec::new();
            }
        }
        scores
    }

    /// One match with the contender in the role. `budget` says how long to think about a move; none if there is no time left.
    fn play_one(
        &self,
        opening: &P,
        own: Role,
        budget: &mut dyn FnMut() -> Option<Budget>,
        rng: &mut Rng,
    ) -> Option<f64> {
        // Here one thinks at a time, and nobody may take the processor from the other.
        let options = MctsOptions { threads: 1, ..self.by.options.clone() };
        let ours = self.by.search(self.contender, &options, rng.random());
        let plain = self.by.search(Contender::Plain, &options, rng.random());
        Bout { roles: self.roles, own }.play(opening, ours, plain, budget, rng)
    }
}

/// Choices to a random play, at least one.
fn mean_length<P: Position>(start: &P, rng: &mut Rng) -> u32 {
    const N_PLAYS: u32 = 8;
    let mut n_choices = 0;
    let mut joint = Vec::new();
    for _ in 0..N_PLAYS {
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
    (n_choices / N_PLAYS).max(1)
}

#[cfg(test)]
mod tests;
