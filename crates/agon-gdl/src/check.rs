//! Rulesheet to checked rules: every test that can be made without playing.
//!
//! The input is a rulesheet as it was written. The output is rules in normal form that can be
//! played, and diagnostics. An error is reported only where the rules have no sound meaning.
//! Whatever can be played passes: with warnings where the author probably meant something else, and
//! notes for further information. No rule is evaluated here except small static relations, and
//! nothing is played. Every check has a budget, so that a text made to be slow cannot block the
//! checker.
//!
//! The checks run in this order, each in its module: `keywords`, `roles`, `names`, `arithmetic`,
//! `references`, `safety`, `dependencies`, `strata`, `recursion`, `duplicates`, `goals` and `style`.
//! `strict` comes last where the definition of GDL is the standard. They all read a `View` of the
//! rulesheet. Checks that need more use `static_relations`, which evaluates small static relations,
//! and `domains`, which bounds the names that can occur at each place.
//!
//! [`codes`](crate::codes) explains the code of every diagnostic, with examples.

mod argument_domains;
mod arithmetic;
mod declarations;
mod dependencies;
mod domains;
mod duplicates;
mod goals;
mod graph;
mod head_index;
mod keywords;
mod names;
mod recursion;
mod references;
mod roles;
mod safety;
mod static_relations;
mod strata;
mod strict;
mod style;
mod unify;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_datalog::Symbol;
use agon_text::{Diagnostics, Source};

pub use self::argument_domains::{ArgumentDomains, ArgumentPlace, NameAndArity};
use self::view::View;
use crate::normalise::normalise;
use crate::params;
use crate::read::{ReadOptions, read_with};
use crate::rules::Rule;
use crate::symbols::keyword;
use crate::syntax::Rulesheet;

/// Rules that passed the checks. Only [`check`] and [`check_with`] create them, so later stages
/// rely on the invariants.
///
/// Invariants:
///
/// - Every keyword has its number of arguments. Exceptions are `base`, `input` and `percept` where
///   other rules use them as conditions.
/// - No rule defines `true` or `does`.
/// - There is at least one role.
/// - Each variable gets its values from a positive condition or from a
///   [demanded](CheckedRules::demanded) argument of the head. The exception is a variable that
///   occurs in one negated condition alone, where it means "for no value".
/// - Negation is stratified among ground atoms.
#[derive(Clone, Debug)]
pub struct CheckedRules {
    sheet: Arc<Rulesheet>,
    rules: Vec<Rule>,
    roles: Vec<Symbol>,
    demands: safety::Demands,
    unreliable: BTreeSet<Symbol>,
}

impl CheckedRules {
    /// Returns the rulesheet that the rules come from, for spans and names.
    pub fn sheet(&self) -> &Arc<Rulesheet> {
        &self.sheet
    }

    /// Returns the rules in normal form, in the order of their clauses.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the roles in the order of the rulesheet. Each occurs once, and there is at least
    /// one.
    pub fn roles(&self) -> &[Symbol] {
        &self.roles
    }

    /// Returns the index of the role that stands for nature: the one called `random`.
    pub fn nature(&self) -> Option<usize> {
        self.roles.iter().position(|&role| role == keyword::RANDOM)
    }

    /// Returns whether players may know less than the whole state, or nature takes part.
    pub fn is_gdl2(&self) -> bool {
        self.nature().is_some() || self.has_sees()
    }

    /// Returns whether some rule defines what players see.
    pub fn has_sees(&self) -> bool {
        self.defines(keyword::SEES)
    }

    /// Returns whether the rules declare everything that can occur with `relation`, which is
    /// `base`, `input` or `percept`.
    pub fn declares(&self, relation: Symbol) -> bool {
        self.defines(relation) && !self.unreliable.contains(&relation)
    }

    /// Returns which arguments of a relation must have values before the relation can be evaluated,
    /// because its rules do not find them. In `(<= (different ?x ?y) (distinct ?x ?y))` these are
    /// both. Returns `None` if all arguments can be found. Wherever a rule uses the relation, other
    /// conditions give values to the demanded arguments.
    pub fn demanded(&self, relation: Symbol, n_arguments: usize) -> Option<&[bool]> {
        self.demands.get(&(relation, n_arguments)).map(Vec::as_slice)
    }

