//! Loops written with AVX2 intrinsics, each with a portable twin that gives the same bits.
//!
//! No code is generated here. Each function chooses between the two at run time.

mod pack;
mod products;
mod random;
mod transpose;

pub(crate) use pack::pack_signs;
pub(crate) use products::{multiply, multiply_portably};
pub(crate) use random::fill_random;
#[cfg(test)]
pub(crate) use random::fill_random_portably;
pub(crate) use transpose::transpose;
#[cfg(test)]
pub(crate) use transpose::transpose_portably;
