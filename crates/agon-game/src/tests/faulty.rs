//! A wrapper that gives any engine one defect. Each defect breaks one law and keeps the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;

use crate::{Fault, Hidden, Notation, Position, Rng, Role, Shape};

/// What is wrong with a faulty engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    None,
    MovesAfterEnd,
    NoMoveAfterTwoSteps,
    FaultIsNotTerminal,
    AdvanceCountsCalls,
    AdvanceDependsOnPath,
    ClonesShareState,
    GoToKeepsOldMoves,
    GoToReversesMoves,
    GoToChangesPayoff,
    KeyIsConstant,
    KeyDependsOnPath,
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
    ChoosersAreEmpty,
    DrawKeepsTheBuffer,
    DrawsIllegalMoves,
    DrawIgnoresTheSeed,
    DrawsImpossibleMove,
    PlayOutStopsEarly,
    PlayOutExceedsLimit,
    PlayOutIgnoresTheSeed,
    RejectsCapitals,
    RejectsSpaces,
    AlwaysReadsFirstMove,
    ReadsForeignMoves,
    ReadsEmptyText,
    StateUnsorted,
    PerceptsUnsorted,
    PerceptsCountCalls,
    PerceptsDependOnPath,
}

/// The position of another engine with one defect.
#[derive(Clone)]
pub(super) struct Faulty<P: Position> {
    defect: Defect,
    inner: P,
    shape: Shape,
    state: FaultyState<P>,
    legal: Vec<Vec<P::Move>>,
    /// Number of moves of this cursor and those it was cloned from. No answer may depend on it.
    n_moved: u64,
    /// Number of calls, shared by all clones. No answer may depend on it.
    n_calls: Arc<AtomicU64>,
    was_sent: bool,
    fault: Fault,
}

#[derive(Clone)]
pub(super) struct FaultyState<P: Position> {
    inner: P::State,
    /// A number that differs between the paths that lead here.
    path: u64,
    n_steps: u64,
}

impl<P: Position + 'static> Faulty<P> {
    pub(super) fn new(inner: P, defect: Defect) -> Faulty<P> {
        let mut shape = inner.shape().clone();
        if defect == Defect::ClaimsConstantSum {
            shape.constant_sum = Some(100.0);
        }
        if defect == Defect::ClaimsTurnTaking {
            shape.turn_taking = true;
        }
        let mut faulty = Faulty {
            defect,
            state: FaultyState { inner: inner.state().clone(), path: 0, n_steps: 0 },
            inner,
            shape,
            legal: Vec::new(),
            n_moved: 0,
            n_calls: Arc::default(),
            was_sent: false,
            fault: Fault::Refused("faulty".to_owned()),
        };
        faulty.legal = faulty.list();
        faulty
    }

    fn is(&self, defect: Defect) -> bool {
        self.defect == defect
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
        match self.defect {
            Defect::MovesAfterEnd if terminal => legal[0] = self.legal[0].clone(),
            Defect::NoMoveAfterTwoSteps if self.n_steps() == 2 => legal[0].clear(),
            Defect::MoveListedTwice if !terminal => {
                let last = legal[0].last().expect("play has not ended").clone();
                legal[0].push(last);
            }
            _ => {}
        }
        legal
    }
}

