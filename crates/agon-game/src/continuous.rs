//! Games whose moves have real parameters, such as a speed, a direction or a duration.

use crate::{Notation, Passage, Role};

/// A game whose moves may have real parameters.
///
/// Such moves come in families: a family is a discrete choice, such as a rule and the elements it
/// is applied to, together with an interval for each parameter. [`crate::Position::legal_moves`]
/// lists a finite sample of each family, so that every search can play, and
/// [`crate::Position::is_legal`] accepts every value within the intervals.
///
/// A discrete game has no families. It implements the trait with an empty body.
///
/// # Laws
/// 11. Every legal move of a role is `member(role, f, p)` for exactly one family `f` and exactly
///     one list `p` of parameters, or there are no families.
/// 12. `coordinates(role, member(role, f, p))` is `(f, p)`, and `member` gives a move exactly if
///     every parameter lies within its interval and the rules allow the move.
pub trait Continuous: Notation {
    /// Returns the families of moves of a role here. The list is empty if the game is discrete or
    /// play has ended.
    fn families(&self, role: Role) -> &[Family] {
        let _ = role;
        &[]
    }

    /// Returns the move of a family with these values of its parameters; `None` if a value lies
    /// outside its interval or the rules forbid the move.
    fn member(&self, role: Role, family: usize, parameters: &[f64]) -> Option<Self::Move> {
        let _ = (role, family, parameters);
        None
    }

    /// Returns the family and the parameters of a legal move.
    fn coordinates(&self, role: Role, m: &Self::Move) -> Option<(usize, Vec<f64>)> {
        let _ = (role, m);
        None
    }

    /// Returns numbers that tell how far the position is from what the rules ask for: by how much a
    /// comparison holds or fails, and the numbers that payoffs consist of. The list has the same
    /// length at all positions of a game. It is empty if the rules compare no numbers.
    fn margins(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Returns the states that joint moves lead to from here, in their order. They are the same as
    /// those of single steps. Games with differential equations may solve them side by side.
    fn successors(&self, joints: &[Vec<Self::Move>]) -> Vec<Self::State> {
        let mut position = self.clone();
        let mut states = Vec::with_capacity(joints.len());
        for joint in joints {
            position.advance(joint);
            states.push(position.state().clone());
            position.go_to(self.state());
        }
        states
    }

    /// Returns how numbers change while a legal joint move is made from here, at `n_points` equally
    /// spaced times and at all events. Returns `None` if no time passes.
    fn passage(&self, joint: &[Self::Move], n_points: usize) -> Option<Passage> {
        let _ = (joint, n_points);
        None
    }

    /// Returns the payoff of a role at the end of a line of joint moves, as a polynomial in the
    /// numbers of the role's moves, one after the other. It is valid as long as the same rules are
    /// applied, no event comes up and no comparison changes its truth, so it is one piece of a
    /// function that consists of pieces. Returns `None` where the payoff is not such a polynomial
    /// or it is not known.
    fn payoff_along(&self, line: &[Vec<Self::Move>], role: Role) -> Option<Polynomial> {
        let _ = (line, role);
        None
    }
}

/// A polynomial in several variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    /// The coefficients, each with the exponents of all variables.
    pub terms: Vec<(f64, Vec<u32>)>,
}

impl Polynomial {
    /// Returns the value at a point.
    pub fn at(&self, point: &[f64]) -> f64 {
        let power = |(x, exponent): (&f64, &u32)| (0..*exponent).fold(1.0, |power, _| power * x);
        let term = |(coefficient, exponents): &(f64, Vec<u32>)| {
            coefficient * point.iter().zip(exponents).map(power).product::<f64>()
        };
        self.terms.iter().map(term).sum()
    }

    /// Returns the coefficients by exponent of one variable, with all others at a point.
    pub fn along(&self, variable: usize, point: &[f64]) -> Vec<f64> {
        let mut coefficients = Vec::new();
        for (coefficient, exponents) in &self.terms {
            let degree = exponents.get(variable).copied().unwrap_or(0) as usize;
            if coefficients.len() <= degree {
                coefficients.resize(degree + 1, 0.0);
            }
            let mut rest = exponents.clone();
            if let Some(own) = rest.get_mut(variable) {
                *own = 0;
            }
            let rest = Polynomial { terms: vec![(*coefficient, rest)] };
            coefficients[degree] += rest.at(point);
        }
        coefficients
    }
}

/// Moves that differ only in their real parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The text of the moves without parameters, such as `(Chase c)`.
    pub text: String,
    /// The parameters, in the order of the moves' texts. A family without parameters is one move.
    pub parameters: Vec<Parameter>,
}

