//! From a client's form of a conversation to the link's, and back.
//!
//! ```text
//!  ChatMessage { content, toolCalls } ─► Message { parts }     the system's first, as the link wants them
//!  events ─► Answer ─► ChatMessage                             a text alone is a text, anything more an array of ChatPart
//! ```
//!
//! Owns this translation. Must never drop a part: one that cannot be read is refused, and one that only a provider
//! understands goes back unchanged.

use std::collections::HashMap;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ChatEvent, ChatMessage, ChatPart, ChatTool, ChatToolCall, ChatUsage};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{FromField as _, PutField as _};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::model::Event;
use harbor_ipc_proto::model::{
    self, Attachment, Finish, Image, InvalidMessagesReason, ModelMessage, ModelTool, Opaque, Part, Role,
    Setting, ToolCall, ToolResult, Usage,
};
use harbor_ipc_proto::strings::text_of;
use harbor_policy::empty_answer::Emptiness;
use harbor_policy::models::estimate;
use harbor_policy::prices::{Cost, Price};

use super::errors::invalid;
use crate::store::models::{Exactness, TokenUsage};

/// The tokens of an image, however many bytes it has.
const OF_AN_IMAGE: u64 = 1600;

/// The expected form of `content`.
const CONTENT: &str =
    "messages whose content is a text or an array of `ChatPart`: text, image, reasoning, opaque, tool_call";

/// The messages of a request.
pub fn messages(system: Option<&str>, said: Vec<ChatMessage>) -> Result<Vec<ModelMessage>, ErrorBody> {
    let all = kept_messages(system, said)?;
    model::check(&all).map_err(wrong)?;
    Ok(all)
}

/// The messages of a request that a model answers.
pub(super) fn asked(system: Option<&str>, said: Vec<ChatMessage>) -> Result<Vec<ModelMessage>, ErrorBody> {
    let all = kept_messages(system, said)?;
    model::check_asked(&all).map_err(wrong)?;
    Ok(all)
}

fn wrong(reason: InvalidMessagesReason) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("field `messages`: {reason}")).with("field", "messages")
}

/// The messages of a session, which may have attachments. They are not checked: a session's file may need repair.
pub fn kept_messages(system: Option<&str>, said: Vec<ChatMessage>) -> Result<Vec<ModelMessage>, ErrorBody> {
    let first =
        system.map(|text| ModelMessage { role: Role::System, parts: vec![Part::Text(text.to_owned())] });
    let mut names = HashMap::new();
    let mut all: Vec<_> = first.into_iter().collect();
    for one in said {
        all.push(message(one, &mut names)?);
    }
    // The model's instructions come first, in their order.
    all.sort_by_key(|message| message.role != Role::System);
    Ok(all)
}

fn message(said: ChatMessage, names: &mut HashMap<String, String>) -> Result<ModelMessage, ErrorBody> {
    let ChatMessage { role, content, toolCalls: calls, toolCallId: call_id, isError: is_error } = said;
    let role = Role::from_name(&role)
        .ok_or_else(|| invalid("messages", "only messages of the roles system, user, assistant and tool"))?;
    let mut calls: Vec<_> = calls.unwrap_or_default();
    for call in &calls {
        names.insert(call.id.clone(), call.name.clone());
    }
    let mut parts = parts_of(content, &mut calls)?;
    if role == Role::Tool {
        let call_id = call_id.ok_or_else(|| invalid("messages", "a toolCallId in each message of a tool"))?;
        let name = names.get(&call_id).cloned().unwrap_or_default();
        parts = vec![Part::ToolResult(result(call_id, name, parts, is_error == Some(true))?)];
    }
    parts.extend(calls.into_iter().map(call));
    Ok(ModelMessage { role, parts })
}

fn parts_of(content: Option<Json>, calls: &mut Vec<ChatToolCall>) -> Result<Vec<Part>, ErrorBody> {
    let Some(content) = content.filter(|content| content.as_str() != "null") else { return Ok(Vec::new()) };
    if let Some(text) = text_of(content.as_str()) {
        // Some providers refuse a part without any text.
        return Ok(Some(text)
            .filter(|text| !text.is_empty())
            .map(|text| Part::Text(text.into_owned()))
            .into_iter()
            .collect());
    }
    let parts = <Vec<ChatPart>>::from_text(content.as_str()).ok_or_else(|| invalid("messages", CONTENT))?;
    parts.into_iter().map(|one| part(one, calls)).collect()
}

