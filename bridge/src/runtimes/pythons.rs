//! The interpreters of Python that are installed on this machine.
//!
//! Owns the search, and the question to each. `policy::pythons` says where they may be and which one counts. Must never be called
//! where the loop waits, nor without need: each one that is found is started once, and may take as long as a program that is
//! asked for its version.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use harbor_policy::pythons::{Python, QUESTION, answer, directories, files, kept_by_uv};

use super::{FoundRuntimes, VERSION_LIMIT, ask, is_program, names, variable};

/// The most of them that are asked.
const MOST: usize = 32;

/// All interpreters that an environment can be made of.
#[must_use]
pub fn installed(looked: &FoundRuntimes) -> Vec<Python> {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let home = home.as_deref().and_then(Path::to_str);
    let in_it = |dir: String| names(Path::new(&dir)).into_iter().map(move |name| (dir.clone(), name));
    let of_uv: Vec<_> = kept_by_uv(home, variable).into_iter().flat_map(in_it).collect();
    let directories = directories(&looked.places, home, &of_uv);
    let all = directories.iter().flat_map(|dir| files().map(move |name| format!("{dir}/{name}")));
    // One has several names; a script that finds one out is none.
    let real = all.filter(|path| is_program(path)).filter_map(|path| Path::new(&path).canonicalize().ok());
    let real: BTreeSet<PathBuf> = real.filter(|path| !is_script(path)).collect();
    real.iter().take(MOST).filter_map(|path| asked(path, &looked.path)).collect()
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    let read =
        std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_err() || start == *b"#!"
}

/// Asks an interpreter, without what the person's settings and the directory would have it load.
fn asked(path: &Path, search_path: &str) -> Option<Python> {
    let mut command = Command::new(path);
    command.args(["-I", "-c", QUESTION]).env("PATH", search_path);
    let version = answer(&ask(command, VERSION_LIMIT, |said| said.contains('\n'))?)?;
    Some(Python { path: path.to_str()?.to_owned(), version })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_only_finds_an_interpreter_out_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let shim = dir.path().join("python3.13");
        fs::write(&shim, "#!/bin/sh\necho python 3.13.0 final cpython own\n").unwrap();
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(asked(&shim, "").is_some() && is_script(&shim));
        assert!(!is_script(Path::new("/bin/sh")) && is_script(&dir.path().join("none")));
        assert_eq!(asked(Path::new("/bin/false"), ""), None);
    }
}
