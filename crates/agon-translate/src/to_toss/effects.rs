//! Effects of moves: `next` rules as conditional additions and deletions of tuples.
//!
//! A frame rule of the form "a fluent that holds stays, if ..." never adds anything, and what no
//! frame rule keeps is deleted. So deletions are computed from negated frame rules, and additions
//! from the other rules. Deleting an absent tuple and adding a present one have no effect, and
//! additions are applied last. This makes most conditions unnecessary.

mod static_conditions;

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;
use agon_gdl::symbols::keyword;

use super::domain::Functor;
use super::formula::{Form, Relation, Val, Var, and, ex, not};
use super::lift::{Action, Actions, Lifter, Part};
use super::turns::Location;
use super::{Construct, ToTossError};

/// Maximum number of ways to delete a tuple that are distinguished.
const MAX_WAYS: usize = 24;

/// The moves of a role that share a rule, or several rules that differ only in the case.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) role: usize,
    pub(super) functor: Functor,
    /// Arguments: constants at named positions, otherwise variables.
    pub(super) arguments: Vec<Val>,
    /// Condition under which the moves are legal.
    pub(super) legal: Form,
    /// Formulas that are known to hold when one of the moves is made.
    pub(super) known: BTreeSet<Form>,
}

impl Class {
    /// Returns the variables in the order of the arguments.
    pub(super) fn variables(&self) -> Vec<Var> {
        let variable = |value: &Val| match value {
            Val::Var(v) => Some(*v),
            Val::Term(_) => None,
        };
        self.arguments.iter().filter_map(variable).collect()
    }
}

/// A conditional effect: tuples that are added or deleted.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) holds: bool,
    pub(super) predicate: usize,
    /// `None` matches any element, if all tuples are deleted.
    pub(super) tuple: Vec<Option<Val>>,
    /// Variables of the tuple that do not belong to the move.
    pub(super) extra: Vec<Var>,
    pub(super) condition: Form,
    /// The responsible rule, for error messages.
    pub(super) rule: Option<usize>,
}

/// An instance of a rule for a predicate and a class of moves.
struct Way {
    rule: usize,
    locals: Vec<Var>,
    parts: Vec<Part>,
}

/// Computes the effects of a class of moves at a location.
pub(super) struct Effects<'l, 'd> {
    pub(super) lifter: &'l mut Lifter<'d>,
    pub(super) location: &'l Location,
    pub(super) tokens: &'l BTreeSet<usize>,
    pub(super) waiting: &'l [Option<TermId>],
}

impl Effects<'_, '_> {
    /// Simplifies a formula by the known value of the control fluent at this location.
    pub(super) fn here(&self, form: &Form) -> Form {
        let (token, tokens) = (self.location.token, self.tokens);
        if token.is_none() {
            return form.clone();
        }
        form.rewrite(&mut |form| match form {
            Form::Atom(Relation::Fluent(p), _) if tokens.contains(&p) => {
                if Some(p) == token {
                    super::formula::TRUE
                } else {
                    super::formula::FALSE
                }
            }
            other => other,
        })
    }

    /// Returns the classes of a role's moves that may be legal here.
    pub(super) fn classes(&mut self, role: usize) -> Result<Vec<Class>, ToTossError> {
        let domain = self.lifter.domain;
        let role_term = domain.game.role_terms()[role];
        let mut classes = Vec::new();
        for (&functor, shape) in &domain.moves[role] {
            let names: BTreeMap<Vec<TermId>, ()> = shape
                .terms
                .iter()
                .map(|&term| (super::domain::split(&domain.bank, shape, term).0, ()))
                .collect();
            for (names, ()) in super::domain::in_rule_order(&domain.game, &domain.bank, names) {
                let mut names = names.into_iter();
                let mut arguments = Vec::new();
                for &named in &shape.named {
                    let name = if named { names.next() } else { None };
                    arguments
                        .push(name.map_or_else(|| Val::Var(self.lifter.fresh("a")), Val::Term));
                }
                let mut ways = Vec::new();
                for index in self.lifter.rules_of(keyword::LEGAL, 2) {
                    let rule = self.lifter.rule(index);
                    let mut b = self.lifter.binding(index);
                    let fits = self.lifter.unify(
                        rule,
                        &rule.head.arguments[0],
                        Val::Term(role_term),
                        &mut b,
                    )? && self.lifter.unify_move(
                        rule,
                        &rule.head.arguments[1],
                        functor,
                        &arguments,
                        &mut b,
                    )?;
                    if !fits {
                        continue;
                    }
                    for instance in self.lifter.instances(index, b, None)? {
                        let form = self.here(&instance.form());
                        if !form.is_false() {
                            self.lifter.name_arguments(index, &arguments);
                        }
                        ways.push(form);
                    }
                }
                let legal = super::formula::or(ways);
                if legal.is_false() {
                    continue;
                }
                let known = legal.clone().conjuncts().into_iter().collect();
                classes.push(Class { role, functor, arguments, legal, known });
            }
        }
        Ok(classes)
    }

