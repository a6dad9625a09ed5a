//! One line of the audit log: `{"time":"2026-11-21T17:40:00.123Z","timestamp":1795282800123,"event":"call",…}`.
//!
//! Owns the form and the bounds: whatever the texts hold, a record is one line of one JSON object. Must never have
//! a field for arguments or results.

use std::sync::Arc;

use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::strings::put_str;

use harbor_home::date::{put_digits, put_rfc3339};

/// The most bytes of a text. A longer one is cut, since names come from outside.
const MAX_TEXT: usize = 512;

/// The most bytes of a name that a page may make up freely.
const MAX_NAME: usize = 128;

/// Tools that are named; a last item says how many there are beyond them.
const MAX_TOOLS: usize = 1000;

/// An event. A field that is `None`, and a text that is empty, is left out of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditRecord {
    /// The time of the event, in milliseconds since 1970.
    pub timestamp: u64,
    /// Its kind: `call`, `grant` and so on.
    pub event: &'static str,
    /// The type of a message that its sender may not send.
    pub message: Option<&'static str>,
    /// The sender: `owner`, `extension:<id>`, `client://<name>`.
    pub by: Arc<str>,
    /// The origin on whose behalf it was sent.
    pub origin: Option<Arc<str>>,
    /// The profile of the browser.
    pub profile: Option<Arc<str>>,
    /// The scope: the things that the origin may do.
    pub scope: Option<&'static str>,
    /// The type of the grant.
    pub grant_type: Option<&'static str>,
    /// When the grant ends, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// The tab that it is bound to.
    pub tab_id: Option<u64>,
    /// The tools of the grant; all when `None`.
    pub allowed_tools: Option<Arc<[String]>>,
    /// The tools that a person was asked about.
    pub asked_tools: Option<Arc<[String]>>,
    /// The server.
    pub server: Option<Arc<str>>,
    /// The server's process, if each principal has one.
    pub instance: Option<Arc<str>>,
    /// Its tool.
    pub tool: Option<Arc<str>>,
    /// The name of its secret.
    pub key: Option<Arc<str>>,
    /// The tool's hash, in hexadecimal digits in the file.
    pub tool_hash: Option<[u8; 32]>,
    /// `allowed` or `denied`.
    pub decision: &'static str,
    /// How a question ended: `allowed`, `denied` or `dismissed`.
    pub outcome: Option<&'static str>,
    /// The error that it ended with.
    pub code: Option<&'static str>,
    /// True if the tool says itself that it has failed; in the file only then.
    pub tool_error: bool,
    /// How long it took, in microseconds; `duration_ms` in the file.
    pub duration_us: Option<u64>,
    /// How long of that it waited for its turn, in microseconds; `queued_ms` in the file.
    pub queued_us: Option<u64>,
    /// How many bytes the arguments had.
    pub bytes_in: Option<u64>,
    /// How many bytes the result had.
    pub bytes_out: Option<u64>,
    /// The run that it belongs to.
    pub run_id: Option<Arc<str>>,
    /// The number of such events that this record stands for.
    pub count: Option<u64>,
    /// The provider that was asked, and its model.
    pub provider: Option<Arc<str>>,
    /// See `provider`.
    pub model: Option<Arc<str>>,
    /// Tokens that the model has read and written.
    pub tokens: Option<[u64; 2]>,
    /// The address of a page that was fetched, without its query.
    pub url: Option<Arc<str>>,
}

