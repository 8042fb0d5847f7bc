//! Small games in plain Rust, and one correct engine that plays them all.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::{Fault, Hidden, Notation, Position, Role, Shape};

/// The rules of a small game. A move is a number, which only `move_text` explains.
pub(super) trait Rules: 'static {
    type State: Clone + Hash + Send + Sync + 'static;

    fn shape() -> Shape;
    fn start() -> Self::State;
    /// Returns the legal moves of a role before the end of play.
    fn legal(state: &Self::State, role: usize) -> Vec<u8>;
    fn has_ended(state: &Self::State) -> bool;
    fn payoff(state: &Self::State, role: usize) -> f64;
    fn next(state: &Self::State, joint: &[u8]) -> Self::State;
    fn move_text(m: u8) -> String;
    fn state_text(state: &Self::State) -> Vec<String>;

    fn chance(_state: &Self::State, _m: u8) -> f64 {
        unreachable!("only games with nature are asked for chances")
    }

    fn percepts(_state: &Self::State, _joint: &[u8], _role: usize) -> Vec<String> {
        Vec::new()
    }
}

/// A position of `R` that computes all answers again after every step.
pub(super) struct Engine<R: Rules> {
    shape: Arc<Shape>,
    state: R::State,
    legal: Vec<Vec<u8>>,
    terminal: bool,
    fault: Option<Fault>,
}

impl<R: Rules> Engine<R> {
    pub(super) fn new() -> Engine<R> {
        Engine::at(Arc::new(R::shape()), R::start())
    }

    fn at(shape: Arc<Shape>, state: R::State) -> Engine<R> {
        let mut terminal = R::has_ended(&state);
        let mut fault = None;
        let mut legal = vec![Vec::new(); shape.role_names.len()];
        if !terminal {
            legal = shape.roles().map(|role| R::legal(&state, role.index())).collect();
            if let Some(stuck) = legal.iter().position(Vec::is_empty) {
                terminal = true;
                fault = Some(Fault::NoLegalMove(Role::new(stuck)));
                legal.iter_mut().for_each(Vec::clear);
            }
        }
        Engine { shape, state, legal, terminal, fault }
    }
}

impl<R: Rules> Clone for Engine<R> {
    fn clone(&self) -> Engine<R> {
        Engine::at(self.shape.clone(), self.state.clone())
    }
}

impl<R: Rules> Position for Engine<R> {
    type Move = u8;
    type State = R::State;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        self.terminal
    }

    fn legal_moves(&self, role: Role) -> &[u8] {
        &self.legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        R::payoff(&self.state, player.index())
    }

    fn advance(&mut self, joint: &[u8]) {
        self.go_to(&R::next(&self.state, joint));
    }

    fn state(&self) -> &R::State {
        &self.state
    }

    fn go_to(&mut self, state: &R::State) {
        *self = Engine::at(self.shape.clone(), state.clone());
    }

    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.state.hash(&mut hasher);
        hasher.finish()
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn chance(&self, nature_move: &u8) -> f64 {
        let nature = self.shape.nature.expect("chance is asked only where there is nature");
        if self.is_legal(nature, nature_move) { R::chance(&self.state, *nature_move) } else { 0.0 }
    }
}

impl<R: Rules> Notation for Engine<R> {
    fn move_text(&self, m: &u8) -> String {
        R::move_text(*m)
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<u8> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let plain = words.join(" ").to_ascii_lowercase();
        self.legal_moves(role).iter().copied().find(|&m| R::move_text(m) == plain)
    }

    fn state_text(&self) -> Vec<String> {
        R::state_text(&self.state)
    }
}

impl<R: Rules> Hidden for Engine<R> {
    fn percepts(&self, joint: &[u8], role: Role) -> Vec<String> {
        R::percepts(&self.state, joint, role.index())
    }
}

fn names(roles: &[&str]) -> Vec<String> {
    roles.iter().map(ToString::to_string).collect()
}

/// Nim: players in turn take one to three from a pile of nine. The player that takes the last wins.
pub(super) struct Nim;

#[derive(Clone, Hash)]
pub(super) struct Pile {
    left: u8,
    mover: usize,
}

impl Rules for Nim {
    type State = Pile;

    fn shape() -> Shape {
        Shape {
            turn_taking: true,
            constant_sum: Some(100.0),
            ..Shape::new(names(&["First", "Second"]), None)
        }
    }

    fn start() -> Pile {
        Pile { left: 9, mover: 0 }
    }

