use agon_circuit::ScalarCircuit;
use agon_game::{Notation as _, Position, Role};

use super::material::{Kind, Material, kinds};
use super::{CombineOptions, Expert, Experts, WeightMethod, combine};
use crate::tests::start;

/// Says the same of all players, everywhere.
struct Constant;

impl<P: Position> Expert<P> for Constant {
    fn name(&self) -> String {
        "constant".to_owned()
    }
    fn is_common(&self) -> bool {
        false
    }
    fn values(&mut self, _: &P, values: &mut [f64]) {
        values.fill(f64::NAN);
    }
    fn fork(&self) -> Box<dyn Expert<P>> {
        Box::new(Constant)
    }
}

fn experts(start: &ScalarCircuit) -> Experts<ScalarCircuit> {
    let mut list: Vec<Box<dyn Expert<ScalarCircuit>>> = vec![Box::new(Constant)];
    for kind in kinds(start, 1) {
        list.push(Box::new(Material::new(&kind)));
    }
    Experts::new(start, list)
}

#[test]
fn contents_of_boards_are_material() {
    let names = |game: &str| -> Vec<String> {
        kinds(&start(game), 1).into_iter().map(|kind| kind.name).collect()
    };
    assert_eq!(names("breakthrough"), ["pawn black", "pawn white"]);
    assert_eq!(names("tic-tac-toe"), ["cell blank", "cell o", "cell x"]);
    let breakthrough = start("breakthrough");
    let texts = breakthrough.feature_texts();
    let white = kinds(&breakthrough, 1).pop().expect("white pawns");
    assert!(white.facts.iter().all(|&fact| texts[fact as usize].ends_with(" white)")));
    let mut values = [0.0; 2];
    Material::new(&white).values(&breakthrough, &mut values);
    assert_eq!(values, [16.0, 0.0], "the number of white pawns, once");
}

/// In breakthrough, more pawns win. Both methods find that out, and that nothing else was said.
#[test]
fn weights_are_learnt() {
    let start = start("breakthrough");
    for method in [WeightMethod::Logistic, WeightMethod::Boosting] {
        let options = CombineOptions { method, n_plays: 160, seed: 3 };
        let learnt = combine(&start, &mut experts(&start), &options, None).expect("it has ends");
        let weight = |name: &str| {
            let mut weights = learnt.weights();
            weights.find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}")).1
        };
        assert_eq!(weight("constant"), 0.0);
        assert!(weight("number of pawn white") > 0.1, "{method:?}: {learnt:?}");
        assert!(weight("number of pawn black") < -0.1, "{method:?}: {learnt:?}");
        let test = &learnt.measured;
        assert_eq!((learnt.n_plays, test.n_plays), (128, 32));
        assert_eq!(test.alone.len(), 4);
        let of = |name: &str| test.alone.iter().find(|(known, _)| known == name).expect(name).1;
        // So few plays are too few to compare models, but each of them must have been tested.
        assert!((0.5..1.5).contains(&test.combined.bits), "{test:?}");
        assert!((0.9..1.1).contains(&of("constant").bits), "{test:?}");
        let again = combine(&start, &mut experts(&start), &options, None).expect("it has ends");
        assert_eq!(learnt, again, "the seed decides");
        // A white pawn more is better for white, and a fork says the same.
        let mut evaluator = learnt.evaluator(experts(&start));
        let [white, black] = [0, 1].map(Role::new);
        let value = evaluator.value(&start, white);
        assert!((value + evaluator.value(&start, black) - 1.0).abs() < 1e-12);
        assert_eq!(evaluator.fork().value(&start, white), value);
        // Without experts the value is that of the usual position.
        let mut deaf = learnt.evaluator(Experts::new(&start, Vec::new()));
        assert!((0.05..0.95).contains(&deaf.value(&start, white)));
    }
}

/// Each of three players has a model of its own; games without any end in time have none.
#[test]
fn other_numbers_of_players() {
    let three = start("three-way-tic-tac-toe");
    let options = CombineOptions { n_plays: 60, ..CombineOptions::default() };
    let learnt = combine(&three, &mut experts(&three), &options, None).expect("it has ends");
    assert_eq!(learnt.models.len(), 3);
    let mut evaluator = learnt.evaluator(experts(&three));
    for role in three.shape().players() {
        assert!((0.0..=1.0).contains(&evaluator.value(&three, role)));
    }
    let none = CombineOptions { n_plays: 0, ..options };
    assert_eq!(combine(&three, &mut experts(&three), &none, None), None);
    let over = Some(std::time::Instant::now());
    assert_eq!(combine(&three, &mut experts(&three), &options, over), None);
    assert!(
        kinds(&start("three-way-tic-tac-toe"), 1).iter().all(|kind: &Kind| !kind.facts.is_empty())
    );
}
