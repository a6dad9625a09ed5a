//! Changes that must not stop half way.
//!
//! Owns that a change goes on when whoever asked for it leaves. Must never begin one by itself.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;

/// The error for a request that is under way while the bridge ends.
#[must_use]
pub fn cut_off() -> ErrorBody {
    let message =
        "the bridge is shutting down. The request may have been performed; Harbor does not repeat it";
    ErrorBody::new(Code::ShuttingDown, message).with_json("sent", Json::from_valid("true".into()))
}

/// Makes a change to its end, even if its client leaves in the middle of it.
///
/// # Errors
/// Why the change was not made, or that the bridge has ended meanwhile.
pub async fn to_the_end<T: 'static>(
    change: impl Future<Output = Result<T, ErrorBody>> + 'static,
) -> Result<T, ErrorBody> {
    let done = tokio::task::spawn_local(change).await;
    done.unwrap_or_else(|_| Err(cut_off()))
}
