//! Results as a model is told them. Results that were too long are kept whole, so that the model can read on in them.
//!
//! Owns how much is kept. Must never be written down: it ends with the session, or with the bridge.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use harbor_ipc_proto::model::{ModelMessage, Part};
use harbor_policy::agent_tools::meta::ReadMore;
use harbor_policy::untrusted::{Nonce, inside, wrap, wrap_page};

/// Bytes of results that are kept for a session; the oldest go first.
const MOST: usize = 16 * 1024 * 1024;

/// A model is told of one result a tenth of its window, within these bounds, in bytes.
const LEAST_ROOM: usize = 2 * 1024;
const MOST_ROOM: usize = 32 * 1024;

/// How a turn tells its model of untrusted text.
#[derive(Debug, Clone)]
pub struct ResultWrapping {
    /// The turn's own word.
    pub nonce: Nonce,
    /// How much of one result is told, in bytes.
    room: usize,
}

impl ResultWrapping {
    /// For a model with a window of so many tokens.
    #[must_use]
    pub fn new(nonce: Nonce, window: u32) -> Self {
        // Four bytes a token.
        let tenth = usize::try_from(window).unwrap_or(usize::MAX).saturating_mul(4) / 10;
        Self { nonce, room: tenth.clamp(LEAST_ROOM, MOST_ROOM) }
    }
}

#[derive(Debug)]
struct FullResult {
    id: String,
    source: String,
    text: String,
}

/// The results of one session.
#[derive(Debug, Default)]
pub struct SessionResults {
    results: RefCell<VecDeque<FullResult>>,
    last: Cell<u64>,
}

impl SessionResults {
    /// The text that a model is told of a result of `source`. A result that is too long is kept.
    #[must_use]
    pub fn told(&self, telling: &ResultWrapping, source: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let short = wrap(&telling.nonce, source, text, telling.room, None);
        match short.cut {
            None => short.text,
            Some(_) => {
                let id = self.keep(source, text.to_owned());
                wrap(&telling.nonce, source, text, telling.room, Some(&id)).text
            }
        }
    }

    fn keep(&self, source: &str, mut text: String) -> String {
        text.truncate(text.floor_char_boundary(MOST));
        self.last.set(self.last.get() + 1);
        let id = format!("r{}", self.last.get());
        let mut results = self.results.borrow_mut();
        results.push_back(FullResult { id: id.clone(), source: source.to_owned(), text });
        while results.len() > 1 && results.iter().map(|whole| whole.text.len()).sum::<usize>() > MOST {
            results.pop_front();
        }
        id
    }

    /// True if nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.borrow().is_empty()
    }

    /// Forgets all results.
    pub fn clear(&self) {
        self.results.borrow_mut().clear();
    }

    /// A piece of a kept result, or of one of these messages, by the id of its call.
    ///
    /// # Errors
    /// Why there is no such piece.
    pub fn read(
        &self,
        telling: &ResultWrapping,
        more: &ReadMore,
        said: &[ModelMessage],
    ) -> Result<String, &'static str> {
        let room = more.length.unwrap_or(telling.room).min(telling.room);
        let piece =
            |source: &str, text: &str| wrap_page(&telling.nonce, source, text, more.offset, room).text;
        let results = self.results.borrow();
        if let Some(whole) = results.iter().find(|whole| whole.id == more.result) {
            return Ok(piece(&whole.source, &whole.text));
        }
        let found = said.iter().rev().flat_map(|message| &message.parts).find_map(|part| match part {
            Part::ToolResult(result) if result.call_id == more.result => Some(result),
            _ => None,
        });
        let result = found.ok_or("Harbor no longer has this result; call the tool again")?;
        Ok(piece(&result.name, inside(&result.text)))
    }
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::model::{Role, ToolResult};

    use super::*;

    fn telling() -> ResultWrapping {
        ResultWrapping::new(Nonce::new("0123456789abcdef").unwrap(), 0)
    }

    #[test]
    fn what_is_too_long_is_kept_and_can_be_read_to_its_end() {
        let kept = SessionResults::default();
        assert!(kept.told(&telling(), "s/t", "short").contains("short") && kept.is_empty());
        assert_eq!(kept.told(&telling(), "s/t", ""), "");
        let long: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        let told = kept.told(&telling(), "s/t", &long);
        assert!(told.contains("line 0\n") && told.contains("line 1999") && !told.contains("line 1000\n"));
        assert!(told.contains(r#"{"result":"r1""#), "{told}");
        let more = |offset| ReadMore { result: "r1".into(), offset, length: None };
        let middle = long.find("line 1000\n").unwrap();
        assert!(kept.read(&telling(), &more(middle), &[]).unwrap().contains("line 1000\n"));
        assert!(kept.read(&telling(), &ReadMore { result: "r2".into(), ..more(0) }, &[]).is_err());
    }

    #[test]
    fn a_result_of_the_session_is_read_by_its_call() {
        let kept = SessionResults::default();
        let text = kept.told(&telling(), "s/t", &"noon ".repeat(100));
        let result =
            ToolResult { call_id: "c1".into(), name: "t".into(), text, images: vec![], is_error: false };
        let said = [ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(result)] }];
        let more = |result: &str| ReadMore { result: result.into(), offset: 495, length: None };
        let read = kept.read(&telling(), &more("c1"), &said).unwrap();
        assert!(read.contains("]\nnoon \n[Bytes 495 to 500 of 500. This is the end.]"), "{read}");
        assert!(kept.read(&telling(), &more("c2"), &said).is_err());
    }

    #[test]
    fn what_came_first_goes_first() {
        let kept = SessionResults::default();
        for _ in 0..3 {
            let _ = kept.told(&telling(), "s/t", &"x".repeat(MOST / 2));
        }
        let more = |result: &str| ReadMore { result: result.into(), offset: 0, length: None };
        assert!(kept.read(&telling(), &more("r1"), &[]).is_err());
        assert!(kept.read(&telling(), &more("r2"), &[]).is_ok());
        kept.clear();
        assert!(kept.is_empty());
    }
}
