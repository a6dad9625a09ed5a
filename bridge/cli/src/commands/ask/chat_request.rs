//! The request that a question is: its text, its images, the schema of its answer.
//!
//! Owns reading stdin and the files that are named. Must never send another file. An image is recognised by
//! its first bytes, and anything else is refused.

use std::io;

use harbor_ipc_proto::client::{ChatMessage, ChatPart, LlmChat};
use harbor_ipc_proto::field::{JsonObject, PutField as _};
use harbor_ipc_proto::frame::MAX_CLIENT_FRAME;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{MAX_IMAGE, MAX_IMAGES};
use harbor_policy::own_prompts::get;
use serde_json::value::RawValue;

use super::super::arguments::built;
use super::super::attach::{self, bounded, file, picture, text_part};
use super::super::page::Fetching;
use crate::args::{AskOptions, Value, arguments};
use harbor_client::errors::Failure;
use harbor_client::payload::Payload;

/// More files are refused.
const MOST_FILES: usize = 8;

/// The request, with all named files read, and pages fetched.
pub fn chat(question: &AskOptions, fetch: &mut Fetching<'_>) -> Result<LlmChat, Failure> {
    let schema = question.schema.as_deref().map(schema).transpose()?;
    let (text, attached) = said(question, fetch)?;
    let attached = attached.into_iter().map(quoted).collect();
    Ok(LlmChat {
        messages: vec![ChatMessage { content: Some(content(&text, attached)), ..message() }],
        model: question.model.clone(),
        system_prompt: question.system.clone(),
        max_tokens: question.max_tokens,
        temperature: question.temperature.as_deref().map(temperature).transpose()?,
        reasoning_effort: question.effort.clone(),
        response_schema: schema,
        ..plain("")
    })
}

/// The text, and the images, files and pages that stand before it.
pub fn said(question: &AskOptions, fetch: &mut Fetching<'_>) -> Result<(String, Vec<ChatPart>), Failure> {
    if question.images.len() > MAX_IMAGES {
        return Err(Failure::Usage(format!("--image: up to {MAX_IMAGES} images can be shown at once")));
    }
    if question.files.len() > MOST_FILES {
        return Err(Failure::Usage(format!("--file: up to {MOST_FILES} files can be sent at once")));
    }
    let images = question.images.iter().map(|path| image(path));
    let files = question.files.iter().map(|path| attach::read("--file", path, fetch).map(|(part, _)| part));
    let attached: Vec<_> = images.chain(files).collect::<Result<_, _>>()?;
    let text = match question.question.as_deref() {
        Some("-") => from_stdin()?,
        Some(typed) => typed.to_owned(),
        None => prompted(&question.prompt)?,
    };
    Ok((text, attached))
}

/// The text of a prompt of Harbor's own: its name, and what is filled in.
fn prompted(words: &[String]) -> Result<String, Failure> {
    let (name, filled) = words.split_first().ok_or_else(|| Failure::Usage("--prompt needs a name".into()))?;
    let filled = filled.iter().collect::<Vec<_>>();
    let arguments = arguments(&filled).map_err(|wrong| Failure::Usage(format!("--prompt: {wrong}")))?;
    if let Some(other) = arguments.iter().find(|one| !matches!(one.value, Value::Text(_))) {
        let wrong =
            format!("--prompt: {} takes a text: {}=TEXT; for a file use --file", other.key, other.key);
        return Err(Failure::Usage(wrong));
    }
    let given = built(&arguments)?;
    let got = get(name, Some(given.0.as_str())).map_err(|wrong| {
        Failure::Usage(format!(
            "--prompt {name}: {wrong}\n`harbor prompts show harbor {name}` says what it takes"
        ))
    })?;
    Ok(Payload::parse(got.as_bytes())
        .unwrap_or_default()
        .objects("messages")
        .iter()
        .map(|message| message.object("content").text("text"))
        .collect())
}

/// A file as a part of a message: its text, between two lines with its name. A session does that by itself.
fn quoted(part: ChatPart) -> ChatPart {
    match (part.title, part.text) {
        (Some(title), Some(text)) => {
            text_part(format!("The file {title} begins here.\n{text}\nThe file {title} ends here."))
        }
        (title, text) => ChatPart { title, text, ..part },
    }
}

/// A randomness, as the JSON number that is sent.
fn temperature(typed: &str) -> Result<Json, Failure> {
    let number: Option<f64> = serde_json::from_str(typed).ok();
    match number.is_some_and(|number| (0.0..=2.0).contains(&number)) {
        true => Ok(Json::from_valid(typed.trim().to_owned())),
        false => {
            Err(Failure::Usage(format!("--temperature {typed}: give a number from 0 to 2, such as 0.7")))
        }
    }
}

fn message() -> ChatMessage {
    ChatMessage { role: "user".into(), content: None, toolCalls: None, toolCallId: None, isError: None }
}

/// A request that says this and nothing else, and whose answer comes in pieces.
pub fn plain(text: &str) -> LlmChat {
    LlmChat {
        messages: vec![ChatMessage { content: Some(content(text, Vec::new())), ..message() }],
        model: None,
        provider: None,
        system_prompt: None,
        tools: None,
        tool_choice: None,
        max_tokens: None,
        temperature: None,
        top_p: None,
        stop: None,
        response_schema: None,
        reasoning_effort: None,
        stream: Some(true),
        credit: Some(true),
    }
}

