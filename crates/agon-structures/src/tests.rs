//! Inputs that the tests of this crate share.

pub(crate) mod tape;

pub(crate) use agon_testkit::seeded;
