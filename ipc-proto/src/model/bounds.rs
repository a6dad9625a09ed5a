//! The bounds of one conversation, and the rules for pictures. Owns both for each end of the link.

use super::{Image, ModelMessage, Part, Role};

/// The most pictures of one request.
pub const MAX_IMAGES: usize = 8;

/// The largest picture, in bytes.
pub const MAX_IMAGE: usize = 5 * 1000 * 1000;

/// The media types that providers take.
const MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The bytes by which a file of each of them is known, and their place in it.
const FIRST_BYTES: [(&[u8], usize); 4] =
    [(b"\x89PNG\r\n\x1a\n", 0), (b"\xff\xd8\xff", 0), (b"GIF8", 0), (b"WEBP", 8)];

/// The media type of a picture that providers take, by its bytes. None if they are no such picture.
#[must_use]
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    let is_it = |(begin, at): &(&[u8], usize)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(begin));
    FIRST_BYTES.iter().position(is_it).and_then(|at| MEDIA_TYPES.get(at).copied())
}

/// Why messages are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidMessagesReason {
    /// There are no messages.
    Empty,
    /// There are more than [`MAX_IMAGES`] pictures.
    TooManyImages,
    /// A picture is larger than [`MAX_IMAGE`].
    ImageTooLarge,
    /// A picture is of a type that providers do not take.
    MediaType,
    /// A picture is not base64.
    ImageData,
    /// A part is in a message of a role that may not have it.
    Misplaced,
    /// There is an attachment, which is no text for a model yet.
    Attached,
    /// Nobody asks the model anything: there are at most instructions.
    NothingAsked,
    /// The model itself has spoken last.
    EndsWithModel,
}

impl std::fmt::Display for InvalidMessagesReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "there is no message",
            Self::TooManyImages => "there are more than 8 images",
            Self::ImageTooLarge => "an image is larger than 5 MB",
            Self::MediaType => "an image is not PNG, JPEG, GIF or WebP",
            Self::ImageData => "an image is not given as base64 data",
            Self::Misplaced => "a message has a part that its role must not have",
            Self::Attached => "only messages of a session (chat_send_message) can have attachments",
            Self::NothingAsked => {
                "the model is asked nothing: besides instructions, a message of the user with a text or an image is needed"
            }
            Self::EndsWithModel => {
                "the last message is the model's own, and most models refuse to continue it: end with a message of the user \
                 or the result of a tool"
            }
        })
    }
}

impl std::error::Error for InvalidMessagesReason {}

/// Checks that these messages may be sent to a model.
///
/// # Errors
/// The first thing that is wrong with them.
pub fn check(messages: &[ModelMessage]) -> Result<(), InvalidMessagesReason> {
    let mut parts = messages.iter().flat_map(|message| &message.parts);
    if parts.any(|part| matches!(part, Part::Attached(_))) {
        return Err(InvalidMessagesReason::Attached);
    }
    check_kept(messages)
}

/// Checks that these messages may be sent to a model, and that it is asked something.
///
/// # Errors
/// As for [`check`], and when nobody has asked anything since the model has spoken.
pub fn check_asked(messages: &[ModelMessage]) -> Result<(), InvalidMessagesReason> {
    check(messages)?;
    let is_said = |part: &Part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Reasoning(_) | Part::Attached(_) => false,
        Part::Image(_) | Part::ToolCall(_) | Part::ToolResult(_) | Part::Opaque(_) => true,
    };
    let says = |message: &&ModelMessage| message.role != Role::System && message.parts.iter().any(is_said);
    match messages.iter().rev().find(says).map(|message| message.role) {
        None => Err(InvalidMessagesReason::NothingAsked),
        Some(Role::Assistant) => Err(InvalidMessagesReason::EndsWithModel),
        Some(_) => Ok(()),
    }
}

/// Checks messages as a session keeps them: they may have attachments.
///
/// # Errors
/// As for [`check`].
pub fn check_kept(messages: &[ModelMessage]) -> Result<(), InvalidMessagesReason> {
    if messages.is_empty() {
        return Err(InvalidMessagesReason::Empty);
    }
    let mut images = 0;
    for message in messages {
        for part in &message.parts {
            if !belongs(message.role, part) {
                return Err(InvalidMessagesReason::Misplaced);
            }
            for image in images_of(part) {
                images += 1;
                check_image(image)?;
            }
        }
    }
    if images > MAX_IMAGES { Err(InvalidMessagesReason::TooManyImages) } else { Ok(()) }
}

fn belongs(role: Role, part: &Part) -> bool {
    match part {
        Part::Text(_) => role != Role::Tool,
        Part::Image(_) | Part::Attached(_) => role == Role::User,
        Part::ToolResult(_) => role == Role::Tool,
        Part::ToolCall(_) | Part::Reasoning(_) | Part::Opaque(_) => role == Role::Assistant,
    }
}

