//! Plays the remaining matches of a tournament, several at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use agon_match::tournament::{
    Decision, Fixture, Outcome, SprtState, Tournament, opening, sprt_state,
};
use agon_match::{Ending, Match};
use indicatif::ProgressBar;

use super::cores::{Cores, Need};
use super::plan::{OpenedGame, Plan};
use super::spec_of;
use super::store::{Played, Store};
use crate::failure::Failure;
use crate::hosted_match::{ClockOptions, HostedMatch};
use crate::terminal::remark;
use crate::{clock, terminal};

/// How a tournament is run. With a budget of iterations, none of these options changes a result.
pub(crate) struct RunOptions {
    /// Number of processors to use. `None`: all.
    pub(crate) cores: Option<usize>,
    /// Maximum number of matches at the same time. `None`: as many as the processors allow.
    pub(crate) jobs: Option<usize>,
    /// Whether nothing is printed while matches are played.
    pub(crate) quiet: bool,
}

/// How a run ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// All matches are played.
    Complete,
    /// The sequential test has decided.
    Decided(Decision),
    /// The user has interrupted the run.
    Interrupted,
}

/// How long running matches may take to stop their players after an interrupt.
const STOP_TIME: Duration = Duration::from_secs(5);

/// Time between two checks for an interrupt.
const POLL_TIME: Duration = Duration::from_millis(50);

/// Maximum number of matches at the same time, for matches that need no processor of this machine.
const MAX_JOBS: usize = 64;

/// Plays every match without an outcome. Each is stored and added to `outcomes` when it ends.
pub(crate) fn run(
    plan: &Arc<Plan>,
    store: &mut Store,
    outcomes: &mut [Option<Outcome>],
    options: &RunOptions,
    is_interrupted: &Arc<AtomicBool>,
) -> Result<Ended, Failure> {
    let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut cores =
        Cores::new(options.cores.unwrap_or(n_processors), options.jobs.unwrap_or(MAX_JOBS));
    let tournament = &plan.tournament;
    let mut progress = Progress::new(plan, outcomes, options);
    let mut waiting: Vec<(usize, Need)> = Vec::new();
    for (at, fixture) in
        plan.schedule.fixtures.iter().enumerate().filter(|(at, _)| outcomes[*at].is_none())
    {
        let seated: Vec<_> =
            fixture.seating.iter().map(|player| &tournament.players[*player]).collect();
        let shape = &plan.games[fixture.game].shape;
        waiting.push((at, Need::of(&seated, shape, &tournament.thinking, n_processors)));
    }
    // Matches are taken from the end.
    waiting.reverse();
    let (sender, ended) = channel();
    let mut failure = None;
    let mut verdict = decided(plan, outcomes, &progress);
    let mut stop_deadline: Option<Instant> = None;
    loop {
        if is_interrupted.load(Ordering::Relaxed) {
            stop_deadline.get_or_insert_with(|| Instant::now() + STOP_TIME);
        } else if verdict.is_none() && failure.is_none() {
            start(plan, &mut waiting, &mut cores, &sender, is_interrupted)?;
        }
        if cores.is_idle() || stop_deadline.is_some_and(|until| until <= Instant::now()) {
            break;
        }
        let (at, need, result): Report = match ended.recv_timeout(POLL_TIME) {
            Ok(ended) => ended,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => unreachable!("this function holds a sender"),
        };
        cores.give_back(&need);
        match result {
            Ok(Some(played)) => {
                store.save(&played)?;
                progress.show(&played);
                outcomes[at] = Some(played.outcome);
                verdict = verdict.or_else(|| decided(plan, outcomes, &progress));
            }
            // Aborted: the match is played again in the next run.
            Ok(None) => {}
            Err(why) => failure = failure.or(Some(why)),
        }
    }
    progress.finish();
    match (failure, verdict) {
        (Some(failure), _) => Err(failure),
        (None, _) if stop_deadline.is_some() => Ok(Ended::Interrupted),
        (None, Some(decision)) => Ok(Ended::Decided(decision)),
        (None, None) => Ok(Ended::Complete),
    }
}

fn decided(plan: &Plan, outcomes: &[Option<Outcome>], progress: &Progress) -> Option<Decision> {
    let state = sprt_state(&plan.tournament, &plan.schedule, outcomes)?;
    progress.show_test(&state);
    state.decision
}

/// The fixture, its resources, and its result: `None` if the match was aborted.
type Report = (usize, Need, Result<Option<Played>, Failure>);

/// Starts all matches for which there are resources, in order. A match that waits for a busy player
/// lets later matches go first. A match that waits for processors does not, because it would
/// starve.
fn start(
    plan: &Arc<Plan>,
    waiting: &mut Vec<(usize, Need)>,
    cores: &mut Cores,
    sender: &Sender<Report>,
    is_interrupted: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let mut at = waiting.len();
    while at > 0 {
        at -= 1;
        if !cores.are_players_free(&waiting[at].1) {
            continue;
        }
        if !cores.take(&waiting[at].1) {
            return Ok(());
        }
        let (fixture, need) = waiting.remove(at);
        let (plan, sender, is_interrupted) =
            (Arc::clone(plan), sender.clone(), Arc::clone(is_interrupted));
        let name = plan.schedule.fixtures[fixture].id.to_string();
        let work = move || {
            let this = &plan.schedule.fixtures[fixture];
            let game = &plan.games[this.game];
            let played = catch_unwind(AssertUnwindSafe(|| {
                play(&plan.tournament, game, this, &is_interrupted)
            }));
            let played = played.unwrap_or_else(|_| {
                Err(Failure::wrong(format!(
                    "the match {} could not be played: it panicked",
                    this.id
                )))
            });
            let _ = sender.send((fixture, need, played));
        };
        std::thread::Builder::new()
            .name(name)
            .spawn(work)
            .map_err(|error| Failure::unreadable(format!("cannot start a match: {error}")))?;
    }
    Ok(())
}

