//! All sessions: begun, found, changed, written down and deleted.
//!
//! Owns their ids, which nobody can guess, and the rule that a private session is never written down. Sessions that
//! nobody uses are not kept in memory.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ChatGetSessionResult, ChatSessionView, SessionUpdates};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{put_object, read_object};

use harbor_policy::consent::Read;

use super::Agent;
use super::context::mended;
use super::damaged::whole_part;
use super::mode::SessionMode;
use super::refusals::{busy, internal};
use super::session::{Session, SessionHead};
use crate::models::{messages, written};
use crate::store::StoreError;

/// How long a private session waits after its client has gone: the browser may start its extension anew.
const LEFT_BEHIND: Duration = Duration::from_secs(600);

/// Sessions that stay in memory although nobody uses them.
const IDLE: usize = 16;

impl Agent {
    /// Begins a session.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub async fn begin(self: &Rc<Self>, head: SessionHead) -> Result<Rc<Session>, ErrorBody> {
        let id = random_token().map_err(|error| internal(&error))?;
        let session = Session::new(id[..16].to_owned(), head, Vec::new());
        // If it cannot be written, there is no session.
        if !session.head.borrow().private {
            self.store.write(&session.id, text(&session)).await.map_err(|error| unstored(&error))?;
        }
        self.keep(&session);
        Ok(session)
    }

    /// The session with this id.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub async fn session(&self, id: &str) -> Result<Rc<Session>, ErrorBody> {
        let open = self.open.borrow().get(id).cloned();
        if let Some(session) = open {
            session.is_asked_for();
            return Ok(session);
        }
        if !is_id(id) {
            return Err(no_session(id));
        }
        let text = self.store.read(id).await.map_err(|error| unstored(&error))?;
        let text = text.ok_or_else(|| no_session(id))?;
        let session = match read(&text) {
            Some(session) => session,
            None => {
                let session = read_in_part(&text).ok_or_else(|| broken(id))?;
                // The next save writes over it.
                self.store.keep_damaged(id).await.map_err(|error| unstored(&error))?;
                session
            }
        };
        // Another request may have opened it meanwhile.
        let open = self.open.borrow().get(id).cloned();
        Ok(open.unwrap_or_else(|| {
            self.keep(&session);
            session
        }))
    }

    /// All sessions, the last used one first; and those that cannot be read, a sentence each.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub async fn sessions(&self) -> Result<(Vec<ChatSessionView>, Vec<String>), ErrorBody> {
        let stored = self.store.all().await.map_err(|error| unstored(&error))?;
        let (mut views, mut unreadable) = (Vec::new(), Vec::new());
        for (id, text) in stored {
            if self.open.borrow().contains_key(&id) {
                continue;
            }
            match text.map(|text| read(&text).ok_or(text)) {
                Ok(Ok(session)) => views.push(session.view()),
                Ok(Err(text)) => match read_in_part(&text) {
                    Some(session) => {
                        let said = session.messages.borrow().len();
                        unreadable.push(format!(
                            "the file of session {id} is damaged: only its first {said} messages are readable; when \
                             you use the session, Harbor keeps the old file as {id}.json.damaged"
                        ));
                        views.push(session.view());
                    }
                    None => unreadable.push(broken(&id).message),
                },
                Err(error) => unreadable.push(format!("{id}: {error}")),
            }
        }
        views.extend(self.open.borrow().values().map(|session| session.view()));
        views.sort_by(|a, b| b.updatedAt.cmp(&a.updatedAt).then_with(|| a.id.cmp(&b.id)));
        Ok((views, unreadable))
    }

    /// Changes a session.
    ///
    /// # Errors
    /// Which field is wrong, or that it cannot be written down.
    pub async fn update(
        self: &Rc<Self>,
        session: &Rc<Session>,
        updates: SessionUpdates,
    ) -> Result<(), ErrorBody> {
        session.update(updates).map_err(|(field, expected)| crate::host::invalid(field, expected))?;
        self.store_session(session).await.map_err(|error| unstored(&error))
    }

    /// Forgets all messages. Gives their number.
    ///
    /// # Errors
    /// When a turn is under way, or it cannot be written down.
    pub async fn clear(self: &Rc<Self>, session: &Rc<Session>) -> Result<u64, ErrorBody> {
        if session.ongoing().is_some() {
            return Err(busy());
        }
        let cleared = std::mem::take(&mut *session.messages.borrow_mut()).len();
        session.kept.clear();
        self.store_session(session).await.map_err(|error| unstored(&error))?;
        Ok(cleared as u64)
    }

    /// Deletes a session; true if there was one.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub async fn delete(&self, id: &str) -> Result<bool, ErrorBody> {
        if !is_id(id) {
            return Ok(false);
        }
        let open = self.open.borrow_mut().remove(id);
        open.iter().for_each(|session| session.end());
        self.host.consent.end_chat(id);
        let stored = self.store.remove(id).await.map_err(|error| unstored(&error))?;
        Ok(stored || open.is_some())
    }

    /// A client has gone. The private sessions that it began are forgotten after a while, unless somebody
    /// goes on with them. They are in no list of files.
    pub fn client_has_left(self: &Rc<Self>, client: u64) {
        let (agent, left) = (self.clone(), Instant::now());
        let its = self
            .open
            .borrow()
            .values()
            .filter(|session| session.is_private_of(client))
            .cloned()
            .collect::<Vec<_>>();
        if its.is_empty() {
            return;
        }
        tokio::task::spawn_local(async move {
            tokio::time::sleep(LEFT_BEHIND).await;
            for session in its.iter().filter(|session| session.is_left_behind(left)) {
                agent.open.borrow_mut().remove(&session.id);
                session.end();
                agent.host.consent.end_chat(&session.id);
            }
        });
    }

    /// The way of keeping secrets has changed: sessions are kept in the same way.
    ///
    /// # Errors
    /// When one cannot be written anew.
    pub async fn seal_all(&self) -> Result<(), ErrorBody> {
        self.store.seal_all().await.map_err(|error| unstored(&error))
    }

    /// How many turns are under way.
    #[must_use]
    pub fn turns(&self) -> usize {
        self.open.borrow().values().filter(|session| session.ongoing().is_some()).count()
    }

    fn keep(&self, session: &Rc<Session>) {
        let mut open = self.open.borrow_mut();
        let is_idle = |session: &Rc<Session>| {
            Rc::strong_count(session) == 1 && session.ongoing().is_none() && !session.head.borrow().private
        };
        let idle: Vec<_> = open.values().filter(|session| is_idle(session)).cloned().collect();
        if idle.len() > IDLE
            && let Some(oldest) = idle.iter().min_by_key(|session| session.head.borrow().updated)
        {
            open.remove(&oldest.id);
        }
        open.insert(session.id.clone(), session.clone());
    }
}

