//! Speech to text: `POST /v1/audio/transcriptions`, as OpenAI has it and others after it.
//!
//! ```text
//!  recording ─► multipart: model, response_format, language?, prompt?, file ─► {text, usage?}, or text alone
//! ```
//!
//! Owns the form. Must never let a word of the caller's end a part of it: no part has the boundary in it.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use harbor_ipc_proto::link::model::{Cause, Failure, Transcription};
use harbor_ipc_proto::model::{Dialect, Usage, audio_ending, check_audio};
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use url::Url;

use crate::catalog::MAX_LIST;
use crate::errors;
use crate::failure::{failed, no_such_thing, told};
use crate::halves::{marked, unmarked};
use crate::places::beside;
use crate::provider_http::{Clients, Way};
use crate::retry;

/// In all. A minute of speech may take a local server several.
const LIMIT: Duration = Duration::from_secs(600);

/// The text of a recording, and the tokens that it took.
///
/// # Errors
/// Why there is none.
pub async fn transcribe(clients: &Clients, asked: Transcription) -> Result<(String, Usage), Failure> {
    let late =
        || failed(Cause::Timeout, format!("the recording was not transcribed within {} s", LIMIT.as_secs()));
    timeout(LIMIT, ask(clients, asked)).await.unwrap_or_else(|_| Err(late()))
}

async fn ask(clients: &Clients, asked: Transcription) -> Result<(String, Usage), Failure> {
    check_audio(&asked.audio).map_err(|wrong| failed(Cause::Refused, wrong.to_string()))?;
    let way = clients.way(&asked.target)?;
    let url = place(&way, asked.target.dialect)?;
    let (kind, body) = form(asked)?;
    let mut attempt = 0;
    let mut answer = loop {
        let refusal =
            match way.post_as(url.clone(), &kind, body.clone(), "application/json, text/plain").await {
                Ok(answer) => break answer,
                Err(refusal) => refusal,
            };
        match retry::pause(attempt, &refusal.failure, refusal.says_retry, crate::asking::share()) {
            Some(pause) => sleep(pause).await,
            None => return Err(refusal.failure),
        }
        attempt += 1;
    };
    let is_text =
        answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    let body = way.read(&mut answer, MAX_LIST).await?;
    read(&body, is_text)
}

/// Where recordings go.
fn place(way: &Way, dialect: Dialect) -> Result<Url, Failure> {
    match dialect {
        Dialect::Chat | Dialect::Responses => Ok(way.endpoint("audio/transcriptions")),
        Dialect::Ollama => Ok(beside(&way.base, "/v1/audio/transcriptions")),
        Dialect::Anthropic | Dialect::Gemini => {
            let why = format!("{} transcribes nothing in the format `{}`", way.place(), dialect.name());
            Err(failed(Cause::Refused, why))
        }
    }
}

/// The form's Content-Type, and the form.
fn form(asked: Transcription) -> Result<(String, Vec<u8>), Failure> {
    let Transcription { model, audio, language, prompt, .. } = asked;
    let file = BASE64_STANDARD.decode(&audio.data);
    let file = file.map_err(|_| failed(Cause::Refused, "the recording is not given as base64 data"))?;
    let ending = audio_ending(&audio.media_type).unwrap_or_default();
    let fields = [
        ("model", Some(model)),
        ("response_format", Some("json".to_owned())),
        ("language", language),
        ("prompt", prompt),
    ];
    let boundary = boundary();
    let mut body = Vec::with_capacity(file.len() + 2048);
    for (name, value) in fields.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    let kind = audio.media_type.split(';').next().unwrap_or_default().trim();
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.{ending}\"\r\nContent-Type: {kind}\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&file);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), body))
}

/// A line that nobody could have foreseen, and so none that stands in a field or a file.
fn boundary() -> String {
    let random = || RandomState::new().hash_one(0u8);
    format!("harbor-{:016x}{:016x}", random(), random())
}

/// Reads an answer.
fn read(body: &[u8], is_text: bool) -> Result<(String, Usage), Failure> {
    if is_text {
        return Ok((String::from_utf8_lossy(body).into_owned(), Usage::default()));
    }
    let value: Value = serde_json::from_slice(&marked(body)).map_err(|_| no_such_thing())?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(told(&errors::said(&value).unwrap_or_default()));
    }
    let text = value.get("text").and_then(Value::as_str).ok_or_else(no_such_thing)?;
    let number = |name: &str| value.get("usage")?.get(name)?.as_u64();
    let usage = Usage {
        input_tokens: number("input_tokens"),
        output_tokens: number("output_tokens"),
        ..Usage::default()
    };
    Ok((unmarked(text), usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_servers_write_them() {
        let used = Usage { input_tokens: Some(14), output_tokens: Some(3), ..Usage::default() };
        let whole = br#"{"text":"hi \ud83d","usage":{"type":"tokens","input_tokens":14,"output_tokens":3}}"#;
        assert_eq!(read(whole, false), Ok(("hi \u{fffd}".into(), used)));
        let seconds = br#"{"text":"","usage":{"type":"duration","seconds":3}}"#;
        assert_eq!(read(seconds, false), Ok((String::new(), Usage::default())));
        assert_eq!(read(b"hi\n", true), Ok(("hi\n".into(), Usage::default())));
        for wrong in [&b"{}"[..], b"[]", b"{\"text\":7}", b"<html>"] {
            assert_eq!(read(wrong, false).unwrap_err().cause, Cause::Protocol);
        }
        let said = read(br#"{"error":{"message":"overloaded"}}"#, false).unwrap_err();
        assert_eq!((said.cause, said.message.as_str()), (Cause::Overloaded, "overloaded"));
    }
}
