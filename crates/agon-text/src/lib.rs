//! Source texts, spans, and diagnostics with codes, hints and fixes.
//!
//! Every rule language of Agon reads a [`Source`], refers to places in it by [`Span`]s, and reports
//! problems as [`Diagnostic`]s. This crate does not know any rule language.
//!
//! ```
//! use agon_text::{Diagnostic, Source, Span, render};
//! let source = Source::new("bad.kif", "(role ?x)");
//! let message = "a fact may not contain variables";
//! let problem = Diagnostic::error("variable-in-fact", Span::new(6, 8), message)
//!     .hint("name the role");
//! assert!(render(&[problem], &source, false).contains("bad.kif:1:7"));
//! ```
//!
//! # Modules in reading order
//! - `source`: [`Source`] and [`Span`].
//! - `diagnostic`: [`Diagnostic`] and its [`Severity`].
//! - `fix`: [`Fix`], a change of the text that removes the cause of a diagnostic.
//! - `render`: [`render`], diagnostics as text for people.
//! - `codes`: [`CodePage`], the explanation of a diagnostic code.
//! - `did_you_mean`: [`did_you_mean`], suggestions for misspelt names.
//! - [`params`]: numbers at the top of a rulesheet, on which its rules depend.
//! - [`profile`]: what each rule of a game costs, by line.
//! - `layout`: [`n_line_ends`] and [`gap_before_comment`], for formatters.
#![forbid(unsafe_code)]

mod codes;
mod diagnostic;
mod did_you_mean;
mod fix;
mod layout;
pub mod params;
mod printable;
pub mod profile;
mod render;
mod source;
#[cfg(test)]
mod tests;

pub use codes::{CodePage, find_page};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use did_you_mean::{closest_name, did_you_mean};
pub use fix::{Edit, Fix, apply_fixes};
pub use layout::{gap_before_comment, n_line_ends};
pub use printable::{printable, printable_with_colours};
pub use render::render;
pub use source::{LineColumn, Source, Span};
