//! An answer of Messages.
//!
//! Owns that a call is whole only once its block has stopped: at a limit of tokens a block may end without that.

use harbor_ipc_proto::link::model::Failure;
use harbor_ipc_proto::model::{Finish, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::word;
use crate::answer::Answer;
use crate::errors;
use crate::failure::{no_such_thing, told};

/// The longest thought that goes back, in bytes.
const MAX_THOUGHT: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct AnthropicEvent {
    r#type: Option<String>,
    index: Option<u64>,
    message: Option<Value>,
    content_block: Option<Block>,
    delta: Option<BlockDelta>,
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    /// A text; a number at some.
    id: Option<Value>,
    name: Option<String>,
    text: Option<String>,
    input: Option<Value>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
}

#[derive(Deserialize)]
struct BlockDelta {
    r#type: Option<String>,
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct AnthropicUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Debug)]
enum Opened {
    Text,
    Call(usize),
    Thought {
        text: String,
        signature: String,
    },
    /// As it came: it is stopped at once.
    Other,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub struct AnthropicReader {
    /// The blocks that have begun, by their index.
    blocks: Vec<(u64, Opened)>,
    used: AnthropicUsage,
    stop: Option<String>,
}

impl AnthropicReader {
    /// Takes the data of one event.
    pub(crate) fn take(&mut self, name: &str, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        // llama-server's error is not wrapped, and has another type.
        if name == "error" {
            return Err(told(&errors::read(data).unwrap_or_default()));
        }
        let said: AnthropicEvent = serde_json::from_slice(data).map_err(|_| no_such_thing())?;
        match said.r#type.as_deref() {
            Some("error") => return Err(told(&errors::read(data).unwrap_or_default())),
            Some("message_start") => self.start(said.message.unwrap_or_default(), answer),
            Some("content_block_start") => {
                if let (Some(index), Some(block)) = (said.index, said.content_block) {
                    self.open(index, block, answer)?;
                }
            }
            Some("content_block_delta") => {
                if let (Some(index), Some(delta)) = (said.index, said.delta) {
                    self.delta(index, delta, answer)?;
                }
            }
            Some("content_block_stop") => self.stop(said.index, answer),
            Some("message_delta") => {
                self.stop = said.delta.and_then(|delta| delta.stop_reason).or(self.stop.take());
                self.used(said.usage, answer);
            }
            Some("message_stop") => finish(self.stop.take(), answer),
            // Pings, and what later versions may add.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, mut message: Value, answer: &mut Answer) {
        if let Some(model) = message.get("model").and_then(Value::as_str) {
            answer.model(model);
        }
        self.used(taken(&mut message, "usage"), answer);
    }

    /// The last word counts, and is no addition.
    fn used(&mut self, used: Option<AnthropicUsage>, answer: &mut Answer) {
        let Some(used) = used else { return };
        self.used = AnthropicUsage {
            input_tokens: used.input_tokens.or(self.used.input_tokens),
            output_tokens: used.output_tokens.or(self.used.output_tokens),
            cache_creation_input_tokens: used
                .cache_creation_input_tokens
                .or(self.used.cache_creation_input_tokens),
            cache_read_input_tokens: used.cache_read_input_tokens.or(self.used.cache_read_input_tokens),
        };
        answer.usage(self.used.into());
    }

