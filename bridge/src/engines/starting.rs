//! Engines that are started, stopped and forgotten.
//!
//! Owns the order: an engine runs before its provider is added, and what did not come up leaves nothing behind. Must never
//! start a file twice.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;

use super::errors::{nothing, off_the_loop, unstored};
use super::{Assembled, Engines, KnownEngine, files};
use crate::host::start_failed;
use crate::store::engines::EngineRow;
use crate::store::removal::remove_tree;
use crate::supervisor::StartListener;

/// How long an engine may take to load a model, in milliseconds, where nobody says.
const START_MS: u64 = 300_000;

/// A model that a person wants to have started.
#[derive(Debug)]
pub struct EngineOrder {
    /// The path of a file, the name of a fetched one, or the id of an engine.
    pub model: String,
    /// The program that runs it.
    pub program: Option<String>,
    /// The most tokens of a conversation.
    pub context: Option<u32>,
    /// Device nodes that it may use.
    pub devices: Vec<String>,
    /// The most memory that it may take, in MiB.
    pub memory_mb: Option<u64>,
    /// True if it may have the network, where it cannot listen at a Unix socket.
    pub network: bool,
    /// How long it may take to load.
    pub start_timeout_ms: Option<u64>,
}

/// An engine that runs.
#[derive(Debug)]
pub struct StartedEngine {
    /// The id of its provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// Its address.
    pub url: String,
    /// The options that it lacks.
    pub left_out: Vec<&'static str>,
}

impl Engines {
    /// Starts an engine, and waits until it has loaded its model. One that runs already is given as it is.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn start(
        self: &Rc<Self>,
        order: EngineOrder,
        note: Option<StartListener>,
    ) -> Result<StartedEngine, ErrorBody> {
        let _turn = self.starting.lock().await;
        let (engine, is_new) = self.engine_for(order).await?;
        let provider = engine.row.provider.clone();
        let before = self.known.borrow_mut().insert(provider.clone(), engine.clone());
        let started = self.started(&engine, note).await;
        if started.is_err() && is_new {
            self.put_back(&provider, before).await;
        }
        let assembled = started?;
        self.table.put(&engine.row).await.map_err(|error| unstored(&error))?;
        self.models.add_engine(&provider, &assembled.model, &assembled.place).await?;
        let (model, left_out) = (assembled.model.clone(), assembled.left_out.clone());
        Ok(StartedEngine { provider, model, url: assembled.url(), left_out })
    }

    async fn started(
        &self,
        engine: &Rc<KnownEngine>,
        note: Option<StartListener>,
    ) -> Result<Rc<Assembled>, ErrorBody> {
        let assembled = self.assembled(engine).await?;
        let started = assembled.server.start(note).await;
        started.map_err(|error| start_failed(assembled.server.id(), &error))?;
        Ok(assembled)
    }

    /// The engine that is meant, and true if nobody has started it before.
    async fn engine_for(&self, order: EngineOrder) -> Result<(Rc<KnownEngine>, bool), ErrorBody> {
        let by_id = self.get(&order.model);
        let said = by_id.as_ref().map_or(order.model, |engine| engine.row.file.clone());
        let ours = self.supervisor.models_directory();
        let file = off_the_loop(move || files::find(&said, &ours)).await?;
        let of_file = || self.known.borrow().values().find(|engine| engine.row.file == file.path).cloned();
        let before = by_id.or_else(of_file);
        let old = before.as_ref().map(|engine| engine.row.clone());
        let row = EngineRow {
            provider: match &old {
                Some(row) => row.provider.clone(),
                None => self.models.id_for_engine(&files::model_name(&file.path))?,
            },
            file: file.path,
            program: order.program.or_else(|| old.as_ref()?.program.clone()),
            context: order.context.or_else(|| old.as_ref()?.context),
            devices: match (order.devices.is_empty(), &old) {
                (true, Some(row)) => row.devices.clone(),
                _ => order.devices,
            },
            memory_mb: order.memory_mb.or_else(|| old.as_ref()?.memory_mb),
            network: order.network || old.as_ref().is_some_and(|row| row.network),
            start_timeout_ms: order
                .start_timeout_ms
                .or_else(|| old.as_ref().map(|row| row.start_timeout_ms))
                .unwrap_or(START_MS),
        };
        match before {
            Some(engine) if engine.row == row => Ok((engine, false)),
            Some(engine) => {
                // Other settings are for another start.
                self.end(&engine).await;
                Ok((Rc::new(KnownEngine::of(row)), true))
            }
            None => Ok((Rc::new(KnownEngine::of(row)), true)),
        }
    }

    /// Stops an engine, or all of them where none is named. Gives those that ran.
    ///
    /// # Errors
    /// When there is no such engine.
    pub async fn stop(&self, provider: Option<&str>) -> Result<Vec<String>, ErrorBody> {
        let all: Vec<_> = match provider {
            Some(id) => vec![self.get(id).ok_or_else(|| nothing(format!("there is no engine {id:.64}")))?],
            None => self.known.borrow().values().cloned().collect(),
        };
        let mut stopped = Vec::new();
        for engine in all {
            if self.end(&engine).await {
                stopped.push(engine.row.provider.clone());
            }
        }
        Ok(stopped)
    }

    /// Forgets the engine of a provider that was removed, and ends it.
    ///
    /// # Errors
    /// When it could not be stored.
    pub async fn forget(&self, provider: &str) -> Result<(), ErrorBody> {
        let Some(engine) = self.known.borrow_mut().remove(provider) else { return Ok(()) };
        self.end(&engine).await;
        self.clear(provider).await;
        self.table.remove(provider).await.map_err(|error| unstored(&error))
    }

    /// An engine did not come up: the one before it is there again, or nothing of it.
    async fn put_back(&self, provider: &str, before: Option<Rc<KnownEngine>>) {
        self.known.borrow_mut().remove(provider);
        match before {
            Some(before) => drop(self.known.borrow_mut().insert(provider.to_owned(), before)),
            None => self.clear(provider).await,
        }
    }

    /// Removes an engine's own directory.
    async fn clear(&self, provider: &str) {
        let root = self.supervisor.engine_root(provider);
        let removed = tokio::task::spawn_blocking(move || remove_tree(&root)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(engine = provider, %error, "its directory could not be removed");
        }
    }

    /// True if it was up.
    async fn end(&self, engine: &KnownEngine) -> bool {
        let assembled = engine.assembled.borrow().clone();
        let Some(assembled) = assembled else { return false };
        let was_up = assembled.server.stop();
        assembled.server.down().await;
        was_up
    }
}
