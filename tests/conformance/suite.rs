//! Runs the table of cases.txt against a server program, by its standard input and output.
//!
//! It is included by path into the tests of each runtime, so it needs nothing but serde_json. Owns the talk; must never know
//! what the program is: the caller says how it is started.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const CASES: &str = include_str!("cases.txt");

/// The longest that an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The server that a case is said to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The one with the tools.
    Tools,
    /// The one with the rest of MCP.
    Protocol,
}

/// How a process is begun with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fresh,
    Legacy,
    Modern,
}

/// A line of a case.
#[derive(Debug)]
enum Step {
    Say(Value),
    Bytes(Vec<u8>),
    Hear(Value),
    HearAnyOrder(Value),
}

#[derive(Debug)]
struct Case {
    name: &'static str,
    part: Part,
    kind: Kind,
    steps: Vec<Step>,
}

/// The findings of a run.
#[derive(Debug)]
pub struct Outcome {
    /// How many cases there are.
    pub cases: usize,
    /// The cases that failed, each with why.
    pub failed: Vec<String>,
}

/// Runs all cases; `start` makes the command of a server.
pub fn run(start: &dyn Fn(Part) -> Command) -> Outcome {
    let cases = cases();
    let mut failed = Vec::new();
    let mut talk: Option<Talk> = None;
    for case in &cases {
        let goes_on =
            talk.as_ref().is_some_and(|talk| talk.of == (case.part, case.kind) && case.kind != Kind::Fresh);
        let begun = match talk.take().filter(|_| goes_on) {
            Some(talk) => Ok(talk),
            None => Talk::begin(start(case.part), case.part, case.kind),
        };
        let said = begun.and_then(|mut begun| begun.case(case).map(|()| begun));
        match said {
            Ok(begun) => talk = Some(begun),
            // The next case begins anew.
            Err(why) => failed.push(format!("{} ({:?} {:?}): {why}", case.name, case.part, case.kind)),
        }
        let is_last = cases.iter().rev().find(|other| (other.part, other.kind) == (case.part, case.kind));
        if is_last.is_some_and(|last| std::ptr::eq(last, case)) || case.kind == Kind::Fresh {
            let ended = talk.take().map_or(Ok(()), Talk::end);
            failed.extend(
                ended.err().map(|why| format!("{} ({:?}), then the end: {why}", case.name, case.part)),
            );
        }
    }
    Outcome { cases: cases.len(), failed }
}

/// Reads the table.
fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut place = None;
    // What stands before the first place is for readers.
    for line in CASES.lines().skip_while(|line| !line.starts_with("@ ")) {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        let step = match mark {
            "" => continue,
            "@" => {
                let part = if rest.starts_with("tools ") { Part::Tools } else { Part::Protocol };
                let kind = match rest.split(' ').nth(1) {
                    Some("fresh") => Kind::Fresh,
                    Some("legacy") => Kind::Legacy,
                    _ => Kind::Modern,
                };
                place = Some((part, kind));
                continue;
            }
            "#" => {
                let (part, kind) = place.expect("a place stands before the first case");
                cases.push(Case { name: rest, part, kind, steps: Vec::new() });
                continue;
            }
            ">" => Step::Say(value(rest)),
            ">>" => Step::Bytes(rest.as_bytes().to_vec()),
            ">x" => {
                Step::Bytes(rest.split(' ').map(|hex| u8::from_str_radix(hex, 16).expect("hex")).collect())
            }
            "<" => Step::Hear(value(rest)),
            "<?" => Step::HearAnyOrder(value(rest)),
            other => panic!("{other} begins no line of the table"),
        };
        cases.last_mut().expect("a case stands before its lines").steps.push(step);
    }
    cases
}

fn value(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:.200}"));
    expand(&mut value);
    value
}

/// Puts `x` a thousand times where «x*1000» stands.
fn expand(value: &mut Value) {
    match value {
        Value::String(text) => {
            let short = text.strip_prefix('«').and_then(|text| text.strip_suffix('»'));
            if let Some((piece, times)) = short.and_then(|short| short.split_once('*')) {
                *text = piece.repeat(times.parse().expect("a number"));
            }
        }
        Value::Array(all) => all.iter_mut().for_each(expand),
        Value::Object(all) => all.values_mut().for_each(expand),
        _ => {}
    }
}

/// A talk with one process.
struct Talk {
    of: (Part, Kind),
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Vec<u8>>,
    last: u64,
}

