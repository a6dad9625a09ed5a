//! Files that go with a message or a request: an image, or the text of a file.
//!
//! Owns telling the two apart, by their bytes, and the bounds of both. Must never send anything else, nor a file that was not named.

use std::env;
use std::fs::File;
use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_client::errors::Failure;
use harbor_ipc_proto::client::ChatPart;
use harbor_ipc_proto::model::MAX_IMAGE;

/// The first bytes of the files of images.
const KINDS: [(&[u8], usize, &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
];

/// The longest text, in bytes: more than most models can read at once.
const LONGEST_TEXT: usize = 1_000_000;

/// The longest title of an attachment, in bytes.
const LONGEST_TITLE: usize = 1000;

/// The estimate while no tokens are counted.
const BYTES_PER_TOKEN: usize = 4;

/// The part of the message that a file becomes, and its description.
/// `by`: how it was named, for a refusal.
pub fn read(by: &str, path: &str) -> Result<(ChatPart, String), Failure> {
    let wrong = |what: &str| Failure::Usage(format!("{by} {path}: {what}"));
    let bytes = file(by, &at_home(path), MAX_IMAGE)?;
    if let Some(image) = picture(&bytes) {
        return Ok((image, format!("{path}, an image")));
    }
    if bytes.len() > LONGEST_TEXT {
        return Err(wrong("a text can have at most 1 MB"));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| wrong("it is neither text nor a PNG, JPEG, GIF or WebP"))?;
    if text.contains('\0') {
        return Err(wrong("it is neither text nor a PNG, JPEG, GIF or WebP"));
    }
    let tokens = text.len().div_ceil(BYTES_PER_TOKEN);
    let part = ChatPart { title: Some(title(path)), ..text_part(text) };
    Ok((part, format!("{path}, about {tokens} tokens")))
}

/// The end of a path that a title has room for.
fn title(path: &str) -> String {
    path[path.ceil_char_boundary(path.len().saturating_sub(LONGEST_TITLE))..].to_owned()
}

/// `~/x` as a shell has it.
fn at_home(path: &str) -> String {
    match (path.strip_prefix("~/"), env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}

/// A part that is a text.
pub fn text_part(text: String) -> ChatPart {
    ChatPart { r#type: "text".into(), text: Some(text), ..part() }
}

/// A part without anything in it.
pub fn part() -> ChatPart {
    ChatPart {
        r#type: "image".into(),
        text: None,
        callId: None,
        mediaType: None,
        data: None,
        provider: None,
        model: None,
        value: None,
        url: None,
        title: None,
    }
}

/// Reads an input that may be endless: one byte more than `most` shows that it is too long.
pub fn bounded(from: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file that was named by `option`, if it has at most `most` bytes.
pub fn file(option: &str, path: &str, most: usize) -> Result<Vec<u8>, Failure> {
    let wrong = |what: String| Failure::Usage(format!("{option} {path}: {what}"));
    let bytes = File::open(path).and_then(|file| bounded(file, most));
    let bytes = bytes.map_err(|error| wrong(format!("cannot read it: {error}")))?;
    match bytes.len() > most {
        true => Err(wrong(format!("it is larger than {} MB", most / 1_000_000))),
        false => Ok(bytes),
    }
}

/// The image in these bytes. None if they are no image.
pub fn picture(bytes: &[u8]) -> Option<ChatPart> {
    let is_it =
        |(begin, at, _): &&(&[u8], usize, &str)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(begin));
    let (.., kind) = KINDS.iter().find(is_it)?;
    Some(ChatPart { mediaType: Some((*kind).to_owned()), data: Some(STANDARD.encode(bytes)), ..part() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_and_an_image_are_told_apart_and_nothing_else_goes() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let notes = put("notes", b"12345");
        let (part, told) = read("/attach", &notes).unwrap();
        assert_eq!((part.text.as_deref(), part.title.as_deref()), (Some("12345"), Some(notes.as_str())));
        assert_eq!(told, format!("{notes}, about 2 tokens"));
        let (part, _) = read("/attach", &put("x.txt", b"GIF89a")).unwrap();
        assert_eq!((part.r#type.as_str(), part.mediaType.as_deref()), ("image", Some("image/gif")));
        for path in [
            put("binary", b"a\0b"),
            put("latin", b"\xe4"),
            put("long", &vec![b'a'; LONGEST_TEXT + 1]),
            "/nowhere".into(),
        ] {
            assert!(matches!(read("/attach", &path), Err(Failure::Usage(_))), "{path}");
        }
    }
}
