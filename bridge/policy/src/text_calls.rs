//! Calls that a model writes as text: by Harbor's text protocol, or in the format that its makers trained it on.
//!
//! ```text
//!  instructions ─► the model ─► pieces of text ─► AnswerReader ─► shown at once: surely no call
//!                                                    │
//!                                                    └─ at the end ─► ReadAnswer: calls │ rest │ left as text, and why
//!  results, pages, attachments, messages ─► HeardCalls: the calls in them, which never count
//! ```
//!
//! A call counts if it is meant: it stands where a call stands, not in a quotation, in code or before more text; it names an
//! offered tool; and nothing that the model has read has the same call. A format of the model's own counts only where the model
//! was given no tools in another way. Owns these rules. Must never make a call of a text that others wrote.

mod answer;
mod by_fence;
mod by_line;
mod by_mark;
mod coerced;
mod heard;
mod items;
mod lenient;
mod lines;
mod looking;
mod marks;
mod offered;
mod params;
mod protocol;
mod python;
mod reader;
mod scan;
mod shapes;
mod state;
mod surroundings;

pub use answer::{LeftAsText, LeftReason, ReadAnswer, Reading, TextCall};
pub use heard::HeardCalls;
pub use offered::OfferedTools;
pub use protocol::{REMINDER, instructions, written};
pub use reader::{AnswerReader, read_answer};
