//! GDL games written as structure rewriting games.
//!
//! The steps are those of Toss: a superset of all state terms (`domain`), positions whose values become names of predicates and
//! positions that become elements, conditions as formulas (`lift`), turns as locations (`turns`), `next` rules as tuples that
//! come and go (`effects`), rules case by case (`cases`), payoffs as sums (`arena`), places as elements (`cells`), what rules have in common
//! (`shared`) and when moves are legal (`legal`) as relations, text (`write`). Where roles act at once and what comes of it depends on the moves of several, moves are remembered (`delayed`). What cannot be written so is
//! refused with the construct and its line. Whether a translation is right is for joint play to say.

mod arena;
mod beside;
mod cases;
mod cells;
mod delayed;
mod domain;
mod effects;
mod formula;
mod judge;
mod legal;
mod lift;
mod names;
mod overlaps;
mod percepts;
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

use agon_gdl::interpreter::Game;

pub use beside::Beside;
use beside::Cost;

use crate::joint::Extent;

/// What a translation may cost, and how much play it looks at.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many random plays are looked at.
    pub plays: usize,
    /// How many states of them are kept.
    pub states: usize,
    /// How long one of them may be.
    pub steps_of_play: usize,
    /// How many plays of both games must agree before a translation is given away; a fifth of them where the translation is too large to
    /// be a circuit.
    pub joint_plays: usize,
    /// How often a translation is made anew from states where the last one was found to differ.
    pub rounds: usize,
    /// Of how many bytes the text may be.
    pub text_bytes: usize,
    /// How many rule instances and gates grounding may make.
    pub gates: usize,
    /// How many steps grounding may take.
    pub steps: u64,
    /// How many conditions the formulas may have.
    pub conditions: usize,
    /// How many steps of evaluation the joint plays of one translation may take where it has no circuit.
    pub play_steps: u64,
    /// The seed of the random plays.
    pub seed: u64,
    /// A moment after which to stop. Without one the same game has the same translation everywhere.
    pub deadline: Option<Instant>,
    /// Is told what is being done, stage by stage.
    pub progress: Option<fn(&str)>,
}

impl Options {
    /// Says what is done next, and refuses when time is up.
    fn begin(&self, stage: &str) -> Result<(), Untranslatable> {
        if let Some(progress) = self.progress {
            progress(stage);
        }
        self.check_time()
    }

    /// How many plays are made where the translation is too large to be a circuit.
    fn slow_plays(&self) -> usize {
        self.joint_plays / 5
    }

    /// Refuses when time is up.
    fn check_time(&self) -> Result<(), Untranslatable> {
        if self.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            let why = "the translation takes more time than there is".to_owned();
            return Err(Untranslatable { construct: Construct::Size, why, line: None });
        }
        Ok(())
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            plays: 40,
            states: 400,
            steps_of_play: 400,
            joint_plays: 300,
            rounds: 8,
            text_bytes: 4_000_000,
            gates: 2_000_000,
            steps: 300_000_000,
            conditions: 400_000,
            // A minute or so for a fifth of the plays: ten to twenty nanoseconds each.
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
    /// The game, as `agon_toss` reads it.
    pub text: String,
    /// By the name of the rule.
    rules: BTreeMap<String, RuleMove>,
    /// By the name of the element: the terms that it stands for.
    elements: BTreeMap<String, Vec<String>>,
    /// By role: the move with which it waits.
    waiting: Vec<Option<String>>,
}

/// The moves that a rule stands for.
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
    /// A term of an element of the match.
    Element {
        index: usize,
        coordinate: usize,
    },
}

impl Translation {
    /// The GDL move that a move of the translation stands for. Roles are counted alike on both sides.
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

    /// Which of the moves that are legal in the translation stands for a GDL move. Which rule applies, and to which elements, may
    /// depend on the state, so the legal moves are needed.
    pub fn toss_move<'a>(
        &self,
        role: usize,
        gdl_move: &str,
        legal: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        legal.into_iter().find(|toss| self.gdl_move(role, toss).as_deref() == Some(gdl_move))
    }
}

/// Why a game is not translated: the construct, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untranslatable {
    /// What cannot be said in the other language.
    pub construct: Construct,
    /// The same for people.
    pub why: String,
    /// The line of the rulesheet, from 1, where one is to blame.
    pub line: Option<u32>,
}

/// The constructs that are refused.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Construct {
    /// `sees` that does not tell everybody every move: in structure rewriting games everybody sees everything.
    Percepts,
    /// The game or its translation is larger than the options allow.
    Size,
    /// `(true ?x)`: a variable stands for a whole state term.
    StateVariable,
    /// Something that must not depend on moves does.
    MoveOutOfPlace,
    /// Relations that depend on each other, or on themselves by way of moves.
    Recursion,
    /// What one role changes depends on what another does at the same time.
    JointEffect,
    /// One move changes more tuples at once than a rule can name.
    ManyEffects,
    /// What a move changes depends on the state in too many ways.
    ManyCases,
    /// Whose turn comes next is more than locations can say.
    Turns,
    /// Joint play found the translation to differ, however often it was made anew.
    Differs,
    /// Our own text is not taken: a fault of the translator.
    Text,
}

impl fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Untranslatable {}

