//! Positions of the interpreter.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use agon_game::{Fault, Position, Role, Shape};
use agon_structures::evaluate::{Assignment, EvaluationError, Evaluator, Solutions, TermQuery};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, Structure};
use agon_text::Span;

use super::embedding::Embedding;
use super::game::{Game, assignment};
use crate::arena::{ArenaRule, CheckedArena, Edge, Effect, LocationId, RuleId};
use crate::check::payoffs::is_in_range;
use crate::rewrite::{add_all, apply, delete_all};

/// A move of one player.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Move {
    /// The player does nothing.
    Noop,
    /// The player takes an edge of the location and applies its rule.
    Apply {
        /// The edge.
        edge: EdgeId,
        /// The embedding that the rule is applied to.
        elements: Embedding,
    },
    /// Nature chooses one of several outcomes of an edge.
    Outcome {
        /// The edge.
        edge: EdgeId,
        /// The index of the outcome.
        outcome: u32,
    },
}

/// The place of an edge in the arena. A move contains it, so that its text can be computed at any
/// position.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgeId {
    /// The location that the edge leaves.
    pub location: LocationId,
    /// The index of the player that may take it.
    pub player: u32,
    /// The index of the edge among the player's edges at the location.
    pub index: u32,
}

impl EdgeId {
    /// Returns the edge.
    pub fn edge(self, arena: &CheckedArena) -> &Edge {
        &arena.location(self.location).edges[self.player as usize][self.index as usize]
    }
}

/// A state: a structure, a location, and everything else that the rest of the play depends on.
#[derive(Clone, Debug)]
pub struct State(Arc<Content>);

#[derive(Debug)]
struct Content {
    structure: Structure,
    location: LocationId,
    /// The applied rules, of those in `Game::remembered`.
    history: Arc<BTreeSet<RuleId>>,
    /// An edge that was taken and whose outcome nature has not chosen yet.
    pending: Option<EdgeId>,
    key: u64,
    /// The reason why the state could not be computed, with the place in the rules.
    fault: Option<(Fault, Span)>,
}

impl State {
    pub(super) fn new(
        structure: Structure,
        location: LocationId,
        history: Arc<BTreeSet<RuleId>>,
        pending: Option<EdgeId>,
        keeps_universe: bool,
    ) -> State {
        let mut key = mix(structure.key(), location.index() as u64);
        for rule in history.iter() {
            key = mix(key, 1 << 32 | rule.index() as u64);
        }
        if let Some(pending) = pending {
            key = mix(key, 2 << 32 | u64::from(pending.player) << 16 | u64::from(pending.index));
        }
        if !keeps_universe {
            // Moves name elements, so states with different names are different.
            key = mix(key, structure.names_key());
        }
        State(Arc::new(Content { structure, location, history, pending, key, fault: None }))
    }

    fn failed(before: &State, error: PositionError) -> State {
        let Content { structure, location, history, pending, key, .. } = &*before.0;
        State(Arc::new(Content {
            structure: structure.clone(),
            location: *location,
            history: Arc::clone(history),
            pending: *pending,
            key: mix(*key, u64::MAX),
            fault: Some((Fault::Refused(error.message), error.span)),
        }))
    }

    /// Returns the structure.
    pub fn structure(&self) -> &Structure {
        &self.0.structure
    }

    /// Returns the location.
    pub fn location(&self) -> LocationId {
        self.0.location
    }

    /// Returns the rules applied so far, of those that the history of some rule mentions.
    pub fn history(&self) -> &BTreeSet<RuleId> {
        &self.0.history
    }

    pub(super) fn pending(&self) -> Option<EdgeId> {
        self.0.pending
    }
}

