//! Searches whose judge is made from the rules of the game.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Notation, Role};
use agon_insight::concepts::{ConceptJudge, LearnOptions};
use agon_insight::fuzzy::{FuzzyJudge, FuzzyOptions};
use agon_insight::{Subject, USUAL_TIME};
use agon_search::{Budget, Evaluate, GoalValues, Report, Search};

/// A search that judges positions by fuzzy logic over the goals. The judge is made when there is a budget for it, with half
/// of that at the most; if there can be none, the goals as they stand take its place.
pub(crate) struct Judged<P, S> {
    subject: Option<Subject>,
    options: FuzzyOptions,
    make: Box<dyn Fn(Box<dyn Evaluate<P>>) -> S + Send>,
    search: Option<S>,
}

impl<P, S> Judged<P, S> {
    pub(crate) fn new(
        subject: Option<&Subject>,
        options: FuzzyOptions,
        make: impl Fn(Box<dyn Evaluate<P>>) -> S + Send + 'static,
    ) -> Judged<P, S> {
        Judged { subject: subject.cloned(), options, make: Box::new(make), search: None }
    }
}

impl<P: Notation + 'static, S: Search<P>> Search<P> for Judged<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let Judged { subject, options, make, search } = self;
        let search = search.get_or_insert_with(|| {
            let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()) / 2;
            let time: Duration = budget.deadline.map_or(USUAL_TIME, left).min(USUAL_TIME);
            let made = subject.as_ref().and_then(|subject| subject.fuzzy(options, time).ok());
            make(match made {
                Some(fuzzy) => Box::new(ByFuzzy { judge: FuzzyJudge::new(&fuzzy), key: None }),
                None => Box::new(GoalValues),
            })
        });
        search.think(position, us, budget)
    }
}

/// Fuzzy logic as searches want it.
struct ByFuzzy {
    judge: FuzzyJudge,
    /// The state that the judge looks at: roles ask one after the other.
    key: Option<u64>,
}

impl<P: Notation + 'static> Evaluate<P> for ByFuzzy {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        let key = position.key();
        if self.key != Some(key) {
            self.judge.look_at(position);
            self.key = Some(key);
        }
        let payoffs = &position.shape().payoffs;
        self.judge.value(role.index()).clamp(*payoffs.start(), *payoffs.end())
    }
}

/// A search that judges positions by what random plays taught (004). The judge is made when there is a budget for it; where the
/// game cannot be looked into, the goals as they stand take its place.
pub(crate) struct Taught<P, S> {
    subject: Option<Subject>,
    options: LearnOptions,
    is_carried: bool,
    make: Box<dyn Fn(Box<dyn Evaluate<P>>) -> S + Send>,
    search: Option<S>,
}

impl<P, S> Taught<P, S> {
    pub(crate) fn new(
        subject: Option<&Subject>,
        (options, is_carried): (LearnOptions, bool),
        make: impl Fn(Box<dyn Evaluate<P>>) -> S + Send + 'static,
    ) -> Taught<P, S> {
        Taught { subject: subject.cloned(), options, is_carried, make: Box::new(make), search: None }
    }
}

impl<P: Notation + 'static, S: Search<P>> Search<P> for Taught<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let Taught { subject, options, is_carried, make, search } = self;
        let search = search.get_or_insert_with(|| {
            let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()) / 2;
            let time: Duration = budget.deadline.map_or(USUAL_TIME, left).min(USUAL_TIME);
            make(match subject {
                Some(subject) => Box::new(ByConcepts(subject.concepts(options, *is_carried, time))),
                None => Box::new(GoalValues),
            })
        });
        search.think(position, us, budget)
    }
}

/// What random plays taught as searches want it: within the range of payoffs, and never as good as a win.
struct ByConcepts(Arc<ConceptJudge>);

impl<P: Notation + 'static> Evaluate<P> for ByConcepts {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        let payoffs = &position.shape().payoffs;
        let range = payoffs.end() - payoffs.start();
        payoffs.start() + range * (MARGIN + (1.0 - 2.0 * MARGIN) * self.0.value(position, role))
    }
}

/// What is left at both ends of the range for what is certain.
const MARGIN: f64 = 0.001;
