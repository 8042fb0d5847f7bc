//! Explains positions: why a move is legal or not, which elements satisfy a formula, the value of
//! a term.

use std::fmt;

use agon_game::{Continuous as _, Notation as _, Position as _, Role, split_numbers};
use agon_reals::real::Real;
use agon_structures::evaluate::EvaluationError;
use agon_structures::formula::{Formula, Sort, Term, Variable};
use agon_structures::structure::{Element, Structure};
use agon_text::{Source, Span, render};

use crate::arena::{ArenaRule, Edge, Multiplicity, Reason, RuleId};
use crate::check::{lower_formula, lower_term};
use crate::interpreter::{Interpreter, Move, PositionError};
use crate::read::{read_formula, read_term};
use crate::syntax::Name;

/// Maximum number of witnesses that an explanation lists.
const MAX_WITNESSES: usize = 20;

/// Maximum number of witnesses that are returned as data, enough to mark them on a board.
const MAX_ASSIGNMENTS: usize = 400;

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The question, as it was understood.
    pub question: String,
    /// Whether the move is legal or the formula holds; `None` for a term.
    pub holds: Option<bool>,
    /// The reasons, witnesses or values.
    pub findings: Vec<Finding>,
    /// The first assignments that satisfy a formula with free variables: each variable with the
    /// name of its element.
    pub witnesses: Vec<Vec<(String, String)>>,
}

/// A part of an explanation.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the condition holds, if this part is a condition.
    pub holds: Option<bool>,
    /// The statement.
    pub text: String,
    /// The place in the rules that the statement comes from.
    pub span: Option<Span>,
}