/// Combines two words into one, each bit of which depends on all bits of both (the finaliser of
/// `SplitMix64`).
fn mix(a: u64, b: u64) -> u64 {
    let mut z = (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A position of a [`Game`]. Results are computed on demand and cached until the state changes.
pub struct Interpreter {
    pub(super) game: Arc<Game>,
    evaluator: RefCell<Evaluator>,
    state: State,
    derived: OnceCell<Derived>,
    payoffs: OnceCell<Result<Vec<Rational>, PositionError>>,
    /// The solutions of each rule's condition at the state where it was last evaluated, if
    /// embeddings are updated incrementally.
    followed: RefCell<Vec<Option<Solutions>>>,
}

struct Derived {
    terminal: bool,
    legal: Vec<Vec<Move>>,
    fault: Option<(Fault, Span)>,
}

impl Clone for Interpreter {
    fn clone(&self) -> Interpreter {
        Interpreter {
            game: Arc::clone(&self.game),
            evaluator: self.evaluator.clone(),
            state: self.state.clone(),
            derived: OnceCell::new(),
            payoffs: OnceCell::new(),
            followed: self.followed.clone(),
        }
    }
}

/// The reason why a position could not be evaluated, with the place in the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionError {
    pub(super) message: String,
    pub(super) span: Span,
}

impl PositionError {
    /// Returns the place of the formula or term that could not be evaluated.
    pub fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PositionError {}

impl Interpreter {
    pub(super) fn new(game: Arc<Game>) -> Interpreter {
        let state = game.start_state().clone();
        let evaluator = RefCell::new(game.evaluator());
        let followed = RefCell::new(vec![None; game.arena().rules().len()]);
        let (derived, payoffs) = (OnceCell::new(), OnceCell::new());
        Interpreter { game, evaluator, state, derived, payoffs, followed }
    }

    /// Returns the game.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// Returns a position of the same game with another structure and location.
    pub fn at(&self, structure: Structure, location: LocationId) -> Interpreter {
        let state = State::new(structure, location, Arc::default(), None, self.game.keeps_universe);
        Interpreter { state, ..self.clone() }
    }

    /// Returns the exact payoff of each role if play ended here.
    ///
    /// # Errors
    /// If a payoff has no value or exceeds the limits of the game.
    pub fn exact_payoffs(&self) -> Result<&[Rational], &PositionError> {
        self.payoffs.get_or_init(|| self.compute_payoffs()).as_deref()
    }

    /// Returns the payoff of the role if it has a value and that is an integer. Traces record only
    /// integers.
    pub fn whole_payoff(&self, role: Role) -> Option<i64> {
        let payoff = self.exact_payoffs().ok()?.get(role.index())?;
        if payoff.is_whole() { i64::try_from(payoff.numerator()).ok() } else { None }
    }

    /// Returns the embeddings of a rule for which its condition, history and post-condition hold,
    /// sorted.
    ///
    /// # Errors
    /// If evaluation exceeds the limits of the game.
    pub fn embeddings(&self, id: RuleId) -> Result<Vec<Embedding>, PositionError> {
        let rule = self.game.arena().rule(id);
        if !self.history_allows(rule) {
            return Ok(Vec::new());
        }
        let mut found = self.solutions(id).map_err(|error| self.rule_error(rule, &error))?;
        if rule.post.is_some() {
            let mut kept = Vec::with_capacity(found.len());
            for embedding in found {
                if self.post_holds(id, &embedding)? {
                    kept.push(embedding);
                }
            }
            found = kept;
        }
        Ok(found)
    }

    /// Returns the place in the rules that caused the fault here, if there is one.
    pub(crate) fn fault_span(&self) -> Option<Span> {
        self.derived().fault.as_ref().map(|fault| fault.1)
    }

    /// Returns the solutions of a rule's condition. If embeddings are updated incrementally, starts
    /// from the solutions at the state where the rule was last evaluated.
    fn solutions(&self, id: RuleId) -> Result<Vec<Embedding>, EvaluationError> {
        let structure = self.state.structure();
        let query = self.game.queries.conditions[id.index()];
        let mut evaluator = self.evaluator.borrow_mut();
        if !self.game.updates_incrementally(structure) {
            let found = evaluator.solve(query, structure, &Assignment::new())?;
            return Ok(found.iter().map(Embedding::from).collect());
        }
        let kept = &mut self.followed.borrow_mut()[id.index()];
        let updated = match kept.take() {
            None => None,
            Some(last) => evaluator.update(query, &last, structure)?,
        };
        let found = match updated {
            Some(found) => found,
            None => evaluator.solutions(query, structure)?,
        };
        let embeddings = found.iter().map(Iterator::collect).collect();
        *kept = Some(found);
        Ok(embeddings)
    }

    /// Returns whether the rules applied so far allow this one.
    fn history_allows(&self, rule: &ArenaRule) -> bool {
        rule.history.iter().all(|(earlier, holds)| self.state.history().contains(earlier) == *holds)
    }

    /// Returns whether the post-condition of a rule holds after the rule is applied to an
    /// embedding.
    pub(crate) fn post_holds(
        &self,
        id: RuleId,
        embedding: &[Element],
    ) -> Result<bool, PositionError> {
        let rule = self.game.arena().rule(id);
        let (Some(post), Some(query)) = (&rule.post, self.game.queries.posts[id.index()]) else {
            return Ok(true);
        };
        let applied = apply(&rule.effect, self.state.structure(), embedding, self.game.growth())
            .map_err(|error| self.rule_error(rule, &error))?;
        let elements = assignment(&post.variables, &applied.elements);
        let holds = self.evaluator.borrow_mut().holds(query, &applied.structure, &elements);
        holds.map_err(|error| self.rule_error(rule, &error))
    }

    fn rule_error(&self, rule: &ArenaRule, why: &dyn std::error::Error) -> PositionError {
        self.game.error(&why.to_string(), &format!("rule `{}`", rule.name), rule.span)
    }

    fn compute_payoffs(&self) -> Result<Vec<Rational>, PositionError> {
        let location = self.game.arena().location(self.state.location());
        let queries = &self.game.queries.payoffs[self.state.location().index()];
        let mut evaluator = self.evaluator.borrow_mut();
        let mut value = |(query, player): (&TermQuery, &String)| {
            let what = format!("the payoff of `{player}` at the location `{}`", location.name);
            let why = match evaluator.value(*query, self.state.structure(), &Assignment::new()) {
                Ok(Some(value)) if is_in_range(value) => return Ok(value),
                Ok(Some(value)) => {
                    format!("it is {value}, and payoffs go from -1000000000 to 1000000000")
                }
                Ok(None) => "it has no value".to_owned(),
                Err(error) => error.to_string(),
            };
            Err(self.game.error(&why, &what, location.span))
        };
        queries.iter().zip(self.game.arena().players()).map(&mut value).collect()
    }

    fn derived(&self) -> &Derived {
        self.derived.get_or_init(|| {
            let found = match &self.state.0.fault {
                Some(fault) => Err(fault.clone()),
                None => self
                    .compute_derived()
                    .map_err(|error| (Fault::Refused(error.message), error.span)),
            };
            found.unwrap_or_else(|fault| Derived {
                terminal: true,
                legal: vec![Vec::new(); self.game.arena().players().len()],
                fault: Some(fault),
            })
        })
    }

    fn compute_derived(&self) -> Result<Derived, PositionError> {
        let arena = self.game.arena();
        let location = arena.location(self.state.location());
        let n_players = arena.players().len();
        if let Some(edge) = self.state.pending() {
            let mut legal = vec![vec![Move::Noop]; n_players];
            let n_outcomes = edge.edge(arena).outcomes.len();
            let nature = arena.nature().expect("an edge with several outcomes implies nature");
            legal[nature] =
                (0..n_outcomes).map(|i| Move::Outcome { edge, outcome: i as u32 }).collect();
            return Ok(Derived { terminal: false, legal, fault: None });
        }
        let mut legal: Vec<Vec<Move>> = Vec::with_capacity(n_players);
        let mut is_over = location.edges.iter().all(Vec::is_empty);
        for (player, edges) in location.edges.iter().enumerate() {
            if is_over {
                break;
            }
            if edges.is_empty() {
                legal.push(vec![Move::Noop]);
                continue;
            }
            let mut moves = Vec::new();
            for (index, way) in edges.iter().enumerate() {
                let embeddings = self.embeddings(way.rule)?;
                let location = self.state.location();
                let edge = EdgeId { location, player: player as u32, index: index as u32 };
                moves.extend(embeddings.into_iter().map(|elements| Move::Apply { edge, elements }));
            }
            // By the definition, play ends if an acting player cannot move.
            is_over = moves.is_empty();
            legal.push(moves);
        }
        if is_over {
            // Payoffs of a final position must have values, so compute them now and report faults
            // here.
            self.payoffs.get_or_init(|| self.compute_payoffs()).clone()?;
            return Ok(Derived { terminal: true, legal: vec![Vec::new(); n_players], fault: None });
        }
        Ok(Derived { terminal: false, legal, fault: None })
    }

    fn compute_next(&self, joint: &[Move]) -> Result<State, PositionError> {
        let arena = self.game.arena();
        assert_eq!(joint.len(), arena.players().len(), "a joint move has one move for each role");
        let keeps_universe = self.game.keeps_universe;
        let structure = self.state.structure();
        if let Some(edge) = self.state.pending() {
            let outcomes = &edge.edge(arena).outcomes;
            let chosen = joint.iter().find_map(|m| match m {
                Move::Outcome { outcome, .. } => Some(*outcome),
                Move::Noop | Move::Apply { .. } => None,
            });
            let target = outcomes[chosen.expect("nature's move is an outcome") as usize].0;
            let history = Arc::clone(&self.state.0.history);
            return Ok(State::new(structure.clone(), target, history, None, keeps_universe));
        }
        let acts: Vec<(EdgeId, &[Element])> = joint
            .iter()
            .filter_map(|m| match m {
                Move::Apply { edge, elements } => Some((*edge, &**elements)),
                Move::Noop | Move::Outcome { .. } => None,
            })
            .collect();
        let rules: Vec<RuleId> = acts.iter().map(|(edge, _)| edge.edge(arena).rule).collect();
        let next = self.apply_all(&acts, &rules)?;
        let mut history = Arc::clone(&self.state.0.history);
        for rule in rules.iter().filter(|rule| self.game.remembered.contains(rule)) {
            if !history.contains(rule) {
                Arc::make_mut(&mut history).insert(*rule);
            }
        }
        let &(edge, _) = acts.first().expect("a player acts where play has not ended");
        let (place, pending) = match edge.edge(arena).outcomes.as_slice() {
            [(target, _)] => (*target, None),
            _ => (self.state.location(), Some(edge)),
        };
        Ok(State::new(next, place, history, pending, keeps_universe))
    }

    /// Applies the rules of all acting players.
    ///
    /// If the universe stays, all deletions precede all additions, so that the order of the players
    /// does not matter. Otherwise rules are applied one after the other, and a rule is skipped if
    /// one of its elements has been deleted.
    fn apply_all(
        &self,
        acts: &[(EdgeId, &[Element])],
        rules: &[RuleId],
    ) -> Result<Structure, PositionError> {
        let arena = self.game.arena();
        let mut structure = self.state.structure().clone();
        let mut changes = Vec::new();
        for (&(_, embedding), &id) in acts.iter().zip(rules) {
            if let Effect::Tuples { delete, add } = &arena.rule(id).effect {
                changes.push((delete, add, embedding));
            }
        }
        if changes.len() == acts.len() {
            changes
                .iter()
                .for_each(|(delete, _, embedding)| delete_all(&mut structure, delete, embedding));
            changes.iter().for_each(|(_, add, embedding)| add_all(&mut structure, add, embedding));
            return Ok(structure);
        }
        for (&(_, embedding), &id) in acts.iter().zip(rules) {
            let rule = arena.rule(id);
            if embedding.iter().all(|&element| structure.has(element)) {
                structure = apply(&rule.effect, &structure, embedding, self.game.growth())
                    .map_err(|error| self.rule_error(rule, &error))?
                    .structure;
            }
        }
        Ok(structure)
    }

    fn set_state(&mut self, state: State) {
        self.derived.take();
        self.payoffs.take();
        self.state = state;
    }
}

impl Position for Interpreter {
    type Move = Move;
    type State = State;

    fn shape(&self) -> &Shape {
        self.game.shape()
    }

    fn is_terminal(&self) -> bool {
        self.derived().terminal
    }

    fn legal_moves(&self, role: Role) -> &[Move] {
        &self.derived().legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let value = self.exact_payoffs().map_or(0.0, |payoffs| payoffs[player.index()].to_f64());
        value.clamp(*self.shape().payoffs.start(), *self.shape().payoffs.end())
    }

    fn advance(&mut self, joint: &[Move]) {
        let next = self.compute_next(joint);
        self.set_state(next.unwrap_or_else(|error| State::failed(&self.state, error)));
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
        self.derived().fault.as_ref().map(|fault| &fault.0)
    }

    fn is_legal(&self, role: Role, candidate: &Move) -> bool {
        // Edges are in order and embeddings are sorted, so the list is sorted.
        self.legal_moves(role).binary_search(candidate).is_ok()
    }

    fn chance(&self, nature_move: &Move) -> f64 {
        let arena = self.game.arena();
        let Some(nature) = arena.nature() else { return 0.0 };
        let moves = &self.derived().legal[nature];
        if !moves.contains(nature_move) {
            return 0.0;
        }
        let location = arena.location(self.state.location());
        match nature_move {
            Move::Noop => 1.0,
            Move::Outcome { edge, outcome } => {
                edge.edge(arena).outcomes[*outcome as usize].1.to_f64()
            }
            Move::Apply { edge, .. } => {
                let edges = &location.edges[nature];
                let of_edge = |index: usize| {
                    let is_of_edge = |m: &&Move| match m {
                        Move::Apply { edge, .. } => edge.index as usize == index,
                        Move::Noop | Move::Outcome { .. } => false,
                    };
                    moves.iter().filter(is_of_edge).count()
                };
                let Some(weight) = edges[edge.index as usize].weight else {
                    return 1.0 / moves.len() as f64;
                };
                // The probability of edges that cannot be taken is distributed among the others.
                let total: f64 = (0..edges.len())
                    .filter(|&other| of_edge(other) > 0)
                    .filter_map(|other| edges[other].weight)
                    .map(Rational::to_f64)
                    .sum();
                weight.to_f64() / total / of_edge(edge.index as usize) as f64
            }
        }
    }
}
