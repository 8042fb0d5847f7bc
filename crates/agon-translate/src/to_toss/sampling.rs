//! States of random plays, from the game's circuit where it has one.
//!
//! A circuit lists moves and fluents in the interpreter's order, so both engines play the same with
//! the same seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_circuit::{Circuit, ScalarCircuit};
use agon_datalog::{Symbol, TermId};
use agon_game::{Notation, Position as _, Rng};
use agon_gdl::interpreter::{Game, Interpreter};
use rand::SeedableRng as _;

use super::ToTossOptions;

/// With more gates, a step is no faster than with the interpreter.
const MAX_GATES: usize = 1_500_000;

/// Factor on the number of plays in the search for rarely legal moves.
const RARE_PLAYS: usize = 5;

/// Maximum number of moves and fluents visited in that search, about a second.
const RARE_WORK: usize = 4_000_000;

/// A move with some argument is rare if it is legal in at most this number of states.
const MAX_RARE: usize = 12;

/// A form of a role's moves, optionally with one argument and its position.
type MovePart = (usize, Symbol, usize, Option<(usize, TermId)>);

/// A state of a random play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) fluents: Vec<TermId>,
    /// Legal moves by role. Empty where play has ended.
    pub(super) legal: Vec<Vec<TermId>>,
    pub(super) is_terminal: bool,
}

/// A game for random play.
pub(super) struct Sampler {
    game: Arc<Game>,
    circuit: Option<GameCircuit>,
}

/// The circuit of a game, with the terms of its bits.
struct GameCircuit {
    start: ScalarCircuit,
    /// Term of each base bit.
    fluents: Vec<TermId>,
    /// Term of each input, role by role.
    moves: Vec<TermId>,
}

impl Sampler {
    pub(super) fn new(game: &Arc<Game>, circuit: Option<Circuit>) -> Sampler {
        Sampler {
            game: Arc::clone(game),
            circuit: circuit.and_then(|circuit| game_circuit(game, circuit)),
        }
    }

    /// Returns the initial position of the circuit.
    pub(super) fn circuit(&self) -> Option<&ScalarCircuit> {
        self.circuit.as_ref().map(|circuit| &circuit.start)
    }

    /// Returns states of random plays, evenly from all parts of the plays.
    pub(super) fn samples(&self, options: &ToTossOptions) -> Vec<Sample> {
        match &self.circuit {
            Some(circuit) => {
                sampled_plays(circuit.start.clone(), options, &|position| circuit.sample(position))
            }
            None => sampled_plays(self.game.start(), options, &sample),
        }
    }

    /// Returns states of further plays with moves that are rare in the samples, such as those of
    /// rarely created pieces. This needs a circuit, because many plays are made.
    pub(super) fn rare_samples(&self, known: &[Sample], options: &ToTossOptions) -> Vec<Sample> {
        let Some(circuit) = &self.circuit else { return Vec::new() };
        let bank = self.game.bank();
        let mut seen: BTreeMap<MovePart, usize> = BTreeMap::new();
        let mut is_rare = |sample: &Sample, work: &mut usize| {
            let mut rare = false;
            for (role, legal) in sample.legal.iter().enumerate() {
                *work = work.saturating_sub(legal.len());
                let mut parts: BTreeSet<MovePart> = BTreeSet::new();
                for &term in legal {
                    let (symbol, arity) = (bank.symbol(term), bank.arity(term));
                    parts.insert((role, symbol, arity, None));
                    parts.extend(
                        bank.arguments(term).enumerate().map(|at| (role, symbol, arity, Some(at))),
                    );
                }
                for part in parts {
                    let count = seen.entry(part).or_default();
                    *count += 1;
                    rare |= *count <= MAX_RARE;
                }
            }
            rare
        };
        let mut work = RARE_WORK;
        for sample in known {
            is_rare(sample, &mut work);
        }
        let mut rng = Rng::seed_from_u64(options.seed.wrapping_add(1));
        let mut position = circuit.start.clone();
        let start = position.state().clone();
        let (mut found, mut joint) = (Vec::new(), Vec::new());
        for _ in 0..RARE_PLAYS * options.plays {
            position.go_to(&start);
            let mut n_steps = 0;
            while !position.is_terminal() && n_steps < options.steps_of_play {
                let here = circuit.sample(&position);
                work = work.saturating_sub(here.fluents.len());
                if is_rare(&here, &mut work) {
                    found.push(here);
                }
                if work == 0 || found.len() >= options.states {
                    return found;
                }
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
                n_steps += 1;
            }
        }
        found
    }

    /// Returns the states of one play.
    pub(super) fn replayed(&self, moves: &[Vec<String>]) -> Vec<Sample> {
        match &self.circuit {
            Some(circuit) => {
                replayed(circuit.start.clone(), moves, &|position| circuit.sample(position))
            }
            None => replayed(self.game.start(), moves, &sample),
        }
    }
}

fn game_circuit(game: &Arc<Game>, circuit: Circuit) -> Option<GameCircuit> {
    if circuit.n_gates() > MAX_GATES {
        return None;
    }
    let fluents = circuit.base.iter().map(|text| game.parse(text)).collect::<Option<_>>()?;
    let moves = circuit.roles.iter().flat_map(|role| &role.moves);
    let moves = moves.map(|text| game.parse(text)).collect::<Option<_>>()?;
    Some(GameCircuit { fluents, moves, start: ScalarCircuit::quick_start(Arc::new(circuit)) })
}

