//! Anthropic's Messages.
//!
//! ```text
//!  message_start ─► { content_block_start ─► content_block_delta … ─► content_block_stop } … ─► message_delta ─► message_stop
//!  ping anywhere;  event: error under 200
//! ```

mod read;
mod request;

pub use read::AnthropicReader;
pub(crate) use read::whole;
pub(crate) use request::{counted, request};
