//! The code of each finding, explained: what it means, an example, and the cure.
