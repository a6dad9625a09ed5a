//! A request of Messages.
//!
//! Owns the order within a turn: signed thoughts first and as they came, calls last; results before texts.

use harbor_ipc_proto::link::model::Chat;
use harbor_ipc_proto::model::{Image, Kind, ModelTool, Part, Role, ToolChoice, ToolResult};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::{forces_call, object, raw, sends_tools};
use crate::defuse::defused;
use crate::names::wire_name;
use crate::schema;
use crate::turns::{NO_OUTPUT, Turn, turns};

/// Tokens of an answer where nobody has said how many: the format wants a number.
const MAX_TOKENS: u32 = 8192;

#[derive(Serialize)]
pub(crate) struct AnthropicRequest<'a> {
    model: &'a str,
    messages: Vec<AnthropicMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(flatten)]
    options: Map<String, Value>,
}

#[derive(Serialize)]
struct AnthropicMessage {
    role: &'static str,
    content: Vec<AnthropicBlock>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnthropicBlock {
    /// As it came.
    Raw(Box<RawValue>),
    Use {
        r#type: &'static str,
        id: String,
        name: String,
        input: Box<RawValue>,
    },
    Other(Value),
}

pub(crate) fn request(chat: &Chat) -> AnthropicRequest<'_> {
    let mut request = counted(chat);
    request.options.extend(options(chat));
    request
}

/// The part of a request that the model reads, and so the part whose tokens are counted.
pub(crate) fn counted(chat: &Chat) -> AnthropicRequest<'_> {
    let caches = chat.target.kind == Kind::Anthropic;
    let (system, turns) = turns(chat);
    let mut tools: Vec<Value> = chat.tools.iter().map(tool).collect();
    let mut system = system.map(|text| json!([{"type": "text", "text": text}]));
    if caches {
        // What stays the same throughout a conversation.
        let first = system.as_mut().and_then(|blocks| blocks.get_mut(0));
        tools.last_mut().into_iter().chain(first).for_each(cached);
    }
    let mut options = Map::new();
    if sends_tools(chat) && chat.tool_choice != ToolChoice::Auto {
        options.insert("tool_choice".into(), choice(&chat.tool_choice));
    }
    AnthropicRequest {
        model: &chat.model,
        messages: messages(chat.target.kind, &turns, caches),
        system,
        tools,
        options,
    }
}

fn cached(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn messages(kind: Kind, turns: &[Turn<'_>], caches: bool) -> Vec<AnthropicMessage> {
    let mut messages: Vec<AnthropicMessage> = Vec::new();
    for turn in turns {
        let (role, content) = match turn.role {
            Role::Assistant => ("assistant", assistant(turn)),
            _ => ("user", turn.parts.iter().filter_map(|part| user(kind, part)).collect()),
        };
        match messages.last_mut() {
            // Results of tools and what the user says are one message.
            Some(last) if last.role == role => last.content.extend(content),
            _ => messages.push(AnthropicMessage { role, content }),
        }
    }
    if let (true, Some(AnthropicBlock::Other(last))) =
        (caches, messages.last_mut().and_then(|last| last.content.last_mut()))
    {
        cached(last);
    }
    messages
}

fn user(kind: Kind, part: &Part) -> Option<AnthropicBlock> {
    Some(AnthropicBlock::Other(match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(image) => picture(image),
        Part::ToolResult(result) => tool_result(kind, result),
        _ => return None,
    }))
}

fn tool_result(kind: Kind, result: &ToolResult) -> Value {
    let text = if result.text.trim().is_empty() { NO_OUTPUT.into() } else { defused(kind, &result.text) };
    let mut content: Vec<Value> = result.images.iter().map(picture).collect();
    if content.is_empty() || !result.text.trim().is_empty() {
        content.insert(0, json!({"type": "text", "text": text}));
    }
    json!({"type": "tool_result", "tool_use_id": result.call_id, "content": content, "is_error": result.is_error})
}

fn picture(image: &Image) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}})
}

fn assistant(turn: &Turn<'_>) -> Vec<AnthropicBlock> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for part in &turn.parts {
        match part {
            Part::Opaque(opaque) => first.push(AnthropicBlock::Raw(raw(&opaque.json))),
            Part::Text(text) => first.push(AnthropicBlock::Other(json!({"type": "text", "text": text}))),
            Part::ToolCall(call) => last.push(AnthropicBlock::Use {
                r#type: "tool_use",
                id: call.id.clone(),
                name: wire_name(&call.name),
                input: object(&call.arguments),
            }),
            _ => {}
        }
    }
    first.append(&mut last);
    first
}

