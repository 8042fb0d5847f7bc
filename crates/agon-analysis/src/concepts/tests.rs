//! Concepts (4) to (8) of Sato & Cazenave 2016, learned from tic-tac-toe and transferred to connect
//! four; laws of concepts.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_game::{Position as _, Rng, Role};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::Game;
use rand::SeedableRng as _;

use super::fact::Fact;
use super::learn::{frequent_sets, joined_concepts};
use super::*;
use crate::tests::shipped;

fn play(game: &Arc<Game>, n_wins: usize, seed: u64) -> Endings {
    Endings::play(&game.start(), &EndingOptions { n_wins, seed, ..EndingOptions::default() })
}

fn concept(facts: &[&str]) -> Concept {
    let facts: Vec<Fact> = facts.iter().map(|text| Fact::parse(text)).collect();
    Concept::of(&facts.iter().collect::<Vec<_>>()).expect("the facts form a concept")
}

/// Returns the concepts (4) to (8) of the paper: three pairs and two lines.
fn concepts_of_the_paper() -> [Concept; 5] {
    [
        concept(&["(cell 1 1 x)", "(cell 1 2 x)"]),
        concept(&["(cell 1 1 o)", "(cell 3 3 o)"]),
        concept(&["(cell 1 1 x)", "(cell 3 3 o)"]),
        concept(&["(cell 2 1 x)", "(cell 2 2 x)", "(cell 2 3 x)"]),
        // In the order of the paper: the cell in the middle first.
        concept(&["(cell 2 2 x)", "(cell 3 3 x)", "(cell 1 1 x)"]),
    ]
}

#[test]
fn concepts_are_written_as_rules_and_as_sentences() {
    let rules: Vec<String> = concepts_of_the_paper().iter().map(Concept::rule).collect();
    assert_eq!(rules[0], "(<= (concept ?x0 ?x1 ?x2) (cell ?x0 ?x1 ?x2) (cell ?x0 (+ ?x1 1) ?x2))");
    assert_eq!(
        rules[1],
        "(<= (concept ?x0 ?x1 ?x2) (cell ?x0 ?x1 ?x2) (cell (+ ?x0 2) (+ ?x1 2) ?x2))"
    );
    assert_eq!(rules[2], "(<= (concept ?x0 ?x1) (cell ?x0 ?x1 x) (cell (+ ?x0 2) (+ ?x1 2) o))");
    assert_eq!(
        rules[3],
        "(<= (concept ?x0 ?x1 ?x2) (cell ?x0 ?x1 ?x2) (cell ?x0 (+ ?x1 1) ?x2) \
         (cell ?x0 (+ ?x1 2) ?x2))"
    );
    let sentences: Vec<String> = concepts_of_the_paper().iter().map(Concept::sentence).collect();
    assert_eq!(sentences[0], "a cell holds the same mark as its right neighbour");
    assert_eq!(sentences[1], "a cell holds the same mark as the cell 2 to the lower right");
    assert_eq!(sentences[2], "a cell holds x and the cell 2 to the lower right holds o");
    assert_eq!(
        sentences[4],
        "a cell, its lower right neighbour and the cell 2 to the lower right hold the same mark"
    );
}

#[test]
fn the_concepts_of_the_paper_are_learned_from_tic_tac_toe() {
    let game = shipped("tic-tac-toe");
    let endings = play(&game, 1000, 7);
    assert!(endings.won.iter().all(|won| won.len() == 1000), "both players win often enough");
    let concepts = learn_concepts(&endings, 3);
    let [right, diagonal, mixed, row, line] = concepts_of_the_paper();
    for wanted in [&right, &diagonal, &mixed] {
        assert!(concepts.contains(wanted), "{wanted} is missing");
    }
    let joined = joined_concepts(&concepts, None).expect("there is no deadline");
    for wanted in [&row, &line] {
        assert!(joined.contains(wanted), "{wanted} is missing");
    }
    // Learning is deterministic, and concepts survive writing and reading.
    assert_eq!(concepts, learn_concepts(&play(&game, 1000, 7), 3));
    for kept in [&concepts, &joined] {
        assert_eq!(read_concepts(&write_concepts(kept)).as_ref(), Ok(kept));
    }
}

#[test]
fn values_are_frequencies_in_the_plays_won() {
    let game = shipped("tic-tac-toe");
    let endings = play(&game, 300, 1);
    let won = &endings.won[0];
    for rule in frequent_sets(won, 2, 0.1) {
        let holds = |position: &&Vec<u32>| rule.body.iter().all(|fact| position.contains(fact));
        let n = won.iter().filter(holds).count();
        assert!((rule.value - n as f64 / won.len() as f64).abs() < 1e-12, "{rule:?}");
    }
}

