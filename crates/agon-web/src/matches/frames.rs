//! The positions of a match: what holds after each step, and what each role may know of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon::Game;
use agon_game::{Observation, Role, Table};

use super::knowledge::{Knowledge, MakeKnowledge};

/// A position of a match.
pub(crate) struct Frame {
    /// The whole state. Only those who may know everything see it.
    pub(crate) state: Vec<String>,
    /// By role: what it perceived of the step that led here.
    pub(crate) percepts: Vec<Vec<String>>,
    /// In a game with hidden information, by role of a person: states that the role considers
    /// possible.
    pub(crate) possible: BTreeMap<usize, Vec<Vec<String>>>,
    /// The roles that have a choice here, without nature.
    pub(crate) choosers: Vec<usize>,
}

/// All positions of a match so far.
pub(crate) struct Frames {
    table: Box<dyn Table>,
    list: Vec<Arc<Frame>>,
    knowledge: BTreeMap<usize, Box<dyn Knowledge>>,
}

impl Frames {
    /// Plays the steps of a match again. `people` are the roles whose knowledge is followed in a
    /// game with hidden information.
    ///
    /// # Errors
    /// A sentence if a step is not legal.
    pub(crate) fn replay<'a>(
        game: &Game,
        people: &[usize],
        seed: u64,
        steps: impl Iterator<Item = &'a [String]>,
    ) -> Result<Frames, String> {
        let mut knowledge: BTreeMap<usize, Box<dyn Knowledge>> = BTreeMap::new();
        if game.shape().hidden {
            for &role in people {
                let task = MakeKnowledge { role: Role::new(role), seed };
                knowledge.insert(role, game.run(task));
            }
        }
        let table = game.table();
        let mut frames = Frames { table, list: Vec::new(), knowledge };
        frames.keep();
        for (at, joint) in steps.enumerate() {
            frames.push(joint).map_err(|error| format!("step {}: {error}", at + 1))?;
        }
        Ok(frames)
    }

    /// Makes a step.
    ///
    /// # Errors
    /// A sentence if the step is not legal.
    pub(crate) fn push(&mut self, joint: &[String]) -> Result<(), String> {
        let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
        self.table.advance(&texts).map_err(|error| error.to_string())?;
        if !self.table.is_terminal() {
            for (&role, knowledge) in &mut self.knowledge {
                let observation = Observation {
                    step: self.list.len(),
                    own: joint[role].clone(),
                    seen: self.table.percepts(Role::new(role)).to_vec(),
                };
                knowledge.learn(&observation);
            }
        }
        self.keep();
        Ok(())
    }

    fn keep(&mut self) {
        let shape = self.table.shape();
        let percepts = shape.roles().map(|role| self.table.percepts(role).to_vec()).collect();
        let players = shape.players().collect::<Vec<Role>>().into_iter();
        let choosers = players.filter(|role| self.table.legal_moves(*role).len() > 1);
        let choosers = choosers.map(Role::index).collect();
        let possible = self.knowledge.iter_mut();
        let possible = possible.map(|(&role, known)| (role, known.possible())).collect();
        let state = self.table.state();
        self.list.push(Arc::new(Frame { state, percepts, possible, choosers }));
    }

    /// Returns a position: 0 is the start.
    pub(crate) fn get(&self, at: usize) -> Option<&Arc<Frame>> {
        self.list.get(at)
    }

    /// Returns the number of positions: one more than steps.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the states so far, beginning with the initial state.
    pub(crate) fn states(&self) -> Vec<Vec<String>> {
        self.list.iter().map(|frame| frame.state.clone()).collect()
    }
}
