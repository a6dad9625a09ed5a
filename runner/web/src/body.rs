//! The bytes of an answer: bounded, and never packed.
//!
//! Owns the bound. Must never unpack anything: packed bytes could become any size, and nobody asked for them.

use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;

/// The reason why there is no body.
#[derive(Debug)]
pub enum NoBody {
    /// It is longer than the limit.
    TooLong,
    /// The connection broke.
    Broken(reqwest::Error),
}

/// Reads all of it.
///
/// # Errors
/// When it is longer than `limit`, or does not come whole.
pub async fn read(answer: &mut Response, limit: usize) -> Result<Vec<u8>, NoBody> {
    if answer.content_length().is_some_and(|length| length > limit as u64) {
        return Err(NoBody::TooLong);
    }
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(NoBody::Broken)? {
        if body.len() + piece.len() > limit {
            return Err(NoBody::TooLong);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// True if the answer comes in an encoding. Nothing was offered but the bytes themselves.
#[must_use]
pub fn is_packed(answer: &Response) -> bool {
    let how = answer.headers().get(CONTENT_ENCODING);
    how.is_some_and(|how| !how.as_bytes().eq_ignore_ascii_case(b"identity"))
}
