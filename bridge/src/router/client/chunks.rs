//! An answer that is longer than its client takes in one frame.
//!
//! Owns the answer until its last chunk is made. A chunk is made when it is about to be written: to make all at once would
//! keep all clients waiting, 0.2 s for 60 MB.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_child::outbox::Long;
use harbor_child::turn::LARGE;
use harbor_ipc_proto::client::Chunk;
use harbor_ipc_proto::client::envelope::put_push;
use harbor_ipc_proto::frame::{HEADER, put_frame};

/// Room for a chunk's own envelope, its id aside.
const ENVELOPE: usize = 256;

/// The chunks of one answer that are still to be made.
#[derive(Debug)]
pub(super) struct Chunks {
    id: String,
    bytes: Vec<u8>,
    /// Where the next chunk begins.
    at: usize,
    seq: u32,
    /// Bytes of the answer in a chunk.
    piece: usize,
}

impl Chunks {
    /// Of the answer to request `id` whose frame begins at `start` in `bytes` and ends with them, for a client that takes
    /// frames of at most `max_frame` bytes.
    pub(super) fn new(id: String, bytes: Vec<u8>, start: usize, max_frame: usize) -> Self {
        // An id's escapes may take six bytes a character.
        let room = max_frame.min(LARGE).saturating_sub(ENVELOPE + 6 * id.len());
        Self { id, bytes, at: start + HEADER, seq: 0, piece: (room / 4 * 3).max(3) }
    }
}

impl Long for Chunks {
    fn put_piece(&mut self, out: &mut Vec<u8>) {
        let end = self.bytes.len().min(self.at + self.piece);
        let chunk = Chunk {
            request_id: self.id.clone(),
            seq: self.seq,
            last: end == self.bytes.len(),
            data: STANDARD.encode(&self.bytes[self.at..end]),
        };
        put_frame(out, |out| put_push(out, "chunk", &chunk));
        self.at = end;
        self.seq += 1;
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::frame::{FrameDecoder, Popped};
    use proptest::prelude::*;
    use serde_json::Value;

    /// The chunks' frames, each with its length.
    fn made(mut chunks: Chunks) -> Vec<(usize, Value)> {
        let mut out = Vec::new();
        while chunks.left() > 0 {
            chunks.put_piece(&mut out);
        }
        let mut decoder = FrameDecoder::new(LARGE);
        decoder.push(&out);
        let mut frames = Vec::new();
        while let Some(Popped::Frame(frame)) = decoder.pop() {
            frames.push((frame.len(), serde_json::from_slice(frame).unwrap()));
        }
        frames
    }

    proptest! {
        #[test]
        fn they_fit_and_join(
            id in "\\PC{1,40}|\u{1}{256}",
            answer in prop::collection::vec(any::<u8>(), 1..50_000),
            start in 0usize..100,
            max_frame in 4096usize..100_000,
        ) {
            let bytes = [vec![0; start + HEADER], answer.clone()].concat();
            let chunks = made(Chunks::new(id.clone(), bytes, start, max_frame));
            let mut whole = Vec::new();
            for (seq, (length, chunk)) in chunks.iter().enumerate() {
                prop_assert!(*length <= max_frame);
                prop_assert_eq!((&chunk["seq"], &chunk["request_id"]), (&seq.into(), &id.clone().into()));
                prop_assert_eq!(&chunk["last"], seq + 1 == chunks.len());
                whole.extend(STANDARD.decode(chunk["data"].as_str().unwrap()).unwrap());
            }
            prop_assert_eq!(whole, answer);
        }
    }

    #[test]
    fn none_is_more_work_than_a_message_between_two_others_may_be() {
        let chunks = made(Chunks::new("1".into(), vec![7; 4 << 20], 0, 128 << 20));
        assert!(chunks.len() > 16 && chunks.iter().all(|(length, _)| *length <= LARGE));
    }
}
