//! Properties of games for which the correct answer is known.

use agon_gdl::circuit::CircuitLimits;

use super::{compiled, game, names, shipped};
use crate::properties::{
    Bound, Known, ObservedState, PlayLimits, Plays, Properties, PropertyLimits, Relation,
    RelationKind, RoleTurns, prove_constant_sum,
};
use crate::prove::{Answer, Effort, ProofLimits, Prover};

fn properties(name: &str) -> Properties {
    let game = shipped(name);
    let compiled = compiled(&game);
    Properties::find(&game, Some(&compiled), &PropertyLimits::default())
}

#[test]
fn marks_and_blanks_of_tic_tac_toe_are_persistent() {
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
fn tic_tac_toe_is_turn_taking() {
    let known = properties("tic-tac-toe");
    assert_eq!(known.turns.turn_taking, Some(Known::Proved));
    for (role, token) in known.turns.roles.iter().zip(["(control xplayer)", "(control oplayer)"]) {
        assert_eq!(role.noop, Some(("noop".to_owned(), Known::Proved)));
        assert_eq!(role.control, Some((known.fluent(token).expect(token), Known::Proved)));
    }
}

#[test]
fn a_share_of_the_budget_leaves_the_rest_for_later_questions() {
    let game = shipped("tic-tac-toe");
    let compiled = compiled(&game);
    let limits = ProofLimits { conflicts_in_all: 100, ..ProofLimits::default() };
    let mut prover = Prover::new(&compiled.circuit, &limits).expect("it is small");
    compiled.groups.iter().for_each(|group| prover.add_lemma_at_most_one(group));
    let bit = compiled.circuit.base.iter().position(|text| text == "(cell 1 1 x)").expect("a cell");
    let question = [prover.step(), prover.base(bit), !prover.next(bit)];
    // A share so small that no question can be asked with it.
    assert_eq!(prover.with_share(u32::MAX, |prover| prover.ask(&question)), Answer::Undecided);
    assert!(prover.has_run_out() && !prover.is_exhausted());
    assert_eq!(
        prover.with_share(2, |prover| prover.ask_with(Effort::Low, &question)),
        Answer::Impossible
    );
    assert_eq!(prover.ask(&question), Answer::Impossible);
}

/// No play contradicts a proved property. The plays differ from those that the properties were
/// found with.
#[test]
fn proved_properties_hold_in_play() {
    let mut n_proved = 0;
    for name in names("gdl") {
        let game = shipped(&name);
        let limits = CircuitLimits { gates: 300_000, ..CircuitLimits::default() };
        let Ok(compiled) = game.compile(&limits) else { continue };
        // The largest circuits would take longer than all others together.
        if compiled.circuit.n_gates() > 30_000 {
            continue;
        }
        let proof = ProofLimits { conflicts_in_all: 5_000, ..ProofLimits::default() };
        let few = PlayLimits { plays: 3, ..PlayLimits::default() };
        let known = Properties::find(&game, Some(&compiled), &PropertyLimits { plays: few, proof });
        let others = PlayLimits { plays: 20, seed: 77, ..PlayLimits::default() };
        let plays = Plays::play(&game, Some(&compiled), &others);
        n_proved += check_against_plays(&name, &known, &plays);
    }
    assert!(n_proved > 1000, "{n_proved} properties were proved");
}

/// Returns the number of proved properties. Panics if a play contradicts one of them.
fn check_against_plays(name: &str, known: &Properties, plays: &Plays) -> usize {
    check_lengths_and_payoffs(name, known, plays);
    check_turns(name, known, plays);
    check_fluents(name, known, plays) + check_groups(name, known, plays)
}

fn is_proved(known: Option<Known>) -> bool {
    known == Some(Known::Proved)
}

/// Returns the number of proved persistent fluents. Panics if a play contradicts one of them.
fn check_fluents(name: &str, known: &Properties, plays: &Plays) -> usize {
    let mut n_proved = 0;
    for (index, fluent) in known.fluents.iter().enumerate() {
        let index = index as u32;
        let has = |seen: &ObservedState| seen.fluents.binary_search(&index).is_ok();
        let (stays_true, stays_false) =
            (is_proved(fluent.persistent_true), is_proved(fluent.persistent_false));
        n_proved += usize::from(stays_true) + usize::from(stays_false);
        for (before, after) in plays.steps() {
            assert!(
                !stays_true || !has(before) || has(after),
                "{name}: {} does not stay true",
                fluent.text
            );
            assert!(
                !stays_false || has(before) || !has(after),
                "{name}: {} becomes true again",
                fluent.text
            );
        }
    }
    n_proved
}

/// Returns the number of proved groups. Panics if a play contradicts one of them.
fn check_groups(name: &str, known: &Properties, plays: &Plays) -> usize {
    let mut n_proved = 0;
    for group in &known.groups {
        n_proved += usize::from(group.at_most_one.is_proved());
        for seen in plays.states() {
            let has = |fluent: &&usize| seen.fluents.binary_search(&(**fluent as u32)).is_ok();
            let n = group.fluents.iter().filter(has).count();
            let texts = || {
                group.fluents.iter().map(|&f| known.fluents[f].text.as_str()).collect::<Vec<_>>()
            };
            assert!(n <= 1 || !group.at_most_one.is_proved(), "{name}: {n} of {:?}", texts());
            assert!(n == 1 || !is_proved(group.exactly_one), "{name}: {n} of {:?}", texts());
        }
    }
    n_proved
}

/// Panics if a play contradicts a proved length, payoff or move that is made once.
fn check_lengths_and_payoffs(name: &str, known: &Properties, plays: &Plays) {
    for play in &plays.plays {
        if let Some((steps, _)) = known.length.bound {
            assert!(play.len() as u64 <= steps + 1, "{name}: {} steps", play.len() - 1);
        }
        for counter in &known.length.counters {
            for (seen, &bit) in play.iter().zip(counter) {
                assert!(
                    seen.fluents.binary_search(&(bit as u32)).is_ok(),
                    "{name}: a counter fluent does not hold"
                );
            }
        }
        if let (Some((sum, Known::Proved)), Some(end)) = (known.payoffs.constant_sum, play.last())
            && end.is_terminal
        {
            let players = known.game.shape().players();
            let paid: f64 = players.map(|role| end.payoffs[role.index()]).sum();
            assert_eq!(paid, sum as f64, "{name}");
        }
        for once in known.once.iter().filter(|once| once.known.is_proved()) {
            let text = |seen: &ObservedState| {
                seen.joint.get(once.role).map(|&m| &plays.moves[once.role][m as usize])
            };
            let n = play.iter().filter(|seen| text(seen) == Some(&once.text)).count();
            assert!(n <= 1, "{name}: {} is made {n} times", once.text);
        }
    }
}

/// Panics if a play contradicts what is proved of turns.
fn check_turns(name: &str, known: &Properties, plays: &Plays) {
    let players: Vec<usize> = known.game.shape().players().map(agon_game::Role::index).collect();
    for seen in plays.states() {
        let choosers: Vec<usize> =
            players.iter().copied().filter(|&role| seen.legal[role].len() > 1).collect();
        assert!(
            choosers.len() <= 1 || !is_proved(known.turns.turn_taking),
            "{name}: {choosers:?} choose"
        );
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
                assert!(
                    holds || !choosers.contains(&role),
                    "{name}: role {role} chooses without its control fluent"
                );
                assert!(
                    !holds || !others_choose,
                    "{name}: another role chooses while the control fluent holds of role {role}"
                );
            }
        }
    }
}

