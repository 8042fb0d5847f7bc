//! What can be set about a Monte Carlo tree search, and where the defaults come from.
//!
//! "003" is Trutman's thesis on action heuristics, "002" Kaiser and Stafiniak's paper on structure rewriting games.

use super::heuristic::HeuristicUse;

/// How to search. Plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct MctsOptions {
    /// How a role that moves alone picks a move in the tree. Default: UCB1 with `c` = 0.4, as in 003 (40 for goals from
    /// 0 to 100, table 5.1).
    pub bandit: Bandit,
    /// What a move that was never tried counts. Default: it goes first, as in UCT.
    pub first_play: FirstPlay,
    /// Whether moves made later in a playout count as if made now. Default: off. Needs playouts one by one.
    pub amaf: Amaf,
    /// How moves are drawn in playouts. Default: uniformly. Anything else needs playouts one by one.
    pub policy: PlayoutPolicy,
    /// How the playout policy turns values of moves into a choice. Default: Gibbs with temperature 10 (003, table 5.1).
    pub choice: Choice,
    /// Whether positions that are reached in several ways share a node. Default: yes.
    pub transpositions: bool,
    /// Whether proven bounds are backed up (score-bounded search; Cazenave and Saffidine 2010). Default: yes.
    pub solver: bool,
    /// Whether all children of a new node are looked at where an engine does that in one pass: moves that end play are
    /// known at once, so decisive moves are never missed and anti-decisive ones are forced. Default: yes.
    pub look_ahead: bool,
    /// What several roles that choose at the same time do. Default: [`Simultaneous::DECOUPLED`].
    pub simultaneous: Simultaneous,
    /// What the others are thought to want. Default: what is best for themselves.
    pub others: Others,
    /// How moves that are judged before they are tried are used. Default: not. Only for searches that are given a heuristic.
    pub heuristic: HeuristicUse,
    /// How leaves are gathered where an engine plays out many at once. Default: [`Leaves::default`].
    pub leaves: Leaves,
    /// What a playout that is under way counts: 0 as a visit (as in WU-UCT, Liu et al. 2020), 1 as a visit that was lost.
    /// Default: 1. With 0 the leaves of a batch crowd together: on connect four 64 leaves of 32 playouts, 200 000 in
    /// all, got 48 % against 2000 single ones, and with 1 they got 94 % (24 matches each, +-19 and +-9).
    pub virtual_loss: f64,
    /// How many threads grow the tree. With more than one, a search cannot be repeated exactly. Default: 1.
    pub threads: usize,
    /// Positions kept. When there are more, half of them go: those out of reach first, then the least visited. Default:
    /// a million, some 300 MB for a game like breakthrough.
    pub max_nodes: usize,
    /// A playout is cut off after so many steps and pays what the rules say there. Default: 1000.
    pub max_playout_steps: u64,
    /// Whether what was learnt is kept from one call to the next. Default: yes.
    pub keep_tree: bool,
}

impl Default for MctsOptions {
    fn default() -> MctsOptions {
        MctsOptions {
            bandit: Bandit::UCB1,
            first_play: FirstPlay::First,
            amaf: Amaf::Off,
            policy: PlayoutPolicy::Uniform,
            choice: Choice::GIBBS,
            transpositions: true,
            solver: true,
            look_ahead: true,
            simultaneous: Simultaneous::DECOUPLED,
            others: Others::MaxN,
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
    /// Plain UCT: one playout for each leaf, nothing added but transpositions: the yardstick.
    pub fn plain() -> MctsOptions {
        MctsOptions {
            solver: false,
            look_ahead: false,
            leaves: Leaves::ONE,
            ..MctsOptions::default()
        }
    }

    /// Whether several moves that were never tried may be taken at once: where they go before all others.
    pub(super) fn takes_siblings(&self) -> bool {
        matches!(self.bandit, Bandit::Ucb1 { .. })
            && self.first_play == FirstPlay::First
            && (self.plays_abreast() || !self.needs_moves())
    }

    /// Whether playouts whose moves a heuristic draws go on side by side.
    pub(super) fn plays_abreast(&self) -> bool {
        self.heuristic.playout
            && self.heuristic.abreast > 1
            && self.heuristic.implicit == 0.0
            && self.policy == PlayoutPolicy::Uniform
            && self.amaf == Amaf::Off
    }

    /// The leaves of a round.
    pub(super) fn round(&self) -> Leaves {
        if self.plays_abreast() {
            return Leaves { at_once: self.heuristic.abreast, playouts: 1, ..self.leaves };
        }
        self.leaves
    }

    /// Whether engines cannot make the playouts by themselves, because the moves in them matter.
    pub(super) fn needs_moves(&self) -> bool {
        self.policy != PlayoutPolicy::Uniform
            || self.amaf != Amaf::Off
            || self.heuristic.playout
            || self.heuristic.implicit > 0.0
    }
}

/// The balance between what looks good and what is little known. Constants are for payoffs from 0 to 1 and are scaled by
/// the range of the game's payoffs. Where more than 32 playouts are made from each leaf, they are multiplied by the root of how many
/// times 32 that is: such playouts tell less than as many from different leaves.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Bandit {
    /// Mean + `c` sqrt(ln N / n).
    Ucb1 {
        /// How much to explore.
        c: f64,
    },
    /// Mean + `c` sqrt(ln N / n · min(1/4, variance + sqrt(2 ln N / n))): 002's formula, in which the variance is that of
    /// payoffs from 0 to 1.
    Ucb1Tuned {
        /// How much to explore.
        c: f64,
    },
}

impl Bandit {
    /// 003, table 5.1: 40 for goals from 0 to 100.
    pub const UCB1: Bandit = Bandit::Ucb1 { c: 0.4 };
    /// As Gelly's thesis and 002 have it, where the constant is left open: 1.
    pub const TUNED: Bandit = Bandit::Ucb1Tuned { c: 1.0 };
}

/// What a move counts that was never tried at a position.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum FirstPlay {
    /// It goes before all that were tried.
    First,
    /// The mean of the position less this part of the payoff range, plus exploration as if tried once.
    BelowMean(f64),
    /// This part of the payoff range, without exploration (first-play urgency, Gelly and Wang 2006).
    Urgency(f64),
}

