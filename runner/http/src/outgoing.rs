//! A line of the session, as far as HTTP has to know it: which request it is, and what its headers say.
//!
//! Owns nothing of the line; it goes as it is.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The facts about a line that HTTP has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The request's id, for one.
    pub id: Option<u64>,
    /// MCP's method. None for answers.
    pub method: Option<String>,
    /// The tool, prompt or resource that it is about.
    pub subject: Option<String>,
    /// The revision, if the line is of the generation that says everything with each request.
    pub revision: Option<String>,
    /// The request that it takes back.
    pub cancels: Option<u64>,
}

#[derive(Deserialize)]
struct Line<'a> {
    id: Option<IdOrText>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum IdOrText {
    Number(u64),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<Cow<'a, str>>,
    #[serde(rename = "requestId")]
    request_id: Option<u64>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<Cow<'a, str>>,
}

impl Outgoing {
    /// Reads a line that Harbor has written. None if it is no message.
    pub fn read(line: &[u8]) -> Option<Self> {
        let line: Line<'_> = serde_json::from_slice(line).ok()?;
        let method = line.method.map(Cow::into_owned);
        let params = line.params;
        let cancels = params.as_ref().and_then(|params| params.request_id);
        let revision = params.as_ref().and_then(|params| params.meta.as_ref()?.revision.as_deref());
        let revision = revision.map(str::to_owned);
        let subject = match method.as_deref() {
            Some("tools/call" | "prompts/get") => params.and_then(|params| params.name),
            Some("resources/read" | "resources/subscribe" | "resources/unsubscribe") => {
                params.and_then(|params| params.uri)
            }
            _ => None,
        };
        let id = match line.id {
            Some(IdOrText::Number(id)) => Some(id),
            _ => None,
        };
        Some(Self {
            id: id.filter(|_| method.is_some()),
            cancels: cancels.filter(|_| method.as_deref() == Some("notifications/cancelled")),
            subject: subject.map(Cow::into_owned),
            method,
            revision,
        })
    }

    /// True if the line has this method.
    pub fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }
}

/// A text as the value of a header: unchanged where that is possible, else in MCP's form of Base64.
pub fn header_text(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    let value = if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Outgoing {
        Outgoing::read(line.as_bytes()).unwrap()
    }

    #[test]
    fn lines_show_what_headers_say() {
        let call = read(
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a\"b","arguments":{"uri":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        );
        assert_eq!(call.id, Some(7));
        assert_eq!((call.subject.as_deref(), call.revision.as_deref()), (Some("a\"b"), Some("2026-07-28")));
        let cancel = read(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"x"}}"#,
        );
        assert_eq!((cancel.id, cancel.cancels, cancel.revision), (None, Some(7), None));
        let answer = read(r#"{"jsonrpc":"2.0","id":"q","result":{"name":5}}"#);
        assert_eq!((answer.id, answer.method, answer.subject), (None, None, None));
        let answer = read(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        assert_eq!((answer.id, answer.method), (None, None));
        assert_eq!(Outgoing::read(b"x"), None);
    }

    #[test]
    fn names_are_sent_so_that_they_come_through() {
        let of = |text: &str| header_text(text).unwrap().to_str().unwrap().to_owned();
        assert_eq!(of("plain name"), "plain name");
        assert_eq!(of(" edge"), "=?base64?IGVkZ2U=?=");
        assert_eq!(of("ü"), "=?base64?w7w=?=");
        assert_eq!(of("a\nb"), "=?base64?YQpi?=");
        assert_eq!(of("=?base64?x"), "=?base64?PT9iYXNlNjQ/eA==?=");
    }
}
