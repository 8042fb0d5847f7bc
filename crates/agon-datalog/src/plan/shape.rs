//! Atoms to scans of given relations and calls of derived ones, for the variables known at that point.

use crate::TermBank;
use crate::program::{Atom, Pattern};
use crate::relation::{IndexSpec, Path};
use crate::term::TermRefusal;

use super::{
    Build, Call, Match, PlanRefusal, Planner, SKELETON_DEPTH, Scan, Skeleton, Take, prepare,
};

/// What a scan selects by and what it takes from a row.
pub(crate) struct ScanShape {
    pub(crate) spec: IndexSpec,
    pub(crate) key: Vec<Build>,
    pub(crate) take: Vec<(Path, Take)>,
    /// How many variables get their value here.
    pub(crate) n_bound: usize,
}

/// How to find the rows of a given relation that fit an atom when these variables are bound. `uses` counts the
/// places of each variable in the rule: one that stands nowhere else need not be taken.
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
        here: vec![false; bound.len()],
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
    /// Variables that got their value further left in the same atom.
    here: Vec<bool>,
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
            Pattern::Variable(v) if self.here[*v as usize] => {
                shape.take.push((place, Take::Same(*v)))
            }
            Pattern::Variable(v) if self.uses[*v as usize] > 1 => {
                self.here[*v as usize] = true;
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
            skeleton.push(
                self.skeleton(pattern, 0, &before, bound, uses, &mut key, &mut take, origin)?,
            );
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
                    parts.push(self.skeleton(
                        argument,
                        depth + 1,
                        before,
                        bound,
                        uses,
                        key,
                        take,
                        origin,
                    )?);
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