impl GameCircuit {
    fn sample(&self, position: &ScalarCircuit) -> Sample {
        let mut bits = Vec::new();
        position.features(&mut bits);
        let legal = position.shape().roles().map(|role| {
            position.legal_moves(role).iter().map(|input| self.moves[input.0 as usize]).collect()
        });
        Sample {
            fluents: bits.iter().map(|&bit| self.fluents[bit as usize]).collect(),
            legal: legal.collect(),
            is_terminal: position.is_terminal(),
        }
    }
}

fn sample(position: &Interpreter) -> Sample {
    let legal = position
        .shape()
        .roles()
        .map(|role| position.legal_moves(role).iter().map(|m| m.term()).collect());
    Sample {
        fluents: position.state().fluents().to_vec(),
        legal: legal.collect(),
        is_terminal: position.is_terminal(),
    }
}

fn sampled_plays<P: Notation>(
    mut position: P,
    options: &ToTossOptions,
    sample: &dyn Fn(&P) -> Sample,
) -> Vec<Sample> {
    let mut rng = Rng::seed_from_u64(options.seed);
    let mut samples: Vec<Sample> = Vec::new();
    let mut joint = Vec::new();
    let start = position.state().clone();
    let quota = options.states / options.plays.max(1) + 1;
    for play in 0..options.plays {
        if options.check_time().is_err() {
            break;
        }
        position.go_to(&start);
        let mut states = vec![start.clone()];
        while !position.is_terminal() && states.len() <= options.steps_of_play {
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            states.push(position.state().clone());
        }
        let stride = states.len().div_ceil(quota).max(1);
        for (at, state) in states.iter().enumerate() {
            // The selection differs from play to play. The last state is always included.
            if at % stride == play % stride || at + 1 == states.len() {
                position.go_to(state);
                samples.push(sample(&position));
            }
        }
    }
    samples
}

fn replayed<P: Notation>(
    mut position: P,
    moves: &[Vec<String>],
    sample: &dyn Fn(&P) -> Sample,
) -> Vec<Sample> {
    let mut samples = vec![sample(&position)];
    for joint in moves {
        let parsed =
            position.shape().roles().zip(joint).map(|(role, text)| position.parse_move(role, text));
        let Some(joint) = parsed.collect::<Option<Vec<_>>>() else { break };
        position.advance(&joint);
        samples.push(sample(&position));
    }
    samples
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agon_gdl::circuit::CircuitLimits;
    use agon_text::Source;

    use super::*;

    fn game(name: &str) -> Arc<Game> {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../games/gdl/{name}.kif"));
        let text = std::fs::read_to_string(path).expect("the game ships");
        let checked = agon_gdl::check::check(Arc::new(Source::new("game.kif", text)));
        Game::open(checked.rules.expect("the rules are sound"), Default::default())
            .expect("the game opens")
    }

    /// The interpreter is the oracle of the circuit: the same seed gives the same states with the
    /// same moves.
    #[test]
    fn circuit_and_interpreter_give_the_same_samples() {
        let options = ToTossOptions { plays: 6, states: 60, ..ToTossOptions::default() };
        for name in ["tic-tac-toe", "connect-three", "nim", "rock-paper-scissors", "eight-puzzle"] {
            let game = game(name);
            let ground = game.ground(&CircuitLimits::default()).expect("the game is small");
            let by_circuit = Sampler::new(&game, Some(ground.circuit));
            let by_rules = Sampler::new(&game, None);
            assert!(by_circuit.circuit().is_some(), "{name}");
            let mut samples = by_circuit.samples(&options);
            let expected = by_rules.samples(&options);
            for sample in &mut samples {
                // A state is a set, and each engine has its own order.
                sample.fluents.sort_unstable();
            }
            let sorted = |mut sample: Sample| {
                sample.fluents.sort_unstable();
                sample
            };
            assert_eq!(samples, expected.into_iter().map(sorted).collect::<Vec<_>>(), "{name}");
        }
    }

    /// A rarely created piece is nevertheless in the sample.
    #[test]
    fn rarely_legal_moves_are_sampled() {
        let text = "(role a) (init (at 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5)
             (<= (legal a up) (true (at ?x)) (s ?x ?y)) (legal a stop) (<= (legal a rest) (true (at ?x)) (s ?x ?y))
             (<= (legal a (crown 5)) (true (at 5)))
             (<= (next (at ?y)) (does a up) (true (at ?x)) (s ?x ?y)) (<= (next (at ?x)) (does a rest) (true (at ?x)))
             (<= terminal (not up_there)) (<= up_there (true (at ?x))) (goal a 100)";
        let checked = agon_gdl::check::check(Arc::new(Source::new("game.kif", text)));
        let game = Game::open(checked.rules.expect("the rules are sound"), Default::default());
        let game = game.expect("the game opens");
        let ground = game.ground(&CircuitLimits::default()).expect("the game is small");
        let sampler = Sampler::new(&game, Some(ground.circuit));
        let options = ToTossOptions { plays: 60, states: 60, ..ToTossOptions::default() };
        let crown = game.parse("(crown 5)").expect("it is a term");
        let rare = sampler.rare_samples(&[], &options);
        assert!(
            rare.iter().any(|sample| sample.legal[0].contains(&crown)),
            "one play in 32 reaches it"
        );
        let often = rare.iter().filter(|sample| !sample.legal[0].contains(&crown)).count();
        assert!(often <= 2 * MAX_RARE, "frequent moves are not sampled again: {often}");
    }
}
