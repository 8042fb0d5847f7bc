//! The sentences that hold at a position. Each relation is computed when it is first needed.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use agon_datalog::{Engine, Level, Plans, QueryForm, QueryId, Symbol, TermId};
use agon_game::Position as _;

use super::WhyError;
use crate::interpreter::compile::compile;
use crate::interpreter::{Game, Interpreter, Move};
use crate::read::builder::Builder;
use crate::read::kif;
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{Term, TermKind};

type Relation = (Symbol, usize);

pub(super) struct Facts {
    pub(super) game: Arc<Game>,
    engine: Engine,
    questions: BTreeMap<Relation, Asking>,
    known: BTreeMap<Relation, Rc<Vec<Vec<TermId>>>>,
    has_moves: bool,
}

struct Asking {
    question: QueryId,
    level: Level,
    /// Whether the relation cannot be listed but only tested for given values.
    only_tests: bool,
}

/// A sentence to be explained.
pub(super) struct Sentence {
    pub(super) atom: RuleAtom,
    pub(super) n_variables: usize,
    /// The text of the question.
    pub(super) text: Option<String>,
    /// Names in it that the rulesheet does not have.
    pub(super) unknown_names: Vec<String>,
}

pub(super) type Bindings = Vec<Option<TermId>>;

impl Facts {
    pub(super) fn new(
        game: Arc<Game>,
        position: &Interpreter,
        joint: Option<&[Move]>,
    ) -> Result<Facts, WhyError> {
        let mut compiled = compile(game.rules().rules());
        let relations = compiled.relations();
        let (levels, demands) = (compiled.program.levels(), compiled.program.required_arguments());
        let entries: Vec<QueryForm> = relations
            .iter()
            .map(|&(_, predicate)| {
                let demands = &demands[predicate.index()];
                QueryForm { predicate, known: vec![demands.contains(&true); demands.len()] }
            })
            .collect();
        let state_relation = compiled.predicate(keyword::TRUE, 1);
        let move_relation = compiled.predicate(keyword::DOES, 2);
        let refused =
            |refusal: &agon_datalog::Refusal| WhyError::Refused(game.fault(refusal).to_string());
        let rows: Vec<Vec<TermId>> = position.state().fluents().iter().map(|&f| vec![f]).collect();
        let (plans, questions) = Plans::new(
            compiled.program.clone(),
            Arc::clone(&game.bank),
            &[(state_relation, rows.clone())],
            &entries,
        )
        .map_err(|refusal| refused(&refusal.into()))?;
        let mut engine = Engine::new(Arc::new(plans), game.options().limits.clone());
        engine.set_rows(state_relation, rows.iter().map(Vec::as_slice));
        if let Some(joint) = joint {
            let made = game.roles.iter().zip(joint).map(|(&role, m)| [role, m.term()]);
            let made: Vec<[TermId; 2]> = made.collect();
            engine.set_rows(move_relation, made.iter().map(<[_; 2]>::as_slice));
        }
        let questions = relations
            .iter()
            .zip(&entries)
            .zip(questions)
            .map(|((&(relation, predicate), entry), question)| {
                let only_tests = entry.known.contains(&true);
                (relation, Asking { question, level: levels[predicate.index()], only_tests })
            })
            .collect();
        Ok(Facts { game, engine, questions, known: BTreeMap::new(), has_moves: joint.is_some() })
    }

    /// Parses a sentence. A sentence with names that the rulesheet does not have matches nothing.
    pub(super) fn parse(&self, text: &str) -> Result<Sentence, WhyError> {
        let not_a_sentence = || WhyError::NotASentence(text.to_owned());
        let mut builder = Builder::default();
        let trees = kif::read_trees(text, &mut builder);
        let [tree] = trees.as_slice() else { return Err(not_a_sentence()) };
        let term = kif::read_term(tree, &mut builder).ok_or_else(not_a_sentence)?;
        if builder.findings.has_errors() || matches!(term.kind, TermKind::Variable(_)) {
            return Err(not_a_sentence());
        }
        let RuleTerm::Function(relation, arguments) = self.rule_term(&term, &builder) else {
            return Err(not_a_sentence());
        };
        Ok(Sentence {
            atom: RuleAtom { relation, arguments, span: agon_text::Span::default() },
            n_variables: builder.take_variables().len(),
            text: Some(text.trim().to_owned()),
            unknown_names: builder
                .symbols
                .all()
                .filter(|(_, name)| self.game.rules().sheet().symbols.find(name).is_none())
                .map(|(_, name)| name.to_owned())
                .collect(),
        })
    }

