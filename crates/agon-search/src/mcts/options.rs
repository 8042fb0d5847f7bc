//! The options of Monte Carlo tree search, and where their defaults come from.

use agon_game::PlayoutKind;

use super::heuristic::HeuristicUse;

/// Options of [`Mcts`](super::Mcts).
#[derive(Clone, Debug, PartialEq)]
pub struct MctsOptions {
    /// How a role that chooses alone picks a move in the tree. Default: UCB1 with `c` = 0.4, as in
    /// Trutman 2015 (40 for goals from 0 to 100, table 5.1).
    pub bandit: Bandit,
    /// The value of a move that was never tried. Default: it goes first, as in UCT.
    pub first_play: FirstPlay,
    /// Whether moves made later in a playout count as if made now. Default: off. Otherwise playouts
    /// are made one by one.
    pub amaf: Amaf,
    /// How moves are drawn in playouts. Default: uniformly. Otherwise playouts are made one by one.
    pub policy: PlayoutPolicy,
    /// How moves are drawn in playouts without a policy. `None` is automatic: as careful as a batch
    /// engine can be at a cost that pays, and uniformly where playouts are made one by one.
    /// Default: automatic. Careful playouts got 64.1 % of the points (55.5 to 70.5) against uniform
    /// ones at 150 ms a move (12 games, 120 matches).
    pub playout_kind: Option<PlayoutKind>,
    /// Which moves are preferred in playouts that an engine makes in batches. Default: none.
    pub playout_preference: PlayoutPreference,
    /// How the playout policy turns values of moves into a choice. Default: Gibbs sampling with
    /// temperature 10 (Trutman 2015, table 5.1).
    pub choice: Choice,
    /// Whether positions that are reached in several ways share a node. Default: yes.
    pub transpositions: bool,
    /// Whether proven bounds are backed up (score-bounded search; Cazenave and Saffidine 2010).
    /// Default: yes.
    pub solver: bool,
    /// Whether all children of a new node are examined where an engine does that in one pass. Moves
    /// that end the game are known at once, so decisive moves are never missed and anti-decisive
    /// ones are forced. Default: yes.
    pub look_ahead: bool,
    /// How roles choose that choose at the same time. Default: [`Simultaneous::DECOUPLED`].
    pub simultaneous: Simultaneous,
    /// The assumed goal of the other players. Default: the best for themselves.
    pub others: Others,
    /// How the move is chosen in the end, where one role chooses alone. Default: by visits.
    pub final_move: FinalMove,
    /// How a heuristic is used, in searches that have one. Default: not at all.
    pub heuristic: HeuristicUse,
    /// How leaves are gathered where an engine plays out many at once. Default:
    /// [`Leaves::default`].
    pub leaves: Leaves,
    /// The loss that a playout in flight counts for: 0 means a visit without a result (as in
    /// WU-UCT, Liu et al. 2020), 1 a lost visit. Default: 1. With 0 the leaves of a batch crowd
    /// together: on connect four 64 leaves of 32 playouts, 200 000 in all, got 48 % ± 19 against
    /// 2000 single ones; with 1 they got 94 % ± 9 (24 matches each).
    pub virtual_loss: f64,
    /// The number of threads. A search with more than one cannot be repeated exactly. Default: 1.
    pub threads: usize,
    /// The maximum number of nodes. When there are more, half of them are removed: first those that
    /// cannot be reached, then the least visited ones. Default: a million, about 300 MB for a game
    /// like breakthrough.
    pub max_nodes: usize,
    /// The number of steps after which a playout is cut off and pays what the rules say there.
    /// Default: 1000.
    pub max_playout_steps: u64,
    /// Whether the tree is kept from one call to the next. Default: yes.
    pub keep_tree: bool,
}

impl Default for MctsOptions {
    fn default() -> MctsOptions {
        MctsOptions {
            bandit: Bandit::UCB1,
            first_play: FirstPlay::First,
            amaf: Amaf::Off,
            policy: PlayoutPolicy::Uniform,
            playout_kind: None,
            playout_preference: PlayoutPreference::Off,
            choice: Choice::GIBBS,
            transpositions: true,
            solver: true,
            look_ahead: true,
            simultaneous: Simultaneous::DECOUPLED,
            others: Others::MaxN,
            final_move: FinalMove::Visits,
            heuristic: HeuristicUse::OFF,
            leaves: Leaves::default(),
            virtual_loss: 1.0,
            threads: 1,
            max_nodes: 1_000_000,
            max_playout_steps: 1000,
            keep_tree: true,
        }
    }
}

impl MctsOptions {
    /// Returns the options of plain UCT: one playout for each leaf, and no improvement but
    /// transpositions. A baseline for comparisons.
    pub fn plain() -> MctsOptions {
        MctsOptions {
            solver: false,
            look_ahead: false,
            leaves: Leaves::ONE,
            playout_kind: Some(PlayoutKind::Uniform),
            ..MctsOptions::default()
        }
    }

