//! The error codes that clients see. They are defined here and nowhere else.
//!
//! Codes in lower case say that the request was wrong or could not be assigned. `ERR_` codes say how a tool call ended.
//! Each has an integer for the `rpc` envelope, in JSON-RPC's ranges.

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal, $int:literal;)*) => {
        /// An error code: a word that programs can rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[doc = $doc])* $name,)* }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The integer for `rpc_response.error.code`.
            #[must_use]
            pub fn rpc(self) -> i32 {
                match self { $(Self::$name => $int,)* }
            }

            /// One sentence for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),*),)* }
            }
        }
    };
}

codes! {
    /// The frame is no JSON object, or lacks `type` or `request_id`.
    InvalidMessage = "invalid_message", -32600;
    /// Harbor has no message of this type; `details.received_type` repeats it.
    UnknownMessageType = "unknown_message_type", -32601;
    /// A field is missing or wrong; `details.field` and `details.expected` say which and what.
    InvalidParams = "invalid_params", -32602;
    /// A frame is over the limit: that of the bridge for requests, that of the client for answers.
    MessageTooLarge = "message_too_large", -32005;
    /// Another request with this id is still open; `details.request_id` repeats the id. That request goes on.
    DuplicateRequestId = "duplicate_request_id", -32006;
    /// The request was cancelled by its own client.
    Cancelled = "cancelled", -32007;
    /// There is no server, or no run, with this id.
    NotFound = "not_found", -32004;
    /// The server is not connected, and the request does not start it.
    NotConnected = "not_connected", -32003;
    /// The server could not be started or contacted; `details.cause` says why.
    ConnectionFailed = "connection_failed", -32001;
    /// The first frame did not prove who is calling.
    Unauthorized = "unauthorized", -32008;
    /// The versions of client and bridge do not fit each other.
    VersionMismatch = "version_mismatch", -32009;
    /// The bridge cannot be reached or started. Harbor's own programs say this, not the bridge.
    BridgeUnreachable = "bridge_unreachable", -32011;
    /// The bridge is shutting down.
    ShuttingDown = "shutting_down", -32010;
    /// The caller may not send this message, or the person has denied the origin what it asked for.
    PermissionDenied = "ERR_PERMISSION_DENIED", -32020;
    /// The server is not running, or ended during the call. `details.cause` says why. `sent` says whether the call had
    /// reached it (it is never sent again), and `next_retry` when the server is tried again.
    ServerUnavailable = "ERR_SERVER_UNAVAILABLE", -32021;
    /// The server did not answer in time; it was told to stop working on the call.
    ToolTimeout = "ERR_TOOL_TIMEOUT", -32022;
    /// The server answered with a JSON-RPC error, repeated in `details`, or cannot do what was asked.
    ToolFailed = "ERR_TOOL_FAILED", -32023;
    /// The server's answer breaks the protocol.
    ProtocolError = "ERR_PROTOCOL_ERROR", -32024;
    /// Too many requests are open, or came within a minute. `details.retry_after_ms` says when to try again, if that is known.
    RateLimited = "ERR_RATE_LIMITED", -32025;
    /// The person has not allowed the origin this scope (`details.scope`), or no longer does.
    ScopeRequired = "ERR_SCOPE_REQUIRED", -32026;
    /// The server has no tool of that name.
    ToolNotFound = "ERR_TOOL_NOT_FOUND", -32027;
    /// The tool is not among those that the person has allowed the origin (`details.reason` is `allowlist`). Or it has
    /// changed since the person saw it (`tool_changed`). Or its server now runs another program (`server_changed`).
    ToolNotAllowed = "ERR_TOOL_NOT_ALLOWED", -32028;
    /// The run has made all its calls. Or the tokens of the day are used up: `details.retry_after_ms` says when there are more.
    BudgetExceeded = "ERR_BUDGET_EXCEEDED", -32029;
    /// The server needs the person to let Harbor in, or to let it do more there: `harbor auth NAME`.
    AuthorizationRequired = "ERR_AUTHORIZATION_REQUIRED", -32030;
    /// The person was asked to let Harbor in, without success; `details.cause` says why.
    AuthorizationFailed = "ERR_AUTHORIZATION_FAILED", -32031;
    /// A model did not answer, or not completely. `details.cause` is one of these words: `no_model`, `unauthorized`,
    /// `quota`, `rate_limited`, `overloaded`, `context_full`, `refused`, `not_found`, `unreachable`, `timeout`, `cut`,
    /// `protocol`, `worker_lost` or `empty` (the model has ended its answer without a text or a call). `details` also has
    /// `provider`, `model`, the HTTP `status`, `retry_after_ms`, and for `context_full` the model's `context_window` and the
    /// `input_tokens` that the provider has counted, as far as they are known.
    ModelFailed = "ERR_MODEL_FAILED", -32032;
    /// This part of the page API is switched off (`[pages]` in config.toml); `details.feature` names it.
    FeatureDisabled = "ERR_FEATURE_DISABLED", -32033;
    /// The catalog cannot be read or refreshed. `details.cause` is one of these words: `worker_off`, `disabled`,
    /// `worker_failed`, `missing`, `newer`, `corrupt`, `unreadable` or `nothing_to_do`.
    CatalogUnavailable = "catalog_unavailable", -32012;
    /// The secrets are encrypted and their key is not available. Send `unlock_secrets`, or do what the message says.
    SecretsLocked = "secrets_locked", -32013;
    /// Harbor itself failed; the log says more.
    Internal = "ERR_INTERNAL", -32603;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_and_integers_are_unique() {
        let words: HashSet<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        let ints: HashSet<_> = Code::ALL.iter().map(|c| c.rpc()).collect();
        assert_eq!((words.len(), ints.len()), (Code::ALL.len(), Code::ALL.len()));
    }
}
