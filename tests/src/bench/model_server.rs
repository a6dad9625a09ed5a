//! A provider of models that says what a measurement needs: Chat Completions as a stream, on connections that stay open.
//!
//! ```text
//!  request, its model's name ─► head ─► pieces, each the time at which it was written ─► [DONE] ─► the next request
//! ```
//!
//! Owns the clock that writers and readers of pieces share. It is a thread of the driver for each connection. Must not do more for a
//! piece than write it.

use crate::Outcome;
use crate::http::{find, header};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Pieces of the answer that comes at the pace of a fast model, and the time between two.
pub const PACED: usize = 200;
const PAUSE: Duration = Duration::from_millis(2);

/// Pieces of the answer that comes as fast as it can be written.
pub const FLOOD: usize = 20_000;

/// Bytes of them that are written at once.
const TOGETHER: usize = 16 * 1024;

/// What is before and behind a piece's text.
const BEFORE: &str = r#"data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":""#;
const BEHIND: &str = "\"},\"finish_reason\":null}]}\n\n";
const END: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                   data: [DONE]\n\n";

/// Calls of tools in one turn.
pub const CALLS: usize = 20;

/// A call of the tool `echo` of the server `s`, and the same where the model has to search for tools.
const DIRECTLY: &str = r#"{"tool_calls":[{"index":0,"id":"ID","type":"function","function":{"name":"s_echo","arguments":"{\"text\":\"ID\"}"}}]}"#;
const LAZILY: &str = r#"{"tool_calls":[{"index":0,"id":"ID","type":"function","function":{"name":"call_tool","arguments":"{\"name\":\"s_echo\",\"arguments\":{\"text\":\"ID\"}}"}}]}"#;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time in microseconds, from some moment on.
pub fn now() -> f64 {
    BEGAN.elapsed().as_secs_f64() * 1e6
}

/// What an answer is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// One piece.
    First,
    /// [`PACED`] pieces, one at a time.
    Paced,
    /// [`FLOOD`] pieces at once.
    Flood,
    /// The tool `echo` is called, [`CALLS`] times; then it says something.
    Calls,
    /// One piece, and then nothing until who asked leaves.
    Held,
}

impl Said {
    const ALL: [Self; 5] = [Self::First, Self::Paced, Self::Flood, Self::Calls, Self::Held];

    /// The model that says it.
    pub fn model(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Paced => "paced",
            Self::Flood => "flood",
            Self::Calls => "calls",
            Self::Held => "held",
        }
    }

    /// How many pieces come.
    pub fn pieces(self) -> usize {
        match self {
            Self::First | Self::Calls | Self::Held => 1,
            Self::Paced => PACED,
            Self::Flood => FLOOD,
        }
    }

    fn asked(body: &[u8]) -> Option<Self> {
        let asks = |said: &Self| find(body, format!(r#""model":"{}""#, said.model()).as_bytes()).is_some();
        Self::ALL.into_iter().find(asks)
    }
}

/// Starts it; gives its port. It ends with the driver.
pub fn start() -> Outcome<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    now();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Who asks leaves whenever they like.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    Ok(port)
}

