//! The comparison of two positions.

use std::hash::{BuildHasherDefault, DefaultHasher};

use super::{Chances, Faults, Mismatch, MoveOrder, Options, Payoffs, Side, TextDifference};
use crate::{Fault, Notation, Position, Role, Shape};

/// A map whose order is never visible.
type Map<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Chances of nature count as equal up to this difference, which is room for rounding in sums.
const CHANCE_TOLERANCE: f64 = 1e-9;

/// No index of any list.
const NONE: usize = usize::MAX;

/// Compares positions of two engines and pairs their moves.
///
/// In games with thousands of moves most of the work would be the texts of moves. The comparator
/// remembers the text of each move, so it should be kept for all positions of a game.
pub struct Comparator<'o, A: Position, B: Position> {
    options: &'o Options<'o, A, B>,
    /// By text of a move of the first game: its number.
    numbers: Map<String, usize>,
    /// By role: the numbers of moves of the first game.
    first: Vec<Map<A::Move, usize>>,
    /// By role: the numbers of moves of the second game.
    second: Vec<Map<B::Move, usize>>,
    /// By number: where the move was last seen in a list of the first game.
    sightings: Vec<Sighting>,
    /// Number of comparisons of lists so far.
    now: usize,
    /// By index in the list of the first game: the index in the list of the second.
    partners: Vec<usize>,
    /// By index in the list of the first game: the sum of the chances in the second.
    chances: Vec<f64>,
}

#[derive(Copy, Clone)]
struct Sighting {
    /// The comparison of lists in which the move was seen.
    time: usize,
    index: usize,
}

