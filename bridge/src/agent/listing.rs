//! The list of all sessions, and the search in them.
//!
//! ```text
//!  ids, the last used one first ─► file ─► another thread: read, searched, let go ─► its view, its excerpt
//!  sessions in memory ─────────► a copy of what was said ─► another thread: searched ─┘
//! ```
//!
//! Owns the bounds of a search: one session is in memory at a time, and it ends with its request or after its time. Must never
//! write down a word of what it reads: there is no index.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::ChatSessionView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::model::{ModelMessage, Part};
use harbor_policy::search::{Query, SearchLook};
use harbor_policy::untrusted::inside;

use super::Agent;
use super::sessions::{broken, unstored};
use super::transcript::StoredSession;

/// How long a search may take.
const LONGEST: Duration = Duration::from_secs(10);

/// The sessions that were found.
#[derive(Debug, Default)]
pub struct SessionList {
    /// Each with its excerpt, in a search.
    pub found: Vec<(ChatSessionView, Option<String>)>,
    /// Files that cannot be read, a sentence each.
    pub unreadable: Vec<String>,
    /// True if not all of them were read.
    pub is_partial: bool,
}

/// A search that is under way. When it is dropped, the thread that reads for it stops soon.
struct Search {
    query: Arc<Query>,
    until: Instant,
    is_over: Arc<AtomicBool>,
}

impl Drop for Search {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// The part of a search that another thread has.
#[derive(Clone)]
struct Searching {
    query: Arc<Query>,
    until: Instant,
    is_over: Arc<AtomicBool>,
}

impl Search {
    fn new(query: Query) -> Self {
        Self { query: Arc::new(query), until: Instant::now() + LONGEST, is_over: Arc::default() }
    }

    fn part(&self) -> Searching {
        Searching { query: self.query.clone(), until: self.until, is_over: self.is_over.clone() }
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }
}

impl Searching {
    /// The excerpt, if the session has all words.
    fn in_session(&self, name: &str, messages: &[ModelMessage]) -> Option<String> {
        let mut look = self.query.look();
        for part in messages.iter().flat_map(|message| &message.parts) {
            if look.is_done() || self.is_over.load(Ordering::Relaxed) || Instant::now() >= self.until {
                break;
            }
            look_at(&mut look, part);
        }
        look.at(name);
        look.found()
    }
}

/// Looks at what people see of a part.
fn look_at(look: &mut SearchLook<'_>, part: &Part) {
    match part {
        Part::Text(text) | Part::Reasoning(text) => look.at(text),
        Part::Attached(attached) => {
            look.at(&attached.text);
            look.at(&attached.title);
            attached.url.iter().for_each(|url| look.at(url));
        }
        Part::ToolCall(call) => look.at(&call.name),
        Part::ToolResult(result) => look.at(inside(&result.text)),
        Part::Image(_) | Part::Opaque(_) => {}
    }
}

/// The facts that another thread has read from a file.
struct SessionSeen {
    view: ChatSessionView,
    is_part: bool,
    /// Without a search: that it is there.
    hit: Option<Option<String>>,
}

fn seen(file: &[u8], search: Option<&Searching>) -> Option<SessionSeen> {
    let stored = StoredSession::read(file)?;
    let view = stored.view();
    let hit = match search {
        Some(search) => search.in_session(&view.name, &stored.messages).map(Some),
        None => Some(None),
    };
    Some(SessionSeen { view, is_part: stored.is_part, hit })
}

impl Agent {
    /// All sessions, or those in which a query is found, in no order.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub async fn sessions(&self, query: Option<Query>) -> Result<SessionList, ErrorBody> {
        let search = query.map(Search::new);
        // Whoever is held here stays in memory until the end.
        let in_memory: BTreeMap<_, _> = self.open.borrow().clone();
        let mut list = SessionList::default();
        let mut found = BTreeMap::new();
        for id in self.store.ids().await.map_err(|error| unstored(&error))? {
            if in_memory.contains_key(&id) {
                continue;
            }
            if search.as_ref().is_some_and(Search::is_late) {
                list.is_partial = true;
                break;
            }
            let part = search.as_ref().map(Search::part);
            match self.store.read_with(&id, move |file| seen(&file, part.as_ref())).await {
                Ok(None) => {}
                Ok(Some(Some(SessionSeen { view, is_part, hit }))) => {
                    if is_part {
                        list.unreadable.push(damaged(&id, view.messageCount));
                    }
                    if let Some(excerpt) = hit {
                        found.insert(id, (view, excerpt));
                    }
                }
                Ok(Some(None)) => list.unreadable.push(broken(&id).message),
                Err(error) => list.unreadable.push(format!("{id}: {error}")),
            }
        }
        let open: Vec<_> = self.open.borrow().values().cloned().collect();
        for session in open {
            let is_private = session.head.borrow().private;
            let excerpt = match &search {
                // No search finds a private session: an excerpt would show it to whoever looks for something else.
                Some(_) if is_private => None,
                Some(search) => {
                    let (part, name) = (search.part(), session.head.borrow().name.clone());
                    let messages = session.messages.borrow().clone();
                    let hit = tokio::task::spawn_blocking(move || part.in_session(&name, &messages)).await;
                    list.is_partial |= search.is_late();
                    hit.ok().flatten().map(Some)
                }
                None => Some(None),
            };
            found.remove(&session.id);
            if let Some(excerpt) = excerpt.filter(|_| !session.is_gone()) {
                found.insert(session.id.clone(), (session.view(), excerpt));
            }
        }
        list.found = found.into_values().collect();
        Ok(list)
    }
}

fn damaged(id: &str, said: u64) -> String {
    format!(
        "the file of session {id} is damaged: only its first {said} messages are readable; when you use the session, \
         Harbor keeps the old file as {id}.json.damaged"
    )
}
