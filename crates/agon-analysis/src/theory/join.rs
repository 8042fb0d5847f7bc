//! The values that the variables of a conjunction can take in any state.
//!
//! The search joins the static relations and the tables of possible fluents. Its result is a
//! superset of the solutions in each single state, because it ignores which fluents hold.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};
use agon_gdl::rules::{Condition, RuleTerm};
use agon_gdl::symbols::keyword;

use super::{Table, Theory, relation_of};

/// The search was given up: too many steps or answers, or no condition limits a wanted variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct LimitReached;

/// A term with variables numbered from 0.
enum Pattern {
    Variable(usize),
    Ground(TermId),
    Function(Symbol, Vec<Pattern>),
    /// A term that cannot occur in the game.
    Nothing,
}

/// A condition that is matched against the rows of a table.
struct Scan<'a> {
    table: &'a Table,
    columns: Vec<Pattern>,
}

/// The state of a search: a backtracking join over the scans.
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
    /// Returns the combinations of values that the wanted variables can take, in a deterministic
    /// order. A condition on a fluent only requires that the fluent is possible.
    ///
    /// `max_steps` equal to `usize::MAX` means that the search must succeed: then it does not count
    /// against the step budget of the theory.
    pub(crate) fn possible_values(
        &self,
        conditions: &[Condition],
        wanted: &[u32],
        max_rows: usize,
        max_steps: usize,
    ) -> Result<Vec<Vec<TermId>>, LimitReached> {
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
            if join.add(condition, &mut numbers).is_err() {
                return Ok(Vec::new());
            }
        }
        for variable in wanted {
            join.wanted.push(*numbers.get(variable).ok_or(LimitReached)?);
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

/// A condition that never holds.
struct Impossible;

impl<'a> Join<'a> {
    /// Adds a condition. `numbers` holds the number of each variable so far.
    fn add(
        &mut self,
        condition: &Condition,
        numbers: &mut BTreeMap<u32, usize>,
    ) -> Result<(), Impossible> {
        let theory = self.theory;
        match condition {
            Condition::Holds(atom) if relation_of(atom) == (keyword::TRUE, 1) => {
                // A condition on a fluent with an unknown name does not limit any variable.
                let RuleTerm::Function(name, arguments) = &atom.arguments[0] else {
                    return Ok(());
                };
                match theory.forms.get(&(*name, arguments.len())) {
                    Some((table, _)) => {
                        let columns = theory.patterns(arguments, numbers);
                        self.scans.push(Scan { table, columns });
                    }
                    None if theory.is_complete => return Err(Impossible),
                    None => {}
                }
            }
            Condition::Holds(atom) => {
                if let Some(table) = theory.table(relation_of(atom)) {
                    let columns = theory.patterns(&atom.arguments, numbers);
                    self.scans.push(Scan { table, columns });
                }
            }
            Condition::Fails(atom) => {
                if let Some(table) = theory.table(relation_of(atom)) {
                    self.never.push((table, theory.patterns(&atom.arguments, numbers)));
                }
            }
            Condition::Differ(a, b, _) => {
                let pair = [a, b].map(|term| theory.pattern(term, numbers));
                self.differ.push(pair.into());
            }
        }
        Ok(())
    }

    fn search(&mut self) -> Result<(), LimitReached> {
        self.n_steps += 1;
        if self.n_steps > self.max_steps || (self.max_steps != usize::MAX && !self.theory.step()) {
            return Err(LimitReached);
        }
        if self.is_contradicted() {
            return Ok(());
        }
        // The scan with the fewest candidate rows comes next.
        let best = (0..self.scans.len())
            .filter(|&scan| !self.is_used[scan])
            .map(|scan| (self.rows(scan).1, scan))
            .min();
        let Some((_, scan)) = best else {
            let row: Option<Vec<TermId>> =
                self.wanted.iter().map(|&variable| self.values[variable]).collect();
            self.found.insert(row.ok_or(LimitReached)?);
            return if self.found.len() > self.max_rows { Err(LimitReached) } else { Ok(()) };
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

    /// Returns the column and value that select the fewest rows of a scan, and the number of these
    /// rows.
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

    /// Returns whether the values so far violate a `distinct` or a negated static condition.
    fn is_contradicted(&self) -> bool {
        let value = |pattern: &Pattern| match pattern {
            Pattern::Ground(term) => Some(*term),
            Pattern::Variable(variable) => self.values[*variable],
            Pattern::Function(..) | Pattern::Nothing => None,
        };
        let is_same = |(a, b): &(Pattern, Pattern)| value(a).is_some() && value(a) == value(b);
        let is_row = |(table, columns): &(&Table, Vec<Pattern>)| {
            let row: Option<Vec<TermId>> = columns.iter().map(value).collect();
            row.is_some_and(|row| match row.first() {
                None => !table.rows.is_empty(),
                Some(first) => {
                    let numbers = table.index[0].get(first).into_iter().flatten();
                    numbers.into_iter().any(|&number| table.rows[number as usize] == row)
                }
            })
        };
        self.differ.iter().any(is_same) || self.never.iter().any(is_row)
    }
}

impl Pattern {
    /// Matches a term, and binds variables that have no value yet.
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
