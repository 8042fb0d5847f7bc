//! Questions asked of many structures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::formula::{Definitions, Formula, Sort, Term, Variable};
use crate::rational::Rational;
use crate::structure::{Element, Structure, Tuples, Vocabulary};

use super::check::{check_formula, check_term};
use super::compile::{Compiler, Scope, Use};
use super::program::{Needs, NodeId, Program, TermId, TermNode, Var};
use super::solve::Run;
use super::store::{Moment, Store};
use super::table::Table;
use super::{Assignment, Limits, Refusal};

/// A formula that an [`Evaluator`] has been given.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FormulaQuery(u32);

/// A term that an [`Evaluator`] has been given.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TermQuery(u32);

/// Evaluates by computing with sets of assignments.
///
/// It is given formulas and terms once and asked about many structures of one vocabulary. What a structure shares with the
/// one before, such as relations that no move changes and all that is defined by them alone, is not worked out again.
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
/// let mut evaluator = Evaluator::new(vocabulary, Arc::new(Definitions::new()), Limits::default());
/// let reach = evaluator.formula(&Formula::closure(None, x.clone(), y.clone(), step), &[x.clone(), y]).unwrap();
/// assert_eq!(evaluator.solve(reach, &path, &Assignment::new()).unwrap().len(), 10);
/// assert_eq!(evaluator.solve(reach, &path, &Assignment::new().with(&x, nodes[2])).unwrap().len(), 2);
/// ```
#[derive(Clone)]
pub struct Evaluator {
    vocabulary: Arc<Vocabulary>,
    definitions: Arc<Definitions>,
    program: Arc<Program>,
    uses: Vec<Option<Use>>,
    formulas: Vec<Arc<Query<NodeId>>>,
    terms: Vec<Arc<Query<TermId>>>,
    /// By formula: what it depends on.
    reasons: Vec<Arc<Reasons>>,
    store: Store,
    limits: Limits,
    /// Steps of this evaluator and of all that are copies of the same.
    spent: Arc<AtomicU64>,
}

/// What the solutions of a formula depend on.
pub(super) struct Reasons {
    pub(super) needs: Needs,
    /// The definitions that it uses itself.
    pub(super) uses: Vec<usize>,
}

struct Query<Id> {
    id: Id,
    variables: Vec<(Variable, Var)>,
    reals: Vec<Variable>,
}

