//! A player that thinks about any position of a game.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Budget, Role};
use agon_match::{Choice, Considered, PlayerError, role_seed};
use agon_players::{BuildContext, PlayerSource, PlayerSpec, Rules};
use agon_text::{Diagnostic, Source, render};
use agon_toss::evaluation::EvaluationGames;

use crate::engine::{GamePosition, GameTask};
use crate::evaluation_games::load_evaluation_games;
use crate::game::{Game, RulesNeeded};
use crate::position::Position;

/// Why a text does not specify a player that can think here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SpecError {
    /// The text is not a player specification.
    Syntax {
        /// What is wrong, with its place in the text.
        finding: Box<Diagnostic>,
        /// The text.
        text: String,
    },
    /// The player is a person or runs outside of this process.
    Outside(String),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Syntax { finding, text } => {
                let source = Source::new("player", text.as_str());
                f.write_str(&render(&[(**finding).clone()], &source, false))
            }
            SpecError::Outside(text) => {
                write!(f, "`{text}` runs outside of this process; give a built-in player")
            }
        }
    }
}

impl std::error::Error for SpecError {}

/// Parses a list of players, separated by commas, such as `mcts(c=0.4), random`.
///
/// # Errors
/// [`SpecError::Syntax`] if the text is not a list of player specifications.
pub fn parse_players(text: &str) -> Result<Vec<PlayerSpec>, SpecError> {
    agon_players::parse_list(text)
        .map_err(|finding| SpecError::Syntax { finding, text: text.to_owned() })
}

/// A built-in player of a game, such as `mcts`. It keeps what it has learnt from one position to
/// the next of the same play.
pub struct Player {
    game: Game,
    spec: PlayerSpec,
    seed: u64,
    thinker: Option<Thinker>,
}

/// A player of one role that has followed a play.
struct Thinker {
    role: Role,
    player: Box<dyn agon_match::Player>,
    followed: Vec<Vec<String>>,
}

/// What a player thinks of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The move that the player would make.
    pub best_move: String,
    /// The role for which it was chosen.
    pub role: Role,
    /// The payoff that the player expects; 0 if it has no opinion.
    pub value: f64,
    /// Whether the value is proved.
    pub is_proven: bool,
    /// The moves considered, best first.
    pub considered: Vec<Considered>,
    /// The expected line of play, as joint moves.
    pub line: Vec<Vec<String>>,
    /// Number of iterations made.
    pub iterations: u64,
    /// Number of positions visited.
    pub nodes: u64,
    /// Number of random playouts made.
    pub playouts: u64,
    /// Why the player did not choose the move itself, if it did not.
    pub error: Option<PlayerError>,
}

impl Game {
    /// Makes a built-in player from its specification, such as `mcts` or `alphabeta(depth=4)`.
    ///
    /// # Errors
    /// [`SpecError`] if the text does not specify a built-in player.
    ///
    /// ```
    /// use agon::{Budget, Game};
    /// let game = Game::open("tic-tac-toe")?;
    /// let mut position = game.start();
    /// for text in ["(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)"] {
    ///     position.play(text)?;
    /// }
    /// let report = game.player("mcts")?.think(&position, Budget::iterations(1000));
    /// assert_eq!((report.best_move.as_str(), report.is_proven), ("(mark 3 3)", true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn player(&self, spec: &str) -> Result<Player, SpecError> {
        let parsed = agon_players::parse_spec(spec)
            .map_err(|finding| SpecError::Syntax { finding, text: spec.to_owned() })?;
        match parsed.kind {
            PlayerSource::BuiltIn(..) => {
                Ok(Player { game: self.clone(), spec: parsed, seed: 1, thinker: None })
            }
            PlayerSource::Human | PlayerSource::Http(_) | PlayerSource::Command(_) => {
                Err(SpecError::Outside(parsed.text))
            }
        }
    }
}

impl Game {
    /// Returns the specification of a player that compares all moves of a position, for analysis.
    /// `auto` plays better, but it may know the value of its own choice only.
    ///
    /// ```
    /// use agon::Game;
    /// assert_eq!(Game::open("tic-tac-toe")?.analyst(), "mcts");
    /// assert_eq!(Game::open("kuhn-poker")?.analyst(), "auto");
    /// # Ok::<(), agon::OpenError>(())
    /// ```
    pub fn analyst(&self) -> &'static str {
        let shape = self.shape();
        if shape.hidden || shape.continuous || shape.players().count() < 2 {
            "auto"
        } else {
            "mcts"
        }
    }
}

/// Time for a player to prepare before its first move where only moves have a time limit.
const PREPARATION: Duration = Duration::from_secs(10);

