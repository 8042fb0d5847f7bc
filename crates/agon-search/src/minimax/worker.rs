//! The search of one thread.

use agon_game::{Batch, Budget, Children, Meter, Position, Role, TerminalChildren};

use super::grid::Grid;
use super::horizon::Group;
use super::order::Ordering;
use super::score::{Payoffs, Score};
use super::table::{Bound, Entry, Table};
use super::{EvaluateChildren, MinimaxOptions, STRIDE, batch_of};
use crate::hash;
use crate::report::MAX_LINES;

/// The memory of one thread.
pub(super) struct Worker<P: Position, E> {
    pub(super) position: P,
    pub(super) batch: Box<dyn Batch<State = P::State, Move = P::Move>>,
    pub(super) evaluator: E,
    pub(super) ordering: Ordering,
    pub(super) payoffs: Payoffs,
    /// By ply: the children of the position that is searched there.
    pub(super) frames: Vec<Frame<P>>,
    /// The replies that end play.
    pub(super) ends: TerminalChildren,
    /// Number of positions in which a winning reply was looked for in this search, and in which one
    /// was found.
    pub(super) replies: (u64, u64),
    /// The children of a position at the horizon that wait for a look at the replies, with their
    /// scores.
    pub(super) estimates: Vec<(i32, u16)>,
    /// The number of the next position in the group of its siblings, if it has been expanded.
    expanded: Option<usize>,
    /// The player who reveals its choice where both choose at once, 0 or 1: the searching one.
    committing: usize,
}

/// The children of a position and the order in which they are searched.
pub(super) struct Frame<P: Position> {
    pub(super) children: Children<P::State, P::Move>,
    /// Where both players choose: how children are arranged.
    pub(super) grid: Option<Grid>,
    /// The mover's options, best first, each with the key by which they are sorted. An option is a
    /// child, or a row of the grid.
    pub(super) order: Vec<(i32, u16)>,
    /// By option of a grid: its children, the most dangerous first, each with its estimate.
    pub(super) replies: Vec<(i32, u16)>,
    /// By option: the hash of the mover's move.
    pub(super) moves: Vec<u32>,
    tried: Vec<u32>,
    /// Children of the position that have been expanded together.
    pub(super) group: Group<P>,
}

impl<P: Position> Frame<P> {
    fn new(n_roles: usize) -> Frame<P> {
        Frame {
            children: Children::new(n_roles),
            grid: None,
            order: Vec::new(),
            replies: Vec::new(),
            moves: Vec::new(),
            tried: Vec::new(),
            group: Group::new(n_roles),
        }
    }

    /// Returns the number of options of the mover.
    pub(super) fn n_options(&self) -> usize {
        self.grid.map_or(self.children.len(), |grid| grid.n_options)
    }

    /// Returns the child that stands for an option: the only one, or the one with the most
    /// dangerous reply.
    fn child_of(&self, option: usize) -> usize {
        match self.grid {
            Some(grid) => usize::from(self.replies[option * grid.n_replies].1),
            None => option,
        }
    }
}

/// The result of iterative deepening.
pub(super) struct Outcome<M> {
    /// The moves of the searching role, best first.
    pub(super) moves: Vec<ScoredMove<M>>,
    /// Whether the value was computed from ends of play alone.
    pub(super) is_proven: bool,
    /// The expected joint moves after each of the first few moves.
    pub(super) lines: Vec<Vec<Vec<M>>>,
    pub(super) depth: u32,
    pub(super) n_nodes: u64,
    pub(super) seconds: f64,
}

/// A move at the root with its result.
pub(super) struct ScoredMove<M> {
    pub(super) m: M,
    pub(super) score: Score,
    /// Whether the score is the value of the move by the rules.
    pub(super) is_certain: bool,
}

/// The budget was used up during the search.
pub(super) struct Interrupted;

/// The data of one call of [`Worker::deepen`].
pub(super) struct Run<'r, 'b> {
    pub(super) table: &'r Table,
    pub(super) options: &'r MinimaxOptions,
    pub(super) meter: Meter<'b>,
    /// Number of positions that were estimated rather than searched to the end.
    pub(super) n_estimated: u64,
}

/// The parameters of the search of one position.
#[derive(Copy, Clone)]
pub(super) struct Node {
    pub(super) depth: u32,
    pub(super) ply: usize,
    /// The index of the player who chooses, 0 or 1.
    pub(super) mover: usize,
    pub(super) alpha: Score,
    pub(super) beta: Score,
}