    /// Returns whether several moves that were never tried may be added to a batch together: if
    /// they go before all others.
    pub(super) fn adds_siblings(&self) -> bool {
        matches!(self.bandit, Bandit::Ucb1 { .. })
            && self.first_play == FirstPlay::First
            && (self.plays_in_lockstep() || !self.needs_moves())
    }

    /// Returns whether playouts whose moves a heuristic draws are made in lockstep.
    pub(super) fn plays_in_lockstep(&self) -> bool {
        self.heuristic.playout
            && self.heuristic.abreast > 1
            && self.heuristic.implicit == 0.0
            && self.policy == PlayoutPolicy::Uniform
            && self.amaf == Amaf::Off
    }

    /// Returns the number of leaves in flight and of playouts from each.
    pub(super) fn leaves_in_flight(&self) -> Leaves {
        if self.plays_in_lockstep() {
            return Leaves { at_once: self.heuristic.abreast, playouts: 1, ..self.leaves };
        }
        self.leaves
    }

    /// Returns whether playouts may be made in bulk by an engine, if there is one.
    pub(super) fn allows_bulk(&self) -> bool {
        !self.needs_moves() && (self.leaves.at_once > 1 || self.leaves.playouts > 1)
    }

    /// Returns whether the moves in playouts matter, so that an engine cannot make the playouts by
    /// itself.
    pub(super) fn needs_moves(&self) -> bool {
        self.policy != PlayoutPolicy::Uniform
            || self.amaf != Amaf::Off
            || self.heuristic.playout
            || self.heuristic.implicit > 0.0
    }
}

/// The balance between exploitation and exploration.
///
/// Constants are for payoffs from 0 to 1 and are scaled by the range of the game's payoffs. Where
/// more than 32 playouts start from each leaf, they are multiplied by the square root of how many
/// times 32 that is: such playouts tell less than the same number from different leaves.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Bandit {
    /// Mean + `c` sqrt(ln N / n).
    Ucb1 {
        /// How much to explore.
        c: f64,
    },
    /// Mean + `c` sqrt(ln N / n · min(1/4, variance + sqrt(2 ln N / n))), with the variance of
    /// payoffs scaled to 0..1 (the formula of Kaiser and Stafiniak 2010).
    Ucb1Tuned {
        /// How much to explore.
        c: f64,
    },
}

impl Bandit {
    /// UCB1 with the constant of Trutman 2015, table 5.1: 40 for goals from 0 to 100.
    pub const UCB1: Bandit = Bandit::Ucb1 { c: 0.4 };
    /// UCB1-TUNED with constant 1, as in Gelly's thesis and in Kaiser and Stafiniak 2010, where the
    /// constant is left open.
    pub const TUNED: Bandit = Bandit::Ucb1Tuned { c: 1.0 };
}

/// The value of a move that was never tried at a position.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum FirstPlay {
    /// It goes before all moves that were tried.
    First,
    /// The mean of the position less this part of the payoff range, plus exploration as if tried
    /// once.
    BelowMean(f64),
    /// This part of the payoff range, without exploration (first-play urgency, Gelly and Wang
    /// 2006).
    Urgency(f64),
}

/// All moves as first (AMAF): whether statistics about moves made at any later time are used.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Amaf {
    /// Not used.
    Off,
    /// Rapid action value estimation: mixed in with weight sqrt(k / (3 N + k)).
    Rave {
        /// The number of visits after which both statistics count the same. 1000 in Trutman 2015,
        /// table 5.1.
        k: f64,
    },
    /// Like RAVE, with the statistics of the nearest position above that has enough visits
    /// (Cazenave 2015).
    Grave {
        /// The number of visits that is enough. 50 in Cazenave's experiments.
        reference: u32,
        /// The bias: the smaller, the longer AMAF statistics are used. 1e-5 there for most games.
        bias: f64,
    },
}

impl Amaf {
    /// RAVE as in Trutman 2015.
    pub const RAVE: Amaf = Amaf::Rave { k: 1000.0 };
    /// GRAVE as in Cazenave 2015.
    pub const GRAVE: Amaf = Amaf::Grave { reference: 50, bias: 1e-5 };
}

/// The statistics that guide the moves of playouts.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum PlayoutPolicy {
    /// No statistics: moves are drawn uniformly.
    Uniform,
    /// Move-average sampling technique: the value of a move is its mean payoff, whenever it was
    /// made.
    Mast,
    /// Predicate-average sampling technique: means by pair of move and true fluent. The value of a
    /// move is the best of its means with the fluents that are true. Only for engines that have
    /// [`agon_game::Position::features`]; for others the same as MAST.
    Past {
        /// Pairs with fewer samples are ignored. Default: 10, because a mean of a few playouts says
        /// little.
        min_samples: u32,
    },
    /// N-gram selection technique: means by move and the moves before it, averaged over the lengths
    /// that have enough samples (Tak, Winands and Björnsson 2012).
    Nst {
        /// The greatest length, 1 to 3. 3 in the paper.
        max_length: u32,
        /// N-grams with fewer samples are ignored. 7 in the paper.
        min_samples: u32,
    },
}

