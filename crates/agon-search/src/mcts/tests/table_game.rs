//! Games given by tables: random ones, and their solutions by brute force.

use std::sync::Arc;

use agon_game::{Batch, Position, Rng, Role, SequentialBatch, Shape};
use rand::{RngExt, SeedableRng};

/// A position of such a game.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The number of moves by role. Empty if the game is over.
    pub(crate) n_moves: Vec<usize>,
    /// The next place by joint move, with the last role's move changing fastest.
    pub(crate) next: Vec<usize>,
    /// The payoffs by role.
    pub(crate) payoffs: Vec<f64>,
    /// The probabilities of nature's moves.
    pub(crate) chances: Vec<f64>,
}

impl Place {
    pub(crate) fn end(payoffs: &[f64]) -> Place {
        Place {
            n_moves: Vec::new(),
            next: Vec::new(),
            payoffs: payoffs.to_vec(),
            chances: Vec::new(),
        }
    }
}

/// The rules of a game.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) shape: Shape,
    pub(crate) places: Vec<Place>,
    /// Whether the position offers a batch engine.
    pub(crate) has_batch: bool,
}

impl Table {
    pub(crate) fn start(self) -> At {
        At::new(Arc::new(self), 0)
    }

    /// Returns a game of one simultaneous step for two players. The first one gets the payoff of
    /// its row and the other's column, and the second one gets the rest of 100.
    pub(crate) fn matrix(payoffs: &[&[f64]]) -> Table {
        let n_moves = vec![payoffs.len(), payoffs[0].len()];
        let ends = payoffs.iter().flat_map(|row| row.iter()).map(|&p| Place::end(&[p, 100.0 - p]));
        let mut places: Vec<Place> = vec![];
        places.push(Place {
            next: (1..=n_moves[0] * n_moves[1]).collect(),
            n_moves,
            payoffs: vec![0.0, 0.0],
            chances: Vec::new(),
        });
        places.extend(ends);
        Table {
            shape: Shape::new(vec!["row".into(), "column".into()], None),
            places,
            has_batch: false,
        }
    }

    /// Returns the value of each place for each role, in games where one role chooses at a time and
    /// places lead only to later ones.
    pub(crate) fn solve(&self) -> Vec<Vec<f64>> {
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); self.places.len()];
        for (at, place) in self.places.iter().enumerate().rev() {
            let mover = place.n_moves.iter().position(|&n| n > 1).unwrap_or(0);
            values[at] = if place.n_moves.is_empty() {
                place.payoffs.clone()
            } else if self.shape.nature == Some(Role::new(mover)) {
                let mut sums = vec![0.0; place.payoffs.len()];
                for (&next, &chance) in place.next.iter().zip(&place.chances) {
                    sums.iter_mut()
                        .zip(&values[next])
                        .for_each(|(sum, value)| *sum += chance * value);
                }
                sums
            } else {
                let best = place
                    .next
                    .iter()
                    .max_by(|&&a, &&b| values[a][mover].total_cmp(&values[b][mover]));
                values[*best.expect("a role can move")].clone()
            };
        }
        values
    }
}

/// The kind of a random game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Like {
    /// Two players with a constant sum and few different payoffs, so that there are ties.
    Duel,
    /// A duel with chance.
    DuelWithChance,
    /// Three players with independent payoffs, without ties.
    Trio,
    /// One player.
    Puzzle,
}

/// Returns a random game of this kind that always ends.
pub(crate) fn random_table(like: Like, n_places: usize, seed: u64) -> Table {
    let mut rng = Rng::seed_from_u64(seed);
    let (n_players, nature) = match like {
        Like::Duel => (2, None),
        Like::DuelWithChance => (2, Some(Role::new(2))),
        Like::Trio => (3, None),
        Like::Puzzle => (1, None),
    };
    let n_roles = n_players + usize::from(nature.is_some());
    let mut places = Vec::new();
    for at in 0..n_places {
        let is_end = at + 4 > n_places || at > 2 && rng.random_range(0..4) == 0;
        let mut payoffs: Vec<f64> = match like {
            Like::Trio => (0..n_roles).map(|_| 100.0 * rng.random::<f64>()).collect(),
            Like::Duel | Like::DuelWithChance | Like::Puzzle => {
                let ours = f64::from(rng.random_range(0..5)) * 25.0;
                vec![ours, 100.0 - ours, 0.0][..n_roles].to_vec()
            }
        };
        if like == Like::Puzzle {
            payoffs.truncate(1);
        }
        if is_end {
            places.push(Place::end(&payoffs));
            continue;
        }
        let mover = rng.random_range(0..n_roles);
        let n = rng.random_range(1..5);
        let mut n_moves = vec![1; n_roles];
        n_moves[mover] = n;
        let next = (0..n)
            .map(|_| (at + 1 + rng.random_range(0..n_places.div_ceil(3).min(30))).min(n_places - 1))
            .collect();
        // Some outcomes are rarer than others.
        let weights: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(1..4))).collect();
        let total: f64 = weights.iter().sum();
        let chances = match nature {
            Some(nature) if nature.index() == mover => {
                weights.iter().map(|weight| weight / total).collect()
            }
            _ => vec![1.0],
        };
        places.push(Place { n_moves, next, payoffs: vec![0.0; n_roles], chances });
    }
    let names = (0..n_roles).map(|role| format!("role{role}")).collect();
    Table { shape: Shape::new(names, nature), places, has_batch: seed.is_multiple_of(2) }
}

/// A position in such a game.
#[derive(Clone, Debug)]
pub(crate) struct At {
    pub(crate) table: Arc<Table>,
    pub(crate) state: usize,
    legal: Vec<Vec<u8>>,
}

impl At {
    fn new(table: Arc<Table>, state: usize) -> At {
        let legal = table.places[state].n_moves.iter().map(|&n| (0..n as u8).collect()).collect();
        At { table, state, legal }
    }
}

impl Position for At {
    type Move = u8;
    type State = usize;

    fn shape(&self) -> &Shape {
        &self.table.shape
    }

    fn is_terminal(&self) -> bool {
        self.legal.is_empty()
    }

    fn legal_moves(&self, role: Role) -> &[u8] {
        self.legal.get(role.index()).map_or(&[], Vec::as_slice)
    }

    fn payoff(&self, player: Role) -> f64 {
        self.table.places[self.state].payoffs[player.index()]
    }

    fn advance(&mut self, joint: &[u8]) {
        let place = &self.table.places[self.state];
        let index =
            place.n_moves.iter().zip(joint).fold(0, |index, (n, &m)| index * n + usize::from(m));
        *self = At::new(Arc::clone(&self.table), place.next[index]);
    }

    fn state(&self) -> &usize {
        &self.state
    }

    fn go_to(&mut self, state: &usize) {
        *self = At::new(Arc::clone(&self.table), *state);
    }

    fn key(&self) -> u64 {
        self.state as u64
    }

    fn chance(&self, nature_move: &u8) -> f64 {
        self.table.places[self.state].chances[usize::from(*nature_move)]
    }

    fn features(&self, features: &mut Vec<u32>) {
        features.clear();
        features.extend([self.state as u32, self.state as u32 % 3]);
    }

    fn batch(&self, seed: u64) -> Option<Box<dyn Batch<State = usize, Move = u8>>> {
        let batch = SequentialBatch::new(self.clone(), Rng::seed_from_u64(seed));
        self.table.has_batch.then(|| Box::new(batch) as _)
    }
}
