//! Single steps of explicit Runge-Kutta methods.

use crate::program::Program;

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

/// Computes steps of one system with one method. Keeps the memory for the derivatives.
pub(super) struct Stepper<'a> {
    program: &'a Program,
    scheme: Scheme,
    /// The derivatives at the stages, the result last.
    slopes: Vec<Vec<f64>>,
    argument: Vec<f64>,
    last_argument: Vec<f64>,
    registers: Vec<f64>,
    /// The result of the last step.
    pub(super) result: Vec<f64>,
    /// The estimated error of the last step. Zero if the method has no estimate.
    pub(super) error: Vec<f64>,
}

/// The index of a variable whose derivative is not a finite number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct NotFinite(pub(super) usize);

impl<'a> Stepper<'a> {
    pub(super) fn new(program: &'a Program, scheme: Scheme, n_variables: usize) -> Stepper<'a> {
        let n_stages = scheme.tableau().result.len();
        Stepper {
            program,
            scheme,
            slopes: vec![vec![0.0; n_variables]; n_stages + 1],
            argument: vec![0.0; n_variables],
            last_argument: vec![0.0; n_variables],
            registers: Vec::new(),
            result: vec![0.0; n_variables],
            error: vec![0.0; n_variables],
        }
    }

    /// Computes the derivative at the start of the first step.
    pub(super) fn start(&mut self, time: f64, state: &[f64]) -> Result<(), NotFinite> {
        self.argument.copy_from_slice(state);
        self.slope(0, time)
    }

    /// Makes the derivative at the result the one at the start of the next step.
    pub(super) fn advance(&mut self) {
        let last = self.slopes.len() - 1;
        self.slopes.swap(0, last);
    }

    /// Returns the derivative at the start of the step.
    pub(super) fn first_slope(&self) -> &[f64] {
        &self.slopes[0]
    }

    /// Computes `result`, `error` and the derivative at the result. The derivative at the start is
    /// already known.
    pub(super) fn step(&mut self, time: f64, state: &[f64], length: f64) -> Result<(), NotFinite> {
        let tableau = self.scheme.tableau();
        for (stage, weights) in tableau.stages.iter().enumerate() {
            std::mem::swap(&mut self.argument, &mut self.last_argument);
            for (variable, argument) in self.argument.iter_mut().enumerate() {
                let slope: f64 = weights
                    .iter()
                    .zip(&self.slopes)
                    .map(|(weight, slope)| weight * slope[variable])
                    .sum();
                *argument = state[variable] + length * slope;
            }
            self.slope(stage + 1, time + tableau.nodes[stage] * length)?;
        }
        std::mem::swap(&mut self.argument, &mut self.last_argument);
        for (variable, argument) in self.argument.iter_mut().enumerate() {
            let slope: f64 = tableau
                .result
                .iter()
                .zip(&self.slopes)
                .map(|(weight, slope)| weight * slope[variable])
                .sum();
            *argument = state[variable] + length * slope;
        }
        self.result.copy_from_slice(&self.argument);
        if let Some(variable) = self.result.iter().position(|value| !value.is_finite()) {
            return Err(NotFinite(variable));
        }
        self.slope(tableau.result.len(), time + length)?;
        for (variable, error) in self.error.iter_mut().enumerate() {
            let slope: f64 = tableau
                .error
                .iter()
                .zip(&self.slopes)
                .map(|(weight, slope)| weight * slope[variable])
                .sum();
            *error = length * slope;
        }
        Ok(())
    }

    /// Returns an estimate of the step length times the largest eigenvalue, from the last two
    /// stages, which are at the same time (Hairer & Wanner 1996, IV.2). Only Dormand-Prince has
    /// such stages.
    pub(super) fn stiffness(&self, length: f64) -> Option<f64> {
        if self.scheme != Scheme::DormandPrince {
            return None;
        }
        let distance = |left: &[f64], right: &[f64]| {
            libm::sqrt(left.iter().zip(right).map(|(l, r)| (l - r) * (l - r)).sum())
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
                let change = self.result[variable] - from;
                let first = length * self.slopes[0][variable];
                let last = length * self.slopes[last][variable];
                match self.scheme {
                    Scheme::DormandPrince => {
                        let bend = first - change;
                        let twist = change - last - bend;
                        let rest: f64 = DENSE
                            .iter()
                            .zip(&self.slopes)
                            .map(|(weight, slope)| weight * slope[variable])
                            .sum::<f64>()
                            * length;
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

    /// Computes the derivatives at `argument`.
    fn slope(&mut self, stage: usize, time: f64) -> Result<(), NotFinite> {
        let slope = &mut self.slopes[stage];
        self.program.run_f64(&self.argument, time, slope, &mut self.registers);
        match slope.iter().position(|value| !value.is_finite()) {
            Some(variable) => Err(NotFinite(variable)),
            None => Ok(()),
        }
    }
}
