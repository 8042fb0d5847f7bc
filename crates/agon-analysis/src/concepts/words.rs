//! Descriptions of concepts in words.
//!
//! Directions follow the drawn board, if it is known ([`Drawing`]). Otherwise two numbers are read
//! as a row and a column, as in the paper.

use super::concept::{Column, Concept};
use super::fact::{Fact, Orders};

/// Where facts are drawn: to the right and downwards, in any unit. `None` for facts that are not
/// drawn on a board.
pub type Drawing<'d> = dyn Fn(&str) -> Option<(f64, f64)> + 'd;

/// A step of a concept: cells to the right and downwards.
type Step = (i64, i64);

/// The directions in which the numbers of a fact grow on a board: by argument, cells to the right
/// and downwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Axes {
    steps: Vec<Option<Step>>,
    /// By argument: whether its symbols are colours or marks of players. `None` if the facts are
    /// not known.
    are_colours: Option<Vec<bool>>,
}

/// Symbols that say whose a piece is.
const COLOURS: [&str; 10] =
    ["white", "black", "red", "yellow", "blue", "green", "x", "o", "xplayer", "oplayer"];

/// Names of facts that are things whatever their arguments are.
const THINGS: [&str; 16] = [
    "piece", "stone", "disc", "pawn", "knight", "bishop", "rook", "queen", "king", "peg", "token",
    "tile", "box", "pit", "mine", "hole",
];

/// Names of facts that say where or whose a thing is, and not what it is.
const LITTLE_WORDS: [&str; 10] =
    ["on", "at", "in", "is", "has", "of", "holds", "owns", "owner", "occupied"];

impl Axes {
    /// Finds the directions of the arguments of facts on a drawn board. Two facts that differ in one
    /// argument by one show where it leads. Symbols in `orders` count as numbers.
    pub(crate) fn of_facts(
        facts: &[String],
        orders: &Orders,
        drawing: &Drawing<'_>,
    ) -> Option<Axes> {
        let parsed: Vec<(Fact, (f64, f64))> = facts
            .iter()
            .filter_map(|text| Some((Fact::parse_ordered(text, orders), drawing(text)?)))
            .collect();
        let n = parsed.first()?.0.arguments.len();
        let mut axes = vec![None; n];
        for (argument, axis) in axes.iter_mut().enumerate() {
            'pairs: for (a, from) in &parsed {
                for (b, to) in &parsed {
                    let (Some(Some(x)), Some(Some(y))) =
                        (a.ranks.get(argument), b.ranks.get(argument))
                    else {
                        continue;
                    };
                    let others_agree = (0..n.min(b.ranks.len()))
                        .filter(|&i| i != argument)
                        .all(|i| a.ranks[i].is_none() || a.ranks[i] == b.ranks[i]);
                    if *y == *x + 1 && others_agree {
                        let sign = |d: f64| if d.abs() < 1e-6 { 0 } else { d.signum() as i64 };
                        *axis = Some((sign(to.0 - from.0), sign(to.1 - from.1)));
                        break 'pairs;
                    }
                }
            }
        }
        let is_colour = |argument: usize| {
            let symbols = parsed.iter().filter_map(|(fact, _)| fact.arguments.get(argument));
            symbols.into_iter().all(|symbol| COLOURS.contains(&symbol.as_str()))
        };
        let are_colours = Some((0..n).map(is_colour).collect());
        let is_drawn = axes.iter().flatten().any(|&step| step != (0, 0));
        is_drawn.then_some(Axes { steps: axes, are_colours })
    }

    /// Reads the first of two numbers as a row and the second as a column.
    fn of_paper(concept: &Concept) -> Axes {
        let is_number = |column: &Column| matches!(column, Column::Offsets(_));
        let numbers: Vec<usize> =
            (0..concept.columns.len()).filter(|&at| is_number(&concept.columns[at])).collect();
        let mut axes = vec![None; concept.columns.len()];
        if let [row, column] = numbers[..] {
            axes[row] = Some((0, 1));
            axes[column] = Some((1, 0));
        }
        Axes { steps: axes, are_colours: None }
    }

    /// Returns whether the symbols of an argument are colours, as far as is known.
    fn is_colour(&self, argument: usize) -> bool {
        self.are_colours.as_ref().is_none_or(|are| are.get(argument) == Some(&true))
    }

    /// Returns the step from the first fact of a concept to another. `None` if a number does not
    /// lead to another place.
    fn step(&self, concept: &Concept, fact: usize) -> Option<Step> {
        let mut sum = (0, 0);
        for (at, column) in concept.columns.iter().enumerate() {
            if let Column::Offsets(offsets) = column {
                let (right, down) = self.steps.get(at).copied().flatten()?;
                sum.0 += right * offsets[fact];
                sum.1 += down * offsets[fact];
            }
        }
        Some(sum)
    }
}

