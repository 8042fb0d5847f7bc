//! The laws of [`Continuous`]: 11 and 12.

use std::collections::BTreeSet;

use rand::RngExt;

use super::{Breach, Law, breach};
use crate::{Continuous, Rng, Role};

/// Number of random members of each family that are tested.
const N_MEMBERS: usize = 3;

/// Maximum number of families of a role that are tested member by member.
const MAX_FAMILIES: usize = 64;

/// Tests the families of all roles at one position.
pub(super) fn check<P: Continuous>(position: &P, rng: &mut Rng) -> Result<(), Breach> {
    for role in position.shape().roles() {
        if position.families(role).is_empty() {
            continue;
        }
        if position.is_terminal() {
            return Err(breach(Law::Families, "there are families although play has ended"));
        }
        listed(position, role)?;
        members(position, role, rng)?;
    }
    Ok(())
}

/// Tests law 11.
fn listed<P: Continuous>(position: &P, role: Role) -> Result<(), Breach> {
    let families = position.families(role);
    let texts: BTreeSet<String> =
        families.iter().map(|family| family.text.to_ascii_lowercase()).collect();
    if texts.len() < families.len() {
        return Err(breach(Law::Families, format!("two families have one text: {families:?}")));
    }
    for listed in position.legal_moves(role) {
        let Some((family, parameters)) = position.coordinates(role, listed) else {
            return Err(breach(Law::Families, format!("{listed:?} belongs to no family")));
        };
        let member = position.member(role, family, &parameters);
        if member.as_ref() != Some(listed) {
            return Err(breach(
                Law::Families,
                format!(
                    "{listed:?} has the coordinates {family} and {parameters:?}, but they give \
                     {member:?}"
                ),
            ));
        }
    }
    Ok(())
}

/// Tests law 12.
fn members<P: Continuous>(position: &P, role: Role, rng: &mut Rng) -> Result<(), Breach> {
    let families = position.families(role).iter().enumerate().take(MAX_FAMILIES);
    for (number, family) in families {
        for _ in 0..N_MEMBERS {
            let chosen: Vec<f64> =
                family.parameters.iter().map(|p| p.at_share(rng.random())).collect();
            if let Some(m) = position.member(role, number, &chosen) {
                member(position, role, number, &chosen, &m)?;
            }
            // One number outside of its interval, or one number too many, is no move.
            let mut wrong = chosen.clone();
            match family.parameters.len() {
                0 => wrong.push(0.0),
                n => {
                    let place = rng.random_range(0..n);
                    let Some(parameter) = family.parameters.get(place) else { continue };
                    let beyond = 1.0 + parameter.high.abs() * rng.random::<f64>();
                    wrong[place] = parameter.high + beyond;
                }
            }
            if let Some(m) = position.member(role, number, &wrong) {
                return Err(breach(
                    Law::Members,
                    format!("{wrong:?} lies outside of {family:?}, but gives {m:?}"),
                ));
            }
        }
    }
    Ok(())
}

fn member<P: Continuous>(
    position: &P,
    role: Role,
    family: usize,
    chosen: &[f64],
    m: &P::Move,
) -> Result<(), Breach> {
    if !position.is_legal(role, m) {
        return Err(breach(Law::Members, format!("is_legal rejects the member {m:?}")));
    }
    let found = position.coordinates(role, m);
    if found.as_ref().map(|(family, numbers)| (*family, numbers.as_slice()))
        != Some((family, chosen))
    {
        return Err(breach(
            Law::Members,
            format!("family {family} with {chosen:?} gives {m:?}, whose coordinates are {found:?}"),
        ));
    }
    let text = position.move_text(m);
    let read = position.parse_move(role, &text);
    if read.as_ref() != Some(m) {
        return Err(breach(
            Law::Notation,
            format!("the member {m:?} is written {text:?}, which is read as {read:?}"),
        ));
    }
    Ok(())
}
