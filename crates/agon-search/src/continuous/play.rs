//! One play of the game from a position, and the basic choice of moves by an evaluation game.

use agon_game::{Continuous, Meter, Rng, Role};
use rand::RngExt as _;

use super::actions::{Actions, Arm, draw_joint};
use super::equilibrium::next_profile;
use super::evaluation::{MoveEvaluator, payoffs};
use super::forecast::PredictedPayoffs;
use super::optimise::spread;
use super::regret::NormalForm;
use super::tree::{N_AHEAD, Tree};
use super::{ContinuousOptions, VisitedMove};

/// What a search plays with.
pub(super) struct Play<'a, 'b, P: Continuous> {
    /// The position before a move.
    pub(super) before: &'a mut P,
    /// The position after a move.
    pub(super) after: P,
    pub(super) evaluator: &'a mut dyn MoveEvaluator<P>,
    /// Assesses moves instead of the evaluation game, if payoffs are predicted.
    pub(super) predicted: Option<PredictedPayoffs>,
    pub(super) rng: &'a mut Rng,
    pub(super) meter: Meter<'b>,
    /// The number of iterations that the budget allows.
    pub(super) max_iterations: Option<u64>,
    pub(super) options: &'a ContinuousOptions,
    /// Number of plays to the end and of plays of the evaluation game.
    pub(super) n_playouts: u64,
    /// Greatest depth in the tree.
    pub(super) depth: u32,
    /// The recorded moves of the tree.
    pub(super) visited: Vec<VisitedMove<P::State, P::Move>>,
}

/// The outcome of an evaluation game that is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// The outcome of one play.
    Drawn,
    /// The mean outcome, if it is known.
    Mean,
}

/// Maximum number of joint moves that are assessed for one step of a play.
const MAX_STEP_CELLS: usize = 64;

impl<P: Continuous> Play<'_, '_, P> {
    /// Makes a joint move from a state. `after` stands at the result.
    pub(super) fn make(&mut self, state: &P::State, joint: &[P::Move]) {
        self.after.go_to(state);
        self.after.advance(joint);
        self.meter.n_nodes += 1;
    }

    /// Lets `after` stand at the result of a move that was computed before.
    pub(super) fn arrive(&mut self, state: &P::State) {
        self.after.go_to(state);
        self.meter.n_nodes += 1;
    }

    /// Keeps the moves of a tree if they are to be recorded.
    pub(super) fn keep_visited(&mut self, tree: &Tree<P>) {
        if let Some(least) = self.options.record_from {
            self.visited = tree.visited(least);
        }
    }

    /// Returns the number of iterations that the budget still allows.
    pub(super) fn n_iterations_left(&self) -> u64 {
        self.max_iterations.map_or(u64::MAX, |max| max.saturating_sub(self.meter.n_iterations))
    }

    /// Draws the move of nature at the position `before` into a joint move.
    pub(super) fn draw_nature(&mut self, joint: &mut [P::Move]) {
        if let Some(nature) = self.before.shape().nature {
            let mut drawn = Vec::new();
            self.before.draw(self.rng, &mut drawn);
            joint[nature.index()] = drawn[nature.index()].clone();
        }
    }

    /// Assesses a joint move at the position `before`, where `after` stands at its result. The
    /// result is one play of the evaluation game, or the payoffs if play has ended.
    pub(super) fn assess(&mut self, joint: &[P::Move]) -> Option<Vec<f64>> {
        self.outcome(joint, Wanted::Drawn)
    }

    /// Like [`Play::assess`], but the result is the mean outcome of the evaluation game if that is
    /// known. The basic choice compares moves by what they promise, not by a drawn outcome.
    fn expect(&mut self, joint: &[P::Move]) -> Option<Vec<f64>> {
        self.outcome(joint, Wanted::Mean)
    }

    fn outcome(&mut self, joint: &[P::Move], wanted: Wanted) -> Option<Vec<f64>> {
        if self.after.is_terminal() {
            return Some(payoffs(&self.after));
        }
        self.n_playouts += 1;
        if let Some(predicted) = &mut self.predicted {
            return predicted.assess(self.before, joint, &self.after, self.rng);
        }
        let Play { evaluator, before, after, rng, .. } = self;
        match wanted {
            Wanted::Drawn => evaluator.assess(before, joint, after, rng),
            Wanted::Mean => evaluator.expected(before, joint, after, rng),
        }
    }

