//! The laws that concern a single position: 1 and 5 to 9.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};

use super::answers::{Answers, digest};
use super::{Breach, Law, breach};
use crate::{Notation, Position, Rng, Role, Shape};

/// A move that was legal for some role at some position of the run. Here it may be illegal.
pub(super) struct ForeignMove<M> {
    pub(super) candidate: M,
    /// The text at the position where it was legal. Other positions need not be able to write it.
    pub(super) text: String,
}

/// Maximum number of a role's moves at a position that are tested one by one, evenly spaced in the
/// list. Parsing a move takes time linear in their number, and some games have thousands.
const MAX_TESTED: usize = 64;

/// Sums of chances and payoffs may be off by this much: some thousand roundings of numbers up to
/// 100.
const TOLERANCE: f64 = 1e-9;

/// Tests one position, whose answers are given. The shape is that of the start.
pub(super) fn check<P: Notation>(
    position: &P,
    answers: &Answers<P>,
    shape: &Shape,
    foreign_moves: &[ForeignMove<P::Move>],
    rng: &mut Rng,
) -> Result<(), Breach> {
    moves(answers, shape)?;
    payoffs(answers, shape)?;
    if position.shape() != shape {
        return Err(breach(
            Law::Shape,
            format!("the shape was {shape:?} and is {:?}", position.shape()),
        ));
    }
    for (role, legal) in shape.roles().zip(&answers.legal) {
        listing(position, role, legal, foreign_moves, rng)?;
        notation(position, role, legal, foreign_moves, rng)?;
    }
    if !answers.state.is_sorted() {
        return Err(breach(Law::Notation, format!("the state is not sorted: {:?}", answers.state)));
    }
    if let Some(nature) = shape.nature {
        chances(position, &answers.legal[nature.index()], foreign_moves)?;
    }
    provided(position, answers, shape, rng)
}

/// Tests law 1.
fn moves<P: Position>(answers: &Answers<P>, shape: &Shape) -> Result<(), Breach> {
    if let Some(fault) = &answers.fault
        && !answers.terminal
    {
        return Err(breach(Law::Moves, format!("play continues at a fault: {fault}")));
    }
    for (name, legal) in shape.role_names.iter().zip(&answers.legal) {
        if answers.terminal && !legal.is_empty() {
            return Err(breach(
                Law::Moves,
                format!("{name} has legal moves although play has ended: {legal:?}"),
            ));
        }
        if !answers.terminal && legal.is_empty() {
            return Err(breach(
                Law::Moves,
                format!("{name} has no legal move, but play has not ended"),
            ));
        }
    }
    Ok(())
}

/// Tests law 6, except that the shape is the same everywhere.
fn payoffs<P: Position>(answers: &Answers<P>, shape: &Shape) -> Result<(), Breach> {
    for (player, payoff) in shape.players().zip(&answers.payoffs) {
        if !shape.payoffs.contains(payoff) {
            let name = &shape.role_names[player.index()];
            let bounds = &shape.payoffs;
            return Err(breach(
                Law::Shape,
                format!("{name} gets {payoff}, which is not within {bounds:?}"),
            ));
        }
    }
    if let Some(claimed) = shape.constant_sum
        && answers.terminal
        && answers.fault.is_none()
    {
        let sum: f64 = answers.payoffs.iter().sum();
        if (sum - claimed).abs() > TOLERANCE {
            return Err(breach(
                Law::Shape,
                format!("payoffs add up to {sum}, and the shape claims {claimed}"),
            ));
        }
    }
    let n_choosing =
        shape.players().filter(|player| answers.legal[player.index()].len() > 1).count();
    if shape.turn_taking && n_choosing > 1 {
        return Err(breach(
            Law::Shape,
            format!("{n_choosing} players have a choice in a turn-taking game"),
        ));
    }
    Ok(())
}

/// Tests law 7.
fn listing<P: Notation>(
    position: &P,
    role: Role,
    legal: &[P::Move],
    foreign_moves: &[ForeignMove<P::Move>],
    rng: &mut Rng,
) -> Result<(), Breach> {
    let name = &position.shape().role_names[role.index()];
    let mut seen: BTreeMap<u64, Vec<&P::Move>> = BTreeMap::new();
    for listed in legal {
        let alike = seen.entry(digest(listed)).or_default();
        if alike.contains(&listed) {
            return Err(breach(
                Law::Listing,
                format!("the move {listed:?} of {name} is listed twice"),
            ));
        }
        alike.push(listed);
    }
    for listed in sample(legal, rng) {
        if !position.is_legal(role, listed) {
            return Err(breach(
                Law::Listing,
                format!("is_legal rejects the listed move {listed:?} of {name}"),
            ));
        }
    }
    // The list of a continuous game is a sample.
    let strangers = if position.shape().continuous { &[] } else { foreign_moves };
    for ForeignMove { candidate, .. } in strangers {
        if position.is_legal(role, candidate) && !legal.contains(candidate) {
            return Err(breach(
                Law::Listing,
                format!("is_legal accepts the move {candidate:?} of {name}, which is not listed"),
            ));
        }
    }
    Ok(())
}

