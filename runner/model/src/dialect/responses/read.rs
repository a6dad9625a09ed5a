//! An answer of Responses.
//!
//! Owns which events belong to one item: by its place in the output, and by its id where servers leave the place out.
//! Must never fail on an event that it does not know: new ones appear often.

use harbor_ipc_proto::link::model::Failure;
use harbor_ipc_proto::model::{Finish, Kind, Usage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::word;
use crate::answer::Answer;
use crate::errors;
use crate::failure::{no_such_thing, told};

/// Items of one answer.
const MAX_ITEMS: usize = 1024;

/// The longest item that goes back, in bytes.
const MAX_OWN: usize = 4 * 1024 * 1024;

/// An event. Of an event that is not known any field may be anything.
#[derive(Deserialize)]
struct ResponsesEvent<'j> {
    r#type: Option<Value>,
    item_id: Option<Value>,
    output_index: Option<Value>,
    summary_index: Option<Value>,
    delta: Option<Value>,
    #[serde(borrow)]
    item: Option<&'j RawValue>,
    #[serde(borrow)]
    response: Option<&'j RawValue>,
}

#[derive(Deserialize)]
struct OutputItem {
    r#type: Option<Value>,
    id: Option<Value>,
    call_id: Option<Value>,
    name: Option<Value>,
    /// A text; an object at some.
    arguments: Option<Value>,
    status: Option<Value>,
    content: Option<Value>,
    summary: Option<Value>,
    encrypted_content: Option<Value>,
}

/// The answer as a whole.
#[derive(Deserialize)]
struct WholeResponse<'j> {
    model: Option<Value>,
    status: Option<Value>,
    error: Option<Value>,
    incomplete_details: Option<Value>,
    usage: Option<Value>,
    #[serde(borrow)]
    output: Option<Vec<&'j RawValue>>,
}

/// An item that has begun.
#[derive(Debug)]
struct OpenItem {
    index: Option<u64>,
    id: Option<String>,
    call: Option<usize>,
    /// True if its content has come in deltas.
    has_come: bool,
}

/// Reads one answer.
#[derive(Debug, Default)]
pub struct ResponsesReader {
    slots: Vec<OpenItem>,
    /// The most tokens of the answer, where its server does not say that they ended it.
    silent_limit: Option<u64>,
}

impl ResponsesReader {
    /// The answer may have this many tokens. llama-server calls an answer completed that was cut off there.
    pub(crate) fn set_limit(&mut self, kind: Kind, most: Option<u32>) {
        let is_silent = matches!(kind, Kind::LlamaServer | Kind::Llamafile);
        self.silent_limit = most.filter(|_| is_silent).map(u64::from);
    }

