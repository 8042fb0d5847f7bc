//! Explanations of diagnostic codes.
//!
//! Codes are stable: users look them up and write them into their scripts. Each rule language has
//! one table of its codes, made by [`code_pages!`](crate::code_pages), and one page in Markdown for
//! each code.

use crate::Severity;

/// The explanation of one diagnostic code.
#[derive(Copy, Clone, Debug)]
pub struct CodePage {
    /// The code, such as `unsafe-variable`.
    pub code: &'static str,
    /// The severity of the diagnostic. If it varies, the highest one.
    pub severity: Severity,
    /// The meaning in a few words.
    pub summary: &'static str,
    /// The full explanation in Markdown.
    pub page: &'static str,
}

/// Returns the page of a code, if the table has one.
pub fn find_page<'p>(pages: &'p [CodePage], code: &str) -> Option<&'p CodePage> {
    pages.iter().find(|page| page.code == code)
}

/// Makes a table of [`CodePage`]s from lines of severity, code and summary. The page of a code is
/// the file `../codes/CODE.md`, relative to the file that uses the macro.
///
/// ```text
/// const PAGES: &[CodePage] = agon_text::code_pages! {
///     Error "unsafe-variable" "a variable that no positive condition binds"
///     Warning "unused-relation" "a relation that no condition asks for"
/// };
/// ```
#[macro_export]
macro_rules! code_pages {
    ($($severity:ident $code:literal $summary:literal)*) => {
        &[$($crate::CodePage {
            code: $code,
            severity: $crate::Severity::$severity,
            summary: $summary,
            page: include_str!(concat!("../codes/", $code, ".md")),
        }),*]
    };
}
