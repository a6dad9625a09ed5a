//! What the bridge tells unasked about servers: changes of state, and log lines. Both are waited for in the order
//! in which they come; what comes before the one that is waited for is dropped.

use std::time::{Duration, Instant};

use harbor_ipc_proto::client::{McpGetLogs, ServerEvent, ServerLog, WatchServers};
use harbor_ipc_proto::field::Message as _;
use serde_json::Value;

use super::{Client, all_shown, server_id, shown, typed};
use crate::LIMIT;

impl Client {
    /// Begins `server_event` pushes; returns the servers from which they begin.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn watch(&self) -> Vec<Value> {
        let answer = self.reply(&WatchServers { watch: None }).expect("servers can be watched");
        assert!(answer.watching, "{answer:?}");
        all_shown(&answer.servers)
    }

    /// Waits for a change of a server that is as wanted. Needs [`watch`](Self::watch).
    ///
    /// # Panics
    /// When none comes; says which came instead.
    #[must_use]
    pub fn wait_for_event(&self, wanted: impl FnMut(&Value) -> bool) -> Value {
        self.wait_for_event_within(LIMIT, wanted)
    }

    /// The same, within a limit of its own.
    ///
    /// # Panics
    /// When none comes in time; says which came instead.
    #[must_use]
    pub fn wait_for_event_within(&self, limit: Duration, wanted: impl FnMut(&Value) -> bool) -> Value {
        self.wait_for_push(ServerEvent::TAG, limit, wanted)
    }

    /// Waits until the server `id` is in this state; returns the change. Needs [`watch`](Self::watch).
    ///
    /// # Panics
    /// When it does not come to that.
    #[must_use]
    pub fn wait_for_state(&self, id: &str, state: &str) -> Value {
        self.wait_for_event(|event| {
            let event: ServerEvent = typed(event);
            event.server_id == id && event.new_state == state
        })
    }

    /// Begins `server_log` pushes of the server `id`; returns the lines so far.
    ///
    /// # Panics
    /// When there is no such server.
    #[must_use]
    pub fn follow(&self, id: &str) -> Vec<Value> {
        let ask = McpGetLogs { server_id: server_id(id), limit: None, follow: Some(true) };
        all_shown(&self.reply(&ask).expect("the server is known").logs)
    }

    /// Waits for a log line that is as wanted. Needs [`follow`](Self::follow).
    ///
    /// # Panics
    /// When none comes; says which came instead.
    #[must_use]
    pub fn wait_for_log(&self, wanted: impl FnMut(&Value) -> bool) -> Value {
        self.wait_for_push(ServerLog::TAG, LIMIT, wanted)
    }

    /// How the server `id` last ended without being told to: an `Exit`, or null.
    #[must_use]
    pub fn exit(&self, id: &str) -> Value {
        self.server_view(id).last_exit.as_ref().map_or(Value::Null, |exit| shown(exit))
    }

    /// Waits for a push of this type that is as wanted.
    ///
    /// # Panics
    /// When none comes in time; says which came instead.
    #[must_use]
    pub fn wait_for_push(&self, tag: &str, limit: Duration, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let until = Instant::now() + limit;
        let mut others = Vec::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Some(push) = self.await_some(left, |inbox| inbox.push(tag)) else {
                panic!("no push `{tag}` of the wanted kind within {limit:?}; what came: {others:#?}");
            };
            if wanted(&push) {
                return push;
            }
            others.push(push);
        }
    }
}
