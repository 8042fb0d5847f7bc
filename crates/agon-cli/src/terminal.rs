//! Output: standard output and standard error, colours on a terminal, progress bars.

use std::fmt::Arguments;
use std::io::{IsTerminal as _, Write as _};

use agon_text::printable_with_colours;

/// Prints a line to standard output. Unlike `println!`, it ends the program without an error when
/// the output is closed, as in `agon games | head`.
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::terminal::write(format_args!("{}\n", format_args!($($argument)*)))
    };
}

/// Prints to standard output without ending the line.
macro_rules! put {
    ($($argument:tt)*) => { $crate::terminal::write(format_args!($($argument)*)) };
}

/// Prints a line to standard error. Unlike `eprintln!`, it does not panic when that is closed.
macro_rules! remark {
    ($($argument:tt)*) => {
        $crate::terminal::write_error(format_args!("{}\n", format_args!($($argument)*)))
    };
}

pub(crate) use {put, remark, say};

/// Writes to standard output. Ends the program if that is closed. On a terminal, control characters
/// of texts from outside are shown instead of sent. A file or another program gets what there is.
pub(crate) fn write(text: Arguments<'_>) {
    let mut stdout = std::io::stdout().lock();
    let written = if stdout.is_terminal() {
        stdout.write_all(printable_with_colours(&text.to_string()).as_bytes())
    } else {
        stdout.write_fmt(text)
    };
    if let Err(error) = written {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        remark!("cannot write to the standard output: {error}");
        std::process::exit(2);
    }
}

/// Writes to standard error. Control characters of texts from outside are shown instead of sent.
pub(crate) fn write_error(text: Arguments<'_>) {
    // An error here cannot be reported anywhere.
    let text = text.to_string();
    let _ = std::io::stderr().lock().write_all(printable_with_colours(&text).as_bytes());
}

/// Returns whether errors are shown in colour: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn colour_on_stderr() -> bool {
    std::io::stderr().is_terminal() && colour_wanted()
}

/// Returns whether results are shown in colour: on a terminal, unless `NO_COLOR` is set.
pub(crate) fn colour_on_stdout() -> bool {
    std::io::stdout().is_terminal() && colour_wanted()
}

/// Returns whether standard error is a terminal, where a progress bar can be shown.
pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Returns whether a person types and reads here, so that questions make sense.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn colour_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns text in bold on a terminal, plain in a pipe.
pub(crate) fn bold(text: &str) -> String {
    if colour_on_stdout() { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// Returns text dimmed on a terminal, plain in a pipe.
pub(crate) fn dim(text: &str) -> String {
    if colour_on_stdout() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
}

/// Returns text in green on a terminal, plain in a pipe.
pub(crate) fn green(text: &str) -> String {
    if colour_on_stdout() { format!("\x1b[32m{text}\x1b[0m") } else { text.to_owned() }
}

/// Returns text in red on a terminal, plain in a pipe.
pub(crate) fn red(text: &str) -> String {
    if colour_on_stdout() { format!("\x1b[31m{text}\x1b[0m") } else { text.to_owned() }
}

/// Returns the text of a piece in bold and in a colour of the terminal, and underlined if it is new.
/// Plain in a pipe.
pub(crate) fn piece(text: &str, colour: u8, is_new: bool) -> String {
    if !colour_on_stdout() {
        return text.to_owned();
    }
    let padding = text.len() - text.trim_start().len();
    let (before, rest) = text.split_at(padding);
    let new = if is_new { ";4" } else { "" };
    format!("{before}\x1b[1;{colour}{new}m{rest}\x1b[0m")
}

/// Returns a spinner with the time that has passed, for work of unknown length. It is shown on a
/// terminal only.
pub(crate) fn spinner(what: &str) -> indicatif::ProgressBar {
    let spinner = indicatif::ProgressBar::new_spinner();
    let style = indicatif::ProgressStyle::with_template("{spinner} {msg} {elapsed}")
        .expect("the template is a valid constant");
    spinner.set_style(style);
    spinner.set_message(what.to_owned());
    spinner.enable_steady_tick(std::time::Duration::from_millis(120));
    spinner
}

/// Returns a progress bar for long work. It is shown on a terminal only.
pub(crate) fn progress(length: u64, what: &'static str) -> indicatif::ProgressBar {
    let bar = indicatif::ProgressBar::new(length);
    let style = indicatif::ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}")
        .expect("the template is a valid constant");
    bar.set_style(style);
    bar.set_message(what);
    bar
}
