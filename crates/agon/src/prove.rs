//! Proofs about all plays of a game: temporal formulas, and ready-made questions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::safety::Reason;
pub use agon_analysis::safety::SafetyLimits;
use agon_analysis::temporal::decide;
pub use agon_analysis::temporal::{Decision, Formula, TemporalError, Verdict};
use agon_gdl::interpreter as gdl;
use agon_search::solve::HiddenGames;
use serde_json::{Value, json};

use crate::game::Game;
use crate::reports;
use agon_game::Budget;

/// A question that is asked about many games.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// Does every play end?
    Termination,
    /// Does every role have a legal move until the end?
    Playability,
    /// Can every role win, if all the others help?
    WeakWinnability,
    /// Can some role win, whatever the others do?
    StrongWinnability,
}

impl Question {
    /// All questions, in the order of the definition of GDL.
    pub const ALL: [Question; 4] = [
        Question::Termination,
        Question::Playability,
        Question::WeakWinnability,
        Question::StrongWinnability,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Question::Termination => "termination",
            Question::Playability => "playability",
            Question::WeakWinnability => "weak-winnability",
            Question::StrongWinnability => "strong-winnability",
        }
    }
}

impl FromStr for Question {
    type Err = ();

    fn from_str(text: &str) -> Result<Question, ()> {
        Question::ALL.into_iter().find(|question| question.name() == text).ok_or(())
    }
}

/// A formula, or a question with the role that it is about, and what is known about it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked.
    pub asked: String,
    /// The answer.
    pub decision: Decision,
}

/// Answers a formula such as `(never (cell 1 1 x))` or the name of a [`Question`].
///
/// # Errors
/// [`TemporalError`] if the formula cannot be read, or the game has no circuit.
pub fn prove(game: &Game, text: &str, limits: &ProveLimits) -> Result<Vec<Answer>, TemporalError> {
    let analysis = game
        .analysis()
        .map_err(|why| TemporalError::new(format!("there are no proofs about this game: {why}")))?;
    let rules = analysis.game();
    match text.trim().parse::<Question>() {
        Ok(question) => question.answer(game, rules, limits),
        Err(()) if !text.trim().starts_with('(') => {
            let names: Vec<&str> = Question::ALL.into_iter().map(Question::name).collect();
            let meant = agon_text::did_you_mean(text.trim(), names.iter().copied());
            let hint = meant.map_or_else(
                || {
                    format!(
                        "write a formula such as `(always (not terminal))`, or {}",
                        names.join(", ")
                    )
                },
                |meant| format!("did you mean `{meant}`?"),
            );
            Err(TemporalError::new(format!("`{text}` is not a question; {hint}")))
        }
        Err(()) => {
            let decision = decide(rules, &Formula::parse(text)?, &limits.safety())?;
            Ok(vec![Answer { asked: text.trim().to_owned(), decision }])
        }
    }
}

/// Limits on a proof.
#[derive(Clone, Debug)]
pub struct ProveLimits {
    /// Time for each formula.
    pub time: Duration,
    /// Maximum number of steps of plays that are looked for.
    pub steps: usize,
    /// Maximum number of states that are visited one by one.
    pub states: usize,
    /// Seed of the random plays.
    pub seed: u64,
}

impl Default for ProveLimits {
    fn default() -> ProveLimits {
        ProveLimits { time: Duration::from_secs(20), steps: 60, states: 300_000, seed: 1 }
    }
}

impl ProveLimits {
    pub(crate) fn safety(&self) -> SafetyLimits {
        SafetyLimits {
            steps: self.steps,
            states: self.states,
            seed: self.seed,
            deadline: Instant::now().checked_add(self.time),
            ..SafetyLimits::default()
        }
    }
}

impl Question {
    fn answer(
        self,
        game: &Game,
        rules: &Arc<gdl::Game>,
        limits: &ProveLimits,
    ) -> Result<Vec<Answer>, TemporalError> {
        let shape = rules.shape();
        let name = |role: agon_game::Role| shape.role_names[role.index()].as_str();
        let ask = |asked: &str, formula: &str| -> Result<Answer, TemporalError> {
            let decision = decide(rules, &Formula::parse(formula)?, &limits.safety())?;
            Ok(Answer { asked: asked.to_owned(), decision })
        };
        match self {
            Question::Termination => Ok(vec![ask(self.name(), "(eventually terminal)")?]),
            Question::Playability => {
                let moves: Vec<String> = shape
                    .roles()
                    .map(|role| format!("(legal {} ?m{})", name(role), role.index()))
                    .collect();
                let formula = format!("(always (or terminal (and {})))", moves.join(" "));
                Ok(vec![ask(self.name(), &formula)?])
            }
            Question::WeakWinnability => shape
                .players()
                .map(|role| {
                    let formula = format!("(reachable (and terminal (goal {} 100)))", name(role));
                    ask(&format!("{} for {}", self.name(), name(role)), &formula)
                })
                .collect(),
            Question::StrongWinnability => match shape.players().count() {
                1 if shape.nature.is_none() => {
                    let only = shape.players().next().map_or("", name);
                    let formula = format!("(reachable (and terminal (goal {only} 100)))");
                    Ok(vec![ask(&format!("{} for {only}", self.name()), &formula)?])
                }
                _ => Ok(vec![strongly_winnable(self.name(), game, limits)]),
            },
        }
    }
}