impl PlayoutPolicy {
    /// PAST with a threshold of 10 samples.
    pub const PAST: PlayoutPolicy = PlayoutPolicy::Past { min_samples: 10 };
    /// NST as in Tak, Winands and Björnsson 2012.
    pub const NST: PlayoutPolicy = PlayoutPolicy::Nst { max_length: 3, min_samples: 7 };
}

/// The statistics of the tree by which moves are preferred in playouts that an engine makes in
/// batches (tree-only MAST, Finnsson & Björnsson 2010).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PlayoutPreference {
    /// No move is preferred.
    Off,
    /// The value of a move is its mean payoff, wherever it was made.
    Average,
    /// The value of a move is how much more it pays than the other moves where it was made, on
    /// average. A move that is only possible in good positions is not better for that.
    Advantage,
}

/// How values of moves are turned into a choice.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Choice {
    /// With probability proportional to exp(value / temperature), for values from 0 to 100.
    Gibbs {
        /// The higher, the more random.
        temperature: f64,
    },
    /// The best move, or sometimes a random one.
    EpsilonGreedy {
        /// The probability of a random move.
        epsilon: f64,
    },
}

impl Choice {
    /// Gibbs sampling as in Trutman 2015, table 5.1.
    pub const GIBBS: Choice = Choice::Gibbs { temperature: 10.0 };
    /// Epsilon-greedy as in Tak, Winands and Björnsson 2012.
    pub const EPSILON_GREEDY: Choice = Choice::EpsilonGreedy { epsilon: 0.4 };
}

/// How roles choose that choose at the same time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Simultaneous {
    /// Decoupled UCT: each role has a bandit (UCB1-TUNED) over its own moves. The strategy is how
    /// often each move was tried.
    Decoupled {
        /// How much to explore; 1 is the bandit as published.
        c: f64,
    },
    /// Regret matching: each role draws in proportion to its regrets. The strategy is the average
    /// one, which converges to an equilibrium in games of two players with a constant sum.
    RegretMatching {
        /// The probability of a random move.
        exploration: f64,
    },
    /// Iterated regret minimisation over pure strategies of upper confidence bounds (Kaiser and
    /// Stafiniak 2010). The strategy is pure, but for ties.
    IteratedRegret {
        /// How much to explore.
        c: f64,
    },
}

impl Simultaneous {
    /// Decoupled UCT as published.
    pub const DECOUPLED: Simultaneous = Simultaneous::Decoupled { c: 1.0 };
    /// Regret matching with some exploration: the least tried in Tak, Lanctot and Winands 2014 is
    /// 0.05, and most games there need more.
    pub const REGRET_MATCHING: Simultaneous = Simultaneous::RegretMatching { exploration: 0.1 };
    /// Iterated regret minimisation as in Kaiser and Stafiniak 2010.
    pub const ITERATED_REGRET: Simultaneous = Simultaneous::IteratedRegret { c: 1.0 };
}

/// How a move is chosen when the search ends.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum FinalMove {
    /// The most visited move.
    Visits,
    /// The move with the highest lower confidence bound: mean - `c` sqrt(ln N / n). A better move
    /// that was found late has few visits.
    LowerBound {
        /// How much a lack of visits counts, for payoffs from 0 to 1.
        c: f64,
    },
}

/// The assumed goal of the other players.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// Each player wants the best for itself.
    MaxN,
    /// All other players want the worst for us.
    Paranoid,
    /// What each of the others wants is learnt from its moves, in games whose payoffs do not add up
    /// to a constant: the most for itself, to be ahead, or the least for us. At first it wants
    /// mostly the most for itself. The search itself minds a little what the others get.
    Learnt,
}

/// How leaves are gathered for an engine that plays out many at once. Not used where playouts are
/// made one by one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// The number of leaves in flight. One thread takes them in one batch; several threads share
    /// them. 1 where there is no such engine.
    pub at_once: u32,
    /// The number of playouts from each leaf; fewer if the budget has few iterations. 1 where there
    /// is no such engine.
    pub playouts: u32,
    /// The number of further untried moves to add at the position where a descent leaves the tree.
    pub siblings: u32,
}

impl Leaves {
    /// One leaf with one playout at a time, whatever the engine offers.
    pub const ONE: Leaves = Leaves { at_once: 1, playouts: 1, siblings: 0 };
}

impl Default for Leaves {
    /// Returns 64 leaves with 8 playouts each, and three siblings. Against 64 playouts they got
    /// 64.8 % of the points (54.7 to 71.7) at 150 ms a move (10 games, 100 matches), and 2 playouts
    /// were no better than 8. Three siblings got 57 % ± 7 against none.
    fn default() -> Leaves {
        Leaves { at_once: 64, playouts: 8, siblings: 3 }
    }
}
