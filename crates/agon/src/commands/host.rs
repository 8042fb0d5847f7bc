//! `agon host`: the game manager, for players elsewhere and our own, one match or many.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use agon_game::{Role, Shape};
use agon_match::{Dialect, Ending, Event, Match, Record, Slip, Spec, SpecKind, Substitute};
use agon_server::{Invitation, WebPlayer};
use serde_json::json;

use super::matches::{Lines, Screen, Teller, end};
use crate::contest::{self, ClockOptions, Contest, Hosting, Laid};
use crate::engine::Opened;
use crate::failure::{Failure, describe};
use crate::open::{self, PlayOptions};
use crate::terminal::{self, remark, say};
use crate::trace;

/// Host matches between players elsewhere that speak the GGP protocol, or any others.
#[derive(clap::Args)]
#[command(after_help = "\
A player that is late, cannot be reached or sends nonsense costs the match nothing but its own move: a legal one is put in its place
and the error recorded (TO, CE, IL, IN). Give --players several times for several tables; they play at once. Ctrl-C breaks
matches off and says so to the players.

Examples:
  agon host tic-tac-toe --players http://localhost:9147,http://localhost:9148
  agon host breakthrough --players http://localhost:9147,auto --play-clock 5 --record match.json --scramble
  agon host nim --players http://a:9147,http://b:9147 --players http://c:9147,http://d:9147 --matches 10 --record records
  agon host blind-nim --players http://a:9147,http://b:9147 --dialect percepts,turns")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    game: String,
    /// The players at a table, with commas between them; give it again for another table
    #[arg(long, value_name = "A,B,…", required = true)]
    players: Vec<String>,
    /// How many matches, over all tables [default: one at each]
    #[arg(long, value_name = "N")]
    matches: Option<usize>,
    #[command(flatten)]
    clocks: ClockOptions,
    /// Seconds that are waited beyond the clock, for the way there and back
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    grace: f64,
    /// Seconds in a match that reaching a player may take without counting as its time
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    connect_bonus: f64,
    /// How players are told of steps, one for all or one for each: by the game, or in the form of GDL-I (moves), early GDL-II
    /// (percepts), final GDL-II (turns)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORM,…")]
    dialect: Vec<DialectChoice>,
    /// Tell the rules in other words
    #[arg(long)]
    scramble: bool,
    /// Roles that may think as long as they like
    #[arg(long, value_delimiter = ',', value_name = "ROLE,…")]
    unlimited: Vec<String>,
    /// What is done in the place of a player that does nothing legal
    #[arg(long, value_enum, default_value = "random")]
    substitute: SubstituteChoice,
    /// Take up a match where its record ends: its moves are made again first
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// A table is closed after so many matches in a row in which one of its players did nothing right
    #[arg(long, default_value_t = 3, value_name = "N")]
    disable_after: usize,
    /// Let every step last as long as the clock, for those who watch
    #[arg(long)]
    whole_clock: bool,
    /// Write matches down in ggp.org's format: a file for one match, a folder for more
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
    /// Write matches down as Dresden's XML, a folder for each below this one
    #[arg(long, value_name = "FOLDER")]
    xml: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    play: PlayOptions,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum DialectChoice {
    /// As the game has it: moves, or turns if information is hidden.
    Game,
    /// Joint moves: GDL-I.
    Moves,
    /// Percepts alone: early GDL-II.
    Percepts,
    /// Turn, own move, percepts: final GDL-II.
    Turns,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum SubstituteChoice {
    /// A legal move drawn at random, as ggp-base does.
    Random,
    /// The first legal move, as Dresden does.
    First,
    /// The last legal move.
    Last,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let tables: Vec<Vec<Spec>> = args
        .players
        .iter()
        .map(|players| contest::specs("--players", players))
        .collect::<Result<_, _>>()?;
    if tables.iter().flatten().any(|spec| spec.kind == SpecKind::Human) {
        return Err(Failure::unreadable(
            "--players: people play by `agon play` or `agon match`, not under a host",
        ));
    }
    let opened = open::open_for_match(
        open::source(&args.game)?,
        &args.play,
        args.clocks.iterations.is_some(),
    )?;
    let shape = opened.run(Laid).shape().clone();
    let hosting = hosting(args, &shape)?;
    let is_aborted = Arc::clone(&hosting.is_aborted);
    // If Ctrl-C is somebody else's already, it ends the program as it always does.
    let _ = ctrlc::set_handler(move || {
        // Twice is meant.
        if is_aborted.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let n_matches = args.matches.unwrap_or(tables.len());
    let opening = match &args.resume {
        None => Vec::new(),
        Some(path) => resumed(path)?,
    };
    let hall = Hall { args, opened, shape, hosting, n_matches, opening, next: AtomicUsize::new(0) };
    hall.greet(&tables);
    if tables.len() == 1 && n_matches == 1 {
        return hall.one(tables[0].clone());
    }
    hall.many(&tables)
}

/// The moves of a record that was not finished.
fn resumed(path: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let shown = path.display();
    let record = Record::from_json(&trace::read_json(path)?).map_err(|what| {
        Failure::unreadable(format!("cannot read {shown}: not a proper match: {what}"))
    })?;
    if record.goal_values.is_some() {
        return Err(Failure::unreadable(format!(
            "--resume: the match in {shown} was played to its end"
        )));
    }
    Ok(record.moves)
}

fn hosting(args: &Args, shape: &Shape) -> Result<Hosting, Failure> {
    let seconds = |name: &str, seconds: f64| {
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|duration| *duration < Duration::from_secs(7 * 24 * 3600))
            .ok_or_else(|| {
                Failure::unreadable(format!("--{name}: not a number of seconds: {seconds}"))
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
                "--dialect: {n} forms for {n_roles} roles: give one, or {n_roles}"
            )));
        }
        _ => dialects,
    };
    if shape.hidden && dialects.contains(&Some(Dialect::Moves)) {
        return Err(Failure::unreadable(
            "--dialect: joint moves would tell what the game hides; give percepts or turns",
        ));
    }
    let unlimited = args.unlimited.iter().map(|name| {
        shape.role_named(name).filter(|role| players.contains(role)).ok_or_else(|| {
            Failure::unreadable(format!(
                "--unlimited: nobody plays `{name}`; one of {}",
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

/// Where matches are played.
struct Hall<'a> {
    args: &'a Args,
    opened: Opened,
    shape: Shape,
    hosting: Hosting,
    n_matches: usize,
    /// What is made first in every match.
    opening: Vec<Vec<String>>,
    /// The number of the next match.
    next: AtomicUsize,
}

/// A match that is over.
struct Done {
    number: usize,
    table: usize,
    record: Record,
    ending: Option<Ending>,
    n_slips: Vec<usize>,
    seconds: f64,
}

/// How long a player may take to say who it is.
const GREETING: Duration = Duration::from_secs(2);

impl Hall<'_> {
    /// Asks players elsewhere who they are, and says who is not there. Nobody is turned away for that.
    fn greet(&self, tables: &[Vec<Spec>]) {
        let asked: Vec<_> = tables
            .iter()
            .flatten()
            .filter_map(|spec| match &spec.kind {
                SpecKind::Http(address) => Some((spec.text.clone(), address.clone())),
                SpecKind::BuiltIn(..) | SpecKind::Human | SpecKind::Command(_) => None,
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
                    WebPlayer::new(address, invitation).info(Instant::now() + GREETING)
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
                Ok(Err(lapse)) => remark!("{text} {lapse}"),
                Err(_) => remark!("{text} could not be asked"),
            }
        }
    }

    fn contest(&self, players: Vec<Spec>, number: usize) -> Result<Contest, Failure> {
        let seed = self.args.clocks.seed.wrapping_add(number as u64);
        let options = ClockOptions { seed, ..self.args.clocks.clone() };
        let mut contest = Contest::new(self.opened.clone(), &self.args.game, players, options)?;
        if self.n_matches > 1 {
            contest.id = format!("{}.{number}", contest.id);
        }
        contest.hosting = self.hosting.clone();
        Ok(contest)
    }

    /// One match, shown step by step.
    fn one(&self, players: Vec<Spec>) -> Result<(), Failure> {
        let mut contest = self.contest(players, 0)?;
        if !self.args.json {
            contest.look_for_board();
        }
        let mut teller: Box<dyn Teller> = if self.args.json {
            Box::new(Lines::new(&contest, &self.shape))
        } else {
            Box::new(Screen::new(&contest, &self.shape, false))
        };
        let mut pace = Pace::new(self.args);
        let game = contest.play(self.opening.clone(), &mut |game, event| {
            let is_step = matches!(event, Event::Step(_));
            teller.tell(game, event);
            if is_step && !game.is_over() {
                pace.keep();
            }
        })?;
        let record = contest.record(&game);
        self.write(&record, self.args.record.as_deref().filter(|path| !path.is_dir()))?;
        end(&game)
    }

    /// Many matches, shown when they are over.
    fn many(&self, tables: &[Vec<Spec>]) -> Result<(), Failure> {
        // What is wrong with the players is found before anything is played.
        for players in tables {
            self.contest(players.clone(), 0)?;
        }
        let began = Instant::now();
        let (sender, done) = channel::<Result<Done, Failure>>();
        let (mut n_done, mut n_faults, mut n_slips) = (0, 0, 0);
        let mut sums = vec![0.0; self.shape.role_names.len()];
        std::thread::scope(|scope| -> Result<(), Failure> {
            for (table, players) in tables.iter().enumerate() {
                let sender = sender.clone();
                scope.spawn(move || self.serve(table, players, &sender));
            }
            drop(sender);
            for result in done {
                let done = result
                    .inspect_err(|_| self.hosting.is_aborted.store(true, Ordering::Relaxed))?;
                self.show(&done);
                self.write(&done.record, None)?;
                n_done += 1;
                n_slips += done.n_slips.iter().sum::<usize>();
                match &done.ending {
                    Some(Ending::Finished(payoffs)) => {
                        sums.iter_mut().zip(payoffs).for_each(|(sum, payoff)| *sum += payoff);
                    }
                    _ => n_faults += 1,
                }
            }
            Ok(())
        })?;
        let n_finished = n_done - n_faults;
        let means: Vec<f64> = sums.iter().map(|sum| sum / f64::from(n_finished.max(1))).collect();
        let seconds = began.elapsed().as_secs_f64();
        if self.args.json {
            say!(
                "{}",
                json!({"type": "summary", "matches": n_done, "finished": n_finished, "mean_goals": means,
                       "substituted": n_slips, "seconds": seconds})
            );
        } else {
            let goals = self.shape.players().map(|role| {
                format!("{} {:.1}", self.shape.role_names[role.index()], means[role.index()])
            });
            say!(
                "{} of {n_done} matches finished in {seconds:.1} s: {}; {n_slips} moves were substituted",
                n_finished,
                goals.collect::<Vec<_>>().join(", ")
            );
        }
        if n_faults > 0 {
            Err(Failure::wrong(format!("{n_faults} matches were not finished")))
        } else {
            Ok(())
        }
    }

    /// Plays matches at a table until there are no more.
    fn serve(&self, table: usize, players: &[Spec], done: &Sender<Result<Done, Failure>>) {
        // By role: in how many matches in a row it did nothing right.
        let mut n_hopeless = vec![0; self.shape.role_names.len()];
        loop {
            if let Some(role) = n_hopeless.iter().position(|&n| n >= self.args.disable_after.max(1))
            {
                let name = &self.shape.role_names[role];
                remark!(
                    "table {} is closed: its player of {name} has not made a move of its own for {} matches",
                    table + 1,
                    n_hopeless[role]
                );
                return;
            }
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.n_matches || self.hosting.is_aborted.load(Ordering::Relaxed) {
                return;
            }
            let result = self.contest(players.to_vec(), number).and_then(|contest| {
                let began = Instant::now();
                let mut pace = Pace::new(self.args);
                let game = contest.play(self.opening.clone(), &mut |game, event| {
                    if matches!(event, Event::Step(_)) && !game.is_over() {
                        pace.keep();
                    }
                })?;
                Ok(Done {
                    number,
                    table,
                    record: contest.record(&game),
                    n_slips: slips(&game),
                    ending: game.ending().cloned(),
                    seconds: began.elapsed().as_secs_f64(),
                })
            });
            if let Ok(done) = &result {
                let n_asked =
                    done.record.moves.len() - self.opening.len().min(done.record.moves.len());
                for (n, n_slips) in n_hopeless.iter_mut().zip(&done.n_slips) {
                    *n = if n_asked > 0 && *n_slips >= n_asked { *n + 1 } else { 0 };
                }
            }
            if done.send(result).is_err() {
                return;
            }
        }
    }

    fn show(&self, done: &Done) {
        let Done { number, table, record, ending, n_slips, seconds } = done;
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
                json!({"type": "result", "match": record.match_id, "number": number, "table": table, "ending": word,
                       "steps": n_steps, "goals": record.goal_values, "errors": n_slips, "seconds": seconds})
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
        let substituted: usize = n_slips.iter().sum();
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
        let failed = |path: &Path, error: std::io::Error| {
            Failure::unreadable(format!("cannot write {}: {error}", path.display()))
        };
        let put = |path: &Path, text: String| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            folder
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(path, text))
                .map_err(|e| failed(path, e))
        };
        if let Some(path) = &self.args.record {
            let path = match file {
                Some(file) => file.to_owned(),
                None => path.join(format!("{}.json", record.match_id)),
            };
            put(&path, format!("{}\n", record.to_json()))?;
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

/// By role: how many moves were made in its place.
fn slips(game: &Match) -> Vec<usize> {
    let is_slip = |slip: &Option<Slip>| slip.is_some();
    game.shape()
        .roles()
        .map(|role| game.steps().iter().filter(|step| is_slip(&step.slips[role.index()])).count())
        .collect()
}

/// Makes every step last as long as the clock.
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

    fn keep(&mut self) {
        if let Some(each) = self.each {
            std::thread::sleep(each.saturating_sub(self.last.elapsed()));
        }
        self.last = Instant::now();
    }
}
