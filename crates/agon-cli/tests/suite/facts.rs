//! Known facts about the shipped games, found by small exhaustive searches. They show that a
//! rulesheet describes the game that it claims to be.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use agon_game::{Hidden as _, Notation as _, Position as _, Role};
use agon_gdl::interpreter::{Interpreter, Move, State};

use super::games::shipped;
use super::shipped::joint_moves;

/// The first role of the rulesheet.
fn first() -> Role {
    Role::new(0)
}

fn second() -> Role {
    Role::new(1)
}

/// All reachable positions, each once, and the steps between them.
struct Graph {
    nodes: Vec<Node>,
}

struct Node {
    /// The smallest number of steps from the start.
    depth: usize,
    payoffs: Vec<f64>,
    /// The role that has a choice, if there is exactly one.
    chooser: Option<Role>,
    /// The position after each joint move; empty at a terminal position.
    next: Vec<usize>,
}

impl Graph {
    /// Explores a game. Positions are compared by their text, because keys come from the engine
    /// under test.
    fn explore(game: &str) -> Graph {
        let mut position = shipped(game).start();
        let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::from([(position.state_text(), 0)]);
        let mut states: Vec<(State, usize)> = vec![(position.state().clone(), 0)];
        let mut nodes = Vec::new();
        while nodes.len() < states.len() {
            let (state, depth) = states[nodes.len()].clone();
            position.go_to(&state);
            assert_eq!(position.fault(), None, "{game}");
            let payoffs = position.shape().roles().map(|role| position.payoff(role)).collect();
            let choosers: Vec<Role> = position.choosers().collect();
            let mut next = Vec::new();
            let joints = if position.is_terminal() { Vec::new() } else { joint_moves(&position) };
            for joint in joints {
                position.advance(&joint);
                let index = *known.entry(position.state_text()).or_insert(states.len());
                if index == states.len() {
                    states.push((position.state().clone(), depth + 1));
                }
                next.push(index);
                position.go_to(&state);
            }
            let chooser = if let [only] = choosers.as_slice() { Some(*only) } else { None };
            nodes.push(Node { depth, payoffs, chooser, next });
        }
        Graph { nodes }
    }

    /// Computes a value for every node from the ends to the start. `fold` gets the values of the
    /// positions after a node, by joint move.
    fn backwards<T: Clone>(&self, fold: impl Fn(&Node, Vec<T>) -> T) -> Vec<T> {
        let mut found: Vec<Option<T>> = vec![None; self.nodes.len()];
        let mut path = vec![0];
        while let Some(&index) = path.last() {
            let node = &self.nodes[index];
            if let Some(&waiting) = node.next.iter().find(|&&after| found[after].is_none()) {
                assert!(path.len() < self.nodes.len(), "play never comes back to a position");
                path.push(waiting);
                continue;
            }
            let after =
                node.next.iter().map(|&after| found[after].clone().expect("none waits")).collect();
            found[index] = Some(fold(node, after));
            path.pop();
        }
        found
            .into_iter()
            .map(|value| value.expect("every node can be reached from the start"))
            .collect()
    }

    /// Returns the number of plays from the start to an end.
    fn n_plays(&self) -> u64 {
        let counts = self.backwards(
            |node, after: Vec<u64>| if node.next.is_empty() { 1 } else { after.iter().sum() },
        );
        counts[0]
    }

    /// Returns the minimax value of each position for the first role, in a constant-sum game of
    /// turns.
    fn values(&self) -> Vec<f64> {
        self.backwards(|node, after: Vec<f64>| {
            let best = match node.chooser {
                Some(role) if role == first() => after.into_iter().reduce(f64::max),
                Some(_) => after.into_iter().reduce(f64::min),
                None => after.first().copied(),
            };
            best.unwrap_or(node.payoffs[0])
        })
    }

    fn ends(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.next.is_empty())
    }
}

#[test]
fn numbers_of_plays() {
    let known = [
        ("tic-tac-toe", 255_168),
        ("nim", 212_100_984),
        ("peg-solitaire", 568_630),
        ("rock-paper-scissors", 59_049),
        ("matching-pennies", 4),
        ("prisoners-dilemma", 1024),
        ("kuhn-poker", 30),
        ("monty-hall", 24),
        ("blind-nim", 355),
        ("liars-dice", 4080),
    ];
    for (game, n_plays) in known {
        assert_eq!(Graph::explore(game).n_plays(), n_plays, "{game}");
    }
}

