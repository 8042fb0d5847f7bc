//! Checks a rulesheet and shows every finding with its place, as `agon check` does.
//!
//! `cargo run --example check_rules -- FILE`

use std::process::ExitCode;

use agon::open::{Language, language, source};
use agon_text::render;

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: check_rules FILE");
        return ExitCode::from(2);
    };
    let source = match source(&file) {
        Ok(source) => source,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let findings = match language(&source) {
        Language::Gdl => agon_gdl::check::check(source.clone()).findings,
        Language::Toss => agon_toss::check::check(source.clone()).findings,
    };
    print!("{}", render(&findings.0, &source, false));
    println!("{file}: {} findings", findings.0.len());
    if findings.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
