//! Rulesheet to checked rules: every judgement that can be made without playing.
//!
//! In goes a rulesheet as it was written, out come rules in normal form that can be played, and all that is wrong
//! with them. An error is given only where the rules have no sound meaning; whatever can be played passes, with
//! warnings where an author probably meant something else, and notes for those who want to know more. Nothing is
//! evaluated here but small static relations, and nothing is played. Every check has a budget, so that a text made to
//! be slow costs time but not for ever.
//!
//! The codes of the findings, with examples and cures, are in [`codes`](crate::codes).

mod declarations;
mod dependencies;
mod domains;
mod duplicates;
mod goals;
mod graph;
mod heads;
mod keywords;
mod names;
mod recursion;
mod references;
mod roles;
mod safety;
mod statics;
mod strata;
mod style;
mod unify;
mod view;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_datalog::Symbol;
use agon_text::{Diagnostics, Source};

use self::view::View;
use crate::normalise::normalise;
use crate::read::read_as;
use crate::rules::Rule;
use crate::symbols::{Case, keyword};
use crate::syntax::Rulesheet;

/// Rules that have been checked; they can only be made by [`check`].
///
/// Invariants: every keyword has its right number of arguments, but for `base`, `input` and `percept` that are
/// conditions of other rules; `true` and `does` are not defined by rules; there is at least one role; each
/// variable gets its values from a positive condition or from a [demanded](CheckedRules::demanded) argument of the head,
/// or occurs in one negated condition alone and then reads "for no value"; negation is stratified among ground
/// atoms.
#[derive(Clone, Debug)]
pub struct CheckedRules {
    sheet: Arc<Rulesheet>,
    rules: Vec<Rule>,
    roles: Vec<Symbol>,
    demands: safety::Demands,
    spoilt: BTreeSet<Symbol>,
}

impl CheckedRules {
    /// The rulesheet they come from, for spans and names.
    pub fn sheet(&self) -> &Arc<Rulesheet> {
        &self.sheet
    }

    /// The rules in normal form, in the order of their clauses.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The roles in the order the rulesheet names them, each once; at least one.
    pub fn roles(&self) -> &[Symbol] {
        &self.roles
    }

    /// Which of the roles is nature: the one called `random`.
    pub fn nature(&self) -> Option<usize> {
        self.roles.iter().position(|&role| role == keyword::RANDOM)
    }

    /// Whether players may know less than the whole state, or nature takes part.
    pub fn is_gdl2(&self) -> bool {
        self.nature().is_some() || self.has_sees()
    }

    /// Whether some rule says what players see.
    pub fn has_sees(&self) -> bool {
        self.defines(keyword::SEES)
    }

    /// Whether the rules declare all that can come by `relation`, which is `base`, `input` or `percept`.
    pub fn declares(&self, relation: Symbol) -> bool {
        self.defines(relation) && !self.spoilt.contains(&relation)
    }

    /// Which arguments of a relation must have values before it can be asked for, because its rules do not find
    /// them: in `(<= (different ?x ?y) (distinct ?x ?y))` both. `None` if all can be found. Every condition of the
    /// rules gives demanded arguments their values by other conditions.
    pub fn demanded(&self, relation: Symbol, n_arguments: usize) -> Option<&[bool]> {
        self.demands.get(&(relation, n_arguments)).map(Vec::as_slice)
    }

    fn defines(&self, relation: Symbol) -> bool {
        self.rules.iter().any(|rule| rule.head.relation == relation)
    }
}

/// What checking found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The rules, unless `findings` contains an error.
    pub rules: Option<CheckedRules>,
    /// All findings, in the order of the text.
    pub findings: Diagnostics,
}

/// Reads, normalises and checks a rulesheet.
///
/// ```
/// use std::sync::Arc;
/// let source = Arc::new(agon_text::Source::new("bad.kif", "(role a) (<= p (not q)) (<= q (not p))"));
/// let checked = agon_gdl::check::check(source);
/// assert!(checked.rules.is_none());
/// assert!(checked.findings.0.iter().any(|finding| finding.code == "unstratified"));
/// ```
pub fn check(source: Arc<Source>) -> Checked {
    check_as(source, Case::Ignored)
}

/// The same with names read with or without regard to their capitalisation.
pub fn check_as(source: Arc<Source>, case: Case) -> Checked {
    let (sheet, findings) = read_as(source, case);
    check_sheet(sheet, findings)
}

/// Normalises and checks a rulesheet that has been read with `read_findings`.
pub fn check_sheet(sheet: Rulesheet, read_findings: Diagnostics) -> Checked {
    let mut findings = read_findings;
    let (mut rules, normalise_findings) = normalise(&sheet);
    findings.0.extend(normalise_findings.0);

    let view = View::new(&sheet, &rules, !findings.has_errors());
    keywords::check(&view, &mut findings);
    let roles = roles::check(&view, &mut findings);
    names::check(&view, &mut findings);
    references::check(&view, &roles, &mut findings);
    let demands = safety::check(&view, &mut findings);
    dependencies::check(&view, &mut findings);
    strata::check(&view, &mut findings);
    recursion::check(&view, &demands, &mut findings);
    duplicates::check(&view, &mut findings);
    goals::check(&view, &mut findings);
    style::check(&view, &mut findings);
    let spoilt = declarations::spoilt(&view, &demands);
    let left_out: Vec<Symbol> =
        spoilt.iter().copied().filter(|&relation| !view.is_condition(relation)).collect();
    findings.sort();

    if findings.has_errors() {
        return Checked { rules: None, findings };
    }
    rules.retain(|rule| !left_out.contains(&rule.head.relation));
    let rules = CheckedRules { sheet: Arc::new(sheet), rules, roles, demands, spoilt };
    Checked { rules: Some(rules), findings }
}