#[test]
fn tic_tac_toe_has_5478_positions_and_is_a_draw() {
    let graph = Graph::explore("tic-tac-toe");
    assert_eq!(graph.nodes.len(), 5478);
    assert_eq!(graph.values()[0], 50.0);
    // The first mark does not matter: all nine lead to a draw.
    let values = graph.values();
    assert!(graph.nodes[0].next.iter().all(|&after| values[after] == 50.0));
    // Positions at the end, by the winner: 626 for the first player, 316 for the second, 16 drawn.
    let n_ends = |payoff: f64| graph.ends().filter(|node| node.payoffs[0] == payoff).count();
    assert_eq!((n_ends(100.0), n_ends(0.0), n_ends(50.0)), (626, 316, 16));
}

#[test]
fn nim_is_won_by_leaving_an_exclusive_or_of_zero() {
    let mut position = shipped("nim").start();
    let mut values: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    assert_eq!(
        nim_value(&mut position, &mut values),
        0.0,
        "1 xor 3 xor 5 xor 7 = 0, so the second player wins"
    );
    // All heaps with either player to move, except where every heap has lost at most one stick:
    // there the number of steps determines the player to move.
    assert_eq!(values.len(), 2 * (2 * 4 * 6 * 8) - 16);
    for (state, value) in &values {
        let heaps = state.iter().filter_map(|fluent| fluent.strip_prefix("(heap "));
        let sizes =
            heaps.map(|heap| heap[2..heap.len() - 1].parse::<u32>().expect("heaps have sizes"));
        let mover_wins = sizes.fold(0, |sum, size| sum ^ size) != 0;
        let first_moves = state.iter().any(|fluent| fluent == "(control first)");
        assert_eq!(*value == 100.0, mover_wins == first_moves, "{state:?}");
    }
}

/// Returns the minimax value for the first role by full search, with a table of all positions.
fn nim_value(position: &mut Interpreter, known: &mut BTreeMap<Vec<String>, f64>) -> f64 {
    let text = position.state_text();
    if let Some(value) = known.get(&text) {
        return *value;
    }
    let here = position.state().clone();
    let first_moves = text.iter().any(|fluent| fluent == "(control first)");
    let joints = if position.is_terminal() { Vec::new() } else { joint_moves(position) };
    let mut best = position.payoff(first());
    for (i, joint) in joints.iter().enumerate() {
        position.advance(joint);
        let value = nim_value(position, known);
        position.go_to(&here);
        best = match (i, first_moves) {
            (0, _) => value,
            (_, true) => best.max(value),
            (_, false) => best.min(value),
        };
    }
    known.insert(text, best);
    best
}

#[test]
fn connect_three_is_won_within_nine_discs_from_the_middle_columns() {
    let mut position = shipped("connect-three").start();
    let mut known = BTreeMap::new();
    let start = position.state().clone();
    let mut by_column = Vec::new();
    for column in 0..5 {
        position.go_to(&start);
        let drop = position.legal_moves(first())[column];
        let wait = position.legal_moves(second())[0];
        position.advance(&[drop, wait]);
        by_column.push(fewest_discs(&mut position, &mut known));
    }
    // Red needs at most eight steps after its first disc; five of the nine discs are red.
    let middle = by_column[1..4].iter().map(|steps| steps.expect("the middle columns win") + 1);
    assert_eq!(middle.min(), Some(9), "{by_column:?}");
    assert_eq!((by_column[0], by_column[4]), (None, None), "the outer columns do not win");
}

/// Returns the number of steps in which the first role wins against any defence, if it can win.
fn fewest_discs(position: &mut Interpreter, known: &mut BTreeMap<u64, Option<u32>>) -> Option<u32> {
    if position.is_terminal() {
        return (position.payoff(first()) == 100.0).then_some(0);
    }
    if let Some(answer) = known.get(&position.key()) {
        return *answer;
    }
    let (here, key) = (position.state().clone(), position.key());
    let first_moves = position.state_text().iter().any(|fluent| fluent == "(control red)");
    let mut answers = Vec::new();
    for joint in joint_moves(position) {
        position.advance(&joint);
        answers.push(fewest_discs(position, known).map(|steps| steps + 1));
        position.go_to(&here);
        // One reply that does not lose is enough for the second role.
        if !first_moves && answers.contains(&None) {
            break;
        }
    }
    let answer = if first_moves {
        answers.into_iter().flatten().min()
    } else {
        answers.into_iter().collect::<Option<Vec<u32>>>().and_then(|steps| steps.into_iter().max())
    };
    known.insert(key, answer);
    answer
}

