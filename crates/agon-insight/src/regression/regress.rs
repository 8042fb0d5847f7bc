//! Goals regressed by one step, for every move of every role (003, chapter 3).

use std::fmt;
use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use agon_game::Role;

use super::formula::{Formula, Formulas};
use super::knowledge::{Knowledge, what_must_hold};
use super::layer::{Again, Layer, at};

/// How goals are regressed. Plain data.
#[derive(Clone, Debug)]
pub struct RegressOptions {
    /// Which goals of a role count.
    pub goals: Goals,
    /// Whether what makes a move legal is taken for true (3.5.3).
    pub preconditions: bool,
    /// Whether a fluent is taken for impossible once another of its group holds for ever (3.5.2).
    pub modes: bool,
    /// The most operands that all formulas may have together.
    pub max_operands: usize,
    /// A moment after which to give up.
    pub deadline: Option<Instant>,
}

impl Default for RegressOptions {
    fn default() -> RegressOptions {
        RegressOptions {
            goals: Goals::Highest,
            preconditions: true,
            modes: true,
            // Some 64 MB of them; the largest of the games in 003 needs a hundredth of it.
            max_operands: 16_000_000,
            deadline: None,
        }
    }
}

/// Which goals of a role count.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Goals {
    /// The highest alone, as in 003.
    Highest,
    /// All above the lowest, each with its value as its weight.
    All,
}

/// The regressed goals of all moves of all roles.
#[derive(Clone)]
pub struct ActionHeuristics {
    /// What the formulas below are made of.
    pub formulas: Formulas,
    /// By fluent: its text.
    pub fluents: Vec<String>,
    /// By role.
    pub roles: Vec<RoleHeuristic>,
    /// What was known of the game.
    pub knowledge: Knowledge,
}

/// The regressed goals of the moves of one role.
#[derive(Clone, Debug)]
pub struct RoleHeuristic {
    /// What the role is called.
    pub name: String,
    /// The goals that were regressed, in ascending order: their values.
    pub goals: Vec<i64>,
    /// By move: its text.
    pub moves: Vec<String>,
    /// By move, and goal: what must hold now so that the goal holds after the move. None for moves that only wait, and for
    /// those that are never legal.
    pub regressed: Vec<Option<Vec<Formula>>>,
}

