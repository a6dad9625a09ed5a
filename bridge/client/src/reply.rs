//! An answer of the bridge: what it says, typed, and the text that it came as; and the answer that came in pieces.
//!
//! Owns keeping the two together. Must never let anybody decide by the text: it is for `--json` alone.

use std::ops::Deref;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::client::Chunk;
use harbor_ipc_proto::client::answer::Heard;
use harbor_ipc_proto::field::Message;

use crate::errors::Failure;
use crate::payload::Payload;

/// The limit of requests that do not wait for a server.
pub const QUICK: Duration = Duration::from_secs(30);

/// The largest answer that is put together, in bytes.
const MAX_ANSWER: usize = 1 << 30;

/// A message of the bridge, and the text that it came as: `--json` prints also what this version does not know.
#[derive(Debug)]
pub struct Answer<T> {
    value: T,
    frame: Vec<u8>,
}

impl<T: Message> Answer<T> {
    /// Reads a frame.
    ///
    /// # Errors
    /// When it is no message of this type.
    pub fn parse(frame: Vec<u8>) -> Result<Self, Failure> {
        let heard =
            Heard::parse(&frame).map_err(|_| Failure::Garbled("a frame that is not a JSON object"))?;
        let value = heard.read()?;
        Ok(Self { value, frame })
    }
}

impl<T> Answer<T> {
    /// The value that was read, without the text.
    #[must_use]
    pub fn into_value(self) -> T {
        self.value
    }

    /// Its members as they came, without those of the envelope.
    #[must_use]
    pub fn members(&self) -> Payload {
        let mut members = Payload::parse(&self.frame).unwrap_or_default();
        members.remove("type");
        members.remove("request_id");
        members
    }

    /// An object inside the answer as it came, for `--json` that prints only this. Its fields are read from the value.
    #[must_use]
    pub fn part(&self, name: &'static str) -> Payload {
        self.members().object(name)
    }

    /// The objects of an array inside it, likewise.
    #[must_use]
    pub fn parts(&self, name: &'static str) -> Vec<Payload> {
        self.members().objects(name)
    }

    /// The text that `--json` prints.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.members().to_json()
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Puts the pieces of one answer together.
#[derive(Debug, Default)]
pub struct Pieces {
    bytes: Vec<u8>,
    next: u32,
}

impl Pieces {
    /// Takes a `chunk` push. Returns the whole answer with the last one.
    ///
    /// # Errors
    /// When it is not the next piece.
    pub fn add(&mut self, chunk: &Chunk) -> Result<Option<Vec<u8>>, Failure> {
        if chunk.seq != self.next {
            return Err(Failure::Garbled("the pieces of an answer in the wrong order"));
        }
        self.next += 1;
        STANDARD
            .decode_vec(&chunk.data, &mut self.bytes)
            .map_err(|_| Failure::Garbled("a piece of an answer that is not base64"))?;
        if self.bytes.len() > MAX_ANSWER {
            return Err(Failure::Garbled("an answer that is too long"));
        }
        Ok(chunk.last.then(|| std::mem::take(self).bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(seq: u32, last: bool, data: &str) -> Chunk {
        Chunk { request_id: "1".into(), seq, last, data: STANDARD.encode(data) }
    }

    #[test]
    fn pieces_become_the_answer() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.add(&chunk(0, false, "{\"a\"")).unwrap(), None);
        assert_eq!(pieces.add(&chunk(1, false, ":")).unwrap(), None);
        assert_eq!(pieces.add(&chunk(2, true, "1}")).unwrap().unwrap(), b"{\"a\":1}");
        assert_eq!(pieces.add(&chunk(0, true, "x")).unwrap().unwrap(), b"x");
    }

    #[test]
    fn pieces_that_do_not_fit_are_refused() {
        let mut pieces = Pieces::default();
        assert!(pieces.add(&chunk(1, false, "")).is_err());
        let bad = Chunk { data: "?".into(), ..chunk(0, true, "") };
        assert!(Pieces::default().add(&bad).is_err());
    }
}
