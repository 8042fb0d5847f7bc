//! The values of functions while time passes in a step, sampled from the dense output of the
//! solver.

use std::collections::BTreeMap;

use agon_game::{MovingValue, Passage};
use agon_reals::evolve::EvolveOptions;
use agon_structures::structure::{Element, FunctionId};

use super::moves::Move;
use super::position::Interpreter;
use super::state::Phase;

/// Maximum number of equally spaced times at which a step is sampled.
const MAX_POINTS: usize = 1000;

impl Interpreter {
    /// Returns how values change while a joint move is made. Returns `None` if no time passes or
    /// the move cannot be made.
    pub(super) fn passage_of(&self, joint: &[Move], n_points: usize) -> Option<Passage> {
        let content = self.state.content();
        let start = content.values.as_deref()?;
        if content.phase != Phase::Choose {
            return None;
        }
        let options = EvolveOptions { keep_trajectory: true, ..self.game.evolve_options().clone() };
        let applications = self.applications(joint).ok()?;
        let motions = self.step_after(&applications, None, &options).ok()?.motions;
        let lengths: Vec<f64> = motions.iter().map(|motion| motion.trajectory.duration()).collect();
        let duration: f64 = lengths.iter().sum();
        if duration.is_nan() || duration <= 0.0 {
            return None;
        }
        let moving = motions.iter().flat_map(|motion| motion.moving.iter().copied());
        let mut now: BTreeMap<(FunctionId, Element), f64> =
            moving.map(|(f, e)| ((f, e), start.get(f, e).midpoint())).collect();
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); now.len()];
        let (mut times, mut events) = (Vec::new(), Vec::new());
        let spacing = duration / (n_points.clamp(2, MAX_POINTS) - 1) as f64;
        let mut began = 0.0;
        for (number, (motion, length)) in motions.iter().zip(&lengths).enumerate() {
            let end = began + length;
            let is_last = number + 1 == motions.len();
            let mut inner = Vec::new();
            if number == 0 {
                inner.push(0.0);
            }
            // The first multiple of the spacing after the beginning, then one after the other. The
            // end itself is always sampled.
            let mut multiple = (began / spacing) as u64 + 1;
            while (multiple as f64) * spacing < end - 1e-9 * duration {
                inner.push(multiple as f64 * spacing - began);
                multiple += 1;
            }
            inner.push(*length);
            for time in inner {
                for (place, value) in motion.moving.iter().zip(motion.trajectory.at(time)) {
                    now.insert(*place, value);
                }
                for (list, value) in samples.iter_mut().zip(now.values()) {
                    list.push(*value);
                }
                times.push(if time == *length && is_last { duration } else { began + time });
            }
            if motion.is_event {
                events.push(end);
            }
            began = end;
        }
        let vocabulary = self.game.arena().vocabulary();
        let named =
            |((function, element), samples): (&(FunctionId, Element), Vec<f64>)| MovingValue {
                function: vocabulary.function_name(*function).to_string(),
                element: content.structure.name(*element).to_string(),
                samples,
            };
        let values = now.keys().zip(samples).map(named).collect();
        Some(Passage { duration, times, events, values })
    }
}
