//! Google's Gemini: `generateContent`.
//!
//! ```text
//!  data: {candidates:[{content:{parts:[{text} | {text,thought:true} | {functionCall:{name,args,id?}}]}, finishReason?}], usageMetadata}
//!  … ─► the end of the bytes, behind a finishReason: there is no last word
//! ```
//!
//! A part may have a `thoughtSignature`, which goes back on the same part.

mod own;
mod read;
mod request;

pub use read::GeminiReader;
pub(crate) use request::{counted, path, request};
