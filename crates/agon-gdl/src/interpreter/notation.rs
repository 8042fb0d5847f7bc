//! Terms of a game as text, and back.

use agon_circuit::Circuit;
use agon_datalog::{Symbol, TermId};
use agon_game::{Continuous, Hidden, Notation, Position, Role};

use super::game::Game;
use super::position::{Interpreter, Move};
use crate::read::builder::Builder;
use crate::read::{kif, split_terms};
use crate::symbols::Case;
use crate::syntax::{Term, TermKind};

impl Game {
    /// Writes a term as KIF with single spaces, `(f a b)`, with names in their first spelling.
    pub fn text(&self, term: TermId) -> String {
        let mut text = String::new();
        self.write(term, &mut text);
        text
    }

    fn write(&self, term: TermId, text: &mut String) {
        let name = self.rules.sheet().symbols.name(self.bank.symbol(term));
        if self.bank.arity(term) == 0 {
            text.push_str(name);
            return;
        }
        text.push('(');
        text.push_str(name);
        for argument in self.bank.arguments(term) {
            text.push(' ');
            self.write(argument, text);
        }
        text.push(')');
    }

    /// Returns the term that a text names, if it has occurred in this game.
    pub fn parse(&self, text: &str) -> Option<TermId> {
        self.parse_with(text, &|symbol, arguments| self.bank.find(symbol, arguments))
    }

    /// Returns the term that a text names, even if it has not occurred in this game.
    fn parse_new(&self, text: &str) -> Option<TermId> {
        self.parse_with(text, &|symbol, arguments| self.bank.term(symbol, arguments).ok())
    }

    /// Enters the facts and moves of a circuit into this game, so that [`Game::parse`] finds them.
    /// Compiling a game does this for its own circuit. A circuit that was compiled from an equal
    /// game needs it before it plays this one.
    ///
    /// Returns whether the circuit is one of these rules: all of its facts and moves are terms of
    /// the game.
    pub fn enter_terms_of(&self, circuit: &Circuit) -> bool {
        let moves = circuit.roles.iter().flat_map(|role| &role.moves);
        circuit.base.iter().chain(moves).all(|text| self.parse_new(text).is_some())
    }

    fn parse_with(
        &self,
        text: &str,
        find: &dyn Fn(Symbol, &[TermId]) -> Option<TermId>,
    ) -> Option<TermId> {
        let mut builder = Builder::default();
        let trees = kif::read_trees(text, &mut builder);
        let [tree] = trees.as_slice() else { return None };
        let term = kif::read_term(tree, &mut builder)?;
        if builder.findings.has_errors() {
            return None;
        }
        self.term(&term, &builder, find)
    }

    fn term(
        &self,
        term: &Term,
        builder: &Builder,
        find: &dyn Fn(Symbol, &[TermId]) -> Option<TermId>,
    ) -> Option<TermId> {
        let symbol = |s| self.rules.sheet().symbols.find(builder.symbols.name(s));
        match &term.kind {
            TermKind::Variable(_) => None,
            TermKind::Constant(name) => find(symbol(*name)?, &[]),
            TermKind::Function(name, arguments) => {
                let arguments: Vec<TermId> =
                    arguments.iter().map(|a| self.term(a, builder, find)).collect::<Option<_>>()?;
                find(symbol(*name)?, &arguments)
            }
        }
    }
}

impl Notation for Interpreter {
    fn move_text(&self, m: &Move) -> String {
        self.game.text(m.0)
    }

    fn parse_move(&self, role: Role, text: &str) -> Option<Move> {
        let legal = self.legal_moves(role);
        if let Some(exact) = self.game.parse(text).map(Move).filter(|m| legal.contains(m)) {
            return Some(exact);
        }
        if self.is_cut() {
            // The list has only some of the moves.
            return self.game.parse_new(text).map(Move).filter(|&m| self.asks_legal(role, m));
        }
        // Even where names are read with regard to case, messages may use other capitals.
        let wanted =
            split_terms(text).ok().filter(|terms| terms.len() == 1)?.concat().to_lowercase();
        if self.game.rules.sheet().symbols.case() == Case::Ignored {
            return None;
        }
        legal.iter().copied().find(|m| self.game.text(m.0).to_lowercase() == wanted)
    }

    fn state_text(&self) -> Vec<String> {
        let mut fluents: Vec<TermId> = self.state().fluents().to_vec();
        fluents.sort_unstable_by(|&a, &b| self.game.bank.compare(a, b, &self.game.rank));
        let mut texts: Vec<String> = fluents.into_iter().map(|f| self.game.text(f)).collect();
        texts.sort();
        texts
    }
}

/// All moves are listed: GDL has no real parameters.
impl Continuous for Interpreter {}

impl Hidden for Interpreter {
    /// Returns what `sees` derives. Without `sees` in the rules, every role sees the moves, as in
    /// GDL-I.
    fn percepts(&self, joint: &[Move], role: Role) -> Vec<String> {
        let game = &self.game;
        if !game.rules.has_sees() {
            let mut moves: Vec<String> = joint.iter().map(|m| game.text(m.0)).collect();
            moves.sort();
            return moves;
        }
        let mut engine = self.engine.borrow_mut();
        self.set_moves(&mut engine, joint);
        let Ok(answers) = engine.ask(game.questions.sees, &[]) else { return Vec::new() };
        let own = (0..answers.len()).filter(|&i| answers.get(i, 0) == game.roles[role.index()]);
        let mut percepts: Vec<String> = own.map(|i| game.text(answers.get(i, 1))).collect();
        percepts.sort();
        percepts
    }
}
