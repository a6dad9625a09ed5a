//! A session as a text for people and for other programs.
//!
//! Owns these forms. Must never show people what only a provider understands.

use std::fmt::Write as _;

use harbor_ipc_proto::field::put_object;
use harbor_ipc_proto::model::{Attachment, ModelMessage, Part, Role};

use super::session::Session;
use super::transcript::transcript;

/// A session as JSON, which can be imported.
#[must_use]
pub fn json(session: &Session) -> String {
    let mut text = Vec::new();
    put_object(&mut text, &transcript(session));
    String::from_utf8(text).unwrap_or_default()
}

/// A session as Markdown.
#[must_use]
pub fn markdown(session: &Session) -> String {
    let mut out = format!("# {}\n", session.head.borrow().name);
    session.messages.borrow().iter().for_each(|message| put(&mut out, message));
    out
}

fn put(out: &mut String, message: &ModelMessage) {
    let head = match message.role {
        Role::System => "System",
        Role::User => "You",
        Role::Assistant => "Assistant",
        Role::Tool => "",
    };
    if !head.is_empty() {
        let _ = write!(out, "\n## {head}\n");
    }
    for part in &message.parts {
        let _ = match part {
            Part::Text(text) => write!(out, "\n{text}\n"),
            Part::Image(image) => write!(out, "\n*[an image, {}]*\n", image.media_type),
            Part::ToolCall(call) => {
                write!(out, "\n*Calls* `{}`\n\n{}", call.name, fenced("json", &call.arguments))
            }
            Part::ToolResult(result) => {
                let what = if result.is_error { "failed" } else { "answered" };
                write!(out, "\n`{}` *{what}*\n\n{}", result.name, fenced("", &result.text))
            }
            Part::Attached(attached) => write!(out, "\n{}", quoted(attached)),
            Part::Reasoning(_) | Part::Opaque(_) => Ok(()),
        };
    }
}

/// An attachment behind marks that each of its lines has: no word of it stands outside.
fn quoted(Attachment { url, title, text }: &Attachment) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = match url {
        Some(url) => format!("A page: {title} ({})", url.split_whitespace().collect::<String>()),
        None => format!("A file: {title}"),
    };
    let lines = [head.trim_end_matches([':', ' ']), ""].into_iter().chain(text.lines());
    lines.map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
}

/// A text between fences that are not in the text itself.
fn fenced(kind: &str, text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{kind}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::model::{ToolCall, ToolResult};

    use super::super::mode::SessionMode;
    use super::super::session::{Session, SessionHead};
    use super::*;

    #[test]
    fn a_session_as_markdown() {
        let call = ToolCall { id: "1".into(), name: "t".into(), arguments: "{}".into() };
        let result = ToolResult {
            call_id: "1".into(),
            name: "t".into(),
            text: "a ``` b".into(),
            images: vec![],
            is_error: false,
        };
        let page = Attachment {
            url: Some("https://x.example/".into()),
            title: "A\nB".into(),
            text: "one\n\n## two\r\n".into(),
        };
        let says = |role, part| ModelMessage { role, parts: vec![part] };
        let session = Session::new(
            "x".into(),
            SessionHead { name: "N".into(), ..SessionHead::new(SessionMode::Ask, true) },
            vec![
                ModelMessage { role: Role::User, parts: vec![Part::Attached(page), Part::Text("hi".into())] },
                says(Role::Assistant, Part::ToolCall(call)),
                says(Role::Tool, Part::ToolResult(result)),
                says(Role::Assistant, Part::Text("bye".into())),
            ],
        );
        assert_eq!(
            markdown(&session),
            "# N\n\n## You\n\n> A page: A B (https://x.example/)\n>\n> one\n>\n> ## two\n\nhi\n\n## Assistant\n\n*Calls* `t`\n\n```json\n{}\n```\n\n`t` *answered*\n\n````\na ``` b\n````\n\n## Assistant\n\nbye\n"
        );
        assert!(json(&session).starts_with(r#"{"session":{"id":"x","#));
    }
}
