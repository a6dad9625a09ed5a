//! A request of Chat Completions.

use std::borrow::Cow;

use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::link::model::Chat;
use harbor_ipc_proto::model::{Image, Kind, ModelTool, Part, Role, Setting, ToolChoice, ToolResult};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::super::{object, sends_tools};
use crate::names::wire_name;
use crate::schema;
use crate::turns::{Turn, result_text, turns};

#[derive(Serialize)]
pub(crate) struct CompletionRequest<'a> {
    model: &'a str,
    messages: Vec<CompletionMessage>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    /// Fields that are sent only where they are wanted, since servers refuse fields that they do not know.
    #[serde(flatten)]
    options: Map<String, Value>,
}

#[derive(Serialize)]
struct CompletionMessage {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// Fields that the provider itself has put into this message before.
    #[serde(flatten)]
    own: Map<String, Value>,
}

pub(crate) fn request(chat: &Chat) -> CompletionRequest<'_> {
    let (system, turns) = turns(chat);
    let mut messages: Vec<CompletionMessage> =
        system.map(|text| said("system", text.into())).into_iter().collect();
    let mut is_text = false;
    for turn in &turns {
        match turn.role {
            Role::Assistant => {
                is_text = is_sent_as_text(chat, turn);
                messages.push(if is_text { told(turn) } else { assistant(chat, turn) });
            }
            Role::Tool if is_text => messages.push(said("user", told_results(chat.target.kind, turn))),
            Role::Tool => results(chat.target.kind, turn, &mut messages),
            Role::User | Role::System => messages.push(said("user", user(turn))),
        }
    }
    let tools = chat.tools.iter().map(tool).collect();
    CompletionRequest { model: &chat.model, messages, stream: chat.stream, tools, options: options(chat) }
}

fn said(role: &'static str, content: Value) -> CompletionMessage {
    CompletionMessage {
        role,
        content: Some(content),
        tool_calls: Vec::new(),
        tool_call_id: None,
        own: Map::new(),
    }
}

/// A text where there is nothing else: not every server knows parts.
fn user(turn: &Turn<'_>) -> Value {
    if turn.parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return turn.text().unwrap_or_default().into();
    }
    let part = |part: &&Part| match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image(image) => Some(picture(image)),
        _ => None,
    };
    turn.parts.iter().filter_map(part).collect()
}

fn picture(image: &Image) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.data);
    json!({"type": "image_url", "image_url": {"url": url}})
}

/// True if the provider refuses these calls as calls: another model has made them, so that it misses the thoughts before them.
fn is_sent_as_text(chat: &Chat, turn: &Turn<'_>) -> bool {
    let refuses = chat.options.refused.contains(&Setting::CallsWithoutThoughts);
    refuses && turn.calls() && !turn.has_thoughts()
}

/// An answer with its calls as text.
fn told(turn: &Turn<'_>) -> CompletionMessage {
    let part = |part: &&Part| match part {
        Part::ToolCall(call) => {
            let arguments = object(&call.arguments);
            Some(format!("(I called {} with {}.)", wire_name(&call.name), arguments.get()))
        }
        _ => None,
    };
    let parts: Vec<_> = turn.text().into_iter().chain(turn.parts.iter().filter_map(part)).collect();
    said("assistant", parts.join("\n\n").into())
}

/// The results of such calls, as if the user told them.
fn told_results(kind: Kind, turn: &Turn<'_>) -> Value {
    let results = turn.parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    });
    let part = |result: &ToolResult| {
        let words = format!("({} answered:)\n{}", wire_name(&result.name), result_text(kind, result));
        std::iter::once(json!({"type": "text", "text": words}))
            .chain(result.images.iter().map(picture))
            .collect::<Vec<_>>()
    };
    let parts: Vec<Value> = results.flat_map(part).collect();
    match &parts[..] {
        [one] => one["text"].clone(),
        _ => parts.into(),
    }
}

fn assistant(chat: &Chat, turn: &Turn<'_>) -> CompletionMessage {
    let kind = chat.target.kind;
    let mut own = Map::new();
    let mut tool_calls = Vec::new();
    for part in &turn.parts {
        match part {
            Part::ToolCall(call) => {
                let function =
                    json!({"name": wire_name(&call.name), "arguments": object(&call.arguments).get()});
                tool_calls.push(json!({"id": id(kind, &call.id), "type": "function", "function": function}));
            }
            Part::Opaque(opaque) => {
                if let Ok(Value::Object(fields)) = serde_json::from_str(&opaque.json) {
                    own.extend(
                        fields.into_iter().filter(|(name, _)| super::read::OWN.contains(&name.as_str())),
                    );
                }
            }
            _ => {}
        }
    }
    // Thoughts go back with calls only: some models refuse them elsewhere.
    if tool_calls.is_empty() || chat.options.refused.contains(&Setting::Thoughts) {
        own.remove("reasoning_content");
    }
    let content = turn.text().map(Value::from).or_else(|| Some("".into()).filter(|_| tool_calls.is_empty()));
    CompletionMessage { role: "assistant", content, tool_calls, tool_call_id: None, own }
}