#[test]
fn concepts_of_one_game_make_a_heuristic_for_another() {
    let source = shipped("tic-tac-toe");
    let concepts = learn_concepts(&play(&source, 500, 3), 3);
    let game = shipped("connect-four");
    let options =
        LearnOptions { kind: HeuristicKind::Concepts, n_wins: 10, ..LearnOptions::default() };
    let heuristic = ConceptHeuristic::learn(&game.start(), &options, Some(&concepts), None);
    assert!(heuristic.rules.iter().all(|rules| !rules.is_empty()), "both players have rules");
    // A cell of tic-tac-toe is a disc of connect four.
    assert!(
        heuristic.concepts.iter().all(|concept| concept.name == "disc"),
        "{:?}",
        heuristic.concepts.first()
    );
    // Concepts that name the marks of one game have no instances in the other.
    for rule in heuristic.best_rules(Role::new(0), 20) {
        assert!(!rule.1.contains(" x)") && !rule.1.contains(" o)"), "{rule:?}");
    }
    let start = game.start();
    let value = heuristic.value(&start, Role::new(0));
    assert!((0.0..=1.0).contains(&value), "{value}");
    assert!(start.shape().players().count() == 2);
}

#[test]
fn a_concept_does_not_depend_on_the_order_of_its_facts_nor_on_where_they_are() {
    let texts = ["(cell 1 1 x)", "(cell 2 3 x)", "(cell 4 1 o)"];
    let moved = ["(cell 5 2 o)", "(cell 2 2 x)", "(cell 3 4 x)"];
    assert_eq!(concept(&texts), concept(&moved));
    let found: BTreeSet<Concept> = [[0, 1, 2], [2, 1, 0], [1, 2, 0]]
        .iter()
        .map(|order| concept(&order.map(|at| texts[at])))
        .collect();
    assert_eq!(found.len(), 1);
    assert_eq!(Concept::of(&[&Fact::parse("(cell 1 1 x)"), &Fact::parse("(control x)")]), None);
    assert_eq!(Concept::of(&[&Fact::parse("a"), &Fact::parse("a")]), None);
    for broken in [
        "",
        "(<=",
        "(<= (concept) (a))",
        "(<= x (cell ?x 1) (cell 1 ?x))",
        "((((",
        "(<= (c) (a ?x) (b ?x))",
    ] {
        assert_eq!(Concept::parse(broken), None, "{broken}");
    }
}

#[test]
fn the_concepts_that_ship_are_those_of_the_paper() {
    let concepts = concepts_of_tic_tac_toe();
    let [right, diagonal, mixed, row, line] = concepts_of_the_paper();
    assert!([&right, &diagonal, &mixed].iter().all(|wanted| concepts.contains(wanted)));
    let joined = joined_concepts(&concepts, None).expect("there is no deadline");
    assert!(joined.contains(&row) && joined.contains(&line));
}

#[test]
fn the_evaluator_agrees_with_its_heuristic_on_both_engines() {
    let game = shipped("connect-three");
    let compiled = game.compile(&CircuitLimits::default()).expect("the game is small");
    let options = LearnOptions { kind: HeuristicKind::Concepts, max_size: 2, n_wins: 20, seed: 3 };
    let heuristic = Arc::new(ConceptHeuristic::learn(&compiled.start(), &options, None, None));
    let mut n_positive = 0;
    let mut check = |mut position: Box<dyn FnMut() -> Option<[f64; 4]>>| {
        while let Some([own, wanted, other, wanted_other]) = position() {
            assert_eq!((own, other), (wanted, wanted_other));
            n_positive += usize::from(own > 0.0);
        }
    };
    check(values_of_a_play(game.start(), &heuristic));
    check(values_of_a_play(compiled.start(), &heuristic));
    assert!(n_positive > 0, "no position has a positive value");
}

/// Returns by position of a random play the values of the evaluator and of the heuristic for two
/// roles.
fn values_of_a_play<P: agon_game::Notation + 'static>(
    mut position: P,
    heuristic: &Arc<ConceptHeuristic>,
) -> Box<dyn FnMut() -> Option<[f64; 4]>> {
    let mut evaluator = ConceptEvaluator::new(Arc::clone(heuristic));
    let heuristic = Arc::clone(heuristic);
    let mut rng = Rng::seed_from_u64(7);
    Box::new(move || {
        if position.is_terminal() {
            return None;
        }
        let mut joint = Vec::new();
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
        let [first, second] = [0, 1].map(Role::new);
        let own = evaluator.value(&position, first);
        let other = evaluator.value(&position, second);
        Some([own, heuristic.value(&position, first), other, heuristic.value(&position, second)])
    })
}

