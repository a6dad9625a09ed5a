//! The supervisor as engines need it: programs that run models.
//!
//! Owns their names among servers. Must never put one into the table: no client calls it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::{NetworkKind, SandboxSettings, Supervision};
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::program::JS_RUNNER;

use super::Supervisor;
use super::server::{EngineOf, Server};
use crate::store::definitions::{Definition, Stored};

impl Supervisor {
    /// An engine, which does not run yet. Its log is under its name, which no server may have.
    #[must_use]
    pub fn engine(&self, name: &str, definition: Definition, of: EngineOf) -> Option<Rc<Server>> {
        let server_id = ServerId::of_engine(name)?;
        let stored = Stored { server_id, definition, era: None };
        Some(Server::as_engine(stored, self.runners.clone(), of))
    }

    /// The program that fetches files, as [`Server::fetch_aside`] runs it: with these words, below this directory.
    #[must_use]
    pub fn fetcher(
        &self,
        name: &str,
        args: Vec<String>,
        root: PathBuf,
        sandbox: SandboxSettings,
    ) -> Option<Rc<Server>> {
        let command = self.runners.executables.fetcher().to_string_lossy().into_owned();
        let definition = Definition { sandbox, ..own_program(command, args) };
        let of = EngineOf { root, models: None, key: Secret::default(), launched: Rc::new(|_| ()) };
        self.engine(name, definition, of)
    }

    /// A script that runs once, as [`Server::run_code`] runs it, below this directory: with this text, and no network.
    #[must_use]
    pub fn script(&self, name: &str, text: String, busy: Duration, root: PathBuf) -> Option<Rc<Server>> {
        let args = vec!["/code.js".into(), "--busy".into(), busy.as_secs().to_string()];
        let sandbox = SandboxSettings { network: Some(NetworkKind::None), ..SandboxSettings::default() };
        let definition =
            Definition { sandbox, script: Some(text), ..own_program(JS_RUNNER.to_owned(), args) };
        let of = EngineOf { root, models: None, key: Secret::default(), launched: Rc::new(|_| ()) };
        self.engine(name, definition, of)
    }

    /// The directory of scripts that run once.
    #[must_use]
    pub fn scripts_directory(&self) -> PathBuf {
        self.runners.shared.paths.scripts()
    }

    /// The directory of pages that are being fetched.
    #[must_use]
    pub fn pages_directory(&self) -> PathBuf {
        self.runners.shared.paths.pages()
    }

    /// The directory of an engine.
    #[must_use]
    pub fn engine_root(&self, name: &str) -> PathBuf {
        self.runners.shared.paths.engine(name)
    }

    /// The directory of the fetched models.
    #[must_use]
    pub fn models_directory(&self) -> PathBuf {
        self.runners.shared.paths.models()
    }
}

/// The definition of a program of Harbor's own.
fn own_program(command: String, args: Vec<String>) -> Definition {
    Definition {
        command,
        args,
        env: BTreeMap::new(),
        cwd: None,
        label: None,
        roots: Vec::new(),
        supervision: Supervision::default(),
        as_is: true,
        sandbox: SandboxSettings::default(),
        secrets: Vec::new(),
        remote: None,
        image: None,
        script: None,
        module: None,
        install_env: BTreeMap::new(),
        with: Vec::new(),
    }
}
