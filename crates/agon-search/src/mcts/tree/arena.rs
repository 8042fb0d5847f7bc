//! The storage of the tree: flat lists, linked by number.
//!
//! Each part is a struct of lists with private fields. A part offers reads to the whole search, and
//! changes only to the modules of the tree. It also knows how to `pack` itself when nodes are
//! recycled, and how to `reserve` address space for a full tree; so a new part does not change the
//! code of the others.

mod amaf;
mod arms;
mod bound_table;
mod groups;
mod implicit;
mod joint_children;
mod moves;
mod nodes;
mod payoffs;
mod priors;

pub(crate) use amaf::{AmafStats, NumberSet};
pub(crate) use arms::{Arm, Arms, Prospect, Score};
pub(crate) use bound_table::{BoundTable, Bounds};
pub(crate) use groups::{Group, Groups, RegretEntry};
pub(crate) use implicit::ImplicitValues;
pub(crate) use joint_children::JointChildren;
pub(crate) use moves::MoveTable;
pub(crate) use nodes::Nodes;
pub(crate) use payoffs::PayoffSums;
pub(crate) use priors::Priors;