fn content(text: &str, attached: Vec<ChatPart>) -> Json {
    if attached.is_empty() {
        return Json::string(text);
    }
    let parts: Vec<_> = attached.into_iter().chain([text_part(text.to_owned())]).collect();
    let mut json = Vec::new();
    parts.put(&mut json);
    Json::from_valid(String::from_utf8(json).unwrap_or_default())
}

fn from_stdin() -> Result<String, Failure> {
    let bytes = bounded(io::stdin(), MAX_CLIENT_FRAME).map_err(|error| Failure::Io("read stdin", error))?;
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => {
            Err(Failure::Usage("stdin is empty; write the question there".into()))
        }
        Ok(text) if text.len() <= MAX_CLIENT_FRAME => Ok(text),
        Ok(_) => Err(Failure::Usage("stdin is longer than a message can be".into())),
        Err(_) => Err(Failure::Usage("stdin is not UTF-8".into())),
    }
}

fn image(path: &str) -> Result<ChatPart, Failure> {
    let bytes = file("--image", path, MAX_IMAGE)?;
    picture(&bytes)
        .ok_or_else(|| Failure::Usage(format!("--image {path}: the file is not a PNG, JPEG, GIF or WebP")))
}

fn schema(path: &str) -> Result<JsonObject, Failure> {
    let wrong = |what: &str| Failure::Usage(format!("--schema {path}: {what}"));
    let text = String::from_utf8(file("--schema", path, 1_000_000)?).map_err(|_| wrong("it is not UTF-8"))?;
    let text = text.trim();
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) if text.starts_with('{') => Ok(JsonObject(Json::from_valid(text.to_owned()))),
        Ok(_) => Err(wrong("a JSON Schema is an object")),
        Err(error) => Err(wrong(&format!("it is not JSON: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::args::{PageRules, ToolUse};

    fn question(images: Vec<String>, schema: Option<String>) -> AskOptions {
        AskOptions {
            question: Some("what is it?".into()),
            prompt: Vec::new(),
            model: Some("p:m".into()),
            system: None,
            images,
            files: Vec::new(),
            extract: false,
            schema,
            max_tokens: Some(9),
            temperature: Some("0.5".into()),
            effort: Some("low".into()),
            pages: PageRules::default(),
            using: ToolUse::default(),
        }
    }

    fn chat(question: &AskOptions) -> Result<LlmChat, Failure> {
        super::chat(question, &mut |url| {
            Ok(ChatPart { title: Some(url.to_owned()), ..text_part("a page".into()) })
        })
    }

    #[test]
    fn an_image_is_told_by_its_bytes_and_stands_before_the_question() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let webp = put("a.png", b"RIFF\0\0\0\0WEBPVP8 ");
        let schema = put("s.json", b" {\"type\":\"object\"}\n");
        let asked = chat(&question(vec![webp], Some(schema.clone()))).unwrap();
        assert_eq!(
            asked.messages[0].content.as_ref().unwrap().as_str(),
            r#"[{"type":"image","mediaType":"image/webp","data":"UklGRgAAAABXRUJQVlA4IA=="},{"type":"text","text":"what is it?"}]"#
        );
        assert_eq!(asked.response_schema.unwrap().0.as_str(), "{\"type\":\"object\"}");
        assert_eq!((asked.max_tokens, asked.stream, asked.credit), (Some(9), Some(true), Some(true)));
        assert_eq!(
            (asked.temperature.unwrap().as_str(), asked.reasoning_effort.as_deref()),
            ("0.5", Some("low"))
        );
        for (images, schema) in [
            (vec![schema.clone()], None),
            (vec![put("empty", b"")], None),
            (vec!["/nowhere".into()], None),
            (vec![put("big", &vec![0; MAX_IMAGE + 1])], None),
            (vec![String::new(); 9], None),
            (vec![], Some(put("list", b"[]"))),
            (vec![], Some(put("none", b"{"))),
        ] {
            assert!(matches!(chat(&question(images, schema)), Err(Failure::Usage(_))));
        }
    }

    #[test]
    fn a_file_goes_with_its_name_around_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt").to_str().unwrap().to_owned();
        fs::write(&path, "a\nb").unwrap();
        let asked = AskOptions { files: vec![path.clone()], ..question(vec![], None) };
        let content = chat(&asked).unwrap().messages.remove(0).content.unwrap();
        let parts: serde_json::Value = serde_json::from_str(content.as_str()).unwrap();
        let text = format!("The file {path} begins here.\na\nb\nThe file {path} ends here.");
        assert_eq!((&parts[0]["text"], &parts[1]["text"]), (&text.into(), &"what is it?".into()));
        let url = "https://a.example/b".to_owned();
        let asked = AskOptions { files: vec![url.clone()], ..question(vec![], None) };
        let content = chat(&asked).unwrap().messages.remove(0).content.unwrap();
        let text = format!("The file {url} begins here.\na page\nThe file {url} ends here.");
        assert_eq!(serde_json::from_str::<serde_json::Value>(content.as_str()).unwrap()[0]["text"], text);
        let many = AskOptions { files: vec![path; MOST_FILES + 1], ..question(vec![], None) };
        assert!(matches!(chat(&many), Err(Failure::Usage(_))));
    }
}
