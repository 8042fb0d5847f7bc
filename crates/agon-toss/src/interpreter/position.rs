//! A position of a game played by its definition.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Fault, Position, Role, Shape};
use agon_logic::rational::Rational;
use agon_logic::structure::{Element, Structure};

use super::game::Game;
use crate::arena::{ArenaRule, Effect, LocationId, RuleId};
use crate::rewrite::{add_all, apply, delete_all};

/// A move.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Move {
    /// Somebody else moves.
    Noop,
    /// An edge of the location is taken, and its rule applied to a match.
    Apply {
        /// Who takes it.
        player: u32,
        /// The index of the edge among those of the role.
        edge: u32,
        /// The match.
        elements: Box<[Element]>,
    },
    /// Nature decides which of several outcomes an edge has.
    Outcome(u32),
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
    pending: Option<Pending>,
    key: u64,
    fault: Option<Fault>,
}

/// An edge with several outcomes that has been taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) player: usize,
    pub(super) edge: usize,
}

impl State {
    pub(super) fn new(
        structure: Structure,
        location: LocationId,
        history: Arc<BTreeSet<RuleId>>,
        pending: Option<Pending>,
        keeps_universe: bool,
    ) -> State {
        let mut key = mix(structure.key(), location.index() as u64);
        for rule in history.iter() {
            key = mix(key, 1 << 32 | rule.index() as u64);
        }
        if let Some(pending) = pending {
            key = mix(key, 2 << 32 | (pending.player as u64) << 16 | pending.edge as u64);
        }
        if !keeps_universe {
            // Moves are told by names, so states that differ in names are different.
            for element in structure.elements() {
                let name =
                    structure.name(element).bytes().fold(u64::from(element.id()), |k, b| mix(k, b.into()));
                key = key.wrapping_add(mix(3, name));
            }
        }
        State(Arc::new(Content { structure, location, history, pending, key, fault: None }))
    }

