//! Searches whose judge is made from the rules of the game.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::concepts::{ConceptReader, LearnOptions};
use agon_analysis::fuzzy::{FuzzyJudge, FuzzyOptions};
use agon_analysis::goal_formulas::{GoalJudge, GoalOptions, RewritingGame, goal_judge};
use agon_analysis::{ConceptsFrom, Subject, USUAL_TIME};
use agon_game::{Notation, Role};
use agon_search::{Budget, Evaluate, GoalValues, Report, Search};

use crate::MethodChoice;

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
    from: ConceptsFrom,
    make: Box<dyn Fn(Box<dyn Evaluate<P>>) -> S + Send>,
    search: Option<S>,
}

impl<P, S> Taught<P, S> {
    pub(crate) fn new(
        subject: Option<&Subject>,
        (options, from): (LearnOptions, ConceptsFrom),
        make: impl Fn(Box<dyn Evaluate<P>>) -> S + Send + 'static,
    ) -> Taught<P, S> {
        Taught { subject: subject.cloned(), options, from, make: Box::new(make), search: None }
    }
}

impl<P: Notation + 'static, S: Search<P>> Search<P> for Taught<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let Taught { subject, options, from, make, search } = self;
        let search = search.get_or_insert_with(|| {
            let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()) / 2;
            let time: Duration = budget.deadline.map_or(USUAL_TIME, left).min(USUAL_TIME);
            make(match subject {
                Some(subject) => {
                    Box::new(ByConcepts(ConceptReader::new(subject.concepts(options, from, time))))
                }
                None => Box::new(GoalValues),
            })
        });
        search.think(position, us, budget)
    }
}

/// What random plays taught as searches want it: within the range of payoffs, and never as good as a win.
struct ByConcepts(ConceptReader);

impl<P: Notation + 'static> Evaluate<P> for ByConcepts {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        let payoffs = &position.shape().payoffs;
        let range = payoffs.end() - payoffs.start();
        payoffs.start() + range * (MARGIN + (1.0 - 2.0 * MARGIN) * self.0.value(position, role))
    }
}

/// A search that judges positions of a structure rewriting game by terms made of its goals. Where there can be none, the payoffs as
/// they stand take their place.
pub(crate) struct ByGoals<P, S> {
    game: Option<Arc<RewritingGame>>,
    choice: MethodChoice,
    options: GoalOptions,
    make: Box<dyn Fn(Box<dyn Evaluate<P>>) -> S + Send>,
    search: Option<S>,
}

impl<P, S> ByGoals<P, S> {
    pub(crate) fn new(
        game: Option<&Arc<RewritingGame>>,
        (choice, options): (MethodChoice, GoalOptions),
        make: impl Fn(Box<dyn Evaluate<P>>) -> S + Send + 'static,
    ) -> ByGoals<P, S> {
        ByGoals { game: game.cloned(), choice, options, make: Box::new(make), search: None }
    }
}

impl<P: Notation + 'static, S: Search<P>> Search<P> for ByGoals<P, S> {
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move> {
        let ByGoals { game, choice, options, make, search } = self;
        let search = search.get_or_insert_with(|| {
            let judge = game.as_ref().and_then(|game| {
                let method = choice.decide(game, options, position, budget);
                goal_judge(game, method, options).ok()
            });
            make(match judge {
                Some(judge) => Box::new(BySteps(judge)),
                None => Box::new(GoalValues),
            })
        });
        search.think(position, us, budget)
    }
}

/// Steps towards the goals as searches want them.
pub(crate) struct BySteps(pub(crate) GoalJudge);

impl<P: Notation + 'static> Evaluate<P> for BySteps {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        self.0.estimate_at(position, role)
    }
}

/// What is left at both ends of the range for what is certain.
const MARGIN: f64 = 0.001;
