//! The fastest plain MCP server on stdio that is still one: for measuring what stands between it and a client.
//!
//! ```text
//!  line ─► "id", "method", "name" found by searching ─► answer appended ─► written once no whole line is left to read
//! ```
//!
//! Legacy only, one thread, no JSON parser. It trusts its client: keys stand before payloads and are written
//! without spaces. With `--tools N` it lists N tools instead of its own, which can only be looked at. Must never be
//! used to test what Harbor does with odd servers; `misbehaving-server` is for that.
#![allow(clippy::expect_used, reason = "test support")]

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;

const BUFFER: usize = 128 * 1024;

/// More output than this is written although there is more to read, in bytes.
const ENOUGH: usize = 256 * 1024;

/// The revision that is spoken with a client that asks for another one than these.
const NEWEST: &[u8] = b"2025-11-25";

/// Older revisions, which some clients insist on. Nothing that is said here differs between them.
const OLDER: [&[u8]; 3] = [b"2025-06-18", b"2025-03-26", b"2024-11-05"];

const TOOLS: &str = "{\"tools\":[\
     {\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}},\
     {\"name\":\"text\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},\
     {\"name\":\"structured\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}]}";

fn main() -> io::Result<()> {
    let tools = tools(std::env::args().skip(1))?;
    let mut input = BufReader::with_capacity(BUFFER, File::from(io::stdin().as_fd().try_clone_to_owned()?));
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (mut line, mut out, mut payloads) = (Vec::new(), Vec::new(), Payloads::default());
    while input.read_until(b'\n', &mut line)? > 0 {
        answer(&line, &tools, &mut out, &mut payloads);
        line.clear();
        if out.len() > ENOUGH || !input.buffer().contains(&b'\n') {
            output.write_all(&out)?;
            out.clear();
        }
    }
    output.write_all(&out)
}

/// The result of `tools/list`.
fn tools(mut args: impl Iterator<Item = String>) -> io::Result<String> {
    match (args.next().as_deref(), args.next().map(|count| count.parse())) {
        (None, None) => Ok(TOOLS.to_owned()),
        (Some("--tools"), Some(Ok(count))) => {
            let tools: Vec<_> = (0..count).map(tool).collect();
            Ok(format!("{{\"tools\":[{}]}}", tools.join(",")))
        }
        _ => Err(io::Error::other("usage: echo-server [--tools N]")),
    }
}

/// A tool of common size: about 100 bytes of description, 300 of schema.
fn tool(number: usize) -> String {
    format!(
        "{{\"name\":\"tool_{number:04}\",\"description\":\"Finds entries number {number} in the collection and returns \
         them, the newest first, with their time and author.\",\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\
         \"query\":{{\"type\":\"string\",\"description\":\"Words that an entry has to contain\"}},\
         \"limit\":{{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"description\":\"How many at most\"}},\
         \"order\":{{\"type\":\"string\",\"enum\":[\"newest\",\"oldest\",\"best\"]}}}},\
         \"required\":[\"query\"],\"additionalProperties\":false}}}}"
    )
}

/// Appends the answer to one line; notifications get none.
fn answer(line: &[u8], tools: &str, out: &mut Vec<u8>, payloads: &mut Payloads) {
    let (Some(id), Some(method)) = (number_behind(line, b"\"id\":"), string_behind(line, b"\"method\":\""))
    else {
        return;
    };
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id);
    match method {
        b"tools/call" => call(line, out, payloads),
        b"initialize" => initialized(line, out),
        b"tools/list" => put_result(out, tools.as_bytes()),
        b"ping" => put_result(out, b"{}"),
        _ => out.extend_from_slice(b",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}"),
    }
    out.extend_from_slice(b"}\n");
}

fn initialized(line: &[u8], out: &mut Vec<u8>) {
    let asked_for = string_behind(line, b"\"protocolVersion\":\"").unwrap_or_default();
    let revision = OLDER.into_iter().find(|older| *older == asked_for).unwrap_or(NEWEST);
    out.extend_from_slice(b",\"result\":{\"protocolVersion\":\"");
    out.extend_from_slice(revision);
    out.extend_from_slice(
        b"\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"echo-server\",\"version\":\"1.0.0\"}}",
    );
}

fn call(line: &[u8], out: &mut Vec<u8>, payloads: &mut Payloads) {
    let size = || {
        let digits = number_behind(line, b"\"n\":").and_then(|digits| std::str::from_utf8(digits).ok());
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(64 * 1024)
    };
    match string_behind(line, b"\"name\":\"") {
        Some(b"echo") => {
            let text = string_behind(line, b"\"text\":\"").unwrap_or_default();
            out.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
            out.extend_from_slice(text);
            out.extend_from_slice(b"\"}]}");
        }
        Some(b"text") => put_result(out, payloads.text(size())),
        Some(b"structured") => put_result(out, payloads.structured(size())),
        _ => out.extend_from_slice(b",\"error\":{\"code\":-32602,\"message\":\"Unknown tool\"}"),
    }
}

fn put_result(out: &mut Vec<u8>, result: &[u8]) {
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result);
}

/// Results that were built once.
#[derive(Default)]
struct Payloads {
    texts: HashMap<usize, Vec<u8>>,
    structured: HashMap<usize, Vec<u8>>,
}

impl Payloads {
    /// A text of `n` bytes.
    fn text(&mut self, n: usize) -> &[u8] {
        self.texts.entry(n).or_insert_with(|| {
            let text = "The quick brown fox jumps over the lazy dog. ".repeat(n / 45 + 1);
            format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}", &text[..n]).into_bytes()
        })
    }

    /// Rows of about `n` bytes.
    fn structured(&mut self, n: usize) -> &[u8] {
        self.structured.entry(n).or_insert_with(|| {
            let (mut rows, mut at) = (String::new(), 0);
            while rows.len() < n {
                let comma = if at == 0 { "" } else { "," };
                rows += &format!(
                    "{comma}{{\"id\":{at},\"name\":\"row {at}\",\"ratio\":0.{at},\"tags\":[\"a\",\"b\"]}}"
                );
                at += 1;
            }
            format!("{{\"content\":[],\"structuredContent\":{{\"rows\":[{rows}]}}}}").into_bytes()
        })
    }
}

/// What stands behind the first `key`.
fn behind<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    line.windows(key.len()).position(|window| window == key).map(|at| &line[at + key.len()..])
}

fn number_behind<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = behind(line, key)?;
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    (end > 0).then(|| &rest[..end])
}

/// The content of a string, its escapes left as they are.
fn string_behind<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = behind(line, key)?;
    let mut end = 0;
    loop {
        end += rest.get(end..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if rest[end] == b'"' {
            return Some(&rest[..end]);
        }
        end += 2;
    }
}
