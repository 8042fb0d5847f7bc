//! A position of a game, played by the interpreter.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use agon_datalog::{Engine, Refusal, RefusalKind, TermBank, TermId, TermOrder};
use agon_game::{Fault, Position, Role, Shape};

use super::game::{Game, GoalPolicy};

/// A move: a ground term of the game's bank.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Move(pub(super) TermId);

impl Move {
    /// Returns the term of the move.
    pub fn term(self) -> TermId {
        self.0
    }
}

/// The fluents that hold. States of one game with the same fluents are equal, no matter which clone
/// of the position reached them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State(Arc<Content>);

#[derive(Debug)]
struct Content {
    /// Sorted, without duplicates.
    fluents: Box<[TermId]>,
    key: u64,
    /// Set if the state could not be computed.
    fault: Option<Fault>,
    /// Set once it is known. It stays the same wherever this state is visited again, also after a
    /// deadline, when the rules cannot be evaluated any more.
    outcome: OnceLock<Outcome>,
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        self.fluents == other.fluents && self.fault == other.fault
    }
}

impl Eq for Content {}

impl State {
    pub(super) fn new(mut fluents: Vec<TermId>, bank: &TermBank) -> State {
        fluents.sort_unstable();
        fluents.dedup();
        // A sum, so that the order of the fluents, which differs from run to run, does not matter.
        let key = fluents.iter().fold(0, |key: u64, &fluent| key.wrapping_add(bank.hash(fluent)));
        State(Arc::new(Content {
            fluents: fluents.into(),
            key,
            fault: None,
            outcome: OnceLock::new(),
        }))
    }

    fn broken(fault: Fault) -> State {
        State(Arc::new(Content {
            fluents: Box::new([]),
            key: u64::MAX,
            fault: Some(fault),
            outcome: OnceLock::new(),
        }))
    }

    /// Returns the fluents that hold, sorted by number, without duplicates.
    pub fn fluents(&self) -> &[TermId] {
        &self.0.fluents
    }
}

/// A position of a [`Game`], computed from the rules as they stand. Each answer is computed when it
/// is first asked for and kept until the state changes.
pub struct Interpreter {
    pub(super) game: Arc<Game>,
    pub(super) engine: RefCell<Engine>,
    order: RefCell<TermOrder>,
    /// By role: the long list of legal moves that was sorted last.
    sorted: RefCell<Vec<Sorted>>,
    state: State,
    standing: OnceCell<Standing>,
    goals: OnceCell<Vec<Vec<i64>>>,
}

/// A long list before and after sorting. Where legality does not depend on the state, the next
/// state has the same list, and comparing two lists is much faster than sorting one.
#[derive(Clone, Default)]
struct Sorted {
    before: Vec<TermId>,
    after: Vec<TermId>,
}

/// Whether play has ended, which is known before all legal moves are listed and sorted.
#[derive(Debug)]
enum Outcome {
    /// The rules say so, or a role has no legal move, which is a fault.
    Ended(Option<Fault>),
    /// Play goes on. Each role has at least this legal move.
    GoesOn(Box<[TermId]>),
}

struct Standing {
    terminal: bool,
    legal: Vec<Vec<Move>>,
    fault: Option<Fault>,
    /// Whether there may be more legal moves than those listed.
    is_cut: bool,
}

/// Maximum number of moves of a role that are listed if not all of them can be found.
const MAX_MOVES_AFTER_CUT: usize = 1000;

/// Number of legal moves from which on listing them takes so long that the clock is read before.
const MANY_MOVES: usize = 10_000;

impl Clone for Interpreter {
    fn clone(&self) -> Interpreter {
        let mut clone = Interpreter::new(Arc::clone(&self.game));
        clone.go_to(&self.state);
        clone
    }
}

impl Interpreter {
    pub(super) fn new(game: Arc<Game>) -> Interpreter {
        let engine = Engine::new(Arc::clone(&game.plans), game.options().limits.clone());
        let state = game.initial.clone();
        let mut position = Interpreter {
            game,
            engine: RefCell::new(engine),
            order: RefCell::default(),
            sorted: RefCell::default(),
            state: state.clone(),
            standing: OnceCell::new(),
            goals: OnceCell::new(),
        };
        position.go_to(&state);
        position
    }

    /// Returns the game of this position.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// Returns every goal value that the rules derive for the role, in ascending order. A correct
    /// rulesheet derives exactly one at terminal states.
    pub fn goal_values(&self, role: Role) -> &[i64] {
        let goals = self.goals.get_or_init(|| {
            self.work_out_goals().unwrap_or_else(|_| vec![Vec::new(); self.game.roles.len()])
        });
        &goals[role.index()]
    }

