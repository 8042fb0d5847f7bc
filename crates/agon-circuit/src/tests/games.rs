//! Small games built by hand in the way of a grounder, with frame axioms.

// An example includes this file, too, and uses one of its games.
#![allow(unreachable_pub, dead_code)]

use agon_circuit::{Builder, Circuit, CircuitRole, Outputs, Signal};

fn role(name: &str, moves: Vec<String>) -> CircuitRole {
    CircuitRole { name: name.into(), moves, is_nature: false }
}

/// Returns tic-tac-toe: `cell i b`, `cell i x`, `cell i o` for nine cells, then the control tokens.
/// Move 9 is to wait.
pub fn tic_tac_toe() -> Circuit {
    let moves = || (0..9).map(|cell| format!("mark {cell}")).chain(["wait".to_owned()]).collect();
    let mut base = Vec::new();
    for cell in 0..9 {
        base.extend(["b", "x", "o"].map(|mark| (format!("cell {cell} {mark}"), mark == "b")));
    }
    base.extend([("control x".to_owned(), true), ("control o".to_owned(), false)]);
    let mut b = Builder::new(vec![role("x", moves()), role("o", moves())], base);
    let control = [b.base(27), b.base(28)];

    let mut next = Vec::new();
    let mut legal = vec![Vec::new(), Vec::new()];
    for cell in 0..9 {
        let blank = b.base(3 * cell);
        for player in 0..2 {
            let may = b.and(blank, control[player]);
            legal[player].push(may);
        }
        // next(cell n M) <= does(R, mark m), m != n, true(cell n M); and marks stay where they are.
        let others: Vec<Signal> = (0..2)
            .flat_map(|player| {
                (0..9).filter(move |&other| other != cell).map(move |other| (player, other))
            })
            .map(|(player, other)| b.input(player, other))
            .collect();
        let frame: Vec<Signal> = others.iter().map(|&does| b.and(does, blank)).collect();
        next.push(b.or_all(&frame));
        for player in 0..2 {
            let mark = b.base(3 * cell + 1 + player);
            let does = b.input(player, cell);
            let makes = b.and(does, blank);
            next.push(b.or(makes, mark));
        }
    }
    next.extend([control[1], control[0]]);
    legal[0].push(control[1]);
    legal[1].push(control[0]);

    let lines =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    let line = |b: &mut Builder, player: usize| {
        let rows: Vec<Signal> = lines
            .iter()
            .map(|row| b.and_all(&row.map(|cell| b.base(3 * cell + 1 + player))))
            .collect();
        b.or_all(&rows)
    };
    let [x, o] = [line(&mut b, 0), line(&mut b, 1)];
    let blanks: Vec<Signal> = (0..9).map(|cell| b.base(3 * cell)).collect();
    let open = b.or_all(&blanks);
    let draw = b.and(!x, !o);
    let terminal = b.or_all(&[x, o, !open]);
    let goals = vec![vec![(0, o), (50, draw), (100, x)], vec![(0, x), (50, draw), (100, o)]];
    b.finish(Outputs {
        legal,
        next,
        terminal,
        goals,
        percepts: vec![vec![], vec![]],
        rejected: Signal::FALSE,
    })
}

/// Returns nim: two players take one to three in turn from a pile, and the player that takes the
/// last one wins. With `stuck`, the rules lack the move that takes one from a pile of one.
pub fn nim(pile: usize, stuck: bool) -> Circuit {
    let moves = || ["take 1", "take 2", "take 3", "wait"].map(str::to_owned).to_vec();
    let mut base: Vec<(String, bool)> =
        (0..=pile).map(|left| (format!("left {left}"), left == pile)).collect();
    base.extend([("mover 0".to_owned(), true), ("mover 1".to_owned(), false)]);
    let mut b = Builder::new(vec![role("first", moves()), role("second", moves())], base);
    let left: Vec<Signal> = (0..=pile).map(|left| b.base(left)).collect();
    let mover = [b.base(pile + 1), b.base(pile + 2)];
    let legal = (0..2)
        .map(|player| {
            let mut legal: Vec<Signal> = (1..=3)
                .map(|n| {
                    let lowest = if stuck && n == 1 { 2 } else { n };
                    let enough = b.or_all(&left[lowest.min(left.len())..]);
                    b.and(mover[player], enough)
                })
                .collect();
            legal.push(mover[1 - player]);
            legal
        })
        .collect();
    let mut next = Vec::new();
    for after in 0..=pile {
        let mut ways = Vec::new();
        for n in 1..=3 {
            for player in 0..2 {
                if after + n <= pile {
                    let does = b.input(player, n - 1);
                    ways.push(b.and(does, left[after + n]));
                }
            }
        }
        next.push(b.or_all(&ways));
    }
    next.extend([mover[1], mover[0]]);
    let goals = (0..2).map(|player| vec![(0, mover[player]), (100, !mover[player])]).collect();
    b.finish(Outputs {
        legal,
        next,
        terminal: left[0],
        goals,
        percepts: vec![vec![], vec![]],
        rejected: Signal::FALSE,
    })
}

