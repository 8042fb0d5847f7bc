//! Evaluation games (Kaiser & Stafiniak 2010): games that are played to assess a move of another
//! game.
//!
//! An evaluation game is any structure rewriting game with the same number of players. For each
//! relation `R` and function `f` of the assessed game it may use `R` and `f`, which describe the
//! structure after the move, and `R_old` and `f_old`, which describe it before. Its `START` only
//! declares what it uses: each assessment starts in the structure that represents the move.
//!
//! There may be one evaluation game for each location, as the payoff of a move depends on where it
//! was made. `DATA location: name` in the evaluation game names its location. A game without this
//! line serves all other locations.

mod decisions;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use decisions::{Branch, Decisions};

use agon_game::{Notation as _, Position as _, Rng, Role};
use agon_reals::real::Real;
use agon_structures::structure::{Element, Structure};
use agon_text::{Diagnostic, Source};

use crate::arena::LocationId;
use crate::check::{Checked, check};
use crate::interpreter::{Game, Interpreter, Move, Options, Values};

/// Maximum number of steps of one play of an evaluation game.
const MAX_STEPS: usize = 1000;

/// The ending of the names that describe the structure before a move.
const OLD: &str = "_old";

/// The evaluation games of a game.
#[derive(Clone)]
pub struct EvaluationGames {
    /// The evaluated game at its start.
    evaluated: Interpreter,
    by_location: BTreeMap<LocationId, Interpreter>,
    everywhere: Option<Interpreter>,
}

/// The reason why a game cannot be an evaluation game of another.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The rules are wrong.
    Rules {
        /// The text.
        source: Arc<Source>,
        /// The errors in it.
        findings: Vec<Diagnostic>,
    },
    /// The numbers of players differ.
    Players {
        /// The number of players of the assessed game, without nature.
        wanted: usize,
        /// The number of players of the evaluation game, without nature.
        found: usize,
    },
    /// The evaluation game names a location that the assessed game does not have.
    Location(String),
    /// The evaluation game uses a relation that the assessed game does not have.
    Relation {
        /// The name.
        name: String,
        /// The number of arguments in the evaluation game.
        arity: usize,
    },
    /// The evaluation game uses a function that the assessed game does not have.
    Function(String),
    /// There are two evaluation games for one location, or two for all.
    Twice(String),
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluationError::Rules { source, findings } => {
                f.write_str(&agon_text::render(findings, source, false))
            }
            EvaluationError::Players { wanted, found } => write!(
                f,
                "the evaluation game has {found} players, and the game that it evaluates {wanted}"
            ),
            EvaluationError::Location(name) => {
                write!(f, "the evaluated game has no location `{name}`")
            }
            EvaluationError::Relation { name, arity } => write!(
                f,
                "the evaluated game has no relation `{}` with {arity} arguments",
                name.strip_suffix(OLD).unwrap_or(name)
            ),
            EvaluationError::Function(name) => write!(
                f,
                "the evaluated game has no function `{}`",
                name.strip_suffix(OLD).unwrap_or(name)
            ),
            EvaluationError::Twice(place) => write!(f, "there are two evaluation games {place}"),
        }
    }
}

impl std::error::Error for EvaluationError {}

impl EvaluationGames {
    /// Opens the evaluation games of a game.
    ///
    /// # Errors
    /// If a sheet has errors or does not fit the game.
    pub fn open(
        game: &Arc<Game>,
        sheets: &[Arc<Source>],
    ) -> Result<EvaluationGames, EvaluationError> {
        let (by_location, everywhere) = (BTreeMap::new(), None);
        let mut games = EvaluationGames { evaluated: game.start(), by_location, everywhere };
        for source in sheets {
            let (location, start) = open(game, source)?;
            let is_first = match location {
                Some(location) => games.by_location.insert(location, start).is_none(),
                None => games.everywhere.replace(start).is_none(),
            };
            if !is_first {
                return Err(EvaluationError::Twice(match location {
                    Some(id) => format!("for the location `{}`", game.arena().location(id).name),
                    None => "for all locations".to_owned(),
                }));
            }
        }
        Ok(games)
    }

    /// Returns the evaluated game.
    pub fn evaluated(&self) -> &Arc<Game> {
        self.evaluated.game()
    }

    /// Assesses a joint move at a position of another engine of the evaluated game. Both are given
    /// as texts. Returns `None` if they do not fit the game, or as [`EvaluationGames::assess`] does.
    pub fn assess_texts(
        &self,
        state: &[String],
        joint: &[String],
        rng: &mut Rng,
    ) -> Option<Vec<f64>> {
        let before = self.evaluated.at_texts(state)?;
        let roles = before.shape().roles().zip(joint);
        let joint: Vec<Move> =
            roles.map(|(role, text)| before.parse_move(role, text)).collect::<Option<_>>()?;
        self.assess(&before, &joint, rng)
    }

    /// Plays the evaluation game once to assess a joint move at a position, and returns the payoff
    /// of each role of the evaluated game. Returns `None` if there is no evaluation game for the
    /// location, or if nature moves alone there.
    pub fn assess(&self, before: &Interpreter, joint: &[Move], rng: &mut Rng) -> Option<Vec<f64>> {
        let location = before.state().location();
        let start = self.by_location.get(&location).or(self.everywhere.as_ref())?;
        let (after, origins) = before.after_with_origins(joint)?;
        let (structure, values) = represent(before, &after, &origins, start);
        let arena = start.game().arena();
        let mut play = start.with_values(structure, values, arena.start_location());
        play.play_out(rng, MAX_STEPS);
        // The bounds of payoffs come from the start of the rules, which is not the start here.
        let values = play.payoff_values().ok()?;
        let mut own = start.shape().players();
        let shape = before.shape();
        let payoff = |role: Role| {
            let own = if Some(role) == shape.nature { None } else { own.next() };
            own.map_or(0.0, |role| values[role.index()].midpoint())
        };
        Some(shape.roles().map(payoff).collect())
    }
}

