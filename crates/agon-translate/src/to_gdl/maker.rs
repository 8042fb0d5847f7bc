//! From nodes to clauses: alternatives become clauses, quantifiers and negations become relations, every variable is bound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_structures::formula::{Name, Term};
use agon_toss::arena::{CheckedArena, RuleId};

use super::clauses::{Atom, Clause, Expression, Literal, Section, Sheet, Var};
use super::names::Names;
use super::nodes::Node;
use super::terms::Cases;
use super::{Limits, Refusal};

/// So many clauses a conjunction may be multiplied out to; beyond, its alternatives become relations.
const MAX_ALTERNATIVES: usize = 6;

/// When a formula is evaluated.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Moment {
    /// In the state.
    Now,
    /// After a rule was applied to the match that the formula is about.
    After(RuleId),
}

/// One way for a formula to hold.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Body {
    literals: Vec<Literal>,
    same: Vec<(Var, Var)>,
}

/// Makes the clauses of one translation.
pub(super) struct Maker<'a> {
    pub(super) arena: &'a CheckedArena,
    pub(super) limits: Limits,
    pub(super) names: Names,
    pub(super) sheet: Sheet,
    /// What auxiliary relations are called after: what is being translated.
    pub(super) context: String,
    /// By variable: a name for it.
    pub(super) hints: Vec<String>,
    /// Variables that stand for elements of a match, with the condition that binds them all.
    groups: BTreeMap<Var, Arc<Atom>>,
    /// Relations that are being defined by recursion, and those that depend on them.
    pub(super) open: BTreeSet<String>,
    /// Relations by name and moment, as far as they were asked for.
    pub(super) words: BTreeMap<(Name, Moment), String>,
    /// By rule, as far as it was asked: the relations that it may change.
    pub(super) changed: BTreeMap<RuleId, BTreeSet<Name>>,
    /// What tells that a rule was applied earlier.
    pub(super) applied: Option<String>,
    /// Auxiliary relations by what they mean.
    parts: BTreeMap<String, String>,
    /// Terms without free variables.
    pub(super) closed_terms: BTreeMap<(Moment, Term), Cases>,
    element: Option<String>,
    walk: Option<(String, String)>,
    pub(super) operators: BTreeMap<String, String>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(arena: &'a CheckedArena, limits: Limits) -> Maker<'a> {
        Maker {
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
            walk: None,
            operators: BTreeMap::new(),
        }
    }

    /// A variable of its own.
    pub(super) fn variable(&mut self, hint: &str) -> Var {
        let var = Var(u32::try_from(self.hints.len()).expect("budgets keep variables few"));
        self.hints.push(hint.to_owned());
        var
    }

    /// Variables for the elements of a match, which `condition` binds where nothing else does.
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

    /// The relation of all elements.
    pub(super) fn element(&mut self) -> String {
        if let Some(word) = &self.element {
            return word.clone();
        }
        let word = self.names.fresh("element");
        self.element = Some(word.clone());
        // Where elements come and go, it is a fluent.
        if !self.is_changing() {
            for name in self.universe() {
                self.fact(Section::Facts, Atom::new(word.clone(), vec![Expression::word(name)]));
            }
        }
        word
    }

    /// The order of the elements, for whatever has to go through them one by one: the relation, and the word for what
    /// stands before the first.
    pub(super) fn walk(&mut self) -> (String, String) {
        if let Some(walk) = &self.walk {
            return walk.clone();
        }
        let (relation, origin) = (self.names.fresh("follows"), self.names.fresh("nobody"));
        let mut last = origin.clone();
        for name in self.universe() {
            let step = vec![Expression::word(last), Expression::word(name.clone())];
            self.fact(Section::Facts, Atom::new(relation.clone(), step));
            last = name;
        }
        self.walk = Some((relation.clone(), origin.clone()));
        (relation, origin)
    }

    /// The word for the last element of the order.
    pub(super) fn last_element(&self) -> Expression {
        Expression::word(self.universe().pop().expect("a universe without elements was refused"))
    }

    pub(super) fn fact(&mut self, section: Section, head: Atom) {
        self.sheet.add(section, Clause { head, body: Vec::new() });
    }

    /// Clauses for `head`, which holds where the node does.
    pub(super) fn define(
        &mut self,
        section: Section,
        head: &Atom,
        node: &Node,
    ) -> Result<(), Refusal> {
        let bodies = self.bodies(node)?;
        self.define_by(section, head, &bodies)
    }

    fn define_by(&mut self, section: Section, head: &Atom, bodies: &[Body]) -> Result<(), Refusal> {
        for body in bodies {
            self.emit(section, head, body);
        }
        if self.sheet.size() > self.limits.conditions {
            return Err(Refusal::TooLarge { conditions: self.limits.conditions });
        }
        Ok(())
    }

    /// A relation that holds where the node does, as an atom of the node's free variables.
    pub(super) fn part(&mut self, node: &Node) -> Result<Atom, Refusal> {
        if let Node::Literal(Literal::Holds(atom)) = node {
            return Ok(atom.clone());
        }
        let bodies = self.bodies(node)?;
        let free = node.free();
        self.part_by(&free, &bodies)
    }

    fn part_by(&mut self, free: &[Var], bodies: &[Body]) -> Result<Atom, Refusal> {
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

    /// The same text for the same meaning: variables are numbered by their first appearance.
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

    /// The ways for a node to hold.
    fn bodies(&mut self, node: &Node) -> Result<Vec<Body>, Refusal> {
        Ok(match node {
            Node::Literal(literal) => {
                if let Literal::Fails(atom) = literal
                    && self.open.contains(&atom.relation)
                {
                    return Err(Refusal::FixedPoints);
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
                    return self.all_by_walk(vars, inner);
                }
                let exception = Node::Exists(vars.clone(), Box::new(inner.negated()));
                let atom = self.part(&exception)?;
                vec![Body { literals: vec![Literal::Fails(atom)], same: Vec::new() }]
            }
        })
    }

    fn product(&mut self, parts: &[Node]) -> Result<Vec<Body>, Refusal> {
        let mut product = vec![Body::default()];
        for part in parts {
            let mut ways = self.bodies(part)?;
            let free = part.free();
            // What shares no variable with the rest is asked once, not for each of their values.
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

    /// `all` over what is being defined by recursion: no negation may stand there, so the elements are gone through one by
    /// one.
    fn all_by_walk(&mut self, vars: &[Var], inner: &Node) -> Result<Vec<Body>, Refusal> {
        let Some((&last, before)) = vars.split_last() else { return self.bodies(inner) };
        let each = self.part(inner)?;
        let free: Vec<Expression> =
            inner.free().into_iter().filter(|var| *var != last).map(Expression::Variable).collect();
        let (follows, origin) = self.walk();
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

    /// One clause, with all its variables bound, conditions that bind before those that test.
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
                    tests.push(literal)
                }
                Literal::Holds(_) | Literal::Differ(..) | Literal::Fails(_) => {}
            }
        }
        // Comparisons before negations: they are cheaper.
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
        // It would only say that it holds if it holds.
        if binding.contains(&Literal::Holds(head.clone())) {
            return;
        }
        self.sheet.add(section, Clause { head, body: binding });
    }
}

/// What to put for each variable so that the pairs are the same.
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