    fn legal(pile: &Pile, role: usize) -> Vec<u8> {
        if role == pile.mover { (1..=pile.left.min(3)).collect() } else { vec![0] }
    }

    fn has_ended(pile: &Pile) -> bool {
        pile.left == 0
    }

    fn payoff(pile: &Pile, role: usize) -> f64 {
        match (pile.left, role == pile.mover) {
            (0, true) => 0.0,
            (0, false) => 100.0,
            _ => 50.0,
        }
    }

    fn next(pile: &Pile, joint: &[u8]) -> Pile {
        Pile { left: pile.left - joint[pile.mover], mover: 1 - pile.mover }
    }

    fn move_text(m: u8) -> String {
        if m == 0 { "wait".to_owned() } else { format!("take {m}") }
    }

    fn state_text(pile: &Pile) -> Vec<String> {
        vec![format!("left {}", pile.left), format!("mover {}", pile.mover)]
    }
}

/// Nim with a mistake in the rules: with fewer than two left the player to move has no move.
pub(super) struct StuckNim;

impl Rules for StuckNim {
    type State = Pile;

    fn shape() -> Shape {
        Nim::shape()
    }

    fn start() -> Pile {
        Nim::start()
    }

    fn legal(pile: &Pile, role: usize) -> Vec<u8> {
        if role == pile.mover { (2..=pile.left.min(3)).collect() } else { vec![0] }
    }

    fn has_ended(pile: &Pile) -> bool {
        Nim::has_ended(pile)
    }

    fn payoff(pile: &Pile, role: usize) -> f64 {
        // At a fault the payoffs need not have the claimed sum.
        if pile.left == 1 { 0.0 } else { Nim::payoff(pile, role) }
    }

    fn next(pile: &Pile, joint: &[u8]) -> Pile {
        Nim::next(pile, joint)
    }

    fn move_text(m: u8) -> String {
        Nim::move_text(m)
    }

    fn state_text(pile: &Pile) -> Vec<String> {
        Nim::state_text(pile)
    }
}

/// Five rounds of rock, paper, scissors, with simultaneous moves.
pub(super) struct Rochambeau;

#[derive(Clone, Hash)]
pub(super) struct Score {
    rounds: u8,
    wins: [u8; 2],
}

impl Rules for Rochambeau {
    type State = Score;

    fn shape() -> Shape {
        Shape { constant_sum: Some(100.0), ..Shape::new(names(&["left", "right"]), None) }
    }

    fn start() -> Score {
        Score { rounds: 0, wins: [0, 0] }
    }

    fn legal(_: &Score, _: usize) -> Vec<u8> {
        vec![0, 1, 2]
    }

    fn has_ended(score: &Score) -> bool {
        score.rounds == 5
    }

    fn payoff(score: &Score, role: usize) -> f64 {
        50.0 + 10.0 * (f64::from(score.wins[role]) - f64::from(score.wins[1 - role]))
    }

    fn next(score: &Score, joint: &[u8]) -> Score {
        let mut next = Score { rounds: score.rounds + 1, ..score.clone() };
        match (3 + joint[0] - joint[1]) % 3 {
            1 => next.wins[0] += 1,
            2 => next.wins[1] += 1,
            _ => {}
        }
        next
    }

    fn move_text(m: u8) -> String {
        ["rock", "paper", "scissors"][usize::from(m)].to_owned()
    }

    fn state_text(score: &Score) -> Vec<String> {
        vec![
            format!("rounds {}", score.rounds),
            format!("wins {} {}", score.wins[0], score.wins[1]),
        ]
    }
}

/// A gambler against a loaded die, which rolls a six only in the first two of four rounds.
pub(super) struct Gamble;

#[derive(Clone, Hash)]
pub(super) struct Purse {
    rounds: u8,
    coins: u8,
}

impl Rules for Gamble {
    type State = Purse;

    fn shape() -> Shape {
        Shape { turn_taking: true, ..Shape::new(names(&["gambler", "die"]), Some(Role::new(1))) }
    }

    fn start() -> Purse {
        Purse { rounds: 0, coins: 10 }
    }

    fn legal(purse: &Purse, role: usize) -> Vec<u8> {
        match role {
            0 => vec![0, 1],
            _ if purse.rounds < 2 => vec![2, 3, 4],
            _ => vec![2, 3],
        }
    }

    fn has_ended(purse: &Purse) -> bool {
        purse.rounds == 4
    }

