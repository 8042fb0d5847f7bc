//! Groups of mutually exclusive fluents, and the fluent modes that follow from them.

use std::collections::BTreeMap;

use agon_datalog::{Symbol, TermId};
use agon_gdl::interpreter::Game;

use super::{Fluent, Known, Plays};
use crate::prove::{Answer, Effort, Literal, Prover};

/// A group of fluents of which at most one holds at a time, such as the possible contents of a cell
/// or the possible places of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The indices of the fluents, in ascending order.
    pub fluents: Vec<usize>,
    /// How it is known that at most one of them holds.
    pub at_most_one: Known,
    /// How it is known that one of them always holds. `None` if it is not known.
    pub exactly_one: Option<Known>,
}

/// A fluent mode. For given values of the input arguments, at most one fluent of that name holds at
/// a time, so the inputs determine the output arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The name of the fluent.
    pub name: Symbol,
    /// By argument: whether it is an input.
    pub inputs: Vec<bool>,
    /// How the mode is known.
    pub known: Known,
    /// How it is known that one such fluent always holds. `None` if it is not known.
    pub exactly_one: Option<Known>,
}

impl Mode {
    /// Returns the mode in the notation of Trutman 2015: `cell(+, +, -)`.
    pub fn text(&self, game: &Game) -> String {
        let name = game.rules().sheet().symbols.name(self.name);
        let signs: Vec<&str> =
            self.inputs.iter().map(|&input| if input { "+" } else { "-" }).collect();
        format!("{name}({})", signs.join(", "))
    }
}

/// Maximum number of arguments for which all subsets are tried as inputs. With more arguments, only
/// the sets that leave out one argument are tried.
const MANY_ARGUMENTS: usize = 4;

/// Maximum number of fluents in all candidates together.
const MAX_MEMBERS: usize = 400_000;

/// A group that may be exclusive, with the observations about it.
struct Candidate {
    /// The index into the list of modes.
    mode: usize,
    fluents: Vec<usize>,
    at_most_one: Option<Known>,
    exactly_one: Option<Known>,
}

/// Finds the groups and modes of a game. `given` are groups that have been proved before.
pub(super) fn find(
    game: &Game,
    fluents: &[Fluent],
    plays: &Plays,
    given: &[Vec<usize>],
    prover: Option<&mut Prover<'_>>,
) -> (Vec<Group>, Vec<Mode>) {
    let (mut modes, mut candidates) = candidates(game, fluents);
    observe(fluents.len(), plays, &mut candidates);
    let mut given = given.to_vec();
    given.iter_mut().for_each(|group| group.sort_unstable());
    given.sort();
    if let Some(prover) = prover {
        let is_given = |candidate: &Candidate| given.binary_search(&candidate.fluents).is_ok();
        for candidate in &mut candidates {
            if candidate.fluents.len() == 1 || is_given(candidate) {
                candidate.at_most_one = Some(Known::Proved);
            }
        }
        prove_at_most_one(prover, fluents, &mut candidates);
        prove_some(prover, fluents, &mut candidates);
    } else {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.fluents.len() == 1) {
            candidate.at_most_one = Some(Known::Proved);
        }
    }
    let mut groups: BTreeMap<Vec<usize>, Group> = BTreeMap::new();
    for candidate in &candidates {
        let mode: &mut (Mode, bool) = &mut modes[candidate.mode];
        let Some(at_most_one) = candidate.at_most_one else {
            mode.1 = false;
            continue;
        };
        mode.0.known = mode.0.known.and(at_most_one);
        mode.0.exactly_one = match (mode.0.exactly_one, candidate.exactly_one) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (None, _) | (_, None) => None,
        };
        if candidate.fluents.len() > 1 || candidate.exactly_one.is_some() {
            let (fluents, exactly_one) = (candidate.fluents.clone(), candidate.exactly_one);
            groups.insert(fluents.clone(), Group { fluents, at_most_one, exactly_one });
        }
    }
    let modes = modes.into_iter().filter(|(_, holds)| *holds).map(|(mode, _)| mode).collect();
    (groups.into_values().collect(), smallest(modes))
}

