//! Files and pages that go with a message or a request: an image, or a text.
//!
//! Owns telling the two apart, by their bytes, and the bounds of both. Must never send anything else, nor a file that was not named.

use std::env;
use std::fs::File;
use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_client::errors::Failure;
use harbor_ipc_proto::client::ChatPart;
use harbor_ipc_proto::model::{MAX_IMAGE, picture_type};
use harbor_policy::page_fetch::MAX_TEXT;

use super::page::{Fetching, is_address};

/// The longest title of an attachment, in bytes.
const LONGEST_TITLE: usize = 1000;

/// The estimate while no tokens are counted.
const BYTES_PER_TOKEN: usize = 4;

/// The part of the message that a file or a page becomes, and its description.
/// `by`: how it was named, for a refusal.
pub fn read(by: &str, named: &str, fetch: &mut Fetching<'_>) -> Result<(ChatPart, String), Failure> {
    let part = if is_address(named) { fetch(named)? } else { of_file(by, named)? };
    let told = match &part.text {
        Some(text) => format!("{named}, about {} tokens", text.len().div_ceil(BYTES_PER_TOKEN)),
        None => format!("{named}, an image"),
    };
    Ok((part, told))
}

fn of_file(by: &str, path: &str) -> Result<ChatPart, Failure> {
    let wrong = |what: &str| Failure::Usage(format!("{by} {path}: {what}"));
    let bytes = file(by, &at_home(path), MAX_IMAGE)?;
    if let Some(image) = picture(&bytes) {
        return Ok(image);
    }
    if bytes.len() > MAX_TEXT {
        return Err(wrong("a text can have at most 1 MB"));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(ChatPart { title: Some(title(path)), ..text_part(text) }),
        _ => Err(wrong("it is neither text nor a PNG, JPEG, GIF or WebP")),
    }
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
    ChatPart { text: Some(text), ..ChatPart::of_type("text") }
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
    let kind = picture_type(bytes)?;
    Some(ChatPart {
        mediaType: Some(kind.to_owned()),
        data: Some(STANDARD.encode(bytes)),
        ..ChatPart::of_type("image")
    })
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
        let nothing: &mut Fetching<'_> = &mut |url| panic!("{url} is fetched");
        let notes = put("notes", b"12345");
        let (part, told) = read("/attach", &notes, nothing).unwrap();
        assert_eq!((part.text.as_deref(), part.title.as_deref()), (Some("12345"), Some(notes.as_str())));
        assert_eq!(told, format!("{notes}, about 2 tokens"));
        let (part, _) = read("/attach", &put("x.txt", b"GIF89a"), nothing).unwrap();
        assert_eq!((part.r#type.as_str(), part.mediaType.as_deref()), ("image", Some("image/gif")));
        for path in [
            put("binary", b"a\0b"),
            put("latin", b"\xe4"),
            put("long", &vec![b'a'; MAX_TEXT + 1]),
            "/nowhere".into(),
        ] {
            assert!(matches!(read("/attach", &path, nothing), Err(Failure::Usage(_))), "{path}");
        }
    }
}