    /// Returns the effects of a class of moves.
    pub(super) fn entries(&mut self, class: &Class) -> Result<Vec<Entry>, ToTossError> {
        let actions = self.actions(class);
        let domain = self.lifter.domain;
        let mut entries = Vec::new();
        for predicate in 0..domain.predicates.len() {
            let width = domain.predicates[predicate].rows.first().map_or(0, Vec::len);
            let head: Vec<Var> = (0..width).map(|_| self.lifter.fresh("y")).collect();
            let is_token = self.tokens.contains(&predicate);
            let (mut frames, mut additions) = (Vec::new(), Vec::new());
            for rule in self.lifter.rules_of(keyword::NEXT, 1) {
                for way in self.next_ways(rule, predicate, &head, &actions, class)? {
                    match way {
                        (way, true) if !is_token => frames.push(way),
                        (way, _) => additions.push(way),
                    }
                }
            }
            for way in additions {
                self.addition(way, predicate, &head, class, &mut entries)?;
            }
            if is_token {
                // The old control fluent is always deleted.
                if Some(predicate) == self.location.token && self.performs_common_effects(class) {
                    entries.push(Entry {
                        holds: false,
                        predicate,
                        tuple: Vec::new(),
                        extra: Vec::new(),
                        condition: super::formula::TRUE,
                        rule: None,
                    });
                }
                continue;
            }
            self.deletions(frames, predicate, &head, class, &mut entries)?;
        }
        Ok(entries)
    }

    fn actions(&self, class: &Class) -> Actions {
        let n_roles = self.lifter.domain.moves.len();
        let does = |role: usize| {
            if role == class.role {
                return Action::Form(class.functor, class.arguments.clone());
            }
            match self.waiting[role] {
                Some(term) if !self.location.active.contains(&role) => {
                    Action::Form((self.lifter.domain.bank.symbol(term), 0), Vec::new())
                }
                _ => Action::Foreign,
            }
        };
        (0..n_roles).map(does).collect()
    }

    /// Returns whether moves of this class also perform the effects that depend on no move.
    fn performs_common_effects(&self, class: &Class) -> bool {
        self.location.active.first() == Some(&class.role)
    }

    fn active_mask(&self) -> u64 {
        self.location.active.iter().fold(0, |mask, role| mask | 1 << role)
    }

    /// Returns the instances of a `next` rule for a predicate, and whether each is a frame rule.
    fn next_ways(
        &mut self,
        rule: usize,
        predicate: usize,
        head: &[Var],
        actions: &Actions,
        class: &Class,
    ) -> Result<Vec<(Way, bool)>, ToTossError> {
        let text = self.lifter.rule(rule);
        if !self.lifter.predicates_of(&text.head)?.contains(&predicate) {
            return Ok(Vec::new());
        }
        let mut b = self.lifter.binding(rule);
        if !self.lifter.unify_names(text, &text.head, predicate, &mut b)? {
            return Ok(Vec::new());
        }
        let values: Vec<Val> = head.iter().map(|&v| Val::Var(v)).collect();
        if !self.lifter.unify_coordinates(text, &text.head, predicate, &values, &mut b)? {
            return Ok(Vec::new());
        }
        let mut ways = Vec::new();
        for instance in self.lifter.instances(rule, b, Some(actions))? {
            let parts: Vec<Part> = instance
                .parts
                .into_iter()
                .map(|part| Part { form: self.here(&part.form), roles: part.roles })
                .collect();
            if parts
                .iter()
                .any(|part| part.form.is_false() || class.known.contains(&not(part.form.clone())))
            {
                continue;
            }
            let solved = solve(&parts, &[head, &instance.locals].concat());
            let own = Form::Atom(Relation::Fluent(predicate), values.clone()).replace(&solved);
            let is_frame = parts.iter().any(|part| part.form.replace(&solved) == own);
            ways.push((Way { rule, locals: instance.locals, parts }, is_frame));
        }
        Ok(ways)
    }

