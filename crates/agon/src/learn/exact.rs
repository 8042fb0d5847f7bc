//! Exact values of positions by exhaustive search, as the judge of learnt evaluations.
//!
//! This is plain alpha-beta search with a table, over the same engine as all searches but without
//! any of their code, so that a mistake there cannot confirm itself.

use std::collections::BTreeMap;

use agon_game::{Batch, Children, Position, Role};

/// Maximum depth. Longer plays count as unsolved, so games that repeat positions end.
const MAX_DEPTH: u32 = 400;

/// Solves positions of a game of two players who take turns, by exhaustive search.
pub(super) struct Exact<P: Position> {
    batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    position: P,
    players: [Role; 2],
    /// Bounds of the values that were found, for the first player.
    known: BTreeMap<Box<[u64]>, [f64; 2]>,
    nodes_left: u64,
}

/// The search used up its nodes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Unsolved;

/// The joint move that leads to a child, and the value of the child.
pub(super) type ChildValue<M> = (Vec<M>, f64);

impl<P: Position> Exact<P> {
    /// Returns `None` if the game is not of two players who take turns without chance and hidden
    /// information, or has no engine that keeps states as bits.
    pub(super) fn new(start: &P) -> Option<Exact<P>> {
        let shape = start.shape();
        let players: Vec<Role> = shape.players().collect();
        let [first, second] = players[..] else { return None };
        let suits = shape.nature.is_none() && !shape.hidden && shape.turn_taking;
        P::state_words(start.state()).filter(|_| suits)?;
        Some(Exact {
            batch: start.batch(1)?,
            position: start.clone(),
            players: [first, second],
            known: BTreeMap::new(),
            nodes_left: 0,
        })
    }

    /// Returns the value of each child of a state for the first player, in the order in which the
    /// engine lists them, with the moves that lead there: the payoff of the first player minus that
    /// of the second.
    pub(super) fn children(
        &mut self,
        state: &P::State,
        max_nodes: u64,
    ) -> Result<Vec<ChildValue<P::Move>>, Unsolved> {
        self.nodes_left = max_nodes;
        self.known.clear();
        let children = self.expand(state);
        let mut values = Vec::with_capacity(children.len());
        for child in 0..children.len() {
            let value = match children.ended[child] {
                true => self.difference(children.payoffs(child)),
                false => self.value(&children.states[child], f64::MIN, f64::MAX, 0)?,
            };
            values.push((children.joint(child).to_vec(), value));
        }
        Ok(values)
    }

    fn expand(&mut self, state: &P::State) -> Children<P::State, P::Move> {
        let mut children = Children::new(self.position.shape().role_names.len());
        self.batch.expand(&[state], &mut children);
        children
    }

    fn difference(&self, payoffs: &[f64]) -> f64 {
        payoffs[self.players[0].index()] - payoffs[self.players[1].index()]
    }

    /// Returns the player who chooses at a state. With one joint move it does not matter.
    pub(super) fn mover(&mut self, state: &P::State) -> usize {
        self.position.go_to(state);
        usize::from(self.position.legal_moves(self.players[1]).len() > 1)
    }

    /// Returns the value of a state for the first player: exact within the window, a bound outside
    /// of it.
    fn value(
        &mut self,
        state: &P::State,
        mut alpha: f64,
        mut beta: f64,
        depth: u32,
    ) -> Result<f64, Unsolved> {
        if self.nodes_left == 0 || depth > MAX_DEPTH {
            return Err(Unsolved);
        }
        self.nodes_left -= 1;
        let key: Box<[u64]> = P::state_words(state).unwrap_or(&[]).into();
        if let Some(&[low, high]) = self.known.get(&key) {
            if low >= beta || low >= high {
                return Ok(low);
            }
            if high <= alpha {
                return Ok(high);
            }
            (alpha, beta) = (alpha.max(low), beta.min(high));
        }
        let window = [alpha, beta];
        let children = self.expand(state);
        let is_first = self.mover(state) == 0;
        let mut best = if is_first { f64::MIN } else { f64::MAX };
        // Ends of play first: a win there needs no search.
        let ended = (0..children.len()).filter(|&child| children.ended[child]);
        let others = (0..children.len()).filter(|&child| !children.ended[child]);
        for child in ended.chain(others) {
            let value = match children.ended[child] {
                true => self.difference(children.payoffs(child)),
                false => self.value(&children.states[child], alpha, beta, depth + 1)?,
            };
            if is_first {
                best = best.max(value);
                alpha = alpha.max(value);
            } else {
                best = best.min(value);
                beta = beta.min(value);
            }
            if alpha >= beta {
                break;
            }
        }
        let bounds = self.known.entry(key).or_insert([f64::MIN, f64::MAX]);
        if best > window[0] {
            bounds[0] = bounds[0].max(best);
        }
        if best < window[1] {
            bounds[1] = bounds[1].min(best);
        }
        Ok(best)
    }
}
