//! Measures quantifiers over sets on graphs of growing size: `cargo xtask mso`.
//!
//! The columns of times are:
//!
//! - `seconds`: registering the formula and deciding it, with empty caches.
//! - `naive`: the oracle, which enumerates all sets. It refuses more than 16 elements, and `-`
//!   means that it refused or exceeded its steps.
//! - `z3`: the same sentence, with quantifiers over Booleans, by z3 if it is installed as a Python
//!   module. The environment variable `AGON_Z3_PYTHON` names the interpreter; otherwise it is
//!   `python3`. It stops after 20 seconds.

mod smt_lib;

use std::sync::Arc;
use std::time::Instant;

use agon_structures::evaluate::{Assignment, Evaluator, Limits, Model, Naive};
use agon_structures::formula::{Definitions, Fold, Formula, Sign, Term, Variable};
use agon_structures::structure::{Element, Structure, Vocabulary};

/// A formula, the structure in which it is decided, and the known answer.
struct Problem {
    name: &'static str,
    size: String,
    structure: Structure,
    formula: Formula,
    columns: Vec<Variable>,
    expected: Expected,
}

/// An answer known by other means.
enum Expected {
    Holds(bool),
    Solutions(usize),
}

pub(crate) fn run(_: Vec<String>) {
    println!(
        "{:<34} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "problem", "size", "elements", "answer", "seconds", "naive", "z3"
    );
    for problem in problems() {
        measure(&problem);
    }
}

fn measure(problem: &Problem) {
    let Problem { name, size, structure, formula, columns, expected } = problem;
    let clock = Instant::now();
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    let found = evaluator
        .formula(formula, columns)
        .and_then(|query| evaluator.solve(query, structure, &Assignment::new()));
    let seconds = clock.elapsed().as_secs_f64();
    let answer = match found {
        Ok(found) => {
            let is_right = match expected {
                Expected::Holds(holds) => *holds != found.is_empty(),
                Expected::Solutions(number) => *number == found.len(),
            };
            assert!(is_right, "{name} {size}: {} solutions", found.len());
            if columns.is_empty() {
                (!found.is_empty()).to_string()
            } else {
                found.len().to_string()
            }
        }
        Err(error) => error.to_string(),
    };
    let definitions = Definitions::new();
    let model = Model { structure, definitions: &definitions };
    let clock = Instant::now();
    let limits = Limits { steps: 200_000_000, ..Limits::default() };
    let naive = Naive::new(model, limits).solutions(formula, columns, &Assignment::new());
    let naive = match naive {
        Ok(_) => format!("{:.3}", clock.elapsed().as_secs_f64()),
        Err(_) => "-".to_owned(),
    };
    let z3 = match smt_lib::ask(structure, formula) {
        _ if !columns.is_empty() => "-".to_owned(),
        Ok((theirs, seconds)) => {
            let is_equal = matches!(expected, Expected::Holds(holds) if *holds == theirs);
            assert!(is_equal, "{name} {size}: z3 says {theirs}");
            format!("{seconds:.3}")
        }
        Err(why) => why.to_owned(),
    };
    let elements = structure.n_elements();
    println!("{name:<34} {size:>10} {elements:>8} {answer:>9} {seconds:>9.3} {naive:>9} {z3:>9}");
}

