//! Steps and playouts in bulk: what a search asks of an engine that runs many games at once.

use crate::{Children, Role, TerminalChildren};

/// An engine that makes many independent steps and playouts at once. Each thread owns its own
/// batch.
///
/// Playouts run in three phases: [`Batch::begin`] takes the requests, repeated calls of
/// [`Batch::step`] do a bounded amount of work each, and [`Batch::finish`] hands over the results.
/// [`Batch::play_out`] does all three in one call.
pub trait Batch: Send {
    /// A state of the game.
    type State;
    /// A move of one role.
    type Move;

    /// Selects how the moves of playouts are drawn from now on. Returns the kind that is used: a
    /// simpler one where the engine cannot do what was asked, or only at a cost that does not pay.
    fn set_playouts(&mut self, kind: PlayoutKind) -> PlayoutKind {
        let _ = kind;
        PlayoutKind::Uniform
    }

    /// Selects the moves that playouts prefer from now on. Returns whether the engine can do that.
    ///
    /// An engine that cannot, the default, draws moves as before.
    fn prefer(&mut self, preferences: &Preferences<Self::Move>) -> bool {
        let _ = preferences;
        false
    }

    /// Starts playouts, replacing whatever was requested before.
    ///
    /// A playout makes random moves from the requested state until play ends: uniformly random
    /// ones, unless [`Batch::set_playouts`] has selected another kind. A playout
    /// that is longer than `max_steps` is cut off: after at least `max_steps` steps, and at most
    /// about twice as many.
    fn begin(&mut self, requests: &[PlayoutRequest<Self::State>], max_steps: u64);

    /// Makes about `n_steps` steps of the playouts that run side by side.
    ///
    /// Returns whether all requested playouts are complete. The results do not depend on how the
    /// work is divided into calls.
    fn step(&mut self, n_steps: u64) -> bool;

    /// Replaces the contents of `stats` by the results, one per request in the order of the
    /// requests. Call it once [`Batch::step`] has returned true.
    fn finish(&mut self, stats: &mut Vec<PlayoutStats>);

    /// Runs all requested playouts and returns their results in the order of the requests.
    ///
    /// Allocates a new vector. A search that plays out often calls the three phases itself.
    fn play_out(
        &mut self,
        requests: &[PlayoutRequest<Self::State>],
        max_steps: u64,
    ) -> Vec<PlayoutStats> {
        let mut stats = Vec::new();
        self.begin(requests, max_steps);
        while !self.step(u64::MAX) {}
        self.finish(&mut stats);
        stats
    }

    /// Makes one joint move at one state, for any number of such pairs.
    ///
    /// The results replace the contents of `children`, with one child for each pair, in the order
    /// of the pairs. The states must not be terminal and the moves must be legal.
    fn advance_all(
        &mut self,
        steps: &[(&Self::State, &[Self::Move])],
        children: &mut Children<Self::State, Self::Move>,
    );

    /// Makes every legal joint move at each of the states.
    ///
    /// The results replace the contents of `children`, in the order of the states. A terminal state
    /// has no children.
    fn expand(&mut self, states: &[&Self::State], children: &mut Children<Self::State, Self::Move>);

    /// Finds the legal joint moves at each of the states that end play.
    ///
    /// The results replace the contents of `ends`. They are the terminal ones among the children
    /// that [`Batch::expand`] would make, in the same order.
    fn look_ahead(&mut self, states: &[&Self::State], ends: &mut TerminalChildren);
}

/// How the moves of random playouts are drawn.
///
/// A move *wins* if play has ended after it and the player that moves has its highest payoff.
/// Players look ahead only where they move alone.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PlayoutKind {
    /// Uniformly from the legal moves.
    #[default]
    Uniform,
    /// Uniformly from the moves that win, if there are any (decisive moves; Teytaud & Teytaud
    /// 2010).
    Decisive,
    /// Like `Decisive`. If no move wins, moves after which another player can win at once are
    /// avoided (anti-decisive moves). An engine may recognise only some of these.
    Careful,
}

/// How much playouts prefer moves over others.
///
/// In one of four steps a role draws uniformly from its legal moves of the highest level, and
/// otherwise from all of them: a graded form of the epsilon-greedy choice with epsilon = 3/4. Among
/// moves that look ahead ([`PlayoutKind`]), those that win or are safe come first, whatever their
/// level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preferences<M> {
    /// The level of all moves that are not listed, below [`Preferences::N_LEVELS`].
    pub usual: u8,
    /// Moves of roles with their levels, below [`Preferences::N_LEVELS`].
    pub levels: Vec<(Role, M, u8)>,
}

impl<M> Preferences<M> {
    /// Number of levels.
    pub const N_LEVELS: u8 = 4;
}

/// A request for playouts from one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayoutRequest<S> {
    /// The state where the playouts start.
    pub state: S,
    /// Number of playouts.
    pub n_playouts: u64,
    /// Expected length of a playout in steps, or 0 if it is not known. It affects only how well the
    /// playouts of several requests are packed, never their results.
    pub expected_steps: u32,
}

/// Statistics of the playouts from one state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayoutStats {
    /// Number of playouts, including those that were cut off.
    pub n_playouts: u64,
    /// Number of playouts that were cut off. They count with the payoffs of the state before their
    /// last step.
    pub n_cut: u64,
    /// Number of steps made in all playouts together.
    pub n_steps: u64,
    /// By role: the sum of the payoffs.
    pub payoff_sums: Vec<f64>,
    /// By role: the sum of the squares of the payoffs.
    pub square_sums: Vec<f64>,
}

impl PlayoutStats {
    /// Returns the statistics of no playouts.
    pub fn new(n_roles: usize) -> PlayoutStats {
        PlayoutStats {
            payoff_sums: vec![0.0; n_roles],
            square_sums: vec![0.0; n_roles],
            ..PlayoutStats::default()
        }
    }

    /// Makes `stats` a list of `n` statistics of no playouts, reusing its memory.
    pub fn reset_all(stats: &mut Vec<PlayoutStats>, n: usize, n_roles: usize) {
        stats.resize_with(n, PlayoutStats::default);
        for each in stats {
            (each.n_playouts, each.n_cut, each.n_steps) = (0, 0, 0);
            for sums in [&mut each.payoff_sums, &mut each.square_sums] {
                sums.clear();
                sums.resize(n_roles, 0.0);
            }
        }
    }

    /// Returns the mean payoff of a role.
    pub fn mean_payoff(&self, role: Role) -> f64 {
        self.payoff_sums[role.index()] / self.n_playouts as f64
    }

    /// Returns the mean number of steps of a playout.
    pub fn mean_length(&self) -> f64 {
        self.n_steps as f64 / self.n_playouts as f64
    }
}
