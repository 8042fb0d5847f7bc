//! An opened game: the rules, the engine that plays them, and the results of analysing them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use agon_analysis::Analysis;
use agon_analysis::goal_formulas::RewritingAnalysis;
use agon_board::Layout;
use agon_circuit::Compiled;
use agon_datalog::StopFlag;
use agon_game::{Notation as _, SecretPlan, Shape, Table, hides_information};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter as gdl;
use agon_learn::GameModel;
use agon_players::{Combinations, Rules};
use agon_reals::interrupt::Interrupt;
use agon_search::solve::Endgames;
use agon_text::Source;
use agon_toss::interpreter as toss;
use agon_translate::to_gdl;

use crate::engine::{Engine, GamePosition, GameTask, ToTable};
use crate::layout;
use crate::models::GameKey;
use crate::open::{self, OpenError, OpenOptions};
use crate::position::Position;
use crate::shipped::Shipped;

/// Maximum number of gates of a circuit that is made only to analyse a game.
const MAX_ANALYSIS_GATES: usize = 1_000_000;

/// A game that is ready to be played. A clone shares everything, including results of analysis.
#[derive(Clone)]
pub struct Game(Arc<Inner>);

struct Inner {
    name: String,
    engine: Engine,
    shape: Shape,
    notes: Vec<String>,
    analysis: OnceLock<Result<Analysis, NoAnalysis>>,
    /// The evaluators of a structure rewriting game.
    rewriting: Option<RewritingAnalysis>,
    layout: OnceLock<Arc<Layout>>,
    key: OnceLock<GameKey>,
    /// What was learnt about how to combine heuristics of the game.
    combinations: Combinations,
    /// The model of the game from a store.
    model: Option<Arc<GameModel>>,
    /// The endgame table of the game from a store.
    endgames: Option<Arc<Endgames>>,
}

/// Why a structure rewriting game cannot be analysed as GDL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnalysis(String);

impl fmt::Display for NoAnalysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAnalysis {}

impl Game {
    /// Opens a game: the name of a shipped game, the path of a rulesheet, or the text of the rules.
    /// A name or path may end with values of parameters, as in `hex(size=9)`.
    ///
    /// # Errors
    /// [`OpenError`] if there is no such game, or its rules have errors.
    ///
    /// ```
    /// let game = agon::Game::open("tic-tac-toe")?;
    /// assert_eq!(game.shape().role_names, ["xplayer", "oplayer"]);
    /// assert!(agon::Game::open("(role me)").is_err(), "a game needs more than a role");
    /// # Ok::<(), agon::OpenError>(())
    /// ```
    pub fn open(game: &str) -> Result<Game, OpenError> {
        Game::open_with(game, &OpenOptions::default())
    }

    /// Opens a game like [`Game::open`], with options.
    ///
    /// # Errors
    /// [`OpenError`] if there is no such game, its rules have errors, or the engine asked for
    /// cannot play it.
    pub fn open_with(game: &str, options: &OpenOptions) -> Result<Game, OpenError> {
        let is_text = game.contains('\n') || game.trim_start().starts_with(['(', ';']);
        if is_text && Shipped::named(game).is_none() {
            return Game::from_source(Arc::new(Source::new("rules", game)), options);
        }
        let (source, mut settings) = open::raw_source(game)?;
        settings.extend(options.settings.clone());
        let opened = Game::from_source(open::expanded(source, &settings)?, options)?;
        Ok(opened.with_name(&open::with_settings(game, &options.settings)))
    }

    /// Opens a game from its source.
    ///
    /// # Errors
    /// [`OpenError`] if the rules have errors, or the engine asked for cannot play them.
    pub fn from_source(source: Arc<Source>, options: &OpenOptions) -> Result<Game, OpenError> {
        let name = source.name().to_owned();
        let (engine, notes) = open::open_engine(source, options)?;
        Ok(Game::new(name, engine, notes).with_models(options.models.as_ref()))
    }

    /// Wraps an engine that was made by other means.
    pub fn from_engine(name: &str, engine: Engine) -> Game {
        Game::new(name.to_owned(), engine, Vec::new())
    }

    fn new(name: String, engine: Engine, notes: Vec<String>) -> Game {
        let shape = engine.run(ToTable).shape().clone();
        let (analysis, layout) = (OnceLock::new(), OnceLock::new());
        let rewriting = match &engine {
            Engine::TossInterpreter(game) | Engine::TossCircuit(game, _) => {
                Some(RewritingAnalysis::new(Arc::clone(game)))
            }
            Engine::GdlInterpreter(_) | Engine::GdlCircuit(..) => None,
        };
        let inner = Inner {
            name,
            engine,
            shape,
            notes,
            analysis,
            rewriting,
            layout,
            key: OnceLock::new(),
            combinations: Combinations::default(),
            model: None,
            endgames: None,
        };
        Game(Arc::new(inner))
    }

