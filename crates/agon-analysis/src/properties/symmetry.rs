//! Symmetries of the board, and roles that are interchangeable.
//!
//! That roles are interchangeable is proved: with the names of the one and the other exchanged, and what belongs to them,
//! the rules are the same rules. Symmetries of the board are observed first: plays that are turned or mirrored, moves and all,
//! are plays again. Then they are proved where the circuit that the rules give is mapped onto itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use agon_circuit::Circuit;
use agon_datalog::{Symbol, TermId};
use agon_game::{Notation as _, Position as _, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::Compiled;
use agon_gdl::interpreter::Game;
use agon_gdl::rules::{Condition, Rule, RuleAtom, RuleTerm};
use agon_gdl::symbols::keyword;

use super::automorphism::{Permutation, is_automorphism};
use super::{Board, Fluent, Known, Plays};

/// A symmetry of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// What is done, in words.
    pub text: String,
    /// How it is known that play is the same after it.
    pub known: Known,
}

/// Plays that are mirrored.
const MAX_PLAYS: usize = 20;

pub(super) fn find(
    game: &Game,
    compiled: Option<&Compiled>,
    fluents: &[Fluent],
    boards: &[Board],
    plays: &Plays,
    deadline: Option<Instant>,
) -> Vec<Symmetry> {
    let mut found = roles(game);
    let Some(compiled) = compiled else { return found };
    let sorts = Sorts::new(game);
    // Rules that are alike give gates that are alike, until an optimiser is through with them. Made when it is first needed.
    let mut raw: Option<Option<Circuit>> = None;
    for board in boards {
        let places = board
            .arguments
            .map(|argument| Place::Fluent(board.name, n_arguments(fluents, board), argument));
        let [x, y] = places.map(|place| sorts.of(place));
        let (Some(x), Some(y)) = (x, y) else { continue };
        let name = game.rules().sheet().symbols.name(board.name);
        let [first, second] = board.arguments.map(|argument| argument + 1);
        let mirror = |axis: usize| -> BTreeMap<TermId, TermId> {
            let values = &board.axes[axis];
            values.iter().copied().zip(values.iter().rev().copied()).collect()
        };
        let mut tried: Vec<(String, Turn)> = Vec::new();
        if x != y {
            let one = |sort, axis| Turn {
                values: BTreeMap::from([(sort, mirror(axis))]),
                exchange: None,
            };
            tried.push((format!("{name} mirrored in argument {first}"), one(x, 0)));
            tried.push((format!("{name} mirrored in argument {second}"), one(y, 1)));
            let both = BTreeMap::from([(x, mirror(0)), (y, mirror(1))]);
            tried.push((format!("{name} turned round"), Turn { values: both, exchange: None }));
            if board.axes[0] == board.axes[1] {
                let exchange = Turn { values: BTreeMap::new(), exchange: Some((x, y)) };
                tried.push((
                    format!("{name} with arguments {first} and {second} exchanged"),
                    exchange,
                ));
            }
        } else {
            let both = Turn { values: BTreeMap::from([(x, mirror(0))]), exchange: None };
            tried.push((format!("{name} turned round"), both));
        }
        let n_plays = plays.plays.len().min(MAX_PLAYS) as u64;
        for (text, turn) in tried {
            if n_plays > 0 && is_kept(game, compiled, fluents, plays, &sorts, &turn) == Some(true) {
                let raw = raw.get_or_insert_with(|| ground(game, deadline)).as_ref();
                let is_proved = raw.is_some_and(|circuit| is_proved(game, circuit, &sorts, &turn));
                let known =
                    if is_proved { Known::Proved } else { Known::Observed { plays: n_plays } };
                found.push(Symmetry { text, known });
            }
        }
    }
    found
}

/// The circuit as the rules give it, if it is small enough to be looked at and there is time.
fn ground(game: &Game, deadline: Option<Instant>) -> Option<Circuit> {
    let mut limits = CircuitLimits { gates: MAX_RAW_GATES, ..CircuitLimits::default() };
    limits.ground.deadline = deadline;
    game.ground(&limits).ok().map(|ground| ground.circuit)
}

/// Larger circuits are not grounded once more for this.
const MAX_RAW_GATES: usize = 300_000;

