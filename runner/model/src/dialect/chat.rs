//! OpenAI's Chat Completions, and all who speak as it does.
//!
//! ```text
//!  data: {choices:[{delta:{content | reasoning… | tool_calls[{index,id?,function{name?,arguments?}}]}, finish_reason?}], usage?}
//!  data: [DONE]
//! ```

mod calls;
mod read;
mod request;

pub use read::CompletionReader;
pub(crate) use request::{cap, request};
