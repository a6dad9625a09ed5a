//! Sessions from elsewhere: the JSON of an export becomes a session.
//!
//! Owns what is believed of such a text: its words, and nothing else. Who wrote it may not say what the session may do, nor
//! what the model is told first. Must never repeat a word of it in an error.

use std::rc::Rc;

use harbor_ipc_proto::client::ChatTranscript;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::read_object;
use harbor_ipc_proto::model::{InvalidMessagesReason, ModelMessage, Part, Role};
use harbor_policy::consent::Read;
use harbor_policy::history::{self, Broken};
use serde_json::value::RawValue;

use super::Agent;
use super::attaching::{ATTACHED, check};
use super::context::mended;
use super::mode::SessionMode;
use super::session::{Session, SessionHead, name_of};
use super::sessions::fresh_id;
use crate::models::kept_messages;

/// The longest text, in bytes.
const LONGEST: usize = 32 * 1024 * 1024;

impl Agent {
    /// Makes a session of a text that `chat_export` gave as JSON.
    ///
    /// # Errors
    /// Says what is wrong with the text, or why the session cannot be written down.
    pub async fn import(self: &Rc<Self>, text: String) -> Result<Rc<Session>, ErrorBody> {
        let read = tokio::task::spawn_blocking(move || read(&text)).await;
        let (name, messages) = read.map_err(|_| wrong("it cannot be read"))??;
        let head = SessionHead {
            name,
            read: Read { untrusted: true, private: [ATTACHED.to_owned()].into() },
            ..SessionHead::new(SessionMode::Ask, false)
        };
        let session = Session::new(fresh_id()?, head, messages);
        self.begin(&session).await?;
        Ok(session)
    }
}

/// The name and the messages in an export.
fn read(text: &str) -> Result<(String, Vec<ModelMessage>), ErrorBody> {
    if text.len() > LONGEST {
        return Err(wrong("it is longer than 32 MiB"));
    }
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        let (line, column) = (error.line(), error.column());
        return Err(wrong(&format!("it is not JSON, or damaged: line {line}, column {column}")));
    }
    let transcript: ChatTranscript = read_object(text).map_err(|error| {
        let (field, expected, found) = (error.field, error.expected, error.found);
        wrong(&format!("it is no session: `{field}` has to be {expected}, and is {found}"))
    })?;
    let mut messages = kept_messages(None, transcript.messages).map_err(|error| wrong(&error.message))?;
    for message in &mut messages {
        if message.role == Role::System {
            return Err(wrong("a session has no messages of the role `system`"));
        }
        // Only its provider could say if these data are its own.
        message.parts.retain(|part| !matches!(part, Part::Opaque(_)));
        for part in &message.parts {
            if let Part::Attached(attached) = part {
                check(attached).map_err(wrong)?;
            }
        }
    }
    messages.retain(|message| !message.parts.is_empty());
    let messages = match history::check(&messages) {
        Ok(()) => messages,
        Err(Broken::Part(InvalidMessagesReason::TooManyImages)) => mended(messages),
        Err(broken) => return Err(wrong(&broken.to_string())),
    };
    Ok((name_of(&transcript.session.name), messages))
}

fn wrong(what: &str) -> ErrorBody {
    let expected = "the JSON of `harbor sessions export --format json`";
    ErrorBody::new(Code::InvalidParams, format!("field `text`: {what}; expected {expected}"))
        .with("field", "text")
}
