//! Regression of goals by one or two steps, for every move of every role (Trutman 2015, chapter 3).

use std::fmt;
use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use agon_game::Role;

use super::formula::{Formula, Formulas};
use super::knowledge::Knowledge;
use super::layer::Layer;
use super::role::RoleRegression;

/// Options of goal regression.
#[derive(Clone, Debug)]
pub struct RegressOptions {
    /// Which goals of a role are regressed.
    pub goals: Goals,
    /// Whether the preconditions of a move are assumed to hold (Trutman 2015, 3.5.3).
    pub preconditions: bool,
    /// Whether a fluent is assumed to be impossible once another one of its group holds for ever
    /// (Trutman 2015, 3.5.2).
    pub modes: bool,
    /// The number of steps, 1 or 2. The second step is left out if the formulas would be too large.
    pub n_steps: usize,
    /// Maximum number of operands of all formulas together. If they would have more, the deepest
    /// parts of the goals are left unknown. If that leaves no difference between moves, four times
    /// as many are allowed.
    pub max_operands: usize,
    /// The deadline after which regression is given up.
    pub deadline: Option<Instant>,
}

impl Default for RegressOptions {
    fn default() -> RegressOptions {
        RegressOptions {
            goals: Goals::Highest,
            preconditions: true,
            modes: true,
            n_steps: 1,
            // About 16 MB. The largest game in Trutman 2015 needs a twentieth of it.
            max_operands: 4_000_000,
            deadline: None,
        }
    }
}

/// Which goals of a role are regressed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Goals {
    /// The highest goal only, as in Trutman 2015.
    Highest,
    /// All goals above the lowest, each weighted by its value.
    All,
}

/// A request for an action heuristic of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HeuristicRequest {
    /// Which goals of a role are regressed.
    pub goals: Goals,
    /// The number of steps: 1, or 2 if the size allows.
    pub n_steps: usize,
}

impl Default for HeuristicRequest {
    fn default() -> HeuristicRequest {
        HeuristicRequest { goals: Goals::Highest, n_steps: 1 }
    }
}

/// The meaning of the regressed formula of a move.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    /// The condition for the goal to hold after the move.
    #[default]
    Reach,
    /// The condition for the goal to hold after the move and for play to end. It is for goals that
    /// say who wins once play has ended, but not when.
    ReachAtEnd,
    /// The condition for play not to end with the lowest goal. It is for games in which no move
    /// reaches the highest goal at once, because the player of the last move loses.
    AvoidWorst,
}

/// How far the goals were regressed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The meaning of the formulas.
    pub aim: Aim,
    /// The number of steps.
    pub n_steps: usize,
    /// The level below which conjunctions and disjunctions were left unknown, in the goals and in
    /// the next state.
    pub max_level: Option<u32>,
}

impl Default for Extent {
    fn default() -> Extent {
        Extent { aim: Aim::Reach, n_steps: 1, max_level: None }
    }
}

/// The regressed goals of all moves of all roles.
#[derive(Clone)]
pub struct ActionHeuristics {
    /// How far they were regressed.
    pub extent: Extent,
    /// The collection that the formulas belong to.
    pub formulas: Formulas,
    /// By fluent: its text.
    pub fluents: Vec<String>,
    /// By role: its regressed goals.
    pub roles: Vec<RoleHeuristic>,
    /// The proved facts that were used.
    pub knowledge: Knowledge,
}

/// The regressed goals of the moves of one role.
#[derive(Clone, Debug)]
pub struct RoleHeuristic {
    /// The name of the role.
    pub name: String,
    /// The values of the regressed goals in ascending order. With [`Aim::AvoidWorst`] it is the
    /// lowest one.
    pub goals: Vec<i64>,
    /// The fluents that the goals read before they are regressed, and also the end of play unless
    /// the aim is [`Aim::Reach`]. Ascending.
    pub goal_fluents: Vec<usize>,
    /// By move: its text.
    pub moves: Vec<String>,
    /// By move and goal: the condition for the goal to hold after the move. `None` for moves that
    /// only wait and for moves that are never legal.
    pub regressed: Vec<Option<Vec<Formula>>>,
}

/// The reason why a game has no action heuristic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegressError {
    /// The rules could not be grounded, for the reason in the text.
    NotGround(String),
    /// No role has a goal that depends on its moves.
    NoGoals,
    /// The formulas have more operands than this limit.
    Size(usize),
    /// The deadline passed.
    DeadlinePassed,
}

