//! States of random plays, by the game's circuit where it has one.
//!
//! A circuit lists moves and fluents in the interpreter's order, so the same seed gives the same plays either way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_circuit::{Circuit, ScalarCircuit};
use agon_datalog::{Symbol, TermId};
use agon_game::{Notation, Position as _, Rng};
use agon_gdl::interpreter::{Game, Interpreter};
use rand::SeedableRng as _;

use super::Options;

/// With more gates a step is no faster than by the rules.
const MAX_GATES: usize = 1_500_000;

/// So many times as many plays are made to find moves that are seldom legal.
const RARE_PLAYS: usize = 5;

/// So many moves and fluents are looked at for that: a second or so.
const RARE_WORK: usize = 4_000_000;

/// In fewer states than this a move with some argument is seldom legal.
const FEW: usize = 12;

/// A form of a role's moves, and perhaps an argument with its position.
type MovePart = (usize, Symbol, usize, Option<(usize, TermId)>);

/// A state of a random play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) fluents: Vec<TermId>,
    /// By role; empty where play has ended.
    pub(super) legal: Vec<Vec<TermId>>,
    pub(super) is_terminal: bool,
}

/// A game ready to be played at random.
pub(super) struct Player {
    game: Arc<Game>,
    circuit: Option<Wired>,
}

/// The circuit of a game, with the terms that its bits stand for.
struct Wired {
    start: ScalarCircuit,
    /// By base bit.
    fluents: Vec<TermId>,
    /// By input, role after role.
    moves: Vec<TermId>,
}

impl Player {
    pub(super) fn new(game: &Arc<Game>, circuit: Option<Circuit>) -> Player {
        Player { game: Arc::clone(game), circuit: circuit.and_then(|circuit| wired(game, circuit)) }
    }

    /// The start, by the circuit.
    pub(super) fn circuit(&self) -> Option<&ScalarCircuit> {
        self.circuit.as_ref().map(|wired| &wired.start)
    }

    /// States of random plays, from all parts of play alike.
    pub(super) fn samples(&self, options: &Options) -> Vec<Sample> {
        match &self.circuit {
            Some(wired) => drawn(wired.start.clone(), options, &|position| wired.sample(position)),
            None => drawn(self.game.start(), options, &sample),
        }
    }

    /// States of further plays with moves of which the samples have few, such as those of pieces that seldom come to be. By the circuit
    /// alone: many plays are made.
    pub(super) fn rare_samples(&self, known: &[Sample], options: &Options) -> Vec<Sample> {
        let Some(wired) = &self.circuit else { return Vec::new() };
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
                    rare |= *count <= FEW;
                }
            }
            rare
        };
        let mut work = RARE_WORK;
        for sample in known {
            is_rare(sample, &mut work);
        }
        let mut rng = Rng::seed_from_u64(options.seed.wrapping_add(1));
        let mut position = wired.start.clone();
        let start = position.state().clone();
        let (mut found, mut joint) = (Vec::new(), Vec::new());
        for _ in 0..RARE_PLAYS * options.plays {
            position.go_to(&start);
            let mut n_steps = 0;
            while !position.is_terminal() && n_steps < options.steps_of_play {
                let here = wired.sample(&position);
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

    /// The states of one play.
    pub(super) fn replayed(&self, moves: &[Vec<String>]) -> Vec<Sample> {
        match &self.circuit {
            Some(wired) => replayed(wired.start.clone(), moves, &|position| wired.sample(position)),
            None => replayed(self.game.start(), moves, &sample),
        }
    }
}

fn wired(game: &Arc<Game>, circuit: Circuit) -> Option<Wired> {
    if circuit.n_gates() > MAX_GATES {
        return None;
    }
    let fluents = circuit.base.iter().map(|text| game.parse(text)).collect::<Option<_>>()?;
    let moves = circuit.roles.iter().flat_map(|role| &role.moves);
    let moves = moves.map(|text| game.parse(text)).collect::<Option<_>>()?;
    Some(Wired { fluents, moves, start: ScalarCircuit::at_once(Arc::new(circuit)) })
}

impl Wired {
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

fn drawn<P: Notation>(
    mut position: P,
    options: &Options,
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
            // Which ones differs from play to play; the end is always among them.
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

    /// The rules are the judge of the circuit: the same seed gives the same states with the same moves.
    #[test]
    fn a_circuit_is_sampled_as_the_rules_are() {
        let options = Options { plays: 6, states: 60, ..Options::default() };
        for name in ["tic-tac-toe", "connect-three", "nim", "rock-paper-scissors", "eight-puzzle"] {
            let game = game(name);
            let ground = game.ground(&CircuitLimits::default()).expect("the game is small");
            let by_circuit = Player::new(&game, Some(ground.circuit));
            let by_rules = Player::new(&game, None);
            assert!(by_circuit.circuit().is_some(), "{name}");
            let mut samples = by_circuit.samples(&options);
            let expected = by_rules.samples(&options);
            for sample in &mut samples {
                // A state is a set, whose order is each engine's own.
                sample.fluents.sort_unstable();
            }
            let sorted = |mut sample: Sample| {
                sample.fluents.sort_unstable();
                sample
            };
            assert_eq!(samples, expected.into_iter().map(sorted).collect::<Vec<_>>(), "{name}");
        }
    }

    /// A piece that seldom comes to be is in the sample all the same.
    #[test]
    fn moves_that_are_seldom_legal_are_looked_for() {
        let text = "(role a) (init (at 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (s 4 5)
             (<= (legal a up) (true (at ?x)) (s ?x ?y)) (legal a stop) (<= (legal a rest) (true (at ?x)) (s ?x ?y))
             (<= (legal a (crown 5)) (true (at 5)))
             (<= (next (at ?y)) (does a up) (true (at ?x)) (s ?x ?y)) (<= (next (at ?x)) (does a rest) (true (at ?x)))
             (<= terminal (not up_there)) (<= up_there (true (at ?x))) (goal a 100)";
        let checked = agon_gdl::check::check(Arc::new(Source::new("game.kif", text)));
        let game = Game::open(checked.rules.expect("the rules are sound"), Default::default());
        let game = game.expect("the game opens");
        let ground = game.ground(&CircuitLimits::default()).expect("the game is small");
        let player = Player::new(&game, Some(ground.circuit));
        let options = Options { plays: 60, states: 60, ..Options::default() };
        let crown = game.parse("(crown 5)").expect("it is a term");
        let rare = player.rare_samples(&[], &options);
        assert!(
            rare.iter().any(|sample| sample.legal[0].contains(&crown)),
            "one play in 32 gets there"
        );
        let often = rare.iter().filter(|sample| !sample.legal[0].contains(&crown)).count();
        assert!(often <= 2 * FEW, "of what is often legal there is enough: {often}");
    }
}