/// Describes a concept in words. `axes` are the directions of the drawn board, if they are known.
pub(super) fn sentence(concept: &Concept, axes: Option<&Axes>) -> String {
    match parts(concept, axes) {
        (what, place) if place.is_empty() => what,
        (what, place) => format!("{what} {place}"),
    }
}

/// Describes a concept in two parts: what its facts are, and how the second lies to the first. The
/// second part is empty if the description cannot be divided.
pub(super) fn parts(concept: &Concept, axes: Option<&Axes>) -> (String, String) {
    let paper = Axes::of_paper(concept);
    let axes = axes.unwrap_or(&paper);
    let steps: Option<Vec<Step>> =
        (1..concept.n_facts).map(|fact| axes.step(concept, fact)).collect();
    let is_place = matches!(
        concept.name.as_str(),
        "cell" | "square" | "field" | "place" | "location" | "position" | "board"
    );
    match steps {
        Some(steps) if !is_place => pieces(concept, &steps, axes),
        steps => places(concept, steps.as_deref()),
    }
}

/// Describes pieces: "two discs of one colour, one on top of the other".
fn pieces(concept: &Concept, steps: &[Step], axes: &Axes) -> (String, String) {
    let name = &concept.name;
    let number = if concept.n_facts == 2 { "two" } else { "three" };
    let content = |column: &Column| !matches!(column, Column::Offsets(_));
    let is_colour = |(at, column): (usize, &Column)| !content(column) || axes.is_colour(at);
    let are_colours = concept.columns.iter().enumerate().all(is_colour);
    // Whatever has a colour is a thing. Other names may be anything, such as "visited".
    let has_content = concept.columns.iter().any(content);
    let is_thing = (has_content && are_colours && !LITTLE_WORDS.contains(&name.as_str()))
        || THINGS.contains(&name.as_str());
    let plural = match (is_thing, name.ends_with('s')) {
        (true, true) => name.clone(),
        (true, false) => match name.strip_suffix("man") {
            Some(rest) => format!("{rest}men"),
            None if name.ends_with('x') => format!("{name}es"),
            None => format!("{name}s"),
        },
        (false, _) => format!("facts ({name} …)"),
    };
    let contents: Vec<&Column> =
        concept.columns.iter().filter(|column| !matches!(column, Column::Offsets(_))).collect();
    let whole = |text: String| (text, String::new());
    let [first, rest @ ..] = steps else { return whole(format!("{number} {plural}")) };
    match contents.as_slice() {
        [Column::Symbols(symbols)] if are_colours && is_thing => {
            let mut text = format!("a {name} of {}", symbols[0]);
            for (step, symbol) in steps.iter().zip(&symbols[1..]) {
                text.push_str(&format!(" and, {}, one of {symbol}", relative(*step)));
            }
            whole(text)
        }
        contents => {
            let alike =
                kinds(concept, axes).unwrap_or_else(|| likeness(concept, contents, are_colours));
            whole(match rest {
                [] => return (format!("{number} {plural}{alike},"), mutual(*first)),
                [second, ..] if second.0 == 2 * first.0 && second.1 == 2 * first.1 => {
                    let line = match first {
                        (_, 0) => "side by side",
                        (0, _) => "one above the other",
                        (a, b) if a == b => "on a diagonal that falls to the right",
                        (a, b) if *a == -b => "on a diagonal that rises to the right",
                        _ => "on a line",
                    };
                    format!("three {plural}{alike} in a row, {line}")
                }
                [second, ..] => format!(
                    "three {plural}{alike}: the second {}, the third {}",
                    relative_to(*first, "the first"),
                    relative_to(*second, "the first")
                ),
            })
        }
    }
}

