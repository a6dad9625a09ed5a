//! How many tokens a chat would read, in the provider's own count.
//!
//! Owns the question. Must never guess: the bridge estimates where nobody counts.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Chat, Failure};
use harbor_ipc_proto::model::{Dialect, Kind};
use harbor_policy::models::counts_tokens;
use serde_json::Value;
use tokio::time::timeout;

use crate::catalog::MAX_LIST;
use crate::dialect::{anthropic, gemini, responses, written};
use crate::failure::failed;
use crate::places::endpoint;
use crate::provider_http::Clients;

const LIMIT: Duration = Duration::from_secs(20);

/// The number of tokens in a chat, as the provider counts them.
///
/// # Errors
/// When the provider does not count, or refuses the request.
pub async fn count(clients: &Clients, chat: &Chat) -> Result<u64, Failure> {
    if !counts_tokens(chat.target.kind, chat.target.dialect) {
        return Err(failed(Cause::Refused, "this provider does not count tokens"));
    }
    let late = || {
        failed(Cause::Timeout, format!("the provider did not count the tokens within {} s", LIMIT.as_secs()))
    };
    timeout(LIMIT, ask(clients, chat)).await.unwrap_or_else(|_| Err(late()))
}

async fn ask(clients: &Clients, chat: &Chat) -> Result<u64, Failure> {
    let way = clients.way(&chat.target)?;
    let (url, body) = match (chat.target.kind, chat.target.dialect) {
        (Kind::OpenAi, Dialect::Responses) => {
            (way.endpoint("responses/input_tokens"), written(&responses::counted(chat))?)
        }
        (_, Dialect::Gemini) => {
            let path = gemini::path(&chat.model, "countTokens")?;
            (way.endpoint(&path), written(&gemini::counted(chat)?)?)
        }
        // Also where the dialect is another one: what llama-server counts is the same prompt.
        _ => {
            let url = endpoint(&way.base, Dialect::Anthropic, "messages/count_tokens");
            (url, written(&anthropic::counted(chat))?)
        }
    };
    let asked = way.post(url, body, "application/json").await;
    let mut answer = asked.map_err(|refusal| refusal.failure)?;
    let body = way.read(&mut answer, MAX_LIST).await?;
    let value: Option<Value> = serde_json::from_slice(&body).ok();
    let count =
        |value: Value| ["input_tokens", "totalTokens"].iter().find_map(|name| value.get(*name)?.as_u64());
    let tokens = value.and_then(count);
    tokens.ok_or_else(|| failed(Cause::Protocol, "the provider's answer has no token count"))
}
