//! `agon lsp`: the language server over standard input and output.

use std::path::PathBuf;
use std::time::Duration;

use agon_lsp::{CodePages, Options};

use crate::failure::Failure;

/// Start the language server for editors, over standard input and output
#[derive(clap::Args)]
#[command(after_help = "\
Editors start this command themselves; docs/editors.md says how for Neovim, Helix, Emacs and VS
Code. It speaks the Language Server Protocol 3.17 for GDL, GDL-II (KIF and infix) and Toss.

Examples:
  agon lsp
  agon lsp --no-play                            # reads and checks, but never plays or proves
  agon lsp --code-pages https://example.org/codes/")]
pub(crate) struct Args {
    /// Only read and check: do not play, ground or prove when the editor is idle
    #[arg(long)]
    no_play: bool,
    /// Time without a change after which rules are played and proved, in milliseconds
    #[arg(long, default_value_t = 400, value_name = "MS")]
    idle: u64,
    /// Where diagnostics link to: an address to which the code is added, or `none`
    ///
    /// By default the pages are written into the user's cache folder.
    #[arg(long, value_name = "ADDRESS")]
    code_pages: Option<String>,
    /// Accepted for editors that name the transport; it is the only one
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let code_pages = match args.code_pages.as_deref() {
        Some("none") => CodePages::Nowhere,
        Some(address) => CodePages::Address(address.to_owned()),
        None => cache_folder().map_or(CodePages::Nowhere, CodePages::Folder),
    };
    let idle = (!args.no_play).then(|| Duration::from_millis(args.idle));
    let options = Options { code_pages, idle, ..Options::default() };
    agon_lsp::serve_stdio(options)
        .map_err(|error| Failure::unreadable(format!("the connection to the editor: {error}")))
}

/// Returns the folder for the pages of codes: one for each version, below the user's cache folder.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = if cfg!(windows) {
        PathBuf::from(variable("LOCALAPPDATA")?)
    } else {
        match variable("XDG_CACHE_HOME") {
            Some(cache) => PathBuf::from(cache),
            None => PathBuf::from(variable("HOME")?).join(".cache"),
        }
    };
    Some(cache.join("agon").join(concat!("codes-", env!("CARGO_PKG_VERSION"))))
}
