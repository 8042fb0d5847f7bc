//! Files that users name: they are read up to a limit, and replaced as a whole.
//!
//! A name may stand for anything: a device that never ends, a folder, a link.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use crate::open::MAX_BYTES;

/// Reads a file of at most `max` bytes, whatever size the system reports for it.
///
/// # Errors
/// If it cannot be read, or is larger.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let text = format!("it is larger than {} MiB", max >> 20);
        return Err(io::Error::new(ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

/// Reads a text that a person may have written: as long as a rulesheet may be.
///
/// # Errors
/// If it cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read(path, MAX_BYTES)?);
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not a text in UTF-8"))
}

/// Replaces a file as a whole: an interruption leaves the old one. A link stays, and what it leads
/// to is replaced.
///
/// # Errors
/// If it cannot be written, or is something other than a file. A device would be lost otherwise.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file"));
        }
        Ok(_) => path.canonicalize()?,
        Err(_) => path.to_owned(),
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        // The bytes must be on the disk before the name is, or a power cut leaves an empty file.
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&temporary, &path)).inspect_err(|_| {
        let _ = std::fs::remove_file(&temporary);
    })
}

#[cfg(test)]
mod tests;
