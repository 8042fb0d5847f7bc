//! Measures the evaluation of formulas on growing boards, and compares it with SQLite:
//! `cargo xtask queries`.
//!
//! A board has n by n cells, and about a third of the cells have a stone. Both programs list all
//! answers and must find the same number. SQLite's tables have all indexes that it can use, and its
//! statements are prepared before the clock starts. The columns of times are:
//!
//! - `cold`: the first evaluation, with empty caches.
//! - `ours`: the evaluation on a board that differs from the previous one in one stone, as in a
//!   game. Results that depend on stones are computed again.
//! - `update`: `Evaluator::update`, which updates the answers after a change of one stone.
//! - `sqlite`: the SQL query.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_structures::evaluate::{Assignment, Evaluator, Limits};
use agon_structures::formula::{Definitions, Formula, Variable};
use agon_structures::structure::{Element, Structure, Vocabulary};
use rusqlite::Connection;

/// A query, as a formula and in SQL.
struct Question {
    name: &'static str,
    formula: Formula,
    columns: Vec<Variable>,
    sql: String,
}

pub(crate) fn run(_: Vec<String>) {
    println!(
        "{:<28} {:>5} {:>9} {:>11} {:>11} {:>11} {:>11} {:>7}",
        "question", "board", "answers", "cold us", "ours us", "update us", "sqlite us", "ratio"
    );
    for side in [5, 10, 19, 30] {
        let board = board(side);
        for question in questions() {
            measure(side, &board, &question);
        }
    }
}

fn vocabulary() -> Arc<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (name, arity) in [("R", 2), ("C", 2), ("P", 1)] {
        vocabulary.add_relation(name, arity).expect("the names differ");
    }
    Arc::new(vocabulary)
}

fn board(side: usize) -> Structure {
    let vocabulary = vocabulary();
    let id = |name| vocabulary.relation(name).expect("it is in the vocabulary");
    let mut board = Structure::new(vocabulary.clone());
    let cells: Vec<Element> = (0..side * side)
        .map(|_| board.create(None).expect("the board has fewer cells than there are ids"))
        .collect();
    // A fixed linear congruential generator: the same stones in every run.
    let mut state = 0x1234_5678_u64;
    for row in 0..side {
        for column in 0..side {
            let cell = cells[row * side + column];
            if column + 1 < side {
                board.add(id("R"), &[cell, cells[row * side + column + 1]]).expect("cells exist");
            }
            if row + 1 < side {
                board.add(id("C"), &[cell, cells[(row + 1) * side + column]]).expect("cells exist");
            }
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            if (state >> 33).is_multiple_of(3) {
                board.add(id("P"), &[cell]).expect("cells exist");
            }
        }
    }
    board
}

fn definitions() -> Definitions {
    let [x, y, z] = ["x", "y", "z"].map(Variable::new);
    let mut definitions = Definitions::new();
    let down = Formula::And(vec![Formula::atom("R", [&x, &z]), Formula::atom("C", [&z, &y])]);
    definitions
        .add("DiagA", vec![x.clone(), y.clone()], Formula::exists([&z], down))
        .expect("the definition is correct");
    let up = Formula::And(vec![Formula::atom("R", [&x, &z]), Formula::atom("C", [&y, &z])]);
    definitions
        .add("DiagB", vec![x, y], Formula::exists([&z], up))
        .expect("the definition is correct");
    definitions
}

fn questions() -> Vec<Question> {
    let [x, y, z] = ["x", "y", "z"].map(Variable::new);
    let row: Vec<Variable> = (1..=5).map(|number| Variable::new(&format!("v{number}"))).collect();
    let stones = |variables: &[Variable]| -> Vec<Formula> {
        variables.iter().map(|variable| Formula::atom("P", [variable])).collect()
    };
    let chain = |relation: &str, variables: &[Variable]| -> Vec<Formula> {
        variables.windows(2).map(|pair| Formula::atom(relation, pair)).collect()
    };
    let five = |relation: &str| Formula::And([stones(&row), chain(relation, &row)].concat());
    let five_sql = |relation: &str| {
        format!(
            "SELECT p1.a, p2.a, p3.a, p4.a, p5.a \
             FROM P p1, {relation} r1, P p2, {relation} r2, P p3, \
             {relation} r3, P p4, {relation} r4, P p5 \
             WHERE r1.a = p1.a AND r1.b = p2.a AND r2.a = p2.a AND r2.b = p3.a \
             AND r3.a = p3.a AND r3.b = p4.a AND r4.a = p4.a AND r4.b = p5.a"
        )
    };
    let step = Formula::Or(vec![Formula::atom("R", [&x, &y]), Formula::atom("C", [&x, &y])]);
    let lonely = Formula::And(vec![
        Formula::atom("P", [&x]),
        Formula::all(
            [&y],
            Formula::Or(vec![Formula::not(step.clone()), Formula::not(Formula::atom("P", [&y]))]),
        ),
    ]);
    let three = Formula::And(
        [
            stones(&[x.clone(), y.clone(), z.clone()]),
            chain("R", &[x.clone(), y.clone(), z.clone()]),
        ]
        .concat(),
    );
    let steps = "SELECT a, b FROM R UNION ALL SELECT a, b FROM C";
    let directions = ["R", "C", "DiagA", "DiagB"];
    vec![
        Question {
            name: "3 variables: three in a row",
            formula: three,
            columns: vec![x.clone(), y.clone(), z],
            sql: "SELECT p1.a, p2.a, p3.a FROM P p1, R r1, P p2, R r2, P p3 \
                  WHERE r1.a = p1.a AND r1.b = p2.a AND r2.a = p2.a AND r2.b = p3.a"
                .into(),
        },
        Question {
            name: "2 variables: lonely stones",
            formula: lonely,
            columns: vec![x.clone()],
            sql: format!(
                "SELECT a FROM P WHERE NOT EXISTS \
                 (SELECT 1 FROM ({steps}) s, P q WHERE s.a = P.a AND q.a = s.b)"
            ),
        },
        Question {
            name: "5 variables: five in a line",
            formula: Formula::Or(directions.map(five).to_vec()),
            columns: row,
            sql: directions.map(five_sql).join(" UNION "),
        },
        Question {
            name: "tc: right or down",
            formula: Formula::closure(None, x.clone(), y.clone(), step),
            columns: vec![x, y],
            sql: format!(
                "WITH RECURSIVE t(a, b) AS (SELECT a, a FROM E UNION \
                 SELECT t.a, s.b FROM t, ({steps}) s WHERE s.a = t.b) \
                 SELECT a, b FROM t"
            ),
        },
    ]
}

