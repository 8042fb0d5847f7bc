//! Runs the tests in `python/tests` that need no package but numpy and pytest, in a virtual
//! environment below `target`. Where that is not possible, it says so and passes. `.ci/python` runs
//! all tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root folder of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies two folders below the root").to_owned()
}

/// Runs a command and returns its output if it succeeds, or else what it printed.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{text}\n{errors}")) }
}

/// Makes a virtual environment with numpy and pytest, or returns why that is not possible here.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let version = "import sys, venv; print(sys.version_info >= (3, 10))";
    let found = run(Command::new("python3").args(["-c", version]));
    match found.as_deref().map(str::trim) {
        Ok("True") => {}
        Ok(_) => return Err("python3 is older than 3.10".to_owned()),
        Err(_) => return Err("there is no python3 with venv".to_owned()),
    }
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let is_ready =
        |python: &Path| run(Command::new(python).args(["-c", "import numpy, pytest"])).is_ok();
    if is_ready(&python) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))
        .map_err(|why| format!("no virtual environment can be made: {why}"))?;
    let wanted = root().join("python/requirements-quick.txt");
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(wanted))
        .map_err(|why| format!("numpy and pytest cannot be installed: {why}"))?;
    Ok(python)
}

/// Puts the package into a folder, with the module that was built together with this test.
fn package(folder: &Path) -> PathBuf {
    let (library, module) = if cfg!(windows) {
        ("_agon.dll", "_agon.pyd")
    } else if cfg!(target_os = "macos") {
        ("lib_agon.dylib", "_agon.abi3.so")
    } else {
        ("lib_agon.so", "_agon.abi3.so")
    };
    let this = std::env::current_exe().expect("a test has a path");
    let library = this.with_file_name(library);
    let package = folder.join("agon");
    let _ = std::fs::remove_dir_all(&package);
    std::fs::create_dir_all(&package).expect("target can be written");
    for entry in std::fs::read_dir(root().join("python/agon")).expect("the package is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|ending| ending == "py") {
            let name = path.file_name().expect("files have names");
            std::fs::copy(&path, package.join(name)).expect("it can be copied");
        }
    }
    std::fs::copy(&library, package.join(module))
        .unwrap_or_else(|error| panic!("{}: {error}", library.display()));
    folder.to_owned()
}

#[test]
fn the_python_package_passes_its_tests() {
    let folder = root().join("target/python-tests");
    let python = match environment(&folder.join("venv")) {
        Ok(python) => python,
        Err(why) => {
            println!("SKIPPED: the tests of the Python package did not run, because {why}");
            return;
        }
    };
    let package = package(&folder.join("package"));
    let tests = root().join("python/tests");
    let mut pytest = Command::new(python);
    pytest
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-m", "not full"])
        .args(
            ["test_api.py", "test_batch.py", "test_inputs.py", "test_learn.py"]
                .map(|name| tests.join(name)),
        )
        .current_dir(root())
        .env("PYTHONPATH", package)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    match run(&mut pytest) {
        Ok(text) => println!("{text}"),
        Err(text) => panic!("pytest fails:\n{text}"),
    }
}