/// Plays one match. Returns `None` if it was aborted.
pub(super) fn play(
    tournament: &Tournament,
    game: &OpenedGame,
    fixture: &Fixture,
    is_aborted: &Arc<AtomicBool>,
) -> Result<Option<Played>, Failure> {
    let moves = opening(game.opened.table().as_ref(), tournament.openings, fixture.opening_seed);
    let names: Vec<String> =
        fixture.seating.iter().map(|player| tournament.players[*player].name.clone()).collect();
    let specs =
        fixture.seating.iter().map(|player| spec_of(&tournament.players[*player])).collect();
    let game_name = &tournament.games[fixture.game];
    let mut hosted =
        HostedMatch::new(game.opened.clone(), specs, &clocks(tournament, fixture.seed))?;
    // Each attempt has its own name, because players over HTTP may know of an aborted attempt.
    let began = clock::now();
    hosted.setup.id = format!("agon.{}.{began}", fixture.id);
    hosted.setup.is_aborted = Arc::clone(is_aborted);
    let since = Instant::now();
    let finished = hosted.play(moves.clone(), &mut |_, _| {}).map_err(|failure| Failure {
        message: format!(
            "the match {} of {game_name} could not be played: {}",
            fixture.id, failure.message
        ),
        ..failure
    })?;
    if matches!(finished.ending(), None | Some(Ending::Aborted)) {
        return Ok(None);
    }
    let seconds = since.elapsed().as_secs_f64();
    let mut record = hosted.record(&finished);
    let roles: Vec<usize> = finished.shape().players().map(agon_game::Role::index).collect();
    for (role, name) in roles.iter().zip(&names) {
        record.player_names[*role].clone_from(name);
    }
    Ok(Some(Played {
        id: fixture.id.to_string(),
        game: game_name.clone(),
        repeat: fixture.repeat,
        players: names,
        seed: fixture.seed,
        opening: moves,
        status: status(&finished).to_owned(),
        began,
        outcome: outcome(&finished, &roles, seconds),
        record: record.to_json().to_string(),
    }))
}

fn clocks(tournament: &Tournament, seed: u64) -> ClockOptions {
    let thinking = &tournament.thinking;
    ClockOptions {
        start_clock: thinking.start_clock,
        play_clock: thinking.play_clock,
        margin: thinking.margin,
        iterations: thinking.iterations,
        seed,
        max_steps: tournament.max_steps,
        ponder: thinking.ponder,
    }
}

fn status(game: &Match) -> &'static str {
    match game.ending() {
        Some(Ending::Finished(_)) => "finished",
        Some(Ending::Fault(_)) => "fault",
        Some(Ending::TooLong) => "too-long",
        Some(Ending::Stopped(_) | Ending::Aborted) | None => "stopped",
    }
}

fn outcome(game: &Match, roles: &[usize], seconds: f64) -> Outcome {
    let goals = match game.ending() {
        Some(Ending::Finished(payoffs)) => Some(roles.iter().map(|role| payoffs[*role]).collect()),
        Some(Ending::Fault(_) | Ending::TooLong | Ending::Stopped(_) | Ending::Aborted) | None => {
            None
        }
    };
    let n_errors = |role: &usize| {
        let in_play = game.steps().iter().filter(|step| step.errors[*role].is_some()).count();
        in_play + usize::from(!game.start_errors()[*role].is_empty())
    };
    Outcome {
        goals,
        n_steps: game.steps().len(),
        n_errors: roles.iter().map(n_errors).collect(),
        seconds,
    }
}

/// Shows the progress: a bar on a terminal, otherwise one line for each match.
struct Progress {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    n_done: usize,
    n_matches: usize,
}

impl Progress {
    fn new(plan: &Plan, outcomes: &[Option<Outcome>], options: &RunOptions) -> Progress {
        let (n_done, n_matches) = (outcomes.iter().flatten().count(), plan.schedule.fixtures.len());
        let bar = (terminal::stderr_is_terminal() && !options.quiet).then(|| {
            let bar = terminal::progress(n_matches as u64, "matches");
            // The estimate of the remaining time uses only the matches of this run.
            bar.set_position(n_done as u64);
            bar.reset_eta();
            bar
        });
        Progress { bar, is_quiet: options.quiet, n_done, n_matches }
    }

    fn show(&mut self, played: &Played) {
        self.n_done += 1;
        let result = match &played.outcome.goals {
            Some(goals) => {
                let results = played
                    .players
                    .iter()
                    .zip(goals)
                    .map(|(player, goal)| format!("{player} {goal}"));
                results.collect::<Vec<_>>().join(", ")
            }
            None => format!("{}: {}", played.players.join(", "), played.status),
        };
        let n_errors: usize = played.outcome.n_errors.iter().sum();
        let errors = if n_errors > 0 { format!(", {n_errors} move errors") } else { String::new() };
        let line = format!(
            "{} {}: {result} ({} steps{errors}, {:.2} s)",
            played.id, played.game, played.outcome.n_steps, played.outcome.seconds
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.n_done as u64);
                if n_errors > 0 || played.outcome.goals.is_none() {
                    bar.println(line);
                }
            }
            None if self.is_quiet => {}
            None => remark!("[{}/{}] {line}", self.n_done, self.n_matches),
        }
    }

    fn show_test(&self, state: &SprtState) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!(
                "matches, LLR {:.2} of [{:.2}, {:.2}]",
                state.llr, state.lower, state.upper
            ));
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
