//! Matches that the server hosts: a state machine around a running match, stored as it happens.
//!
//! A match is played by [`agon_match::run_match`] in a thread of its own. Taking back a move,
//! replacing a player and continuing after a restart are the same operation: the run is stopped,
//! and another one begins whose opening is the steps that remain. Each run has a number, its epoch;
//! what an earlier run still reports is ignored.

mod frames;
mod knowledge;
mod person;
mod seats;
mod setup;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};

use agon::Game;
use agon::match_setup::MatchSetup;
use agon_game::Family;
use agon_match::{Ending, Event, Match, MoveError, PlayerError, Step, find_move};
use agon_players::PlayerSource;
use serde_json::{Map, Value, json};

pub(crate) use frames::Frames;
pub(crate) use person::Word;
pub(crate) use setup::{Setup, player};
pub(crate) use view::{Theme, Viewer, touched};

use crate::answer::ApiError;
use crate::config::StartProgram;
use crate::library::Library;
use crate::lock;
use crate::secret::{is_same, now, secret};
use crate::store::{Store, StoredMatch, StoredStep};
use seats::Seats;

/// What all matches share.
pub(crate) struct Host {
    pub(crate) library: Arc<Library>,
    pub(crate) store: Arc<Store>,
    pub(crate) start_program: Option<Arc<StartProgram>>,
    /// Number of matches in which a computer thinks at the moment.
    pub(crate) n_thinking: AtomicUsize,
}

/// A match that the server hosts, being played or not.
pub(crate) struct Hosted {
    pub(crate) id: String,
    pub(crate) created: u64,
    host: Arc<Host>,
    state: Mutex<State>,
    /// Changes whenever something happens in the match.
    changed: tokio::sync::watch::Sender<u64>,
}

/// The changing part of a match.
struct State {
    setup: Setup,
    steps: Vec<StoredStep>,
    frames: Option<Frames>,
    /// `None` while the match is being played.
    ending: Option<Value>,
    /// By role: a person who is asked for a move.
    asked: BTreeMap<usize, Asked>,
    /// The roles of players that are thinking.
    thinking: BTreeSet<usize>,
    /// The roles of people that had a choice in this step.
    decided: BTreeSet<usize>,
    /// What players thought in this step, by role.
    thoughts: Map<String, Value>,
    /// The roles of people that want to take back.
    takeback: BTreeSet<usize>,
    warnings: Vec<String>,
    run: Option<Run>,
    epoch: u64,
    /// Answers to viewers since the last change, by viewer.
    cache: BTreeMap<String, Arc<str>>,
}

/// The moves that a person may choose from.
pub(crate) struct Offered {
    /// The legal moves. With real parameters they are a sample.
    pub(crate) legal: Vec<String>,
    /// The families of moves with real parameters.
    pub(crate) families: Vec<Family>,
}

/// A person who is asked for a move.
struct Asked {
    moves: Offered,
    since: u64,
    /// When the time is up, in milliseconds since 1970.
    deadline: Option<u64>,
}

/// A match that is being played.
struct Run {
    is_aborted: Arc<AtomicBool>,
    people: BTreeMap<usize, Sender<Word>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.is_aborted.store(true, Ordering::Relaxed);
    }
}

impl Hosted {
    /// Creates a match and stores it. It is not played before [`Hosted::start`].
    ///
    /// # Errors
    /// [`ApiError`] if it cannot be stored.
    pub(crate) fn create(
        host: &Arc<Host>,
        id: String,
        setup: Setup,
        steps: Vec<StoredStep>,
        ending: Option<Value>,
    ) -> Result<Arc<Hosted>, ApiError> {
        let stored = StoredMatch { id, setup: setup.to_json(), ending, created: now(), steps };
        host.store.save_match(&stored).map_err(ApiError::broken)?;
        Ok(Hosted::new(host, setup, stored))
    }

    /// Returns a stored match, or a sentence that says why it cannot be read.
    pub(crate) fn load(host: &Arc<Host>, stored: StoredMatch) -> Result<Arc<Hosted>, String> {
        let setup = Setup::from_json(&stored.setup)
            .ok_or_else(|| format!("the setup of match {} cannot be read", stored.id))?;
        Ok(Hosted::new(host, setup, stored))
    }

