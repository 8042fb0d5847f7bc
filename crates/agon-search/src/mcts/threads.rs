//! How threads work together on one tree.
//!
//! Where playouts are made one by one, they take much longer than the work in the tree, so threads
//! [take turns](turns) at the tree. Where an engine makes playouts in bulk, half of all work is in
//! the tree. Then one thread is the [coordinator]: it alone reads and writes the tree, and hands
//! batches to the others through a [queue](leaf_queue).

mod backoff;
mod coordinator;
mod leaf_queue;
mod load_balance;
mod shared;
mod turns;

pub(crate) use coordinator::Coordinator;
pub(crate) use leaf_queue::LeafQueue;
pub(crate) use shared::Shared;
