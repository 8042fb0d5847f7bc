//! What the other players are assumed to want, in small games where it matters.

use agon_game::{Position as _, Role, Shape};

use super::table_game::{At, Place, Table};
use super::{check_report, think};
use crate::mcts::Mcts;
use crate::{Budget, MctsOptions, Others, Search as _};

fn with(others: Others) -> MctsOptions {
    MctsOptions { others, ..MctsOptions::default() }
}

/// Returns a place where a role chooses between the next places.
fn choice(role: usize, next: &[usize], n_roles: usize) -> Place {
    let mut n_moves = vec![1; n_roles];
    n_moves[role] = next.len();
    Place { n_moves, next: next.to_vec(), payoffs: vec![0.0; n_roles], chances: Vec::new() }
}

fn table(places: Vec<Place>, n_roles: usize) -> Table {
    let names = (0..n_roles).map(|role| format!("role{role}")).collect();
    Table { shape: Shape::new(names, None), places, has_batch: false }
}

/// We trust the other player (0) or not (1). If we do, it can take 98 for both, or 97 for itself
/// and 20 for us.
fn trust() -> Vec<Place> {
    vec![
        choice(0, &[1, 2], 2),
        choice(1, &[3, 4], 2),
        Place::end(&[60.0, 50.0]),
        Place::end(&[98.0, 98.0]),
        Place::end(&[20.0, 97.0]),
    ]
}

#[test]
fn trust_depends_on_what_the_other_player_wants() {
    for (others, best, value) in [
        (Others::MaxN, 0, 98.0),
        (Others::Relative, 1, 60.0),
        (Others::Paranoid, 1, 60.0),
        (Others::Adaptive, 1, 60.0),
    ] {
        let report = think(&mut table(trust(), 2).start(), 0, &with(others), 1, 2000);
        assert_eq!((report.best, report.value), (best, value), "{others:?}");
    }
}

#[test]
fn a_relative_player_still_wants_much_for_itself() {
    // If we trust, it must pay 75 of its own to take 60 from us. A paranoid search expects that.
    let mut places = trust();
    places[3] = Place::end(&[80.0, 95.0]);
    places[4] = Place::end(&[20.0, 20.0]);
    for (others, best) in [(Others::MaxN, 0), (Others::Relative, 0), (Others::Paranoid, 1)] {
        let report = think(&mut table(places.clone(), 2).start(), 0, &with(others), 1, 2000);
        assert_eq!(report.best, best, "{others:?}");
    }
}

#[test]
fn simultaneous_choices_depend_on_what_the_other_player_wants() {
    // Both choose at the same time. The other player has a move that takes 1 from itself and much
    // from us if we choose 0.
    let ends = [[98.0, 98.0], [20.0, 97.0], [60.0, 50.0], [60.0, 49.0]];
    let mut places = vec![Place {
        n_moves: vec![2, 2],
        next: vec![1, 2, 3, 4],
        payoffs: vec![0.0; 2],
        chances: Vec::new(),
    }];
    places.extend(ends.iter().map(|payoffs| Place::end(payoffs)));
    for (others, best) in [(Others::MaxN, 0), (Others::Relative, 1), (Others::Paranoid, 1)] {
        let report = think(&mut table(places.clone(), 2).start(), 0, &with(others), 1, 20_000);
        assert_eq!(report.best, best, "{others:?}: {report:?}");
    }
}

/// The other player is friendly (0) or hostile (1) first. Then we trust it or not.
fn two_rounds() -> At {
    let mut places = vec![
        choice(1, &[1, 2], 2),
        choice(0, &[3, 4], 2),
        choice(0, &[3, 5], 2),
        choice(1, &[6, 7], 2),
    ];
    places.extend([[90.0, 60.0], [30.0, 55.0], [98.0, 98.0], [20.0, 97.0]].map(|p| Place::end(&p)));
    table(places, 2).start()
}

#[test]
fn the_moves_of_the_others_decide_between_the_models() {
    for (others, friendly, trusts) in [
        (Others::Adaptive, true, true),
        (Others::Adaptive, false, false),
        (Others::Relative, true, false),
        (Others::MaxN, false, true),
    ] {
        let options = MctsOptions { solver: false, ..with(others) };
        let mut search = Mcts::new(options, 5);
        let (mut position, us) = (two_rounds(), Role::new(0));
        search.think(&mut position, us, &Budget::iterations(20_000));
        position.advance(&[0, u8::from(!friendly)]);
        let report = search.think(&mut position, us, &Budget::iterations(20_000));
        check_report(&position, &report);
        assert_eq!(report.best == 0, trusts, "{others:?} {friendly}");
    }
}

#[test]
fn paranoid_bounds_hold_with_three_players_and_a_constant_sum() {
    let places = vec![
        choice(0, &[1, 2], 3),
        choice(1, &[3, 4], 3),
        Place::end(&[30.0, 30.0, 40.0]),
        Place::end(&[50.0, 40.0, 10.0]),
        Place::end(&[10.0, 20.0, 70.0]),
    ];
    let mut table = table(places, 3);
    table.shape.constant_sum = Some(100.0);
    for (others, best, value) in [(Others::MaxN, 0, 50.0), (Others::Paranoid, 1, 30.0)] {
        let report = think(&mut table.clone().start(), 0, &with(others), 1, 2000);
        assert_eq!((report.best, report.value), (best, value), "{others:?}");
        assert!(report.is_proven, "{others:?}");
    }
}