    fn new(host: &Arc<Host>, setup: Setup, stored: StoredMatch) -> Arc<Hosted> {
        let state = State {
            setup,
            steps: stored.steps,
            frames: None,
            ending: stored.ending,
            asked: BTreeMap::new(),
            thinking: BTreeSet::new(),
            decided: BTreeSet::new(),
            thoughts: Map::new(),
            takeback: BTreeSet::new(),
            warnings: Vec::new(),
            run: None,
            epoch: 0,
            cache: BTreeMap::new(),
        };
        Arc::new(Hosted {
            id: stored.id,
            created: stored.created,
            host: Arc::clone(host),
            state: Mutex::new(state),
            changed: tokio::sync::watch::Sender::new(1),
        })
    }

    /// Starts or continues the match.
    ///
    /// # Errors
    /// [`ApiError`] if a player cannot be made or the stored steps cannot be played.
    pub(crate) fn start(self: &Arc<Hosted>) -> Result<(), ApiError> {
        let game = self.game()?;
        let mut state = self.lock();
        if state.ending.is_some() {
            return Err(ApiError::conflict("the match has ended"));
        }
        state.frames(&game)?;
        state.epoch += 1;
        let (epoch, setup) = (state.epoch, state.setup.clone());
        let is_continued = !state.steps.is_empty();
        let opening: Vec<Vec<String>> = if is_continued {
            state.steps.iter().map(|step| step.joint.clone()).collect()
        } else {
            setup.opening.clone()
        };
        // Players may take long to be made, and viewers must not wait for that.
        drop(state);
        let limits = setup.limits(is_continued);
        let mut run =
            MatchSetup::new(game.clone(), setup.players.clone(), limits).map_err(ApiError::bad)?;
        run.id = format!("agon.{}.{}", setup.game, self.id);
        if !setup.is_clock_for_people {
            let people = run.players.iter().filter(|(_, spec)| spec.kind == PlayerSource::Human);
            run.unlimited = people.map(|(role, _)| *role).collect();
        }
        let seats = Seats::new(Arc::downgrade(self), &self.host, epoch);
        let seated = run.seat(&seats).map_err(ApiError::bad)?;
        let mut state = self.lock();
        if state.epoch != epoch {
            // Somebody else has started or ended the match meanwhile.
            return Ok(());
        }
        state.warnings.clone_from(&seated.warnings);
        let is_aborted = Arc::clone(&run.is_aborted);
        state.run = Some(Run { is_aborted, people: seats.into_people() });
        state.asked.clear();
        state.takeback.clear();
        let thinkers = computers(&game, &state.setup);
        self.set_thinking(&mut state, thinkers);
        drop(state);
        let hosted = Arc::clone(self);
        let spawned =
            std::thread::Builder::new().name(format!("match {}", self.id)).spawn(move || {
                run.play(seated, opening, &now, &mut |played, event| {
                    hosted.note(epoch, &game, played, event);
                });
            });
        self.bump();
        match spawned {
            Ok(_) => Ok(()),
            Err(error) => Err(ApiError::busy(format!("no thread is left: {error}"))),
        }
    }

    /// Returns the game, opened.
    pub(crate) fn game(&self) -> Result<Game, ApiError> {
        let (id, name, rules) = {
            let state = self.lock();
            let setup = &state.setup;
            (setup.game.clone(), setup.source_name.clone(), setup.rules.clone())
        };
        self.host.library.open_rules(&id, &name, &rules)
    }

