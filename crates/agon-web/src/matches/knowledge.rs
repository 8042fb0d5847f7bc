//! What a role knows of a match with hidden information, computed from its observations alone.

use agon::engine::{GamePosition, GameTask};
use agon_game::{Observation, Role};
use agon_match::{Belief, role_seed};

/// Maximum number of possible states that are compared to find what a role knows.
const MAX_STATES: usize = 64;

/// What a role knows. It receives nothing but the observations of the role, so nothing that is
/// shown of it can reveal what the role does not know.
pub(crate) trait Knowledge: Send {
    /// Updates the knowledge by the observation of a step after which play goes on.
    fn learn(&mut self, observation: &Observation);

    /// Returns states that are consistent with everything that the role has observed.
    fn possible(&mut self) -> Vec<Vec<String>>;
}

/// Makes the knowledge of a role at the start of a match.
pub(crate) struct MakeKnowledge {
    pub(crate) role: Role,
    pub(crate) seed: u64,
}

impl GameTask for MakeKnowledge {
    type Output = Box<dyn Knowledge>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Box<dyn Knowledge> {
        let seed = role_seed(self.seed, self.role);
        Box::new(BeliefKnowledge { belief: Belief::new(start, self.role, seed) })
    }
}

struct BeliefKnowledge<P: GamePosition> {
    belief: Belief<P>,
}

impl<P: GamePosition> Knowledge for BeliefKnowledge<P> {
    fn learn(&mut self, observation: &Observation) {
        self.belief.learn(observation);
    }

    fn possible(&mut self) -> Vec<Vec<String>> {
        let (position, worlds) = self.belief.worlds();
        let states = worlds.iter().take(MAX_STATES);
        states
            .map(|world| {
                position.go_to(world);
                position.state_text()
            })
            .collect()
    }
}
