//! All sessions: begun, found, changed, written down and deleted.
//!
//! Owns their ids, which nobody can guess, and the rule that a private session is never written down. Sessions that
//! nobody uses are not kept in memory.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_home::instance::random_token;
use harbor_ipc_proto::client::SessionUpdates;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

use super::Agent;
use super::refusals::{busy, internal};
use super::session::{Session, SessionHead};
use super::transcript::{StoredSession, text};
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
    pub async fn begin(self: &Rc<Self>, session: &Rc<Session>) -> Result<(), ErrorBody> {
        // If it cannot be written, there is no session.
        if !session.head.borrow().private {
            self.store.write(&session.id, text(session)).await.map_err(|error| unstored(&error))?;
        }
        self.keep(session);
        Ok(())
    }

    /// Begins a session without messages.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub async fn begin_new(self: &Rc<Self>, head: SessionHead) -> Result<Rc<Session>, ErrorBody> {
        let session = Session::new(fresh_id()?, head, Vec::new());
        self.begin(&session).await?;
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
        let read = self.store.read_with(id, |file| StoredSession::read(&file)).await;
        let stored = read.map_err(|error| unstored(&error))?.ok_or_else(|| no_session(id))?;
        let stored = stored.ok_or_else(|| broken(id))?;
        if stored.is_part {
            // The next save writes over it.
            self.store.keep_damaged(id).await.map_err(|error| unstored(&error))?;
        }
        let session = stored.open();
        // Another request may have opened it meanwhile.
        let open = self.open.borrow().get(id).cloned();
        Ok(open.unwrap_or_else(|| {
            self.keep(&session);
            session
        }))
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

/// An id that nobody can guess.
pub(super) fn fresh_id() -> Result<String, ErrorBody> {
    let id = random_token().map_err(|error| internal(&error))?;
    Ok(id[..16].to_owned())
}

/// True if `id` has the form of a session's id, which is no path.
fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn no_session(id: &str) -> ErrorBody {
    ErrorBody::new(Code::NotFound, format!("there is no session {id:.64}; `harbor sessions` lists them"))
}

pub(super) fn broken(id: &str) -> ErrorBody {
    let message = format!(
        "the session {id} cannot be read, since its file is damaged; `harbor sessions delete {id}` removes it"
    );
    ErrorBody::new(Code::Internal, message)
}

pub(super) fn unstored(error: &StoreError) -> ErrorBody {
    let code = if matches!(error, StoreError::Locked(_)) { Code::SecretsLocked } else { Code::Internal };
    ErrorBody::new(code, format!("could not {error}"))
}
