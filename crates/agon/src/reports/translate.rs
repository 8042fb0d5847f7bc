//! Translations between the rule languages and to formats of other tools.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::laws::Plan;
use agon_game::lockstep::{Agreement, Difference};
use agon_gdl::check::CheckedRules;
use agon_gdl::print::print_rulesheet;
use agon_gdl::read::{ReadOptions, read_with};
use agon_gdl::same_rules::same_rules;
use agon_gdl::syntax::{Rulesheet, Syntax};
use agon_text::{Diagnostic, Severity, Source};
use agon_translate::formats::{asp, dot};
use agon_translate::to_gdl::{ToGdlLimits, to_gdl};
use agon_translate::to_toss;

use super::{ReportError, fail};
use crate::open::{self, Language, OpenError, OpenLimits, OpenOptions, render_first};

/// The language or format of a translation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A structure rewriting game.
    Toss,
    /// GDL in prefix KIF.
    Gdl,
    /// GDL in infix syntax.
    Infix,
    /// A graph for Graphviz: of relations (GDL), of locations (structure rewriting).
    Dot,
    /// A logic program for answer set solvers such as clingo.
    Asp,
}

impl Target {
    /// Returns the target of a name: `toss`, `gdl`, `kif`, `infix`, `dot` or `asp`.
    pub fn named(name: &str) -> Option<Target> {
        Some(match name {
            "toss" => Target::Toss,
            "gdl" | "kif" => Target::Gdl,
            "infix" => Target::Infix,
            "dot" => Target::Dot,
            "asp" => Target::Asp,
            _ => return None,
        })
    }

    /// Returns whether a translation from a language to this target is another game, which can be
    /// compared with the original by play.
    pub fn is_game(self, from: Language) -> bool {
        match (from, self) {
            (Language::Toss, Target::Gdl | Target::Infix) | (Language::Gdl, Target::Toss) => true,
            (Language::Toss, Target::Toss | Target::Dot | Target::Asp)
            | (Language::Gdl, Target::Gdl | Target::Infix | Target::Dot | Target::Asp) => false,
        }
    }
}

/// How rules are translated.
#[derive(Clone, Debug)]
pub struct TranslateOptions {
    /// How the rules are read.
    pub open: OpenOptions,
    /// Time limit of the translation. Comparing it by play may take as long again.
    pub time: Duration,
    /// Seed of that search.
    pub seed: u64,
    /// Maximum number of steps of a play of a logic program.
    pub horizon: usize,
    /// Random games that are played on both sides and compared at every step, if the translation
    /// is another game.
    pub compare: Option<Plan>,
}

impl Default for TranslateOptions {
    fn default() -> TranslateOptions {
        TranslateOptions {
            open: OpenOptions::default(),
            time: Duration::from_secs(120),
            seed: 1,
            horizon: 20,
            compare: None,
        }
    }
}

/// The result of a translation.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The text in the target language.
    pub text: String,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// The plays on both sides, without a difference, if they were asked for.
    pub agreement: Option<Agreement>,
}

impl Translated {
    fn plain(text: String) -> Translated {
        Translated { text, notes: Vec::new(), agreement: None }
    }
}

/// Translates rules to another language or format.
///
/// # Errors
/// [`ReportError`] if the rules have errors, the target cannot express them, or the translation
/// plays differently.
pub fn translate(
    source: &Arc<Source>,
    target: Target,
    options: &TranslateOptions,
) -> Result<Translated, ReportError> {
    let deadline = Instant::now().checked_add(options.time);
    match open::language(source) {
        Language::Gdl => from_gdl(source, target, options, deadline),
        Language::Toss => from_toss(source, target, options, deadline),
    }
}

fn from_gdl(
    source: &Arc<Source>,
    target: Target,
    options: &TranslateOptions,
    deadline: Option<Instant>,
) -> Result<Translated, ReportError> {
    let opened = |until: Option<Instant>| {
        open::open_gdl(Arc::clone(source), &open_until(options, until))
            .map_err(|error| ReportError::from(&error))
    };
    let name = source.name();
    match target {
        Target::Gdl => to_syntax(source, Syntax::Kif, options),
        Target::Infix => to_syntax(source, Syntax::Infix, options),
        Target::Dot => Ok(Translated::plain(dot::dependencies(opened(deadline)?.rules()))),
        Target::Asp => {
            let text = asp::program(opened(deadline)?.rules(), options.horizon);
            Ok(Translated::plain(text.map_err(|why| ReportError(format!("{name}: {why}")))?))
        }
        Target::Toss => {
            let game = opened(deadline)?;
            let search = to_toss::ToTossOptions {
                seed: options.seed,
                deadline,
                ..to_toss::ToTossOptions::default()
            };
            let translation = to_toss::to_toss(&game, &search).map_err(|why| {
                ReportError(format!(
                    "{name} cannot be translated to a structure rewriting game: {why}"
                ))
            })?;
            let mut notes = Vec::new();
            let agreement = match &options.compare {
                None => None,
                Some(plan) => {
                    let written =
                        Source::new(format!("{name} rewritten.toss"), translation.text.as_str());
                    let until = Instant::now().checked_add(options.time);
                    let other = open::open_toss(Arc::new(written), &limited(until));
                    let other = other.map_err(|error| ReportError::from(&error))?;
                    let (game, stop) = (opened(until)?, || is_late(until));
                    let (first, second) = (game.start(), other.start());
                    let found = translation.compare_until(&first, &second, plan, &stop);
                    Some(agreed(found, plan, &mut notes)?)
                }
            };
            Ok(Translated { text: translation.text, notes, agreement })
        }
    }
}

