//! A tool source without a process: its tools are a list, its calls are futures.
//!
//! Owns the same tools, by name and result, as the test server that it is held against. Writes a journal in the form of that
//! server's. Must never keep a call back that the seam has let through.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::rc::{Rc, Weak};
use std::time::Duration;

use harbor_bridge::host::Host;
use harbor_bridge::host::source::{Answering, DefaultTime, SourceGuard, ToolSource};
use harbor_bridge::link::{Audience, CallError, ServerAnswer, TimeLimit, Tool, ToolList};
use harbor_bridge::supervisor::UnansweredReason;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::Permit;
use harbor_policy::consent::facts::{Holding, Reach};
use harbor_policy::slots::{Slot, Slots};
use sha2::{Digest as _, Sha256};

/// The tools, and what they say of themselves at first.
const TOOLS: [&str; 4] = ["echo", "sleep", "tool_error", "change_tools"];
const BEFORE: &str = "is what it is";
const AFTER: &str = "is another one now";

/// The source.
#[derive(Debug)]
pub struct MemorySource {
    id: SourceId,
    tools: RefCell<Rc<ToolList>>,
    slots: Slots,
    host: Weak<Host>,
}

impl MemorySource {
    /// Adds one to `host`; it is there as long as the guard.
    pub fn add(host: &Rc<Host>, id: &str) -> SourceGuard {
        let id = SourceId::parse(id).expect("the id of a source");
        let tools = RefCell::new(listing(BEFORE));
        let source = Rc::new(Self { id, tools, slots: Slots::new(64), host: Rc::downgrade(host) });
        let added = host.add_source(source.clone()).expect("its id is free");
        source.tell();
        added
    }

    fn tell(&self) {
        if let Some(host) = self.host.upgrade() {
            host.on_tools(&self.id, &self.tools.borrow());
        }
    }

    async fn answer(&self, name: &str, arguments: &str) -> ServerAnswer {
        let text = |text: &str, more: &str| {
            let text = Json::string(text);
            Json::from_valid(format!(r#"{{"content":[{{"type":"text","text":{}}}]{more}}}"#, text.as_str()))
        };
        match name {
            "echo" => ServerAnswer::Result(text(arguments, "")),
            "sleep" => {
                let fields: serde_json::Value = serde_json::from_str(arguments).expect("arguments are JSON");
                tokio::time::sleep(Duration::from_millis(fields["ms"].as_u64().unwrap_or_default())).await;
                ServerAnswer::Result(text("slept", ""))
            }
            "tool_error" => ServerAnswer::ToolError(text("it did not work", r#","isError":true"#)),
            "change_tools" => {
                *self.tools.borrow_mut() = listing(AFTER);
                self.tell();
                ServerAnswer::Result(text("changed", ""))
            }
            other => panic!("{other} is not among the tools, so no call of it comes through"),
        }
    }
}

fn listing(says: &str) -> Rc<ToolList> {
    let tool = |name: &str| {
        let shown = format!(r#"{{"description":"{name} {says}","inputSchema":{{"type":"object"}}}}"#);
        let hash = Sha256::digest(shown.as_bytes()).into();
        Tool::from_shown(name, &shown, hash, false).expect("it is an object")
    };
    Rc::new(TOOLS.into_iter().map(tool).collect())
}

/// A line of the journal: `call NAME`, or `cancelled NAME` when a call is dropped.
struct Noted<'a>(&'a str, bool);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        if !self.1 {
            note(&format!("cancelled {}", self.0));
        }
    }
}

fn note(line: &str) {
    let path = std::env::var_os("HARBOR_TEST_JOURNAL").expect("a journal is named");
    let file = OpenOptions::new().create(true).append(true).open(path);
    writeln!(file.expect("it can be written"), "{line}").expect("it can be written");
}

impl ToolSource for MemorySource {
    fn id(&self) -> SourceId {
        self.id.clone()
    }

    fn label(&self) -> String {
        self.id.to_string()
    }

    fn tools(&self) -> Option<Rc<ToolList>> {
        Some(self.tools.borrow().clone())
    }

    fn holding<'a>(self: Rc<Self>) -> Answering<'a, Holding> {
        let holding = Holding { reach: Reach::Closed, opens: false, writes_theirs: false };
        Box::pin(std::future::ready(holding))
    }

    fn default_time(&self) -> DefaultTime {
        DefaultTime { timeout: Duration::from_secs(60), is_set: false }
    }

    fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }

    fn call<'a>(
        self: Rc<Self>,
        _permit: Permit,
        _slot: Slot,
        operation: Operation<'a>,
        limit: TimeLimit,
        _audience: Audience,
    ) -> Answering<'a, Result<ServerAnswer, UnansweredReason>> {
        Box::pin(async move {
            let Operation::CallTool { name, arguments, .. } = operation else {
                panic!("this source is asked for its tools only")
            };
            note(&format!("call {name}"));
            let mut noted = Noted(&name, false);
            let left = limit.quiet.saturating_sub(limit.used);
            let answer = tokio::time::timeout(left, self.answer(&name, &arguments)).await;
            noted.1 = answer.is_ok();
            answer.map_err(|_| UnansweredReason::Lost(CallError::Timeout))
        })
    }
}
