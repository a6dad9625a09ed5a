//! Engines as requests to them see them: where one answers, and how it is reached.
//!
//! Owns the form of the question; who starts engines answers it. Must never know a request.

use std::any::Any;
use std::pin::Pin;

use harbor_ipc_proto::link::model::Target;
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_ipc_proto::secret::Secret;

/// Where an engine answers.
#[derive(Debug, Clone)]
pub struct EnginePlace {
    /// Its kind of provider.
    pub kind: Kind,
    /// Its address.
    pub base_url: String,
    /// The path of its Unix socket, if it listens at one.
    pub socket: Option<String>,
    /// Its key.
    pub key: Secret,
}

/// An engine that runs, and that is in use until this is dropped.
#[derive(Debug)]
pub struct EngineReach {
    /// Where it answers.
    pub place: EnginePlace,
    /// Keeps it in use.
    pub in_use: Box<dyn Any>,
}

/// A sentence on why an engine cannot be asked.
#[derive(Debug)]
pub struct EngineDown(pub String);

/// An engine that is reached, once it runs.
pub type Reaching<'a> = Pin<Box<dyn Future<Output = Result<EngineReach, EngineDown>> + 'a>>;

/// Has engines.
pub trait LocalEngines {
    /// Has the engine of a provider run; none where the provider is no engine.
    fn reach<'a>(&'a self, provider: &'a str) -> Option<Reaching<'a>>;

    /// The model of an engine that does not run; none where the provider is no engine, or runs.
    fn at_rest(&self, provider: &str) -> Option<String>;
}

impl EnginePlace {
    /// The way to it, for the model worker.
    pub(super) fn target(&self, provider: &str) -> Target {
        Target {
            provider: provider.to_owned(),
            kind: self.kind,
            dialect: Dialect::Chat,
            base_url: self.base_url.clone(),
            allow_private: false,
            key: Some(self.key.clone()),
            socket: self.socket.clone(),
        }
    }
}
