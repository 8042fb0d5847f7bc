//! Groups of fluents of which at most one is proved to hold, compared with play by the interpreter.

use agon_game::{Notation as _, Position as _, Rng};
use agon_testkit::files;
use rand::SeedableRng as _;

use super::circuits::open;

#[test]
fn play_refutes_no_proved_group() {
    let mut n_groups = 0;
    for path in files::games("gdl") {
        let (game, compiled) = open(&path);
        n_groups += compiled.groups.len();
        let start = game.start();
        let mut position = start.clone();
        let mut rng = Rng::seed_from_u64(4);
        let mut joint = Vec::new();
        for _ in 0..10 {
            position.go_to(start.state());
            for _ in 0..60 {
                let state = position.state_text();
                for group in &compiled.groups {
                    let true_bits = group
                        .iter()
                        .filter(|&&bit| state.contains(&compiled.circuit.base[bit]))
                        .count();
                    assert!(true_bits <= 1, "{}: {group:?} of {state:?}", path.display());
                }
                if position.is_terminal() {
                    break;
                }
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
            }
        }
    }
    assert!(n_groups > 100, "{n_groups} groups in all shipped games");
}

#[test]
fn cells_and_control_are_groups_of_tic_tac_toe() {
    let (_, compiled) = open(&files::repository().join("games/gdl/tic-tac-toe.kif"));
    let texts =
        |group: &Vec<usize>| group.iter().map(|&bit| compiled.circuit.base[bit].clone()).collect();
    let groups: Vec<Vec<String>> = compiled.groups.iter().map(texts).collect();
    let n_cells = groups.iter().filter(|group| group.len() == 3).count();
    assert!(n_cells >= 9, "each of nine cells has one of three contents: {groups:?}");
    assert!(
        groups.iter().any(|group| group.len() == 2 && group[0].contains("control")),
        "{groups:?}"
    );
}
