//! The evaluator and its queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_reals::interrupt::Interrupt;

use crate::formula::{Definitions, Formula, Sort, Term, Variable};
use crate::rational::Rational;
use crate::structure::{Element, Structure, Tuples, Vocabulary};

use super::check::{check_formula, check_term};
use super::compile::{Compiler, Scope, Use};
use super::program::{Dependencies, NodeId, Program, TermId, TermNode, Var};
use super::solve::Run;
use super::store::{Snapshot, Store};
use super::table::Table;
use super::{Assignment, EvaluationError, Limits};

/// A formula registered with an [`Evaluator`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FormulaQuery(u32);

/// A term registered with an [`Evaluator`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TermQuery(u32);

/// Evaluates formulas and terms by computing with sets of assignments.
///
/// Formulas and terms are registered once and evaluated in many structures of one vocabulary.
/// Results that depend only on parts shared with the previous structure, such as relations that no
/// move changes, are not computed again.
///
/// ```
/// use std::sync::Arc;
/// use agon_structures::evaluate::{Assignment, Evaluator, Limits};
/// use agon_structures::formula::{Definitions, Formula, Variable};
/// use agon_structures::structure::{Structure, Vocabulary};
/// let mut vocabulary = Vocabulary::new();
/// let edge = vocabulary.add_relation("R", 2).unwrap();
/// let vocabulary = Arc::new(vocabulary);
/// let mut path = Structure::new(vocabulary.clone());
/// let nodes: Vec<_> = (0..4).map(|_| path.create(None).unwrap()).collect();
/// for pair in nodes.windows(2) {
///     path.add(edge, pair).unwrap();
/// }
/// let [x, y] = ["x", "y"].map(Variable::new);
/// let step = Formula::atom("R", [&x, &y]);
/// let reach = Formula::closure(None, x.clone(), y.clone(), step);
/// let mut evaluator = Evaluator::new(vocabulary, Arc::new(Definitions::new()), Limits::default());
/// let reach = evaluator.formula(&reach, &[x.clone(), y]).unwrap();
/// assert_eq!(evaluator.solve(reach, &path, &Assignment::new()).unwrap().len(), 10);
/// let from_third = Assignment::new().with(&x, nodes[2]);
/// assert_eq!(evaluator.solve(reach, &path, &from_third).unwrap().len(), 2);
/// ```
#[derive(Clone)]
pub struct Evaluator {
    vocabulary: Arc<Vocabulary>,
    definitions: Arc<Definitions>,
    program: Arc<Program>,
    uses: Vec<Option<Use>>,
    formulas: Vec<Arc<Query<NodeId>>>,
    terms: Vec<Arc<Query<TermId>>>,
    /// The dependencies of each formula.
    dependencies: Vec<Arc<QueryDependencies>>,
    store: Store,
    limits: Limits,
    interrupt: Interrupt,
    /// The steps that all further queries may take together, of the number that was allowed.
    allowance: [u64; 2],
    /// The steps of this evaluator and of all its clones.
    spent: Arc<AtomicU64>,
}

/// The parts of a model on which the solutions of a formula depend.
pub(super) struct QueryDependencies {
    pub(super) depends_on: Dependencies,
    /// The definitions that the formula uses directly.
    pub(super) uses: Vec<usize>,
}

struct Query<Id> {
    id: Id,
    variables: Vec<(Variable, Var)>,
    reals: Vec<Variable>,
}

