//! Requests on behalf of an origin: who asks, and what for, in one line each.

use harbor_ipc_proto::client::{
    HostCallTool, HostCreateRun, HostGetRun, HostGetStats, HostGrantPermission, HostListTools, ToolDescriptor,
};
use harbor_ipc_proto::field::Ask;
use harbor_ipc_proto::field::Message as _;
use serde_json::{Map, Value, json};

use super::{Answer, Client, ErrorValue, Pending, shown, typed};
use crate::LIMIT;

/// An origin that asks over a connection.
#[derive(Debug, Clone)]
pub struct Asker {
    client: Client,
    who: Map<String, Value>,
}

impl Client {
    /// Asks as this origin from now on. It may do nothing until it is [`allowed`](Asker::allowed).
    #[must_use]
    pub fn asking(&self, origin: &str) -> Asker {
        let who = Map::from_iter([("origin".to_owned(), json!(origin))]);
        Asker { client: self.clone(), who }
    }
}

impl Asker {
    /// The same origin in a tab.
    #[must_use]
    pub fn in_tab(&self, tab: u64) -> Self {
        self.with("tab_id", json!(tab))
    }

    /// The same origin in a profile.
    #[must_use]
    pub fn in_profile(&self, profile: &str) -> Self {
        self.with("profile", json!(profile))
    }

    /// The same origin over another connection.
    #[must_use]
    pub fn over(&self, client: &Client) -> Self {
        Self { client: client.clone(), who: self.who.clone() }
    }

    fn with(&self, field: &str, value: Value) -> Self {
        let mut who = self.who.clone();
        who.insert(field.to_owned(), value);
        Self { client: self.client.clone(), who }
    }

    /// Sends a request with these fields besides those that say who asks.
    ///
    /// # Panics
    /// When the fields are no object.
    pub fn send(&self, tag: &str, fields: &Value) -> Pending {
        let mut all = self.who.clone();
        all.extend(fields.as_object().expect("an object of fields").clone());
        self.client.request(tag, &Value::Object(all))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn ask(&self, tag: &str, fields: &Value) -> Result<Answer, ErrorValue> {
        self.send(tag, fields).wait(LIMIT)
    }

    /// Sends a request with these fields besides, and reads its reply.
    fn reply<A: Ask>(&self, fields: &Value) -> Result<A::Reply, ErrorValue> {
        self.ask(A::TAG, fields).map(|answer| answer.reads())
    }

    /// Makes a grant: a scope, a type, and further fields.
    ///
    /// # Panics
    /// When the bridge refuses.
    pub fn granted(&self, scope: &str, grant_type: &str, more: &Value) -> &Self {
        let mut fields = json!({"scope": scope, "grant_type": grant_type});
        let more = more.as_object().expect("an object of fields").clone();
        fields.as_object_mut().expect("it was made as one").extend(more);
        self.reply::<HostGrantPermission>(&fields).expect("the grant is valid");
        self
    }

    /// May list and call all tools for good.
    #[must_use]
    pub fn allowed(self) -> Self {
        for scope in ["mcp:tools.list", "mcp:tools.call"] {
            self.granted(scope, "ALLOW_ALWAYS", &json!({}));
        }
        self
    }

    /// Sends a call of the tool `server/tool`.
    pub fn send_call(&self, tool: &str, args: &Value) -> Pending {
        self.send(HostCallTool::TAG, &json!({"tool_name": tool, "args": args}))
    }

    /// Calls the tool `server/tool`.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn call(&self, tool: &str, args: &Value) -> Result<Answer, ErrorValue> {
        self.send_call(tool, args).wait(LIMIT)
    }

    /// Calls it with these further fields.
    ///
    /// # Errors
    /// What the bridge answered.
    pub fn call_with(&self, tool: &str, args: &Value, more: &Value) -> Result<Answer, ErrorValue> {
        self.send_call_with(tool, args, more).wait(LIMIT)
    }

    /// Sends a call with these further fields.
    ///
    /// # Panics
    /// When the fields are no object.
    pub fn send_call_with(&self, tool: &str, args: &Value, more: &Value) -> Pending {
        let mut fields = more.clone();
        fields["tool_name"] = json!(tool);
        fields["args"] = args.clone();
        self.send(HostCallTool::TAG, &fields)
    }

    /// The tools that it may know of.
    ///
    /// # Panics
    /// When it may know of none.
    #[must_use]
    pub fn tools(&self) -> Vec<Value> {
        let answer = self.reply::<HostListTools>(&json!({})).expect("it may list tools");
        serde_json::from_str(answer.tools.to_json().as_str()).expect("an array")
    }

    /// Their names, in the order in which they are listed.
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        self.tools().iter().map(|tool| typed::<ToolDescriptor>(tool).name).collect()
    }

    /// What was counted for it.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn stats(&self) -> Value {
        shown(&self.reply::<HostGetStats>(&json!({})).expect("counts are shown").stats)
    }

    /// Begins a run; gives its id.
    ///
    /// # Panics
    /// When the bridge refuses.
    #[must_use]
    pub fn run(&self, max_calls: u32) -> String {
        self.reply::<HostCreateRun>(&json!({"max_calls": max_calls})).expect("a run begins").run_id
    }

    /// How many calls of a run are left.
    ///
    /// # Panics
    /// When it has no such run.
    #[must_use]
    pub fn remaining(&self, run_id: &str) -> u64 {
        self.reply::<HostGetRun>(&json!({"run_id": run_id})).expect("its own run").remaining.into()
    }
}
