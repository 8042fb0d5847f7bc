//! Finds out how to draw any game, and draws it.
//!
//! 1. [`Layout::infer`] finds boards, counters and hands in an [`Evidence`]: sampled play, static
//!    facts of the rules, and [`Hints`] of the author. It never fails; the worst layout is a list.
//! 2. [`Layout::scene`] makes the [`Scene`] of a state, which is a list of fluents as text.
//! 3. [`svg::svg`], [`text::text`] and `png::png` (feature `png`) draw a scene. Scenes are also
//!    JSON by way of serde.
//! 4. [`Layout::targets`] returns for legal moves the places that a person clicks on.
//!
//! ```
//! use agon_board::{Evidence, Layout, LayoutKind, Play};
//!
//! let states: Vec<Vec<String>> = [
//!     "(cell 1 1 b) (cell 2 1 b) (cell 1 2 b) (cell 2 2 b)",
//!     "(cell 1 1 x) (cell 2 1 b) (cell 1 2 b) (cell 2 2 b)",
//!     "(cell 1 1 x) (cell 2 1 b) (cell 1 2 b) (cell 2 2 o)",
//! ]
//! .map(|state| state.split_inclusive(')').map(|fluent| fluent.trim().to_owned()).collect())
//! .to_vec();
//! let evidence = Evidence {
//!     roles: vec!["xplayer".to_owned(), "oplayer".to_owned()],
//!     plays: vec![Play { states: states.clone(), joints: Vec::new() }],
//!     ..Evidence::default()
//! };
//! let layout = Layout::infer(&evidence);
//! assert_eq!(layout.kind(), LayoutKind::Grid);
//! let scene = layout.scene(&states[2]);
//! let place = scene.place("board/2/2").expect("there is such a place");
//! assert_eq!(place.pieces[0].owner, Some(1));
//! let targets = layout.targets(&["(mark 2 1)".to_owned()]);
//! assert_eq!(targets[0].steps, [["board/2/1"]]);
//! ```
//!
//! # Modules, in reading order
//!
//! 1. [`scene`] is the picture of a state, [`layout`] makes it, [`moves`] matches moves.
//! 2. [`evidence`] and [`hints`] are what inference looks at.
//! 3. [`svg`], [`text`] and `png` draw scenes, [`animation`] and `gif` draw matches.
//! 4. `stylesheet` draws states by old stylesheets of public game repositories.
#![forbid(unsafe_code)]

pub mod animation;
mod axis;
pub mod evidence;
mod fluent;
#[cfg(feature = "gif")]
pub mod gif;
mod graph;
pub mod hints;
mod infer;
pub mod layout;
pub mod moves;
mod panels;
mod pieces;
#[cfg(feature = "png")]
pub mod png;
mod reals;
pub mod scene;
#[cfg(feature = "stylesheet")]
pub mod stylesheet;
pub mod svg;
pub mod text;
mod world;

pub use evidence::{Evidence, Play};
pub use hints::Hints;
pub use layout::{Layout, LayoutKind};
pub use moves::MoveTarget;
pub use scene::Scene;
pub use svg::{SvgOptions, Theme};
pub use text::TextOptions;
