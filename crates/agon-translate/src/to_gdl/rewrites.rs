//! Rules that create, copy and delete elements. GDL has no new constants, so there is a pool of
//! names, and a fluent lists the existing elements.
//!
//! A new element gets its name in the rule and the first free number, as in the game itself. When a
//! pool has no name left, the move is not legal. The text of the translation says so.

use std::sync::Arc;

use agon_structures::structure::RelationId;
use agon_toss::arena::{Effect, Rewrite, RuleId};

use super::ToGdlError;
use super::clauses::{Atom, Expression, Literal, Section, Var};
use super::nodes::Node;
use super::translator::{Moment, Translator};

/// Maximum number of clauses for inherited tuples of one relation in one rule.
const MAX_WAYS: usize = 4_096;

/// The application of a rewriting rule, with the names for one relation.
struct Application<'a> {
    relation: RelationId,
    /// Word of the relation.
    word: &'a str,
    /// The condition that the rule is applied.
    done: Node,
    /// Elements of the left side.
    matched: &'a [Expression],
    /// Elements of the right side.
    terms: Vec<Expression>,
    /// For each element of the right side: the condition that determines its name, if it is new.
    conditions: Vec<Option<Node>>,
    /// Variables for elements that are not matched, one for each argument of the relation.
    others: Vec<Expression>,
}

impl Application<'_> {
    fn fluent(&self, arguments: Vec<Expression>) -> Expression {
        Expression::Call(self.word.to_owned(), arguments)
    }
}