impl Evaluator {
    /// Creates an evaluator for structures of a vocabulary, with relations defined on them. The
    /// limits apply to each query separately.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        definitions: Arc<Definitions>,
        limits: Limits,
    ) -> Evaluator {
        let uses = vec![None; definitions.len()];
        Evaluator {
            vocabulary,
            definitions,
            program: Arc::default(),
            uses,
            formulas: Vec::new(),
            terms: Vec::new(),
            dependencies: Vec::new(),
            store: Store::default(),
            limits,
            interrupt: Interrupt::NEVER,
            allowance: [u64::MAX; 2],
            spent: Arc::default(),
        }
    }

    /// Returns the number of steps that all queries to this evaluator and its clones have taken.
    /// This measures time independently of the machine.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Ends queries with [`EvaluationError::Interrupted`] at a deadline, or when another thread sets
    /// a flag. Clones of the evaluator that are made from now on end likewise.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Allows this number of steps for all further queries together. The limits of one query still
    /// apply.
    pub fn allow(&mut self, steps: u64) {
        self.allowance = [steps; 2];
    }

    /// Registers a formula. Its free variables must be among those listed. The listed element
    /// variables are the columns of the solutions.
    ///
    /// # Errors
    /// If the formula is not valid for the vocabulary and the definitions, or is too large.
    pub fn formula(
        &mut self,
        formula: &Formula,
        variables: &[Variable],
    ) -> Result<FormulaQuery, EvaluationError> {
        check_formula(&self.vocabulary, &self.definitions, formula, variables)?;
        let query = self.compiled(variables, |compiler| compiler.formula(formula, false))?;
        let (depends_on, uses) =
            (self.program.depends_on(query.id), self.program.definitions_of(query.id));
        self.dependencies.push(Arc::new(QueryDependencies { depends_on, uses }));
        self.formulas.push(Arc::new(query));
        Ok(FormulaQuery(self.formulas.len() as u32 - 1))
    }

    /// Registers a term. Its free variables must be among those listed.
    ///
    /// # Errors
    /// If the term is not valid for the vocabulary and the definitions, or is too large.
    pub fn term(
        &mut self,
        term: &Term,
        variables: &[Variable],
    ) -> Result<TermQuery, EvaluationError> {
        check_term(&self.vocabulary, &self.definitions, term, variables)?;
        let query = self.compiled(variables, |compiler| compiler.term(term))?;
        self.terms.push(Arc::new(query));
        Ok(TermQuery(self.terms.len() as u32 - 1))
    }

    fn compiled<Id>(
        &mut self,
        variables: &[Variable],
        compile: impl FnOnce(&mut Compiler<'_>) -> Result<Id, EvaluationError>,
    ) -> Result<Query<Id>, EvaluationError> {
        let program = Arc::make_mut(&mut self.program);
        let mut scope = Scope::default();
        let mut reals = Vec::new();
        for (place, variable) in variables.iter().enumerate() {
            if variables[..place].contains(variable) {
                return Err(EvaluationError::RepeatedVariable(variable.clone()));
            }
            match variable.sort() {
                Sort::Element => scope.variables.push((variable.clone(), program.fresh())),
                Sort::Real => {
                    let given = program.add_term(TermNode::Given(reals.len()));
                    scope.reals.push((variable.clone(), given));
                    reals.push(variable.clone());
                }
                Sort::Set | Sort::Relation => {
                    return Err(EvaluationError::UnsupportedSort(
                        variable.clone(),
                        variable.sort(),
                    ));
                }
            }
        }
        let variables = scope.variables.clone();
        let mut compiler = Compiler {
            program,
            uses: &mut self.uses,
            vocabulary: &self.vocabulary,
            definitions: &self.definitions,
            scope,
            limit: self.limits.parts,
        };
        let id = compile(&mut compiler)?;
        Ok(Query { id, variables, reals })
    }

    /// Returns the elements for the query's variables, in order, for which the formula holds and
    /// which agree with the assignment.
    ///
    /// # Errors
    /// If evaluation exceeds the limits, or if the structure has another vocabulary.
    pub fn solve(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
        assignment: &Assignment,
    ) -> Result<Tuples, EvaluationError> {
        let query = self.formulas[query.0 as usize].clone();
        let given = first(&query.variables, structure, assignment);
        self.solve_given(&query, structure, given, assignment)
    }

    /// Returns the solutions that extend one of many assignments, the `rows`, to the `variables`.
    ///
    /// # Errors
    /// If evaluation exceeds the limits, or if the structure has another vocabulary.
    pub fn solve_from(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
        variables: &[Variable],
        rows: &Tuples,
    ) -> Result<Tuples, EvaluationError> {
        let query = self.formulas[query.0 as usize].clone();
        let given = table(&query.variables, structure, variables, rows)?;
        self.solve_given(&query, structure, given, &Assignment::new())
    }

    fn solve_given(
        &mut self,
        query: &Query<NodeId>,
        structure: &Structure,
        given: Table,
        assignment: &Assignment,
    ) -> Result<Tuples, EvaluationError> {
        let (columns, arity) = (&query.variables, query.variables.len());
        let rows = self.run(structure, &query.reals, assignment, |run| {
            let found = run.extend(query.id, given)?;
            let wanted: Vec<Var> = columns.iter().map(|column| column.1).collect();
            let found = run.padded(found, &wanted)?;
            let places: Vec<usize> = wanted
                .iter()
                .map(|&column| found.column(column).expect("padding adds all columns"))
                .collect();
            Ok(found.projected(&places).sorted())
        })?;
        Ok(Tuples::from_sorted(
            arity,
            rows.n_rows,
            rows.cells.into_iter().map(Element::new).collect(),
        ))
    }

    /// Returns whether the assignment can be extended so that the formula holds.
    ///
    /// # Errors
    /// If evaluation exceeds the limits, or if the structure has another vocabulary.
    pub fn holds(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
        assignment: &Assignment,
    ) -> Result<bool, EvaluationError> {
        let query = self.formulas[query.0 as usize].clone();
        let given = first(&query.variables, structure, assignment);
        self.run(structure, &query.reals, assignment, |run| {
            Ok(!run.extend(query.id, given)?.is_empty())
        })
    }

    /// Returns the value of the term, if it is defined, for an assignment to all its free
    /// variables.
    ///
    /// # Errors
    /// If a variable is unbound, if evaluation exceeds the limits, or if the structure has another
    /// vocabulary.
    pub fn value(
        &mut self,
        query: TermQuery,
        structure: &Structure,
        assignment: &Assignment,
    ) -> Result<Option<Rational>, EvaluationError> {
        let query = self.terms[query.0 as usize].clone();
        let given = first(&query.variables, structure, assignment);
        self.run(structure, &query.reals, assignment, |run| {
            if let Some(&free) =
                run.program.term_free(query.id).iter().find(|&&free| given.column(free).is_none())
            {
                let name = query.variables.iter().find(|entry| entry.1 == free);
                let name = name.expect("free variables are among the query's").0.clone();
                return Err(EvaluationError::UnboundVariable(name));
            }
            Ok(if given.is_empty() { None } else { run.values(query.id, &given)?[0] })
        })
    }

    /// Returns the values of the term for many assignments to all its element variables, in the
    /// order of the query.
    ///
    /// # Errors
    /// If evaluation exceeds the limits, or if the structure has another vocabulary.
    pub fn values(
        &mut self,
        query: TermQuery,
        structure: &Structure,
        rows: &Tuples,
    ) -> Result<Vec<Option<Rational>>, EvaluationError> {
        let query = self.terms[query.0 as usize].clone();
        let variables: Vec<Variable> =
            query.variables.iter().map(|entry| entry.0.clone()).collect();
        let given = table(&query.variables, structure, &variables, rows)?;
        self.run(structure, &query.reals, &Assignment::new(), |run| run.values(query.id, &given))
    }

    /// Returns the program node of a query, with its columns and dependencies.
    pub(super) fn node_of(
        &self,
        query: FormulaQuery,
    ) -> (NodeId, Vec<Var>, Arc<QueryDependencies>) {
        let dependencies = self.dependencies[query.0 as usize].clone();
        let query = &self.formulas[query.0 as usize];
        (query.id, query.variables.iter().map(|entry| entry.1).collect(), dependencies)
    }

    /// Returns the relations known so far for a structure.
    pub(super) fn snapshot(&mut self, structure: &Structure) -> Arc<Snapshot> {
        self.store.snapshot(structure, &self.program)
    }

    /// Runs an evaluation in one structure, without real variables.
    pub(super) fn with_run<T>(
        &mut self,
        structure: &Structure,
        ask: impl FnOnce(&mut Run<'_>) -> Result<T, EvaluationError>,
    ) -> Result<T, EvaluationError> {
        self.run(structure, &[], &Assignment::new(), ask)
    }

    fn run<T>(
        &mut self,
        structure: &Structure,
        reals: &[Variable],
        assignment: &Assignment,
        ask: impl FnOnce(&mut Run<'_>) -> Result<T, EvaluationError>,
    ) -> Result<T, EvaluationError> {
        let same = Arc::ptr_eq(structure.vocabulary(), &self.vocabulary);
        if !same && **structure.vocabulary() != *self.vocabulary {
            return Err(EvaluationError::OtherVocabulary);
        }
        let mut given = Vec::with_capacity(reals.len());
        for real in reals {
            given.push(
                assignment
                    .real(real)
                    .ok_or_else(|| EvaluationError::UnboundVariable(real.clone()))?,
            );
        }
        let [left, allowed] = self.allowance;
        let limits = Limits { steps: self.limits.steps.min(left), ..self.limits };
        let (program, store) = (&self.program, &mut self.store);
        let mut run = Run::new(program, structure, store, limits, &self.interrupt, &given);
        let answer = ask(&mut run);
        self.spent.fetch_add(run.spent(), Ordering::Relaxed);
        self.allowance[0] = left.saturating_sub(run.steps());
        match answer {
            // The limit that counts is the one of all queries together.
            Err(EvaluationError::Steps(_)) if left < self.limits.steps => {
                Err(EvaluationError::Steps(allowed))
            }
            answer => answer,
        }
    }
}

/// Returns the table with the one assignment, restricted to the query's variables. The table is
/// empty if an element does not exist.
fn first(variables: &[(Variable, Var)], structure: &Structure, assignment: &Assignment) -> Table {
    let mut table = Table::unit();
    for (variable, column) in variables {
        if let Some(element) = assignment.element(variable) {
            table.columns.push(*column);
            table.cells.push(element.id());
            if !structure.has(element) {
                table.n_rows = 0;
            }
        }
    }
    if table.n_rows == 0 {
        table.cells.clear();
    }
    table
}

/// Returns a table of many assignments, without those that name elements that do not exist.
fn table(
    known: &[(Variable, Var)],
    structure: &Structure,
    variables: &[Variable],
    rows: &Tuples,
) -> Result<Table, EvaluationError> {
    let mut columns = Vec::with_capacity(variables.len());
    for variable in variables {
        let entry = known.iter().find(|entry| &entry.0 == variable);
        columns.push(entry.ok_or_else(|| EvaluationError::UnboundVariable(variable.clone()))?.1);
    }
    if rows.arity() != columns.len() {
        let relation = "given assignments".into();
        return Err(EvaluationError::WrongArity {
            relation,
            arity: columns.len(),
            given: rows.arity(),
        });
    }
    let mut cells = Vec::with_capacity(rows.cells().len());
    let mut n_rows = 0;
    for row in rows.iter() {
        if row.iter().all(|&element| structure.has(element)) {
            cells.extend(row.iter().map(|element| element.id()));
            n_rows += 1;
        }
    }
    Ok(Table { columns, n_rows, cells })
}
