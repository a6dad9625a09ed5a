
// MCP, one message on each line of stdin and stdout. Nothing below has to be changed for another tool.

use std::fmt;
use std::io::{self, Write};

/// A tool: what clients are told of it, and what does its work.
struct Tool {
    name: &'static str,
    description: &'static str,
    /// The JSON schema of its arguments.
    input: &'static str,
    /// Gives the text of the result, or of an error that the client gets as a result.
    run: fn(&Json) -> Result<String, String>,
}

/// The revisions of MCP that are spoken, newest first.
const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

fn main() {
    let mut out = io::stdout().lock();
    for line in io::stdin().lines() {
        let answer = match line {
            Ok(line) => answer(&line),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Some(refusal("null", -32700, "Parse error")),
            Err(_) => return,
        };
        // Nobody reads any more: the client is gone.
        if answer.map_or(Ok(()), |answer| writeln!(out, "{answer}").and_then(|()| out.flush())).is_err() {
            return;
        }
    }
}

/// The answer to a message; None to what wants none.
fn answer(line: &str) -> Option<String> {
    let message = match Json::read(line) {
        Some(message) => message,
        None => return Some(refusal("null", -32700, "Parse error")),
    };
    let (id, method) = (message.get("id")?.to_string(), message.get("method")?.text()?);
    let empty = Json::Object(Vec::new());
    let params = message.get("params").unwrap_or(&empty);
    let result = match method {
        "initialize" => initialize(params),
        "ping" => "{}".to_owned(),
        "tools/list" => {
            let tools: Vec<_> = TOOLS.iter().map(Tool::listed).collect();
            format!(r#"{{"tools":[{}]}}"#, tools.join(","))
        }
        "tools/call" => match call(params) {
            Ok(result) => result,
            Err(unknown) => return Some(refusal(&id, -32602, &format!("Unknown tool: {unknown}"))),
        },
        _ => return Some(refusal(&id, -32601, &format!("Method not found: {method}"))),
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

fn refusal(id: &str, code: i32, words: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, Json::Text(words.to_owned()))
}

fn initialize(params: &Json) -> String {
    let wanted = params.get("protocolVersion").and_then(Json::text);
    let revision = REVISIONS.iter().find(|revision| wanted == Some(**revision)).unwrap_or(&REVISIONS[0]);
    let (name, version) = (Json::Text(SERVER.0.to_owned()), Json::Text(SERVER.1.to_owned()));
    format!(
        r#"{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":{name},"version":{version}}}}}"#
    )
}

/// Calls a tool. The error is the name that no tool has.
fn call(params: &Json) -> Result<String, String> {
    let name = params.get("name").and_then(Json::text).unwrap_or_default();
    let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or(name)?;
    let none = Json::Object(Vec::new());
    let (said, is_error) = match (tool.run)(params.get("arguments").unwrap_or(&none)) {
        Ok(said) => (said, false),
        Err(said) => (said, true),
    };
    Ok(format!(r#"{{"content":[{{"type":"text","text":{}}}],"isError":{is_error}}}"#, Json::Text(said)))
}

impl Tool {
    fn listed(&self) -> String {
        let (name, description) = (Json::Text(self.name.to_owned()), Json::Text(self.description.to_owned()));
        format!(r#"{{"name":{name},"description":{description},"inputSchema":{}}}"#, self.input)
    }
}

/// A value of JSON.
#[allow(dead_code)]
enum Json {
    Null,
    Bool(bool),
    /// As it was written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

#[allow(dead_code)]
impl Json {
    /// A member of an object.
    fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|member| member.0 == name).map(|member| &member.1),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Json::Number(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// Reads a whole text.
    fn read(text: &str) -> Option<Json> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(64)?;
        reader.space();
        if reader.at == text.len() { Some(value) } else { None }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(is) => write!(out, "{is}"),
            Json::Number(digits) => out.write_str(digits),
            Json::Text(text) => quoted(text, out),
            Json::List(items) => {
                let items: Vec<_> = items.iter().map(Json::to_string).collect();
                write!(out, "[{}]", items.join(","))
            }
            Json::Object(members) => {
                let member = |(name, value): &(String, Json)| format!("{}:{value}", Json::Text(name.clone()));
                let members: Vec<_> = members.iter().map(member).collect();
                write!(out, "{{{}}}", members.join(","))
            }
        }
    }
}

fn quoted(text: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            control if control < ' ' => write!(out, "\\u{:04x}", control as u32)?,
            other => write!(out, "{other}")?,
        }
    }
    out.write_str("\"")
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Goes on behind a word, if it is next.
    fn takes(&mut self, word: &str) -> bool {
        let is = self.bytes[self.at..].starts_with(word.as_bytes());
        self.at += if is { word.len() } else { 0 };
        is
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        self.space();
        match *self.bytes.get(self.at)? {
            b'"' => self.text().map(Json::Text),
            b'[' => self.list(depth.checked_sub(1)?),
            b'{' => self.object(depth.checked_sub(1)?),
            b'-' | b'0'..=b'9' => self.number(),
            _ if self.takes("null") => Some(Json::Null),
            _ if self.takes("true") => Some(Json::Bool(true)),
            _ if self.takes("false") => Some(Json::Bool(false)),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Json> {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        let digits = String::from_utf8(rest[..length].to_vec()).ok()?;
        self.at += length;
        digits.parse::<f64>().ok().map(|_| Json::Number(digits))
    }

    fn list(&mut self, depth: u32) -> Option<Json> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.takes("]") {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.space();
            if self.takes("]") {
                return Some(Json::List(items));
            }
            if !self.takes(",") {
                return None;
            }
        }
    }

    fn object(&mut self, depth: u32) -> Option<Json> {
        let mut members = Vec::new();
        self.at += 1;
        self.space();
        if self.takes("}") {
            return Some(Json::Object(members));
        }
        loop {
            self.space();
            let name = self.text()?;
            self.space();
            if !self.takes(":") {
                return None;
            }
            members.push((name, self.value(depth)?));
            self.space();
            if self.takes("}") {
                return Some(Json::Object(members));
            }
            if !self.takes(",") {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        if !self.takes("\"") {
            return None;
        }
        let mut text = Vec::new();
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(text).ok(),
                b'\\' => {
                    let mut letter = [0; 4];
                    text.extend_from_slice(self.escaped()?.encode_utf8(&mut letter).as_bytes());
                }
                0..=31 => return None,
                _ => text.push(byte),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => byte as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.unit()?;
                // Letters of other planes are written as two units.
                let code = match first {
                    0xd800..=0xdbff if self.takes("\\u") => match self.unit()? {
                        second @ 0xdc00..=0xdfff => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                        _ => return None,
                    },
                    code => code,
                };
                char::from_u32(code)?
            }
            _ => return None,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.bytes.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