#[test]
fn properties_of_tic_tac_toe() {
    let known = properties("tic-tac-toe");
    assert_eq!(known.payoffs.values, [[0, 50, 100], [0, 50, 100]]);
    assert_eq!(known.payoffs.constant_sum, Some((100, Known::Proved)));
    assert_eq!(known.length.bound, Some((9, Bound::Progress)));
    assert_eq!(known.once.len(), 18);
    assert!(known.once.iter().all(|once| once.known.is_proved()));
    // The lines connect all cells.
    assert!(known.parts.is_empty());
    let [board] = known.boards.as_slice() else { panic!("{:?}", known.boards) };
    assert_eq!((board.arguments, board.axes.each_ref().map(Vec::len)), ([0, 1], [3, 3]));
    let symmetries: Vec<&str> =
        known.symmetries.iter().map(|symmetry| symmetry.text.as_str()).collect();
    assert_eq!(
        symmetries,
        [
            "xplayer and oplayer, with x and o, are interchangeable but for the initial state",
            "cell mirrored in argument 1",
            "cell mirrored in argument 2",
            "cell turned round",
            "cell with arguments 1 and 2 exchanged",
        ]
    );
    assert!(
        known.symmetries.iter().all(|symmetry| symmetry.known.is_proved()),
        "{:?}",
        known.symmetries
    );
}

