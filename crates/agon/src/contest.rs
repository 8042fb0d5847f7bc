//! From a game and the names of players to a match being played.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_analysis::Subject;
use agon_analysis::goal_formulas::goal_judge;
use agon_game::{Live, Role, Shape, Table};
use agon_gdl::interpreter::Game;
use agon_match::{
    Address, Board, Clocks, Dialect, Event, Match, MatchOptions, Player, Record, Rules, Scrambler,
    Seat, Spec, SpecKind, Substitute, Timing, action_heuristic_wanted, auto, build_with_insight,
    drive_until, fuzzy_options, goal_options, role_seed, sample, view,
};
use agon_search::Budget;
use agon_server::{Invitation, WebPlayer};
use agon_text::{Diagnostic, Source, render};

use crate::clock;
use crate::engine::{GamePosition, GameTask, Opened};
use crate::failure::Failure;
use crate::outside::{Console, Human, Program};
use crate::shipped::Shipped;
use crate::subjects::{bring_concepts, subject_of, subject_of_rewriting};
use crate::terminal::remark;

/// Enough for a player to get ready before the clock starts.
const A_LONG_TIME: Duration = Duration::from_secs(3600);

/// What is asked of a match on the command line.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct ClockOptions {
    /// Seconds before the first move
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS")]
    pub(crate) start_clock: f64,
    /// Seconds for each move
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub(crate) play_clock: f64,
    /// Seconds of the play clock that our own players leave unused, so as not to be late [default: an eighth of it,
    /// from 0.1 to 1]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) margin: Option<f64>,
    /// Our own players think so many iterations, however long it takes: the same seed gives the same match
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<u64>,
    /// Seed of the random generator
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// A match longer than this is broken off
    #[arg(long, default_value_t = 10_000)]
    pub(crate) max_steps: usize,
}

/// How a host deals with players elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Hosting {
    /// How long is waited beyond the clock, for the way there and back.
    pub(crate) grace: Duration,
    /// How much of the time it takes to reach a player does not count, in a match.
    pub(crate) bonus: Duration,
    /// By role, in the order of the players: how they are told of steps; `None` leaves it to the game.
    pub(crate) dialects: Vec<Option<Dialect>>,
    /// Whether the rules are told in other words.
    pub(crate) scramble: bool,
    /// Who may think as long as they like.
    pub(crate) unlimited: Vec<Role>,
    pub(crate) substitute: Substitute,
    /// Breaks matches off.
    pub(crate) is_aborted: Arc<AtomicBool>,
}

impl Default for Hosting {
    fn default() -> Hosting {
        Hosting {
            // What ggp-base allows.
            grace: Duration::from_secs(1),
            bonus: Duration::ZERO,
            dialects: Vec::new(),
            scramble: false,
            unlimited: Vec::new(),
            substitute: Substitute::default(),
            is_aborted: Arc::default(),
        }
    }
}

/// A match to be played: the game, who plays it, and how.
pub(crate) struct Contest {
    pub(crate) opened: Opened,
    /// As the user called it.
    pub(crate) game_name: String,
    /// By role, in the order of the rules; nature has none.
    pub(crate) players: Vec<(Role, Spec)>,
    pub(crate) options: ClockOptions,
    pub(crate) id: String,
    pub(crate) board: Option<Arc<Board>>,
    pub(crate) console: Arc<Console>,
    pub(crate) hosting: Hosting,
    clocks: Clocks,
    margin: Duration,
}