    /// Returns the moves that `input` lists for the role. Empty if the rules have no `input`.
    pub fn input_moves(&self, role: Role) -> Result<BTreeSet<Move>, Fault> {
        let mut engine = self.engine.borrow_mut();
        let answers =
            engine.ask(self.game.questions.input, &[]).map_err(|r| self.game.fault(&r))?;
        let own =
            (0..answers.len()).filter(|&i| answers.get(i, 0) == self.game.roles[role.index()]);
        Ok(own.map(|i| Move(answers.get(i, 1))).collect())
    }

    /// Returns the fluents that `base` lists, in the order in which the game lists terms. Empty if
    /// the rules have no `base`.
    pub fn base_fluents(&self) -> Result<Vec<TermId>, Fault> {
        let mut engine = self.engine.borrow_mut();
        let answers = engine.ask(self.game.questions.base, &[]).map_err(|r| self.game.fault(&r))?;
        let mut base: Vec<TermId> = (0..answers.len()).map(|i| answers.get(i, 0)).collect();
        base.sort_by(|&a, &b| self.game.compare(a, b));
        base.dedup();
        Ok(base)
    }

    /// Returns the fluents of the state that `base` does not list, as text. Empty if the rules have
    /// no `base`.
    pub(crate) fn fluents_outside_base(&self) -> Result<Vec<String>, Fault> {
        let mut engine = self.engine.borrow_mut();
        let answers = engine.ask(self.game.questions.base, &[]).map_err(|r| self.game.fault(&r))?;
        let base: BTreeSet<TermId> = (0..answers.len()).map(|i| answers.get(i, 0)).collect();
        let outside = self.state.fluents().iter().filter(|f| !base.is_empty() && !base.contains(f));
        let mut outside: Vec<String> = outside.map(|&f| self.game.text(f)).collect();
        outside.sort();
        Ok(outside)
    }

    /// Returns the number of evaluation steps so far.
    pub(super) fn n_work(&self) -> u64 {
        self.engine.borrow().n_steps()
    }

    /// Lowers the limits on steps, facts and time per state, for a play that is only a sample. A
    /// state with more facts than steps are allowed is not typical of anything.
    pub(super) fn limit_sample(&mut self, steps: u64, deadline: Option<Instant>) {
        let limits = self.engine.get_mut().limits_mut();
        limits.steps = limits.steps.min(steps);
        limits.facts = limits.facts.min(1_000_000);
        limits.deadline = deadline;
    }

    fn standing(&self) -> &Standing {
        self.standing.get_or_init(|| {
            let fault = match &self.state.0.fault {
                Some(fault) => fault.clone(),
                None => match self.work_out_standing(None) {
                    Ok(standing) => return standing,
                    Err(refusal) => return self.refused_standing(self.game.fault(&refusal)),
                },
            };
            self.ended(Some(fault))
        })
    }

    fn ended(&self, fault: Option<Fault>) -> Standing {
        let legal = vec![Vec::new(); self.game.roles.len()];
        Standing { terminal: true, legal, fault, is_cut: false }
    }

    /// Returns the standing if the rules cannot be evaluated: what is known of the state from
    /// before, or the fault.
    fn refused_standing(&self, fault: Fault) -> Standing {
        match self.state.0.outcome.get() {
            Some(Outcome::GoesOn(first)) => Standing {
                terminal: false,
                legal: first.iter().map(|&m| vec![Move(m)]).collect(),
                fault: None,
                is_cut: true,
            },
            Some(Outcome::Ended(fault)) => self.ended(fault.clone()),
            None => self.ended(Some(fault)),
        }
    }

    /// Finds out whether play has ended without listing the legal moves, of which there may be very
    /// many. What is refused here is kept as the standing, so that it is not evaluated twice.
    fn find_terminal(&self) -> bool {
        let content = &self.state.0;
        if content.fault.is_some() {
            return true;
        }
        if content.outcome.get().is_none() {
            match self.find_outcome() {
                Ok(outcome) => drop(content.outcome.set(outcome)),
                Err(refusal) => {
                    let _ = self.standing.set(self.ended(Some(self.game.fault(&refusal))));
                    return true;
                }
            }
        }
        matches!(content.outcome.get(), Some(Outcome::Ended(_)))
    }