    /// Adds the effect of a rule that is not a frame rule.
    fn addition(
        &mut self,
        way: Way,
        predicate: usize,
        head: &[Var],
        class: &Class,
        entries: &mut Vec<Entry>,
    ) -> Result<(), ToTossError> {
        if !self.is_responsible(
            way.parts.iter().fold(0, |mask, part| mask | part.roles),
            class,
            way.rule,
        )? {
            return Ok(());
        }
        let open: Vec<Var> = [head, &way.locals].concat();
        let solved = solve(&way.parts, &open);
        let value = |v: &Var| solved.get(v).copied().unwrap_or(Val::Var(*v));
        let tuple: Vec<Val> = head.iter().map(value).collect();
        let parts = way.parts.iter().map(|part| part.form.replace(&solved));
        let parts: Vec<Form> = parts.filter(|part| !class.known.contains(part)).collect();
        let own: BTreeSet<Var> = class.variables().into_iter().collect();
        let mut extra: Vec<Var> = Vec::new();
        for value in &tuple {
            if let Val::Var(v) = value
                && !own.contains(v)
                && !extra.contains(v)
            {
                extra.push(*v);
            }
        }
        let locals: Vec<Var> = open.into_iter().filter(|v| !extra.contains(v)).collect();
        let mut condition =
            ex(&locals, and(parts.into_iter().map(|form| self.statically_simplified(form, class))));
        if condition.is_false() {
            return Ok(());
        }
        if class.known.contains(&condition) {
            condition = super::formula::TRUE;
        }
        entries.push(Entry {
            holds: true,
            predicate,
            tuple: tuple.into_iter().map(Some).collect(),
            extra,
            condition,
            rule: Some(way.rule),
        });
        Ok(())
    }

    /// Adds the deletions: what no frame rule keeps.
    fn deletions(
        &mut self,
        frames: Vec<Way>,
        predicate: usize,
        head: &[Var],
        class: &Class,
        entries: &mut Vec<Entry>,
    ) -> Result<(), ToTossError> {
        let values: Vec<Val> = head.iter().map(|&v| Val::Var(v)).collect();
        let own = Form::Atom(Relation::Fluent(predicate), values.clone());
        if frames.is_empty() {
            let nobody_has = class.known.contains(&not(own.clone()));
            if self.performs_common_effects(class) && !nobody_has {
                let tuple = vec![None; head.len()];
                let condition = super::formula::TRUE;
                entries.push(Entry {
                    holds: false,
                    predicate,
                    tuple,
                    extra: Vec::new(),
                    condition,
                    rule: None,
                });
            }
            return Ok(());
        }
        let blame = frames[0].rule;
        let Some(terms) = self.deletion_ways(&frames, &own, class) else {
            // Too many to distinguish, or with variables of their own: one combined condition.
            let mask = frames
                .iter()
                .flat_map(|frame| &frame.parts)
                .fold(0, |mask, part| mask | part.roles);
            if self.is_responsible(mask, class, blame)? {
                let goes = frames.iter().map(|frame| {
                    let kept = frame
                        .parts
                        .iter()
                        .map(|part| part.form.clone())
                        .filter(|form| *form != own);
                    not(ex(&frame.locals, and(kept.filter(|form| !class.known.contains(form)))))
                });
                let form = and(goes.collect::<Vec<_>>());
                self.deletion(form, (predicate, head), class, blame, entries);
            }
            return Ok(());
        };
        for (form, mask) in terms {
            if self.is_responsible(mask, class, blame)? {
                self.deletion(form, (predicate, head), class, blame, entries);
            }
        }
        Ok(())
    }

    /// Returns the ways in which all frame rules fail, with one failing condition of each, and the
    /// roles they depend on.
    fn deletion_ways(&self, frames: &[Way], own: &Form, class: &Class) -> Option<Vec<(Form, u64)>> {
        let mut terms: Vec<(Form, u64)> = vec![(super::formula::TRUE, 0)];
        for frame in frames {
            let mut fails: Vec<(Form, u64)> = Vec::new();
            // Variables that equations determine are not local.
            let solved = solve(&frame.parts, &frame.locals);
            let left: Vec<Var> =
                frame.locals.iter().copied().filter(|v| !solved.contains_key(v)).collect();
            let mut grouped: Vec<(Vec<Form>, u64, BTreeSet<Var>)> = Vec::new();
            // A tuple that is kept because of a move of this class is also deleted because of it.
            let own_mask = frame
                .parts
                .iter()
                .filter(|part| part.form.is_true())
                .fold(0, |mask, part| mask | part.roles);
            for part in &frame.parts {
                let form = part.form.replace(&solved);
                if form == *own || form.is_true() || class.known.contains(&form) {
                    continue;
                }
                // Conditions that share a local variable belong together.
                let mut mine: BTreeSet<Var> =
                    form.free().into_iter().filter(|v| left.contains(v)).collect();
                if part.roles & self.active_mask() & !(1 << class.role) != 0 {
                    // The move of another role may refer to any of them.
                    mine.extend(&left);
                }
                let (mut forms, mut mask, mut shared) =
                    (vec![form], (part.roles | own_mask) & self.active_mask(), mine);
                let mut rest = Vec::new();
                for (other, roles, variables) in grouped {
                    if variables.is_disjoint(&shared) {
                        rest.push((other, roles, variables));
                    } else {
                        forms.extend(other);
                        mask |= roles;
                        shared.extend(variables);
                    }
                }
                rest.push((forms, mask, shared));
                grouped = rest;
            }
            for (forms, mask, shared) in grouped {
                let shared: Vec<Var> = shared.into_iter().collect();
                fails.push((not(ex(&shared, and(forms))), mask));
            }
            terms = terms
                .iter()
                .flat_map(|(form, mask)| {
                    fails
                        .iter()
                        .map(move |(fail, roles)| (and([form.clone(), fail.clone()]), mask | roles))
                })
                .filter(|(form, _)| !form.is_false())
                .collect();
            if terms.len() > MAX_WAYS {
                return None;
            }
        }
        Some(terms)
    }