fn part(one: ChatPart, calls: &mut Vec<ChatToolCall>) -> Result<Part, ErrorBody> {
    let ChatPart {
        r#type,
        text,
        mediaType: media_type,
        data,
        callId: call_id,
        provider,
        model,
        value,
        url,
        title,
    } = one;
    let is_attached = title.is_some() && r#type == "text" || url.is_some() && r#type == "page";
    Ok(match (r#type.as_str(), text, media_type, data, value) {
        ("text" | "page", Some(text), ..) if is_attached => {
            Part::Attached(Attachment { url, title: title.unwrap_or_default(), text })
        }
        ("text", Some(text), ..) => Part::Text(text),
        ("reasoning", Some(text), ..) => Part::Reasoning(text),
        ("image", _, Some(media_type), Some(data), _) => Part::Image(Image { media_type, data }),
        ("opaque", _, _, _, Some(value)) => Part::Opaque(Opaque {
            provider: provider.unwrap_or_default(),
            model: model.unwrap_or_default(),
            json: value.into_string(),
        }),
        ("tool_call", ..) => {
            let at = calls.iter().position(|call| Some(&call.id) == call_id.as_ref());
            let at = at.ok_or_else(|| {
                invalid("messages", "each part tool_call with a callId that occurs once in toolCalls")
            })?;
            call(calls.remove(at))
        }
        _ => return Err(invalid("messages", CONTENT)),
    })
}

fn call(ChatToolCall { id, name, arguments }: ChatToolCall) -> Part {
    Part::ToolCall(ToolCall { id, name, arguments: arguments.into_string() })
}

fn result(call_id: String, name: String, parts: Vec<Part>, is_error: bool) -> Result<ToolResult, ErrorBody> {
    let (mut text, mut images) = (String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(&more),
            Part::Image(image) => images.push(image),
            _ => return Err(invalid("messages", "only texts and images in the result of a tool")),
        }
    }
    Ok(ToolResult { call_id, name, text, images, is_error })
}

/// The tools of a request.
pub(super) fn tools(tools: Vec<ChatTool>) -> Vec<ModelTool> {
    let tool = |ChatTool { name, description, inputSchema: schema }: ChatTool| ModelTool {
        name,
        description: description.unwrap_or_default(),
        schema: schema.map_or_else(|| r#"{"type":"object"}"#.to_owned(), |schema| schema.0.into_string()),
    };
    tools.into_iter().map(tool).collect()
}

/// About how many tokens a model reads.
pub(super) fn tokens(messages: &[ModelMessage], tools: &[ModelTool]) -> u64 {
    let parts = messages.iter().flat_map(|message| &message.parts).map(|part| match part {
        Part::Text(text) => estimate(text.len()),
        Part::Image(_) => OF_AN_IMAGE,
        Part::ToolCall(call) => estimate(call.name.len() + call.arguments.len()),
        Part::ToolResult(result) => estimate(result.text.len()) + OF_AN_IMAGE * result.images.len() as u64,
        // It is sent to nobody.
        Part::Reasoning(_) => 0,
        Part::Opaque(opaque) => estimate(opaque.json.len()),
        Part::Attached(attached) => estimate(attached.title.len() + attached.text.len()),
    });
    // The text around a message in the model's own template.
    let around = 4 * messages.len() as u64;
    let of_tool = |tool: &ModelTool| estimate(tool.name.len() + tool.description.len() + tool.schema.len());
    parts.sum::<u64>() + tools.iter().map(of_tool).sum::<u64>() + around
}

/// The bytes of a conversation's texts and images.
pub(super) fn bytes(messages: &[ModelMessage], tools: &[ModelTool]) -> usize {
    let of_images = |images: &[Image]| images.iter().map(|image| image.data.len()).sum::<usize>();
    let parts = messages.iter().flat_map(|message| &message.parts).map(|part| match part {
        Part::Text(text) | Part::Reasoning(text) => text.len(),
        Part::Image(image) => image.data.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.len(),
        Part::ToolResult(result) => result.text.len() + of_images(&result.images),
        Part::Opaque(opaque) => opaque.json.len(),
        Part::Attached(attached) => attached.title.len() + attached.text.len(),
    });
    let tools = tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.schema.len());
    // The text around each message is short.
    parts.sum::<usize>() + tools.sum::<usize>() + 64 * messages.len()
}

/// The most tokens that a provider may report for one request. A larger number is a lie that would use up everybody's
/// budget.
const MOST_TOKENS: u64 = 1_000_000_000;

/// A model's answer so far.
#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    parts: Vec<Part>,
    names: HashMap<String, String>,
    usage: Option<Usage>,
    bytes: usize,
    /// The settings that the model has refused just now.
    pub(super) refused: Vec<Setting>,
    /// The tools that it was not told of.
    pub(super) dropped_tools: Vec<String>,
}

