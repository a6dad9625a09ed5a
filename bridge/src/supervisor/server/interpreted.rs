//! Servers that Harbor's own interpreters run: a script, or a module of WebAssembly.
//!
//! ```text
//!  kept script ─► its file ─► harbor-runner-js FILE …      kept or installed module ─► harbor-runner-wasm FILE --read … --write … …
//! ```
//!
//! Owns where the file is, and that a module gets the directories that its sandbox grants. Must never run a file that is not what
//! was added.

use std::path::{Path, PathBuf};

use harbor_ipc_proto::client::SandboxSettings;
use harbor_policy::program::{JS_RUNNER, WASM_RUNNER};

use super::prepared::Unprepared;
use crate::link::runner::Interpreters;
use crate::store::definitions::Definition;
use crate::store::{modules, scripts};

/// A command and its arguments.
pub(super) type Line = (String, Vec<String>);

/// Where the interpreters and their files are.
pub(super) struct Interpreted {
    /// The directory of the script that Harbor keeps.
    pub script_dir: PathBuf,
    /// The directory of the module that Harbor keeps.
    pub module_dir: PathBuf,
    /// The programs.
    pub programs: Interpreters,
}

impl Interpreted {
    /// Makes what a start needs of a kept script or module. Works on the disk.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub fn prepare(&self, definition: &Definition) -> Result<(), Unprepared> {
        if let Some(script) = &definition.script {
            scripts::write(&self.script_dir, &definition.args, script)
                .map_err(|error| format!("write its script: {error}"))?;
        }
        match definition.module.as_ref().filter(|sha256| !modules::is_there(&self.module_dir, sha256)) {
            Some(sha256) => {
                let file = modules::file(&self.module_dir, sha256);
                Err(format!("{} is gone, or is not the module that was added; add it again", file.display())
                    .into())
            }
            None => Ok(()),
        }
    }

    /// The directory that a server sees because its script or module is there.
    pub fn directory(&self, definition: &Definition) -> Option<&Path> {
        match (&definition.script, &definition.module) {
            (Some(_), _) => Some(&self.script_dir),
            (None, Some(_)) => Some(&self.module_dir),
            (None, None) => None,
        }
    }

    /// The meaning of a command: Harbor's own programs are on no PATH. `data`: the server's own directory.
    pub fn line(&self, definition: &Definition, data: &Path) -> Line {
        let Definition { command, args, script, module, sandbox, .. } = definition;
        match command.as_str() {
            JS_RUNNER if script.is_some() => {
                (text(&self.programs.js), scripts::in_place(&self.script_dir, args))
            }
            JS_RUNNER => (text(&self.programs.js), args.clone()),
            WASM_RUNNER => {
                let own = args.first().map(PathBuf::from).unwrap_or_default();
                let file = module.as_ref().map_or(own, |sha256| modules::file(&self.module_dir, sha256));
                self.of_module(&file, args.get(1..).unwrap_or_default(), sandbox, data)
            }
            _ => (command.clone(), args.clone()),
        }
    }

    /// The meaning of a file that was installed.
    pub fn installed(&self, file: &Path, args: &[String], sandbox: &SandboxSettings, data: &Path) -> Line {
        match file.extension().is_some_and(|end| end == "wasm") {
            true => self.of_module(file, args, sandbox, data),
            false => (text(file), args.to_vec()),
        }
    }

    fn of_module(&self, file: &Path, args: &[String], sandbox: &SandboxSettings, data: &Path) -> Line {
        let mut line = vec![text(file)];
        let data = text(data);
        let write =
            std::iter::once(&data).chain(sandbox.write.iter().flatten()).map(|path| ("--write", path));
        let read = sandbox.read.iter().flatten().map(|path| ("--read", path));
        // A file that is granted is no directory, and what is not there is for the sandbox to say.
        for (option, path) in write.chain(read).filter(|(_, path)| Path::new(path).is_dir()) {
            line.extend([option.to_owned(), path.clone()]);
        }
        line.extend_from_slice(args);
        (text(&self.programs.wasm), line)
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_gets_the_directories_that_are_granted() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).to_string_lossy().into_owned();
        for name in ["data", "notes", "books"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at("file"), "").unwrap();
        let interpreted = Interpreted {
            script_dir: home.path().join("script"),
            module_dir: home.path().join("module"),
            programs: Interpreters { js: "/bin/js".into(), wasm: "/bin/wasm".into() },
        };
        let sandbox = SandboxSettings {
            read: Some(vec![at("books"), at("file")]),
            write: Some(vec![at("notes"), at("gone")]),
            ..SandboxSettings::default()
        };
        let args = ["--memory".to_owned(), "9".to_owned()];
        let (command, line) =
            interpreted.installed("/p/time.wasm".as_ref(), &args, &sandbox, at("data").as_ref());
        assert_eq!(command, "/bin/wasm");
        let (data, notes, books) = (at("data"), at("notes"), at("books"));
        let wanted = ["/p/time.wasm", "--write", &data, "--write", &notes, "--read", &books, "--memory", "9"];
        assert_eq!(line, wanted);
        let native = interpreted.installed("/p/time".as_ref(), &args, &sandbox, at("data").as_ref());
        assert_eq!(native, ("/p/time".to_owned(), args.to_vec()));
    }
}
