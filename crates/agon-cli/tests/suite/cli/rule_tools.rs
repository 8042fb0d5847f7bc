//! Tools for authors: strict checks, parameters, templates, proofs, comparisons, profiles.

use super::super::games::Scratch;
use super::json;
use super::run::agon;

const STEPS: &str = ";; param steps = 4 in 2..9: number of steps
(role robot)
(init (at 1))
(succ {i=1..steps-1} {i+1})
(<= (legal robot go) (true (at ?n)))
(<= (next (at ?m)) (does robot go) (true (at ?n)) (succ ?n ?m))
(<= terminal (true (at {steps})))
(<= (goal robot 100) (true (at {steps})))
(<= (goal robot 0) (not (true (at {steps}))))
";

#[test]
fn plain_checks_are_tolerant_and_strict_ones_are_not() {
    let scratch = Scratch::new("strict");
    let steps = scratch.file("steps.kif", STEPS);
    agon(&["check", &steps]).succeeds();
    let strict = json(&agon(&["check", &steps, "--strict", "--json"]).fails_with(1));
    let codes: Vec<&str> = strict["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    assert_eq!(codes, ["missing-base", "missing-input"]);
    let empty = scratch.file("empty.kif", "");
    let found = json(&agon(&["check", &empty, "--json"]).fails_with(1));
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(1), "{found}");
    let stuck = STEPS.replace("(true (at ?n)))\n(<= (next", "(true (at 3)))\n(<= (next");
    let stuck = scratch.file("stuck.kif", stuck);
    let found = agon(&["check", &stuck]).fails_with(1);
    assert!(found.out.contains("error[play-no-legal-move]"), "{}", found.out);
    agon(&["check", &stuck, "--plays", "0"]).succeeds();
    let sums = STEPS.replace("(<= terminal", "(<= terminal (true (at ?n)) (> ?n 9))\n(<= terminal");
    let found = agon(&["check", &scratch.file("sums.kif", sums)]).succeeds();
    assert!(found.out.contains("GDL has no arithmetic"), "{}", found.out);
}

#[test]
fn parameters_are_set_for_every_command() {
    let scratch = Scratch::new("params");
    let steps = scratch.file("steps.kif", STEPS);
    let shown = agon(&["show", &steps, "--set", "steps=3", "--stage", "source"]).succeeds().out;
    assert!(shown.starts_with(";; param steps = 3 in 2..9"), "{shown}");
    assert!(shown.contains("\n(succ 1 2) (succ 2 3)\n") && !shown.contains('{'), "{shown}");
    for (set, length) in [("steps=3", 2.0), ("steps=9", 8.0)] {
        let played =
            json(&agon(&["simulate", &steps, "--set", set, "-n", "3", "--json"]).succeeds());
        assert!(played.to_string().contains(&format!("{length}")), "{played}");
    }
    let named = format!("{steps}(steps=5)");
    agon(&["perft", &named, "--depth", "4"]).succeeds();
    agon(&["solve", &steps, "--set", "steps=6"]).succeeds();
    agon(&["info", &steps, "--set", "steps=99"]).complains(1, "the rules allow 2 to 9");
    agon(&["info", &steps, "--set", "stops=4"]).complains(1, "did you mean `steps`?");
    agon(&["info", &steps, "--set", "steps"]).complains(2, "size=9");
    agon(&["info", "toss/tic-tac-toe", "--set", "size=4"]).complains(1, "no parameter `size`");
    let counted = agon(&["perft", "toss/gomoku-19x19", "--set", "size=6", "--depth", "2"]);
    assert!(counted.succeeds().out.contains("perft 2 1260"), "36 times 35");
    let counted = agon(&["perft", "hex(size=9)", "--depth", "2"]).succeeds().out;
    assert!(counted.contains("perft 2 6480"), "81 times 80: {counted}");
}

/// Formatting a file with parameters must not replace them by their values.
#[test]
fn formatting_keeps_parameters() {
    let scratch = Scratch::new("format-params");
    let steps = scratch.file("steps.kif", STEPS.replace("(role", "(  role"));
    agon(&["fmt", &steps]).succeeds();
    let written = std::fs::read_to_string(&steps).expect("the file is there");
    assert!(written.contains("(succ {") && written.contains("(role"), "{written}");
    agon(&["fmt", &steps, "--check"]).succeeds();
}

#[test]
fn games_are_listed_by_tag() {
    let chance = agon(&["games", "chance"]).succeeds().out;
    assert!(chance.contains("2048") && !chance.contains("connect-four"), "{chance}");
    let hidden = agon(&["games", "hidden", "--json"]).succeeds().out;
    assert!(!hidden.contains("2048") && hidden.contains("\"hidden\":true"), "{hidden}");
    assert!(!hidden.contains("\"hidden\":false"), "{hidden}");
    let at_once = agon(&["games", "simultaneous"]).succeeds().out;
    let has = |name: &str| at_once.lines().any(|line| line.starts_with(name));
    assert!(has("goofspiel") && !has("tic-tac-toe"), "{at_once}");
    agon(&["games", "no-such-*"]).complains(1, "the tags are all");
}

#[test]
fn a_code_is_found_by_its_beginning() {
    agon(&["explain-code", "unsafe-variable"]).succeeds();
    agon(&["explain-code", "unsafe"]).complains(2, "did you mean `unsafe-variable`?");
}