    /// Returns the game with a model, and with one more remark.
    pub(crate) fn with_model(self, model: Option<Arc<GameModel>>, note: Option<String>) -> Game {
        match Arc::try_unwrap(self.0) {
            Ok(mut inner) => {
                inner.notes.extend(note);
                Game(Arc::new(Inner { model, ..inner }))
            }
            Err(shared) => Game(shared),
        }
    }

    /// Returns the same game with another model. What was computed for the game so far is shared.
    ///
    /// ```
    /// use agon::Game;
    /// let game = Game::open("tic-tac-toe")?;
    /// assert!(game.using_model(None).model().is_none());
    /// # Ok::<(), agon::OpenError>(())
    /// ```
    #[must_use]
    pub fn using_model(&self, model: Option<Arc<GameModel>>) -> Game {
        let Inner { name, engine, shape, notes, analysis, rewriting, layout, key, .. } = &*self.0;
        Game(Arc::new(Inner {
            name: name.clone(),
            engine: engine.clone(),
            shape: shape.clone(),
            notes: notes.clone(),
            analysis: analysis.clone(),
            rewriting: rewriting.clone(),
            layout: layout.clone(),
            key: key.clone(),
            combinations: self.0.combinations.clone(),
            model,
            endgames: self.0.endgames.clone(),
        }))
    }

    /// Returns the game with an endgame table, and with one more remark.
    pub(crate) fn with_endgames(
        self,
        endgames: Option<Arc<Endgames>>,
        note: Option<String>,
    ) -> Game {
        match Arc::try_unwrap(self.0) {
            Ok(mut inner) => {
                inner.notes.extend(note);
                Game(Arc::new(Inner { endgames, ..inner }))
            }
            Err(shared) => Game(shared),
        }
    }

    /// Returns the endgame table of the game from a store, if it was opened with one that has it.
    pub fn endgames(&self) -> Option<&Arc<Endgames>> {
        self.0.endgames.as_ref()
    }

    /// Returns the key of the rules, by which models are found. It is computed at the first call.
    pub fn key(&self) -> &GameKey {
        self.0.key.get_or_init(|| GameKey::of(&self.0.engine))
    }

    /// Returns the model of the game from a store, if it was opened with one that has it.
    pub fn model(&self) -> Option<&Arc<GameModel>> {
        self.0.model.as_ref()
    }

    /// Returns the game under another name.
    #[must_use]
    pub fn with_name(self, name: &str) -> Game {
        match Arc::try_unwrap(self.0) {
            Ok(inner) => Game(Arc::new(Inner { name: name.to_owned(), ..inner })),
            Err(shared) => Game(shared),
        }
    }

    /// Returns the name by which the game was opened.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the engine that plays the game.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Returns what is known of the game: roles, range of payoffs, who moves when.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// Returns whether players have secrets: random plays meet a state at which a player cannot tell
    /// what happened. Games with percepts need not have any: `2048` has chance alone.
    ///
    /// ```
    /// assert!(agon::Game::open("kuhn-poker")?.hides_information());
    /// assert!(!agon::Game::open("2048")?.hides_information());
    /// # Ok::<(), agon::OpenError>(())
    /// ```
    pub fn hides_information(&self) -> bool {
        self.shape().hidden && self.engine().run(LookForSecrets)
    }

    /// Returns whether the game has percepts, but random plays meet no secret: it has chance, and
    /// all players see what happens. Such games can be learnt.
    ///
    /// ```
    /// assert!(agon::Game::open("dice-race")?.is_open());
    /// assert!(!agon::Game::open("kuhn-poker")?.is_open());
    /// # Ok::<(), agon::OpenError>(())
    /// ```
    pub fn is_open(&self) -> bool {
        self.shape().hidden && !self.hides_information()
    }

    /// Returns remarks on the choice of the engine that a user should see.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// Returns the start position, for play with text moves.
    pub fn start(&self) -> Position {
        Position::new(self.clone())
    }

    /// Returns the start position as a [`Table`].
    pub fn table(&self) -> Box<dyn Table> {
        self.0.engine.run(ToTable)
    }

    /// Runs generic code on the start position: the way to write a search of one's own.
    pub fn run<T: GameTask>(&self, task: T) -> T::Output {
        self.0.engine.run(task)
    }

    /// Returns the rules as text, in the form in which they are sent to players.
    pub fn rules_text(&self) -> String {
        self.0.engine.rules_text()
    }

    /// Returns the GDL game, if the rules are GDL.
    pub fn gdl(&self) -> Option<&Arc<gdl::Game>> {
        match &self.0.engine {
            Engine::GdlInterpreter(game) | Engine::GdlCircuit(game, _) => Some(game),
            Engine::TossInterpreter(_) | Engine::TossCircuit(..) => None,
        }
    }

