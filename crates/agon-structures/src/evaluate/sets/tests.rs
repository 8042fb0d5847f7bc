//! Problems on graphs, each as a formula about sets, with independent answers.

mod graphs;
mod random;

use std::sync::Arc;

use crate::evaluate::{Assignment, EvaluationError, Evaluator, Limits, Model, Naive};
use crate::formula::{Argument, Definitions, Fold, Formula, Sign, Term, Variable};
use crate::structure::{Element, Structure, Vocabulary};

/// An undirected graph.
#[derive(Clone, Debug)]
struct Graph {
    n: usize,
    edges: Vec<(usize, usize)>,
}

impl Graph {
    fn has(&self, one: usize, other: usize) -> bool {
        self.edges.contains(&(one, other)) || self.edges.contains(&(other, one))
    }

    /// Returns the vertices as elements, with `R` for neighbours in both directions.
    fn structure(&self) -> Structure {
        let mut vocabulary = Vocabulary::new();
        let edge = vocabulary.add_relation("R", 2).unwrap();
        let mut structure = Structure::new(Arc::new(vocabulary));
        let elements: Vec<Element> = (0..self.n).map(|_| structure.create(None).unwrap()).collect();
        for &(one, other) in &self.edges {
            structure.add(edge, &[elements[one], elements[other]]).unwrap();
            structure.add(edge, &[elements[other], elements[one]]).unwrap();
        }
        structure
    }

    /// Returns vertices `V` and edges as elements, with `I` for a vertex of an edge.
    fn incidence(&self) -> Structure {
        let mut vocabulary = Vocabulary::new();
        let vertex = vocabulary.add_relation("V", 1).unwrap();
        let ends = vocabulary.add_relation("I", 2).unwrap();
        let mut structure = Structure::new(Arc::new(vocabulary));
        let elements: Vec<Element> = (0..self.n).map(|_| structure.create(None).unwrap()).collect();
        for &element in &elements {
            structure.add(vertex, &[element]).unwrap();
        }
        for &(one, other) in &self.edges {
            let edge = structure.create(None).unwrap();
            structure.add(ends, &[elements[one], edge]).unwrap();
            structure.add(ends, &[elements[other], edge]).unwrap();
        }
        structure
    }

    fn grid(width: usize, height: usize, diagonals: bool) -> Graph {
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
        Graph { n: width * height, edges }
    }

    fn petersen() -> Graph {
        let mut edges = Vec::new();
        for at in 0..5 {
            edges.extend([(at, (at + 1) % 5), (at, at + 5), (at + 5, (at + 2) % 5 + 5)]);
        }
        Graph { n: 10, edges }
    }

    /// Returns the Grötzsch graph: without triangles, and not 3-colourable.
    fn groetzsch() -> Graph {
        let mut edges = Vec::new();
        for at in 0..5 {
            let next = (at + 1) % 5;
            edges.extend([(at, next), (at + 5, next), (next + 5, at), (at + 5, 10)]);
        }
        Graph { n: 11, edges }
    }
}

fn variables<const N: usize>(names: [&str; N]) -> [Variable; N] {
    names.map(Variable::new)
}

fn implies(condition: Formula, conclusion: Formula) -> Formula {
    Formula::Or(vec![Formula::not(condition), conclusion])
}

fn iff(one: Formula, other: Formula) -> Formula {
    Formula::And(vec![implies(one.clone(), other.clone()), implies(other, one)])
}

fn size(set: &Variable) -> Term {
    let x = Variable::new("x");
    Term::aggregate(Fold::Sum, vec![x.clone()], Formula::member(&x, set), Term::whole(1))
}

fn three_colourable() -> Formula {
    let [x, y] = variables(["x", "y"]);
    let colours = variables(["X", "Y", "Z"]);
    let coloured = Formula::Or(colours.iter().map(|set| Formula::member(&x, set)).collect());
    let same = colours
        .iter()
        .map(|set| Formula::And(vec![Formula::member(&x, set), Formula::member(&y, set)]));
    let proper = implies(Formula::atom("R", [&x, &y]), Formula::not(Formula::Or(same.collect())));
    Formula::exists(
        &colours,
        Formula::And(vec![Formula::all([&x], coloured), Formula::all([&x, &y], proper)]),
    )
}

fn bipartite() -> Formula {
    let [x, y, set] = variables(["x", "y", "X"]);
    let differ = Formula::not(iff(Formula::member(&x, &set), Formula::member(&y, &set)));
    let proper = implies(Formula::atom("R", [&x, &y]), differ);
    Formula::exists([&set], Formula::all([&x, &y], proper))
}

