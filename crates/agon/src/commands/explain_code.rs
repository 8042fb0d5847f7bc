//! `agon explain-code`: a page on each finding that `agon check` can make.

use agon_gdl::codes::{page, pages};

use crate::failure::Failure;
use crate::terminal;
use crate::terminal::say;

/// Explain a finding of `agon check`: what it means, an example, the cure.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon explain-code unsafe-variable
  agon explain-code            lists all codes")]
pub(crate) struct Args {
    /// The code, as `agon check` shows it in brackets; without it all codes are listed
    code: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(code) = &args.code else {
        let width = pages().iter().map(|page| page.code.len()).max().unwrap_or(0);
        for page in pages() {
            say!("{}  {}", terminal::bold(&format!("{:width$}", page.code)), page.summary);
        }
        return Ok(());
    };
    if let Some(page) = page(code) {
        say!("{}", page.page.trim_end());
        return Ok(());
    }
    let closest = pages().iter().min_by_key(|page| strsim::damerau_levenshtein(page.code, code));
    let hint = closest.map(|page| format!("; did you mean `{}`?", page.code)).unwrap_or_default();
    Err(Failure::unreadable(format!("there is no code `{code}`{hint} (`agon explain-code` lists them all)")))
}
