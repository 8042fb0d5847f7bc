//! Atoms to scans of given relations and calls of derived relations, for a set of bound variables.

use std::collections::BTreeSet;

use crate::TermBank;
use crate::program::{Atom, Pattern};
use crate::relation::{IndexSpec, Path};
use crate::term::TermRefusal;

use super::{
    BindingPattern, Build, Call, MAX_PATTERN_DEPTH, Matcher, PlanRefusal, Planner, Scan, Take,
    prepare,
};

/// The selection of a scan, and what it binds.
pub(crate) struct ScanShape {
    pub(crate) spec: IndexSpec,
    pub(crate) key: Vec<Build>,
    pub(crate) take: Vec<(Path, Take)>,
    /// Number of variables that are bound here.
    pub(crate) n_bound: usize,
}

/// Returns how to find the rows of a given relation that match an atom, given the bound variables.
/// `uses` counts the occurrences of each variable in the rule. A variable without other occurrences
/// need not be bound.
pub(crate) fn scan_shape(
    bank: &TermBank,
    atom: &Atom,
    bound: &[bool],
    uses: &[u32],
) -> Result<ScanShape, TermRefusal> {
    let mut shaping = Shaping {
        bank,
        bound,
        uses,
        here: BTreeSet::new(),
        path: Vec::new(),
        shape: ScanShape {
            spec: IndexSpec::default(),
            key: Vec::new(),
            take: Vec::new(),
            n_bound: 0,
        },
    };
    for (column, pattern) in atom.arguments.iter().enumerate() {
        shaping.path.push(u16::try_from(column).expect("relations have fewer than 65536 columns"));
        shaping.column(pattern)?;
        shaping.path.pop();
    }
    Ok(shaping.shape)
}

struct Shaping<'a> {
    bank: &'a TermBank,
    bound: &'a [bool],
    uses: &'a [u32],
    /// Variables that are bound by an earlier argument of the same atom.
    here: BTreeSet<u32>,
    path: Vec<u16>,
    shape: ScanShape,
}

impl Shaping<'_> {
    fn column(&mut self, pattern: &Pattern) -> Result<(), TermRefusal> {
        let place = Path::from(self.path.as_slice());
        let shape = &mut self.shape;
        match pattern {
            Pattern::Variable(v) if self.bound[*v as usize] => {
                shape.spec.keys.push(place);
                shape.key.push(Build::Slot(*v));
            }
            Pattern::Variable(v) if self.here.contains(v) => {
                shape.take.push((place, Take::Same(*v)));
            }
            Pattern::Variable(v) if self.uses[*v as usize] > 1 => {
                self.here.insert(*v);
                shape.n_bound += 1;
                shape.take.push((place, Take::Bind(*v)));
            }
            Pattern::Variable(_) => {}
            Pattern::Function(symbol, arguments) => match prepare::ground(pattern, self.bank) {
                Some(id) => {
                    shape.spec.keys.push(place);
                    shape.key.push(Build::Constant(id?));
                }
                None => {
                    shape.spec.forms.push((place, *symbol, arguments.len()));
                    for (i, argument) in arguments.iter().enumerate() {
                        self.path
                            .push(u16::try_from(i).expect("terms have fewer than 65536 arguments"));
                        self.column(argument)?;
                        self.path.pop();
                    }
                }
            },
        }
        Ok(())
    }
}

impl Planner {
    /// Returns a scan, and adds its index to the relation.
    pub(super) fn scan(&mut self, relation: usize, shape: ScanShape) -> Scan {
        let specs = &mut self.plans.relations[relation].specs;
        let index = specs.iter().position(|spec| *spec == shape.spec).unwrap_or_else(|| {
            specs.push(shape.spec);
            specs.len() - 1
        });
        Scan { relation, index, key: shape.key, take: shape.take }
    }

    /// Returns a call of a derived relation, and binds the variables of its answers.
    pub(super) fn call(
        &mut self,
        atom: &Atom,
        bound: &mut [bool],
        uses: &[u32],
        origin: u32,
    ) -> Result<Call, PlanRefusal> {
        // Only variables that are bound before the call count as known. An argument must not rely
        // on another argument of the same call.
        let before = bound.to_vec();
        let mut shape =
            CallShape { before: &before, bound, uses, origin, key: Vec::new(), take: Vec::new() };
        let mut bindings = Vec::new();
        for pattern in &atom.arguments {
            bindings.push(self.binding_pattern(pattern, 0, &mut shape)?);
        }
        let CallShape { key, take, .. } = shape;
        let procedure = self.procedure(atom.predicate, bindings)?;
        Ok(Call { procedure, key, take })
    }

    /// Returns the binding pattern of an argument at a depth of its term. Adds its known parts to
    /// the key, and its unknown parts to the matched answers.
    fn binding_pattern(
        &self,
        pattern: &Pattern,
        depth: usize,
        shape: &mut CallShape<'_>,
    ) -> Result<BindingPattern, PlanRefusal> {
        let is_variable = matches!(pattern, Pattern::Variable(_));
        let is_constant = prepare::ground(pattern, &self.plans.bank).is_some();
        let is_known = pattern.is_bound(shape.before);
        if is_known && (is_variable || is_constant || depth >= MAX_PATTERN_DEPTH) {
            shape.key.push(self.build(pattern, shape.origin)?);
            return Ok(BindingPattern::Bound);
        }
        match pattern {
            Pattern::Function(symbol, arguments) if depth < MAX_PATTERN_DEPTH => {
                let mut parts = Vec::new();
                for argument in arguments {
                    parts.push(self.binding_pattern(argument, depth + 1, shape)?);
                }
                Ok(BindingPattern::Form(*symbol, parts))
            }
            Pattern::Function(..) | Pattern::Variable(_) => {
                let uses = shape.uses;
                let is_used = |v: u32| uses[v as usize] > 1;
                let matcher = self.matcher(pattern, shape.bound, &is_used, shape.origin)?;
                shape.take.push(matcher);
                Ok(BindingPattern::Free)
            }
        }
    }
}

/// A call under construction.
struct CallShape<'a> {
    /// Variables that are bound before the call.
    before: &'a [bool],
    /// Variables that are bound after the call.
    bound: &'a mut [bool],
    /// Number of occurrences of each variable in the rule.
    uses: &'a [u32],
    /// Origin of the rule.
    origin: u32,
    key: Vec<Build>,
    take: Vec<Matcher>,
}