/// Returns the modes whose inputs are not a superset of the inputs of another mode that is known at
/// least as well.
fn smallest(modes: Vec<Mode>) -> Vec<Mode> {
    let is_below = |a: &Mode, b: &Mode| {
        a.name == b.name
            && a.inputs.len() == b.inputs.len()
            && a.inputs != b.inputs
            && a.inputs.iter().zip(&b.inputs).all(|(&x, &y)| !x || y)
            && a.known <= b.known
    };
    modes.iter().filter(|mode| !modes.iter().any(|other| is_below(other, mode))).cloned().collect()
}

/// Returns the possible modes, and the groups that each of them consists of.
fn candidates(game: &Game, fluents: &[Fluent]) -> (Vec<(Mode, bool)>, Vec<Candidate>) {
    let bank = game.bank();
    let mut forms: BTreeMap<(Symbol, usize), Vec<usize>> = BTreeMap::new();
    for (index, fluent) in fluents.iter().enumerate() {
        forms.entry(fluent.form).or_default().push(index);
    }
    let (mut modes, mut found) = (Vec::new(), Vec::new());
    let mut n_members = 0;
    for ((name, arity), members) in forms {
        for inputs in keys(arity) {
            n_members += members.len();
            if n_members > MAX_MEMBERS {
                break;
            }
            let mut groups: BTreeMap<Vec<TermId>, Vec<usize>> = BTreeMap::new();
            for &member in &members {
                let arguments = bank.arguments(fluents[member].term).zip(&inputs);
                let key =
                    arguments.filter(|(_, is_input)| **is_input).map(|(argument, _)| argument);
                groups.entry(key.collect()).or_default().push(member);
            }
            let mode = modes.len();
            let (known, exactly_one) = (Known::Proved, Some(Known::Proved));
            modes.push((Mode { name, inputs, known, exactly_one }, true));
            found.extend(groups.into_values().map(|fluents| Candidate {
                mode,
                fluents,
                at_most_one: None,
                exactly_one: None,
            }));
        }
    }
    (modes, found)
}

/// Returns the sets of input arguments to try: all proper subsets. A fluent without arguments is a
/// group of its own.
fn keys(arity: usize) -> Vec<Vec<bool>> {
    if arity == 0 {
        return vec![Vec::new()];
    }
    if arity > MANY_ARGUMENTS {
        return (0..arity)
            .map(|output| (0..arity).map(|argument| argument != output).collect())
            .collect();
    }
    let all = (1_usize << arity) - 1;
    (0..all).map(|key| (0..arity).map(|argument| key >> argument & 1 == 1).collect()).collect()
}

/// Marks the candidates that no play refutes as observed.
fn observe(n_fluents: usize, plays: &Plays, candidates: &mut [Candidate]) {
    let mut groups_of: Vec<Vec<u32>> = vec![Vec::new(); n_fluents];
    for (index, candidate) in (0..).zip(candidates.iter()) {
        candidate.fluents.iter().for_each(|&fluent| groups_of[fluent].push(index));
    }
    let mut is_two = vec![false; candidates.len()];
    let mut is_none = vec![false; candidates.len()];
    let mut counts = vec![0_u32; candidates.len()];
    for seen in plays.states() {
        counts.fill(0);
        for &fluent in &seen.fluents {
            groups_of[fluent as usize].iter().for_each(|&group| counts[group as usize] += 1);
        }
        for (index, &count) in counts.iter().enumerate() {
            is_two[index] |= count > 1;
            is_none[index] |= count == 0;
        }
    }
    let observed = Known::Observed { plays: plays.n_plays() };
    for (index, candidate) in candidates.iter_mut().enumerate() {
        candidate.at_most_one = (!is_two[index]).then_some(observed);
        candidate.exactly_one = (!is_two[index] && !is_none[index]).then_some(observed);
    }
}

