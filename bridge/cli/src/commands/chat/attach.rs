//! Attachments of a message: an image, or the text of a file.
//!
//! Owns telling the two apart, by their bytes. Must never send anything else, nor a file that was not named.

use std::env;

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::ChatPart;
use harbor_ipc_proto::model::MAX_IMAGE;

use super::super::ask::chat_request::{file, picture, text_part};

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
