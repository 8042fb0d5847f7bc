//! The client for Visual Studio Code, with stand-ins for the editor, where Node.js is installed.

use std::path::Path;
use std::process::Command;

#[test]
fn the_client_for_visual_studio_code_works() {
    // The runner of tests is part of Node.js from version 20 on.
    let version = Command::new("node").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let major = version.ok().and_then(|text| {
        text.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok())
    });
    if major.is_none_or(|major| major < 20) {
        println!("SKIPPED: Node.js 20 or newer is not installed");
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode/client.test.js");
    let output = Command::new("node")
        .args(["--test", "--test-reporter=tap"])
        .arg(file)
        .output()
        .expect("Node.js starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("\n# pass 0\n"), "no test ran: {text}");
}