fn images_of(part: &Part) -> &[Image] {
    match part {
        Part::Image(image) => std::slice::from_ref(image),
        Part::ToolResult(result) => &result.images,
        _ => &[],
    }
}

fn check_image(image: &Image) -> Result<(), InvalidMessagesReason> {
    if !MEDIA_TYPES.contains(&image.media_type.as_str()) {
        return Err(InvalidMessagesReason::MediaType);
    }
    if image.data.len() > MAX_IMAGE.div_ceil(3) * 4 {
        return Err(InvalidMessagesReason::ImageTooLarge);
    }
    if is_base64(&image.data) { Ok(()) } else { Err(InvalidMessagesReason::ImageData) }
}

/// True for bytes in base64 with padding, at least one.
pub(super) fn is_base64(text: &str) -> bool {
    let data = text.as_bytes();
    let bare = data.strip_suffix(b"==").or(data.strip_suffix(b"=")).unwrap_or(data);
    let fits = bare.iter().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(b));
    fits && !bare.is_empty() && data.len().is_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::super::Attachment;
    use super::*;

    fn image(data: &str) -> Part {
        Part::Image(Image { media_type: "image/png".into(), data: data.into() })
    }

    fn says(role: Role, parts: Vec<Part>) -> Result<(), InvalidMessagesReason> {
        check(&[ModelMessage { role, parts }])
    }

    #[test]
    fn pictures_are_few_small_and_data() {
        assert_eq!(says(Role::User, vec![image("AAAA"), image("AAA="), image("AA==")]), Ok(()));
        assert_eq!(
            says(Role::User, vec![image("AAAA"); MAX_IMAGES + 1]),
            Err(InvalidMessagesReason::TooManyImages)
        );
        for data in
            ["", "=", "====", "AAA", "A=AA", "https://example.com/cat.png", "data:image/png;base64,AAAA"]
        {
            assert_eq!(says(Role::User, vec![image(data)]), Err(InvalidMessagesReason::ImageData), "{data}");
        }
        let largest = "A".repeat(MAX_IMAGE.div_ceil(3) * 4);
        assert_eq!(says(Role::User, vec![image(&largest)]), Ok(()));
        assert_eq!(
            says(Role::User, vec![image(&(largest + "AAAA"))]),
            Err(InvalidMessagesReason::ImageTooLarge)
        );
        let page = Image { media_type: "image/svg+xml".into(), data: "AAAA".into() };
        assert_eq!(says(Role::User, vec![Part::Image(page)]), Err(InvalidMessagesReason::MediaType));
    }

    #[test]
    fn a_model_is_asked_something_and_does_not_go_on_by_itself() {
        let said = |role, text: &str| ModelMessage { role, parts: vec![Part::Text(text.into())] };
        let of = |messages: &[ModelMessage]| check_asked(messages);
        assert_eq!(of(&[said(Role::System, "x"), said(Role::User, "y")]), Ok(()));
        for nothing in [vec![said(Role::System, "x")], vec![said(Role::System, "x"), said(Role::User, "  ")]]
        {
            assert_eq!(of(&nothing), Err(InvalidMessagesReason::NothingAsked));
        }
        let answered = [said(Role::User, "a"), said(Role::Assistant, "{"), said(Role::User, "")];
        assert_eq!(of(&answered[..2]), Err(InvalidMessagesReason::EndsWithModel));
        assert_eq!(of(&answered), Err(InvalidMessagesReason::EndsWithModel), "what is empty is not sent");
        assert_eq!(
            of(&[said(Role::User, "a"), ModelMessage { role: Role::User, parts: vec![image("AAAA")] }]),
            Ok(())
        );
    }

    #[test]
    fn an_attachment_is_kept_and_never_sent() {
        let attached = || Part::Attached(Attachment { url: None, title: String::new(), text: "x".into() });
        let message = |role| ModelMessage { role, parts: vec![attached()] };
        assert_eq!(check_kept(&[message(Role::User)]), Ok(()));
        assert_eq!(check(&[message(Role::User)]), Err(InvalidMessagesReason::Attached));
        assert_eq!(check_kept(&[message(Role::Assistant)]), Err(InvalidMessagesReason::Misplaced));
    }

    #[test]
    fn each_part_belongs_to_its_roles() {
        assert_eq!(check(&[]), Err(InvalidMessagesReason::Empty));
        assert_eq!(says(Role::Tool, vec![Part::Text("x".into())]), Err(InvalidMessagesReason::Misplaced));
        assert_eq!(
            says(Role::User, vec![Part::Reasoning("x".into())]),
            Err(InvalidMessagesReason::Misplaced)
        );
        assert_eq!(says(Role::Assistant, vec![image("AAAA")]), Err(InvalidMessagesReason::Misplaced));
        assert_eq!(says(Role::System, vec![Part::Text("x".into())]), Ok(()));
    }
}
