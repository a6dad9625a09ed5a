//! How many tokens a chat would read: by the provider where it counts for others, else by its length.

use std::time::Duration;

use harbor_ipc_proto::link::model::{Cause, Chat, Failure};
use harbor_ipc_proto::model::{Dialect, Image, Message, Part};
use serde_json::Value;
use tokio::time::timeout;

use crate::catalog::MAX_LIST;
use crate::dialect::{anthropic, written};
use crate::failure::failed;
use crate::way::Clients;

const LIMIT: Duration = Duration::from_secs(20);

/// Bytes of a token, about; what comes with each message; what a picture of usual size takes.
const BYTES: u64 = 4;
const AROUND: u64 = 4;
const PICTURE: u64 = 1600;

/// So many, and whether the provider has counted them.
///
/// # Errors
/// When the provider refuses the request itself.
pub async fn count(clients: &Clients, chat: &Chat) -> Result<(u64, bool), Failure> {
    if chat.target.dialect == Dialect::Anthropic {
        match timeout(LIMIT, ask(clients, chat)).await {
            Ok(Ok(tokens)) => return Ok((tokens, true)),
            Ok(Err(failure)) if failure.cause == Cause::Unauthorized => return Err(failure),
            _ => {}
        }
    }
    Ok((estimate(chat), false))
}

async fn ask(clients: &Clients, chat: &Chat) -> Result<u64, Failure> {
    let way = clients.way(&chat.target)?;
    let body = written(&anthropic::counted(chat))?;
    let asked = way.post(way.endpoint("messages/count_tokens"), body, "application/json").await;
    let mut answer = asked.map_err(|refusal| refusal.failure)?;
    let body = way.read(&mut answer, MAX_LIST).await?;
    let value: Option<Value> = serde_json::from_slice(&body).ok();
    let tokens = value.and_then(|value| value.get("input_tokens")?.as_u64());
    tokens.ok_or_else(|| failed(Cause::Protocol, "the provider has counted nothing"))
}

fn estimate(chat: &Chat) -> u64 {
    let tools = chat.tools.iter().map(|tool| tokens(&[&tool.name, &tool.description, &tool.schema]));
    chat.messages.iter().map(of_message).chain(tools).sum()
}

fn tokens(texts: &[&str]) -> u64 {
    texts.iter().map(|text| text.len() as u64).sum::<u64>().div_ceil(BYTES)
}

fn of_message(message: &Message) -> u64 {
    let pictures = |images: &[Image]| images.len() as u64 * PICTURE;
    let part = |part: &Part| match part {
        Part::Text(text) => tokens(&[text]),
        Part::Image(_) => PICTURE,
        Part::ToolCall(call) => tokens(&[&call.name, &call.arguments]),
        Part::ToolResult(result) => tokens(&[&result.text]) + pictures(&result.images),
        Part::Opaque(opaque) => tokens(&[&opaque.json]),
        Part::Reasoning(_) => 0,
    };
    AROUND + message.parts.iter().map(part).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::with_tools;
    use harbor_ipc_proto::model::Kind;

    #[test]
    fn an_estimate_knows_texts_tools_and_pictures() {
        let mut chat = with_tools(Kind::OpenAi, Dialect::Chat);
        let with = estimate(&chat);
        chat.messages[1].parts.pop();
        chat.tools.clear();
        let without = estimate(&chat);
        assert!(with > without + PICTURE && without > PICTURE, "{with} {without}");
    }
}
