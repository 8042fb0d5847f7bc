//! Faults of a rulesheet that show only in play: plays seeded random games and watches every law of
//! GDL.

mod belief;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_datalog::{Limits, RefusalKind};
use agon_game::{Fault, Notation as _, Position as _, Rng, Role};
use agon_text::{Diagnostic, Diagnostics, Severity, Span};
use rand::SeedableRng as _;

use crate::check::CheckedRules;
use crate::interpreter::{Game, Interpreter, Move, Options};
use crate::symbols::keyword;
use crate::syntax::TermKind;
use belief::Belief;

/// How much [`check_by_play`] plays.
#[derive(Copy, Clone, Debug)]
pub struct PlayPlan {
    /// Number of plays.
    pub plays: u64,
    /// Seed of the random generator.
    pub seed: u64,
    /// Maximum number of steps. A longer play is reported as endless.
    pub max_steps: usize,
    /// Whether this is a quick test. Then a longer play is not reported, and a fault after the
    /// first step is a warning.
    pub is_quick: bool,
    /// Whether faults are measured by the definition of GDL. It wants exactly one goal value for
    /// each role at every state, which never decreases.
    pub is_strict: bool,
    /// The time at which playing stops.
    pub deadline: Option<Instant>,
}

impl Default for PlayPlan {
    fn default() -> PlayPlan {
        PlayPlan {
            plays: 100,
            seed: 1,
            max_steps: 1000,
            is_quick: false,
            is_strict: false,
            deadline: None,
        }
    }
}

impl PlayPlan {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

/// Limits of a quick test on one state. They do not depend on the clock, so that every machine
/// reports the same.
const QUICK_FACTS: usize = 1_000_000;
const QUICK_STEPS: u64 = 30_000_000;
/// Time that the first state of a quick test may take beyond the deadline.
const QUICK_GRACE: Duration = Duration::from_secs(5);

/// Opens rules for plays and plays them. Reports rules that cannot be opened or tried within the
/// limits.
pub fn open_and_check(
    rules: CheckedRules,
    plan: &PlayPlan,
    watch: &mut dyn FnMut(),
) -> Diagnostics {
    if plan.plays == 0 {
        return Diagnostics::default();
    }
    let mut limits = Limits { deadline: plan.deadline, ..Limits::default() };
    if plan.is_quick {
        limits.facts = QUICK_FACTS;
        limits.steps = QUICK_STEPS;
        limits.deadline = plan.deadline.and_then(|deadline| deadline.checked_add(QUICK_GRACE));
    }
    let deadline = limits.deadline;
    match Game::open(rules, Options { limits, deadline, ..Options::default() }) {
        Ok(game) => check_by_play(&game, plan, watch),
        Err(finding) => {
            let mut finding = *finding;
            if plan.is_quick && is_about_limits(&finding.message) {
                finding.severity = Severity::Warning;
                finding = finding.hint(QUICK_HINT);
            }
            Diagnostics::from(finding)
        }
    }
}

/// What to do about a refusal of a quick test.
const QUICK_HINT: &str =
    "this was a quick test; `agon check --plays 1 --seconds 600` takes more time";

/// Returns whether a refusal tells of a limit, not of a mistake.
fn is_about_limits(message: &str) -> bool {
    use RefusalKind::{Bytes, Deadline, Facts, Steps};
    [Bytes, Deadline, Facts, Steps].iter().any(|kind| message.starts_with(&kind.to_string()))
}

/// Plays random games and reports what goes wrong: each kind of fault once per role, with its
/// frequency and its first occurrence. Calls `watch` after each play.
pub fn check_by_play(game: &Arc<Game>, plan: &PlayPlan, watch: &mut dyn FnMut()) -> Diagnostics {
    let mut checker = Checker { game, occurrences: BTreeMap::new(), n_plays: 0 };
    let mut rng = Rng::seed_from_u64(plan.seed);
    let mut position = game.start();
    for _ in 0..plan.plays {
        if plan.is_late() && !(plan.is_quick && checker.n_plays == 0) {
            break;
        }
        position.go_to(&game.initial);
        checker.play(&mut position, &mut rng, plan);
        checker.n_plays += 1;
        watch();
    }
    checker.findings(plan)
}

/// The kinds of faults that show in play.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum FaultKind {
    NoLegalMove,
    Refused,
    Endless,
    NoGoal,
    SeveralGoals,
    GoalNotUnique,
    GoalDecreases,
    MoveNotInput,
    FluentNotBase,
    UnknownOwnMoves,
}