    fn open(&mut self, index: u64, block: Block, answer: &mut Answer) -> Result<(), Failure> {
        let opened = match block.r#type.as_str() {
            "text" => {
                answer.text(block.text.as_deref().unwrap_or_default());
                Opened::Text
            }
            "tool_use" => {
                let id = word(block.id);
                let call = answer.begin_call(id.as_deref(), block.name.as_deref().unwrap_or_default())?;
                // Empty where deltas follow.
                if let Some(input) =
                    block.input.filter(|input| input.as_object().is_some_and(|input| !input.is_empty()))
                {
                    answer.arguments(call, &input.to_string())?;
                }
                Opened::Call(call)
            }
            "thinking" => {
                let text = block.thinking.unwrap_or_default();
                answer.reasoning(&text);
                Opened::Thought { text, signature: block.signature.unwrap_or_default() }
            }
            "redacted_thinking" => {
                if let Some(data) = block.data.filter(|data| data.len() <= MAX_THOUGHT) {
                    answer.opaque(json!({"type": "redacted_thinking", "data": data}).to_string());
                }
                Opened::Other
            }
            _ => Opened::Other,
        };
        self.blocks.retain(|(known, _)| *known != index);
        self.blocks.push((index, opened));
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: BlockDelta, answer: &mut Answer) -> Result<(), Failure> {
        let Some((_, opened)) = self.blocks.iter_mut().find(|(known, _)| *known == index) else {
            return Ok(());
        };
        match (delta.r#type.as_deref(), opened) {
            (Some("text_delta"), Opened::Text) => answer.text(delta.text.as_deref().unwrap_or_default()),
            (Some("input_json_delta"), Opened::Call(call)) => {
                answer.arguments(*call, delta.partial_json.as_deref().unwrap_or_default())?;
            }
            (Some("thinking_delta"), Opened::Thought { text, .. }) => {
                let more = delta.thinking.unwrap_or_default();
                answer.reasoning(&more);
                if text.len() + more.len() > MAX_THOUGHT {
                    return Err(no_such_thing());
                }
                text.push_str(&more);
            }
            (Some("signature_delta"), Opened::Thought { signature, .. }) => {
                let more = delta.signature.unwrap_or_default();
                if signature.len() + more.len() > MAX_THOUGHT {
                    return Err(no_such_thing());
                }
                signature.push_str(&more);
            }
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, index: Option<u64>, answer: &mut Answer) {
        let at = self.blocks.iter().position(|(known, _)| Some(*known) == index);
        match at.map(|at| self.blocks.remove(at).1) {
            Some(Opened::Call(call)) => answer.end_call(call),
            // Without a signature nobody takes it back.
            Some(Opened::Thought { text, signature }) if !signature.is_empty() => {
                answer.opaque(
                    json!({"type": "thinking", "thinking": text, "signature": signature}).to_string(),
                );
            }
            _ => {}
        }
    }
}

/// Reads an answer that has come as one text.
pub(crate) fn whole(body: &[u8], answer: &mut Answer) -> Result<(), Failure> {
    let mut message: Value = serde_json::from_slice(body).map_err(|_| no_such_thing())?;
    if message.get("type").is_some_and(|kind| kind == "error") || message.get("error").is_some() {
        return Err(told(&errors::said(&message).unwrap_or_default()));
    }
    let mut reader = AnthropicReader::default();
    let blocks: Vec<Block> = taken(&mut message, "content").ok_or_else(no_such_thing)?;
    let stop = message.get("stop_reason").and_then(Value::as_str).map(str::to_owned);
    reader.start(message, answer);
    let last = blocks.len().saturating_sub(1);
    for (index, block) in (0u64..).zip(blocks) {
        reader.open(index, block, answer)?;
        // The last block of an answer that was cut off may be half.
        if finish_of(stop.as_deref()) != Finish::Length || usize::try_from(index) != Ok(last) {
            reader.stop(Some(index), answer);
        }
    }
    finish(stop, answer);
    Ok(())
}

/// A member of what may be no object at all.
fn taken<T: serde::de::DeserializeOwned>(message: &mut Value, name: &str) -> Option<T> {
    serde_json::from_value(message.get_mut(name)?.take()).ok()
}

fn finish_of(stop: Option<&str>) -> Finish {
    match stop {
        Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
        Some("refusal") => Finish::Error,
        Some("tool_use") => Finish::ToolCalls,
        _ => Finish::Stop,
    }
}

fn finish(stop: Option<String>, answer: &mut Answer) {
    answer.finish(finish_of(stop.as_deref()), stop.as_deref(), None);
}

impl From<AnthropicUsage> for Usage {
    fn from(used: AnthropicUsage) -> Self {
        let cache = [used.cache_creation_input_tokens, used.cache_read_input_tokens];
        let cache = cache.into_iter().flatten().fold(0, u64::saturating_add);
        Self {
            input_tokens: used.input_tokens.map(|input| input.saturating_add(cache)),
            output_tokens: used.output_tokens,
            cached_tokens: used.cache_read_input_tokens,
            reasoning_tokens: None,
        }
    }
}
