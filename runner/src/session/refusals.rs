//! What a server says that it was refused: on stderr, or in the result of a call that failed.
//!
//! Owns telling the bridge, once for each path. The server's words may lie: what follows from them is a hint to a person.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use harbor_ipc_proto::link::runner::FromRunner;
use harbor_policy::sandbox::hint::{Refusal, denied};
use memchr::memmem;
use serde::Deserialize;

use super::Session;

/// How many different ones are told of one start.
const MOST: usize = 64;

/// Longer results are not looked at: those that report an error are short.
const LONGEST_RESULT: usize = 8 * 1024;

/// The result of a call, as far as it is looked at.
#[derive(Deserialize)]
struct Failed<'a> {
    #[serde(borrow)]
    content: Vec<Part<'a>>,
    #[serde(rename = "isError")]
    is_error: bool,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// What was told already.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    told: RefCell<BTreeSet<(String, bool)>>,
}

impl Session {
    /// Looks for a refusal in a line.
    pub(super) fn on_line_said(&self, text: &str) {
        if !self.is_held || self.refusals.told.borrow().len() >= MOST {
            return;
        }
        if let Some(refusal) = denied(text) {
            self.tell_refusal(refusal);
        }
    }

    /// Looks for a refusal in the result of a call, if it reports an error.
    pub(super) fn on_result_said(&self, result: &str) {
        if !self.is_held
            || result.len() > LONGEST_RESULT
            || memmem::find(result.as_bytes(), b"\"isError\"").is_none()
        {
            return;
        }
        let Ok(Failed { content, is_error: true }) = serde_json::from_str(result) else { return };
        content.iter().filter_map(|part| part.text.as_deref()).for_each(|text| self.on_line_said(text));
    }

    fn tell_refusal(&self, refusal: Refusal) {
        let Refusal { path, write, missing } = refusal;
        if self.refusals.told.borrow_mut().insert((path.clone(), write)) {
            self.up.send(&FromRunner::Denied { server: self.number, path: path.into(), write, missing });
        }
    }
}
