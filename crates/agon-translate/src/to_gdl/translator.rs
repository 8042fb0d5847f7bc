//! Nodes to clauses: alternatives become clauses, quantifiers and negations become relations, and
//! every variable is bound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use agon_structures::formula::{Name, Term};
use agon_toss::arena::{CheckedArena, RuleId};

use super::clauses::{Atom, Clause, Expression, Literal, Section, Sheet, Var};
use super::names::Names;
use super::nodes::Node;
use super::terms::Cases;
use super::{ToGdlError, ToGdlLimits};

/// Maximum number of clauses that a conjunction is multiplied out to. Beyond it, its alternatives
/// become relations.
const MAX_ALTERNATIVES: usize = 6;

/// The moment at which a formula is evaluated.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Moment {
    /// In the current state.
    Now,
    /// After a rule was applied to the embedding that the formula refers to.
    After(RuleId),
}

/// One conjunctive alternative of a formula.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Body {
    literals: Vec<Literal>,
    same: Vec<(Var, Var)>,
}

/// The state of one translation: the clauses so far and all lookup tables.
pub(super) struct Translator<'a> {
    pub(super) arena: &'a CheckedArena,
    pub(super) limits: ToGdlLimits,
    pub(super) names: Names,
    pub(super) sheet: Sheet,
    /// Prefix for the names of auxiliary relations: the construct that is being translated.
    pub(super) context: String,
    /// A name for each variable.
    pub(super) hints: Vec<String>,
    /// Variables for elements of an embedding, with the condition that binds all of them.
    groups: BTreeMap<Var, Arc<Atom>>,
    /// Relations that are being defined by recursion, and those that depend on them.
    pub(super) open: BTreeSet<String>,
    /// Words of the relations requested so far, by name and moment.
    pub(super) words: BTreeMap<(Name, Moment), String>,
    /// For each rule requested so far: the relations that it may change.
    pub(super) changed: BTreeMap<RuleId, BTreeSet<Name>>,
    /// The fluent that records applied rules.
    pub(super) applied: Option<String>,
    /// Auxiliary relations by their meaning.
    parts: BTreeMap<String, String>,
    /// Cases of terms without free variables.
    pub(super) closed_terms: BTreeMap<(Moment, Term), Cases>,
    element: Option<String>,
    element_order: Option<(String, String)>,
    pub(super) operators: BTreeMap<String, String>,
}