/// The reason why a question was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExplainError {
    /// The question names a rule with the wrong number of elements.
    WrongNumber {
        /// The name of the rule.
        rule: String,
        /// The names of the elements that the rule is applied to.
        expected: Vec<String>,
        /// The number of elements in the question.
        found: usize,
    },
    /// The question names an element that does not exist at this position.
    UnknownElement(String),
    /// The question is neither a move nor a well-formed formula or term. The text shows the
    /// diagnostics.
    Malformed(String),
    /// A term has a free variable, so it has no single value.
    FreeVariable(String),
    /// Evaluating the answer exceeded the limits of the game.
    Evaluation(String),
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainError::WrongNumber { rule, expected, found } => write!(
                f,
                "`{rule}` is applied to {} element{} ({}), not to {found}",
                expected.len(),
                if expected.len() == 1 { "" } else { "s" },
                expected.join(", "),
            ),
            ExplainError::UnknownElement(name) => write!(f, "there is no element `{name}` here"),
            ExplainError::Malformed(diagnostics) => f.write_str(diagnostics),
            ExplainError::FreeVariable(variable) => write!(
                f,
                "`{variable}` is free in the term: sum over it, `Sum ({variable} | … : …)`"
            ),
            ExplainError::Evaluation(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ExplainError {}

impl From<EvaluationError> for ExplainError {
    fn from(error: EvaluationError) -> ExplainError {
        ExplainError::Evaluation(error.to_string())
    }
}

impl From<PositionError> for ExplainError {
    fn from(error: PositionError) -> ExplainError {
        ExplainError::Evaluation(error.to_string())
    }
}

/// Answers a question: a move such as `(Cross a1)`, a formula, or a term.
///
/// Names of elements denote themselves. Other free variables of a formula ask for all elements that
/// satisfy it.
///
/// # Errors
/// If the question cannot be understood, or if evaluating it exceeds the limits of the game.
pub fn explain(position: &Interpreter, question: &str) -> Result<Explanation, ExplainError> {
    let roles = position.shape().roles();
    let names: Vec<String> = roles.flat_map(|role| position.number_names(role)).collect();
    let rules = position.game().arena().rules();
    let is_same = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
    let first = question.split(|c: char| c.is_whitespace() || "(),".contains(c));
    let first = first.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
    // In a move with numbers, `(pz 0)` is a number even if no rule has a parameter of that name. A
    // finding says so then. `(to 1)` and `(as fast)` distinguish edges.
    let has_numbers = !names.is_empty() && rules.iter().any(|rule| is_same(&rule.name, first));
    let is_name = |name: &str| {
        names.iter().any(|known| is_same(known, name))
            || (has_numbers && !is_same("to", name) && !is_same("as", name))
    };
    let (family, numbers) = split_numbers(question, is_name);
    let words: Vec<&str> = family
        .split(|c: char| c.is_whitespace() || "(),".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let named = words
        .first()
        .and_then(|first| rules.iter().position(|rule| rule.name.eq_ignore_ascii_case(first)));
    let structure = position.state().structure();
    let is_element =
        |word: &str| structure.elements().any(|e| is_same(structure.name(e).as_ref(), word));
    let is_number =
        |word: &&&str| names.iter().any(|name| is_same(name, word)) && !is_element(word);
    if let (Some(_), Some(name)) = (named, words.iter().skip(1).find(is_number)) {
        // It was not split off, so it has no finite number.
        let text = format!("`{name}` in the move has no number, or one that is not finite");
        return Err(ExplainError::Malformed(text));
    }
    match named {
        Some(index) => explain_move(position, RuleId::new(index), &words[1..], &numbers),
        None => explain_sentence(position, question),
    }
}

fn explain_move(
    position: &Interpreter,
    id: RuleId,
    words: &[&str],
    numbers: &[(String, f64)],
) -> Result<Explanation, ExplainError> {
    let arena = position.game().arena();
    let rule = arena.rule(id);
    // A trailing `(to 1)` or `(as fast)` distinguishes edges; the elements come before it.
    let is_mark = |word: &&str| ["to", "as"].iter().any(|mark| word.eq_ignore_ascii_case(mark));
    let (words, marks) = words.split_at(words.iter().position(is_mark).unwrap_or(words.len()));
    let location = arena.location(position.state().location());
    let is_all = |edge: &Edge| edge.rule == id && edge.multiplicity == Multiplicity::All;
    let takes_all = location.edges.iter().flatten().any(is_all);
    if words.len() == 1
        && words[0].eq_ignore_ascii_case("all")
        && (takes_all || rule.elements.len() != 1)
    {
        return explain_all(position, id, takes_all);
    }
    let is_set = |edge: &Edge| edge.rule == id && edge.multiplicity == Multiplicity::Some;
    let n_elements = rule.elements.len();
    // A set of embeddings: their elements follow one another.
    let n_embeddings = match location.edges.iter().flatten().any(is_set) && n_elements > 0 {
        true if words.len().is_multiple_of(n_elements) => (words.len() / n_elements).max(1),
        _ => 1,
    };
    let structure = position.state().structure();
    let mut embedding = Vec::new();
    match n_embeddings {
        1 => embedding = named_elements(structure, rule, words)?,
        _ => {
            for words in words.chunks(n_elements) {
                embedding.extend(named_elements(structure, rule, words)?);
            }
        }
    }
    let mut findings = Vec::new();
    let is_edge = location.edges.iter().flatten().any(|edge| edge.rule == id);
    if !is_edge {
        let text = format!("no player may apply it at the location `{}`", location.name);
        findings.push(Finding { holds: Some(false), text, span: Some(location.span) });
    }
    match n_embeddings {
        1 => explain_condition(position, rule, &embedding, &mut findings)?,
        _ => {
            for embedding in embedding.chunks(n_elements) {
                explain_condition(position, rule, embedding, &mut findings)?;
            }
        }
    }
    for (earlier, wanted) in &rule.history {
        let was = position.state().history().contains(earlier);
        let text = format!(
            "{}`{}` was applied before",
            if *wanted { "" } else { "not: " },
            arena.rule(*earlier).name
        );
        findings.push(Finding { holds: Some(was == *wanted), text, span: Some(rule.span) });
    }
    explain_numbers(position, id, numbers, &mut findings);
    let mut question = format!("({}", rule.name);
    if n_embeddings > 1 {
        for embedding in embedding.chunks(n_elements) {
            let names: Vec<String> =
                embedding.iter().map(|&e| structure.name(e).to_string()).collect();
            question.push_str(&format!(" ({})", names.join(" ")));
        }
    } else {
        embedding.iter().for_each(|&e| question.push_str(&format!(" {}", structure.name(e))));
    }
    marks.chunks(2).for_each(|mark| question.push_str(&format!(" ({})", mark.join(" "))));
    numbers.iter().for_each(|(name, x)| question.push_str(&format!(" ({name} {x})")));
    question.push(')');
    let asked = Asked { question: &question, has_numbers: !numbers.is_empty() };
    explain_post(position, id, &embedding, asked, &mut findings)?;
    // Conditions that hold are only of interest if all hold.
    let holds = findings.iter().all(|finding| finding.holds != Some(false));
    if !holds {
        findings.retain(|finding| finding.holds == Some(false));
    }
    Ok(Explanation { question, holds: Some(holds), findings, witnesses: Vec::new() })
}

/// Explains a move that applies a rule to all its embeddings. `takes_all` says whether there is
/// such a move at the location.
fn explain_all(
    position: &Interpreter,
    id: RuleId,
    takes_all: bool,
) -> Result<Explanation, ExplainError> {
    let arena = position.game().arena();
    let rule = arena.rule(id);
    let mut findings = Vec::new();
    if !takes_all {
        let location = arena.location(position.state().location());
        let text =
            format!("no player may apply it to all embeddings at the location `{}`", location.name);
        findings.push(Finding { holds: Some(false), text, span: Some(location.span) });
    }
    let n = position.embeddings(id)?.len();
    let text = match n {
        0 => "the rule has no embedding here".to_owned(),
        1 => "the rule has one embedding here".to_owned(),
        n => format!("the rule has {n} embeddings here"),
    };
    findings.push(Finding { holds: Some(n > 0), text, span: Some(rule.span) });
    let question = format!("({} all)", rule.name);
    let holds = takes_all && n > 0;
    Ok(Explanation { question, holds: Some(holds), findings, witnesses: Vec::new() })
}

/// Adds a finding for each number of a move that is missing, unknown or outside its interval.
fn explain_numbers(
    position: &Interpreter,
    id: RuleId,
    numbers: &[(String, f64)],
    findings: &mut Vec<Finding>,
) {
    let rule = position.game().arena().rule(id);
    let families = position.shape().roles().flat_map(|role| position.families(role));
    let head = format!("({}", rule.name);
    let named = |family: &&agon_game::Family| {
        family.text.strip_prefix(&head).is_some_and(|rest| rest.starts_with([' ', ')']))
    };
    let Some(family) = families.into_iter().find(named) else { return };
    let mut add = |holds: bool, text: String| {
        findings.push(Finding { holds: Some(holds), text, span: Some(rule.span) });
    };
    for parameter in &family.parameters {
        let (name, low, high) = (&parameter.name, parameter.low, parameter.high);
        match numbers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)) {
            None if numbers.is_empty() => {}
            None => add(false, format!("`{name}` is missing; it lies from {low} to {high}")),
            Some((_, number)) => {
                let text = format!("{name} = {number} lies from {low} to {high}");
                add(low <= *number && *number <= high, text);
            }
        }
    }
    for (given, _) in numbers {
        if !family.parameters.iter().any(|p| p.name.eq_ignore_ascii_case(given)) {
            add(false, format!("the move has no parameter `{given}`"));
        }
    }
}

