use std::collections::BTreeMap;

use agon_game::{Notation as _, Position as _, Rng};
use agon_structures::evaluate::{Assignment, Limits, Model, Naive};
use agon_structures::formula::{Definitions, Variable};
use agon_structures::structure::{Structure, Vocabulary};
use rand::SeedableRng as _;

use super::board::{Board, Contents};
use super::formula::{Class, Concept, Direction, Relation};
use super::{ConceptExpert, ConceptOptions, find_concepts, measure_concepts};
use crate::CannotLearn;
use crate::combination::Expert as _;
use crate::tests::start;

fn concept(text: &str) -> Concept {
    Concept::read_all(text).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

#[test]
fn pieces_belong_to_who_moves_them() {
    for (name, n_cells, n_own, n_empty) in
        [("breakthrough", 64, 16, 32), ("othello", 64, 2, 60), ("tic-tac-toe", 9, 0, 9)]
    {
        let start = start(name);
        let board = Board::of(&start, 1).unwrap_or_else(|why| panic!("{name}: {why}"));
        let words = <_ as agon_game::Position>::state(&start).words();
        let contents = board.contents(words);
        assert_eq!(board.n_cells, n_cells, "{name}");
        assert_eq!(contents.own.len(), n_own, "{name}");
        assert_eq!(contents.other.len(), n_own, "{name}");
        assert_eq!(contents.empty.len(), n_empty, "{name}");
        let other = board.other_contents(words);
        assert_eq!([other.own.len(), other.other.len()], [n_own; 2], "{name}");
    }
    let refused = Board::of(&start("eight-puzzle"), 1).err();
    assert_eq!(refused, Some(CannotLearn::NotTwoPlayers));
}

/// The cells of which a formula holds are those that the evaluator of the logic finds.
#[test]
fn formulas_mean_what_they_say() {
    let start = start("breakthrough");
    let board = Board::of(&start, 1).expect("it has a board");
    let texts = [
        "(own)",
        "(own (edge left))",
        "(empty (step up-right (other (step up-right (own)))))",
        "(own (2 neighbour (own)) (no column (other)))",
        "(other (1 diagonal (own (3 beside (own)))))",
        "((edge down) (2 row (empty (1 line (own)))))",
        "(own (step up (empty (step up (empty (step up (other)))))) (4 neighbour (own)))",
    ];
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(7);
    let mut joint = Vec::new();
    let mut n_held = 0;
    for step in 0..40 {
        if position.is_terminal() {
            break;
        }
        if step % 8 == 7 {
            let contents = board.contents(position.state().words());
            let (structure, elements) = structure(&board, &contents);
            let definitions = Definitions::default();
            let model = Model { structure: &structure, definitions: &definitions };
            for text in texts {
                let concept = concept(text);
                let formula = concept.formula();
                let cells = concept.0.cells(&board, &contents);
                for (cell, &element) in elements.iter().enumerate() {
                    let mut naive = Naive::new(model, Limits::default());
                    let at = Assignment::new().with(&Variable::new("x0"), element);
                    let holds = naive.holds(&formula, &at).expect("the formula is small");
                    assert_eq!(cells.has(cell), holds, "{text} at {cell}: {formula}");
                    n_held += usize::from(holds);
                }
            }
        }
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    assert!(n_held > 100, "{n_held}");
}

/// Makes the structure that formulas are about.
fn structure(
    board: &Board,
    contents: &Contents,
) -> (Structure, Vec<agon_structures::structure::Element>) {
    let mut vocabulary = Vocabulary::new();
    let mut ids = BTreeMap::new();
    for name in ["Own", "Other", "Empty"] {
        ids.insert(name.to_owned(), vocabulary.add_relation(name, 1).expect("a new name"));
    }
    let named = |text: String| super::formula::relation_name(&text.to_ascii_lowercase());
    let direction = |d: Direction| {
        let text = format!("{d:?}");
        // UpRight becomes up_right.
        named(
            text.replace("pR", "p-R")
                .replace("pL", "p-L")
                .replace("nR", "n-R")
                .replace("nL", "n-L"),
        )
    };
    for d in Direction::ALL {
        ids.insert(direction(d), vocabulary.add_relation(&direction(d), 2).expect("a new name"));
    }
    for relation in Relation::ALL {
        let name = named(format!("{relation:?}"));
        ids.insert(name.clone(), vocabulary.add_relation(&name, 2).expect("a new name"));
    }
    let mut structure = Structure::new(vocabulary.into());
    let elements: Vec<_> =
        (0..board.n_cells).map(|_| structure.create(None).expect("there is room")).collect();
    let mut add = |name: &str, tuple: &[usize]| {
        let tuple: Vec<_> = tuple.iter().map(|&cell| elements[cell]).collect();
        structure.add(ids[name], &tuple).expect("the relation is known");
    };
    for cell in 0..board.n_cells {
        for (class, name) in Class::ALL.into_iter().zip(["Own", "Other", "Empty"]) {
            if contents.of(class).has(cell) {
                add(name, &[cell]);
            }
        }
        for d in Direction::ALL {
            if let Some(next) = board.steps[d as usize][cell] {
                add(&direction(d), &[cell, usize::from(next)]);
            }
        }
        for relation in Relation::ALL {
            for other in board.related[relation as usize][cell].iter() {
                add(&named(format!("{relation:?}")), &[cell, other]);
            }
        }
    }
    (structure, elements)
}

#[test]
fn texts_and_sentences() {
    let text = "(own (edge left) (step up-right (empty (2 neighbour (own)))))";
    let read = concept(text);
    assert_eq!(read.to_string(), text);
    assert_eq!(read.n_facts(), 4);
    assert_eq!(
        read.sentence(),
        "an own piece at the left edge, and with an empty cell (with at least two own pieces next \
         to it in any direction) diagonally above it on the right"
    );
    assert_eq!(
        read.formula().to_string(),
        "Own(x0) and not ex x1 left(x0, x1) and ex x1 (up_right(x0, x1) and (Empty(x1) and Sum (x2 \
         | neighbour(x1, x2) and Own(x2) : 1) >= 2))"
    );
    for (text, problem) in [
        ("(own", "line 1: `)` is missing"),
        ("; comment\n\n()", "line 3: nothing is said"),
        ("(own) x", "line 1: `x` after the end"),
        ("(mine)", "line 1: `mine` is not one of Own, Other, Empty"),
        ("(own (step north (own)))", "line 1: `north` is not one of right, "),
        ("(own (9 row (own)))", "line 1: `9` is not edge, step, no, or a number from 1 to 4"),
        ("own", "line 1: `own` in place of `(`"),
        ("(own (2 row own))", "line 1: `own` in place of `(`"),
    ] {
        let error = Concept::read_all(text).expect_err(text).to_string();
        assert!(error.starts_with(problem), "{text}: {error}");
    }
    let deep = "(own (step up ".repeat(50);
    assert!(Concept::read_all(&deep).expect_err("too deep").problem.contains("deep"));
}

/// Concepts say much about a race of pawns. The seed decides, and the deadline ends the search.
#[test]
fn concepts_of_pawn_whopping() {
    let start = start("pawn-whopping");
    let options = ConceptOptions {
        n_concepts: 2,
        n_positions: 400,
        iterations: 60,
        beam: 2,
        ..ConceptOptions::default()
    };
    let found = find_concepts(&start, &options, None).expect("it has a board");
    assert!(!found.found.is_empty(), "{found:#?}");
    // At positions of plays that nothing was learnt from, too.
    assert!(found.explained.iter().all(|part| *part > 0.2), "{found:#?}");
    assert_eq!(found.n_positions.iter().sum::<usize>(), 400);
    for measured in &found.found {
        assert!(measured.saved > 0.0, "{measured:?}");
        let example = measured.example.as_ref().expect("it has instances");
        // The contents of the cell are left open.
        let (known, open) = example.place.split_once('?').expect("a cell has several contents");
        let texts = start.feature_texts();
        assert!(open == ")" && texts.iter().any(|text| text.starts_with(known)), "{example:?}");
    }
    let again = find_concepts(&start, &options, None).expect("it has a board");
    assert_eq!(found, again);
    // What was found can be measured again, with the same result but for the bits.
    let list: Vec<Concept> = found.found.iter().map(|measured| measured.concept.clone()).collect();
    let measured = measure_concepts(&start, &list, &options, None).expect("it has a board");
    assert_eq!(measured.explained, found.explained);
    let over = Some(std::time::Instant::now());
    let late = find_concepts(&start, &options, over).expect("it has a board");
    assert!(late.found.is_empty() && late.is_late, "{late:?}");
    // As an expert, each player has as many instances as it sees.
    let start = crate::tests::start("breakthrough");
    let mut experts = ConceptExpert::of_all(&start, &[concept("(own)")], 1).expect("a board");
    let mut values = [0.0; 2];
    experts[0].values(&start, &mut values);
    assert_eq!(values, [16.0, 16.0]);
}
