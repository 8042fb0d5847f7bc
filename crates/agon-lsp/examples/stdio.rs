//! The language server alone, over standard input and output. `agon lsp` is the same with options.

use std::time::Duration;

use agon_lsp::{CodePages, Options, serve_stdio};

fn main() -> std::io::Result<()> {
    let code_pages = CodePages::Address("https://example.org/codes/".to_owned());
    let idle = Some(Duration::from_millis(50));
    serve_stdio(Options { code_pages, idle, ..Options::default() })
}