#[test]
fn temporal_formulas_nest() {
    let stays = "(always (implies (cell 1 1 x) (always (cell 1 1 x))))";
    agon(&["prove", "tic-tac-toe", stays]).succeeds();
    let refuted = agon(&["prove", "tic-tac-toe", "(always (reachable (goal oplayer 100)))"]);
    assert_eq!(refuted.code, 1);
    let end = "there (reachable (goal oplayer 100)) does not hold";
    assert!(refuted.out.contains(end), "{}", refuted.out);
}

#[test]
fn new_games_pass_the_strict_check() {
    let scratch = Scratch::new("new");
    let name = scratch.path("my-game").to_string_lossy().into_owned();
    agon(&["new", &name]).succeeds();
    let path = format!("{name}.kif");
    agon(&["check", &path, "--strict"]).succeeds();
    agon(&["check", &path, "--strict", "--set", "size=4"]).succeeds();
    agon(&["new", &name]).complains(2, "exists already");
    let rules = agon(&["new", "x", "--template", "toss", "--print"]).succeeds().out;
    assert!(rules.starts_with("// title: x\n"), "{rules}");
}

#[test]
fn formulas_are_proved_refuted_or_explained() {
    let never = "(never (and (cell ?x ?y x) (cell ?x ?y o)))";
    let proved = json(&agon(&["prove", "tic-tac-toe", never, "--json"]).succeeds());
    assert_eq!(proved[0]["verdict"], "proved", "{proved}");
    let refuted = agon(&["prove", "tic-tac-toe", "(never (goal xplayer 100))"]).fails_with(1);
    assert!(refuted.out.contains("a shortest play of 5 steps"), "{}", refuted.out);
    let all = agon(&["prove", "tic-tac-toe", "all"]).fails_with(1).out;
    assert!(all.contains("termination: proved"), "{all}");
    assert!(all.contains("playability: proved"), "{all}");
    let draw = "strong-winnability: refuted, because perfect play pays xplayer 50, oplayer 50";
    assert!(all.contains(draw), "{all}");
    let won = agon(&["prove", "nim", "strong-winnability"]).succeeds().out;
    assert!(won.starts_with("strong-winnability for "), "{won}");
    // The highest payoff of a structure rewriting game is not 100.
    let scratch = Scratch::new("prove");
    let rules = agon(&["new", "x", "--template", "toss", "--print"]).succeeds().out;
    let marks = scratch.file("marks.toss", rules);
    let won = agon(&["prove", &marks, "strong-winnability"]).succeeds().out;
    assert!(won.starts_with("strong-winnability for X: proved"), "{won}");
    agon(&["prove", "tic-tac-toe", "(never (cel 1 1 x))"]).complains(1, "did you mean `cell`?");
    agon(&["prove", "tic-tac-toe", "playable"]).complains(1, "is not a question");
}

#[test]
fn rulesheets_are_compared() {
    let scratch = Scratch::new("diff");
    let steps = scratch.file("steps.kif", STEPS);
    let renamed = scratch.file("renamed.kif", STEPS.replace("(at ", "(place "));
    let same = json(&agon(&["diff", &steps, &renamed, "--json"]).succeeds());
    assert_eq!(same["result"], "same", "{same}");
    let other = agon(&["diff", &steps, &format!("{renamed}(steps=5)")]).fails_with(1);
    assert!(other.out.contains("different games"), "{}", other.out);
    assert!(other.out.contains("after 3 steps"), "{}", other.out);
}

#[test]
fn rules_are_profiled() {
    let profile = json(&agon(&["profile", "tic-tac-toe", "--plays", "3", "--json"]).succeeds());
    let rules = profile["rules"].as_array().expect("a list");
    assert!(rules.iter().any(|rule| rule["gates"].as_u64() > Some(0)), "{profile}");
    assert!(rules.iter().any(|rule| rule["used_at_states"].as_u64() > Some(0)), "{profile}");
    let table = agon(&["profile", "tic-tac-toe", "--plays", "2"]).succeeds().out;
    assert!(table.contains("rule\n"), "{table}");
    agon(&["profile", "tic-tac-toe", "--plays", "2", "--annotate"]).succeeds();
    let rewriting = agon(&["profile", "toss/tic-tac-toe", "--plays", "2"]).succeeds().out;
    assert!(rewriting.contains("  Cross\n") && rewriting.contains("  Circle\n"), "{rewriting}");
    agon(&["profile", "toss/tic-tac-toe", "--plays", "2", "--annotate"]).succeeds();
}

#[test]
fn shells_and_manuals() {
    for shell in ["bash", "zsh", "fish"] {
        let script = agon(&["completions", shell]).succeeds().out;
        assert!(script.contains("tournament"), "{shell}");
    }
    let scratch = Scratch::new("man");
    agon(&["completions", "--man", &scratch.path("pages").to_string_lossy()]).succeeds();
    let page = std::fs::read_to_string(scratch.path("pages").join("agon-check.1"))
        .expect("it was written");
    assert!(page.contains("strict"), "{page}");
    assert!(page.contains("\\fBagon check\\fR"), "what is typed has no hyphen: {page}");
}