/// Why a game has no action heuristic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The rules could not be grounded: the text says why.
    NotGround(String),
    /// No role has a goal that its moves could bring nearer.
    NoGoals,
    /// The formulas have more than so many operands.
    Size(usize),
    /// Time was up.
    Late,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotGround(why) => write!(f, "the rules could not be grounded: {why}"),
            Refusal::NoGoals => f.write_str("no role has a goal that depends on what it does"),
            Refusal::Size(limit) => write!(f, "the regressed goals have more than {limit} operands"),
            Refusal::Late => f.write_str("there was not enough time to regress the goals"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Regresses the goals of every player by one step, for each of its moves.
///
/// # Errors
/// If that takes more than the options allow, or if there is nothing to regress.
pub fn regress(
    circuit: &Circuit,
    knowledge: Knowledge,
    options: &RegressOptions,
) -> Result<ActionHeuristics, Refusal> {
    match regress_goals(circuit, &knowledge, options, false) {
        // Some goals say who wins once play has ended, and nothing of when it ends.
        Err(Refusal::NoGoals) => regress_goals(circuit, &knowledge, options, true),
        made => made,
    }
}

/// The same, with the end of play as a part of every goal or not.
fn regress_goals(
    circuit: &Circuit,
    knowledge: &Knowledge,
    options: &RegressOptions,
    with_end: bool,
) -> Result<ActionHeuristics, Refusal> {
    let mut formulas = Formulas::new(circuit.base.len());
    let leaves = leaf_formulas(&mut formulas, knowledge, options);
    let mut roles = Vec::new();
    for role in circuit.role_ids() {
        let regressed = if circuit.roles[role.index()].is_nature {
            vec![None; circuit.roles[role.index()].moves.len()]
        } else {
            let work = RoleWork { circuit, role, knowledge, options, leaves: &leaves, with_end };
            work.regress(&mut formulas)?
        };
        roles.push(RoleHeuristic {
            name: circuit.roles[role.index()].name.clone(),
            goals: goals(circuit, role, options).iter().map(|&(value, _)| value).collect(),
            moves: circuit.roles[role.index()].moves.clone(),
            regressed,
        });
    }
    let knowledge = knowledge.clone();
    let heuristics = ActionHeuristics { formulas, fluents: circuit.base.clone(), roles, knowledge };
    let says_something = (0..heuristics.roles.len()).any(|role| heuristics.says_something(Role::new(role)));
    if says_something { Ok(heuristics) } else { Err(Refusal::NoGoals) }
}

impl ActionHeuristics {
    /// Whether some move of the role is not like all the others.
    pub fn says_something(&self, role: Role) -> bool {
        let mut known = self.roles[role.index()].regressed.iter().flatten();
        known.next().is_some_and(|first| known.any(|other| other != first))
    }
}

/// The goals of a role that count.
fn goals(circuit: &Circuit, role: Role, options: &RegressOptions) -> Vec<(i64, Signal)> {
    let possible = circuit.outputs.goals[role.index()].iter().filter(|(_, signal)| *signal != Signal::FALSE);
    let all: Vec<(i64, Signal)> = possible.copied().collect();
    match options.goals {
        Goals::Highest => all.last().copied().into_iter().collect(),
        Goals::All => all.iter().skip(usize::from(all.len() > 1)).copied().collect(),
    }
}

/// By fluent: the formula that stands for it. Once another fluent of its group holds for ever, it never will (3.5.2).
fn leaf_formulas(formulas: &mut Formulas, knowledge: &Knowledge, options: &RegressOptions) -> Vec<Formula> {
    let n_fluents = formulas.n_fluents();
    let mut leaves: Vec<Formula> = (0..n_fluents).map(|fluent| formulas.fluent(fluent)).collect();
    if !options.modes {
        return leaves;
    }
    let groups_of = knowledge.groups_of(n_fluents);
    for (fluent, leaf) in leaves.iter_mut().enumerate() {
        let groups = groups_of[fluent].iter().map(|&group| &knowledge.groups[group as usize]);
        let rivals = groups.flatten().filter(|&&rival| rival != fluent && knowledge.stays_true(rival));
        let mut list: Vec<Formula> = rivals.map(|&rival| !formulas.fluent(rival)).collect();
        if !list.is_empty() {
            list.push(*leaf);
            *leaf = formulas.and(&mut list);
        }
    }
    leaves
}

/// Regressing the goals of one role.
struct RoleWork<'a> {
    circuit: &'a Circuit,
    role: Role,
    knowledge: &'a Knowledge,
    options: &'a RegressOptions,
    /// By fluent: the formula that stands for it.
    leaves: &'a [Formula],
    /// Whether play is to end with the goal.
    with_end: bool,
}

/// What follows from a move's being legal: fluents and whether they hold.
type Facts = Vec<(usize, bool)>;