impl Evaluator {
    /// For structures of a vocabulary, with relations defined on them. The limits are for each question anew.
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
            reasons: Vec::new(),
            store: Store::default(),
            limits,
            spent: Arc::default(),
        }
    }

    /// How many steps all questions to this evaluator and to its copies have taken: a measure of time that is the same on every machine.
    pub fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// Takes a formula; its free variables must be among those listed. The element variables listed are the columns of
    /// the answers.
    pub fn formula(
        &mut self,
        formula: &Formula,
        variables: &[Variable],
    ) -> Result<FormulaQuery, Refusal> {
        check_formula(&self.vocabulary, &self.definitions, formula, variables)?;
        let query = self.compiled(variables, |compiler| compiler.formula(formula, false))?;
        let (needs, uses) = (self.program.needs(query.id), self.program.definitions_of(query.id));
        self.reasons.push(Arc::new(Reasons { needs, uses }));
        self.formulas.push(Arc::new(query));
        Ok(FormulaQuery(self.formulas.len() as u32 - 1))
    }

    /// Takes a term; its free variables must be among those listed.
    pub fn term(&mut self, term: &Term, variables: &[Variable]) -> Result<TermQuery, Refusal> {
        check_term(&self.vocabulary, &self.definitions, term, variables)?;
        let query = self.compiled(variables, |compiler| compiler.term(term))?;
        self.terms.push(Arc::new(query));
        Ok(TermQuery(self.terms.len() as u32 - 1))
    }

    fn compiled<Id>(
        &mut self,
        variables: &[Variable],
        compile: impl FnOnce(&mut Compiler<'_>) -> Result<Id, Refusal>,
    ) -> Result<Query<Id>, Refusal> {
        let program = Arc::make_mut(&mut self.program);
        let mut scope = Scope::default();
        let mut reals = Vec::new();
        for (place, variable) in variables.iter().enumerate() {
            if variables[..place].contains(variable) {
                return Err(Refusal::RepeatedVariable(variable.clone()));
            }
            match variable.sort() {
                Sort::Element => scope.variables.push((variable.clone(), program.fresh())),
                Sort::Real => {
                    let given = program.add_term(TermNode::Given(reals.len()));
                    scope.reals.push((variable.clone(), given));
                    reals.push(variable.clone());
                }
                Sort::Set | Sort::Relation => {
                    return Err(Refusal::UnsupportedSort(variable.clone(), variable.sort()));
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

    /// The elements for the query's variables, in their order, with which the formula holds: of those that agree
    /// with the assignment.
    pub fn solve(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
        assignment: &Assignment,
    ) -> Result<Tuples, Refusal> {
        let query = self.formulas[query.0 as usize].clone();
        let given = first(&query.variables, structure, assignment);
        self.solve_given(&query, structure, given, assignment)
    }

    /// The same, for many assignments to the same variables at a time.
    pub fn solve_from(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
        variables: &[Variable],
        rows: &Tuples,
    ) -> Result<Tuples, Refusal> {
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
    ) -> Result<Tuples, Refusal> {
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

    /// Whether there is a way to complete the assignment so that the formula holds.
    pub fn holds(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
        assignment: &Assignment,
    ) -> Result<bool, Refusal> {
        let query = self.formulas[query.0 as usize].clone();
        let given = first(&query.variables, structure, assignment);
        self.run(structure, &query.reals, assignment, |run| {
            Ok(!run.extend(query.id, given)?.is_empty())
        })
    }

    /// The value of the term, if it has one, its free variables being assigned.
    pub fn value(
        &mut self,
        query: TermQuery,
        structure: &Structure,
        assignment: &Assignment,
    ) -> Result<Option<Rational>, Refusal> {
        let query = self.terms[query.0 as usize].clone();
        let given = first(&query.variables, structure, assignment);
        self.run(structure, &query.reals, assignment, |run| {
            if let Some(&free) =
                run.program.term_free(query.id).iter().find(|&&free| given.column(free).is_none())
            {
                let name = query.variables.iter().find(|entry| entry.1 == free);
                let name = name.expect("free variables are among the query's").0.clone();
                return Err(Refusal::UnboundVariable(name));
            }
            Ok(if given.is_empty() { None } else { run.values(query.id, &given)?[0] })
        })
    }

    /// The values of the term for many assignments to all its element variables, in the order of the query.
    pub fn values(
        &mut self,
        query: TermQuery,
        structure: &Structure,
        rows: &Tuples,
    ) -> Result<Vec<Option<Rational>>, Refusal> {
        let query = self.terms[query.0 as usize].clone();
        let variables: Vec<Variable> =
            query.variables.iter().map(|entry| entry.0.clone()).collect();
        let given = table(&query.variables, structure, &variables, rows)?;
        self.run(structure, &query.reals, &Assignment::new(), |run| run.values(query.id, &given))
    }

    /// The formula of a query in the program, with its columns and what it depends on.
    pub(super) fn node_of(&self, query: FormulaQuery) -> (NodeId, Vec<Var>, Arc<Reasons>) {
        let reasons = self.reasons[query.0 as usize].clone();
        let query = &self.formulas[query.0 as usize];
        (query.id, query.variables.iter().map(|entry| entry.1).collect(), reasons)
    }

    /// What is known of a structure by now.
    pub(super) fn moment(&mut self, structure: &Structure) -> Arc<Moment> {
        self.store.moment(structure, &self.program)
    }

    /// Something asked of one structure, without real variables.
    pub(super) fn with_run<T>(
        &mut self,
        structure: &Structure,
        ask: impl FnOnce(&mut Run<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.run(structure, &[], &Assignment::new(), ask)
    }

    fn run<T>(
        &mut self,
        structure: &Structure,
        reals: &[Variable],
        assignment: &Assignment,
        ask: impl FnOnce(&mut Run<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let same = Arc::ptr_eq(structure.vocabulary(), &self.vocabulary);
        if !same && **structure.vocabulary() != *self.vocabulary {
            return Err(Refusal::OtherVocabulary);
        }
        let mut given = Vec::with_capacity(reals.len());
        for real in reals {
            given
                .push(assignment.real(real).ok_or_else(|| Refusal::UnboundVariable(real.clone()))?);
        }
        let mut run = Run::new(&self.program, structure, &mut self.store, self.limits, &given);
        let answer = ask(&mut run);
        self.spent.fetch_add(run.spent(), Ordering::Relaxed);
        answer
    }
}

/// The one assignment, as far as it speaks of the query's variables; none if it names an element that is not there.
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

/// Many assignments; those that name elements that are not there are refused.
fn table(
    known: &[(Variable, Var)],
    structure: &Structure,
    variables: &[Variable],
    rows: &Tuples,
) -> Result<Table, Refusal> {
    let mut columns = Vec::with_capacity(variables.len());
    for variable in variables {
        let entry = known.iter().find(|entry| &entry.0 == variable);
        columns.push(entry.ok_or_else(|| Refusal::UnboundVariable(variable.clone()))?.1);
    }
    if rows.arity() != columns.len() {
        let relation = "given assignments".into();
        return Err(Refusal::WrongArity { relation, arity: columns.len(), given: rows.arity() });
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
