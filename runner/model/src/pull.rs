//! Has an Ollama fetch a model, and tells how far it is.
//!
//! ```text
//!  POST /api/pull ─► {"status", "digest", "total", "completed"} … ─► {"status": "success"} | {"error"}
//! ```
//!
//! Owns the pace at which that is told. Must never take the end of the stream for success: Ollama says the word.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Failure, Target};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::failure::failed;
use crate::provider_http::Clients;
use crate::stream::lines::Lines;

/// How long nothing may come: it checks what it has fetched without a word.
const SILENCE: Duration = Duration::from_secs(300);

/// Time between two words about one part.
const PACE: Duration = Duration::from_millis(200);

/// Bytes of a line.
const MAX_LINE: usize = 64 * 1024;

/// The model is there, or why it is not. `told` gets Ollama's words, and how many bytes of a part have come.
///
/// # Errors
/// Why the model is not there.
pub async fn pull(
    clients: &Clients,
    target: &Target,
    model: &str,
    told: impl Fn(String, u64, u64),
) -> Result<(), Failure> {
    let way = clients.way(target)?;
    let body = crate::dialect::written(&json!({"model": model, "stream": true}))?;
    let answer = way.post(way.endpoint("pull"), body, "application/x-ndjson").await;
    let mut answer = answer.map_err(|refusal| refusal.failure)?;
    let (mut lines, mut end) = (Lines::new(MAX_LINE), None);
    let mut last: Option<(String, Instant)> = None;
    while end.is_none() {
        let piece = timeout(SILENCE, answer.chunk()).await;
        let late = || failed(Cause::Timeout, format!("Ollama said nothing for {} s", SILENCE.as_secs()));
        let Some(piece) = piece.map_err(|_| late())?.map_err(|_| way.cut())? else { return Err(way.cut()) };
        let fed = lines.feed(&piece, |line| {
            let Ok(said) = serde_json::from_slice::<Value>(line) else { return };
            let text = |name: &str| said.get(name).and_then(Value::as_str);
            if let Some(error) = text("error") {
                end = Some(Err(failed(cause_of(error), way.words(error))));
                return;
            }
            let status: String = text("status").unwrap_or_default().chars().take(200).collect();
            if status == "success" {
                end = Some(Ok(()));
                return;
            }
            let number = |name: &str| said.get(name).and_then(Value::as_u64).unwrap_or(0);
            let (done, total) = (number("completed"), number("total"));
            let is_news = last.as_ref().is_none_or(|(before, at)| {
                *before != status || at.elapsed() >= PACE || (total > 0 && done == total)
            });
            if is_news {
                last = Some((status.clone(), Instant::now()));
                told(status, done, total);
            }
        });
        fed.map_err(|()| failed(Cause::Protocol, "Ollama sent a line that is too long"))?;
    }
    end.unwrap_or_else(|| Err(way.cut()))
}

fn cause_of(error: &str) -> Cause {
    let is_unknown = ["not found", "does not exist", "manifest"].iter().any(|word| error.contains(word));
    if is_unknown { Cause::NoModel } else { Cause::Refused }
}
