//! Goals regressed by one step or two, for every move of every role (003, chapter 3).

use std::fmt;
use std::time::Instant;

use agon_circuit::{Circuit, Signal};
use agon_game::Role;

use super::formula::{Formula, Formulas};
use super::knowledge::Knowledge;
use super::role_work::RoleWork;

/// How goals are regressed. Plain data.
#[derive(Clone, Debug)]
pub struct RegressOptions {
    /// Which goals of a role count.
    pub goals: Goals,
    /// Whether what makes a move legal is taken for true (3.5.3).
    pub preconditions: bool,
    /// Whether a fluent is taken for impossible once another of its group holds for ever (3.5.2).
    pub modes: bool,
    /// Through how many steps the goals are regressed, 1 or 2. The second is left away where it would be too large.
    pub n_steps: usize,
    /// The most operands that all formulas may have together. Where they would have more, what lies deepest in the goals is left
    /// unknown; if that leaves nothing to say, they may have four times as many.
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
            n_steps: 1,
            // Some 16 MB of them; the largest of the games in 003 needs a twentieth of it.
            max_operands: 4_000_000,
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

/// Which action heuristic is wanted of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which goals count.
    pub goals: Goals,
    /// Through how many steps they are regressed: 1, or 2 where the size allows.
    pub n_steps: usize,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { goals: Goals::Highest, n_steps: 1 }
    }
}

/// What regressed goals say of a move.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    /// What must hold now so that the goal holds afterwards.
    #[default]
    Reach,
    /// The same, and that play ends: for goals that say who wins once it has ended, and nothing of when.
    ReachAtEnd,
    /// What must hold now lest play end with the lowest goal: for games in which no move reaches the highest at once, because
    /// whoever makes the last one loses.
    AvoidWorst,
}

/// How goals were regressed in the end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// What the formulas say.
    pub aim: Aim,
    /// Through how many steps.
    pub n_steps: usize,
    /// Conjunctions and disjunctions that lie deeper than this in the goals, or in what makes fluents true, were left unknown.
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
    /// How they were regressed.
    pub extent: Extent,
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
    /// The goals that were regressed, in ascending order: their values. The lowest where the worst is to be avoided.
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
            Refusal::Size(limit) => {
                write!(f, "the regressed goals have more than {limit} operands")
            }
            Refusal::Late => f.write_str("there was not enough time to regress the goals"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Regresses the goals of every player, for each of its moves.
///
/// Where that says nothing, because no move makes a difference to the goals by the next state, other ways are tried in the
/// order of [`Aim`], and then two steps.
///
/// # Errors
/// If that takes more than the options allow, or if there is nothing to regress.
pub fn regress(
    circuit: &Circuit,
    knowledge: Knowledge,
    options: &RegressOptions,
) -> Result<ActionHeuristics, Refusal> {
    let work = GameWork { circuit, knowledge: &knowledge, options };
    if options.n_steps > 1 {
        let extent = Extent { n_steps: 2, ..Extent::default() };
        if let Ok(made) = work.within(extent, part_of(options.deadline)) {
            return Ok(made);
        }
    }
    let ways = [(Aim::Reach, 1), (Aim::ReachAtEnd, 1), (Aim::AvoidWorst, 1), (Aim::Reach, 2)];
    for (aim, n_steps) in ways {
        match work.with_cuts(aim, n_steps) {
            Err(Refusal::NoGoals) => {}
            made => return made,
        }
    }
    Err(Refusal::NoGoals)
}

/// The same, just as far as `extent` says.
#[cfg(test)]
pub(super) fn regress_within(
    circuit: &Circuit,
    knowledge: &Knowledge,
    options: &RegressOptions,
    extent: Extent,
) -> Result<ActionHeuristics, Refusal> {
    GameWork { circuit, knowledge, options }.within(extent, options.deadline)
}

/// Half of the time that is left.
fn part_of(deadline: Option<Instant>) -> Option<Instant> {
    let now = Instant::now();
    deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 2)
}

/// How deep goals are looked into, from one attempt to the next. Where a circuit unrolls a recursion, or counts, each level is a
/// step of it.
const MAX_LEVELS: [Option<u32>; 6] = [None, Some(16), Some(10), Some(6), Some(4), Some(3)];

/// Where what is left says nothing, so many times the size is allowed for all of it.
const AT_LARGE: usize = 4;

/// Regressing the goals of a game.
struct GameWork<'a> {
    circuit: &'a Circuit,
    knowledge: &'a Knowledge,
    options: &'a RegressOptions,
}

impl GameWork<'_> {
    /// As deep as size and time allow.
    fn with_cuts(&self, aim: Aim, n_steps: usize) -> Result<ActionHeuristics, Refusal> {
        let deadline = self.options.deadline;
        let mut refused = None;
        for max_level in MAX_LEVELS {
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(Refusal::Late);
            }
            match (self.within(Extent { aim, n_steps, max_level }, part_of(deadline)), refused) {
                (Err(why @ (Refusal::Size(_) | Refusal::Late)), before) => {
                    refused = before.or(Some(why))
                }
                // Enough was cut off for it to fit, and nothing is left.
                (Err(Refusal::NoGoals), Some(why)) => {
                    return self.at_large(aim, n_steps).map_err(|_| why);
                }
                (made, _) => return made,
            }
        }
        Err(refused.unwrap_or(Refusal::Late))
    }

    /// All of it, at a size that is allowed only where less says nothing.
    fn at_large(&self, aim: Aim, n_steps: usize) -> Result<ActionHeuristics, Refusal> {
        let max_operands = self.options.max_operands.saturating_mul(AT_LARGE);
        let options = &RegressOptions { max_operands, ..self.options.clone() };
        let extent = Extent { aim, n_steps, max_level: None };
        GameWork { options, ..*self }.within(extent, self.options.deadline)
    }

    /// As deep as it says, or not at all.
    fn within(
        &self,
        extent: Extent,
        deadline: Option<Instant>,
    ) -> Result<ActionHeuristics, Refusal> {
        let GameWork { circuit, knowledge, options } = *self;
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
                // Nobody is to have a heuristic at the expense of the others.
                let max_operands = options.max_operands / n_players * n_done;
                let wanted = goals.iter().map(|&(_, signal)| signal).collect();
                let leaves = &leaves;
                let work = RoleWork {
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
            roles.push(RoleHeuristic {
                name: about.name.clone(),
                goals: goals.iter().map(|&(value, _)| value).collect(),
                moves: about.moves.clone(),
                regressed,
            });
        }
        let knowledge = knowledge.clone();
        let fluents = circuit.base.clone();
        let heuristics = ActionHeuristics { extent, formulas, fluents, roles, knowledge };
        let says_something =
            (0..heuristics.roles.len()).any(|role| heuristics.says_something(Role::new(role)));
        if says_something { Ok(heuristics) } else { Err(Refusal::NoGoals) }
    }
}

impl ActionHeuristics {
    /// Whether some move of the role is not like all the others.
    pub fn says_something(&self, role: Role) -> bool {
        let mut known = self.roles[role.index()].regressed.iter().flatten();
        known.next().is_some_and(|first| known.any(|other| other != first))
    }
}

/// The goals of a role that count.
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

/// By fluent: the formula that stands for it. Once another fluent of its group holds for ever, it never will (3.5.2).
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
