//! Layouts of small made-up games, each with one feature.

use std::collections::BTreeMap;

use agon_board::scene::{BoardKind, PanelKind, Shade, Symbol};
use agon_board::svg::svg;
use agon_board::text::text;
use agon_board::{Evidence, Hints, Layout, LayoutKind, Play, SvgOptions, TextOptions};

/// Splits a text such as `(a 1) (b (c 2)) d` into terms.
fn terms(text: &str) -> Vec<String> {
    agon_game::kif::list(&format!("({text})")).expect("the test writes balanced terms")
}

fn evidence(roles: &[&str], states: &[&str], joints: &[&[&str]]) -> Evidence {
    let play = Play {
        states: states.iter().map(|state| terms(state)).collect(),
        joints: joints
            .iter()
            .map(|joint| joint.iter().map(|m| (*m).to_owned()).collect())
            .collect(),
    };
    Evidence {
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        plays: vec![play],
        ..Evidence::default()
    }
}

fn grid(rows: i32, columns: i32, cell: impl Fn(i32, i32) -> String) -> String {
    let cells = (1..=rows).flat_map(|y| (1..=columns).map(move |x| (x, y)));
    cells.map(|(x, y)| cell(x, y)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_grid_has_places_pieces_and_targets() {
    let start = grid(3, 3, |x, y| format!("(cell {x} {y} b)")) + " (control xplayer)";
    let next = start.replace("(cell 2 3 b)", "(cell 2 3 x)").replace("xplayer", "oplayer");
    let known = evidence(&["xplayer", "oplayer"], &[&start, &next], &[&["(mark 2 3)", "noop"]]);
    let layout = Layout::infer(&known);
    assert_eq!(layout.kind(), LayoutKind::Grid);
    let scene = layout.scene(&terms(&next));
    assert_eq!(scene.turn, [1]);
    assert_eq!(scene.places().count(), 9);
    let place = scene.place("board/2/3").expect("the place exists");
    assert_eq!((place.pieces[0].symbol, place.pieces[0].owner), (Symbol::Cross, Some(0)));
    assert!(scene.place("board/1/1").is_some_and(|place| place.pieces.is_empty()));
    let legal = ["(mark 1 1)".to_owned(), "resign".to_owned()];
    let targets = layout.targets(&legal);
    assert_eq!(targets[0].steps, [["board/1/1"]]);
    assert!(targets[1].steps.is_empty() && targets[1].label == "resign");
    let drawing = svg(&scene, &SvgOptions::default());
    assert!(drawing.contains("data-place=\"board/2/3\"") && !drawing.contains("style="));
    assert!(text(&scene, &TextOptions::default()).contains('x'));
}

#[test]
fn things_fall_down() {
    // Row 1 is filled first, so it is at the bottom; and the other way round.
    for (low, high) in [(1, 4), (4, 1)] {
        let step = if high > low { 1 } else { -1 };
        let mut state: Vec<String> = vec!["(control red)".to_owned()];
        let mut states = vec![state.join(" ")];
        let mut joints = Vec::new();
        for turn in 0..12 {
            let (column, height) = (turn % 3 + 1, turn / 3);
            let role = if turn % 2 == 0 { "red" } else { "yellow" };
            state.push(format!("(disc {column} {} {role})", low + step * height));
            states.push(state.join(" "));
            joints.push([format!("(drop {column})"), "noop".to_owned()]);
        }
        let states: Vec<&str> = states.iter().map(String::as_str).collect();
        let joints: Vec<Vec<&str>> =
            joints.iter().map(|joint| joint.iter().map(String::as_str).collect()).collect();
        let joints: Vec<&[&str]> = joints.iter().map(Vec::as_slice).collect();
        let layout = Layout::infer(&evidence(&["red", "yellow"], &states, &joints));
        let scene = layout.scene(&terms(states[12]));
        let y = |row: i32| scene.place(&format!("board/1/{row}")).expect("a place").y;
        assert!(y(low) > y(high), "row {low} is at the bottom");
        // A move names a column: any place of it will do.
        let target = &layout.targets(&["(drop 2)".to_owned()])[0];
        assert_eq!(target.steps.len(), 1);
        assert_eq!(target.steps[0].len(), 4, "{target:?}");
    }
}

#[test]
fn the_first_player_sits_at_the_bottom() {
    let pawns = |white: i32, black: i32| {
        let row = |y: i32, role: &str| {
            (1..=6).map(|x| format!("(pawn {x} {y} {role})")).collect::<Vec<_>>().join(" ")
        };
        format!("{} {}", row(white, "white"), row(black, "black"))
    };
    let middle = (1..=6).map(|y| format!("(pawn 3 {y} white)")).collect::<Vec<_>>().join(" ");
    for (white, black) in [(1, 6), (6, 1)] {
        let start = pawns(white, black);
        let layout = Layout::infer(&evidence(&["white", "black"], &[&start, &middle], &[]));
        let scene = layout.scene(&terms(&start));
        let y = |row: i32| scene.place(&format!("board/1/{row}")).expect("a place").y;
        assert!(y(white) > y(black));
    }
}

#[test]
fn six_neighbours_make_a_hex_board() {
    let start = grid(4, 4, |x, y| format!("(cell {x} {y} empty)"));
    let mut known = evidence(&["red", "blue"], &[&start], &[]);
    for x in 1..=4 {
        for y in 1..=4 {
            for (dx, dy) in [(1, 0), (0, 1), (1, -1)] {
                let (u, v) = (x + dx, y + dy);
                if (1..=4).contains(&u) && (1..=4).contains(&v) {
                    known.facts.push(format!("(adjacent {x} {y} {u} {v})"));
                }
            }
        }
    }
    let scene = Layout::infer(&known).scene(&terms(&start));
    assert_eq!(scene.boards[0].kind, BoardKind::Hex);
    let at = |x: i32, y: i32| {
        let place = scene.place(&format!("board/{x}/{y}")).expect("a place");
        (place.x, place.y)
    };
    for (dx, dy) in [(1, 0), (0, 1), (1, -1)] {
        let (a, b) = (at(2, 2), at(2 + dx, 2 + dy));
        let square = (a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1);
        assert!((square - 1.0).abs() < 0.01, "neighbours touch: {dx} {dy} {square}");
    }
}

#[test]
fn numbers_of_roles_are_counters_and_not_boards() {
    let states = ["(score red 3) (score blue 4) (step 1)", "(score red 5) (score blue 1) (step 2)"];
    let layout = Layout::infer(&evidence(&["red", "blue"], &states, &[]));
    assert_eq!(layout.kind(), LayoutKind::Picture);
    let scene = layout.scene(&terms(states[0]));
    assert!(scene.boards.is_empty());
    assert!(scene.panels.iter().all(|panel| panel.kind == PanelKind::Counters));
    let score = scene.panels.iter().find(|panel| panel.title == "score").expect("a panel");
    assert_eq!(score.entries[0].values, ["3"]);
}

#[test]
fn heaps_are_stacks() {
    let states = ["(heap a 3) (heap b 5) (heap c 7)", "(heap a 3) (heap b 0) (heap c 7)"];
    let mut known = evidence(&["first", "second"], &states, &[&["(take b 5)", "noop"]]);
    known.moves = terms("(take a 1) (take c 2)");
    let layout = Layout::infer(&known);
    let scene = layout.scene(&terms(states[0]));
    assert_eq!(scene.boards[0].kind, BoardKind::Stacks);
    let heap = scene.place("board/c").expect("a heap");
    assert_eq!(heap.pieces[0].count, 7);
    let target = &layout.targets(&["(take a 2)".to_owned()])[0];
    assert_eq!(
        (target.steps.as_slice(), target.choice.as_str()),
        (&[vec!["board/a".to_owned()]][..], "2")
    );
}

#[test]
fn edges_between_dots_are_places() {
    let all: Vec<String> = (1..=2)
        .flat_map(|a| (1..=3).map(move |b| (a, b)))
        .flat_map(|(a, b)| [format!("(drawn (h {a} {b}))"), format!("(drawn (v {b} {a}))")])
        .collect();
    let state = all.join(" ") + " (box 1 1 left) (box 2 2 right)";
    let layout = Layout::infer(&evidence(&["left", "right"], &[&state], &[&["(draw (h 1 1))"]]));
    let scene = layout.scene(&terms("(drawn (h 1 2)) (box 1 1 left)"));
    assert_eq!(scene.boards[0].kind, BoardKind::Edges);
    assert_eq!(scene.place("board/h/1/2").expect("an edge").pieces.len(), 1);
    assert_eq!(scene.place("board/box/1/1").expect("a box").pieces[0].owner, Some(0));
    let target = &layout.targets(&["(draw (v 3 1))".to_owned()])[0];
    assert_eq!(target.steps, [["board/v/3/1"]]);
}

#[test]
fn four_coordinates_are_a_board_of_boards() {
    let mut cells = Vec::new();
    for key in 0..81 {
        let at = [key / 27, key / 9 % 3, key / 3 % 3, key % 3].map(|n| (n + 1).to_string());
        cells.push(format!("(cell {} x)", at.join(" ")));
    }
    let state = cells.join(" ");
    let layout = Layout::infer(&evidence(&["x", "o"], &[&state], &[]));
    let scene = layout.scene(&terms(&state));
    assert_eq!((scene.boards.len(), scene.boards[0].frames.len()), (1, 9));
    assert_eq!(scene.places().count(), 81);
    let target = &layout.targets(&["(mark 1 2 3 1)".to_owned()])[0];
    assert_eq!(target.steps, [["board/1/2/3/1"]]);
}

#[test]
fn hidden_places_are_backs() {
    let state = |secret: &str| {
        grid(3, 3, |x, y| format!("(cell {x} {y} empty)"))
            .replace("(cell 2 2 empty)", &format!("(cell 2 2 {secret})"))
    };
    let (first, second) = (state("x"), state("empty"));
    let layout = Layout::infer(&evidence(&["x", "o"], &[&first, &second], &[]));
    let scene = layout.scene_of_possible(&[terms(&first), terms(&second)]);
    let secret = scene.place("board/2/2").expect("a place");
    assert_eq!((secret.shade, secret.pieces[0].symbol), (Shade::Unknown, Symbol::Back));
    assert_eq!(scene.place("board/1/1").expect("a place").shade, Shade::Plain);
    let json = serde_json::to_string(&scene).expect("scenes are JSON");
    assert!(!json.contains("\"x\",\"owner\""), "the secret is not in the scene");
    let nothing = layout.scene_of_possible(&[]);
    assert!(nothing.places().all(|place| place.shade == Shade::Unknown));
}

#[test]
fn graphs_have_nodes_and_lines() {
    let states = ["(thief a) (guard c)", "(thief b) (guard d)", "(thief c) (guard a)"];
    let mut known = evidence(&["thief", "guard"], &states, &[]);
    known.facts = terms("(edge a b) (edge b c) (edge c d) (edge d a) (edge a e)");
    known.fluents = terms("(thief a) (thief b) (thief c) (thief d) (thief e)");
    let layout = Layout::infer(&known);
    let scene = layout.scene(&terms(states[0]));
    assert_eq!(scene.boards[0].kind, BoardKind::Graph);
    assert_eq!((scene.places().count(), scene.boards[0].lines.len()), (5, 5));
    assert_eq!(scene.place("board/a").expect("a node").pieces.len(), 1);
}

#[test]
fn what_is_not_understood_is_listed_and_not_lost() {
    let states = [
        "(knows ann (secret bob p) q r) (knows ann (secret cid p) q r) (knows x (secret y z) u v)",
    ];
    let layout = Layout::infer(&evidence(&["ann", "bob"], &states, &[]));
    assert_eq!(layout.kind(), LayoutKind::List);
    let scene = layout.scene(&terms(states[0]));
    let shown: usize = scene.panels.iter().map(|panel| panel.entries.len()).sum();
    assert_eq!(shown, 3);
    // A fluent that was never seen before is listed too.
    let odd = layout.scene(&terms("(surprise 1 2 3)"));
    assert_eq!(odd.panels.len(), 1);
}

#[test]
fn hints_change_pieces_and_direction() {
    let start = grid(3, 3, |x, y| format!("(cell {x} {y} b)"));
    let next = start.replace("(cell 2 3 b)", "(cell 2 3 wP)");
    let mut known = evidence(&["white", "black"], &[&start, &next], &[]);
    let direction = |known: &Evidence| {
        let scene = Layout::infer(known).scene(&terms(&next));
        let y = |row: i32| scene.place(&format!("board/1/{row}")).expect("a place").y;
        (y(1) < y(3), scene.place("board/2/3").expect("a place").pieces[0].symbol)
    };
    known.hints = Hints::from_header("; board: grid up=no\n; piece wP: ♙ white").expect("hints");
    assert_eq!(direction(&known), (true, Symbol::Pawn));
    known.hints.up = Some(true);
    assert_eq!(direction(&known), (false, Symbol::Pawn));
}

#[test]
fn a_drawing_in_the_rules_is_the_board() {
    let states = ["(W a1) (B b2) (location white)", "(W b1) (B b2) (location black)"];
    let mut known = evidence(&["white", "black"], &states, &[&["(step a1 b1)", "noop"]]);
    let name = |text: &str| Some(text.to_owned());
    known.drawing = vec![vec![name("a2"), name("b2")], vec![name("a1"), name("b1")]];
    known.movers = BTreeMap::from([
        ("(location white)".to_owned(), vec![0]),
        ("(location black)".to_owned(), vec![1]),
    ]);
    let layout = Layout::infer(&known);
    let scene = layout.scene(&terms(states[1]));
    assert_eq!(scene.turn, [1]);
    let (low, high) = (scene.place("board/a1"), scene.place("board/a2"));
    assert!(low.expect("a place").y > high.expect("a place").y);
    assert_eq!(scene.place("board/b2").expect("a place").pieces[0].owner, Some(1));
    let target = &layout.targets(&["(step a1 b1)".to_owned()])[0];
    assert_eq!(target.steps, [["board/a1"], ["board/b1"]]);
}

#[test]
fn places_between_the_ends_of_a_move_need_no_click() {
    let states = ["(W a1) (B c3)", "(W b2) (B c3)"];
    let mut known = evidence(&["white", "black"], &states, &[&["(step a1 b2)", "noop"]]);
    let name = |text: &str| Some(text.to_owned());
    known.drawing = ["3", "2", "1"]
        .iter()
        .map(|row| ["a", "b", "c"].iter().map(|c| name(&format!("{c}{row}"))).collect())
        .collect();
    let layout = Layout::infer(&known);
    let legal = terms("(double a1 a2 a3) (jump a1 b2 c1) (jump a1 b1 c1)");
    let targets = layout.targets(&legal);
    assert_eq!(targets[0].steps, [["board/a1"], ["board/a3"]]);
    assert_eq!(targets[1].steps.len(), 3, "the ends alone do not tell which jump it is");
}

#[test]
fn pieces_are_not_taken_for_empty_places_and_marks_are_small() {
    let states = ["(W a1) (B b2) (moved a1)", "(W b1) (B b2)", "(W b1) (B a2)"];
    let joints: [&[&str]; 2] = [&["(step a1 b1)", "noop"], &["noop", "(step b2 a2)"]];
    let mut known = evidence(&["white", "black"], &states, &joints);
    let name = |text: &str| Some(text.to_owned());
    known.drawing = vec![vec![name("a2"), name("b2")], vec![name("a1"), name("b1")]];
    let scene = Layout::infer(&known).scene(&terms(states[0]));
    let first = scene.place("board/a1").expect("a place");
    let symbols: Vec<Symbol> = first.pieces.iter().map(|piece| piece.symbol).collect();
    assert!(symbols.contains(&Symbol::Disc) && symbols.contains(&Symbol::Dot), "{symbols:?}");
    let second = scene.place("board/b2").expect("a place");
    assert_eq!((second.pieces[0].symbol, second.pieces[0].owner), (Symbol::Disc, Some(1)));
}

/// A plane with a hunter and a hare that runs to the right, faster and faster.
fn chase(functions: &[&str]) -> Evidence {
    let state = |i: i32| {
        format!(
            "(location 0) (x h 0) (x e {}) (y h {i}) (y e 2) (x' e {i}) (x' h 0) (age h {i}) \
             (age e 0) (time {i})",
            3 * i
        )
    };
    let states: Vec<String> = (0..5).map(state).collect();
    let states: Vec<&str> = states.iter().map(String::as_str).collect();
    let mut known = evidence(&["hunter", "hare"], &states, &[]);
    known.facts = vec!["(Hunter h)".to_owned(), "(Hare e)".to_owned()];
    known.functions = functions.iter().map(|name| (*name).to_owned()).collect();
    known
}

#[test]
fn coordinates_are_points_in_a_plane() {
    let layout = Layout::infer(&chase(&["x", "y", "x'", "age"]));
    assert_eq!(layout.kind(), LayoutKind::Picture);
    let state = terms(
        "(location 0) (x h 0) (x e 9) (y h 3) (y e 2) (x' e 3) (x' h 0) (age h 3) (time 1/3)",
    );
    let scene = layout.scene(&state);
    assert_eq!(scene.boards.len(), 1);
    let board = &scene.boards[0];
    assert_eq!(board.kind, BoardKind::Plane);
    let point = |id: &str| scene.place(id).expect("the point exists");
    let (hunter, hare) = (point("plane/h"), point("plane/e"));
    assert_eq!((hunter.name.as_str(), hunter.pieces[0].owner), ("hunter", Some(0)));
    assert_eq!(hare.pieces[0].owner, Some(1));
    // Nine to the right and one down, on the same scale.
    let (dx, dy) = (hare.x - hunter.x, hare.y - hunter.y);
    assert!((dx / dy - 9.0).abs() < 1e-9, "{dx} {dy}");
    let arrows: Vec<_> = board.lines.iter().filter(|line| line.arrow).collect();
    assert_eq!(arrows.len(), 1, "only the hare moves");
    assert!(arrows[0].x2 > arrows[0].x1 && arrows[0].y1 == arrows[0].y2);
    assert!(board.labels.iter().any(|label| label.text == "hare (9, 2)"), "{:?}", board.labels);
    let drawn = text(&scene, &TextOptions::default());
    assert!(drawn.contains("  hare  x 9  y 2\n"), "{drawn}");
    assert!(drawn.contains("age 3") && drawn.contains("time 0.3333"), "{drawn}");
    let picture = svg(&scene, &SvgOptions::default());
    assert!(picture.contains("data-place=\"plane/e\"") && !picture.contains("NaN"));
}

#[test]
fn the_picture_of_a_plane_is_the_same_in_all_sampled_states() {
    let known = chase(&["x", "y", "x'", "age"]);
    let layout = Layout::infer(&known);
    let scenes: Vec<_> = known.plays[0].states.iter().map(|state| layout.scene(state)).collect();
    let grid = |scene: &agon_board::Scene| {
        let lines = scene.boards[0].lines.iter().filter(|line| !line.arrow);
        lines.cloned().collect::<Vec<_>>()
    };
    assert!(scenes.iter().all(|scene| grid(scene) == grid(&scenes[0])));
    // A point outside changes the scale, and is still drawn inside.
    let far = layout.scene(&terms("(x h 0) (y h 0) (x e 1000) (y e 2)"));
    assert_ne!(grid(&far), grid(&scenes[0]));
    for place in far.places() {
        let board = &far.boards[0];
        assert!((board.x..=board.x + board.width).contains(&place.x), "{place:?}");
    }
}

#[test]
fn one_coordinate_is_a_line_and_heights_go_upwards() {
    let known = chase(&["y", "age"]);
    let layout = Layout::infer(&known);
    let heights: Vec<f64> = known.plays[0]
        .states
        .iter()
        .map(|state| layout.scene(state).place("plane/h").expect("a point").y)
        .collect();
    assert!(heights.windows(2).all(|pair| pair[1] < pair[0]), "{heights:?}");
    // Without functions, the same fluents are what they were: no plane.
    let plain = Layout::infer(&chase(&[]));
    let scene = plain.scene(&known.plays[0].states[1]);
    assert!(scene.boards.iter().all(|board| board.kind != BoardKind::Plane));
}

#[test]
fn strange_numbers_do_not_break_a_plane() {
    let layout = Layout::infer(&chase(&["x", "y", "x'", "age"]));
    for number in ["1e308", "-1e308", "NaN", "inf", "1/0", "word", "1e-320", "9/7"] {
        let state = terms(&format!("(x h {number}) (y h 1) (x' h {number}) (time {number})"));
        let picture = svg(&layout.scene(&state), &SvgOptions::default());
        assert!(!picture.contains("=\"NaN\"") && !picture.contains("=\"inf\""), "{number}");
    }
}

#[test]
fn things_on_things_are_towers() {
    let start = "(on a b) (on b c) (table c) (table d) (clear a) (clear d)";
    let next = "(on b c) (table a) (table c) (table d) (clear a) (clear b) (clear d)";
    let known = evidence(&["robot"], &[start, next], &[&["(unstack a b)"]]);
    let layout = Layout::infer(&known);
    let scene = layout.scene(&terms(start));
    assert_eq!(scene.boards[0].kind, BoardKind::Stacks);
    let tower = |scene: &agon_board::scene::Scene, lowest: &str| -> Vec<String> {
        let place = scene.place(&format!("board/{lowest}")).expect("there is a place for it");
        place.pieces.iter().map(|piece| piece.name.clone()).collect()
    };
    assert_eq!(tower(&scene, "c"), ["c", "b", "a"]);
    assert_eq!(tower(&scene, "d"), ["d"]);
    assert!(tower(&scene, "a").is_empty() && scene.panels.is_empty(), "{:?}", scene.panels);
    assert_eq!(tower(&layout.scene(&terms(next)), "a"), ["a"]);
    // A block is not a place: it is wherever it stands.
    assert!(layout.targets(&["(unstack a b)".to_owned()])[0].steps.is_empty());
}

#[test]
fn discs_on_discs_stand_on_their_pillars() {
    let start = "(on disc1 disc2) (on disc2 pillar1) (clear disc1) (clear pillar2)";
    let next = "(on disc1 pillar2) (on disc2 pillar1) (clear disc1) (clear disc2)";
    let known = evidence(&["player"], &[start, next], &[&["(put disc1 pillar2)"]]);
    let scene = Layout::infer(&known).scene(&terms(start));
    assert_eq!(scene.places().count(), 2);
    let pillar = scene.place("board/pillar1").expect("a pillar is a place");
    let names: Vec<&str> = pillar.pieces.iter().map(|piece| piece.name.as_str()).collect();
    assert_eq!(names, ["disc2", "disc1"]);
}

#[test]
fn a_track_has_a_lane_for_each_role() {
    let start = "(on white 1) (on white 4) (on black 4) (control white)";
    let next = "(on white 2) (on white 4) (on black 5) (on black 3) (control black)";
    let joints: &[&[&str]] = &[&["(go 1)", "(go 4)"], &["(go 2)", "(go 3)"], &["(go 5)", "noop"]];
    let mut known = evidence(&["white", "black"], &[start, next], joints);
    let layout = Layout::infer(&known);
    let scene = layout.scene(&terms(start));
    assert_eq!(scene.places().count(), 10);
    let owner = |place: &str| scene.place(place).and_then(|place| place.pieces.first()?.owner);
    assert_eq!((owner("board/white/4"), owner("board/black/4")), (Some(0), Some(1)));
    assert_eq!((owner("board/white/1"), owner("board/black/1")), (Some(0), None));
    assert!(text(&scene, &TextOptions::default()).contains("white"));
    // With a number of pieces, a hint says that the second number is not a coordinate.
    known.plays[0].states = vec![
        terms("(on white 1 2) (on black 5 1)"),
        terms("(on white 2 1) (on white 3 1) (on black 4 1)"),
    ];
    known.hints = Hints::from_header("; board: track relation=on").expect("the hint is correct");
    let scene = Layout::infer(&known).scene(&terms("(on white 1 2)"));
    let place = scene.place("board/white/1").expect("the place exists");
    assert_eq!((place.pieces[0].count, place.pieces[0].owner), (2, Some(0)));
}

#[test]
fn names_with_numbers_are_amounts() {
    let (start, next) =
        ("(pit p1 s3) (pit p2 s0) (pit p3 s4)", "(pit p1 s0) (pit p2 s1) (pit p3 s6)");
    let known = evidence(&["one"], &[start, next], &[&["(sow p1)"], &["(sow p3)"]]);
    let scene = Layout::infer(&known).scene(&terms(start));
    assert_eq!(scene.boards[0].kind, BoardKind::Stacks);
    let place = scene.place("board/p3").expect("the heap exists");
    assert_eq!(place.pieces[0].count, 4);
    assert!(scene.place("board/p2").is_some_and(|place| place.pieces.is_empty()));
}

#[test]
fn hints_fill_holes_and_mark_places() {
    let start =
        grid(
            4,
            4,
            |x, y| if (x, y) == (2, 3) { String::new() } else { format!("(cell {x} {y} b)") },
        );
    let mut known =
        evidence(&["one"], &[&start, &start.replace("1 1 b", "1 1 car")], &[&["(go 1 1)"]]);
    let shade = |known: &Evidence, place: &str| {
        Layout::infer(known).scene(&terms(&start)).place(place).expect("the place exists").shade
    };
    assert_eq!(shade(&known, "board/2/3"), Shade::Absent);
    known.hints = Hints::from_header("; board: grid holes=no marks=aim").expect("they are correct");
    known.facts = vec!["(aim 4 4)".to_owned()];
    assert_eq!(shade(&known, "board/2/3"), Shade::Plain);
    assert_eq!(shade(&known, "board/4/4"), Shade::Aim);
    let scene = Layout::infer(&known).scene(&terms(&start));
    assert!(text(&scene, &TextOptions::default()).contains('*'));
}

#[test]
fn what_can_hold_beyond_the_board_does_not_take_a_relation_off_it() {
    let start = grid(3, 3, |x, y| format!("(cell {x} {y} b)"))
        + " (at one 1 1) (at two 3 2) (at three 2 2)";
    let next = start.replace("(at one 1 1)", "(at one 1 2)");
    let mut known = evidence(&["one"], &[&start, &next], &[&["(go 1 2)"]]);
    known.fluents = (1..=30).map(|x| format!("(at one {x} 1)")).collect();
    let scene = Layout::infer(&known).scene(&terms(&start));
    assert_eq!(scene.places().count(), 9);
    assert!(scene.place("board/3/2").is_some_and(|place| !place.pieces.is_empty()));
}

#[test]
fn players_face_each_other_also_along_letters() {
    // As in Shogi: files are numbers, ranks are letters.
    let row = |rank: char, role: &str| {
        (1..=5).map(|file| format!("(cell {file} {rank} {role})")).collect::<Vec<_>>().join(" ")
    };
    let start = format!("{} {}", row('a', "white"), row('e', "black"));
    let middle = ('a'..='e').map(|rank| format!("(cell 3 {rank} white)"));
    let middle = middle.collect::<Vec<_>>().join(" ");
    let layout = Layout::infer(&evidence(&["white", "black"], &[&start, &middle], &[]));
    let scene = layout.scene(&terms(&start));
    let y = |rank: char| scene.place(&format!("board/1/{rank}")).expect("a place").y;
    assert!(y('a') > y('e'), "white sits at the bottom");
}

#[test]
fn pieces_have_the_colours_that_their_names_are() {
    let colour = |x: i32, y: i32| match (x, y) {
        (1, 1) => "red",
        (2, 2) => "teal",
        (1, 2) => "white",
        (2, 1) => "black",
        _ => "blank",
    };
    let start = grid(4, 4, |x, y| format!("(cell {x} {y} {})", colour(x, y)));
    let layout = Layout::infer(&evidence(&["player"], &[&start], &[]));
    let scene = layout.scene(&terms(&start));
    let symbol = |place: &str| scene.place(place).expect("a place").pieces[0].symbol;
    // Stones need no letter; other colours keep theirs for people who do not see colours.
    assert_eq!((symbol("board/1/2"), symbol("board/2/1")), (Symbol::Disc, Symbol::Disc));
    assert_eq!(symbol("board/1/1"), Symbol::Text);
    let drawing = svg(&scene, &SvgOptions::default());
    for colour in ["#d62728", "#12868e", "#ffffff", "#222222"] {
        assert!(drawing.contains(&format!("fill=\"{colour}\" stroke")), "{colour}: {drawing}");
    }
}

#[test]
fn a_cross_in_the_colour_of_the_ground_has_an_outline() {
    let start = grid(3, 3, |x, y| format!("(cell {x} {y} b)"));
    let next =
        start.replace("(cell 2 3 b)", "(cell 2 3 x)").replace("(cell 1 1 b)", "(cell 1 1 o)");
    let joints: [&[&str]; 1] = [&["(mark 2 3)", "noop"]];
    let drawing = |roles: &[&str]| {
        let mut known = evidence(roles, &[&start, &next], &joints);
        known.hints = Hints::from_header("; piece x: × white\n; piece o: ◯ black").expect("hints");
        svg(&Layout::infer(&known).scene(&terms(&next)), &SvgOptions::default())
    };
    let lines = |drawing: &str| drawing.matches("stroke-linecap=\"round\"").count();
    assert_eq!(lines(&drawing(&["white", "black"])), 4);
    assert_eq!(lines(&drawing(&["left", "right"])), 2);
}

#[test]
fn a_state_without_facts_says_so() {
    let layout = Layout::infer(&evidence(&["a", "b"], &["", ""], &[&["(guess 1)", "(guess 2)"]]));
    let drawing = svg(&layout.scene(&[]), &SvgOptions::default());
    assert!(drawing.contains("no fact holds"), "{drawing}");
}

#[test]
fn pieces_named_by_another_colour_are_like_their_counterparts() {
    // Men of red are called `wp` and kings `wk`, as in a copied rulesheet.
    let piece = |x: i32, y: i32| match (x, y) {
        (1, 1) => "wp",
        (2, 1) => "wk",
        (1, 3) => "bp",
        (2, 3) => "bk",
        _ => "blank",
    };
    let start = grid(3, 3, |x, y| format!("(cell {x} {y} {})", piece(x, y)));
    let moves: [(&str, &str, &str); 4] = [
        ("wp", "(move wp 1 1 1 2)", "noop"),
        ("bp", "noop", "(move bp 1 3 1 2)"),
        ("wk", "(move wk 2 1 2 2)", "noop"),
        ("bk", "noop", "(move bk 2 3 2 2)"),
    ];
    // Men become kings later.
    let men = start.replace("wk", "wp").replace("bk", "bp");
    let mut states = vec![men, start.clone()];
    let mut joints: Vec<Vec<&str>> = vec![vec!["noop", "noop"]];
    for (piece, red, black) in moves.iter().cycle().take(16) {
        let from = format!(" {piece})");
        // The piece goes to the middle and back.
        let before = states.last().expect("a state").clone();
        let column = if piece.ends_with('p') { 1 } else { 2 };
        let (home, middle) = (if piece.starts_with('w') { 1 } else { 3 }, 2);
        let at_home = format!("(cell {column} {home}{from}");
        let at_middle = format!("(cell {column} {middle}{from}");
        let empty_home = format!("(cell {column} {home} blank)");
        let empty_middle = format!("(cell {column} {middle} blank)");
        let away = before.replace(&at_home, &empty_home).replace(&empty_middle, &at_middle);
        let back = away.replace(&at_middle, &empty_middle).replace(&empty_home, &at_home);
        states.extend([away, back]);
        joints.extend([vec![*red, *black], vec![*red, *black]]);
    }
    let states: Vec<&str> = states.iter().map(String::as_str).collect();
    let joints: Vec<&[&str]> = joints.iter().map(Vec::as_slice).collect();
    let layout = Layout::infer(&evidence(&["red", "black"], &states, &joints));
    let scene = layout.scene(&terms(&start));
    let piece = |place: &str| {
        let piece = &scene.place(place).expect("a place").pieces[0];
        (piece.symbol, piece.owner)
    };
    assert_eq!(piece("board/1/1"), (Symbol::Disc, Some(0)));
    assert_eq!(piece("board/2/1"), (Symbol::CrownedDisc, Some(0)));
    assert_eq!(piece("board/1/3"), (Symbol::Disc, Some(1)));
}
