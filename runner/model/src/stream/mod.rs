//! The bytes of an answer, cut anywhere, to events.
//!
//! ```text
//!  bytes ─► frames: SSE events | lines | one whole text ─► dialect ─► Answer
//! ```
//!
//! Owns the end rule: an answer is good only once its protocol's own end has come. Where the bytes end before, it is cut.

use std::borrow::Cow;

use harbor_ipc_proto::link::model::{Cause, Failure};
use harbor_ipc_proto::model::{Dialect, Kind, ModelTool};
use harbor_web::sse::Parser;

use crate::answer::Answer;
use crate::dialect::{Framing, anthropic, chat, gemini, ollama, responses};
use crate::failure::failed;
use crate::halves::marked;
use crate::names::Names;

mod lines;

pub use lines::Lines;

/// The longest event or line.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

/// All bytes of one answer.
pub const MAX_ANSWER: usize = 128 * 1024 * 1024;

#[derive(Debug)]
enum Frames {
    Events(Box<Parser>),
    Lines(Lines),
    Whole(Vec<u8>),
}

/// A dialect's state in the midst of an answer.
#[derive(Debug)]
enum State {
    Chat(chat::CompletionReader),
    Anthropic(anthropic::AnthropicReader),
    Ollama(ollama::OllamaReader),
    Responses(responses::ResponsesReader),
    Gemini(gemini::GeminiReader),
}

/// One answer's stream.
#[derive(Debug)]
pub struct Stream {
    frames: Frames,
    state: State,
    bytes: usize,
    /// The answer so far; events are taken from here.
    pub answer: Answer,
}

impl Stream {
    /// The stream of an answer to a request with these tools. `nonce` is of no other answer.
    #[must_use]
    pub fn new(dialect: Dialect, kind: Kind, framing: Framing, tools: &[ModelTool], nonce: String) -> Self {
        let frames = match framing {
            Framing::Events => Frames::Events(Box::new(Parser::new(MAX_EVENT))),
            Framing::Lines => Frames::Lines(Lines::new(MAX_EVENT)),
            Framing::Whole => Frames::Whole(Vec::new()),
        };
        let state = match dialect {
            Dialect::Chat => State::Chat(chat::CompletionReader::default()),
            Dialect::Anthropic => State::Anthropic(anthropic::AnthropicReader::default()),
            Dialect::Ollama => State::Ollama(ollama::OllamaReader::default()),
            Dialect::Responses => State::Responses(responses::ResponsesReader::default()),
            Dialect::Gemini => State::Gemini(gemini::GeminiReader::default()),
        };
        let marked = !matches!(dialect, Dialect::Anthropic | Dialect::Gemini) && kind != Kind::OpenAi;
        Self { frames, state, bytes: 0, answer: Answer::new(Names::of(tools), nonce, marked) }
    }

    /// Says how many tokens the answer may have, for servers that keep to that without a word.
    pub fn set_limit(&mut self, kind: Kind, most: Option<u32>) {
        if let State::Responses(reader) = &mut self.state {
            reader.set_limit(kind, most);
        }
    }

    /// Takes bytes.
    ///
    /// # Errors
    /// When the provider says that it failed, or says what its protocol does not know.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.bytes += bytes.len();
        if self.bytes > MAX_ANSWER {
            return Err(failed(Cause::Protocol, "the answer is too long"));
        }
        let too_long = || failed(Cause::Protocol, "a line of the answer is too long");
        let (state, answer) = (&mut self.state, &mut self.answer);
        let mut wrong = None;
        let mut take = |name: &str, data: &[u8]| {
            if wrong.is_none() && !answer.has_ended() {
                wrong = state.take(name, &readable(data, answer), answer).err();
            }
        };
        let fed = match &mut self.frames {
            Frames::Events(parser) => {
                parser.feed(bytes, |event| take(event.name, event.data)).map_err(|_| ())
            }
            Frames::Lines(lines) => lines.feed(bytes, |line| take("", line)),
            Frames::Whole(body) if body.len() + bytes.len() > MAX_EVENT => Err(()),
            Frames::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        };
        match wrong {
            Some(wrong) => Err(wrong),
            None if self.answer.has_ended() => Ok(()),
            None => fed.map_err(|()| too_long()),
        }
    }

    /// No more bytes come.
    ///
    /// # Errors
    /// As [`Self::feed`], and when the protocol's own end has not come.
    pub fn end(&mut self) -> Result<(), Failure> {
        // Servers leave the last blank line out.
        let whole = match &mut self.frames {
            Frames::Events(_) => self.feed(b"\n\n").map_err(half).map(|()| None)?,
            Frames::Lines(_) => self.feed(b"\n").map_err(half).map(|()| None)?,
            Frames::Whole(body) => Some(std::mem::take(body)),
        };
        if let Some(body) = whole {
            let body = readable(&body, &mut self.answer);
            self.state.whole(&body, &mut self.answer)?;
        }
        if !self.answer.has_ended() {
            self.state.end(&mut self.answer)?;
        }
        if self.answer.has_ended() { Ok(()) } else { Err(cut()) }
    }
}

/// JSON without lone halves of characters, which no reader of JSON takes.
fn readable<'j>(json: &'j [u8], answer: &mut Answer) -> Cow<'j, [u8]> {
    let json = marked(json);
    if matches!(json, Cow::Owned(_)) {
        answer.set_marks();
    }
    json
}

fn cut() -> Failure {
    failed(Cause::Cut, "the answer broke off before its end")
}

/// Turns a failure to read the last piece into that of an answer that is cut off: broken JSON there is half of some.
fn half(failure: Failure) -> Failure {
    if failure.cause == Cause::Protocol { cut() } else { failure }
}

impl State {
    fn take(&mut self, name: &str, data: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        match self {
            Self::Chat(reader) => reader.take(name, data, answer),
            Self::Anthropic(reader) => reader.take(name, data, answer),
            Self::Ollama(reader) => reader.take(data, answer),
            Self::Responses(reader) => reader.take(name, data, answer),
            Self::Gemini(reader) => reader.take(name, data, answer),
        }
    }

    /// An answer that has come as one text.
    fn whole(&mut self, body: &[u8], answer: &mut Answer) -> Result<(), Failure> {
        match self {
            Self::Chat(reader) => reader.take("", body, answer),
            Self::Anthropic(_) => anthropic::whole(body, answer),
            Self::Ollama(reader) => reader.take(body, answer),
            Self::Responses(reader) => reader.ended(body, answer),
            Self::Gemini(reader) => reader.whole(body, answer),
        }
    }

    /// Ends an answer whose last word is missing, if its dialect lets it do without.
    fn end(&mut self, answer: &mut Answer) -> Result<(), Failure> {
        match self {
            Self::Chat(reader) => reader.end(answer),
            Self::Gemini(reader) => {
                reader.end(answer);
                Ok(())
            }
            Self::Anthropic(_) | Self::Ollama(_) | Self::Responses(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