/// Says that a set is closed under `R`.
fn closed(set: &Variable) -> Formula {
    let [u, v] = variables(["u", "v"]);
    let step = Formula::And(vec![Formula::member(&u, set), Formula::atom("R", [&u, &v])]);
    Formula::all([&u, &v], implies(step, Formula::member(&v, set)))
}

/// Says that every closed set with `x` has `y`.
fn reachable() -> Formula {
    let [x, y, set] = variables(["x", "y", "X"]);
    let fits = Formula::And(vec![Formula::member(&x, &set), closed(&set)]);
    Formula::all([&set], implies(fits, Formula::member(&y, &set)))
}

/// Says that every closed set that is not empty has all vertices.
fn connected() -> Formula {
    let [x, set] = variables(["x", "X"]);
    let some = Formula::exists([&x], Formula::member(&x, &set));
    let all = Formula::all([&x], Formula::member(&x, &set));
    Formula::all([&set], implies(Formula::And(vec![some, closed(&set)]), all))
}

fn dominates(set: &Variable) -> Formula {
    let [x, y] = variables(["x", "y"]);
    let near = Formula::And(vec![Formula::member(&y, set), Formula::atom("R", [&y, &x])]);
    Formula::all([&x], Formula::Or(vec![Formula::member(&x, set), Formula::exists([&y], near)]))
}

fn dominated_by(at_most: i64) -> Formula {
    let set = Variable::new("X");
    let small = Formula::compare(size(&set), Sign::AtMost, Term::whole(at_most));
    Formula::exists([&set], Formula::And(vec![dominates(&set), small]))
}

/// Says that there is a dominating set of this size without a smaller one inside.
fn minimally_dominated_by(exactly: i64) -> Formula {
    let [x, set, smaller] = variables(["x", "X", "Y"]);
    let exact = Formula::compare(size(&set), Sign::Equal, Term::whole(exactly));
    let inside = implies(Formula::member(&x, &smaller), Formula::member(&x, &set));
    let lost =
        Formula::And(vec![Formula::member(&x, &set), Formula::not(Formula::member(&x, &smaller))]);
    let proper = Formula::And(vec![Formula::all([&x], inside), Formula::exists([&x], lost)]);
    let minimal = Formula::all([&smaller], implies(proper, Formula::not(dominates(&smaller))));
    Formula::exists([&set], Formula::And(vec![dominates(&set), exact, minimal]))
}

/// Says, about vertices and edges, that there is a Hamiltonian cycle: edges of which each vertex
/// has two, such that between every set of vertices and the others there is one.
fn hamiltonian() -> Formula {
    let [x, y, e, edges, side] = variables(["x", "y", "e", "E", "X"]);
    let vertex = |x: &Variable| Formula::atom("V", [x]);
    let chosen =
        |x: &Variable| Formula::And(vec![Formula::atom("I", [x, &e]), Formula::member(&e, &edges)]);
    let degree = Term::aggregate(Fold::Sum, vec![e.clone()], chosen(&x), Term::whole(1));
    let two = Formula::compare(degree, Sign::Equal, Term::whole(2));
    let in_side = |x: &Variable| Formula::member(x, &side);
    let some = Formula::exists([&x], Formula::And(vec![vertex(&x), in_side(&x)]));
    let not_all = Formula::exists([&x], Formula::And(vec![vertex(&x), Formula::not(in_side(&x))]));
    let crosses = Formula::exists(
        [&x, &y, &e],
        Formula::And(vec![
            chosen(&x),
            Formula::atom("I", [&y, &e]),
            in_side(&x),
            Formula::not(in_side(&y)),
        ]),
    );
    let joined = Formula::all([&side], implies(Formula::And(vec![some, not_all]), crosses));
    let degrees = Formula::all([&x], implies(vertex(&x), two));
    Formula::exists([&edges], Formula::And(vec![degrees, joined]))
}

fn holds(structure: &Structure, formula: &Formula) -> bool {
    let mut evaluator =
        Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
    let query = evaluator.formula(formula, &[]).unwrap();
    evaluator.holds(query, structure, &Assignment::new()).unwrap()
}

fn holds_by_definition(structure: &Structure, formula: &Formula) -> bool {
    let definitions = Definitions::new();
    let model = Model { structure, definitions: &definitions };
    Naive::new(model, Limits::default()).holds(formula, &Assignment::new()).unwrap()
}
