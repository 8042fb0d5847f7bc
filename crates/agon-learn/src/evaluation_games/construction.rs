//! The construction of candidate evaluation games (Kaiser & Stafiniak 2010, "Learning Evaluation
//! Games").
//!
//! The paper gives the operations and leaves the choice to an external function. Four sets grow:
//! formulas and real-valued terms, equations, structures, and games. [`Construction`] has the sets
//! and the operations, and a [`Policy`] is the external function.

use agon_structures::formula::{Formula, Operator, Term, Variable};
use agon_structures::rational::Rational;

use super::examples::Examples;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(usize);)*
    };
}

ids! {
    /// A formula of a construction.
    FormulaId,
    /// A real-valued term of a construction.
    TermId,
    /// An equation of a construction.
    EquationId,
    /// A structure of a construction.
    StructureId,
    /// An evaluation game of a construction.
    GameId
}

/// Chooses operations until it selects a game.
pub trait Policy {
    /// Constructs games that model the payoffs of moves, and returns the selected one.
    fn construct(&mut self, sets: &mut Construction, examples: &Examples) -> GameId;

    /// Returns what was found, as sentences for people, with the formulas in the order in which the
    /// selected game tests them.
    fn findings(&self) -> &[Finding];
}

/// A formula that a policy has found, with what it says about payoffs.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The formula.
    pub formula: String,
    /// The formula in words, with its place among the tests: "if …" or "otherwise, if …".
    pub words: String,
    /// The mean payoff of the player who moves after such a move, and after other moves.
    pub means: [f64; 2],
    /// The number of moves of which it holds, and of all moves.
    pub n_moves: [usize; 2],
}

/// The sets that grow during a construction. Each operation returns the new member.
#[derive(Clone, Debug)]
pub struct Construction {
    formulas: Vec<Formula>,
    terms: Vec<Term>,
    equations: Vec<Equation>,
    structures: Vec<Structure>,
    games: Vec<Game>,
}

/// `:f(a) = term`: the value of a function at an element after a rule is applied.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Equation {
    pub(super) function: String,
    pub(super) element: String,
    pub(super) term: Term,
}

/// A small structure, a side of a rewriting rule.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Structure {
    pub(super) n_elements: usize,
    pub(super) tuples: Vec<(String, Vec<usize>)>,
}

/// An evaluation game.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Game {
    /// Chance decides the payoffs of the players. Weights are in thousandths.
    Lottery(Vec<(Vec<f64>, u32)>),
    /// Play goes on by a condition.
    Test { condition: Formula, then: GameId, otherwise: GameId },
    /// A player chooses how play goes on.
    Choice { player: String, games: Vec<GameId> },
    /// A player applies a rewriting rule, and play goes on.
    Rewrite {
        player: String,
        left: Structure,
        right: Structure,
        updates: Vec<Equation>,
        then: GameId,
    },
}

impl Construction {
    /// Returns the initial sets: a trivial game, in which all of the `n_players` get 0, and a
    /// trivial structure without elements.
    pub fn new(n_players: usize) -> Construction {
        Construction {
            formulas: Vec::new(),
            terms: Vec::new(),
            equations: Vec::new(),
            structures: vec![Structure::default()],
            games: vec![Game::Lottery(vec![(vec![0.0; n_players], 1000)])],
        }
    }

    /// Returns the trivial game.
    pub fn trivial_game(&self) -> GameId {
        GameId(0)
    }

    /// Returns the trivial structure.
    pub fn trivial_structure(&self) -> StructureId {
        StructureId(0)
    }

    /// Returns a formula.
    pub fn formula(&self, id: FormulaId) -> &Formula {
        &self.formulas[id.0]
    }

    pub(super) fn game(&self, id: GameId) -> &Game {
        &self.games[id.0]
    }

    /// Adds `R(x, y)`.
    pub fn atom(&mut self, relation: &str, arguments: &[Variable]) -> FormulaId {
        self.add_formula(Formula::atom(relation, arguments))
    }

    /// Adds a comparison of two terms, `s < t`.
    pub fn less(&mut self, left: TermId, right: TermId) -> FormulaId {
        let [left, right] = [left, right].map(|id| Box::new(self.terms[id.0].clone()));
        self.add_formula(Formula::Compare(left, agon_structures::formula::Sign::Less, right))
    }

    /// Adds the negation of a formula.
    pub fn not(&mut self, formula: FormulaId) -> FormulaId {
        let negated = Formula::not(self.formulas[formula.0].clone());
        self.add_formula(negated)
    }

    /// Adds the conjunction of formulas.
    pub fn and(&mut self, formulas: &[FormulaId]) -> FormulaId {
        let parts = formulas.iter().map(|id| self.formulas[id.0].clone()).collect();
        self.add_formula(Formula::And(parts))
    }

    /// Adds the disjunction of formulas.
    pub fn or(&mut self, formulas: &[FormulaId]) -> FormulaId {
        let parts = formulas.iter().map(|id| self.formulas[id.0].clone()).collect();
        self.add_formula(Formula::Or(parts))
    }

    /// Adds `ex x, y (formula)`.
    pub fn exists(&mut self, variables: &[Variable], formula: FormulaId) -> FormulaId {
        let body = self.formulas[formula.0].clone();
        self.add_formula(Formula::exists(variables, body))
    }

