//! Names, variables and diagnostics, for both readers.

use std::collections::BTreeMap;

use agon_text::{Diagnostic, Diagnostics, Span};

use crate::symbols::{Case, Symbols};
use crate::syntax::{Term, TermKind, Variable, VariableId};

/// Maximum number of diagnostics kept. A text with more is not a rulesheet.
const MAX_FINDINGS: usize = 1000;

/// Maximum number of arguments of a sentence or term. Sentences of public rulesheets have fewer
/// than a hundred. Later stages have tables of all arguments of all rules.
const MAX_ARGUMENTS: usize = 1000;

/// Names, diagnostics, and the variables of the clause being read.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) symbols: Symbols,
    pub(crate) findings: Diagnostics,
    variables: Vec<Variable>,
    /// The named variables by their name in lower case.
    by_key: BTreeMap<String, VariableId>,
    /// The variables without a name. They get one when the clause is complete.
    anonymous: Vec<VariableId>,
    /// Whether diagnostics are dropped, because a faulty clause is read a second time.
    pub(crate) is_quiet: bool,
}

impl Builder {
    /// Creates a builder that reads names with or without regard to case.
    pub(crate) fn new(case: Case) -> Builder {
        Builder { symbols: Symbols::new(case), ..Builder::default() }
    }

    /// Creates a variable term. Variables are equal regardless of their capitalisation.
    pub(crate) fn variable(&mut self, name: &str, span: Span) -> Term {
        let key = name.to_lowercase();
        let id = match self.by_key.get(&key) {
            Some(&known) => known,
            None => {
                let id = self.new_variable(name, span);
                self.by_key.insert(key, id);
                id
            }
        };
        Term { kind: TermKind::Variable(id), span, name_span: span }
    }

    /// Creates a variable that occurs nowhere else.
    pub(crate) fn anonymous_variable(&mut self, span: Span) -> Term {
        let id = self.new_variable("_", span);
        self.anonymous.push(id);
        Term { kind: TermKind::Variable(id), span, name_span: span }
    }

    fn new_variable(&mut self, name: &str, span: Span) -> VariableId {
        let index =
            u32::try_from(self.variables.len()).expect("a clause has fewer than 2^32 variables");
        self.variables.push(Variable { name: name.to_owned(), span });
        VariableId(index)
    }

    /// Creates a constant, or a function term if there are arguments.
    pub(crate) fn term(
        &mut self,
        name: &str,
        name_span: Span,
        arguments: Vec<Term>,
        span: Span,
    ) -> Term {
        let symbol = self.symbols.intern(name);
        let kind = if arguments.is_empty() {
            TermKind::Constant(symbol)
        } else {
            TermKind::Function(symbol, arguments)
        };
        Term { kind, span, name_span }
    }

    /// Returns whether a sentence or term may have this number of arguments. Reports it if not.
    pub(crate) fn accepts_arguments(&mut self, n_arguments: usize, name: &str, span: Span) -> bool {
        if n_arguments <= MAX_ARGUMENTS {
            return true;
        }
        self.report(
            Diagnostic::error(
                "too-many-arguments",
                Span::new(span.start(), span.start() + 1),
                format!("`{name}` has {n_arguments} arguments, and at most {MAX_ARGUMENTS} can be"),
            )
            .hint("write several sentences, with the number of the part as an argument"),
        );
        false
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.is_quiet && self.findings.0.len() < MAX_FINDINGS {
            self.findings.push(diagnostic);
        }
    }

    /// Returns the variables of the clause and starts the next clause. Anonymous variables are
    /// called `_1`, `_2`, …, without the names that the clause itself uses.
    pub(crate) fn take_variables(&mut self) -> Vec<Variable> {
        let mut number = 0;
        for id in std::mem::take(&mut self.anonymous) {
            let name = loop {
                number += 1;
                let name = format!("_{number}");
                if !self.by_key.contains_key(&name) {
                    break name;
                }
            };
            self.variables[id.0 as usize].name = name;
        }
        self.by_key.clear();
        std::mem::take(&mut self.variables)
    }
}