    /// Converts a term to the names of the rulesheet. A name that the rulesheet does not have
    /// becomes a symbol that nothing has.
    fn rule_term(&self, term: &Term, builder: &Builder) -> RuleTerm {
        let symbols = &self.game.rules().sheet().symbols;
        let symbol = |s| {
            let unknown =
                || Symbol::new(u32::try_from(symbols.len()).expect("fewer than 2^32 names"));
            symbols.find(builder.symbols.name(s)).unwrap_or_else(unknown)
        };
        match &term.kind {
            TermKind::Variable(v) => RuleTerm::Variable(v.0),
            TermKind::Constant(name) => RuleTerm::constant(symbol(*name)),
            TermKind::Function(name, arguments) => RuleTerm::Function(
                symbol(*name),
                arguments.iter().map(|argument| self.rule_term(argument, builder)).collect(),
            ),
        }
    }

    /// Calls `visit` with every row of the atom's relation that matches, and the bindings it makes,
    /// until `visit` returns false. Afterwards the bindings are as before.
    pub(super) fn each_match(
        &mut self,
        atom: &RuleAtom,
        bindings: &mut Bindings,
        visit: &mut dyn FnMut(&[TermId], &Bindings) -> bool,
    ) -> Result<(), WhyError> {
        let before = bindings.clone();
        for row in self.rows(atom, bindings)?.iter() {
            if self.matches_all(&atom.arguments, row, bindings) && !visit(row, bindings) {
                bindings.clone_from(&before);
                break;
            }
            bindings.clone_from(&before);
        }
        Ok(())
    }

    /// Returns the rows among which those that match an atom are found.
    fn rows(
        &mut self,
        atom: &RuleAtom,
        bindings: &Bindings,
    ) -> Result<Rc<Vec<Vec<TermId>>>, WhyError> {
        let relation = (atom.relation, atom.arguments.len());
        if let Some(known) = self.known.get(&relation) {
            return Ok(Rc::clone(known));
        }
        let Some(asking) = self.questions.get(&relation) else { return Ok(Rc::default()) };
        if asking.level == Level::Move && !self.has_moves {
            let name = self.game.rules().sheet().symbols.name(atom.relation).to_owned();
            return Err(WhyError::NeedsMoves(name));
        }
        let game = &self.game;
        let refused =
            |refusal: agon_datalog::Refusal| WhyError::Refused(game.fault(&refusal).to_string());
        if asking.only_tests {
            let row: Option<Vec<TermId>> =
                atom.arguments.iter().map(|argument| self.ground(argument, bindings)).collect();
            let Some(row) = row else { return Ok(Rc::default()) };
            let holds = self.engine.holds(asking.question, &row).map_err(refused)?;
            return Ok(Rc::new(if holds { vec![row] } else { Vec::new() }));
        }
        let answers = self.engine.ask(asking.question, &[]).map_err(refused)?;
        let mut rows: Vec<Vec<TermId>> = (0..answers.len())
            .map(|i| (0..relation.1).map(|column| answers.get(i, column)).collect())
            .collect();
        rows.sort_by(|a, b| {
            let differs = a.iter().zip(b).find(|(x, y)| x != y);
            differs
                .map_or(std::cmp::Ordering::Equal, |(&x, &y)| game.bank.compare(x, y, &game.rank))
        });
        let rows = Rc::new(rows);
        self.known.insert(relation, Rc::clone(&rows));
        Ok(rows)
    }

    /// Matches patterns with terms and binds variables.
    pub(super) fn matches_all(
        &self,
        patterns: &[RuleTerm],
        terms: &[TermId],
        bindings: &mut Bindings,
    ) -> bool {
        patterns
            .iter()
            .zip(terms)
            .all(|(pattern, &term)| self.matches_term(pattern, term, bindings))
    }