impl Player {
    /// Sets the seed of the random generator; the default is 1.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Player {
        self.seed = seed;
        self.thinker = None;
        self
    }

    /// Chooses a move for the role that is to move. If several roles choose at the same time, it
    /// chooses for the first of them; see [`Player::think_as`].
    pub fn think(&mut self, position: &Position, budget: Budget) -> Report {
        let role = position.choosers().first().copied();
        let role = role.or_else(|| position.shape().players().next());
        self.think_as(role.unwrap_or(Role::new(0)), position, budget)
    }

    /// Chooses a move for a role. A player that fails plays the first legal move, and
    /// [`Report::error`] says why. Once play has ended, the move is the empty text.
    pub fn think_as(&mut self, role: Role, position: &Position, budget: Budget) -> Report {
        let thought = if position.is_terminal() {
            Err(PlayerError::Broken("play has ended".to_owned()))
        } else {
            self.choose(role, position, &budget)
        };
        match thought {
            Ok(choice) => Report::of(role, choice),
            Err(error) => {
                self.thinker = None;
                let best_move = position.legal_moves(role).into_iter().next().unwrap_or_default();
                Report {
                    error: Some(error),
                    ..Report::of(role, Choice { text: best_move, thought: None })
                }
            }
        }
    }

    fn choose(
        &mut self,
        role: Role,
        position: &Position,
        budget: &Budget,
    ) -> Result<Choice, PlayerError> {
        let thinker = self.follow(role, position, &preparation(budget))?;
        thinker.player.choose(budget)
    }

    /// Makes the player ready to choose for a role at a position: what is built and learnt before
    /// the first move takes none of the time of a move then.
    ///
    /// # Errors
    /// [`PlayerError`] if the player fails.
    pub(crate) fn prepare_as(
        &mut self,
        role: Role,
        position: &Position,
        budget: &Budget,
    ) -> Result<(), PlayerError> {
        self.follow(role, position, budget).map(|_| ())
    }

    /// Returns the player for a role, after the steps of a position. If there is none yet, it is
    /// made, and prepares within a budget.
    fn follow(
        &mut self,
        role: Role,
        position: &Position,
        preparation: &Budget,
    ) -> Result<&mut Thinker, PlayerError> {
        let history: Vec<Vec<String>> = position.history().map(<[String]>::to_vec).collect();
        let follows = self
            .thinker
            .as_ref()
            .is_some_and(|thinker| thinker.role == role && history.starts_with(&thinker.followed));
        if !follows {
            let needs = rules_needed(&self.spec);
            let (game, spec, seed) = (&self.game, &self.spec, self.seed);
            let evaluation = load_evaluation_games(game, spec)
                .map_err(|why| PlayerError::Broken(why.to_string()))?;
            let mut player = game.run(Build { game, spec, role, seed, needs, evaluation });
            player.prepare(preparation)?;
            self.thinker = Some(Thinker { role, player, followed: Vec::new() });
        }
        let thinker = self.thinker.as_mut().expect("it was made above");
        for step in &position.steps()[thinker.followed.len()..] {
            thinker.player.learn(&step.observations[role.index()])?;
            thinker.followed.push(step.joint.clone());
        }
        Ok(thinker)
    }
}

impl Report {
    fn of(role: Role, choice: Choice) -> Report {
        let thought = choice.thought.as_ref();
        Report {
            best_move: choice.text.clone(),
            role,
            value: thought.and_then(|thought| thought.value).unwrap_or(0.0),
            is_proven: thought.is_some_and(|thought| thought.is_proven),
            iterations: thought.map_or(0, |thought| thought.iterations),
            nodes: thought.map_or(0, |thought| thought.nodes),
            playouts: thought.map_or(0, |thought| thought.playouts),
            considered: thought.map(|thought| thought.considered.clone()).unwrap_or_default(),
            line: thought.map(|thought| thought.line.clone()).unwrap_or_default(),
            error: None,
        }
    }
}

/// Returns the budget of a player's preparation before it thinks with another budget.
fn preparation(budget: &Budget) -> Budget {
    Budget {
        deadline: budget.deadline.map(|_| Instant::now() + PREPARATION),
        stop: Arc::clone(&budget.stop),
        ..Budget::iterations(1)
    }
}

/// Builds a built-in player.
pub(crate) struct Build<'a> {
    pub(crate) game: &'a Game,
    pub(crate) spec: &'a PlayerSpec,
    pub(crate) role: Role,
    pub(crate) seed: u64,
    pub(crate) needs: RulesNeeded,
    pub(crate) evaluation: Option<EvaluationGames>,
}

impl GameTask for Build<'_> {
    type Output = Box<dyn agon_match::Player>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Box<dyn agon_match::Player> {
        let rules = Rules { evaluation: self.evaluation, ..self.game.rules(self.needs) };
        let seed = role_seed(self.seed, self.role);
        let context = BuildContext { start, role: self.role, seed, rules };
        self.spec.build(context).expect("the player is built-in")
    }
}

/// Returns the language in which a player wants to look into the rules.
pub(crate) fn rules_needed(spec: &PlayerSpec) -> RulesNeeded {
    let needs_gdl = spec.fuzzy_options().is_some() || spec.combined().is_some();
    if needs_gdl { RulesNeeded::Gdl } else { RulesNeeded::Own }
}
