//! Values for the variables of a conjunction, as far as they are limited by what never changes and by which fluents there
//! can be at all: a superset of the solutions at any state.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};
use agon_gdl::rules::{Condition, RuleTerm};
use agon_gdl::symbols::keyword;

use super::{Table, Theory, relation_of};

/// The search was given up: too many steps or answers, or a wanted variable is limited by nothing.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TooMuch;

/// A term with variables numbered from 0.
enum Pattern {
    Variable(usize),
    Ground(TermId),
    Function(Symbol, Vec<Pattern>),
    /// A term that the game cannot hold.
    Nothing,
}

struct Scan<'a> {
    table: &'a Table,
    columns: Vec<Pattern>,
}

struct Join<'a> {
    theory: &'a Theory,
    scans: Vec<Scan<'a>>,
    differ: Vec<(Pattern, Pattern)>,
    never: Vec<(&'a Table, Vec<Pattern>)>,
    wanted: Vec<usize>,
    values: Vec<Option<TermId>>,
    is_used: Vec<bool>,
    found: BTreeSet<Vec<TermId>>,
    n_steps: usize,
    max_steps: usize,
    max_rows: usize,
}

impl Theory {
    /// The values that the wanted variables can have together, in no particular order but always the same. Conditions on
    /// what changes are taken into account only as far as they say which fluents there are.
    pub fn possible(
        &self,
        conditions: &[Condition],
        wanted: &[u32],
        max_rows: usize,
        max_steps: usize,
    ) -> Result<Vec<Vec<TermId>>, TooMuch> {
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        let mut join = Join {
            theory: self,
            scans: Vec::new(),
            differ: Vec::new(),
            never: Vec::new(),
            wanted: Vec::new(),
            values: Vec::new(),
            is_used: Vec::new(),
            found: BTreeSet::new(),
            n_steps: 0,
            max_steps,
            max_rows,
        };
        for condition in conditions {
            match condition {
                Condition::Holds(atom)
                    if atom.relation == keyword::TRUE && atom.arguments.len() == 1 =>
                {
                    // A condition on a fluent of which not even the name is known limits nothing here.
                    if let RuleTerm::Function(name, arguments) = &atom.arguments[0] {
                        match self.forms.get(&(*name, arguments.len())) {
                            Some((table, _)) => {
                                let columns = self.patterns(arguments, &mut numbers);
                                join.scans.push(Scan { table, columns });
                            }
                            None if self.is_complete => return Ok(Vec::new()),
                            None => {}
                        }
                    }
                }
                Condition::Holds(atom) => {
                    if let Some(table) = self.table(relation_of(atom)) {
                        let columns = self.patterns(&atom.arguments, &mut numbers);
                        join.scans.push(Scan { table, columns });
                    }
                }
                Condition::Fails(atom) => {
                    if let Some(table) = self.table(relation_of(atom)) {
                        join.never.push((table, self.patterns(&atom.arguments, &mut numbers)));
                    }
                }
                Condition::Differ(a, b, _) => {
                    let pair = self.patterns(&[a.clone(), b.clone()], &mut numbers);
                    let [a, b] =
                        <[Pattern; 2]>::try_from(pair).ok().expect("two terms give two patterns");
                    join.differ.push((a, b));
                }
            }
        }
        for variable in wanted {
            join.wanted.push(*numbers.get(variable).ok_or(TooMuch)?);
        }
        join.values = vec![None; numbers.len()];
        join.is_used = vec![false; join.scans.len()];
        join.search()?;
        Ok(join.found.into_iter().collect())
    }

    fn patterns(&self, terms: &[RuleTerm], numbers: &mut BTreeMap<u32, usize>) -> Vec<Pattern> {
        terms.iter().map(|term| self.pattern(term, numbers)).collect()
    }

    fn pattern(&self, term: &RuleTerm, numbers: &mut BTreeMap<u32, usize>) -> Pattern {
        match term {
            RuleTerm::Variable(v) => {
                let n_known = numbers.len();
                Pattern::Variable(*numbers.entry(*v).or_insert(n_known))
            }
            RuleTerm::Function(symbol, arguments) => {
                let mut is_ground = true;
                term.each_variable(&mut |_| is_ground = false);
                if is_ground {
                    return self.ground(term).map_or(Pattern::Nothing, Pattern::Ground);
                }
                Pattern::Function(*symbol, self.patterns(arguments, numbers))
            }
        }
    }
}

