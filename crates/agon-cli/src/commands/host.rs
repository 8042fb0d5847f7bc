//! `agon host`: the game manager. Plays one match or many between players over HTTP and others.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use agon::Game;
use agon_game::{Role, Shape};
use agon_ggp::{Dialect, Record};
use agon_match::{Ending, Event, Invitation, Substitute};
use agon_players::{PlayerSource, PlayerSpec};
use agon_server::WebPlayer;
use serde_json::json;

use crate::failure::{Failure, describe};
use crate::hosted_match::{self, ClockOptions, HostedMatch, Hosting};
use crate::match_report::{
    JsonReporter, MatchReporter, Positions, TextReporter, check_record_path, end, keep_text,
    n_move_errors,
};
use crate::open::{self, ModelOptions, PlayOptions};
use crate::outside::process_group;
use crate::terminal::{self, remark, say};
use crate::trace;

/// Host matches of players that speak the GGP protocol over HTTP
#[derive(clap::Args)]
#[command(after_help = "\
A player that is late, cannot be reached or sends an illegal move does not stop the match: another
legal move is played, and the error is recorded (TO timeout, CE connection, IL illegal, IN invalid).
Each --players is a table; all tables play at the same time. Ctrl-C aborts the matches and sends
ABORT to the players.

Examples:
  agon host tic-tac-toe --players http://localhost:9147,http://localhost:9148
  agon host breakthrough --players http://localhost:9147,auto --play-clock 5 --scramble
  agon host nim --players http://a,http://b --players http://c,http://d --matches 10
  agon host connect-four --players http://a:9147,auto --record match.json
  agon host blind-nim --players http://a:9147,http://b:9147 --dialect percepts,turns")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Players of one table, separated by commas; repeat the option for more tables
    #[arg(long, value_name = "A,B,…", required = true)]
    players: Vec<String>,
    /// Number of matches over all tables [default: one at each table]
    #[arg(long, value_name = "N")]
    matches: Option<usize>,
    #[command(flatten)]
    clocks: ClockOptions,
    /// Built-in players wait while other players choose, instead of thinking on
    #[arg(long)]
    no_ponder: bool,
    /// Seconds to wait beyond the clock, for the network
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    grace: f64,
    /// Seconds per match for connecting to a player that do not count as its thinking time
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    connect_bonus: f64,
    /// Format of the messages to players, one for all or one for each: as the game needs (game),
    /// GDL-I (moves), early GDL-II (percepts), or final GDL-II (turns)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORM,…")]
    dialect: Vec<DialectChoice>,
    /// Replace the names in the rules by random words before they are sent
    #[arg(long)]
    scramble: bool,
    /// Roles without a time limit
    #[arg(long, value_delimiter = ',', value_name = "ROLE,…")]
    unlimited: Vec<String>,
    /// Move that is played for a player that sends no legal move
    #[arg(long, value_enum, default_value = "random")]
    substitute: SubstituteChoice,
    /// Continue the match of a record: its moves are played first
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Close a table after N matches in a row in which one of its players made no legal move
    #[arg(long, default_value_t = 3, value_name = "N")]
    disable_after: usize,
    /// Make every step last as long as the clock, for spectators
    #[arg(long)]
    whole_clock: bool,
    /// Write records in the JSON format of ggp.org: a file for one match, a folder for several
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
    /// Write records in the XML format of Dresden's GameController, one subfolder per match
    #[arg(long, value_name = "FOLDER")]
    xml: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    models: ModelOptions,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

/// The format of the messages to a player.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum DialectChoice {
    /// As the game needs: moves, or turns if the game has hidden information.
    Game,
    /// Joint moves: GDL-I.
    Moves,
    /// Percepts only: early GDL-II.
    Percepts,
    /// Turn, own move, percepts: final GDL-II.
    Turns,
}

