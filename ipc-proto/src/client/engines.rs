//! Objects about engines: programs on this machine that Harbor starts, and the files of the models that they run.
//!
//! Owns their form. Must never hold a key.

#![allow(non_snake_case, reason = "some fields' names are those of the Web Agents API")]

use super::define_sent;
use crate::field::Word;

define_sent! {
    /// Objects about engines.
    ENGINE_OBJECTS:
    /// The engines, and the files of models.
    "SetupStatus" SetupStatus {
        /// True if an engine runs.
        available: bool,
        /// The type of the first engine that runs: `llamafile` or `llama-server`.
        runningProvider: Option<Word>,
        /// Its address.
        runningUrl: Option<String>,
        /// The model that it runs: `provider:model`.
        activeModel: Option<String>,
        /// The names of the fetched models.
        downloadedModels: Vec<String>,
        /// The files of the fetched models.
        files: Vec<ModelFileView>,
        /// The engines that were started once.
        engines: Vec<EngineView>,
        /// The memory that engines may take on this machine, in bytes.
        memory_bytes: Option<u64>,
    }
    /// The file of a fetched model.
    "ModelFile" ModelFileView {
        /// Its name: `modelId` of other requests.
        modelId: String,
        /// Its size.
        bytes: u64,
        /// Roughly the memory that it takes with a conversation of 8,192 tokens, in bytes.
        memory_bytes: u64,
    }
    /// An engine.
    "Engine" EngineView {
        /// The id of its provider.
        provider: String,
        /// The file that it runs.
        file: String,
        /// Where it is in its life, as `state` of a server.
        state: Word,
        /// Its address, once it was started.
        url: Option<String>,
        /// Its process id, while it runs.
        pid: Option<u32>,
        /// Why it ended without being told to; absent otherwise.
        last_error: Option<String>,
    }
}
