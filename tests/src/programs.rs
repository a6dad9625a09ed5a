//! Where the executables are: Harbor's own, and the test doubles.
//!
//! Must never build anything: cargo, or the script that runs the tests, has done that.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The directory with Harbor's executables: `HARBOR_TEST_BIN`, else where cargo put them beside this test.
#[must_use]
pub fn product_dir() -> PathBuf {
    env::var_os("HARBOR_TEST_BIN").filter(|dir| !dir.is_empty()).map_or_else(profile_dir, PathBuf::from)
}

/// One of Harbor's executables: `harbor-bridge`, `harbor`, `harbor-runner`, `harbor-runner-http`, `harbor-runner-js`, `harbor-runner-wasm`, `harbor-egress`.
#[must_use]
pub fn product(name: &str) -> PathBuf {
    let path = product_dir().join(name);
    assert!(
        path.is_file(),
        "{} is missing: run `cargo build --workspace --bins` first, or set HARBOR_TEST_BIN to its directory",
        path.display()
    );
    path
}

/// One of this crate's executables. They come from this build even when Harbor's come from another place.
#[must_use]
pub fn double(name: &str) -> PathBuf {
    let path = [profile_dir(), product_dir()].map(|dir| dir.join(name)).into_iter().find(|p| p.is_file());
    path.unwrap_or_else(|| panic!("{name} is missing: run `cargo build -p harbor-tests --bins` first"))
}

/// Something that `scripts/servers` has installed, by its path below `HARBOR_TEST_SERVERS`.
///
/// # Panics
/// When it is not there.
#[must_use]
pub fn installed(path: &str) -> PathBuf {
    let dir = env::var_os("HARBOR_TEST_SERVERS").filter(|dir| !dir.is_empty());
    let dir = dir.expect(
        "HARBOR_TEST_SERVERS is not set: run scripts/test, which installs what is needed and sets it",
    );
    let path = PathBuf::from(dir).join(path);
    assert!(path.exists(), "{} is missing: run scripts/test, which installs it", path.display());
    path
}

/// The directory for modules of WebAssembly that tests build.
#[must_use]
pub fn module_dir() -> PathBuf {
    profile_dir().join("modules")
}

/// The PATH of a bridge that finds uv; any other has pip install packages of Python.
#[must_use]
pub fn path_with_uv() -> String {
    format!("{}:{}", installed("uv").display(), env::var("PATH").expect("PATH is set"))
}

/// A command behind the words of another program, which is to start it: its environment is the same.
#[must_use]
pub fn behind(words: &[&str], usual: &Command) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(usual.get_program()).args(usual.get_args());
    take_environment(&mut command, usual);
    command
}

/// Has a command start in the environment of another one.
pub fn take_environment(command: &mut Command, of: &Command) {
    for (name, value) in of.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Tests run from `<profile>/deps`, binaries from `<profile>`.
fn profile_dir() -> PathBuf {
    let own = env::current_exe().expect("the path of this executable");
    let dir = own.parent().expect("an executable is in a directory");
    if dir.file_name().is_some_and(|name| name == "deps") {
        return dir.parent().expect("deps is in a profile's directory").to_owned();
    }
    dir.to_owned()
}