#[test]
fn breakthrough_has_only_the_mirror_symmetry() {
    let known = properties("breakthrough");
    let texts: Vec<&str> = known.symmetries.iter().map(|symmetry| symmetry.text.as_str()).collect();
    assert_eq!(texts, ["pawn mirrored in argument 1"]);
    assert!(known.symmetries[0].known.is_proved(), "wide conditions must not prevent the proof");
    let forward = known
        .relations
        .iter()
        .find(|relation| known.game.rules().sheet().symbols.name(relation.name) == "succ");
    assert_eq!(forward.map(Relation::kind), Some(RelationKind::Successor));
}

#[test]
fn a_step_counter_bounds_the_length_of_play() {
    let known = properties("eight-puzzle");
    let [counter] = known.length.counters.as_slice() else { panic!("{:?}", known.length) };
    assert_eq!(known.fluents[counter[0]].text, "(step 0)");
    assert_eq!(known.length.bound, Some((60, Bound::Counter(0))));
}

/// Two coins that are turned one at a time, each for its own half of the reward.
const COINS: &str = "
(role player)
(init (shows left tails)) (init (shows right tails))
(side left) (side right) (other heads tails) (other tails heads)
(<= (legal player (turn ?s)) (side ?s))
(<= (next (shows ?s ?new)) (does player (turn ?s)) (true (shows ?s ?old)) (other ?old ?new))
(<= (next (shows ?s ?old)) (true (shows ?s ?old)) (not (does player (turn ?s))))
(<= terminal (true (shows left heads)) (true (shows right heads)))
(<= (goal player 100) (true (shows left heads)) (true (shows right heads)))
(<= (goal player 0) (true (shows left tails)))
";

#[test]
fn independent_coins_are_separate_sub_games() {
    let game = game(COINS);
    let compiled = compiled(&game);
    let known = Properties::find(&game, Some(&compiled), &PropertyLimits::default());
    let moves: Vec<Vec<&str>> = known
        .parts
        .iter()
        .map(|part| {
            part.moves.iter().map(|&(role, m)| known.plays.moves[role][m].as_str()).collect()
        })
        .collect();
    assert_eq!(moves, [["(turn left)"], ["(turn right)"]]);
}

#[test]
fn a_constant_sum_is_proved_where_there_is_one() {
    let mut n_proved = 0;
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "pawn-whopping", "blocker"] {
        let game = shipped(name);
        let compiled = compiled(&game);
        let Some(sum) = prove_constant_sum(&compiled) else { continue };
        n_proved += 1;
        let plays = Plays::play(&game, Some(&compiled), &PlayLimits::default());
        for end in plays.states().filter(|seen| seen.is_terminal) {
            assert_eq!(end.payoffs.iter().sum::<f64>(), sum as f64, "{name}");
        }
    }
    assert!(n_proved > 0, "no constant sum was proved");
    assert_eq!(
        prove_constant_sum(&compiled(&game(COINS))),
        None,
        "a game for one player has no constant sum"
    );
    let uneven = game(
        "(role a) (role b) (init start) (legal a wait) (legal a go) (legal b wait)
         (<= (next gone) (does a go)) (<= (next met) (true start)) (<= terminal (true met))
         (<= (goal a 100) (true gone)) (<= (goal a 0) (not (true gone))) (<= (goal b 50) (role b))",
    );
    assert_eq!(prove_constant_sum(&compiled(&uneven)), None);
}

/// Almost anything holds in the first states of one play, so nothing is concluded from them.
#[test]
fn the_beginning_of_a_play_shows_nothing() {
    let game = shipped("tic-tac-toe");
    let plays = PlayLimits { states: 3, ..PlayLimits::default() };
    let limits = PropertyLimits { plays, ..PropertyLimits::default() };
    let known = Properties::find(&game, None, &limits);
    assert_eq!(known.plays.n_plays(), 1);
    assert!(known.modes.is_empty() && known.groups.is_empty(), "{:?}", known.modes);
    assert_eq!(known.turns.turn_taking, None);
    assert!(known.turns.roles.iter().all(|role| role.noop.is_none() && role.control.is_none()));
    assert!(known.fluents.iter().all(|fluent| fluent.persistent_true.is_none()));
    assert!(known.symmetries.iter().all(|symmetry| symmetry.known.is_proved()));
    assert!(known.refused.iter().any(|(what, _)| *what == "what random plays show"));
    // Enough plays do count.
    let known = Properties::find(&game, None, &PropertyLimits::default());
    assert!(!known.modes.is_empty() && known.turns.turn_taking.is_some());
}
