//! Turn-taking: which role has a choice when, noop moves, and control fluents.

use agon_game::{Position, Rng, Role};
use agon_gdl::circuit::Compiled;
use agon_gdl::interpreter::Game;
use rand::SeedableRng as _;

use super::{Known, Plays};
use crate::prove::{Answer, Literal, ProofLimits, Prover};

/// Which role has a choice in which states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// How it is known that at most one player has a choice at a time. `None` if it is not so, not
    /// known, or there is only one player.
    pub turn_taking: Option<Known>,
    /// By role: its turns.
    pub roles: Vec<RoleTurns>,
}

/// The turns of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleTurns {
    /// The text of the noop: the only legal move of the role whenever another player has a choice.
    pub noop: Option<(String, Known)>,
    /// The control fluent: it holds whenever the role has a choice, and never when another player
    /// has one.
    pub control: Option<(usize, Known)>,
}

impl Turns {
    /// Forgets what is only observed.
    pub(super) fn drop_observed(&mut self) {
        self.turn_taking = self.turn_taking.filter(|known| known.is_proved());
        for role in &mut self.roles {
            role.noop = role.noop.take().filter(|(_, known)| known.is_proved());
            role.control = role.control.filter(|(_, known)| known.is_proved());
        }
    }
}

pub(super) fn find(
    game: &Game,
    compiled: Option<&Compiled>,
    plays: &Plays,
    prover: Option<&mut Prover<'_>>,
) -> Turns {
    let players: Vec<usize> = game.shape().players().map(agon_game::Role::index).collect();
    let mut turns = observe(game, plays, &players);
    let (Some(prover), Some(compiled)) = (prover, compiled) else { return turns };
    let circuit = &compiled.circuit;
    // By role: a literal that is true only if the role has a choice.
    let choice: Vec<Literal> = circuit
        .role_ids()
        .map(|role| {
            let legal: Vec<Literal> = circuit.outputs.legal[role.index()]
                .iter()
                .map(|&legal| prover.now(legal))
                .collect();
            prover.two_of(&legal)
        })
        .collect();
    let goes_on = prover.fresh();
    let terminal = prover.now(circuit.outputs.terminal);
    prover.clause(&[!goes_on, !terminal]);
    if turns.turn_taking.is_some() {
        let mut pairs = Vec::new();
        for (place, &a) in players.iter().enumerate() {
            pairs.extend(players[place + 1..].iter().map(|&b| (a, b)));
        }
        let is_proved = compiled.turns.is_some()
            || pairs
                .iter()
                .all(|&(a, b)| prover.ask(&[goes_on, choice[a], choice[b]]) == Answer::Impossible);
        if is_proved {
            turns.turn_taking = Some(Known::Proved);
        }
    }
    for &role in &players {
        let others: Vec<usize> = players.iter().copied().filter(|&other| other != role).collect();
        if let Some((text, known)) = &mut turns.roles[role].noop {
            let moves = &circuit.roles[role].moves;
            let index =
                moves.iter().position(|m| m == text).expect("the noop is a move of the role");
            let legal = prover.now(circuit.outputs.legal[role][index]);
            // If another player has a choice, the noop is legal. No other move is, because then the
            // role would have a choice too.
            let is_proved = turns.turn_taking == Some(Known::Proved)
                && others.iter().all(|&other| {
                    prover.ask(&[goes_on, choice[other], !legal]) == Answer::Impossible
                });
            if is_proved {
                *known = Known::Proved;
            }
        }
        if let Some((bit, known)) = &mut turns.roles[role].control {
            let token = prover.base(*bit);
            let is_proved = prover.ask(&[goes_on, choice[role], !token]) == Answer::Impossible
                && others.iter().all(|&other| {
                    prover.ask(&[goes_on, choice[other], token]) == Answer::Impossible
                });
            if is_proved {
                *known = Known::Proved;
            }
        }
    }
    turns
}

