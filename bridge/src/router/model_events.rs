//! `llm_event`: the pieces of an answer, none longer than its client's frames.
//!
//! Owns the cuts. Must never leave text out: a client that joins the pieces has the answer.

use harbor_ipc_proto::client::{ChatEvent, LlmEvent};

use super::client::stream::Stream;

/// Bytes of a push around its text.
const AROUND: usize = 1024;

/// The most bytes that one can become in JSON: `\u0000`.
const ESCAPED: usize = 6;

/// Pushes an event of an answer to a client that takes frames of at most `max_frame` bytes. The arguments that `tool_call_end`
/// repeats are left out where they are too long for it: they have come in pieces.
pub(super) async fn push(stream: &Stream, event: ChatEvent, max_frame: usize) {
    let most = (max_frame.saturating_sub(AROUND) / ESCAPED).max(4);
    let send = async |event| stream.push(|id, seq| LlmEvent { request_id: id.to_owned(), seq, event }).await;
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    if length(&event.text).max(length(&event.arguments)) <= most {
        send(event).await;
    } else if *event.r#type == *"tool_call_end" {
        let shorter = ChatEvent { arguments: None, ..event.clone() };
        if !send(event).await {
            send(shorter).await;
        }
    } else {
        for piece in pieces(event, most) {
            send(piece).await;
        }
    }
}

/// An event in several, each with at most `most` bytes of its text or its arguments.
fn pieces(mut event: ChatEvent, most: usize) -> Vec<ChatEvent> {
    let (text, arguments) = (event.text.take(), event.arguments.take());
    let is_text = text.is_some();
    let whole = text.or(arguments).unwrap_or_default();
    let mut rest = whole.as_str();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(most));
        let piece = Some(piece.to_owned());
        pieces.push(match is_text {
            true => ChatEvent { text: piece, ..event.clone() },
            false => ChatEvent { arguments: piece, ..event.clone() },
        });
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: Option<&str>, arguments: Option<&str>) -> ChatEvent {
        ChatEvent {
            text: text.map(Into::into),
            call_id: Some("a".into()),
            arguments: arguments.map(Into::into),
            ..ChatEvent::of_type("text")
        }
    }

    #[test]
    fn a_long_text_is_cut_between_its_characters() {
        let cut = pieces(event(Some("aüüb"), None), 4);
        let texts: Vec<_> = cut.iter().map(|piece| piece.text.as_deref().unwrap()).collect();
        assert_eq!(texts, ["aü", "üb"]);
        let cut = pieces(event(None, Some("😀😀")), 4);
        assert_eq!(cut, [event(None, Some("😀")), event(None, Some("😀"))]);
    }
}