fn problems() -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |name, size: String, structure, formula, holds| {
        let (columns, expected) = (Vec::new(), Expected::Holds(holds));
        problems.push(Problem { name, size, structure, formula, columns, expected });
    };
    for side in [3, 10, 30, 100] {
        let (size, n) = (format!("{side}x{side}"), side * side);
        let edges = grid(side, side, true);
        add("3-colouring, triangulated grid", size.clone(), graph(n, &edges), colourable(), true);
        let chord = [edges, vec![(1, side)]].concat();
        add("the same with a bad chord", size, graph(n, &chord), colourable(), false);
    }
    for (width, height) in [(2, 2), (4, 4), (5, 5), (6, 6), (7, 7), (10, 10), (20, 20)] {
        let edges = grid(width, height, false);
        let structure = incidence(width * height, &edges);
        let holds = width * height % 2 == 0;
        add(
            "Hamiltonian cycle, grid",
            format!("{width}x{height}"),
            structure,
            hamiltonian(),
            holds,
        );
    }
    for (side, number) in [(3, 3), (5, 7), (6, 10), (7, 12)] {
        let structure = || graph(side * side, &grid(side, side, false));
        let size = || format!("{side}x{side}, {number}");
        add("domination number, grid", size(), structure(), dominated(number), true);
        let size = format!("{side}x{side}, {}", number - 1);
        add("domination number, grid", size, structure(), dominated(number - 1), false);
    }
    for n in [4, 10, 16, 20, 24, 40] {
        // Minimal dominating sets of a path: one vertex of each of the pairs at most.
        let path: Vec<(usize, usize)> = (1..n).map(|at| (at - 1, at)).collect();
        let largest = n.div_ceil(2) as i64;
        let structure = || graph(n, &path);
        let name = "minimal dominating set, path";
        add(name, format!("{n}, {largest}"), structure(), minimally_dominated(largest), true);
        let size = format!("{n}, {}", largest + 1);
        add(name, size, structure(), minimally_dominated(largest + 1), false);
    }
    for n in [4, 10, 14, 60] {
        // Pairs that are connected in two cycles of the same length.
        let half = n / 2;
        let cycle = |first: usize| (0..half).map(move |at| (first + at, first + (at + 1) % half));
        let edges: Vec<(usize, usize)> = cycle(0).chain(cycle(half)).collect();
        let [x, y] = ["x", "y"].map(Variable::new);
        for (name, hidden) in [("connected pairs by sets, as tc", false), ("the same by SAT", true)]
        {
            problems.push(Problem {
                name,
                size: format!("2 x {half}"),
                structure: graph(n, &edges),
                formula: reachable(hidden),
                columns: vec![x.clone(), y.clone()],
                expected: Expected::Solutions(2 * half * half),
            });
        }
    }
    problems
}

fn grid(width: usize, height: usize, diagonals: bool) -> Vec<(usize, usize)> {
    let at = |x: usize, y: usize| y * width + x;
    let mut edges = Vec::new();
    for y in 0..height {
        for x in 0..width {
            if x + 1 < width {
                edges.push((at(x, y), at(x + 1, y)));
            }
            if y + 1 < height {
                edges.push((at(x, y), at(x, y + 1)));
            }
            if diagonals && x + 1 < width && y + 1 < height {
                edges.push((at(x, y), at(x + 1, y + 1)));
            }
        }
    }
    edges
}

fn elements(structure: &mut Structure, n: usize) -> Vec<Element> {
    (0..n).map(|_| structure.create(None).expect("there are fewer elements than ids")).collect()
}

/// Returns the vertices as elements, with `R` for neighbours.
fn graph(n: usize, edges: &[(usize, usize)]) -> Structure {
    let mut vocabulary = Vocabulary::new();
    let edge = vocabulary.add_relation("R", 2).expect("there is no other relation");
    let mut structure = Structure::new(Arc::new(vocabulary));
    let vertices = elements(&mut structure, n);
    for &(one, other) in edges {
        for pair in [[one, other], [other, one]] {
            structure.add(edge, &pair.map(|at| vertices[at])).expect("vertices exist");
        }
    }
    structure
}

/// Returns vertices `V` and edges as elements, with `I` for a vertex of an edge.
fn incidence(n: usize, edges: &[(usize, usize)]) -> Structure {
    let mut vocabulary = Vocabulary::new();
    let vertex = vocabulary.add_relation("V", 1).expect("the names differ");
    let ends = vocabulary.add_relation("I", 2).expect("the names differ");
    let mut structure = Structure::new(Arc::new(vocabulary));
    let vertices = elements(&mut structure, n);
    for &element in &vertices {
        structure.add(vertex, &[element]).expect("vertices exist");
    }
    for (&(one, other), edge) in edges.iter().zip(elements(&mut structure, edges.len())) {
        for end in [one, other] {
            structure.add(ends, &[vertices[end], edge]).expect("vertices exist");
        }
    }
    structure
}

fn implies(condition: Formula, conclusion: Formula) -> Formula {
    Formula::Or(vec![Formula::not(condition), conclusion])
}

fn count(variable: &Variable, guard: Formula) -> Term {
    Term::aggregate(Fold::Sum, vec![variable.clone()], guard, Term::whole(1))
}

