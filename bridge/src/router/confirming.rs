//! The question about an AI client's call, as its client shows it: a form of MCP's elicitation.
//!
//! ```text
//!  question ─► ask push ─┬─ accept ──► the answer that was chosen
//!                        ├─ decline ─► no
//!                        └─ else ────► nothing: whoever else shows the question may answer it
//! ```
//!
//! Owns the form's words and what counts as an answer. Must never take a client's own word for an answer, nor read
//! anything but an answer to its own question.

use std::rc::{Rc, Weak};

use harbor_ipc_proto::client::{Approval, ApprovalField};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_policy::consent::Why;
use harbor_policy::consent::answers::Cover;
use tokio::sync::oneshot;

use super::client::Client;
use super::open_questions::PendingQuestion;
use super::pending_reply::PendingReply;
use super::questions;
use super::state::Router;
use crate::host::asker::Caller;
use crate::host::consent::asking::{Decision, Form};

/// The most characters of a call's arguments in a form.
const MOST_SHOWN: usize = 4000;

const METHOD: &str = "elicitation/create";

/// The form of a call's client, if it is an AI client that shows forms.
pub(super) fn form_of(pending: &PendingReply, caller: &Caller, answers: Option<&JsonObject>) -> Option<Form> {
    let Caller::Origin(asker) = caller else { return None };
    // Pages are asked where they are shown.
    if asker.sender.own.is_none() || !answers.is_some_and(shows_forms) {
        return None;
    }
    let (router, client) = (Rc::downgrade(&pending.router), Rc::downgrade(&pending.client));
    let (request_id, name) = (pending.id.to_string(), asker.origin.as_str().to_owned());
    Some(Rc::new(move |approval| {
        let form = form(&name, approval);
        let (router, client, request_id) = (router.clone(), client.clone(), request_id.clone());
        let source = approval.tool.split('/').next().unwrap_or_default().to_owned();
        let (offered, reason) = (approval.answers.clone(), approval.reason.to_string());
        Box::pin(async move {
            let answer = ask(&router, &client, &request_id, source, form).await?;
            read(&answer, &offered, &reason)
        })
    }))
}

/// True if a client with these capabilities of MCP shows forms to the person.
fn shows_forms(capabilities: &JsonObject) -> bool {
    let Ok(capabilities) = Fields::parse(capabilities.0.as_str().as_bytes()) else { return false };
    let kinds = capabilities.get("elicitation").filter(|kinds| kinds.starts_with('{'));
    let kinds = kinds.and_then(|kinds| Fields::parse(kinds.as_bytes()).ok());
    // A client that names no kind means forms.
    kinds.is_some_and(|kinds| kinds.names().next().is_none() || kinds.get("form").is_some())
}

async fn ask(
    router: &Weak<Router>,
    client: &Weak<Client>,
    request_id: &str,
    source: String,
    form: Json,
) -> Option<String> {
    let (sender, answer) = oneshot::channel();
    {
        let (router, client) = (router.upgrade()?, client.upgrade()?);
        router.host.note_question(&client.sender(), source.as_str().into(), METHOD);
        if !questions::ask(&client, request_id, source, METHOD, form, PendingQuestion::ByHarbor(sender)) {
            return None;
        }
    }
    match answer.await {
        Ok(AskAnswer::Result(result)) => Some(result.to_string()),
        _ => None,
    }
}

/// The answers of a form in the words for the person. At a client's first use, an answer is about all tools of a source. If a
/// server wants a model's answer, it is about all that the server asks of models.
fn words(answer: &str, reason: &str) -> Option<&'static str> {
    let is = |why: Why| reason == why.word();
    Some(match answer {
        "once" if is(Why::Sampling) => "Allow this once",
        "once" if is(Why::Starts) => "Start the server",
        "once" => "Allow this call",
        "ten_minutes" if is(Why::FirstUse) => "Allow all its tools for 10 minutes",
        "ten_minutes" => "Allow all calls of this tool for 10 minutes",
        "always" if is(Why::FirstUse) => "Always allow all its tools",
        "always" if is(Why::Sampling) => "Always allow this server to ask your models",
        "always" if is(Why::Reading) => "Always allow this client to ask your models",
        "always" if is(Why::Starts) => "Always start servers for this client",
        "always" => "Always allow this tool",
        "pair" => "Allow this as long as the client is connected",
        "never" => "Never, and do not ask again",
        _ => return None,
    })
}

fn form(origin: &str, approval: &Approval) -> Json {
    let name = origin.trim_start_matches("client://");
    let Approval { tool, why, fields, id, .. } = approval;
    let from = match approval.private.join(", ") {
        none if none.is_empty() => none,
        files if *approval.reason == *Why::Files.word() => format!(": {files:.2000}"),
        names => format!(" (from {names:.300})"),
    };
    let told = shown(fields, id);
    let message = match *approval.reason == *Why::Sampling.word() {
        true => format!("A server asks ({tool:.300}): {why}. Its words:\n{told}"),
        false => format!("{name} wants to call {tool:.300}: {why}{from}. The call's arguments:\n{told}"),
    };
    let words = |answer: &String| words(answer, &approval.reason);
    let answers: Vec<_> = approval.answers.iter().filter_map(words).map(Json::string).collect();
    let first = answers.first().cloned().unwrap_or_else(|| Json::string(""));
    let answers: Vec<_> = answers.iter().map(Json::as_str).collect();
    let (message, answers, first) = (Json::string(&message), answers.join(","), first);
    let (message, first) = (message.as_str(), first.as_str());
    Json::from_valid(format!(
        "{{\"message\":{message},\"requestedSchema\":{{\"type\":\"object\",\"properties\":{{\"answer\":{{\"type\":\"string\",\
         \"title\":\"Your answer\",\"enum\":[{answers}],\"default\":{first}}}}},\"required\":[\"answer\"]}}}}"
    ))
}

