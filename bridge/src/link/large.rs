//! Large messages of a runner, which are read in a thread of their own.
//!
//! ```text
//!  frame over LARGE ─► aside: decoded, its JSON checked ─► the answer, in the frame's own memory, ready for its call
//! ```
//!
//! Owns what is done to a large reply before its call is looked up. Must never be used for a small one: the way to
//! the other thread and back takes longer than reading it.

use std::io;
use std::ops::Range;

use harbor_child::turn::Aside;
use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::frame::OwnedFrame;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::codec::{CodecError, get_message};
use harbor_ipc_proto::link::runner::{CallFailure, FromRunner, Outcome};

use super::ServerAnswer;

static ASIDE: Aside = Aside::new();

/// A large message.
pub(super) enum Large {
    /// The answer to a call.
    Reply {
        /// The server's number.
        server: u32,
        /// The call's.
        id: u64,
        /// The answer.
        answer: ServerAnswer,
    },
    /// Another message, which is seldom this long.
    Other(OwnedFrame),
}

/// Reads one.
///
/// # Errors
/// When it is no message, or when the runtime ends.
pub(super) async fn read(frame: OwnedFrame) -> io::Result<Large> {
    ASIDE.run(frame.bytes().len(), move || decode(frame)).await?.map_err(io::Error::other)
}

fn decode(frame: OwnedFrame) -> Result<Large, CodecError> {
    let (server, id, is_error, place) = match get_message(frame.bytes())? {
        FromRunner::Reply { server, id, outcome } => match whole_result(&frame, &outcome) {
            Some((is_error, place)) => (server, id, is_error, place),
            None => return Ok(Large::Reply { server, id, answer: outcome.into() }),
        },
        _ => return Ok(Large::Other(frame)),
    };
    let result = frame.into_text(&place).map(Json::from_valid);
    let answer = match (result, is_error) {
        (Some(result), false) => ServerAnswer::Result(result),
        (Some(result), true) => ServerAnswer::ToolError(result),
        (None, _) => Outcome::Failed(CallFailure::Malformed("a part of it is missing".into())).into(),
    };
    Ok(Large::Reply { server, id, answer })
}

/// True for a tool's error, and the result's place in the frame; `None` for anything that is no result, or is broken.
fn whole_result(frame: &OwnedFrame, outcome: &Outcome<'_>) -> Option<(bool, Range<usize>)> {
    let (is_error, text) = match outcome {
        Outcome::Result(text) => (false, text),
        Outcome::ToolError(text) => (true, text),
        _ => return None,
    };
    let place = frame.place_of(text)?;
    is_contained(text).then_some((is_error, place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::frame::FrameDecoder;
    use harbor_ipc_proto::link::codec::put_message;

    fn read_back(message: &FromRunner<'_>) -> Result<Large, CodecError> {
        let (mut bytes, mut frames) = (Vec::new(), FrameDecoder::new(1 << 20));
        put_message(&mut bytes, message);
        frames.push(&bytes);
        decode(frames.take_longer_than(0).unwrap())
    }

    #[test]
    fn a_reply_is_ready_and_anything_else_stays_what_it_is() {
        let reply = |text: &'static str| FromRunner::Reply {
            server: 1,
            id: 2,
            outcome: Outcome::Result(text.into()),
        };
        let Ok(Large::Reply { server: 1, id: 2, answer }) = read_back(&reply("{}")) else { panic!() };
        assert!(matches!(answer, ServerAnswer::Result(result) if result.as_str() == "{}"));
        let Ok(Large::Reply { answer, .. }) = read_back(&reply("{}}")) else { panic!() };
        assert!(matches!(answer, ServerAnswer::Failed(_)), "{answer:?}");
        let hello = FromRunner::Hello { protocol: 1, build: "x".into() };
        let Ok(Large::Other(frame)) = read_back(&hello) else { panic!() };
        assert_eq!(get_message::<FromRunner<'_>>(frame.bytes()), Ok(hello));
    }
}
