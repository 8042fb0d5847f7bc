//! `agon explain-code`: prints the page on a diagnostic code of `agon check`.

use agon_text::did_you_mean;

use crate::failure::Failure;
use crate::terminal;
use crate::terminal::say;

/// Explain a diagnostic code of `agon check`: its meaning, an example, a fix
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon explain-code unsafe-variable
  agon explain-code            # lists all codes")]
pub(crate) struct Args {
    /// Code as `agon check` shows it in brackets; without it, all codes are listed
    code: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let pages = pages();
    let Some(code) = &args.code else {
        let width = pages.iter().map(|page| page.code.len()).max().unwrap_or(0);
        for page in &pages {
            say!("{}  {}", terminal::bold(&format!("{:width$}", page.code)), page.summary);
        }
        return Ok(());
    };
    if let Some(page) = pages.iter().find(|page| page.code == code) {
        say!("{}", page.page.trim_end());
        return Ok(());
    }
    let closest = did_you_mean(code, pages.iter().map(|page| page.code));
    let hint = closest.map(|code| format!("; did you mean `{code}`?")).unwrap_or_default();
    Err(Failure::unreadable(format!(
        "there is no code `{code}`{hint} (`agon explain-code` lists all codes)"
    )))
}

/// The page on a diagnostic code of either language.
struct Page {
    code: &'static str,
    summary: &'static str,
    page: &'static str,
}

/// Returns the pages of GDL, then those of structure rewriting, whose codes start with `toss-`.
fn pages() -> Vec<Page> {
    let gdl = agon_gdl::codes::pages().iter();
    let gdl = gdl.map(|page| Page { code: page.code, summary: page.summary, page: page.page });
    let toss = agon_toss::codes::pages().iter();
    gdl.chain(toss.map(|page| Page { code: page.code, summary: page.summary, page: page.page }))
        .collect()
}