/// Whether the circuit is mapped onto itself by the turn.
fn is_proved(game: &Game, circuit: &Circuit, sorts: &Sorts, turn: &Turn) -> bool {
    let of_fluent = |f: Symbol, n: usize, i: usize| sorts.of(Place::Fluent(f, n, i));
    let of_move = |f: Symbol, n: usize, i: usize| sorts.of(Place::Move(f, n, i));
    let turned = |texts: &[String], sort_of: &dyn Fn(Symbol, usize, usize) -> Option<usize>| {
        let places: BTreeMap<&str, usize> = texts.iter().map(String::as_str).zip(0..).collect();
        let to = |text: &String| {
            let term = turn.apply(game, game.parse(text)?, sort_of)?;
            places.get(game.text(term).as_str()).copied()
        };
        texts.iter().map(to).collect::<Option<Vec<usize>>>()
    };
    let bits = turned(&circuit.base, &of_fluent);
    let moves =
        circuit.roles.iter().map(|role| turned(&role.moves, &of_move)).collect::<Option<Vec<_>>>();
    match (bits, moves) {
        (Some(bits), Some(moves)) => is_automorphism(circuit, &Permutation { bits, moves }),
        _ => false,
    }
}

fn n_arguments(fluents: &[Fluent], board: &Board) -> usize {
    let own = fluents
        .iter()
        .find(|fluent| fluent.form.0 == board.name && fluent.form.1 > board.arguments[1]);
    own.map_or(0, |fluent| fluent.form.1)
}

/// A place where a value can stand.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    /// An argument of a fluent: name, number of arguments, which.
    Fluent(Symbol, usize, usize),
    /// The same of a move.
    Move(Symbol, usize, usize),
    /// The same of a relation that changes.
    Relation(Symbol, usize, usize),
}

/// Places between which values pass by way of variables; static relations do not count, because they relate what is
/// different.
struct Sorts {
    number: BTreeMap<Place, usize>,
    union: Vec<usize>,
}

impl Sorts {
    fn new(game: &Game) -> Sorts {
        let is_static = game.is_static();
        let mut sorts = Sorts { number: BTreeMap::new(), union: Vec::new() };
        for rule in game.rules().rules() {
            let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
            let atoms = rule.body.iter().filter_map(Condition::atom).chain([&rule.head]);
            for atom in atoms {
                let relation = (atom.relation, atom.arguments.len());
                let terms: Vec<(Place, &RuleTerm)> = match (relation, atom.arguments.last()) {
                    (
                        (keyword::TRUE | keyword::NEXT | keyword::INIT, 1),
                        Some(RuleTerm::Function(f, xs)),
                    ) => xs
                        .iter()
                        .enumerate()
                        .map(|(i, x)| (Place::Fluent(*f, xs.len(), i), x))
                        .collect(),
                    ((keyword::DOES | keyword::LEGAL, 2), Some(RuleTerm::Function(f, xs))) => xs
                        .iter()
                        .enumerate()
                        .map(|(i, x)| (Place::Move(*f, xs.len(), i), x))
                        .collect(),
                    (relation, _) if is_static.get(&relation) == Some(&false) => {
                        let places = atom.arguments.iter().enumerate();
                        places
                            .map(|(i, x)| (Place::Relation(relation.0, relation.1, i), x))
                            .collect()
                    }
                    _ => Vec::new(),
                };
                for (place, term) in terms {
                    let sort = sorts.sort(place);
                    if let RuleTerm::Variable(v) = term {
                        match seen.get(v) {
                            Some(&other) => sorts.unite(sort, other),
                            None => {
                                seen.insert(*v, sort);
                            }
                        }
                    }
                }
            }
        }
        sorts
    }

    fn sort(&mut self, place: Place) -> usize {
        let n_known = self.union.len();
        let sort = *self.number.entry(place).or_insert(n_known);
        if sort == n_known {
            self.union.push(sort);
        }
        sort
    }

    fn root(&self, mut sort: usize) -> usize {
        while self.union[sort] != sort {
            sort = self.union[sort];
        }
        sort
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.union[a.max(b)] = a.min(b);
    }

    fn of(&self, place: Place) -> Option<usize> {
        self.number.get(&place).map(|&sort| self.root(sort))
    }
}

/// What is done to the values of some sorts.
struct Turn {
    /// By sort: what becomes of each value.
    values: BTreeMap<usize, BTreeMap<TermId, TermId>>,
    /// Two sorts whose values change places.
    exchange: Option<(usize, usize)>,
}

