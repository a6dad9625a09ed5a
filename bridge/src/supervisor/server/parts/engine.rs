//! The part that makes an engine of a server: a program that runs models and speaks no MCP.
//!
//! Owns the form. Must never change while the engine is there.

use std::path::PathBuf;
use std::rc::Rc;

use harbor_ipc_proto::secret::Secret;

/// The name of the file in an engine's data directory that holds its key.
pub const KEY_FILE: &str = "key";

/// An engine.
#[derive(Clone)]
pub struct EngineOf {
    /// Its own directory: `data` and `tmp` are in it.
    pub root: PathBuf,
    /// The directory of the fetched models, if its file is there: it reads them, as a server reads its package.
    pub models: Option<PathBuf>,
    /// The key without which it answers nobody; empty for a program that answers nobody at all. Each start finds it in
    /// [`KEY_FILE`], whatever became of the file.
    pub key: Secret,
    /// Hears of each start, by its number: whoever hears it says when the engine is ready.
    pub launched: Rc<dyn Fn(u32)>,
}

impl std::fmt::Debug for EngineOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineOf").field("root", &self.root).finish_non_exhaustive()
    }
}