/// Says whose and of what kind pieces are that have a colour and a kind, such as those of chess.
/// `None` if their arguments are others.
fn kinds(concept: &Concept, axes: &Axes) -> Option<String> {
    // Only a drawn board tells which symbols are colours.
    let are_colours = axes.are_colours.as_ref()?;
    let contents = concept.columns.iter().enumerate();
    let contents: Vec<(usize, &Column)> =
        contents.filter(|(_, column)| !matches!(column, Column::Offsets(_))).collect();
    let [(a, first), (b, second)] = contents.as_slice() else { return None };
    let (colour, kind) = match (are_colours.get(*a)?, are_colours.get(*b)?) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        (true, true) | (false, false) => return None,
    };
    Some(match (colour, kind) {
        (Column::Symbols(colours), Column::Symbols(kinds)) => {
            let pieces = colours.iter().zip(kinds).map(|(colour, kind)| format!("{colour} {kind}"));
            format!(" ({})", and(&pieces.collect::<Vec<_>>()))
        }
        (Column::Symbols(colours), Column::Same) => {
            let owners: Vec<String> = colours.iter().map(|of| format!("one of {of}")).collect();
            format!(" of one kind, {}", and(&owners))
        }
        (Column::Same, Column::Symbols(kinds)) => format!(" of one colour ({})", and(kinds)),
        (Column::Same, Column::Same) => " that are alike".to_owned(),
        (Column::Offsets(_), _) | (_, Column::Offsets(_)) => return None,
    })
}

/// Joins texts with commas and a final "and".
fn and(texts: &[String]) -> String {
    match texts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        texts => texts.concat(),
    }
}

/// Says in what pieces with one or several other arguments are alike.
fn likeness(concept: &Concept, contents: &[&Column], are_colours: bool) -> String {
    match contents {
        [] => return String::new(),
        [Column::Same] if are_colours => return " of one colour".to_owned(),
        contents if contents.iter().all(|column| **column == Column::Same) => {
            return " that are alike".to_owned();
        }
        _ => {}
    }
    let numbered = concept.columns.iter().enumerate();
    let parts: Vec<String> = numbered
        .filter_map(|(at, column)| match column {
            Column::Offsets(_) => None,
            Column::Same => Some(format!("the same argument {}", at + 1)),
            Column::Symbols(symbols) => {
                Some(format!("{} in argument {}", symbols.join(" and "), at + 1))
            }
        })
        .collect();
    format!(" with {}", parts.join(" and "))
}

/// Describes how two pieces lie to each other.
fn mutual(step: Step) -> String {
    match step {
        (0, 0) => "in one place".to_owned(),
        (0, 1 | -1) => "one on top of the other".to_owned(),
        (1 | -1, 0) => "side by side".to_owned(),
        (1 | -1, 1 | -1) => "diagonally next to each other".to_owned(),
        (0, n) => format!("one {} above the other", n.abs()),
        (n, 0) => format!("{} apart in one row", n.abs()),
        (a, b) if a.abs() == b.abs() => format!("{} apart on a diagonal", a.abs()),
        (a, b) => format!("{} and {} apart", count(a.abs(), "column"), count(b.abs(), "row")),
    }
}