impl Contest {
    /// Puts players at roles. Roles beyond the players given are left to `auto`.
    pub(crate) fn new(
        opened: Opened,
        game_name: &str,
        given: Vec<Spec>,
        options: ClockOptions,
    ) -> Result<Contest, Failure> {
        let shape = opened.run(Laid).shape().clone();
        let roles: Vec<Role> = shape.players().collect();
        if given.len() > roles.len() {
            let names: Vec<&str> =
                roles.iter().map(|r| shape.role_names[r.index()].as_str()).collect();
            let (n, n_roles) = (given.len(), roles.len());
            let names = names.join(", ");
            return Err(Failure::unreadable(format!(
                "{n} players for {n_roles} roles ({names}): give fewer"
            )));
        }
        let mut given = given.into_iter();
        let players: Vec<(Role, Spec)> = roles
            .into_iter()
            .map(|role| (role, given.next().unwrap_or_else(|| Spec::built_in("auto"))))
            .collect();
        let clock = |name: &str, seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|clock| *clock <= Duration::from_secs(7 * 24 * 3600))
                .ok_or_else(|| {
                    Failure::unreadable(format!("--{name}: not a number of seconds: {seconds}"))
                })
        };
        let clocks = Clocks {
            start: clock("start-clock", options.start_clock)?,
            play: clock("play-clock", options.play_clock)?,
        };
        let margin = match options.margin {
            None => clocks.margin(),
            Some(seconds) => clock("margin", seconds)?,
        };
        let id = format!("agon.{}.{}", key(game_name), clock::now());
        let board = None;
        let console = Arc::default();
        let hosting = Hosting::default();
        let game_name = game_name.to_owned();
        Ok(Contest {
            opened,
            game_name,
            players,
            options,
            id,
            board,
            console,
            hosting,
            clocks,
            margin,
        })
    }

    /// Looks for a board in the game, for those who want to see one.
    pub(crate) fn look_for_board(&mut self) {
        let board = match &self.opened {
            Opened::Gdl(opened) => {
                let samples = sample(self.opened.run(Laid).as_ref());
                Board::learn(&samples, &chains(opened.game()))
            }
            Opened::Toss(opened) => {
                let arena = opened.game().arena();
                let elements = arena.layout().map(|layout| layout.rows.iter().flatten().flatten());
                elements.and_then(|cells| {
                    Board::of_named_places(cells.map(|&cell| &**arena.start().name(cell)))
                })
            }
        };
        self.board = board.map(Arc::new);
    }

    /// What is known of the game, by the engine that plays it.
    pub(crate) fn shape(&self) -> Shape {
        self.opened.run(Laid).shape().clone()
    }

    /// What a player is called: what the user called it, and what that came to.
    pub(crate) fn player_name(&self, role: Role, shape: &Shape) -> String {
        let spec = self.players.iter().find(|(other, _)| *other == role).map(|(_, spec)| spec);
        match spec {
            None => "nature".to_owned(),
            Some(spec) => match &spec.kind {
                SpecKind::BuiltIn(kind, _) if kind.name == "auto" => {
                    format!("{} ({})", spec.text, auto(shape, role).text)
                }
                SpecKind::BuiltIn(..)
                | SpecKind::Human
                | SpecKind::Http(_)
                | SpecKind::Command(_) => spec.text.clone(),
            },
        }
    }

    /// Plays the match.
    pub(crate) fn play(
        &self,
        opening: Vec<Vec<String>>,
        watch: &mut dyn FnMut(&Match, Event<'_>),
    ) -> Result<Match, Failure> {
        let seats = self.opened.run(Seating { contest: self })?;
        let options = MatchOptions {
            seed: self.options.seed,
            max_steps: self.options.max_steps,
            opening,
            substitute: self.hosting.substitute,
        };
        let mut game = Match::new(self.opened.run(Laid), options, clock::now());
        drive_until(&mut game, seats, &self.clocks, &clock::now, watch, &self.hosting.is_aborted);
        Ok(game)
    }

    /// The match written down.
    pub(crate) fn record(&self, game: &Match) -> Record {
        let shape = game.shape();
        let is_human = |role: Role| {
            self.players.iter().any(|(other, spec)| *other == role && spec.kind == SpecKind::Human)
        };
        let mut record = Record {
            match_id: self.id.clone(),
            random_token: clock::token(32),
            start_time: game.state_times()[0],
            // Where ggp-base's own server of local games has them.
            game_meta_url: format!("http://127.0.0.1:9140/games/{}/v0/", key(&self.game_name)),
            start_clock: self.clocks.start.as_secs_f64().ceil() as u64,
            play_clock: self.clocks.play.as_secs_f64().ceil() as u64,
            player_names: shape.roles().map(|role| self.player_name(role, shape)).collect(),
            is_human: shape.roles().map(is_human).collect(),
            states: Vec::new(),
            moves: Vec::new(),
            state_times: Vec::new(),
            errors: Vec::new(),
            goal_values: None,
            is_aborted: false,
            is_scrambled: self.hosting.scramble,
        };
        record.fill(game);
        record
    }

    fn timing(&self, role: Role, spec: &Spec) -> Timing {
        if self.hosting.unlimited.contains(&role) {
            return Timing::Unlimited;
        }
        match (&spec.kind, self.options.iterations) {
            (SpecKind::BuiltIn(..), Some(n)) => Timing::Iterations(n),
            (SpecKind::BuiltIn(..), None) => Timing::Margin(self.margin),
            (SpecKind::Command(_), _) => Timing::Grace(Duration::ZERO),
            (SpecKind::Http(_), _) => Timing::Grace(self.hosting.grace),
            (SpecKind::Human, _) => Timing::Unlimited,
        }
    }
}

