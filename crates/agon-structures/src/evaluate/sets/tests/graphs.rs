//! Problems on all small graphs, on random ones, and on larger ones with known answers.

use super::*;

/// Returns all graphs with up to this many vertices.
fn all_graphs(n_max: usize) -> impl Iterator<Item = Graph> {
    (0..=n_max).flat_map(|n| {
        let pairs: Vec<(usize, usize)> =
            (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other))).collect();
        (0..1u32 << pairs.len()).map(move |mask| {
            let chosen = pairs.iter().enumerate().filter(|(place, _)| mask >> place & 1 == 1);
            Graph { n, edges: chosen.map(|(_, &pair)| pair).collect() }
        })
    })
}

/// Returns random graphs of every size from 6 to 10, from sparse to dense.
fn random_graphs() -> impl Iterator<Item = Graph> {
    let mut state = 7u64;
    let mut next = move || {
        // A linear congruential generator suffices (Knuth's constants).
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    (0..40).map(move |round| {
        let n = 6 + round % 5;
        let percent = 15 + next() % 50;
        let pairs = (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other)));
        Graph { n, edges: pairs.filter(|_| next() % 100 < percent).collect() }
    })
}

/// Returns the vertices reached from each vertex.
fn reached(graph: &Graph) -> Vec<Vec<bool>> {
    let mut reached: Vec<Vec<bool>> =
        (0..graph.n).map(|one| (0..graph.n).map(|other| one == other).collect()).collect();
    for _ in 0..graph.n {
        for row in &mut reached {
            for &(one, other) in &graph.edges {
                let either = row[one] || row[other];
                (row[one], row[other]) = (either, either);
            }
        }
    }
    reached
}

fn has_colouring(graph: &Graph, n_colours: usize) -> bool {
    fn extend(graph: &Graph, n_colours: usize, colours: &mut Vec<usize>) -> bool {
        let next = colours.len();
        next == graph.n
            || (0..n_colours).any(|colour| {
                let clashes =
                    (0..next).any(|before| graph.has(before, next) && colours[before] == colour);
                colours.push(colour);
                let extends = !clashes && extend(graph, n_colours, colours);
                colours.pop();
                extends
            })
    }
    extend(graph, n_colours, &mut Vec::new())
}

fn dominating(graph: &Graph, set: u32) -> bool {
    (0..graph.n).all(|x| (0..graph.n).any(|y| set >> y & 1 == 1 && (x == y || graph.has(x, y))))
}

fn has_hamiltonian_cycle(graph: &Graph) -> bool {
    fn extend(graph: &Graph, path: &mut Vec<usize>) -> bool {
        let last = path[path.len() - 1];
        if path.len() == graph.n {
            return graph.has(last, path[0]);
        }
        (0..graph.n).any(|next| {
            let fits = graph.has(last, next) && !path.contains(&next);
            fits && {
                path.push(next);
                let extends = extend(graph, path);
                path.pop();
                extends
            }
        })
    }
    // Each vertex needs two different edges.
    graph.n >= 3 && extend(graph, &mut vec![0])
}

fn check(graph: &Graph) {
    let structure = graph.structure();
    assert_eq!(holds(&structure, &three_colourable()), has_colouring(graph, 3), "{graph:?}");
    assert_eq!(holds(&structure, &bipartite()), has_colouring(graph, 2), "{graph:?}");
    let is_connected = reached(graph).iter().flatten().all(|&reached| reached);
    assert_eq!(holds(&structure, &connected()), is_connected, "{graph:?}");
    let sets = || (0..1u32 << graph.n).filter(|&set| dominating(graph, set));
    let minimum = sets().map(u32::count_ones).min().unwrap_or(0);
    for size in minimum.saturating_sub(1)..=minimum {
        let is_dominated = holds(&structure, &dominated_by(i64::from(size)));
        assert_eq!(is_dominated, size >= minimum, "{size} in {graph:?}");
    }
    // Dominating sets stay dominating when they grow, so removing one vertex suffices.
    let is_minimal =
        |&set: &u32| (0..graph.n).all(|x| set >> x & 1 == 0 || !dominating(graph, set & !(1 << x)));
    let sizes: Vec<u32> = sets().filter(is_minimal).map(u32::count_ones).collect();
    for size in minimum..=graph.n as u32 {
        let found = holds(&structure, &minimally_dominated_by(i64::from(size)));
        assert_eq!(found, sizes.contains(&size), "{size} in {graph:?}");
    }
}

