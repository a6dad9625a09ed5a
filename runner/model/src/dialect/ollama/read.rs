//! An answer of Ollama: a JSON value a line.

use harbor_ipc_proto::link::model::Failure;
use harbor_ipc_proto::model::{Finish, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::word;
use crate::answer::Answer;
use crate::errors;
use crate::failure::{no_such_thing, told};

/// The longest thoughts that go back, in bytes.
const MAX_THOUGHT: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct Line {
    model: Option<String>,
    message: Option<OllamaAnswer>,
    done: Option<bool>,
    done_reason: Option<String>,
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<OllamaToolCall>>,
}

#[derive(Deserialize)]
struct OllamaToolCall {
    /// A text; a number at some.
    id: Option<Value>,
    function: Option<OllamaFunction>,
}

#[derive(Deserialize)]
struct OllamaFunction {
    index: Option<i64>,
    name: Option<String>,
    /// An object; who imitates Ollama may send a string, in pieces.
    arguments: Option<Box<RawValue>>,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub struct OllamaReader {
    /// The call whose arguments come as pieces of a string, and its index.
    open: Option<(usize, Option<i64>)>,
    thoughts: String,
}

impl OllamaReader {
    /// Takes one line.
    pub(crate) fn take(&mut self, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        let line: Line = serde_json::from_slice(data).map_err(|_| no_such_thing())?;
        if line.error.is_some_and(|error| !error.is_null()) {
            return Err(told(&errors::read(data).unwrap_or_default()));
        }
        if let Some(model) = &line.model {
            answer.model(model);
        }
        if let Some(message) = line.message {
            self.message(message, answer)?;
        }
        if line.done == Some(true) {
            answer.usage(Usage {
                // Absent where nothing was evaluated anew: how many there were is not known then.
                input_tokens: line.prompt_eval_count,
                output_tokens: line.eval_count,
                ..Usage::default()
            });
            let raw = line.done_reason.as_deref();
            let finish = if raw == Some("length") { Finish::Length } else { Finish::Stop };
            let thoughts = std::mem::take(&mut self.thoughts);
            let opaque = (!thoughts.is_empty()).then(|| json!({"thinking": thoughts}).to_string());
            answer.finish(finish, raw, opaque);
        }
        Ok(())
    }

    fn message(&mut self, message: OllamaAnswer, answer: &mut Answer) -> Result<(), Failure> {
        if let Some(thoughts) = message.thinking {
            answer.reasoning(&thoughts);
            if self.thoughts.len() + thoughts.len() <= MAX_THOUGHT {
                self.thoughts.push_str(&thoughts);
            }
        }
        if let Some(text) = message.content {
            answer.text(&text);
        }
        for called in message.tool_calls.unwrap_or_default() {
            let Some(function) = called.function else { continue };
            self.called(word(called.id).as_deref(), function, answer)?;
        }
        Ok(())
    }

    fn called(
        &mut self,
        id: Option<&str>,
        function: OllamaFunction,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let OllamaFunction { index, name, arguments } = function;
        let arguments = arguments.as_deref().map(RawValue::get).unwrap_or_default();
        let piece: Option<String> =
            arguments.starts_with('"').then(|| serde_json::from_str(arguments).unwrap_or_default());
        let name = name.filter(|name| !name.is_empty());
        let goes_on = self.open.filter(|(_, known)| name.is_none() && (index.is_none() || *known == index));
        let call = match goes_on {
            Some((call, _)) => call,
            None => answer.begin_call(id, name.as_deref().unwrap_or_default())?,
        };
        answer.arguments(call, piece.as_deref().unwrap_or(arguments))?;
        match piece {
            Some(_) => self.open = Some((call, index)),
            None => answer.end_call(call),
        }
        Ok(())
    }
}
