//! The engines and the files of models, as a person sees them.
//!
//! Owns the look at the directory of the fetched models. Must never start anything.

use std::path::Path;

use harbor_ipc_proto::client::{EngineView, ModelFileView, SetupStatus};
use harbor_policy::engine::memory_for;
use harbor_policy::lifecycle::State;

use super::{Engines, KnownEngine, files};
use crate::models::memory_left;

/// Files of the directory that are looked at.
const MAX_FILES: usize = 1024;

/// The conversation for which memory is counted, in tokens.
const CONTEXT: u32 = 8192;

impl Engines {
    /// The engines and files.
    pub async fn status(&self) -> SetupStatus {
        let ours = self.supervisor.models_directory();
        let looked = tokio::task::spawn_blocking(move || (list(&ours), memory_left()));
        let (files, memory_bytes) = looked.await.unwrap_or_default();
        let engines: Vec<_> = self.known.borrow().values().map(|engine| engine.view()).collect();
        let first = self.known.borrow().values().find(|engine| engine.is_running()).cloned();
        let assembled = first.as_ref().and_then(|engine| engine.assembled.borrow().clone());
        SetupStatus {
            available: assembled.is_some(),
            runningProvider: assembled.as_ref().map(|running| running.place.kind.name().into()),
            runningUrl: assembled.as_ref().map(|running| running.url()),
            activeModel: first
                .zip(assembled.as_ref())
                .map(|(engine, running)| format!("{}:{}", engine.row.provider, running.model)),
            downloadedModels: files.iter().map(|file| file.modelId.clone()).collect(),
            files,
            engines,
            memory_bytes,
        }
    }
}

impl KnownEngine {
    fn view(&self) -> EngineView {
        let assembled = self.assembled.borrow();
        let status = assembled.as_ref().map(|engine| engine.server.status());
        EngineView {
            provider: self.row.provider.clone(),
            file: self.row.file.clone(),
            state: status.as_ref().map_or(State::Stopped, |status| status.state).as_str().into(),
            url: assembled.as_ref().map(|engine| engine.url()),
            pid: status.as_ref().and_then(|status| status.pid),
            last_error: status.and_then(|status| Some(status.last_exit?.message.clone())),
        }
    }
}

/// The fetched models, by name.
fn list(ours: &Path) -> Vec<ModelFileView> {
    let entries = ours.read_dir().into_iter().flatten().flatten().take(MAX_FILES);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let found = names.filter_map(|name| Some((files::find(&name, ours).ok()?, name)));
    let view = |(file, name): (files::ModelFile, String)| ModelFileView {
        modelId: name,
        bytes: file.bytes,
        memory_bytes: memory_for(file.bytes, CONTEXT),
    };
    let mut all: Vec<_> = found.map(view).collect();
    all.sort_by(|a, b| a.modelId.cmp(&b.modelId));
    all
}