/// Greatest length of a line of play that is searched.
const MAX_PLY: usize = 400;
/// Depth from which late moves are reduced.
const MIN_REDUCED_DEPTH: u32 = 3;
/// Number of moves that are never reduced.
const N_UNREDUCED: usize = 3;
/// Half of the width of the first aspiration window.
const ASPIRATION: i32 = 600;

impl<P: Position + 'static, E: EvaluateChildren<P::State>> Worker<P, E> {
    pub(super) fn new(position: &P, evaluator: E, seed: u64) -> Worker<P, E> {
        Worker {
            batch: batch_of(position, seed),
            position: position.clone(),
            evaluator,
            ordering: Ordering::new(),
            payoffs: Payoffs::new(position.shape()),
            frames: Vec::new(),
            ends: TerminalChildren::default(),
            replies: (0, 0),
            estimates: Vec::new(),
            expanded: None,
            committing: 0,
        }
    }

    /// Searches deeper and deeper until the budget is used up or the result is proved.
    pub(super) fn deepen(
        &mut self,
        state: &P::State,
        us: Role,
        table: &Table,
        options: &MinimaxOptions,
        budget: &Budget,
        first_depth: u32,
    ) -> Outcome<P::Move> {
        let mut run = Run { table, options, meter: budget.start(), n_estimated: 0 };
        self.ordering.next_root();
        self.replies = (0, 0);
        self.committing = usize::from(self.payoffs.players()[1] == us.index());
        self.expand(0, state);
        let mover = self.mover_at_root(us);
        let sign = if self.payoffs.players()[mover] == us.index() { 1 } else { -1 };
        self.evaluator.set_parent(state);
        self.order_grid(
            Node { depth: 1, ply: 0, mover, alpha: Score::MIN, beta: Score::MAX },
            None,
        );
        // Where both choose, an opponent who knows our move is assumed, so only wins are certain.
        let is_exact = self.position.shape().turn_taking;
        let is_certain = |score: Score| score.is_win() || is_exact && score.is_decided();
        let mut root: Vec<(u16, Score)> =
            (0..self.frames[0].n_options()).map(|option| (option as u16, Score::MIN)).collect();
        let (mut depth_done, mut is_proven) = (0, false);
        let mut guess = None;
        for depth in first_depth..=options.max_depth.max(1) {
            let mut scored = Vec::new();
            run.n_estimated = 0;
            self.evaluator.set_parent(state);
            let found = self.search_root(&mut run, &root, depth, mover, guess, &mut scored);
            let is_complete = found.is_ok();
            is_proven = is_complete && is_exact && run.n_estimated == 0;
            // An unfinished depth counts as far as it came: the best move was searched first.
            if is_complete || !scored.is_empty() {
                merge(&mut root, scored);
            }
            if let Some(&(best, score)) = root.first() {
                guess = Some(score);
                self.suggest(&run, us, best);
                is_proven |= score.is_win() && (is_exact || sign > 0);
            }
            if !is_complete {
                break;
            }
            depth_done = depth;
            // A decided game needs no deeper search, and neither does a game without a choice.
            let is_decided = root.iter().all(|&(_, score)| score.is_decided());
            if is_proven || is_decided || (root.len() == 1 && run.meter.deadline().is_some()) {
                break;
            }
        }
        // Where the other player chooses, all children have the same move of ours.
        let n_lines = if sign < 0 { 1 } else { MAX_LINES };
        let firsts = root.iter().take(n_lines);
        let firsts = firsts.map(|&(option, _)| self.frames[0].child_of(option.into()) as u16);
        let firsts: Vec<u16> = firsts.collect();
        let lines =
            firsts.iter().map(|&first| self.line(state, Some(first), table, depth_done)).collect();
        let frame = &self.frames[0];
        let moves = root.iter().map(|&(option, score)| {
            let m = &frame.children.joint(frame.child_of(option.into()))[us.index()];
            let score = if sign > 0 { score } else { -score };
            ScoredMove { m: m.clone(), score, is_certain: is_certain(score) }
        });
        let mut moves: Vec<ScoredMove<P::Move>> = moves.collect();
        if sign < 0 {
            moves.truncate(1);
        }
        Outcome {
            moves,
            is_proven,
            lines,
            depth: depth_done,
            n_nodes: run.meter.n_nodes,
            seconds: run.meter.seconds(),
        }
    }

    /// Searches the moves at the root, first with a narrow window around the guess.
    fn search_root(
        &mut self,
        run: &mut Run<'_, '_>,
        root: &[(u16, Score)],
        depth: u32,
        mover: usize,
        guess: Option<Score>,
        scored: &mut Vec<(u16, Score)>,
    ) -> Result<(), Interrupted> {
        let mut margin = ASPIRATION;
        let mut window = match guess.filter(|score| depth > 3 && !score.is_decided()) {
            Some(score) => (score.plus(-margin), score.plus(margin)),
            None => (Score::MIN, Score::MAX),
        };
        loop {
            scored.clear();
            let (mut alpha, beta) = window;
            for (rank, &(child, _)) in root.iter().enumerate() {
                let node = Node { depth, ply: 0, mover, alpha, beta };
                let score = self.search_option(run, node, child.into(), rank, 0)?;
                scored.push((child, score));
                alpha = alpha.max(score);
                if alpha >= beta {
                    break;
                }
            }
            let best = alpha;
            margin *= 4;
            if best >= beta && beta < Score::MAX && !best.is_decided() {
                window.1 = if margin > 20_000 { Score::MAX } else { best.plus(margin) };
            } else if best <= window.0 && window.0 > Score::MIN {
                window.0 = if margin > 20_000 { Score::MIN } else { best.plus(-margin) };
            } else if best >= beta && beta < Score::MAX {
                window.1 = Score::MAX;
            } else {
                return Ok(());
            }
        }
    }

    /// Returns the score of a position for its mover.
    fn search(
        &mut self,
        run: &mut Run<'_, '_>,
        state: &P::State,
        mut node: Node,
    ) -> Result<Score, Interrupted> {
        let expanded = self.expanded.take();
        if run.meter.is_over(STRIDE) {
            return Err(Interrupted);
        }
        let key = self.key_of(state);
        let known = run.table.get(key);
        if let Some(entry) = known
            && let Some(score) = usable(entry, &node)
        {
            run.n_estimated += u64::from(!score.is_decided());
            return Ok(score);
        }
        let hash_move = known.map(|entry| entry.best);
        if let Some(number) = expanded
            && let Some(score) = self.evaluate_in_group(run, state, node, number, (key, hash_move))
        {
            return Ok(score);
        }
        self.expand(node.ply, state);
        let n_children = self.frames[node.ply].children.len();
        let is_grid = self.frames[node.ply].grid.is_some();
        run.meter.n_nodes += n_children as u64;
        if !is_grid {
            let children = &self.frames[node.ply].children;
            if let Some(score) = self.quick_win(node, children, 0..n_children) {
                return Ok(score);
            }
        }
        // A forced move costs no depth.
        if n_children == 1 && node.ply < MAX_PLY {
            node.depth += 1;
        }
        self.evaluator.set_parent(state);
        let is_horizon = node.depth <= 1 || node.ply >= MAX_PLY;
        if is_grid {
            self.order_grid(node, hash_move);
            if is_horizon {
                return Ok(self.evaluate_grid(run, key, node));
            }
        } else if is_horizon {
            return Ok(self.evaluate_children(run, node, (key, hash_move)));
        } else {
            self.order(node, hash_move);
        }
        let (alpha, beta) = (node.alpha, node.beta);
        let mut best = (Score::MIN, 0);
        self.frames[node.ply].tried.clear();
        self.frames[node.ply].group.clear();
        for rank in 0..self.frames[node.ply].n_options() {
            let option = usize::from(self.frames[node.ply].order[rank].1);
            let reduction =
                if run.options.late_move_reductions { reduction(node.depth, rank) } else { 0 };
            if rank > 0 && !is_grid && node.depth <= 2 + reduction {
                self.expand_group(run, node, rank);
            }
            let score = self.search_option(run, node, option, rank, reduction)?;
            if score > best.0 {
                best = (score, self.frames[node.ply].child_of(option) as u16);
            }
            node.alpha = node.alpha.max(score);
            let m = self.frames[node.ply].moves[option];
            if node.alpha >= beta {
                let Worker { ordering, frames, .. } = self;
                ordering.reward(node.ply, node.depth, m, &frames[node.ply].tried);
                break;
            }
            self.frames[node.ply].tried.push(m);
        }
        store(run.table, key, node.depth, best, (alpha, beta));
        Ok(best.0)
    }

    /// Searches one option of the mover: with the full window if it is the first one, else with a
    /// null window, and again if it is better than that. Returns its score for the mover.
    fn search_option(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Node,
        option: usize,
        rank: usize,
        reduction: u32,
    ) -> Result<Score, Interrupted> {
        match self.frames[node.ply].grid {
            Some(grid) => self.search_row(run, node, (grid, option), rank, reduction),
            None => self.search_child(run, node, option, rank, reduction),
        }
    }

    /// Searches one child of a position. Returns its score for the parent's mover.
    pub(super) fn search_child(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Node,
        child: usize,
        rank: usize,
        reduction: u32,
    ) -> Result<Score, Interrupted> {
        let frame = &self.frames[node.ply];
        if frame.children.ended[child] {
            let score = self.payoffs.score(frame.children.payoffs(child));
            return Ok(for_mover(score, node.mover).one_step_before());
        }
        let state = frame.children.states[child].clone();
        let mover = self.mover(&frame.children, child);
        if rank > 0 {
            let window = (node.alpha, node.alpha.plus(1));
            let depth = node.depth - 1;
            let reduced = depth.saturating_sub(reduction).max(1);
            if reduced == 1 {
                self.expanded = self.frames[node.ply].group.number_of(child);
            }
            let mut score = self.reply(run, &state, node, mover, reduced, window)?;
            if score > node.alpha && reduced < depth {
                score = self.reply(run, &state, node, mover, depth, window)?;
            }
            if score <= node.alpha || score >= node.beta {
                return Ok(score);
            }
        }
        let window = (node.alpha, node.beta);
        self.reply(run, &state, node, mover, node.depth - 1, window)
    }

    /// Returns the score of a child for the parent's mover.
    fn reply(
        &mut self,
        run: &mut Run<'_, '_>,
        state: &P::State,
        parent: Node,
        mover: usize,
        depth: u32,
        (alpha, beta): (Score, Score),
    ) -> Result<Score, Interrupted> {
        let ply = parent.ply + 1;
        let (alpha, beta) = (alpha.one_step_after(), beta.one_step_after());
        if depth == 0 {
            // Only below the root of a search of depth 1, which is the evaluator's parent.
            run.n_estimated += 1;
            run.meter.n_nodes += 1;
            let score = Score::estimate(self.evaluator.child_value(state));
            return Ok(for_mover(score, parent.mover));
        }
        let score = if mover == parent.mover {
            self.search(run, state, Node { depth, ply, mover, alpha, beta })?
        } else {
            -self.search(run, state, Node { depth, ply, mover, alpha: -beta, beta: -alpha })?
        };
        Ok(score.one_step_before())
    }

    /// Sorts the children of a position, the most promising first.
    fn order(&mut self, node: Node, hash_move: Option<u16>) {
        let Worker { frames, evaluator, ordering, payoffs, .. } = self;
        let Frame { children, order, moves, .. } = &mut frames[node.ply];
        let role = payoffs.players()[node.mover];
        order.clear();
        moves.clear();
        for child in 0..children.len() {
            let m = (hash::of(&children.joint(child)[role]) >> 16) as u32;
            moves.push(m);
            let score = if children.ended[child] {
                payoffs.score(children.payoffs(child))
            } else {
                Score::estimate(evaluator.child_value(&children.states[child]))
            };
            let is_hash_move = hash_move == Some(child as u16);
            let value = for_mover(score, node.mover).to_i32() + ordering.bonus(node.ply, m);
            order.push((if is_hash_move { i32::MAX } else { value }, child as u16));
        }
        order.sort_by_key(|&(value, child)| (std::cmp::Reverse(value), child));
    }

    /// Makes the children of a state.
    fn expand(&mut self, ply: usize, state: &P::State) {
        let n_roles = self.position.shape().role_names.len();
        while self.frames.len() <= ply {
            self.frames.push(Frame::new(n_roles));
        }
        let frame = &mut self.frames[ply];
        self.batch.expand(&[state], &mut frame.children);
        frame.grid = if self.position.shape().turn_taking {
            None
        } else {
            Grid::of(&frame.children, self.payoffs.players(), self.committing)
        };
    }

    /// Returns the key of a state in the transposition table. Where both players choose at once, a
    /// value depends on who reveals its choice.
    pub(super) fn key_of(&mut self, state: &P::State) -> u64 {
        let key = self.position.key_of(state);
        if self.position.shape().turn_taking {
            return key;
        }
        key ^ (self.committing as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the player who chooses at a child: the one with several moves. If both have several,
    /// it is the one who reveals its choice. Where there is none, the step is forced, and either
    /// will do.
    pub(super) fn mover(&self, children: &Children<P::State, P::Move>, child: usize) -> usize {
        if self.both_choose(children, child) {
            return self.committing;
        }
        let second = Role::new(self.payoffs.players()[1]);
        usize::from(children.n_legal(child, second) > 1)
    }

    /// Returns whether both players have several moves at a child.
    pub(super) fn both_choose(&self, children: &Children<P::State, P::Move>, child: usize) -> bool {
        let players = self.payoffs.players().map(Role::new);
        !self.position.shape().turn_taking
            && players.into_iter().all(|role| children.n_legal(child, role) > 1)
    }

    /// Returns the player who chooses at the root.
    fn mover_at_root(&self, us: Role) -> usize {
        let children = &self.frames[0].children;
        let players = self.payoffs.players();
        let own = usize::from(players[1] == us.index());
        if self.frames[0].grid.is_some() {
            return own;
        }
        let last = children.len().saturating_sub(1);
        let differs = |player: usize| {
            !children.is_empty() && children.joint(0)[player] != children.joint(last)[player]
        };
        if differs(players[1 - own]) { 1 - own } else { own }
    }

    /// Publishes the best move so far.
    fn suggest(&mut self, run: &Run<'_, '_>, us: Role, best: u16) {
        let children = &self.frames[0].children;
        let m = &children.joint(self.frames[0].child_of(best.into()))[us.index()];
        // The legal moves of the role appear among the children in their order.
        let mut seen: Vec<&P::Move> = Vec::new();
        for child in 0..children.len() {
            let other = &children.joint(child)[us.index()];
            if !seen.contains(&other) {
                seen.push(other);
            }
        }
        if let Some(move_idx) = seen.iter().position(|other| *other == m) {
            run.meter.suggest(move_idx);
        }
    }

    /// Follows the best moves of the table.
    fn line(
        &mut self,
        state: &P::State,
        best: Option<u16>,
        table: &Table,
        max_length: u32,
    ) -> Vec<Vec<P::Move>> {
        let mut line = Vec::new();
        let n_roles = self.position.shape().role_names.len();
        let mut children = Children::new(n_roles);
        let (mut state, mut best) = (state.clone(), best);
        while let Some(child) = best
            && line.len() < max_length.max(1) as usize
        {
            self.batch.expand(&[&state], &mut children);
            let child = usize::from(child);
            if child >= children.len() {
                break;
            }
            line.push(children.joint(child).to_vec());
            if children.ended[child] {
                break;
            }
            state = children.states[child].clone();
            best = table.get(self.key_of(&state)).map(|entry| entry.best);
        }
        line
    }
}

/// Returns the score of the first player as that of the mover.
pub(super) fn for_mover(score: Score, mover: usize) -> Score {
    if mover == 0 { score } else { -score }
}

/// Returns the score of an entry if it decides the search of a node.
pub(super) fn usable(entry: Entry, node: &Node) -> Option<Score> {
    let is_deep = u32::from(entry.depth) >= node.depth || entry.score.is_decided();
    let is_enough = match entry.bound {
        Bound::Exact => true,
        Bound::AtLeast => entry.score >= node.beta,
        Bound::AtMost => entry.score <= node.alpha,
    };
    (is_deep && is_enough).then_some(entry.score)
}

pub(super) fn store(
    table: &Table,
    key: u64,
    depth: u32,
    best: (Score, u16),
    window: (Score, Score),
) {
    let (score, best) = best;
    let bound = if score >= window.1 {
        Bound::AtLeast
    } else if score <= window.0 {
        Bound::AtMost
    } else {
        Bound::Exact
    };
    let depth = depth.min(u8::MAX.into()) as u8;
    table.put(key, Entry { score, bound, depth, best });
}

/// Returns by how many plies a late move is reduced at first.
fn reduction(depth: u32, rank: usize) -> u32 {
    if depth < MIN_REDUCED_DEPTH || rank < N_UNREDUCED {
        return 0;
    }
    // About the product of two logarithms, as in chess programs.
    let product = depth.ilog2() * (rank as u32).ilog2();
    (1 + product / 4).min(depth - 1)
}

/// Puts the moves that were scored before the others, best first. The first move of equal ones
/// stays first.
fn merge(root: &mut Vec<(u16, Score)>, mut scored: Vec<(u16, Score)>) {
    scored.sort_by_key(|&(_, score)| std::cmp::Reverse(score));
    let others = root.iter().filter(|(child, _)| scored.iter().all(|(other, _)| other != child));
    let others: Vec<(u16, Score)> = others.copied().collect();
    *root = scored;
    root.extend(others);
}
