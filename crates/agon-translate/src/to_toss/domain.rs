//! The terms of a game and a sample of states from random plays.
//!
//! The terms come from grounding, which assumes that negated conditions hold. The result is a
//! superset of the reachable terms, like the aggregate playout of Toss. Each argument position of a
//! state term is *named* (its values become part of predicate names) or a *coordinate*. Any choice
//! is correct. Which positions change while the others stay, and how the rules use them, decides
//! which choice is readable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_datalog::{Symbol, TermBank, TermId};
use agon_game::lockstep::Difference;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::sampling::{Sample, Sampler};
use super::{Construct, ToTossError, ToTossOptions};

/// Maximum number of values of a named position.
const MAX_NAMED: usize = 16;

/// Maximum number of predicates of one functor.
const MAX_NAMES: usize = 48;

/// Number of states of a differing play that are added to the sample. They are the last ones.
const ADDED_STATES: usize = 4;

/// A functor and its arity.
pub(super) type Functor = (Symbol, usize);

/// State terms or moves of a role with the same functor.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// For each position: whether its values are part of names.
    pub(super) named: Vec<bool>,
    /// For each position: its possible values.
    pub(super) values: Vec<BTreeSet<TermId>>,
    /// All possible terms.
    pub(super) terms: Vec<TermId>,
}

/// State terms of one shape with equal values at the named positions. A relation of the structures.
#[derive(Clone, Debug)]
pub(super) struct Predicate {
    pub(super) functor: Functor,
    /// Values at the named positions.
    pub(super) names: Vec<TermId>,
    /// Possible coordinates.
    pub(super) rows: Vec<Vec<TermId>>,
}

/// The terms and samples of a game.
pub(super) struct Domain {
    pub(super) game: Arc<Game>,
    pub(super) bank: Arc<TermBank>,
    pub(super) state: BTreeMap<Functor, Shape>,
    /// Moves by role.
    pub(super) moves: Vec<BTreeMap<Functor, Shape>>,
    pub(super) predicates: Vec<Predicate>,
    by_names: BTreeMap<(Functor, Vec<TermId>), usize>,
    pub(super) samples: Vec<Sample>,
    /// Number of samples from the first plays. The other samples come from plays with rarely legal
    /// moves, or from plays in which a translation differed.
    pub(super) n_first: usize,
    /// Number of times that the sample was found to be incomplete.
    pub(super) n_revisions: usize,
    /// Plays the game.
    pub(super) sampler: Sampler,
}

impl Domain {
    /// Collects the terms and samples random plays.
    pub(super) fn new(game: &Arc<Game>, options: &ToTossOptions) -> Result<Domain, ToTossError> {
        options.begin("grounding")?;
        let bank = Arc::clone(game.bank());
        let mut limits = CircuitLimits { gates: options.gates, ..CircuitLimits::default() };
        limits.ground.steps = options.steps;
        limits.ground.rules = options.gates;
        limits.ground.deadline = options.deadline;
        let (base, inputs, circuit) = match game.ground(&limits) {
            Ok(ground) => {
                let parse =
                    |texts: &[String]| texts.iter().filter_map(|text| game.parse(text)).collect();
                let moves = ground.circuit.roles.iter().map(|role| parse(&role.moves));
                let moves: Vec<Vec<TermId>> = moves.collect();
                (parse(&ground.circuit.base), moves, Some(ground.circuit))
            }
            // The terms alone can be computed for larger games than a circuit.
            Err(error) => match game.reachable(&limits.ground) {
                Ok(reachable) => (reachable.base, reachable.moves, None),
                Err(_) => {
                    return Err(ToTossError {
                        construct: Construct::Size,
                        why: format!("too large: {}", game.refusal_text(&error)),
                        line: None,
                    });
                }
            },
        };
        options.begin("sampling")?;
        let state = shapes(&bank, base.into_iter());
        let moves = inputs.into_iter().map(|moves| shapes(&bank, moves.into_iter())).collect();
        let sampler = Sampler::new(game, circuit);
        let mut samples = sampler.samples(options);
        let n_first = samples.len();
        samples.extend(sampler.rare_samples(&samples, options));
        let mut domain = Domain {
            game: Arc::clone(game),
            bank,
            state,
            moves,
            predicates: Vec::new(),
            by_names: BTreeMap::new(),
            n_first,
            samples,
            n_revisions: 0,
            sampler,
        };
        domain.name_state_positions();
        domain.name_move_positions();
        domain.list_predicates();
        Ok(domain)
    }