    /// Notes an event of a run.
    fn note(&self, epoch: u64, game: &Game, played: &Match, event: Event<'_>) {
        let mut state = self.lock();
        if state.epoch != epoch {
            return;
        }
        match event {
            Event::Ready(role, error) => {
                // A player that is late to prepare plays all the same.
                if let Some(error) = error.filter(|error| **error != PlayerError::Late) {
                    let name = &played.shape().role_names[role.index()];
                    state.warnings.push(format!("{name}: {error}"));
                }
            }
            Event::Overdue(_) => return,
            Event::Chosen(role, chosen, took) => {
                state.asked.remove(&role.index());
                let mut thinking = state.thinking.clone();
                thinking.remove(&role.index());
                self.set_thinking(&mut state, thinking);
                if let Ok(choice) = chosen
                    && let Some(thought) = &choice.thought
                {
                    let mut thought = thought.to_json();
                    thought["seconds"] = json!(took.as_secs_f64());
                    state.thoughts.insert(role.index().to_string(), thought);
                }
            }
            Event::Step(step) => {
                if played.steps().len() <= state.steps.len() {
                    return;
                }
                if let Err(error) = self.keep_step(&mut state, game, step) {
                    state.warnings.push(error);
                    // The epoch is left, so that nothing more of this run counts.
                    state.epoch += 1;
                    state.run = None;
                    self.set_thinking(&mut state, BTreeSet::new());
                    let ending =
                        json!({"kind": "aborted", "text": "the match could not be stored"});
                    state.ending = Some(ending);
                } else if !played.is_over() {
                    let thinkers = computers(game, &state.setup);
                    self.set_thinking(&mut state, thinkers);
                }
            }
            Event::Over => {
                let ending = ending_json(played);
                self.end(&mut state, ending);
            }
        }
        drop(state);
        self.bump();
    }

    /// Stores a step and adds it to the match.
    fn keep_step(&self, state: &mut State, game: &Game, step: &Step) -> Result<(), String> {
        let code =
            |error: &Option<MoveError>| error.as_ref().map_or(String::new(), MoveError::code);
        let stored = StoredStep {
            joint: step.joint.clone(),
            errors: step.errors.iter().map(code).collect(),
            decided: std::mem::take(&mut state.decided).into_iter().collect(),
            thoughts: Value::Object(std::mem::take(&mut state.thoughts)),
            time: now(),
        };
        self.host.store.save_step(&self.id, state.steps.len(), &stored)?;
        if let Some(frames) = &mut state.frames {
            frames.push(&stored.joint)?;
        }
        state.steps.push(stored);
        state.asked.clear();
        state.takeback.clear();
        debug_assert!(state.frames(game).is_ok(), "a step that was made can be made again");
        Ok(())
    }

    fn end(&self, state: &mut State, ending: Value) {
        if let Err(error) = self.host.store.save_ending(&self.id, &ending) {
            state.warnings.push(format!("the ending could not be stored: {error}"));
        }
        state.ending = Some(ending);
        state.run = None;
        state.asked.clear();
        self.set_thinking(state, BTreeSet::new());
    }

    fn set_thinking(&self, state: &mut State, roles: BTreeSet<usize>) {
        match (state.thinking.is_empty(), roles.is_empty()) {
            (true, false) => {
                self.host.n_thinking.fetch_add(1, Ordering::Relaxed);
            }
            (false, true) => {
                self.host.n_thinking.fetch_sub(1, Ordering::Relaxed);
            }
            (true, true) | (false, false) => {}
        }
        state.thinking = roles;
    }

    /// Notes that a person is asked for a move.
    fn ask(&self, epoch: u64, role: usize, moves: Offered, deadline: Option<u64>) {
        let mut state = self.lock();
        if state.epoch != epoch {
            return;
        }
        state.decided.insert(role);
        state.asked.insert(role, Asked { moves, since: now(), deadline });
        drop(state);
        self.bump();
    }

    /// Passes the move of a person on. `step` is the number of steps that the person has seen, so
    /// that a move that was sent twice is not made twice.
    ///
    /// # Errors
    /// [`ApiError`] if the person is not asked, or the move is not legal.
    pub(crate) fn play(&self, role: usize, step: Option<u64>, text: &str) -> Result<(), ApiError> {
        let state = self.lock();
        if let Some(ending) = &state.ending {
            return Err(ApiError::conflict(format!("the match has ended: {}", ending["kind"])));
        }
        if step.is_some_and(|step| step != state.steps.len() as u64) {
            return Err(ApiError::conflict(format!(
                "the match has gone on: {} steps have been made",
                state.steps.len()
            )));
        }
        let Some(asked) = state.asked.get(&role) else {
            return Err(ApiError::conflict("it is not your turn"));
        };
        let listed = find_move(&asked.moves.legal, text).cloned();
        let in_family = || asked.moves.families.iter().any(|family| family.contains(text));
        let Some(found) = listed.or_else(|| in_family().then(|| text.to_owned())) else {
            let mistake = asked.moves.families.iter().find_map(|family| family.mistake(text));
            if let Some(mistake) = mistake {
                return Err(ApiError::bad(format!("`{text}` is not a legal move here: {mistake}")));
            }
            let legal = &asked.moves.legal;
            let some: Vec<&str> = legal.iter().take(5).map(String::as_str).collect();
            return Err(ApiError::bad(format!(
                "`{text}` is not a legal move here; legal are: {}{}",
                some.join(", "),
                if legal.len() > 5 { ", …" } else { "" }
            )));
        };
        let sender = state.run.as_ref().and_then(|run| run.people.get(&role));
        let sender = sender.ok_or_else(|| ApiError::conflict("the match is not being played"))?;
        sender
            .send(Word::Move(found))
            .map_err(|_| ApiError::conflict("the match is not being played"))
    }