    fn defines(&self, relation: Symbol) -> bool {
        self.rules.iter().any(|rule| rule.head.relation == relation)
    }
}

/// The result of checking.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The rules, unless `findings` contains an error. [`check_strictly`] reports further errors
    /// that do not prevent play.
    pub rules: Option<CheckedRules>,
    /// All diagnostics, in the order of the text.
    pub findings: Diagnostics,
}

/// Reads, normalises and checks a rulesheet.
///
/// ```
/// use std::sync::Arc;
/// let rules = "(role a) (<= p (not q)) (<= q (not p))";
/// let source = Arc::new(agon_text::Source::new("bad.kif", rules));
/// let checked = agon_gdl::check::check(source);
/// assert!(checked.rules.is_none());
/// assert!(checked.findings.0.iter().any(|finding| finding.code == "unstratified"));
/// ```
pub fn check(source: Arc<Source>) -> Checked {
    check_with(source, &ReadOptions::default())
}

/// Reads a rulesheet with options, then normalises and checks it.
///
/// A rulesheet with [parameters](crate::params) is expanded first, with the values that it
/// declares. The findings are about the text as it was given, and the rules about the plain text.
pub fn check_with(source: Arc<Source>, options: &ReadOptions) -> Checked {
    check_as(source, options, Standard::Playable)
}

/// Reads and checks a rulesheet like [`check_with`], and reports every violation of the definition
/// of GDL as an error: unsafe variables, unrestricted recursion, missing `base` and `input`, and so
/// on. The result has rules wherever they can be played, even if there are such errors.
pub fn check_strictly(source: Arc<Source>, options: &ReadOptions) -> Checked {
    check_as(source, options, Standard::Definition)
}

/// The standard by which rules are measured.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Standard {
    /// Whatever has a sound meaning passes.
    Playable,
    /// Only what the definition of GDL allows passes.
    Definition,
}

fn check_as(source: Arc<Source>, options: &ReadOptions, standard: Standard) -> Checked {
    let expanded = match params::expand(&source, &params::Settings::new()) {
        Ok(expanded) => expanded,
        Err(findings) => return Checked { rules: None, findings },
    };
    let plain = expanded.as_ref().map_or(&source, |expanded| &expanded.source);
    let (sheet, findings) = read_with(Arc::clone(plain), options);
    let mut checked = check_sheet_as(Arc::new(sheet), findings, standard);
    if let Some(expanded) = &expanded {
        checked.findings = expanded.original_findings(checked.findings);
    }
    checked
}

/// Normalises and checks a rulesheet. `read_findings` are the diagnostics of its reading.
pub fn check_sheet(sheet: Arc<Rulesheet>, read_findings: Diagnostics) -> Checked {
    check_sheet_as(sheet, read_findings, Standard::Playable)
}

fn check_sheet_as(
    sheet: Arc<Rulesheet>,
    read_findings: Diagnostics,
    standard: Standard,
) -> Checked {
    let mut findings = read_findings;
    let (mut rules, normalise_findings) = normalise(&sheet);
    findings.0.extend(normalise_findings.0);

    let view = View::new(&sheet, &rules, !findings.has_errors());
    keywords::check(&view, &mut findings);
    let roles = roles::check(&view, &mut findings);
    names::check(&view, &mut findings);
    let calculations = arithmetic::check(&view, &mut findings);
    references::check(&view, &roles, &calculations, &mut findings);
    let demands = safety::check(&view, &mut findings);
    dependencies::check(&view, &mut findings);
    strata::check(&view, &mut findings);
    recursion::check(&view, &demands, &mut findings);
    duplicates::check(&view, &mut findings);
    goals::check(&view, &mut findings);
    style::check(&view, &mut findings);
    let unreliable = declarations::unreliable(&view, &demands);
    let dropped: Vec<Symbol> =
        unreliable.iter().copied().filter(|&relation| !view.is_condition(relation)).collect();
    let is_playable = !findings.has_errors();
    if standard == Standard::Definition {
        strict::check(&view, &mut findings);
    }
    findings.sort();

    if !is_playable {
        return Checked { rules: None, findings };
    }
    rules.retain(|rule| !dropped.contains(&rule.head.relation));
    let rules = CheckedRules { sheet, rules, roles, demands, unreliable };
    Checked { rules: Some(rules), findings }
}