/// A session with its messages, as `chat_get_session` gives it and as its file has it.
pub fn whole(session: &Session) -> ChatGetSessionResult {
    let messages = session.messages.borrow().iter().cloned().map(written).collect();
    ChatGetSessionResult { session: session.view(), messages }
}

/// A session as its file has it, with the current round.
pub(super) fn text(session: &Session) -> Vec<u8> {
    let mut whole = whole(session);
    whole.messages.extend(session.under_way.borrow().iter().cloned().map(written));
    let mut text = Vec::new();
    put_object(&mut text, &whole);
    text
}

/// A session from its file. Parts that a killed bridge has left incomplete are made whole.
fn read(text: &[u8]) -> Option<Rc<Session>> {
    let text = std::str::from_utf8(text).ok()?;
    let ChatGetSessionResult { session, messages: said } = read_object(text).ok()?;
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
    };
    let said = if said.is_empty() { Vec::new() } else { messages(None, said).ok()? };
    Some(Session::new(session.id, head, mended(said)))
}

/// The part of a session that can be read from its file.
fn read_in_part(text: &[u8]) -> Option<Rc<Session>> {
    whole_part(text)?.longest(|text| read(text.as_bytes()))
}

/// True if `id` has the form of a session's id, which is no path.
fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn no_session(id: &str) -> ErrorBody {
    ErrorBody::new(Code::NotFound, format!("there is no session {id:.64}; `harbor sessions` lists them"))
}

fn broken(id: &str) -> ErrorBody {
    let message = format!(
        "the session {id} cannot be read, since its file is damaged; `harbor sessions delete {id}` removes it"
    );
    ErrorBody::new(Code::Internal, message)
}

fn unstored(error: &StoreError) -> ErrorBody {
    let code = if matches!(error, StoreError::Locked(_)) { Code::SecretsLocked } else { Code::Internal };
    ErrorBody::new(code, format!("could not {error}"))
}