    /// Returns the predicate of a functor with these values at its named positions.
    pub(super) fn predicate(&self, functor: Functor, names: &[TermId]) -> Option<usize> {
        self.by_names.get(&(functor, names.to_vec())).copied()
    }

    /// Returns the predicate and the coordinates of a state term.
    pub(super) fn place(&self, term: TermId) -> Option<(usize, Vec<TermId>)> {
        let functor = (self.bank.symbol(term), self.bank.arity(term));
        let shape = self.state.get(&functor)?;
        let (names, coordinates) = split(&self.bank, shape, term);
        Some((self.predicate(functor, &names)?, coordinates))
    }

    /// Adds the last states of plays to the sample in which a translation differed.
    pub(super) fn add_differing_plays(&mut self, differences: &[Difference]) {
        for difference in differences {
            let states = self.sampler.replayed(&difference.moves);
            // The wrong step is the last one, or the missing move would be the next one.
            let first = states.len().saturating_sub(ADDED_STATES);
            self.samples.extend(states.into_iter().skip(first));
        }
        self.n_revisions += 1;
    }

    fn list_predicates(&mut self) {
        for (&functor, shape) in &self.state {
            let mut rows: BTreeMap<Vec<TermId>, Vec<Vec<TermId>>> = BTreeMap::new();
            for &term in &shape.terms {
                let (names, coordinates) = split(&self.bank, shape, term);
                rows.entry(names).or_default().push(coordinates);
            }
            for (names, rows) in in_rule_order(&self.game, &self.bank, rows) {
                self.by_names.insert((functor, names.clone()), self.predicates.len());
                self.predicates.push(Predicate { functor, names, rows });
            }
        }
    }

    /// Chooses the named positions of state terms. A position is named if the rules use its values
    /// only as constants, or if it changes while the others stay, like the contents of a cell. A
    /// position that static relations connect to other values is a place, not a name.
    fn name_state_positions(&mut self) {
        let roles: BTreeSet<TermId> = self.game.role_terms().iter().copied().collect();
        let statics = static_columns(&self.game, &roles);
        let rules = self.game.rules().rules().to_vec();
        let functors: Vec<Functor> = self.state.keys().copied().collect();
        for functor in functors {
            // From the last position, because contents are usually written last.
            for position in (0..functor.1).rev() {
                let shape = &self.state[&functor];
                let values = &shape.values[position];
                let n_names: usize = shape
                    .named
                    .iter()
                    .zip(&shape.values)
                    .filter(|(named, _)| **named)
                    .map(|(_, v)| v.len())
                    .product();
                if values.len() > MAX_NAMED || values.len() * n_names > MAX_NAMES {
                    continue;
                }
                let are_roles = values.is_subset(&roles);
                let mut found = occurrences(&rules, keyword::TRUE, functor)
                    .chain(heads(&rules, keyword::NEXT, functor))
                    .chain(heads(&rules, keyword::INIT, functor));
                let by_name = found.all(|(rule, arguments)| match &arguments[position] {
                    RuleTerm::Variable(v) => is_role_variable(rule, *v),
                    other => is_ground(other),
                });
                let mut found = occurrences(&rules, keyword::TRUE, functor).chain(heads(
                    &rules,
                    keyword::NEXT,
                    functor,
                ));
                let is_place = found.any(|(rule, arguments)| match &arguments[position] {
                    RuleTerm::Variable(v) => is_related(rule, *v, &statics),
                    other => !is_ground(other),
                });
                let is_carried = heads(&rules, keyword::NEXT, functor)
                    .any(|(rule, arguments)| is_carried(rule, &arguments[position], values.len()));
                let is_single = self.is_function_of_others(functor, position);
                let is_content =
                    is_single && values.len() > 1 && (are_roles || !is_place && !is_carried);
                if by_name || is_content {
                    let shape = self.state.get_mut(&functor).expect("the functor is listed");
                    shape.named[position] = true;
                }
            }
        }
    }

    /// Returns whether no two terms of a sampled state differ only in this position and named ones.
    /// Also requires at least one term.
    fn is_function_of_others(&self, functor: Functor, position: usize) -> bool {
        let shape = &self.state[&functor];
        let mut seen = 0;
        for sample in &self.samples {
            let mut found: BTreeSet<Vec<TermId>> = BTreeSet::new();
            for &term in &sample.fluents {
                if self.bank.has_form(term, functor.0, functor.1) {
                    let rest = (0..functor.1).filter(|&p| p != position && !shape.named[p]);
                    let rest: Vec<TermId> = rest.map(|p| self.bank.argument(term, p)).collect();
                    seen += 1;
                    if !found.insert(rest) {
                        return false;
                    }
                }
            }
        }
        seen > 0
    }