impl Contest {
    /// A player elsewhere, spoken to as the host was told.
    fn web_player(&self, address: &Address, invitation: Invitation, number: usize) -> WebPlayer {
        let hosting = &self.hosting;
        let scrambler =
            hosting.scramble.then(|| Scrambler::new(&invitation.rules, self.options.seed));
        let mut player = WebPlayer::new(address.clone(), invitation).with_bonus(hosting.bonus);
        if let Some(dialect) = hosting.dialects.get(number).copied().flatten() {
            player = player.in_dialect(dialect);
        }
        match scrambler {
            Some(scrambler) => player.scrambled(Arc::new(scrambler)),
            None => player,
        }
    }
}

/// Players named on the command line; the failure shows the place that is wrong.
pub(crate) fn specs(option: &str, text: &str) -> Result<Vec<Spec>, Failure> {
    agon_match::parse_list(text).map_err(|finding| misnamed(option, text, *finding))
}

/// A single one.
pub(crate) fn spec(option: &str, text: &str) -> Result<Spec, Failure> {
    agon_match::parse_spec(text).map_err(|finding| misnamed(option, text, *finding))
}

fn misnamed(option: &str, text: &str, finding: Diagnostic) -> Failure {
    let source = Source::new(option, text);
    Failure::unreadable(render(&[finding], &source, crate::terminal::colour_on_stderr()))
}

/// A game's name as it may stand in an address.
fn key(game: &str) -> String {
    if let Some(shipped) = Shipped::named(game).filter(|shipped| shipped.name.contains('/')) {
        return shipped.name.replace('/', "-");
    }
    let name =
        std::path::Path::new(game).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if name.is_empty() || name == "-" { "unnamed".to_owned() } else { name }
}

/// The game on a table: for the referee.
pub(crate) struct Laid;

impl GameTask for Laid {
    type Output = Box<dyn Table>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Box<dyn Table> {
        if start.shape().hidden {
            Box::new(Live::hidden(start))
        } else {
            Box::new(Live::open(start))
        }
    }
}

/// Players in their seats. Each gets a position at the start of its own, and nothing of the referee's.
struct Seating<'a> {
    contest: &'a Contest,
}

