//! Sorts what the bridge sends: answers by request id, pushes by type, errors that belong to nobody.
//!
//! ```text
//!  frame ─► chunk? joined until the last ─► answer (by id) | push (by type) | stray (empty id)
//! ```
//!
//! Owns the count of answers per request, so that a test can demand exactly one. Does no I/O.

use std::collections::{HashMap, VecDeque};

use harbor_ipc_proto::client::Chunk;
use harbor_ipc_proto::client::answer::Refusal;
use harbor_ipc_proto::field::{Message as _, read_object};
use serde_json::Value;

use super::answer::{Answer, text_of_id};
use super::base64;

/// Everything that came and was not fetched yet.
#[derive(Debug, Default)]
pub struct Inbox {
    answers: HashMap<String, VecDeque<Answer>>,
    pushes: HashMap<String, VecDeque<Value>>,
    stray: VecDeque<Answer>,
    chunks: HashMap<String, Vec<u8>>,
    next_chunk: HashMap<String, u32>,
    asked: HashMap<String, usize>,
    answered: HashMap<String, usize>,
    /// The largest frame so far, in bytes.
    pub largest: usize,
    /// How many chunks came so far.
    pub chunk_count: usize,
    /// Nothing more will come.
    pub closed: bool,
    /// What the bridge did wrong on the wire.
    pub broken: Vec<String>,
}

impl Inbox {
    /// Takes one frame's body.
    pub fn take(&mut self, body: Vec<u8>) {
        self.largest = self.largest.max(body.len());
        self.sort(body);
    }

    fn sort(&mut self, body: Vec<u8>) {
        let Some(answer) = Answer::read(body) else {
            self.broken.push("a frame is not a JSON object".into());
            return;
        };
        let is_error = answer.tag == Refusal::TAG;
        match () {
            () if answer.tag == Chunk::TAG => match read_object(&answer.text) {
                Ok(chunk) => self.join(&chunk),
                Err(error) => self.broken.push(format!("a chunk cannot be read: {error:?}")),
            },
            () if answer.tag == "rpc_response" => self.keep(text_of_id(&answer["id"]), answer),
            () if is_error && answer.request_id.is_empty() => self.stray.push_back(answer),
            () if is_error || answer.tag.ends_with("_result") => {
                self.keep(answer.request_id.clone(), answer);
            }
            () => self.pushes.entry(answer.tag.clone()).or_default().push_back(answer.into_value()),
        }
    }

    fn keep(&mut self, id: String, answer: Answer) {
        *self.answered.entry(id.clone()).or_default() += 1;
        self.answers.entry(id).or_default().push_back(answer);
    }

    fn join(&mut self, chunk: &Chunk) {
        self.chunk_count += 1;
        let id = chunk.request_id.clone();
        let due = self.next_chunk.entry(id.clone()).or_default();
        if chunk.seq != *due {
            self.broken.push(format!("chunk {} of {id} came where {due} was due", chunk.seq));
        }
        *due += 1;
        match base64::decode(&chunk.data) {
            Some(bytes) => self.chunks.entry(id.clone()).or_default().extend(bytes),
            None => self.broken.push(format!("a chunk of {id} is not base64")),
        }
        if chunk.last {
            self.next_chunk.remove(&id);
            let whole = self.chunks.remove(&id).unwrap_or_default();
            self.sort(whole);
        }
    }

    /// Says that a request with this id goes out.
    pub fn asked(&mut self, id: &str) {
        *self.asked.entry(id.to_owned()).or_default() += 1;
    }

    /// The next answer to the request `id`.
    pub fn answer(&mut self, id: &str) -> Option<Answer> {
        self.answers.get_mut(id)?.pop_front()
    }

    /// The next push of this type.
    pub fn push(&mut self, tag: &str) -> Option<Value> {
        self.pushes.get_mut(tag)?.pop_front()
    }

    /// The next error that belongs to no request.
    pub fn stray(&mut self) -> Option<Answer> {
        self.stray.pop_front()
    }

    /// How many answers the request `id` has had.
    #[must_use]
    pub fn count(&self, id: &str) -> usize {
        self.answered.get(id).copied().unwrap_or_default()
    }

    /// Everything that the bridge must never do on the wire, and did.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let twice = self.answered.iter().filter(|(id, count)| self.asked.get(*id).unwrap_or(&0) < *count);
        let twice =
            twice.map(|(id, count)| format!("request {id} has {count} answers, more than were asked for"));
        self.broken.iter().cloned().chain(twice).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(frames: &[&str]) -> Inbox {
        let mut inbox = Inbox::default();
        frames.iter().for_each(|frame| inbox.take(frame.as_bytes().to_vec()));
        inbox
    }

    #[test]
    fn everything_finds_its_place() {
        let mut inbox = taken(&[
            r#"{"type":"ping_result","request_id":"1","timestamp":1}"#,
            r#"{"type":"rpc_response","id":7,"result":{}}"#,
            r#"{"type":"progress","request_id":"1","progress":1}"#,
            r#"{"type":"error","request_id":"","error":{"code":"x","message":"y"}}"#,
        ]);
        inbox.asked("1");
        inbox.asked("7");
        assert_eq!(inbox.answer("1").map(|answer| answer["timestamp"].clone()), Some(1.into()));
        assert!(inbox.answer("7").is_some());
        assert_eq!(inbox.push("progress").map(|push| push["progress"].clone()), Some(1.into()));
        assert!(inbox.stray().is_some());
        assert_eq!(inbox.faults(), Vec::<String>::new());
    }

    #[test]
    fn chunks_are_joined_to_an_answer() {
        let mut inbox = taken(&[
            r#"{"type":"chunk","request_id":"1","seq":0,"last":false,"data":"eyJ0eXBlIjoicGluZ19yZXN1bHQiLCJyZXF1ZXN0"}"#,
            r#"{"type":"chunk","request_id":"1","seq":1,"last":true,"data":"X2lkIjoiMSJ9"}"#,
        ]);
        inbox.asked("1");
        assert_eq!(
            inbox.answer("1").map(|answer| answer.text),
            Some(r#"{"type":"ping_result","request_id":"1"}"#.into())
        );
        assert_eq!((inbox.count("1"), inbox.chunk_count, inbox.faults()), (1, 2, Vec::new()));
    }

    #[test]
    fn faults_of_the_bridge_are_seen() {
        let twice = r#"{"type":"ping_result","request_id":"1"}"#;
        let mut inbox = taken(&[twice, twice]);
        inbox.asked("1");
        assert_eq!(inbox.faults().len(), 1);
        let chunk = r#"{"type":"chunk","request_id":"1","seq":1,"last":false,"data":"e30="}"#;
        assert_eq!(taken(&[chunk]).faults().len(), 1);
        assert_eq!(taken(&["[]"]).faults().len(), 1);
    }
}
