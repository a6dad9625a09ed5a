//! Attachments of a message: files, pictures and pages that the person adds to it.
//!
//! ```text
//!  ChatPart: text, page ─► Part::Attached, kept word by word ─► for each request: an envelope (`policy/untrusted`)
//!  ChatPart: image ──────► Part::Image
//! ```
//!
//! Owns their bounds, and the private names that they bring: `attached`, and `browser:HOST` of a page. Must never take an
//! attachment for something that the person has typed.

use harbor_ipc_proto::client::ChatPart;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::model::{self, Attachment, Image, ModelMessage, Part, Role};
use harbor_policy::consent::Names;
use harbor_policy::consent::addresses::page_name;
use harbor_policy::untrusted::{Nonce, attached};

/// The private name of attachments.
pub(super) const ATTACHED: &str = "attached";

/// The most attachments of a message.
const MOST: usize = 32;

/// The longest text, title and address, in bytes.
const LONGEST_TEXT: usize = 1_000_000;
const LONGEST_TITLE: usize = 1000;
const LONGEST_URL: usize = 8192;

/// The share of a model's window that the attachments of one message may take.
const SHARE: usize = 2;

/// The attachments of a message.
#[derive(Debug, Default)]
pub struct Attachments {
    /// In their order.
    pub parts: Vec<Part>,
    /// The private names that the model reads with them.
    pub names: Names,
}

impl Attachments {
    /// Reads what a client sends.
    ///
    /// # Errors
    /// Says which one is wrong, and why.
    pub fn read(sent: Vec<ChatPart>) -> Result<Self, ErrorBody> {
        if sent.len() > MOST {
            return Err(wrong("there are more than 32"));
        }
        let mut all = Self::default();
        for (at, part) in sent.into_iter().enumerate() {
            let (part, name) = one(part).map_err(|why| wrong(&format!("number {}: {why}", at + 1)))?;
            all.names.insert(name);
            all.parts.push(part);
        }
        let message = ModelMessage { role: Role::User, parts: all.parts };
        match model::check_kept(std::slice::from_ref(&message)) {
            Err(reason) => Err(wrong(&reason.to_string())),
            Ok(()) => Ok(Self { parts: message.parts, names: all.names }),
        }
    }
}

fn one(part: ChatPart) -> Result<(Part, String), &'static str> {
    let ChatPart { r#type, text, mediaType: media_type, data, url, title, .. } = part;
    let page = match (r#type.as_str(), text, media_type, data, url) {
        ("image", _, Some(media_type), Some(data), _) => {
            return Ok((Part::Image(Image { media_type, data }), ATTACHED.to_owned()));
        }
        ("image", ..) => return Err("an image needs `mediaType` and `data`"),
        ("text", Some(text), _, _, None) => Attachment { url: None, title: title.unwrap_or_default(), text },
        ("page", Some(text), _, _, Some(url)) => {
            Attachment { url: Some(url), title: title.unwrap_or_default(), text }
        }
        ("text", ..) => return Err("a text needs `text`, and has no `url`"),
        ("page", ..) => return Err("a page needs `text` and `url`"),
        _ => return Err("it is none of text, image and page"),
    };
    check(&page)?;
    let name = page.url.as_deref().and_then(page_name).unwrap_or_else(|| ATTACHED.to_owned());
    Ok((Part::Attached(page), name))
}

/// Checks that an attachment keeps the bounds.
pub(super) fn check(attachment: &Attachment) -> Result<(), &'static str> {
    let Attachment { url, title, text } = attachment;
    let is_page = |url: &String| {
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        is_web && page_name(url).is_some()
    };
    if text.len() > LONGEST_TEXT {
        return Err("the text of an attachment has at most 1,000,000 bytes");
    }
    if title.len() > LONGEST_TITLE {
        return Err("the title of an attachment has at most 1000 bytes");
    }
    if url.as_ref().is_some_and(|url| url.len() > LONGEST_URL) {
        return Err("the address of a page has at most 8192 bytes");
    }
    if url.as_ref().is_some_and(|url| !is_page(url)) {
        return Err("the address of a page begins with http: or https:");
    }
    Ok(())
}

