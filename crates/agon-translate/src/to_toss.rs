//! Translates GDL games to structure rewriting games.
//!
//! The pipeline follows the translation of Toss. Each stage is a module:
//!
//! 1. `domain` collects a superset of all state terms and moves, by grounding. Where a game is too
//!    large for a circuit, the terms come from `Game::reachable`, which ignores negated conditions.
//!    An argument position of a state term is either *named* (its value becomes part of a
//!    predicate's name) or a *coordinate* (its value becomes an element). Any choice is correct.
//!    Samples of random play (`sampling`) and the rules decide which choice is readable.
//! 2. `lift` turns conditions of rules into formulas (`formula`), and `turns` turns control fluents
//!    into locations.
//! 3. `effects` splits `next` rules into frame rules, which keep tuples, and rules that add tuples.
//!    What no frame rule keeps is deleted.
//! 4. `cases` writes one rewriting rule for each sampled case. Affected tuples that are not made of
//!    the move's arguments become additional elements of the embedding. Each number of such tuples
//!    that was sampled is a case of its own, so the cases exclude each other and no move is offered
//!    twice. A condition that never held in the sample is also a case, if there are few of them.
//! 5. `arena` assembles locations, rules and payoffs. Where several goal values hold, the highest
//!    counts (`overlaps`): a lower value excludes all higher ones, unless the conditions contradict
//!    each other syntactically. Samples prove nothing here.
//! 6. `places` replaces pairs and longer tuples of coordinates by elements, one for each place of a
//!    board. Values that only served to identify places are eliminated. The static conditions on
//!    two places become one relation, shared by all conditions with the same tuples. If this is too
//!    expensive, the elements stay values.
//! 7. `shared` names conditions that several rules have in common, if they bind their variables and
//!    are estimated to have few tuples. `legal` does the same for the condition under which the
//!    moves of a class are legal. So each rule starts from the few legal moves.
//! 8. `write` prints the text.
//!
//! Where roles move simultaneously and an effect depends on the moves of several, `delayed` first
//! writes a GDL game whose state remembers the moves for one step, and that game is translated.
//!
//! A translation is checked by lockstep play with the original (`check`). A difference shows a
//! state that the sample missed. Several such states are added to the sample, and the translation
//! is computed again. A few plays use the interpreters on both sides. The other plays use circuits
//! where these can be built quickly. Where the translation has no circuit, the evaluation steps are
//! counted, and a translation that needs too many is rejected.
//!
//! A construct that cannot be expressed is rejected with its kind and its line.

mod arena;
mod cases;
mod check;
mod delayed;
mod domain;
mod effects;
mod formula;
mod legal;
mod lift;
mod names;
mod overlaps;
mod percepts;
mod places;
mod sample_evaluator;
mod sampling;
mod shared;
#[cfg(test)]
mod tests;
mod turns;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use agon_game::laws::Plan;
use agon_gdl::interpreter::Game;
use agon_structures::interrupt::Interrupt;

use check::PlayLimits;
pub use check::TranslationCheck;

/// Limits and sampling parameters of a translation.
#[derive(Clone, Debug)]
pub struct ToTossOptions {
    /// Number of random plays to sample.
    pub plays: usize,
    /// Number of sampled states to keep.
    pub states: usize,
    /// Maximum number of steps of a sampled play.
    pub steps_of_play: usize,
    /// Number of plays in which both games must agree before a translation is accepted. A fifth of
    /// them is played if the translation is too large for a circuit.
    pub joint_plays: usize,
    /// Maximum number of times that a translation is computed again after a difference was found.
    pub rounds: usize,
    /// Maximum length of the text in bytes.
    pub text_bytes: usize,
    /// Maximum number of rule instances and gates of the grounding.
    pub gates: usize,
    /// Maximum number of steps of the grounding.
    pub steps: u64,
    /// Maximum number of conditions in the formulas.
    pub conditions: usize,
    /// Maximum number of evaluation steps for the lockstep plays of one translation, if it has no
    /// circuit.
    pub play_steps: u64,
    /// Seed of the random plays.
    pub seed: u64,
    /// Time to stop at. Without a deadline, the same game has the same translation on every
    /// machine.
    pub deadline: Option<Instant>,
    /// Callback that receives the name of each stage when it starts.
    pub progress: Option<fn(&str)>,
}

