//! Renders the client protocol as one page (`harbor docs protocol`) from the message tables, so that it cannot lag behind the types.

use std::fmt::Write as _;

use super::{
    AGENT_OBJECTS, AGENT_REPLIES, APPROVAL_OBJECTS, APPROVAL_REPLIES, CATALOG_OBJECTS, CREDENTIAL_OBJECTS,
    ENGINE_OBJECTS, ENGINE_REPLIES, HOST_OBJECTS, INSTALL_OBJECTS, INSTALLATION_REPLIES, MODEL_OBJECTS,
    MODEL_REPLIES, MessageDoc, OAUTH_OBJECTS, OBJECTS, PUSHES, REPLIES, REQUESTS, SANDBOX_OBJECTS,
    SECRET_REPLIES, SOURCE_OBJECTS, SOURCE_REPLIES, STATS_OBJECTS, STATUS_OBJECTS, SandboxSettings,
    Supervision,
};
use crate::codes::Code;

const INTRODUCTION: &str = "\
# The client protocol

Generated from the types in `ipc-proto`: `harbor docs protocol`.

**Frames.** A u32 in little-endian order with the length in bytes, then that many bytes of UTF-8 JSON: the
browsers' native messaging format, also on the local socket. The bridge takes frames up to 64 MiB; a larger one
is skipped by its length and answered with the empty request id. It sends frames up to the client's `max_frame`
(1 MiB unless `hello` says otherwise); a larger answer comes as `chunk` pushes to a client that announced them,
and is the error `message_too_large` with the request's id to one that did not.

**Envelopes.** `{type, request_id, …}` is answered by `{type: \"<type>_result\", request_id, …}` or by
`{type: \"error\", request_id, error: {code, message, details?}}`. The other envelope, `{type: \"rpc\", id, method,
params}`, means the same with `method` = the type (its first `.` reads as `_`), and is answered by
`{type: \"rpc_response\", id, result | error: {code: int, message, data: {code, details?}}}`. Requests run concurrently;
each is answered exactly once. An id may be used again once its request was answered. Unknown fields are ignored.

**The local socket.** `$HARBOR_HOME/run/bridge.sock`. The first frame of a program there is `attach`; everything
else is refused before it. On `serve --stdio` the client is the owner and starts with whatever it likes.
";

/// The whole document.
#[must_use]
pub fn render() -> String {
    let mut out = String::from(INTRODUCTION);
    out.push_str("\n## Requests\n");
    for request in REQUESTS {
        section(&mut out, request, "Field");
        if let Some(reply) = replies().find(|reply| reply.tag == request.tag) {
            let _ = writeln!(out, "\nReply `{}_result`: {}\n", reply.tag, one_line(reply.doc));
            table(&mut out, reply, "Reply field");
        }
    }
    out.push_str("\n## Pushes\n");
    PUSHES.iter().for_each(|push| section(&mut out, push, "Field"));
    out.push_str("\n## Objects\n");
    settings().into_iter().chain(objects()).for_each(|object| section(&mut out, object, "Field"));
    out.push_str("\n## Error codes\n\n| Code | in `rpc` | Meaning |\n|---|---|---|\n");
    for code in Code::ALL {
        let _ = writeln!(out, "| `{}` | {} | {} |", code.as_str(), code.rpc(), code.meaning().trim());
    }
    out
}

/// All replies, category by category.
pub(super) fn replies() -> impl Iterator<Item = &'static MessageDoc> {
    REPLIES
        .iter()
        .chain(INSTALLATION_REPLIES)
        .chain(SECRET_REPLIES)
        .chain(MODEL_REPLIES)
        .chain(ENGINE_REPLIES)
        .chain(AGENT_REPLIES)
        .chain(APPROVAL_REPLIES)
        .chain(SOURCE_REPLIES)
}

/// The objects of settings, in which every field may be absent.
pub(super) const fn settings() -> [&'static MessageDoc; 2] {
    [&Supervision::DOC, &SandboxSettings::DOC]
}

/// The objects inside replies and pushes.
pub fn objects() -> impl Iterator<Item = &'static MessageDoc> {
    OBJECTS
        .iter()
        .chain(SANDBOX_OBJECTS)
        .chain(CREDENTIAL_OBJECTS)
        .chain(OAUTH_OBJECTS)
        .chain(HOST_OBJECTS)
        .chain(STATS_OBJECTS)
        .chain(STATUS_OBJECTS)
        .chain(CATALOG_OBJECTS)
        .chain(INSTALL_OBJECTS)
        .chain(MODEL_OBJECTS)
        .chain(ENGINE_OBJECTS)
        .chain(AGENT_OBJECTS)
        .chain(APPROVAL_OBJECTS)
        .chain(SOURCE_OBJECTS)
}

fn section(out: &mut String, message: &MessageDoc, head: &str) {
    let _ = writeln!(out, "\n### `{}`\n\n{}\n", message.tag, one_line(message.doc));
    table(out, message, head);
}

fn table(out: &mut String, message: &MessageDoc, head: &str) {
    if message.fields.is_empty() {
        return;
    }
    let _ = writeln!(out, "| {head} | Type | Meaning |\n|---|---|---|");
    for field in message.fields {
        let optional = if field.optional { "?" } else { "" };
        let _ = writeln!(out, "| `{}{optional}` | {} | {} |", field.name, field.kind, one_line(field.doc));
    }
}

pub(super) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_but_none_twice_has_a_reply() {
        let tags = |all: &[MessageDoc]| {
            let mut tags: Vec<_> = all.iter().map(|m| m.tag).collect();
            tags.sort_unstable();
            tags
        };
        assert_eq!(
            tags(REQUESTS),
            tags(
                &[
                    REPLIES,
                    INSTALLATION_REPLIES,
                    SECRET_REPLIES,
                    MODEL_REPLIES,
                    ENGINE_REPLIES,
                    AGENT_REPLIES,
                    APPROVAL_REPLIES,
                    SOURCE_REPLIES
                ]
                .concat()
            )
        );
        assert!(tags(REQUESTS).windows(2).all(|two| two[0] != two[1]));
    }

    #[test]
    fn no_field_has_a_name_of_the_envelope() {
        for field in REQUESTS.iter().flat_map(|request| request.fields) {
            assert!(!["type", "request_id"].contains(&field.name), "{}", field.name);
        }
    }

    #[test]
    fn the_page_has_every_message_and_code() {
        let page = render();
        let tags = REQUESTS.iter().chain(PUSHES).map(|message| format!("\n### `{}`\n", message.tag));
        let codes = Code::ALL.iter().map(|code| format!("\n| `{}` |", code.as_str()));
        let missing: Vec<_> = tags.chain(codes).filter(|part| !page.contains(part.as_str())).collect();
        assert_eq!(missing, [""; 0]);
    }
}
