//! A request of Responses.
//!
//! Owns that nothing is stored at the provider, and that its thoughts go back as they came, before what followed them.

use harbor_ipc_proto::link::model::{Cause, Chat, Failure};
use harbor_ipc_proto::model::{Image, Kind, ModelTool, Part, Role, ToolChoice, ToolResult};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::{object, raw, sends_tools};
use crate::failure::failed;
use crate::names::wire_name;
use crate::schema;
use crate::turns::{Turn, result_text, turns};

/// OpenAI refuses a smaller limit of an answer's tokens.
const FEWEST_TOKENS: u32 = 16;

/// OpenAI's models that do not think begin so: they refuse to be asked for thoughts.
const THOUGHTLESS: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-4", "gpt-5-chat"];

#[derive(Serialize)]
pub(crate) struct ResponsesRequest<'a> {
    model: &'a str,
    input: Vec<InputItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(flatten)]
    options: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum InputItem {
    /// As it came.
    Raw(Box<RawValue>),
    Other(Value),
}

/// The request.
///
/// # Errors
/// When the format lacks what is asked for: it has no texts at which an answer ends. llama-server takes them all the same.
pub(crate) fn request(chat: &Chat) -> Result<ResponsesRequest<'_>, Failure> {
    if !chat.options.stop.is_empty() && !is_llama(chat.target.kind) {
        let why = "the format `responses` has no texts at which an answer ends; `--dialect chat` of `harbor models add` has them";
        return Err(failed(Cause::Refused, why));
    }
    let mut request = counted(chat);
    request.options.extend(options(chat));
    Ok(request)
}

/// The part of a request that the model reads, and so the part whose tokens are counted.
pub(crate) fn counted(chat: &Chat) -> ResponsesRequest<'_> {
    let (instructions, turns) = turns(chat);
    let mut input = Vec::new();
    for turn in &turns {
        match turn.role {
            Role::Assistant => assistant(turn, &mut input),
            Role::Tool => results(chat.target.kind, turn, &mut input),
            Role::User | Role::System => input.push(user(&turn.parts)),
        }
    }
    let mut options = Map::new();
    if let Some(choice) = sends_tools(chat).then(|| choice(&chat.tool_choice)).flatten() {
        options.insert("tool_choice".into(), choice);
    }
    ResponsesRequest {
        model: &chat.model,
        input,
        instructions,
        tools: chat.tools.iter().map(tool).collect(),
        options,
    }
}

/// It takes its other format's fields here, too.
fn is_llama(kind: Kind) -> bool {
    matches!(kind, Kind::LlamaServer | Kind::Llamafile)
}

fn user(parts: &[&Part]) -> InputItem {
    let part = |part: &&Part| match part {
        Part::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Part::Image(image) => Some(picture(image)),
        _ => None,
    };
    let content: Vec<Value> = parts.iter().filter_map(part).collect();
    InputItem::Other(json!({"role": "user", "content": content}))
}

fn picture(image: &Image) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.data);
    json!({"type": "input_image", "image_url": url})
}

fn assistant(turn: &Turn<'_>, input: &mut Vec<InputItem>) {
    // Thoughts without what they led to are refused.
    let is_said = |part: &&Part| matches!(part, Part::Text(_) | Part::ToolCall(_));
    let last = turn.parts.iter().rposition(is_said).map_or(0, |last| last + 1);
    for part in &turn.parts[..last] {
        match part {
            Part::Opaque(opaque) => input.push(InputItem::Raw(raw(&opaque.json))),
            Part::Text(text) => {
                let content = json!([{"type": "output_text", "text": text}]);
                input.push(InputItem::Other(
                    json!({"type": "message", "role": "assistant", "content": content}),
                ));
            }
            Part::ToolCall(call) => input.push(InputItem::Other(json!({
                "type": "function_call",
                "call_id": call.id,
                "name": wire_name(&call.name),
                "arguments": object(&call.arguments).get(),
            }))),
            _ => {}
        }
    }
}

/// Only OpenAI looks at what a result shows; for others it comes behind all results, as if the user showed it.
fn results(kind: Kind, turn: &Turn<'_>, input: &mut Vec<InputItem>) {
    let mut shown = Vec::new();
    for part in &turn.parts {
        let Part::ToolResult(result) = part else { continue };
        let ToolResult { call_id, images, .. } = result;
        let text = result_text(kind, result);
        let output = match kind {
            Kind::OpenAi if !images.is_empty() => {
                let text = json!({"type": "input_text", "text": text});
                std::iter::once(text).chain(images.iter().map(picture)).collect()
            }
            _ => {
                shown.extend(images.iter().map(picture));
                Value::from(text)
            }
        };
        input.push(InputItem::Other(
            json!({"type": "function_call_output", "call_id": call_id, "output": output}),
        ));
    }
    if !shown.is_empty() {
        shown.insert(0, json!({"type": "input_text", "text": "What the tools have shown:"}));
        input.push(InputItem::Other(json!({"role": "user", "content": shown})));
    }
}

fn tool(tool: &ModelTool) -> Value {
    json!({
        "type": "function",
        "name": wire_name(&tool.name),
        "description": tool.description,
        "parameters": schema::of_tool(&tool.schema),
        // Else all properties count as required.
        "strict": false,
    })
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some("required".into()),
        ToolChoice::None => Some("none".into()),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "name": wire_name(name)})),
    }
}

