//! From what the user calls a game to a game that can be played.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use agon_gdl::check::{Checked, check_as};
use agon_gdl::interpreter::{Game, GoalPolicy, Options};
use agon_gdl::symbols::Case;
use agon_text::{Severity, Source, render};

use crate::failure::Failure;
use crate::shipped::{SHIPPED, Shipped};

/// Rulesheets beyond this are not read: the largest public one has 70 kB.
const MAX_BYTES: u64 = 64 << 20;

/// How a game is played.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum EngineChoice {
    /// Whatever suits the game best.
    Auto,
    /// By the rules as they stand: slow, obvious, the judge of every other.
    Interpreter,
}

/// Options that every command which plays a game has.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct PlayOptions {
    /// The engine that plays
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineChoice,
    /// Whether names that differ only in capitalisation are the same
    #[arg(long, value_enum, default_value = "ignored")]
    pub(crate) case: CaseChoice,
    /// What counts where the rules give a role several goal values
    #[arg(long, value_enum, default_value = "highest")]
    pub(crate) goals: GoalChoice,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum CaseChoice {
    /// They are the same.
    Ignored,
    /// They are different, as for the players of ggp-base.
    Respected,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum GoalChoice {
    /// The highest; none counts as 0.
    Highest,
    /// The lowest; none counts as 0.
    Lowest,
    /// Anything but exactly one value counts as 0.
    ExactlyOne,
}

impl PlayOptions {
    pub(crate) fn case(&self) -> Case {
        match self.case {
            CaseChoice::Ignored => Case::Ignored,
            CaseChoice::Respected => Case::Respected,
        }
    }

    fn options(&self) -> Options {
        let goal_policy = match self.goals {
            GoalChoice::Highest => GoalPolicy::Highest,
            GoalChoice::Lowest => GoalPolicy::Lowest,
            GoalChoice::ExactlyOne => GoalPolicy::ExactlyOne,
        };
        Options { goal_policy, ..Options::default() }
    }
}

/// The text of a game: a shipped game's name, a path, or `-` for standard input.
pub(crate) fn source(game: &str) -> Result<Arc<Source>, Failure> {
    if let Some(shipped) = Shipped::named(game) {
        return Ok(Arc::new(Source::new(shipped.path, shipped.text)));
    }
    let read = |reader: &mut dyn std::io::Read| -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let path = Path::new(game);
    let bytes = if game == "-" {
        read(&mut std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file))
    };
    let bytes = bytes.map_err(|error| {
        let hint = match closest(game) {
            Some(name) => format!("; did you mean the shipped game `{name}`?"),
            None if path.components().count() == 1 => "; `agon games` lists the shipped games".to_owned(),
            None => String::new(),
        };
        Failure::unreadable(format!("cannot read {game}: {error}{hint}"))
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::unreadable(format!("{game} is larger than {} MiB", MAX_BYTES >> 20)));
    }
    if bytes.iter().take(1024).any(|&byte| byte == 0) {
        return Err(Failure::unreadable(format!("{game} is not a text file")));
    }
    Ok(Arc::new(Source::from_bytes(game, &bytes)))
}

fn closest(name: &str) -> Option<&'static str> {
    let distance = |game: &Shipped| strsim::damerau_levenshtein(game.name, &name.to_lowercase());
    let best = SHIPPED.iter().min_by_key(|game| distance(game))?;
    (distance(best) <= 1 + name.len() / 4).then_some(best.name)
}

/// A game ready to be played. If its rules are wrong, the failure shows what is wrong with them.
pub(crate) fn open(game: &str, play: &PlayOptions) -> Result<Arc<Game>, Failure> {
    open_source(source(game)?, play)
}

/// The same from text at hand.
pub(crate) fn open_source(source: Arc<Source>, play: &PlayOptions) -> Result<Arc<Game>, Failure> {
    match play.engine {
        EngineChoice::Auto | EngineChoice::Interpreter => {}
    }
    let Checked { rules, findings } = check_as(Arc::clone(&source), play.case());
    let Some(rules) = rules else {
        let errors: Vec<_> =
            findings.0.into_iter().filter(|finding| finding.severity == Severity::Error).collect();
        let shown = render(&errors, &source, crate::terminal::colour_on_stderr());
        return Err(Failure::wrong(format!("{shown}{} cannot be played as it stands", source.name())));
    };
    Game::open(rules, play.options())
        .map_err(|finding| Failure::wrong(render(&[*finding], &source, crate::terminal::colour_on_stderr())))
}
