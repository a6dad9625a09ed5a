//! What the bridge sends unasked: `{type, …}` with these fields.

use super::define_sent;
use crate::json::Json;

define_sent! {
    /// Every push.
    PUSHES:
    /// A call that was sent with `progress: true` goes on.
    "progress" Progress {
        /// The call's id.
        request_id: String,
        /// How far it is; grows.
        progress: Json,
        /// What `progress` will be at the end, if known.
        total: Option<Json>,
        /// What the server says about it.
        message: Option<String>,
    }
    /// A piece of an answer that is larger than the client's `max_frame`. The pieces of one answer come in
    /// order; joined, they are the answer's frame without its length prefix.
    "chunk" Chunk {
        /// The id of the request that is being answered.
        request_id: String,
        /// Number of this piece, from 0.
        seq: u32,
        /// Whether it is the last one.
        last: bool,
        /// The piece's bytes in base64.
        data: String,
    }
    /// A resource that this client subscribed to has changed.
    "resource_updated" ResourceUpdated {
        /// The server's id.
        server_id: String,
        /// The resource's URI.
        uri: String,
    }
}
