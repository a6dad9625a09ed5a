//! What an answer consists of, as its head says.
//!
//! Owns the reading of `Content-Type`. Must never read a body.

use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode};

/// The form of an answer's body.
pub enum Body {
    Json,
    Events,
    Nothing,
    Other(String),
}

/// The form of an answer's body, by its head.
pub fn body_of(answer: &Response) -> Body {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" => Body::Json,
        "text/event-stream" => Body::Events,
        _ if matches!(answer.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => Body::Nothing,
        "" => Body::Other("bytes of no kind".into()),
        _ => {
            let plain = |c: &char| c.is_ascii_alphanumeric() || "/+-.".contains(*c);
            Body::Other(kind.chars().filter(plain).take(60).collect())
        }
    }
}

/// True if an answer is a stream of events.
pub fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}
