//! Engines: programs on this machine that run a model, started and ended by Harbor.
//!
//! ```text
//!  models start FILE ─► file looked at ─► the program's own --help, in its sandbox ─► policy::engine: its command line
//!      ─► supervisor: a server without MCP ─► /health, asked by the model worker ─► a provider, which `models` asks
//!  a request to that provider ─► runs? ─ no ─► started, unless the person has stopped it ─► its socket and its key
//! ```
//!
//! An engine is a run of the supervisor's own machinery, so its life, limits, log, restarts and end are those of a server. It is
//! not in the table of servers: nobody calls its tools. It has no network: it answers at a Unix socket in its own directory, with
//! a key that each start finds in a file there. One that takes no socket gets a port of 127.0.0.1. Its provider is a row like any
//! other's, and only the way to it is different (`models/local`).
//!
//! Owns which engines there are. Must never connect to one, nor start one whose options are not known by its own words.

mod assembling;
mod errors;
mod files;
mod pulling;
mod showing;
mod starting;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_policy::lifecycle::State;

use crate::models::{EngineDown, EnginePlace, EngineReach, LocalEngines, Models, Reaching};
use crate::store::StoreError;
use crate::store::engines::{EngineRow, EngineTable};
use crate::supervisor::{Server, Supervisor};

pub use self::pulling::PullOrder;
pub use self::starting::{EngineOrder, StartedEngine};

/// An engine, with its command line.
#[derive(Debug)]
struct Assembled {
    server: Rc<Server>,
    place: EnginePlace,
    /// The model's name in requests.
    model: String,
    /// The options that it lacks.
    left_out: Vec<&'static str>,
}

/// An engine that the person has started once.
#[derive(Debug)]
struct KnownEngine {
    row: EngineRow,
    /// None until this bridge has needed it.
    assembled: RefCell<Option<Rc<Assembled>>>,
}

/// All engines.
#[derive(Debug)]
pub struct Engines {
    supervisor: Rc<Supervisor>,
    models: Rc<Models>,
    table: EngineTable,
    known: RefCell<BTreeMap<String, Rc<KnownEngine>>>,
    /// Held while one is started: two starts of one file are one engine.
    starting: tokio::sync::Mutex<()>,
    /// Held while one is asked for its options.
    assembling: tokio::sync::Mutex<()>,
    /// The names of files that are being fetched.
    pulling: RefCell<BTreeSet<String>>,
    this: Weak<Self>,
}

impl Engines {
    /// The engines of this home. None of them runs.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn open(
        supervisor: Rc<Supervisor>,
        models: Rc<Models>,
        table: EngineTable,
    ) -> Result<Rc<Self>, StoreError> {
        let known = |row: EngineRow| (row.provider.clone(), Rc::new(KnownEngine::of(row)));
        let known = table.all().await?.into_iter().map(known).collect();
        Ok(Rc::new_cyclic(|this| Self {
            supervisor,
            models,
            table,
            known: RefCell::new(known),
            starting: tokio::sync::Mutex::default(),
            assembling: tokio::sync::Mutex::default(),
            pulling: RefCell::default(),
            this: this.clone(),
        }))
    }

    /// The engine whose log has this id.
    #[must_use]
    pub fn by_log(&self, id: &str) -> Option<Rc<Server>> {
        self.running()
            .into_iter()
            .map(|engine| engine.server.clone())
            .find(|server| server.id().as_str() == id)
    }

    /// Ends all of them; whoever waits for their ends is the supervisor.
    pub fn stop_all(&self) {
        for engine in self.running() {
            engine.server.stop();
        }
    }

    fn get(&self, provider: &str) -> Option<Rc<KnownEngine>> {
        self.known.borrow().get(provider).cloned()
    }

    /// All that this bridge has needed.
    fn running(&self) -> Vec<Rc<Assembled>> {
        self.known.borrow().values().filter_map(|known| known.assembled.borrow().clone()).collect()
    }

    /// Has the model worker say when a start of an engine is ready.
    async fn await_start(self: Rc<Self>, provider: String, start: u32) {
        let Some(engine) = self.get(&provider) else { return };
        let Some(assembled) = engine.assembled.borrow().clone() else { return };
        let limit = Duration::from_millis(engine.row.start_timeout_ms);
        let server = &assembled.server;
        tokio::select! {
            ready = self.models.until_ready(&provider, &assembled.place, limit) => match ready {
                Ok(()) => server.is_ready(start),
                Err(failure) => {
                    tracing::warn!(engine = provider, cause = failure.cause.name(), "not ready");
                    server.is_unready(start);
                }
            },
            // It has ended, or was stopped.
            () = server.not_starting() => {}
        }
    }

    async fn reached(&self, engine: &Rc<KnownEngine>) -> Result<EngineReach, EngineDown> {
        let assembled = self.assembled(engine).await.map_err(|error| EngineDown(error.message))?;
        let in_use = assembled.server.up().await.map_err(|down| errors::down(&engine.row, &down))?;
        Ok(EngineReach { place: assembled.place.clone(), in_use: Box::new(in_use) })
    }
}

impl Assembled {
    /// Its address, for people.
    fn url(&self) -> String {
        self.place.socket.as_ref().map_or_else(|| self.place.base_url.clone(), |path| format!("unix:{path}"))
    }
}

impl KnownEngine {
    fn of(row: EngineRow) -> Self {
        Self { row, assembled: RefCell::default() }
    }

    fn is_running(&self) -> bool {
        self.assembled.borrow().as_ref().is_some_and(|engine| engine.server.state() == State::Running)
    }
}

impl LocalEngines for Engines {
    fn reach<'a>(&'a self, provider: &'a str) -> Option<Reaching<'a>> {
        let engine = self.get(provider)?;
        Some(Box::pin(async move { self.reached(&engine).await }))
    }

    fn at_rest(&self, provider: &str) -> Option<String> {
        let engine = self.get(provider).filter(|engine| !engine.is_running())?;
        Some(files::model_name(&engine.row.file))
    }
}