/// The move that is played for a player that sends no legal move.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum SubstituteChoice {
    /// A random legal move, as in ggp-base.
    Random,
    /// The first legal move, as in Dresden's GameController.
    First,
    /// The last legal move.
    Last,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let tables: Vec<Vec<PlayerSpec>> = args
        .players
        .iter()
        .map(|players| hosted_match::specs("--players", players))
        .collect::<Result<_, _>>()?;
    if tables.iter().flatten().any(|spec| spec.kind == PlayerSource::Human) {
        return Err(Failure::unreadable(
            "--players: a human cannot play under a host; use `agon play` or `agon match`",
        ));
    }
    let opened = open::open_for_match(
        &args.game,
        open::source(&args.game)?,
        &args.play,
        &args.models,
        args.clocks.iterations,
    )?;
    let shape = opened.shape().clone();
    let hosting = hosting(args, &shape)?;
    let is_aborted = Arc::clone(&hosting.is_aborted);
    crate::signals::on_interrupt(move || {
        // The second Ctrl-C ends the program at once.
        if is_aborted.swap(true, Ordering::Relaxed) {
            process_group::kill_all();
            std::process::exit(130);
        }
    });
    let n_matches = args.matches.unwrap_or(tables.len());
    let opening = match &args.resume {
        None => Vec::new(),
        Some(path) => recorded_moves(path)?,
    };
    if let Some(path) = &args.record {
        let is_file = tables.len() == 1 && n_matches == 1 && !path.is_dir();
        let folder = if is_file { path.parent().unwrap_or(path) } else { path };
        if !folder.as_os_str().is_empty() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::cannot_write(folder, &error))?;
        }
        if is_file {
            check_record_path(path)?;
        }
    }
    let host = Host { args, opened, shape, hosting, n_matches, opening, next: AtomicUsize::new(0) };
    host.ask_for_status(&tables);
    if tables.len() == 1 && n_matches == 1 {
        return host.play_one(tables[0].clone());
    }
    host.play_many(&tables)
}

/// Reads the moves of an unfinished match from its record.
fn recorded_moves(path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let shown = path.display();
    let record = Record::from_json(&trace::read_json(path)?).map_err(|what| {
        Failure::unreadable(format!("cannot read {shown}: not a valid match record: {what}"))
    })?;
    if record.goal_values.is_some() {
        return Err(Failure::unreadable(format!("--resume: the match in {shown} is finished")));
    }
    Ok(record.moves)
}

fn hosting(args: &Args, shape: &Shape) -> Result<Hosting, Failure> {
    let seconds = |name: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|duration| *duration < Duration::from_secs(7 * 24 * 3600))
            .ok_or_else(|| {
                Failure::unreadable(format!("--{name}: {seconds} is not a number of seconds"))
            })
    };
    let players: Vec<Role> = shape.players().collect();
    let dialects: Vec<Option<Dialect>> = args
        .dialect
        .iter()
        .map(|choice| match choice {
            DialectChoice::Game => None,
            DialectChoice::Moves => Some(Dialect::Moves),
            DialectChoice::Percepts => Some(Dialect::Percepts),
            DialectChoice::Turns => Some(Dialect::Turns),
        })
        .collect();
    let dialects = match dialects.as_slice() {
        [one] => vec![*one; players.len()],
        _ if dialects.len() > players.len() => {
            let (n, n_roles) = (dialects.len(), players.len());
            return Err(Failure::unreadable(format!(
                "--dialect: {n} formats for {n_roles} roles: give one, or {n_roles}"
            )));
        }
        _ => dialects,
    };
    if shape.hidden && dialects.contains(&Some(Dialect::Moves)) {
        return Err(Failure::unreadable(
            "--dialect: joint moves would reveal hidden information; give percepts or turns",
        ));
    }
    let unlimited = args.unlimited.iter().map(|name| {
        shape.role_named(name).filter(|role| players.contains(role)).ok_or_else(|| {
            Failure::unreadable(format!(
                "--unlimited: there is no role `{name}`; the roles are {}",
                shape.role_names.join(", ")
            ))
        })
    });
    Ok(Hosting {
        grace: seconds("grace", args.grace)?,
        bonus: seconds("connect-bonus", args.connect_bonus)?,
        dialects,
        scramble: args.scramble,
        unlimited: unlimited.collect::<Result<_, _>>()?,
        substitute: match args.substitute {
            SubstituteChoice::Random => Substitute::Random,
            SubstituteChoice::First => Substitute::First,
            SubstituteChoice::Last => Substitute::Last,
        },
        is_aborted: Arc::new(AtomicBool::new(false)),
    })
}

