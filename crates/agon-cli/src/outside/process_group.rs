//! Programs in process groups of their own, so that a program ends together with all programs that
//! it has started.
//!
//! A process group of its own does not receive the Ctrl-C of the terminal. So a handler ends all
//! groups when this program is interrupted or terminated.

use std::process::{Child, Command};

/// Starts a program as the leader of a process group.
///
/// # Errors
/// If the system cannot run the program.
pub(crate) fn spawn(command: &mut Command) -> std::io::Result<Child> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
        // A command that handles Ctrl-C itself has set its handler before, and calls `kill_all`.
        crate::signals::on_interrupt(|| {
            kill_all();
            std::process::exit(130);
        });
        // The lock is held while the program is started, so that `kill_all` misses none.
        let mut groups = groups::lock();
        let child = command.spawn()?;
        groups.insert(child.id());
        Ok(child)
    }
    #[cfg(not(unix))]
    {
        command.spawn()
    }
}

/// Ends a program and all programs that it has started, and waits for the program.
pub(crate) fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        groups::kill(child.id());
        groups::lock().remove(&child.id());
    }
    // A program that has already exited is not an error.
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends all programs, and the programs that they have started. For the moment before this program
/// exits.
pub(crate) fn kill_all() {
    #[cfg(unix)]
    for &group in groups::lock().iter() {
        groups::kill(group);
    }
}

#[cfg(unix)]
mod groups {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The process groups of running programs. It is global because a signal handler needs it.
    static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

    pub(super) fn lock() -> MutexGuard<'static, BTreeSet<u32>> {
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn kill(group: u32) {
        let pid = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}
