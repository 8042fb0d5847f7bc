//! Limits, devices, sockets and links.

use super::*;

/// Returns a new folder of this test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("agon-files-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

#[test]
fn a_file_is_read_up_to_its_limit() {
    let folder = folder("read");
    let path = folder.join("a");
    std::fs::write(&path, "12345").expect("it can be written");
    assert_eq!(read(&path, 5).expect("it fits"), b"12345");
    assert_eq!(read(&path, 4).expect_err("it is too large").kind(), ErrorKind::FileTooLarge);
    assert!(read(&folder, 5).is_err());
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[cfg(unix)]
#[test]
fn devices_are_neither_read_for_ever_nor_replaced() {
    let zero = Path::new("/dev/zero");
    assert_eq!(read(zero, 1 << 20).expect_err("no end").kind(), ErrorKind::FileTooLarge);
    assert!(read_text(zero).is_err());
    let folder = folder("replace");
    assert!(replace(&folder, b"x").is_err(), "a folder stays");
    // A test must not risk a device of the system: a socket is not a file either.
    let socket = folder.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    assert_eq!(replace(&socket, b"x").map_err(|e| e.kind()), Err(ErrorKind::InvalidInput));
    let (file, link) = (folder.join("file"), folder.join("link"));
    replace(&file, b"one").expect("a new file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    replace(&link, b"two").expect("what a link leads to");
    assert!(link.is_symlink());
    assert_eq!(std::fs::read(&file).expect("it is there"), b"two");
    std::fs::remove_dir_all(folder).expect("it is ours");
}