/// Solves a game of two players. A role can win whatever the other does if perfect play pays it the
/// highest payoff of the game, which is 100 in GDL.
fn strongly_winnable(asked: &str, game: &Game, limits: &ProveLimits) -> Answer {
    let mut decision = Decision::unknown("the game could not be solved");
    let shape = game.shape();
    if shape.players().count() != 2 || shape.nature.is_some() {
        decision = Decision::unknown("only games of one or two players without chance are decided");
        return Answer { asked: asked.to_owned(), decision };
    }
    let budget = Budget::seconds(limits.time.as_secs_f64());
    let solved = reports::solution(&game.start(), &budget, 1024, HiddenGames::Refuse);
    if let Ok(solution) = solved {
        if solution["solved"] == json!(true) {
            let values: Vec<(&str, f64)> = solution["values"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(role, value)| Some((role.as_str(), value.as_f64()?)))
                .collect();
            let highest = *shape.payoffs.end();
            match values.iter().find(|(_, value)| *value >= highest) {
                Some((winner, _)) => {
                    decision.verdict = Verdict::Proved;
                    decision.why = None;
                    decision.line =
                        Some(serde_json::from_value(solution["line"].clone()).unwrap_or_default());
                    return Answer { asked: format!("{asked} for {winner}"), decision };
                }
                None => {
                    let paid: Vec<String> =
                        values.iter().map(|(role, value)| format!("{role} {value}")).collect();
                    decision.verdict = Verdict::Refuted;
                    decision.why = Some(format!("perfect play pays {}", paid.join(", ")));
                }
            }
        } else if let Some(why) = solution["why"].as_str() {
            decision.why = Some(why.to_owned());
        }
    }
    Answer { asked: asked.to_owned(), decision }
}

impl Answer {
    /// Returns the answer as JSON.
    pub fn to_json(&self) -> Value {
        let decision = &self.decision;
        json!({
            "asked": self.asked,
            "verdict": decision.verdict.word(),
            "reason": decision.reason.map(reason_text),
            "line": decision.line,
            "shortest": decision.is_shortest,
            "endless": decision.is_endless,
            "loop": decision.loop_start,
            "rest": decision.rest,
            "bound": (decision.verdict == Verdict::Unknown).then_some(decision.bound),
            "why": decision.why,
        })
    }
}

/// Describes a proof in words.
pub fn reason_text(reason: Reason) -> String {
    match reason {
        Reason::AllStates(1) => "the only reachable state was visited".to_owned(),
        Reason::AllStates(n) => format!("all {n} reachable states were visited"),
        Reason::WatchedStates(n) => {
            format!("all reachable states were visited, {n} with what the formula requires there")
        }
        Reason::Induction(0) => "no state violates it".to_owned(),
        Reason::Induction(1) => "by induction over single steps".to_owned(),
        Reason::Induction(k) => format!("by induction over {k} steps"),
        Reason::Length(n) => format!("no play is longer than {n} steps"),
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decision = &self.decision;
        write!(f, "{}: {}", self.asked, decision.verdict.word())?;
        if let Some(reason) = decision.reason {
            write!(f, ", {}", reason_text(reason))?;
        }
        if decision.verdict == Verdict::Unknown {
            match decision.bound {
                0 => {}
                1 => write!(f, "; nothing was found within 1 step")?,
                steps => write!(f, "; nothing was found within {steps} steps")?,
            }
        }
        if let Some(why) = &decision.why {
            write!(f, ", because {why}")?;
        }
        if let Some(line) = &decision.line {
            let kind = match (decision.is_endless, decision.is_shortest) {
                (true, _) => "a play that comes back to where it was",
                (false, true) => "a shortest play",
                (false, false) => "a play",
            };
            let steps = if line.len() == 1 { "step" } else { "steps" };
            write!(f, ", {kind} of {} {steps}", line.len())?;
            for joint in line {
                write!(f, "\n  {}", joint.join(" "))?;
            }
            match decision.loop_start {
                Some(0) => write!(f, "\n  and so on, from the start")?,
                Some(steps) => write!(f, "\n  and so on, from the state after step {steps}")?,
                None => {}
            }
        }
        match (&decision.rest, &decision.line) {
            (Some(rest), Some(_)) => write!(f, "\n  there {rest}")?,
            (Some(rest), None) => write!(f, "; at the start {rest}")?,
            (None, _) => {}
        }
        Ok(())
    }
}
