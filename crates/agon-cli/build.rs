//! Records the commit from which the program is built, for the line of provenance on tables.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    println!("cargo::rerun-if-changed=build.rs");
    // The log of HEAD changes with every commit. Outside of a repository there is no commit.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    // A build from an archive, as in the Dockerfile, may be told the commit.
    println!("cargo::rerun-if-env-changed=AGON_COMMIT");
    let told = std::env::var("AGON_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = told.or_else(|| git(&["rev-parse", "--short=12", "HEAD"])).unwrap_or_default();
    println!("cargo::rustc-env=AGON_COMMIT={commit}");
}
