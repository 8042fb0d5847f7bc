//! Formulas to nodes. Names are resolved and negations are pushed inwards. Constructs that a
//! first-order rule cannot express inline become relations with clauses of their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_structures::formula::{
    Argument, Closure, Extreme, Fix, Formula, Let, Name, Sort, Variable,
};
use agon_toss::arena::{Effect, RuleId};

use super::ToGdlError;
use super::clauses::{Atom, Expression, Section, Var};
use super::nodes::{Node, Polarity};
use super::terms::Cases;
use super::translator::{Moment, Translator};

/// Maximum nesting depth of formulas, which are traversed by recursion.
const MAX_DEPTH: usize = 200;

/// The meaning of names at a place in a formula.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) moment: Moment,
    /// The elements of the embedding, if the moment is after a rule.
    pub(super) matched: Vec<Var>,
    pub(super) variables: Vec<(Variable, Var)>,
    /// Relations defined by `let` and by fixed points, innermost last.
    pub(super) relations: Vec<(Name, Local)>,
    /// Numbers defined by `let`.
    pub(super) numbers: Vec<(Variable, Cases)>,
    pub(super) depth: usize,
}

/// A relation that is local to one formula.
#[derive(Clone)]
pub(super) struct Local {
    word: String,
    /// Variables of the context that its meaning depends on.
    parameters: Vec<Var>,
    /// Negative if the relation of the sheet is the complement.
    meaning: Polarity,
}

impl Scope {
    pub(super) fn new(moment: Moment, matched: &[Var], variables: Vec<(Variable, Var)>) -> Scope {
        let (relations, numbers) = (Vec::new(), Vec::new());
        Scope { moment, matched: matched.to_vec(), variables, relations, numbers, depth: 0 }
    }

    fn variable(&self, variable: &Variable) -> Result<Var, ToGdlError> {
        let found = self.variables.iter().rev().find(|(known, _)| known == variable);
        found
            .map(|(_, var)| *var)
            .ok_or_else(|| ToGdlError::Unknown { name: variable.name().to_owned() })
    }

    /// Returns the scope one nesting level deeper.
    pub(super) fn deeper(&self) -> Result<Scope, ToGdlError> {
        if self.depth >= MAX_DEPTH {
            return Err(ToGdlError::TooDeep { levels: MAX_DEPTH });
        }
        Ok(Scope { depth: self.depth + 1, ..self.clone() })
    }

    /// Returns whether the context defines no names.
    pub(super) fn is_bare(&self) -> bool {
        self.relations.is_empty() && self.numbers.is_empty()
    }
}

