//! Small random games that are derived from a seed.

use agon_game::{Continuous, Hidden, Notation, Position, Role, Shape};

use crate::hash::fold;

/// The properties of a random game.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) n_players: usize,
    /// Whether the payoffs add up to a constant, with two players.
    pub(crate) constant_sum: bool,
    /// Whether all players choose at the same time.
    pub(crate) simultaneous: bool,
    pub(crate) chance: bool,
    /// Whether positions repeat.
    pub(crate) cyclic: bool,
    pub(crate) n_steps: u8,
    /// Number of different positions at each step. With fewer positions, more paths lead to each.
    pub(crate) n_labels: u64,
    /// Raises the first player's payoff at every end by this many of the four levels.
    pub(crate) bonus: usize,
}

impl Kind {
    pub(crate) const TURNS: Kind = Kind {
        n_players: 2,
        constant_sum: true,
        simultaneous: false,
        chance: false,
        cyclic: false,
        n_steps: 6,
        n_labels: 40,
        bonus: 0,
    };
}

/// A game whose rules are hashes of a seed.
#[derive(Clone, Debug)]
pub(crate) struct RandomGame {
    seed: u64,
    kind: Kind,
    shape: Shape,
    state: State,
    legal: Vec<Vec<u8>>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    step: u8,
    label: u64,
}

impl RandomGame {
    pub(crate) fn new(seed: u64, kind: Kind) -> RandomGame {
        let mut names: Vec<String> = (0..kind.n_players).map(|n| format!("p{n}")).collect();
        let nature = kind.chance.then(|| Role::new(names.len()));
        names.extend(kind.chance.then(|| "random".to_owned()));
        let shape = Shape::new(names, nature);
        let state = State { step: 0, label: 0 };
        let mut game = RandomGame { seed, kind, shape, state, legal: Vec::new() };
        game.update();
        game
    }

    fn hash(&self, salt: u64) -> u64 {
        let step = if self.kind.cyclic { 0 } else { u64::from(self.state.step) };
        fold(fold(fold(self.seed, step), self.state.label), salt)
    }

    fn update(&mut self) {
        let n_roles = self.shape.role_names.len();
        self.legal = vec![Vec::new(); n_roles];
        if self.is_terminal() {
            return;
        }
        let mover = self.hash(1) % self.kind.n_players as u64;
        for role in 0..n_roles {
            let is_nature = Some(Role::new(role)) == self.shape.nature;
            let chooses = self.kind.simultaneous || is_nature || role as u64 == mover;
            let n_moves = if chooses { 1 + self.hash(10 + role as u64) % 3 } else { 1 };
            self.legal[role] = (0..n_moves as u8).collect();
        }
    }
}

impl Position for RandomGame {
    type Move = u8;
    type State = State;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn is_terminal(&self) -> bool {
        if self.kind.cyclic {
            return self.state.label != 0 && self.hash(2).is_multiple_of(4);
        }
        self.state.step >= self.kind.n_steps
            || (self.state.step > 1 && self.hash(2).is_multiple_of(6))
    }

    fn legal_moves(&self, role: Role) -> &[u8] {
        &self.legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        if self.kind.constant_sum && player.index() == 1 {
            return 100.0 - self.payoff(Role::new(0));
        }
        let bonus = if player.index() == 0 { self.kind.bonus } else { 0 };
        let index = (self.hash(3 + player.index() as u64) % 4) as usize;
        [0.0, 20.0, 50.0, 100.0][(index + bonus).min(3)]
    }

    fn advance(&mut self, joint: &[u8]) {
        let mut label = self.hash(99);
        for &m in joint {
            label = fold(label, m.into());
        }
        self.state = State {
            step: if self.kind.cyclic { 0 } else { self.state.step + 1 },
            label: label % self.kind.n_labels,
        };
        self.update();
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn go_to(&mut self, state: &State) {
        self.state = *state;
        self.update();
    }

    fn key(&self) -> u64 {
        fold(self.state.step.into(), self.state.label)
    }
}

impl Notation for RandomGame {
    fn move_text(&self, m: &u8) -> String {
        m.to_string()
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<u8> {
        text.trim().parse().ok().filter(|m| self.legal[role.index()].contains(m))
    }

    fn state_text(&self) -> Vec<String> {
        vec![format!("{:?}", self.state)]
    }
}

impl Continuous for RandomGame {}

impl Hidden for RandomGame {
    fn percepts(&self, joint: &[u8], role: Role) -> Vec<String> {
        // The number of its next moves, which every role must know, and one bit of the joint move.
        let mut next = self.clone();
        next.advance(joint);
        let mut percepts = vec![format!("moves {}", next.legal[role.index()].len())];
        let hash = joint.iter().fold(self.hash(7), |hash, &m| fold(hash, m.into()));
        percepts.extend((hash >> role.index()).is_multiple_of(2).then(|| "tick".to_owned()));
        percepts
    }
}
