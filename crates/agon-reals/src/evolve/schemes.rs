//! Single steps of explicit Runge-Kutta methods.

use crate::program::{Bundle, Program};

/// A table of coefficients (Butcher 1964). Row `i` of `stages` weighs the derivatives before stage
/// `i + 1`.
struct Tableau {
    nodes: &'static [f64],
    stages: &'static [&'static [f64]],
    /// Weights of the derivatives in the result.
    result: &'static [f64],
    /// Weights of the derivatives in the difference to a result of lower order.
    error: &'static [f64],
}

/// Dormand & Prince (1980), order 5(4). The seventh stage is the derivative at the result.
const DORMAND_PRINCE: Tableau = Tableau {
    nodes: &[0.2, 0.3, 0.8, 8.0 / 9.0, 1.0],
    stages: &[
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    ],
    result: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    error: &[
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339_200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
};

/// Weights of the fifth coefficient of the dense output (Hairer, Nørsett & Wanner 1993).
const DENSE: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

/// Cash & Karp (1990), order 5(4).
const CASH_KARP: Tableau = Tableau {
    nodes: &[0.2, 0.3, 0.6, 1.0, 0.875],
    stages: &[
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[0.3, -0.9, 1.2],
        &[-11.0 / 54.0, 2.5, -70.0 / 27.0, 35.0 / 27.0],
        &[1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110_592.0, 253.0 / 4096.0],
    ],
    result: &[37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0],
    error: &[
        37.0 / 378.0 - 2825.0 / 27648.0,
        0.0,
        250.0 / 621.0 - 18575.0 / 48384.0,
        125.0 / 594.0 - 13525.0 / 55296.0,
        -277.0 / 14336.0,
        512.0 / 1771.0 - 0.25,
    ],
};

/// The classical method of order 4 (Kutta 1901).
const CLASSICAL: Tableau = Tableau {
    nodes: &[0.5, 0.5, 1.0],
    stages: &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    result: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    error: &[],
};

/// A Runge-Kutta method.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) enum Scheme {
    /// Dormand & Prince (1980).
    DormandPrince,
    /// Cash & Karp (1990).
    CashKarp,
    /// The classical method with fixed steps.
    RungeKutta4 {
        /// The length of a step.
        step: f64,
    },
}

impl Scheme {
    fn tableau(self) -> &'static Tableau {
        match self {
            Scheme::DormandPrince => &DORMAND_PRINCE,
            Scheme::CashKarp => &CASH_KARP,
            Scheme::RungeKutta4 { .. } => &CLASSICAL,
        }
    }
}

/// Computes steps of systems of one form with one method, one system in each lane. Keeps the memory
/// for the derivatives. A lane computes the same, bit by bit, whatever the other lanes contain.
pub(super) struct Stepper<const LANES: usize> {
    bundle: Bundle<LANES>,
    scheme: Scheme,
    /// The derivatives at the stages, the result last.
    slopes: Vec<Vec<[f64; LANES]>>,
    argument: Vec<[f64; LANES]>,
    last_argument: Vec<[f64; LANES]>,
    registers: Vec<[f64; LANES]>,
    /// The results of the last step.
    pub(super) result: Vec<[f64; LANES]>,
    /// The estimated errors of the last step. Zero if the method has no estimate.
    pub(super) error: Vec<[f64; LANES]>,
    /// The first variable whose derivative was not finite in the last step, by lane.
    not_finite: [Option<usize>; LANES],
}

/// The index of a variable whose derivative is not a finite number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct NotFinite(pub(super) usize);

impl<const LANES: usize> Stepper<LANES> {
    pub(super) fn new(program: &Program, scheme: Scheme, n_variables: usize) -> Stepper<LANES> {
        let n_stages = scheme.tableau().result.len();
        let zeros = || vec![[0.0; LANES]; n_variables];
        Stepper {
            bundle: Bundle::new(program),
            scheme,
            slopes: vec![zeros(); n_stages + 1],
            argument: zeros(),
            last_argument: zeros(),
            registers: Vec::new(),
            result: zeros(),
            error: zeros(),
            not_finite: [None; LANES],
        }
    }

