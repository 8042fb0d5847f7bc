//! States of random plays, by the game's circuit where it has one.
//!
//! A circuit lists moves and fluents in the interpreter's order, so the same seed gives the same plays either way.

use std::sync::Arc;

use agon_circuit::{Circuit, ScalarCircuit};
use agon_game::{Notation, Position as _, Rng};
use agon_gdl::interpreter::{Game, Interpreter};
use agon_logic::TermId;
use rand::SeedableRng as _;

use super::Options;

/// With more gates a step is no faster than by the rules.
const MAX_GATES: usize = 1_500_000;

/// A state of a random play.
#[derive(Clone, Debug)]
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
    let legal =
        position.shape().roles().map(|role| position.legal_moves(role).iter().map(|m| m.term()).collect());
    Sample {
        fluents: position.state().fluents().to_vec(),
        legal: legal.collect(),
        is_terminal: position.is_terminal(),
    }
}

fn drawn<P: Notation>(mut position: P, options: &Options, sample: &dyn Fn(&P) -> Sample) -> Vec<Sample> {
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
        let parsed = position.shape().roles().zip(joint).map(|(role, text)| position.parse_move(role, text));
        let Some(joint) = parsed.collect::<Option<Vec<_>>>() else { break };
        position.advance(&joint);
        samples.push(sample(&position));
    }
    samples
}