fn measure(side: usize, board: &Structure, question: &Question) {
    let definitions = Arc::new(definitions());
    let mut evaluator = Evaluator::new(board.vocabulary().clone(), definitions, Limits::default());
    let query =
        evaluator.formula(&question.formula, &question.columns).expect("the query is correct");
    let boards = [board.clone(), toggled(board)];
    let start = Instant::now();
    let answers = evaluator.solve(query, board, &Assignment::new()).expect("it is within limits");
    let cold = start.elapsed();
    let n_answers = answers.len();
    let mut turn = 0;
    let ours = repeated(|| {
        turn += 1;
        black_box(
            evaluator
                .solve(query, &boards[turn % 2], &Assignment::new())
                .expect("it is within limits"),
        );
    });
    let mut solutions = evaluator.solutions(query, board).expect("it is within limits");
    let updated = repeated(|| {
        turn += 1;
        let board = &boards[turn % 2];
        let next = evaluator.update(query, &solutions, board).expect("it is within limits");
        solutions =
            next.unwrap_or_else(|| evaluator.solutions(query, board).expect("it is within limits"));
        black_box(&solutions);
    });
    let database = database(board);
    let mut statement = database.prepare(&question.sql).expect("the SQL is correct");
    let count = |statement: &mut rusqlite::Statement<'_>| {
        let mut rows = statement.query([]).expect("the query runs");
        let (mut n_rows, mut sum) = (0, 0i64);
        while let Some(row) = rows.next().expect("rows are readable") {
            sum += row.get::<_, i64>(0).expect("cells are numbers");
            n_rows += 1;
        }
        black_box(sum);
        n_rows
    };
    assert_eq!(count(&mut statement), n_answers, "{} on {side}", question.name);
    let sqlite = repeated(|| {
        black_box(count(&mut statement));
    });
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!(
        "{:<28} {:>5} {:>9} {:>11.1} {:>11.1} {:>11.1} {:>11.1} {:>7.1}",
        question.name,
        format!("{side}x{side}"),
        n_answers,
        micros(cold),
        micros(ours),
        micros(updated),
        micros(sqlite),
        micros(sqlite) / micros(ours)
    );
}

/// Returns the board with one stone more or less.
fn toggled(board: &Structure) -> Structure {
    let mut other = board.clone();
    let stone = board.vocabulary().relation("P").expect("it is in the vocabulary");
    let cell = other.elements().nth(other.n_elements() / 2).expect("the board has cells");
    if !other.remove(stone, &[cell]) {
        other.add(stone, &[cell]).expect("the cell exists");
    }
    other
}

/// Returns the shortest mean time of `once` over several rounds of at least 20 ms each.
fn repeated(mut once: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let mut n_times = 0;
        while start.elapsed() < Duration::from_millis(20) {
            once();
            n_times += 1;
        }
        best = best.min(start.elapsed() / n_times);
    }
    best
}

fn database(board: &Structure) -> Connection {
    let database = Connection::open_in_memory().expect("there is enough memory");
    let mut script = String::from(
        "CREATE TABLE E (a INTEGER PRIMARY KEY); CREATE TABLE P (a INTEGER PRIMARY KEY);
         CREATE TABLE R (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
         CREATE TABLE C (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
         CREATE TABLE DiagA (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
         CREATE TABLE DiagB (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;",
    );
    for element in board.elements() {
        script.push_str(&format!("INSERT INTO E VALUES ({});", element.id()));
    }
    for name in ["P", "R", "C"] {
        let relation = board.vocabulary().relation(name).expect("it is in the vocabulary");
        for tuple in board.tuples(relation).iter() {
            let ids: Vec<String> = tuple.iter().map(|element| element.id().to_string()).collect();
            script.push_str(&format!("INSERT INTO {name} VALUES ({});", ids.join(",")));
        }
    }
    script.push_str(
        "INSERT INTO DiagA SELECT R.a, C.b FROM R, C WHERE R.b = C.a;
         INSERT INTO DiagB SELECT R.a, C.a FROM R, C WHERE R.b = C.b;
         CREATE INDEX rb ON R (b, a); CREATE INDEX cb ON C (b, a);
         CREATE INDEX ab ON DiagA (b, a); CREATE INDEX bb ON DiagB (b, a); ANALYZE;",
    );
    database.execute_batch(&format!("BEGIN; {script} COMMIT;")).expect("the script is correct");
    database
}
