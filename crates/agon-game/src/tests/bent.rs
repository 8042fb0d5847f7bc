//! An engine bent in one way: honest but for the one law that the bend breaks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;

use crate::{Fault, Hidden, Notation, Position, Rng, Role, Shape};

/// What is wrong with a bent engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Bend {
    Straight,
    MovesAfterTheEnd,
    NoMoveInTheMiddle,
    FaultGoesOn,
    AdvanceCountsCalls,
    AdvanceRemembersItsPath,
    ClonesShareTheirPlace,
    GoToKeepsOldMoves,
    GoToReversesMoves,
    GoToSpoilsPayoff,
    KeyIsConstant,
    KeyDependsOnThePath,
    ChancesTooHigh,
    ChanceNegative,
    ChanceForEverything,
    PayoffTooHigh,
    PayoffNotANumber,
    ClaimsConstantSum,
    ClaimsTurnTaking,
    ShapeChanges,
    MoveListedTwice,
    EverythingIsLegal,
    FirstMoveIsNotLegal,
    NobodyChooses,
    DrawKeepsTheBuffer,
    DrawsIllegalMoves,
    DrawIgnoresTheSeed,
    DrawsTheImpossible,
    PlayOutStopsEarly,
    PlayOutGoesTooFar,
    PlayOutIgnoresTheSeed,
    ReadsNoCapitals,
    ReadsNoSpaces,
    ReadsTheFirstMoveAlways,
    ReadsMovesOfElsewhere,
    ReadsSilence,
    StateUnsorted,
    PerceptsUnsorted,
    PerceptsCountCalls,
    PerceptsRememberThePath,
}

/// The position of another engine, told with one bend.
#[derive(Clone)]
pub(super) struct Bent<P: Position> {
    bend: Bend,
    inner: P,
    shape: Shape,
    state: BentState<P>,
    legal: Vec<Vec<P::Move>>,
    /// How often this cursor and those it was cloned from were moved: what no answer may depend on.
    n_moved: u64,
    /// Shared by all clones: what no answer may depend on either.
    n_calls: Arc<AtomicU64>,
    was_sent: bool,
    fault: Fault,
}

#[derive(Clone)]
pub(super) struct BentState<P: Position> {
    inner: P::State,
    /// Grows by another amount for every way to come here.
    path: u64,
    n_steps: u64,
}

impl<P: Position> Bent<P> {
    pub(super) fn new(inner: P, bend: Bend) -> Bent<P> {
        let mut shape = inner.shape().clone();
        if bend == Bend::ClaimsConstantSum {
            shape.constant_sum = Some(100.0);
        }
        if bend == Bend::ClaimsTurnTaking {
            shape.turn_taking = true;
        }
        let mut bent = Bent {
            bend,
            state: BentState { inner: inner.state().clone(), path: 0, n_steps: 0 },
            inner,
            shape,
            legal: Vec::new(),
            n_moved: 0,
            n_calls: Arc::default(),
            was_sent: false,
            fault: Fault::Refused("bent".to_owned()),
        };
        bent.legal = bent.list();
        bent
    }

    fn is(&self, bend: Bend) -> bool {
        self.bend == bend
    }

    fn n_steps(&self) -> u64 {
        self.state.n_steps
    }

    fn call(&self) -> u64 {
        self.n_calls.fetch_add(1, Ordering::Relaxed)
    }

    fn list(&self) -> Vec<Vec<P::Move>> {
        let inner = &self.inner;
        let mut legal: Vec<Vec<P::Move>> =
            inner.shape().roles().map(|role| inner.legal_moves(role).to_vec()).collect();
        let terminal = inner.is_terminal();
        match self.bend {
            Bend::MovesAfterTheEnd if terminal => legal[0] = self.legal[0].clone(),
            Bend::NoMoveInTheMiddle if self.n_steps() == 2 => legal[0].clear(),
            Bend::MoveListedTwice if !terminal => {
                let last = legal[0].last().expect("play has not ended").clone();
                legal[0].push(last);
            }
            _ => {}
        }
        legal
    }
}

