//! One line of a server's log, as it is on disk: `{"t":1790000000000,"s":"stderr","x":"listening"}`.
//!
//! Owns the form and the bounds. Must never fail on what it reads: any program may have written it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The most bytes of a text. A longer one is cut. Runners cut at 8 KiB, which unreadable bytes can make 24.
const MAX_TEXT: usize = 32 * 1024;

/// MCP's levels are words of at most nine letters.
const MAX_LEVEL: usize = 64;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerLogRecord {
    /// Milliseconds since 1970.
    #[serde(rename = "t")]
    pub timestamp: u64,
    /// The origin of the line.
    #[serde(rename = "s")]
    pub source: Source,
    /// MCP's level.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The text.
    #[serde(rename = "x")]
    pub text: String,
}

/// The origin of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The server's stderr.
    Stderr,
    /// The server's stdout, where it was no message.
    Stdout,
    /// MCP's log messages.
    Mcp,
    /// A remark of the bridge.
    Harbor,
    /// The output of an installer while the server's package was fetched and built.
    Install,
}

/// Reads a line, with or without its newline. None if it is no line of a server log.
#[must_use]
pub fn parse(line: &[u8]) -> Option<ServerLogRecord> {
    // Serde would take a list of the same values, too.
    let is_object = line.first() == Some(&b'{');
    is_object.then(|| serde_json::from_slice(line).ok()).flatten()
}

impl ServerLogRecord {
    /// Writes it as one line, with its newline.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let before = out.len();
        match serde_json::to_writer(&mut *out, &*self.cut()) {
            Ok(()) => out.push(b'\n'),
            Err(_) => out.truncate(before),
        }
    }

    fn cut(&self) -> Cow<'_, Self> {
        let level_fits = self.level.as_ref().is_none_or(|level| level.len() <= MAX_LEVEL);
        if self.text.len() <= MAX_TEXT && level_fits {
            return Cow::Borrowed(self);
        }
        let head = |text: &str, max| text[..text.floor_char_boundary(max)].to_owned();
        let mut text = head(&self.text, MAX_TEXT);
        if text.len() < self.text.len() {
            text.push_str(" … (cut)");
        }
        let level = self.level.as_ref().map(|level| head(level, MAX_LEVEL));
        Cow::Owned(Self { timestamp: self.timestamp, source: self.source, level, text })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(in super::super) fn line(record: &ServerLogRecord) -> Vec<u8> {
        let mut line = Vec::new();
        record.put(&mut line);
        line
    }

    fn any_source() -> impl Strategy<Value = Source> {
        prop::sample::select(vec![
            Source::Stderr,
            Source::Stdout,
            Source::Mcp,
            Source::Harbor,
            Source::Install,
        ])
    }

    pub(in super::super) fn any_record() -> impl Strategy<Value = ServerLogRecord> {
        let level = prop::option::of("[\\PC\n]{0,10}");
        (any::<u64>(), any_source(), level, any::<String>())
            .prop_map(|(timestamp, source, level, text)| ServerLogRecord { timestamp, source, level, text })
    }

    proptest! {
        #[test]
        fn any_record_survives_as_one_line(record in any_record()) {
            let line = line(&record);
            prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
            prop_assert_eq!(parse(&line), Some(record.clone()));
            prop_assert_eq!(parse(&line[..line.len() - 1]), Some(record));
            prop_assert!((0..line.len() - 1).all(|end| parse(&line[..end]).is_none()));
        }

        #[test]
        fn any_bytes_are_read(
            noise in prop::collection::vec(any::<u8>(), 0..200),
            record in any_record(),
            at in any::<prop::sample::Index>(),
        ) {
            let _ = parse(&noise);
            let mut line = line(&record);
            let at = at.index(line.len());
            line.splice(at..at, noise);
            let _ = parse(&line);
        }
    }

    #[test]
    fn the_form_on_disk() {
        let record = |source, level: Option<&str>, text: &str| ServerLogRecord {
            timestamp: 7,
            source,
            level: level.map(String::from),
            text: text.into(),
        };
        let plain = record(Source::Stderr, None, "a \"b\"\n\u{1b}[0m");
        assert_eq!(line(&plain), b"{\"t\":7,\"s\":\"stderr\",\"x\":\"a \\\"b\\\"\\n\\u001b[0m\"}\n");
        let with_level = record(Source::Mcp, Some("info"), "");
        assert_eq!(line(&with_level), b"{\"t\":7,\"s\":\"mcp\",\"l\":\"info\",\"x\":\"\"}\n");
        let newer = br#"{"t":7,"s":"mcp","x":"","l":"info","of a later build":[1]}"#;
        assert_eq!(parse(newer), Some(with_level));
        let foreign: [&[u8]; 5] = [
            b"",
            b"{}",
            br#"[7,"mcp",null,""]"#,
            br#"{"t":-1,"s":"mcp","x":""}"#,
            br#"{"t":7,"s":"?","x":""}"#,
        ];
        assert!(foreign.iter().all(|line| parse(line).is_none()));
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let text = "ä\u{1}".repeat(MAX_TEXT);
        let record =
            ServerLogRecord { timestamp: 7, source: Source::Mcp, level: Some("ä".repeat(99)), text };
        let line = line(&record);
        assert!(line.len() < 256 * 1024);
        let read = parse(&line).unwrap();
        assert!(read.text.ends_with("… (cut)") && read.text.len() < MAX_TEXT + 20);
        assert_eq!(read.level, Some("ä".repeat(MAX_LEVEL / 2)));
    }
}
