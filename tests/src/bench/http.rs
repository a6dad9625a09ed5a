//! What comes back over HTTP/1.1: where an answer ends, and the message in it.
//!
//! ```text
//!  bytes so far ─► extent ─► not whole yet │ no HTTP │ head, body and end
//!                               body ─► JSON, or the events of a stream ─► the message that answers
//! ```
//!
//! Pure. It takes what a few servers say on a connection that stays open: a body with its length, or in chunks. Must
//! not panic whatever comes, keep more than its caller has, or copy anything only to find out where an answer ends.

use crate::Outcome;
use serde_json::Value;
use std::ops::Range;

/// The longest head, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// The longest body, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// The longest line that begins a chunk, in bytes.
const MAX_LINE: usize = 256;

const LINE_END: &[u8] = b"\r\n";

/// Where the parts of an answer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// As the first line says.
    pub status: u16,
    /// Where the body begins.
    pub head: usize,
    /// Behind the last byte.
    pub end: usize,
    /// Whether the body is in chunks.
    chunked: bool,
}

/// Where an answer ends that the bytes begin with; nothing while it is not whole.
pub fn extent(bytes: &[u8]) -> Result<Option<Extent>, &'static str> {
    let Some(head) = find(bytes, b"\r\n\r\n").map(|at| at + 4) else {
        return if bytes.len() > MAX_HEAD { Err("the head has no end") } else { Ok(None) };
    };
    let text = std::str::from_utf8(&bytes[..head]).map_err(|_| "the head is no text")?;
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or("this is not HTTP/1.1")?;
    let chunked =
        header(text, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let end = match header(text, "content-length").map(str::parse::<usize>) {
        _ if chunked => end_of_chunks(bytes, head)?,
        Some(Ok(length)) if length <= MAX_BODY => Some(head + length).filter(|end| *end <= bytes.len()),
        Some(_) => return Err("the length of the body is none, or too large"),
        None if status == 204 => Some(head),
        None => return Err("nothing tells where the body ends"),
    };
    Ok(end.map(|end| Extent { status, head, end, chunked }))
}

/// A line of the head, by its name in small letters.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// The message of JSON-RPC that answers, or whatever JSON the body is.
pub fn message(bytes: &[u8], extent: &Extent) -> Outcome<Value> {
    let head = std::str::from_utf8(&bytes[..extent.head])?;
    let body = body(bytes, extent)?;
    let is_stream = header(head, "content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    if !is_stream {
        return Ok(serde_json::from_slice(&body)?);
    }
    let mut messages =
        events(std::str::from_utf8(&body)?).filter_map(|data| serde_json::from_str(&data).ok());
    let answer = messages.find(|message: &Value| message.get("result").or(message.get("error")).is_some());
    answer.ok_or_else(|| "the stream has no answer".into())
}

fn body(bytes: &[u8], extent: &Extent) -> Outcome<Vec<u8>> {
    if !extent.chunked {
        return Ok(bytes[extent.head..extent.end].to_vec());
    }
    let (mut body, mut at) = (Vec::new(), extent.head);
    while let Some(content) = chunk(bytes, at)? {
        if content.is_empty() {
            break;
        }
        at = content.end + LINE_END.len();
        body.extend_from_slice(&bytes[content]);
    }
    Ok(body)
}

/// The data of each event of a stream; events without any are left out.
fn events(stream: &str) -> impl Iterator<Item = String> {
    let mut data = Vec::new();
    // A last event that nothing ends counts, too: the body is whole.
    let lines = stream.lines().map(str::to_owned).chain([String::new()]);
    lines.filter_map(move |line| match line.strip_prefix("data:") {
        Some(value) => {
            data.push(value.strip_prefix(' ').unwrap_or(value).to_owned());
            None
        }
        None if line.is_empty() && !data.is_empty() => Some(std::mem::take(&mut data).join("\n")),
        None => None,
    })
}

