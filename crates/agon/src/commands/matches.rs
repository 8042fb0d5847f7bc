//! `agon match`: one match between players of any kind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_game::{Role, Shape};
use agon_match::{Choice, Ending, Event, Lapse, Match, SpecKind, Step, Thought};
use serde_json::{Map, Value, json};

use crate::contest::{self, ClockOptions, Contest};
use crate::failure::{Failure, describe};
use crate::open::{self, PlayOptions};
use crate::picture;
use crate::terminal::{self, remark, say};

/// Play one match and show it.
#[derive(clap::Args)]
#[command(after_help = "\
Players are given in the order of the roles; `agon players` lists them with their options. Roles beyond the players
given are played by `auto`. A move that is late or illegal is replaced by a random one and the match goes on.

Examples:
  agon match tic-tac-toe --players greedy,random
  agon match connect-four --players \"mcts(rave,mast,c=0.3),alphabeta(playouts=16)\" --play-clock 1
  agon match connect-four --players \"auto,cmd:python3 examples/random_bot.py\" --play-clock 2
  agon match breakthrough --players auto,http://localhost:9147 --record match.json
  agon match kuhn-poker --iterations 100 --seed 7 --json")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet
    game: String,
    /// The players, with commas between them
    #[arg(long, value_name = "A,B,…", default_value = "")]
    players: String,
    #[command(flatten)]
    clocks: ClockOptions,
    /// Write the match down in ggp.org's format
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// One JSON object per line: the start, each step, the result
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let specs = match args.players.trim() {
        "" => Vec::new(),
        text => contest::specs("--players", text)?,
    };
    let n_given = specs.len();
    let opened = open::open_for_match(
        open::source(&args.game)?,
        &args.play,
        args.clocks.iterations.is_some(),
    )?;
    let mut contest = Contest::new(opened, &args.game, specs, args.clocks.clone())?;
    let shape = contest.shape();
    let has_human = contest.players.iter().any(|(_, spec)| spec.kind == SpecKind::Human);
    if !args.json {
        contest.look_for_board();
    }
    if contest.players.len() > n_given {
        let left = contest.players[n_given..].iter();
        let names: Vec<&str> =
            left.map(|(role, _)| shape.role_names[role.index()].as_str()).collect();
        remark!("no player was given for {}: played by auto", names.join(", "));
    }
    let mut teller: Box<dyn Teller> = if args.json {
        Box::new(Lines::new(&contest, &shape))
    } else {
        // Where a person plays without knowing all, the whole position is not for the same screen.
        let is_secret = has_human && shape.hidden;
        Box::new(Screen::new(&contest, &shape, is_secret))
    };
    let game = contest.play(Vec::new(), &mut |game, event| teller.tell(game, event))?;
    if let Some(path) = &args.record {
        write_record(&contest, &game, path)?;
    }
    end(&game)
}

/// Writes a match down.
pub(super) fn write_record(contest: &Contest, game: &Match, path: &Path) -> Result<(), Failure> {
    let text = format!("{}\n", contest.record(game).to_json());
    std::fs::write(path, text)
        .map_err(|error| Failure::unreadable(format!("cannot write {}: {error}", path.display())))
}

/// How the command ends.
pub(super) fn end(game: &Match) -> Result<(), Failure> {
    match game.ending() {
        Some(Ending::Fault(fault)) => {
            let why = describe(fault, game.shape());
            Err(Failure::wrong(format!("the match could not be played on: {why}")))
        }
        Some(Ending::TooLong) => Err(Failure::wrong(format!(
            "the match was broken off after {} steps",
            game.steps().len()
        ))),
        Some(Ending::Aborted) => Err(Failure::wrong("the match was broken off")),
        Some(Ending::Finished(_) | Ending::Stopped(_)) | None => Ok(()),
    }
}