#[test]
fn hanoi_takes_31_moves() {
    let solutions = shortest_plays("hanoi", |_| 0);
    assert_eq!(solutions.n_steps_to(100.0), Some(31));
    for (payoff, n_steps) in [(20.0, 16), (40.0, 24), (60.0, 28), (80.0, 30)] {
        assert_eq!(solutions.n_steps_to(payoff), Some(n_steps), "{payoff} points");
    }
    assert_eq!(solutions.n_positions, 243, "3^5 positions");
}

#[test]
fn eight_puzzle_takes_28_moves() {
    let solutions = shortest_plays("eight-puzzle", out_of_place);
    assert_eq!(solutions.n_steps_to(100.0), Some(28));
}

#[test]
fn puzzles_have_their_shortest_solutions() {
    for (game, n_steps) in [("missionaries", 11), ("rush-hour", 12), ("sokoban", 53)] {
        assert_eq!(shortest_plays(game, |_| 0).n_steps_to(100.0), Some(n_steps), "{game}");
    }
}

#[test]
fn eight_queens_has_92_solutions_among_2057_positions() {
    let graph = Graph::explore("eight-queens");
    assert_eq!(graph.nodes.len(), 2057);
    assert_eq!(graph.ends().filter(|node| node.payoffs[0] == 100.0).count(), 92);
}

/// Returns the sum of the distances of all tiles from their places: a lower bound, so A* is exact.
fn out_of_place(state: &[String]) -> usize {
    let tile = |fluent: &String| {
        let words: Vec<usize> = fluent
            .trim_matches(['(', ')'])
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [row, column, tile] = words.as_slice() else { return 0 };
        let (home_row, home_column) = ((tile - 1) / 3 + 1, (tile - 1) % 3 + 1);
        row.abs_diff(home_row) + column.abs_diff(home_column)
    };
    state.iter().filter(|fluent| fluent.starts_with("(cell ")).map(tile).sum()
}

/// The results of the search of a puzzle.
struct Solutions {
    /// The smallest number of steps to each payoff; only of the highest payoff in an A* search.
    steps: Vec<(f64, usize)>,
    n_positions: usize,
}

impl Solutions {
    fn n_steps_to(&self, payoff: f64) -> Option<usize> {
        self.steps.iter().find(|(met, _)| *met == payoff).map(|(_, n_steps)| *n_steps)
    }
}

/// Searches a puzzle by A*, without its step counter; breadth first if `estimate` is 0 everywhere.
/// The search ends at the first position of 100 points, or when all positions are searched.
fn shortest_plays(game: &str, estimate: impl Fn(&[String]) -> usize) -> Solutions {
    let mut position = shipped(game).start();
    let arrangement = |position: &Interpreter| -> Vec<String> {
        position.state_text().into_iter().filter(|fluent| !fluent.starts_with("(step ")).collect()
    };
    let mut solutions = Solutions { steps: Vec::new(), n_positions: 0 };
    let mut done: BTreeSet<Vec<String>> = BTreeSet::new();
    // By the sum of past and estimated steps, first in, first out.
    let mut waiting: BTreeMap<usize, VecDeque<(State, usize)>> = BTreeMap::new();
    let at_start = estimate(&arrangement(&position));
    waiting.entry(at_start).or_default().push_back((position.state().clone(), 0));
    while let Some(mut entry) = waiting.first_entry() {
        let Some((state, n_steps)) = entry.get_mut().pop_front() else {
            entry.remove();
            continue;
        };
        position.go_to(&state);
        if !done.insert(arrangement(&position)) {
            continue;
        }
        let payoff = position.payoff(first());
        if solutions.n_steps_to(payoff).is_none() {
            solutions.steps.push((payoff, n_steps));
        }
        if position.is_terminal() {
            if payoff == 100.0 && at_start > 0 {
                break;
            }
            continue;
        }
        for joint in joint_moves(&position) {
            position.advance(&joint);
            let total = n_steps + 1 + estimate(&arrangement(&position));
            waiting.entry(total).or_default().push_back((position.state().clone(), n_steps + 1));
            position.go_to(&state);
        }
    }
    solutions.n_positions = done.len();
    solutions
}

