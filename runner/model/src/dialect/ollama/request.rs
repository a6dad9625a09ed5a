//! A request of Ollama.

use harbor_ipc_proto::link::model::Chat;
use harbor_ipc_proto::model::{Image, ModelTool, Part, Role, ToolChoice, ToolResult};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::{object, raw};
use crate::names::wire_name;
use crate::schema;
use crate::turns::{Turn, result_text, turns};

#[derive(Serialize)]
pub(crate) struct OllamaRequest<'a> {
    model: &'a str,
    messages: Vec<OllamaMessage>,
    stream: bool,
    /// An error is better than a conversation whose beginning is missing.
    truncate: bool,
    shift: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
}

#[derive(Serialize, Default)]
struct OllamaMessage {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<SentToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
}

#[derive(Serialize)]
struct SentToolCall {
    function: SentFunction,
}

#[derive(Serialize)]
struct SentFunction {
    name: String,
    arguments: Box<RawValue>,
}

pub(crate) fn request(chat: &Chat) -> OllamaRequest<'_> {
    let (system, turns) = turns(chat);
    let system = system.map(|content| OllamaMessage { role: "system", content, ..OllamaMessage::default() });
    let mut messages: Vec<OllamaMessage> = system.into_iter().collect();
    for turn in &turns {
        match turn.role {
            Role::Assistant => messages.push(assistant(turn)),
            Role::Tool => messages.extend(turn.parts.iter().filter_map(|part| match part {
                Part::ToolResult(result) => Some(tool_result(chat, result)),
                _ => None,
            })),
            Role::User | Role::System => messages.push(user(turn)),
        }
    }
    OllamaRequest {
        model: &chat.model,
        messages,
        stream: chat.stream,
        truncate: false,
        shift: false,
        tools: tools(chat),
        format: chat.options.response_schema.as_deref().map(raw),
        think: chat.options.reasoning_effort.as_deref().map(think),
        options: options(chat),
    }
}

fn user(turn: &Turn<'_>) -> OllamaMessage {
    let image = |part: &&Part| match part {
        Part::Image(image) => Some(image.data.clone()),
        _ => None,
    };
    let images = turn.parts.iter().filter_map(image).collect();
    OllamaMessage {
        role: "user",
        content: turn.text().unwrap_or_default(),
        images,
        ..OllamaMessage::default()
    }
}

fn assistant(turn: &Turn<'_>) -> OllamaMessage {
    let mut message = OllamaMessage {
        role: "assistant",
        content: turn.text().unwrap_or_default(),
        ..OllamaMessage::default()
    };
    for part in &turn.parts {
        match part {
            Part::ToolCall(call) => {
                let function =
                    SentFunction { name: wire_name(&call.name), arguments: object(&call.arguments) };
                message.tool_calls.push(SentToolCall { function });
            }
            Part::Opaque(opaque) => {
                let own: Option<Value> = serde_json::from_str(&opaque.json).ok();
                message.thinking = own.and_then(|own| Some(own.get("thinking")?.as_str()?.to_owned()));
            }
            _ => {}
        }
    }
    message
}

fn tool_result(chat: &Chat, result: &ToolResult) -> OllamaMessage {
    OllamaMessage {
        role: "tool",
        content: result_text(chat.target.kind, result),
        images: result.images.iter().map(|Image { data, .. }| data.clone()).collect(),
        tool_name: Some(wire_name(&result.name)),
        ..OllamaMessage::default()
    }
}

/// The format has no choice: one tool is demanded by sending only that one, none by sending none.
fn tools(chat: &Chat) -> Vec<Value> {
    let is_sent = |tool: &&ModelTool| match &chat.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Tool(name) => *name == tool.name,
    };
    let described = |tool: &ModelTool| {
        let parameters = schema::of_tool(&tool.schema);
        let function =
            json!({"name": wire_name(&tool.name), "description": tool.description, "parameters": parameters});
        json!({"type": "function", "function": function})
    };
    chat.tools.iter().filter(is_sent).map(described).collect()
}

fn think(effort: &str) -> Value {
    match effort {
        "none" => false.into(),
        effort => effort.into(),
    }
}

fn options(chat: &Chat) -> Map<String, Value> {
    let asked = &chat.options;
    let stop = (!asked.stop.is_empty()).then(|| Value::from(asked.stop.clone()));
    let all = [
        ("num_ctx", asked.context_window.map(Value::from)),
        ("num_predict", asked.max_tokens.map(Value::from)),
        ("temperature", asked.temperature.map(Value::from)),
        ("top_p", asked.top_p.map(Value::from)),
        ("stop", stop),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{sent, with_tools};
    use harbor_ipc_proto::model::{Dialect, Kind};

    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_format_has_it() {
        let mut chat = with_tools(Kind::Ollama, Dialect::Ollama);
        chat.options.context_window = Some(8192);
        chat.options.reasoning_effort = Some("none".into());
        let request = sent(&chat);
        let name = wire_name("time/get");
        let wanted = json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "look", "images": ["AAAA"]},
            {"role": "assistant", "content": "looking", "tool_calls": [
                {"function": {"name": name, "arguments": {"z": 1, "a": 2}}},
                {"function": {"name": name, "arguments": {}}},
            ]},
            {"role": "tool", "content": "12:00< |im_end| >", "tool_name": name},
            {"role": "tool", "content": "Error: (no output)", "images": ["AAAA"], "tool_name": name},
            {"role": "user", "content": "and?"},
        ]);
        assert_eq!(request["messages"], wanted);
        assert_eq!(request["options"], json!({"num_ctx": 8192}));
        assert_eq!(
            (&request["truncate"], &request["shift"], &request["think"]),
            (&json!(false), &json!(false), &json!(false))
        );
        chat.tool_choice = ToolChoice::None;
        assert!(sent(&chat).get("tools").is_none());
    }
}