#[test]
fn all_small_graphs() {
    all_graphs(5).for_each(|graph| check(&graph));
}

#[test]
fn random_larger_graphs() {
    random_graphs().for_each(|graph| check(&graph));
}

#[test]
fn the_definition_of_truth_agrees_on_graphs() {
    for graph in all_graphs(4).step_by(3) {
        let structure = graph.structure();
        for formula in [
            three_colourable(),
            bipartite(),
            connected(),
            dominated_by(1),
            minimally_dominated_by(2),
        ] {
            let expected = holds_by_definition(&structure, &formula);
            assert_eq!(holds(&structure, &formula), expected, "{formula} in {graph:?}");
        }
    }
    for graph in random_graphs().step_by(7) {
        let structure = graph.structure();
        for formula in [bipartite(), connected(), dominated_by(2)] {
            let expected = holds_by_definition(&structure, &formula);
            assert_eq!(holds(&structure, &formula), expected, "{formula} in {graph:?}");
        }
    }
}

#[test]
fn hamiltonian_cycles_of_small_graphs() {
    for graph in all_graphs(5).chain(random_graphs()) {
        // The empty set of edges satisfies the formula for the empty graph.
        let expected = graph.n == 0 || has_hamiltonian_cycle(&graph);
        assert_eq!(holds(&graph.incidence(), &hamiltonian()), expected, "{graph:?}");
    }
}

#[test]
fn grids_have_hamiltonian_cycles_if_their_size_is_even() {
    for (width, height) in [(2, 3), (3, 3), (4, 4), (5, 4), (5, 5), (6, 6), (10, 8)] {
        let grid = Graph::grid(width, height, false).incidence();
        assert_eq!(holds(&grid, &hamiltonian()), width * height % 2 == 0, "{width}x{height}");
    }
    assert!(!holds(&Graph::petersen().incidence(), &hamiltonian()));
}

#[test]
fn triangulated_grids_have_three_colours() {
    // The colours of one triangle determine all others: the sum of the coordinates counts.
    let mut grid = Graph::grid(30, 30, true);
    assert!(holds(&grid.structure(), &three_colourable()));
    grid.edges.push((0, 2));
    assert!(holds(&grid.structure(), &three_colourable()));
    grid.edges.push((1, 30));
    assert!(!holds(&grid.structure(), &three_colourable()));
}

#[test]
fn known_graphs() {
    let petersen = Graph::petersen().structure();
    assert!(holds(&petersen, &three_colourable()));
    assert!(!holds(&petersen, &bipartite()));
    assert!(!holds(&petersen, &dominated_by(2)) && holds(&petersen, &dominated_by(3)));
    assert!(!holds(&Graph::groetzsch().structure(), &three_colourable()));
    // Domination numbers of square grids (Alanko et al. 2011).
    for (width, number) in [(3, 3), (4, 4), (5, 7), (6, 10)] {
        let grid = Graph::grid(width, width, false).structure();
        assert!(!holds(&grid, &dominated_by(number - 1)), "{width}");
        assert!(holds(&grid, &dominated_by(number)), "{width}");
    }
}

#[test]
fn reachability_by_sets_is_the_closure() {
    let [x, y, set] = variables(["x", "y", "X"]);
    let columns = [x.clone(), y.clone()];
    let closure = Formula::closure(None, x.clone(), y.clone(), Formula::atom("R", [&x, &y]));
    // With a further condition on the set it is not recognised as reachability.
    let idle = Formula::Or(vec![Formula::member(&x, &set), Formula::member(&y, &set)]);
    let fits = Formula::And(vec![idle, Formula::member(&x, &set), closed(&set)]);
    let hidden = Formula::all([&set], implies(fits, Formula::member(&y, &set)));
    let none = Assignment::new();
    for graph in random_graphs() {
        let structure = graph.structure();
        let mut evaluator =
            Evaluator::new(structure.vocabulary().clone(), Arc::default(), Limits::default());
        let [by_closure, by_sets, hidden] = [&closure, &reachable(), &hidden]
            .map(|formula| evaluator.formula(formula, &columns).unwrap());
        let expected = evaluator.solve(by_closure, &structure, &none).unwrap();
        let mut cost = |query| {
            let spent = evaluator.spent();
            assert_eq!(evaluator.solve(query, &structure, &none).unwrap(), expected);
            evaluator.spent() - spent
        };
        let (of_closure, of_sets, of_hidden) = (cost(by_closure), cost(by_sets), cost(hidden));
        assert!(
            of_sets == of_closure && of_hidden > of_sets,
            "{of_closure}, {of_sets}, {of_hidden}"
        );
    }
}

