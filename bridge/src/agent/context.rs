//! What of a conversation a model is sent.
//!
//! Owns the order: what it has to heed first, then what was said. Must never send more images than a request may have: older ones become
//! a line.

use harbor_ipc_proto::model::{MAX_IMAGES, Message, Part, Role};

/// What stands in the place of an image.
const GONE: &str = "[an image that is not shown any more]";

/// The last answer has no tools.
const LAST: &str = include_str!("prompts/last.md");

/// The messages of one request.
pub(super) fn messages(system: &str, said: &[Message], is_last: bool) -> Vec<Message> {
    let last = if is_last { LAST } else { "" };
    let system = format!("{}\n\n{last}", system.trim_end());
    let system = Message { role: Role::System, parts: vec![Part::Text(system.trim_end().to_owned())] };
    let mut messages: Vec<_> = std::iter::once(system).chain(said.iter().cloned()).collect();
    let mut left = MAX_IMAGES;
    for part in messages.iter_mut().rev().flat_map(|message| message.parts.iter_mut().rev()) {
        match part {
            Part::Image(_) => match left.checked_sub(1) {
                Some(fewer) => left = fewer,
                None => *part = Part::Text(GONE.into()),
            },
            Part::ToolResult(result) => {
                let kept = result.images.len().min(left);
                if kept < result.images.len() {
                    result.images.drain(..result.images.len() - kept);
                    result.text = format!("{}\n{GONE}", result.text);
                }
                left -= kept;
            }
            _ => {}
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::model::{Image, ToolResult, check};

    use super::*;

    #[test]
    fn the_newest_images_are_sent_and_older_ones_are_a_line() {
        let image = || Image { media_type: "image/png".into(), data: "AAAA".into() };
        let seen =
            Message { role: Role::User, parts: vec![Part::Image(image()), Part::Text("what is it?".into())] };
        let shown = ToolResult {
            call_id: "c".into(),
            name: "t".into(),
            text: "x".into(),
            images: vec![image(); 6],
            is_error: false,
        };
        let shown = Message { role: Role::Tool, parts: vec![Part::ToolResult(shown)] };
        let messages = messages("heed\n", &[seen.clone(), shown.clone(), shown, seen], true);
        assert_eq!(check(&messages), Ok(()));
        assert_eq!(messages[0].parts, [Part::Text(format!("heed\n\n{}", LAST.trim_end()))]);
        assert_eq!(messages[1].parts[0], Part::Text(GONE.into()));
        let images: Vec<_> = messages
            .iter()
            .flat_map(|message| &message.parts)
            .map(|part| match part {
                Part::Image(_) => 1,
                Part::ToolResult(result) => result.images.len(),
                _ => 0,
            })
            .collect();
        assert_eq!(images.iter().sum::<usize>(), MAX_IMAGES);
    }
}
