//! Whether two rulesheets define the same game: by playing both at random with the same moves, then
//! by proof.
//!
//! Only what players can notice is compared: roles, the end of play, legal moves, payoffs at the
//! end, and percepts. Names are compared without regard to case, and the order of moves does not
//! matter. States may be described by other fluents.

use std::fmt;
use std::sync::Arc;

use agon_analysis::equivalence::{Comparison, compare};
use agon_analysis::safety::Reason;
use agon_circuit::Compiled;
use agon_game::Role;
use agon_game::laws::Plan;
use agon_game::lockstep::{self, Agreement, Difference, MoveOrder, MoveTexts, Payoffs};
use serde_json::{Value, json};

use crate::engine::{GamePosition, GameTask};
use crate::game::Game;
use crate::position::Position;
use crate::prove::{ProveLimits, reason_text};

/// How two games are compared.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Number of random plays.
    pub plays: usize,
    /// Maximum number of steps of a play.
    pub max_steps: usize,
    /// Limits on the proof. Its seed is that of the plays, too.
    pub limits: ProveLimits,
    /// Whether a proof is tried.
    pub proof: bool,
}

impl Default for DiffOptions {
    fn default() -> DiffOptions {
        DiffOptions { plays: 100, max_steps: 500, limits: ProveLimits::default(), proof: true }
    }
}

/// What is known about two games.
#[derive(Clone, Debug)]
pub enum Diff {
    /// They are the same game.
    Same {
        /// The proof.
        reason: Reason,
        /// Number of pairs of fluents that are proved to be equal.
        n_pairs: usize,
        /// Whether percepts were compared in plays only.
        has_percepts: bool,
    },
    /// They are different games.
    Differ {
        /// The play after which they differ.
        line: Vec<Vec<String>>,
        /// What differs.
        what: String,
    },
    /// No difference was found.
    Unknown {
        /// Number of plays without a difference.
        plays: usize,
        /// Number of states that were compared in the plays.
        states: usize,
        /// The number of steps within which there is provably no difference.
        steps: usize,
        /// Why there is no proof.
        why: String,
    },
}

/// Compares two games.
pub fn diff(first: &Game, second: &Game, options: &DiffOptions) -> Diff {
    let names = |game: &Game| -> Vec<String> {
        game.shape().role_names.iter().map(|name| name.to_lowercase()).collect()
    };
    if names(first) != names(second) {
        let what = format!(
            "the roles are {} and {}",
            first.shape().role_names.join(", "),
            second.shape().role_names.join(", ")
        );
        return Diff::Differ { line: Vec::new(), what };
    }
    let agreement = match first.run(First { second, options }) {
        Ok(agreement) => agreement,
        Err(difference) => {
            let what = difference.mismatch.to_string();
            return Diff::Differ { line: difference.moves, what };
        }
    };
    let unknown = |steps: usize, why: &str| Diff::Unknown {
        plays: agreement.plays,
        states: agreement.states,
        steps,
        why: why.to_owned(),
    };
    if !options.proof {
        return unknown(0, "no proof was asked for");
    }
    let (Some(a), Some(b)) = (circuit(first), circuit(second)) else {
        return unknown(0, "a game has no circuit");
    };
    match compare(&a, &b, &options.limits.safety()) {
        Ok(Comparison::Same { reason, n_pairs }) => {
            let has_percepts = first.shape().hidden || second.shape().hidden;
            Diff::Same { reason, n_pairs, has_percepts }
        }
        Ok(Comparison::Differ(line)) => {
            let what = described(first, second, &line);
            Diff::Differ { line, what }
        }
        Ok(Comparison::Unknown { steps, why }) => unknown(steps, &why),
        Err(why) => unknown(0, &why),
    }
}

/// Returns the circuit of a game, even if another engine plays it.
fn circuit(game: &Game) -> Option<Arc<Compiled>> {
    match (game.compiled(), game.gdl()) {
        (Some(compiled), _) => Some(Arc::clone(compiled)),
        (None, Some(rules)) => rules.compile(&Default::default()).ok().map(Arc::new),
        (None, None) => None,
    }
}

struct First<'a> {
    second: &'a Game,
    options: &'a DiffOptions,
}

impl GameTask for First<'_> {
    type Output = Result<Agreement, Box<Difference>>;

    fn run<P: GamePosition + 'static>(self, first: P) -> Self::Output {
        self.second.run(Second { first, options: self.options })
    }
}

struct Second<'a, P> {
    first: P,
    options: &'a DiffOptions,
}

impl<A: GamePosition + 'static> GameTask for Second<'_, A> {
    type Output = Result<Agreement, Box<Difference>>;