/// In connect four the first argument is the column and the second counts upwards.
#[test]
fn directions_follow_the_drawn_board() {
    let drawing = |text: &str| {
        let fact = Fact::parse(text);
        Some((fact.ranks[0]? as f64, -(fact.ranks[1]? as f64)))
    };
    let facts = ["(disc 1 1 red)", "(disc 2 1 red)", "(disc 1 2 red)"].map(str::to_owned);
    let axes = Axes::of_facts(&facts, &Orders::new(), &drawing).expect("the facts are drawn");
    let on_board = |facts: &[&str]| super::words::sentence(&concept(facts), Some(&axes));
    assert_eq!(
        on_board(&["(disc 1 1 red)", "(disc 1 2 red)"]),
        "two discs of one colour, one on top of the other"
    );
    assert_eq!(
        on_board(&["(disc 1 1 red)", "(disc 2 1 red)"]),
        "two discs of one colour, side by side"
    );
    assert_eq!(
        on_board(&["(disc 1 1 red)", "(disc 1 2 yellow)"]),
        "a disc of red and, on top of it, one of yellow"
    );
    assert_eq!(
        on_board(&["(disc 1 1 red)", "(disc 2 2 red)", "(disc 3 3 red)"]),
        "three discs of one colour in a row, on a diagonal that rises to the right"
    );
}

/// Pieces that have a colour and a kind.
#[test]
fn pieces_of_chess_have_a_colour_and_a_kind() {
    let drawing = |text: &str| {
        let fact = Fact::parse(text);
        Some((fact.ranks[0]? as f64, -(fact.ranks[1]? as f64)))
    };
    let facts = [
        "(piece 1 1 white rook)",
        "(piece 2 1 white rook)",
        "(piece 1 2 black pawn)",
        "(piece 2 2 white king)",
    ];
    let facts = facts.map(str::to_owned);
    let axes = Axes::of_facts(&facts, &Orders::new(), &drawing).expect("the facts are drawn");
    let on_board = |facts: &[&str]| super::words::sentence(&concept(facts), Some(&axes));
    for (facts, sentence) in [
        (
            ["(piece 1 1 white rook)", "(piece 2 1 white rook)"],
            "two pieces that are alike, side by side",
        ),
        (
            ["(piece 1 1 white rook)", "(piece 1 2 black rook)"],
            "two pieces of one kind, one of white and one of black, one on top of the other",
        ),
        (
            ["(piece 1 1 white rook)", "(piece 2 1 white king)"],
            "two pieces of one colour (rook and king), side by side",
        ),
        (
            ["(piece 1 1 white rook)", "(piece 2 1 black pawn)"],
            "two pieces (white rook and black pawn), side by side",
        ),
    ] {
        assert_eq!(on_board(&facts), sentence);
    }
}

/// Where a stone lies is not what it is.
#[test]
fn little_words_have_no_plural() {
    let drawing = |text: &str| Some((Fact::parse(text).ranks[1]? as f64, 0.0));
    let facts = ["(on black 1)", "(on black 2)", "(on white 3)"].map(str::to_owned);
    let axes = Axes::of_facts(&facts, &Orders::new(), &drawing).expect("the facts are drawn");
    let text = super::words::sentence(&concept(&["(on black 1)", "(on black 2)"]), Some(&axes));
    assert_eq!(text, "two facts (on …) of one colour, side by side");
}

/// The columns of a chess board are letters.
#[test]
fn letters_have_directions_on_the_drawn_board() {
    let orders: Orders = [("a", 0), ("b", 1), ("c", 2)].map(|(s, n)| (s.to_owned(), n)).into();
    let drawing = |text: &str| {
        let fact = Fact::parse_ordered(text, &orders);
        Some((fact.ranks[0]? as f64, -(fact.ranks[1]? as f64)))
    };
    let facts = ["(disc a 1 red)", "(disc b 1 red)", "(disc a 2 red)"].map(str::to_owned);
    let axes = Axes::of_facts(&facts, &orders, &drawing).expect("the facts are drawn");
    let pair = ["(disc a 1 red)", "(disc b 1 red)"];
    let pair = pair.map(|text| Fact::parse_ordered(text, &orders));
    let pair: Vec<&Fact> = pair.iter().collect();
    let concept = Concept::of(&pair).expect("they form a concept");
    assert_eq!(
        super::words::sentence(&concept, Some(&axes)),
        "two discs of one colour, side by side"
    );
}

