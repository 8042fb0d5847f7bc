//! Symmetries of a game, tested on states of random play.
//!
//! A symmetry is a permutation of the facts under which the children of a state are mapped onto the
//! children of its image. Some symmetries exchange the players: the board is turned, the pieces
//! change their colours, and the other player is to move. Candidates come from the geometry of the
//! boards. They are tested, not proved, because a wrong one costs strength and not correctness.

use std::collections::BTreeMap;

use agon_game::{Batch, Children, Position};

use crate::units::{Cell, Unit, holds};

/// A permutation of facts and units that leaves the rules as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symmetry {
    /// By fact: its image.
    pub(crate) facts: Vec<u32>,
    /// By unit: its image.
    pub(crate) units: Vec<usize>,
}

/// The symmetries of a game.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symmetries {
    /// Those that keep the players.
    pub(crate) of_board: Vec<Symmetry>,
    /// One that exchanges the players, if there is one.
    pub(crate) of_players: Option<Symmetry>,
}

/// Number of states by which a candidate is tested.
const N_TESTED: usize = 40;

/// What symmetries are found for.
pub(crate) struct Subject<'a, P: Position> {
    pub(crate) position: &'a P,
    pub(crate) batch: &'a mut dyn Batch<State = P::State, Move = P::Move>,
    /// The texts of all facts.
    pub(crate) texts: &'a [String],
    pub(crate) units: &'a [Unit],
    /// Sampled states.
    pub(crate) states: &'a [P::State],
}

