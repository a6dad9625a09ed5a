//! The question before a call of an AI client's by which something may be destroyed: its client is asked, by MCP's elicitation.
//!
//! ```text
//!  call ─► may destroy something, and its client can ask the person? ─┬─ no ──► made
//!                                                                     └─ yes ─► ask push ─┬─ accept ─► made
//!                                                                                         └─ else ───► refused
//! ```
//!
//! Owns the question's words and what counts as a yes. The question is open as long as its call's request, so a yes is for that call
//! with those arguments and for no other. Must never take a client's own word instead of an answer, nor read anything that is not an
//! answer to its own question.

use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::hidden::is_hidden;
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_ipc_proto::source_id::SourceId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::client::Client;
use super::questions::{self, Asked};
use super::{Due, Router};
use crate::host::asker::{Asker, Caller};
use crate::host::{Outcome, ToolCall};

/// How long the person may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// Bytes of the arguments that are shown.
const MOST_SHOWN: usize = 2000;

const METHOD: &str = "elicitation/create";

/// The answers to choose from; they are also what the person reads.
const ONCE: &str = "Allow this call";
const A_WHILE: &str = "Allow all calls of this tool for 10 minutes";

/// The question before a call.
pub(super) struct Confirmation {
    asker: Asker,
    source: SourceId,
    tool: Arc<str>,
    arguments: String,
}

/// The question before this call, where there has to be one and its client can be asked.
pub(super) fn of(router: &Router, caller: &Caller, call: &ToolCall, can_ask: bool) -> Option<Confirmation> {
    let Caller::Origin(asker) = caller else { return None };
    // Pages are asked about where they are shown.
    let is_own = asker.sender.own.is_some();
    if !(can_ask && is_own && router.host.waits_for_a_yes(asker, &call.source, &call.tool)) {
        return None;
    }
    Some(Confirmation {
        asker: asker.clone(),
        source: call.source.clone(),
        tool: call.tool.clone(),
        arguments: shown(&call.arguments),
    })
}

/// Whether a client with these capabilities of MCP shows forms to the person.
pub(super) fn can_ask(capabilities: &JsonObject) -> bool {
    let Ok(capabilities) = Fields::parse(capabilities.0.as_str().as_bytes()) else { return false };
    let kinds = capabilities.get("elicitation").filter(|kinds| kinds.starts_with('{'));
    let kinds = kinds.and_then(|kinds| Fields::parse(kinds.as_bytes()).ok());
    // One that names no kind means forms.
    kinds.is_some_and(|kinds| kinds.names().next().is_none() || kinds.get("form").is_some())
}

impl Confirmation {
    /// Waits for the person's yes.
    ///
    /// # Errors
    /// What the client is told where there is none.
    pub(super) async fn given(self, due: &Due) -> Result<(), ErrorBody> {
        let (router, client) = (&due.router, &due.client);
        let outcome = self.outcome(router, client, &due.id).await;
        router.host.note_answer(&self.asker, &self.source, &self.tool, outcome).await;
        let (source, tool) = (&self.source, &self.tool);
        let message = match outcome {
            Outcome::Allowed | Outcome::AllowedForAWhile => return Ok(()),
            Outcome::Denied => {
                format!("the person has declined this call of {source}/{tool:.200}; nothing was done")
            }
            Outcome::Dismissed => format!(
                "{source}/{tool:.200} may destroy something and needs the person's yes, which was not given; nothing was done"
            ),
        };
        Err(ErrorBody::new(Code::PermissionDenied, message).with("reason", "declined"))
    }

    async fn outcome(&self, router: &Router, client: &Client, request_id: &str) -> Outcome {
        let (sender, answer) = oneshot::channel();
        router.host.note_question(&self.asker.sender, self.source.shared(), METHOD);
        let params = self.params();
        if !questions::ask(
            client,
            request_id,
            self.source.to_string(),
            METHOD,
            params,
            Asked::ByHarbor(sender),
        ) {
            return Outcome::Dismissed;
        }
        match timeout(PATIENCE, answer).await {
            Ok(Ok(AskAnswer::Result(result))) => read(&result),
            _ => Outcome::Dismissed,
        }
    }

