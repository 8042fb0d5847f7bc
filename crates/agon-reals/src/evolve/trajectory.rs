//! States between the start and the end of an evolution.

/// The states of an evolution at all times, as one polynomial for each variable and step.
#[derive(Clone, Default, Debug)]
pub struct Trajectory {
    segments: Vec<Segment>,
    duration: f64,
}

/// A step of an evolution. The states are polynomials in the fraction of the step that has passed.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// When it starts.
    pub(super) start: f64,
    /// How long it takes.
    pub(super) length: f64,
    /// For every variable the coefficients of its polynomial, lowest first.
    pub(super) coefficients: Vec<Vec<f64>>,
}

impl Trajectory {
    /// Returns when the evolution ended.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Returns whether no states were kept.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the number of polynomials for each variable.
    pub fn n_segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the state at a time, which is moved into the range from 0 to the duration. Empty if
    /// no states were kept.
    pub fn at(&self, time: f64) -> Vec<f64> {
        let time = if time.is_nan() { 0.0 } else { time.clamp(0.0, self.duration) };
        let after = self.segments.partition_point(|segment| segment.start <= time);
        match self.segments.get(after.saturating_sub(1)) {
            Some(segment) => segment.at(time),
            None => Vec::new(),
        }
    }

    pub(super) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Records when the evolution ended.
    pub(super) fn finish(&mut self, duration: f64) {
        self.duration = duration;
    }
}

impl Segment {
    /// Returns the state at a time.
    pub(super) fn at(&self, time: f64) -> Vec<f64> {
        let part = if self.length > 0.0 { (time - self.start) / self.length } else { 0.0 };
        self.at_part(part)
    }

    /// Returns the state after a fraction of the step.
    pub(super) fn at_part(&self, part: f64) -> Vec<f64> {
        self.coefficients
            .iter()
            .map(|coefficients| {
                coefficients.iter().rev().fold(0.0, |value, coefficient| value * part + coefficient)
            })
            .collect()
    }
}