/// The host of all matches of this command.
struct Host<'a> {
    args: &'a Args,
    opened: Game,
    shape: Shape,
    hosting: Hosting,
    n_matches: usize,
    /// The joint moves that are played first in every match.
    opening: Vec<Vec<String>>,
    /// The number of the next match.
    next: AtomicUsize,
}

/// A match that is over.
struct FinishedMatch {
    number: usize,
    table: usize,
    record: Record,
    ending: Option<Ending>,
    /// By role: the number of moves that were played in its place.
    n_errors: Vec<usize>,
    seconds: f64,
}

/// The results of many matches.
struct Summary {
    n_matches: u32,
    n_unfinished: u32,
    /// Number of moves that were played in the place of a player.
    n_errors: usize,
    /// By role: the sum of the payoffs of finished matches.
    sums: Vec<f64>,
}

impl Summary {
    fn new(n_roles: usize) -> Summary {
        Summary { n_matches: 0, n_unfinished: 0, n_errors: 0, sums: vec![0.0; n_roles] }
    }

    fn add(&mut self, finished: &FinishedMatch) {
        self.n_matches += 1;
        self.n_errors += finished.n_errors.iter().sum::<usize>();
        match &finished.ending {
            Some(Ending::Finished(payoffs)) => {
                self.sums.iter_mut().zip(payoffs).for_each(|(sum, payoff)| *sum += payoff);
            }
            _ => self.n_unfinished += 1,
        }
    }
}

/// How long a player may take to answer the INFO message.
const INFO_TIME: Duration = Duration::from_secs(2);