impl<P: Position> Subject<'_, P> {
    /// Finds symmetries of the game.
    pub(crate) fn find(&mut self) -> Symmetries {
        let mut found = Symmetries::default();
        let players: Vec<usize> =
            self.position.shape().players().map(agon_game::Role::index).collect();
        let maps: Vec<UnitMap> = Turn::ALL.iter().filter_map(|turn| self.unit_map(*turn)).collect();
        for (turn, units) in &maps {
            let same = self.permutation(units, &|content| content.to_owned(), &|fact| fact);
            if let Some(symmetry) = same
                && *turn != Turn::IDENTITY
                && self.holds(&symmetry, &players, false)
            {
                found.of_board.push(symmetry);
            }
        }
        if players.len() == 2 {
            found.of_players = self.exchange(&maps, &players);
        }
        found
    }

    /// Finds a symmetry that exchanges the two players.
    fn exchange(&mut self, maps: &[UnitMap], players: &[usize]) -> Option<Symmetry> {
        let names = &self.position.shape().role_names;
        let roles = [names[players[0]].clone(), names[players[1]].clone()];
        let swapped: BTreeMap<String, u32> =
            (0..).zip(self.texts).map(|(fact, text)| (words(text), fact)).collect();
        let by_name: Vec<u32> = (0..)
            .zip(self.texts)
            .map(|(fact, text)| {
                swapped.get(&exchange_words(&words(text), &roles)).copied().unwrap_or(fact)
            })
            .collect();
        for (_, units) in maps {
            for contents in self.content_maps(units, &roles) {
                let content = |content: &str| {
                    contents.get(content).cloned().unwrap_or_else(|| content.to_owned())
                };
                let other = |fact: u32| by_name[fact as usize];
                if let Some(symmetry) = self.permutation(units, &content, &other)
                    && self.holds(&symmetry, players, true)
                {
                    return Some(symmetry);
                }
            }
        }
        None
    }

    /// Returns how contents may change when the players are exchanged: as the names of the roles
    /// say, as the initial position says, or by exchanging any two of them.
    fn content_maps(&self, units: &[usize], roles: &[String; 2]) -> Vec<BTreeMap<String, String>> {
        let mut all: Vec<&str> = self
            .units
            .iter()
            .filter(|unit| unit.cell.is_some())
            .flat_map(|unit| {
                let default = unit.default.as_ref().map(|(_, content)| content);
                unit.contents.iter().chain(default).map(String::as_str)
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut maps = Vec::new();
        let named = |content: &&str| ((*content).to_owned(), exchange_words(content, roles));
        maps.push(all.iter().map(named).collect());
        if let Some(initial) = self.initial_content_map(units) {
            let left: Vec<&str> =
                all.iter().copied().filter(|content| !initial.contains_key(*content)).collect();
            for pairs in pairings(&left) {
                let mut map = initial.clone();
                for (a, b) in pairs {
                    map.insert(a.to_owned(), b.to_owned());
                    map.insert(b.to_owned(), a.to_owned());
                }
                maps.push(map);
            }
        }
        for (n, a) in all.iter().enumerate() {
            for b in &all[n + 1..] {
                if all.len() <= 4 {
                    let map = [(a, b), (b, a)].map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
                    maps.push(BTreeMap::from(map));
                }
            }
        }
        maps
    }

    /// Returns the map of contents that turns the initial position into itself.
    fn initial_content_map(&self, units: &[usize]) -> Option<BTreeMap<String, String>> {
        let state = P::state_words(self.position.state())?;
        let content = |unit: &Unit| {
            let n = unit.facts.iter().position(|&fact| holds(state, fact));
            n.map(|n| unit.contents[n].clone())
        };
        let mut map = BTreeMap::new();
        for (unit, &image) in self.units.iter().zip(units) {
            match (content(unit), content(&self.units[image])) {
                (Some(from), Some(to)) => {
                    if *map.entry(from).or_insert_with(|| to.clone()) != to {
                        return None;
                    }
                }
                (None, None) => {}
                (Some(_), None) | (None, Some(_)) if unit.cell.is_some() => return None,
                (Some(_), None) | (None, Some(_)) => {}
            }
        }
        Some(map)
    }

    /// Returns the permutation of units by a turn of all boards, if it is one.
    fn unit_map(&self, turn: Turn) -> Option<UnitMap> {
        let mut sizes: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let mut at: BTreeMap<Cell, usize> = BTreeMap::new();
        for (number, unit) in self.units.iter().enumerate() {
            if let Some(cell) = unit.cell {
                let size = sizes.entry(cell.board).or_default();
                *size = (size.0.max(cell.column + 1), size.1.max(cell.row + 1));
                at.insert(cell, number);
            }
        }
        let image = |(number, unit): (usize, &Unit)| match unit.cell {
            None => Some(number),
            Some(cell) => at.get(&turn.apply(cell, sizes[&cell.board])?).copied(),
        };
        let units: Vec<usize> = self.units.iter().enumerate().map(image).collect::<Option<_>>()?;
        is_permutation(&units).then_some((turn, units))
    }

    /// Returns the permutation of facts by maps of units, of contents, and of facts that are not
    /// part of a board.
    fn permutation(
        &self,
        units: &[usize],
        content: &dyn Fn(&str) -> String,
        other: &dyn Fn(u32) -> u32,
    ) -> Option<Symmetry> {
        let mut facts: Vec<u32> = (0..self.texts.len() as u32).map(other).collect();
        for (unit, &image) in self.units.iter().zip(units) {
            if unit.cell.is_none() {
                continue;
            }
            let image = &self.units[image];
            let default = unit.default.as_ref().map(|(fact, content)| (fact, content));
            for (&fact, own) in unit.facts.iter().zip(&unit.contents).chain(default) {
                let wanted = content(own);
                let place = image.contents.iter().position(|other| *other == wanted);
                let default = image.default.as_ref().filter(|(_, other)| *other == wanted);
                facts[fact as usize] =
                    place.map(|n| image.facts[n]).or(default.map(|(fact, _)| *fact))?;
            }
        }
        let numbers: Vec<usize> = facts.iter().map(|&fact| fact as usize).collect();
        is_permutation(&numbers).then(|| Symmetry { facts, units: units.to_vec() })
    }

    /// Tests a candidate on sampled states.
    fn holds(&mut self, symmetry: &Symmetry, players: &[usize], exchanges: bool) -> bool {
        let step = (self.states.len() / N_TESTED).max(1);
        let n_roles = self.position.shape().role_names.len();
        let [mut own, mut image] = [Children::new(n_roles), Children::new(n_roles)];
        let mut payoff_order: Vec<usize> = (0..n_roles).collect();
        if exchanges {
            payoff_order.swap(players[0], players[1]);
        }
        self.states.iter().step_by(step).all(|state| {
            let Some(words) = P::state_words(state) else { return false };
            let Some(mapped) = self.position.state_of_words(&symmetry.apply(words)) else {
                return false;
            };
            self.batch.expand(&[state], &mut own);
            self.batch.expand(&[&mapped], &mut image);
            let expected = described::<P>(&own, &payoff_order, |words| symmetry.apply(words));
            let identity: Vec<usize> = (0..n_roles).collect();
            expected == described::<P>(&image, &identity, <[u64]>::to_vec)
        })
    }
}

/// A turn of the boards with the permutation of the units by it.
type UnitMap = (Turn, Vec<usize>);

impl Symmetry {
    /// Returns the image of a state.
    pub(crate) fn apply(&self, words: &[u64]) -> Vec<u64> {
        let mut image = vec![0; words.len()];
        for (fact, &to) in (0..).zip(&self.facts) {
            if holds(words, fact) {
                image[to as usize / 64] |= 1 << (to % 64);
            }
        }
        image
    }
}

/// A child as it is compared: its state, whether play has ended, and the payoffs if so.
type Described = (Vec<u64>, bool, Vec<i64>);

/// Describes children in an order that does not depend on the engine's.
fn described<P: Position>(
    children: &Children<P::State, P::Move>,
    payoff_order: &[usize],
    map: impl Fn(&[u64]) -> Vec<u64>,
) -> Vec<Described> {
    let mut described: Vec<Described> = (0..children.len())
        .map(|child| {
            let words = P::state_words(&children.states[child]).unwrap_or(&[]);
            let ended = children.ended[child];
            let payoffs = children.payoffs(child);
            let payoffs = payoff_order.iter().filter(|_| ended).map(|&role| payoffs[role] as i64);
            (map(words), ended, payoffs.collect())
        })
        .collect();
    described.sort_unstable();
    described
}

/// A symmetry of the square.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Turn {
    flips_columns: bool,
    flips_rows: bool,
    transposes: bool,
}

