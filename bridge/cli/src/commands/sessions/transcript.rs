//! The messages of a session, as text.
//!
//! Owns how a message looks afterwards: as it looked while it came. Must never show a model's thoughts.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::{ChatMessage, ChatPart};
use harbor_ipc_proto::field::FromField as _;
use harbor_ipc_proto::json::Json;

use crate::table::{fit, flatten};

/// The length to which a call's arguments are shown, in places.
const SHOWN: usize = 200;

/// All messages, one below the other.
pub fn text(messages: &[ChatMessage]) -> String {
    let mut calls = BTreeMap::new();
    let shown = messages.iter().map(|message| one(message, &mut calls)).filter(|text| !text.is_empty());
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The text of a message; an image is a remark.
pub fn words(content: Option<&Json>) -> String {
    let Some(content) = content else { return String::new() };
    if let Ok(text) = serde_json::from_str::<String>(content.as_str()) {
        return text;
    }
    let parts = <Vec<ChatPart>>::from_text(content.as_str()).unwrap_or_default();
    let part = |part: ChatPart| match part.r#type.as_str() {
        "page" => {
            Some(format!("[a page: {} {}]", part.title.unwrap_or_default(), part.url.unwrap_or_default()))
        }
        "text" if part.title.is_some() => Some(format!("[a text: {}]", part.title.unwrap_or_default())),
        "text" => part.text,
        "image" => Some(format!("[an image, {}]", part.mediaType.unwrap_or_default())),
        _ => None,
    };
    parts.into_iter().filter_map(part).collect::<Vec<_>>().join("\n")
}

fn one(message: &ChatMessage, calls: &mut BTreeMap<String, String>) -> String {
    let said = words(message.content.as_ref());
    match message.role.as_str() {
        "user" => said.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"),
        "tool" => {
            let id = message.toolCallId.as_deref().unwrap_or_default();
            let call = calls.remove(id).unwrap_or_else(|| "· a tool".into());
            let became = if message.isError == Some(true) { "failed" } else { "ok" };
            format!("{call} … {became}")
        }
        "assistant" => {
            for call in message.toolCalls.iter().flatten() {
                let line = format!("{} {}", flatten(&call.name), flatten(call.arguments.as_str()));
                calls.insert(call.id.clone(), format!("· {}", fit(&line, Some(SHOWN))));
            }
            said
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    #[test]
    fn a_conversation_looks_as_it_looked() {
        let messages: Vec<ChatMessage> = [
            r#"{"role":"system","content":"be brief"}"#,
            r#"{"role":"user","content":[{"type":"image","mediaType":"image/png","data":""},{"type":"page","url":"https://x.example","title":"X","text":"long"},{"type":"text","title":"notes","text":"long"},{"type":"text","text":"what\nis it?"}]}"#,
            r#"{"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"text","text":"I look."}],"toolCalls":[{"id":"c","name":"eye/look","arguments":{"at":1}},{"id":"d","name":"eye/\nx","arguments":{}}]}"#,
            r#"{"role":"tool","toolCallId":"c","content":"a cat"}"#,
            r#"{"role":"tool","toolCallId":"d","content":"no","isError":true}"#,
            r#"{"role":"assistant","content":"A cat."}"#,
        ]
        .into_iter()
        .map(typed)
        .collect();
        assert_eq!(
            text(&messages),
            "> [an image, image/png]\n> [a page: X https://x.example]\n> [a text: notes]\n> what\n> is it?\n\nI look.\n\n· eye/look {\"at\":1} … ok\n\n· eye/ x {} … failed\n\nA cat."
        );
    }
}
