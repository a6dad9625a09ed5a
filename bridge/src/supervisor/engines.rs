//! The supervisor as engines need it: programs that run models.
//!
//! Owns their names among servers. Must never put one into the table: no client calls it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::server_id::ServerId;

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
        let definition = Definition {
            command: self.runners.executables.fetcher().to_string_lossy().into_owned(),
            args,
            env: BTreeMap::new(),
            cwd: None,
            label: None,
            roots: Vec::new(),
            supervision: Supervision::default(),
            as_is: true,
            sandbox,
            secrets: Vec::new(),
            remote: None,
            image: None,
            script: None,
            module: None,
            install_env: BTreeMap::new(),
            with: Vec::new(),
        };
        let of = EngineOf { root, models: None, key: Secret::default(), launched: Rc::new(|_| ()) };
        self.engine(name, definition, of)
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