/// The arguments key by key, as far as a form carries them; then the place where all of them are.
fn shown(fields: &[ApprovalField], id: &str) -> String {
    let mut text = String::new();
    let mut is_whole = true;
    for ApprovalField { key, text: value, bytes } in fields {
        text.push_str(&format!("{key}: {value}\n"));
        is_whole &= bytes.is_none();
    }
    let end = text.char_indices().nth(MOST_SHOWN).map(|(at, _)| at);
    match end {
        None if is_whole => text,
        end => {
            text.truncate(end.unwrap_or(text.len()));
            format!("{text}\n… this is not all of it: `harbor approvals show {id:.8}` shows everything")
        }
    }
}

/// Reads the person's answer: only a word that was offered is a yes.
fn read(result: &str, offered: &[String], reason: &str) -> Option<Decision> {
    let fields = Fields::parse(result.as_bytes()).ok()?;
    // If a field is there twice, two readers may take different ones.
    let action = fields.get("action").filter(|_| fields.twice().is_none());
    let content = fields.get("content").and_then(|content| Fields::parse(content.as_bytes()).ok());
    let answer = content.filter(|content| content.twice().is_none());
    let answer = answer.and_then(|content| serde_json::from_str::<String>(content.get("answer")?).ok());
    let chosen =
        offered.iter().find(|offered| answer.is_some() && words(offered, reason) == answer.as_deref());
    match (action?, chosen.map(String::as_str)) {
        ("\"accept\"", Some("never")) => Some(Decision::Never),
        ("\"accept\"", Some(word)) => Cover::of(word).map(Decision::Yes),
        ("\"decline\"", _) => Some(Decision::No(None)),
        _ => None,
    }
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
            assert!(shows_forms(&object(yes)), "{yes}");
        }
        for no in ["{}", r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":true}"#, r#"{"sampling":{}}"#] {
            assert!(!shows_forms(&object(no)), "{no}");
        }
    }

    #[test]
    fn nothing_but_a_word_that_was_offered_is_a_yes() {
        let offered = ["once", "ten_minutes", "no"].map(str::to_owned);
        let read = |result: &str| read(result, &offered, "writes");
        let once = Some(Decision::Yes(Cover::Once));
        assert_eq!(read(r#"{"action":"accept","content":{"answer":"Allow this call"}}"#), once);
        let a_while =
            r#"{"action":"accept","content":{"answer":"Allow all calls of this tool for 10 minutes"}}"#;
        assert_eq!(read(a_while), Some(Decision::Yes(Cover::TenMinutes)));
        assert_eq!(read(r#"{"action":"decline"}"#), Some(Decision::No(None)));
        for none in [
            "{}",
            "7",
            r#"{"action":"cancel"}"#,
            r#"{"action":"decline","action":"accept"}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":{"answer":"no"}}"#,
            r#"{"action":"accept","content":{"answer":5}}"#,
            r#"{"action":"accept","content":{"other":"Allow this call"}}"#,
            r#"{"action":"accept","content":{"answer":"Always allow this tool"}}"#,
            r#"{"action":"accept","content":{"answer":"x","answer":"Allow this call"}}"#,
        ] {
            assert_eq!(read(none), None, "{none}");
        }
        let first = ["always", "never"].map(str::to_owned);
        let said = |word: &str, reason: &str| {
            super::read(&format!(r#"{{"action":"accept","content":{{"answer":"{word}"}}}}"#), &first, reason)
        };
        assert_eq!(said("Always allow all its tools", "first_use"), Some(Decision::Yes(Cover::Always)));
        assert_eq!(said("Never, and do not ask again", "first_use"), Some(Decision::Never));
        assert_eq!(said("Always allow this tool", "first_use"), None);
        assert_eq!(
            said("Always allow this server to ask your models", "sampling"),
            Some(Decision::Yes(Cover::Always))
        );
        assert_eq!(said("Always allow this tool", "sampling"), None);
    }

    #[test]
    fn what_a_form_does_not_carry_is_said() {
        let field = |text: String, bytes| [ApprovalField { key: "path".into(), text, bytes }];
        assert_eq!(shown(&field("/tmp/ä".into(), None), "0123456789"), "path: /tmp/ä\n");
        let long = shown(&field("x".repeat(5000), None), "0123456789");
        assert!(long.ends_with("`harbor approvals show 01234567` shows everything"), "{long}");
        assert!(shown(&field("x".into(), Some(9000)), "0123456789").contains("this is not all of it"));
    }
}
