//! The random games, and the laws that concern several positions: 2, 3, 4, 10 and `play_out`.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::answers::{Answers, digest, state_difference};
use super::at_position::{self, ForeignMove};
use super::{Breach, Law, Plan, Summary, Violation, breach};
use crate::{Notation, Position, Rng, Role, Shape};

/// One run of the tests.
pub(super) struct Inspection<'a, P: Position> {
    start: &'a P,
    plan: &'a Plan,
    percepts: Option<Percepts<P>>,
    families: Option<Families<P>>,
    rng: Rng,
    play: usize,
    step: usize,
    by_key: BTreeMap<u64, Sighting>,
    /// By the digest of a state's text: its key.
    key_of_text: BTreeMap<u64, u64>,
    foreign_moves: Vec<ForeignMove<P::Move>>,
    summary: Summary,
}

/// Tests the families of moves at a position.
type Families<P> = fn(&P, &mut Rng) -> Result<(), Breach>;

type Percepts<P> = fn(&P, &[<P as Position>::Move], Role) -> Vec<String>;

/// The place where a key was first seen, and the answers there.
struct Sighting {
    digest: u64,
    state: Vec<String>,
    play: usize,
    step: usize,
}

/// A position of a game to return to.
struct Place<P: Position> {
    state: P::State,
    answers: Answers<P>,
    /// The joint move made there, unless the game ended or was abandoned.
    departure: Option<Departure<P>>,
}

struct Departure<P: Position> {
    joint: Vec<P::Move>,
    /// By role; empty if percepts are not tested.
    percepts: Vec<Vec<String>>,
}

/// Maximum number of remembered moves of other positions. A few are enough to find an `is_legal`
/// that ignores the position.
const MAX_FOREIGN: usize = 16;

