//! A session as its file has it, and as `chat_export` gives it.
//!
//! ```text
//!  Session ─► ChatTranscript ─► file, export
//!  file ─► StoredSession ─► Session          it crosses threads: files are read where they hold up nobody
//! ```
//!
//! Owns both directions. Must never give up a file of which a part can be read.

use std::rc::Rc;

use harbor_ipc_proto::client::{ChatMessage, ChatSessionView, ChatTranscript};
use harbor_ipc_proto::field::{put_object, read_object};
use harbor_ipc_proto::model::ModelMessage;
use harbor_policy::consent::Read;

use super::context::mended;
use super::damaged::whole_part;
use super::mode::SessionMode;
use super::session::{BranchPoint, Session, SessionHead};
use crate::models::{kept_messages, written};

/// The messages of a session for its clients.
pub fn messages(session: &Session) -> Vec<ChatMessage> {
    session.messages.borrow().iter().cloned().map(written).collect()
}

/// A session as an export has it.
pub fn transcript(session: &Session) -> ChatTranscript {
    ChatTranscript { session: session.view(), messages: messages(session) }
}

/// A session as its file has it, with the current round.
pub(super) fn text(session: &Session) -> Vec<u8> {
    let mut whole = transcript(session);
    whole.messages.extend(session.under_way.borrow().iter().cloned().map(written));
    let mut text = Vec::new();
    put_object(&mut text, &whole);
    text
}

/// A session that was read from its file.
#[derive(Debug)]
pub(super) struct StoredSession {
    id: String,
    head: SessionHead,
    pub messages: Vec<ModelMessage>,
    /// True if only its first messages could be read.
    pub is_part: bool,
}

impl StoredSession {
    /// From a file, as far as that can be read. Parts that a killed bridge has left incomplete are made whole.
    pub fn read(file: &[u8]) -> Option<Self> {
        let part = || whole_part(file)?.longest(|text| whole(text.as_bytes()));
        whole(file).or_else(|| Some(Self { is_part: true, ..part()? }))
    }

    /// The view for clients.
    pub fn view(&self) -> ChatSessionView {
        self.head.view(&self.id, self.head.read.clone(), self.messages.len(), None)
    }

    /// The session itself.
    pub fn open(self) -> Rc<Session> {
        Session::new(self.id, self.head, self.messages)
    }
}

/// The settings in a file, without its messages. Nothing if it is damaged.
pub(super) fn view_of(file: &[u8]) -> Option<ChatSessionView> {
    Some(read_object::<ChatTranscript>(std::str::from_utf8(file).ok()?).ok()?.session)
}

fn whole(file: &[u8]) -> Option<StoredSession> {
    let text = std::str::from_utf8(file).ok()?;
    let ChatTranscript { session, messages: said } = read_object(text).ok()?;
    let head = SessionHead {
        name: session.name,
        servers: session.enabledServers,
        system: session.systemPrompt,
        model: session.model,
        mode: SessionMode::of(&session.mode).unwrap_or(SessionMode::Ask),
        private: false,
        created: session.createdAt,
        updated: session.updatedAt,
        read: Read { untrusted: session.readUntrusted, private: session.privateNames.into_iter().collect() },
        pinned: session.pinned == Some(true),
        branch: session.branchOf.zip(session.branchAt).map(|(root, at)| BranchPoint { root, at }),
        used: session.usage,
    };
    let messages = mended(kept_messages(None, said).ok()?);
    Some(StoredSession { id: session.id, head, messages, is_part: false })
}
