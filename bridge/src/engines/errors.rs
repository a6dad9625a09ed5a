//! The errors about engines: one place for code, sentence and next step.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

use crate::models::EngineDown;
use crate::store::StoreError;
use crate::store::engines::EngineRow;
use crate::supervisor::Unavailable;

/// A field that cannot be followed.
pub(super) fn wrong(field: &'static str, message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, message).with("field", field)
}

/// There is no such engine or file.
pub(super) fn nothing(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(Code::NotFound, message)
}

/// The work on a file could not be done.
pub(super) fn unfetched(name: &str, why: &str) -> ErrorBody {
    ErrorBody::new(Code::ConnectionFailed, format!("{name} was not fetched: {why}"))
        .with("cause", "not_fetched")
}

/// Does work that may take the disk a while.
pub(super) async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ErrorBody> + Send + 'static,
) -> Result<T, ErrorBody> {
    let given_up = |_| Err(ErrorBody::new(Code::Internal, "the look at the disk was given up"));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(given_up)
}

/// An engine could not even be tried.
pub(super) fn unstartable(file: &str, why: &str) -> ErrorBody {
    ErrorBody::new(Code::ConnectionFailed, format!("{file} could not be started: {why}"))
        .with("cause", "spawn_failed")
}

/// A change that could not be stored.
pub(super) fn unstored(error: &StoreError) -> ErrorBody {
    tracing::error!(%error, "what was said of engines could not be stored");
    ErrorBody::new(Code::Internal, format!("could not {error}"))
}

/// A sentence on why an engine does not run that a request needs.
pub(super) fn down(row: &EngineRow, down: &Unavailable) -> EngineDown {
    let EngineRow { provider, .. } = row;
    EngineDown(match &down.last_exit {
        _ if down.queue_full => "too many requests to it are open".into(),
        Some(report) => {
            format!("it does not run: {}; `harbor logs engine.{provider}` has its own words", report.message)
        }
        None => format!("it is stopped; `harbor models start {provider}` starts it"),
    })
}
