//! A request of Gemini.
//!
//! Owns the order within a turn: results before what they show, and that before texts; each signature on its own part.

use std::collections::HashMap;

use harbor_ipc_proto::link::model::{Cause, Chat, Failure};
use harbor_ipc_proto::model::{Image, Kind, ModelTool, Part, Role, ToolCall, ToolChoice, ToolResult};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::{object, sends_tools};
use super::own::{SignedPart, SignedPlace};
use crate::defuse::defused;
use crate::failure::failed;
use crate::names::wire_name;
use crate::schema;
use crate::turns::{NO_OUTPUT, Turn, turns};

/// Google's word for the signature of a call that another model made: newer models refuse a call without one.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Tokens of thoughts, for models that take a number.
const BUDGETS: [(&str, i32); 5] =
    [("none", 0), ("minimal", 512), ("low", 1024), ("medium", 8192), ("high", 24_576)];

/// The number that leaves it to the model.
const ANY_BUDGET: i32 = -1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GeminiRequest {
    contents: Vec<GeminiContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    generation_config: Map<String, Value>,
}

/// The request for a count of tokens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CountRequest {
    generate_content_request: CountedContent,
}

#[derive(Serialize)]
struct CountedContent {
    model: String,
    #[serde(flatten)]
    request: GeminiRequest,
}

#[derive(Serialize)]
struct GeminiContent {
    role: &'static str,
    parts: Vec<GeminiPart>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum GeminiPart {
    #[serde(rename_all = "camelCase")]
    Call {
        function_call: SentCall,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<String>,
    },
    Other(Value),
}

#[derive(Serialize)]
struct SentCall {
    name: String,
    args: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// The path of a model's method: `models/MODEL:METHOD`. A name with a slash in it says what it is a name of.
///
/// # Errors
/// When the name cannot stand in an address.
pub(crate) fn path(model: &str, method: &str) -> Result<String, Failure> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    if !model.chars().all(fits) || model.split('/').any(|part| part.trim_matches('.').is_empty()) {
        return Err(failed(Cause::NoModel, "no model of Gemini has this name"));
    }
    let below = if model.contains('/') { "" } else { "models/" };
    Ok(format!("{below}{model}:{method}"))
}

/// Where a request goes, and the request.
///
/// # Errors
/// As [`path`].
pub(crate) fn request(chat: &Chat) -> Result<(String, GeminiRequest), Failure> {
    let method = if chat.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Ok((path(&chat.model, method)?, GeminiRequest { generation_config: settings(chat), ..read_part(chat) }))
}

/// The request that has the tokens counted.
///
/// # Errors
/// As [`path`].
pub(crate) fn counted(chat: &Chat) -> Result<CountRequest, Failure> {
    let model = path(&chat.model, "")?.trim_end_matches(':').to_owned();
    Ok(CountRequest { generate_content_request: CountedContent { model, request: read_part(chat) } })
}

/// The part of a request that the model reads.
fn read_part(chat: &Chat) -> GeminiRequest {
    let (system, turns) = turns(chat);
    let declared: Vec<Value> = chat.tools.iter().map(tool).collect();
    GeminiRequest {
        contents: contents(chat, &turns),
        system_instruction: system.map(|text| json!({"parts": [{"text": text}]})),
        tools: if declared.is_empty() { vec![] } else { vec![json!({"functionDeclarations": declared})] },
        tool_config: sends_tools(chat).then(|| choice(&chat.tool_choice)).flatten(),
        generation_config: Map::new(),
    }
}

fn contents(chat: &Chat, turns: &[Turn<'_>]) -> Vec<GeminiContent> {
    let mut contents: Vec<GeminiContent> = Vec::new();
    // The ids that Gemini gave, by the calls' own.
    let mut given = HashMap::new();
    for turn in turns {
        let (role, parts) = match turn.role {
            Role::Assistant => ("model", assistant(chat, turn, &mut given)),
            Role::Tool => ("user", results(chat.target.kind, turn, &given)),
            Role::User | Role::System => ("user", turn.parts.iter().filter_map(|part| user(part)).collect()),
        };
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => contents.push(GeminiContent { role, parts }),
        }
    }
    contents
}

fn user(part: &Part) -> Option<GeminiPart> {
    match part {
        Part::Text(text) => Some(GeminiPart::Other(json!({"text": text}))),
        Part::Image(image) => Some(GeminiPart::Other(picture(image))),
        _ => None,
    }
}

fn picture(image: &Image) -> Value {
    json!({"inlineData": {"mimeType": image.media_type, "data": image.data}})
}

fn assistant(chat: &Chat, turn: &Turn<'_>, given: &mut HashMap<String, String>) -> Vec<GeminiPart> {
    let mut parts = Vec::new();
    let mut of_call: Option<SignedPart> = None;
    let mut is_first = true;
    for part in &turn.parts {
        match part {
            Part::Text(text) => parts.push(GeminiPart::Other(json!({"text": text}))),
            Part::Opaque(opaque) => match serde_json::from_str::<SignedPart>(&opaque.json) {
                Ok(own) if own.part == SignedPlace::Call => of_call = Some(own),
                Ok(own) => signed(own, &mut parts),
                Err(_) => {}
            },
            Part::ToolCall(call) => {
                let own = of_call.take();
                if let Some(id) = own.as_ref().and_then(|own| own.id.clone()) {
                    given.insert(call.id.clone(), id);
                }
                let signature = own.and_then(|own| own.signature);
                let needs_one = is_first && wants_signatures(&chat.model);
                let signature = signature.or_else(|| needs_one.then(|| UNSIGNED.to_owned()));
                is_first = false;
                parts.push(called(call, given, signature));
            }
            _ => {}
        }
    }
    parts
}

/// Puts a signature where it was: on the text before it, or on a part of its own.
fn signed(own: SignedPart, parts: &mut Vec<GeminiPart>) {
    if own.part == SignedPlace::Text
        && let Some(GeminiPart::Other(text)) = parts.last_mut()
    {
        text["thoughtSignature"] = own.signature.into();
        return;
    }
    parts.push(GeminiPart::Other(json!({"text": "", "thoughtSignature": own.signature})));
}

fn called(call: &ToolCall, given: &HashMap<String, String>, thought_signature: Option<String>) -> GeminiPart {
    let id = given.get(&call.id).cloned();
    let function_call = SentCall { name: wire_name(&call.name), args: object(&call.arguments), id };
    GeminiPart::Call { function_call, thought_signature }
}

/// All results, then all that they show: a result has no pictures of its own.
fn results(kind: Kind, turn: &Turn<'_>, given: &HashMap<String, String>) -> Vec<GeminiPart> {
    let (mut parts, mut shown) = (Vec::new(), Vec::new());
    for part in &turn.parts {
        let Part::ToolResult(ToolResult { call_id, name, text, images, is_error }) = part else { continue };
        let text = if text.trim().is_empty() { NO_OUTPUT.into() } else { defused(kind, text) };
        let field = if *is_error { "error" } else { "output" };
        let mut response = json!({"name": wire_name(name), "response": {field: text}});
        if let Some(id) = given.get(call_id) {
            response["id"] = id.as_str().into();
        }
        parts.push(GeminiPart::Other(json!({"functionResponse": response})));
        shown.extend(images.iter().map(|image| GeminiPart::Other(picture(image))));
    }
    parts.extend(shown);
    parts
}

fn tool(tool: &ModelTool) -> Value {
    json!({
        "name": wire_name(&tool.name),
        "description": tool.description,
        // Not `parameters`, which takes few words of JSON Schema.
        "parametersJsonSchema": schema::of_tool(&tool.schema),
    })
}

fn choice(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [wire_name(name)]}),
    };
    Some(json!({"functionCallingConfig": config}))
}

