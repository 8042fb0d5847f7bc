//! Answers to questions at a position: why a move can be made or not, what a formula is true of, what a term comes to.

use agon_game::Position as _;
use agon_structures::formula::{Formula, Variable};
use agon_structures::structure::{Element, Structure};
use agon_text::{Source, Span, render};

use crate::arena::{Reason, RuleId};
use crate::check::{formula_about, term_about};
use crate::interpreter::Interpreter;
use crate::read::{read_formula, read_term};
use crate::syntax::Name;

/// As many witnesses are listed.
const MAX_WITNESSES: usize = 20;

/// An answer.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What was asked, as it was understood.
    pub question: String,
    /// Whether it holds; of a term nothing.
    pub holds: Option<bool>,
    /// The parts of the answer.
    pub findings: Vec<Finding>,
}

/// A part of an answer.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether it holds, if it is a condition.
    pub holds: Option<bool>,
    /// What it says.
    pub text: String,
    /// Where in the rules it comes from.
    pub span: Option<Span>,
}

/// Answers a question: a move such as `(Cross a1)`, a formula, or a term. Names of elements stand for themselves; other free
/// variables of a formula ask for all elements that satisfy it.
///
/// # Errors
/// If the question cannot be understood or costs too much, why.
pub fn explain(position: &Interpreter, question: &str) -> Result<Explanation, String> {
    let words: Vec<&str> = question
        .split(|c: char| c.is_whitespace() || "(),".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    let rules = position.game().arena().rules();
    let named = words
        .first()
        .and_then(|first| rules.iter().position(|rule| rule.name.eq_ignore_ascii_case(first)));
    match named {
        Some(index) => explain_move(position, RuleId::new(index), &words[1..]),
        None => explain_sentence(position, question),
    }
}

fn explain_move(position: &Interpreter, id: RuleId, words: &[&str]) -> Result<Explanation, String> {
    let arena = position.game().arena();
    let rule = arena.rule(id);
    let structure = position.state().structure();
    // A trailing `(to 1)` tells edges apart; which elements are meant is said before it.
    let words = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case("to"))
        .map_or(words, |end| &words[..end]);
    if words.len() != rule.elements.len() {
        let names: Vec<&str> = rule.elements.iter().map(Variable::name).collect();
        return Err(format!(
            "`{}` is applied to {} elements ({}) and not to {}",
            rule.name,
            rule.elements.len(),
            names.join(", "),
            words.len()
        ));
    }
    let matched: Vec<Element> = words
        .iter()
        .map(|word| {
            let found = structure
                .elements()
                .find(|&element| structure.name(element).eq_ignore_ascii_case(word));
            found.ok_or_else(|| format!("there is no element `{word}` here"))
        })
        .collect::<Result<_, _>>()?;
    let mut findings = Vec::new();
    let location = arena.location(position.state().location());
    let is_edge = location.edges.iter().flatten().any(|edge| edge.rule == id);
    if !is_edge {
        let text = format!("nobody may apply it at the location `{}`", location.name);
        findings.push(Finding { holds: Some(false), text, span: Some(location.span) });
    }
    for part in &rule.parts {
        let holds = position
            .game()
            .holds(structure, &part.formula, &rule.elements, &matched)
            .map_err(|refusal| refusal.to_string())?;
        let reason = match part.reason {
            Reason::Tuple => "on the left side",
            Reason::Embedded => "embedded exactly",
            Reason::Different => "different elements",
            Reason::Match => "to be matched",
            Reason::Pre => "precondition",
        };
        let text =
            format!("{}, {reason}", instance(&part.formula, &rule.elements, &matched, structure));
        findings.push(Finding { holds: Some(holds), text, span: Some(part.span) });
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
    post(position, id, &matched, &mut findings)?;
    // What is fine is of interest only if all is.
    let holds = findings.iter().all(|finding| finding.holds != Some(false));
    if !holds {
        findings.retain(|finding| finding.holds == Some(false));
    }
    let question = format!("({} {})", rule.name, words.join(" "));
    Ok(Explanation { question, holds: Some(holds), findings })
}

fn post(
    position: &Interpreter,
    id: RuleId,
    matched: &[Element],
    findings: &mut Vec<Finding>,
) -> Result<(), String> {
    let Some(post) = &position.game().arena().rule(id).post else { return Ok(()) };
    // After a match that is none there is no structure to speak of.
    if findings.iter().any(|finding| finding.holds == Some(false)) {
        return Ok(());
    }
    let holds = position.post_holds(id, matched)?;
    let text = format!("{}, afterwards", post.formula);
    findings.push(Finding { holds: Some(holds), text, span: Some(post.span) });
    Ok(())
}

/// A formula with what its variables stand for.
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

fn explain_sentence(position: &Interpreter, question: &str) -> Result<Explanation, String> {
    let source = Source::new("the question", question);
    let sheet = position.game().arena().sheet();
    let structure = position.state().structure();
    let shown = |findings: &agon_text::Diagnostics| render(&findings.0, &source, false);
    let words = names(question);
    let formula = match read_formula(&source) {
        Ok(formula) => {
            formula_about(sheet, &formula, &words).map_err(|findings| shown(&findings))?
        }
        Err(findings) => {
            let Ok(term) = read_term(&source) else { return Err(shown(&findings)) };
            let term = term_about(sheet, &term, &words).map_err(|findings| shown(&findings))?;
            if let Some(variable) = term.free_variables().into_iter().next() {
                return Err(format!(
                    "`{variable}` is free in the term: sum over it, `Sum ({variable} | … : …)`"
                ));
            }
            let value =
                position.game().value(structure, &term).map_err(|refusal| refusal.to_string())?;
            let text =
                value.map_or("it has no value".to_owned(), |value| format!("its value is {value}"));
            let findings = vec![Finding { holds: None, text, span: None }];
            return Ok(Explanation { question: term.to_string(), holds: None, findings });
        }
    };
    let (fixed, open): (Vec<Variable>, Vec<Variable>) = formula
        .free_variables()
        .into_iter()
        .partition(|variable| structure.element(variable.name()).is_some());
    let elements: Vec<Element> =
        fixed.iter().filter_map(|variable| structure.element(variable.name())).collect();
    // Witnesses of an outermost `ex` are shown as if they had been asked for.
    let (wanted, body) = match &formula {
        Formula::Exists(variables, body) => {
            ([open.as_slice(), variables].concat(), (**body).clone())
        }
        _ => (open.clone(), formula.clone()),
    };
    if wanted.is_empty() {
        let holds = position
            .game()
            .holds(structure, &formula, &fixed, &elements)
            .map_err(|refusal| refusal.to_string())?;
        return Ok(Explanation {
            question: formula.to_string(),
            holds: Some(holds),
            findings: Vec::new(),
        });
    }
    let all: Vec<Variable> = [fixed.as_slice(), &wanted].concat();
    let found =
        position.game().solutions(structure, &body, &all).map_err(|refusal| refusal.to_string())?;
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
    Ok(Explanation { question: formula.to_string(), holds: Some(!found.is_empty()), findings })
}

/// All words of a text, as names that may be free.
fn names(text: &str) -> Vec<Name> {
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    words.map(|word| Name { text: word.to_owned(), span: Span::default() }).collect()
}