impl Talk {
    fn begin(mut command: Command, part: Part, kind: Kind) -> Result<Self, String> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().map_err(|error| format!("it does not start: {error}"))?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (lines, heard) = channel();
        let mut from = BufReader::new(from.expect("it is piped"));
        thread::spawn(move || {
            let mut line = Vec::new();
            while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                if lines.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        let mut talk = Self { of: (part, kind), child, to, from: heard, last: 0 };
        if kind == Kind::Legacy {
            let client = json!({"name": "suite", "version": "1"});
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": client});
            talk.say(json!({"id": "begin", "method": "initialize", "params": params}))?;
            talk.hear(&json!({"id": "begin", "result": {"protocolVersion": "2025-11-25"}}))?;
            talk.say(json!({"method": "notifications/initialized"}))?;
        }
        Ok(talk)
    }

    fn case(&mut self, case: &Case) -> Result<(), String> {
        let mut steps = case.steps.iter().peekable();
        while let Some(step) = steps.next() {
            match step {
                Step::Say(message) => self.say(message.clone())?,
                Step::Bytes(line) => self.line(line)?,
                Step::Hear(wanted) => self.hear(wanted)?,
                Step::HearAnyOrder(wanted) => {
                    let mut all = vec![wanted];
                    while let Some(Step::HearAnyOrder(next)) = steps.peek() {
                        all.push(next);
                        steps.next();
                    }
                    self.hear_all(all)?;
                }
            }
        }
        // Whatever it says without having been asked comes before this.
        self.last += 1;
        let id = format!("behind-{}", self.last);
        let method = if self.of.1 == Kind::Modern { "server/discover" } else { "ping" };
        self.say(json!({"id": id, "method": method, "params": {}}))?;
        self.hear(&json!({"id": id, "result": "*"})).map_err(|why| format!("behind it: {why}"))
    }

    fn say(&mut self, mut message: Value) -> Result<(), String> {
        message["jsonrpc"] = json!("2.0");
        if self.of.1 == Kind::Modern && message.get("id").is_some() && message.get("method").is_some() {
            let meta = &mut message["params"]["_meta"];
            if meta.get(VERSION).is_none() {
                meta[VERSION] = json!("2026-07-28");
                meta[CAPABILITIES] = json!({"elicitation": {}});
            }
        }
        self.line(message.to_string().as_bytes())
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let to = self.to.as_mut().ok_or("its input has ended")?;
        to.write_all(&[line, b"\n"].concat()).map_err(|error| format!("it reads no more: {error}"))
    }

    fn next(&mut self) -> Result<Value, String> {
        let line = self.from.recv_timeout(PATIENCE).map_err(|why| match why {
            RecvTimeoutError::Timeout => "it says nothing".to_owned(),
            RecvTimeoutError::Disconnected => "it has ended".to_owned(),
        })?;
        let said: Value = serde_json::from_slice(&line)
            .map_err(|error| format!("it says {:.200}: {error}", String::from_utf8_lossy(&line)))?;
        match said["jsonrpc"] == "2.0" {
            true => Ok(said),
            false => Err(format!("it says {said:.200}, without \"jsonrpc\": \"2.0\"")),
        }
    }

    fn hear(&mut self, wanted: &Value) -> Result<(), String> {
        self.hear_all(vec![wanted])
    }

    fn hear_all(&mut self, mut wanted: Vec<&Value>) -> Result<(), String> {
        while !wanted.is_empty() {
            let said = self.next()?;
            let Some(at) = wanted.iter().position(|wanted| is_as(&said, wanted)) else {
                let (said, wanted) = (said.to_string(), json!(wanted).to_string());
                return Err(format!("it says {said:.600}, not {wanted:.600}"));
            };
            wanted.remove(at);
        }
        Ok(())
    }

    /// Its input ends, and then it does.
    fn end(mut self) -> Result<(), String> {
        drop(self.to.take());
        if let Ok(line) = self.from.recv_timeout(PATIENCE) {
            return Err(format!("it says {:.200} at its end", String::from_utf8_lossy(&line)));
        }
        let until = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("it ends with {status}")),
                None if Instant::now() > until => return Err("it does not end when its input does".into()),
                // It has closed its output already: what is left is the end of a process.
                None => thread::yield_now(),
            }
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// True if a message has what stands in the table.
fn is_as(said: &Value, wanted: &Value) -> bool {
    match (said, wanted) {
        (said, Value::String(any)) if any == "*" => !said.is_null(),
        (Value::Object(said), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| match said.get(name) {
                Some(said) => is_as(said, wanted),
                None => wanted.is_null(),
            })
        }
        (Value::Array(said), Value::Array(wanted)) => {
            said.len() == wanted.len() && said.iter().zip(wanted).all(|(said, wanted)| is_as(said, wanted))
        }
        (said, wanted) => said == wanted,
    }
}