fn serve(mut stream: TcpStream) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(body) = request(&mut reader)? {
        if body.is_empty() {
            list(&mut stream)?;
            continue;
        }
        let said = Said::asked(&body).ok_or("no such model")?;
        if said == Said::Calls {
            calls(&mut stream, &body)?;
            continue;
        }
        stream.write_all(HEAD.as_bytes())?;
        // Many together are written at once: what is measured is no system call of the provider's.
        let mut written =
            BufWriter::with_capacity(if said == Said::Flood { TOGETHER } else { 0 }, &mut stream);
        for piece in 0..said.pieces() {
            if said == Said::Paced && piece > 0 {
                thread::sleep(PAUSE);
            }
            chunk(&mut written, &format!("{BEFORE}{:.1} {BEHIND}", now()))?;
        }
        written.flush()?;
        drop(written);
        if said == Said::Held {
            // What is read after the request is the end of the connection.
            std::io::copy(&mut reader, &mut std::io::sink())?;
            return Ok(());
        }
        chunk(&mut stream, END)?;
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

/// The models that there are.
fn list(stream: &mut TcpStream) -> Outcome<()> {
    let model = |said: Said| format!(r#"{{"id":"{}","max_model_len":128000}}"#, said.model());
    let body = format!(r#"{{"object":"list","data":[{}]}}"#, Said::ALL.map(model).join(","));
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    Ok(stream.write_all(format!("{head}{body}").as_bytes())?)
}

/// When requests of a model that calls tools had come, and when they were answered, in microseconds.
pub static ROUNDS: Mutex<Vec<[f64; 2]>> = Mutex::new(Vec::new());

/// Answers by a call, after [`CALLS`] of them by a text.
fn calls(stream: &mut TcpStream, body: &[u8]) -> Outcome<()> {
    let came = now();
    let results = String::from_utf8_lossy(body).matches(r#""role":"tool""#).count();
    let delta = if results < CALLS {
        let tool = if find(body, br#""name":"call_tool""#).is_some() { LAZILY } else { DIRECTLY };
        tool.replace("ID", &format!("c{results}"))
    } else {
        r#"{"content":"done"}"#.to_owned()
    };
    let finish = if results < CALLS { "tool_calls" } else { "stop" };
    stream.write_all(HEAD.as_bytes())?;
    let piece = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    chunk(stream, &piece(&delta, "null"))?;
    chunk(stream, &format!("{}data: [DONE]\n\n", piece("{}", &format!("\"{finish}\""))))?;
    stream.write_all(b"0\r\n\r\n")?;
    ROUNDS.lock().map_err(|_| "a thread has panicked")?.push([came, now()]);
    Ok(())
}

fn chunk(stream: &mut impl Write, data: &str) -> Outcome<()> {
    Ok(stream.write_all(format!("{:x}\r\n{data}\r\n", data.len()).as_bytes())?)
}

/// The body of the next request; nothing once the connection has ended.
fn request(reader: &mut BufReader<TcpStream>) -> Outcome<Option<Vec<u8>>> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(None);
        }
    }
    let length = header(&head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(body))
}

/// What has been heard of an answer.
#[derive(Debug)]
pub struct Heard {
    began: f64,
    /// From the request to the first piece, in microseconds.
    pub first: f64,
    /// Of each piece from its writing to its arrival, in microseconds.
    pub delays: Vec<f64>,
    /// From the request to the end, in microseconds.
    pub whole: f64,
}

impl Heard {
    /// Nothing yet: the request is about to be sent.
    pub fn nothing() -> Self {
        Self { began: now(), first: 0.0, delays: Vec::new(), whole: 0.0 }
    }

    /// Text that came at this time: one piece, or several together.
    pub fn text(&mut self, at: f64, text: &str) -> Outcome<()> {
        for written in text.split_whitespace() {
            self.delays.push(at - written.parse::<f64>()?);
        }
        if self.first == 0.0 {
            self.first = at - self.began;
        }
        Ok(())
    }

    /// It has come to its end, and nothing is missing.
    pub fn ended(mut self, said: Said) -> Outcome<Self> {
        self.whole = now() - self.began;
        match self.delays.len() == said.pieces() {
            true => Ok(self),
            false => Err(format!("{} of {} pieces came", self.delays.len(), said.pieces()).into()),
        }
    }
}

/// The texts of the whole pieces in these bytes, and how many bytes that were.
pub fn texts(bytes: &[u8]) -> Outcome<(Vec<&str>, usize)> {
    let (mut texts, mut at) = (Vec::new(), 0);
    while let Some(begin) = find(&bytes[at..], BEFORE.as_bytes()).map(|begin| at + begin + BEFORE.len()) {
        let Some(length) = find(&bytes[begin..], BEHIND.as_bytes()) else { break };
        texts.push(std::str::from_utf8(&bytes[begin..begin + length])?);
        at = begin + length + BEHIND.len();
    }
    Ok((texts, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_once_they_are_whole() {
        let two = format!("5\r\n{BEFORE}1.0 {BEHIND}\r\n{BEFORE}2.5 {BEHIND}");
        let (found, used) = texts(two.as_bytes()).unwrap();
        assert_eq!((found, used), (vec!["1.0 ", "2.5 "], two.len()));
        let (found, used) = texts(&two.as_bytes()[..two.len() - 1]).unwrap();
        assert_eq!((found.len(), used < two.len() / 2 + 5), (1, true));
        let mut heard = Heard { began: 1.0, ..Heard::nothing() };
        heard.text(4.0, "1.0 2.5 ").unwrap();
        assert_eq!((heard.first, &heard.delays[..]), (3.0, &[3.0, 1.5][..]));
        assert!(heard.ended(Said::First).is_err());
    }

    #[test]
    fn a_request_says_what_is_wanted() {
        for said in Said::ALL {
            assert_eq!(
                Said::asked(format!(r#"{{"a":1,"model":"{}"}}"#, said.model()).as_bytes()),
                Some(said)
            );
        }
        assert_eq!(Said::asked(b"{}"), None);
    }
}