    /// Adds one way in which tuples of a predicate are deleted.
    fn deletion(
        &mut self,
        form: Form,
        (predicate, head): (usize, &[Var]),
        class: &Class,
        rule: usize,
        entries: &mut Vec<Entry>,
    ) {
        let parts: Vec<Part> =
            form.conjuncts().into_iter().map(|form| Part { form, roles: 0 }).collect();
        if parts.iter().any(|part| class.known.contains(&not(part.form.clone()))) {
            return;
        }
        let mut solved = solve(&parts, head);
        let mut rest: Vec<Form> = parts.iter().map(|part| part.form.replace(&solved)).collect();
        let open: Vec<Var> = head.iter().copied().filter(|v| !solved.contains_key(v)).collect();
        if !open.is_empty()
            && let Some(more) = self.static_solution(&rest, predicate, head, &solved, class)
        {
            rest = rest.iter().map(|form| form.replace(&more)).collect();
            solved.extend(more);
        }
        let tuple: Vec<Val> =
            head.iter().map(|v| solved.get(v).copied().unwrap_or(Val::Var(*v))).collect();
        let own = Form::Atom(Relation::Fluent(predicate), tuple.clone());
        if class.known.contains(&not(own.clone())) {
            return;
        }
        // The presence of a tuple need not be checked, because deleting an absent tuple has no
        // effect.
        rest.retain(|form| !class.known.contains(form) && *form != own);
        let mut condition =
            and(rest.into_iter().map(|form| self.statically_simplified(form, class)));
        if condition.is_false() {
            return;
        }
        // Tuples that are deleted whatever their value at some position need not be counted.
        let asked = condition.free();
        let is_any = |v: &Var| {
            !solved.contains_key(v)
                && !asked.contains(v)
                && tuple.iter().filter(|value| **value == Val::Var(*v)).count() == 1
        };
        let (any, extra): (Vec<Var>, Vec<Var>) =
            head.iter().copied().filter(|v| !solved.contains_key(v)).partition(is_any);
        if !extra.is_empty() {
            condition = and([ex(&any, own), condition]);
        }
        let goes =
            |value: Val| if any.iter().any(|v| value == Val::Var(*v)) { None } else { Some(value) };
        let tuple = tuple.into_iter().map(goes).collect();
        entries.push(Entry { holds: false, predicate, tuple, extra, condition, rule: Some(rule) });
    }

    /// Returns whether an effect that depends on these roles is performed by moves of this class.
    /// Returns an error if it depends on several roles.
    fn is_responsible(&self, mask: u64, class: &Class, rule: usize) -> Result<bool, ToTossError> {
        let mask = mask & self.active_mask();
        if mask == 0 {
            return Ok(self.performs_common_effects(class));
        }
        if mask & (1 << class.role) == 0 {
            return Ok(false);
        }
        if mask.count_ones() > 1 {
            let why = "the effect of a move depends on the simultaneous move of another role";
            return Err(self.lifter.error_at(rule, Construct::JointEffect, why));
        }
        Ok(true)
    }
}

/// Returns the values that equations among the parts give to variables. The values contain no
/// solved variables.
fn solve(parts: &[Part], open: &[Var]) -> BTreeMap<Var, Val> {
    let mut solved: BTreeMap<Var, Val> = BTreeMap::new();
    for part in parts {
        let Form::Same(a, b) = part.form.replace(&solved) else { continue };
        let (v, value) = match (a, b) {
            // Of two open variables the later one is replaced: locals come after heads.
            (Val::Var(a), Val::Var(b)) if open.contains(&a) && open.contains(&b) => {
                let place = |v: Var| open.iter().position(|&o| o == v);
                if place(a) < place(b) { (b, Val::Var(a)) } else { (a, Val::Var(b)) }
            }
            (Val::Var(a), other) if open.contains(&a) => (a, other),
            (other, Val::Var(b)) if open.contains(&b) => (b, other),
            _ => continue,
        };
        let step = BTreeMap::from([(v, value)]);
        for old in solved.values_mut() {
            if let Val::Var(o) = old
                && let Some(new) = step.get(o)
            {
                *old = *new;
            }
        }
        solved.insert(v, value);
    }
    solved
}
