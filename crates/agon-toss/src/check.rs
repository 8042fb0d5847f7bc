//! Checks a syntax tree and builds the arena: all checks that need no play.
//!
//! Checking makes each rule a condition over its elements (`ArenaRule::condition`) and an effect.
//! The effect is a list of tuples to delete and to add if the rule keeps the universe, otherwise a
//! rewriting by Definition 2 of Kaiser & Stafiniak 2011 (see [`rewrite`](crate::rewrite)).
//!
//! Errors are reported only where the game has no sound meaning. Warnings are reported for what the
//! author probably did not intend. The module [`codes`](crate::codes) explains each diagnostic,
//! with examples and fixes.

mod bounds;
mod continuous;
mod equations;
mod flat;
mod formulas;
mod locations;
mod model;
mod moves;
pub(crate) mod payoffs;
mod rules;
mod signature;
mod style;
mod suggest;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_structures::formula::{Definitions, Formula, Term};
use agon_text::params::{self, Notation};
use agon_text::{Diagnostic, Diagnostics, Source, Span};

use self::bounds::Known;
use self::formulas::{Scope, check_variables};
use self::locations::{Locations, NATURE, players};
use self::rules::Rules;
use self::signature::Signature;
use self::style::Style;
use crate::arena::{ArenaLocation, ArenaRule, CheckedArena, Effect};
use crate::interpreter::MAX_ELEMENTS;
use crate::read::read;
use crate::syntax::GameSheet;

/// Maximum number of defined relations, because each is compared with all others.
const MAX_DEFINITIONS: usize = 1000;

/// The result of checking.
pub struct Checked {
    /// The game, unless `findings` contains an error.
    pub arena: Option<CheckedArena>,
    /// All diagnostics, in the order of the text.
    pub findings: Diagnostics,
}

/// Reads and checks a game.
///
/// ```
/// use std::sync::Arc;
/// let source = Arc::new(agon_text::Source::new("bad.toss", "PLAYERS X\nREL Win() = ex x P(x)"));
/// let checked = agon_toss::check::check(source);
/// assert!(checked.arena.is_none());
/// assert!(checked.findings.0.iter().any(|finding| finding.code == "toss-unknown-relation"));
/// ```
///
/// A game with [parameters](agon_text::params) is expanded first, with the values that it declares.
/// The findings are about the text as it was given, and the rules about the plain text.
pub fn check(source: Arc<Source>) -> Checked {
    let expanded = match params::expand(&source, &Default::default(), Notation::Toss) {
        Ok(expanded) => expanded,
        Err(findings) => return Checked { arena: None, findings },
    };
    let plain = expanded.as_ref().map_or(&source, |expanded| &expanded.source);
    let (sheet, findings) = read(Arc::clone(plain));
    let mut checked = check_sheet(sheet, findings);
    if let Some(expanded) = &expanded {
        checked.findings = expanded.original_findings(checked.findings);
    }
    checked
}

/// Checks a parsed game. `read_findings` are the diagnostics of the parser.
fn check_sheet(sheet: GameSheet, read_findings: Diagnostics) -> Checked {
    let mut findings = read_findings;
    // Sections that could not be parsed are missing below; they are not reported again.
    let was_read = !findings.has_errors();
    if was_read {
        check_sections(&sheet, &mut findings);
    }
    let mut own = Diagnostics::default();
    let arena = arena(sheet, was_read, &mut own);
    if !was_read {
        // A relation whose definition could not be parsed would be reported at each use, and so
        // would a parameter whose moves could not be parsed.
        let is_echo = |finding: &Diagnostic| {
            let is_number =
                finding.code == "toss-free-variable" && finding.message.starts_with("`:");
            let parts = ["-unknown-", "-unused-", "-empty-"];
            is_number || parts.iter().any(|part| finding.code.contains(part))
        };
        own.0.retain(|finding| !is_echo(finding));
    }
    findings.0.extend(own.0);
    findings.sort();
    findings.0.dedup_by(|a, b| a.code == b.code && a.span == b.span && a.message == b.message);
    let arena = arena.filter(|_| !findings.has_errors());
    Checked { arena, findings }
}

fn check_sections(sheet: &GameSheet, findings: &mut Diagnostics) {
    let end = Span::new(sheet.source.text().len(), sheet.source.text().len());
    if sheet.sections.is_empty() {
        let finding = Diagnostic::error("toss-missing-section", end, "there are no rules");
        let hint = "`agon new my-game --template toss` writes a small game to start from";
        findings.push(finding.hint(hint));
        return;
    }
    let mut missing = |is_missing: bool, what: &str, hint: &str| {
        if is_missing {
            findings.push(Diagnostic::error("toss-missing-section", end, what).hint(hint));
        }
    };
    missing(sheet.players.is_empty(), "there are no players", "declare them: `PLAYERS X, O`");
    missing(
        sheet.locations.is_empty(),
        "there is no location",
        "write `LOC 0 { PLAYER X { … MOVES [Rule -> 0] } }`",
    );
    missing(sheet.model.is_none(), "there is no start", "write `START [ | P:1 {} | ] \"…\"`");
}