    /// Takes the data of one event.
    pub(crate) fn take(&mut self, name: &str, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        // The end of other formats, which some send here, too.
        if data.trim_ascii() == b"[DONE]" {
            return Ok(());
        }
        if name == "error" {
            return Err(told(&errors::read(data).unwrap_or_default()));
        }
        let event: ResponsesEvent<'_> = serde_json::from_slice(data).map_err(|_| no_such_thing())?;
        let kind = word(event.r#type).unwrap_or_default();
        let (index, id) = (event.output_index.as_ref().and_then(Value::as_u64), word(event.item_id));
        let delta = event.delta.as_ref().and_then(Value::as_str).unwrap_or_default();
        match kind.as_str() {
            "error" => return Err(told(&errors::read(data).unwrap_or_default())),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.slot(index, id)?.has_come = true;
                answer.text(delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.slot(index, id)?.has_come = true;
                answer.reasoning(delta);
            }
            "response.reasoning_summary_part.added" => {
                let is_next = event.summary_index.as_ref().and_then(Value::as_u64).is_some_and(|n| n > 0);
                answer.reasoning(if is_next { "\n\n" } else { "" });
            }
            "response.function_call_arguments.delta" => {
                let slot = self.slot(index, id)?;
                slot.has_come = true;
                if let Some(call) = slot.call {
                    answer.arguments(call, delta)?;
                }
            }
            "response.output_item.added" => self.item(index, event.item, answer, false)?,
            "response.output_item.done" => self.item(index, event.item, answer, true)?,
            "response.created" | "response.in_progress" => {
                if let Some(model) =
                    read::<WholeResponse<'_>>(event.response).and_then(|whole| word(whole.model))
                {
                    answer.model(&model);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.ended(event.response.ok_or_else(no_such_thing)?.get().as_bytes(), answer)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The item at this place, or with this id; a new one where there is none.
    fn slot(&mut self, index: Option<u64>, id: Option<String>) -> Result<&mut OpenItem, Failure> {
        let at_index = |slot: &OpenItem| index.is_some() && slot.index == index;
        // Some give each event another id, so the place goes first.
        let found = self.slots.iter().rposition(at_index).or_else(|| match index {
            None => self.slots.iter().rposition(|slot| id.is_some() && slot.id == id),
            Some(_) => None,
        });
        let at = match found {
            Some(at) => at,
            None if self.slots.len() >= MAX_ITEMS => return Err(no_such_thing()),
            None => {
                self.slots.push(OpenItem { index, id, call: None, has_come: false });
                self.slots.len() - 1
            }
        };
        self.slots.get_mut(at).ok_or_else(no_such_thing)
    }

    /// Takes an item that begins, or that is whole.
    fn item(
        &mut self,
        index: Option<u64>,
        raw: Option<&RawValue>,
        answer: &mut Answer,
        is_done: bool,
    ) -> Result<(), Failure> {
        let Some((raw, item)) = raw.and_then(|raw| Some((raw, read::<OutputItem>(Some(raw))?))) else {
            return Ok(());
        };
        let call_id = word(item.call_id);
        // llama-server's calls have no id of their own; their deltas have the call's.
        let slot = self.slot(index, word(item.id).or_else(|| call_id.clone()))?;
        match word(item.r#type).as_deref() {
            Some("function_call") => {
                let name = word(item.name).unwrap_or_default();
                let call = match slot.call {
                    Some(call) => call,
                    None => answer.begin_call(call_id.as_deref(), &name)?,
                };
                slot.call = Some(call);
                let arguments = match item.arguments {
                    Some(Value::String(text)) => text,
                    Some(Value::Null) | None => String::new(),
                    Some(whole) => whole.to_string(),
                };
                if !slot.has_come && !arguments.is_empty() {
                    slot.has_come = true;
                    answer.arguments(call, &arguments)?;
                }
                // One that was cut off is not whole.
                if is_done && item.status.is_none_or(|status| status != "incomplete") {
                    answer.end_call(call);
                }
            }
            Some("message") if is_done && !slot.has_come => {
                texts(item.content.as_ref()).for_each(|text| answer.text(text))
            }
            Some("reasoning") if is_done => {
                if !slot.has_come {
                    let both = texts(item.summary.as_ref()).chain(texts(item.content.as_ref()));
                    answer.reasoning(&both.collect::<Vec<_>>().join("\n\n"));
                }
                let has = |value: Option<Value>| match value {
                    Some(Value::String(text)) => !text.is_empty(),
                    Some(Value::Array(parts)) => !parts.is_empty(),
                    _ => false,
                };
                // By its id alone nobody knows it: nothing was stored.
                if (has(item.encrypted_content) || has(item.content)) && raw.get().len() <= MAX_OWN {
                    answer.opaque(raw.get().to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the whole answer: the last event, or all of it where it does not come in pieces.
    pub(crate) fn ended(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        let whole: WholeResponse<'_> = serde_json::from_slice(body).map_err(|_| no_such_thing())?;
        let status = word(whole.status).unwrap_or_default();
        if status == "failed" || whole.error.is_some_and(|error| !error.is_null()) {
            return Err(told(&errors::read(body).unwrap_or_default()));
        }
        let output = whole.output.ok_or_else(no_such_thing)?;
        if let Some(model) = word(whole.model) {
            answer.model(&model);
        }
        if self.slots.is_empty() {
            for (index, item) in (0..).zip(output) {
                self.item(Some(index), Some(item), answer, true)?;
            }
        }
        let used = whole.usage.as_ref().map(usage).unwrap_or_default();
        answer.usage(used);
        let is_full = self.silent_limit.is_some_and(|most| used.output_tokens >= Some(most));
        let reason = whole.incomplete_details.as_ref().and_then(|details| details.get("reason")?.as_str());
        let finish = match (status.as_str(), reason) {
            ("incomplete", Some(reason)) if reason.contains("token") || reason == "length" => Finish::Length,
            ("incomplete", _) => Finish::Error,
            _ if is_full => Finish::Length,
            _ => Finish::Stop,
        };
        answer.finish(finish, reason.or(Some(&status)).filter(|word| !word.is_empty()), None);
        Ok(())
    }
}

fn read<'j, T: Deserialize<'j>>(raw: Option<&'j RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// The texts of a list of parts: `output_text`, `refusal`, `summary_text`, `reasoning_text`.
fn texts(parts: Option<&Value>) -> impl Iterator<Item = &str> {
    let parts = parts.and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| part.get("text").or_else(|| part.get("refusal"))?.as_str())
}

fn usage(used: &Value) -> Usage {
    let number = |place: &str| used.pointer(place).and_then(Value::as_u64);
    Usage {
        input_tokens: number("/input_tokens"),
        output_tokens: number("/output_tokens"),
        cached_tokens: number("/input_tokens_details/cached_tokens"),
        reasoning_tokens: number("/output_tokens_details/reasoning_tokens"),
    }
}
