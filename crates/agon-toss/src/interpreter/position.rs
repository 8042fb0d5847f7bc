//! A position of a game played by its definition.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Fault, Position, Role, Shape};
use agon_structures::evaluate::{Assignment, Evaluator, Followed, Refusal, Solutions, TermQuery};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, Structure};
use agon_text::Span;

use super::game::{Game, assignment};
use super::matched::Matched;
use crate::arena::{ArenaRule, CheckedArena, Edge, Effect, LocationId, RuleId};
use crate::rewrite::{add_all, apply, delete_all};

/// A move.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Move {
    /// Somebody else moves.
    Noop,
    /// An edge of the location is taken, and its rule applied to a match.
    Apply {
        /// The edge.
        edge: EdgePlace,
        /// The match.
        elements: Matched,
    },
    /// Nature decides which of several outcomes an edge has.
    Outcome {
        /// The edge.
        edge: EdgePlace,
        /// The index of the outcome.
        outcome: u32,
    },
}

/// Where an edge is in the arena. It tells a move its name wherever somebody looks at it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EdgePlace {
    /// The location it leads out of.
    pub location: LocationId,
    /// Whose it is.
    pub player: u32,
    /// Its index among those of the player there.
    pub index: u32,
}

impl EdgePlace {
    /// The edge itself.
    pub fn edge(self, arena: &CheckedArena) -> &Edge {
        &arena.location(self.location).edges[self.player as usize][self.index as usize]
    }
}

/// A structure and a location, with what else decides how play goes on.
#[derive(Clone, Debug)]
pub struct State(Arc<Content>);

#[derive(Debug)]
struct Content {
    structure: Structure,
    location: LocationId,
    /// Those of the remembered rules that have been applied.
    history: Arc<BTreeSet<RuleId>>,
    /// An edge that has been taken, and nature has not yet decided where it leads.
    pending: Option<EdgePlace>,
    key: u64,
    /// Why the state could not be worked out, and the place to blame.
    fault: Option<(Fault, Span)>,
}

impl State {
    pub(super) fn new(
        structure: Structure,
        location: LocationId,
        history: Arc<BTreeSet<RuleId>>,
        pending: Option<EdgePlace>,
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
            // Moves are told by names, so states that differ in names are different.
            key = mix(key, structure.names_key());
        }
        State(Arc::new(Content { structure, location, history, pending, key, fault: None }))
    }

    fn broken(before: &State, refused: Refused) -> State {
        let Content { structure, location, history, pending, key, .. } = &*before.0;
        State(Arc::new(Content {
            structure: structure.clone(),
            location: *location,
            history: Arc::clone(history),
            pending: *pending,
            key: mix(*key, u64::MAX),
            fault: Some((Fault::Refused(refused.why), refused.span)),
        }))
    }

    /// The structure.
    pub fn structure(&self) -> &Structure {
        &self.0.structure
    }

    /// The location.
    pub fn location(&self) -> LocationId {
        self.0.location
    }

    /// The rules applied so far, of those that some history asks for.
    pub fn history(&self) -> &BTreeSet<RuleId> {
        &self.0.history
    }

    pub(super) fn pending(&self) -> Option<EdgePlace> {
        self.0.pending
    }
}

/// Two words to one, each bit of which depends on all bits of both (the finaliser of `SplitMix64`).
fn mix(a: u64, b: u64) -> u64 {
    let mut z = (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A position of a [`Game`]. What is asked is worked out once and kept until the state changes.
pub struct Interpreter {
    pub(super) game: Arc<Game>,
    evaluator: RefCell<Evaluator>,
    state: State,
    standing: OnceCell<Standing>,
    payoffs: OnceCell<Result<Vec<Rational>, Refused>>,
    /// By rule: the solutions of its condition at the state where it was last asked for, if matches are followed.
    followed: RefCell<Vec<Option<Solutions>>>,
}

struct Standing {
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
            standing: OnceCell::new(),
            payoffs: OnceCell::new(),
            followed: self.followed.clone(),
        }
    }
}

/// Why a position could not be worked out, for people, and the place to blame.
#[derive(Clone, Debug)]
struct Refused {
    why: String,
    span: Span,
}

impl Interpreter {
    pub(super) fn new(game: Arc<Game>) -> Interpreter {
        let state = game.initial().clone();
        let evaluator = RefCell::new(game.evaluator());
        let followed = RefCell::new(vec![None; game.arena().rules().len()]);
        let (standing, payoffs) = (OnceCell::new(), OnceCell::new());
        Interpreter { game, evaluator, state, standing, payoffs, followed }
    }

    /// The game it is a position of.
    pub fn game(&self) -> &Arc<Game> {
        &self.game
    }

    /// A position of the same game with another structure, at a location.
    pub fn at(&self, structure: Structure, location: LocationId) -> Interpreter {
        let state = State::new(structure, location, Arc::default(), None, self.game.keeps_universe);
        Interpreter { state, ..self.clone() }
    }