    /// Returns the structure rewriting game, if the rules are that.
    pub fn toss(&self) -> Option<&Arc<toss::Game>> {
        match &self.0.engine {
            Engine::TossInterpreter(game) | Engine::TossCircuit(game, _) => Some(game),
            Engine::GdlInterpreter(_) | Engine::GdlCircuit(..) => None,
        }
    }

    /// Returns the analysis of the game, shared by all users of the game. A structure rewriting
    /// game is analysed through its translation to GDL.
    ///
    /// # Errors
    /// [`NoAnalysis`] if the game has no translation that describes states in the same words.
    pub fn analysis(&self) -> Result<&Analysis, &NoAnalysis> {
        let analysis = self.0.analysis.get_or_init(|| match &self.0.engine {
            Engine::GdlInterpreter(game) => Ok(Analysis::new(Arc::clone(game), None)),
            Engine::GdlCircuit(game, compiled) => {
                Ok(Analysis::new(Arc::clone(game), Some(Arc::clone(compiled))))
            }
            Engine::TossInterpreter(game) | Engine::TossCircuit(game, _) => translated(game),
        });
        analysis.as_ref()
    }

    /// Returns the evaluators of a structure rewriting game, shared by all users of the game.
    /// `None` for GDL.
    pub fn rewriting_analysis(&self) -> Option<&RewritingAnalysis> {
        self.0.rewriting.as_ref()
    }

    /// Returns the rules in the form in which players analyse them. The translation of a structure
    /// rewriting game to GDL is made only if it is needed.
    pub(crate) fn rules(&self, needs: RulesNeeded) -> Rules {
        let rewriting = self.rewriting_analysis().cloned();
        let has_gdl = rewriting.is_none() || needs == RulesNeeded::Gdl;
        let gdl = if has_gdl { self.analysis().ok().cloned() } else { None };
        Rules {
            gdl,
            rewriting,
            evaluation: None,
            model: self.0.model.clone(),
            combinations: self.0.combinations.clone(),
            endgames: self.0.endgames.clone(),
        }
    }

    /// Returns how states of the game are drawn. It is inferred at the first call, which takes up
    /// to about a second and a half.
    pub fn layout(&self) -> &Arc<Layout> {
        self.0.layout.get_or_init(|| Arc::new(layout::find(self)))
    }

    /// Returns why the author's hints for the board are ignored, if they are not understood.
    pub fn fault_of_board_hints(&self) -> Option<String> {
        layout::fault_of_hints(self)
    }

    /// Returns the circuit of the game, if a circuit plays it.
    pub fn compiled(&self) -> Option<&Arc<Compiled>> {
        self.0.engine.compiled()
    }
}

/// In which language players want to look into the rules.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum RulesNeeded {
    /// In the language in which they are written.
    Own,
    /// In GDL, translated if need be.
    Gdl,
}

/// Translates a structure rewriting game to GDL for analysis.
fn translated(game: &Arc<toss::Game>) -> Result<Analysis, NoAnalysis> {
    let fail = |why: &dyn fmt::Display| NoAnalysis(why.to_string());
    let Interrupt { deadline, stop } = game.interrupt().clone();
    let limits = to_gdl::ToGdlLimits { deadline, ..to_gdl::ToGdlLimits::default() };
    let translation = to_gdl::to_gdl(game.arena(), limits).map_err(|why| fail(&why))?;
    if !translation.has_same_state_facts {
        return Err(fail(&"some of its names mean something else in GDL"));
    }
    let source = Arc::new(Source::new("translation", translation.text));
    let rules = agon_gdl::check::check(source).rules;
    let rules = rules.ok_or_else(|| fail(&"its translation is not sound"))?;
    let stop = stop.map_or(StopFlag::NEVER, StopFlag::new);
    let mut options = gdl::Options::default();
    (options.limits.deadline, options.limits.stop) = (deadline, stop.clone());
    let other = gdl::Game::open(rules, options).map_err(|finding| fail(&finding.message))?;
    debug_assert_eq!(
        comparable(game.start().state_text()),
        comparable(other.start().state_text()),
        "both games describe states in the same words"
    );
    let mut limits = CircuitLimits { gates: MAX_ANALYSIS_GATES, ..CircuitLimits::default() };
    (limits.ground.deadline, limits.ground.stop) = (deadline, stop);
    let compiled = other.compile(&limits).ok().map(Arc::new);
    Ok(Analysis::new(other, compiled))
}

/// Returns the facts of a state in a form that does not depend on order and capitalisation.
fn comparable(texts: Vec<String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().map(|text| text.to_lowercase()).collect();
    texts.sort();
    texts
}

/// Looks for hidden information in random plays.
struct LookForSecrets;

impl GameTask for LookForSecrets {
    type Output = bool;

    fn run<P: GamePosition + 'static>(self, start: P) -> bool {
        hides_information(&start, &SecretPlan::default())
    }
}