impl Turn {
    /// What becomes of a term; `None` if that is no term of the game.
    fn apply(
        &self,
        game: &Game,
        term: TermId,
        sort_of: &dyn Fn(Symbol, usize, usize) -> Option<usize>,
    ) -> Option<TermId> {
        let bank = game.bank();
        let (name, n) = (bank.symbol(term), bank.arity(term));
        let mut arguments: Vec<TermId> = bank.arguments(term).collect();
        let sorts: Vec<Option<usize>> = (0..n).map(|argument| sort_of(name, n, argument)).collect();
        for (argument, sort) in arguments.iter_mut().zip(&sorts) {
            if let Some(values) = sort.and_then(|sort| self.values.get(&sort)) {
                *argument = values.get(argument).copied().unwrap_or(*argument);
            }
        }
        if let Some((x, y)) = self.exchange {
            let places =
                |of: usize| (0..n).filter(|&i| sorts[i] == Some(of)).collect::<Vec<usize>>();
            let (xs, ys) = (places(x), places(y));
            if xs.len() != ys.len() {
                return None;
            }
            xs.into_iter().zip(ys).for_each(|(i, j)| arguments.swap(i, j));
        }
        bank.find(name, &arguments)
    }
}

/// Whether plays are plays after the turn. `None` if it does not even make moves of moves.
fn is_kept(
    game: &Game,
    compiled: &Compiled,
    fluents: &[Fluent],
    plays: &Plays,
    sorts: &Sorts,
    turn: &Turn,
) -> Option<bool> {
    let place: BTreeMap<TermId, u32> = fluents.iter().map(|fluent| fluent.term).zip(0..).collect();
    let of_fluent = |f: Symbol, n: usize, i: usize| sorts.of(Place::Fluent(f, n, i));
    let of_move = |f: Symbol, n: usize, i: usize| sorts.of(Place::Move(f, n, i));
    let turned: Option<Vec<u32>> = fluents
        .iter()
        .map(|fluent| {
            turn.apply(game, fluent.term, &of_fluent).and_then(|term| place.get(&term).copied())
        })
        .collect();
    let turned = turned?;
    let start = compiled.start();
    let mut position = start.clone();
    let mut bits = Vec::new();
    for play in plays.plays.iter().take(MAX_PLAYS) {
        position.go_to(start.state());
        for seen in play {
            position.features(&mut bits);
            let mut expected: Vec<u32> =
                seen.fluents.iter().map(|&fluent| turned[fluent as usize]).collect();
            expected.sort_unstable();
            bits.sort_unstable();
            let n_legal = |role: usize| position.legal_moves(Role::new(role)).len();
            let is_alike = bits == expected
                && position.is_terminal() == seen.is_terminal
                && seen.legal.iter().enumerate().all(|(role, legal)| n_legal(role) == legal.len())
                && (seen.payoffs.iter().enumerate())
                    .all(|(role, &pay)| position.payoff(Role::new(role)) == pay);
            if !is_alike {
                return Some(false);
            }
            if seen.joint.is_empty() {
                break;
            }
            let mut joint = Vec::new();
            for (role, &m) in seen.joint.iter().enumerate() {
                let term = game.parse(&plays.moves[role][m as usize])?;
                let text = game.text(turn.apply(game, term, &of_move)?);
                let Some(m) = position.parse_move(Role::new(role), &text) else {
                    return Some(false);
                };
                joint.push(m);
            }
            position.advance(&joint);
        }
    }
    Some(true)
}

/// Pairs of roles that can be exchanged.
fn roles(game: &Game) -> Vec<Symmetry> {
    let rules = game.rules().rules();
    let symbols = &game.rules().sheet().symbols;
    let identity = |symbol: Symbol| symbol;
    let all: BTreeSet<String> = rules.iter().map(|rule| canonical(rule, &identity)).collect();
    let mut found = Vec::new();
    let players: Vec<Symbol> =
        game.shape().players().map(|role| game.rules().roles()[role.index()]).collect();
    for (place, &a) in players.iter().enumerate() {
        for &b in &players[place + 1..] {
            let exchange = exchange(rules, a, b);
            let to = |symbol: Symbol| exchange.get(&symbol).copied().unwrap_or(symbol);
            // An exchange undoes itself, and numbers mean what they say.
            let is_exchange = exchange.iter().all(|(from, to)| {
                exchange.get(to) == Some(from)
                    && (from == to || symbols.name(*from).parse::<i64>().is_err())
            });
            if !is_exchange {
                continue;
            }
            let is_same = |rule: &&Rule| all.contains(&canonical(rule, &to));
            let (initial, others): (Vec<&Rule>, Vec<&Rule>) =
                rules.iter().partition(|rule| rule.head.relation == keyword::INIT);
            if !others.iter().all(is_same) {
                continue;
            }
            let but = if initial.iter().all(is_same) { "" } else { " but for the initial state" };
            let with: Vec<String> = exchange
                .iter()
                .filter(|(from, to)| from < to && **from != a && **from != b)
                .map(|(&from, &to)| format!("{} and {}", symbols.name(from), symbols.name(to)))
                .collect();
            let with = if with.is_empty() {
                String::new()
            } else {
                format!(", with {},", with.join(", "))
            };
            let (a, b) = (symbols.name(a), symbols.name(b));
            found.push(Symmetry {
                text: format!("{a} and {b}{with} are interchangeable{but}"),
                known: Known::Proved,
            });
        }
    }
    found
}

