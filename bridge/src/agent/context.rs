//! The messages that a model is sent of a conversation.
//!
//! Owns their order: first what the model has to heed, then the conversation.

use harbor_ipc_proto::model::{ModelMessage, Part, Role};
use harbor_policy::history;

/// Tells the model that its last answer has no tools.
const LAST: &str = include_str!("prompts/last.md");

/// The messages of one request. Parts that must not be sent as they are (too many images, a call without a result) are
/// mended.
pub(super) fn messages(system: &str, said: &[ModelMessage], is_last: bool) -> Vec<ModelMessage> {
    let last = if is_last { LAST } else { "" };
    let system = format!("{}\n\n{last}", system.trim_end());
    let system = ModelMessage { role: Role::System, parts: vec![Part::Text(system.trim_end().to_owned())] };
    history::repair(std::iter::once(system).chain(said.iter().cloned()).collect())
}

/// A conversation that may be sent as it is. Each message of tools has one result, as clients and files have it.
pub(super) fn mended(messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
    let split = |message: ModelMessage| match message.role {
        Role::Tool => message
            .parts
            .into_iter()
            .map(|part| ModelMessage { role: Role::Tool, parts: vec![part] })
            .collect(),
        _ => vec![message],
    };
    history::repair(messages).into_iter().flat_map(split).collect()
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::model::{Image, MAX_IMAGES, ToolCall, ToolResult, check};

    use super::*;

    #[test]
    fn what_must_not_be_sent_so_is_mended() {
        let image = || Part::Image(Image { media_type: "image/png".into(), data: "AAAA".into() });
        let seen = ModelMessage { role: Role::User, parts: vec![image(); MAX_IMAGES] };
        let messages = messages("heed\n", &[seen.clone(), seen], true);
        assert_eq!(check(&messages), Ok(()));
        assert_eq!(messages[0].parts, [Part::Text(format!("heed\n\n{}", LAST.trim_end()))]);

        let call =
            |id: &str| Part::ToolCall(ToolCall { id: id.into(), name: "t".into(), arguments: "{}".into() });
        let calls = ModelMessage { role: Role::Assistant, parts: vec![call("1"), call("1"), call("2")] };
        let result = ToolResult {
            call_id: "1".into(),
            name: "t".into(),
            text: "x".into(),
            images: vec![],
            is_error: false,
        };
        let result = ModelMessage { role: Role::Tool, parts: vec![Part::ToolResult(result)] };
        let mended = mended(vec![calls, result]);
        assert_eq!(mended.len(), 4, "a result for each call");
        assert!(mended[1..].iter().all(|message| message.parts.len() == 1));
        assert_eq!(history::check(&mended), Ok(()));
    }
}