fn settings(chat: &Chat) -> Map<String, Value> {
    let asked = &chat.options;
    let schema =
        asked.response_schema.as_deref().and_then(|schema| serde_json::from_str::<Value>(schema).ok());
    let all = [
        ("maxOutputTokens", asked.max_tokens.map(Value::from)),
        ("temperature", asked.temperature.map(Value::from)),
        ("topP", asked.top_p.map(Value::from)),
        ("stopSequences", (!asked.stop.is_empty()).then(|| asked.stop.clone().into())),
        ("responseMimeType", schema.is_some().then(|| "application/json".into())),
        ("responseJsonSchema", schema),
        ("thinkingConfig", asked.reasoning_effort.as_deref().map(|effort| thinking(&chat.model, effort))),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// How much to think: a level, or a number of tokens for models before the third generation.
fn thinking(model: &str, effort: &str) -> Value {
    let shows = effort != "none";
    if generation(model).is_some_and(|generation| generation < 3) {
        let budget =
            BUDGETS.iter().find(|(name, _)| *name == effort).map_or(ANY_BUDGET, |(_, budget)| *budget);
        return json!({"thinkingBudget": budget, "includeThoughts": shows});
    }
    // They cannot be told not to think at all.
    json!({"thinkingLevel": if shows { effort } else { "minimal" }, "includeThoughts": shows})
}

/// True if a model refuses a call of its own without a signature.
fn wants_signatures(model: &str) -> bool {
    model.contains("gemini-") && generation(model).is_none_or(|generation| generation >= 3)
}

/// The first number of a model's version: 3 for `gemini-3.1-pro`.
fn generation(model: &str) -> Option<u32> {
    let (_, version) = model.split_once("gemini-")?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{call, chat, message, result, sent, text, with_tools};
    use super::super::super::{Prepared, prepare};
    use harbor_ipc_proto::model::{Dialect, Opaque};

    use super::*;

    #[test]
    fn a_conversation_is_written_as_the_format_has_it() {
        let sent = sent(&with_tools(Kind::Gemini, Dialect::Gemini));
        let name = wire_name("time/get");
        let shown = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
        let called = |args: Value| json!({"functionCall": {"name": name, "args": args}});
        let came = |response: Value| json!({"functionResponse": {"name": name, "response": response}});
        let wanted = json!([
            {"role": "user", "parts": [{"text": "look"}, shown]},
            {"role": "model", "parts": [called(json!({"z": 1, "a": 2})), called(json!({})), {"text": "looking"}]},
            {"role": "user", "parts": [
                came(json!({"output": "12:00<|im_end|>"})), came(json!({"error": "(no output)"})), shown, {"text": "and?"},
            ]},
        ]);
        assert_eq!(sent["contents"], wanted);
        assert_eq!(sent["systemInstruction"], json!({"parts": [{"text": "be brief"}]}));
        let declared = &sent["tools"][0]["functionDeclarations"][0];
        assert_eq!(
            (&declared["name"], &declared["parametersJsonSchema"]["type"]),
            (&json!(name), &json!("object"))
        );
        assert!(sent.get("toolConfig").is_none() && sent.get("generationConfig").is_none());
    }

    #[test]
    fn a_signature_goes_back_on_its_part_and_an_id_with_its_result() {
        let own = |json: &str| {
            Part::Opaque(Opaque { provider: "p".into(), model: "gemini-3-pro".into(), json: json.into() })
        };
        let said = vec![
            text("look"),
            own(r#"{"part":"text","thoughtSignature":"s1"}"#),
            own(r#"{"part":"alone","thoughtSignature":"s2"}"#),
            own(r#"{"part":"call","thoughtSignature":"s3","id":"g1"}"#),
            call("g1", "t", "{}"),
            call("made", "t", "{}"),
        ];
        let results = ["g1", "made"].map(|id| Part::ToolResult(result(id, "x"))).into();
        let mut chat = chat(vec![
            message(Role::User, vec![text("q")]),
            message(Role::Assistant, said),
            message(Role::Tool, results),
        ]);
        (chat.target.dialect, chat.model) = (Dialect::Gemini, "gemini-3-pro".into());
        let contents = &sent(&chat)["contents"];
        let wanted = json!([
            {"text": "look", "thoughtSignature": "s1"},
            {"text": "", "thoughtSignature": "s2"},
            {"functionCall": {"name": "t", "args": {}, "id": "g1"}, "thoughtSignature": "s3"},
            {"functionCall": {"name": "t", "args": {}}},
        ]);
        assert_eq!(contents[1]["parts"], wanted);
        let ids: Vec<_> = contents[2]["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["functionResponse"]["id"].clone())
            .collect();
        assert_eq!(ids, [json!("g1"), Value::Null]);
    }

    #[test]
    fn a_call_that_another_model_made_says_so_to_models_that_want_a_signature() {
        let of = |model: &str| {
            let mut chat = with_tools(Kind::Gemini, Dialect::Gemini);
            chat.model = model.into();
            sent(&chat)["contents"][1]["parts"].clone()
        };
        let newer = of("gemini-3.1-flash");
        assert_eq!(
            (&newer[0]["thoughtSignature"], newer[1].get("thoughtSignature")),
            (&json!(UNSIGNED), None)
        );
        assert_eq!(of("gemini-2.5-pro")[0].get("thoughtSignature"), None);
    }

    #[test]
    fn each_setting_has_its_field() {
        let mut chat = with_tools(Kind::Gemini, Dialect::Gemini);
        chat.model = "gemini-2.5-flash".into();
        chat.tool_choice = ToolChoice::Tool("time/get".into());
        chat.options.max_tokens = Some(5);
        chat.options.stop = vec!["x".into()];
        chat.options.reasoning_effort = Some("low".into());
        chat.options.response_schema = Some(r#"{"type":"object"}"#.into());
        let older = sent(&chat);
        let wanted = json!({"maxOutputTokens": 5, "stopSequences": ["x"], "responseMimeType": "application/json",
            "responseJsonSchema": {"type": "object"}, "thinkingConfig": {"thinkingBudget": 1024, "includeThoughts": true}});
        assert_eq!(older["generationConfig"], wanted);
        let config = json!({"mode": "ANY", "allowedFunctionNames": [wire_name("time/get")]});
        assert_eq!(older["toolConfig"]["functionCallingConfig"], config);
        chat.model = "gemini-3-pro".into();
        chat.options.reasoning_effort = Some("none".into());
        let level = json!({"thinkingLevel": "minimal", "includeThoughts": false});
        assert_eq!(sent(&chat)["generationConfig"]["thinkingConfig"], level);
    }

    #[test]
    fn the_model_stands_in_the_address() {
        let of = |model: &str, stream: bool| {
            let mut chat = with_tools(Kind::Gemini, Dialect::Gemini);
            (chat.model, chat.stream) = (model.into(), stream);
            prepare(&chat).map(|Prepared { path, .. }| path.into_owned()).map_err(|failure| failure.cause)
        };
        assert_eq!(of("m", true).unwrap(), "models/m:streamGenerateContent?alt=sse");
        assert_eq!(of("models/m", false).unwrap(), "models/m:generateContent");
        assert_eq!(of("tunedModels/mine", false).unwrap(), "tunedModels/mine:generateContent");
        for odd in ["m?key=x", "../m", "a/../b", "", "m n", "m#"] {
            assert_eq!(of(odd, true), Err(Cause::NoModel), "{odd}");
        }
    }
}