#[test]
fn closures_inside_sets() {
    // The greatest set whose members are connected by paths inside it is the greatest component.
    let [x, y, set] = variables(["x", "y", "X"]);
    let [inside, other] = [&x, &y].map(|end| Formula::member(end, &set));
    let step = Formula::And(vec![Formula::atom("R", [&x, &y]), inside.clone(), other.clone()]);
    let path = Formula::closure(None, x.clone(), y.clone(), step);
    let joined = Formula::all([&x, &y], implies(Formula::And(vec![inside, other]), path));
    for graph in random_graphs().take(15) {
        let component = |row: &Vec<bool>| row.iter().filter(|&&is_reached| is_reached).count();
        let greatest = reached(&graph).iter().map(component).max().unwrap_or(0) as i64;
        for at_least in [greatest, greatest + 1] {
            let large = Formula::compare(size(&set), Sign::AtLeast, Term::whole(at_least));
            let formula = Formula::exists([&set], Formula::And(vec![joined.clone(), large]));
            let expected = at_least <= greatest;
            assert_eq!(holds(&graph.structure(), &formula), expected, "{at_least}: {graph:?}");
        }
    }
}

#[test]
fn limits_refuse() {
    let structure = Graph::grid(7, 7, false).structure();
    let refusal = |limits: Limits, formula: &Formula| {
        let mut evaluator = Evaluator::new(structure.vocabulary().clone(), Arc::default(), limits);
        let query = evaluator.formula(formula, &[]).unwrap();
        evaluator.holds(query, &structure, &Assignment::new()).unwrap_err()
    };
    let few = Limits { gates: 100, ..Limits::default() };
    assert_eq!(refusal(few, &three_colourable()), EvaluationError::Gates(100));
    // The domination number is 12.
    let few = Limits { conflicts: 20, ..Limits::default() };
    assert_eq!(refusal(few, &dominated_by(11)), EvaluationError::Conflicts(20));
    let few = Limits { steps: 40_000, ..Limits::default() };
    assert_eq!(refusal(few, &dominated_by(11)), EvaluationError::Steps(40_000));
    let definitions = Definitions::new();
    let model = Model { structure: &structure, definitions: &definitions };
    let naive = Naive::new(model, Limits::default()).holds(&bipartite(), &Assignment::new());
    assert_eq!(naive, Err(EvaluationError::Subsets(16)));
}

#[test]
fn constants_without_elements_are_in_no_set() {
    let mut vocabulary = Vocabulary::new();
    vocabulary.add_relation("R", 2).unwrap();
    vocabulary.add_constant("c");
    let mut structure = Structure::new(Arc::new(vocabulary));
    structure.create(None).unwrap();
    let [u, v, set] = variables(["u", "v", "X"]);
    let constant = Argument::Constant("c".into());
    let member = Formula::Member(constant.clone(), set.clone());
    // No set has the start, so there is nothing to refute.
    let fits = Formula::And(vec![member.clone(), closed(&set)]);
    let reaches = Formula::all([&set], implies(fits, member.clone()));
    // By steps inside a set, there is no path.
    let step = Formula::And(vec![Formula::member(&u, &set), Formula::member(&v, &set)]);
    let path = Formula::Closure(Box::new(crate::formula::Closure {
        bound: None,
        from: u,
        to: v,
        body: step,
        arguments: [constant.clone(), constant],
    }));
    for (formula, expected) in [
        (Formula::exists([&set], member.clone()), false),
        (Formula::all([&set], Formula::not(member)), true),
        (reaches, true),
        (Formula::exists([&set], path), false),
    ] {
        assert_eq!(holds(&structure, &formula), expected, "{formula}");
        assert_eq!(holds_by_definition(&structure, &formula), expected, "{formula}");
    }
}