fn colourable() -> Formula {
    let [x, y] = ["x", "y"].map(Variable::new);
    let colours = ["X", "Y", "Z"].map(Variable::new);
    let coloured = Formula::Or(colours.iter().map(|set| Formula::member(&x, set)).collect());
    let same = colours
        .iter()
        .map(|set| Formula::And(vec![Formula::member(&x, set), Formula::member(&y, set)]));
    let proper = implies(Formula::atom("R", [&x, &y]), Formula::not(Formula::Or(same.collect())));
    let both = Formula::And(vec![Formula::all([&x], coloured), Formula::all([&x, &y], proper)]);
    Formula::exists(&colours, both)
}

fn dominates(set: &Variable) -> Formula {
    let [x, y] = ["x", "y"].map(Variable::new);
    let near = Formula::And(vec![Formula::member(&y, set), Formula::atom("R", [&y, &x])]);
    Formula::all([&x], Formula::Or(vec![Formula::member(&x, set), Formula::exists([&y], near)]))
}

fn dominated(at_most: i64) -> Formula {
    let [x, set] = ["x", "X"].map(Variable::new);
    let size = count(&x, Formula::member(&x, &set));
    let small = Formula::compare(size, Sign::AtMost, Term::whole(at_most));
    Formula::exists([&set], Formula::And(vec![dominates(&set), small]))
}

/// Says that there is a dominating set of this size without a smaller one inside.
fn minimally_dominated(exactly: i64) -> Formula {
    let [x, set, smaller] = ["x", "X", "Y"].map(Variable::new);
    let size = count(&x, Formula::member(&x, &set));
    let exact = Formula::compare(size, Sign::Equal, Term::whole(exactly));
    let [of_set, of_smaller] = [&set, &smaller].map(|set| Formula::member(&x, set));
    let inside = Formula::all([&x], implies(of_smaller.clone(), of_set.clone()));
    let lost = Formula::exists([&x], Formula::And(vec![of_set, Formula::not(of_smaller)]));
    let proper = Formula::And(vec![inside, lost]);
    let minimal = Formula::all([&smaller], implies(proper, Formula::not(dominates(&smaller))));
    Formula::exists([&set], Formula::And(vec![dominates(&set), exact, minimal]))
}

/// Says that there are edges of which each vertex has two, such that between every set of vertices
/// and the others there is one.
fn hamiltonian() -> Formula {
    let [x, y, e, edges, side] = ["x", "y", "e", "E", "X"].map(Variable::new);
    let vertex = Formula::atom("V", [&x]);
    let chosen = Formula::And(vec![Formula::atom("I", [&x, &e]), Formula::member(&e, &edges)]);
    let two = Formula::compare(count(&e, chosen.clone()), Sign::Equal, Term::whole(2));
    let [inside, other] = [&x, &y].map(|end| Formula::member(end, &side));
    let some = Formula::exists([&x], Formula::And(vec![vertex.clone(), inside.clone()]));
    let outside = Formula::And(vec![vertex.clone(), Formula::not(inside.clone())]);
    let not_all = Formula::exists([&x], outside);
    let ends = vec![chosen, Formula::atom("I", [&y, &e]), inside, Formula::not(other)];
    let crosses = Formula::exists([&x, &y, &e], Formula::And(ends));
    let joined = Formula::all([&side], implies(Formula::And(vec![some, not_all]), crosses));
    let degrees = Formula::all([&x], implies(vertex, two));
    Formula::exists([&edges], Formula::And(vec![degrees, joined]))
}

/// Says that every closed set with `x` has `y`. If hidden, with a redundant condition, so that it
/// is not recognised.
fn reachable(hidden: bool) -> Formula {
    let [x, y, u, v, set] = ["x", "y", "u", "v", "X"].map(Variable::new);
    let step = Formula::And(vec![Formula::member(&u, &set), Formula::atom("R", [&u, &v])]);
    let closed = Formula::all([&u, &v], implies(step, Formula::member(&v, &set)));
    let [starts, ends] = [&x, &y].map(|end| Formula::member(end, &set));
    let mut fits = vec![starts.clone(), closed];
    if hidden {
        fits.push(Formula::Or(vec![starts, ends.clone()]));
    }
    Formula::all([&set], implies(Formula::And(fits), ends))
}