    fn broken(before: &State, fault: Fault) -> State {
        let Content { structure, location, history, pending, key, .. } = &*before.0;
        State(Arc::new(Content {
            structure: structure.clone(),
            location: *location,
            history: Arc::clone(history),
            pending: *pending,
            key: mix(*key, u64::MAX),
            fault: Some(fault),
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

    pub(super) fn pending(&self) -> Option<Pending> {
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
    state: State,
    standing: OnceCell<Standing>,
    payoffs: OnceCell<Result<Vec<Rational>, String>>,
}

struct Standing {
    terminal: bool,
    legal: Vec<Vec<Move>>,
    fault: Option<Fault>,
}

impl Clone for Interpreter {
    fn clone(&self) -> Interpreter {
        Interpreter {
            game: Arc::clone(&self.game),
            state: self.state.clone(),
            standing: OnceCell::new(),
            payoffs: OnceCell::new(),
        }
    }
}

/// Why a position could not be worked out, for people.
type Refused = String;

impl Interpreter {
    pub(super) fn new(game: Arc<Game>) -> Interpreter {
        let state = game.initial().clone();
        Interpreter { game, state, standing: OnceCell::new(), payoffs: OnceCell::new() }
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
        payoffs.as_deref().map_err(String::as_str)
    }

    /// The matches of a rule here that keep its conditions, sorted.
    ///
    /// # Errors
    /// If they cost too much, why.
    pub fn matches(&self, id: RuleId) -> Result<Vec<Vec<Element>>, String> {
        let rule = self.game.arena().rule(id);
        if !self.history_allows(rule) {
            return Ok(Vec::new());
        }
        let structure = self.state.structure();
        let mut found = self
            .game
            .solutions(structure, &rule.condition, &rule.elements)
            .map_err(|refusal| self.blame(rule, &refusal.to_string()))?;
        if rule.post.is_some() {
            let mut kept = Vec::with_capacity(found.len());
            for matched in found {
                if self.post_holds(rule, &matched)? {
                    kept.push(matched);
                }
            }
            found = kept;
        }
        Ok(found)
    }

    /// Whether the rules applied so far allow this one.
    pub fn history_allows(&self, rule: &ArenaRule) -> bool {
        rule.history.iter().all(|(earlier, holds)| self.state.history().contains(earlier) == *holds)
    }

    /// Whether the post-condition of a rule holds after it is applied to a match.
    ///
    /// # Errors
    /// If that costs too much, why.
    pub fn post_holds(&self, rule: &ArenaRule, matched: &[Element]) -> Result<bool, String> {
        let Some(post) = &rule.post else { return Ok(true) };
        let applied = apply(&rule.effect, self.state.structure(), matched, self.game.growth())
            .map_err(|why| self.blame(rule, &why.to_string()))?;
        self.game
            .holds(&applied.structure, &post.formula, &post.variables, &applied.elements)
            .map_err(|refusal| self.blame(rule, &refusal.to_string()))
    }

    fn blame(&self, rule: &ArenaRule, why: &str) -> String {
        self.game.blame(why, &format!("rule `{}`", rule.name), rule.span)
    }

    fn work_out_payoffs(&self) -> Result<Vec<Rational>, Refused> {
        let location = self.game.arena().location(self.state.location());
        let value = |(payoff, player): (&agon_logic::formula::Term, &String)| {
            let what = format!("the payoff of `{player}` at the location `{}`", location.name);
            match self.game.value(self.state.structure(), payoff) {
                Ok(Some(value)) => Ok(value),
                Ok(None) => Err(self.game.blame("it has no value", &what, location.span)),
                Err(refusal) => Err(self.game.blame(&refusal.to_string(), &what, location.span)),
            }
        };
        location.payoffs.iter().zip(self.game.arena().players()).map(value).collect()
    }

    fn standing(&self) -> &Standing {
        self.standing.get_or_init(|| {
            let found = match &self.state.0.fault {
                Some(fault) => Err(fault.clone()),
                None => self.work_out_standing().map_err(Fault::Refused),
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
        if let Some(Pending { player, edge }) = self.state.pending() {
            let mut legal = vec![vec![Move::Noop]; n_players];
            let n_outcomes = location.edges[player][edge].outcomes.len();
            let nature = arena.nature().expect("an edge with several outcomes calls for nature");
            legal[nature] = (0..n_outcomes).map(|i| Move::Outcome(i as u32)).collect();
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
            for (edge, way) in edges.iter().enumerate() {
                let matches = self.matches(way.rule)?;
                moves.extend(matches.into_iter().map(|matched| Move::Apply {
                    player: player as u32,
                    edge: edge as u32,
                    elements: matched.into(),
                }));
            }
            // A player that is to act and cannot ends the play, as the definition has it.
            is_over = moves.is_empty();
            legal.push(moves);
        }
        if is_over {
            // Whoever reads the result must be able to rely on it.
            self.exact_payoffs().map_err(str::to_owned)?;
            return Ok(Standing { terminal: true, legal: vec![Vec::new(); n_players], fault: None });
        }
        Ok(Standing { terminal: false, legal, fault: None })
    }

    fn work_out_next(&self, joint: &[Move]) -> Result<State, Refused> {
        let arena = self.game.arena();
        assert_eq!(joint.len(), arena.players().len(), "a joint move has one move for each role");
        let location = arena.location(self.state.location());
        let keeps_universe = self.game.keeps_universe;
        let structure = self.state.structure();
        if let Some(Pending { player, edge }) = self.state.pending() {
            let outcomes = &location.edges[player][edge].outcomes;
            let chosen =
                joint.iter().find_map(|m| if let Move::Outcome(chosen) = m { Some(*chosen) } else { None });
            let target = outcomes[chosen.expect("nature's move is an outcome") as usize].0;
            let history = Arc::clone(&self.state.0.history);
            return Ok(State::new(structure.clone(), target, history, None, keeps_universe));
        }
        let mut acts: Vec<(usize, usize, &[Element])> = Vec::new();
        for (player, m) in joint.iter().enumerate() {
            if let Move::Apply { edge, elements, .. } = m {
                acts.push((player, *edge as usize, elements));
            }
        }
        let rules: Vec<RuleId> =
            acts.iter().map(|&(player, edge, _)| location.edges[player][edge].rule).collect();
        let next = self.apply_all(&acts, &rules)?;
        let mut history = Arc::clone(&self.state.0.history);
        for rule in rules.iter().filter(|rule| self.game.remembered.contains(rule)) {
            if !history.contains(rule) {
                Arc::make_mut(&mut history).insert(*rule);
            }
        }
        let &(player, edge, _) = acts.first().expect("somebody acts where play has not ended");
        let outcomes = &location.edges[player][edge].outcomes;
        let (place, pending) = match outcomes.as_slice() {
            [(target, _)] => (*target, None),
            _ => (self.state.location(), Some(Pending { player, edge })),
        };
        Ok(State::new(next, place, history, pending, keeps_universe))
    }

    /// Applies the rules of all who act. Where the universe stays, all tuples go and then all come, so that the order of the
    /// players does not matter; else one rule is applied after the other, and one whose elements are gone is not.
    fn apply_all(&self, acts: &[(usize, usize, &[Element])], rules: &[RuleId]) -> Result<Structure, Refused> {
        let arena = self.game.arena();
        let mut structure = self.state.structure().clone();
        let mut changes = Vec::new();
        for (&(_, _, matched), &id) in acts.iter().zip(rules) {
            if let Effect::Tuples { delete, add } = &arena.rule(id).effect {
                changes.push((delete, add, matched));
            }
        }
        if changes.len() == acts.len() {
            changes.iter().for_each(|(delete, _, matched)| delete_all(&mut structure, delete, matched));
            changes.iter().for_each(|(_, add, matched)| add_all(&mut structure, add, matched));
            return Ok(structure);
        }
        for (&(_, _, matched), &id) in acts.iter().zip(rules) {
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
        self.set_state(next.unwrap_or_else(|why| State::broken(&self.state, Fault::Refused(why))));
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
        self.standing().fault.as_ref()
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
            Move::Outcome(chosen) => {
                let Some(Pending { player, edge }) = self.state.pending() else { return 0.0 };
                location.edges[player][edge].outcomes[*chosen as usize].1.to_f64()
            }
            Move::Apply { edge, .. } => {
                let edges = &location.edges[nature];
                let of_edge = |edge: usize| {
                    moves
                        .iter()
                        .filter(|m| matches!(m, Move::Apply { edge: e, .. } if *e as usize == edge))
                        .count()
                };
                let Some(weight) = edges[*edge as usize].weight else { return 1.0 / moves.len() as f64 };
                // What cannot be applied leaves its share to the others.
                let total: f64 = (0..edges.len())
                    .filter(|&other| of_edge(other) > 0)
                    .filter_map(|other| edges[other].weight)
                    .map(Rational::to_f64)
                    .sum();
                weight.to_f64() / total / of_edge(*edge as usize) as f64
            }
        }
    }
}
