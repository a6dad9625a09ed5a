//! What the server of rmcp lists and answers, as rmcp's values: tests compare them whole.
//!
//! Must never depend on anything but its arguments.

use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ContentBlock, ElicitRequestParams, ElicitationSchema, ErrorCode, ErrorData,
    GetPromptResult, Implementation, JsonObject, Prompt, PromptArgument, PromptMessage, ReadResourceResult,
    Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
#[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
use rmcp::model::{CreateMessageRequestParams, SamplingMessage};
use serde_json::{Value, json};

/// The one resource.
pub const NOTE: &str = "rmcp://note";

/// A step of progress: how far, of how much, and a word.
pub type Step = (f64, f64, &'static str);

/// What it says of itself.
#[must_use]
pub fn config() -> ServerConfig {
    let capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_prompts()
        .enable_resources()
        .build();
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new("rmcp-server", "1.0.0"))
        .with_instructions("Built on rmcp.")
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Its tools; `new` once it has grown.
#[must_use]
pub fn tools(has_grown: bool) -> Vec<Tool> {
    let nothing = || object(json!({"type": "object", "properties": {}}));
    let number = json!({"type": "integer", "description": "ein Summand – nicht mehr"});
    let add =
        object(json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}));
    let sum =
        object(json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}));
    let mut tools = vec![
        Tool::new("add", "Adds two numbers.", add)
            .with_title("Addition")
            .with_raw_output_schema(Arc::new(sum))
            .with_annotations(ToolAnnotations::with_title("Sum").read_only(true).idempotent(true)),
    ];
    let plain = ["refuse", "fail", "count", "wait", "waited", "grow", "greet", "think"];
    let names = plain.into_iter().chain(has_grown.then_some("new"));
    tools.extend(names.map(|name| Tool::new(name, format!("It can {name}."), nothing())));
    tools
}

/// What `add` gives.
#[must_use]
pub fn sum(arguments: Option<&JsonObject>) -> CallToolResult {
    let number = |name: &str| arguments.and_then(|arguments| arguments.get(name)?.as_i64()).unwrap_or(0);
    CallToolResult::structured(json!({"sum": number("a") + number("b")}))
}

/// What `refuse` gives: a result that says that it failed.
#[must_use]
pub fn refusal() -> CallToolResult {
    CallToolResult::error(vec![
        ContentBlock::text("it does not want to"),
        ContentBlock::image("QQ==", "image/png"),
    ])
}

/// What `fail` gives: an error.
#[must_use]
pub fn failure() -> ErrorData {
    ErrorData::new(ErrorCode(-32_050), "it never works", Some(json!({"why": ["broken", 1.5]})))
}

/// What `count` tells.
#[must_use]
pub fn progress() -> [Step; 3] {
    [(1.0, 3.0, "one"), (2.0, 3.0, "two"), (3.0, 3.0, "three")]
}

/// What `wait` tells, before it waits to be cancelled.
#[must_use]
pub fn begun() -> Step {
    (0.0, 1.0, "begun")
}

/// What `greet` asks.
///
/// # Panics
/// Never: the schema names what it demands.
#[must_use]
pub fn elicitation() -> ElicitRequestParams {
    let schema = ElicitationSchema::builder().required_string("name").description("A person.").build();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "What is your name?".to_owned(),
        requested_schema: schema.expect("what it demands is there"),
    }
}

/// What `think` asks.
#[must_use]
#[allow(deprecated, reason = "sampling is on its way out of MCP; servers still use it")]
pub fn sampling() -> CreateMessageRequestParams {
    let messages = vec![SamplingMessage::user_text("What is one and one?")];
    CreateMessageRequestParams::new(messages, 100)
        .with_system_prompt("Be short.")
        .with_stop_sequences(vec!["\n\n".to_owned()])
}

/// Its prompt.
#[must_use]
pub fn prompt() -> Prompt {
    let who = PromptArgument::new("who").with_description("Whom to greet.").with_required(true);
    Prompt::new("welcome", Some("Greets somebody."), Some(vec![who])).with_title("Welcome")
}

/// What the prompt gives.
#[must_use]
pub fn prompted(who: &str) -> GetPromptResult {
    let messages = vec![PromptMessage::new_text(Role::User, format!("Hello, {who}!"))];
    GetPromptResult::new(messages).with_description("A greeting.")
}

/// Its resource.
#[must_use]
pub fn resource() -> Resource {
    Resource::new(NOTE, "note").with_description("One note.").with_mime_type("text/plain").with_size(6)
}

/// What stands in it.
#[must_use]
pub fn note() -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text("a note", NOTE).with_mime_type("text/plain")])
}