impl<P: Position + 'static> Position for Faulty<P> {
    type Move = P::Move;
    type State = FaultyState<P>;

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
        let correct = self.inner.payoff(player);
        match self.defect {
            Defect::PayoffTooHigh if self.is_terminal() => 100.5,
            Defect::PayoffNotANumber if self.is_terminal() => f64::NAN,
            Defect::GoToChangesPayoff if self.was_sent => correct / 2.0,
            _ => correct,
        }
    }

    fn advance(&mut self, joint: &[P::Move]) {
        self.n_moved += 1;
        let mut joint = joint.to_vec();
        let plays_first_moves = match self.defect {
            Defect::AdvanceCountsCalls => self.call() % 2 == 1,
            Defect::AdvanceDependsOnPath => self.n_moved % 2 == 1,
            Defect::ClonesShareState => {
                self.n_calls.fetch_add(1, Ordering::Relaxed);
                false
            }
            _ => false,
        };
        if plays_first_moves {
            joint = self.legal.iter().map(|legal| legal[0].clone()).collect();
        }
        self.inner.advance(&joint);
        let path = joint.iter().zip(&self.legal).fold(self.state.path, |path, (m, legal)| {
            let index = legal.iter().position(|listed| listed == m).expect("joint moves are legal");
            path * 7 + index as u64
        });
        self.state =
            FaultyState { inner: self.inner.state().clone(), path, n_steps: self.n_steps() + 1 };
        self.legal = self.list();
        self.was_sent = false;
        if self.is(Defect::ShapeChanges) {
            self.shape.payoffs = 0.0..=101.0;
        }
    }

    fn state(&self) -> &FaultyState<P> {
        &self.state
    }

    fn go_to(&mut self, state: &FaultyState<P>) {
        self.inner.go_to(&state.inner);
        self.state = state.clone();
        self.was_sent = true;
        if !self.is(Defect::GoToKeepsOldMoves) {
            self.legal = self.list();
        }
        if self.is(Defect::GoToReversesMoves) {
            self.legal.iter_mut().for_each(|legal| legal.reverse());
        }
    }

    fn key(&self) -> u64 {
        match self.defect {
            Defect::KeyIsConstant => 7,
            Defect::KeyDependsOnPath => self.state.path.wrapping_add(self.n_steps() << 32),
            Defect::ClonesShareState => self.inner.key() ^ self.n_calls.load(Ordering::Relaxed),
            _ => self.inner.key(),
        }
    }

    fn fault(&self) -> Option<&Fault> {
        if self.is(Defect::FaultIsNotTerminal) && self.n_steps() == 1 {
            Some(&self.fault)
        } else {
            self.inner.fault()
        }
    }

    fn is_legal(&self, role: Role, candidate: &P::Move) -> bool {
        let legal = self.legal_moves(role);
        match self.defect {
            Defect::EverythingIsLegal => true,
            Defect::FirstMoveIsNotLegal => legal[1..].contains(candidate),
            _ => legal.contains(candidate),
        }
    }

    fn chance(&self, nature_move: &P::Move) -> f64 {
        let correct = self.inner.chance(nature_move);
        let nature = self.shape.nature.expect("chance is asked only where there is nature");
        let is_first = self.legal_moves(nature).first() == Some(nature_move);
        match self.defect {
            Defect::ChancesTooHigh if is_first => correct + 1e-6,
            // The sum is still 1.
            Defect::ChanceNegative => correct + if is_first { -2.0 } else { 2.0 },
            Defect::ChanceForEverything if correct == 0.0 => 0.5,
            Defect::DrawsImpossibleMove => f64::from(u8::from(is_first)),
            _ => correct,
        }
    }

    fn choosers(&self) -> impl Iterator<Item = Role> {
        self.inner.choosers().filter(|_| !self.is(Defect::ChoosersAreEmpty))
    }

    fn draw(&self, rng: &mut Rng, joint: &mut Vec<P::Move>) {
        let mut drawn = Vec::new();
        self.inner.draw(rng, &mut drawn);
        match self.defect {
            Defect::DrawKeepsTheBuffer => {}
            Defect::DrawsIllegalMoves => {
                drawn.reverse();
                joint.clear();
            }
            Defect::DrawIgnoresTheSeed => {
                let call = self.call() as usize;
                drawn = self.legal.iter().map(|legal| legal[call % legal.len()].clone()).collect();
                joint.clear();
            }
            Defect::DrawsImpossibleMove => {
                let nature = self.shape.nature.expect("there is nature").index();
                drawn[nature] = self.legal[nature].last().expect("play has not ended").clone();
                joint.clear();
            }
            _ => joint.clear(),
        }
        joint.append(&mut drawn);
    }

    fn play_out(&mut self, rng: &mut Rng, max_steps: usize) -> usize {
        let (most, bonus) = match self.defect {
            Defect::PlayOutStopsEarly => (max_steps / 2, 0),
            Defect::PlayOutExceedsLimit => (max_steps + 1, 0),
            Defect::PlayOutIgnoresTheSeed => (max_steps, self.call()),
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

impl<P: Notation + 'static> Notation for Faulty<P> {
    fn move_text(&self, m: &P::Move) -> String {
        self.inner.move_text(m)
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<P::Move> {
        let correct = self.inner.parse_move(role, text);
        match self.defect {
            Defect::RejectsCapitals => correct.filter(|_| text.to_ascii_lowercase() == text),
            Defect::RejectsSpaces => correct.filter(|_| text.trim() == text),
            Defect::AlwaysReadsFirstMove => correct.and(self.legal_moves(role).first().cloned()),
            Defect::ReadsForeignMoves if !text.is_empty() => {
                correct.or(self.legal_moves(role).first().cloned())
            }
            Defect::ReadsEmptyText if text.is_empty() => self.legal_moves(role).first().cloned(),
            _ => correct,
        }
    }

    fn state_text(&self) -> Vec<String> {
        let mut text = self.inner.state_text();
        if self.is(Defect::StateUnsorted) {
            text.reverse();
        }
        text
    }
}

impl<P: Hidden + 'static> Hidden for Faulty<P> {
    fn percepts(&self, joint: &[P::Move], role: Role) -> Vec<String> {
        let mut percepts = self.inner.percepts(joint, role);
        match self.defect {
            Defect::PerceptsUnsorted => percepts.reverse(),
            Defect::PerceptsCountCalls => percepts.push(format!("~ {}", self.call())),
            Defect::PerceptsDependOnPath => percepts.push(format!("~ {}", self.n_moved)),
            _ => {}
        }
        percepts
    }
}