/// A game with a wall that never changes, and columns that are letters.
const LETTERS: &str = "
(role white) (role black)
(init (wall c 1)) (init (wall a 3)) (init (wall b 2)) (init (control white))
(<= (legal ?p (put ?x ?y)) (true (control ?p)) (free ?x ?y))
(<= (legal ?p noop) (role ?p) (not (true (control ?p))))
(<= (free ?x ?y) (column ?x) (row ?y) (not (taken ?x ?y)))
(<= (taken ?x ?y) (true (stone ?x ?y ?p)))
(<= (next (wall ?x ?y)) (true (wall ?x ?y)))
(<= (next (stone ?x ?y ?p)) (true (stone ?x ?y ?p)))
(<= (next (stone ?x ?y ?p)) (does ?p (put ?x ?y)))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= (pair ?p) (true (stone ?x ?y ?p)) (true (stone ?z ?y ?p)) (succ ?x ?z))
(<= terminal (pair ?p))
(<= (goal ?p 100) (pair ?p))
(<= (goal ?p 0) (role ?p) (not (pair ?p)))
(column a) (column b) (column c) (succ a b) (succ b c)
(row 1) (row 2) (row 3)
";

#[test]
fn walls_are_left_out_and_letters_are_coordinates() {
    let game = crate::tests::game(LETTERS);
    let orders = crate::properties::symbol_orders(&game);
    assert_eq!(orders, [("a", 0), ("b", 1), ("c", 2)].map(|(s, n)| (s.to_owned(), n)).into());
    let options = EndingOptions { n_wins: 50, orders, ..EndingOptions::default() };
    let endings = Endings::play(&game.start(), &options);
    let held = endings.won.iter().flatten().flatten().map(|&fact| endings.facts.fact(fact));
    assert!(held.clone().all(|fact| fact.name != "wall"), "walls never change");
    assert!(held.clone().any(|fact| fact.name == "stone"));
    let fact = |text: &str| {
        let fact = endings.facts.find(text).unwrap_or_else(|| panic!("{text} never held"));
        endings.facts.fact(fact)
    };
    let beside = Concept::of(&[fact("(stone a 1 white)"), fact("(stone b 1 white)")]);
    assert_eq!(
        beside.expect("they form a concept").rule(),
        "(<= (concept ?x0 ?x1 ?x2) (stone ?x0 ?x1 ?x2) (stone (+ ?x0 1) ?x1 ?x2))"
    );
}

/// A game that nobody wins says so.
#[test]
fn without_a_winner_there_is_nothing_to_learn() {
    let game = crate::tests::game(
        "(role r)(role s)(init (s 0))(<= (legal ?r a) (role ?r))(<= (next (s 1)) (true (s 0)))\
         (<= terminal (true (s 1)))(<= (goal ?r 50) (role ?r))",
    );
    let options = LearnOptions { n_wins: 2, ..LearnOptions::default() };
    let learnt = ConceptHeuristic::learn(&game.start(), &options, None, None);
    let view = crate::explain::ConceptView { ternary: None, drawing: None, n_shown: 8 };
    let lines = crate::explain::concepts_text(&learnt, &game.start(), &view);
    assert_eq!(lines[1], "none of 60 plays was won, so there is nothing to learn");
}

/// Returns the sentence about the concept of some facts.
fn sentence_of(facts: &[&str]) -> String {
    let facts: Vec<super::fact::Fact> =
        facts.iter().map(|fact| super::fact::Fact::parse(fact)).collect();
    let facts: Vec<&super::fact::Fact> = facts.iter().collect();
    Concept::of(&facts).expect("they form a concept").sentence()
}

/// Without a drawing, the first number is the row and the second the column.
#[test]
fn sentences_are_grammatical() {
    for (facts, sentence) in [
        (
            vec!["(stone 1 1 white)", "(stone 2 3 white)"],
            "two stones of one colour, 2 columns and 1 row apart",
        ),
        (
            vec!["(stone 1 1 white)", "(stone 2 1 white)", "(stone 2 2 white)"],
            "three stones of one colour: the second directly below the first, the third \
             diagonally below the first to the right",
        ),
        (vec!["(heap a 3)", "(heap b 3)"], "heap a and heap b have the same number"),
        (vec!["(queen 1 1)", "(queen 2 3)"], "two queens, 2 columns and 1 row apart"),
        (vec!["(visited 1 1)", "(visited 1 2)"], "two facts (visited …), side by side"),
        (vec!["(box 1 1)", "(box 1 2)"], "two boxes, side by side"),
    ] {
        assert_eq!(sentence_of(&facts), sentence);
    }
}
