use super::*;
use crate::match_setup::NoOutsidePlayers;

const SPEC: &str = "games = [\"tic-tac-toe\"]\nrepeats = 2\nopenings = 2\niterations = 20\n\
                    [players]\na = \"mcts\"\nb = \"random\"\n";

#[test]
fn a_match_is_the_same_wherever_it_is_played() {
    let plans =
        [0, 1].map(|_| TournamentPlan::new("spec", SPEC, Path::new("")).expect("it is sound"));
    assert_eq!(plans[0].fixtures(), plans[1].fixtures());
    let mut played = BTreeMap::new();
    for fixture in plans[0].fixtures().iter().rev() {
        let [first, second] = [0, 1].map(|plan: usize| {
            let attempt =
                plans[plan].attempt(fixture, 0, &Arc::default()).expect("clocks are times");
            let played = attempt.play(&NoOutsidePlayers, "token".to_owned(), &|| 0, &mut |_| {});
            let (played, _) = played.expect("players are built-in").expect("nothing aborts it");
            played
        });
        assert_eq!(first.record, second.record);
        assert_eq!(first.status, "finished");
        played.insert(first.id, first.outcome);
    }
    let standings = plans[0].standings(&plans[0].outcomes(&played));
    assert_eq!((standings.n_played, standings.n_matches), (4, 4));
}

#[test]
fn descriptions_with_errors_are_refused() {
    for (text, part) in [
        ("games = 1", "games"),
        (&SPEC.replace("tic-tac-toe", "no-such-game"), "no-such-game"),
        (&SPEC.replace("\"random\"", "\"cmd:x\""), "outside"),
    ] {
        let error = TournamentPlan::new("spec", text, Path::new("")).err();
        let error = error.expect("it has an error").to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_tournament_may_grow_but_not_change() {
    let plan = |text: &str| TournamentPlan::new("spec", text, Path::new("")).expect("it is sound");
    let (small, games) = (plan(SPEC), plan(SPEC).stored_games());
    assert_eq!(small.additions(SPEC, &games).expect("nothing has changed"), "");
    let grown =
        plan(&SPEC.replace("repeats = 2", "repeats = 3").replace("a =", "c = \"legal\"\na ="));
    let added = grown.additions(SPEC, &games).expect("it has grown");
    assert_eq!(added, "players c; 1 repeats");
    let faster = plan(&SPEC.replace("iterations = 20", "iterations = 10"));
    let error = faster.additions(SPEC, &games).expect_err("the iterations have changed");
    assert!(error.to_string().contains("iterations"), "{error}");
    let other = StoredGame { rules: "(role x)".to_owned(), ..games[0].clone() };
    let error = small.additions(SPEC, &[other]).expect_err("the rules have changed");
    assert!(error.to_string().contains("the rules of `tic-tac-toe` have changed"), "{error}");
}
