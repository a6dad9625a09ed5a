//! An answer that is longer than the client's frames.
//!
//! Owns the answer until its last chunk is made. A chunk is made when it is about to be written: making all of them at
//! once would keep everybody waiting, 0.2 s for 60 MB.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_child::outbox::Long;
use harbor_child::turn::LARGE;
use harbor_ipc_proto::client::Chunk;
use harbor_ipc_proto::client::envelope::put_push;
use harbor_ipc_proto::frame::{HEADER, put_frame};

/// Room for a chunk's own envelope, without its id.
const ENVELOPE: usize = 256;

/// The chunks of one answer that are still to be made.
#[derive(Debug)]
pub(super) struct Chunks {
    id: String,
    bytes: Vec<u8>,
    /// The start of the next chunk.
    at: usize,
    seq: u32,
    /// Bytes of the answer in a chunk.
    piece: usize,
}

impl Chunks {
    /// Takes the frame that begins at `start` in `out`, and leaves the bytes before it. The frame is the
    /// answer to request `id`, for a client that takes frames of at most `max_frame` bytes.
    pub(super) fn cut_off(out: &mut Vec<u8>, start: usize, id: String, max_frame: usize) -> Self {
        // The shorter part is copied.
        let (bytes, at) = if start <= out.len() / 2 {
            let before = out[..start].to_vec();
            (std::mem::replace(out, before), start + HEADER)
        } else {
            (out.split_off(start), HEADER)
        };
        // An id's escapes may take six bytes a character.
        let room = max_frame.min(LARGE).saturating_sub(ENVELOPE + 6 * id.len());
        Self { id, bytes, at, seq: 0, piece: (room / 4 * 3).max(3) }
    }

    /// The bytes that it holds: at most twice the answer.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl Long for Chunks {
    fn put_piece(&mut self, out: &mut Vec<u8>) -> bool {
        let end = self.bytes.len().min(self.at + self.piece);
        let last = end == self.bytes.len();
        let data = STANDARD.encode(&self.bytes[self.at..end]);
        let chunk = Chunk { request_id: self.id.clone(), seq: self.seq, last, data };
        put_frame(out, |out| put_push(out, &chunk));
        self.at = end;
        self.seq += 1;
        !last
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
        while chunks.put_piece(&mut out) {}
        let mut decoder = FrameDecoder::new(LARGE);
        decoder.push(&out);
        let mut frames = Vec::new();
        while let Some(Popped::Frame(frame)) = decoder.pop() {
            frames.push((frame.len(), serde_json::from_slice(frame).unwrap()));
        }
        frames
    }

    /// Makes `length` bytes in which no stretch occurs twice. A random generator would take most of a second for them.
    fn bytes(length: usize) -> Vec<u8> {
        (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    proptest! {
        #[test]
        fn they_fit_and_join(
            id in "\\PC{1,40}|\u{1}{256}",
            answer in (1usize..50_000).prop_map(bytes),
            before in (0usize..60_000).prop_map(bytes),
            max_frame in 4096usize..100_000,
        ) {
            let mut out = before.clone();
            put_frame(&mut out, |out| out.extend_from_slice(&answer));
            let chunks = Chunks::cut_off(&mut out, before.len(), id.clone(), max_frame);
            prop_assert_eq!(out, before);
            prop_assert!(chunks.bytes() <= 2 * (HEADER + answer.len()));
            let chunks = made(chunks);
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
        let chunks = made(Chunks::cut_off(&mut vec![7; 4 << 20], 0, "1".into(), 128 << 20));
        assert!(chunks.len() > 16 && chunks.iter().all(|(length, _)| *length <= LARGE));
    }
}
