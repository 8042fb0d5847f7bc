//! Programs in process groups of their own, so that a program ends together with all programs that
//! it has started.
//!
//! A program that was started by one of them may leave the group. On Linux it is found by a mark in
//! its environment, which programs pass on to those that they start.
//!
//! A process group of its own does not receive the Ctrl-C of the terminal. So a handler ends all
//! groups when this program is interrupted or terminated. No handler runs if this program is killed,
//! for instance because the machine is out of memory; then a small watcher ends the programs.

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
        groups::watch();
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
    use std::os::unix::process::CommandExt as _;
    use std::process::{ChildStdin, Command, Stdio};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

    /// The environment variable with the mark of a program.
    pub(super) const MARK: &str = "AGON_PROGRAM_MARK";

    /// How often marked programs are looked for, because they may start others meanwhile.
    const MAX_ROUNDS: usize = 5;

    /// The process groups of running programs, with their marks. It is global because a signal
    /// handler needs it.
    static GROUPS: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

    static N_MARKS: AtomicU64 = AtomicU64::new(0);

    /// What all marks of this process begin with: no other process of this machine has it.
    fn prefix() -> &'static str {
        static PREFIX: LazyLock<String> = LazyLock::new(|| {
            // Numbers of processes are used again, so there is also a random part if possible.
            let random = std::fs::read_to_string("/proc/sys/kernel/random/uuid");
            format!("{}-{}-", std::process::id(), random.unwrap_or_default().trim())
        });
        &PREFIX
    }

    /// Returns a mark that no other program of this machine has.
    pub(super) fn new_mark() -> String {
        format!("{}{}", prefix(), N_MARKS.fetch_add(1, Ordering::Relaxed))
    }

    /// Waits until its input ends, which happens when this process ends in whatever way. Then ends
    /// all programs with a mark that begins with the argument.
    const WATCHER: &str = "\
while read -r line; do :; done
for environ in /proc/[0-9]*/environ; do
  if grep -q \"AGON_PROGRAM_MARK=$0\" \"$environ\"; then
    process=${environ#/proc/}
    kill -KILL \"${process%/environ}\"
  fi
done";

    /// Starts the watcher if it does not run yet. Without a shell there is none, and programs end
    /// as far as this process can end them.
    pub(super) fn watch() {
        /// The input of the watcher, which the system closes at the end of this process.
        static INPUT: OnceLock<Option<ChildStdin>> = OnceLock::new();
        INPUT.get_or_init(|| {
            let mut watcher = Command::new("sh");
            // A group of its own, so that Ctrl-C in the terminal does not end it first.
            watcher.process_group(0).args(["-c", WATCHER, prefix()]);
            watcher.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            watcher.spawn().ok()?.stdin.take()
        });
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
