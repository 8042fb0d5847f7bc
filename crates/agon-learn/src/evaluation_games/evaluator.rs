//! The assessment of moves by evaluation games that only decide, without playing them.

use agon_game::{Position, Rng, Shape};
use agon_search::continuous::MoveEvaluator;
use agon_toss::evaluation::EvaluationGames;
use agon_toss::interpreter::Game;
use rand::RngExt as _;

use super::condition::Condition;
use super::view::View;

/// Evaluation games of a game that keeps its states as bits. The outcomes have the same
/// distribution as plays of [`EvaluationGames`], which are the oracle.
#[derive(Clone, Debug)]
pub struct DecisionEvaluator {
    view: View,
    /// By location: the index of its list.
    lists: Vec<Option<usize>>,
    decisions: Vec<List>,
    /// By role of the evaluated game: the number of the player, `None` for nature.
    players: Vec<Option<usize>>,
}

#[derive(Clone, Debug)]
struct List {
    branches: Vec<(Condition, Vec<Outcome>)>,
    otherwise: Vec<f64>,
}

/// Payoffs by player, and their probability.
type Outcome = (Vec<f64>, f64);

impl DecisionEvaluator {
    /// Compiles evaluation games. `facts` are the texts of the bits of states. Returns `None` if
    /// the games do more than to decide, or if the states are not bits.
    pub fn new(
        games: &EvaluationGames,
        game: &Game,
        shape: &Shape,
        facts: &[String],
    ) -> Option<DecisionEvaluator> {
        let view = View::new(game, facts).ok().filter(|_| !facts.is_empty())?;
        let arena = game.arena();
        if view.locations.len() > 1 && view.locations.contains(&None) {
            return None;
        }
        let mut lists = vec![None; arena.locations().len()];
        let mut decisions = Vec::new();
        let mut everywhere = None;
        for decided in games.decisions()? {
            let compile = |branch: &agon_toss::evaluation::Branch| {
                Some((Condition::of(&branch.condition, &view)?, branch.outcomes.clone()))
            };
            let branches = decided.branches.iter().map(compile).collect::<Option<_>>()?;
            match decided.location {
                Some(location) => lists[location.index()] = Some(decisions.len()),
                None => everywhere = Some(decisions.len()),
            }
            decisions.push(List { branches, otherwise: decided.otherwise });
        }
        for (list, location) in lists.iter_mut().zip(arena.locations()) {
            let edges = location.edges.iter().enumerate();
            let mut of_players = edges.filter(|(player, _)| Some(*player) != arena.nature());
            // Moves of nature alone are not assessed.
            let is_chosen = of_players.any(|(_, edges)| !edges.is_empty());
            *list = list.or(everywhere).filter(|_| is_chosen);
        }
        let mut numbers = 0..;
        let player = |role| if Some(role) == shape.nature { None } else { numbers.next() };
        let players = shape.roles().map(player).collect();
        Some(DecisionEvaluator { view, lists, decisions, players })
    }

    /// Returns the lotteries of the conditions that hold of a move, or `None` if there is no
    /// evaluation game.
    fn outcomes(&self, before: &[u64], after: &[u64]) -> Option<Vec<&[Outcome]>> {
        let list = &self.decisions[self.list(before)?];
        let branches = list.branches.iter();
        let holds = branches.filter(|(condition, _)| condition.holds(&self.view, before, after));
        Some(holds.map(|(_, outcomes)| &outcomes[..]).collect())
    }

    fn list(&self, before: &[u64]) -> Option<usize> {
        self.lists[self.view.location(before)?]
    }

    fn by_role(&self, payoff: impl Fn(usize) -> f64) -> Vec<f64> {
        self.players.iter().map(|player| player.map_or(0.0, &payoff)).collect()
    }

    /// Returns the mean payoffs of a move by role, 0 for nature.
    pub fn mean(&self, before: &[u64], after: &[u64]) -> Option<Vec<f64>> {
        let branches = self.outcomes(before, after)?;
        if branches.is_empty() {
            let otherwise = &self.decisions[self.list(before)?].otherwise;
            return Some(self.by_role(|player| otherwise[player]));
        }
        let mean = |player: usize| {
            let of_branch = |outcomes: &&[Outcome]| {
                outcomes.iter().map(|(payoffs, chance)| payoffs[player] * chance).sum::<f64>()
            };
            branches.iter().map(of_branch).sum::<f64>() / branches.len() as f64
        };
        Some(self.by_role(mean))
    }

    /// Draws the payoffs of a move by role, 0 for nature.
    pub fn draw(&self, before: &[u64], after: &[u64], rng: &mut Rng) -> Option<Vec<f64>> {
        let branches = self.outcomes(before, after)?;
        if branches.is_empty() {
            return self.mean(before, after);
        }
        let outcomes = branches[rng.random_range(0..branches.len())];
        let mut left: f64 = rng.random();
        let drawn = outcomes.iter().find(|(_, chance)| {
            left -= chance;
            left < 0.0
        });
        // Rounding may leave a small probability unassigned.
        let (payoffs, _) = drawn.or(outcomes.last())?;
        Some(self.by_role(|player| payoffs[player]))
    }
}

impl<P: Position> MoveEvaluator<P> for DecisionEvaluator {
    fn assess(&mut self, before: &P, _: &[P::Move], after: &P, rng: &mut Rng) -> Option<Vec<f64>> {
        self.draw(P::state_words(before.state())?, P::state_words(after.state())?, rng)
    }

    fn expected(&mut self, before: &P, _: &[P::Move], after: &P, _: &mut Rng) -> Option<Vec<f64>> {
        self.mean(P::state_words(before.state())?, P::state_words(after.state())?)
    }
}
