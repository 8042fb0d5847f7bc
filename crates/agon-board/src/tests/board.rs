//! Boards that are found in states.

use crate::{Board, Picture};

fn states(texts: &[&[&str]]) -> Vec<Vec<String>> {
    texts.iter().map(|state| state.iter().map(|fluent| (*fluent).to_owned()).collect()).collect()
}

fn drawn(picture: &Picture) -> Vec<String> {
    let cell = |cell: &String| if cell.is_empty() { ".".to_owned() } else { cell.clone() };
    picture
        .rows
        .iter()
        .map(|(name, cells)| format!("{name} {}", cells.iter().map(cell).collect::<String>()))
        .collect()
}

#[test]
fn a_relation_with_two_coordinates_is_a_board() {
    let samples = states(&[
        &["(cell 1 1 b)", "(cell 1 2 b)", "(cell 2 1 b)", "(cell 2 2 b)", "(control white)"],
        &["(cell 1 1 x)", "(cell 1 2 o)", "(cell 2 1 b)", "(cell 2 2 b)", "(control black)"],
    ]);
    let picture = Board::infer(&samples, &[]).expect("there is a board").picture(&samples[1]);
    assert_eq!(drawn(&picture), ["2 o.", "1 x."]);
    assert_eq!(picture.columns, ["1", "2"]);
    assert_eq!(picture.rest, ["(control black)"]);
}

#[test]
fn labels_are_unique_prefixes_and_gaps_are_filled() {
    let samples = states(&[
        &["(piece a 1 white king)", "(piece a 2 white knight)", "(piece c 1 black king)"],
        &["(piece b 1 white king)", "(piece b 2 white knight)", "(piece c 2 black king)"],
    ]);
    let board = Board::infer(&samples, &[]).expect("there is a board");
    assert_eq!(drawn(&board.picture(&samples[0])), ["2 wkn..", "1 wki.bki"]);
    assert!(
        board.legend().contains(&("kn".to_owned(), "knight".to_owned())),
        "{:?}",
        board.legend()
    );
}

#[test]
fn a_chain_of_names_is_an_axis_and_letters_are_columns() {
    let chain = ["low", "mid", "high"].map(str::to_owned).to_vec();
    let samples = states(&[&["(at low a p)", "(at high a p)", "(at low c q)", "(at mid b q)"]]);
    let board = Board::infer(&samples, &[chain]).expect("there is a board");
    assert_eq!(drawn(&board.picture(&samples[0])), ["high p..", "mid .q.", "low p.q"]);
    assert!(
        Board::infer(&samples, &[]).is_none(),
        "without an order of the names there is no board"
    );
}

#[test]
fn counters_are_not_boards() {
    for sample in [
        states(&[
            &["(heap 1 5)", "(heap 2 5)", "(heap 3 4)"],
            &["(heap 1 4)", "(heap 2 5)", "(heap 3 4)"],
        ]),
        states(&[
            &["(score left 0)", "(score right 10)"],
            &["(score left 10)", "(score right 10)"],
        ]),
        states(&[&["(coins x 4)", "(coins o 4)"], &["(coins x 3)", "(coins o 5)"]]),
        states(&[&[]]),
        Vec::new(),
    ] {
        assert!(Board::infer(&sample, &[]).is_none(), "{sample:?}");
    }
}

#[test]
fn other_relations_are_drawn_on_the_board() {
    let samples = states(&[&[
        "(seen 1 1)",
        "(seen 1 2)",
        "(seen 2 1)",
        "(seen 2 2)",
        "(horse 2 1)",
        "(heights 1 2)",
        "(heights 2 2)",
    ]]);
    let board = Board::infer(&samples, &[]).expect("there is a board");
    let picture = board.picture(&samples[0]);
    assert_eq!(drawn(&picture), ["2 ##", "1 #H"]);
    assert_eq!(picture.rest, ["(heights 1 2)", "(heights 2 2)"]);
}

#[test]
fn named_places_are_drawn() {
    let names: Vec<String> =
        (1..=2).flat_map(|row| ["a", "b", "c"].map(|column| format!("{column}{row}"))).collect();
    let board =
        Board::of_named_places(names.iter().map(String::as_str)).expect("the names are places");
    let state = ["(K c1)", "(P a2)", "(W c1)", "(location 0)"].map(str::to_owned);
    let picture = board.picture(&state);
    assert_eq!(picture.columns, ["a", "b", "c"]);
    let row = |name: &str, cells: [&str; 3]| (name.to_owned(), cells.map(str::to_owned).to_vec());
    assert_eq!(picture.rows, [row("2", ["P", "", ""]), row("1", ["", "", "K+W"])]);
    assert_eq!(picture.rest, ["(location 0)"]);
    assert!(Board::of_named_places(["a1", "b"]).is_none());
}