/// Finds the elements that the words of a move name.
fn named_elements(
    structure: &Structure,
    rule: &ArenaRule,
    words: &[&str],
) -> Result<Vec<Element>, ExplainError> {
    if words.len() != rule.elements.len() {
        return Err(ExplainError::WrongNumber {
            rule: rule.name.clone(),
            expected: rule.elements.iter().map(|element| element.name().to_owned()).collect(),
            found: words.len(),
        });
    }
    let element = |word: &&str| {
        let found = structure
            .elements()
            .find(|&element| structure.name(element).eq_ignore_ascii_case(word));
        found.ok_or_else(|| ExplainError::UnknownElement((*word).to_owned()))
    };
    words.iter().map(element).collect()
}

/// Adds a finding for each part of the condition of a rule.
fn explain_condition(
    position: &Interpreter,
    rule: &ArenaRule,
    embedding: &[Element],
    findings: &mut Vec<Finding>,
) -> Result<(), ExplainError> {
    let structure = position.state().structure();
    for part in &rule.parts {
        let holds = position
            .holds(&part.formula, &rule.elements, embedding)
            .map_err(ExplainError::Evaluation)?;
        let reason = match part.reason {
            Reason::Tuple => "on the left side",
            Reason::Embedded => "embedded exactly",
            Reason::Different => "different elements",
            Reason::Match => "to be matched",
            Reason::Pre => "precondition",
        };
        let instance = instance(&part.formula, &rule.elements, embedding, structure);
        let text = format!("{instance}, {reason}");
        findings.push(Finding { holds: Some(holds), text, span: Some(part.span) });
    }
    Ok(())
}