impl PartialAnswer {
    /// Adds an event. `provider` and `model` are those that were asked.
    pub(super) fn take(&mut self, event: &Event, provider: &str, model: &str) {
        match event {
            Event::Text(more) => {
                self.bytes += more.len();
                match self.parts.last_mut() {
                    Some(Part::Text(text)) => text.push_str(more),
                    _ => self.parts.push(Part::Text(more.clone())),
                }
            }
            Event::Reasoning(more) => {
                self.bytes += more.len();
                match self.parts.last_mut() {
                    Some(Part::Reasoning(text)) => text.push_str(more),
                    _ => self.parts.push(Part::Reasoning(more.clone())),
                }
            }
            Event::Opaque(json) => {
                let (provider, model) = (provider.to_owned(), model.to_owned());
                self.parts.push(Part::Opaque(Opaque { provider, model, json: json.clone() }));
            }
            Event::ToolCallStart { call_id, name } => drop(self.names.insert(call_id.clone(), name.clone())),
            Event::ToolCallArguments { text, .. } => self.bytes += text.len(),
            Event::ToolCallEnd { call_id, arguments } => self.parts.push(Part::ToolCall(ToolCall {
                id: call_id.clone(),
                name: self.names.get(call_id).cloned().unwrap_or_default(),
                arguments: arguments.clone(),
            })),
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Start { dropped_tools, .. } => self.dropped_tools.clone_from(dropped_tools),
            Event::End { .. } | Event::Error(_) | Event::Loading | Event::Waiting(_) => {}
            Event::Refused(settings) => self.refused.clone_from(settings),
        }
    }

    /// The parts of an answer that has ended without a text and without a call; none if it has either.
    pub(super) fn emptiness(&self, finish: Finish) -> Option<Emptiness> {
        let is_something = |part: &Part| match part {
            Part::Text(text) => !text.trim().is_empty(),
            Part::ToolCall(_) => finish == Finish::ToolCalls,
            _ => false,
        };
        if self.parts.iter().any(is_something) {
            return None;
        }
        let thought = self.parts.iter().any(|part| matches!(part, Part::Reasoning(_)));
        Some(Emptiness { thought, began_call: !self.names.is_empty() })
    }

    /// True if nothing has come that a provider would charge for.
    pub(super) fn is_nothing(&self) -> bool {
        self.bytes == 0 && self.usage.is_none() && self.parts.is_empty()
    }

    /// The tokens used: as the provider reports them, else by the length of the texts.
    pub(super) fn used(&self, input: u64, price: Option<Price>) -> TokenUsage {
        let told = self.usage.unwrap_or_default();
        let is_exact = told.input_tokens.is_some() && told.output_tokens.is_some();
        let input = told.input_tokens.unwrap_or(input).min(MOST_TOKENS);
        let output = told.output_tokens.unwrap_or_else(|| estimate(self.bytes)).min(MOST_TOKENS);
        let cached = told.cached_tokens.unwrap_or_default().min(MOST_TOKENS);
        TokenUsage {
            input,
            output,
            cached,
            reasoning: told.reasoning_tokens.unwrap_or_default().min(MOST_TOKENS),
            exactness: if is_exact { Exactness::Exact } else { Exactness::Estimated },
            cost: price.map_or(Cost::UNKNOWN, |price| price.cost(input, cached, output)),
        }
    }

    /// The answer as a message. If it did not end by its calls, they may not be run, and are left out.
    pub(super) fn message(&self, finish: Finish) -> ModelMessage {
        let has_calls = finish == Finish::ToolCalls;
        let is_told = |part: &&Part| has_calls || !matches!(part, Part::ToolCall(_));
        ModelMessage { role: Role::Assistant, parts: self.parts.iter().filter(is_told).cloned().collect() }
    }
}

/// A message as clients and files have it; [`messages`] reads it when a client sends it back. A message of tools must
/// have exactly one result.
pub fn written(message: ModelMessage) -> ChatMessage {
    let role = message.role.name();
    let said = |content| ChatMessage {
        role: role.into(),
        content,
        toolCalls: None,
        toolCallId: None,
        isError: None,
    };
    if message.role == Role::Tool {
        let result = message.parts.into_iter().find_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            _ => None,
        });
        let Some(ToolResult { call_id, text, images, is_error, .. }) = result else {
            return said(None);
        };
        let text = Some(Part::Text(text)).into_iter();
        let parts: Vec<_> = text.chain(images.into_iter().map(Part::Image)).collect();
        return ChatMessage {
            toolCallId: Some(call_id),
            isError: is_error.then_some(true),
            ..said(content_of(&parts))
        };
    }
    let content = content_of(&message.parts);
    let calls: Vec<_> = message.parts.into_iter().filter_map(told_call).collect();
    ChatMessage { toolCalls: Some(calls).filter(|calls| !calls.is_empty()), ..said(content) }
}