impl<P: Position> Position for Bent<P> {
    type Move = P::Move;
    type State = BentState<P>;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        self.inner.is_terminal()
    }

    fn legal_moves(&self, role: Role) -> &[P::Move] {
        &self.legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let honest = self.inner.payoff(player);
        match self.bend {
            Bend::PayoffTooHigh if self.is_terminal() => 100.5,
            Bend::PayoffNotANumber if self.is_terminal() => f64::NAN,
            Bend::GoToSpoilsPayoff if self.was_sent => honest / 2.0,
            _ => honest,
        }
    }

    fn advance(&mut self, joint: &[P::Move]) {
        self.n_moved += 1;
        let mut joint = joint.to_vec();
        let rebels = match self.bend {
            Bend::AdvanceCountsCalls => self.call() % 2 == 1,
            Bend::AdvanceRemembersItsPath => self.n_moved % 2 == 1,
            Bend::ClonesShareTheirPlace => {
                self.n_calls.fetch_add(1, Ordering::Relaxed);
                false
            }
            _ => false,
        };
        if rebels {
            joint = self.legal.iter().map(|legal| legal[0].clone()).collect();
        }
        self.inner.advance(&joint);
        let path = joint.iter().zip(&self.legal).fold(self.state.path, |path, (m, legal)| {
            let index = legal.iter().position(|listed| listed == m).expect("joint moves are legal");
            path * 7 + index as u64
        });
        self.state =
            BentState { inner: self.inner.state().clone(), path, n_steps: self.n_steps() + 1 };
        self.legal = self.list();
        self.was_sent = false;
        if self.is(Bend::ShapeChanges) {
            self.shape.payoffs = 0.0..=101.0;
        }
    }

    fn state(&self) -> &BentState<P> {
        &self.state
    }

    fn go_to(&mut self, state: &BentState<P>) {
        self.inner.go_to(&state.inner);
        self.state = state.clone();
        self.was_sent = true;
        if !self.is(Bend::GoToKeepsOldMoves) {
            self.legal = self.list();
        }
        if self.is(Bend::GoToReversesMoves) {
            self.legal.iter_mut().for_each(|legal| legal.reverse());
        }
    }

    fn key(&self) -> u64 {
        match self.bend {
            Bend::KeyIsConstant => 7,
            Bend::KeyDependsOnThePath => self.state.path.wrapping_add(self.n_steps() << 32),
            Bend::ClonesShareTheirPlace => self.inner.key() ^ self.n_calls.load(Ordering::Relaxed),
            _ => self.inner.key(),
        }
    }

    fn fault(&self) -> Option<&Fault> {
        if self.is(Bend::FaultGoesOn) && self.n_steps() == 1 {
            Some(&self.fault)
        } else {
            self.inner.fault()
        }
    }

    fn is_legal(&self, role: Role, candidate: &P::Move) -> bool {
        let legal = self.legal_moves(role);
        match self.bend {
            Bend::EverythingIsLegal => true,
            Bend::FirstMoveIsNotLegal => legal[1..].contains(candidate),
            _ => legal.contains(candidate),
        }
    }

    fn chance(&self, nature_move: &P::Move) -> f64 {
        let honest = self.inner.chance(nature_move);
        let nature = self.shape.nature.expect("chance is asked only where there is nature");
        let is_first = self.legal_moves(nature).first() == Some(nature_move);
        match self.bend {
            Bend::ChancesTooHigh if is_first => honest + 1e-6,
            // Together they still add up to 1.
            Bend::ChanceNegative => honest + if is_first { -2.0 } else { 2.0 },
            Bend::ChanceForEverything if honest == 0.0 => 0.5,
            Bend::DrawsTheImpossible => f64::from(u8::from(is_first)),
            _ => honest,
        }
    }

    fn choosers(&self) -> impl Iterator<Item = Role> {
        self.inner.choosers().filter(|_| !self.is(Bend::NobodyChooses))
    }

    fn draw(&self, rng: &mut Rng, joint: &mut Vec<P::Move>) {
        let mut drawn = Vec::new();
        self.inner.draw(rng, &mut drawn);
        match self.bend {
            Bend::DrawKeepsTheBuffer => {}
            Bend::DrawsIllegalMoves => {
                drawn.reverse();
                joint.clear();
            }
            Bend::DrawIgnoresTheSeed => {
                let call = self.call() as usize;
                drawn = self.legal.iter().map(|legal| legal[call % legal.len()].clone()).collect();
                joint.clear();
            }
            Bend::DrawsTheImpossible => {
                let nature = self.shape.nature.expect("there is nature").index();
                drawn[nature] = self.legal[nature].last().expect("play has not ended").clone();
                joint.clear();
            }
            _ => joint.clear(),
        }
        joint.append(&mut drawn);
    }

    fn play_out(&mut self, rng: &mut Rng, max_steps: usize) -> usize {
        let (most, bonus) = match self.bend {
            Bend::PlayOutStopsEarly => (max_steps / 2, 0),
            Bend::PlayOutGoesTooFar => (max_steps + 1, 0),
            Bend::PlayOutIgnoresTheSeed => (max_steps, self.call()),
            _ => (max_steps, 0),
        };
        for _ in 0..bonus {
            let _: u64 = rng.random();
        }
        let mut joint = Vec::new();
        for step in 0..most {
            if self.is_terminal() {
                return step;
            }
            self.draw(rng, &mut joint);
            self.advance(&joint);
        }
        most
    }
}

impl<P: Notation> Notation for Bent<P> {
    fn move_text(&self, m: &P::Move) -> String {
        self.inner.move_text(m)
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<P::Move> {
        let honest = self.inner.parse_move(role, text);
        match self.bend {
            Bend::ReadsNoCapitals => honest.filter(|_| text.to_ascii_lowercase() == text),
            Bend::ReadsNoSpaces => honest.filter(|_| text.trim() == text),
            Bend::ReadsTheFirstMoveAlways => honest.and(self.legal_moves(role).first().cloned()),
            Bend::ReadsMovesOfElsewhere if !text.is_empty() => {
                honest.or(self.legal_moves(role).first().cloned())
            }
            Bend::ReadsSilence if text.is_empty() => self.legal_moves(role).first().cloned(),
            _ => honest,
        }
    }

    fn state_text(&self) -> Vec<String> {
        let mut text = self.inner.state_text();
        if self.is(Bend::StateUnsorted) {
            text.reverse();
        }
        text
    }
}

impl<P: Hidden> Hidden for Bent<P> {
    fn percepts(&self, joint: &[P::Move], role: Role) -> Vec<String> {
        let mut percepts = self.inner.percepts(joint, role);
        match self.bend {
            Bend::PerceptsUnsorted => percepts.reverse(),
            Bend::PerceptsCountCalls => percepts.push(format!("~ {}", self.call())),
            Bend::PerceptsRememberThePath => percepts.push(format!("~ {}", self.n_moved)),
            _ => {}
        }
        percepts
    }
}
