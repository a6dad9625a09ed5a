//! The tools that one page offers, as a source: from the person's switch until its document goes.
//!
//! ```text
//!  host ─► PageSource ─► source_call ─► extension ─► the document's own function
//!             ▲                                          │
//!             └────────────── source_result ◄────────────┘
//! ```
//!
//! Owns the page's list, and its open calls. What a page says of its tools is a claim: its word that a tool only reads is left
//! out, so each counts as one that writes. Must never be there longer than the extension's connection.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{SourceCall, SourceSession};
use harbor_ipc_proto::hidden::has_hidden;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::Permit;
use harbor_policy::consent::facts::Holding;
use harbor_policy::origin::Origin;
use harbor_policy::slots::{Slot, Slots};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::calls::BrowserCalls;
use super::channel::ExtensionChannel;
use crate::host::invalid;
use crate::host::source::{Answering, DefaultTime, ToolSource};
use crate::link::{Audience, CallError, EndReport, Failure, ServerAnswer, TimeLimit, Tool, ToolList};
use crate::supervisor::UnansweredReason;

/// The time limit of a call that names none.
const TIME: Duration = Duration::from_secs(60);

/// Most calls at once, of all callers.
const AT_ONCE: u32 = 8;

/// Most tools of a page, and the longest description and schema of one, in bytes.
const MOST_TOOLS: usize = 64;
const MAX_TOOL: usize = 32 * 1024;

/// The longest name of a tool, in bytes: that of the draft of WebMCP.
const MAX_NAME: usize = 128;

/// The longest arguments of a call, in bytes.
const MAX_ARGUMENTS: usize = 300_000;

/// A page that offers tools.
#[derive(Debug)]
pub(super) struct PageSource {
    id: SourceId,
    label: String,
    pub origin: Origin,
    pub tab: u64,
    pub road: Rc<dyn ExtensionChannel>,
    tools: RefCell<Rc<ToolList>>,
    pub calls: Rc<BrowserCalls>,
    slots: Slots,
    gone: Cell<bool>,
}

impl PageSource {
    pub fn new(
        id: SourceId,
        label: &str,
        (origin, tab): (Origin, u64),
        road: Rc<dyn ExtensionChannel>,
        tools: ToolList,
    ) -> Rc<Self> {
        Rc::new(Self {
            id,
            label: label.to_owned(),
            origin,
            tab,
            road,
            tools: RefCell::new(Rc::new(tools)),
            calls: Rc::default(),
            slots: Slots::new(AT_ONCE),
            gone: Cell::new(false),
        })
    }

    /// The page's tools are others now.
    pub fn relist(&self, tools: ToolList) {
        *self.tools.borrow_mut() = Rc::new(tools);
    }

    /// The document has gone, or the person has taken its tools back.
    pub fn lose(&self) {
        self.gone.set(true);
        self.calls.lose();
    }

    async fn ask(
        &self,
        (name, arguments): (&str, &str),
        limit: TimeLimit,
        audience: &Audience,
    ) -> Result<ServerAnswer, UnansweredReason> {
        if arguments.len() > MAX_ARGUMENTS {
            let why = format!("longer than the {MAX_ARGUMENTS} bytes that a page takes");
            return Ok(ServerAnswer::Failed(Failure::InvalidArguments(String::new(), why)));
        }
        let (Ok(call_id), false) = (random_token(), self.gone.get()) else { return Err(gone()) };
        let left = limit.quiet.saturating_sub(limit.used);
        let session: Arc<str> = self.id.shared();
        let call = self.calls.open(&self.road, call_id.clone(), session.clone(), Rc::default());
        let origin = audience.party.as_ref().and_then(|party| party.origin.clone());
        self.road.call(&SourceCall {
            call_id,
            source_id: self.id.to_string(),
            session_id: session.to_string(),
            principal: origin.map_or_else(|| "owner".to_owned(), |origin| origin.to_string()),
            tool_name: name.to_owned(),
            arguments: Json::from_valid(arguments.to_owned()),
            timeout_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            session: SourceSession {
                label: self.label.clone(),
                colour: "grey".into(),
                tabs: vec![self.tab],
                tab_id: Some(self.tab),
            },
        });
        call.answered(left, gone).await
    }
}

fn gone() -> UnansweredReason {
    let why = EndReport::because("page_gone", "the page has gone, or the person no longer offers its tools");
    UnansweredReason::Lost(CallError::Ended(Rc::new(why)))
}