    fn find_outcome(&self) -> Result<Outcome, Refusal> {
        let game = &self.game;
        let mut engine = self.engine.borrow_mut();
        if engine.holds(game.questions.terminal, &[])? {
            return Ok(Outcome::Ended(None));
        }
        let answers = engine.ask(game.questions.legal, &[])?;
        let mut first = vec![None; game.roles.len()];
        let mut n_missing = first.len();
        // From both ends, because the moves of one role usually stand together.
        let n = answers.len();
        for i in (0..n.div_ceil(2)).flat_map(|i| [i, n - 1 - i]) {
            if n_missing == 0 {
                break;
            }
            let role = answers.get(i, 0);
            if let Some(role) = game.roles.iter().position(|&r| r == role)
                && first[role].is_none()
            {
                first[role] = Some(answers.get(i, 1));
                n_missing -= 1;
            }
        }
        Ok(match first.iter().position(Option::is_none) {
            Some(idle) => Outcome::Ended(Some(Fault::NoLegalMove(Role::new(idle)))),
            None => Outcome::GoesOn(first.into_iter().flatten().collect()),
        })
    }

    /// Finds out whether play has ended and which moves are legal, the latter not beyond `until`.
    fn work_out_standing(&self, until: Option<Instant>) -> Result<Standing, Refusal> {
        let game = &self.game;
        let mut engine = self.engine.borrow_mut();
        let limits = engine.limits_mut().clone();
        let mut legal: Vec<Vec<TermId>> = vec![Vec::new(); game.roles.len()];
        let mut terminal = engine.holds(game.questions.terminal, &[])?;
        let (mut fault, mut is_cut) = (None, false);
        if !terminal {
            let (answers, is_complete) = match until {
                None => (engine.ask(game.questions.legal, &[])?, true),
                Some(until) => engine.ask_some(game.questions.legal, &[], until)?,
            };
            // A list that nobody has time for is cut, too: copying and sorting takes a while.
            let is_late = answers.len() > MANY_MOVES && limits.refusal().is_some();
            is_cut = !is_complete || is_late;
            for i in 0..answers.len() {
                let role = answers.get(i, 0);
                if let Some(role) = game.roles.iter().position(|&r| r == role)
                    && !(is_cut && legal[role].len() >= MAX_MOVES_AFTER_CUT)
                {
                    legal[role].push(answers.get(i, 1));
                }
            }
            if is_complete && let Some(idle) = legal.iter().position(Vec::is_empty) {
                fault = Some(Fault::NoLegalMove(Role::new(idle)));
                terminal = true;
                legal.iter_mut().for_each(Vec::clear);
            }
            // What was found of the state before is at least listed.
            if is_cut
                && !terminal
                && let Some(Outcome::GoesOn(first)) = self.state.0.outcome.get()
            {
                for (moves, &known) in legal.iter_mut().zip(first) {
                    if moves.is_empty() {
                        moves.push(known);
                    }
                }
            }
            self.sort(&mut legal);
            if !is_cut && !terminal {
                let first = legal.iter().filter_map(|moves| moves.first().copied());
                let _ = self.state.0.outcome.set(Outcome::GoesOn(first.collect()));
            }
        }
        let legal = legal.into_iter().map(|moves| moves.into_iter().map(Move).collect()).collect();
        Ok(Standing { terminal, legal, fault, is_cut })
    }

    /// Sorts the legal moves of each role.
    fn sort(&self, legal: &mut [Vec<TermId>]) {
        let (mut order, mut sorted) = (self.order.borrow_mut(), self.sorted.borrow_mut());
        for (role, moves) in legal.iter_mut().enumerate() {
            if moves.len() <= MANY_MOVES {
                order.sort(moves, &self.game.bank, &self.game.rank);
                continue;
            }
            let n_lists = sorted.len().max(role + 1);
            sorted.resize(n_lists, Sorted::default());
            let last = &mut sorted[role];
            if last.before != *moves {
                last.before.clone_from(moves);
                order.sort(moves, &self.game.bank, &self.game.rank);
                last.after.clone_from(moves);
            }
            moves.clone_from(&last.after);
        }
    }

    /// Asks the rules whether a move is legal, without listing all legal moves. The standing must
    /// have been cut.
    pub(super) fn asks_legal(&self, role: Role, candidate: Move) -> bool {
        let known = [self.game.roles[role.index()], candidate.0];
        let mut engine = self.engine.borrow_mut();
        engine.holds(self.game.questions.is_legal, &known).unwrap_or(false)
    }