fn tool(tool: &ModelTool) -> Value {
    json!({
        "name": wire_name(&tool.name),
        "description": tool.description,
        "input_schema": schema::of_tool(&tool.schema),
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": wire_name(name)}),
    }
}

fn options(chat: &Chat) -> Map<String, Value> {
    let asked = &chat.options;
    let mut options = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            options.insert(name.to_owned(), value);
        }
    };
    put("stream", Some(chat.stream.into()));
    put("max_tokens", Some(asked.max_tokens.unwrap_or(MAX_TOKENS).into()));
    // Newer models refuse these: they are sent where they were asked for.
    put("temperature", asked.temperature.map(Value::from));
    put("top_p", asked.top_p.map(Value::from));
    put("stop_sequences", (!asked.stop.is_empty()).then(|| asked.stop.clone().into()));
    let mut output = Map::new();
    if let Some(schema) = &asked.response_schema {
        output.insert("format".into(), json!({"type": "json_schema", "schema": schema::of_answer(schema)}));
    }
    match asked.reasoning_effort.as_deref() {
        Some("none") => put("thinking", Some(json!({"type": "disabled"}))),
        // A call that is demanded and thinking exclude each other.
        Some(effort) if !forces_call(chat) => {
            put("thinking", Some(json!({"type": "adaptive"})));
            output.insert("effort".into(), effort.into());
        }
        _ => {}
    }
    put("output_config", (!output.is_empty()).then(|| output.into()));
    options
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{call, chat, message, sent, text, with_tools};
    use harbor_ipc_proto::model::{Dialect, Opaque};

    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_format_has_it() {
        let sent = sent(&with_tools(Kind::LlamaServer, Dialect::Anthropic));
        let name = wire_name("time/get");
        let shown =
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
        let result = |id: &str, content: Value, is_error: bool| json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error});
        let wanted = json!([
            {"role": "user", "content": [{"type": "text", "text": "look"}, shown]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "looking"},
                {"type": "tool_use", "id": "a", "name": name, "input": {"z": 1, "a": 2}},
                {"type": "tool_use", "id": "b", "name": name, "input": {}},
            ]},
            {"role": "user", "content": [
                result("a", json!([{"type": "text", "text": "12:00< |im_end| >"}]), false),
                result("b", json!([shown]), true),
                {"type": "text", "text": "and?"},
            ]},
        ]);
        assert_eq!(sent["messages"], wanted);
        assert_eq!(sent["system"], json!([{"type": "text", "text": "be brief"}]));
        assert_eq!((&sent["max_tokens"], &sent["tools"][0]["name"]), (&json!(MAX_TOKENS), &json!(name)));
        assert!(sent.get("temperature").is_none() && sent.get("tool_choice").is_none());
    }

    #[test]
    fn thoughts_go_back_byte_by_byte_and_first() {
        let json = r#"{"type":"thinking", "thinking":"\u00e9","signature":"s"}"#;
        let thought = Opaque { provider: "p".into(), model: "m".into(), json: json.into() };
        let said = vec![call("a", "t", "{}"), Part::Opaque(thought)];
        let mut chat = chat(vec![message(Role::User, vec![text("q")]), message(Role::Assistant, said)]);
        chat.target.dialect = Dialect::Anthropic;
        let body = String::from_utf8(serde_json::to_vec(&request(&chat)).unwrap()).unwrap();
        assert!(body.contains(&format!("\"content\":[{json},{{\"type\":\"tool_use\"")), "{body}");
    }

    #[test]
    fn a_demanded_call_and_thinking_exclude_each_other() {
        let mut chat = with_tools(Kind::Anthropic, Dialect::Anthropic);
        chat.options.reasoning_effort = Some("high".into());
        let thinks = sent(&chat);
        assert_eq!(
            (&thinks["thinking"]["type"], &thinks["output_config"]["effort"]),
            (&json!("adaptive"), &json!("high"))
        );
        assert_eq!(thinks["tools"][0]["cache_control"], json!({"type": "ephemeral"}));
        chat.tool_choice = ToolChoice::Required;
        let forced = sent(&chat);
        assert!(forced.get("thinking").is_none() && forced["tool_choice"] == json!({"type": "any"}));
    }
}
