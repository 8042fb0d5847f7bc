//! Expressions of XPath 1.0: their syntax and their parser.

use super::StylesheetError;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Or(Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Arithmetic(Operation, Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
    Union(Box<Expr>, Box<Expr>),
    Variable(String),
    Literal(String),
    Number(f64),
    Call(String, Vec<Expr>),
    /// Steps from the root of the document, or from the current node.
    Path {
        is_absolute: bool,
        steps: Vec<Step>,
    },
    /// Steps from the nodes of an expression that satisfy predicates.
    Filter {
        from: Box<Expr>,
        predicates: Vec<Expr>,
        steps: Vec<Step>,
    },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: NodeTest,
    pub(super) predicates: Vec<Expr>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Itself,
    Parent,
    Ancestor,
    FollowingSibling,
    PrecedingSibling,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeTest {
    Name(String),
    AnyElement,
    Text,
    AnyNode,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Literal(String),
    Variable(String),
    Name(String),
    /// A symbol, or a word that is an operator here.
    Symbol(&'static str),
}

/// Symbols, longer ones before their beginnings.
const SYMBOLS: [&str; 20] = [
    "//", "::", "!=", "<=", ">=", "..", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
    "<", ">",
];

/// Maximum depth of parentheses, predicates and signs.
const MAX_DEPTH: usize = 100;

/// Parses an expression.
///
/// # Errors
/// [`StylesheetError`] with the expression if it is not of XPath 1.0, or uses what is not supported.
pub(super) fn parse(text: &str) -> Result<Expr, StylesheetError> {
    let fail = |why: String| StylesheetError::new(format!("`{text}`: {why}"));
    let tokens = tokens(text).map_err(&fail)?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let expr = parser.or().map_err(&fail)?;
    match parser.tokens.get(parser.at) {
        None => Ok(expr),
        Some(token) => Err(fail(format!("{token:?} is not expected"))),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name_length = |text: &str| text.find(|c| !is_name(c)).unwrap_or(text.len());
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let is_decimal = first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() || is_decimal {
            let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = rest[..length].parse().map_err(|_| "a number is malformed".to_owned())?;
            tokens.push(Token::Number(number));
            rest = &rest[length..];
        } else if first == '"' || first == '\'' {
            let end = rest[1..].find(first).ok_or("a text is not closed")?;
            tokens.push(Token::Literal(rest[1..=end].to_owned()));
            rest = &rest[end + 2..];
        } else if first == '$' {
            let length = name_length(&rest[1..]);
            if length == 0 {
                return Err("a variable has no name".to_owned());
            }
            tokens.push(Token::Variable(rest[1..=length].to_owned()));
            rest = &rest[length + 1..];
        } else if first == '*' {
            let symbol = if operator_fits(&tokens) { "times" } else { "*" };
            tokens.push(Token::Symbol(symbol));
            rest = &rest[1..];
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else if first.is_alphabetic() || first == '_' {
            let length = name_length(rest);
            let name = &rest[..length];
            let word = ["and", "or", "div", "mod"].into_iter().find(|word| *word == name);
            tokens.push(match word {
                Some(word) if operator_fits(&tokens) => Token::Symbol(word),
                _ => Token::Name(name.to_owned()),
            });
            rest = &rest[length..];
        } else {
            return Err(format!("`{first}` is not expected"));
        }
    }
}

/// Returns whether an operator may come next (XPath 1.0, section 3.7).
fn operator_fits(tokens: &[Token]) -> bool {
    match tokens.last() {
        None => false,
        Some(Token::Symbol(symbol)) => matches!(*symbol, ")" | "]" | "." | ".." | "*"),
        Some(Token::Number(_) | Token::Literal(_) | Token::Variable(_) | Token::Name(_)) => true,
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

/// A function that makes an expression of two operands.
type Make<'m> = &'m dyn Fn(Box<Expr>, Box<Expr>) -> Expr;

impl Parser {
    fn peek(&self, symbol: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Symbol(found)) if *found == symbol)
    }

    fn take(&mut self, symbol: &str) -> bool {
        let is_there = self.peek(symbol);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(format!("`{symbol}` is missing")) }
    }

    /// Parses operands with operators of one precedence between them, from the left.
    fn binary(
        &mut self,
        operators: &[(&str, Make<'_>)],
        operand: fn(&mut Parser) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let mut left = operand(self)?;
        while let Some((symbol, make)) = operators.iter().find(|(symbol, _)| self.peek(symbol)) {
            self.expect(symbol)?;
            left = make(Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn or(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let expr = self.binary(&[("or", &Expr::Or)], Parser::and);
        self.depth -= 1;
        expr
    }

    fn and(&mut self) -> Parsed<Expr> {
        self.binary(&[("and", &Expr::And)], Parser::equality)
    }

    fn equality(&mut self) -> Parsed<Expr> {
        self.binary(
            &[
                ("=", &|a, b| Expr::Compare(Comparison::Equal, a, b)),
                ("!=", &|a, b| Expr::Compare(Comparison::Different, a, b)),
            ],
            Parser::relational,
        )
    }

    fn relational(&mut self) -> Parsed<Expr> {
        self.binary(
            &[
                ("<=", &|a, b| Expr::Compare(Comparison::AtMost, a, b)),
                (">=", &|a, b| Expr::Compare(Comparison::AtLeast, a, b)),
                ("<", &|a, b| Expr::Compare(Comparison::Less, a, b)),
                (">", &|a, b| Expr::Compare(Comparison::Greater, a, b)),
            ],
            Parser::additive,
        )
    }

    fn additive(&mut self) -> Parsed<Expr> {
        self.binary(
            &[
                ("+", &|a, b| Expr::Arithmetic(Operation::Add, a, b)),
                ("-", &|a, b| Expr::Arithmetic(Operation::Subtract, a, b)),
            ],
            Parser::multiplicative,
        )
    }

    fn multiplicative(&mut self) -> Parsed<Expr> {
        self.binary(
            &[
                ("times", &|a, b| Expr::Arithmetic(Operation::Multiply, a, b)),
                ("div", &|a, b| Expr::Arithmetic(Operation::Divide, a, b)),
                ("mod", &|a, b| Expr::Arithmetic(Operation::Remainder, a, b)),
            ],
            Parser::unary,
        )
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let mut is_negative = false;
        while self.take("-") {
            is_negative = !is_negative;
        }
        let expr = self.binary(&[("|", &Expr::Union)], Parser::path)?;
        Ok(if is_negative { Expr::Negate(Box::new(expr)) } else { expr })
    }

    fn path(&mut self) -> Parsed<Expr> {
        let Some(primary) = self.primary()? else { return self.location_path() };
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        if self.take("//") {
            steps.push(anywhere());
            self.relative_path(&mut steps)?;
        } else if self.take("/") {
            self.relative_path(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Ok(primary);
        }
        Ok(Expr::Filter { from: Box::new(primary), predicates, steps })
    }

    /// Parses an expression that is not a path, if there is one.
    fn primary(&mut self) -> Parsed<Option<Expr>> {
        if self.take("(") {
            let expr = self.or()?;
            self.expect(")")?;
            return Ok(Some(expr));
        }
        let next = matches!(self.tokens.get(self.at + 1), Some(Token::Symbol("(")));
        let expr = match self.tokens.get(self.at) {
            Some(Token::Number(number)) => Expr::Number(*number),
            Some(Token::Literal(text)) => Expr::Literal(text.clone()),
            Some(Token::Variable(name)) => Expr::Variable(name.clone()),
            Some(Token::Name(name)) if next && !is_node_type(name) => {
                let name = name.clone();
                self.at += 2;
                let mut arguments = Vec::new();
                while !self.take(")") {
                    if !arguments.is_empty() {
                        self.expect(",")?;
                    }
                    arguments.push(self.or()?);
                }
                return Ok(Some(Expr::Call(name, arguments)));
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(expr))
    }

    fn location_path(&mut self) -> Parsed<Expr> {
        let mut steps = Vec::new();
        let is_absolute = self.peek("/") || self.peek("//");
        if self.take("//") {
            steps.push(anywhere());
            self.relative_path(&mut steps)?;
        } else if self.take("/") {
            if self.begins_step() {
                self.relative_path(&mut steps)?;
            }
        } else {
            self.relative_path(&mut steps)?;
        }
        Ok(Expr::Path { is_absolute, steps })
    }

    fn begins_step(&self) -> bool {
        ["*", ".", "..", "@"].iter().any(|symbol| self.peek(symbol))
            || matches!(self.tokens.get(self.at), Some(Token::Name(_)))
    }

    fn relative_path(&mut self, steps: &mut Vec<Step>) -> Parsed<()> {
        loop {
            steps.push(self.step()?);
            if self.take("//") {
                steps.push(anywhere());
            } else if !self.take("/") {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        for (symbol, axis) in [("..", Axis::Parent), (".", Axis::Itself)] {
            if self.take(symbol) {
                return Ok(Step { axis, test: NodeTest::AnyNode, predicates: Vec::new() });
            }
        }
        if self.peek("@") {
            return Err("states have no attributes, so `@` is not supported".to_owned());
        }
        let mut axis = Axis::Child;
        if let (Some(Token::Name(name)), Some(Token::Symbol("::"))) =
            (self.tokens.get(self.at), self.tokens.get(self.at + 1))
        {
            axis = match name.as_str() {
                "child" => Axis::Child,
                "descendant" => Axis::Descendant,
                "descendant-or-self" => Axis::DescendantOrSelf,
                "self" => Axis::Itself,
                "parent" => Axis::Parent,
                "ancestor" => Axis::Ancestor,
                "following-sibling" => Axis::FollowingSibling,
                "preceding-sibling" => Axis::PrecedingSibling,
                other => return Err(format!("the axis `{other}` is not supported")),
            };
            self.at += 2;
        }
        let test = if self.take("*") {
            NodeTest::AnyElement
        } else {
            let Some(Token::Name(name)) = self.tokens.get(self.at).cloned() else {
                return Err("the name of an element is missing".to_owned());
            };
            self.at += 1;
            match name.as_str() {
                "text" | "node" if self.take("(") => {
                    self.expect(")")?;
                    if name == "text" { NodeTest::Text } else { NodeTest::AnyNode }
                }
                _ => NodeTest::Name(name),
            }
        };
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn predicates(&mut self) -> Parsed<Vec<Expr>> {
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.or()?);
            self.expect("]")?;
        }
        Ok(predicates)
    }
}

fn is_node_type(name: &str) -> bool {
    matches!(name, "text" | "node" | "comment" | "processing-instruction")
}

/// The step that `//` stands for.
fn anywhere() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: NodeTest::AnyNode, predicates: Vec::new() }
}
