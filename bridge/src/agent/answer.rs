//! The answer of a tool, as a model reads it.
//!
//! ```text
//!  CallToolResult { content: [text, image, resource, …], structuredContent, isError } ─► text, images
//! ```
//!
//! Owns this translation: no other part of the bridge looks into a result. Must never hide that a part was there: parts
//! that a model cannot read are named.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{Image, MAX_IMAGE};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::host::ToolAnswer;

/// Types of images that providers take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The longest result that is read, in bytes. No model could read more, and each copy of a result is as long.
const LONGEST: usize = 16 * 1024 * 1024;

/// The parts of a result that a model reads.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ReadableAnswer {
    /// Its texts, separated by line ends.
    pub text: String,
    /// Its images, as far as a provider takes them.
    pub images: Vec<Image>,
    /// True if the tool says that it failed.
    pub is_error: bool,
}

/// A tool's answer and what a model reads of it, or why there is none.
pub type ReadCall = Result<(ToolAnswer, ReadableAnswer), ErrorBody>;

#[derive(Deserialize)]
struct CallToolResult<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    #[serde(borrow, default, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        media_type: String,
    },
    Audio {
        #[serde(rename = "mimeType", default)]
        media_type: String,
    },
    Resource {
        resource: EmbeddedResource,
    },
    ResourceLink {
        uri: String,
        #[serde(default)]
        name: String,
    },
}

#[derive(Deserialize)]
struct EmbeddedResource {
    #[serde(default)]
    uri: String,
    text: Option<String>,
}

/// Reads a result, with Harbor's notes beside it.
#[must_use]
pub fn read(result: &Json, beside: &[String]) -> ReadableAnswer {
    let mut read = match result.as_str().len() {
        0..=LONGEST => read_alone(result),
        long => ReadableAnswer {
            text: format!(
                "[the tool answered with {long} bytes, but Harbor reads at most {LONGEST}: ask it for less]"
            ),
            ..ReadableAnswer::default()
        },
    };
    read.text = with_said(read.text, beside);
    read
}

/// The reason why there is no result, with the notes beside it.
#[must_use]
pub fn of_error(error: &ErrorBody) -> String {
    let said = error.details.iter().find(|(name, _)| *name == "beside");
    let said: Option<Vec<String>> = said.and_then(|(_, said)| serde_json::from_str(said.as_str()).ok());
    with_said(error.message.clone(), &said.unwrap_or_default())
}

fn with_said(text: String, said: &[String]) -> String {
    said.iter().fold(text, |text, said| format!("{text}\n[Harbor: {said}]"))
}

fn read_alone(result: &Json) -> ReadableAnswer {
    let Ok(parsed) = serde_json::from_str::<CallToolResult<'_>>(result.as_str()) else {
        return ReadableAnswer { text: result.as_str().to_owned(), ..ReadableAnswer::default() };
    };
    let mut read = ReadableAnswer { is_error: parsed.is_error, ..ReadableAnswer::default() };
    let mut lines = Vec::new();
    for content in parsed.content {
        let Ok(parsed) = serde_json::from_str::<ContentBlock>(content.get()) else {
            // A kind of content from a newer MCP.
            lines.push(content.get().to_owned());
            continue;
        };
        match parsed {
            ContentBlock::Text { text }
            | ContentBlock::Resource { resource: EmbeddedResource { text: Some(text), .. } } => {
                lines.push(text)
            }
            ContentBlock::Image { data, media_type } => match taken(data, &media_type) {
                Ok(image) => read.images.push(image),
                Err(why) => lines.push(why),
            },
            ContentBlock::Audio { media_type } => {
                lines.push(format!("[audio, {media_type}: Harbor does not pass it on]"))
            }
            ContentBlock::Resource { resource } => {
                lines.push(format!("[a file that is not text: {}]", resource.uri))
            }
            ContentBlock::ResourceLink { uri, name } => lines.push(format!("[a resource: {name} {uri}]")),
        }
    }
    if lines.is_empty() && read.images.is_empty() {
        lines.extend(parsed.structured.map(|structured| structured.get().to_owned()));
    }
    read.text = lines.join("\n");
    read
}

fn taken(data: String, media_type: &str) -> Result<Image, String> {
    if !IMAGES.contains(&media_type) {
        return Err(format!("[an image, {media_type}: models do not accept this kind]"));
    }
    if data.len() > MAX_IMAGE / 3 * 4 {
        return Err(format!(
            "[an image of {} MB: Harbor passes on at most 5 MB]",
            data.len() * 3 / 4_000_000
        ));
    }
    Ok(Image { media_type: media_type.to_owned(), data })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> ReadableAnswer {
        read(&Json::from_valid(json.to_owned()), &[])
    }

    #[test]
    fn texts_and_images_pass_and_everything_else_is_named() {
        let read = of(r#"{"content":[
            {"type":"text","text":"a"},
            {"type":"image","data":"AAAA","mimeType":"image/png"},
            {"type":"image","data":"AAAA","mimeType":"image/svg+xml"},
            {"type":"audio","data":"AAAA","mimeType":"audio/wav"},
            {"type":"resource","resource":{"uri":"file:///x","text":"b"}},
            {"type":"resource","resource":{"uri":"file:///y","blob":"AAAA"}},
            {"type":"resource_link","uri":"file:///z","name":"z"},
            {"type":"novelty","x":1}],"isError":true}"#);
        assert_eq!(read.images, [Image { media_type: "image/png".into(), data: "AAAA".into() }]);
        let lines: Vec<_> = read.text.lines().collect();
        assert_eq!(
            lines,
            [
                "a",
                "[an image, image/svg+xml: models do not accept this kind]",
                "[audio, audio/wav: Harbor does not pass it on]",
                "b",
                "[a file that is not text: file:///y]",
                "[a resource: z file:///z]",
                r#"{"type":"novelty","x":1}"#,
            ]
        );
        assert!(read.is_error);
    }

    #[test]
    fn what_has_no_content_is_told_by_its_structured_part() {
        assert_eq!(of(r#"{"content":[],"structuredContent":{"a":1}}"#).text, r#"{"a":1}"#);
        assert_eq!(of(r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}"#).text, "x");
        assert_eq!(of("[1]").text, "[1]", "what is no result is told as it is");
        let large = format!(
            r#"{{"content":[{{"type":"image","data":"{}","mimeType":"image/png"}}]}}"#,
            "A".repeat(7_000_000)
        );
        assert_eq!(
            of(&large),
            ReadableAnswer {
                text: "[an image of 5 MB: Harbor passes on at most 5 MB]".into(),
                ..ReadableAnswer::default()
            }
        );
    }
}