/// Returns whether it is proved that at most one player has a choice at a time, nature aside.
///
/// The result does not depend on the clock, and the budget is small: what is hard to prove is not
/// reported. This is weaker than [`Compiled::turns`], by which searches pass over waiting moves.
pub fn prove_turn_taking(compiled: &Compiled) -> bool {
    let players: Vec<Role> = compiled.shape().players().collect();
    if compiled.turns.is_some() || players.len() < 2 {
        return true;
    }
    let circuit = &compiled.circuit;
    let mut position = compiled.start();
    if circuit.n_gates() > MAX_PROOF_GATES || is_refuted(&mut position, &players) {
        return false;
    }
    let limits = ProofLimits {
        gates: MAX_PROOF_GATES,
        conflicts: 2_000,
        conflicts_in_all: 6_000,
        ..ProofLimits::default()
    };
    let Some(mut prover) = Prover::new(circuit, &limits) else { return false };
    compiled.groups.iter().for_each(|group| prover.add_lemma_at_most_one(group));
    let goes_on = prover.fresh();
    let terminal = prover.now(circuit.outputs.terminal);
    prover.clause(&[!goes_on, !terminal]);
    let mut choices = Vec::new();
    for role in &players {
        let legal = circuit.outputs.legal[role.index()].iter();
        let legal: Vec<Literal> = legal.map(|&legal| prover.now(legal)).collect();
        choices.push(prover.two_of(&legal));
    }
    choices.iter().enumerate().all(|(place, &a)| {
        let mut others = choices[place + 1..].iter();
        others.all(|&b| prover.ask(&[goes_on, a, b]) == Answer::Impossible)
    })
}

/// Maximum number of gates of a circuit for which turn-taking is proved.
const MAX_PROOF_GATES: usize = 100_000;
/// Number of random plays that may refute turn-taking before a proof is tried.
const N_REFUTING_PLAYS: usize = 16;
/// Maximum number of steps of such a play.
const MAX_STEPS: usize = 100;

/// Returns whether random plays find a state in which two players have a choice.
fn is_refuted<P: Position>(position: &mut P, players: &[Role]) -> bool {
    let mut rng = Rng::seed_from_u64(0);
    let start = position.state().clone();
    let mut joint = Vec::new();
    for _ in 0..N_REFUTING_PLAYS {
        position.go_to(&start);
        for _ in 0..MAX_STEPS {
            if position.is_terminal() {
                break;
            }
            let n_choosing =
                players.iter().filter(|role| position.legal_moves(**role).len() > 1).count();
            if n_choosing > 1 {
                return true;
            }
            joint.clear();
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
    false
}

fn observe(game: &Game, plays: &Plays, players: &[usize]) -> Turns {
    let n_roles = game.shape().role_names.len();
    let mut turns = Turns { turn_taking: None, roles: vec![RoleTurns::default(); n_roles] };
    let observed = Known::Observed { plays: plays.n_plays() };
    let is_turn_taking = plays
        .states()
        .all(|seen| players.iter().filter(|&&role| seen.legal[role].len() > 1).count() <= 1);
    if players.len() > 1 && is_turn_taking && plays.n_plays() > 0 {
        turns.turn_taking = Some(observed);
    }
    for &role in players {
        let chooses = |role: usize| plays.states().filter(move |seen| seen.legal[role].len() > 1);
        let others = || players.iter().filter(|&&other| other != role);
        let mut waiting = others().flat_map(|&other| chooses(other));
        let first = waiting.next().map(|seen| seen.legal[role].clone());
        turns.roles[role].noop = match first.as_deref() {
            Some(&[only]) if waiting.all(|seen| seen.legal[role] == [only]) => {
                Some((plays.moves[role][only as usize].clone(), observed))
            }
            _ => None,
        };
        let mut own = chooses(role);
        let Some(first) = own.next() else { continue };
        let mut tokens = first.fluents.clone();
        own.for_each(|seen| tokens.retain(|token| seen.fluents.binary_search(token).is_ok()));
        for seen in others().flat_map(|&other| chooses(other)) {
            tokens.retain(|token| seen.fluents.binary_search(token).is_err());
        }
        if others().any(|&other| chooses(other).next().is_some()) {
            turns.roles[role].control = tokens.first().map(|&token| (token as usize, observed));
        }
    }
    turns
}
