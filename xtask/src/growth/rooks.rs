//! A game that exists in every size: rooks on a board of n by n cells.

use std::fmt::Write as _;

/// Returns the rules of Rooks on a board of `n` by `n` cells, where `n` is at least 4.
///
/// Each player has two rows of rooks. A rook slides over empty cells along a row or column, and may
/// capture the first rook of the other player in its way. A player wins with four rooks in a
/// column, or with a rook on the other player's home row. After 100 turns, the game is a draw.
/// There are about 4 n³ moves, and the gates for paths, captures and lines grow alike.
pub(crate) fn rooks(n: usize) -> String {
    assert!(n >= 4, "two rows each");
    let mut text = format!(";; Rooks on {n} by {n} cells.\n(role white)\n(role black)\n");
    for i in 1..n {
        writeln!(text, "(next_to {i} {})", i + 1).expect("writing to a string does not fail");
    }
    for turn in 1..=100 {
        writeln!(text, "(turn {turn} {})", turn + 1).expect("writing to a string does not fail");
    }
    for x in 1..=n {
        for y in 1..=n {
            let holder = if y <= 2 {
                "white"
            } else if y > n - 2 {
                "black"
            } else {
                "empty"
            };
            writeln!(text, "(init (cell {x} {y} {holder}))")
                .expect("writing to a string does not fail");
        }
    }
    writeln!(text, "(home white 1)\n(home black {n})").expect("writing to a string does not fail");
    text.push_str(RULES);
    text
}

const RULES: &str = "\
(init (control white))
(init (now 1))

(other white black)
(other black white)

(<= (index ?x) (next_to ?x ?y))
(<= (index ?y) (next_to ?x ?y))

(<= (beside east ?x ?y ?u ?y) (next_to ?x ?u) (index ?y))
(<= (beside west ?u ?y ?x ?y) (next_to ?x ?u) (index ?y))
(<= (beside north ?x ?y ?x ?v) (next_to ?y ?v) (index ?x))
(<= (beside south ?x ?v ?x ?y) (next_to ?y ?v) (index ?x))

;; From (?x ?y) a rook comes as far as (?u ?v) without meeting another before.
(<= (way ?x ?y ?d ?u ?v)
    (beside ?d ?x ?y ?u ?v))
(<= (way ?x ?y ?d ?u ?v)
    (way ?x ?y ?d ?a ?b)
    (true (cell ?a ?b empty))
    (beside ?d ?a ?b ?u ?v))

(<= (legal ?p (slide ?x ?y ?u ?v))
    (true (control ?p))
    (true (cell ?x ?y ?p))
    (way ?x ?y ?d ?u ?v)
    (not (true (cell ?u ?v ?p))))
(<= (legal ?p noop)
    (other ?p ?mover)
    (true (control ?mover)))
(<= (legal ?p rest)
    (true (control ?p))
    (not (can_slide ?p)))
(<= (can_slide ?p)
    (true (cell ?x ?y ?p))
    (beside ?d ?x ?y ?u ?v)
    (not (true (cell ?u ?v ?p))))

(<= (touched ?x ?y) (does ?p (slide ?x ?y ?u ?v)))
(<= (touched ?u ?v) (does ?p (slide ?x ?y ?u ?v)))

(<= (next (cell ?u ?v ?p)) (does ?p (slide ?x ?y ?u ?v)))
(<= (next (cell ?x ?y empty)) (does ?p (slide ?x ?y ?u ?v)))
(<= (next (cell ?x ?y ?holder))
    (true (cell ?x ?y ?holder))
    (not (touched ?x ?y)))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= (next (now ?later)) (true (now ?turn)) (turn ?turn ?later))

(<= (line ?p)
    (role ?p)
    (true (cell ?x ?a ?p))
    (next_to ?a ?b)
    (true (cell ?x ?b ?p))
    (next_to ?b ?c)
    (true (cell ?x ?c ?p))
    (next_to ?c ?d)
    (true (cell ?x ?d ?p)))
(<= (arrived ?p)
    (other ?p ?q)
    (home ?q ?y)
    (true (cell ?x ?y ?p)))

(<= (wins ?p) (line ?p))
(<= (wins ?p) (arrived ?p))
(<= decided (wins ?p))

(<= terminal decided)
(<= terminal (true (now 101)))

;; Only the one who has moved last can have won.
(<= (goal ?p 100) (wins ?p))
(<= (goal ?q 0) (wins ?p) (other ?p ?q))
(<= (goal ?p 50) (role ?p) (not decided))
";