    /// Computes the derivatives at the start of the first step.
    pub(super) fn start(&mut self, time: [f64; LANES], state: &[[f64; LANES]]) {
        self.not_finite = [None; LANES];
        self.argument.copy_from_slice(state);
        self.slope(0, time);
    }

    /// Returns whether the last step of a lane had finite derivatives.
    pub(super) fn outcome(&self, lane: usize) -> Result<(), NotFinite> {
        self.not_finite[lane].map_or(Ok(()), |variable| Err(NotFinite(variable)))
    }

    /// Makes the derivative at the result the one at the start of the next step.
    pub(super) fn advance(&mut self) {
        let last = self.slopes.len() - 1;
        self.slopes.swap(0, last);
    }

    /// Makes the derivative at the result the one at the start of the next step, in one lane.
    pub(super) fn advance_lane(&mut self, lane: usize) {
        let last = self.slopes.len() - 1;
        for variable in 0..self.argument.len() {
            self.slopes[0][variable][lane] = self.slopes[last][variable][lane];
        }
    }

    /// Computes `result`, `error` and the derivative at the result. The derivative at the start is
    /// already known.
    pub(super) fn step(
        &mut self,
        time: [f64; LANES],
        state: &[[f64; LANES]],
        length: [f64; LANES],
    ) {
        self.not_finite = [None; LANES];
        let tableau = self.scheme.tableau();
        for (stage, weights) in tableau.stages.iter().enumerate() {
            self.move_argument(weights, state, length);
            let node = tableau.nodes[stage];
            self.slope(stage + 1, std::array::from_fn(|lane| time[lane] + node * length[lane]));
            // One lane ends here, as no later stage matters. Among several lanes the others go on.
            if LANES == 1 && self.not_finite[0].is_some() {
                return;
            }
        }
        self.move_argument(tableau.result, state, length);
        self.result.copy_from_slice(&self.argument);
        self.note_not_finite(|stepper, variable| &stepper.result[variable]);
        if LANES == 1 && self.not_finite[0].is_some() {
            return;
        }
        let end = std::array::from_fn(|lane| time[lane] + length[lane]);
        self.slope(tableau.result.len(), end);
        for variable in 0..self.error.len() {
            let slope = weighted(tableau.error, &self.slopes, variable);
            self.error[variable] = std::array::from_fn(|lane| length[lane] * slope[lane]);
        }
    }

    fn move_argument(&mut self, weights: &[f64], state: &[[f64; LANES]], length: [f64; LANES]) {
        std::mem::swap(&mut self.argument, &mut self.last_argument);
        for (variable, argument) in self.argument.iter_mut().enumerate() {
            let slope = weighted(weights, &self.slopes, variable);
            let from = &state[variable];
            *argument = std::array::from_fn(|lane| from[lane] + length[lane] * slope[lane]);
        }
    }

    /// Computes the derivatives at `argument`.
    fn slope(&mut self, stage: usize, time: [f64; LANES]) {
        self.bundle.run(&self.argument, time, &mut self.slopes[stage], &mut self.registers);
        self.note_not_finite(|stepper, variable| &stepper.slopes[stage][variable]);
    }

    /// Notes for each lane the first variable with a value that is not finite.
    fn note_not_finite(&mut self, value: impl Fn(&Self, usize) -> &[f64; LANES]) {
        for variable in 0..self.argument.len() {
            let values = *value(self, variable);
            if values.iter().all(|value| value.is_finite()) {
                continue;
            }
            for (lane, value) in values.iter().enumerate() {
                if !value.is_finite() && self.not_finite[lane].is_none() {
                    self.not_finite[lane] = Some(variable);
                }
            }
        }
    }