impl RoleWork<'_> {
    /// By move: its regressed goals.
    ///
    /// First as if the role did nothing (the replacement of 4.3.2 that is the same for all moves it has nothing to do with),
    /// then, move by move, only what becomes different by it.
    fn regress(&self, formulas: &mut Formulas) -> Result<Vec<Option<Vec<Formula>>>, Refusal> {
        let circuit = self.circuit;
        let goals: Vec<Signal> =
            goals(circuit, self.role, self.options).into_iter().map(|(_, signal)| signal).collect();
        let facts = self.facts();
        // The goals after the step, and before them what makes their fluents true in it.
        let mut wanted = goals.clone();
        if self.with_end {
            wanted.push(circuit.outputs.terminal);
        }
        let after = Layer::new(circuit, &wanted);
        let read: Vec<usize> = after.leaves.iter().map(|&gate| gate - 1).collect();
        let next: Vec<Signal> = read.iter().map(|&fluent| circuit.outputs.next[fluent]).collect();
        let now = Layer::new(circuit, &next);
        // By gate of the first layer: the fluents that it makes true.
        let mut made: Vec<(usize, usize)> =
            next.iter().zip(&read).map(|(signal, &fluent)| (signal.gate(), fluent)).collect();
        made.sort_unstable();

        let common = common_facts(&facts);
        let mut now_values = self.leaf_values(&common);
        let mut is_over = |formulas: &Formulas| self.check(formulas).is_err();
        if !now.work_out(formulas, &mut now_values, &mut is_over) {
            return Err(self.check(formulas).err().unwrap_or(Refusal::Late));
        }
        let mut after_values = vec![Formula::FALSE; circuit.n_gates()];
        for (&fluent, &signal) in read.iter().zip(&next) {
            after_values[1 + fluent] = at(&now_values, signal);
        }
        if !after.work_out(formulas, &mut after_values, &mut is_over) {
            return Err(self.check(formulas).err().unwrap_or(Refusal::Late));
        }

        let (mut now_again, mut after_again) = (Again::default(), Again::default());
        let inputs = circuit.inputs(self.role);
        let mut regressed = Vec::with_capacity(facts.len());
        for (move_idx, facts) in facts.into_iter().enumerate() {
            self.check(formulas)?;
            let Some(facts) = facts else {
                regressed.push(None);
                continue;
            };
            let known = facts.iter().map(|&(fluent, holds)| (1 + fluent, Formula::constant(holds)));
            let changes: Vec<(usize, Formula)> =
                known.chain([(inputs.start + move_idx, Formula::TRUE)]).collect();
            now.work_out_again(formulas, &mut now_values, &changes, &mut now_again);
            let mut changes = Vec::new();
            for &(gate, _) in &now_again.undo {
                let first = made.partition_point(|&(maker, _)| maker < gate);
                for &(_, fluent) in made[first..].iter().take_while(|&&(maker, _)| maker == gate) {
                    changes.push((1 + fluent, at(&now_values, circuit.outputs.next[fluent])));
                }
            }
            after.work_out_again(formulas, &mut after_values, &changes, &mut after_again);
            let mut all = Vec::with_capacity(goals.len());
            for &goal in &goals {
                let goal = at(&after_values, goal);
                let end = at(&after_values, circuit.outputs.terminal);
                all.push(if self.with_end { formulas.and(&mut vec![goal, end]) } else { goal });
            }
            regressed.push(Some(all));
            after_again.undo(&mut after_values);
            now_again.undo(&mut now_values);
        }
        Ok(regressed)
    }

    /// By move: what follows from its being legal. None for moves that are not to be regressed.
    fn facts(&self) -> Vec<Option<Facts>> {
        let groups_of = self.knowledge.groups_of(self.circuit.base.len());
        let legal = self.circuit.outputs.legal[self.role.index()].iter().enumerate();
        let facts = legal.map(|(move_idx, &signal)| {
            if self.knowledge.waits(self.role, move_idx) {
                return None;
            }
            let facts = what_must_hold(self.circuit, signal, &self.knowledge.groups, &groups_of)?;
            Some(if self.options.preconditions { facts } else { Vec::new() })
        });
        facts.collect()
    }

    /// By gate: what the fluents and inputs are if the role does nothing.
    fn leaf_values(&self, facts: &Facts) -> Vec<Formula> {
        let circuit = self.circuit;
        let mut values = vec![Formula::FALSE; circuit.n_gates()];
        values[1..circuit.first_input()].copy_from_slice(self.leaves);
        for &(fluent, holds) in facts {
            values[1 + fluent] = Formula::constant(holds);
        }
        for other in circuit.role_ids().filter(|&other| other != self.role) {
            let noop = self.knowledge.noop(other);
            let is_nature = circuit.roles[other.index()].is_nature;
            for (move_idx, gate) in circuit.inputs(other).enumerate() {
                // Where players take turns, the others wait while we move (3.2, step 2c).
                values[gate] = match (&self.knowledge.turns, noop) {
                    _ if circuit.roles[other.index()].moves.len() == 1 => Formula::TRUE,
                    (Some(_), Some(noop)) if !is_nature => Formula::constant(noop == move_idx),
                    (Some(_), None) if !is_nature && !self.knowledge.waits(other, move_idx) => Formula::FALSE,
                    _ => Formula::UNKNOWN,
                };
            }
        }
        values
    }

    fn check(&self, formulas: &Formulas) -> Result<(), Refusal> {
        if formulas.size() > self.options.max_operands {
            return Err(Refusal::Size(self.options.max_operands));
        }
        match self.options.deadline {
            Some(deadline) if Instant::now() > deadline => Err(Refusal::Late),
            _ => Ok(()),
        }
    }
}

/// What follows from every one of the moves.
fn common_facts(facts: &[Option<Facts>]) -> Facts {
    let mut all = facts.iter().flatten();
    let Some(first) = all.next() else { return Facts::new() };
    let mut common = first.clone();
    for facts in all {
        common.retain(|fact| facts.binary_search(fact).is_ok());
    }
    common
}
