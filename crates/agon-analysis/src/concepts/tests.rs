//! Concepts (4) to (8) of 004, learnt from tic-tac-toe and carried to connect four; laws of concepts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use agon_game::{Position as _, Rng, Role};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use rand::SeedableRng as _;

use super::*;

fn shipped(name: &str) -> Arc<Game> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../games/gdl/{name}.kif"));
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let rules = check(Arc::new(Source::new(name, text))).rules.expect("shipped games are right");
    Game::open(rules, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

fn concept(facts: &[&str]) -> Concept {
    let facts: Vec<Fact> = facts.iter().map(|text| Fact::parse(text)).collect();
    Concept::of(&facts.iter().collect::<Vec<_>>()).expect("it is one")
}

/// (4) to (6): pairs; (7) and (8): lines.
fn concepts_of_004() -> [Concept; 5] {
    [
        concept(&["(cell 1 1 x)", "(cell 1 2 x)"]),
        concept(&["(cell 1 1 o)", "(cell 3 3 o)"]),
        concept(&["(cell 1 1 x)", "(cell 3 3 o)"]),
        concept(&["(cell 2 1 x)", "(cell 2 2 x)", "(cell 2 3 x)"]),
        // As the paper writes it: the cell in the middle first.
        concept(&["(cell 2 2 x)", "(cell 3 3 x)", "(cell 1 1 x)"]),
    ]
}

#[test]
fn concepts_are_written_as_rules_and_as_sentences() {
    let rules: Vec<String> = concepts_of_004().iter().map(Concept::rule).collect();
    assert_eq!(rules[0], "(<= (concept ?x0 ?x1 ?x2) (cell ?x0 ?x1 ?x2) (cell ?x0 (+ ?x1 1) ?x2))");
    assert_eq!(
        rules[1],
        "(<= (concept ?x0 ?x1 ?x2) (cell ?x0 ?x1 ?x2) (cell (+ ?x0 2) (+ ?x1 2) ?x2))"
    );
    assert_eq!(rules[2], "(<= (concept ?x0 ?x1) (cell ?x0 ?x1 x) (cell (+ ?x0 2) (+ ?x1 2) o))");
    assert_eq!(
        rules[3],
        "(<= (concept ?x0 ?x1 ?x2) (cell ?x0 ?x1 ?x2) (cell ?x0 (+ ?x1 1) ?x2) (cell ?x0 (+ ?x1 2) ?x2))"
    );
    let sentences: Vec<String> = concepts_of_004().iter().map(Concept::sentence).collect();
    assert_eq!(sentences[0], "a cell and its right neighbour hold the same mark");
    assert_eq!(sentences[1], "a cell and the cell 2 to the lower right hold the same mark");
    assert_eq!(sentences[2], "a cell holds x and the cell 2 to the lower right holds o");
    assert_eq!(
        sentences[4],
        "a cell, its lower right neighbour and the cell 2 to the lower right hold the same mark"
    );
}

#[test]
fn the_concepts_of_the_paper_are_learnt_from_tic_tac_toe() {
    let game = shipped("tic-tac-toe");
    let endings = Endings::play(&game.start(), 1000, 7);
    assert!(endings.won.iter().all(|won| won.len() == 1000), "both players win often enough");
    let concepts = learn_concepts(&endings, 3);
    let [right, diagonal, mixed, row, line] = concepts_of_004();
    for wanted in [&right, &diagonal, &mixed] {
        assert!(concepts.contains(wanted), "{wanted} is missing");
    }
    let joined = ternary(&concepts);
    for wanted in [&row, &line] {
        assert!(joined.contains(wanted), "{wanted} is missing");
    }
    // The same seed, the same concepts; and a file keeps them.
    assert_eq!(concepts, learn_concepts(&Endings::play(&game.start(), 1000, 7), 3));
    for kept in [&concepts, &joined] {
        assert_eq!(read_concepts(&write_concepts(kept)).as_ref(), Ok(kept));
    }
}

#[test]
fn a_frequency_is_that_of_the_plays_won() {
    let game = shipped("tic-tac-toe");
    let endings = Endings::play(&game.start(), 300, 1);
    let won = &endings.won[0];
    for rule in statistical(won, 2, 0.1) {
        let holds = |position: &&Vec<u32>| rule.body.iter().all(|fact| position.contains(fact));
        let n = won.iter().filter(holds).count();
        assert!((rule.value - n as f64 / won.len() as f64).abs() < 1e-12, "{rule:?}");
    }
}

#[test]
fn concepts_of_one_game_make_a_heuristic_for_another() {
    let source = shipped("tic-tac-toe");
    let concepts = learn_concepts(&Endings::play(&source.start(), 500, 3), 3);
    let game = shipped("connect-four");
    let options = LearnOptions { kind: Kind::Concepts, n_wins: 10, ..LearnOptions::default() };
    let judge = ConceptJudge::learn(&game.start(), &options, Some(&concepts), None);
    assert!(judge.rules.iter().all(|rules| !rules.is_empty()), "both players have rules");
    // The one calls a cell what the other calls a disc.
    assert!(
        judge.concepts.iter().all(|concept| concept.name == "disc"),
        "{:?}",
        judge.concepts.first()
    );
    // What names the marks of one game says nothing of the other's.
    for rule in judge.best_rules(Role::new(0), 20) {
        assert!(!rule.1.contains(" x)") && !rule.1.contains(" o)"), "{rule:?}");
    }
    let start = game.start();
    let value = judge.value(&start, Role::new(0));
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
    let [right, diagonal, mixed, row, line] = concepts_of_004();
    assert!([&right, &diagonal, &mixed].iter().all(|wanted| concepts.contains(wanted)));
    let joined = ternary(&concepts);
    assert!(joined.contains(&row) && joined.contains(&line));
}

#[test]
fn a_reader_says_what_its_judge_says_of_every_position_of_both_engines() {
    let game = shipped("connect-three");
    let compiled = game.compile(&CircuitLimits::default()).expect("it is small");
    let options = LearnOptions { kind: Kind::Concepts, max_size: 2, n_wins: 20, seed: 3 };
    let judge = Arc::new(ConceptJudge::learn(&compiled.start(), &options, None, None));
    let mut n_told = 0;
    let mut check = |mut position: Box<dyn FnMut() -> Option<[f64; 4]>>| {
        while let Some([own, wanted, other, wanted_other]) = position() {
            assert_eq!((own, other), (wanted, wanted_other));
            n_told += usize::from(own > 0.0);
        }
    };
    check(values_of_a_play(game.start(), &judge));
    check(values_of_a_play(compiled.start(), &judge));
    assert!(n_told > 0, "the judge says nothing of any position");
}

/// By position of a random play, what a reader and what its judge say to each of two roles.
fn values_of_a_play<P: agon_game::Notation + 'static>(
    mut position: P,
    judge: &Arc<ConceptJudge>,
) -> Box<dyn FnMut() -> Option<[f64; 4]>> {
    let mut reader = ConceptReader::new(Arc::clone(judge));
    let judge = Arc::clone(judge);
    let mut rng = Rng::seed_from_u64(7);
    Box::new(move || {
        if position.is_terminal() {
            return None;
        }
        let mut joint = Vec::new();
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
        let [first, second] = [0, 1].map(Role::new);
        let own = reader.value(&position, first);
        let other = reader.value(&position, second);
        Some([own, judge.value(&position, first), other, judge.value(&position, second)])
    })
}