fn end_of_chunks(bytes: &[u8], first: usize) -> Result<Option<usize>, &'static str> {
    let mut at = first;
    while let Some(content) = chunk(bytes, at)? {
        let end = content.end + LINE_END.len();
        if content.is_empty() {
            return match bytes.get(content.end..end) {
                Some(LINE_END) => Ok(Some(end)),
                Some(_) => Err("there is more behind the last chunk"),
                None => Ok(None),
            };
        }
        if end - first > 2 * MAX_BODY {
            return Err("the body is too large");
        }
        at = end;
    }
    Ok(None)
}

/// Where the content of the chunk is whose line begins here; nothing while it is not whole.
fn chunk(bytes: &[u8], at: usize) -> Result<Option<Range<usize>>, &'static str> {
    let rest = bytes.get(at..).unwrap_or_default();
    let Some(line) = find(&rest[..rest.len().min(MAX_LINE)], LINE_END) else {
        return if rest.len() >= MAX_LINE { Err("the line of a chunk has no end") } else { Ok(None) };
    };
    let digits = rest[..line].split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = std::str::from_utf8(digits).map_err(|_| "the size of a chunk is no number")?;
    let size = usize::from_str_radix(digits.trim(), 16).map_err(|_| "the size of a chunk is no number")?;
    if size > MAX_BODY {
        return Err("a chunk is too large");
    }
    let begin = at + line + LINE_END.len();
    let is_whole = size == 0 || begin + size + LINE_END.len() <= bytes.len();
    Ok(is_whole.then_some(begin..begin + size))
}

/// Where something stands first.
pub fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_tests::random::Random;
    use serde_json::json;

    const PLAIN: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 12\r\n\r\n{\"result\":1}";
    const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n\
        6\r\n: hm\n\n\r\n17\r\nid: 1\ndata: {\"method\":1\r\n2D;x=1\r\n}\n\nevent: message\ndata: {\"result\":\ndata: 2}\n\n\r\n0\r\n\r\n";

    fn read(text: &str) -> (Extent, Value) {
        let extent = extent(text.as_bytes()).unwrap().unwrap();
        let message = message(text.as_bytes(), &extent).unwrap();
        (extent, message)
    }

    #[test]
    fn a_body_with_its_length_and_one_in_chunks_are_read() {
        let (found, message) = read(PLAIN);
        assert_eq!((found.status, found.end, message), (200, PLAIN.len(), json!({"result": 1})));
        let (found, message) = read(STREAM);
        assert_eq!((found.status, found.end, message), (200, STREAM.len(), json!({"result": 2})));
        let none = "HTTP/1.1 204 No Content\r\n\r\n";
        assert_eq!(extent(none.as_bytes()).unwrap().unwrap().end, none.len());
    }

    #[test]
    fn no_beginning_of_an_answer_is_taken_for_all_of_it() {
        for whole in [PLAIN, STREAM] {
            for end in 0..whole.len() {
                assert_eq!(extent(&whole.as_bytes()[..end]), Ok(None), "{}", &whole[..end]);
            }
            let more = format!("{whole}HTTP/1.1");
            assert_eq!(extent(more.as_bytes()).unwrap().unwrap().end, whole.len());
        }
    }

    #[test]
    fn what_is_no_answer_or_too_long_is_an_error() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        for wrong in [
            "HTTP/1.0 200 OK\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
            "HTTP/1.1 2\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".to_owned(),
            "x".repeat(MAX_HEAD + 1),
            format!("{head}g\r\n"),
            format!("{head}ffffffffffffffffff\r\n"),
            format!("{head}fffffff\r\n"),
            format!("{head}0\r\nTrailer: 1\r\n\r\n"),
            format!("{head}{}", "1".repeat(MAX_LINE)),
        ] {
            assert!(extent(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn whatever_is_changed_in_an_answer_ends_in_no_panic() {
        let mut random = Random::new(7);
        for _ in 0..20_000 {
            let whole = if random.below(2) == 0 { PLAIN } else { STREAM };
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..=random.below(4) {
                let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
                bytes[at] = random.below(256).to_le_bytes()[0];
            }
            if let Ok(Some(found)) = extent(&bytes) {
                assert!(found.head <= found.end && found.end <= bytes.len());
                let _ = message(&bytes, &found);
            }
        }
    }
}