/// What has to be exchanged along with two roles, as far as facts leave no choice.
fn exchange(rules: &[Rule], a: Symbol, b: Symbol) -> BTreeMap<Symbol, Symbol> {
    let mut map = BTreeMap::from([(a, b), (b, a)]);
    let facts: Vec<(Symbol, Vec<Symbol>)> = rules
        .iter()
        .filter(|rule| rule.body.is_empty() && rule.head.relation != keyword::INIT)
        .filter_map(|rule| {
            let constants: Option<Vec<Symbol>> =
                rule.head.arguments.iter().map(RuleTerm::as_constant).collect();
            Some((rule.head.relation, constants?))
        })
        .collect();
    loop {
        let n_before = map.len();
        for (relation, fact) in &facts {
            let is_touched =
                fact.iter().any(|symbol| map.get(symbol).is_some_and(|to| to != symbol));
            if !is_touched || fact.iter().all(|symbol| map.contains_key(symbol)) {
                continue;
            }
            let fits = |other: &&(Symbol, Vec<Symbol>)| {
                other.0 == *relation
                    && other.1.len() == fact.len()
                    && fact
                        .iter()
                        .zip(&other.1)
                        .all(|(from, to)| map.get(from).is_none_or(|known| known == to))
            };
            let images: Vec<&(Symbol, Vec<Symbol>)> = facts.iter().filter(fits).collect();
            if let [(_, image)] = images.as_slice() {
                for (&from, &to) in fact.iter().zip(image) {
                    map.entry(from).or_insert(to);
                    map.entry(to).or_insert(from);
                }
            }
        }
        if map.len() == n_before {
            return map;
        }
    }
}

/// A rule as text that does not depend on the names of variables nor, mostly, on the order of conditions.
fn canonical(rule: &Rule, to: &dyn Fn(Symbol) -> Symbol) -> String {
    let mut body: Vec<&Condition> = rule.body.iter().collect();
    body.sort_by_cached_key(|condition| condition_text(condition, to, &|_| "?".to_owned()));
    let mut names: BTreeMap<u32, usize> = BTreeMap::new();
    let mut number = |v: u32| {
        let n_known = names.len();
        names.entry(v).or_insert(n_known);
    };
    rule.head.each_variable(&mut number);
    body.iter().for_each(|condition| condition.each_variable(&mut number));
    let name = |v: u32| format!("?{}", names[&v]);
    // With variables named, the order is made once more: conditions that differ in them only may stand either way.
    let mut texts: Vec<String> =
        body.iter().map(|condition| condition_text(condition, to, &name)).collect();
    texts.sort();
    format!("{} <= {}", atom_text(&rule.head, to, &name), texts.join(" "))
}

fn condition_text(
    condition: &Condition,
    to: &dyn Fn(Symbol) -> Symbol,
    name: &dyn Fn(u32) -> String,
) -> String {
    match condition {
        Condition::Holds(atom) => atom_text(atom, to, name),
        Condition::Fails(atom) => format!("not {}", atom_text(atom, to, name)),
        Condition::Differ(a, b, _) => {
            let mut sides = [term_text(a, to, name), term_text(b, to, name)];
            sides.sort();
            format!("distinct {} {}", sides[0], sides[1])
        }
    }
}

fn atom_text(
    atom: &RuleAtom,
    to: &dyn Fn(Symbol) -> Symbol,
    name: &dyn Fn(u32) -> String,
) -> String {
    let arguments: Vec<String> =
        atom.arguments.iter().map(|argument| term_text(argument, to, name)).collect();
    // Relations keep their names: only what they speak of is exchanged.
    format!("({:?} {})", atom.relation, arguments.join(" "))
}

fn term_text(
    term: &RuleTerm,
    to: &dyn Fn(Symbol) -> Symbol,
    name: &dyn Fn(u32) -> String,
) -> String {
    match term {
        RuleTerm::Variable(v) => name(*v),
        RuleTerm::Function(symbol, arguments) => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| term_text(argument, to, name)).collect();
            format!("({:?} {})", to(*symbol), arguments.join(" "))
        }
    }
}
