//! `agon completions`: completions for shells, and man pages.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::terminal::say;

/// Print completions for a shell, or write man pages
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon completions bash > ~/.local/share/bash-completion/completions/agon
  agon completions zsh > ~/.zfunc/_agon
  agon completions fish > ~/.config/fish/completions/agon.fish
  agon completions --man ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Shell
    #[arg(required_unless_present = "man")]
    shell: Option<clap_complete::Shell>,
    /// Write a man page for agon and for each command into this folder
    #[arg(long, value_name = "FOLDER")]
    man: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut command = super::command();
    if let Some(folder) = &args.man {
        let n_pages = man(command.clone(), folder).map_err(|error| {
            Failure::unreadable(format!("cannot write to {}: {error}", folder.display()))
        })?;
        say!("wrote {n_pages} pages to {}", folder.display());
    }
    if let Some(shell) = args.shell {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, "agon", &mut text);
        crate::terminal::put!("{}", String::from_utf8_lossy(&text));
    }
    Ok(())
}

/// Writes the man pages. Returns their number.
fn man(command: clap::Command, folder: &Path) -> std::io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let commands: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    let n_pages = 1 + commands.len();
    write_page(command, "agon", folder)?;
    for command in commands {
        let name = format!("agon-{}", command.get_name());
        write_page(command, &name, folder)?;
    }
    Ok(n_pages)
}

fn write_page(command: clap::Command, name: &str, folder: &Path) -> std::io::Result<()> {
    // The names of pages live as long as the program, which ends after writing them.
    let own: &'static str = Box::leak(name.to_owned().into_boxed_str());
    // The page is `agon-prove`, but what is typed is `agon prove`.
    let typed = own.replacen('-', " ", 1);
    let command = command.name(own).display_name(own).bin_name(typed);
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    std::fs::write(folder.join(format!("{name}.1")), page)
}