fn open(
    game: &Arc<Game>,
    source: &Arc<Source>,
) -> Result<(Option<LocationId>, Interpreter), EvaluationError> {
    let Checked { arena, findings } = check(Arc::clone(source));
    let rules_error =
        |findings: Vec<Diagnostic>| EvaluationError::Rules { source: Arc::clone(source), findings };
    let Some(mut arena) = arena else { return Err(rules_error(findings.0)) };
    let assessed = game.arena();
    let n_players =
        |players: &[String], nature: Option<usize>| players.len() - usize::from(nature.is_some());
    let wanted = n_players(assessed.players(), assessed.nature());
    let found = n_players(arena.players(), arena.nature());
    if wanted != found {
        return Err(EvaluationError::Players { wanted, found });
    }
    let (ours, theirs) = (arena.vocabulary(), assessed.vocabulary());
    for relation in ours.relations() {
        let (name, arity) = (ours.relation_name(relation), ours.arity(relation));
        let base = name.strip_suffix(OLD).unwrap_or(name);
        if theirs.relation(base).is_none_or(|known| theirs.arity(known) != arity) {
            return Err(EvaluationError::Relation { name: name.to_string(), arity });
        }
    }
    for function in ours.functions() {
        let name = ours.function_name(function);
        if theirs.function(name.strip_suffix(OLD).unwrap_or(name)).is_none() {
            return Err(EvaluationError::Function(name.to_string()));
        }
    }
    let data = &arena.sheet().data;
    let location = data.iter().find(|(key, _)| key.text == "location");
    let location = match location {
        None => None,
        Some((_, name)) => {
            let found = assessed.location_named(name.trim());
            Some(found.ok_or_else(|| EvaluationError::Location(name.trim().to_owned()))?)
        }
    };
    if assessed.is_continuous() && ours.functions().next().is_some() {
        // Values of the evaluated game may be intervals, which only a continuous game can hold.
        arena = arena.with_real_values();
    }
    // The start is replaced in every play, so nothing may be computed from it in advance.
    let options = Options { start_is_final: false, ..Options::default() };
    let opened = Game::open(arena, options).map_err(|finding| rules_error(vec![*finding]))?;
    Ok((location, opened.start()))
}

/// Builds the structure that represents a move: relations and functions after it, and those before
/// it under their names with `_old`.
fn represent(
    before: &Interpreter,
    after: &Interpreter,
    origins: &BTreeMap<Element, Option<Element>>,
    start: &Interpreter,
) -> (Structure, Values) {
    let vocabulary = start.game().start_structure().vocabulary();
    let (old, new) = (before.state().structure(), after.state().structure());
    let mut made = Structure::new(Arc::clone(vocabulary));
    let mut ids: BTreeMap<Element, Element> = BTreeMap::new();
    for element in new.elements() {
        let created = made.create(Some(new.name(element))).expect("names of elements differ");
        ids.insert(element, created);
    }
    // The element before the move that an element after it is or replaces.
    let origin = |element: Element| match origins.get(&element) {
        Some(origin) => *origin,
        None => old.has(element).then_some(element),
    };
    let mut replaced: BTreeMap<Element, Vec<Element>> = BTreeMap::new();
    for element in new.elements() {
        if let Some(origin) = origin(element) {
            replaced.entry(origin).or_default().push(element);
        }
    }
    let theirs = new.vocabulary();
    for relation in vocabulary.relations() {
        let name = vocabulary.relation_name(relation);
        if let Some(known) = theirs.relation(name) {
            for tuple in new.tuples(known).iter() {
                let tuple: Vec<Element> = tuple.iter().map(|element| ids[element]).collect();
                made.add(relation, &tuple).expect("elements live, and arities were compared");
            }
        } else if let Some(known) = name.strip_suffix(OLD).and_then(|base| theirs.relation(base)) {
            for tuple in old.tuples(known).iter() {
                for image in images(tuple, &replaced) {
                    let tuple: Vec<Element> = image.iter().map(|element| ids[element]).collect();
                    made.add(relation, &tuple).expect("elements live, and arities were compared");
                }
            }
        }
    }
    let mut values = Values::default();
    let value = |position: &Interpreter, name: &str, element: Element| -> Option<Real> {
        let function = theirs.function(name)?;
        Some(position.function_value(function, element))
    };
    for element in new.elements() {
        let row = vocabulary.functions().map(|function| {
            let name = vocabulary.function_name(function);
            let found = match name.strip_suffix(OLD) {
                Some(base) if theirs.function(name).is_none() => {
                    origin(element).and_then(|element| value(before, base, element))
                }
                _ => value(after, name, element),
            };
            found.unwrap_or(Real::ZERO)
        });
        let row: Vec<Real> = row.collect();
        for (function, number) in vocabulary.functions().zip(&row) {
            if let Some(exact) = number.exact() {
                made.set_value(function, ids[&element], Some(exact)).expect("the element lives");
            }
        }
        values.set_row(ids[&element], row);
    }
    (made, values)
}

/// Returns the tuples that replace a tuple.
fn images(tuple: &[Element], replaced: &BTreeMap<Element, Vec<Element>>) -> Vec<Vec<Element>> {
    tuple.iter().fold(vec![Vec::new()], |images, element| {
        let new = replaced.get(element).map_or(&[][..], Vec::as_slice);
        images
            .into_iter()
            .flat_map(|image: Vec<Element>| {
                new.iter().map(move |&element| [&image[..], &[element]].concat())
            })
            .collect()
    })
}

#[cfg(test)]
mod tests;