/// Tells others what happens in a match.
pub(super) trait Teller {
    fn tell(&mut self, game: &Match, event: Event<'_>);
}

/// For people.
pub(super) struct Screen<'a> {
    contest: &'a Contest,
    shape: &'a Shape,
    is_secret: bool,
    /// What the players said in this step.
    thoughts: Vec<(Role, String)>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(contest: &'a Contest, shape: &'a Shape, is_secret: bool) -> Screen<'a> {
        let vs: Vec<String> = shape
            .players()
            .map(|role| {
                format!("{} {}", shape.role_names[role.index()], contest.player_name(role, shape))
            })
            .collect();
        say!("{}: {}", terminal::bold(&contest.game_name), vs.join(", "));
        if let Some(board) = contest.board.as_ref().filter(|_| !is_secret) {
            picture::show_legend(board);
        }
        Screen { contest, shape, is_secret, thoughts: Vec::new() }
    }

    pub(super) fn tell(&mut self, game: &Match, event: Event<'_>) {
        let name = |role: Role| &self.shape.role_names[role.index()];
        match event {
            Event::Ready(role, Some(lapse)) => {
                say!("{}", terminal::red(&format!("{} is not ready: {lapse}", name(role))));
            }
            Event::Ready(_, None) => {}
            Event::Overdue(role) => {
                self.thoughts.push((
                    role,
                    "did not come back in time: its best move so far is made".to_owned(),
                ));
            }
            Event::Chosen(role, Ok(Choice { thought: Some(thought), .. }), took) => {
                self.thoughts.extend(opinion(thought, took).map(|text| (role, text)));
            }
            Event::Chosen(_, Ok(Choice { thought: None, .. }) | Err(_), _) => {}
            Event::Step(step) => self.show_step(game, step),
            Event::Over => self.show_end(game),
        }
    }

    fn show_step(&mut self, game: &Match, step: &Step) {
        // Players answer in any order; what is shown has that of the roles.
        let mut thoughts = std::mem::take(&mut self.thoughts);
        thoughts.sort();
        if self.is_secret {
            return;
        }
        let number = game.steps().len();
        let moves = self.shape.roles().map(|role| {
            format!(
                "{} {}",
                self.shape.role_names[role.index()],
                terminal::bold(&step.joint[role.index()])
            )
        });
        say!("\n{} {}", terminal::dim(&format!("{number}.")), moves.collect::<Vec<_>>().join(", "));
        for role in self.shape.roles() {
            if let Some(slip) = &step.slips[role.index()] {
                let name = &self.shape.role_names[role.index()];
                say!(
                    "  {}",
                    terminal::red(&format!("{name}: {slip}; the move was drawn at random"))
                );
            }
        }
        for (role, text) in thoughts {
            say!(
                "  {}",
                terminal::dim(&format!("{}: {text}", self.shape.role_names[role.index()]))
            );
        }
        let states = game.states();
        picture::show(self.contest.board.as_deref(), &states[number], Some(&states[number - 1]));
    }

    fn show_end(&self, game: &Match) {
        say!("");
        let n_steps = game.steps().len();
        let word = if n_steps == 1 { "step" } else { "steps" };
        match game.ending() {
            Some(Ending::Finished(payoffs)) => {
                let result = self.shape.players().map(|role| {
                    format!("{} {}", self.shape.role_names[role.index()], payoffs[role.index()])
                });
                say!(
                    "{} after {n_steps} {word}: {}",
                    terminal::bold("result"),
                    result.collect::<Vec<_>>().join(", ")
                );
            }
            Some(Ending::Stopped(role)) => {
                say!("stopped by {} after {n_steps} {word}", self.shape.role_names[role.index()]);
            }
            Some(Ending::Fault(_) | Ending::TooLong | Ending::Aborted) | None => {}
        }
        for role in self.shape.players() {
            let slips = game.steps().iter().filter_map(|step| step.slips[role.index()].as_ref());
            let n_slips =
                slips.filter(|slip| **slip != agon_match::Slip::Lapse(Lapse::Stop)).count();
            if n_slips > 0 {
                let name = &self.shape.role_names[role.index()];
                say!(
                    "{}",
                    terminal::red(&format!("{n_slips} moves of {name} were drawn at random"))
                );
            }
        }
    }
}

impl Teller for Screen<'_> {
    fn tell(&mut self, game: &Match, event: Event<'_>) {
        Screen::tell(self, game, event);
    }
}

/// A thought in a line; none if there is nothing in it.
fn opinion(thought: &Thought, took: Duration) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(value) = thought.value {
        let proved = if thought.is_proven { " for certain" } else { "" };
        parts.push(format!("expects {value:.1}{proved}"));
    }
    let considered = thought.considered.iter().take(3).map(|c| {
        let proved = if c.is_proven { "!" } else { "" };
        format!("{} {:.1}{proved} ({})", c.text, c.value, c.visits)
    });
    let considered: Vec<String> = considered.collect();
    if !considered.is_empty() {
        parts.push(considered.join(", "));
    }
    if let Some(joints) =
        thought.line.get(..thought.line.len().min(4)).filter(|line| !line.is_empty())
    {
        let line: Vec<String> = joints.iter().map(|joint| joint.join(" ")).collect();
        parts.push(format!("then {}", line.join(" | ")));
    }
    if parts.is_empty() {
        return None;
    }
    if thought.nodes > 0 {
        parts.push(format!("{} positions to depth {}", thought.nodes, thought.depth));
    }
    if let Some(rate) = thought.playouts_per_second() {
        parts.push(format!("{} playouts, {rate:.0}/s", thought.playouts));
    }
    parts.push(format!("{:.2} s", took.as_secs_f64()));
    Some(parts.join("; "))
}

