//! Programs in process groups of their own, so that a program ends together with all programs that
//! it has started.
//!
//! A program that was started by one of them may leave the group. On Linux it is found by a mark in
//! its environment, which programs pass on to those that they start.
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
        let mark = groups::new_mark();
        command.env(groups::MARK, &mark);
        // A command that handles Ctrl-C itself has set its handler before, and calls `kill_all`.
        crate::signals::on_interrupt(|| {
            kill_all();
            std::process::exit(130);
        });
        // The lock is held while the program is started, so that `kill_all` misses none.
        let mut groups = groups::lock();
        let child = command.spawn()?;
        groups.insert(child.id(), mark);
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
        let mark = groups::lock().remove(&child.id());
        groups::kill(child.id());
        groups::kill_marked(mark.as_slice());
    }
    // A program that has already exited is not an error.
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends all programs, and the programs that they have started. For the moment before this program
/// exits.
pub(crate) fn kill_all() {
    #[cfg(unix)]
    {
        let groups = groups::lock();
        groups.keys().for_each(|&group| groups::kill(group));
        let marks: Vec<String> = groups.values().cloned().collect();
        groups::kill_marked(&marks);
    }
}

#[cfg(unix)]
mod groups {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The environment variable with the mark of a program.
    pub(super) const MARK: &str = "AGON_PROGRAM_MARK";

    /// How often marked programs are looked for, because they may start others meanwhile.
    const MAX_ROUNDS: usize = 5;

    /// The process groups of running programs, with their marks. It is global because a signal
    /// handler needs it.
    static GROUPS: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

    static N_MARKS: AtomicU64 = AtomicU64::new(0);

    /// Returns a mark that no other program of this machine has.
    pub(super) fn new_mark() -> String {
        // Numbers of processes are used again, so the mark also has a random part where there is one.
        let random = std::fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap_or_default();
        let number = N_MARKS.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}-{}", std::process::id(), random.trim())
    }

    /// Ends all programs that have one of the marks, wherever they are.
    pub(super) fn kill_marked(marks: &[String]) {
        let entries: Vec<Vec<u8>> =
            marks.iter().map(|mark| format!("{MARK}={mark}").into_bytes()).collect();
        for _ in 0..MAX_ROUNDS {
            let marked = if entries.is_empty() { Vec::new() } else { marked(&entries) };
            if marked.is_empty() {
                return;
            }
            for pid in marked {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }

    /// Returns the processes with one of the entries in their environment. Systems without `/proc`
    /// have none. A process that has ended has an empty environment.
    fn marked(entries: &[Vec<u8>]) -> Vec<rustix::process::Pid> {
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pid = |name: &str| rustix::process::Pid::from_raw(name.parse().ok()?);
        let mut found = Vec::new();
        for process in processes.flatten() {
            let Some(pid) = process.file_name().to_str().and_then(pid) else { continue };
            let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
            let mut variables = environment.split(|&byte| byte == 0);
            if variables.any(|variable| entries.iter().any(|entry| entry == variable)) {
                found.push(pid);
            }
        }
        found
    }

    pub(super) fn lock() -> MutexGuard<'static, BTreeMap<u32, String>> {
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn kill(group: u32) {
        let pid = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}