impl Join<'_> {
    fn search(&mut self) -> Result<(), TooMuch> {
        self.n_steps += 1;
        // What must be known whatever it costs is asked for without a limit.
        if self.n_steps > self.max_steps || (self.max_steps != usize::MAX && !self.theory.step()) {
            return Err(TooMuch);
        }
        if self.is_contradicted() {
            return Ok(());
        }
        // The scan with the fewest rows to look at comes next.
        let best = (0..self.scans.len())
            .filter(|&scan| !self.is_used[scan])
            .map(|scan| (self.rows(scan).1, scan))
            .min();
        let Some((_, scan)) = best else {
            let row: Option<Vec<TermId>> =
                self.wanted.iter().map(|&variable| self.values[variable]).collect();
            self.found.insert(row.ok_or(TooMuch)?);
            return if self.found.len() > self.max_rows { Err(TooMuch) } else { Ok(()) };
        };
        self.is_used[scan] = true;
        let (chosen, n_rows) = self.rows(scan);
        for at in 0..n_rows {
            let number = match &chosen {
                Some((column, value)) => self.scans[scan].table.index[*column][value][at] as usize,
                None => at,
            };
            let before = self.values.clone();
            let row = &self.scans[scan].table.rows[number];
            let columns = &self.scans[scan].columns;
            let bank = self.theory.game.bank();
            let fits = columns
                .iter()
                .zip(row)
                .all(|(pattern, &term)| pattern.fits(term, bank, &mut self.values));
            let outcome = if fits { self.search() } else { Ok(()) };
            self.values = before;
            outcome?;
        }
        self.is_used[scan] = false;
        Ok(())
    }

    /// The column and value by which a scan is best looked up, and how many rows that leaves.
    fn rows(&self, scan: usize) -> (Option<(usize, TermId)>, usize) {
        let Scan { table, columns } = &self.scans[scan];
        let mut best = (None, table.rows.len());
        for (column, pattern) in columns.iter().enumerate() {
            let value = match pattern {
                Pattern::Ground(term) => Some(*term),
                Pattern::Variable(variable) => self.values[*variable],
                Pattern::Nothing => return (None, 0),
                Pattern::Function(..) => None,
            };
            let Some(value) = value else { continue };
            match table.index[column].get(&value) {
                None => return (None, 0),
                Some(rows) if rows.len() < best.1 || best.0.is_none() => {
                    best = (Some((column, value)), rows.len());
                }
                Some(_) => {}
            }
        }
        best
    }

    fn is_contradicted(&self) -> bool {
        let value = |pattern: &Pattern| match pattern {
            Pattern::Ground(term) => Some(*term),
            Pattern::Variable(variable) => self.values[*variable],
            Pattern::Function(..) | Pattern::Nothing => None,
        };
        let is_same = |(a, b): &(Pattern, Pattern)| value(a).is_some() && value(a) == value(b);
        let is_there = |(table, columns): &(&Table, Vec<Pattern>)| {
            let row: Option<Vec<TermId>> = columns.iter().map(value).collect();
            row.is_some_and(|row| match row.first() {
                None => !table.rows.is_empty(),
                Some(first) => {
                    let numbers = table.index[0].get(first).into_iter().flatten();
                    numbers.into_iter().any(|&number| table.rows[number as usize] == row)
                }
            })
        };
        self.differ.iter().any(is_same) || self.never.iter().any(is_there)
    }
}

impl Pattern {
    fn fits(
        &self,
        term: TermId,
        bank: &agon_datalog::TermBank,
        values: &mut [Option<TermId>],
    ) -> bool {
        match self {
            Pattern::Nothing => false,
            Pattern::Ground(own) => *own == term,
            Pattern::Variable(variable) => match values[*variable] {
                Some(value) => value == term,
                None => {
                    values[*variable] = Some(term);
                    true
                }
            },
            Pattern::Function(symbol, parts) => {
                bank.has_form(term, *symbol, parts.len())
                    && parts
                        .iter()
                        .zip(bank.arguments(term))
                        .all(|(part, argument)| part.fits(argument, bank, values))
            }
        }
    }
}