/// For programs.
pub(super) struct Lines<'a> {
    shape: &'a Shape,
    /// Without times the same match is the same text.
    has_times: bool,
    thoughts: Map<String, Value>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(contest: &Contest, shape: &'a Shape) -> Lines<'a> {
        let players: Vec<Value> = shape
            .players()
            .map(|role| json!({"role": shape.role_names[role.index()], "player": contest.player_name(role, shape)}))
            .collect();
        let has_times = contest.options.iterations.is_none();
        let mut start = json!({
            "type": "start", "game": contest.game_name, "roles": shape.role_names, "players": players,
            "seed": contest.options.seed, "engine": contest.opened.engine(),
            "state": contest.opened.run(contest::Laid).state(),
        });
        match contest.options.iterations {
            Some(n) => start["iterations"] = json!(n),
            None => {
                start["match"] = json!(contest.id);
                start["start_clock"] = json!(contest.options.start_clock);
                start["play_clock"] = json!(contest.options.play_clock);
            }
        }
        say!("{start}");
        Lines { shape, has_times, thoughts: Map::new() }
    }

    fn errors<'e>(&self, errors: impl Iterator<Item = (Role, &'e dyn std::fmt::Display)>) -> Value {
        let named = errors.map(|(role, what)| {
            (self.shape.role_names[role.index()].clone(), json!(what.to_string()))
        });
        Value::Object(named.collect())
    }
}

impl Teller for Lines<'_> {
    fn tell(&mut self, game: &Match, event: Event<'_>) {
        match event {
            Event::Ready(role, Some(lapse)) => {
                let errors = self.errors([(role, lapse as &dyn std::fmt::Display)].into_iter());
                say!("{}", json!({"type": "not_ready", "errors": errors}));
            }
            Event::Ready(_, None) => {}
            Event::Overdue(role) => {
                self.thoughts
                    .insert(self.shape.role_names[role.index()].clone(), json!({"overdue": true}));
            }
            Event::Chosen(role, choice, took) => {
                let told =
                    self.thoughts.remove(&self.shape.role_names[role.index()]).unwrap_or(json!({}));
                let thought = choice.ok().and_then(|choice| choice.thought.as_ref());
                let mut thought = thought.map_or(told, Thought::to_json);
                if self.has_times {
                    thought["seconds"] = json!(took.as_secs_f64());
                    let rate = choice
                        .ok()
                        .and_then(|choice| choice.thought.as_ref()?.playouts_per_second());
                    if let Some(rate) = rate {
                        thought["playouts_per_s"] = json!(rate.round());
                    }
                }
                if thought.as_object().is_some_and(|fields| !fields.is_empty()) {
                    self.thoughts.insert(self.shape.role_names[role.index()].clone(), thought);
                }
            }
            Event::Step(step) => {
                let slips = self.shape.roles().filter_map(|role| {
                    step.slips[role.index()]
                        .as_ref()
                        .map(|slip| (role, slip as &dyn std::fmt::Display))
                });
                // Players answer in any order, so theirs is put into the order of the roles.
                let mut told = std::mem::take(&mut self.thoughts);
                let names = self.shape.role_names.iter();
                let thoughts: Map<String, Value> =
                    names.filter_map(|name| Some((name.clone(), told.remove(name)?))).collect();
                say!(
                    "{}",
                    json!({
                        "type": "step", "step": game.steps().len(), "moves": step.joint,
                        "errors": self.errors(slips), "thoughts": thoughts,
                        "state": game.states().last(),
                    })
                );
            }
            Event::Over => {
                let (ending, goals) = match game.ending() {
                    Some(Ending::Finished(payoffs)) => ("finished", json!(payoffs)),
                    Some(Ending::Fault(_)) => ("fault", Value::Null),
                    Some(Ending::TooLong) => ("too_long", Value::Null),
                    Some(Ending::Aborted) => ("aborted", Value::Null),
                    Some(Ending::Stopped(_)) | None => ("stopped", Value::Null),
                };
                let n_errors: Vec<usize> = self
                    .shape
                    .roles()
                    .map(|role| {
                        game.steps()
                            .iter()
                            .filter(|step| step.slips[role.index()].is_some())
                            .count()
                    })
                    .collect();
                say!(
                    "{}",
                    json!({"type": "result", "ending": ending, "steps": game.steps().len(), "goals": goals,
                           "errors": n_errors})
                );
            }
        }
    }
}
