//! OpenAI's Responses, and all who speak as it does: llama-server and Ollama, below `/v1/responses`.
//!
//! ```text
//!  response.created ─► { output_item.added ─► output_text | reasoning… | function_call_arguments .delta … ─► output_item.done } …
//!     ─► response.completed | .incomplete | .failed;   event: error under 200;   other events may come at any place
//! ```
//!
//! Nothing is kept at the provider (`store: false`): each request brings the whole conversation, and its thoughts encrypted.

mod read;
mod request;

pub use read::ResponsesReader;
pub(crate) use request::{counted, request};
