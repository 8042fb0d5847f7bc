//! Makes the shipped games part of the library, so that it needs no files to play them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let games =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../games");
    println!("cargo::rerun-if-changed={}", games.display());
    let mut rulesheets: Vec<PathBuf> = Vec::new();
    for family in fs::read_dir(&games).expect("games/ is part of the project").flatten() {
        println!("cargo::rerun-if-changed={}", family.path().display());
        if let Ok(files) = fs::read_dir(family.path()) {
            rulesheets.extend(files.flatten().map(|file| file.path()));
        }
    }
    rulesheets.retain(|path| path.extension().is_some_and(|e| e == "kif" || e == "toss"));
    rulesheets.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    // GDL comes first, because the bare name of a game that ships in both languages means that.
    rulesheets.sort_by_key(|path| path.extension().is_some_and(|e| e == "toss"));
    let mut table = String::from("&[\n");
    for path in rulesheets {
        let name = path.file_stem().expect("a file has a name").to_string_lossy();
        let file = path.canonicalize().expect("the file was just listed");
        let family = path
            .parent()
            .and_then(Path::file_name)
            .expect("games lie in a folder")
            .to_string_lossy();
        let ending = path.extension().expect("filtered by ending").to_string_lossy();
        let called = if family == "toss" { format!("toss/{name}") } else { name.to_string() };
        let shown = format!("games/{family}/{name}.{ending}");
        writeln!(
            table,
            "    Shipped {{ name: {called:?}, path: {shown:?}, text: include_str!({file:?}) }},"
        )
        .expect("writing to a string does not fail");
    }
    table.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo")).join("shipped.rs");
    fs::write(out, table).expect("OUT_DIR can be written");
}