impl Turn {
    const IDENTITY: Turn = Turn { flips_columns: false, flips_rows: false, transposes: false };

    const ALL: [Turn; 8] = {
        let mut all = [Turn::IDENTITY; 8];
        let mut n = 0;
        while n < 8 {
            all[n] =
                Turn { flips_columns: n & 1 == 1, flips_rows: n & 2 == 2, transposes: n & 4 == 4 };
            n += 1;
        }
        all
    };

    fn apply(self, cell: Cell, (width, height): (u32, u32)) -> Option<Cell> {
        let column = if self.flips_columns { width - 1 - cell.column } else { cell.column };
        let row = if self.flips_rows { height - 1 - cell.row } else { cell.row };
        if self.transposes {
            (width == height).then_some(Cell { column: row, row: column, ..cell })
        } else {
            Some(Cell { column, row, ..cell })
        }
    }
}

fn is_permutation(images: &[usize]) -> bool {
    let mut seen = vec![false; images.len()];
    images.iter().all(|&image| !std::mem::replace(&mut seen[image], true))
}

/// Returns the ways to pair words, or to leave them alone: all of them for at most four words.
fn pairings<'w>(words: &[&'w str]) -> Vec<Vec<(&'w str, &'w str)>> {
    match words {
        [a, b] => vec![vec![(*a, *b)], vec![]],
        [a, b, c, d] => vec![
            vec![(*a, *b), (*c, *d)],
            vec![(*a, *c), (*b, *d)],
            vec![(*a, *d), (*b, *c)],
            vec![],
        ],
        _ => vec![vec![]],
    }
}

/// Returns the words of a fact, separated by spaces.
fn words(text: &str) -> String {
    let text = text.replace(['(', ')'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Exchanges the names of two roles among words.
fn exchange_words(text: &str, roles: &[String; 2]) -> String {
    let exchange = |word: &str| {
        if word.eq_ignore_ascii_case(&roles[0]) {
            roles[1].clone()
        } else if word.eq_ignore_ascii_case(&roles[1]) {
            roles[0].clone()
        } else {
            word.to_owned()
        }
    };
    text.split(' ').map(exchange).collect::<Vec<_>>().join(" ")
}