    /// What each role would get if play ended here, exactly.
    ///
    /// # Errors
    /// If a payoff has no value or costs too much, why.
    pub fn exact_payoffs(&self) -> Result<&[Rational], &str> {
        let payoffs = self.payoffs.get_or_init(|| self.work_out_payoffs());
        payoffs.as_deref().map_err(|refused| refused.why.as_str())
    }

    /// The matches of a rule here that keep its conditions, sorted.
    ///
    /// # Errors
    /// If they cost too much, why.
    pub fn matches(&self, id: RuleId) -> Result<Vec<Vec<Element>>, String> {
        let found = self.find_matches(id).map_err(|refused| refused.why)?;
        Ok(found.iter().map(|matched| matched.to_vec()).collect())
    }

    /// The place to blame for a fault here, if there is one.
    pub fn fault_span(&self) -> Option<Span> {
        self.standing().fault.as_ref().map(|fault| fault.1)
    }

    fn find_matches(&self, id: RuleId) -> Result<Vec<Matched>, Refused> {
        let rule = self.game.arena().rule(id);
        if !self.history_allows(rule) {
            return Ok(Vec::new());
        }
        let mut found =
            self.solutions(id).map_err(|refusal| self.blame(rule, &refusal.to_string()))?;
        if rule.post.is_some() {
            let mut kept = Vec::with_capacity(found.len());
            for matched in found {
                if self.check_post(id, &matched)? {
                    kept.push(matched);
                }
            }
            found = kept;
        }
        Ok(found)
    }

    /// The solutions of a rule's condition: from those at the state where it was last asked for, if matches are followed.
    fn solutions(&self, id: RuleId) -> Result<Vec<Matched>, Refusal> {
        let structure = self.state.structure();
        let query = self.game.questions.conditions[id.index()];
        let mut evaluator = self.evaluator.borrow_mut();
        if !self.game.follows(structure) {
            let found = evaluator.solve(query, structure, &Assignment::new())?;
            return Ok(found.iter().map(Matched::from).collect());
        }
        let kept = &mut self.followed.borrow_mut()[id.index()];
        let followed = match kept.take() {
            None => None,
            Some(last) => match evaluator.follow(query, &last, structure)? {
                Followed::To(found, _) | Followed::Same(found) => Some(found),
                Followed::Lost => None,
            },
        };
        let found = match followed {
            Some(found) => found,
            None => evaluator.solve_to_follow(query, structure)?,
        };
        let matches = found.iter().map(Iterator::collect).collect();
        *kept = Some(found);
        Ok(matches)
    }

    /// Whether the rules applied so far allow this one.
    pub fn history_allows(&self, rule: &ArenaRule) -> bool {
        rule.history.iter().all(|(earlier, holds)| self.state.history().contains(earlier) == *holds)
    }

    /// Whether the post-condition of a rule holds after it is applied to a match.
    ///
    /// # Errors
    /// If that costs too much, why.
    pub fn post_holds(&self, rule: RuleId, matched: &[Element]) -> Result<bool, String> {
        self.check_post(rule, matched).map_err(|refused| refused.why)
    }

    fn check_post(&self, id: RuleId, matched: &[Element]) -> Result<bool, Refused> {
        let rule = self.game.arena().rule(id);
        let (Some(post), Some(query)) = (&rule.post, self.game.questions.posts[id.index()]) else {
            return Ok(true);
        };
        let applied = apply(&rule.effect, self.state.structure(), matched, self.game.growth())
            .map_err(|why| self.blame(rule, &why.to_string()))?;
        let elements = assignment(&post.variables, &applied.elements);
        let holds = self.evaluator.borrow_mut().holds(query, &applied.structure, &elements);
        holds.map_err(|refusal| self.blame(rule, &refusal.to_string()))
    }

    fn blame(&self, rule: &ArenaRule, why: &str) -> Refused {
        let why = self.game.blame(why, &format!("rule `{}`", rule.name), rule.span);
        Refused { why, span: rule.span }
    }

