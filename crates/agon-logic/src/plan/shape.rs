//! Atoms to scans of given relations and calls of derived ones, for the variables known at that point.

use crate::program::{Atom, Pattern};
use crate::relation::{IndexSpec, Path};

use super::{Build, Call, Match, PlanRefusal, Planner, SKELETON_DEPTH, Scan, Skeleton, Take, prepare};

/// What a scan selects by and what it takes from a row.
pub(super) struct ScanShape {
    pub(super) spec: IndexSpec,
    pub(super) key: Vec<Build>,
    pub(super) take: Vec<(Path, Take)>,
    /// How many variables get their value here.
    pub(super) n_bound: usize,
}

impl Planner {
    /// How to find the rows of a given relation that fit an atom. Does not change `bound`.
    pub(super) fn scan_shape(
        &self,
        atom: &Atom,
        bound: &[bool],
        uses: &[u32],
        origin: u32,
    ) -> Result<ScanShape, PlanRefusal> {
        let mut shape =
            ScanShape { spec: IndexSpec::default(), key: Vec::new(), take: Vec::new(), n_bound: 0 };
        let mut here = vec![false; bound.len()];
        let mut path = Vec::new();
        for (column, pattern) in atom.arguments.iter().enumerate() {
            path.push(u16::try_from(column).expect("relations have fewer than 65536 columns"));
            self.shape_column(pattern, &mut path, bound, uses, &mut here, &mut shape, origin)?;
            path.pop();
        }
        Ok(shape)
    }

    #[allow(clippy::too_many_arguments)]
    fn shape_column(
        &self,
        pattern: &Pattern,
        path: &mut Vec<u16>,
        bound: &[bool],
        uses: &[u32],
        here: &mut [bool],
        shape: &mut ScanShape,
        origin: u32,
    ) -> Result<(), PlanRefusal> {
        let place = || Path::from(path.as_slice());
        match pattern {
            Pattern::Variable(v) if bound[*v as usize] => {
                shape.spec.keys.push(place());
                shape.key.push(Build::Slot(*v));
            }
            Pattern::Variable(v) if here[*v as usize] => shape.take.push((place(), Take::Same(*v))),
            Pattern::Variable(v) if uses[*v as usize] > 1 => {
                here[*v as usize] = true;
                shape.n_bound += 1;
                shape.take.push((place(), Take::Bind(*v)));
            }
            Pattern::Variable(_) => {}
            Pattern::Function(symbol, arguments) => match prepare::ground(pattern, &self.plans.bank) {
                Some(id) => {
                    shape.spec.keys.push(place());
                    shape.key.push(Build::Constant(id.map_err(|_| PlanRefusal::Term { origin })?));
                }
                None => {
                    shape.spec.forms.push((place(), *symbol, arguments.len()));
                    for (i, argument) in arguments.iter().enumerate() {
                        path.push(u16::try_from(i).expect("terms have fewer than 65536 arguments"));
                        self.shape_column(argument, path, bound, uses, here, shape, origin)?;
                        path.pop();
                    }
                }
            },
        }
        Ok(())
    }

    /// A scan with its index entered in the relation.
    pub(super) fn scan(&mut self, relation: usize, shape: ScanShape) -> Scan {
        let specs = &mut self.plans.relations[relation].specs;
        let index = specs.iter().position(|spec| *spec == shape.spec).unwrap_or_else(|| {
            specs.push(shape.spec);
            specs.len() - 1
        });
        Scan { relation, index, key: shape.key, take: shape.take }
    }

    /// A call of a derived relation; binds the variables it answers for.
    pub(super) fn call(
        &mut self,
        atom: &Atom,
        bound: &mut [bool],
        uses: &[u32],
        origin: u32,
    ) -> Result<Call, PlanRefusal> {
        let (mut key, mut take, mut skeleton) = (Vec::new(), Vec::new(), Vec::new());
        // What is known when the call is made: an argument must not count on another argument of the same call.
        let before = bound.to_vec();
        for pattern in &atom.arguments {
            skeleton.push(self.skeleton(pattern, 0, &before, bound, uses, &mut key, &mut take, origin)?);
        }
        let procedure = self.procedure(atom.predicate, skeleton)?;
        Ok(Call { procedure, key, take })
    }

    #[allow(clippy::too_many_arguments)]
    fn skeleton(
        &self,
        pattern: &Pattern,
        depth: usize,
        before: &[bool],
        bound: &mut [bool],
        uses: &[u32],
        key: &mut Vec<Build>,
        take: &mut Vec<Match>,
        origin: u32,
    ) -> Result<Skeleton, PlanRefusal> {
        let is_variable = matches!(pattern, Pattern::Variable(_));
        let is_constant = prepare::ground(pattern, &self.plans.bank).is_some();
        let is_known = pattern.is_bound(before);
        if is_known && (is_variable || is_constant || depth >= SKELETON_DEPTH) {
            key.push(self.build(pattern, origin)?);
            return Ok(Skeleton::Known);
        }
        match pattern {
            Pattern::Function(symbol, arguments) if depth < SKELETON_DEPTH => {
                let mut parts = Vec::new();
                for argument in arguments {
                    parts.push(
                        self.skeleton(argument, depth + 1, before, bound, uses, key, take, origin)?,
                    );
                }
                Ok(Skeleton::Form(*symbol, parts))
            }
            Pattern::Function(..) | Pattern::Variable(_) => {
                take.push(self.matcher(pattern, bound, &|v| uses[v as usize] > 1, origin)?);
                Ok(Skeleton::Wanted)
            }
        }
    }
}