/// The list as the extension tells it.
///
/// # Errors
/// When it is no list of tools, or a large one.
pub(super) fn read_tools(told: Option<&Json>) -> Result<ToolList, ErrorBody> {
    let rule = "an array of at most 64 tools, each with a name of 1 to 128 bytes, at most 32 KiB";
    let told: Vec<Value> = told
        .and_then(|told| serde_json::from_str(told.as_str()).ok())
        .ok_or_else(|| invalid("tools", rule))?;
    if told.len() > MOST_TOOLS {
        return Err(invalid("tools", rule));
    }
    told.iter().map(|tool| read_tool(tool).ok_or_else(|| invalid("tools", rule))).collect()
}

fn read_tool(told: &Value) -> Option<Tool> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let name = told["name"].as_str().filter(|name| (1..=MAX_NAME).contains(&name.len()))?;
    if !name.bytes().all(is_of_name) {
        return None;
    }
    let mut said = json!({"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}});
    for member in ["title", "description"] {
        if let Some(text) = told[member].as_str() {
            said[member] = Value::from(text);
        }
    }
    if told["inputSchema"].is_object() {
        said["inputSchema"] = told["inputSchema"].clone();
    }
    if told["annotations"]["destructiveHint"] == true {
        said["annotations"]["destructiveHint"] = Value::from(true);
    }
    let said = said.to_string();
    if said.len() > MAX_TOOL {
        return None;
    }
    let hash = Sha256::digest(format!("{name}\n{said}").as_bytes()).into();
    Tool::from_shown(name, &said, hash, has_hidden(&said))
}

impl ToolSource for PageSource {
    fn id(&self) -> SourceId {
        self.id.clone()
    }

    fn label(&self) -> String {
        self.label.clone()
    }

    fn tools(&self) -> Option<Rc<ToolList>> {
        Some(self.tools.borrow().clone())
    }

    fn holding<'a>(self: Rc<Self>) -> Answering<'a, Holding> {
        // A page can tell anybody what it is told.
        Box::pin(std::future::ready(Holding::UNKNOWN))
    }

    fn default_time(&self) -> DefaultTime {
        DefaultTime { timeout: TIME, is_set: true }
    }

    fn slot(&self) -> Option<Slot> {
        self.slots.take()
    }

    fn call<'a>(
        self: Rc<Self>,
        _permit: Permit,
        slot: Slot,
        operation: Operation<'a>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Answering<'a, Result<ServerAnswer, UnansweredReason>> {
        Box::pin(async move {
            let _slot = slot;
            match operation {
                Operation::CallTool { name, arguments, .. } => {
                    self.ask((&name, &arguments), limit, &audience).await
                }
                _ => Ok(ServerAnswer::Failed(Failure::NotOffered("anything except tools".into()))),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tools: &Value) -> Result<ToolList, String> {
        read_tools(Some(&Json::from_valid(tools.to_string()))).map_err(|error| error.message)
    }

    #[test]
    fn a_page_is_not_believed_that_a_tool_only_reads() {
        let told = json!([{"name": "buy", "title": "Buy", "description": "Buys", "execute": 1,
            "annotations": {"readOnlyHint": true, "destructiveHint": true, "x": 1}}]);
        let list = read(&told).unwrap();
        let tool = list.get("buy").unwrap();
        let hints: Value = serde_json::from_str(tool.annotations().unwrap()).unwrap();
        assert_eq!(hints, json!({"readOnlyHint": false, "destructiveHint": true}));
        assert_eq!((tool.schema(), tool.more.as_ref()), (Some(r#"{"type":"object"}"#), None));
    }

    #[test]
    fn what_is_no_list_of_tools_is_refused() {
        let named = |name: &str| json!([{ "name": name }]);
        let many: Vec<_> = (0..65).map(|number| json!({"name": format!("t{number}")})).collect();
        let large = json!([{"name": "a", "description": "x".repeat(40_000)}]);
        for wrong in
            [json!({}), json!([1]), named(""), named("a/b"), named(&"a".repeat(129)), json!(many), large]
        {
            assert!(read(&wrong).is_err_and(|message| message.contains("at most 64")), "{wrong:.60}");
        }
        assert!(read_tools(None).is_err());
        assert_eq!(read(&json!(many[..64])).unwrap().len(), 64);
    }

    #[test]
    fn another_description_is_another_tool() {
        let hash = |description: &str| {
            let list = read(&json!([{"name": "a", "description": description}])).unwrap();
            list.get("a").unwrap().hash
        };
        assert_ne!(hash("one"), hash("two"));
        assert_eq!(hash("one"), hash("one"));
    }
}