impl fmt::Display for RegressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegressError::NotGround(why) => write!(f, "the rules could not be grounded: {why}"),
            RegressError::NoGoals => {
                f.write_str("no move makes a difference to the goals of its role by itself")
            }
            RegressError::Size(limit) => {
                write!(f, "the conditions of the goals after a move have more than {limit} parts")
            }
            RegressError::DeadlinePassed => {
                f.write_str("there was not enough time to regress the goals")
            }
        }
    }
}

impl std::error::Error for RegressError {}

/// Regresses the goals of every player, for each of its moves.
///
/// If no move makes a difference to the goals in the next state, the other variants of [`Aim`] are
/// tried in their order, and then two steps.
///
/// # Errors
/// If the options do not allow enough size or time, or if no goal depends on a move.
pub fn regress(
    circuit: &Circuit,
    knowledge: Knowledge,
    options: &RegressOptions,
) -> Result<ActionHeuristics, RegressError> {
    let work = GameRegression { circuit, knowledge: &knowledge, options };
    if options.n_steps > 1 {
        let extent = Extent { n_steps: 2, ..Extent::default() };
        if let Ok(made) = work.to_extent(extent, part_of(options.deadline)) {
            return Ok(made);
        }
    }
    let ways = [(Aim::Reach, 1), (Aim::ReachAtEnd, 1), (Aim::AvoidWorst, 1), (Aim::Reach, 2)];
    for (aim, n_steps) in ways {
        match work.with_cuts(aim, n_steps) {
            Err(RegressError::NoGoals) => {}
            made => return made,
        }
    }
    Err(RegressError::NoGoals)
}

/// Regresses the goals exactly as far as `extent` says.
#[cfg(test)]
pub(super) fn regress_within(
    circuit: &Circuit,
    knowledge: &Knowledge,
    options: &RegressOptions,
    extent: Extent,
) -> Result<ActionHeuristics, RegressError> {
    GameRegression { circuit, knowledge, options }.to_extent(extent, options.deadline)
}

/// Returns the moment at which half of the remaining time is over.
fn part_of(deadline: Option<Instant>) -> Option<Instant> {
    let now = Instant::now();
    deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2)
}

/// The maximum levels of successive attempts. Where a circuit unrolls a recursion or counts, each
/// level is one step of it.
const MAX_LEVELS: [Option<u32>; 6] = [None, Some(16), Some(10), Some(6), Some(4), Some(3)];

/// Factor by which the size limit is raised if a smaller part of the goals does not distinguish
/// moves.
const LARGER_LIMIT: usize = 4;

/// Regression of the goals of a game.
struct GameRegression<'a> {
    circuit: &'a Circuit,
    knowledge: &'a Knowledge,
    options: &'a RegressOptions,
}