/// Returns three rounds of rock, paper, scissors with simultaneous moves. All moves are always
/// legal. A round won is a point, more points win, and each player perceives the other's move.
pub fn rochambeau() -> Circuit {
    let names = ["rock", "paper", "scissors"];
    let moves = || names.map(str::to_owned).to_vec();
    let mut base: Vec<(String, bool)> =
        (0..4).map(|round| (format!("round {round}"), round == 0)).collect();
    for player in 0..2 {
        base.extend((0..4).map(|points| (format!("points {player} {points}"), points == 0)));
    }
    let mut b = Builder::new(vec![role("ann", moves()), role("bob", moves())], base);
    let bits: Vec<Signal> = (0..12).map(|bit| b.base(bit)).collect();
    let wins: Vec<Signal> = (0..2)
        .map(|player| {
            let pairs: Vec<Signal> = (0..3)
                .map(|m| {
                    let (own, other) = (b.input(player, (m + 1) % 3), b.input(1 - player, m));
                    b.and(own, other)
                })
                .collect();
            b.or_all(&pairs)
        })
        .collect();
    let mut next = vec![Signal::FALSE];
    next.extend(&bits[..3]);
    for player in 0..2 {
        for points in 0..4 {
            let own = bits[4 + 4 * player + points];
            let stays = b.and(own, !wins[player]);
            let gains = if points > 0 {
                b.and(bits[4 + 4 * player + points - 1], wins[player])
            } else {
                Signal::FALSE
            };
            next.push(b.or(stays, gains));
        }
    }
    let ahead = |b: &mut Builder, player: usize| {
        let cases: Vec<Signal> = (0..4)
            .flat_map(|mine| (0..mine).map(move |theirs| (mine, theirs)))
            .map(|(mine, theirs)| {
                b.and(bits[4 + 4 * player + mine], bits[4 + 4 * (1 - player) + theirs])
            })
            .collect();
        b.or_all(&cases)
    };
    let [ann, bob] = [ahead(&mut b, 0), ahead(&mut b, 1)];
    let even = b.and(!ann, !bob);
    let goals =
        vec![vec![(0, bob), (50, even), (100, ann)], vec![(0, ann), (50, even), (100, bob)]];
    let sees = |other: usize| -> Vec<(String, Signal)> {
        let mut percepts: Vec<_> =
            (0..3).map(|m| (format!("did {}", names[m]), b.input(other, m))).collect();
        percepts.sort();
        percepts
    };
    let percepts = vec![sees(1), sees(0)];
    let legal = vec![vec![Signal::TRUE; 3]; 2];
    b.finish(Outputs { legal, next, terminal: bits[3], goals, percepts, rejected: Signal::FALSE })
}

/// Returns a walk of six fields: nature moves the player by zero, one or two fields while the
/// player steps or stays. A fall over the edge pays 0, the last field 100. Nature cannot move the
/// player by two from an even field.
pub fn shaky_walk() -> Circuit {
    let earth = CircuitRole {
        name: "earth".into(),
        moves: ["still", "shake", "quake"].map(str::to_owned).to_vec(),
        is_nature: true,
    };
    let walker = role("walker", vec!["stay".into(), "step".into()]);
    let base = (0..9).map(|field| (format!("at {field}"), field == 0)).collect();
    let mut b = Builder::new(vec![earth, walker], base);
    let at: Vec<Signal> = (0..9).map(|field| b.base(field)).collect();
    let odd = b.or_all(&[at[1], at[3], at[5]]);
    let mut next = Vec::new();
    for field in 0..9 {
        let mut ways = Vec::new();
        for shake in 0..3 {
            for step in 0..2 {
                if let Some(before) = usize::checked_sub(field, shake + step) {
                    let [quake, walk] = [b.input(0, shake), b.input(1, step)];
                    ways.push(b.and_all(&[at[before], quake, walk]));
                }
            }
        }
        next.push(b.or_all(&ways));
    }
    let over = b.or_all(&at[6..]);
    let legal = vec![vec![Signal::TRUE, Signal::TRUE, odd], vec![Signal::TRUE; 2]];
    let goals = vec![vec![], vec![(0, over), (20, !over), (100, at[6])]];
    b.finish(Outputs {
        legal,
        next,
        terminal: over,
        goals,
        percepts: vec![vec![], vec![]],
        rejected: Signal::FALSE,
    })
}

/// Returns a walk along `n_fields` fields, at most a step at a time: more base bits than fit into a
/// word, each copied to the next.
pub fn long_walk(n_fields: usize) -> Circuit {
    let walker = role("walker", vec!["stay".into(), "step".into()]);
    let base = (0..n_fields).map(|field| (format!("at {field}"), field == 0)).collect();
    let mut b = Builder::new(vec![walker], base);
    let [stay, step] = [b.input(0, 0), b.input(0, 1)];
    let mut next = Vec::new();
    for field in 0..n_fields {
        let here = b.base(field);
        let stays = b.and(here, stay);
        let before = field.checked_sub(1).map_or(Signal::FALSE, |before| b.base(before));
        let arrives = b.and(before, step);
        next.push(b.or(stays, arrives));
    }
    let over = b.base(n_fields - 1);
    let (legal, goals) = (vec![vec![Signal::TRUE; 2]], vec![vec![(0, !over), (100, over)]]);
    b.finish(Outputs {
        legal,
        next,
        terminal: over,
        goals,
        percepts: vec![vec![]],
        rejected: Signal::FALSE,
    })
}
