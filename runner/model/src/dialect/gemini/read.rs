//! An answer of Gemini: whole objects, each with the next parts.

use harbor_ipc_proto::link::model::Failure;
use harbor_ipc_proto::model::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::word;
use super::own::{SignedPart, SignedPlace};
use crate::answer::Answer;
use crate::errors;
use crate::failure::{no_such_thing, told};

/// The longest signature that goes back, in bytes.
const MAX_OWN: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiChunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Value>,
    usage_metadata: Option<GeminiUsage>,
    model_version: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<CandidateContent>,
    finish_reason: Option<Value>,
}

#[derive(Deserialize)]
struct CandidateContent {
    parts: Option<Vec<CandidatePart>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CandidatePart {
    text: Option<Value>,
    thought: Option<Value>,
    thought_signature: Option<Value>,
    function_call: Option<FunctionCall>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionCall {
    id: Option<Value>,
    name: Option<Value>,
    args: Option<Box<RawValue>>,
    /// A call in pieces has these two. Nobody asked for such calls.
    partial_args: Option<Value>,
    will_continue: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub struct GeminiReader {
    /// Why it ended, or why nothing was answered.
    finish: Option<String>,
}

impl GeminiReader {
    /// Takes the data of one event.
    pub(crate) fn take(&mut self, name: &str, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        if name == "error" {
            return Err(told(&errors::read(data).unwrap_or_default()));
        }
        let chunk: GeminiChunk = serde_json::from_slice(data).map_err(|_| no_such_thing())?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(told(&errors::read(data).unwrap_or_default()));
        }
        self.chunk(chunk, answer)
    }

    fn chunk(&mut self, chunk: GeminiChunk, answer: &mut Answer) -> Result<(), Failure> {
        if let Some(model) = word(chunk.model_version) {
            answer.model(&model);
        }
        // There is one candidate, as one was asked for.
        if let Some(candidate) = chunk.candidates.and_then(|all| all.into_iter().next()) {
            for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
                part_of(part, answer)?;
            }
            let reason = word(candidate.finish_reason);
            self.finish = reason.filter(|word| word != "FINISH_REASON_UNSPECIFIED").or(self.finish.take());
        }
        let blocked =
            chunk.prompt_feedback.as_ref().and_then(|feedback| feedback.get("blockReason")?.as_str());
        self.finish = blocked.map(str::to_owned).or(self.finish.take());
        if let Some(used) = chunk.usage_metadata {
            answer.usage(used.into());
        }
        Ok(())
    }

    /// Takes an answer that has come as one text: an object, or a list of what would have been events.
    pub(crate) fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        if !body.trim_ascii_start().starts_with(b"[") {
            return self.take("", body, answer);
        }
        let chunks: Vec<Box<RawValue>> = serde_json::from_slice(body).map_err(|_| no_such_thing())?;
        chunks.iter().try_for_each(|chunk| self.take("", chunk.get().as_bytes(), answer))
    }

    /// The bytes have ended: good where it was said why.
    pub(crate) fn end(&mut self, answer: &mut Answer) {
        let Some(raw) = self.finish.take() else { return };
        let finish = match raw.as_str() {
            // Also where calls were made.
            "STOP" | "FUNCTION_CALL" => Finish::Stop,
            "MAX_TOKENS" => Finish::Length,
            _ => Finish::Error,
        };
        answer.finish(finish, Some(&raw), None);
    }
}

fn part_of(part: CandidatePart, answer: &mut Answer) -> Result<(), Failure> {
    let signature = word(part.thought_signature).filter(|signature| signature.len() <= MAX_OWN);
    if let Some(call) = part.function_call {
        return called(call, signature, answer);
    }
    let text = word(part.text).unwrap_or_default();
    let is_thought = part.thought.is_some_and(|thought| thought == true);
    match is_thought {
        true => answer.reasoning(&text),
        false => answer.text(&text),
    }
    if signature.is_some() {
        let place = if is_thought || text.is_empty() { SignedPlace::Alone } else { SignedPlace::Text };
        own(SignedPart { part: place, signature, id: None }, answer);
    }
    Ok(())
}

fn called(call: FunctionCall, signature: Option<String>, answer: &mut Answer) -> Result<(), Failure> {
    if call.partial_args.is_some() || call.will_continue.is_some_and(|more| more == true) {
        return Err(no_such_thing());
    }
    let Some(name) = word(call.name) else { return Ok(()) };
    let id = word(call.id).filter(|id| !id.is_empty());
    if signature.is_some() || id.is_some() {
        own(SignedPart { part: SignedPlace::Call, signature, id: id.clone() }, answer);
    }
    let number = answer.begin_call(id.as_deref(), &name)?;
    if let Some(args) = call.args.filter(|args| args.get() != "null") {
        answer.arguments(number, args.get())?;
    }
    answer.end_call(number);
    Ok(())
}

fn own(part: SignedPart, answer: &mut Answer) {
    if let Ok(json) = serde_json::to_string(&part) {
        answer.opaque(json);
    }
}

impl From<GeminiUsage> for Usage {
    fn from(used: GeminiUsage) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        Self {
            input_tokens: sum(used.prompt_token_count, used.tool_use_prompt_token_count),
            // Thoughts are not among those of the candidates.
            output_tokens: sum(used.candidates_token_count, used.thoughts_token_count),
            cached_tokens: used.cached_content_token_count,
            reasoning_tokens: used.thoughts_token_count,
        }
    }
}