impl AuditRecord {
    /// Writes it as one line, with its newline.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"time\":\"");
        put_rfc3339(out, self.timestamp);
        out.push(b'"');
        put_number(out, "timestamp", Some(self.timestamp));
        put_text(out, "event", Some(self.event));
        put_text(out, "message", self.message);
        put_text(out, "by", Some(&self.by));
        put_text(out, "origin", self.origin.as_deref());
        put_name_of(out, "profile", self.profile.as_deref());
        put_text(out, "scope", self.scope);
        put_text(out, "grant_type", self.grant_type);
        put_number(out, "expires_at", self.expires_at);
        put_number(out, "tab_id", self.tab_id);
        put_tools(out, "allowed_tools", self.allowed_tools.as_deref());
        put_tools(out, "asked_tools", self.asked_tools.as_deref());
        put_text(out, "server", self.server.as_deref());
        put_text(out, "instance", self.instance.as_deref());
        put_name_of(out, "tool", self.tool.as_deref());
        put_name_of(out, "key", self.key.as_deref());
        put_text(out, "tool_hash", self.tool_hash.map(|hash| hex(&hash)).as_deref());
        put_text(out, "decision", Some(self.decision));
        put_text(out, "outcome", self.outcome);
        put_text(out, "code", self.code);
        if self.tool_error {
            out.extend_from_slice(b",\"tool_error\":true");
        }
        put_millis(out, "duration_ms", self.duration_us);
        put_millis(out, "queued_ms", self.queued_us);
        put_number(out, "bytes_in", self.bytes_in);
        put_number(out, "bytes_out", self.bytes_out);
        put_text(out, "run_id", self.run_id.as_deref());
        put_number(out, "count", self.count);
        put_text(out, "provider", self.provider.as_deref());
        put_name_of(out, "model", self.model.as_deref());
        put_number(out, "input_tokens", self.tokens.map(|[input, _]| input));
        put_number(out, "output_tokens", self.tokens.map(|[_, output]| output));
        put_text(out, "url", self.url.as_deref());
        out.extend_from_slice(b"}\n");
    }
}

/// Writes the name of a member. Our names need no escapes.
fn put_name(out: &mut Vec<u8>, name: &'static str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn put_text(out: &mut Vec<u8>, name: &'static str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        put_name(out, name);
        put_cut(out, text, MAX_TEXT);
    }
}

fn put_name_of(out: &mut Vec<u8>, name: &'static str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        put_name(out, name);
        put_cut(out, text, MAX_NAME);
    }
}

fn put_cut(out: &mut Vec<u8>, text: &str, most: usize) {
    if text.len() <= most {
        put_str(out, text);
    } else {
        put_str(out, &format!("{} … (cut)", &text[..text.floor_char_boundary(most)]));
    }
}

fn put_tools(out: &mut Vec<u8>, name: &'static str, tools: Option<&[String]>) {
    let Some(tools) = tools else { return };
    put_name(out, name);
    out.push(b'[');
    for (at, tool) in tools.iter().take(MAX_TOOLS).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        put_cut(out, tool, MAX_TEXT);
    }
    if tools.len() > MAX_TOOLS {
        out.push(b',');
        put_str(out, &format!("… and {} more", tools.len() - MAX_TOOLS));
    }
    out.push(b']');
}

fn put_number(out: &mut Vec<u8>, name: &'static str, number: Option<u64>) {
    if let Some(number) = number {
        put_name(out, name);
        put_digits(out, number, 1);
    }
}