impl GameRegression<'_> {
    /// Regresses as deep as size and time allow.
    fn with_cuts(&self, aim: Aim, n_steps: usize) -> Result<ActionHeuristics, RegressError> {
        let deadline = self.options.deadline;
        let mut refused = None;
        for max_level in MAX_LEVELS {
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(RegressError::DeadlinePassed);
            }
            match (self.to_extent(Extent { aim, n_steps, max_level }, part_of(deadline)), refused) {
                (Err(why @ (RegressError::Size(_) | RegressError::DeadlinePassed)), before) => {
                    refused = before.or(Some(why));
                }
                // The formulas fit after cutting, but no difference between moves is left.
                (Err(RegressError::NoGoals), Some(why)) => {
                    return self.with_larger_limit(aim, n_steps).map_err(|_| why);
                }
                (made, _) => return made,
            }
        }
        Err(refused.unwrap_or(RegressError::DeadlinePassed))
    }

    /// Regresses the goals completely, with the raised size limit.
    fn with_larger_limit(
        &self,
        aim: Aim,
        n_steps: usize,
    ) -> Result<ActionHeuristics, RegressError> {
        let max_operands = self.options.max_operands.saturating_mul(LARGER_LIMIT);
        let options = &RegressOptions { max_operands, ..self.options.clone() };
        let extent = Extent { aim, n_steps, max_level: None };
        GameRegression { options, ..*self }.to_extent(extent, self.options.deadline)
    }

    /// Regresses exactly as far as `extent` says, or fails.
    fn to_extent(
        &self,
        extent: Extent,
        deadline: Option<Instant>,
    ) -> Result<ActionHeuristics, RegressError> {
        let GameRegression { circuit, knowledge, options } = *self;
        let mut formulas = Formulas::new(circuit.base.len());
        let leaves = leaf_formulas(&mut formulas, knowledge, options);
        let n_players = circuit.roles.iter().filter(|role| !role.is_nature).count();
        let mut n_done = 0;
        let mut roles = Vec::new();
        for role in circuit.role_ids() {
            let about = &circuit.roles[role.index()];
            let goals = goals(circuit, role, options, extent.aim);
            let regressed = if about.is_nature {
                vec![None; about.moves.len()]
            } else {
                n_done += 1;
                // Each role has a share, so that none uses up the budget of the others.
                let max_operands = options.max_operands / n_players * n_done;
                let wanted = goals.iter().map(|&(_, signal)| signal).collect();
                let leaves = &leaves;
                let work = RoleRegression {
                    circuit,
                    role,
                    knowledge,
                    options,
                    extent,
                    leaves,
                    wanted,
                    max_operands,
                    deadline,
                };
                work.regress(&mut formulas)?
            };
            let mut read: Vec<Signal> = goals.iter().map(|&(_, signal)| signal).collect();
            if extent.aim != Aim::Reach {
                read.push(circuit.outputs.terminal);
            }
            roles.push(RoleHeuristic {
                name: about.name.clone(),
                goals: goals.iter().map(|&(value, _)| value).collect(),
                goal_fluents: Layer::new(circuit, &read, None).fluents(circuit),
                moves: about.moves.clone(),
                regressed,
            });
        }
        let knowledge = knowledge.clone();
        let fluents = circuit.base.clone();
        let heuristics = ActionHeuristics { extent, formulas, fluents, roles, knowledge };
        let is_useful =
            (0..heuristics.roles.len()).any(|role| heuristics.distinguishes_moves(Role::new(role)));
        if is_useful { Ok(heuristics) } else { Err(RegressError::NoGoals) }
    }
}

impl ActionHeuristics {
    /// Returns whether the formulas of some two moves of the role differ.
    fn distinguishes_moves(&self, role: Role) -> bool {
        let mut known = self.roles[role.index()].regressed.iter().flatten();
        known.next().is_some_and(|first| known.any(|other| other != first))
    }
}

/// Returns the goals of a role that are regressed.
fn goals(circuit: &Circuit, role: Role, options: &RegressOptions, aim: Aim) -> Vec<(i64, Signal)> {
    let possible =
        circuit.outputs.goals[role.index()].iter().filter(|(_, signal)| *signal != Signal::FALSE);
    let all: Vec<(i64, Signal)> = possible.copied().collect();
    match (aim, options.goals) {
        (Aim::AvoidWorst, _) => all.first().copied().into_iter().collect(),
        (Aim::Reach | Aim::ReachAtEnd, Goals::Highest) => all.last().copied().into_iter().collect(),
        (Aim::Reach | Aim::ReachAtEnd, Goals::All) => {
            all.iter().skip(usize::from(all.len() > 1)).copied().collect()
        }
    }
}

/// Returns, by fluent, the formula that stands for it. A fluent is false once another one of its
/// group holds for ever (Trutman 2015, 3.5.2).
fn leaf_formulas(
    formulas: &mut Formulas,
    knowledge: &Knowledge,
    options: &RegressOptions,
) -> Vec<Formula> {
    let n_fluents = formulas.n_fluents();
    let mut leaves: Vec<Formula> = (0..n_fluents).map(|fluent| formulas.fluent(fluent)).collect();
    if !options.modes {
        return leaves;
    }
    let groups_of = knowledge.groups_of(n_fluents);
    for (fluent, leaf) in leaves.iter_mut().enumerate() {
        let groups = groups_of[fluent].iter().map(|&group| &knowledge.groups[group as usize]);
        let rivals =
            groups.flatten().filter(|&&rival| rival != fluent && knowledge.stays_true(rival));
        let mut list: Vec<Formula> = rivals.map(|&rival| !formulas.fluent(rival)).collect();
        if !list.is_empty() {
            list.push(*leaf);
            *leaf = formulas.and(&mut list);
        }
    }
    leaves
}