    pub(super) fn add_formula(&mut self, formula: Formula) -> FormulaId {
        self.formulas.push(formula);
        FormulaId(self.formulas.len() - 1)
    }

    /// Adds a number as a term.
    pub fn number(&mut self, number: Rational) -> TermId {
        self.add_term(Term::Number(number))
    }

    /// Adds `:f(x)` as a term.
    pub fn value(&mut self, function: &str, element: &Variable) -> TermId {
        self.add_term(Term::Function(function.into(), element.into()))
    }

    /// Adds an arithmetic operation on two terms.
    pub fn operation(&mut self, operator: Operator, left: TermId, right: TermId) -> TermId {
        let [left, right] = [left, right].map(|id| Box::new(self.terms[id.0].clone()));
        self.add_term(Term::Binary(operator, left, right))
    }

    fn add_term(&mut self, term: Term) -> TermId {
        self.terms.push(term);
        TermId(self.terms.len() - 1)
    }

    /// Adds `:f(a) = term` for the element with this number of a rule's right side.
    pub fn equation(&mut self, function: &str, element: usize, term: TermId) -> EquationId {
        let (function, element) = (function.to_owned(), element_name(element));
        self.equations.push(Equation { function, element, term: self.terms[term.0].clone() });
        EquationId(self.equations.len() - 1)
    }

    /// Adds a structure with one more element.
    pub fn add_element(&mut self, structure: StructureId) -> StructureId {
        let mut larger = self.structures[structure.0].clone();
        larger.n_elements += 1;
        self.add_structure(larger)
    }

    /// Adds a structure with one more tuple of elements, given by their numbers.
    pub fn add_tuple(
        &mut self,
        structure: StructureId,
        relation: &str,
        elements: &[usize],
    ) -> StructureId {
        let mut larger = self.structures[structure.0].clone();
        larger.tuples.push((relation.to_owned(), elements.to_vec()));
        self.add_structure(larger)
    }

    /// Adds the disjoint sum of two structures.
    pub fn sum(&mut self, left: StructureId, right: StructureId) -> StructureId {
        let mut sum = self.structures[left.0].clone();
        let right = self.structures[right.0].clone();
        let offset = sum.n_elements;
        sum.n_elements += right.n_elements;
        sum.tuples.extend(right.tuples.into_iter().map(|(relation, elements)| {
            (relation, elements.into_iter().map(|element| element + offset).collect())
        }));
        self.add_structure(sum)
    }

    fn add_structure(&mut self, structure: Structure) -> StructureId {
        self.structures.push(structure);
        StructureId(self.structures.len() - 1)
    }

    /// Adds a game in which chance decides the payoffs of the players. The weights need not add up
    /// to 1; if none is positive, the game is the trivial one.
    pub fn lottery(&mut self, outcomes: &[(Vec<f64>, f64)]) -> GameId {
        let weights: Vec<f64> = outcomes.iter().map(|(_, weight)| weight.max(0.0)).collect();
        let thousandths = thousandths(&weights);
        let entries = outcomes.iter().zip(thousandths).filter(|(_, share)| *share > 0);
        let entries: Vec<(Vec<f64>, u32)> =
            entries.map(|((payoffs, _), share)| (payoffs.clone(), share)).collect();
        if entries.is_empty() {
            return self.trivial_game();
        }
        self.add_game(Game::Lottery(entries))
    }

    /// Adds a game that goes on by a condition.
    pub fn test(&mut self, condition: FormulaId, then: GameId, otherwise: GameId) -> GameId {
        let condition = self.formulas[condition.0].clone();
        self.add_game(Game::Test { condition, then, otherwise })
    }

    /// Adds a game in which a player chooses how to go on.
    pub fn choice(&mut self, player: &str, games: &[GameId]) -> GameId {
        self.add_game(Game::Choice { player: player.to_owned(), games: games.to_vec() })
    }

    /// Adds a game in which a player applies a rewriting rule first. Elements with the same number
    /// replace each other.
    pub fn rewrite(
        &mut self,
        player: &str,
        [left, right]: [StructureId; 2],
        updates: &[EquationId],
        then: GameId,
    ) -> GameId {
        let [left, right] = [left, right].map(|id| self.structures[id.0].clone());
        let updates = updates.iter().map(|id| self.equations[id.0].clone()).collect();
        self.add_game(Game::Rewrite { player: player.to_owned(), left, right, updates, then })
    }

    fn add_game(&mut self, game: Game) -> GameId {
        self.games.push(game);
        GameId(self.games.len() - 1)
    }
}

/// Returns the name of the element of a rule with a number.
pub(super) fn element_name(number: usize) -> String {
    format!("e{}", number + 1)
}

/// Returns weights as thousandths that add up to 1000, by the largest remainders. All are 0 if the
/// weights are.
fn thousandths(weights: &[f64]) -> Vec<u32> {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return vec![0; weights.len()];
    }
    let exact: Vec<f64> = weights.iter().map(|weight| 1000.0 * weight / sum).collect();
    let mut shares: Vec<u32> = exact.iter().map(|share| share.floor() as u32).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| {
        let rest = |at: usize| exact[at] - exact[at].floor();
        rest(b).total_cmp(&rest(a)).then(a.cmp(&b))
    });
    let missing = 1000 - shares.iter().sum::<u32>().min(1000);
    for &at in order.iter().cycle().take(missing as usize) {
        shares[at] += 1;
    }
    shares
}
