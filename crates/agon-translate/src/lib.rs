//! Rules of one family written in the other, and in the languages of other tools; a translation is checked by playing both sides jointly.
#![forbid(unsafe_code)]

pub mod formats;
pub mod joint;
pub mod round_trip;
pub mod to_gdl;
pub mod to_toss;