/// Texts before the first call become a text; anything else becomes an array of parts.
fn content_of(parts: &[Part]) -> Option<Json> {
    let is_call = |part: &Part| matches!(part, Part::ToolCall(_));
    let first_call = parts.iter().position(is_call).unwrap_or(parts.len());
    let is_plain = |(at, part): (usize, &Part)| match part {
        Part::Text(_) => at < first_call,
        part => is_call(part),
    };
    if !parts.iter().enumerate().all(is_plain) {
        return Some(listed(parts));
    }
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    (!text.is_empty() || first_call == parts.len()).then(|| Json::string(&text))
}

fn told_call(part: Part) -> Option<ChatToolCall> {
    let Part::ToolCall(ToolCall { id, name, arguments }) = part else { return None };
    Some(ChatToolCall { id, name, arguments: valid(arguments) })
}

/// The text as JSON, or as a JSON string if it is none: the worker is not trusted to send JSON.
fn valid(text: String) -> Json {
    match serde_json::from_str::<&serde_json::value::RawValue>(&text) {
        Ok(_) => Json::from_valid(text),
        Err(_) => Json::string(&text),
    }
}

fn listed(parts: &[Part]) -> Json {
    let nothing = ChatPart::of_type;
    let part = |part: &Part| match part {
        Part::Text(text) => Some(ChatPart { text: Some(text.clone()), ..nothing("text") }),
        Part::Reasoning(text) => Some(ChatPart { text: Some(text.clone()), ..nothing("reasoning") }),
        Part::ToolCall(call) => Some(ChatPart { callId: Some(call.id.clone()), ..nothing("tool_call") }),
        Part::Opaque(Opaque { provider, model, json }) => Some(ChatPart {
            provider: Some(provider.clone()),
            model: Some(model.clone()),
            value: Some(valid(json.clone())),
            ..nothing("opaque")
        }),
        Part::Image(Image { media_type, data }) => Some(ChatPart {
            mediaType: Some(media_type.clone()),
            data: Some(data.clone()),
            ..nothing("image")
        }),
        Part::Attached(Attachment { url, title, text }) => Some(ChatPart {
            text: Some(text.clone()),
            url: url.clone(),
            title: Some(title.clone()),
            ..nothing(if url.is_some() { "page" } else { "text" })
        }),
        Part::ToolResult(_) => None,
    };
    let parts: Vec<_> = parts.iter().filter_map(part).collect();
    let mut text = Vec::new();
    parts.put(&mut text);
    Json::from_valid(String::from_utf8(text).unwrap_or_default())
}

/// An event as clients get it. Parts that only a provider understands are in the answer alone.
pub(super) fn told(event: &Event) -> Option<ChatEvent> {
    let nothing = ChatEvent::of_type;
    Some(match event {
        Event::Loading => nothing("loading"),
        Event::Waiting(pause) => ChatEvent { retry_after_ms: Some(*pause), ..nothing("waiting") },
        Event::Start { .. } => nothing("start"),
        Event::Text(text) => ChatEvent { text: Some(text.clone()), ..nothing("text") },
        Event::Reasoning(text) => ChatEvent { text: Some(text.clone()), ..nothing("reasoning") },
        Event::Opaque(_) | Event::Refused(_) => return None,
        Event::ToolCallStart { call_id, name } => ChatEvent {
            call_id: Some(call_id.clone()),
            name: Some(name.clone()),
            ..nothing("tool_call_start")
        },
        Event::ToolCallArguments { call_id, text } => ChatEvent {
            call_id: Some(call_id.clone()),
            arguments: Some(text.clone()),
            ..nothing("tool_call_arguments")
        },
        Event::ToolCallEnd { call_id, arguments } => ChatEvent {
            call_id: Some(call_id.clone()),
            arguments: Some(arguments.clone()),
            ..nothing("tool_call_end")
        },
        Event::Usage(usage) => {
            let answer = PartialAnswer { usage: Some(*usage), ..PartialAnswer::default() };
            ChatEvent { usage: Some(usage_view(answer.used(0, None))), ..nothing("usage") }
        }
        Event::End { finish, .. } => ChatEvent { text: Some(finish.name().to_owned()), ..nothing("end") },
        Event::Error(failure) => {
            ChatEvent { text: Some(failure.cause.name().to_owned()), ..nothing("error") }
        }
    })
}

/// The used tokens, as an origin gets them: a cost would tell where the person's model runs.
pub fn usage_for_origin(usage: ChatUsage) -> ChatUsage {
    ChatUsage { cost_microdollars: None, ..usage }
}

/// The used tokens, as clients get them.
pub fn usage_view(used: TokenUsage) -> ChatUsage {
    ChatUsage {
        input_tokens: used.input,
        output_tokens: used.output,
        cached_tokens: used.cached,
        reasoning_tokens: used.reasoning,
        exactness: used.exactness.name().into(),
        cost_microdollars: used.cost.whole(),
    }
}

#[cfg(test)]
mod tests;
