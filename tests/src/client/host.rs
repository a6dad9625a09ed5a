//! Speaking for an origin, and connecting as each kind of client.
//!
//! Owns the fields `origin`, `profile` and `tab_id` of a [`Speaker`], so that a test says once who asks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use harbor_ipc_proto::client::{
    Attach, GrantChanged, Hello, HostCallTool, HostGetAudit, HostGetPermissions, HostGrantPermission,
    HostListAllPermissions, HostListTools, HostRevokePermission, HostWatch, ToolDescriptor,
};
use harbor_ipc_proto::field::{Ask, Message as _};
use serde_json::{Value, json};

use super::{Answer, Client, ErrorValue, Pending, all_shown, attach_fields, shown, typed};
use crate::{Home, LIMIT};

/// The scope that listing tools needs.
pub const LIST: &str = "mcp:tools.list";

/// The scope that calling tools needs.
pub const CALL: &str = "mcp:tools.call";

/// An origin, as one connection speaks for it. Requests that need no origin have these fields too.
#[derive(Debug, Clone)]
pub struct Speaker {
    client: Client,
    who: Value,
}

impl Client {
    /// Over the local socket of `home`, with these fields of `attach` (`role` and so on).
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn attach_as(home: &Home, role: &Value) -> Self {
        let client = Self::over_socket(home.dial());
        client.call(Attach::TAG, &joined(&attach_fields(home), role)).expect("the bridge accepts the role");
        client
    }

    /// As an AI client of this name.
    #[must_use]
    pub fn attach_ai(home: &Home, name: &str) -> Self {
        Self::attach_as(home, &json!({"role": "mcp", "client": name}))
    }

    /// As a browser's extension, which has said hello for this browser session.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn attach_browser(home: &Home, session: &str) -> Self {
        let client = Self::attach_as(home, &json!({"role": "relay", "extension_id": "abc"}));
        let hello = Hello {
            protocol: None,
            client: None,
            chunks: None,
            max_frame: None,
            browser_session: Some(session.to_owned()),
        };
        client.reply(&hello).expect("a session may be named once");
        client
    }

    /// Speaks for whom these fields name: `origin`, `profile`, `tab_id`. An AI client needs none.
    #[must_use]
    pub fn speaking(&self, who: &Value) -> Speaker {
        Speaker { client: self.clone(), who: who.clone() }
    }

    /// Speaks for an origin.
    #[must_use]
    pub fn speaking_for(&self, origin: &str) -> Speaker {
        self.speaking(&json!({"origin": origin}))
    }

    /// Begins `grant_changed`, `tools_changed` and `tool_changed` pushes.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn watch_host(&self) {
        self.reply(&HostWatch { watch: None }).expect("everybody may watch");
    }

    /// The next change of a grant. Needs [`watch_host`](Self::watch_host).
    ///
    /// # Panics
    /// When none comes.
    #[must_use]
    pub fn next_grant_change(&self) -> Value {
        self.next_push(GrantChanged::TAG, LIMIT)
    }

    /// All grants of all origins.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn all_grants(&self) -> Vec<Value> {
        let ask = HostListAllPermissions { profile: None, tab_id: None };
        all_shown(&self.reply(&ask).expect("the owner may see them").grants)
    }

    /// Lines of the audit log.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn audit(&self, query: &Value) -> Vec<Value> {
        let answer = self.reply(&typed::<HostGetAudit>(query)).expect("the owner may read the log");
        serde_json::from_str(answer.records.as_str()).expect("an array")
    }
}

impl Speaker {
    /// The same one, with these fields besides.
    #[must_use]
    pub fn with(&self, more: &Value) -> Self {
        Self { client: self.client.clone(), who: joined(&self.who, more) }
    }

    /// Sends a request.
    pub fn send(&self, tag: &str, fields: &Value) -> Pending {
        self.client.request(tag, &joined(&self.who, fields))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn ask(&self, tag: &str, fields: &Value) -> Result<Answer, ErrorValue> {
        self.send(tag, fields).wait(LIMIT)
    }

    /// Sends a request that has no more than who asks and these fields, and reads its reply.
    fn reply<A: Ask>(&self, fields: &Value) -> Result<A::Reply, ErrorValue> {
        self.ask(A::TAG, fields).map(|answer| answer.reads())
    }

    /// Sends a tool call.
    pub fn send_tool(&self, tool: &str, arguments: &Value) -> Pending {
        self.send(HostCallTool::TAG, &json!({"tool_name": tool, "args": arguments}))
    }

    /// Calls a tool, `server/tool`.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn tool(&self, tool: &str, arguments: &Value) -> Result<Answer, ErrorValue> {
        self.send_tool(tool, arguments).wait(LIMIT)
    }

    /// What a quick call of a tool comes to: `ok`, or the code of its error.
    #[must_use]
    pub fn try_tool(&self, tool: &str) -> String {
        self.tool(tool, &json!({})).map_or_else(|error| error.code, |_| "ok".into())
    }

    /// The names of the tools that it may know of.
    ///
    /// # Errors
    /// What the bridge answered.
    ///
    /// # Panics
    /// When the answer has another form.
    pub fn tools(&self) -> Result<Vec<String>, ErrorValue> {
        let answer = self.reply::<HostListTools>(&json!({}))?;
        let tools: Vec<Value> = serde_json::from_str(answer.tools.to_json().as_str()).expect("an array");
        Ok(tools.iter().map(|tool| typed::<ToolDescriptor>(tool).name).collect())
    }

    /// Grants it something; gives the grant.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn grant(&self, scope: &str, grant_type: &str, more: &Value) -> Value {
        let fields = joined(&json!({"scope": scope, "grant_type": grant_type}), more);
        let answer = self.reply::<HostGrantPermission>(&fields).expect("this can be granted");
        assert!(answer.granted, "{answer:?}");
        shown(&answer.grant)
    }

    /// Takes grants back: of one type, or of all. Gives whether there were any.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn revoke(&self, scope: &str, grant_type: Option<&str>) -> bool {
        let one = grant_type.map_or_else(|| json!({}), |grant_type| json!({"grant_type": grant_type}));
        let answer = self.reply::<HostRevokePermission>(&joined(&json!({"scope": scope}), &one));
        answer.expect("this can be revoked").revoked
    }

    /// Its grants.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn grants(&self) -> Vec<Value> {
        let answer = self.reply::<HostGetPermissions>(&json!({})).expect("it may see its own");
        all_shown(&answer.grants)
    }
}

/// Both objects' fields; where they have the same one, it is the second's.
fn joined(fields: &Value, more: &Value) -> Value {
    let mut both = fields.clone();
    for (name, value) in more.as_object().expect("an object of fields") {
        both[name] = value.clone();
    }
    both
}

/// Milliseconds since 1970, `after` from now.
///
/// # Panics
/// When the clock stands before 1970.
#[must_use]
pub fn wall_clock(after: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    u64::try_from((now + after).as_millis()).expect("not so far away")
}