impl Translator<'_> {
    /// Returns whether rules create or delete elements.
    pub(super) fn is_changing(&self) -> bool {
        !self.arena.keeps_universe()
    }

    /// Returns whether a relation has to be a fluent.
    pub(super) fn is_fluent(&self, relation: RelationId) -> bool {
        self.is_changing() || self.arena.is_fluent(relation)
    }

    /// Returns the condition that an element exists.
    pub(super) fn lives(&mut self, element: Expression) -> Atom {
        Atom::about("true", Expression::Call(self.element(), vec![element]))
    }

    /// Returns the names of all elements that may ever exist, in a fixed order: those of the start,
    /// then the pools.
    pub(super) fn universe(&self) -> Vec<String> {
        let start = self.arena.start();
        let mut names: Vec<String> =
            start.elements().map(|element| self.names.constant(start.name(element))).collect();
        for stem in self.stems() {
            for number in 1..=self.limits.pool {
                let name = self.names.constant(&format!("{stem}_{number}"));
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Returns the name stems of new elements.
    fn stems(&self) -> Vec<String> {
        let mut stems: Vec<String> = Vec::new();
        for rule in self.arena.rules() {
            let Effect::Rewrite(rewrite) = &rule.effect else { continue };
            for (variable, keeps) in rewrite.right.iter().zip(&rewrite.keeps) {
                if !keeps && !stems.iter().any(|stem| stem == variable.name()) {
                    stems.push(variable.name().to_owned());
                }
            }
        }
        stems
    }

    /// Returns the relation between an embedding and the name of the new element at a place of the
    /// right side.
    pub(super) fn new_name(&mut self, rule: RuleId, place: usize) -> Result<String, ToGdlError> {
        let key = (Arc::from(format!("new {place} {}", rule.index())), Moment::After(rule));
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let arena = self.arena;
        let name = &arena.rule(rule).name;
        let Effect::Rewrite(rewrite) = &arena.rule(rule).effect else {
            unreachable!("the caller has checked that the rule creates elements")
        };
        let stem = rewrite.right[place].name();
        let word = self.names.fresh(&format!("{name}_makes_{stem}"));
        self.words.insert(key, word.clone());
        let fits = self.fits(rule)?;
        let matched = self.matched(rule, &fits);
        let terms: Vec<Expression> = matched.iter().map(|&var| Expression::Variable(var)).collect();
        let of =
            |word: &str, name: Expression| Atom::new(word, [terms.as_slice(), &[name]].concat());
        let is_match = Node::holds(Atom::new(fits, terms.clone()));
        let (taken, until) = (
            self.names.fresh(&format!("{stem}_taken")),
            self.names.fresh(&format!("{stem}_taken_before")),
        );
        let next = self.names.fresh(&format!("{stem}_next"));
        let pool: Vec<Expression> = (1..=self.limits.pool)
            .map(|number| Expression::word(self.names.constant(&format!("{stem}_{number}"))))
            .collect();
        // Names of the pool in use, except those whose elements are deleted by the same move.
        for candidate in &pool {
            let mut conditions = vec![is_match.clone(), Node::holds(self.lives(candidate.clone()))];
            for (left, var) in matched.iter().enumerate() {
                if !rewrite.map.contains(&Some(left)) {
                    let differ = Literal::Differ(Expression::Variable(*var), candidate.clone());
                    conditions.push(Node::Literal(differ));
                }
            }
            self.define(Section::Meanings, &of(&taken, candidate.clone()), &Node::and(conditions))?;
        }
        for pair in pool.windows(2) {
            self.fact(Section::Facts, Atom::new(next.clone(), pair.to_vec()));
        }
        let Some(first) = pool.first() else {
            return Err(ToGdlError::ChangingUniverse { rule: name.clone() });
        };
        self.define(Section::Meanings, &of(&until, first.clone()), &is_match)?;
        let [earlier, later] =
            ["earlier", "later"].map(|hint| self.variable(hint)).map(Expression::Variable);
        let step = Node::and([
            Node::holds(Atom::new(next, vec![earlier.clone(), later.clone()])),
            Node::holds(of(&until, earlier.clone())),
            Node::holds(of(&taken, earlier)),
        ]);
        self.define(Section::Meanings, &of(&until, later.clone()), &step)?;
        let free = Node::and([
            Node::holds(of(&until, later.clone())),
            Node::fails(of(&taken, later.clone())),
        ]);
        self.define(Section::Meanings, &of(&word, later), &free)?;
        Ok(word)
    }

    /// Returns what replaces the elements of the right side in an embedding: matched elements, or
    /// new ones with the condition that determines their names.
    fn replacements(
        &mut self,
        rule: RuleId,
        rewrite: &Rewrite,
        matched: &[Expression],
    ) -> Result<(Vec<Expression>, Vec<Option<Node>>), ToGdlError> {
        let (mut terms, mut conditions) = (Vec::new(), Vec::new());
        for (place, variable) in rewrite.right.iter().enumerate() {
            match rewrite.map[place] {
                Some(left) if rewrite.keeps[place] => {
                    terms.push(matched[left].clone());
                    conditions.push(None);
                }
                Some(_) | None => {
                    let name = Expression::Variable(self.variable(variable.name()));
                    let word = self.new_name(rule, place)?;
                    conditions.push(Some(Node::holds(Atom::new(
                        word,
                        [matched, std::slice::from_ref(&name)].concat(),
                    ))));
                    terms.push(name);
                }
            }
        }
        Ok((terms, conditions))
    }

    /// Writes which elements exist after a rule was applied.
    pub(super) fn existing_elements(&mut self) -> Result<(), ToGdlError> {
        let arena = self.arena;
        let element = self.element();
        let goes = self.names.fresh("element_goes");
        for (index, rule) in arena.rules().iter().enumerate() {
            let (Effect::Rewrite(rewrite), Some(id)) = (&rule.effect, self.rule_id(index)) else {
                continue;
            };
            let matched = self.own_terms(id);
            for done in self.does_atoms(id, &matched) {
                let done = Node::holds(done);
                for (left, term) in matched.iter().enumerate() {
                    if !rewrite.map.contains(&Some(left)) {
                        self.define(
                            Section::Changes,
                            &Atom::new(goes.clone(), vec![term.clone()]),
                            &done,
                        )?;
                    }
                }
                let (terms, conditions) = self.replacements(id, rewrite, &matched)?;
                for (term, condition) in terms.into_iter().zip(conditions) {
                    let Some(condition) = condition else { continue };
                    let head = Atom::about("next", Expression::Call(element.clone(), vec![term]));
                    self.define(Section::Changes, &head, &Node::and([done.clone(), condition]))?;
                }
            }
        }
        let own = Expression::Variable(self.variable("x"));
        let stays = Node::and([
            Node::holds(self.lives(own.clone())),
            Node::fails(Atom::new(goes, vec![own.clone()])),
        ]);
        self.define(
            Section::Changes,
            &Atom::about("next", Expression::Call(element, vec![own])),
            &stays,
        )
    }

    /// Writes what a rule does to the tuples of a relation. By definition 2 of Kaiser & Stafiniak
    /// 2011, each tuple is inherited by the replacements of its matched elements. So it stays where
    /// the elements stay. It is removed where one of them is removed, or where the rule determines
    /// it because all its elements are matched and the relation is embedded. Returns whether tuples
    /// are removed.
    pub(super) fn rewritten(
        &mut self,
        relation: RelationId,
        (word, goes): (&str, &str),
        rule: RuleId,
        rewrite: &Rewrite,
    ) -> Result<bool, ToGdlError> {
        let mut is_lost = false;
        let arity = self.arena.vocabulary().arity(relation);
        let matched = self.own_terms(rule);
        let fluent = |arguments: Vec<Expression>| Expression::Call(word.to_owned(), arguments);
        for done in self.does_atoms(rule, &matched) {
            let done = Node::holds(done);
            let (terms, conditions) = self.replacements(rule, rewrite, &matched)?;
            for tuple in rewrite.tuples.iter().filter(|tuple| tuple.relation == relation) {
                let arguments = tuple.arguments.iter().map(|&place| terms[place].clone()).collect();
                let made = tuple.arguments.iter().filter_map(|&place| conditions[place].clone());
                let node = Node::and([done.clone()].into_iter().chain(made));
                self.define(Section::Changes, &Atom::about("next", fluent(arguments)), &node)?;
            }
            let others: Vec<Expression> = (0..arity)
                .map(|at| Expression::Variable(self.variable(&format!("x{}", at + 1))))
                .collect();
            let application =
                Application { relation, word, done, matched: &matched, terms, conditions, others };
            is_lost |= self.removed_tuples(&application, goes, rewrite)?;
            self.inherited_tuples(&application, rewrite)?;
        }
        Ok(is_lost)
    }

    /// Writes the tuples of a relation that a rule application removes to the relation `goes`.
    /// Returns whether there are any.
    fn removed_tuples(
        &mut self,
        application: &Application<'_>,
        goes: &str,
        rewrite: &Rewrite,
    ) -> Result<bool, ToGdlError> {
        let Application { relation, done, matched, others, .. } = application;
        let arity = others.len();
        let mut is_lost = false;
        let stays = |left: usize| {
            let mut places = rewrite.map.iter().zip(&rewrite.keeps);
            places.any(|(from, keeps)| *keeps && *from == Some(left))
        };
        for at in 0..arity {
            for (_, term) in matched.iter().enumerate().filter(|(left, _)| !stays(*left)) {
                let mut arguments = others.clone();
                arguments[at] = term.clone();
                let there = Atom::about("true", application.fluent(arguments.clone()));
                let node = Node::and([done.clone(), Node::holds(there)]);
                self.define(Section::Changes, &Atom::new(goes, arguments), &node)?;
                is_lost = true;
            }
        }
        // The empty tuple of a relation without arguments is matched too.
        if rewrite.embedded.contains(relation) {
            let staying: Vec<usize> = (0..matched.len()).filter(|&left| stays(left)).collect();
            for tuple in tuples_of(&staying, arity).ok_or_else(|| self.too_large())? {
                let arguments = tuple.iter().map(|&left| matched[left].clone()).collect();
                self.define(Section::Changes, &Atom::new(goes, arguments), done)?;
                is_lost = true;
            }
        }
        Ok(is_lost)
    }

    /// Writes the tuples that the replacements of matched elements inherit.
    fn inherited_tuples(
        &mut self,
        application: &Application<'_>,
        rewrite: &Rewrite,
    ) -> Result<(), ToGdlError> {
        let Application { relation, done, matched, terms, conditions, others, .. } = application;
        let arity = others.len();
        let is_embedded = rewrite.embedded.contains(relation);
        // Each position of a tuple is either not matched, or matched and replaced by an element of
        // the right side.
        let choices: Vec<Option<usize>> = [None]
            .into_iter()
            .chain((0..rewrite.right.len()).filter(|&r| rewrite.map[r].is_some()).map(Some))
            .collect();
        for way in tuples_of(&choices, arity).ok_or_else(|| self.too_large())? {
            let n_matched = way.iter().flatten().count();
            let is_itself = way.iter().flatten().all(|&place| rewrite.keeps[place]);
            if is_itself || (is_embedded && n_matched == arity) {
                continue;
            }
            let (mut before, mut after) = (Vec::new(), Vec::new());
            let mut parts = vec![done.clone()];
            for (at, choice) in way.iter().enumerate() {
                match choice {
                    None => {
                        before.push(others[at].clone());
                        after.push(others[at].clone());
                        let apart = matched
                            .iter()
                            .map(|term| Literal::Differ(others[at].clone(), term.clone()));
                        parts.extend(apart.map(Node::Literal));
                    }
                    Some(place) => {
                        let left = rewrite.map[*place].expect("only replaced elements are chosen");
                        before.push(matched[left].clone());
                        after.push(terms[*place].clone());
                        parts.extend(conditions[*place].clone());
                    }
                }
            }
            parts.push(Node::holds(Atom::about("true", application.fluent(before))));
            let next = Atom::about("next", application.fluent(after));
            self.define(Section::Changes, &next, &Node::and(parts))?;
        }
        Ok(())
    }

    fn too_large(&self) -> ToGdlError {
        ToGdlError::TooLarge { conditions: self.limits.conditions }
    }

    /// Returns new variables for the elements of a rule.
    pub(super) fn own_terms(&mut self, rule: RuleId) -> Vec<Expression> {
        let elements = &self.arena.rule(rule).elements;
        let vars: Vec<Var> = elements.iter().map(|element| self.variable(element.name())).collect();
        vars.into_iter().map(Expression::Variable).collect()
    }
}

/// Returns all tuples over these items, unless there are too many.
fn tuples_of<T: Copy>(things: &[T], arity: usize) -> Option<Vec<Vec<T>>> {
    let mut tuples: Vec<Vec<T>> = vec![Vec::new()];
    for _ in 0..arity {
        if tuples.len().saturating_mul(things.len()) > MAX_WAYS {
            return None;
        }
        tuples = tuples
            .iter()
            .flat_map(|tuple| {
                things.iter().map(move |thing| [tuple.as_slice(), &[*thing]].concat())
            })
            .collect();
    }
    Some(tuples)
}