/// The messages of one request: each attachment has its envelope as its text. Second: true if one of them is cut.
pub(super) fn wrapped(
    nonce: &Nonce,
    window: u32,
    mut messages: Vec<ModelMessage>,
) -> (Vec<ModelMessage>, bool) {
    // Four bytes a token.
    let room = usize::try_from(window).unwrap_or(usize::MAX).saturating_mul(4) / SHARE;
    let mut is_cut = false;
    for message in &mut messages {
        let is_attached = |part: &&Part| matches!(part, Part::Attached(_));
        let count = message.parts.iter().filter(is_attached).count();
        for part in &mut message.parts {
            if let Part::Attached(attachment) = part {
                let wrapped = attached(nonce, attachment, room / count);
                is_cut |= wrapped.cut.is_some();
                attachment.text = wrapped.text;
            }
        }
    }
    (messages, is_cut)
}

/// The messages as models take them: an attachment in its envelope is a text.
pub(super) fn as_texts(mut messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Part::Attached(attachment) = part {
            *part = Part::Text(std::mem::take(&mut attachment.text));
        }
    }
    messages
}

fn wrong(what: &str) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, format!("field `attachments`: {what}")).with("field", "attachments")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: &str) -> ChatPart {
        ChatPart { text: Some("words".into()), ..ChatPart::of_type(kind) }
    }

    fn page(url: &str) -> ChatPart {
        ChatPart { url: Some(url.into()), title: Some("T".into()), ..part("page") }
    }

    fn refused(sent: ChatPart) -> String {
        Attachments::read(vec![part("text"), sent]).unwrap_err().message
    }

    #[test]
    fn attachments_bring_their_private_names() {
        let read =
            Attachments::read(vec![page("https://Mail.example/a"), page("http://x.example:81/")]).unwrap();
        assert_eq!(
            read.names,
            ["browser:http://x.example:81", "browser:mail.example"].map(String::from).into()
        );
        let read = Attachments::read(vec![part("text")]).unwrap();
        assert_eq!(read.names, [ATTACHED.to_owned()].into());
        let attachment = Attachment { url: None, title: String::new(), text: "words".into() };
        assert_eq!(read.parts, [Part::Attached(attachment)]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_number() {
        let long = |length: usize| Some("x".repeat(length));
        for (sent, said) in [
            (page("file:///etc/passwd"), "http"),
            (page("javascript:alert(1)"), "http"),
            (page("https://"), "http"),
            (page(&format!("https://x.example/{}", "a".repeat(LONGEST_URL))), "8192"),
            (ChatPart { title: long(LONGEST_TITLE + 1), ..part("text") }, "1000 bytes"),
            (ChatPart { text: long(LONGEST_TEXT + 1), ..part("text") }, "1,000,000"),
            (ChatPart { url: Some("https://x.example".into()), ..part("text") }, "no `url`"),
            (part("page"), "`url`"),
            (part("image"), "`mediaType`"),
            (part("tool_call"), "none of"),
        ] {
            let message = refused(sent);
            assert!(
                message.starts_with("field `attachments`: number 2: ") && message.contains(said),
                "{message}"
            );
        }
        assert!(Attachments::read(vec![part("text"); MOST + 1]).unwrap_err().message.contains("32"));
        let svg =
            ChatPart { mediaType: Some("image/svg+xml".into()), data: Some("AAAA".into()), ..part("image") };
        assert!(refused(svg).contains("PNG"));
    }

    #[test]
    fn a_long_attachment_is_cut_for_a_small_window_only() {
        let attachment = Attachment { url: None, title: String::new(), text: "x".repeat(10_000) };
        let message = ModelMessage { role: Role::User, parts: vec![Part::Attached(attachment)] };
        let nonce = Nonce::of_session("a");
        let (whole, is_cut) = wrapped(&nonce, u32::MAX, vec![message.clone()]);
        assert!(!is_cut && model::check(&as_texts(whole)).is_ok());
        let (_, is_cut) = wrapped(&nonce, 1000, vec![message.clone()]);
        assert!(is_cut);
        let two = ModelMessage { parts: [message.parts.clone(), message.parts].concat(), ..message };
        assert!(!wrapped(&nonce, 10_100, vec![two.clone()]).1 && wrapped(&nonce, 9_000, vec![two]).1);
    }
}
