//! A request to the model worker that has not ended.
//!
//! Must never be sent twice.

use harbor_ipc_proto::link::model::{FromModel, ToModel};
use tokio::sync::mpsc;

/// A request that has not ended.
#[derive(Debug)]
pub(super) struct OpenModelRequest {
    /// The message for a worker that has yet to start.
    pub(super) unsent: Option<ToModel>,
    pub(super) heard: mpsc::UnboundedSender<FromModel>,
}