    /// Gives up for a person.
    ///
    /// # Errors
    /// [`ApiError`] if the match has ended.
    pub(crate) fn resign(&self, role: usize) -> Result<(), ApiError> {
        let mut state = self.lock();
        if state.ending.is_some() {
            return Err(ApiError::conflict("the match has ended"));
        }
        if let Some(run) = &state.run
            && let Some(sender) = run.people.get(&role)
        {
            let _ = sender.send(Word::Resign);
        }
        // The run may be waiting for another player, so the match is ended here.
        state.epoch += 1;
        self.end(&mut state, json!({"kind": "resigned", "role": role}));
        drop(state);
        self.bump();
        Ok(())
    }

    /// Ends the match on behalf of its owner.
    ///
    /// # Errors
    /// [`ApiError`] if the match has ended.
    pub(crate) fn abort(&self) -> Result<(), ApiError> {
        let mut state = self.lock();
        if state.ending.is_some() {
            return Err(ApiError::conflict("the match has ended"));
        }
        state.epoch += 1;
        self.end(&mut state, json!({"kind": "aborted"}));
        drop(state);
        self.bump();
        Ok(())
    }

    /// Takes back the last decision of a person once all people agree. Returns whether it was done.
    ///
    /// # Errors
    /// [`ApiError`] if there is nothing to take back, or the game has hidden information.
    pub(crate) fn take_back(self: &Arc<Hosted>, roles: &[usize]) -> Result<bool, ApiError> {
        if self.game()?.shape().hidden {
            return Err(ApiError::conflict(
                "nothing is taken back in a game with hidden information",
            ));
        }
        let mut state = self.lock();
        state.takeback.extend(roles);
        let people = state.setup.people();
        if !people.iter().all(|role| state.takeback.contains(role)) {
            drop(state);
            self.bump();
            return Ok(false);
        }
        let last = state.steps.iter().rposition(|step| !step.decided.is_empty());
        let first = state.setup.opening.len();
        let Some(at) = last.filter(|at| *at >= first) else {
            state.takeback.clear();
            return Err(ApiError::conflict("there is nothing to take back"));
        };
        // Reports of the run that is stopped no longer count.
        state.epoch += 1;
        state.run = None;
        self.host.store.take_back(&self.id, at).map_err(ApiError::broken)?;
        state.steps.truncate(at);
        state.frames = None;
        state.ending = None;
        state.thoughts.clear();
        state.decided.clear();
        drop(state);
        self.start()?;
        Ok(true)
    }

    /// Gives a role to another player. The match goes on from where it is.
    ///
    /// # Errors
    /// [`ApiError`] if the match has ended or the role has no player.
    pub(crate) fn replace(
        self: &Arc<Hosted>,
        role: usize,
        spec: agon::PlayerSpec,
    ) -> Result<(), ApiError> {
        let game = self.game()?;
        let shape = game.shape();
        let at = shape.players().position(|other| other.index() == role);
        let at = at.ok_or_else(|| ApiError::bad("this role has no player"))?;
        let mut state = self.lock();
        if state.ending.is_some() {
            return Err(ApiError::conflict("the match has ended"));
        }
        let before = state.setup.clone();
        state.setup.players[at] = spec;
        state.setup.make_keys(shape)?;
        state.epoch += 1;
        state.run = None;
        state.frames = None;
        let saved = self.host.store.save_setup(&self.id, &state.setup.to_json());
        drop(state);
        saved.map_err(ApiError::broken)?;
        if let Err(error) = self.start() {
            // The player could not be made: the match goes on as before.
            let mut state = self.lock();
            let _ = self.host.store.save_setup(&self.id, &before.to_json());
            state.setup = before;
            drop(state);
            self.start()?;
            return Err(error);
        }
        Ok(())
    }

