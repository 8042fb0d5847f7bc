//! The changes of numbers while a joint move is made, sampled for pictures and programs.

/// The values of changing numbers at several times of one step.
///
/// Invariant: `times` goes from 0 to `duration` and never decreases, and every list of samples is as long as
/// `times`.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The time that the step takes.
    pub duration: f64,
    /// The sampled times, from 0 to the duration.
    pub times: Vec<f64>,
    /// The times at which a condition of the rules ceased to hold, in increasing order.
    pub events: Vec<f64>,
    /// The numbers that change while time passes.
    pub values: Vec<MovingValue>,
}

/// A number that changes while time passes.
#[derive(Clone, Debug, PartialEq)]
pub struct MovingValue {
    /// The name of the function, such as `x`.
    pub function: String,
    /// The name of the element, such as `cat`.
    pub element: String,
    /// The values at the sampled times.
    pub samples: Vec<f64>,
}

impl Passage {
    /// Returns the texts of the states at the sampled times, given the state before the step. Only
    /// the numbers of the passage and the time differ. What the step does at its end, when rules
    /// are applied, is not part of them.
    pub fn states(&self, before: &[String]) -> Vec<Vec<String>> {
        let began = before.iter().find_map(|text| match words(text).as_slice() {
            ["time", number] => number.parse::<f64>().ok(),
            _ => None,
        });
        let value_of = |function: &str, element: &str| {
            self.values.iter().find(|value| value.function == function && value.element == element)
        };
        let changed = |text: &String, at: usize| match (words(text).as_slice(), began) {
            (["time", _], Some(began)) => format!("(time {})", began + self.times[at]),
            ([function, element, _], _) => match value_of(function, element) {
                Some(value) => format!("({function} {element} {})", value.samples[at]),
                None => text.clone(),
            },
            _ => text.clone(),
        };
        (0..self.times.len())
            .map(|at| before.iter().map(|text| changed(text, at)).collect())
            .collect()
    }
}

/// Returns the words of a text in one pair of parentheses.
fn words(text: &str) -> Vec<&str> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.unwrap_or(text).split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moving_numbers_and_the_time_change() {
        let value = MovingValue {
            function: "x".to_owned(),
            element: "c".to_owned(),
            samples: vec![1.0, 1.5],
        };
        let passage = Passage {
            duration: 2.0,
            times: vec![0.0, 2.0],
            events: Vec::new(),
            values: vec![value],
        };
        let before = ["(Cat c)", "(time 0.5)", "(x c 1)", "(x m 7)"].map(str::to_owned);
        let states = passage.states(&before);
        assert_eq!(states[0], ["(Cat c)", "(time 0.5)", "(x c 1)", "(x m 7)"]);
        assert_eq!(states[1], ["(Cat c)", "(time 2.5)", "(x c 1.5)", "(x m 7)"]);
    }
}