impl Translator<'_> {
    /// Returns a node that is equivalent to the formula, or to its negation if the polarity is
    /// negative.
    pub(super) fn node(
        &mut self,
        formula: &Formula,
        scope: &Scope,
        polarity: Polarity,
    ) -> Result<Node, ToGdlError> {
        Ok(match formula {
            Formula::Relation(name, arguments) => {
                let arguments = self.arguments(arguments, scope)?;
                self.atom(name, arguments, scope, polarity)?
            }
            Formula::Equal(left, right) => self.equality(left, right, scope, polarity)?,
            Formula::Member(_, set) => {
                return Err(ToGdlError::Sort { variable: set.name().to_owned() });
            }
            Formula::Compare(left, sign, right) => {
                let node = self.comparison(left, *sign, right, &scope.deeper()?)?;
                if polarity == Polarity::Positive {
                    node
                } else if node.is_truth() {
                    Node::falsity()
                } else if node.is_falsity() {
                    Node::truth()
                } else {
                    // The opposite comparison would be wrong: terms without a value satisfy
                    // neither.
                    Node::fails(self.part(&node)?)
                }
            }
            Formula::Not(inner) => self.node(inner, &scope.deeper()?, polarity.flipped())?,
            Formula::And(parts) | Formula::Or(parts) => {
                let scope = scope.deeper()?;
                let nodes: Vec<Node> = parts
                    .iter()
                    .map(|part| self.node(part, &scope, polarity))
                    .collect::<Result<_, _>>()?;
                let is_and = matches!(formula, Formula::And(_)) == (polarity == Polarity::Positive);
                if is_and { Node::and(nodes) } else { Node::or(nodes) }
            }
            Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
                let (scope, vars) = self.bind(variables, scope)?;
                let inner = self.node(inner, &scope, polarity)?;
                let is_exists =
                    matches!(formula, Formula::Exists(..)) == (polarity == Polarity::Positive);
                if self.is_changing() {
                    // The universe may be empty, and names remain when their elements are deleted.
                    let lives =
                        vars.iter().map(|&var| Node::holds(self.lives(Expression::Variable(var))));
                    let lives = Node::and(lives.collect::<Vec<_>>());
                    return Ok(if is_exists {
                        Node::Exists(vars, Box::new(Node::and([lives, inner])))
                    } else {
                        Node::All(vars, Box::new(Node::or([lives.negated(), inner])))
                    });
                }
                if inner.is_truth() || inner.is_falsity() {
                    return Ok(inner);
                }
                if is_exists {
                    Node::Exists(vars, Box::new(inner))
                } else {
                    Node::All(vars, Box::new(inner))
                }
            }
            Formula::Fix(fix) => self.fixed_point(fix, scope, polarity)?,
            Formula::Closure(closure) => self.closure(closure, scope, polarity)?,
            Formula::Let(bound) => self.local(bound, scope, polarity)?,
        })
    }

    /// Returns the element of an argument as a term. A constant is the word of its element, which
    /// no rule deletes.
    pub(super) fn argument(
        &self,
        argument: &Argument,
        scope: &Scope,
    ) -> Result<Expression, ToGdlError> {
        let name = match argument {
            Argument::Variable(variable) => {
                return Ok(Expression::Variable(scope.variable(variable)?));
            }
            Argument::Constant(name) => name,
        };
        let start = self.arena.start();
        let element =
            start.vocabulary().constant(name).and_then(|constant| start.constant(constant));
        let element = element.ok_or_else(|| ToGdlError::Unknown { name: name.to_string() })?;
        Ok(Expression::word(self.names.constant(start.name(element))))
    }

    fn arguments(
        &self,
        arguments: &[Argument],
        scope: &Scope,
    ) -> Result<Vec<Expression>, ToGdlError> {
        arguments.iter().map(|argument| self.argument(argument, scope)).collect()
    }

    fn equality(
        &mut self,
        left: &Argument,
        right: &Argument,
        scope: &Scope,
        polarity: Polarity,
    ) -> Result<Node, ToGdlError> {
        let (left, right) = (self.argument(left, scope)?, self.argument(right, scope)?);
        let same = match (&left, &right) {
            _ if left == right => Node::truth(),
            (Expression::Variable(a), Expression::Variable(b)) => Node::Same(*a, *b),
            (Expression::Variable(_), word) => Node::holds(self.is_named(word, &left)),
            (word, Expression::Variable(_)) => Node::holds(self.is_named(word, &right)),
            // Two words of different elements.
            _ => Node::falsity(),
        };
        Ok(match polarity {
            Polarity::Positive => same,
            Polarity::Negative => same.negated(),
        })
    }

    /// Returns a relation with the single fact that a term is the element of a word. Needed because
    /// only variables are compared.
    fn is_named(&mut self, word: &Expression, term: &Expression) -> Atom {
        let key = format!("named {word:?}");
        let relation = match self.operators.get(&key) {
            Some(relation) => relation.clone(),
            None => {
                let relation = self.names.fresh("named");
                self.operators.insert(key, relation.clone());
                self.fact(Section::Facts, Atom::new(relation.clone(), vec![word.clone()]));
                relation
            }
        };
        Atom::new(relation, vec![term.clone()])
    }

    /// Returns a scope in which these names have new variables.
    pub(super) fn bind(
        &mut self,
        variables: &[Variable],
        scope: &Scope,
    ) -> Result<(Scope, Vec<Var>), ToGdlError> {
        let mut scope = scope.deeper()?;
        let mut vars = Vec::with_capacity(variables.len());
        for variable in variables {
            if variable.sort() != Sort::Element {
                return Err(ToGdlError::Sort { variable: variable.name().to_owned() });
            }
            let var = self.variable(variable.name());
            scope.variables.push((variable.clone(), var));
            vars.push(var);
        }
        Ok((scope, vars))
    }

    fn atom(
        &mut self,
        name: &Name,
        mut arguments: Vec<Expression>,
        scope: &Scope,
        polarity: Polarity,
    ) -> Result<Node, ToGdlError> {
        if let Some((_, local)) = scope.relations.iter().rev().find(|(known, _)| known == name) {
            arguments.extend(local.parameters.iter().map(|&var| Expression::Variable(var)));
            return Ok(Node::of(
                Atom::new(local.word.clone(), arguments),
                polarity * local.meaning,
            ));
        }
        let moment = if self.is_changed(name, scope.moment) { scope.moment } else { Moment::Now };
        if moment != Moment::Now {
            arguments.extend(scope.matched.iter().map(|&var| Expression::Variable(var)));
        }
        if self.arena.definitions().get(name).is_some() {
            return Ok(Node::of(
                Atom::new(self.defined(name, moment, scope.depth)?, arguments),
                polarity,
            ));
        }
        let Some(relation) = self.arena.vocabulary().relation(name) else {
            return Err(ToGdlError::Unknown { name: name.to_string() });
        };
        let is_fluent = self.is_fluent(relation);
        let word = self.relation(name, moment)?;
        let atom = if is_fluent && moment == Moment::Now {
            Atom::about("true", Expression::Call(word, arguments))
        } else {
            Atom::new(word, arguments)
        };
        Ok(Node::of(atom, polarity))
    }

    /// Returns whether a relation at the moment may differ from the current one.
    fn is_changed(&mut self, name: &Name, moment: Moment) -> bool {
        let Moment::After(rule) = moment else { return false };
        let arena = self.arena;
        let changed = self.changed.entry(rule).or_insert_with(|| {
            let vocabulary = arena.vocabulary();
            let mut changed: BTreeSet<Name> = match &arena.rule(rule).effect {
                Effect::Tuples { delete, add } => delete
                    .iter()
                    .map(|tuple| tuple.relation)
                    .chain(add.iter().map(|tuple| tuple.relation))
                    .map(|relation| Arc::clone(vocabulary.relation_name(relation)))
                    .collect(),
                Effect::Rewrite(_) => vocabulary
                    .relations()
                    .map(|id| Arc::clone(vocabulary.relation_name(id)))
                    .collect(),
            };
            // Each definition comes after the definitions that it uses.
            for definition in arena.definitions().iter() {
                if definition.body.free_relations().keys().any(|used| changed.contains(used)) {
                    changed.insert(definition.name.clone());
                }
            }
            changed
        });
        changed.contains(name)
    }

    /// Returns the word for a relation of the structures, and writes its facts or clauses.
    pub(super) fn relation(&mut self, name: &Name, moment: Moment) -> Result<String, ToGdlError> {
        let key = (Arc::clone(name), moment);
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let relation = self
            .arena
            .vocabulary()
            .relation(name)
            .expect("the caller has checked that the name exists");
        match moment {
            Moment::Now => {
                let word = self.names.fresh(name);
                self.words.insert(key, word.clone());
                if !self.is_fluent(relation) {
                    let start = self.arena.start();
                    for tuple in start.tuples(relation).iter() {
                        let words = tuple.iter().map(|&element| {
                            Expression::word(self.names.constant(start.name(element)))
                        });
                        let fact = Atom::new(word.clone(), words.collect());
                        self.fact(Section::Facts, fact);
                    }
                }
                Ok(word)
            }
            Moment::After(rule) => self.relation_after(name, rule),
        }
    }

    /// Returns the word for a defined relation, and writes its clauses.
    fn defined(&mut self, name: &Name, moment: Moment, depth: usize) -> Result<String, ToGdlError> {
        let key = (Arc::clone(name), moment);
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let definition = self
            .arena
            .definitions()
            .get(name)
            .expect("the caller has checked that the name exists")
            .clone();
        let (wish, matched) = match moment {
            Moment::Now => (name.to_string(), Vec::new()),
            Moment::After(rule) => {
                let fits = self.fits(rule)?;
                (format!("{name}_after_{}", self.arena.rule(rule).name), self.matched(rule, &fits))
            }
        };
        let word = self.names.fresh(&wish);
        self.words.insert(key, word.clone());
        let before = std::mem::replace(&mut self.context, wish);
        let bare = Scope { depth, ..Scope::new(moment, &matched, Vec::new()) };
        let (scope, vars) = self.bind(&definition.variables, &bare)?;
        let node = self.node(&definition.body, &scope, Polarity::Positive)?;
        let arguments = vars.iter().chain(&matched).map(|&var| Expression::Variable(var)).collect();
        self.define(Section::Meanings, &Atom::new(word.clone(), arguments), &node)?;
        self.context = before;
        Ok(word)
    }

    /// Returns the word for the embeddings of a rule that satisfy its conditions before it is
    /// applied.
    pub(super) fn fits(&mut self, rule: RuleId) -> Result<String, ToGdlError> {
        let name = format!("{}_fits", self.arena.rule(rule).name);
        let key = (Name::from(format!("fits {}", rule.index())), Moment::After(rule));
        if let Some(word) = self.words.get(&key) {
            return Ok(word.clone());
        }
        let word = self.names.fresh(&name);
        self.words.insert(key, word.clone());
        let arena = self.arena;
        let rule = arena.rule(rule);
        let before = std::mem::replace(&mut self.context, rule.name.clone());
        let (scope, vars) = self.bind(&rule.elements, &Scope::new(Moment::Now, &[], Vec::new()))?;
        let node = self.node(&rule.condition, &scope, Polarity::Positive)?;
        let history = rule.history.iter().map(|(earlier, holds)| {
            let applied = self.applied(*earlier);
            if *holds { Node::holds(applied) } else { Node::fails(applied) }
        });
        let node = Node::and([node].into_iter().chain(history.collect::<Vec<_>>()));
        let head = Atom::new(word.clone(), vars.into_iter().map(Expression::Variable).collect());
        self.define(Section::Meanings, &head, &node)?;
        self.context = before;
        Ok(word)
    }

    /// Returns the relation as it is after a rule was applied to an embedding: the added tuples and
    /// the remaining ones.
    fn relation_after(&mut self, name: &Name, rule: RuleId) -> Result<String, ToGdlError> {
        let fits = self.fits(rule)?;
        let word = self.names.fresh(&format!("{name}_after_{}", self.arena.rule(rule).name));
        self.words.insert((Arc::clone(name), Moment::After(rule)), word.clone());
        let vocabulary = self.arena.vocabulary();
        let relation =
            vocabulary.relation(name).expect("the caller has checked that the name exists");
        let Effect::Tuples { delete, add } = &self.arena.rule(rule).effect else {
            return Err(ToGdlError::ChangingUniverse { rule: self.arena.rule(rule).name.clone() });
        };
        let matched = self.matched(rule, &fits);
        let at = |index: usize| Expression::Variable(matched[index]);
        let all_matched: Vec<Expression> = (0..matched.len()).map(at).collect();
        let is_match = Node::holds(Atom::new(fits, all_matched.clone()));
        for tuple in add.iter().filter(|tuple| tuple.relation == relation) {
            let arguments =
                tuple.arguments.iter().map(|&index| at(index)).chain(all_matched.clone());
            self.define(
                Section::Meanings,
                &Atom::new(word.clone(), arguments.collect()),
                &is_match,
            )?;
        }
        let own: Vec<Var> = (0..vocabulary.arity(relation))
            .map(|i| self.variable(&format!("x{}", i + 1)))
            .collect();
        let own_terms: Vec<Expression> = own.iter().map(|&var| Expression::Variable(var)).collect();
        let now = self.relation(name, Moment::Now)?;
        let there = Node::holds(Atom::about("true", Expression::Call(now, own_terms.clone())));
        let stays = delete.iter().filter(|pattern| pattern.relation == relation).map(|pattern| {
            let pairs = pattern.arguments.iter().zip(&own);
            Node::or(pairs.filter_map(|(index, &var)| {
                index.map(|index| Node::Same(var, matched[index]).negated())
            }))
        });
        let node = Node::and([is_match, there].into_iter().chain(stays));
        let arguments = own_terms.into_iter().chain(all_matched).collect();
        self.define(Section::Meanings, &Atom::new(word.clone(), arguments), &node)?;
        Ok(word)
    }

    /// Returns what a formula depends on besides its own variables: free variables, parameters of
    /// enclosing relations, the embedding.
    fn parameters(
        &self,
        formula: &Formula,
        own: &[&Variable],
        scope: &Scope,
    ) -> Result<Vec<Var>, ToGdlError> {
        let mut parameters: Vec<Var> = Vec::new();
        for variable in formula.free_variables() {
            if variable.sort() == Sort::Element && !own.contains(&&variable) {
                parameters.push(scope.variable(&variable)?);
            }
        }
        for name in formula.free_relations().keys() {
            if let Some((_, local)) = scope.relations.iter().rev().find(|(known, _)| known == name)
            {
                parameters.extend(&local.parameters);
            }
        }
        for (_, cases) in &scope.numbers {
            cases.iter().for_each(|(_, node)| parameters.extend(node.free()));
        }
        parameters.extend(&scope.matched);
        parameters.sort();
        parameters.dedup();
        Ok(parameters)
    }

    fn fixed_point(
        &mut self,
        fix: &Fix,
        scope: &Scope,
        polarity: Polarity,
    ) -> Result<Node, ToGdlError> {
        let own: Vec<&Variable> = fix.variables.iter().collect();
        let parameters = self.parameters(&fix.body, &own, scope)?;
        let word = self.names.fresh(&format!("{}_{}", self.context, fix.relation));
        // A greatest fixed point is the complement of the least fixed point of the dual.
        let meaning = match fix.extreme {
            Extreme::Least => Polarity::Positive,
            Extreme::Greatest => Polarity::Negative,
        };
        let (mut inner, vars) = self.bind(&fix.variables, scope)?;
        let local = Local { word: word.clone(), parameters: parameters.clone(), meaning };
        inner.relations.push((Arc::clone(&fix.relation), local));
        let around = self.open.clone();
        self.open.insert(word.clone());
        let node = self.node(&fix.body, &inner, meaning)?;
        let given: Vec<Expression> =
            parameters.iter().map(|&var| Expression::Variable(var)).collect();
        let head = vars.iter().map(|&var| Expression::Variable(var)).chain(given.clone()).collect();
        self.define(Section::Meanings, &Atom::new(word.clone(), head), &node)?;
        if !depends_on(&fix.body, scope, &around) {
            self.open = around;
        }
        let arguments = self.arguments(&fix.arguments, scope)?.into_iter().chain(given).collect();
        Ok(Node::of(Atom::new(word, arguments), polarity * meaning))
    }

    fn closure(
        &mut self,
        closure: &Closure,
        scope: &Scope,
        polarity: Polarity,
    ) -> Result<Node, ToGdlError> {
        let own = [&closure.from, &closure.to];
        let parameters = self.parameters(&closure.body, &own, scope)?;
        let given: Vec<Expression> =
            parameters.iter().map(|&var| Expression::Variable(var)).collect();
        let arguments = self.arguments(&closure.arguments, scope)?;
        let pair = |word: &str, from: Expression, to: Expression| {
            Atom::new(word, [from, to].into_iter().chain(given.clone()).collect())
        };
        let start = self.variable(closure.from.name());
        let start = Expression::Variable(start);
        let (inner, vars) = self.bind(&[closure.from.clone(), closure.to.clone()], scope)?;
        let (from, to) = (Expression::Variable(vars[0]), Expression::Variable(vars[1]));
        let step = self.node(&closure.body, &inner, Polarity::Positive)?;
        let n_elements = self.arena.start().n_elements();
        // Walks that are longer than the number of elements reach nothing new.
        let levels = closure.bound.filter(|&levels| {
            1_usize.checked_shl(levels).is_some_and(|steps| steps != 0 && steps < n_elements)
        });
        let mut word = self.names.fresh(&format!("{}_path", self.context));
        self.define(Section::Meanings, &pair(&word, start.clone(), start.clone()), &Node::truth())?;
        match levels {
            None => {
                let node = Node::and([Node::holds(pair(&word, start.clone(), from)), step]);
                self.define(Section::Meanings, &pair(&word, start, to), &node)?;
            }
            Some(levels) => {
                self.define(Section::Meanings, &pair(&word, from.clone(), to.clone()), &step)?;
                for _ in 0..levels {
                    let longer = self.names.fresh(&format!("{}_path", self.context));
                    let halves = [
                        Node::holds(pair(&word, start.clone(), from.clone())),
                        Node::holds(pair(&word, from.clone(), to.clone())),
                    ];
                    let head = pair(&longer, start.clone(), to.clone());
                    self.define(Section::Meanings, &head, &Node::and(halves))?;
                    word = longer;
                }
            }
        }
        let [beginning, end]: [Expression; 2] = arguments.try_into().expect("a path has two ends");
        Ok(Node::of(pair(&word, beginning, end), polarity))
    }

    fn local(
        &mut self,
        bound: &Let,
        scope: &Scope,
        polarity: Polarity,
    ) -> Result<Node, ToGdlError> {
        let own: Vec<&Variable> = bound.variables.iter().collect();
        let parameters = self.parameters(&bound.definition, &own, scope)?;
        let word = self.names.fresh(&format!("{}_{}", self.context, bound.relation));
        let (inner, vars) = self.bind(&bound.variables, scope)?;
        let node = self.node(&bound.definition, &inner, Polarity::Positive)?;
        let head = vars.iter().chain(&parameters).map(|&var| Expression::Variable(var)).collect();
        self.define(Section::Meanings, &Atom::new(word.clone(), head), &node)?;
        let mut scope = scope.deeper()?;
        let local = Local { word, parameters, meaning: Polarity::Positive };
        scope.relations.push((Arc::clone(&bound.relation), local));
        self.node(&bound.body, &scope, polarity)
    }
}

/// Returns whether a formula uses a relation that is being defined by an enclosing recursion.
fn depends_on(formula: &Formula, scope: &Scope, open: &BTreeSet<String>) -> bool {
    formula.free_relations().keys().any(|name| {
        let local = scope.relations.iter().rev().find(|(known, _)| known == name);
        local.is_some_and(|(_, local)| open.contains(&local.word))
    })
}