impl ToTossOptions {
    /// Reports the start of a stage. Returns an error if the deadline has passed.
    fn begin(&self, stage: &str) -> Result<(), ToTossError> {
        if let Some(progress) = self.progress {
            progress(stage);
        }
        self.check_time()
    }

    /// Returns the lockstep plays that check a translation.
    fn check_plan(&self, seed: u64) -> Plan {
        Plan { plays: self.joint_plays, max_steps: self.steps_of_play, seed }
    }

    /// Returns the limits of the lockstep plays.
    fn play_limits(&self) -> PlayLimits {
        PlayLimits {
            deadline: self.deadline,
            steps: self.play_steps,
            slow_plays: self.joint_plays / 5,
        }
    }

    /// Returns an error if the deadline has passed.
    fn check_time(&self) -> Result<(), ToTossError> {
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let why = "the translation exceeds its time limit".to_owned();
            return Err(ToTossError { construct: Construct::Size, why, line: None });
        }
        Ok(())
    }
}

impl Default for ToTossOptions {
    fn default() -> ToTossOptions {
        ToTossOptions {
            plays: 40,
            states: 400,
            steps_of_play: 400,
            joint_plays: 300,
            rounds: 8,
            text_bytes: 4_000_000,
            gates: 2_000_000,
            steps: 300_000_000,
            conditions: 400_000,
            // About a minute for a fifth of the plays, at ten to twenty nanoseconds each.
            play_steps: 4_000_000_000,
            seed: 1,
            deadline: None,
            progress: None,
        }
    }
}

/// A GDL game as a structure rewriting game.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Text of the game in the language of `agon_toss`.
    pub text: String,
    /// Moves by the name of the rule.
    rules: BTreeMap<String, RuleMove>,
    /// Terms that an element stands for, by the name of the element.
    elements: BTreeMap<String, Vec<String>>,
    /// For each role: its move while it waits.
    waiting: Vec<Option<String>>,
}

/// The GDL moves that a rule stands for.
#[derive(Clone, Debug)]
struct RuleMove {
    role: usize,
    functor: String,
    arguments: Vec<Argument>,
}

/// An argument of a move.
#[derive(Clone, Debug)]
enum Argument {
    Fixed(String),
    /// A term of an element of the embedding.
    Element {
        index: usize,
        coordinate: usize,
    },
}

impl Translation {
    /// Returns the GDL move that a move of the translation stands for. Roles have the same index on
    /// both sides.
    pub fn gdl_move(&self, role: usize, toss_move: &str) -> Option<String> {
        if toss_move == "noop" {
            return self.waiting.get(role)?.clone();
        }
        let inner = toss_move.strip_prefix('(')?.strip_suffix(')')?;
        let words: Vec<&str> = inner.split_whitespace().collect();
        let rule = self.rules.get(*words.first()?)?;
        if rule.role != role {
            return None;
        }
        if rule.arguments.is_empty() {
            return Some(rule.functor.clone());
        }
        let mut text = format!("({}", rule.functor);
        for argument in &rule.arguments {
            text.push(' ');
            match argument {
                Argument::Fixed(term) => text.push_str(term),
                Argument::Element { index, coordinate } => {
                    text.push_str(self.elements.get(*words.get(index + 1)?)?.get(*coordinate)?);
                }
            }
        }
        text.push(')');
        Some(text)
    }

    /// Returns the legal move of the translation that stands for a GDL move.
    ///
    /// The rule that applies and its elements may depend on the state, so the legal moves are
    /// needed.
    pub fn toss_move<'a>(
        &self,
        role: usize,
        gdl_move: &str,
        legal: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        legal.into_iter().find(|toss| self.gdl_move(role, toss).as_deref() == Some(gdl_move))
    }
}

