//! What is found out of games of which the truth is known.

use agon_gdl::circuit::CircuitLimits;

use super::{compiled, names, shipped};
use crate::properties::{Known, PlayLimits, Plays, Properties, PropertyLimits, RoleTurns, Seen};
use crate::prove::ProofLimits;

fn properties(name: &str) -> Properties {
    let game = shipped(name);
    let compiled = compiled(&game);
    Properties::find(&game, Some(&compiled), &PropertyLimits::default())
}

#[test]
fn marks_stay_and_blanks_go() {
    let known = properties("tic-tac-toe");
    for (index, fluent) in known.fluents.iter().enumerate() {
        let (stays_true, stays_false) = (fluent.persistent_true, fluent.persistent_false);
        match fluent.text.as_str() {
            text if text.contains("blank") => {
                assert_eq!(stays_true, None, "{text}");
                assert_eq!(stays_false, Some(Known::Proved), "{text}");
            }
            text if text.starts_with("(cell") => {
                assert_eq!(stays_true, Some(Known::Proved), "{text}");
                assert_eq!(stays_false, None, "{text}");
            }
            text => {
                assert_eq!((stays_true, stays_false), (None, None), "{text}");
                assert_eq!(known.exactly_one(&[index]), None);
            }
        }
    }
    let modes: Vec<String> = known.modes.iter().map(|mode| mode.text(&known.game)).collect();
    assert_eq!(modes, ["cell(+, +, -)", "control(-)"]);
    assert!(known.modes.iter().all(|mode| mode.exactly_one == Some(Known::Proved)));
}

#[test]
fn turns_are_taken() {
    let known = properties("tic-tac-toe");
    assert_eq!(known.turns.turn_taking, Some(Known::Proved));
    for (role, token) in known.turns.roles.iter().zip(["(control xplayer)", "(control oplayer)"]) {
        assert_eq!(role.noop, Some(("noop".to_owned(), Known::Proved)));
        assert_eq!(role.control, Some((known.fluent(token).expect(token), Known::Proved)));
    }
}

/// No play contradicts what is proved. The plays are others than those that the properties were found with.
#[test]
fn what_is_proved_holds_in_play() {
    let mut n_proved = 0;
    for name in names("gdl") {
        let game = shipped(&name);
        let limits = CircuitLimits { gates: 300_000, ..CircuitLimits::default() };
        let Ok(compiled) = game.compile(&limits) else { continue };
        let proof = ProofLimits { conflicts_in_all: 5_000, ..ProofLimits::default() };
        let few = PlayLimits { plays: 3, ..PlayLimits::default() };
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits { plays: few, proof });
        let others = PlayLimits { plays: 20, seed: 77, ..PlayLimits::default() };
        let plays = Plays::play(&game, Some(&compiled), &others);
        n_proved += contradict(&name, &known, &plays);
    }
    assert!(n_proved > 1000, "{n_proved} properties were proved");
}

/// Panics if a play contradicts something proved; gives the number of things that were.
fn contradict(name: &str, known: &Properties, plays: &Plays) -> usize {
    let mut n_proved = 0;
    let proved = |known: Option<Known>| known == Some(Known::Proved);
    for (index, fluent) in known.fluents.iter().enumerate() {
        let index = index as u32;
        let has = |seen: &Seen| seen.fluents.binary_search(&index).is_ok();
        let (stays_true, stays_false) = (proved(fluent.persistent_true), proved(fluent.persistent_false));
        n_proved += usize::from(stays_true) + usize::from(stays_false);
        for (before, after) in plays.steps() {
            assert!(!stays_true || !has(before) || has(after), "{name}: {} does not stay", fluent.text);
            assert!(!stays_false || has(before) || !has(after), "{name}: {} comes back", fluent.text);
        }
    }
    for group in &known.groups {
        n_proved += usize::from(group.at_most_one.is_proved());
        for seen in plays.states() {
            let has = |fluent: &&usize| seen.fluents.binary_search(&(**fluent as u32)).is_ok();
            let n = group.fluents.iter().filter(has).count();
            let texts = || group.fluents.iter().map(|&f| known.fluents[f].text.as_str()).collect::<Vec<_>>();
            assert!(n <= 1 || !group.at_most_one.is_proved(), "{name}: {n} of {:?}", texts());
            assert!(n == 1 || !proved(group.exactly_one), "{name}: {n} of {:?}", texts());
        }
    }
    let players: Vec<usize> = known.game.shape().players().map(agon_game::Role::index).collect();
    for seen in plays.states() {
        let choosers: Vec<usize> =
            players.iter().copied().filter(|&role| seen.legal[role].len() > 1).collect();
        assert!(choosers.len() <= 1 || !proved(known.turns.turn_taking), "{name}: {choosers:?} choose");
        for &role in &players {
            let RoleTurns { noop, control } = &known.turns.roles[role];
            let others_choose = choosers.iter().any(|&other| other != role);
            if let Some((text, Known::Proved)) = noop
                && others_choose
            {
                let legal: Vec<&String> =
                    seen.legal[role].iter().map(|&m| &plays.moves[role][m as usize]).collect();
                assert_eq!(legal, [text], "{name}");
            }
            if let Some((bit, Known::Proved)) = control {
                let holds = seen.fluents.binary_search(&(*bit as u32)).is_ok();
                assert!(holds || !choosers.contains(&role), "{name}: role {role} chooses without its token");
                assert!(!holds || !others_choose, "{name}: another chooses with the token of role {role}");
            }
        }
    }
    n_proved
}