impl<'o, A: Notation, B: Notation> Comparator<'o, A, B> {
    /// Returns a comparator for positions of the game of `first`.
    pub fn new(first: &A, options: &'o Options<'o, A, B>) -> Comparator<'o, A, B> {
        let n_roles = first.shape().role_names.len();
        Comparator {
            options,
            numbers: Map::default(),
            first: vec![Map::default(); n_roles],
            second: vec![Map::default(); n_roles],
            sightings: Vec::new(),
            now: 0,
            partners: Vec::new(),
            chances: Vec::new(),
        }
    }

    /// Returns the options of the comparison.
    pub fn options(&self) -> &'o Options<'o, A, B> {
        self.options
    }

    /// Forgets the texts of moves. A caller whose moves have other texts at other positions calls
    /// this before every position.
    pub fn forget_texts(&mut self) {
        self.numbers.clear();
        self.first.iter_mut().for_each(Map::clear);
        self.second.iter_mut().for_each(Map::clear);
        self.sightings.clear();
    }

    /// Returns whether nothing can be compared here because of a fault. See [`Faults`].
    pub fn is_abandoned(&self, a: &A, b: &B) -> bool {
        let is_refused = |fault: Option<&Fault>| matches!(fault, Some(Fault::Refused(_)));
        match self.options.faults {
            Faults::Compared => is_refused(a.fault()) || is_refused(b.fault()),
            Faults::FirstMayFail => a.fault().is_some(),
            Faults::Rejected => false,
        }
    }

    /// Compares all answers of two positions except moves and percepts.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn compare_position(&self, a: &A, b: &B) -> Result<(), Mismatch> {
        self.compare_faults(a, b)?;
        if a.is_terminal() != b.is_terminal() {
            let ended = if a.is_terminal() { Side::First } else { Side::Second };
            return Err(Mismatch::Terminal { ended });
        }
        if self.options.states {
            let (first, second) = (a.state_text(), b.state_text());
            if first != second {
                let difference = TextDifference::between(&first, &second, str::to_owned);
                return Err(Mismatch::State(difference.unwrap_or_default()));
            }
        }
        if self.options.payoffs == Payoffs::Always || a.is_terminal() {
            self.compare_payoffs(a, b)?;
        }
        Ok(())
    }

    fn compare_faults(&self, a: &A, b: &B) -> Result<(), Mismatch> {
        let (side, fault) = match (self.options.faults, a.fault(), b.fault()) {
            (_, None, None) => return Ok(()),
            (Faults::Compared, Some(first), Some(second)) if first == second => return Ok(()),
            (Faults::FirstMayFail, Some(_), _) => return Ok(()),
            (_, Some(fault), _) => (Side::First, fault),
            (_, None, Some(fault)) => (Side::Second, fault),
        };
        Err(Mismatch::Fault { side, fault: fault.clone() })
    }

    fn compare_payoffs(&self, a: &A, b: &B) -> Result<(), Mismatch> {
        for role in a.shape().players() {
            let first = match self.options.first_payoffs {
                Some(values) => values(a, role),
                None => Some(vec![a.payoff(role)]),
            };
            let second = match self.options.second_payoffs {
                Some(values) => values(b, role),
                None => Some(vec![b.payoff(role)]),
            };
            let (Some(first), Some(second)) = (first, second) else { continue };
            let is_close = |(x, y): (&f64, &f64)| x == y || (x - y).abs() <= self.options.tolerance;
            if first.len() != second.len() || !first.iter().zip(&second).all(is_close) {
                return Err(Mismatch::Payoff { role: name(a.shape(), role), first, second });
            }
        }
        Ok(())
    }

    /// Compares the legal moves of a role. Returns, for each legal move of the first game, the
    /// index of its partner among the legal moves of the second.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn compare_moves(&mut self, a: &A, b: &B, role: Role) -> Result<&[usize], Mismatch> {
        self.see_first(a, role);
        let merges = self.options.chances == Chances::Compared && a.shape().nature == Some(role);
        let mut extra = Vec::new();
        for (index, m) in b.legal_moves(role).iter().enumerate() {
            let number = self.second_number(a.shape(), b, role, m)?;
            let Sighting { time, index: partner } = self.sightings[number];
            if time != self.now || self.partners[partner] != NONE && !merges {
                let text = b.move_text(m);
                extra.push(self.translated(role, &text).unwrap_or(text));
                continue;
            }
            if self.partners[partner] == NONE {
                self.partners[partner] = index;
            }
            if merges {
                self.chances[partner] += b.chance(m);
            }
        }
        let legal = a.legal_moves(role);
        let unpaired = self.partners.iter().zip(legal).filter(|&(&partner, _)| partner == NONE);
        let missing: Vec<String> = unpaired.map(|(_, m)| self.first_text(a, role, m)).collect();
        if !missing.is_empty() || !extra.is_empty() {
            let difference = TextDifference { missing, extra };
            return Err(Mismatch::Moves { role: name(a.shape(), role), difference });
        }
        if self.options.move_order == MoveOrder::Same
            && let Some(index) = (0..self.partners.len()).find(|&i| self.partners[i] != i)
        {
            return Err(Mismatch::MoveOrder { role: name(a.shape(), role), index });
        }
        if merges {
            self.compare_chances(a, legal)?;
        }
        Ok(&self.partners)
    }

    /// Notes the legal moves of a role in the first game, none of them paired yet.
    fn see_first(&mut self, a: &A, role: Role) {
        self.now += 1;
        self.partners.clear();
        self.chances.clear();
        for (index, m) in a.legal_moves(role).iter().enumerate() {
            let number = match self.first[role.index()].get(m) {
                Some(&number) => number,
                None => {
                    let number = self.number(self.first_text(a, role, m));
                    self.first[role.index()].insert(m.clone(), number);
                    number
                }
            };
            self.sightings[number] = Sighting { time: self.now, index };
            self.partners.push(NONE);
            self.chances.push(0.0);
        }
    }

    fn second_number(
        &mut self,
        shape: &Shape,
        b: &B,
        role: Role,
        m: &B::Move,
    ) -> Result<usize, Mismatch> {
        if let Some(&number) = self.second[role.index()].get(m) {
            return Ok(number);
        }
        let text = b.move_text(m);
        let Some(translated) = self.translated(role, &text) else {
            return Err(Mismatch::UnknownMove { role: name(shape, role), text });
        };
        let number = self.number(translated);
        self.second[role.index()].insert(m.clone(), number);
        Ok(number)
    }

    fn compare_chances(&self, a: &A, legal: &[A::Move]) -> Result<(), Mismatch> {
        for (m, &second) in legal.iter().zip(&self.chances) {
            let first = a.chance(m);
            if (first - second).abs() > CHANCE_TOLERANCE {
                return Err(Mismatch::Chance { text: a.move_text(m), first, second });
            }
        }
        Ok(())
    }

    /// Compares the legal moves of all roles. Returns the joint move of the second game for a joint
    /// move of the first.
    ///
    /// # Errors
    /// The first mismatch.
    ///
    /// # Panics
    /// If a move is not legal in the first game.
    pub fn joint(&mut self, a: &A, b: &B, joint: &[A::Move]) -> Result<Vec<B::Move>, Mismatch> {
        let mut partners = Vec::with_capacity(joint.len());
        for (role, m) in a.shape().roles().zip(joint) {
            let indices = self.compare_moves(a, b, role)?;
            match a.legal_moves(role).iter().position(|legal| legal == m) {
                Some(index) => partners.push(b.legal_moves(role)[indices[index]].clone()),
                None => partners.push(self.unlisted_partner(a, b, role, m)?),
            }
        }
        Ok(partners)
    }

    /// Returns the partner of a legal move that the first game does not list, because it has
    /// infinitely many.
    fn unlisted_partner(&self, a: &A, b: &B, role: Role, m: &A::Move) -> Result<B::Move, Mismatch> {
        assert!(a.is_legal(role, m), "the joint move is legal in the first game");
        let text = self.first_text(a, role, m);
        b.parse_move(role, &text).ok_or_else(|| {
            let difference = TextDifference { missing: vec![text], extra: Vec::new() };
            Mismatch::Moves { role: name(a.shape(), role), difference }
        })
    }

    /// Compares what each role perceives of a joint move, if percepts are compared.
    ///
    /// # Errors
    /// The first mismatch.
    pub fn compare_percepts(
        &self,
        a: &A,
        b: &B,
        joint_a: &[A::Move],
        joint_b: &[B::Move],
    ) -> Result<(), Mismatch> {
        let Some((percepts_a, percepts_b)) = self.options.percepts else { return Ok(()) };
        for role in a.shape().players() {
            let (first, second) = (percepts_a(a, joint_a, role), percepts_b(b, joint_b, role));
            if first != second {
                let difference = TextDifference::between(&first, &second, str::to_owned);
                let difference = difference.unwrap_or_default();
                return Err(Mismatch::Percepts { role: name(a.shape(), role), difference });
            }
        }
        Ok(())
    }

    fn first_text(&self, a: &A, role: Role, m: &A::Move) -> String {
        let text = a.move_text(m);
        match self.options.first_move {
            Some(first_move) => first_move(role, &text),
            None => text,
        }
    }

    fn translated(&self, role: Role, text: &str) -> Option<String> {
        match self.options.second_move {
            Some(second_move) => second_move(role, text),
            None => Some(text.to_owned()),
        }
    }

    fn number(&mut self, text: String) -> usize {
        let next = self.sightings.len();
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.sightings.push(Sighting { time: 0, index: NONE });
        }
        number
    }
}

fn name(shape: &Shape, role: Role) -> String {
    shape.role_names[role.index()].clone()
}