/// The first occurrence of a fault, and the number of plays that had it.
struct Occurrence {
    n_plays: u64,
    last_play: u64,
    detail: String,
    after: String,
}

struct Checker<'a> {
    game: &'a Arc<Game>,
    occurrences: BTreeMap<(FaultKind, Option<Role>), Occurrence>,
    n_plays: u64,
}

impl Checker<'_> {
    fn play(&mut self, position: &mut Interpreter, rng: &mut Rng, plan: &PlayPlan) {
        let roles: Vec<Role> = position.shape().roles().collect();
        let inputs: Vec<_> =
            roles.iter().map(|&role| position.input_moves(role).unwrap_or_default()).collect();
        let has_input = inputs.iter().any(|moves| !moves.is_empty());
        let mut beliefs: Vec<Belief> = if position.shape().hidden {
            position.shape().players().map(|role| Belief::new(role, position)).collect()
        } else {
            Vec::new()
        };
        let mut history: Vec<String> = Vec::new();
        let mut joint: Vec<Move> = Vec::new();
        let mut goals: Vec<Option<i64>> = vec![None; roles.len()];
        for _ in 0..plan.max_steps {
            let outside = position.fluents_outside_base().unwrap_or_default();
            // A later state that was not evaluated in time says nothing about the rules.
            let (is_refused, is_out_of_time) = match position.fault() {
                Some(Fault::Refused(why)) => {
                    (true, why.starts_with(&RefusalKind::Deadline.to_string()))
                }
                Some(Fault::NoLegalMove(_)) | None => (false, false),
            };
            // The first step of a quick test is made however late it is, within the limits on a
            // state, so that what is reported does not depend on the load of the machine.
            let n_steps = if self.n_plays == 0 { history.len() } else { usize::MAX };
            let says_nothing =
                (is_out_of_time && n_steps > 0) || (plan.is_quick && !is_refused && n_steps > 1);
            if plan.is_late() && says_nothing {
                return;
            }
            if let Some(outside) = outside.first() {
                self.record(FaultKind::FluentNotBase, None, outside, &history);
            }
            match position.fault() {
                Some(Fault::NoLegalMove(role)) => {
                    self.record(FaultKind::NoLegalMove, Some(*role), "", &history);
                }
                Some(Fault::Refused(why)) => self.record(FaultKind::Refused, None, why, &history),
                None => {}
            }
            if position.is_terminal() {
                if position.fault().is_none() {
                    self.goals(position, &history);
                    if plan.is_strict {
                        self.fallen_goals(position, &mut goals, &history);
                    }
                }
                return;
            }
            if plan.is_strict {
                self.goal_laws(position, &mut goals, &history);
            }
            for &role in &roles {
                let outside =
                    position.legal_moves(role).iter().find(|m| !inputs[role.index()].contains(m));
                if let Some(m) = outside.filter(|_| has_input) {
                    self.record(
                        FaultKind::MoveNotInput,
                        Some(role),
                        &position.move_text(m),
                        &history,
                    );
                }
            }
            for belief in &mut beliefs {
                if let Some(difference) = belief.differing_moves(position) {
                    self.record(
                        FaultKind::UnknownOwnMoves,
                        Some(belief.role()),
                        &difference,
                        &history,
                    );
                }
            }
            position.draw(rng, &mut joint);
            for belief in &mut beliefs {
                belief.advance(position, &joint, rng);
            }
            let texts: Vec<String> = joint.iter().map(|m| position.move_text(m)).collect();
            history.push(texts.join(" "));
            position.advance(&joint);
        }
        if !plan.is_quick {
            self.record(FaultKind::Endless, None, "", &[]);
        }
    }

    /// Checks the goal values of a state before the end, which the definition of GDL restricts as
    /// well.
    fn goal_laws(
        &mut self,
        position: &Interpreter,
        before: &mut [Option<i64>],
        history: &[String],
    ) {
        for role in position.shape().players() {
            if let [_] = position.goal_values(role) {
                continue;
            }
            let values: Vec<String> =
                position.goal_values(role).iter().map(i64::to_string).collect();
            let detail = if values.is_empty() { "none".to_owned() } else { values.join(", ") };
            self.record(FaultKind::GoalNotUnique, Some(role), &detail, history);
        }
        self.fallen_goals(position, before, history);
    }

    /// Records goal values that are smaller than before.
    fn fallen_goals(
        &mut self,
        position: &Interpreter,
        before: &mut [Option<i64>],
        history: &[String],
    ) {
        for role in position.shape().players() {
            let [value] = position.goal_values(role) else { continue };
            let known = &mut before[role.index()];
            if let Some(higher) = known.filter(|known| known > value) {
                let detail = format!("from {higher} to {value}");
                self.record(FaultKind::GoalDecreases, Some(role), &detail, history);
            }
            *known = Some(*value);
        }
    }

    fn goals(&mut self, position: &Interpreter, history: &[String]) {
        for role in position.shape().players() {
            match position.goal_values(role) {
                [] => self.record(FaultKind::NoGoal, Some(role), "", history),
                [_] => {}
                several => {
                    let values: Vec<String> = several.iter().map(i64::to_string).collect();
                    self.record(FaultKind::SeveralGoals, Some(role), &values.join(", "), history);
                }
            }
        }
    }

    fn record(&mut self, kind: FaultKind, role: Option<Role>, detail: &str, history: &[String]) {
        let play = self.n_plays;
        let occurrence = self.occurrences.entry((kind, role)).or_insert_with(|| Occurrence {
            n_plays: 0,
            last_play: u64::MAX,
            detail: detail.to_owned(),
            after: history.join("  "),
        });
        if occurrence.last_play != play {
            occurrence.last_play = play;
            occurrence.n_plays += 1;
        }
    }

    fn findings(&self, plan: &PlayPlan) -> Diagnostics {
        let mut findings = Diagnostics::default();
        let names = &self.game.shape().role_names;
        for ((kind, role), occurrence) in &self.occurrences {
            let name = role.map_or("", |role| names[role.index()].as_str());
            let (n, plays, detail) = (occurrence.n_plays, self.n_plays, &occurrence.detail);
            let often = format!("in {n} of {plays} plays");
            let finding = match kind {
                FaultKind::NoLegalMove => Diagnostic::error(
                    "play-no-legal-move",
                    self.role_span(*role),
                    format!("role `{name}` has no legal move before the end, {often}"),
                )
                .hint("every role needs a move at every step; give a waiting role a `noop`"),
                FaultKind::Refused => Diagnostic::error(
                    "play-refused",
                    self.span_of(keyword::NEXT),
                    format!("{detail}, {often}"),
                )
                .hint("a rule has too many instances, or a recursion keeps building new terms"),
                FaultKind::Endless => Diagnostic::warning(
                    "play-endless",
                    self.span_of(keyword::TERMINAL),
                    format!("play did not end within {} steps, {often}", plan.max_steps),
                )
                .hint("add a step counter, or raise the bound with --max-steps"),
                FaultKind::NoGoal => Diagnostic::warning(
                    "play-no-goal",
                    self.goal_span(*role, detail),
                    format!("role `{name}` has no goal value at the end, {often}"),
                )
                .hint("give every role exactly one goal value at the end; none counts as 0"),
                FaultKind::SeveralGoals => Diagnostic::warning(
                    "play-several-goals",
                    self.goal_span(*role, detail),
                    format!(
                        "role `{name}` has several goal values at the end, {often}, first {detail}"
                    ),
                )
                .hint("make the goal conditions exclude each other; now the highest value counts"),
                FaultKind::GoalNotUnique => Diagnostic::error(
                    "play-goal-not-unique",
                    self.goal_span(*role, detail),
                    format!(
                        "role `{name}` has not exactly one goal value before the end, {often}, \
                         first {detail}"
                    ),
                )
                .hint("give every role exactly one goal value at every state"),
                FaultKind::GoalDecreases => Diagnostic::error(
                    "play-goal-decreases",
                    self.goal_span(*role, detail),
                    format!("the goal value of role `{name}` falls {detail}, {often}"),
                )
                .hint("start with the lowest value, and let it grow only"),
                FaultKind::MoveNotInput => Diagnostic::warning(
                    "play-move-not-input",
                    self.span_of(keyword::INPUT),
                    format!(
                        "`{detail}` is legal for `{name}` but not declared by `input`, {often}"
                    ),
                )
                .hint("`input` must list every move that can ever be legal"),
                FaultKind::FluentNotBase => Diagnostic::warning(
                    "play-fluent-not-base",
                    self.span_of(keyword::BASE),
                    format!("`{detail}` was true but is not declared by `base`, {often}"),
                )
                .hint("`base` must list every fluent that can ever be true"),
                FaultKind::UnknownOwnMoves => Diagnostic::warning(
                    "play-unknown-own-moves",
                    self.role_span(*role),
                    format!("role `{name}` cannot know its own legal moves, {often}: {detail}"),
                )
                .hint("add rules for `sees` so that it sees what its moves depend on"),
            };
            let mut finding = match occurrence.after.as_str() {
                "" => finding,
                after => finding.hint(format!("first after: {}", shorten(after))),
            };
            if plan.is_strict && *kind != FaultKind::Endless {
                finding.severity = Severity::Error;
            }
            if plan.is_quick && *kind == FaultKind::Refused && is_about_limits(detail) {
                finding.severity = Severity::Warning;
                finding = finding.hint(QUICK_HINT);
            }
            if plan.is_quick && !occurrence.after.is_empty() {
                finding.severity = finding.severity.min(Severity::Warning);
            }
            findings.push(finding);
        }
        findings
    }

    /// Returns the place of the fact that declares a role.
    fn role_span(&self, role: Option<Role>) -> Span {
        let sheet = self.game.rules().sheet();
        let symbol = role.map(|role| self.game.rules().roles()[role.index()]);
        let names_it = |clause: &&crate::syntax::Clause| {
            clause.head.relation == keyword::ROLE
                && matches!(clause.head.arguments.first().map(|a| &a.kind),
                    Some(TermKind::Constant(name)) if Some(*name) == symbol)
        };
        let named = sheet.clauses.iter().find(names_it);
        named.map_or_else(|| self.span_of(keyword::ROLE), |clause| clause.span)
    }

    /// Returns the place of the clause that gives a role the last value of `detail`, or else of one
    /// about the goal of this role.
    fn goal_span(&self, role: Option<Role>, detail: &str) -> Span {
        let sheet = self.game.rules().sheet();
        let symbol = role.map(|role| self.game.rules().roles()[role.index()]);
        let value = detail.rsplit(' ').next().unwrap_or_default();
        let rank = |clause: &crate::syntax::Clause| {
            let [about, goal] = clause.head.arguments.as_slice() else { return None };
            let rank_of_role = match about.kind {
                TermKind::Constant(name) if Some(name) == symbol => 0,
                TermKind::Constant(_) => return None,
                _ => 1,
            };
            let rank_of_value = match goal.kind {
                TermKind::Constant(name) if sheet.symbols.name(name) == value => 0,
                TermKind::Constant(_) => 2,
                _ => 1,
            };
            Some((rank_of_value, rank_of_role))
        };
        let goals = sheet.clauses.iter().filter(|clause| clause.head.relation == keyword::GOAL);
        let ranked = goals.filter_map(|clause| Some((rank(clause)?, clause.span)));
        ranked
            .min_by_key(|&(rank, span)| (rank, span.start()))
            .map_or_else(|| self.span_of(keyword::GOAL), |(_, span)| span)
    }

    /// Returns the place of the first clause about a relation, or the start of the text.
    fn span_of(&self, relation: agon_datalog::Symbol) -> Span {
        let clauses = &self.game.rules().sheet().clauses;
        clauses.iter().find(|c| c.head.relation == relation).map_or_else(Span::default, |c| c.span)
    }
}

/// Cuts a long history at its start, because its end matters most.
fn shorten(text: &str) -> String {
    const MAX: usize = 300;
    match text.char_indices().rev().nth(MAX) {
        Some((cut, _)) => format!("… {}", &text[cut..]),
        None => text.to_owned(),
    }
}