    fn work_out_payoffs(&self) -> Result<Vec<Rational>, Refused> {
        let location = self.game.arena().location(self.state.location());
        let queries = &self.game.questions.payoffs[self.state.location().index()];
        let mut evaluator = self.evaluator.borrow_mut();
        let mut value = |(query, player): (&TermQuery, &String)| {
            let what = format!("the payoff of `{player}` at the location `{}`", location.name);
            let why = match evaluator.value(*query, self.state.structure(), &Assignment::new()) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => "it has no value".to_owned(),
                Err(refusal) => refusal.to_string(),
            };
            Err(Refused { why: self.game.blame(&why, &what, location.span), span: location.span })
        };
        queries.iter().zip(self.game.arena().players()).map(&mut value).collect()
    }

    fn standing(&self) -> &Standing {
        self.standing.get_or_init(|| {
            let found = match &self.state.0.fault {
                Some(fault) => Err(fault.clone()),
                None => self
                    .work_out_standing()
                    .map_err(|refused| (Fault::Refused(refused.why), refused.span)),
            };
            found.unwrap_or_else(|fault| Standing {
                terminal: true,
                legal: vec![Vec::new(); self.game.arena().players().len()],
                fault: Some(fault),
            })
        })
    }

    fn work_out_standing(&self) -> Result<Standing, Refused> {
        let arena = self.game.arena();
        let location = arena.location(self.state.location());
        let n_players = arena.players().len();
        if let Some(edge) = self.state.pending() {
            let mut legal = vec![vec![Move::Noop]; n_players];
            let n_outcomes = edge.edge(arena).outcomes.len();
            let nature = arena.nature().expect("an edge with several outcomes calls for nature");
            legal[nature] =
                (0..n_outcomes).map(|i| Move::Outcome { edge, outcome: i as u32 }).collect();
            return Ok(Standing { terminal: false, legal, fault: None });
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
                let matches = self.find_matches(way.rule)?;
                let location = self.state.location();
                let edge = EdgePlace { location, player: player as u32, index: index as u32 };
                moves.extend(
                    matches.into_iter().map(|matched| Move::Apply { edge, elements: matched }),
                );
            }
            // A player that is to act and cannot ends the play, as the definition has it.
            is_over = moves.is_empty();
            legal.push(moves);
        }
        if is_over {
            // Whoever reads the result must be able to rely on it.
            self.payoffs.get_or_init(|| self.work_out_payoffs()).clone()?;
            return Ok(Standing {
                terminal: true,
                legal: vec![Vec::new(); n_players],
                fault: None,
            });
        }
        Ok(Standing { terminal: false, legal, fault: None })
    }

    fn work_out_next(&self, joint: &[Move]) -> Result<State, Refused> {
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
        let acts: Vec<(EdgePlace, &[Element])> = joint
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
        let &(edge, _) = acts.first().expect("somebody acts where play has not ended");
        let (place, pending) = match edge.edge(arena).outcomes.as_slice() {
            [(target, _)] => (*target, None),
            _ => (self.state.location(), Some(edge)),
        };
        Ok(State::new(next, place, history, pending, keeps_universe))
    }

    /// Applies the rules of all who act. Where the universe stays, all tuples go and then all come, so that the order of the
    /// players does not matter; else one rule is applied after the other, and one whose elements are gone is not.
    fn apply_all(
        &self,
        acts: &[(EdgePlace, &[Element])],
        rules: &[RuleId],
    ) -> Result<Structure, Refused> {
        let arena = self.game.arena();
        let mut structure = self.state.structure().clone();
        let mut changes = Vec::new();
        for (&(_, matched), &id) in acts.iter().zip(rules) {
            if let Effect::Tuples { delete, add } = &arena.rule(id).effect {
                changes.push((delete, add, matched));
            }
        }
        if changes.len() == acts.len() {
            changes
                .iter()
                .for_each(|(delete, _, matched)| delete_all(&mut structure, delete, matched));
            changes.iter().for_each(|(_, add, matched)| add_all(&mut structure, add, matched));
            return Ok(structure);
        }
        for (&(_, matched), &id) in acts.iter().zip(rules) {
            let rule = arena.rule(id);
            if matched.iter().all(|&element| structure.has(element)) {
                structure = apply(&rule.effect, &structure, matched, self.game.growth())
                    .map_err(|why| self.blame(rule, &why.to_string()))?
                    .structure;
            }
        }
        Ok(structure)
    }

    fn set_state(&mut self, state: State) {
        self.standing.take();
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
        self.standing().terminal
    }

    fn legal_moves(&self, role: Role) -> &[Move] {
        &self.standing().legal[role.index()]
    }

    fn payoff(&self, player: Role) -> f64 {
        let value = self.exact_payoffs().map_or(0.0, |payoffs| payoffs[player.index()].to_f64());
        value.clamp(*self.shape().payoffs.start(), *self.shape().payoffs.end())
    }

    fn advance(&mut self, joint: &[Move]) {
        let next = self.work_out_next(joint);
        self.set_state(next.unwrap_or_else(|refused| State::broken(&self.state, refused)));
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
        self.standing().fault.as_ref().map(|fault| &fault.0)
    }

    fn is_legal(&self, role: Role, candidate: &Move) -> bool {
        // Edges in order, matches sorted: so the list is sorted.
        self.legal_moves(role).binary_search(candidate).is_ok()
    }

    fn chance(&self, nature_move: &Move) -> f64 {
        let arena = self.game.arena();
        let Some(nature) = arena.nature() else { return 0.0 };
        let moves = &self.standing().legal[nature];
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
                    let is_of = |m: &&Move| matches!(m, Move::Apply { edge, .. } if edge.index as usize == index);
                    moves.iter().filter(is_of).count()
                };
                let Some(weight) = edges[edge.index as usize].weight else {
                    return 1.0 / moves.len() as f64;
                };
                // What cannot be applied leaves its share to the others.
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