/// Reason why a game is not translated, with the construct and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToTossError {
    /// Kind of the construct that cannot be expressed.
    pub construct: Construct,
    /// Description for people.
    pub why: String,
    /// Line of the rulesheet, starting at 1, if one rule is responsible.
    pub line: Option<u32>,
}

/// Kinds of constructs that are rejected.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Construct {
    /// Percepts that do not reveal every move to every role. In structure rewriting games all
    /// players have full information.
    Percepts,
    /// The game or its translation is larger than the options allow.
    Size,
    /// A variable stands for a whole state term, as in `(true ?x)`.
    StateVariable,
    /// Something depends on moves that must not depend on them.
    MoveOutOfPlace,
    /// Relations that depend on each other, or on themselves through moves.
    Recursion,
    /// An effect of one role's move depends on a simultaneous move of another role.
    JointEffect,
    /// One move changes more tuples than a rule can name.
    ManyEffects,
    /// The effect of a move depends on the state in too many ways.
    ManyCases,
    /// The order of turns cannot be expressed by locations.
    Turns,
    /// Lockstep play found a difference in every attempt.
    Differs,
    /// The generated text is rejected by the checker. This is a defect of the translator.
    Text,
}

impl fmt::Display for ToTossError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for ToTossError {}

/// Maximum number of roles. Sets of roles are words of 64 bits.
const MAX_ROLES: usize = 64;

/// Translates a GDL game to a structure rewriting game.
///
/// # Errors
/// Returns an error if the game has a construct that cannot be expressed, or if a limit is
/// exceeded.
pub fn to_toss(game: &Arc<Game>, options: &ToTossOptions) -> Result<Translation, ToTossError> {
    if game.rules().has_sees() && !percepts::give_full_information(game.rules()) {
        let why = "`sees` gives roles different knowledge, and structure rewriting games have full information";
        return Err(ToTossError {
            construct: Construct::Percepts,
            why: why.to_owned(),
            line: None,
        });
    }
    let n_roles = game.shape().role_names.len();
    if n_roles > MAX_ROLES {
        let why = format!("the game has {n_roles} roles, and at most {MAX_ROLES} are translated");
        return Err(ToTossError { construct: Construct::Size, why, line: None });
    }
    let mut domain = domain::Domain::new(game, options)?;
    let error = match translate(&mut domain, options) {
        // Joint effects of several roles may also show up as differences in play.
        Err(error) if [Construct::JointEffect, Construct::Differs].contains(&error.construct) => {
            error
        }
        other => return other,
    };
    let Some(delayed_game) = delayed::delayed(game) else { return Err(error) };
    let second_error = |why: &dyn fmt::Display| ToTossError {
        why: format!("{}; with recorded moves: {why}", error.why),
        ..error.clone()
    };
    let made = domain::Domain::new(&delayed_game, options);
    let made = made.and_then(|mut domain| translate(&mut domain, options));
    let translation = made.map_err(|second| second_error(&second.why))?;
    let circuit = domain.sampler.circuit().cloned();
    let deadline = options.deadline;
    let check = TranslationCheck::with_circuit(game, circuit, &translation, deadline)?;
    let played = check.differences(&options.check_plan(options.seed), &options.play_limits(), 1);
    options.check_time()?;
    match played.differences.first() {
        None => Ok(translation),
        Some(difference) => Err(second_error(difference)),
    }
}

/// Maximum number of differing plays that are added to the sample at a time.
const MAX_ADDED_PLAYS: usize = 8;

