//! Paths as they are typed, made to mean the same to the bridge, which runs in another directory.
//!
//! Must never look at what is there, but for links on the way.

use std::env;
use std::path::{self, Component, Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::SandboxSettings;

/// The directory in which this program runs.
pub fn current_dir() -> Result<PathBuf, Failure> {
    env::current_dir().map_err(|error| Failure::Io("find the current directory", error))
}

/// The whole path.
pub fn absolute(path: &str, here: &Path) -> Result<String, Failure> {
    let mut whole =
        path::absolute(here.join(path)).map_err(|error| Failure::Io("make a path absolute", error))?;
    // Behind a link `..` means another place than its text says; what is not there keeps it.
    if whole.components().any(|part| part == Component::ParentDir) {
        whole = whole.canonicalize().unwrap_or(whole);
    }
    let whole = whole.into_os_string().into_string();
    whole.map_err(|whole| Failure::Usage(format!("{} is not UTF-8", whole.display())))
}

/// The settings with paths that mean the same to the bridge, which runs in another directory.
pub fn settings(typed: &SandboxSettings, here: &Path) -> Result<SandboxSettings, Failure> {
    let all = |paths: &Option<Vec<String>>| paths.as_ref().map(|paths| absolutes(paths, here)).transpose();
    Ok(SandboxSettings {
        read: all(&typed.read)?,
        write: all(&typed.write)?,
        sockets: all(&typed.sockets)?,
        ..typed.clone()
    })
}

/// The whole paths.
pub fn absolutes(paths: &[String], here: &Path) -> Result<Vec<String>, Failure> {
    let one = |path: &String| match path.starts_with("~/") {
        // Behind `=` shells leave it.
        true => Err(Failure::Usage(format!(
            "{path}: only the shell replaces `~`; write it at the start of a word, or use $HOME"
        ))),
        false => absolute(path, here),
    };
    paths.iter().map(one).collect()
}

/// The path that a shell would have made of `~/notes`.
pub fn at_home(path: &str) -> String {
    let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, env::var("HOME")) {
        (Some(rest), Ok(home)) if Path::new(&home).is_absolute() => format!("{home}{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_filled_in_where_a_shell_has_not() {
        let home = env::var("HOME").unwrap();
        assert_eq!(at_home("~/notes"), format!("{home}/notes"));
        assert_eq!((at_home("~bob/x").as_str(), at_home("a~").as_str()), ("~bob/x", "a~"));
    }
}