#[test]
fn peg_solitaire_ends_with_one_peg_in_29760_plays() {
    let graph = Graph::explore("peg-solitaire");
    let best = graph.ends().map(|node| node.payoffs[0]).fold(0.0, f64::max);
    let solved = graph.backwards(|node, after: Vec<u64>| {
        let is_solved = node.next.is_empty() && node.payoffs[0] == best;
        after.iter().sum::<u64>() + u64::from(is_solved)
    });
    assert_eq!(solved[0], 29_760);
    assert!(graph.ends().filter(|node| node.payoffs[0] == best).all(|node| node.depth == 13));
}

#[test]
fn payoffs_add_up() {
    for game in [
        "rock-paper-scissors",
        "matching-pennies",
        "tic-tac-toe",
        "nim",
        "kuhn-poker",
        "leduc-poker",
        "liars-dice",
        "goofspiel",
        "wythoff",
        "chomp",
    ] {
        let graph = Graph::explore(game);
        for node in graph.ends() {
            assert_eq!(node.payoffs[0] + node.payoffs[1], 100.0, "{game}");
        }
    }
}

#[test]
fn matching_pennies_has_no_safe_side() {
    let graph = Graph::explore("matching-pennies");
    let payoffs: Vec<f64> =
        graph.nodes[0].next.iter().map(|&end| graph.nodes[end].payoffs[0]).collect();
    let [hh, ht, th, tt] = payoffs.as_slice() else { panic!("four plays, not {payoffs:?}") };
    assert_eq!((hh, ht), (tt, th));
    assert_eq!(hh + ht, 100.0, "either side wins half the time against a fair coin");
    assert_ne!(hh, ht);
}

#[test]
fn rock_paper_scissors_is_even_against_chance() {
    // Each move of one role against a uniformly random other gets 50 on average, at every position.
    let graph = Graph::explore("rock-paper-scissors");
    let means = graph.backwards(|node, after: Vec<f64>| {
        if after.is_empty() {
            return node.payoffs[0];
        }
        after.iter().sum::<f64>() / after.len() as f64
    });
    assert_eq!(means[0], 50.0);
    for own in 0..3 {
        let after: Vec<f64> =
            graph.nodes[0].next.iter().skip(own * 3).take(3).map(|&next| means[next]).collect();
        assert!((after.iter().sum::<f64>() / 3.0 - 50.0).abs() < 1e-9, "move {own}: {after:?}");
    }
}

#[test]
fn monty_hall_is_won_by_switching_two_times_in_three() {
    for (decision, expected) in [("switch", 200.0 / 3.0), ("keep", 100.0 / 3.0)] {
        let choose = |position: &Interpreter, role: Role, _: &[String], m: &Move| {
            let text = position.move_text(m);
            let share = 1.0 / position.legal_moves(role).len() as f64;
            match text.as_str() {
                "switch" | "keep" => f64::from(u8::from(text == decision)),
                _ => share,
            }
        };
        let mean = expectation(&mut shipped("monty-hall").start(), &choose, first());
        assert!((mean - expected).abs() < 1e-9, "{decision}: {mean}");
    }
}

/// The probability of a move of a role, given the position (of which only the legal moves may be
/// used) and all past moves and percepts of the role.
type Policy<'a> = dyn Fn(&Interpreter, Role, &[String], &Move) -> f64 + 'a;

/// Returns the expected payoff of a role if all players follow a policy and nature plays by chance.
fn expectation(position: &mut Interpreter, policy: &Policy<'_>, of: Role) -> f64 {
    let memories = vec![Vec::new(); position.shape().role_names.len()];
    expectation_after(position, &memories, policy, of)
}

fn expectation_after(
    position: &mut Interpreter,
    memories: &[Vec<String>],
    policy: &Policy<'_>,
    of: Role,
) -> f64 {
    if position.is_terminal() {
        return position.payoff(of);
    }
    let here = position.state().clone();
    let roles: Vec<Role> = position.shape().roles().collect();
    let nature = position.shape().nature;
    let mut mean = 0.0;
    for joint in joint_moves(position) {
        let chance = |role: &Role| {
            let m = &joint[role.index()];
            if Some(*role) == nature {
                position.chance(m)
            } else {
                policy(position, *role, &memories[role.index()], m)
            }
        };
        let probability: f64 = roles.iter().map(chance).product();
        if probability == 0.0 {
            continue;
        }
        let remember = |role: &Role| {
            let mut memory = memories[role.index()].clone();
            memory.push(format!("did {}", position.move_text(&joint[role.index()])));
            memory.extend(position.percepts(&joint, *role));
            memory
        };
        let memories: Vec<Vec<String>> = roles.iter().map(remember).collect();
        position.advance(&joint);
        mean += probability * expectation_after(position, &memories, policy, of);
        position.go_to(&here);
    }
    mean
}

