//! The calls of an answer of Chat Completions, out of their pieces.
//!
//! ```text
//!  piece ─► the call it goes on with, or a new one ─► name grows ─ known, first arguments, another call, the end ─► it begins
//! ```
//!
//! Owns which pieces belong to one call: index, id and name may each be missing, late, in pieces or wrong. A call begins once
//! its name is whole; one that never got a name or arguments is none.

use harbor_ipc_proto::link::model::{Cause, Failure};
use serde::Deserialize;
use serde_json::Value;

use super::super::word;
use crate::answer::Answer;
use crate::failure::failed;

/// Calls of one answer.
const MAX_CALLS: usize = 256;

/// The longest name, and the most arguments that wait for one, in bytes.
const MAX_NAME: usize = 4096;
const MAX_WAITING: usize = 1024 * 1024;

/// A piece of a call.
#[derive(Deserialize)]
pub(super) struct CallPiece {
    /// A number; a text at some.
    index: Option<Value>,
    /// A text; a number at some.
    id: Option<Value>,
    pub(super) function: Option<FunctionPiece>,
}

/// The function in a piece; alone, it is the old `function_call`.
#[derive(Deserialize)]
pub(super) struct FunctionPiece {
    name: Option<String>,
    /// A string; an object at some.
    arguments: Option<Value>,
}

impl From<FunctionPiece> for CallPiece {
    fn from(function: FunctionPiece) -> Self {
        Self { index: Some(0.into()), id: None, function: Some(function) }
    }
}

#[derive(Debug)]
enum Progress {
    /// Arguments that came before the name.
    Named(String),
    /// The call's number in the answer.
    Begun(usize),
}

#[derive(Debug)]
struct PartialCall {
    index: i64,
    id: Option<String>,
    name: String,
    progress: Progress,
}

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<PartialCall>,
}

impl Calls {
    /// True if the answer has none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes a piece.
    ///
    /// # Errors
    /// When there are too many calls, or too much of one.
    pub fn take(&mut self, piece: CallPiece, answer: &mut Answer) -> Result<(), Failure> {
        let function = piece.function.unwrap_or(FunctionPiece { name: None, arguments: None });
        let name = function.name.filter(|name| !name.is_empty());
        let id = word(piece.id).filter(|id| !id.is_empty());
        let index = word(piece.index).and_then(|index| index.parse().ok());
        let arguments = match function.arguments {
            Some(Value::String(text)) => text,
            Some(Value::Null) | None => String::new(),
            Some(whole) => whole.to_string(),
        };
        let at = match self.known(index, id.as_deref(), name.as_deref(), &arguments, answer) {
            Some(at) => at,
            None => self.add(index)?,
        };
        // Whoever is at the next call has said all of the others' names.
        self.begin_all_but(Some(at), answer)?;
        let slot = &mut self.slots[at];
        slot.id = slot.id.take().or(id);
        if let Some(name) = name {
            slot.named(&name, answer)?;
        }
        slot.more(&arguments, answer)
    }

    fn add(&mut self, index: Option<i64>) -> Result<usize, Failure> {
        let at = self.slots.len();
        if at >= MAX_CALLS {
            let why = format!("the model asked for more than {MAX_CALLS} calls at once");
            return Err(failed(Cause::Protocol, why));
        }
        let index = index.unwrap_or_else(|| i64::try_from(at).unwrap_or(i64::MAX));
        self.slots.push(PartialCall {
            index,
            id: None,
            name: String::new(),
            progress: Progress::Named(String::new()),
        });
        Ok(at)
    }

    /// The call that a piece goes on with. Old servers give each call the index 0, so another name is another call, and so is
    /// another id, unless the call at that index is not whole yet and the piece names none.
    fn known(
        &self,
        index: Option<i64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
        answer: &Answer,
    ) -> Option<usize> {
        let slots = || self.slots.iter().enumerate().rev();
        let at_index = |slot: &PartialCall| index.is_none_or(|index| slot.index == index);
        if let Some(id) = id {
            let same = slots().find(|(_, slot)| slot.id.as_deref() == Some(id) && at_index(slot));
            if let Some((at, _)) = same {
                return Some(at);
            }
        }
        let (at, slot) = slots().find(|(_, slot)| at_index(slot))?;
        let is_whole = slot.is_whole(answer);
        let has_other_id = id.is_some() && slot.id.is_some();
        let is_another = match name {
            None => is_whole && has_other_id,
            Some(name) => has_other_id || slot.is_another(name, is_whole && !arguments.is_empty(), answer),
        };
        // An id may come late; behind a name that is another one, or a call that has begun, it is of another call.
        let has_name = |name: &str| !slot.name.is_empty() && (slot.has_begun() || name != slot.name);
        let is_next = id.is_some() && slot.id.is_none() && name.is_some_and(has_name);
        (!is_another && !is_next).then_some(at)
    }

    fn begin_all_but(&mut self, at: Option<usize>, answer: &mut Answer) -> Result<(), Failure> {
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if Some(number) != at {
                slot.begin(answer)?;
            }
        }
        Ok(())
    }

    /// No more pieces come.
    ///
    /// # Errors
    /// When there are too many calls.
    pub fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        self.begin_all_but(None, answer)
    }
}

impl PartialCall {
    fn has_begun(&self) -> bool {
        matches!(self.progress, Progress::Begun(_))
    }

    fn is_whole(&self, answer: &Answer) -> bool {
        matches!(self.progress, Progress::Begun(call) if answer.is_whole(call))
    }

    /// True if this name begins another call.
    fn is_another(&self, name: &str, follows_whole: bool, answer: &Answer) -> bool {
        match &self.progress {
            Progress::Begun(_) => name != self.name || follows_whole,
            // Both are tools, and together they are none.
            Progress::Named(_) => {
                name != self.name
                    && answer.is_offered(&self.name)
                    && answer.is_offered(name)
                    && !answer.is_offered(&format!("{}{name}", self.name))
            }
        }
    }

    /// Takes a name, or the next piece of it. Some send all of it so far each time.
    fn named(&mut self, name: &str, answer: &Answer) -> Result<(), Failure> {
        if self.has_begun() || name == self.name {
            return Ok(());
        }
        let joined = format!("{}{name}", self.name);
        if joined.len() > MAX_NAME {
            return Err(failed(Cause::Protocol, "the name of a call is too long"));
        }
        let is_all = name.starts_with(&self.name) && answer.is_offered(name) && !answer.is_offered(&joined);
        self.name = if is_all { name.to_owned() } else { joined };
        Ok(())
    }

    /// Takes more arguments; the name is whole when the first come, or when it can be no other.
    fn more(&mut self, arguments: &str, answer: &mut Answer) -> Result<(), Failure> {
        if let Progress::Named(waiting) = &mut self.progress {
            if self.name.is_empty() {
                if waiting.len() + arguments.len() > MAX_WAITING {
                    return Err(failed(Cause::Protocol, "the arguments of a call came without its name"));
                }
                waiting.push_str(arguments);
                return Ok(());
            }
            if waiting.is_empty() && arguments.is_empty() && !answer.is_all_of_a_name(&self.name) {
                return Ok(());
            }
            self.begin(answer)?;
        }
        match self.progress {
            Progress::Begun(call) => answer.arguments(call, arguments),
            Progress::Named(_) => Ok(()),
        }
    }

    fn begin(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        let Progress::Named(waiting) = &mut self.progress else { return Ok(()) };
        if self.name.is_empty() && waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(waiting);
        let call = answer.begin_call(self.id.as_deref(), &self.name)?;
        self.progress = Progress::Begun(call);
        answer.arguments(call, &waiting)
    }
}