    /// Exchanges the secret of a role for another one. Returns the role and the new secret, or
    /// `None` for the secrets of owners and watchers, which are not exchanged.
    ///
    /// # Errors
    /// [`ApiError`] if the secret belongs to nobody in this match, or was exchanged before.
    pub(crate) fn claim(&self, key: &str) -> Result<(Option<usize>, Option<String>), ApiError> {
        let mut state = self.lock();
        let setup = &mut state.setup;
        if is_same(key, &setup.owner) || is_same(key, &setup.watch) {
            return Ok((None, None));
        }
        let role = setup
            .keys
            .iter()
            .position(|known| known.as_deref().is_some_and(|known| is_same(key, known)));
        let role = role.ok_or_else(|| {
            ApiError::forbidden("this invitation was used already, or is not for this match")
        })?;
        setup.keys[role] = Some(secret()?);
        setup.claimed[role] = true;
        let json = setup.to_json();
        let key = setup.keys[role].clone();
        self.host.store.save_setup(&self.id, &json).map_err(ApiError::broken)?;
        drop(state);
        self.bump();
        Ok((Some(role), key))
    }

    /// Returns who the holder of some secrets is in this match.
    pub(crate) fn viewer(&self, keys: &[String]) -> Viewer {
        let state = self.lock();
        let holds = |secret: &str| keys.iter().any(|key| is_same(key, secret));
        let roles = state.setup.people().into_iter();
        let roles =
            roles.filter(|role| state.setup.keys[*role].as_deref().is_some_and(holds)).collect();
        Viewer { roles, is_owner: holds(&state.setup.owner), is_watcher: holds(&state.setup.watch) }
    }

    /// Returns a receiver of changes.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Returns whether the match is being played.
    pub(crate) fn is_running(&self) -> bool {
        let state = self.lock();
        state.ending.is_none()
    }

    /// Returns whether no person takes part.
    pub(crate) fn is_automatic(&self) -> bool {
        self.lock().setup.people().is_empty()
    }

    /// Returns a copy of the setup.
    pub(crate) fn setup(&self) -> Setup {
        self.lock().setup.clone()
    }

    /// Returns the joint moves so far.
    pub(crate) fn moves(&self) -> Vec<Vec<String>> {
        self.lock().steps.iter().map(|step| step.joint.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Tells all viewers that something has changed.
    fn bump(&self) {
        self.lock().cache.clear();
        self.changed.send_modify(|version| *version += 1);
    }
}

impl State {
    /// Returns the positions of the match; computes them if they are not known.
    fn frames(&mut self, game: &Game) -> Result<&Frames, ApiError> {
        let is_known = self.frames.as_ref().is_some_and(|f| f.len() == self.steps.len() + 1);
        if !is_known {
            let steps = self.steps.iter().map(|step| step.joint.as_slice());
            let people = self.setup.people();
            let frames =
                Frames::replay(game, &people, self.setup.seed, steps).map_err(ApiError::broken)?;
            self.frames = Some(frames);
        }
        Ok(self.frames.as_ref().expect("it was computed above"))
    }
}

/// Returns the roles that no person plays, without nature.
fn computers(game: &Game, setup: &Setup) -> BTreeSet<usize> {
    let roles = game.shape().players().zip(&setup.players);
    roles
        .filter(|(_, spec)| spec.kind != PlayerSource::Human)
        .map(|(role, _)| role.index())
        .collect()
}

fn ending_json(played: &Match) -> Value {
    match played.ending() {
        Some(Ending::Finished(payoffs)) => json!({"kind": "finished", "payoffs": payoffs}),
        Some(Ending::Fault(fault)) => json!({"kind": "fault", "text": fault.to_string()}),
        Some(Ending::TooLong) => json!({"kind": "too-long"}),
        Some(Ending::Stopped(role)) => json!({"kind": "resigned", "role": role.index()}),
        Some(Ending::Aborted) | None => json!({"kind": "aborted"}),
    }
}