/// Writes a GDL game as a structure rewriting game.
///
/// # Errors
/// If it has a construct that cannot be written so.
pub fn to_toss(game: &Arc<Game>, options: &Options) -> Result<Translation, Untranslatable> {
    if game.rules().has_sees() && !percepts::tell_all(game.rules()) {
        let why = "`sees` gives roles different knowledge, and in structure rewriting everybody sees everything";
        return Err(Untranslatable {
            construct: Construct::Percepts,
            why: why.to_owned(),
            line: None,
        });
    }
    let mut domain = domain::Domain::new(game, options)?;
    let refusal = match translate(&mut domain, options) {
        // Effects that several roles have together may also be found out by play alone.
        Err(refusal)
            if [Construct::JointEffect, Construct::Differs].contains(&refusal.construct) =>
        {
            refusal
        }
        other => return other,
    };
    let Some(remembering) = delayed::delayed(game) else { return Err(refusal) };
    let in_vain = |why: &dyn fmt::Display| Untranslatable {
        why: format!("{}; with moves remembered: {why}", refusal.why),
        ..refusal.clone()
    };
    let made = domain::Domain::new(&remembering, options);
    let made = made.and_then(|mut domain| translate(&mut domain, options));
    let translation = made.map_err(|second| in_vain(&second.why))?;
    let circuit = domain.player.circuit().cloned();
    let beside = Beside::with_circuit(game, circuit, &translation)?;
    let extent =
        Extent { plays: options.joint_plays, steps: options.steps_of_play, seed: options.seed };
    let cost = Cost { deadline: options.deadline, steps: options.play_steps };
    let played = beside.differences(&extent, options.slow_plays(), &cost, 1);
    match played.differences.first() {
        None => Ok(translation),
        Some(difference) => Err(in_vain(difference)),
    }
}

/// So many plays in which a translation differs are learnt from at a time.
const MAX_LEARNT: usize = 8;

/// Makes translations until joint play finds no difference.
fn translate(
    domain: &mut domain::Domain,
    options: &Options,
) -> Result<Translation, Untranslatable> {
    let game = Arc::clone(&domain.game);
    let circuit = domain.player.circuit().cloned();
    let mut told = Told::ByPlaces;
    let mut round = 0;
    loop {
        options.check_time()?;
        let differences = match attempt(domain, options, told) {
            Ok(translation) => {
                options.begin("opening the translation")?;
                let beside = Beside::with_circuit(&game, circuit.clone(), &translation)?;
                options.begin("joint play")?;
                let seed = options.seed.wrapping_add(round as u64 + 1);
                let extent =
                    Extent { plays: options.joint_plays, steps: options.steps_of_play, seed };
                let cost = Cost { deadline: options.deadline, steps: options.play_steps };
                let played = beside.differences(&extent, options.slow_plays(), &cost, MAX_LEARNT);
                options.check_time()?;
                if played.differences.is_empty() {
                    return Ok(translation);
                }
                played.differences
            }
            Err(refusal) if told == Told::ByValues => return Err(refusal),
            Err(_) => {
                told = Told::ByValues;
                continue;
            }
        };
        // What cannot be worked out teaches nothing.
        let is_fault = differences[0].is_fault;
        if is_fault && told == Told::ByValues {
            let why = format!("the translation takes too much to play: {}", differences[0]);
            return Err(Untranslatable { construct: Construct::Size, why, line: None });
        }
        round = if is_fault { options.rounds + 1 } else { round + 1 };
        if round > options.rounds && told == Told::ByValues {
            let why = format!("the translation differs: {}", differences[0]);
            return Err(Untranslatable { construct: Construct::Differs, why, line: None });
        }
        if round > options.rounds {
            (told, round) = (Told::ByValues, 0);
        }
        // What was not seen in the sample is seen now.
        options.begin(&differences[0].what)?;
        domain.learn(&differences);
    }
}

/// What elements are.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Told {
    /// Places of state terms where they have two coordinates or more, else values.
    ByPlaces,
    /// Values alone: simpler to come by, and harder to read.
    ByValues,
}

fn attempt(
    domain: &domain::Domain,
    options: &Options,
    told: Told,
) -> Result<Translation, Untranslatable> {
    let mut arena = arena::arena(domain, options)?;
    arena.drop_unread();
    options.begin("places")?;
    if told == Told::ByPlaces && cells::by_places(&mut arena).is_err() {
        let why = "not to be told by places".to_owned();
        return Err(Untranslatable { construct: Construct::Size, why, line: None });
    }
    options.begin("writing")?;
    shared::share(&mut arena);
    legal::name_legal(&mut arena);
    let translation = write::write(&mut arena, options.text_bytes)?;
    open(&translation.text)?;
    Ok(translation)
}

/// What one formula of a translation may take at one state, a tenth of a second or so: with thousands of states to look at there is no
/// use for one that takes longer.
const STEPS_OF_FORMULA: u64 = 20_000_000;

/// The translation, ready to be played.
pub(crate) fn open(text: &str) -> Result<Arc<agon_toss::interpreter::Game>, Untranslatable> {
    let source = Arc::new(agon_text::Source::new("translated.toss", text));
    let fault = |finding: &agon_text::Diagnostic| {
        let line = source.place(finding.span.start()).line;
        let why = format!("{} (line {line} of the translation)", finding.message);
        let is_large = finding.code == "toss-too-large";
        let construct = if is_large { Construct::Size } else { Construct::Text };
        Untranslatable { construct, why, line: None }
    };
    let checked = agon_toss::check::check(Arc::clone(&source));
    let Some(arena) = checked.arena else {
        let is_error =
            |finding: &&agon_text::Diagnostic| finding.severity == agon_text::Severity::Error;
        return Err(checked.findings.0.iter().find(is_error).map_or_else(
            || Untranslatable { construct: Construct::Text, why: "no game".to_owned(), line: None },
            fault,
        ));
    };
    let mut options = agon_toss::interpreter::Options::default();
    options.limits.steps = STEPS_OF_FORMULA;
    agon_toss::interpreter::Game::open(arena, options).map_err(|finding| fault(&finding))
}
