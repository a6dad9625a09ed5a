//! A bridge on the other end of a socket pair, which answers with prepared frames. For tests.
//!
//! A test writes of an answer what it is about: what else the message must have is added, empty.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::thread;

use harbor_ipc_proto::client::docs::objects;
use harbor_ipc_proto::client::envelope::Incoming;
use harbor_ipc_proto::client::{FieldDoc, MessageDoc, PUSHES, REPLIES, SECRET_REPLIES};
use harbor_ipc_proto::field::{Message, PutField as _, read_object};
use harbor_ipc_proto::frame::{HEADER, put_frame};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::members::{Malformed, Members};
use serde_json::value::RawValue;

use crate::client::Client;
use crate::errors::{Exit, Failure};
use crate::payload::Payload;
use crate::screen::Screen;
use crate::screen::tests::Paper;

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub printed: String,
    /// The requests, as JSON text.
    pub asked: Vec<String>,
    pub failure: Option<String>,
    pub exit: Exit,
}

/// An error answer to the first request.
pub fn error(code: &str) -> String {
    format!(r#"{{"type":"error","request_id":"1","error":{{"code":"{code}","message":"no"}}}}"#)
}

/// Runs a command against these answers, one per request; afterwards the bridge closes.
pub fn command(
    json: bool,
    answers: &[&str],
    run: impl FnOnce(&mut Client, &mut Screen) -> Result<(), Failure>,
) -> Ran {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let answers: Vec<String> = answers.iter().map(|&text| text.to_owned()).collect();
    let bridge = thread::spawn(move || serve(theirs, &answers));
    let paper = Paper::default();
    let mut client = Client::over(ours);
    let result = run(&mut client, &mut paper.screen(json, false));
    drop(client);
    let failure = result.as_ref().err().and_then(Failure::message);
    let exit = result.as_ref().err().map_or(Exit::Done, Failure::exit);
    Ran { printed: paper.read(), asked: bridge.join().unwrap(), failure, exit }
}

/// Answers request after request; several frames in one answer are separated by line ends.
pub fn serve(mut stream: UnixStream, answers: &[String]) -> Vec<String> {
    use std::io::Write;
    let mut asked = Vec::new();
    for answer in answers {
        let Some(request) = read_frame(&mut stream) else { break };
        Incoming::parse(request.as_bytes()).unwrap();
        asked.push(request);
        let mut frames = Vec::new();
        for text in answer.lines() {
            put_frame(&mut frames, |out| out.extend_from_slice(complete(text).as_bytes()));
        }
        stream.write_all(&frames).unwrap();
    }
    asked
}

/// A message of the bridge with all that it must have.
pub fn complete(text: &str) -> String {
    let Some(message) = Payload::parse(text.as_bytes()) else { return text.to_owned() };
    let tag: String = message.raw("type").and_then(|tag| serde_json::from_str(tag).ok()).unwrap_or_default();
    let mut replies = REPLIES.iter().chain(SECRET_REPLIES);
    let message = match tag.strip_suffix("_result") {
        Some(tag) => replies.find(|reply| reply.tag == tag),
        None => PUSHES.iter().find(|push| push.tag == tag),
    };
    message.map_or_else(|| text.to_owned(), |doc| filled(doc, text))
}

/// An object inside messages, by its name, with all that it must have.
pub fn complete_object(name: &str, text: &str) -> String {
    objects().find(|object| object.tag == name).map_or_else(|| text.to_owned(), |doc| filled(doc, text))
}

/// An answer to `host_list_tools` whose tools have all that they must have, too.
pub fn complete_tools(text: &str) -> String {
    let Ok(mut members) = in_order(text) else { return text.to_owned() };
    if text.contains("\"host_list_tools_result\"")
        && let Some((_, tools)) = members.iter_mut().find(|(name, _)| name == "tools")
    {
        let items: Vec<Box<RawValue>> = serde_json::from_str(tools).unwrap_or_default();
        let items = items.iter().map(|tool| complete_object("ToolDescriptor", tool.get()));
        *tools = format!("[{}]", items.collect::<Vec<_>>().join(","));
    }
    object(&members)
}

/// A typed message, of which a test wrote what it is about.
pub fn typed<T: Message>(text: &str) -> T {
    let mut docs = REPLIES.iter().chain(SECRET_REPLIES).chain(PUSHES).chain(objects());
    let text = docs.find(|doc| doc.tag == T::TAG).map_or_else(|| text.to_owned(), |doc| filled(doc, text));
    read_object(&text).unwrap()
}

/// The object as it was written, with what it lacks at its end.
fn filled(doc: &MessageDoc, text: &str) -> String {
    let Ok(mut members) = in_order(text) else { return text.to_owned() };
    for field in doc.fields {
        match members.iter_mut().find(|(name, _)| name == field.name) {
            Some((_, value)) => *value = filled_value(field, value),
            None if field.optional => {}
            None => members.push((field.name.to_owned(), empty(field))),
        }
    }
    object(&members)
}

fn in_order(text: &str) -> Result<Vec<(String, String)>, Malformed> {
    Members::of(text)
        .map(|member| member.map(|(name, value)| (name.into_owned(), value.to_owned())))
        .collect()
}

fn object(members: &[(String, String)]) -> String {
    let member = |(name, value): &(String, String)| format!("{}:{value}", Json::string(name).as_str());
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
}

fn filled_value(field: &FieldDoc, value: &str) -> String {
    let each = |item: &RawValue| complete_object(field.member, item.get());
    match field.kind {
        "array" => {
            let items: Vec<Box<RawValue>> = serde_json::from_str(value).unwrap_or_default();
            format!("[{}]", items.iter().map(|item| each(item)).collect::<Vec<_>>().join(","))
        }
        "object" => {
            let mut members = in_order(value).unwrap_or_default();
            members.iter_mut().for_each(|(_, value)| *value = complete_object(field.member, value));
            object(&members)
        }
        kind => complete_object(kind, value),
    }
}

fn empty(field: &FieldDoc) -> String {
    match field.kind {
        "string" if field.name == "credential_type" => "\"api_key\"".into(),
        "string" => "\"\"".into(),
        "number" => "0".into(),
        "boolean" => "false".into(),
        "array" => "[]".into(),
        Json::TYPE => "null".into(),
        kind => complete_object(kind, "{}"),
    }
}

fn read_frame(stream: &mut UnixStream) -> Option<String> {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).ok()?;
    let mut body = vec![0; usize::try_from(u32::from_le_bytes(header)).ok()?];
    stream.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}
