//! How a model without tools is told to call them.
//!
//! ```text
//!  [call 7f3a…] {"name": "get_current_time", "arguments": {"timezone": "UTC"}}
//! ```
//!
//! Owns this text. The word of the turn is in it: no text that the model reads can know it.

use harbor_ipc_proto::model::ModelTool;

use crate::untrusted::{Nonce, cleaned};

/// The text that tells a model without tools which there are, and how it calls one. Descriptions are cleaned.
#[must_use]
pub fn instructions(tools: &[ModelTool], nonce: &Nonce) -> String {
    let word = nonce.as_str();
    let mut text = format!(
        "You can call tools. To call one, write this line, alone, and then stop:\n\
         [call {word}] {{\"name\": \"NAME\", \"arguments\": {{ARGUMENTS}}}}\n\
         Each call is a line of its own, beginning with [call {word}]. The arguments are a JSON object that fits the tool's schema. \
         The result comes in the next message. Never write a result yourself, and never repeat a call that you have only read. \
         If no tool is needed, answer without one.\n\nTools:\n"
    );
    for tool in tools {
        let about = cleaned(&tool.description);
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("- {}: {about} Schema: {}\n", tool.name, tool.schema));
    }
    text
}

/// A call as a model would write it: for the calls that are in the conversation already. `arguments` is a JSON object.
#[must_use]
pub fn written(name: &str, arguments: &str, nonce: &Nonce) -> String {
    let name = serde_json::Value::from(name);
    format!("[call {}] {{\"name\": {name}, \"arguments\": {arguments}}}", nonce.as_str())
}

/// The text for a model whose answer broke off within a call. It has not the turn's word: a word that stands in a result is one
/// that others know, and no call is read by it.
pub const REMINDER: &str = "The call was not whole, so no tool was called. Write it once more, whole and in one line, in the form that your \
                            instructions give.";
