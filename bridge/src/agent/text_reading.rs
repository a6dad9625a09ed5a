//! Facts for reading an answer's text for calls: the tools, the word of the turn, and the calls in texts of others.
//!
//! Owns which texts those are. Must never decide what is a call; `policy::text_calls` does.

use std::rc::Rc;

use harbor_ipc_proto::model::{ModelMessage, ModelTool, Part, Role};
use harbor_policy::text_calls::{HeardCalls, OfferedTools, Reading};
use harbor_policy::untrusted::Nonce;

/// How the text of an answer is read.
#[derive(Debug)]
pub(super) struct TextReading {
    tools: OfferedTools,
    heard: HeardCalls,
    word: Nonce,
}

impl TextReading {
    /// For a model that was told of these tools in words, and was sent these messages; none without tools.
    pub fn of(tools: &[ModelTool], word: Nonce, messages: &[ModelMessage]) -> Option<Rc<Self>> {
        if tools.is_empty() {
            return None;
        }
        let (tools, mut heard) = (offered(tools), HeardCalls::default());
        // A result is a message of the person's by now. The model's own messages, and Harbor's, it may repeat.
        let of_others = messages.iter().filter(|message| message.role == Role::User);
        for part in of_others.flat_map(|message| &message.parts) {
            if let Part::Text(text) = part {
                heard.add(text, &tools);
            }
        }
        Some(Rc::new(Self { tools, heard, word }))
    }

    /// The form in which `policy` takes it.
    pub fn reading(&self) -> Reading<'_> {
        Reading { tools: &self.tools, nonce: Some(&self.word), takes_native: true, heard: &self.heard }
    }
}

/// The tools by their names and schemas.
pub(super) fn offered(tools: &[ModelTool]) -> OfferedTools {
    OfferedTools::of(tools.iter().map(|tool| (tool.name.as_str(), tool.schema.as_str())))
}