/// A real parameter of a move, with the interval of its values. The bounds belong to the interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name of the parameter; `t` is the duration.
    pub name: String,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

impl Family {
    /// Returns whether a text is a move of the family: it names the family and gives each parameter
    /// a number within its interval. The rules may still forbid the move.
    pub fn contains(&self, text: &str) -> bool {
        let is_name = |name: &str| {
            self.parameters.iter().any(|parameter| parameter.name.eq_ignore_ascii_case(name))
        };
        let (family, numbers) = split_numbers(text, is_name);
        normal(&self.text) == family && self.order(&numbers).is_some()
    }

    /// Returns what is wrong with the numbers of a text that names the family: one is missing, lies
    /// outside its interval, or is not a parameter. Returns `None` if the text names another move,
    /// or if nothing is wrong.
    pub fn mistake(&self, text: &str) -> Option<String> {
        let known = |name: &str| {
            self.parameters.iter().find(|parameter| parameter.name.eq_ignore_ascii_case(name))
        };
        let own = normal(&self.text);
        let mut split = split_numbers(text, |name| known(name).is_some());
        if split.0 != own {
            split = split_numbers(text, |_| true);
        }
        let (family, numbers) = split;
        if family != own {
            return self.no_number(text);
        }
        for (place, (name, number)) in numbers.iter().enumerate() {
            let Some(Parameter { low, high, .. }) = known(name) else {
                return Some(format!("it has no parameter `{name}`"));
            };
            if !(*low <= *number && *number <= *high) {
                return Some(format!("{name} = {number} does not lie from {low} to {high}"));
            }
            if numbers[..place].iter().any(|(other, _)| other == name) {
                return Some(format!("`{name}` is given twice"));
            }
        }
        let is_given = |parameter: &&Parameter| {
            numbers.iter().any(|(name, _)| parameter.name.eq_ignore_ascii_case(name))
        };
        let missing = self.parameters.iter().find(|parameter| !is_given(parameter))?;
        let Parameter { name, low, high } = missing;
        Some(format!("`{name}` is missing; it lies from {low} to {high}"))
    }

    /// Returns what is wrong with a text that names the family, but gives a parameter something
    /// that is not a decimal number, such as a fraction.
    fn no_number(&self, text: &str) -> Option<String> {
        let text = normal(text);
        let own = normal(&self.text);
        if !text.starts_with(own.trim_end_matches(" )")) {
            return None;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(4).find_map(|part| {
            let ["(", name, word, ")"] = part else { return None };
            let is_number = word.parse::<f64>().is_ok_and(f64::is_finite);
            let parameter = self.parameters.iter().find(|p| p.name.eq_ignore_ascii_case(name))?;
            (!is_number).then(|| {
                format!(
                    "`{word}` is not a decimal number; `{}` lies from {} to {}",
                    parameter.name, parameter.low, parameter.high
                )
            })
        })
    }

    /// Returns named numbers in the order of the parameters. Returns `None` if one is missing, lies
    /// outside its interval, or is not a parameter.
    pub fn order(&self, numbers: &[(String, f64)]) -> Option<Vec<f64>> {
        if numbers.len() != self.parameters.len() {
            return None;
        }
        let find = |parameter: &Parameter| {
            let named = |(name, _): &&(String, f64)| name.eq_ignore_ascii_case(&parameter.name);
            let (_, number) = numbers.iter().find(named)?;
            (parameter.low <= *number && *number <= parameter.high).then_some(*number)
        };
        self.parameters.iter().map(find).collect()
    }
}

/// Splits the text of a move into its family, in normal form, and its numbers: parts such as
/// `(t 0.5)` whose first word is the name of a parameter. Other parts may contain numbers too,
/// because elements may have numbers as names.
pub fn split_numbers(
    text: &str,
    is_parameter: impl Fn(&str) -> bool,
) -> (String, Vec<(String, f64)>) {
    let text = normal(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut family: Vec<&str> = Vec::new();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if at > 0
            && let ["(", name, number, ")"] = words[at..(at + 4).min(words.len())]
            && let Ok(number) = number.parse::<f64>()
            && number.is_finite()
            && is_parameter(name)
        {
            numbers.push((name.to_owned(), number));
            at += 4;
        } else {
            family.push(words[at]);
            at += 1;
        }
    }
    (family.join(" "), numbers)
}

/// Returns a text in lower case, with single spaces between its words and parentheses.
pub fn normal(text: &str) -> String {
    let spaced = text.to_lowercase().replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Parameter {
    /// Returns the value at a share of the interval: 0 gives the least value, 1 the greatest.
    pub fn at_share(&self, share: f64) -> f64 {
        (self.low + share * (self.high - self.low)).clamp(self.low, self.high)
    }
}
