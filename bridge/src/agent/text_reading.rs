//! Facts for reading an answer's text for calls: the tools, the word of the turn, and the calls in texts of others.
//!
//! Owns which texts those are. Must never decide what is a call; `policy::text_calls` does.

use std::rc::Rc;

use harbor_ipc_proto::model::{ModelMessage, ModelTool, Part};
use harbor_policy::text_calls::{HeardCalls, OfferedTools, Reading};
use harbor_policy::untrusted::Nonce;

/// How the text of an answer is read.
#[derive(Debug)]
pub(super) struct TextReading {
    tools: OfferedTools,
    heard: HeardCalls,
    word: Nonce,
}

/// The calls in the texts of a session, each of which is looked at once in a turn.
#[derive(Debug, Default)]
pub(super) struct HeardSoFar {
    calls: HeardCalls,
    /// The names of the tools that were looked for.
    tools: Vec<String>,
    messages: usize,
}

impl HeardSoFar {
    /// Looks at the texts that came since: all of the session, also what this request leaves out or shortens, and what servers say of
    /// their tools. The model's own texts count, too: what was no call in one of them is none when it is repeated.
    fn hear(&mut self, tools: &[ModelTool], offered: &OfferedTools, messages: &[ModelMessage]) {
        let names: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
        if names != self.tools || messages.len() < self.messages {
            *self = Self { tools: names, ..Self::default() };
            for tool in tools {
                self.calls.add(&tool.description, offered);
                self.calls.add(&tool.schema, offered);
            }
        }
        for part in messages[self.messages..].iter().flat_map(|message| &message.parts) {
            match part {
                Part::Text(text) => self.calls.add(text, offered),
                Part::ToolResult(result) => self.calls.add(&result.text, offered),
                Part::Attached(attached) => {
                    self.calls.add(&attached.text, offered);
                    self.calls.add(&attached.title, offered);
                }
                Part::Image(_) | Part::ToolCall(_) | Part::Reasoning(_) | Part::Opaque(_) => {}
            }
        }
        self.messages = messages.len();
    }
}

impl TextReading {
    /// For a model that was told of these tools in words, in a session of these messages; none without tools.
    pub fn of(
        tools: &[ModelTool],
        word: Nonce,
        heard: &mut HeardSoFar,
        messages: &[ModelMessage],
    ) -> Option<Rc<Self>> {
        if tools.is_empty() {
            return None;
        }
        let offered = offered(tools);
        heard.hear(tools, &offered, messages);
        Some(Rc::new(Self { tools: offered, heard: heard.calls.clone(), word }))
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