/// A move in a question.
#[derive(Copy, Clone)]
struct Asked<'a> {
    question: &'a str,
    /// Whether the question gives the numbers of the move.
    has_numbers: bool,
}

/// Adds a finding for the post-condition of a rule, if it has one that decides about the move, and
/// its other conditions hold. Where several players act, the post-condition is about their joint
/// result, and the move is legal without it.
fn explain_post(
    position: &Interpreter,
    id: RuleId,
    elements: &[Element],
    asked: Asked<'_>,
    findings: &mut Vec<Finding>,
) -> Result<(), ExplainError> {
    let arena = position.game().arena();
    let rule = arena.rule(id);
    let is_concurrent = arena.location(position.state().location()).is_concurrent();
    // If the condition fails, the rule cannot be applied and there is no structure after it.
    let fails = findings.iter().any(|finding| finding.holds == Some(false));
    let is_set = elements.len() > rule.elements.len();
    if fails || is_concurrent || (rule.post.is_none() && !is_set) {
        return Ok(());
    }
    let is_listed = |role: Role| {
        let is_same = |m: &Move| match m {
            Move::Apply { edge, elements: own, .. } => {
                edge.edge(arena).rule == id && **own == *elements
            }
            _ => false,
        };
        position.legal_moves(role).iter().any(is_same)
    };
    let is_legal = |role: Role| match asked.has_numbers || is_set {
        true => position.parse_move(role, asked.question).is_some(),
        false => is_listed(role),
    };
    // In a continuous game the moment of application depends on the numbers of the move.
    let holds = if position.state().values().is_some() || is_set {
        position.shape().roles().any(is_legal)
    } else {
        position.post_holds(id, elements)?
    };
    let (text, span) = match &rule.post {
        Some(post) => (format!("{}, afterwards", post.formula), post.span),
        None => ("the embeddings have no common elements".to_owned(), rule.span),
    };
    findings.push(Finding { holds: Some(holds), text, span: Some(span) });
    Ok(())
}

/// Writes a formula with the elements that its variables denote.
fn instance(
    formula: &Formula,
    variables: &[Variable],
    elements: &[Element],
    structure: &Structure,
) -> String {
    let free = formula.free_variables();
    let bound: Vec<String> = variables
        .iter()
        .zip(elements)
        .filter(|(variable, _)| free.contains(variable))
        .map(|(variable, &element)| format!("{variable} = {}", structure.name(element)))
        .collect();
    if bound.is_empty() {
        formula.to_string()
    } else {
        format!("{formula} with {}", bound.join(", "))
    }
}

fn explain_sentence(position: &Interpreter, question: &str) -> Result<Explanation, ExplainError> {
    let source = Source::new("the question", question);
    let sheet = position.game().arena().sheet();
    let malformed = |findings: &agon_text::Diagnostics| {
        ExplainError::Malformed(render(&findings.0, &source, false))
    };
    // A constant denotes its element, so it is not a free variable.
    let vocabulary = position.game().arena().vocabulary();
    let mut words = names(question);
    words.retain(|word| vocabulary.constant(&word.text).is_none());
    match read_formula(&source) {
        Ok(formula) => match lower_formula(sheet, &formula, &words) {
            Ok(formula) => explain_formula(position, &formula),
            // `sqrt(2)` alone has the form of an atom.
            Err(findings) => match read_term(&source).map(|t| lower_term(sheet, &t, &words)) {
                Ok(Ok(term)) => explain_term(position, &term),
                _ => Err(malformed(&findings)),
            },
        },
        Err(findings) => {
            let Ok(term) = read_term(&source) else { return Err(malformed(&findings)) };
            let term = lower_term(sheet, &term, &words).map_err(|f| malformed(&f))?;
            explain_term(position, &term)
        }
    }
}

