//! The program that browsers start: `harbor-bridge`, or a script before it that sets the home.
//!
//! ```text
//!  HARBOR_HOME is ~/.harbor ─► manifest ─► harbor-bridge
//!  it is another one ────────► manifest ─► HARBOR_HOME/native-host/harbor-bridge ─ exec ─► harbor-bridge
//! ```
//!
//! Owns this script. A browser starts its native hosts with the environment that itself has, and a manifest can say
//! neither variables nor arguments. The script becomes the program, so the browser's pipes and signals are its own.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_client_configs::browsers::PROGRAM;
use harbor_home::Paths;
use harbor_home::files;

use super::failures::own_failure;
use super::installed_manifests;

/// The `harbor-bridge` that lies beside this program.
pub fn bridge() -> Result<PathBuf, Failure> {
    let own = env::current_exe().and_then(|path| path.canonicalize());
    let own = own.map_err(|error| Failure::Io("find this program's own path", error))?;
    Ok(own.with_file_name(PROGRAM))
}

/// The program that a manifest has to name.
pub fn wanted(paths: &Paths) -> Result<PathBuf, Failure> {
    if needs_script(paths) { Ok(paths.native_host_program()) } else { bridge() }
}

/// True if the script is up to date. The browser's own file is judged elsewhere.
pub fn fits(paths: &Paths) -> bool {
    let script = || script(paths).ok().map(String::into_bytes);
    !needs_script(paths) || fs::read(paths.native_host_program()).ok() == script()
}

/// Makes what a manifest has to name, and says where it is.
pub fn make(paths: &Paths) -> Result<PathBuf, Failure> {
    let (program, bridge) = (wanted(paths)?, bridge()?);
    if !is_program(&bridge) {
        let why = format!("{} is missing; install Harbor again with `scripts/run`", bridge.display());
        return Err(own_failure(why));
    }
    if needs_script(paths) && !(fits(paths) && is_program(&program)) {
        installed_manifests::make_directory(paths)?;
        files::write_atomically(&program, script(paths)?.as_bytes()).map_err(own_failure)?;
        fs::set_permissions(&program, Permissions::from_mode(0o700)).map_err(own_failure)?;
    }
    Ok(program)
}

/// Removes the script, and the directory of what is kept about browsers.
pub fn remove(paths: &Paths) {
    let script = paths.native_host_program();
    let _ = fs::remove_file(&script);
    let _ = script.parent().map(fs::remove_dir);
}

pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// A path as a manifest can say it.
pub fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::Usage(format!("{} is not UTF-8", path.display())))
}

fn needs_script(paths: &Paths) -> bool {
    let usual = env::var_os("HOME").map(|home| Path::new(&home).join(".harbor"));
    usual.as_deref() != Some(paths.home())
}

fn script(paths: &Paths) -> Result<String, Failure> {
    let (home, bridge) = (quoted(&text(paths.home())?), quoted(&text(&bridge()?)?));
    Ok(format!(
        "#!/bin/sh\n# Made by `harbor host install`: browsers start it, and cannot say which home is meant.\n\
         export HARBOR_HOME={home}\nexec {bridge} \"$@\"\n"
    ))
}

/// As one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_one_word_of_the_shell() {
        for path in ["/a b", "/it's", "/$(reboot)`x`\"\\", "/a\nb"] {
            let echo = format!("printf %s {}", quoted(path));
            let said = std::process::Command::new("/bin/sh").args(["-c", &echo]).output().unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), path);
        }
    }
}
