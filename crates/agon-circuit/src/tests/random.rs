//! Random circuits that keep the assumption of circuits: every role has a legal move at every state
//! that is not terminal.

use agon_circuit::{Builder, Circuit, CircuitRole, Outputs, Signal};
use agon_game::Rng;
use rand::{RngExt, SeedableRng};

/// Returns a random circuit of about `n_gates` gates. The same seed gives the same circuit.
pub(super) fn circuit(seed: u64, n_gates: usize) -> Circuit {
    let mut rng = Rng::seed_from_u64(seed);
    let n_base = rng.random_range(1..20);
    let n_roles = rng.random_range(1..4);
    let nature = rng.random_range(0..2 * n_roles);
    let roles: Vec<CircuitRole> = (0..n_roles)
        .map(|role| {
            let n_moves = rng.random_range(1..9);
            let moves = (0..n_moves).map(|m| format!("m{m}")).collect();
            CircuitRole { name: format!("r{role}"), moves, is_nature: role == nature }
        })
        .collect();
    let base = (0..n_base).map(|bit| (format!("b{bit:02}"), rng.random())).collect();
    let mut b = Builder::new(roles.clone(), base);

    let mut pool: Vec<Signal> = (0..n_base).map(|bit| b.base(bit)).collect();
    pool.extend([Signal::TRUE, Signal::FALSE]);
    for _ in 0..n_gates / 3 {
        grow(&mut b, &mut pool, &mut rng);
    }
    let legal = roles
        .iter()
        .map(|role| {
            let mut legal: Vec<Signal> = role.moves.iter().map(|_| pick(&pool, &mut rng)).collect();
            // The first move is legal where no other is.
            let others = legal[1..].to_vec();
            let any = b.or_all(&others);
            legal[0] = b.or(legal[0], !any);
            legal
        })
        .collect();
    let terminal = [0; 4].map(|_| pick(&pool, &mut rng));
    let terminal = b.and_all(&terminal);
    let goals = roles
        .iter()
        .map(|_| {
            (0..rng.random_range(0..4)).map(|value| (10 * value, pick(&pool, &mut rng))).collect()
        })
        .collect();

    for (role, part) in roles.iter().enumerate() {
        pool.extend((0..part.moves.len()).map(|m| b.input(role, m)));
        // Disjunctions of moves under a condition, as frame axioms are.
        for _ in 0..3 {
            let condition = pick(&pool, &mut rng);
            let frame: Vec<Signal> = (0..part.moves.len())
                .filter(|_| rng.random_bool(0.7))
                .map(|m| {
                    let does = b.input(role, m);
                    b.and(does, condition)
                })
                .collect();
            let frame = b.or_all(&frame);
            pool.push(frame);
        }
    }
    for _ in 0..n_gates / 2 {
        grow(&mut b, &mut pool, &mut rng);
    }
    let next = (0..n_base).map(|_| pick(&pool, &mut rng)).collect();
    let percepts = roles
        .iter()
        .map(|_| {
            (0..rng.random_range(0..3)).map(|p| (format!("p{p}"), pick(&pool, &mut rng))).collect()
        })
        .collect();
    b.finish(Outputs { legal, next, terminal, goals, percepts, rejected: Signal::FALSE })
}

fn pick(pool: &[Signal], rng: &mut Rng) -> Signal {
    // Recent signals are likelier, so that circuits grow deep as well as wide.
    let back = rng.random_range(0..pool.len()).min(rng.random_range(0..pool.len()));
    pool[pool.len() - 1 - back].inverted_if(rng.random())
}

fn grow(b: &mut Builder, pool: &mut Vec<Signal>, rng: &mut Rng) {
    let signal = match rng.random_range(0..4) {
        0 => {
            let x = pick(pool, rng);
            let y = pick(pool, rng);
            b.xor(x, y)
        }
        1 => {
            let n = rng.random_range(2..7);
            let signals: Vec<Signal> = (0..n).map(|_| pick(pool, rng)).collect();
            b.or_all(&signals)
        }
        _ => {
            let x = pick(pool, rng);
            let y = pick(pool, rng);
            b.and(x, y)
        }
    };
    pool.push(signal);
}
