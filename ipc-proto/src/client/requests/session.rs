//! Requests about the connection and the bridge itself.

use super::super::define_requests;

define_requests! {
    /// Any request about the connection itself. It needs no waiting, and is answered in place.
    ConnectionRequest:
    /// The first frame of a Harbor program on the local socket. It proves with the token of `run/token` that the program
    /// may speak to the bridge, and states its role, once. Not sent on `serve --stdio`.
    "attach" Attach -> AttachResult {
        /// The content of `$HARBOR_HOME/run/token`.
        token: String,
        /// `relay`, `mcp` or `cli`.
        role: String,
        /// The client protocol that the program speaks.
        protocol: Option<u32>,
        /// The program's build, shown when versions do not fit.
        build: Option<String>,
        /// With `relay`: the id of the browser extension, from the arguments that the browser gave.
        extension_id: Option<String>,
        /// With `mcp`: the name of the AI client.
        client: Option<String>,
        /// With `mcp`, for a client that came with a token of its own: an id derived from that token, 64 hexadecimal
        /// digits. Connections with the same name and id are one client's. It is no secret and opens nothing.
        token_id: Option<String>,
    }
    /// Tells the bridge who the client is and what it can take. Optional on a native-messaging port; without it, frames are
    /// limited to 1 MiB and larger answers are errors.
    "hello" Hello -> HelloResult {
        /// The client protocol that the client speaks.
        protocol: Option<u32>,
        /// A name for logs.
        client: Option<String>,
        /// True: answers over `max_frame` may come as `chunk` pushes.
        chunks: Option<bool>,
        /// The largest frame that the client takes, in bytes; at least 4096.
        max_frame: Option<u64>,
        /// For an extension: a random id of the browser's session. For an AI client: the id of its own earlier session in a
        /// browser (`browser_session` with `info`), to continue it.
        browser_session: Option<String>,
    }
    /// Asks whether the bridge is alive.
    "ping" Ping -> PingResult {
        /// Text to send back.
        echo: Option<String>,
    }
    /// Ends an open request of this client. That request is answered with the code `cancelled`, and the server is told.
    "cancel" Cancel -> CancelResult {
        /// The id of the request to end.
        target: String,
    }
}

define_requests! {
    /// Any request about the bridge itself.
    BridgeRequest:
    /// Ends the bridge: servers are stopped, and open requests are answered.
    "shutdown" Shutdown -> ShutdownResult {}
}