/// Writes a number of things: "1 row", "2 rows".
fn count(n: i64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Describes where a piece lies, seen from another.
fn relative(step: Step) -> String {
    relative_to(step, "it")
}

/// Describes where a piece lies, seen from another that has a name.
fn relative_to((right, down): Step, it: &str) -> String {
    let vertical = |down: i64| if down > 0 { "below" } else { "above" };
    let side = if right > 0 { "right" } else { "left" };
    match (right, down) {
        (0, 0) => "in the same place".to_owned(),
        (0, 1) => format!("directly below {it}"),
        (0, -1) => format!("on top of {it}"),
        (0, n) => format!("{} {} {it}", n.abs(), vertical(n)),
        (1 | -1, 0) => format!("to the {side} of {it}"),
        (n, 0) => format!("{} to the {side} of {it}", n.abs()),
        (a, b) if a.abs() == 1 && b.abs() == 1 => {
            format!("diagonally {} {it} to the {side}", vertical(b))
        }
        (a, b) if a.abs() == b.abs() => {
            format!("{} diagonally {} {it} to the {side}", a.abs(), vertical(b))
        }
        (a, b) => format!("{} {} {it} and {} to the {side}", b.abs(), vertical(b), a.abs()),
    }
}

/// Describes places and what they hold: "a cell holds the same mark as its right neighbour".
fn places(concept: &Concept, steps: Option<&[Step]>) -> (String, String) {
    let name = &concept.name;
    let n_symbols = concept.columns.iter().filter(|c| matches!(c, Column::Symbols(_))).count();
    let is_named_by_symbols =
        n_symbols == 1 && !concept.columns.contains(&Column::Same) && are_equal(concept);
    let Some(steps) = steps.or(if is_named_by_symbols { Some(&[]) } else { None }) else {
        return (pattern(concept), String::new());
    };
    let places: Vec<String> = steps.iter().map(|&step| direction(name, step)).collect();
    let symbols: Vec<&Column> =
        concept.columns.iter().filter(|column| !matches!(column, Column::Offsets(_))).collect();
    let all = match places.as_slice() {
        [one] => format!("a {name} and {one}"),
        [one, two] => format!("a {name}, {one} and {two}"),
        _ => format!("a {name}"),
    };
    let text = match symbols.as_slice() {
        [] => format!("facts ({name} …) together: one and {}", places.join(" and ")),
        [Column::Same] => match places.as_slice() {
            [one] => return (format!("a {name} holds the same mark as"), one.clone()),
            _ => format!("{all} hold the same mark"),
        },
        // Nothing but the symbol tells the facts apart, so it is their name.
        [Column::Symbols(marks)] if are_equal(concept) => {
            let named: Vec<String> = marks.iter().map(|mark| format!("{name} {mark}")).collect();
            format!("{} have the same number", named.join(" and "))
        }
        [Column::Symbols(marks)] => {
            let mut text = format!("a {name} holds {}", marks[0]);
            for (place, mark) in places.iter().zip(&marks[1..]) {
                text.push_str(&format!(" and {place} holds {mark}"));
            }
            text
        }
        several => {
            let alike = likeness(concept, several, false);
            format!("facts ({name} …){alike} together: one and {}", places.join(" and "))
        }
    };
    (text, String::new())
}

/// Returns whether the facts of a concept have the same numbers, and at least one.
fn are_equal(concept: &Concept) -> bool {
    let offsets: Vec<_> = concept
        .columns
        .iter()
        .filter_map(|column| match column {
            Column::Offsets(offsets) => Some(offsets),
            Column::Same | Column::Symbols(_) => None,
        })
        .collect();
    !offsets.is_empty() && offsets.into_iter().flatten().all(|&offset| offset == 0)
}

/// Writes the facts of a concept that lie on no board: "(chips second x) and (chips first x+2)".
fn pattern(concept: &Concept) -> String {
    let facts = (0..concept.n_facts).map(|fact| {
        let (mut numbers, mut others) = (["x", "y", "z", "u", "v", "w"].iter().cycle(), 0);
        let arguments = concept.columns.iter().map(|column| match column {
            Column::Offsets(offsets) => {
                let letter = numbers.next().expect("a cycle does not end");
                match offsets[fact] {
                    0 => (*letter).to_owned(),
                    offset => format!("{letter}{offset:+}"),
                }
            }
            Column::Same => {
                others += 1;
                format!("A{others}")
            }
            Column::Symbols(symbols) => symbols[fact].clone(),
        });
        let arguments: Vec<String> = arguments.collect();
        format!("({} {})", concept.name, arguments.join(" "))
    });
    let facts: Vec<String> = facts.collect();
    match facts.as_slice() {
        [first @ .., last] => format!("{} and {last} together", first.join(", ")),
        [] => concept.name.clone(),
    }
}

/// Describes the place that is a step away.
fn direction(name: &str, (right, down): Step) -> String {
    let vertical = if down > 0 { "lower" } else { "upper" };
    let side = if right > 0 { "right" } else { "left" };
    match (down, right) {
        (0, 0) => format!("another {name} in the same place"),
        (0, 1 | -1) => format!("its {side} neighbour"),
        (0, n) => format!("the {name} {} to the {side}", n.abs()),
        (1, 0) => "its neighbour below".to_owned(),
        (-1, 0) => "its neighbour above".to_owned(),
        (n, 0) => format!("the {name} {} {}", n.abs(), if n > 0 { "below" } else { "above" }),
        (1 | -1, 1 | -1) => format!("its {vertical} {side} neighbour"),
        (a, b) if a.abs() == b.abs() => format!("the {name} {} to the {vertical} {side}", a.abs()),
        (a, b) => format!(
            "the {name} {} {} and {} to the {side}",
            a.abs(),
            if a > 0 { "down" } else { "up" },
            b.abs()
        ),
    }
}
