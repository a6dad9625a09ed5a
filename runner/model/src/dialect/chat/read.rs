//! An answer of Chat Completions.
//!
//! Owns which pieces belong to one call: index, id and name may each be missing or wrong.

use harbor_ipc_proto::link::model::Failure;
use harbor_ipc_proto::model::{Finish, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::errors;
use crate::failure::{no_such_thing, told};

/// Fields of a message that go back as they came.
pub(super) const OWN: [&str; 2] = ["reasoning_content", "reasoning_details"];

/// The longest thoughts that go back, in bytes.
const MAX_OWN: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct Chunk {
    model: Option<String>,
    choices: Option<Vec<Choice>>,
    usage: Option<CompletionUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    /// `message` where the answer comes whole.
    #[serde(alias = "message")]
    delta: Option<ChoiceDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceDelta {
    content: Option<Value>,
    refusal: Option<String>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    reasoning_details: Option<Vec<Value>>,
    tool_calls: Option<Vec<ToolCallDelta>>,
}

#[derive(Deserialize)]
struct ToolCallDelta {
    index: Option<i64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    /// A string; an object at some.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct CompletionUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    /// DeepSeek's.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
struct Details {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

#[derive(Debug)]
struct Slot {
    index: i64,
    id: Option<String>,
    name: String,
    call: usize,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub struct CompletionReader {
    slots: Vec<Slot>,
    finish: Option<String>,
    thoughts: String,
    details: Vec<Value>,
}

impl CompletionReader {
    /// Takes the data of one event, or a whole answer.
    pub(crate) fn take(&mut self, name: &str, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        if data.trim_ascii() == b"[DONE]" {
            self.finish(answer);
            return Ok(());
        }
        let chunk: Chunk = match serde_json::from_slice(data) {
            Ok(chunk) => chunk,
            Err(_) if name == "error" => return Err(told(&errors::read(data).unwrap_or_default())),
            Err(_) => return Err(no_such_thing()),
        };
        let says_error = chunk.error.as_ref().is_some_and(|error| !error.is_null());
        if says_error || name == "error" {
            return Err(told(&errors::read(data).unwrap_or_default()));
        }
        if let Some(model) = &chunk.model {
            answer.model(model);
        }
        // There is one choice, as one was asked for.
        if let Some(choice) = chunk.choices.and_then(|choices| choices.into_iter().next()) {
            if let Some(delta) = choice.delta {
                self.delta(delta, answer)?;
            }
            self.finish = choice.finish_reason.filter(|word| !word.is_empty()).or(self.finish.take());
        }
        if let Some(used) = chunk.usage {
            answer.usage(used.into());
        }
        Ok(())
    }

    fn delta(&mut self, delta: ChoiceDelta, answer: &mut Answer) -> Result<(), Failure> {
        let thoughts = [&delta.reasoning_content, &delta.reasoning].into_iter().flatten().next();
        if let Some(thoughts) = thoughts.and_then(Value::as_str) {
            answer.reasoning(thoughts);
            // Whoever writes it wants it back with calls.
            let is_own = delta.reasoning_content.is_some();
            if is_own && self.thoughts.len() + thoughts.len() <= MAX_OWN {
                self.thoughts.push_str(thoughts);
            }
        }
        self.details.extend(delta.reasoning_details.unwrap_or_default());
        match delta.content {
            Some(Value::String(text)) => answer.text(&text),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| content(part, answer)),
            _ => {}
        }
        if let Some(refusal) = delta.refusal {
            answer.text(&refusal);
        }
        for piece in delta.tool_calls.unwrap_or_default() {
            self.piece(piece, answer)?;
        }
        Ok(())
    }

    fn piece(&mut self, piece: ToolCallDelta, answer: &mut Answer) -> Result<(), Failure> {
        let function = piece.function.unwrap_or(FunctionDelta { name: None, arguments: None });
        let name = function.name.filter(|name| !name.is_empty());
        let id = piece.id.filter(|id| !id.is_empty());
        let arguments = match function.arguments {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(whole) => whole.to_string(),
        };
        let call = match self.known(piece.index, id.as_deref(), name.as_deref(), &arguments, answer) {
            Some(call) => call,
            None => {
                let name = name.unwrap_or_default();
                let call = answer.begin_call(id.as_deref(), &name)?;
                let index = piece.index.unwrap_or_else(|| i64::try_from(call).unwrap_or(i64::MAX));
                self.slots.push(Slot { index, id, name, call });
                call
            }
        };
        answer.arguments(call, &arguments)
    }

    /// The call that a piece goes on with. Old servers give each call the index 0, so another id or name is another call.
    fn known(
        &self,
        index: Option<i64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
        answer: &Answer,
    ) -> Option<usize> {
        let at_index = |slot: &&Slot| index.is_none_or(|index| slot.index == index);
        let slot = match id {
            Some(id) => {
                match self.slots.iter().rev().find(|slot| slot.id.as_deref() == Some(id) && at_index(slot)) {
                    Some(slot) => return Some(slot.call),
                    None => self
                        .slots
                        .iter()
                        .rev()
                        .find(at_index)
                        .filter(|slot| slot.id.is_none() && name.is_none())?,
                }
            }
            None => self.slots.iter().rev().find(at_index)?,
        };
        let is_another = name
            .is_some_and(|name| name != slot.name || (answer.is_whole(slot.call) && !arguments.is_empty()));
        (!is_another).then_some(slot.call)
    }

    /// The bytes have ended: good where the server has said why.
    pub(crate) fn end(&mut self, answer: &mut Answer) {
        if self.finish.is_some() {
            self.finish(answer);
        }
    }

    fn finish(&mut self, answer: &mut Answer) {
        let raw = self.finish.take();
        let finish = match raw.as_deref() {
            Some("length") => Finish::Length,
            Some("content_filter" | "error") => Finish::Error,
            Some("tool_calls" | "function_call") => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        let opaque = if !self.details.is_empty() {
            let details = json!({ OWN[1]: std::mem::take(&mut self.details) }).to_string();
            Some(details).filter(|details| details.len() <= MAX_OWN)
        } else if !self.thoughts.is_empty() && !self.slots.is_empty() {
            Some(json!({ OWN[0]: std::mem::take(&mut self.thoughts) }).to_string())
        } else {
            None
        };
        answer.finish(finish, raw.as_deref(), opaque);
    }
}

/// A part of a content that is a list: Mistral's thoughts are one.
fn content(part: &Value, answer: &mut Answer) {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        answer.text(text);
    } else if let Some(thoughts) = part.get("thinking").and_then(Value::as_array) {
        for thought in thoughts.iter().filter_map(|thought| thought.get("text")?.as_str()) {
            answer.reasoning(thought);
        }
    }
}

impl From<CompletionUsage> for Usage {
    fn from(used: CompletionUsage) -> Self {
        let cached = used.prompt_tokens_details.unwrap_or_default().cached_tokens;
        Self {
            input_tokens: used.prompt_tokens,
            output_tokens: used.completion_tokens,
            cached_tokens: cached.or(used.prompt_cache_hit_tokens),
            reasoning_tokens: used.completion_tokens_details.unwrap_or_default().reasoning_tokens,
        }
    }
}