impl Host<'_> {
    /// Sends INFO to the players over HTTP and prints which are busy or cannot be reached. The
    /// matches are played in any case.
    fn ask_for_status(&self, tables: &[Vec<PlayerSpec>]) {
        let asked: Vec<_> = tables
            .iter()
            .flatten()
            .filter_map(|spec| match &spec.kind {
                PlayerSource::Http(address) => Some((spec.text.clone(), address.clone())),
                PlayerSource::BuiltIn(..) | PlayerSource::Human | PlayerSource::Command(_) => None,
            })
            .map(|(text, address)| {
                let invitation = Invitation {
                    id: String::new(),
                    role: Role::new(0),
                    shape: self.shape.clone(),
                    rules: String::new(),
                    start_clock: 0.0,
                    play_clock: 0.0,
                };
                let thread = std::thread::spawn(move || {
                    WebPlayer::new(address, invitation).info(Instant::now() + INFO_TIME)
                });
                (text, thread)
            })
            .collect();
        for (text, thread) in asked {
            match thread.join() {
                Ok(Ok(info)) if info.to_lowercase().contains("busy") => {
                    remark!("{text} is busy: {}", info.trim());
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => remark!("{text} {error}"),
                Err(_) => remark!("{text} could not be asked"),
            }
        }
    }

    fn set_up(&self, players: Vec<PlayerSpec>, number: usize) -> Result<HostedMatch, Failure> {
        let seed = self.args.clocks.seed.wrapping_add(number as u64);
        let ponder = !self.args.no_ponder;
        let options = ClockOptions { seed, ponder, ..self.args.clocks.clone() };
        let mut hosted = HostedMatch::new(self.opened.clone(), players, &options)?;
        if self.n_matches > 1 {
            hosted.setup.id = format!("{}.{number}", hosted.setup.id);
        }
        Ok(hosted.with_hosting(self.hosting.clone()))
    }

    /// Plays one match and shows it step by step.
    fn play_one(&self, players: Vec<PlayerSpec>) -> Result<(), Failure> {
        let mut hosted = self.set_up(players, 0)?;
        if !self.args.json {
            hosted.find_layout();
        }
        let mut reporter: Box<dyn MatchReporter> = if self.args.json {
            Box::new(JsonReporter::new(&hosted, &self.shape))
        } else {
            Box::new(TextReporter::new(&hosted, &self.shape, Positions::Shown))
        };
        let mut pace = Pace::new(self.args);
        let game = hosted.play(self.opening.clone(), &mut |game, event| {
            let is_step = matches!(event, Event::Step(_));
            reporter.report(game, event);
            if is_step && !game.is_over() {
                pace.wait();
            }
        })?;
        let record = hosted.record(&game);
        self.write(&record, self.args.record.as_deref().filter(|path| !path.is_dir()))?;
        end(&game)
    }

    /// Plays matches at all tables and shows each when it is over.
    fn play_many(&self, tables: &[Vec<PlayerSpec>]) -> Result<(), Failure> {
        // Errors in the players are found before the first match.
        for players in tables {
            self.set_up(players.clone(), 0)?;
        }
        let began = Instant::now();
        let (sender, finished) = channel::<Result<FinishedMatch, Failure>>();
        let mut summary = Summary::new(self.shape.role_names.len());
        std::thread::scope(|scope| -> Result<(), Failure> {
            for (table, players) in tables.iter().enumerate() {
                let sender = sender.clone();
                scope.spawn(move || self.play_at_table(table, players, &sender));
            }
            drop(sender);
            for result in finished {
                let finished = result
                    .inspect_err(|_| self.hosting.is_aborted.store(true, Ordering::Relaxed))?;
                self.show(&finished);
                self.write(&finished.record, None)?;
                summary.add(&finished);
            }
            Ok(())
        })?;
        self.show_summary(&summary, began.elapsed().as_secs_f64());
        if summary.n_unfinished > 0 {
            Err(Failure::wrong(format!("{} matches were not finished", summary.n_unfinished)))
        } else {
            Ok(())
        }
    }

    fn show_summary(&self, summary: &Summary, seconds: f64) {
        let Summary { n_matches, n_unfinished, n_errors, .. } = *summary;
        let n_finished = n_matches - n_unfinished;
        let means: Vec<f64> =
            summary.sums.iter().map(|sum| sum / f64::from(n_finished.max(1))).collect();
        if self.args.json {
            let line = json!({
                "type": "summary", "matches": n_matches, "finished": n_finished,
                "mean_goals": means, "substituted": n_errors, "seconds": seconds,
            });
            say!("{line}");
            return;
        }
        let goals = self.shape.players().map(|role| {
            format!("{} {:.1}", self.shape.role_names[role.index()], means[role.index()])
        });
        say!(
            "{n_finished} of {n_matches} matches finished in {seconds:.1} s: {}; {n_errors} moves \
             were substituted",
            goals.collect::<Vec<_>>().join(", ")
        );
    }

    /// Plays matches at a table until none are left.
    fn play_at_table(
        &self,
        table: usize,
        players: &[PlayerSpec],
        done: &Sender<Result<FinishedMatch, Failure>>,
    ) {
        // By role: the number of matches in a row without a legal move of the player.
        let mut n_failed = vec![0; self.shape.role_names.len()];
        loop {
            if let Some(role) = n_failed.iter().position(|&n| n >= self.args.disable_after.max(1)) {
                let name = &self.shape.role_names[role];
                remark!(
                    "table {} is closed: the player of {name} has not made a legal move in {} \
                     matches",
                    table + 1,
                    n_failed[role]
                );
                return;
            }
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.n_matches || self.hosting.is_aborted.load(Ordering::Relaxed) {
                return;
            }
            let result = self.set_up(players.to_vec(), number).and_then(|hosted| {
                let began = Instant::now();
                let mut pace = Pace::new(self.args);
                let game = hosted.play(self.opening.clone(), &mut |game, event| {
                    if matches!(event, Event::Step(_)) && !game.is_over() {
                        pace.wait();
                    }
                })?;
                Ok(FinishedMatch {
                    number,
                    table,
                    record: hosted.record(&game),
                    n_errors: n_move_errors(&game),
                    ending: game.ending().cloned(),
                    seconds: began.elapsed().as_secs_f64(),
                })
            });
            if let Ok(done) = &result {
                let n_asked =
                    done.record.moves.len() - self.opening.len().min(done.record.moves.len());
                for (n, n_errors) in n_failed.iter_mut().zip(&done.n_errors) {
                    *n = if n_asked > 0 && *n_errors >= n_asked { *n + 1 } else { 0 };
                }
            }
            if done.send(result).is_err() {
                return;
            }
        }
    }

    fn show(&self, done: &FinishedMatch) {
        let FinishedMatch { number, table, record, ending, n_errors, seconds } = done;
        let n_steps = record.moves.len();
        let word = match ending {
            Some(Ending::Finished(_)) => "finished",
            Some(Ending::Fault(_)) => "fault",
            Some(Ending::TooLong) => "too_long",
            Some(Ending::Aborted) => "aborted",
            Some(Ending::Stopped(_)) | None => "stopped",
        };
        if self.args.json {
            say!(
                "{}",
                json!({
                    "type": "result", "match": record.match_id, "number": number, "table": table,
                    "ending": word, "steps": n_steps, "goals": record.goal_values,
                    "errors": n_errors, "seconds": seconds,
                })
            );
            return;
        }
        let result = match ending {
            Some(Ending::Finished(payoffs)) => {
                let goals = self.shape.players().map(|role| {
                    format!("{} {}", self.shape.role_names[role.index()], payoffs[role.index()])
                });
                goals.collect::<Vec<_>>().join(", ")
            }
            Some(Ending::Fault(fault)) => terminal::red(&describe(fault, &self.shape)),
            Some(_) | None => terminal::red(word),
        };
        let substituted: usize = n_errors.iter().sum();
        let errors = if substituted > 0 {
            terminal::red(&format!("; {substituted} moves were substituted"))
        } else {
            String::new()
        };
        say!(
            "{} {n_steps} steps, {seconds:.1} s: {result}{errors}",
            terminal::dim(&record.match_id)
        );
    }

    fn write(&self, record: &Record, file: Option<&Path>) -> Result<(), Failure> {
        let put = |path: &Path, text: String| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(path, text))
                .map_err(|error| Failure::cannot_write(path, &error))
        };
        if let Some(path) = &self.args.record {
            let path = match file {
                Some(file) => file.to_owned(),
                None => path.join(format!("{}.json", record.match_id)),
            };
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                std::fs::create_dir_all(folder)
                    .map_err(|error| Failure::cannot_write(folder, &error))?;
            }
            keep_text(&path, &format!("{}\n", record.to_json()), &record.match_id)?;
        }
        if let Some(folder) = &self.args.xml {
            let folder = folder.join(&record.match_id);
            for n_steps in 0..record.moves.len() {
                let xml = record.dresden_xml(n_steps, &self.shape.role_names);
                put(&folder.join(format!("step_{}.xml", n_steps + 1)), xml)?;
            }
            put(
                &folder.join("finalstate.xml"),
                record.dresden_xml(record.moves.len(), &self.shape.role_names),
            )?;
        }
        Ok(())
    }
}

/// Makes every step last as long as the play clock, if that was asked for.
struct Pace {
    each: Option<Duration>,
    last: Instant,
}

impl Pace {
    fn new(args: &Args) -> Pace {
        let each =
            Duration::try_from_secs_f64(args.clocks.play_clock).ok().filter(|_| args.whole_clock);
        Pace { each, last: Instant::now() }
    }

    /// Waits until the play clock of the step has run out.
    fn wait(&mut self) {
        if let Some(each) = self.each {
            std::thread::sleep(each.saturating_sub(self.last.elapsed()));
        }
        self.last = Instant::now();
    }
}
