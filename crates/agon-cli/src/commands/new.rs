//! `agon new`: writes a small game to start from.

use std::path::Path;

use agon::templates::{TEMPLATES, Template};

use crate::failure::Failure;
use crate::provenance::quoted;
use crate::terminal::{put, say};

/// Write a small commented game to start from
#[derive(clap::Args)]
#[command(after_help = "\
Templates: board (two players in turn, with a parameter for the size), puzzle (one player), cards
(chance and hidden cards), simultaneous, hidden (hidden information), toss (structure rewriting).

Examples:
  agon new my-game
  agon new my-puzzle --template puzzle
  agon new my-game --template toss --print")]
pub(crate) struct Args {
    /// Name of the game; the file is NAME.kif, or NAME.toss
    name: String,
    /// Kind of game
    #[arg(long, default_value = "board", value_parser = clap::builder::PossibleValuesParser::new(
        TEMPLATES.iter().map(|template| template.name)))]
    template: String,
    /// Print the rules instead of writing a file
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let template = Template::named(&args.template).expect("the parser knows the names");
    let path = Path::new(&args.name);
    let title = path.file_stem().map(|stem| stem.to_string_lossy().replace('-', " "));
    let title = title.filter(|title| !title.trim().is_empty() && !title.contains(['\n', '\r']));
    let Some(title) = title else {
        return Err(Failure::unreadable(format!("`{}` is not a name of a file", args.name)));
    };
    let rules = template.rules(&title);
    if args.print {
        put!("{rules}");
        return Ok(());
    }
    let file = path.with_extension(template.ending);
    let shown = file.display();
    let written = std::fs::OpenOptions::new().write(true).create_new(true).open(&file);
    let written =
        written.and_then(|mut file| std::io::Write::write_all(&mut file, rules.as_bytes()));
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::unreadable(format!("{shown} exists already; choose another name"))
        }
        _ => Failure::unreadable(format!("cannot write {shown}: {error}")),
    })?;
    say!("wrote {shown}: {}", template.summary);
    let argument = quoted(&shown.to_string());
    say!("  agon check {argument} --strict");
    say!("  agon play {argument}");
    Ok(())
}