fn arena(sheet: GameSheet, was_read: bool, findings: &mut Diagnostics) -> Option<CheckedArena> {
    let signature = Signature::gather(&sheet, findings);
    let vocabulary = Arc::new(model::vocabulary(&signature));
    let definitions = definitions(&sheet, &signature, findings);
    let rules =
        Rules { sheet: &sheet, signature: &signature, vocabulary: &vocabulary }.lower(findings);
    let players = players(&sheet, findings);
    let by_name: BTreeMap<&str, &ArenaRule> =
        rules.iter().map(|rule| (rule.name.as_str(), rule)).collect();
    let graph =
        Locations { sheet: &sheet, signature: &signature, players: &players, rules: &by_name };
    let locations = graph.lower(findings);
    let start_location = graph.start(findings);
    let (start, layout) = model::start(sheet.model.as_ref()?, &signature, &vocabulary, findings);
    if findings.has_errors() || !was_read || locations.is_empty() || players.is_empty() {
        return None;
    }
    let used = used_relations(&definitions, &rules, &locations);
    let style = Style {
        sheet: &sheet,
        signature: &signature,
        rules: &rules,
        locations: &locations,
        start: start_location,
        used: &used,
    };
    style.check(findings);
    let keeps_universe = rules.iter().all(|rule| matches!(rule.effect, Effect::Tuples { .. }));
    let is_fluent = vocabulary
        .relations()
        .map(|relation| {
            !keeps_universe
                || rules.iter().any(|rule| match &rule.effect {
                    Effect::Tuples { delete, add } => {
                        delete.iter().any(|d| d.relation == relation)
                            || add.iter().any(|a| a.relation == relation)
                    }
                    Effect::Rewrite(_) => true,
                })
        })
        .collect();
    let n_elements = if keeps_universe { start.n_elements() } else { MAX_ELEMENTS };
    let nature = players.iter().position(|player| player == NATURE);
    let paid = locations.iter().flat_map(|location| {
        location
            .payoffs
            .iter()
            .enumerate()
            .filter(|(player, _)| Some(*player) != nature)
            .map(|(_, payoff)| payoff)
    });
    let derivatives = continuous::derivatives(&vocabulary);
    let is_changing_function = continuous::changing_functions(&vocabulary, &derivatives, &rules);
    let is_continuous = continuous::is_continuous(&definitions, &rules, &locations);
    let known = Known::new(&start, &is_changing_function, n_elements, keeps_universe);
    for location in &locations {
        let is_too_large = |payoff| payoffs::is_always_too_large(payoff, &known);
        if location.payoffs.iter().any(is_too_large) {
            let what = format!(
                "a payoff at the location `{}` is beyond 1000000000, the largest possible one",
                location.name
            );
            findings.push(Diagnostic::error("toss-too-large", location.span, what));
        }
    }
    if findings.has_errors() {
        return None;
    }
    note_unbounded_payoffs(&sheet, &players, &locations, &known, findings);
    let payoff_bounds = payoffs::bounds(paid, &known);
    let constant_sum = payoffs::constant_sum(&locations);
    Some(CheckedArena {
        sheet: Arc::new(sheet),
        vocabulary,
        definitions: Arc::new(definitions),
        nature,
        players,
        rules,
        locations,
        start,
        start_location,
        layout,
        is_fluent,
        is_changing_function,
        derivatives,
        is_continuous,
        payoff_bounds,
        constant_sum,
    })
}

/// Reports payoffs without bounds: players that scale their exploration by the bounds play badly.
fn note_unbounded_payoffs(
    sheet: &GameSheet,
    players: &[String],
    locations: &[ArenaLocation],
    known: &Known,
    findings: &mut Diagnostics,
) {
    for (written, location) in sheet.locations.iter().zip(locations) {
        for (place, player) in players.iter().enumerate() {
            if player == NATURE || payoffs::is_bounded(&location.payoffs[place], known) {
                continue;
            }
            // Early games number players from 1.
            let number = (place + 1).to_string();
            let is_own = |payoff: &&crate::syntax::Payoff| {
                payoff.player.text == *player || payoff.player.text == number
            };
            let payoff = written.payoffs.iter().find(is_own);
            let payoff = payoff.or_else(|| sheet.payoffs.iter().find(is_own));
            let span = payoff.map_or(location.span, |payoff| payoff.value.span);
            let what = format!("no bounds of the payoff of `{player}` follow from the rules");
            findings.push(
                Diagnostic::warning("toss-unbounded-payoff", span, what)
                    .hint("bound it, as in `max(0, min(100, …))`"),
            );
        }
    }
}