    /// Plays from where `after` stands to the end with the basic strategy of Kaiser & Stafiniak
    /// (2010): only the evaluation game is used to choose actions. Returns the payoffs by role, or
    /// `None` if the budget ends first.
    pub(super) fn play_out(&mut self) -> Option<Vec<f64>> {
        self.n_playouts += 1;
        for _ in 0..self.options.max_steps {
            if self.after.is_terminal() {
                break;
            }
            if self.meter.is_over(16) {
                return None;
            }
            let here = self.after.state().clone();
            self.before.go_to(&here);
            let drawn = draw_joint(&*self.before, self.rng);
            self.make(&here, &drawn);
            // Without an evaluation game, the drawn actions and parameters are played.
            let assessed = self.evaluator.expected(self.before, &drawn, &self.after, self.rng);
            if assessed.is_some() {
                let joint = self.basic_joint(drawn)?;
                self.make(&here, &joint);
            }
        }
        Some(payoffs(&self.after))
    }

    /// Chooses a joint move at the position `before` by iterated regret minimisation on the matrix
    /// of all discrete actions, each with a few values of its parameters. The moves of roles
    /// without a choice and of nature are those of `joint`.
    fn basic_joint(&mut self, mut joint: Vec<P::Move>) -> Option<Vec<P::Move>> {
        let mut choosers: Vec<(Role, Vec<Arm<P::Move>>)> = Vec::new();
        for role in self.before.shape().players() {
            let actions = Actions::at(&*self.before, role);
            if actions.has_choice() {
                let n_points = self.options.playout_points;
                let arms = sample_arms(&actions, &*self.before, role, n_points, self.rng);
                choosers.push((role, arms));
            }
        }
        // The largest lists lose arms at random until the matrix is small enough.
        while choosers.iter().map(|(_, arms)| arms.len()).product::<usize>() > MAX_STEP_CELLS {
            let largest = choosers.iter_mut().max_by_key(|(_, arms)| arms.len());
            let (_, arms) = largest.expect("a product above 1 has factors");
            arms.swap_remove(self.rng.random_range(0..arms.len()));
        }
        let n_arms: Vec<usize> = choosers.iter().map(|(_, arms)| arms.len()).collect();
        let mut joints = Vec::new();
        let mut profile = vec![0; choosers.len()];
        loop {
            for ((role, arms), &arm) in choosers.iter().zip(&profile) {
                joint[role.index()] = arms[arm].m.clone();
            }
            joints.push(joint.clone());
            if !next_profile(&mut profile, |player| n_arms[player]) {
                break;
            }
        }
        let mut matrix = Vec::new();
        for joints in joints.chunks(N_AHEAD) {
            if self.meter.is_over(16) {
                return None;
            }
            let states = self.before.successors(joints);
            for (joint, state) in joints.iter().zip(&states) {
                self.arrive(state);
                let assessed = self.expect(joint);
                // No evaluation game means an outcome of 0 (Kaiser & Stafiniak 2010).
                let of_cell = |(role, _): &(Role, _)| {
                    assessed.as_ref().map_or(0.0, |payoffs| payoffs[role.index()])
                };
                matrix.push(choosers.iter().map(of_cell).collect::<Vec<f64>>());
            }
        }
        let mut cells = matrix.into_iter();
        let game = NormalForm::new(n_arms, |_| cells.next().expect("a cell for each profile"));
        let chosen = game.draw_regret_minimiser(self.rng);
        for ((role, arms), arm) in choosers.iter().zip(chosen) {
            joint[role.index()] = arms[arm].m.clone();
        }
        Some(joint)
    }
}

/// Returns arms for the actions of a role: one for each action without parameters, and `n_points`
/// spread points for each family. There is at least one arm.
pub(super) fn sample_arms<P: Continuous>(
    actions: &Actions<P::Move>,
    position: &P,
    role: Role,
    n_points: usize,
    rng: &mut Rng,
) -> Vec<Arm<P::Move>> {
    let mut arms = Vec::new();
    for group in 0..actions.n_groups() {
        let points = spread(actions.n_parameters(group), n_points.max(1), rng);
        let before = arms.len();
        arms.extend(points.iter().filter_map(|point| actions.arm(position, role, group, point)));
        if arms.len() == before {
            arms.extend(actions.listed(position, role, group));
        }
    }
    if arms.is_empty() {
        arms.push(actions.draw(position, role, rng));
    }
    arms
}
