//! Renders `extension/shared/protocol/generated/messages.ts` from the message tables: the client protocol as types of the
//! browser extensions.
//!
//! Owns the way from a row of the documentation to a type of TypeScript. Must never guess: an unknown kind gives `None`,
//! and a test checks that there is none.

use std::fmt::Write as _;

use super::docs::{objects, one_line, replies, settings};
use super::{FieldDoc, MessageDoc, PUSHES, REQUESTS};
use crate::CLIENT_PROTOCOL;
use crate::codes::Code;
use crate::field::{FromField, JsonObject, PutField};
use crate::json::Json;
use crate::server_id::ServerId;
use crate::source_id::SourceId;

const INTRODUCTION: &str = "\
// The client protocol as types, message by message; `harbor docs protocol` says what they mean.
//
// Generated from the types in `ipc-proto`; `HARBOR_BLESS=1 cargo test -p harbor-ipc-proto` rewrites it. Must never be edited.

/** JSON as its author wrote it: nothing is known of it. */
export type Json = unknown;
";

/// The whole file; `None` if a field is of a kind that has no type here.
#[must_use]
pub fn render() -> Option<String> {
    let mut out = String::from(INTRODUCTION);
    let _ =
        writeln!(out, "\n/** The version of this protocol. */\nexport const PROTOCOL = {CLIENT_PROTOCOL};");
    messages(&mut out, "Requests", "What a client sends, by `type`.", REQUESTS.iter())?;
    messages(&mut out, "Replies", "What the bridge answers, by the type of the request.", replies())?;
    messages(&mut out, "Pushes", "What the bridge sends unasked, by `type`.", PUSHES.iter())?;
    for object in settings().into_iter().chain(objects()) {
        let _ =
            write!(out, "\n/** {} */\nexport interface {} ", one_line(object.doc), object_name(object.tag));
        block(&mut out, object.fields, "")?;
        out.push('\n');
    }
    let _ = write!(out, "\n/** What went wrong, in a word. */\nexport type Code =");
    for code in Code::ALL {
        let _ = write!(out, "\n  /** {} */\n  | \"{}\"", code.meaning().trim(), code.as_str());
    }
    out.push_str(";\n");
    Some(out)
}

fn messages<'a>(
    out: &mut String,
    name: &str,
    doc: &str,
    all: impl Iterator<Item = &'a MessageDoc>,
) -> Option<()> {
    let _ = writeln!(out, "\n/** {doc} */\nexport interface {name} {{");
    for message in all {
        let _ = write!(out, "  /** {} */\n  {}: ", one_line(message.doc), message.tag);
        block(out, message.fields, "  ")?;
        out.push_str(";\n");
    }
    out.push_str("}\n");
    Some(())
}

fn block(out: &mut String, fields: &[FieldDoc], indent: &str) -> Option<()> {
    if fields.is_empty() {
        out.push_str("Record<never, never>");
        return Some(());
    }
    out.push_str("{\n");
    for field in fields {
        let optional = if field.optional { "?" } else { "" };
        let kind = type_of(field)?;
        let _ = writeln!(
            out,
            "{indent}  /** {} */\n{indent}  {}{optional}: {kind};",
            one_line(field.doc),
            field.name
        );
    }
    let _ = write!(out, "{indent}}}");
    Some(())
}

fn type_of(field: &FieldDoc) -> Option<String> {
    match (field.kind, field.member) {
        ("array", member) => Some(format!("Array<{}>", plain(member)?)),
        ("object", member) => Some(format!("{{ [name: string]: {} }}", plain(member)?)),
        (kind, _) => plain(kind),
    }
}

/// The TypeScript type of a value outside arrays and maps.
fn plain(kind: &str) -> Option<String> {
    let known = match kind {
        "string" | "boolean" | "number" => kind,
        _ if [String::EXPECTED, ServerId::EXPECTED, SourceId::EXPECTED].contains(&kind) => "string",
        _ if kind == bool::EXPECTED => "boolean",
        _ if kind == u32::EXPECTED || kind == u64::EXPECTED => "number",
        _ if kind == <Vec<String>>::EXPECTED => "string[]",
        _ if kind == <Vec<u64>>::EXPECTED => "number[]",
        _ if kind == JsonObject::EXPECTED => "{ [name: string]: Json }",
        _ if kind == Json::TYPE => "Json",
        "an object whose values are strings" => "{ [name: string]: string }",
        "an object whose values are arrays of strings" => "{ [name: string]: string[] }",
        "a whole number from 0 to 1000000, or \"unlimited\"" => "number | \"unlimited\"",
        _ => return words(kind).or_else(|| object_of(kind)).or_else(|| objects_of(kind)),
    };
    Some(known.to_owned())
}

/// The choice `"a" | "b"` from the kind `a, b or c`.
fn words(kind: &str) -> Option<String> {
    let words: Vec<_> = kind.split(", ").flat_map(|part| part.split(" or ")).collect();
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let all = words.len() > 1 && words.iter().all(is_word);
    all.then(|| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | "))
}

/// The TypeScript type of an object, or of an array of objects, in a request.
fn objects_of(kind: &str) -> Option<String> {
    let tag = kind.strip_suffix('`')?;
    let many = tag.strip_prefix("an array of objects `").map(|tag| Some(format!("{}[]", object_of(tag)?)));
    many.unwrap_or_else(|| object_of(tag.strip_prefix("the object `")?))
}

fn object_of(kind: &str) -> Option<String> {
    settings()
        .into_iter()
        .chain(objects())
        .find(|object| object.tag == kind)
        .map(|object| object_name(object.tag))
}

/// The name of an object in TypeScript. Settings have a small first letter in documents, and may share their name with the
/// object that shows them.
fn object_name(tag: &str) -> String {
    let mut letters = tag.chars();
    match letters.next() {
        Some(first) if first.is_ascii_lowercase() => {
            format!("{}{}Settings", first.to_ascii_uppercase(), letters.as_str())
        }
        _ => tag.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_type() {
        let all = REQUESTS.iter().chain(replies()).chain(PUSHES).chain(settings()).chain(objects());
        for field in all.flat_map(|message| message.fields) {
            assert!(type_of(field).is_some(), "{}: {} {}", field.name, field.kind, field.member);
        }
    }

    #[test]
    fn words_are_a_choice_and_sentences_are_not() {
        assert_eq!(words("never, on_crash or always").unwrap(), r#""never" | "on_crash" | "always""#);
        assert_eq!(words("something else"), None);
        assert_eq!(words("string"), None);
    }

    #[test]
    fn the_file_is_what_the_types_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../extension/shared/protocol/generated/messages.ts");
        let text = render().unwrap();
        if std::env::var_os("HARBOR_BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let file = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            file == text,
            "extension/shared/protocol/generated/messages.ts is stale: HARBOR_BLESS=1 cargo test -p harbor-ipc-proto"
        );
    }
}