/// Resolves a formula about a game in which the names `variables` may be free. Used for questions.
///
/// # Errors
/// All errors in the formula.
pub fn lower_formula(
    sheet: &GameSheet,
    formula: &crate::syntax::Formula,
    variables: &[crate::syntax::Name],
) -> Result<Formula, Diagnostics> {
    about(sheet, variables, |scope, findings| scope.formula(formula, findings))
}

/// Resolves a term about a game in which the names `variables` may be free. Used for questions.
///
/// # Errors
/// All errors in the term.
pub(crate) fn lower_term(
    sheet: &GameSheet,
    term: &crate::syntax::Term,
    variables: &[crate::syntax::Name],
) -> Result<Term, Diagnostics> {
    about(sheet, variables, |scope, findings| scope.term(term, findings))
}

fn about<T>(
    sheet: &GameSheet,
    variables: &[crate::syntax::Name],
    lower: impl FnOnce(&mut Scope<'_>, &mut Diagnostics) -> T,
) -> Result<T, Diagnostics> {
    let signature = Signature::gather(sheet, &mut Diagnostics::default());
    let mut findings = Diagnostics::default();
    let lowered = lower(&mut Scope::new(&signature, variables, ""), &mut findings);
    if findings.has_errors() { Err(findings) } else { Ok(lowered) }
}

/// Resolves the defined relations and orders each after the relations that it uses. Reports cycles.
fn definitions(
    sheet: &GameSheet,
    signature: &Signature,
    findings: &mut Diagnostics,
) -> Definitions {
    let mut bodies: BTreeMap<&str, (usize, Formula)> = BTreeMap::new();
    if let Some(first) = sheet.relations.get(MAX_DEFINITIONS) {
        let what = format!("more than {MAX_DEFINITIONS} relations are defined");
        findings.push(Diagnostic::error("toss-too-large", first.name.span, what));
        return Definitions::new();
    }
    for (place, definition) in sheet.relations.iter().enumerate() {
        check_variables(&definition.parameters, signature, findings);
        let mut scope =
            Scope::new(signature, &definition.parameters, "the variables of the relation");
        let body = scope.formula(&definition.body, findings);
        bodies.entry(&definition.name.text).or_insert((place, body));
    }
    let used: BTreeMap<&str, BTreeSet<String>> = bodies
        .iter()
        .map(|(name, (_, body))| {
            (*name, body.free_relations().into_keys().map(|used| used.to_string()).collect())
        })
        .collect();
    let mut definitions = Definitions::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    // Each round takes the definitions whose dependencies are done.
    loop {
        let mut ready: Vec<(usize, &str)> = bodies
            .iter()
            .filter(|(name, _)| !done.contains(*name))
            .filter(|(name, _)| {
                used[*name]
                    .iter()
                    .all(|used| !bodies.contains_key(used.as_str()) || done.contains(used.as_str()))
            })
            .map(|(name, (place, _))| (*place, *name))
            .collect();
        ready.sort_unstable();
        if ready.is_empty() {
            break;
        }
        for (place, name) in ready {
            let parameters = &sheet.relations[place].parameters;
            let variables = parameters
                .iter()
                .map(|p| agon_structures::formula::Variable::new(&p.text))
                .collect();
            // Errors that `add` would return have been reported with their places.
            let _ = definitions.add(name, variables, bodies[name].1.clone());
            done.insert(name);
        }
    }
    for (name, (place, _)) in bodies.iter().filter(|(name, _)| !done.contains(*name)) {
        let what = format!("the definition of `{name}` depends on itself");
        findings.push(
            Diagnostic::error("toss-circular-definition", sheet.relations[*place].name.span, what)
                .hint("recursion is written with `lfp`, `gfp` or `tc`"),
        );
    }
    definitions
}

/// Returns the names of all relations that definitions, rules or payoffs use.
fn used_relations(
    definitions: &Definitions,
    rules: &[ArenaRule],
    locations: &[ArenaLocation],
) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut note = |formula: &Formula| {
        used.extend(formula.free_relations().into_keys().map(|name| name.to_string()));
    };
    definitions.iter().for_each(|definition| note(&definition.body));
    for rule in rules {
        note(&rule.condition);
        rule.post.iter().for_each(|post| note(&post.formula));
        rule.invariant.iter().for_each(|invariant| note(&invariant.formula));
    }
    let equations = rules.iter().flat_map(|rule| rule.dynamics.iter().chain(&rule.updates));
    let edges = locations.iter().flat_map(|location| location.edges.iter().flatten());
    let ends = edges.flat_map(|edge| std::iter::once(&edge.time).chain(&edge.parameters));
    let payoffs = locations.iter().flat_map(|location| &location.payoffs);
    let terms = equations.map(|equation| &equation.term);
    let terms = terms.chain(ends.flat_map(|(low, high)| [low, high])).chain(payoffs);
    terms.for_each(|term: &Term| {
        used.extend(term.free_relations().into_keys().map(|name| name.to_string()));
    });
    used
}
