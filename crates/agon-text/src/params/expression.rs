//! Expressions over parameters, and what stands between braces.

use std::ops::Range;

/// An expression with whole numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expression {
    Number(i64),
    Name(String),
    Binary(char, Box<Expression>, Box<Expression>),
    Negative(Box<Expression>),
}

/// What stands between a pair of braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Braces {
    /// A number.
    Value(Expression),
    /// A range, perhaps with a name. `body` is the part after the colon, if there is one.
    Range { name: Option<String>, low: Expression, high: Expression, body: Option<Range<usize>> },
}

/// What is wrong with an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault(pub(super) String);

/// Maximum nesting of parentheses and signs.
const MAX_DEPTH: usize = 50;

/// Reads what stands between braces.
pub(super) fn braces(text: &str) -> Result<Braces, Fault> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let name = reader.binding();
    let low = reader.sum()?;
    if !reader.take("..") {
        reader.end()?;
        return match name {
            None => Ok(Braces::Value(low)),
            Some(name) => Err(Fault(format!("`{name}=` needs a range such as 1..3"))),
        };
    }
    let high = reader.sum()?;
    if reader.take(":") {
        let body = reader.at..text.len();
        return Ok(Braces::Range { name, low, high, body: Some(body) });
    }
    reader.end()?;
    Ok(Braces::Range { name, low, high, body: None })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    /// Takes the longest start of the rest that consists of such characters.
    fn word(&mut self, is_part: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Takes `name =`, if that comes next.
    fn binding(&mut self) -> Option<String> {
        let start = self.at;
        let name = self.word(is_name_part);
        if super::is_name(name) && self.take("=") {
            return Some(name.to_owned());
        }
        self.at = start;
        None
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let mut left = self.product()?;
        while let Some(operator) = ['+', '-'].into_iter().find(|c| self.take(&c.to_string())) {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let mut left = self.factor()?;
        while let Some(operator) = ['*', '/', '%'].into_iter().find(|c| self.take(&c.to_string())) {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.factor()?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault(format!("expressions nest at most {MAX_DEPTH} deep")));
        }
        let factor = if self.take("(") {
            let inner = self.sum()?;
            if !self.take(")") {
                return Err(Fault("`)` is missing".to_owned()));
            }
            inner
        } else if self.take("-") {
            Expression::Negative(Box::new(self.factor()?))
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn atom(&mut self) -> Result<Expression, Fault> {
        let digits = self.word(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            let number = digits.parse().map_err(|_| Fault(format!("{digits} is too large")))?;
            return Ok(Expression::Number(number));
        }
        let name = self.word(is_name_part);
        match super::is_name(name) {
            true => Ok(Expression::Name(name.to_owned())),
            false => Err(self.unexpected("a number or the name of a parameter")),
        }
    }

    fn end(&mut self) -> Result<(), Fault> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.unexpected("an operator or `..`")) }
    }

    fn unexpected(&mut self, expected: &str) -> Fault {
        match self.rest().chars().next() {
            Some(c) => Fault(format!("`{c}` where {expected} is expected")),
            None => Fault(format!("{expected} is missing")),
        }
    }
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
}

impl Expression {
    /// Returns the names that occur, from left to right.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Name(name) => vec![name.clone()],
            Expression::Negative(inner) => inner.names(),
            Expression::Binary(_, left, right) => [left.names(), right.names()].concat(),
        }
    }

    /// Computes the value. `look_up` returns the value of a name.
    pub(super) fn value(&self, look_up: &dyn Fn(&str) -> Option<i64>) -> Result<i64, Fault> {
        let too_large = || Fault("a number is too large".to_owned());
        match self {
            Expression::Number(number) => Ok(*number),
            Expression::Name(name) => {
                look_up(name).ok_or_else(|| Fault(format!("there is no parameter `{name}`")))
            }
            Expression::Negative(inner) => {
                inner.value(look_up)?.checked_neg().ok_or_else(too_large)
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (left.value(look_up)?, right.value(look_up)?);
                if right == 0 && matches!(operator, '/' | '%') {
                    return Err(Fault("division by 0".to_owned()));
                }
                match operator {
                    '+' => left.checked_add(right),
                    '-' => left.checked_sub(right),
                    '*' => left.checked_mul(right),
                    '/' => left.checked_div_euclid(right),
                    _ => left.checked_rem_euclid(right),
                }
                .ok_or_else(too_large)
            }
        }
    }
}