fn explain_term(position: &Interpreter, term: &Term) -> Result<Explanation, ExplainError> {
    let structure = position.state().structure();
    let free: Vec<Variable> = term.free_variables().into_iter().collect();
    let mut elements = Vec::with_capacity(free.len());
    for variable in &free {
        // Names of elements denote themselves.
        let element = structure.element(variable.name());
        elements.push(element.ok_or_else(|| ExplainError::FreeVariable(variable.to_string()))?);
    }
    let value = position.value_for(term, &free, &elements).map_err(ExplainError::Evaluation)?;
    // `inf` is the notation of records.
    let words = |value: Real| value.to_string().replace("inf", "infinity");
    let text = value
        .map_or("it has no value".to_owned(), |value| format!("its value is {}", words(value)));
    let findings = vec![Finding { holds: None, text, span: None }];
    let (question, witnesses) = (term.to_string(), Vec::new());
    Ok(Explanation { question, holds: None, findings, witnesses })
}

fn explain_formula(position: &Interpreter, formula: &Formula) -> Result<Explanation, ExplainError> {
    let structure = position.state().structure();
    let (fixed, open): (Vec<Variable>, Vec<Variable>) = formula
        .free_variables()
        .into_iter()
        .partition(|variable| structure.element(variable.name()).is_some());
    let elements: Vec<Element> =
        fixed.iter().filter_map(|variable| structure.element(variable.name())).collect();
    // Witnesses of an outermost `ex` are shown as if they had been asked for.
    let (wanted, body) = match formula {
        Formula::Exists(variables, body)
            if variables.iter().all(|variable| variable.sort() == Sort::Element) =>
        {
            ([open.as_slice(), variables].concat(), (**body).clone())
        }
        _ => (open.clone(), formula.clone()),
    };
    let question = formula.to_string();
    if wanted.is_empty() {
        let holds = position.holds(formula, &fixed, &elements).map_err(ExplainError::Evaluation)?;
        let (findings, witnesses) = (Vec::new(), Vec::new());
        return Ok(Explanation { question, holds: Some(holds), findings, witnesses });
    }
    let all: Vec<Variable> = [fixed.as_slice(), &wanted].concat();
    let found = position.satisfying(&body, &all).map_err(ExplainError::Evaluation)?;
    let found: Vec<&Vec<Element>> = found.iter().filter(|row| row.starts_with(&elements)).collect();
    let mut findings: Vec<Finding> = found
        .iter()
        .take(MAX_WITNESSES)
        .map(|row| {
            let values = wanted.iter().zip(&row[fixed.len()..]);
            let values: Vec<String> = values
                .map(|(variable, &element)| format!("{variable} = {}", structure.name(element)))
                .collect();
            Finding { holds: None, text: format!("with {}", values.join(", ")), span: None }
        })
        .collect();
    if found.len() > MAX_WITNESSES {
        let text = format!("and {} more", found.len() - MAX_WITNESSES);
        findings.push(Finding { holds: None, text, span: None });
    }
    let assignment = |row: &&Vec<Element>| {
        let values = wanted.iter().zip(&row[fixed.len()..]);
        let named = |(variable, &element): (&Variable, &Element)| {
            (variable.to_string(), structure.name(element).to_string())
        };
        values.map(named).collect()
    };
    let witnesses = found.iter().take(MAX_ASSIGNMENTS).map(assignment).collect();
    Ok(Explanation { question, holds: Some(!found.is_empty()), findings, witnesses })
}

/// Returns all words of a text, as names that may be free variables.
fn names(text: &str) -> Vec<Name> {
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    words.map(|word| Name { text: word.to_owned(), span: Span::default() }).collect()
}