    /// Chooses the named positions of moves. A position is named if its values become names of
    /// state terms, are roles, or occur only as constants.
    fn name_move_positions(&mut self) {
        let rules = self.game.rules().rules().to_vec();
        loop {
            let mut changed = false;
            for role in 0..self.moves.len() {
                let functors: Vec<Functor> = self.moves[role].keys().copied().collect();
                for functor in functors {
                    for position in 0..functor.1 {
                        let shape = &self.moves[role][&functor];
                        if shape.named[position] || shape.values[position].len() > MAX_NAMED {
                            continue;
                        }
                        if self.move_position_is_named(&rules, functor, position) {
                            let shape =
                                self.moves[role].get_mut(&functor).expect("the functor is listed");
                            shape.named[position] = true;
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn move_position_is_named(&self, rules: &[Rule], functor: Functor, position: usize) -> bool {
        let mut is_constant = true;
        for rule in rules {
            for atom in
                std::iter::once(&rule.head).chain(rule.body.iter().filter_map(Condition::atom))
            {
                let is_move = [keyword::LEGAL, keyword::DOES].contains(&atom.relation);
                let Some(RuleTerm::Function(symbol, arguments)) =
                    atom.arguments.get(1).filter(|_| is_move)
                else {
                    continue;
                };
                if (*symbol, arguments.len()) != functor {
                    continue;
                }
                match &arguments[position] {
                    RuleTerm::Variable(v) => {
                        is_constant = false;
                        if self.is_named_variable(rule, *v) {
                            return true;
                        }
                    }
                    other => is_constant &= is_ground(other),
                }
            }
        }
        is_constant
    }

    /// Returns whether a variable occurs at a named position of a state term or move, or is a role.
    fn is_named_variable(&self, rule: &Rule, variable: u32) -> bool {
        if is_role_variable(rule, variable) {
            return true;
        }
        let atoms = std::iter::once(&rule.head).chain(rule.body.iter().filter_map(Condition::atom));
        atoms.into_iter().any(|atom| {
            let (argument, shapes): (_, Vec<&BTreeMap<Functor, Shape>>) = match atom.relation {
                keyword::TRUE | keyword::NEXT => (atom.arguments.first(), vec![&self.state]),
                keyword::LEGAL | keyword::DOES => {
                    (atom.arguments.get(1), self.moves.iter().collect())
                }
                _ => return false,
            };
            let Some(RuleTerm::Function(symbol, arguments)) = argument else { return false };
            let functor = (*symbol, arguments.len());
            shapes.iter().filter_map(|shapes| shapes.get(&functor)).any(|shape| {
                arguments
                    .iter()
                    .zip(&shape.named)
                    .any(|(argument, named)| *named && argument.mentions(variable))
            })
        })
    }
}

/// Returns the values of a term at the named positions, and those at the other positions.
pub(super) fn split(bank: &TermBank, shape: &Shape, term: TermId) -> (Vec<TermId>, Vec<TermId>) {
    let (mut names, mut coordinates) = (Vec::new(), Vec::new());
    for (argument, named) in bank.arguments(term).zip(&shape.named) {
        if *named { names.push(argument) } else { coordinates.push(argument) }
    }
    (names, coordinates)
}

/// Sorts what belongs to names by the places at which their symbols first occur in the rules. The
/// numbers of terms depend on the order in which relations are evaluated, which must not show in a
/// translation.
pub(super) fn in_rule_order<T>(
    game: &Game,
    bank: &TermBank,
    items: BTreeMap<Vec<TermId>, T>,
) -> impl Iterator<Item = (Vec<TermId>, T)> {
    let key = |name: &TermId| (bank.symbol(*name), game.text(*name));
    let mut items: Vec<(Vec<TermId>, T)> = items.into_iter().collect();
    items.sort_by_cached_key(|(names, _)| names.iter().map(key).collect::<Vec<_>>());
    items.into_iter()
}

fn shapes(bank: &TermBank, terms: impl Iterator<Item = TermId>) -> BTreeMap<Functor, Shape> {
    let mut shapes: BTreeMap<Functor, Shape> = BTreeMap::new();
    for term in terms {
        let functor = (bank.symbol(term), bank.arity(term));
        let shape = shapes.entry(functor).or_insert_with(|| Shape {
            named: vec![false; functor.1],
            values: vec![BTreeSet::new(); functor.1],
            terms: Vec::new(),
        });
        for (argument, values) in bank.arguments(term).zip(&mut shape.values) {
            values.insert(argument);
        }
        shape.terms.push(term);
    }
    shapes
}

fn is_ground(term: &RuleTerm) -> bool {
    let mut ground = true;
    term.each_variable(&mut |_| ground = false);
    ground
}

/// Returns whether a variable is a role: the first argument of `does`, `legal`, `goal` or `role`.
fn is_role_variable(rule: &Rule, variable: u32) -> bool {
    let is_role = |atom: &RuleAtom| {
        [keyword::DOES, keyword::LEGAL, keyword::GOAL, keyword::ROLE].contains(&atom.relation)
            && atom.arguments.first() == Some(&RuleTerm::Variable(variable))
    };
    is_role(&rule.head)
        || rule.body.iter().any(|c| matches!(c, Condition::Holds(atom) if is_role(atom)))
}

/// The static relations, and for each column whether it contains only roles.
type Columns = BTreeMap<(Symbol, usize), Vec<bool>>;

fn static_columns(game: &Game, roles: &BTreeSet<TermId>) -> Columns {
    let statics = game.is_static().into_iter().filter(|(_, is_static)| *is_static);
    let mut columns: Columns =
        statics.map(|(relation, _)| (relation, vec![false; relation.1])).collect();
    for (relation, rows) in game.static_rows() {
        let holds_roles = |column: usize| rows.iter().all(|row| roles.contains(&row[column]));
        columns.insert(relation, (0..relation.1).map(holds_roles).collect());
    }
    columns
}

/// Returns whether a static relation connects a variable to another variable that is not a role.
fn is_related(rule: &Rule, variable: u32, statics: &Columns) -> bool {
    let mut related = false;
    for atom in rule.body.iter().filter_map(Condition::atom) {
        let Some(roles) = statics.get(&(atom.relation, atom.arguments.len())) else { continue };
        if atom.arguments.iter().any(|argument| argument.mentions(variable)) {
            for (argument, _) in atom.arguments.iter().zip(roles).filter(|(_, is_role)| !**is_role)
            {
                argument
                    .each_variable(&mut |v| related |= v != variable && !is_role_variable(rule, v));
            }
        }
    }
    related
}

/// Returns whether a value of the next state is carried over from another term of the state. Then a
/// variable is better than names.
fn is_carried(rule: &Rule, argument: &RuleTerm, n_values: usize) -> bool {
    let RuleTerm::Variable(v) = argument else { return false };
    let head = &rule.head.arguments[0];
    n_values > 4
        && !is_role_variable(rule, *v)
        && rule.body.iter().any(|condition| match condition {
            Condition::Holds(atom) => {
                atom.relation == keyword::TRUE
                    && atom.arguments[0] != *head
                    && atom.arguments[0].mentions(*v)
            }
            Condition::Fails(_) | Condition::Differ(..) => false,
        })
}

type Found<'r> = (&'r Rule, &'r [RuleTerm]);

/// Returns the arguments of state terms of a functor in the heads of a relation.
fn heads<'r>(
    rules: &'r [Rule],
    relation: Symbol,
    functor: Functor,
) -> impl Iterator<Item = Found<'r>> {
    rules.iter().filter(move |rule| rule.head.relation == relation).filter_map(move |rule| {
        match rule.head.arguments.first() {
            Some(RuleTerm::Function(symbol, arguments))
                if (*symbol, arguments.len()) == functor =>
            {
                Some((rule, arguments.as_slice()))
            }
            _ => None,
        }
    })
}

/// Returns the arguments of state terms of a functor in conditions.
fn occurrences<'r>(
    rules: &'r [Rule],
    relation: Symbol,
    functor: Functor,
) -> impl Iterator<Item = Found<'r>> {
    rules.iter().flat_map(move |rule| {
        rule.body.iter().filter_map(Condition::atom).filter_map(move |atom| {
            match atom.arguments.first() {
                Some(RuleTerm::Function(symbol, arguments))
                    if atom.relation == relation && (*symbol, arguments.len()) == functor =>
                {
                    Some((rule, arguments.as_slice()))
                }
                _ => None,
            }
        })
    })
}