    /// Puts a system of the same form with its derivative at the start into a lane.
    pub(super) fn set_lane(&mut self, lane: usize, program: &Program, other: &Stepper<1>) {
        self.bundle.set_lane(lane, program);
        for (slope, other) in self.slopes[0].iter_mut().zip(&other.slopes[0]) {
            slope[lane] = other[0];
        }
    }
}

/// Returns a weighted sum of derivatives.
fn weighted<const LANES: usize>(
    weights: &[f64],
    slopes: &[Vec<[f64; LANES]>],
    variable: usize,
) -> [f64; LANES] {
    let mut sum = [0.0; LANES];
    for (weight, slope) in weights.iter().zip(slopes) {
        for (sum, slope) in sum.iter_mut().zip(&slope[variable]) {
            *sum += weight * slope;
        }
    }
    sum
}

impl Stepper<1> {
    /// Returns the derivative of a variable at the start of the step.
    pub(super) fn first_slope(&self) -> Vec<f64> {
        self.slopes[0].iter().map(|slope| slope[0]).collect()
    }

    /// Takes over the result and the error of a lane.
    pub(super) fn take_result<const LANES: usize>(&mut self, from: &Stepper<LANES>, lane: usize) {
        take(&mut self.result, &from.result, lane);
        take(&mut self.error, &from.error, lane);
    }

    /// Takes over the stages of a lane, which the dense output and the test of stiffness need.
    pub(super) fn take_stages<const LANES: usize>(&mut self, from: &Stepper<LANES>, lane: usize) {
        for (slope, from) in self.slopes.iter_mut().zip(&from.slopes) {
            take(slope, from, lane);
        }
        take(&mut self.argument, &from.argument, lane);
        take(&mut self.last_argument, &from.last_argument, lane);
    }

    /// Returns an estimate of the step length times the largest eigenvalue, from the last two
    /// stages, which are at the same time (Hairer & Wanner 1996, IV.2). Only Dormand-Prince has
    /// such stages.
    pub(super) fn stiffness(&self, length: f64) -> Option<f64> {
        if self.scheme != Scheme::DormandPrince {
            return None;
        }
        let distance = |left: &[[f64; 1]], right: &[[f64; 1]]| {
            libm::sqrt(left.iter().zip(right).map(|([l], [r])| (l - r) * (l - r)).sum())
        };
        let slopes = distance(&self.slopes[6], &self.slopes[5]);
        let arguments = distance(&self.argument, &self.last_argument);
        (arguments > 0.0).then(|| length * slopes / arguments)
    }

    /// Returns polynomials in the fraction of the last step that has passed.
    pub(super) fn dense(&self, state: &[f64], length: f64) -> Vec<Vec<f64>> {
        let last = self.slopes.len() - 1;
        state
            .iter()
            .enumerate()
            .map(|(variable, &from)| {
                let change = self.result[variable][0] - from;
                let first = length * self.slopes[0][variable][0];
                let last = length * self.slopes[last][variable][0];
                match self.scheme {
                    Scheme::DormandPrince => {
                        let bend = first - change;
                        let twist = change - last - bend;
                        let [rest] = weighted(&DENSE, &self.slopes, variable);
                        let rest = rest * length;
                        vec![from, change + bend, twist + rest - bend, -twist - 2.0 * rest, rest]
                    }
                    // The cubic of Hermite, from values and derivatives at both ends.
                    Scheme::CashKarp | Scheme::RungeKutta4 { .. } => vec![
                        from,
                        first,
                        3.0 * change - 2.0 * first - last,
                        first + last - 2.0 * change,
                    ],
                }
            })
            .collect()
    }
}

fn take<const LANES: usize>(into: &mut [[f64; 1]], from: &[[f64; LANES]], lane: usize) {
    into.iter_mut().zip(from).for_each(|(into, from)| into[0] = from[lane]);
}
