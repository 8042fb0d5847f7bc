//! Where rule text comes from, how a place in it is named, how a mistake is shown.
//!
//! Every language of Agon reads a [`Source`], names places in it by [`Span`], and reports what it finds as
//! [`Diagnostic`]s. Nothing here knows any language.
//!
//! ```
//! use agon_text::{Diagnostic, Source, Span, render};
//! let source = Source::new("bad.kif", "(role ?x)");
//! let problem = Diagnostic::error("variable-in-fact", Span::new(6, 8), "a fact may not contain variables")
//!     .hint("name the role");
//! assert!(render(&[problem], &source, false).contains("bad.kif:1:7"));
//! ```
#![forbid(unsafe_code)]

mod diagnostic;
mod fix;
mod render;
mod source;
#[cfg(test)]
mod tests;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use fix::{Edit, Fix, apply_fixes};
pub use render::render;
pub use source::{LineColumn, Source, Span};