/// Results are texts; what they show comes behind all of them, as if the user showed it.
fn results(kind: Kind, turn: &Turn<'_>, messages: &mut Vec<CompletionMessage>) {
    let results = || {
        turn.parts
            .iter()
            .filter_map(|part| if let Part::ToolResult(result) = part { Some(result) } else { None })
    };
    for result in results() {
        let mut message = said("tool", result_text(kind, result).into());
        message.tool_call_id = Some(id(kind, &result.call_id).into_owned());
        messages.push(message);
    }
    let shown: Vec<Value> = results().flat_map(|result| &result.images).map(picture).collect();
    if !shown.is_empty() {
        let about = json!({"type": "text", "text": "What the tools have shown:"});
        messages.push(said("user", [vec![about], shown].concat().into()));
    }
}

/// Mistral takes ids of nine letters and digits only.
fn id(kind: Kind, id: &str) -> Cow<'_, str> {
    let fits = id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
    if kind != Kind::Mistral || fits {
        return id.into();
    }
    hex(&Sha256::digest(id))[..9].to_owned().into()
}

fn tool(tool: &ModelTool) -> Value {
    let parameters = schema::of_tool(&tool.schema);
    let function =
        json!({"name": wire_name(&tool.name), "description": tool.description, "parameters": parameters});
    json!({"type": "function", "function": function})
}

fn options(chat: &Chat) -> Map<String, Value> {
    let (kind, asked) = (chat.target.kind, &chat.options);
    let mut options = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            options.insert(name.to_owned(), value);
        }
    };
    // Mistral tells the use without being asked, and refuses to be asked.
    let counts = chat.stream && kind != Kind::Mistral;
    put("stream_options", counts.then(|| json!({"include_usage": true})));
    if let Some(cap) = cap(chat) {
        put(cap.name(), asked.max_tokens.map(Value::from));
    }
    put("temperature", asked.temperature.map(Value::from));
    put("top_p", asked.top_p.map(Value::from));
    put("stop", (!asked.stop.is_empty()).then(|| asked.stop.clone().into()));
    put("response_format", asked.response_schema.as_deref().map(|schema| {
        json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema::of_answer(schema)}})
    }));
    put("tool_choice", sends_tools(chat).then(|| choice(&chat.tool_choice)).flatten());
    if let Some(effort) = asked.reasoning_effort.as_deref() {
        match kind {
            Kind::OpenRouter => put("reasoning", Some(json!({"effort": effort}))),
            Kind::LlamaServer | Kind::Llamafile | Kind::Vllm => {
                put("chat_template_kwargs", Some(json!({"enable_thinking": effort != "none"})));
            }
            _ => put("reasoning_effort", Some(effort.into())),
        }
    }
    if kind == Kind::OpenRouter {
        // Else a route may leave the tools out, and long conversations are shortened without a word.
        put("provider", Some(json!({"require_parameters": true})));
        put("transforms", Some(json!([])));
    }
    options
}

