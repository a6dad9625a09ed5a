//! Ollama's own format: its likeness of Chat Completions can set no window and cuts conversations without a word.
//!
//! ```text
//!  {message:{content, thinking?, tool_calls?}, done:false} … ─► {done:true, done_reason, prompt_eval_count, eval_count}
//!  {"error":"…"} anywhere
//! ```

mod read;
mod request;

pub use read::OllamaReader;
pub(crate) use request::request;