/// Kuhn (1950): the value is -1/18. The opener has a strategy that gets this against every pure
/// strategy of the dealer, and the dealer has one that concedes no more to every pure strategy of
/// the opener. Strategies use only the past moves and percepts of their role, so an error in `sees`
/// would be found.
#[test]
fn kuhn_poker_is_worth_minus_one_eighteenth() {
    let value = 50.0 - 25.0 / 18.0;
    let (opener, dealer) = (first(), second());
    let worst = pure_strategies(dealer)
        .into_iter()
        .map(|reply| kuhn(dealer, &reply))
        .fold(f64::MAX, f64::min);
    assert!((worst - value).abs() < 1e-9, "the opener can make sure of {worst}");
    let best = pure_strategies(opener)
        .into_iter()
        .map(|reply| kuhn(opener, &reply))
        .fold(f64::MIN, f64::max);
    assert!((best - value).abs() < 1e-9, "the dealer concedes {best}");
}

/// Returns all pure strategies of a role: false (check, fold) or true (bet, call) in each
/// situation.
fn pure_strategies(role: Role) -> Vec<BTreeMap<Vec<String>, bool>> {
    let mut situations = BTreeSet::new();
    gather_situations(&mut shipped("kuhn-poker").start(), role, &[], &mut situations);
    assert_eq!(situations.len(), 6, "three cards, two questions each: {situations:?}");
    let strategy = |bits: u32| {
        situations.iter().cloned().enumerate().map(|(i, s)| (s, bits >> i & 1 == 1)).collect()
    };
    (0..64).map(strategy).collect()
}

/// Collects the sequences of moves and percepts after which a role has a choice.
fn gather_situations(
    position: &mut Interpreter,
    role: Role,
    memory: &[String],
    situations: &mut BTreeSet<Vec<String>>,
) {
    if position.legal_moves(role).len() > 1 {
        situations.insert(memory.to_vec());
    }
    if position.is_terminal() {
        return;
    }
    let here = position.state().clone();
    for joint in joint_moves(position) {
        let mut memory = memory.to_vec();
        memory.push(format!("did {}", position.move_text(&joint[role.index()])));
        memory.extend(position.percepts(&joint, role));
        position.advance(&joint);
        gather_situations(position, role, &memory, situations);
        position.go_to(&here);
    }
}

/// Returns the payoff of the opener if `role` plays a pure strategy against the known equilibrium.
fn kuhn(role: Role, strategy: &BTreeMap<Vec<String>, bool>) -> f64 {
    let policy = |position: &Interpreter, actor: Role, memory: &[String], m: &Move| {
        if position.legal_moves(actor).len() == 1 {
            return 1.0;
        }
        let bold = if actor == role {
            f64::from(u8::from(strategy[memory]))
        } else {
            equilibrium(actor, memory)
        };
        let is_bold = matches!(position.move_text(m).as_str(), "bet" | "call");
        if is_bold { bold } else { 1.0 - bold }
    };
    expectation(&mut shipped("kuhn-poker").start(), &policy, first())
}

/// Returns the probability of a bet or call in the equilibrium in which the opener bets the jack
/// with probability 1/6.
fn equilibrium(role: Role, memory: &[String]) -> f64 {
    let has = |word: &str| memory.iter().any(|item| item.contains(word));
    let card = ["jack", "queen", "king"]
        .into_iter()
        .position(has)
        .expect("the cards are dealt before the betting");
    let opening_bluff = 1.0 / 6.0;
    let facing_a_bet = has("bet)");
    match (role.index(), facing_a_bet, card) {
        (0, false, 0) => opening_bluff,
        (0, false, 2) => 3.0 * opening_bluff,
        (0, true, 1) => opening_bluff + 1.0 / 3.0,
        (1, false, 0) | (1, true, 1) => 1.0 / 3.0,
        // Never bet the queen, never call with the jack, always bet and call with the king.
        (_, false, 1) | (_, true, 0) => 0.0,
        (_, _, _) => 1.0,
    }
}
