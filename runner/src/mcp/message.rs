//! Reads one line from a server: JSON-RPC, envelope only.
//!
//! Payloads (params, results, error data) stay the text that the server wrote. Owns telling what a line is.
//! Must never judge payloads, keep them, or put them into an error's text.

use std::borrow::Cow;

use harbor_ipc_proto::members::Members;
use harbor_ipc_proto::strings::text_of;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::shown::Shown;

/// A line, by the kind of message that it is.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// The answer to one of our requests.
    Response {
        /// Our request's id.
        id: u64,
        /// Its result or error.
        answer: Answer<'a>,
    },
    /// The server asks something.
    Request {
        /// Its id, as JSON text.
        id: &'a str,
        /// The method.
        method: Cow<'a, str>,
        /// JSON text; `{}` when absent.
        params: &'a str,
    },
    /// The server tells something.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// JSON text; `{}` when absent.
        params: &'a str,
    },
}

/// The body of a response.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// JSON text of an object.
    Result(&'a str),
    /// JSON-RPC's error.
    Error {
        /// Its number.
        code: i64,
        /// Its sentence.
        message: Cow<'a, str>,
        /// JSON text.
        data: Option<&'a str>,
    },
    /// Neither of both. Says what is wrong.
    Malformed(&'static str),
}

/// The reason why a line is no message.
#[derive(Debug, PartialEq, Eq)]
pub struct NoMessage {
    /// The request that the line seems to answer, if it shows one.
    pub answers: Option<u64>,
    /// The reason, in a few words.
    pub why: &'static str,
}

/// The members that matter; `null` is as good as none.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
}

#[derive(Deserialize)]
struct ErrorObject<'a> {
    code: i64,
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// Reads a line.
///
/// # Errors
/// When it is no JSON-RPC message: a server's stray output, or a broken answer.
pub fn read(line: &[u8]) -> Result<Message<'_>, NoMessage> {
    let stray = |why| NoMessage { answers: Shown::of(line).answered(), why };
    if line.first() != Some(&b'{') && line.trim_ascii_start().first() != Some(&b'{') {
        return Err(NoMessage { answers: None, why: "it is not a JSON object" });
    }
    let text = std::str::from_utf8(line).map_err(|_| stray("it is not UTF-8"))?;
    let Envelope { id, method, params, result, error } = split(text).map_err(stray)?;
    let params = params.unwrap_or("{}");
    let method =
        method.map(|json| text_of(json).ok_or_else(|| stray("its method is not a string"))).transpose()?;
    match (method, id) {
        (Some(method), Some(id)) if is_id(id) => Ok(Message::Request { id, method, params }),
        (Some(_), Some(_)) => Err(stray("its id is neither a string nor a number")),
        (Some(method), None) => Ok(Message::Notification { method, params }),
        (None, Some(id)) => {
            let id = own_id(id).ok_or_else(|| stray("its id is not the id of a request from Harbor"))?;
            Ok(Message::Response { id, answer: answer(result, error) })
        }
        (None, None) => Err(stray("it has neither method nor id")),
    }
}

fn split(text: &str) -> Result<Envelope<'_>, &'static str> {
    let (mut twice, mut envelope) = (false, Envelope::default());
    for member in Members::of(text) {
        let (key, value) = member.map_err(|_| "it is not valid JSON")?;
        let place = match &*key {
            "id" => &mut envelope.id,
            "method" => &mut envelope.method,
            "params" => &mut envelope.params,
            "result" => &mut envelope.result,
            "error" => &mut envelope.error,
            _ => continue,
        };
        twice |= place.replace(value).is_some();
    }
    if twice {
        return Err("it has a key twice");
    }
    let Envelope { id, method, params, result, error } = &mut envelope;
    for member in [id, method, params, result, error] {
        member.take_if(|value| *value == "null");
    }
    Ok(envelope)
}

fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// Our own id, even if a server returns it as a string or with a fraction of zero.
fn own_id(text: &str) -> Option<u64> {
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

fn answer<'a>(result: Option<&'a str>, error: Option<&'a str>) -> Answer<'a> {
    match (result, error) {
        (Some(result), None) if result.starts_with('{') => Answer::Result(result),
        (Some(_), None) => Answer::Malformed("the result is not an object"),
        (None, Some(error)) => match serde_json::from_str::<ErrorObject<'_>>(error) {
            Ok(ErrorObject { code, message, data }) => {
                Answer::Error { code, message, data: data.map(RawValue::get) }
            }
            Err(_) => Answer::Malformed("the error lacks a code or a message"),
        },
        (Some(_), Some(_)) => Answer::Malformed("the answer has both a result and an error"),
        (None, None) => Answer::Malformed("the answer has neither a result nor an error"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        assert_eq!(
            read(br#"{"jsonrpc":"2.0","id":7,"result":{"b":1,"a":12345678901234567890}}"#),
            Ok(Message::Response { id: 7, answer: Answer::Result(r#"{"b":1,"a":12345678901234567890}"#) })
        );
        assert_eq!(
            read(br#"{"id":7,"error":{"code":-32050,"message":"no","data":[1]}}"#),
            Ok(Message::Response {
                id: 7,
                answer: Answer::Error { code: -32050, message: "no".into(), data: Some("[1]") }
            })
        );
        assert_eq!(
            read(br#"{"id":"x","method":"ping"}"#),
            Ok(Message::Request { id: "\"x\"", method: "ping".into(), params: "{}" })
        );
        assert_eq!(
            read(br#" {"method":"notifications/message","params":{"level":"info"}}"#),
            Ok(Message::Notification {
                method: "notifications/message".into(),
                params: r#"{"level":"info"}"#
            })
        );
    }

    #[test]
    fn an_id_that_was_written_anew_is_still_ours() {
        for id in ["7", "7.0", "\"7\""] {
            let line = format!("{{\"id\":{id},\"result\":{{}}}}");
            assert_eq!(read(line.as_bytes()), Ok(Message::Response { id: 7, answer: Answer::Result("{}") }));
        }
        for id in ["-7", "7.5", "\"x\"", "[7]", "true"] {
            assert!(read(format!("{{\"id\":{id},\"result\":{{}}}}").as_bytes()).is_err(), "{id}");
        }
        assert!(read(b"{\"id\":{},\"method\":\"ping\"}").is_err());
    }

    #[test]
    fn null_is_as_good_as_nothing_and_no_key_stands_twice() {
        assert_eq!(
            read(br#"{"id":7,"result":{},"error":null,"method":null}"#),
            Ok(Message::Response { id: 7, answer: Answer::Result("{}") })
        );
        for twice in [r#"{"id":null,"id":7,"result":{}}"#, r#"{"id":7,"result":{},"r\u0065sult":{}}"#] {
            let why = "it has a key twice";
            assert_eq!(read(twice.as_bytes()), Err(NoMessage { answers: Some(7), why }), "{twice}");
        }
    }

    #[test]
    fn broken_answers_still_name_their_call() {
        let broken = |line: &[u8]| read(line).unwrap_err().answers;
        assert_eq!(broken(b"{\"id\":7,\"result\":{\"x\":\"\xff\"}}"), Some(7));
        assert_eq!(broken(b"{\"result\":{\"id\":9,\"x\":\"\xff\"},\"id\":7}"), Some(7));
        assert_eq!(broken(b"{\"result\":{\"id\":9"), None);
        assert_eq!(broken(b"{\"id\":7"), None, "it may have been 77");
        assert_eq!(broken(b"listening on stdio"), None);
        assert_eq!(broken(b"{\"id\":7,\"method\":\"roots/list\",\"params\":\"\xff\"}"), None, "it asks");
        assert_eq!(broken(br#"{"id":7,"params":{},"params":{},"method":"roots/list"}"#), None);
        for (line, why) in [
            (r#"{"id":7}"#, "neither"),
            (r#"{"id":7,"result":1}"#, "not an object"),
            (r#"{"id":7,"result":{},"error":{}}"#, "both"),
            (r#"{"id":7,"error":{"code":"x"}}"#, "lacks"),
        ] {
            match read(line.as_bytes()) {
                Ok(Message::Response { id: 7, answer: Answer::Malformed(said) }) => {
                    assert!(said.contains(why))
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
