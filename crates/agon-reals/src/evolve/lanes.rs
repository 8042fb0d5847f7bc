//! Many evolutions at once. Systems of one form are stepped side by side in lanes, each with its own
//! step lengths and events. The results are those of single evolutions, bit by bit.

use std::array;

use super::adaptive::{Judgement, Run, Scheme, program};
use super::schemes::Stepper;
use super::{Evolution, EvolveError, Problem};
use crate::program::Program;

/// Number of lanes.
const LANES: usize = 8;

/// Number of systems of one form below which they are solved one after the other, because a step
/// of all lanes takes as long as a few single steps.
const LEAST_GROUP: usize = 4;

type Outcome = Result<Evolution, EvolveError>;

/// Evolves problems with a Runge-Kutta method. Returns the results in their order.
pub(super) fn evolve(problems: &[(&Problem<'_>, Scheme)]) -> Vec<Outcome> {
    let mut outcomes: Vec<Option<Outcome>> = problems.iter().map(|_| None).collect();
    let mut groups: Vec<(Scheme, Vec<(usize, Program)>)> = Vec::new();
    for (index, (problem, scheme)) in problems.iter().enumerate() {
        let own = program(problem);
        let fits = |(other, members): &&mut (Scheme, Vec<(usize, Program)>)| {
            let (first, form) = &members[0];
            other == scheme
                && problems[*first].0.start.len() == problem.start.len()
                && form.has_form_of(&own)
        };
        match groups.iter_mut().find(fits) {
            Some((_, members)) => members.push((index, own)),
            None => groups.push((*scheme, vec![(index, own)])),
        }
    }
    for (scheme, members) in groups {
        let mut runs: Vec<(usize, Run<'_>)> = members
            .into_iter()
            .map(|(index, program)| (index, Run::new(problems[index].0, scheme, program)))
            .collect();
        if runs.len() < LEAST_GROUP {
            for (index, run) in &mut runs {
                outcomes[*index] = Some(run.evolve());
            }
        } else {
            evolve_group(scheme, runs, &mut outcomes);
        }
    }
    let ended = |outcome: Option<Outcome>| outcome.expect("every evolution ends");
    outcomes.into_iter().map(ended).collect()
}

/// Evolves systems of one form. A lane whose evolution has ended takes the next one.
fn evolve_group(scheme: Scheme, runs: Vec<(usize, Run<'_>)>, outcomes: &mut [Option<Outcome>]) {
    let Some((_, first)) = runs.first() else { return };
    let n_variables = first.state.len();
    let mut stepper: Stepper<LANES> = Stepper::new(&first.program, scheme, n_variables);
    let mut states = vec![[0.0; LANES]; n_variables];
    let mut waiting = runs.into_iter();
    let mut lanes: [Option<(usize, Run<'_>)>; LANES] = array::from_fn(|_| None);
    let (mut times, mut lengths) = ([0.0; LANES], [0.0; LANES]);
    loop {
        for (lane, slot) in lanes.iter_mut().enumerate() {
            lengths[lane] = 0.0;
            loop {
                if slot.is_none() {
                    let Some((index, mut run)) = waiting.next() else { break };
                    match run.begin() {
                        Ok(None) => {}
                        Ok(Some(ended)) => {
                            outcomes[index] = Some(Ok(ended));
                            continue;
                        }
                        Err(error) => {
                            outcomes[index] = Some(Err(error));
                            continue;
                        }
                    }
                    stepper.set_lane(lane, &run.program, &run.stepper);
                    set_state(&mut states, lane, &run.state);
                    *slot = Some((index, run));
                }
                let Some((index, run)) = slot else { break };
                let outcome = match run.propose() {
                    Ok(Some(length)) => {
                        (times[lane], lengths[lane]) = (run.time, length);
                        break;
                    }
                    Ok(None) => Ok(run.finish_in_time()),
                    Err(error) => Err(error),
                };
                outcomes[*index] = Some(outcome);
                *slot = None;
            }
        }
        if lanes.iter().all(Option::is_none) {
            return;
        }
        stepper.step(times, &states, lengths);
        for (lane, slot) in lanes.iter_mut().enumerate() {
            let Some((index, run)) = slot else { continue };
            run.stepper.take_result(&stepper, lane);
            let take_stages = |own: &mut Stepper<1>| own.take_stages(&stepper, lane);
            let outcome = match run.judge(lengths[lane], stepper.outcome(lane), take_stages) {
                Ok(Judgement::Rejected) => continue,
                Ok(Judgement::Accepted) => {
                    set_state(&mut states, lane, &run.state);
                    stepper.advance_lane(lane);
                    continue;
                }
                Ok(Judgement::Ended(ended)) => Ok(ended),
                Err(error) => Err(error),
            };
            outcomes[*index] = Some(outcome);
            *slot = None;
        }
    }
}

fn set_state(states: &mut [[f64; LANES]], lane: usize, state: &[f64]) {
    states.iter_mut().zip(state).for_each(|(lanes, value)| lanes[lane] = *value);
}