/// Tests law 9, except for the order of the state's parts.
fn notation<P: Notation>(
    position: &P,
    role: Role,
    legal: &[P::Move],
    foreign_moves: &[ForeignMove<P::Move>],
    rng: &mut Rng,
) -> Result<(), Breach> {
    let name = &position.shape().role_names[role.index()];
    for listed in sample(legal, rng) {
        let text = position.move_text(listed);
        let spaced = format!("  {}\n", text.replace(' ', "  "));
        for spelling in [&text, &spaced, &text.to_ascii_uppercase(), &text.to_ascii_lowercase()] {
            let read = position.parse_move(role, spelling);
            if read.as_ref() != Some(listed) {
                return Err(breach(
                    Law::Notation,
                    format!(
                        "move {listed:?} of {name} is written {text:?}, \
                         but {spelling:?} is read as {read:?}"
                    ),
                ));
            }
        }
    }
    let texts: BTreeSet<String> =
        legal.iter().map(|listed| position.move_text(listed).to_ascii_lowercase()).collect();
    let others = foreign_moves.iter().map(|foreign| foreign.text.as_str());
    for text in others.chain([""]).filter(|text| !texts.contains(&text.to_ascii_lowercase())) {
        let is_unlisted = |m: &P::Move| position.shape().continuous && position.is_legal(role, m);
        if let Some(read) = position.parse_move(role, text)
            && !is_unlisted(&read)
        {
            return Err(breach(
                Law::Notation,
                format!("{text:?} is not a legal move of {name}, but is read as {read:?}"),
            ));
        }
    }
    Ok(())
}

/// Tests law 5.
fn chances<P: Position>(
    position: &P,
    legal: &[P::Move],
    foreign_moves: &[ForeignMove<P::Move>],
) -> Result<(), Breach> {
    let mut sum = 0.0;
    for listed in legal {
        let chance = position.chance(listed);
        if !(0.0..=1.0).contains(&chance) {
            return Err(breach(Law::Chance, format!("the chance of {listed:?} is {chance}")));
        }
        sum += chance;
    }
    // A terminal position has no moves, so there is nothing to add up.
    if !legal.is_empty() && (sum - 1.0).abs() > TOLERANCE {
        return Err(breach(Law::Chance, format!("the chances of nature's moves add up to {sum}")));
    }
    for ForeignMove { candidate, .. } in
        foreign_moves.iter().filter(|foreign| !legal.contains(&foreign.candidate))
    {
        let chance = position.chance(candidate);
        if chance != 0.0 {
            return Err(breach(
                Law::Chance,
                format!(
                    "the chance of {candidate:?} is {chance}, but it is not a legal move of nature"
                ),
            ));
        }
    }
    Ok(())
}

/// Tests law 8, except for `play_out`.
fn provided<P: Notation>(
    position: &P,
    answers: &Answers<P>,
    shape: &Shape,
    rng: &mut Rng,
) -> Result<(), Breach> {
    let choosers: Vec<Role> = position.choosers().collect();
    let choosing: Vec<Role> =
        shape.roles().filter(|role| answers.legal[role.index()].len() > 1).collect();
    if choosers != choosing {
        return Err(breach(
            Law::Provided,
            format!("choosers are {choosers:?}, but {choosing:?} have more than one legal move"),
        ));
    }
    if answers.terminal {
        return Ok(());
    }
    let seed: u64 = rng.random();
    let mut joint = Vec::new();
    position.draw(&mut Rng::seed_from_u64(seed), &mut joint);
    // The second time the buffer is not empty, as in any playout.
    let mut again = joint.clone();
    position.draw(&mut Rng::seed_from_u64(seed), &mut again);
    if joint != again {
        return Err(breach(
            Law::Provided,
            format!("the same seed draws {joint:?} and then {again:?}"),
        ));
    }
    if joint.len() != answers.legal.len() {
        return Err(breach(
            Law::Provided,
            format!("{joint:?} was drawn, which is not one move for each role"),
        ));
    }
    for ((drawn, legal), role) in joint.iter().zip(&answers.legal).zip(shape.roles()) {
        let name = &shape.role_names[role.index()];
        let is_unlisted = shape.continuous && position.is_legal(role, drawn);
        if !legal.contains(drawn) && !is_unlisted {
            return Err(breach(
                Law::Provided,
                format!("{drawn:?} was drawn, which is not legal for {name}"),
            ));
        }
    }
    if shape.continuous {
        return drawn_texts(position, &joint);
    }
    if let Some(nature) = shape.nature
        && position.chance(&joint[nature.index()]) == 0.0
    {
        let drawn = &joint[nature.index()];
        return Err(breach(Law::Provided, format!("nature drew {drawn:?}, which has chance 0")));
    }
    Ok(())
}

/// Tests law 9 for the drawn moves of a continuous game: records contain their texts.
fn drawn_texts<P: Notation>(position: &P, joint: &[P::Move]) -> Result<(), Breach> {
    for (role, drawn) in position.shape().roles().zip(joint) {
        let text = position.move_text(drawn);
        let read = position.parse_move(role, &text);
        if read.as_ref() != Some(drawn) {
            return Err(breach(
                Law::Notation,
                format!("{drawn:?} was drawn and is written {text:?}, which is read as {read:?}"),
            ));
        }
    }
    Ok(())
}

/// Returns at most `MAX_TESTED` of the moves, evenly spaced.
fn sample<'a, M>(moves: &'a [M], rng: &mut Rng) -> impl Iterator<Item = &'a M> + use<'a, M> {
    let stride = moves.len().div_ceil(MAX_TESTED).max(1);
    moves.iter().skip(rng.random_range(0..stride)).step_by(stride)
}
