//! An answer of Chat Completions. Owns its text, its thoughts and how it ends.

use harbor_ipc_proto::link::model::Failure;
use harbor_ipc_proto::model::{Finish, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::calls::{CallPiece, Calls, FunctionPiece};
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
    tool_calls: Option<Vec<CallPiece>>,
    /// The one call of answers before there were `tool_calls`.
    function_call: Option<FunctionPiece>,
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

/// Reads one answer.
#[derive(Debug, Default)]
pub struct CompletionReader {
    calls: Calls,
    finish: Option<String>,
    thoughts: String,
    details: Vec<Value>,
}

impl CompletionReader {
    /// Takes the data of one event, or a whole answer.
    pub(crate) fn take(&mut self, name: &str, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        if data.trim_ascii() == b"[DONE]" {
            return self.finish(answer);
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
        let old = delta.function_call.map(CallPiece::from);
        let pieces = delta.tool_calls.unwrap_or_default().into_iter().chain(old);
        pieces.into_iter().try_for_each(|piece| self.calls.take(piece, answer))
    }

    /// The bytes have ended: good where the server has said why.
    ///
    /// # Errors
    /// When the model asked for too many calls.
    pub(crate) fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        if self.finish.is_some() { self.finish(answer) } else { Ok(()) }
    }

    fn finish(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        self.calls.end(answer)?;
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
        } else if !self.thoughts.is_empty() && !self.calls.is_empty() {
            Some(json!({ OWN[0]: std::mem::take(&mut self.thoughts) }).to_string())
        } else {
            None
        };
        answer.finish(finish, raw.as_deref(), opaque);
        Ok(())
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