impl<'a> Translator<'a> {
    pub(super) fn new(arena: &'a CheckedArena, limits: ToGdlLimits) -> Translator<'a> {
        Translator {
            arena,
            limits,
            names: Names::new(arena, limits.pool),
            sheet: Sheet::default(),
            context: String::new(),
            hints: Vec::new(),
            groups: BTreeMap::new(),
            open: BTreeSet::new(),
            words: BTreeMap::new(),
            changed: BTreeMap::new(),
            applied: None,
            parts: BTreeMap::new(),
            closed_terms: BTreeMap::new(),
            element: None,
            element_order: None,
            operators: BTreeMap::new(),
        }
    }

    /// Returns a new variable.
    pub(super) fn variable(&mut self, hint: &str) -> Var {
        let var = Var(u32::try_from(self.hints.len())
            .expect("the limits keep the number of variables below 2^32"));
        self.hints.push(hint.to_owned());
        var
    }

    /// Returns variables for the elements of an embedding, which `condition` binds where no other
    /// condition does.
    pub(super) fn matched(&mut self, rule: RuleId, condition: &str) -> Vec<Var> {
        let elements = &self.arena.rule(rule).elements;
        let vars: Vec<Var> = elements.iter().map(|element| self.variable(element.name())).collect();
        let atom = Arc::new(Atom::new(
            condition,
            vars.iter().map(|&var| Expression::Variable(var)).collect(),
        ));
        self.groups.extend(vars.iter().map(|&var| (var, Arc::clone(&atom))));
        vars
    }

    /// Returns the relation of all elements.
    pub(super) fn element(&mut self) -> String {
        if let Some(word) = &self.element {
            return word.clone();
        }
        let word = self.names.fresh("element");
        self.element = Some(word.clone());
        // If elements are created or deleted, it is a fluent.
        if !self.is_changing() {
            for name in self.universe() {
                self.fact(Section::Facts, Atom::new(word.clone(), vec![Expression::word(name)]));
            }
        }
        word
    }

    /// Returns the successor relation of an order of the elements, and the word for the position
    /// before the first. It is used to iterate over the elements one by one.
    pub(super) fn element_order(&mut self) -> (String, String) {
        if let Some(element_order) = &self.element_order {
            return element_order.clone();
        }
        let (relation, origin) = (self.names.fresh("follows"), self.names.fresh("nobody"));
        let mut last = origin.clone();
        for name in self.universe() {
            let step = vec![Expression::word(last), Expression::word(name.clone())];
            self.fact(Section::Facts, Atom::new(relation.clone(), step));
            last = name;
        }
        self.element_order = Some((relation.clone(), origin.clone()));
        (relation, origin)
    }

    /// Returns the word for the last element of the order.
    pub(super) fn last_element(&self) -> Expression {
        Expression::word(self.universe().pop().expect("games without elements are rejected"))
    }

    pub(super) fn fact(&mut self, section: Section, head: Atom) {
        self.sheet.add(section, Clause { head, body: Vec::new() });
    }

    /// Writes clauses for `head`, which holds where the node does.
    pub(super) fn define(
        &mut self,
        section: Section,
        head: &Atom,
        node: &Node,
    ) -> Result<(), ToGdlError> {
        let bodies = self.bodies(node)?;
        self.define_by(section, head, &bodies)
    }

    fn define_by(
        &mut self,
        section: Section,
        head: &Atom,
        bodies: &[Body],
    ) -> Result<(), ToGdlError> {
        for body in bodies {
            self.emit(section, head, body);
        }
        if self.sheet.size() > self.limits.conditions {
            return Err(ToGdlError::TooLarge { conditions: self.limits.conditions });
        }
        self.check_time()
    }

    /// Returns an error if the deadline has passed.
    pub(super) fn check_time(&self) -> Result<(), ToGdlError> {
        match self.limits.deadline.is_some_and(|deadline| Instant::now() > deadline) {
            true => Err(ToGdlError::TooSlow),
            false => Ok(()),
        }
    }

    /// Returns a relation that is equivalent to the node, as an atom over the node's free
    /// variables.
    pub(super) fn part(&mut self, node: &Node) -> Result<Atom, ToGdlError> {
        if let Node::Literal(Literal::Holds(atom)) = node {
            return Ok(atom.clone());
        }
        let bodies = self.bodies(node)?;
        let free = node.free();
        self.part_by(&free, &bodies)
    }

    fn part_by(&mut self, free: &[Var], bodies: &[Body]) -> Result<Atom, ToGdlError> {
        let arguments: Vec<Expression> =
            free.iter().map(|&var| Expression::Variable(var)).collect();
        let key = self.key(free, bodies);
        if let Some(word) = self.parts.get(&key) {
            return Ok(Atom::new(word.clone(), arguments));
        }
        let word = self.names.fresh(&format!("{}_part", self.context));
        let head = Atom::new(word.clone(), arguments);
        self.define_by(Section::Meanings, &head, bodies)?;
        self.parts.insert(key, word);
        Ok(head)
    }

    /// Returns a canonical text of the meaning: variables are numbered by first appearance.
    fn key(&self, free: &[Var], bodies: &[Body]) -> String {
        let mut order: BTreeMap<Var, Expression> = BTreeMap::new();
        let mut number = |var: Var| {
            let next = Expression::word(format!("?{}", order.len()));
            order.entry(var).or_insert(next);
        };
        free.iter().for_each(|&var| number(var));
        for body in bodies {
            body.literals.iter().for_each(|literal| literal.each_variable(&mut number));
            body.same.iter().for_each(|(a, b)| [*a, *b].into_iter().for_each(&mut number));
        }
        let literals: Vec<Vec<Literal>> = bodies
            .iter()
            .map(|body| body.literals.iter().map(|literal| literal.replaced(&order)).collect())
            .collect();
        let same: Vec<Vec<[&Expression; 2]>> = bodies
            .iter()
            .map(|body| body.same.iter().map(|(a, b)| [&order[a], &order[b]]).collect())
            .collect();
        let groups: Vec<Option<Atom>> = order
            .keys()
            .map(|var| self.groups.get(var).map(|atom| atom.replaced(&order)))
            .collect();
        format!("{} {literals:?} {same:?} {groups:?}", free.len())
    }

    /// Returns the conjunctive alternatives of a node.
    fn bodies(&mut self, node: &Node) -> Result<Vec<Body>, ToGdlError> {
        self.check_time()?;
        Ok(match node {
            Node::Literal(literal) => {
                if let Literal::Fails(atom) = literal
                    && self.open.contains(&atom.relation)
                {
                    return Err(ToGdlError::FixedPoints);
                }
                vec![Body { literals: vec![literal.clone()], same: Vec::new() }]
            }
            Node::Same(a, b) => vec![Body { literals: Vec::new(), same: vec![(*a, *b)] }],
            Node::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.bodies(part)?);
                }
                all
            }
            Node::And(parts) => self.product(parts)?,
            Node::Exists(_, inner) => self.bodies(inner)?,
            Node::All(vars, inner) => {
                if inner.mentions(&self.open) {
                    return self.all_by_iteration(vars, inner);
                }
                let exception = Node::Exists(vars.clone(), Box::new(inner.negated()));
                let atom = self.part(&exception)?;
                vec![Body { literals: vec![Literal::Fails(atom)], same: Vec::new() }]
            }
        })
    }

    fn product(&mut self, parts: &[Node]) -> Result<Vec<Body>, ToGdlError> {
        let mut product = vec![Body::default()];
        for part in parts {
            let mut ways = self.bodies(part)?;
            let free = part.free();
            // A part that shares no variable with the rest is evaluated once, not for each of their
            // values.
            let is_apart = matches!(part, Node::Exists(..)) && free.is_empty();
            let is_wide = ways.len() > 1 && ways.len() * product.len() > MAX_ALTERNATIVES;
            if is_apart || is_wide {
                let atom = self.part_by(&free, &ways)?;
                ways = vec![Body { literals: vec![Literal::Holds(atom)], same: Vec::new() }];
            }
            product = product
                .iter()
                .flat_map(|before| {
                    ways.iter().map(move |way| Body {
                        literals: before.literals.iter().chain(&way.literals).cloned().collect(),
                        same: before.same.iter().chain(&way.same).copied().collect(),
                    })
                })
                .collect();
        }
        Ok(product)
    }

    /// Expresses `all` over a relation that is being defined by recursion. A negation is not
    /// allowed there, so the clauses iterate over the elements one by one.
    fn all_by_iteration(&mut self, vars: &[Var], inner: &Node) -> Result<Vec<Body>, ToGdlError> {
        let Some((&last, before)) = vars.split_last() else { return self.bodies(inner) };
        let each = self.part(inner)?;
        let free: Vec<Expression> =
            inner.free().into_iter().filter(|var| *var != last).map(Expression::Variable).collect();
        let (follows, origin) = self.element_order();
        let word = self.names.fresh(&format!("{}_all", self.context));
        let so_far = |at: Expression| Atom::new(word.clone(), [free.as_slice(), &[at]].concat());
        self.define(Section::Meanings, &so_far(Expression::word(origin)), &Node::truth())?;
        self.open.insert(word.clone());
        let earlier = self.variable("earlier");
        let step =
            Atom::new(follows, vec![Expression::Variable(earlier), Expression::Variable(last)]);
        let node = Node::and([
            Node::holds(step),
            Node::holds(so_far(Expression::Variable(earlier))),
            Node::holds(each),
        ]);
        self.define(Section::Meanings, &so_far(Expression::Variable(last)), &node)?;
        let reached = Node::holds(so_far(self.last_element()));
        self.bodies(&Node::All(before.to_vec(), Box::new(reached)))
    }

    /// Writes one clause with all variables bound. Conditions that bind come before those that
    /// test.
    fn emit(&mut self, section: Section, head: &Atom, body: &Body) {
        let by = unified(&body.same);
        let head = head.replaced(&by);
        let mut binding: Vec<Literal> = Vec::new();
        let mut tests: Vec<Literal> = Vec::new();
        for literal in &body.literals {
            let literal = literal.replaced(&by);
            match &literal {
                Literal::Holds(_) if !binding.contains(&literal) => binding.push(literal),
                Literal::Differ(a, b) if a == b => return,
                Literal::Differ(..) | Literal::Fails(_) if !tests.contains(&literal) => {
                    tests.push(literal);
                }
                Literal::Holds(_) | Literal::Differ(..) | Literal::Fails(_) => {}
            }
        }
        // Comparisons come before negations because they are cheaper.
        tests.sort_by_key(|test| matches!(test, Literal::Fails(_)));
        let mut bound: BTreeSet<Var> = BTreeSet::new();
        binding.iter().for_each(|literal| literal.each_variable(&mut |var| _ = bound.insert(var)));
        let mut wanted: Vec<Var> = Vec::new();
        head.each_variable(&mut |var| wanted.push(var));
        tests.iter().for_each(|literal| literal.each_variable(&mut |var| wanted.push(var)));
        for var in wanted {
            if bound.contains(&var) {
                continue;
            }
            let guard = match self.groups.get(&var) {
                Some(atom) => atom.replaced(&by),
                None if self.is_changing() => self.lives(Expression::Variable(var)),
                None => Atom::new(self.element(), vec![Expression::Variable(var)]),
            };
            guard.each_variable(&mut |var| _ = bound.insert(var));
            bound.insert(var);
            binding.push(Literal::Holds(guard));
        }
        let is_open = |literal: &Literal| match literal {
            Literal::Holds(atom) | Literal::Fails(atom) => self.open.contains(&atom.relation),
            Literal::Differ(..) => false,
        };
        if binding.iter().any(is_open) {
            self.open.insert(head.relation.clone());
        }
        binding.extend(tests);
        // The clause would be a tautology.
        if binding.contains(&Literal::Holds(head.clone())) {
            return;
        }
        self.sheet.add(section, Clause { head, body: binding });
    }
}

/// Returns a substitution that makes the two variables of each pair equal.
fn unified(same: &[(Var, Var)]) -> BTreeMap<Var, Expression> {
    let mut leader: BTreeMap<Var, Var> = BTreeMap::new();
    let find = |leader: &BTreeMap<Var, Var>, mut var: Var| {
        while let Some(&next) = leader.get(&var) {
            var = next;
        }
        var
    };
    for &(a, b) in same {
        let (a, b) = (find(&leader, a), find(&leader, b));
        if a != b {
            leader.insert(a.max(b), a.min(b));
        }
    }
    leader.keys().map(|&var| (var, Expression::Variable(find(&leader, var)))).collect()
}