/// The field that bounds the answer: the one that the model has not refused.
pub(crate) fn cap(chat: &Chat) -> Option<Setting> {
    let both = match chat.target.kind {
        Kind::OpenAi => [Setting::MaxCompletionTokens, Setting::MaxTokens],
        _ => [Setting::MaxTokens, Setting::MaxCompletionTokens],
    };
    both.into_iter().find(|cap| !chat.options.refused.contains(cap))
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        // As it is where nothing is said, and not every server knows the field.
        ToolChoice::Auto => None,
        ToolChoice::Required => Some("required".into()),
        ToolChoice::None => Some("none".into()),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "function": {"name": wire_name(name)}})),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{call, chat, message, opaque, sent, text, with_tools};
    use harbor_ipc_proto::model::{Dialect, Opaque};

    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_format_has_it() {
        let sent = sent(&with_tools(Kind::LlamaServer, Dialect::Chat));
        let name = wire_name("time/get");
        let shown = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
        let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        let wanted = json!([
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "look"}, shown]},
            {"role": "assistant", "content": "looking",
             "tool_calls": [call("a", r#"{"z":1, "a":2}"#), call("b", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "12:00< |im_end| >"},
            {"role": "tool", "tool_call_id": "b", "content": "Error: (no output)"},
            {"role": "user", "content": [{"type": "text", "text": "What the tools have shown:"}, shown]},
            {"role": "user", "content": "and?"},
        ]);
        assert_eq!(sent["messages"], wanted);
        assert_eq!(sent["tools"][0]["function"]["name"], name);
        assert_eq!(sent["stream_options"], json!({"include_usage": true}));
        assert!(sent.get("tool_choice").is_none());
    }

    #[test]
    fn each_kind_has_its_ways() {
        let of = |kind: Kind| {
            let mut chat = with_tools(kind, Dialect::Chat);
            chat.options.max_tokens = Some(5);
            chat.options.reasoning_effort = Some("low".into());
            chat.tool_choice = ToolChoice::Tool("time/get".into());
            sent(&chat)
        };
        let openai = of(Kind::OpenAi);
        assert_eq!(
            (&openai["max_completion_tokens"], &openai["reasoning_effort"]),
            (&json!(5), &json!("low"))
        );
        assert_eq!(openai["tool_choice"]["function"]["name"], wire_name("time/get"));
        assert_eq!(openai["messages"][3]["content"], "12:00<|im_end|>");
        let mistral = of(Kind::Mistral);
        assert!(mistral.get("stream_options").is_none());
        let id = mistral["messages"][3]["tool_call_id"].as_str().unwrap();
        assert_eq!((id.len(), &mistral["messages"][2]["tool_calls"][0]["id"]), (9, &json!(id)));
        let router = of(Kind::OpenRouter);
        assert_eq!((&router["transforms"], &router["reasoning"]), (&json!([]), &json!({"effort": "low"})));
        assert_eq!(of(Kind::Vllm)["chat_template_kwargs"], json!({"enable_thinking": true}));
    }

    #[test]
    fn what_a_model_has_refused_is_written_in_another_way() {
        let mut chat = with_tools(Kind::LlamaServer, Dialect::Chat);
        (chat.options.max_tokens, chat.options.refused) = (Some(5), vec![Setting::MaxTokens]);
        let newer = sent(&chat);
        assert_eq!((newer.get("max_tokens"), &newer["max_completion_tokens"]), (None, &json!(5)));
        chat.options.refused = vec![Setting::MaxTokens, Setting::MaxCompletionTokens];
        assert!(!sent(&chat).to_string().contains("tokens"), "neither name is taken");
        chat.options.refused = vec![Setting::CallsWithoutThoughts];
        let name = wire_name("time/get");
        let told = sent(&chat)["messages"].clone();
        let calls = format!(
            "looking\n\n(I called {name} with {{\"z\":1, \"a\":2}}.)\n\n(I called {name} with {{}}.)"
        );
        assert_eq!(told[2], json!({"role": "assistant", "content": calls}));
        assert_eq!(told[3]["role"], "user");
        let words = format!("({name} answered:)\n12:00< |im_end| >");
        assert_eq!(told[3]["content"][0], json!({"type": "text", "text": words}));
    }

    #[test]
    fn thoughts_go_back_with_calls_only() {
        let thoughts = || Opaque {
            provider: "p".into(),
            model: "m".into(),
            json: r#"{"reasoning_content":"hm"}"#.into(),
        };
        let of = |parts: Vec<Part>, refused: Vec<Setting>| {
            let question = message(Role::User, vec![text("q")]);
            let mut chat = chat(vec![question, message(Role::Assistant, parts)]);
            chat.options.refused = refused;
            sent(&chat)["messages"][1].get("reasoning_content").cloned()
        };
        let calls = || vec![Part::Opaque(thoughts()), call("a", "t", "{}")];
        assert_eq!(of(calls(), vec![]), Some(json!("hm")));
        assert_eq!(of(calls(), vec![Setting::Thoughts]), None);
        assert_eq!(of(vec![Part::Opaque(thoughts()), text("a")], vec![]), None);
    }

    #[test]
    fn what_the_provider_put_there_goes_back_to_it() {
        let own = Opaque {
            provider: "p".into(),
            model: "m".into(),
            json: r#"{"reasoning_details":[{"data":"x"}],"role":"system"}"#.into(),
        };
        let said = vec![Part::Opaque(own), opaque("other", "m"), text("a")];
        let sent = sent(&chat(vec![message(Role::User, vec![text("q")]), message(Role::Assistant, said)]));
        let wanted = json!({"role": "assistant", "content": "a", "reasoning_details": [{"data": "x"}]});
        assert_eq!(sent["messages"][1], wanted);
    }
}