impl GameTask for Seating<'_> {
    type Output = Result<Vec<Seat>, Failure>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Result<Vec<Seat>, Failure> {
        let contest = self.contest;
        let shape = start.shape().clone();
        let wants_gdl = contest.players.iter().any(|(_, spec)| fuzzy_options(spec).is_some());
        let subject = match &contest.opened {
            Opened::Gdl(opened) => Ok(subject_of(opened)),
            Opened::Toss(opened) if wants_gdl => subject_of_rewriting(opened.game()),
            // Nobody asks.
            Opened::Toss(_) => Err(String::new()),
        };
        let rules = match (&contest.opened, &subject) {
            (Opened::Toss(opened), Ok(subject)) => Rules::Both(opened.game(), subject),
            (Opened::Toss(opened), Err(_)) => Rules::Rewriting(opened.game()),
            (Opened::Gdl(_), Ok(subject)) => Rules::Gdl(subject),
            (Opened::Gdl(_), Err(_)) => Rules::Unknown,
        };
        let mut seats = Vec::new();
        for (role, spec) in &contest.players {
            let role = *role;
            let seed = role_seed(contest.options.seed, role);
            let name = shape.role_names[role.index()].clone();
            let invitation = || Invitation {
                id: contest.id.clone(),
                role,
                shape: shape.clone(),
                rules: contest.opened.rules_text(),
                start_clock: contest.options.start_clock,
                play_clock: contest.options.play_clock,
            };
            let own_view = || view(start.clone(), role, seed);
            let player: Box<dyn Player> = match &spec.kind {
                SpecKind::BuiltIn(..) => {
                    if let Some(why) = why_not_judged(spec, &contest.opened, &subject) {
                        remark!(
                            "{}: positions are judged by the goals as they stand: {why}",
                            spec.text
                        );
                    }
                    if let Ok(subject) = &subject {
                        bring_concepts(subject, spec)?;
                    }
                    if let Some(wanted) = action_heuristic_wanted(spec) {
                        let found = subject.as_ref().map_err(Clone::clone).and_then(|subject| {
                            let found =
                                subject.action_heuristics(wanted, agon_analysis::USUAL_TIME);
                            found.map(drop).map_err(|why| why.to_string())
                        });
                        if let Err(why) = found {
                            remark!(
                                "{}: moves are not judged before they are tried: {why}",
                                spec.text
                            );
                        }
                    }
                    let player = build_with_insight(spec, start.clone(), role, seed, rules);
                    let mut player = player.expect("a player of our own can be built");
                    if let Timing::Margin(_) = contest.timing(role, spec) {
                        // As the rules are compiled before the clock starts, so is what the player makes of them.
                        let deadline = Some(Instant::now() + A_LONG_TIME);
                        let _ = player.prepare(&Budget { deadline, ..Budget::iterations(1) });
                    }
                    player
                }
                SpecKind::Human => {
                    let console = Arc::clone(&contest.console);
                    Box::new(Human::new(name, own_view(), contest.board.clone(), console))
                }
                SpecKind::Http(address) => {
                    Box::new(contest.web_player(address, invitation(), seats.len()))
                }
                SpecKind::Command(words) => {
                    let program = Program::start(words, invitation(), own_view());
                    Box::new(
                        program.map_err(|why| {
                            Failure::unreadable(format!("player of {name}: {why}"))
                        })?,
                    )
                }
            };
            seats.push(Seat { role, player, timing: contest.timing(role, spec) });
        }
        Ok(seats)
    }
}

/// Why a player cannot judge positions as it was told to, if it cannot.
fn why_not_judged(
    spec: &Spec,
    opened: &Opened,
    subject: &Result<Subject, String>,
) -> Option<String> {
    if let Some(options) = fuzzy_options(spec) {
        return match subject {
            Ok(subject) => {
                subject.fuzzy(&options, agon_analysis::USUAL_TIME).err().map(|why| why.to_string())
            }
            Err(why) => Some(format!("fuzzy evaluation is for GDL, and {why}")),
        };
    }
    let (choice, options) = goal_options(spec)?;
    match opened {
        Opened::Gdl(_) => Some(
            "terms made of goals are for structure rewriting games (hint: `agon translate GAME --to toss`)"
                .to_owned(),
        ),
        Opened::Toss(opened) => {
            let method = choice.method(opened.game());
            match goal_judge(opened.game(), method, &options) {
                Err(why) => Some(why.to_string()),
                Ok(judge) if !judge.terms().depend_on_states() => {
                    Some("its payoffs are numbers, so nothing can be made of them".to_owned())
                }
                Ok(_) => None,
            }
        }
    }
}

/// Names that a binary relation of the rules puts in a line: `(succ a b) (succ b c)`.
fn chains(game: &Game) -> Vec<Vec<String>> {
    let symbols = &game.rules().sheet().symbols;
    let mut relations: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for rule in game.rules().rules().iter().filter(|rule| rule.body.is_empty()) {
        let [first, second] = rule.head.arguments.as_slice() else { continue };
        let (Some(first), Some(second)) = (first.as_constant(), second.as_constant()) else {
            continue;
        };
        let pair = (symbols.name(first).to_owned(), symbols.name(second).to_owned());
        relations.entry(symbols.name(rule.head.relation).to_owned()).or_default().push(pair);
    }
    relations.into_values().filter_map(|pairs| chain(&pairs)).collect()
}

fn chain(pairs: &[(String, String)]) -> Option<Vec<String>> {
    let after: BTreeMap<&str, &str> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let first = pairs.iter().find(|(a, _)| !pairs.iter().any(|(_, b)| a == b))?;
    let mut names = vec![first.0.as_str()];
    while let Some(next) = after.get(names.last()?) {
        // A circle, or longer than there are pairs.
        if names.len() > pairs.len() {
            return None;
        }
        names.push(next);
    }
    let is_line = after.len() == pairs.len() && names.len() == pairs.len() + 1;
    is_line.then(|| names.into_iter().map(str::to_owned).collect())
}