impl<'a, P: Notation> Inspection<'a, P> {
    pub(super) fn new(
        start: &'a P,
        plan: &'a Plan,
        percepts: Option<Percepts<P>>,
    ) -> Inspection<'a, P> {
        Inspection {
            start,
            plan,
            percepts,
            families: None,
            rng: Rng::seed_from_u64(plan.seed),
            play: 0,
            step: 0,
            by_key: BTreeMap::new(),
            key_of_text: BTreeMap::new(),
            foreign_moves: Vec::new(),
            summary: Summary::default(),
        }
    }

    /// Adds tests of the families of moves.
    pub(super) fn with_families(self, families: Families<P>) -> Inspection<'a, P> {
        Inspection { families: Some(families), ..self }
    }

    pub(super) fn run(mut self) -> Result<Summary, Violation> {
        for play in 0..self.plan.plays {
            self.play = play;
            self.step = 0;
            if let Err(Breach { law, what }) = self.play_once() {
                return Err(Violation { law, seed: self.plan.seed, play, step: self.step, what });
            }
        }
        self.summary.positions = self.by_key.len();
        Ok(self.summary)
    }

    fn play_once(&mut self) -> Result<(), Breach> {
        let shape = self.start.shape().clone();
        let mut position = self.start.clone();
        let mut places = Vec::new();
        loop {
            let answers = Answers::of(&position);
            self.inspect(&position, &answers, &shape)?;
            let leaves = answers.terminal || self.step == self.plan.max_steps;
            let departure =
                if leaves { None } else { Some(self.depart(&position, &answers, &shape)?) };
            places.push(Place { state: position.state().clone(), answers, departure });
            let Some(Place { answers, departure: Some(departure), .. }) = places.last() else {
                break;
            };
            advance_thrice(&mut position, &departure.joint, answers)?;
            self.step += 1;
        }
        self.summary.plays += 1;
        self.summary.steps += self.step;
        let end = &places.last().expect("a game has a start").answers;
        self.summary.finished += usize::from(end.terminal);
        self.summary.faults += usize::from(end.fault.is_some());

        // A clone of the start has not seen any of the states that it is sent to.
        let mut clone = self.start.clone();
        self.revisit(&mut position, &places, &shape)?;
        self.revisit(&mut clone, &places, &shape)?;
        self.play_out(&mut clone, &places, &shape)
    }

    /// Tests one position and compares it with the positions seen before.
    fn inspect(&mut self, position: &P, answers: &Answers<P>, shape: &Shape) -> Result<(), Breach> {
        at_position::check(position, answers, shape, &self.foreign_moves, &mut self.rng)?;
        if let Some(families) = self.families {
            families(position, &mut self.rng)?;
        }
        self.recognise(answers)?;
        for legal in answers.legal.iter().filter(|legal| !legal.is_empty()) {
            let candidate = legal[self.rng.random_range(0..legal.len())].clone();
            let foreign = ForeignMove { text: position.move_text(&candidate), candidate };
            if self.foreign_moves.len() < MAX_FOREIGN {
                self.foreign_moves.push(foreign);
            } else {
                self.foreign_moves[self.rng.random_range(0..MAX_FOREIGN)] = foreign;
            }
        }
        Ok(())
    }

    /// Tests law 4.
    fn recognise(&mut self, answers: &Answers<P>) -> Result<(), Breach> {
        let key = answers.key;
        let digest_here = answers.digest();
        let seen = self.by_key.entry(key).or_insert_with(|| Sighting {
            digest: digest_here,
            state: answers.state.clone(),
            play: self.play,
            step: self.step,
        });
        if seen.digest != digest_here {
            return Err(breach(
                Law::Key,
                format!(
                    "step {} of play {} has the same key {key:#x} and other answers: {}",
                    seen.step,
                    seen.play,
                    state_difference(&seen.state, &answers.state)
                ),
            ));
        }
        let known = *self.key_of_text.entry(digest(&answers.state)).or_insert(key);
        if known != key {
            return Err(breach(
                Law::Key,
                format!("the state {:?} had the key {known:#x} and has {key:#x}", answers.state),
            ));
        }
        Ok(())
    }

    /// Draws a joint move. Nature draws uniformly as well, so that unlikely moves are tested.
    fn depart(
        &mut self,
        position: &P,
        answers: &Answers<P>,
        shape: &Shape,
    ) -> Result<Departure<P>, Breach> {
        let joint: Vec<P::Move> = answers
            .legal
            .iter()
            .map(|legal| legal[self.rng.random_range(0..legal.len())].clone())
            .collect();
        let percepts = self.perceive(position, &joint, shape);
        if percepts != self.perceive(&position.clone(), &joint, shape) {
            return Err(breach(
                Law::Percepts,
                format!("a clone has other percepts of {joint:?} than {percepts:?}"),
            ));
        }
        if let Some(unsorted) = percepts.iter().find(|percepts| !percepts.is_sorted()) {
            return Err(breach(Law::Percepts, format!("percepts are not sorted: {unsorted:?}")));
        }
        Ok(Departure { joint, percepts })
    }

    fn perceive(&self, position: &P, joint: &[P::Move], shape: &Shape) -> Vec<Vec<String>> {
        let Some(percepts) = self.percepts else { return Vec::new() };
        shape.roles().map(|role| percepts(position, joint, role)).collect()
    }

    /// Tests law 3, and laws 2 and 10 after `go_to`.
    fn revisit(
        &mut self,
        position: &mut P,
        places: &[Place<P>],
        shape: &Shape,
    ) -> Result<(), Breach> {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.shuffle(&mut self.rng);
        for step in order {
            self.step = step;
            let place = &places[step];
            position.go_to(&place.state);
            if let Some(difference) = place.answers.difference(&Answers::of(position)) {
                return Err(breach(Law::Return, format!("after go_to {difference}")));
            }
            let Some(Departure { joint, percepts }) = &place.departure else { continue };
            if *percepts != self.perceive(position, joint, shape) {
                return Err(breach(
                    Law::Percepts,
                    format!(
                        "percepts of {joint:?} were {percepts:?} and are different after go_to"
                    ),
                ));
            }
            position.advance(joint);
            if let Some(difference) = places[step + 1].answers.difference(&Answers::of(position)) {
                return Err(breach(
                    Law::Advance,
                    format!("after {joint:?} a second time, {difference}"),
                ));
            }
        }
        Ok(())
    }

    /// Tests law 8 for `play_out`, from a random position of the game, with several limits.
    fn play_out(
        &mut self,
        position: &mut P,
        places: &[Place<P>],
        shape: &Shape,
    ) -> Result<(), Breach> {
        self.step = self.rng.random_range(0..places.len());
        let Place { state, answers, .. } = &places[self.step];
        for max_steps in [0, 1, self.rng.random_range(2..5), self.plan.max_steps] {
            let seed: u64 = self.rng.random();
            position.go_to(state);
            let mut twin = position.clone();
            let n_steps = position.play_out(&mut Rng::seed_from_u64(seed), max_steps);
            let reached = Answers::of(position);
            let report = format!("play_out of at most {max_steps} steps reports {n_steps}");
            if n_steps > max_steps {
                return Err(breach(Law::Provided, report));
            }
            if n_steps < max_steps && !reached.terminal {
                return Err(breach(Law::Provided, format!("{report}, but play has not ended")));
            }
            if n_steps == 0
                && let Some(difference) = answers.difference(&reached)
            {
                return Err(breach(Law::Provided, format!("{report}, but {difference}")));
            }
            if n_steps > 0 && answers.terminal {
                return Err(breach(Law::Provided, format!("{report}, but play had already ended")));
            }
            let n_twin = twin.play_out(&mut Rng::seed_from_u64(seed), max_steps);
            if n_twin != n_steps {
                return Err(breach(
                    Law::Provided,
                    format!("{report}, then {n_twin} with the same seed"),
                ));
            }
            if let Some(difference) = reached.difference(&Answers::of(&twin)) {
                return Err(breach(
                    Law::Provided,
                    format!("play_out twice with the same seed: {difference}"),
                ));
            }
            self.inspect(position, &reached, shape)?;
        }
        Ok(())
    }
}

/// Tests law 2: two clones and the position itself make the same move and must reach the same
/// position. The clones must not change the answers `before` of the original.
fn advance_thrice<P: Notation>(
    position: &mut P,
    joint: &[P::Move],
    before: &Answers<P>,
) -> Result<(), Breach> {
    let mut first = position.clone();
    let mut second = position.clone();
    first.advance(joint);
    second.advance(joint);
    let after = Answers::of(&first);
    if let Some(difference) = after.difference(&Answers::of(&second)) {
        return Err(breach(
            Law::Advance,
            format!("two clones make the move {joint:?}: {difference}"),
        ));
    }
    if let Some(difference) = before.difference(&Answers::of(position)) {
        return Err(breach(
            Law::Advance,
            format!("a clone makes the move {joint:?}, and in the original {difference}"),
        ));
    }
    position.advance(joint);
    if let Some(difference) = after.difference(&Answers::of(position)) {
        return Err(breach(
            Law::Advance,
            format!("a clone and then the original make {joint:?}: {difference}"),
        ));
    }
    Ok(())
}