fn put_millis(out: &mut Vec<u8>, name: &'static str, micros: Option<u64>) {
    if let Some(micros) = micros {
        put_name(out, name);
        put_digits(out, micros / 1000, 1);
        out.push(b'.');
        put_digits(out, micros % 1000, 3);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    pub(in super::super) fn line(record: &AuditRecord) -> String {
        let mut line = Vec::new();
        record.put(&mut line);
        String::from_utf8(line).unwrap()
    }

    fn full() -> AuditRecord {
        AuditRecord {
            timestamp: 1_795_282_800_123,
            event: "call",
            message: Some("shutdown"),
            by: "extension:abc".into(),
            origin: Some("https://a.example".into()),
            profile: Some("default".into()),
            scope: Some("mcp:tools.call"),
            grant_type: Some("ALLOW_ALWAYS"),
            expires_at: Some(1_795_282_900_000),
            tab_id: Some(7),
            allowed_tools: Some(["files/read".into(), "a\"\n/b".into()].into()),
            asked_tools: Some(["files/*".into()].into()),
            server: Some("files".into()),
            instance: Some("files@0123456789abcdef".into()),
            tool: Some("read".into()),
            key: Some("API_KEY".into()),
            tool_hash: Some([0xa7; 32]),
            decision: "allowed",
            outcome: Some("dismissed"),
            code: Some("ERR_TOOL_FAILED"),
            tool_error: true,
            duration_us: Some(1_002_003),
            queued_us: Some(7),
            bytes_in: Some(0),
            bytes_out: Some(u64::MAX),
            run_id: Some("r1".into()),
            count: Some(2),
            provider: Some("openai".into()),
            model: Some("gpt-5".into()),
            tokens: Some([3, 4]),
            url: Some("https://a.example/b".into()),
        }
    }

    #[test]
    fn the_form_on_disk() {
        let hash = "a7".repeat(32);
        let wanted = [
            r#"{"time":"2026-11-21T17:40:00.123Z","timestamp":1795282800123,"event":"call","message":"shutdown","by":"extension:abc","#,
            r#""origin":"https://a.example","profile":"default","scope":"mcp:tools.call","#,
            r#""grant_type":"ALLOW_ALWAYS","expires_at":1795282900000,"tab_id":7,"allowed_tools":["files/read","a\"\n/b"],"asked_tools":["files/*"],"server":"files","instance":"files@0123456789abcdef","#,
            &format!(
                r#""tool":"read","key":"API_KEY","tool_hash":"{hash}","decision":"allowed","outcome":"dismissed","code":"ERR_TOOL_FAILED","#
            ),
            r#""tool_error":true,"duration_ms":1002.003,"queued_ms":0.007,"bytes_in":0,"bytes_out":18446744073709551615,"#,
            r#""run_id":"r1","count":2,"provider":"openai","model":"gpt-5","input_tokens":3,"output_tokens":4,"url":"https://a.example/b"}"#,
            "\n",
        ];
        assert_eq!(line(&full()), wanted.concat());
        let time = r#"{"time":"1970-01-01T00:00:00.000Z","timestamp":0"#;
        assert_eq!(line(&AuditRecord::default()), format!("{time}}}\n"));
        let none = AuditRecord { allowed_tools: Some(Vec::new().into()), ..AuditRecord::default() };
        assert_eq!(line(&none), format!("{time},\"allowed_tools\":[]}}\n"));
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let tools: Vec<String> = (0..1003).map(|n| format!("{n}{}", "ä".repeat(1000))).collect();
        let record = AuditRecord {
            origin: Some("x".repeat(MAX_TEXT).into()),
            tool: Some("ä\u{1}".repeat(1_000_000).into()),
            allowed_tools: Some(tools.into()),
            ..AuditRecord::default()
        };
        let line = line(&record);
        assert!(line.len() < 1024 * 1024);
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["origin"], "x".repeat(MAX_TEXT));
        let tool = read["tool"].as_str().unwrap();
        assert!(tool.starts_with("ä\u{1}ä") && tool.ends_with("\u{1}ä … (cut)"), "{tool}");
        let tools = read["allowed_tools"].as_array().unwrap();
        assert_eq!((tools.len(), &tools[MAX_TOOLS]), (MAX_TOOLS + 1, &json!("… and 3 more")));
    }

    proptest! {
        /// Whatever a page or a server calls itself, it cannot end its line and write another one.
        #[test]
        fn any_texts_are_one_line_and_read_back(
            by in "[\\PC\0-\u{2029}\"{}]{0,20}",
            tool in any::<String>(),
            origin in prop::option::of("\n\\{\"event\":\"grant\"\\}\n|\\PC*"),
            micros in any::<u64>(),
        ) {
            let texts = (Arc::<str>::from(&*by), Arc::<str>::from(&*tool), origin.clone().map(Arc::from));
            let (by_text, tool_text, origin_text) = texts;
            let record = AuditRecord {
                by: by_text, tool: Some(tool_text), origin: origin_text, duration_us: Some(micros),
                ..AuditRecord::default()
            };
            let line = line(&record);
            prop_assert_eq!(line.bytes().position(|byte| byte < b' '), Some(line.len() - 1));
            let read: Map<String, Value> = serde_json::from_str(&line).unwrap();
            let text = |name| read.get(name).and_then(Value::as_str).unwrap_or("");
            prop_assert_eq!((text("by"), text("tool")), (&*by, &*tool));
            prop_assert_eq!(text("origin"), origin.unwrap_or_default());
            // As text: to read it as a float would round it.
            let millis = format!(r#""duration_ms":{}.{:03}}}"#, micros / 1000, micros % 1000);
            prop_assert!(line.contains(&millis), "{}", line);
        }
    }
}
