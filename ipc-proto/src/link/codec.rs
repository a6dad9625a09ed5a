//! Turns link messages into bytes and back. This is the one place that names bincode.
//!
//! A frame is a u32 little-endian length and the message. Decoding is bounded (a length field may lie) and refuses leftover
//! bytes.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
pub use bincode::{BorrowDecode, Encode};

use crate::frame::put_frame;

/// The largest message on a link in bytes: a server's longest line (64 MiB) and the rest of the message.
pub const MAX_MESSAGE: usize = 65 * 1024 * 1024;

const CONFIG: Configuration<LittleEndian, Varint, Limit<MAX_MESSAGE>> =
    bincode::config::standard().with_limit::<MAX_MESSAGE>();

/// Why bytes are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecError {
    /// The bytes do not decode as the expected type.
    Malformed,
    /// The message ended before the bytes did.
    TrailingBytes,
}

impl std::fmt::Display for CodecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the message cannot be decoded",
            Self::TrailingBytes => "there are bytes after the end of the message",
        })
    }
}

impl std::error::Error for CodecError {}

/// Appends `message` as one frame.
pub fn put_message<M: Encode>(out: &mut Vec<u8>, message: &M) {
    put_frame(out, |out| {
        // Encoding fails only where a writer does, and a vector does not.
        let written = bincode::encode_into_std_write(message, out, bincode::config::standard());
        debug_assert!(written.is_ok());
    });
}

/// Decodes the body of one frame; texts in it borrow from `body`.
///
/// # Errors
/// When the bytes are not exactly one message.
pub fn get_message<'a, M: BorrowDecode<'a, ()>>(body: &'a [u8]) -> Result<M, CodecError> {
    let (message, used) =
        bincode::borrow_decode_from_slice(body, CONFIG).map_err(|_| CodecError::Malformed)?;
    if used == body.len() { Ok(message) } else { Err(CodecError::TrailingBytes) }
}