    fn params(&self) -> Json {
        let Self { asker, source, tool, arguments } = self;
        let name = asker.origin.as_str().trim_start_matches("client://");
        let message = format!(
            "{name} wants to call {source}/{tool:.200}. This tool may destroy something. The call's arguments:\n{arguments}"
        );
        let [message, once, a_while] = [&message, ONCE, A_WHILE].map(Json::string);
        let (message, once, a_while) = (message.as_str(), once.as_str(), a_while.as_str());
        Json::from_valid(format!(
            "{{\"message\":{message},\"requestedSchema\":{{\"type\":\"object\",\"properties\":{{\"answer\":{{\"type\":\"string\",\
             \"title\":\"Your answer\",\"enum\":[{once},{a_while}],\"default\":{once}}}}},\"required\":[\"answer\"]}}}}"
        ))
    }
}

fn read(result: &str) -> Outcome {
    let Ok(fields) = Fields::parse(result.as_bytes()) else { return Outcome::Dismissed };
    // Two readers may take different ones of two.
    let action = fields.get("action").filter(|_| fields.twice().is_none());
    let content =
        fields.get("content").and_then(|content| Fields::parse(content.as_bytes()).ok()).unwrap_or_default();
    let answer = content.get("answer").and_then(|answer| serde_json::from_str::<String>(answer).ok());
    match action {
        Some("\"accept\"") if answer.as_deref() == Some(A_WHILE) => Outcome::AllowedForAWhile,
        Some("\"accept\"") => Outcome::Allowed,
        Some("\"decline\"") => Outcome::Denied,
        _ => Outcome::Dismissed,
    }
}

/// The arguments as they can be shown: with nothing in them that is not seen.
fn shown(arguments: &str) -> String {
    let (mut text, mut before) = (String::new(), ' ');
    for (at, character) in arguments.char_indices() {
        if at >= MOST_SHOWN {
            text.push_str(&format!(" … ({} more bytes)", arguments.len() - at));
            break;
        }
        match is_hidden(std::mem::replace(&mut before, character), character) {
            true => text.extend(character.escape_unicode()),
            false => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> JsonObject {
        JsonObject(Json::from_valid(text.into()))
    }

    #[test]
    fn only_a_client_that_shows_forms_is_asked() {
        for yes in [r#"{"elicitation":{}}"#, r#"{"elicitation":{"form":{},"url":{}}}"#] {
            assert!(can_ask(&object(yes)), "{yes}");
        }
        for no in ["{}", r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":true}"#, r#"{"sampling":{}}"#] {
            assert!(!can_ask(&object(no)), "{no}");
        }
    }

    #[test]
    fn nothing_but_an_accept_is_a_yes() {
        assert_eq!(read(r#"{"action":"accept"}"#), Outcome::Allowed);
        assert_eq!(read(r#"{"action":"accept","content":{"answer":"Allow this call"}}"#), Outcome::Allowed);
        let a_while = format!(r#"{{"action":"accept","content":{{"answer":"{A_WHILE}"}}}}"#);
        assert_eq!(read(&a_while), Outcome::AllowedForAWhile);
        assert_eq!(read(r#"{"action":"decline"}"#), Outcome::Denied);
        for none in ["{}", "7", r#"{"action":"cancel"}"#, r#"{"action":"decline","action":"accept"}"#] {
            assert_eq!(read(none), Outcome::Dismissed, "{none}");
        }
    }

    #[test]
    fn arguments_are_shown_as_they_are_and_nothing_hides_in_them() {
        assert_eq!(shown(r#"{"path":"/tmp/ä"}"#), r#"{"path":"/tmp/ä"}"#);
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(
            shown(&"x".repeat(MOST_SHOWN + 5)),
            format!("{} … (5 more bytes)", "x".repeat(MOST_SHOWN))
        );
    }
}
