//! Positions at which both players choose.
//!
//! The children of such a position form a grid: a row for each move of the searching player, who is
//! assumed to reveal it, and in each row a child for each reply. A row is worth as much as its worst
//! child.

use agon_game::{Children, Position};

use super::EvaluateChildren;
use super::score::Score;
use super::worker::{Interrupted, Node, Run, Worker, for_mover, store};
use crate::hash;

/// How the children of a position are arranged at which both players choose.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// Number of moves of the player who reveals its choice.
    pub(super) n_options: usize,
    /// Number of moves of the other player.
    pub(super) n_replies: usize,
    /// The difference between the children of two neighbouring options, and of two replies.
    strides: [usize; 2],
}

impl Grid {
    /// Returns the grid of the children of one position, or `None` if at most one player chooses
    /// there. The moves of the later role change fastest.
    pub(super) fn of<S, M: Clone + PartialEq>(
        children: &Children<S, M>,
        [first, second]: [usize; 2],
        committing: usize,
    ) -> Option<Grid> {
        let n_children = children.len();
        let slow = first.min(second);
        let n_fast = (1..n_children)
            .find(|&child| children.joint(child)[slow] != children.joint(0)[slow])?;
        let n_slow = n_children / n_fast;
        if n_fast == 1 {
            return None;
        }
        let commits_slowly = [first, second][committing] == slow;
        Some(if commits_slowly {
            Grid { n_options: n_slow, n_replies: n_fast, strides: [n_fast, 1] }
        } else {
            Grid { n_options: n_fast, n_replies: n_slow, strides: [1, n_fast] }
        })
    }

    /// Returns the child of an option and a reply.
    pub(super) fn child(self, option: usize, reply: usize) -> usize {
        option * self.strides[0] + reply * self.strides[1]
    }

    /// Returns the option that leads to a child.
    pub(super) fn option_of(self, child: usize) -> usize {
        child / self.strides[0] % self.n_options
    }
}

impl<P: Position + 'static, E: EvaluateChildren<P::State>> Worker<P, E> {
    /// Estimates all children of a grid. Sorts the rows, the most promising first, and the replies
    /// in each row, the most dangerous first. Does nothing where at most one player chooses.
    pub(super) fn order_grid(&mut self, node: Node, hash_move: Option<u16>) {
        let Worker { frames, evaluator, ordering, payoffs, .. } = self;
        let frame = &mut frames[node.ply];
        let Some(grid) = frame.grid else { return };
        let children = &frame.children;
        let role = payoffs.players()[node.mover];
        let hash_option = hash_move.map(|child| grid.option_of(child.into()));
        frame.order.clear();
        frame.moves.clear();
        frame.replies.clear();
        for option in 0..grid.n_options {
            let start = frame.replies.len();
            for reply in 0..grid.n_replies {
                let child = grid.child(option, reply);
                let score = if children.ended[child] {
                    for_mover(payoffs.score(children.payoffs(child)), node.mover).one_step_before()
                } else {
                    let value = evaluator.child_value(&children.states[child]);
                    for_mover(Score::estimate(value), node.mover)
                };
                frame.replies.push((score.to_i32(), child as u16));
            }
            let row = &mut frame.replies[start..];
            row.sort_unstable();
            let m = (hash::of(&children.joint(grid.child(option, 0))[role]) >> 16) as u32;
            frame.moves.push(m);
            let key = if hash_option == Some(option) {
                i32::MAX
            } else {
                row[0].0 + ordering.bonus(node.ply, m)
            };
            frame.order.push((key, option as u16));
        }
        frame.order.sort_by_key(|&(key, option)| (std::cmp::Reverse(key), option));
    }

    /// Returns the estimate of the best row of a grid at the horizon.
    pub(super) fn evaluate_grid(&mut self, run: &mut Run<'_, '_>, key: u64, node: Node) -> Score {
        let frame = &self.frames[node.ply];
        let n_replies = frame.grid.map_or(1, |grid| grid.n_replies);
        run.n_estimated += frame.replies.len() as u64;
        let worst = frame.replies.iter().step_by(n_replies);
        let (score, child) =
            worst.copied().max_by_key(|&(score, _)| score).unwrap_or((Score::EVEN.to_i32(), 0));
        let best = (Score::of_i32(score), child);
        store(run.table, key, node.depth, best, (Score::MIN, Score::MAX));
        best.0
    }

    /// Searches one row of a grid: with the full window if it is the first one, else with a null
    /// window, and again if it is better than that.
    pub(super) fn search_row(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Node,
        row: (Grid, usize),
        rank: usize,
        reduction: u32,
    ) -> Result<Score, Interrupted> {
        if rank > 0 {
            let probe = Node { beta: node.alpha.plus(1), ..node };
            let reduced = node.depth.saturating_sub(reduction).max(2).min(node.depth);
            let mut score = self.worst_reply(run, Node { depth: reduced, ..probe }, row)?;
            if score > node.alpha && reduced < node.depth {
                score = self.worst_reply(run, probe, row)?;
            }
            if score <= node.alpha || score >= node.beta {
                return Ok(score);
            }
        }
        self.worst_reply(run, node, row)
    }

    /// Returns the score of the worst child of a row.
    fn worst_reply(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Node,
        (grid, option): (Grid, usize),
    ) -> Result<Score, Interrupted> {
        let mut worst = Score::MAX;
        for place in option * grid.n_replies..(option + 1) * grid.n_replies {
            let child = usize::from(self.frames[node.ply].replies[place].1);
            let beta = node.beta.min(worst);
            // A reply after the first one is only interesting if it is worse.
            if worst < node.beta && worst.plus(-1) > node.alpha {
                let probe = Node { alpha: worst.plus(-1), beta, ..node };
                if self.search_child(run, probe, child, 0, 0)? >= worst {
                    continue;
                }
            }
            let score = self.search_child(run, Node { beta, ..node }, child, 0, 0)?;
            worst = worst.min(score);
            if worst <= node.alpha {
                break;
            }
        }
        Ok(worst)
    }
}