    fn payoff(purse: &Purse, _: usize) -> f64 {
        purse.coins.into()
    }

    fn next(purse: &Purse, joint: &[u8]) -> Purse {
        let coins = match (joint[0], joint[1]) {
            (0, _) => purse.coins,
            (_, 2) => purse.coins - 2,
            (_, 3) => purse.coins + 1,
            _ => purse.coins + 5,
        };
        Purse { rounds: purse.rounds + 1, coins }
    }

    fn move_text(m: u8) -> String {
        ["hold", "bet", "low", "high", "six"][usize::from(m)].to_owned()
    }

    fn state_text(purse: &Purse) -> Vec<String> {
        vec![format!("coins {}", purse.coins), format!("rounds {}", purse.rounds)]
    }

    fn chance(purse: &Purse, m: u8) -> f64 {
        match (purse.rounds < 2, m) {
            (true, 2) => 0.7,
            (true, 3) => 0.2,
            (true, _) => 0.1,
            (false, 2) => 0.75,
            (false, _) => 0.25,
        }
    }
}

/// Poker with three cards: each player is dealt one card and sees only that. Ann bets or folds,
/// then Bob calls or folds.
pub(super) struct Poker;

#[derive(Clone, Hash)]
pub(super) struct Deal {
    stage: u8,
    /// Ann's card and Bob's.
    cards: [u8; 2],
    /// The payoff of Ann at the end.
    payoff: u8,
}

impl Poker {
    /// The deals of two different cards out of three. They are moves 10 to 15.
    const DEALS: [[u8; 2]; 6] = [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2]];
}

impl Rules for Poker {
    type State = Deal;

    fn shape() -> Shape {
        Shape {
            turn_taking: true,
            constant_sum: Some(100.0),
            hidden: true,
            ..Shape::new(names(&["dealer", "ann", "bob"]), Some(Role::new(0)))
        }
    }

    fn start() -> Deal {
        Deal { stage: 0, cards: [0, 0], payoff: 50 }
    }

    fn legal(deal: &Deal, role: usize) -> Vec<u8> {
        match (deal.stage, role) {
            (0, 0) => (10..16).collect(),
            (1, 1) => vec![1, 2],
            (2, 2) => vec![2, 3],
            _ => vec![0],
        }
    }

    fn has_ended(deal: &Deal) -> bool {
        deal.stage == 3
    }

    fn payoff(deal: &Deal, role: usize) -> f64 {
        f64::from(if role == 1 { deal.payoff } else { 100 - deal.payoff })
    }

    fn next(deal: &Deal, joint: &[u8]) -> Deal {
        let [ann, bob] = deal.cards;
        match (deal.stage, joint[1], joint[2]) {
            (0, ..) => {
                Deal { stage: 1, cards: Poker::DEALS[usize::from(joint[0] - 10)], payoff: 50 }
            }
            (1, 1, _) => Deal { stage: 2, ..deal.clone() },
            (1, ..) => Deal { stage: 3, payoff: 25, ..deal.clone() },
            (_, _, 2) => Deal { stage: 3, payoff: 75, ..deal.clone() },
            _ => Deal { stage: 3, payoff: if ann > bob { 100 } else { 0 }, ..deal.clone() },
        }
    }

    fn move_text(m: u8) -> String {
        match m {
            10.. => {
                let [ann, bob] = Poker::DEALS[usize::from(m - 10)];
                format!("deal {ann} {bob}")
            }
            m => ["wait", "bet", "fold", "call"][usize::from(m)].to_owned(),
        }
    }

    fn state_text(deal: &Deal) -> Vec<String> {
        let [ann, bob] = deal.cards;
        vec![
            format!("cards {ann} {bob}"),
            format!("pays {}", deal.payoff),
            format!("stage {}", deal.stage),
        ]
    }

    fn chance(deal: &Deal, _: u8) -> f64 {
        if deal.stage == 0 { 1.0 / 6.0 } else { 1.0 }
    }

    fn percepts(deal: &Deal, joint: &[u8], role: usize) -> Vec<String> {
        match (deal.stage, role) {
            (_, 0) => Vec::new(),
            (0, _) => vec![format!("card {}", Poker::DEALS[usize::from(joint[0] - 10)][role - 1])],
            _ => vec![
                format!("ann {}", Poker::move_text(joint[1])),
                format!("bob {}", Poker::move_text(joint[2])),
            ],
        }
    }
}