    fn matches_term(&self, pattern: &RuleTerm, term: TermId, bindings: &mut Bindings) -> bool {
        match pattern {
            RuleTerm::Variable(v) => match bindings[*v as usize] {
                Some(bound) => bound == term,
                None => {
                    bindings[*v as usize] = Some(term);
                    true
                }
            },
            RuleTerm::Function(symbol, arguments) => {
                let bank = &self.game.bank;
                bank.has_form(term, *symbol, arguments.len())
                    && arguments.iter().enumerate().all(|(i, argument)| {
                        self.matches_term(argument, bank.argument(term, i), bindings)
                    })
            }
        }
    }

    /// Returns the term of a pattern, if all its variables have values and the term exists.
    pub(super) fn ground(&self, pattern: &RuleTerm, bindings: &Bindings) -> Option<TermId> {
        match pattern {
            RuleTerm::Variable(v) => bindings[*v as usize],
            RuleTerm::Function(symbol, arguments) => {
                let arguments: Option<Vec<TermId>> =
                    arguments.iter().map(|argument| self.ground(argument, bindings)).collect();
                self.game.bank.find(*symbol, &arguments?)
            }
        }
    }

    /// Returns the indices of the rules for a relation.
    pub(super) fn rules_for(&self, relation: Symbol, arity: usize) -> Vec<usize> {
        let rules = self.game.rules().rules().iter().enumerate();
        rules
            .filter(|(_, rule)| {
                rule.head.relation == relation && rule.head.arguments.len() == arity
            })
            .map(|(index, _)| index)
            .collect()
    }

    /// Orders conditions as the author did, but negations and comparisons only after their
    /// variables have values.
    pub(super) fn evaluation_order(rule: &Rule, bound: &Bindings) -> Vec<Condition> {
        let mut bound: Vec<bool> = bound.iter().map(Option::is_some).collect();
        let bindable = rule.bound_variables();
        let mut left: Vec<&Condition> = rule.body.iter().collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let ready = |condition: &&Condition| match condition {
                Condition::Holds(_) => true,
                Condition::Fails(_) | Condition::Differ(..) => {
                    let mut ready = true;
                    condition.each_variable(&mut |v| {
                        ready &= bound[v as usize] || !bindable[v as usize];
                    });
                    ready
                }
            };
            let next = left.iter().position(ready).unwrap_or(0);
            let condition = left.remove(next);
            if let Condition::Holds(atom) = condition {
                atom.each_variable(&mut |v| bound[v as usize] = true);
            }
            order.push(condition.clone());
        }
        order
    }

    /// Writes an atom with the variables replaced that have values.
    pub(super) fn atom_text(
        &self,
        atom: &RuleAtom,
        bindings: &Bindings,
        rule: Option<&Rule>,
    ) -> String {
        let whole = RuleTerm::Function(atom.relation, atom.arguments.clone());
        self.term_text(&whole, bindings, rule)
    }

    pub(super) fn term_text(
        &self,
        term: &RuleTerm,
        bindings: &Bindings,
        rule: Option<&Rule>,
    ) -> String {
        let sheet = self.game.rules().sheet();
        match term {
            RuleTerm::Variable(v) => match bindings.get(*v as usize).copied().flatten() {
                Some(term) => self.game.text(term),
                None => {
                    let variables = rule.map(|rule| &sheet.clauses[rule.clause].variables);
                    let name = variables.and_then(|variables| variables.get(*v as usize));
                    name.map_or_else(|| format!("?{v}"), |variable| format!("?{}", variable.name))
                }
            },
            RuleTerm::Function(symbol, arguments) => {
                let name = if symbol.index() < sheet.symbols.len() {
                    sheet.symbols.name(*symbol)
                } else {
                    "…"
                };
                if arguments.is_empty() {
                    return name.to_owned();
                }
                let mut text = format!("({name}");
                for argument in arguments {
                    text.push(' ');
                    text.push_str(&self.term_text(argument, bindings, rule));
                }
                text.push(')');
                text
            }
        }
    }
}