/// Computes translations until lockstep play finds no difference.
fn translate(
    domain: &mut domain::Domain,
    options: &ToTossOptions,
) -> Result<Translation, ToTossError> {
    let game = Arc::clone(&domain.game);
    let circuit = domain.sampler.circuit().cloned();
    let mut elements = ElementKind::Places;
    let mut round = 0;
    loop {
        options.check_time()?;
        let differences = match attempt(domain, options, elements) {
            Ok(translation) => {
                options.begin("opening the translation")?;
                let (circuit, deadline) = (circuit.clone(), options.deadline);
                let check = TranslationCheck::with_circuit(&game, circuit, &translation, deadline)?;
                options.begin("lockstep play")?;
                let seed = options.seed.wrapping_add(round as u64 + 1);
                let plan = options.check_plan(seed);
                let played = check.differences(&plan, &options.play_limits(), MAX_ADDED_PLAYS);
                options.check_time()?;
                if played.differences.is_empty() {
                    return Ok(translation);
                }
                played.differences
            }
            Err(error) if elements == ElementKind::Values => return Err(error),
            Err(_) => {
                elements = ElementKind::Values;
                continue;
            }
        };
        // A play that could not be evaluated adds no information.
        let is_fault = differences[0].mismatch.is_fault();
        if is_fault && elements == ElementKind::Values {
            let why = format!("the translation is too expensive to play: {}", differences[0]);
            return Err(ToTossError { construct: Construct::Size, why, line: None });
        }
        round = if is_fault { options.rounds + 1 } else { round + 1 };
        if round > options.rounds && elements == ElementKind::Values {
            let why = format!("the translation differs: {}", differences[0]);
            return Err(ToTossError { construct: Construct::Differs, why, line: None });
        }
        if round > options.rounds {
            (elements, round) = (ElementKind::Values, 0);
        }
        // The sample now contains the states that it missed.
        options.begin(&differences[0].mismatch.to_string())?;
        domain.add_differing_plays(&differences);
    }
}

/// The choice of elements.
#[derive(Copy, Clone, PartialEq, Eq)]
enum ElementKind {
    /// Places, for state terms with two coordinates or more. Values for all others.
    Places,
    /// Values only. This is easier to compute, and harder to read.
    Values,
}

fn attempt(
    domain: &domain::Domain,
    options: &ToTossOptions,
    elements: ElementKind,
) -> Result<Translation, ToTossError> {
    let mut arena = arena::arena(domain, options)?;
    arena.drop_unread_changes();
    options.begin("places")?;
    if elements == ElementKind::Places && places::lower_to_places(&mut arena).is_err() {
        let why = "the game cannot be expressed with places".to_owned();
        return Err(ToTossError { construct: Construct::Size, why, line: None });
    }
    options.begin("writing")?;
    shared::share(&mut arena);
    legal::name_legality(&mut arena);
    let translation = write::write(&mut arena, options.text_bytes)?;
    open(&translation.text, options.deadline)?;
    Ok(translation)
}

/// Maximum number of evaluation steps of one formula in one state, about a tenth of a second. With
/// thousands of states to compare, a slower formula is of no use.
const MAX_FORMULA_STEPS: u64 = 20_000_000;

/// Checks and opens the text of a translation. All its evaluations end at the deadline.
pub(crate) fn open(
    text: &str,
    deadline: Option<Instant>,
) -> Result<Arc<agon_toss::interpreter::Game>, ToTossError> {
    let source = Arc::new(agon_text::Source::new("translated.toss", text));
    let fault = |finding: &agon_text::Diagnostic| {
        let line = source.place(finding.span.start()).line;
        let why = format!("{} (line {line} of the translation)", finding.message);
        let is_large = finding.code == "toss-too-large";
        let construct = if is_large { Construct::Size } else { Construct::Text };
        ToTossError { construct, why, line: None }
    };
    let checked = agon_toss::check::check(Arc::clone(&source));
    let Some(arena) = checked.arena else {
        let is_error =
            |finding: &&agon_text::Diagnostic| finding.severity == agon_text::Severity::Error;
        return Err(checked.findings.0.iter().find(is_error).map_or_else(
            || ToTossError {
                construct: Construct::Text,
                why: "the text is not a game".to_owned(),
                line: None,
            },
            fault,
        ));
    };
    let mut options = agon_toss::interpreter::Options::default();
    options.limits.steps = MAX_FORMULA_STEPS;
    options.interrupt = Interrupt::at(deadline);
    agon_toss::interpreter::Game::open(arena, options).map_err(|finding| fault(&finding))
}