    /// Returns whether there may be more legal moves than those listed.
    pub(super) fn is_cut(&self) -> bool {
        self.standing().is_cut
    }

    fn work_out_goals(&self) -> Result<Vec<Vec<i64>>, Refusal> {
        let game = &self.game;
        let mut goals = vec![Vec::new(); game.roles.len()];
        if self.state.0.fault.is_some() {
            return Ok(goals);
        }
        let mut engine = self.engine.borrow_mut();
        let answers = engine.ask(game.questions.goal, &[])?;
        for i in 0..answers.len() {
            let role = game.roles.iter().position(|&r| r == answers.get(i, 0));
            let value =
                game.rules.sheet().symbols.name(game.bank.symbol(answers.get(i, 1))).parse().ok();
            if let (Some(role), Some(value)) = (role, value) {
                goals[role].push(value);
            }
        }
        for values in &mut goals {
            values.sort_unstable();
            // Rules may write one number in several ways, such as 0 and 00.
            values.dedup();
        }
        Ok(goals)
    }

    fn set_state(&mut self, state: State) {
        self.standing.take();
        self.goals.take();
        self.state = state;
        let rows = self.state.0.fluents.iter().map(std::slice::from_ref);
        self.engine.get_mut().set_rows(self.game.state_relation, rows);
    }

    /// Sets the moves that the engine evaluates with.
    pub(super) fn set_moves(&self, engine: &mut Engine, joint: &[Move]) {
        assert_eq!(joint.len(), self.game.roles.len(), "a joint move has one move for each role");
        let rows: Vec<[TermId; 2]> =
            self.game.roles.iter().zip(joint).map(|(&role, m)| [role, m.0]).collect();
        engine.set_rows(self.game.move_relation, rows.iter().map(<[_; 2]>::as_slice));
    }

    fn work_out_next(&self, joint: &[Move]) -> Result<State, Refusal> {
        let mut engine = self.engine.borrow_mut();
        self.set_moves(&mut engine, joint);
        let answers = engine.ask(self.game.questions.next, &[])?;
        let fluents = (0..answers.len()).map(|i| answers.get(i, 0)).collect();
        Ok(State::new(fluents, &self.game.bank))
    }
}

impl Position for Interpreter {
    type Move = Move;
    type State = State;

    fn shape(&self) -> &Shape {
        &self.game.shape
    }

    fn is_terminal(&self) -> bool {
        match self.standing.get() {
            Some(standing) => standing.terminal,
            None => self.find_terminal(),
        }
    }

    fn legal_moves(&self, role: Role) -> &[Move] {
        &self.standing().legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let values = self.goal_values(player);
        let value = match (self.game.options().goal_policy, values) {
            (_, []) => 0,
            (GoalPolicy::Highest, [.., highest]) => *highest,
            (GoalPolicy::Lowest, [lowest, ..]) => *lowest,
            (GoalPolicy::ExactlyOne, [only]) => *only,
            (GoalPolicy::ExactlyOne, [_, _, ..]) => 0,
        };
        (value as f64).clamp(*self.shape().payoffs.start(), *self.shape().payoffs.end())
    }

    fn advance(&mut self, joint: &[Move]) {
        let next = match self.work_out_next(joint) {
            Ok(next) => next,
            Err(refusal) => State::broken(self.game.fault(&refusal)),
        };
        self.set_state(next);
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn go_to(&mut self, state: &State) {
        self.set_state(state.clone());
    }

    fn key(&self) -> u64 {
        self.state.0.key
    }

    fn fault(&self) -> Option<&Fault> {
        // A position with a fault counts as terminal.
        if self.is_terminal() { self.standing().fault.as_ref() } else { None }
    }

    fn is_legal(&self, role: Role, candidate: &Move) -> bool {
        self.legal_moves(role).contains(candidate)
            || (self.is_cut() && self.asks_legal(role, *candidate))
    }

    fn list_legal_moves_until(&self, role: Role, until: Instant) {
        if self.standing.get().is_some() || self.state.0.fault.is_some() {
            return;
        }
        // If there is no time or no move of the role was found, the position is a fault as usual.
        if let Ok(standing) = self.work_out_standing(Some(until))
            && !(standing.is_cut && standing.legal[role.index()].is_empty())
        {
            let _ = self.standing.set(standing);
        } else {
            let text = RefusalKind::Deadline.to_string();
            let _ = self.standing.set(self.refused_standing(Fault::Refused(text)));
        }
    }
}
