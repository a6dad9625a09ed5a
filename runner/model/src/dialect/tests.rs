//! Conversations for the tests of the dialects, and what holds for all of them.

use harbor_ipc_proto::link::model::{Chat, ChatLimits, Target};
use harbor_ipc_proto::model::{
    Dialect, Image, Kind, ModelMessage, ModelTool, Opaque, Options, Part, Role, ToolCall, ToolChoice,
    ToolResult,
};
use serde_json::Value;

use super::*;

pub fn message(role: Role, parts: Vec<Part>) -> ModelMessage {
    ModelMessage { role, parts }
}

pub fn opaque(provider: &str, model: &str) -> Part {
    Part::Opaque(Opaque {
        provider: provider.into(),
        model: model.into(),
        json: r#"{"type":"thinking"}"#.into(),
    })
}

pub fn text(text: &str) -> Part {
    Part::Text(text.into())
}

pub fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() })
}

pub fn result(id: &str, text: &str) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        name: "time/get".into(),
        text: text.into(),
        images: vec![],
        is_error: false,
    }
}

pub fn image() -> Image {
    Image { media_type: "image/png".into(), data: "AAAA".into() }
}

pub fn chat(messages: Vec<ModelMessage>) -> Chat {
    Chat {
        id: 1,
        target: Target {
            provider: "p".into(),
            kind: Kind::OpenAiCompatible,
            dialect: Dialect::Chat,
            base_url: "http://127.0.0.1:1".into(),
            allow_private: false,
            key: None,
        },
        model: "m".into(),
        messages,
        tools: vec![],
        tool_choice: ToolChoice::Auto,
        options: Options::default(),
        stream: true,
        credit: None,
        limits: ChatLimits::default(),
    }
}

/// A conversation in which two calls were made, with one tool that is offered.
pub fn with_tools(kind: Kind, dialect: Dialect) -> Chat {
    let failed = ToolResult { is_error: true, images: vec![image()], ..result("b", "") };
    let mut chat = chat(vec![
        message(Role::System, vec![text("be brief")]),
        message(Role::User, vec![text("look"), Part::Image(image())]),
        message(
            Role::Assistant,
            vec![
                call("a", "time/get", r#"{"z":1, "a":2}"#),
                call("b", "time/get", r#""no object""#),
                text("looking"),
            ],
        ),
        message(Role::Tool, vec![Part::ToolResult(result("a", "12:00<|im_end|>"))]),
        message(Role::Tool, vec![Part::ToolResult(failed)]),
        message(Role::User, vec![text("and?")]),
    ]);
    chat.tools = vec![ModelTool {
        name: "time/get".into(),
        description: "the time".into(),
        schema: r#"{"type":"object","properties":{"z":{}}}"#.into(),
    }];
    (chat.target.kind, chat.target.dialect) = (kind, dialect);
    chat
}

/// The request as a value.
pub fn sent(chat: &Chat) -> Value {
    serde_json::from_slice(&prepare(chat).unwrap().body).unwrap()
}

#[test]
fn too_many_tools_for_openai_are_refused_here() {
    let mut chat = with_tools(Kind::OpenAi, Dialect::Chat);
    chat.tools = vec![chat.tools[0].clone(); 200];
    let failure = prepare(&chat).unwrap_err();
    assert_eq!(
        (failure.cause, failure.message.as_str()),
        (Cause::Refused, "OpenAI accepts at most 128 tools, but this request has 200")
    );
    chat.target.kind = Kind::LlamaServer;
    assert_eq!(sent(&chat)["tools"].as_array().unwrap().len(), 200);
}

#[test]
fn an_empty_list_of_tools_is_not_sent() {
    for dialect in Dialect::ALL {
        let mut chat = with_tools(Kind::OpenAiCompatible, *dialect);
        chat.tools = vec![];
        chat.tool_choice = ToolChoice::Required;
        let sent = sent(&chat);
        assert!(sent.get("tools").is_none() && sent.get("tool_choice").is_none(), "{dialect:?}");
    }
}

#[test]
fn texts_that_end_an_answer_are_refused_where_the_format_has_none() {
    let mut chat = with_tools(Kind::OpenAi, Dialect::Responses);
    chat.options.stop = vec!["x".into()];
    assert_eq!(prepare(&chat).unwrap_err().cause, Cause::Refused);
}

#[test]
fn pages_are_no_answers() {
    assert_eq!(framing(Dialect::Chat, "text/event-stream; charset=utf-8"), Some(Framing::Events));
    assert_eq!(framing(Dialect::Anthropic, "Application/JSON"), Some(Framing::Whole));
    assert_eq!(framing(Dialect::Ollama, "application/x-ndjson"), Some(Framing::Lines));
    for dialect in Dialect::ALL {
        assert_eq!(framing(*dialect, "text/html"), None);
        assert_eq!(framing(*dialect, ""), None);
    }
}
