//! A search in a player's seat.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Hidden, Notation, Role};
use agon_search::{Budget, Search};

use crate::{Belief, Choice, Lapse, Lookout, News, Player, Thought};

/// A search that plays a game where everybody sees every move. It keeps its own position.
pub struct SearchPlayer<P, S> {
    position: P,
    role: Role,
    search: S,
}

impl<P: Notation, S: Search<P>> SearchPlayer<P, S> {
    /// A player of the role in a match that begins where `start` stands.
    pub fn new(start: P, role: Role, search: S) -> SearchPlayer<P, S> {
        SearchPlayer { position: start, role, search }
    }
}

impl<P: Notation + 'static, S: Search<P>> Player for SearchPlayer<P, S> {
    fn prepare(&mut self, budget: &Budget) -> Result<(), Lapse> {
        // No iterations: the match is counted, not timed, and the first move is to cost what the others do.
        if budget.iterations != Some(0) && !self.position.is_terminal() {
            self.search.think(&mut self.position, self.role, budget);
        }
        Ok(())
    }

    fn look(&mut self, _: &Budget) -> Vec<String> {
        legal_texts(&self.position, self.role)
    }

    fn lookout(&self) -> Option<Box<dyn Lookout>> {
        Some(Box::new(Follower {
            position: self.position.clone(),
            role: self.role,
            is_lost: false,
        }))
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        match self.position.legal_moves(self.role) {
            [] => Err(Lapse::Broken("as far as the player knows, the game has ended".to_owned())),
            [only] => Ok(Choice { text: self.position.move_text(only), thought: None }),
            [_, _, ..] => {
                let report = self.search.think(&mut self.position, self.role, budget);
                let thought = Thought::new(&report, &self.position);
                Ok(Choice { text: self.position.move_text(&report.best), thought: Some(thought) })
            }
        }
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        if follow(&mut self.position, news) {
            return Ok(());
        }
        let told = news.seen.join(" ");
        Err(Lapse::Broken(format!("`{told}` is not a joint move where the player stands")))
    }
}

fn legal_texts<P: Notation>(position: &P, role: Role) -> Vec<String> {
    position.legal_moves(role).iter().map(|m| position.move_text(m)).collect()
}

/// Makes the joint move that was told, if it is one.
fn follow<P: Notation>(position: &mut P, news: &News) -> bool {
    let roles = position.shape().roles();
    let moves = roles.zip(&news.seen).map(|(role, text)| position.parse_move(role, text));
    let joint: Option<Vec<P::Move>> = moves.collect();
    match joint.filter(|joint| joint.len() == position.shape().role_names.len()) {
        Some(joint) => position.advance(&joint),
        None => return false,
    }
    true
}

/// Goes along with a match.
struct Follower<P> {
    position: P,
    role: Role,
    is_lost: bool,
}

impl<P: Notation> Lookout for Follower<P> {
    fn learn(&mut self, news: &News) {
        self.is_lost = self.is_lost || !follow(&mut self.position, news);
    }

    fn moves(&self) -> Vec<String> {
        if self.is_lost { Vec::new() } else { legal_texts(&self.position, self.role) }
    }
}

/// A search for games where everybody sees everything, playing one with hidden information: it thinks about a few of the
/// worlds that its role takes for possible, each as if it were the true one, and plays what is chosen in most of them.
///
/// Honest, but blind to what information is worth; searches that know of hidden information do better.
pub struct HiddenSearchPlayer<P: Hidden, S> {
    belief: Belief<P>,
    search: S,
}

/// How many worlds are thought about for one move.
const WORLDS: usize = 8;

impl<P: Hidden, S: Search<P>> HiddenSearchPlayer<P, S> {
    /// A player of the role in a match that begins where `start` stands.
    pub fn new(start: P, role: Role, search: S, seed: u64) -> HiddenSearchPlayer<P, S> {
        HiddenSearchPlayer { belief: Belief::new(start, role, seed), search }
    }
}

/// What the worlds say of a move.
struct Votes {
    text: String,
    /// In how many worlds it is legal.
    n_legal: usize,
    /// In how many it was chosen.
    n_chosen: usize,
    value: f64,
}

impl<P: Hidden, S: Search<P>> Player for HiddenSearchPlayer<P, S> {
    fn prepare(&mut self, _: &Budget) -> Result<(), Lapse> {
        Ok(())
    }

    fn look(&mut self, _: &Budget) -> Vec<String> {
        self.belief.legal_moves()
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, Lapse> {
        let role = self.belief.role();
        let (position, worlds) = self.belief.worlds();
        let worlds: Vec<&P::State> = worlds.iter().take(WORLDS).collect();
        let mut votes: Vec<Votes> = Vec::new();
        for world in &worlds {
            position.go_to(world);
            for m in position.legal_moves(role) {
                let text = position.move_text(m);
                match votes.iter_mut().find(|votes| votes.text == text) {
                    Some(votes) => votes.n_legal += 1,
                    None => votes.push(Votes { text, n_legal: 1, n_chosen: 0, value: 0.0 }),
                }
            }
        }
        match votes.as_slice() {
            [] => {
                return Err(Lapse::Broken(
                    "found no history that fits what was perceived".to_owned(),
                ));
            }
            [only] => return Ok(Choice { text: only.text.clone(), thought: None }),
            [_, _, ..] => {}
        }
        let mut thought: Option<Thought> = None;
        for (index, world) in worlds.iter().enumerate() {
            position.go_to(world);
            let share = share(budget, worlds.len() - index, worlds.len());
            let report = self.search.think(position, role, &share);
            let best = position.move_text(&report.best);
            let chosen = votes.iter_mut().find(|votes| votes.text == best);
            let chosen = chosen.expect("every legal move of a world has been counted");
            chosen.n_chosen += 1;
            chosen.value += report.value;
            let here = Thought::new(&report, position);
            match &mut thought {
                None => thought = Some(here),
                Some(sum) => {
                    sum.iterations += here.iterations;
                    sum.nodes += here.nodes;
                    sum.playouts += here.playouts;
                    sum.seconds += here.seconds;
                    sum.depth = sum.depth.max(here.depth);
                }
            }
        }
        // `min_by` keeps the first of equals: the order of the legal moves decides.
        let best = votes.iter().min_by(|a, b| {
            (b.n_legal, b.n_chosen).cmp(&(a.n_legal, a.n_chosen)).then(b.value.total_cmp(&a.value))
        });
        let best = best.expect("there are votes");
        // What one world says of values and lines is no opinion about the whole: only the counts are kept.
        let thought = thought.map(|thought| Thought {
            value: thought.value.map(|_| best.value / best.n_chosen.max(1) as f64),
            is_proven: false,
            considered: Vec::new(),
            line: Vec::new(),
            ..thought
        });
        Ok(Choice { text: best.text.clone(), thought })
    }

    fn learn(&mut self, news: &News) -> Result<(), Lapse> {
        self.belief.learn(news);
        Ok(())
    }
}

/// An equal part of what is left of a budget, with `n_left` of `n` worlds to go.
fn share(budget: &Budget, n_left: usize, n: usize) -> Budget {
    let part = |amount: u64| (amount / n as u64).max(1);
    let now = Instant::now();
    Budget {
        deadline: budget.deadline.map(|deadline| {
            now + deadline.saturating_duration_since(now).max(Duration::ZERO) / n_left as u32
        }),
        iterations: budget.iterations.map(part),
        nodes: budget.nodes.map(part),
        stop: budget.stop.clone(),
        // What is best in one world is no answer.
        hint: Arc::default(),
    }
}