    fn run<B: GamePosition + 'static>(self, second: B) -> Self::Output {
        let is_hidden = self.first.shape().hidden || second.shape().hidden;
        let mut options = lockstep::Options {
            plan: Plan {
                seed: self.options.limits.seed,
                plays: self.options.plays,
                max_steps: self.options.max_steps,
            },
            first_move: Some(&|_: Role, text: &str| text.to_lowercase()),
            second_move: Some(&|_: Role, text: &str| Some(text.to_lowercase())),
            move_texts: MoveTexts::ByPosition,
            move_order: MoveOrder::Any,
            states: false,
            payoffs: Payoffs::AtEnd,
            ..lockstep::Options::default()
        };
        if is_hidden {
            options = options.with_percepts();
        }
        lockstep::compare(&self.first, &second, &options).map_err(Box::new)
    }
}

/// Describes how two games differ after a play.
fn described(first: &Game, second: &Game, line: &[Vec<String>]) -> String {
    let (mut a, mut b) = (first.start(), second.start());
    for joint in line {
        let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
        for (position, name) in [(&mut a, "first"), (&mut b, "second")] {
            if let Err(why) = position.play_joint(&texts) {
                return format!("the {name} game refuses {}: {why}", joint.join(" "));
            }
        }
    }
    match (a.is_terminal(), b.is_terminal()) {
        (true, false) => return "only the first game has ended".to_owned(),
        (false, true) => return "only the second game has ended".to_owned(),
        _ => {}
    }
    for role in a.shape().roles() {
        let name = a.role_name(role);
        let moves = |position: &Position| -> Vec<String> {
            position.legal_moves(role).iter().map(|text| text.to_lowercase()).collect()
        };
        let (of_a, of_b) = (moves(&a), moves(&b));
        if let Some(text) = of_a.iter().find(|text| !of_b.contains(text)) {
            return format!("`{text}` is legal for {name} only in the first game");
        }
        if let Some(text) = of_b.iter().find(|text| !of_a.contains(text)) {
            return format!("`{text}` is legal for {name} only in the second game");
        }
        let is_player = a.shape().players().any(|player| player == role);
        if a.is_terminal() && is_player && a.payoff(role) != b.payoff(role) {
            return format!(
                "{name} gets {} in the first game, {} in the second",
                a.payoff(role),
                b.payoff(role)
            );
        }
    }
    "the games differ".to_owned()
}

impl Diff {
    /// Returns the word for the result: `same`, `different` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self {
            Diff::Same { .. } => "same",
            Diff::Differ { .. } => "different",
            Diff::Unknown { .. } => "unknown",
        }
    }

    /// Returns the result as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Diff::Same { reason, n_pairs, .. } => {
                json!({"result": self.word(), "proof": reason_text(*reason), "pairs": n_pairs})
            }
            Diff::Differ { line, what } => {
                json!({"result": self.word(), "what": what, "line": line})
            }
            Diff::Unknown { plays, states, steps, why } => json!({
                "result": self.word(), "plays": plays, "states": states, "bound": steps,
                "why": why,
            }),
        }
    }
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Diff::Same { reason, n_pairs, has_percepts } => {
                write!(f, "the same game: proved, {}", reason_text(*reason))?;
                if *n_pairs > 0 {
                    write!(f, " with {n_pairs} pairs of equal fluents")?;
                }
                if *has_percepts {
                    write!(f, " (percepts were compared in random plays only)")?;
                }
                Ok(())
            }
            Diff::Differ { line, what } => {
                write!(f, "different games: {what}")?;
                match line.len() {
                    0 => write!(f, ", at the start")?,
                    n => write!(f, ", after {n} steps")?,
                }
                line.iter().try_for_each(|joint| write!(f, "\n  {}", joint.join(" ")))
            }
            Diff::Unknown { plays, states, steps, why } => write!(
                f,
                "no difference in {plays} plays with {states} states, nor within {steps} steps by \
                 proof; more is not known, because {why}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::OpenOptions;

    fn opened(text: &str) -> Game {
        Game::open_with(text, &OpenOptions::default()).expect("the rules are sound")
    }

    fn rules(name: &str) -> String {
        crate::shipped::Shipped::named(name).expect("it ships").text.to_owned()
    }

    #[test]
    fn a_game_is_the_same_under_other_names_of_fluents() {
        let text = rules("tic-tac-toe");
        let renamed = text.replace("cell", "place").replace("control", "turn");
        let same = diff(&opened(&text), &opened(&renamed), &DiffOptions::default());
        assert!(matches!(same, Diff::Same { .. }), "{same}");
    }

    #[test]
    fn a_difference_is_a_line_of_play() {
        let text = rules("tic-tac-toe");
        let other = text.replace("100", "90");
        let found = diff(&opened(&text), &opened(&other), &DiffOptions::default());
        assert!(matches!(&found, Diff::Differ { line, .. } if line.len() >= 5), "{found}");
        // Without plays the proof has to find it.
        let options = DiffOptions { plays: 0, ..DiffOptions::default() };
        let found = diff(&opened(&text), &opened(&other), &options);
        assert!(matches!(&found, Diff::Differ { line, .. } if line.len() == 5), "{found}");
        let nim = opened("nim");
        assert_eq!(diff(&opened(&text), &nim, &DiffOptions::default()).word(), "different");
    }
}