/// All moves as first: what a move is worth when made at any later time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Amaf {
    /// Not used.
    Off,
    /// Rapid action value estimation: mixed in with weight sqrt(k / (3 N + k)).
    Rave {
        /// How many visits make own experience as good. 1000 in 003, table 5.1.
        k: f64,
    },
    /// The same from the nearest position above that has been visited often enough (Cazenave 2015).
    Grave {
        /// Often enough. 50 in Cazenave's experiments.
        reference: u32,
        /// His bias; the smaller, the longer all moves as first are believed. 1e-5 there for most games.
        bias: f64,
    },
}

impl Amaf {
    /// As in 003.
    pub const RAVE: Amaf = Amaf::Rave { k: 1000.0 };
    /// As in Cazenave 2015.
    pub const GRAVE: Amaf = Amaf::Grave { reference: 50, bias: 1e-5 };
}

/// What playouts learn from one another.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum PlayoutPolicy {
    /// Nothing.
    Uniform,
    /// Move-average sampling: a move is worth what it paid on the average, whenever made.
    Mast,
    /// Predicate-average sampling: the same by move and true fluent; a move is worth what it is with the best of the fluents
    /// that hold. For engines that tell [`agon_game::Position::features`], else the same as MAST.
    Past {
        /// A pair that was met less often is not looked at. 10 by default: a few playouts say nothing.
        min_samples: u32,
    },
    /// N-gram selection: the same by move and the moves before it, averaged over the lengths that are known well enough
    /// (Tak, Winands and Björnsson 2012).
    Nst {
        /// The longest sequence, 1 to 3. 3 there.
        max_length: u32,
        /// A sequence that was met less often is not looked at. 7 there.
        min_samples: u32,
    },
}

impl PlayoutPolicy {
    /// With our threshold.
    pub const PAST: PlayoutPolicy = PlayoutPolicy::Past { min_samples: 10 };
    /// As in Tak, Winands and Björnsson 2012.
    pub const NST: PlayoutPolicy = PlayoutPolicy::Nst { max_length: 3, min_samples: 7 };
}

/// From values of moves to a move.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Choice {
    /// With probability proportional to exp(value / temperature), values being from 0 to 100.
    Gibbs {
        /// The higher, the more random.
        temperature: f64,
    },
    /// The best, but for a random move now and then.
    EpsilonGreedy {
        /// How often: 0 never, 1 always.
        epsilon: f64,
    },
}

impl Choice {
    /// 003, table 5.1.
    pub const GIBBS: Choice = Choice::Gibbs { temperature: 10.0 };
    /// Tak, Winands and Björnsson 2012.
    pub const EPSILON_GREEDY: Choice = Choice::EpsilonGreedy { epsilon: 0.4 };
}

/// How roles choose that choose at the same time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Simultaneous {
    /// Each by a bandit of its own over its own moves (decoupled UCT, UCB1-TUNED). The strategy is how often each move was tried.
    Decoupled {
        /// How much to explore; 1 is the bandit as published.
        c: f64,
    },
    /// Each in proportion to how much it regrets not to have made a move; the strategy is the average one, which converges
    /// to equilibrium where two roles play for a constant sum.
    RegretMatching {
        /// How often a move is tried at random.
        exploration: f64,
    },
    /// Iterated regret minimisation over pure strategies of upper confidence bounds: 002. Does not mix, but for ties.
    IteratedRegret {
        /// How much to explore.
        c: f64,
    },
}

impl Simultaneous {
    /// As published.
    pub const DECOUPLED: Simultaneous = Simultaneous::Decoupled { c: 1.0 };
    /// Some exploration: the least tried in Tak, Lanctot and Winands 2014 is 0.05, most games there want more.
    pub const REGRET_MATCHING: Simultaneous = Simultaneous::RegretMatching { exploration: 0.1 };
    /// As in 002.
    pub const ITERATED_REGRET: Simultaneous = Simultaneous::IteratedRegret { c: 1.0 };
}

/// What the other players want.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// Each the best for itself.
    MaxN,
    /// All of them the worst for us.
    Paranoid,
}

/// How leaves are gathered for an engine that plays out many at once. Not used where playouts are made one by one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// Leaves under way at a time. One thread takes them in one batch; several share them. 1 where there is no such engine.
    pub at_once: u32,
    /// Playouts from each; fewer where the iterations are few. 1 where there is no such engine.
    pub playouts: u32,
    /// Further moves that were never tried to take along from the position where a descent leaves the tree.
    pub siblings: u32,
}

impl Leaves {
    /// One leaf, one playout, one by one, whatever the engine offers.
    pub const ONE: Leaves = Leaves { at_once: 1, playouts: 1, siblings: 0 };
}

impl Default for Leaves {
    /// 64 leaves of 64. Against 64 of 32 they got 53.8 % +-7.6 of the points on connect four and breakthrough at 50 ms a move (80
    /// matches each), exploration being kept as it was; 128 leaves of 32 got 47.2 % +-7.6. With three siblings 57 % +-7 against none.
    fn default() -> Leaves {
        Leaves { at_once: 64, playouts: 64, siblings: 3 }
    }
}
