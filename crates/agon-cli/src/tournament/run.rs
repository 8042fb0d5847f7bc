//! Plays the remaining matches of a tournament, several at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use agon::tournament::{Attempt, Need, PlannedGame, PlayedMatch, TournamentPlan};
use agon_match::tournament::{Decision, Fixture, Outcome, SprtState, Tournament};
use indicatif::ProgressBar;

use super::cores::Cores;
use super::store::Store;
use crate::failure::Failure;
use crate::hosted_match::HostedMatch;
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
    plan: &Arc<TournamentPlan>,
    store: &mut Store,
    outcomes: &mut [Option<Outcome>],
    options: &RunOptions,
    is_interrupted: &Arc<AtomicBool>,
) -> Result<Ended, Failure> {
    let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut cores =
        Cores::new(options.cores.unwrap_or(n_processors), options.jobs.unwrap_or(MAX_JOBS));
    let mut progress = Progress::new(plan, outcomes, options);
    let left = plan.fixtures().iter().enumerate().filter(|(at, _)| outcomes[*at].is_none());
    let mut waiting: Vec<(usize, Need)> =
        left.map(|(at, fixture)| (at, plan.need(fixture, n_processors))).collect();
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

fn decided(
    plan: &TournamentPlan,
    outcomes: &[Option<Outcome>],
    progress: &Progress,
) -> Option<Decision> {
    let state = plan.sprt_state(outcomes)?;
    progress.show_test(&state);
    state.decision
}

/// The fixture, its resources, and its result: `None` if the match was aborted.
type Report = (usize, Need, Result<Option<PlayedMatch>, Failure>);

/// Starts all matches for which there are resources, in order. A match that waits for a busy player
/// lets later matches go first. A match that waits for processors does not, because it would
/// starve.
fn start(
    plan: &Arc<TournamentPlan>,
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
        let name = plan.fixtures()[fixture].id.to_string();
        let work = move || {
            let this = &plan.fixtures()[fixture];
            let game = &plan.games()[this.game];
            let played = catch_unwind(AssertUnwindSafe(|| {
                play(plan.tournament(), game, this, &is_interrupted)
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
    game: &PlannedGame,
    fixture: &Fixture,
    is_aborted: &Arc<AtomicBool>,
) -> Result<Option<PlayedMatch>, Failure> {
    let attempt = Attempt::new(tournament, game, fixture, clock::now(), is_aborted)?;
    let hosted = HostedMatch::from_setup(attempt.setup.clone());
    let mut warn = |warning: &str| remark!("{warning}");
    let played = attempt.play(&hosted, clock::token(32), &clock::now, &mut warn);
    let played = played.map_err(|error| {
        let failure = Failure::from(error);
        let message = format!(
            "the match {} of {} could not be played: {}",
            fixture.id, tournament.games[fixture.game], failure.message
        );
        Failure { message, ..failure }
    })?;
    Ok(played.map(|(played, _)| played))
}

/// Shows the progress: a bar on a terminal, otherwise one line for each match.
struct Progress {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    n_done: usize,
    n_matches: usize,
}

impl Progress {
    fn new(plan: &TournamentPlan, outcomes: &[Option<Outcome>], options: &RunOptions) -> Progress {
        let (n_done, n_matches) = (outcomes.iter().flatten().count(), plan.fixtures().len());
        let bar = (terminal::stderr_is_terminal() && !options.quiet).then(|| {
            let bar = terminal::progress(n_matches as u64, "matches");
            // The estimate of the remaining time uses only the matches of this run.
            bar.set_position(n_done as u64);
            bar.reset_eta();
            bar
        });
        Progress { bar, is_quiet: options.quiet, n_done, n_matches }
    }

    fn show(&mut self, played: &PlayedMatch) {
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