/// Proves as many candidates as possible by simultaneous induction: if all of them hold in a state,
/// all of them hold in the next state. Each counterexample refutes at least one candidate, until
/// there is none.
fn prove_at_most_one(prover: &mut Prover<'_>, fluents: &[Fluent], candidates: &mut [Candidate]) {
    let mut left: Vec<Claim> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let n_initial =
            candidate.fluents.iter().filter(|&&fluent| fluents[fluent].is_initial).count();
        let is_open = candidate.at_most_one.is_some_and(|known| !known.is_proved());
        if !is_open || n_initial > 1 || prover.is_exhausted() {
            continue;
        }
        let base: Vec<Literal> = candidate.fluents.iter().map(|&bit| prover.base(bit)).collect();
        let next: Vec<Literal> = candidate.fluents.iter().map(|&bit| prover.next(bit)).collect();
        let holds_now = prover.fresh();
        prover.at_most_one(Some(holds_now), &base);
        let fails_next = prover.two_of(&next);
        left.push(Claim { index, holds_now, fails_next });
    }
    let proved = houdini(prover, left, |prover, index| {
        let next = candidates[index].fluents.iter().map(|&bit| prover.next(bit));
        next.filter(|&bit| prover.value(bit)).count() > 1
    });
    for index in proved {
        candidates[index].at_most_one = Some(Known::Proved);
        prover.add_lemma_at_most_one(&candidates[index].fluents);
    }
}

/// Proves by simultaneous induction for which groups one fluent always holds.
fn prove_some(prover: &mut Prover<'_>, fluents: &[Fluent], candidates: &mut [Candidate]) {
    let mut left: Vec<Claim> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let n_initial =
            candidate.fluents.iter().filter(|&&fluent| fluents[fluent].is_initial).count();
        let is_open =
            candidate.at_most_one == Some(Known::Proved) && candidate.exactly_one.is_some();
        if !is_open || n_initial != 1 || prover.is_exhausted() {
            continue;
        }
        let holds_now = prover.fresh();
        let fails_next = prover.fresh();
        let mut some = vec![!holds_now];
        some.extend(candidate.fluents.iter().map(|&bit| prover.base(bit)));
        prover.clause(&some);
        for &bit in &candidate.fluents {
            let next = prover.next(bit);
            prover.clause(&[!fails_next, !next]);
        }
        left.push(Claim { index, holds_now, fails_next });
    }
    let proved = houdini(prover, left, |prover, index| {
        !candidates[index].fluents.iter().any(|&bit| prover.value(prover.next(bit)))
    });
    for index in proved {
        candidates[index].exactly_one = Some(Known::Proved);
        prover.add_lemma_some(&candidates[index].fluents);
    }
}

/// A claim about every state, to be proved by induction.
struct Claim {
    /// The index of the candidate.
    index: usize,
    /// If this literal is true, the claim holds in the state.
    holds_now: Literal,
    /// This literal is true only if the claim does not hold in the successor state.
    fails_next: Literal,
}

/// Returns the largest set of claims found that is inductive: they hold after a step if all of them
/// hold before it.
///
/// This is the algorithm of Flanagan & Leino 2001, "Houdini, an annotation assistant for ESC/Java".
fn houdini(
    prover: &mut Prover<'_>,
    mut left: Vec<Claim>,
    is_refuted: impl Fn(&Prover<'_>, usize) -> bool,
) -> Vec<usize> {
    while !left.is_empty() {
        let some = prover.fresh();
        let mut clause: Vec<Literal> = left.iter().map(|claim| claim.fails_next).collect();
        clause.push(!some);
        prover.clause(&clause);
        let mut literals = vec![prover.step(), some];
        literals.extend(left.iter().map(|claim| claim.holds_now));
        match prover.ask_with(Effort::High, &literals) {
            Answer::Impossible => return left.into_iter().map(|claim| claim.index).collect(),
            Answer::Possible => {
                let n_before = left.len();
                left.retain(|claim| !is_refuted(prover, claim.index));
                debug_assert!(left.len() < n_before, "a counterexample breaks a claim");
                if left.len() == n_before {
                    return Vec::new();
                }
            }
            // One hard claim must not prevent the proof of the others, so the first half is tried
            // alone.
            Answer::Undecided if !prover.is_exhausted() && left.len() > 1 => {
                left.truncate(left.len() / 2);
            }
            Answer::Undecided => return Vec::new(),
        }
    }
    Vec::new()
}
