//! Frames on their way to a client: answers, errors and pushes.
//!
//! Owns the limit of a frame: a longer answer comes in chunks or as an error, a longer push not at all. Must never wait for the
//! client.

use harbor_child::turn::LARGE;
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, put_push};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message;
use harbor_ipc_proto::frame::put_frame;

use super::Client;
use super::chunks::Chunks;
use crate::router::reply::Handled;

impl Client {
    pub(in crate::router) fn send_result(&self, envelope: &Envelope, tag: &str, result: Handled) {
        match result {
            Ok(reply) => self.send(Some(envelope), |out| envelope.put_reply(out, tag, &*reply)),
            Err(error) => self.send_error(envelope, &error),
        }
    }

    /// Sends an error.
    pub fn send_error(&self, envelope: &Envelope, error: &ErrorBody) {
        self.send(Some(envelope), |out| envelope.put_error(out, error));
    }

    /// Sends a push. A push that is larger than the client's frames is left out.
    pub(in crate::router) fn send_push<P: Message>(&self, push: &P) {
        self.send(None, |out| put_push(out, push));
    }

    /// Sends a push; false where it was left out.
    pub(super) fn send_if_it_fits<P: Message>(&self, push: &P) -> bool {
        self.queue(None, |out| put_push(out, push))
    }

    pub(super) fn send(&self, envelope: Option<&Envelope>, body: impl FnOnce(&mut Vec<u8>)) {
        self.queue(envelope, body);
    }

    /// Queues one frame, or the answer's chunks; false if it is a push that is too large. A client that does
    /// not read is cut off: `front` sees its outbox closed.
    fn queue(&self, envelope: Option<&Envelope>, body: impl FnOnce(&mut Vec<u8>)) -> bool {
        let mut is_left_out = false;
        let pushed = self.outbox.push(|out| {
            let start = out.len();
            let length = put_frame(out, body);
            if length <= self.max_frame.get() {
                return None;
            }
            match envelope {
                Some(envelope) if self.chunks.get() => {
                    return Some(Chunks::cut_off(
                        out,
                        start,
                        envelope.id().into_owned(),
                        self.max_frame.get(),
                    ));
                }
                Some(envelope) => {
                    take_back(out, start);
                    self.put_too_large(out, envelope, length);
                }
                // Part of a push would be of no use.
                None => {
                    take_back(out, start);
                    is_left_out = true;
                }
            }
            None
        });
        let queued = pushed.and_then(|chunks| match chunks {
            Some(chunks) => {
                let bytes = chunks.bytes();
                self.outbox.push_long(Box::new(chunks), bytes)
            }
            None => Ok(()),
        });
        if queued.is_err() {
            self.cut_off();
        }
        !is_left_out
    }

    /// Ends its connection, since too much waits for it.
    fn cut_off(&self) {
        if !self.outbox.is_closed() {
            tracing::warn!(client = ?self.principal(), "disconnected: the client does not read its answers");
            self.outbox.cut();
        }
    }

    fn put_too_large(&self, out: &mut Vec<u8>, envelope: &Envelope, bytes: usize) {
        let limit = self.max_frame.get();
        let message = format!(
            "the answer has {bytes} bytes, but this client accepts {limit}; announce chunks or a larger max_frame in hello"
        );
        put_frame(out, |out| envelope.put_error(out, &ErrorBody::new(Code::MessageTooLarge, message)));
    }
}

/// Drops the bytes from `start` on, and the memory that they took.
fn take_back(out: &mut Vec<u8>, start: usize) {
    out.truncate(start);
    out.shrink_to(LARGE);
}
