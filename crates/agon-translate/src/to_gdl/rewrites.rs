//! Rules that create, copy and delete elements: GDL has no new constants, so there is a pool of names, and a fluent says who lives.
//!
//! A new element is called after its name in the rule with the first number that is free, as in the game itself. When a pool has
//! no name left, the move is not legal; the text of the translation says so.

use std::sync::Arc;

use agon_structures::structure::RelationId;
use agon_toss::arena::{Effect, Rewrite, RuleId};

use super::Refusal;
use super::clauses::{Atom, Expression, Literal, Section, Var};
use super::maker::{Maker, Moment};
use super::nodes::Node;

/// So many ways to inherit the tuples of a relation are written out for one rule.
const MAX_WAYS: usize = 4_096;

impl Maker<'_> {
    /// Whether elements come and go.
    pub(super) fn is_changing(&self) -> bool {
        !self.arena.keeps_universe()
    }

    /// Whether a relation has to be among the fluents.
    pub(super) fn is_fluent(&self, relation: RelationId) -> bool {
        self.is_changing() || self.arena.is_fluent(relation)
    }

    /// That an element lives.
    pub(super) fn lives(&mut self, element: Expression) -> Atom {
        Atom::about("true", Expression::Call(self.element(), vec![element]))
    }

    /// The names of all elements that there may ever be, in an order: those of the start, then the pools.
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

    /// What new elements are called after.
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

    /// The relation between a match and the name of the new element at a place of the right side.
    pub(super) fn new_name(&mut self, rule: RuleId, place: usize) -> Result<String, Refusal> {
        let key = (Arc::from(format!("new {place} {}", rule.index())), Moment::After(rule));
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let arena = self.arena;
        let name = &arena.rule(rule).name;
        let Effect::Rewrite(rewrite) = &arena.rule(rule).effect else {
            unreachable!("the universe stays under this rule")
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
        // Names of the pool that live, but for those whose elements go in the same move.
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
            return Err(Refusal::ChangingUniverse { rule: name.clone() });
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

    /// What stands for the elements of the right side after a match: its own elements, or new ones with what says their names.
    fn replacements(
        &mut self,
        rule: RuleId,
        rewrite: &Rewrite,
        matched: &[Expression],
    ) -> Result<(Vec<Expression>, Vec<Option<Node>>), Refusal> {
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

    /// Who lives after a rule was applied.
    pub(super) fn births_and_deaths(&mut self) -> Result<(), Refusal> {
        let arena = self.arena;
        let element = self.element();
        let goes = self.names.fresh("element_goes");
        for (index, rule) in arena.rules().iter().enumerate() {
            let (Effect::Rewrite(rewrite), Some(id)) = (&rule.effect, self.rule_id(index)) else {
                continue;
            };
            let matched = self.own_terms(id);
            for done in self.doings(id, &matched) {
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

    /// What a rule makes of the tuples of a relation: each comes back with what replaces its matched elements (definition 2 of the
    /// paper). So it stays where they stay themselves, and goes where one of them does not, or where the rule has the say
    /// because all are matched and the relation is embedded. Tells whether there are any that go.
    pub(super) fn rewritten(
        &mut self,
        relation: RelationId,
        (word, goes): (&str, &str),
        rule: RuleId,
        rewrite: &Rewrite,
    ) -> Result<bool, Refusal> {
        let mut is_lost = false;
        let arity = self.arena.vocabulary().arity(relation);
        let matched = self.own_terms(rule);
        let fluent = |arguments: Vec<Expression>| Expression::Call(word.to_owned(), arguments);
        for done in self.doings(rule, &matched) {
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
            let stays = |left: usize| {
                let mut places = rewrite.map.iter().zip(&rewrite.keeps);
                places.any(|(from, keeps)| *keeps && *from == Some(left))
            };
            for at in 0..arity {
                for (_, term) in matched.iter().enumerate().filter(|(left, _)| !stays(*left)) {
                    let mut arguments = others.clone();
                    arguments[at] = term.clone();
                    let there = Node::holds(Atom::about("true", fluent(arguments.clone())));
                    let node = Node::and([done.clone(), there]);
                    self.define(Section::Changes, &Atom::new(goes, arguments), &node)?;
                    is_lost = true;
                }
            }
            let is_embedded = rewrite.embedded.contains(&relation);
            if is_embedded && arity > 0 {
                let staying: Vec<usize> = (0..matched.len()).filter(|&left| stays(left)).collect();
                for tuple in tuples_of(&staying, arity).ok_or_else(|| self.too_large())? {
                    let arguments = tuple.iter().map(|&left| matched[left].clone()).collect();
                    self.define(Section::Changes, &Atom::new(goes, arguments), &done)?;
                    is_lost = true;
                }
            }
            // Each place of a tuple: not matched, or matched and replaced by an element of the right side.
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
                            let left = rewrite.map[*place]
                                .expect("only those that replace something are chosen");
                            before.push(matched[left].clone());
                            after.push(terms[*place].clone());
                            parts.extend(conditions[*place].clone());
                        }
                    }
                }
                parts.push(Node::holds(Atom::about("true", fluent(before))));
                self.define(
                    Section::Changes,
                    &Atom::about("next", fluent(after)),
                    &Node::and(parts),
                )?;
            }
        }
        Ok(is_lost)
    }

    fn too_large(&self) -> Refusal {
        Refusal::TooLarge { conditions: self.limits.conditions }
    }

    /// Variables of their own for the elements of a rule.
    pub(super) fn own_terms(&mut self, rule: RuleId) -> Vec<Expression> {
        let elements = &self.arena.rule(rule).elements;
        let vars: Vec<Var> = elements.iter().map(|element| self.variable(element.name())).collect();
        vars.into_iter().map(Expression::Variable).collect()
    }
}

/// All tuples over these things, unless there are too many.
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
