//! Plays what is left of a tournament, several matches at once.

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
use super::store::{Played, Store};
use crate::contest::{ClockOptions, Contest, Laid};
use crate::failure::Failure;
use crate::terminal::remark;
use crate::{clock, terminal};

/// How a tournament is run; nothing of it changes a result under iterations.
pub(crate) struct RunOptions {
    /// Processors that may be kept busy; none: all there are.
    pub(crate) cores: Option<usize>,
    /// Matches at once; none: as many as the processors allow.
    pub(crate) jobs: Option<usize>,
    /// Whether nothing is told while matches are played.
    pub(crate) quiet: bool,
}

/// How a run ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Everything is played.
    Complete,
    /// The test has decided.
    Decided(Decision),
    /// The user has had enough.
    Interrupted,
}

/// How long matches under way may take to tell their players that it is over.
const GOODBYE: Duration = Duration::from_secs(5);

/// How often is looked whether the user has had enough.
const GLANCE: Duration = Duration::from_millis(50);

/// With players elsewhere only, no processor says how many matches at once are too many.
const MAX_JOBS: usize = 64;

/// Plays every match that has no outcome yet. Each is stored and put among the outcomes when it ends.
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
    // The next one is taken from the end.
    waiting.reverse();
    let (sender, ended) = channel();
    let mut failure = None;
    let mut verdict = decided(plan, outcomes, &progress);
    let mut patience: Option<Instant> = None;
    loop {
        if is_interrupted.load(Ordering::Relaxed) {
            patience.get_or_insert_with(|| Instant::now() + GOODBYE);
        } else if verdict.is_none() && failure.is_none() {
            start(plan, &mut waiting, &mut cores, &sender, is_interrupted)?;
        }
        if cores.is_idle() || patience.is_some_and(|until| until <= Instant::now()) {
            break;
        }
        let (at, need, result): Report = match ended.recv_timeout(GLANCE) {
            Ok(ended) => ended,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
        };
        cores.give_back(&need);
        match result {
            Ok(Some(played)) => {
                store.save(&played)?;
                progress.told(&played);
                outcomes[at] = Some(played.outcome);
                verdict = verdict.or_else(|| decided(plan, outcomes, &progress));
            }
            // Broken off: it is played anew another time.
            Ok(None) => {}
            Err(why) => failure = failure.or(Some(why)),
        }
    }
    progress.finish();
    match (failure, verdict) {
        (Some(failure), _) => Err(failure),
        (None, _) if patience.is_some() => Ok(Ended::Interrupted),
        (None, Some(decision)) => Ok(Ended::Decided(decision)),
        (None, None) => Ok(Ended::Complete),
    }
}

fn decided(plan: &Plan, outcomes: &[Option<Outcome>], progress: &Progress) -> Option<Decision> {
    let state = sprt_state(&plan.tournament, &plan.schedule, outcomes)?;
    progress.test(&state);
    state.decision
}

/// The fixture, what it needed, and what came of it: nothing if it was broken off.
type Report = (usize, Need, Result<Option<Played>, Failure>);

/// Starts what there is room for, in order. A match only lets others pass if it waits for a player that is busy elsewhere: if it
/// waits for processors, others would keep taking them.
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
                    "the match {} could not be played: it fell over",
                    this.id
                )))
            });
            let _ = sender.send((fixture, need, played));
        };
        std::thread::Builder::new()
            .name(name)
            .spawn(work)
            .map_err(|error| Failure::unreadable(format!("no match can be begun: {error}")))?;
    }
    Ok(())
}

/// Plays one match; nothing comes of it if it is broken off.
pub(super) fn play(
    tournament: &Tournament,
    game: &OpenedGame,
    fixture: &Fixture,
    is_aborted: &Arc<AtomicBool>,
) -> Result<Option<Played>, Failure> {
    let moves = opening(game.opened.run(Laid).as_ref(), tournament.openings, fixture.opening_seed);
    let names: Vec<String> =
        fixture.seating.iter().map(|player| tournament.players[*player].name.clone()).collect();
    let specs =
        fixture.seating.iter().map(|player| tournament.players[*player].spec.clone()).collect();
    let game_name = &tournament.games[fixture.game];
    let mut contest =
        Contest::new(game.opened.clone(), game_name, specs, clocks(tournament, fixture.seed))?;
    // A player elsewhere may have heard of this match before, if it was broken off: each attempt has a name of its own.
    let began = clock::now();
    contest.id = format!("agon.{}.{began}", fixture.id);
    contest.hosting.is_aborted = Arc::clone(is_aborted);
    let since = Instant::now();
    let told = contest.play(moves.clone(), &mut |_, _| {}).map_err(|failure| Failure {
        message: format!(
            "the match {} of {game_name} could not be played: {}",
            fixture.id, failure.message
        ),
        ..failure
    })?;
    if matches!(told.ending(), None | Some(Ending::Aborted)) {
        return Ok(None);
    }
    let seconds = since.elapsed().as_secs_f64();
    let mut record = contest.record(&told);
    let roles: Vec<usize> = told.shape().players().map(agon_game::Role::index).collect();
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
        status: status(&told).to_owned(),
        began,
        outcome: outcome(&told, &roles, seconds),
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
    let slips = |role: &usize| {
        let in_play = game.steps().iter().filter(|step| step.slips[*role].is_some()).count();
        in_play + usize::from(!game.start_errors()[*role].is_empty())
    };
    Outcome {
        goals,
        n_steps: game.steps().len(),
        slips: roles.iter().map(slips).collect(),
        seconds,
    }
}

/// Tells how far it is: a bar on a terminal, a line for each match in a pipe.
struct Progress {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    n_done: usize,
    n_matches: usize,
}

impl Progress {
    fn new(plan: &Plan, outcomes: &[Option<Outcome>], options: &RunOptions) -> Progress {
        let (n_done, n_matches) = (outcomes.iter().flatten().count(), plan.schedule.fixtures.len());
        let bar = (terminal::is_watched() && !options.quiet).then(|| {
            let bar = terminal::progress(n_matches as u64, "matches");
            // The time that is left is told by what is played now, not by what was there.
            bar.set_position(n_done as u64);
            bar.reset_eta();
            bar
        });
        Progress { bar, is_quiet: options.quiet, n_done, n_matches }
    }

    fn told(&mut self, played: &Played) {
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
        let n_slips: usize = played.outcome.slips.iter().sum();
        let slips = if n_slips > 0 { format!(", {n_slips} slips") } else { String::new() };
        let line = format!(
            "{} {}: {result} ({} steps{slips}, {:.2} s)",
            played.id, played.game, played.outcome.n_steps, played.outcome.seconds
        );
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.n_done as u64);
                if n_slips > 0 || played.outcome.goals.is_none() {
                    bar.println(line);
                }
            }
            None if self.is_quiet => {}
            None => remark!("[{}/{}] {line}", self.n_done, self.n_matches),
        }
    }

    fn test(&self, state: &SprtState) {
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