fn options(chat: &Chat) -> Map<String, Value> {
    let (kind, asked) = (chat.target.kind, &chat.options);
    let mut options = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            options.insert(name.to_owned(), value);
        }
    };
    put("stream", Some(chat.stream.into()));
    put("store", Some(false.into()));
    let thinks = kind != Kind::OpenAi || !THOUGHTLESS.iter().any(|name| chat.model.starts_with(name));
    put("include", thinks.then(|| json!(["reasoning.encrypted_content"])));
    if kind == Kind::OpenAi {
        // Padding against who counts bytes on the way; TLS ends here.
        put("stream_options", chat.stream.then(|| json!({"include_obfuscation": false})));
    }
    let fewest = if kind == Kind::OpenAi { FEWEST_TOKENS } else { 1 };
    put("max_output_tokens", asked.max_tokens.map(|most| most.max(fewest).into()));
    put("temperature", asked.temperature.map(Value::from));
    put("top_p", asked.top_p.map(Value::from));
    if let Some(schema) = asked.response_schema.as_deref().map(schema::of_answer) {
        let format = json!({"type": "json_schema", "name": "answer", "strict": true, "schema": schema});
        put("text", Some(json!({"format": format})));
        let of_chat = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}});
        put("response_format", is_llama(kind).then_some(of_chat));
    }
    if let Some(effort) = asked.reasoning_effort.as_deref() {
        put("reasoning", Some(json!({"effort": effort})));
        let of_chat = json!({"enable_thinking": effort != "none"});
        put("chat_template_kwargs", is_llama(kind).then_some(of_chat));
    }
    put("stop", (is_llama(kind) && !asked.stop.is_empty()).then(|| asked.stop.clone().into()));
    options
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{call, chat, message, sent, text, with_tools};
    use harbor_ipc_proto::model::{Dialect, Opaque};

    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_format_has_it() {
        let sent = sent(&with_tools(Kind::OpenAi, Dialect::Responses));
        let name = wire_name("time/get");
        let shown = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
        let called = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
        let came = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
        let said = |text: &str| json!({"type": "input_text", "text": text});
        let wanted = json!([
            {"role": "user", "content": [said("look"), shown]},
            called("a", r#"{"z":1, "a":2}"#),
            called("b", "{}"),
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "looking"}]},
            came("a", json!("12:00<|im_end|>")),
            came("b", json!([said("Error: (no output)"), shown])),
            {"role": "user", "content": [said("and?")]},
        ]);
        assert_eq!(sent["input"], wanted);
        assert_eq!((&sent["store"], &sent["instructions"]), (&json!(false), &json!("be brief")));
        assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!((&sent["tools"][0]["name"], &sent["tools"][0]["strict"]), (&json!(name), &json!(false)));
        assert!(sent.get("previous_response_id").is_none() && sent.get("tool_choice").is_none());
    }

    #[test]
    fn what_a_result_shows_comes_behind_it_where_only_texts_are_taken() {
        let sent = sent(&with_tools(Kind::LlamaServer, Dialect::Responses));
        let shown = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
        let about = json!({"type": "input_text", "text": "What the tools have shown:"});
        assert_eq!(sent["input"][4]["output"], "12:00< |im_end| >");
        assert_eq!(sent["input"][6], json!({"role": "user", "content": [about, shown]}));
    }

    #[test]
    fn thoughts_go_back_byte_by_byte_before_what_they_led_to() {
        let json = r#"{"type":"reasoning", "id":"rs","encrypted_content":"\u00e9"}"#;
        let thought = || Part::Opaque(Opaque { provider: "p".into(), model: "m".into(), json: json.into() });
        let said = vec![thought(), call("a", "t", "{}"), thought()];
        let mut chat = chat(vec![message(Role::User, vec![text("q")]), message(Role::Assistant, said)]);
        chat.target.dialect = Dialect::Responses;
        let body = String::from_utf8(serde_json::to_vec(&request(&chat).unwrap()).unwrap()).unwrap();
        assert_eq!(body.matches(json).count(), 1, "the last one led to nothing: {body}");
        assert!(body.find(json).unwrap() < body.find("function_call").unwrap(), "{body}");
    }

    #[test]
    fn each_setting_has_its_field() {
        let mut chat = with_tools(Kind::OpenAi, Dialect::Responses);
        chat.model = "gpt-4.1".into();
        chat.options.max_tokens = Some(5);
        chat.options.reasoning_effort = Some("low".into());
        chat.options.response_schema = Some(r#"{"type":"object"}"#.into());
        chat.tool_choice = ToolChoice::Tool("time/get".into());
        let openai = sent(&chat);
        assert_eq!(openai["max_output_tokens"], 16);
        assert_eq!((&openai["reasoning"], openai.get("include")), (&json!({"effort": "low"}), None));
        assert_eq!(
            openai["text"]["format"]["schema"],
            json!({"type": "object", "additionalProperties": false})
        );
        assert_eq!(openai["tool_choice"], json!({"type": "function", "name": wire_name("time/get")}));
        assert!(openai.get("response_format").is_none());
        chat.target.kind = Kind::LlamaServer;
        chat.options.stop = vec!["x".into()];
        let llama = sent(&chat);
        assert_eq!((&llama["max_output_tokens"], &llama["stop"]), (&json!(5), &json!(["x"])));
        assert_eq!(llama["response_format"]["type"], "json_schema");
    }
}