fn from_toss(
    source: &Arc<Source>,
    target: Target,
    options: &TranslateOptions,
    deadline: Option<Instant>,
) -> Result<Translated, ReportError> {
    let opened = |until: Option<Instant>| {
        open::open_toss(Arc::clone(source), &open_until(options, until))
            .map_err(|error| ReportError::from(&error))
    };
    let game = opened(deadline)?;
    match target {
        Target::Toss => {
            return Ok(Translated::plain(agon_toss::print::print_sheet(game.arena().sheet())));
        }
        Target::Dot => return Ok(Translated::plain(dot::arena(game.arena()))),
        Target::Gdl | Target::Infix | Target::Asp => {}
    }
    let name = source.name();
    let limits = ToGdlLimits { deadline, ..ToGdlLimits::default() };
    let translation = to_gdl(game.arena(), limits).map_err(|why| {
        let hint = why.hint().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        ReportError(format!("{name} cannot be translated to GDL: {why}{hint}"))
    })?;
    let rulesheet = Arc::new(Source::new(format!("{name} in GDL"), translation.text.as_str()));
    let rules = checked(&rulesheet, name)?;
    let mut notes = Vec::new();
    if translation.payoffs.is_scaled() {
        let exact = if translation.payoffs.is_exact() {
            ""
        } else {
            ", and some different payoffs become equal"
        };
        notes.push(format!("payoffs are scaled to whole numbers from 0 to 100{exact}"));
    }
    let text = match target {
        Target::Infix => printed(rules.sheet(), Syntax::Infix)?,
        Target::Asp => asp::program(&rules, options.horizon)
            .map_err(|why| ReportError(format!("the translation of {name}: {why}")))?,
        Target::Gdl | Target::Toss | Target::Dot => translation.text.clone(),
    };
    let agreement = match &options.compare {
        None => None,
        Some(plan) => {
            let until = Instant::now().checked_add(options.time);
            let mut limits = agon_gdl::interpreter::Options::default();
            limits.limits.deadline = until;
            let other = agon_gdl::interpreter::Game::open(rules, limits)
                .map_err(|finding| ReportError(render_first(&[*finding], &rulesheet, false)))?;
            let (game, stop) = (opened(until)?, || is_late(until));
            let found = translation.compare_until(&game, &other, plan, &stop);
            Some(agreed(found, plan, &mut notes)?)
        }
    };
    Ok(Translated { text, notes, agreement })
}

/// Checks the rules of a translation, which have no errors unless there is a bug.
fn checked(rulesheet: &Arc<Source>, name: &str) -> Result<CheckedRules, ReportError> {
    let checked = agon_gdl::check::check(Arc::clone(rulesheet));
    checked.rules.ok_or_else(|| {
        let errors: Vec<Diagnostic> = checked
            .findings
            .0
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        let shown = render_first(&errors, rulesheet, false);
        ReportError(format!("{shown}the translation of {name} is wrong: this is a bug in agon"))
    })
}

/// Returns options without any but a limit on the time of every evaluation.
fn limited(until: Option<Instant>) -> OpenOptions {
    OpenOptions { limits: OpenLimits { until, ..OpenLimits::default() }, ..OpenOptions::default() }
}

/// Returns the options for opening the rules of a translation, all of whose evaluations end at a
/// deadline.
fn open_until(options: &TranslateOptions, until: Option<Instant>) -> OpenOptions {
    let limits = &options.open.limits;
    let until = [limits.until, until].into_iter().flatten().min();
    OpenOptions { limits: OpenLimits { until, ..limits.clone() }, ..options.open.clone() }
}

fn is_late(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}

/// Returns the counts of a comparison, or an error if the two games differ. A note says if there
/// was no time for all plays.
fn agreed(
    compared: Result<Agreement, Difference>,
    plan: &Plan,
    notes: &mut Vec<String>,
) -> Result<Agreement, ReportError> {
    let agreement = compared.map_err(|difference| {
        ReportError(format!("the translation plays differently: {difference}"))
    })?;
    if agreement.plays < plan.plays {
        notes.push(format!(
            "the time limit allowed for {} of {} plays",
            agreement.plays, plan.plays
        ));
    }
    Ok(agreement)
}

/// Prints a rulesheet in a syntax of GDL. The rules need not be playable.
fn to_syntax(
    source: &Arc<Source>,
    syntax: Syntax,
    options: &TranslateOptions,
) -> Result<Translated, ReportError> {
    let (sheet, findings) = read_with(Arc::clone(source), &options.open.case.into());
    if findings.has_errors() {
        return Err(ReportError(render_first(&findings.0, source, false)));
    }
    if sheet.clauses.is_empty() {
        return Err(ReportError(format!(
            "{}: the rulesheet is empty; hint: `agon check` says what a game needs",
            source.name()
        )));
    }
    Ok(Translated::plain(printed(&sheet, syntax)?))
}

/// Prints a rulesheet, and checks that the text has the same rules when it is read again.
fn printed(sheet: &Rulesheet, syntax: Syntax) -> Result<String, ReportError> {
    let text = print_rulesheet(sheet, syntax);
    let again = Arc::new(Source::new("printed", text.as_str()));
    let options = ReadOptions { case: sheet.symbols.case(), syntax: Some(syntax) };
    let (again, _) = read_with(again, &options);
    if same_rules(sheet, &again) {
        Ok(text)
    } else {
        Err(fail(&"the printed rules differ from the original rules: this is a bug in agon"))
    }
}

impl From<&OpenError> for ReportError {
    fn from(error: &OpenError) -> ReportError {
        fail(error)
    }
}
