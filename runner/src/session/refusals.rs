//! What a server says that it was refused or lacks: on stderr, or in the result of a call that failed.
//!
//! Owns telling the bridge, once for each. The server's words may lie: what follows from them is a hint to a person.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;

use harbor_ipc_proto::link::runner::FromRunner;
use harbor_policy::sandbox::hint::{Reader, Refusal, Said, said};
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

/// What was read and told of one start.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Of its stderr.
    reader: RefCell<Reader>,
    told: RefCell<BTreeSet<Said>>,
}

impl Session {
    /// Looks for a refusal in a line.
    pub(super) fn on_line_said(&self, text: &str) {
        if self.listens_to_words()
            && let Some(said) = self.refusals.reader.borrow_mut().line(text)
        {
            self.tell_refusal(said);
        }
    }

    /// Looks for refusals in the result of a call, if it reports an error.
    pub(super) fn on_result_said(&self, result: &str) {
        if !self.listens_to_words()
            || result.len() > LONGEST_RESULT
            || memmem::find(result.as_bytes(), b"\"isError\"").is_none()
        {
            return;
        }
        let Ok(Failed { content, is_error: true }) = serde_json::from_str(result) else { return };
        for text in content.iter().filter_map(|part| part.text.as_deref()) {
            // The first says what went wrong.
            said(text).into_iter().take(1).for_each(|said| self.tell_refusal(said));
        }
    }

    fn listens_to_words(&self) -> bool {
        self.is_held && self.refusals.told.borrow().len() < MOST
    }

    fn tell_refusal(&self, said: Said) {
        if !self.refusals.told.borrow_mut().insert(said.clone()) {
            return;
        }
        let server = self.number;
        self.up.send(&match said {
            Said::Refused(Refusal { path, write, missing }) => {
                FromRunner::Denied { server, path: path.into(), write, missing }
            }
            Said::Lacks(what) => FromRunner::Lacks { server, what },
        });
    }
}
