//! A server's answer, as text for people: the content of a tool's result, of a resource, of a prompt.
//!
//! Owns which parts of it are shown, and how. Must never fail: an unknown part is shown as JSON.

use harbor_client::payload::Payload;

use crate::media::{Media, Shelf};
use crate::pretty::pretty;
use crate::table::bracket;

/// A tool's answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Content {
    pub text: String,
    /// True if the tool says that it failed.
    pub is_error: bool,
}

/// Renders a CallToolResult: texts unchanged, other kinds in a word, and the structured content if there is
/// no text. Other kinds than text go to the shelf.
pub fn render(result: &str, shelf: &mut Shelf) -> Content {
    let members = Payload::parse(result.as_bytes()).unwrap_or_default();
    let items = members.objects("content");
    let mut lines: Vec<String> = items.iter().map(|item| render_item(item, shelf)).collect();
    let has_text = items.iter().any(|item| item.text("type") == "text");
    match members.raw("structuredContent") {
        Some(structured) if !has_text => lines.push(pretty(structured)),
        None if members.raw("content").is_none() => lines.push(pretty(result)),
        _ => {}
    }
    Content { text: lines.join("\n"), is_error: is_error(&members) }
}

/// Only finds out if the tool says that it failed, for callers that show the unchanged result. The text stays empty.
pub fn only_judge(result: &str) -> Content {
    let members = Payload::parse(result.as_bytes()).unwrap_or_default();
    Content { text: String::new(), is_error: is_error(&members) }
}

fn is_error(result: &Payload) -> bool {
    result.value("isError") == true
}

/// Renders a content block, as it stands in results and in prompts.
pub fn render_item(item: &Payload, shelf: &mut Shelf) -> String {
    let kind = item.text("type");
    match kind.as_str() {
        "text" => item.text_or_json("text"),
        "image" | "audio" => shelf.put(&Media::of_block(item)),
        "resource" => shelf.put(&Media::of_resource(&item.object("resource"))),
        "resource_link" => bracket(&["link".into(), item.text("uri"), item.text("name")]),
        "" => pretty(&item.to_json()),
        _ => bracket(&[kind]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(result: &str) -> Content {
        render(result, &mut Shelf::default())
    }

    fn text(result: &str) -> String {
        rendered(result).text
    }

    #[test]
    fn texts_are_printed_and_other_kinds_named() {
        assert_eq!(
            text(
                r#"{"content":[
                    {"type":"text","text":"a\nb"},
                    {"type":"text","text":"\ud800"},
                    {"type":"image","mimeType":"image/png","data":"AAAAAA=="},
                    {"type":"audio","mimeType":"audio/wav","data":""},
                    {"type":"resource","resource":{"uri":"file:///x","mimeType":"text/plain","text":"hello"}},
                    {"type":"resource","resource":{"uri":"file:///y","blob":"AAAA"}},
                    {"type":"resource_link","uri":"file:///z","name":"z"},
                    {"type":"hologram\u001b[2J\n[image"}
                ],"structuredContent":{"not":"shown"}}"#
            ),
            "a\nb\n\"\\ud800\"\n[image image/png 4 bytes]\n[audio audio/wav 0 bytes]\n[resource file:///x text/plain 5 bytes]\n\
             [resource file:///y 3 bytes]\n[link file:///z z]\n[hologram\\u{1b}[2J [image]"
        );
    }

    #[test]
    fn structured_content_stands_in_for_text() {
        let expected = "{\n  \"z\": 1,\n  \"a\": 12345678901234567890\n}";
        let structured = r#""structuredContent":{"z":1,"a":12345678901234567890}"#;
        assert_eq!(text(&format!("{{{structured}}}")), expected);
        assert_eq!(text(&format!(r#"{{"content":[],{structured}}}"#)), expected);
    }

    #[test]
    fn what_is_unknown_is_shown_as_it_is() {
        assert_eq!(text(r#"{"resultType":"input_required"}"#), "{\n  \"resultType\": \"input_required\"\n}");
        assert_eq!(text(r#"{"content":[{"x":1}]}"#), "{\n  \"x\": 1\n}");
        assert_eq!(text(r#"{"content":[]}"#), "");
        assert_eq!(text("7"), "7");
    }

    #[test]
    fn a_tool_may_say_that_it_failed() {
        assert!(rendered(r#"{"content":[],"isError":true}"#).is_error);
        assert!(!rendered(r#"{"content":[],"isError":false}"#).is_error);
        assert!(!rendered("{}").is_error);
    }
}
