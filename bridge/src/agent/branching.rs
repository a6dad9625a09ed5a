//! Branches: sessions that go on from an earlier point of another one.
//!
//! ```text
//!  root: 0 1 2 3 4 ─► branch at 2: 0 1 │ its own messages          its id ends like that of the root
//! ```
//!
//! Owns what a branch takes over, and who belongs to its family. The family is found by the names of the files, so that nobody
//! has to read all of them, nor keep a list. Must never change the session that it comes from.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{BranchView, ChatSessionView};
use harbor_ipc_proto::model::Role;

use super::Agent;
use super::session::{BranchPoint, Session, SessionHead};
use super::sessions::{fresh_id, unstored};
use super::transcript::view_of;
use crate::host::invalid;

/// How much of the root's id stands at the end of the ids of its branches.
const TAIL: usize = 16;

impl Agent {
    /// Begins a branch of a session, with its messages before the one with this number.
    ///
    /// # Errors
    /// When that is no message of the person's, or the branch cannot be written down.
    pub async fn branch(self: &Rc<Self>, from: &Rc<Session>, at: u64) -> Result<Rc<Session>, ErrorBody> {
        let messages = {
            let all = from.messages.borrow();
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            if all.get(at).is_none_or(|message| message.role != Role::User) {
                let expected = "the number of a message of the person's in this session, from 0 as in `messages` of \
                                chat_get_session";
                return Err(invalid("message_id", expected));
            }
            all[..at].to_vec()
        };
        let head = {
            let head = from.head.borrow();
            let root = head.root(&from.id).to_owned();
            SessionHead {
                name: head.name.clone(),
                servers: head.servers.clone(),
                system: head.system.clone(),
                model: head.model.clone(),
                read: from.chat.read(),
                branch: Some(BranchPoint { root, at }),
                ..SessionHead::new(head.mode, head.private)
            }
        };
        let root = head.root(&from.id).to_owned();
        let id = format!("{}{}", fresh_id()?, tail(&root));
        let session = Session::sharing(id, head, messages, from.kept.clone());
        self.begin(&session).await?;
        Ok(session)
    }

    /// All sessions of a session's family, the oldest first.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub async fn family(&self, session: &Session) -> Result<Vec<BranchView>, ErrorBody> {
        let root = session.head.borrow().root(&session.id).to_owned();
        let open: Vec<_> = self.open.borrow().values().map(|open| open.view()).collect();
        let mut family: Vec<_> = open.into_iter().filter(|view| is_of(view, &root)).collect();
        if !session.head.borrow().private {
            let ids = self.store.ids_like(tail(&root)).await.map_err(|error| unstored(&error))?;
            for id in ids {
                if family.iter().any(|known| known.id == id) {
                    continue;
                }
                // A file that cannot be read is told in the list of all sessions.
                let read = self.store.read_with(&id, |file| view_of(&file)).await;
                family.extend(read.ok().flatten().flatten().filter(|view| is_of(view, &root)));
            }
        }
        if !family.iter().any(|known| known.id == session.id) {
            family.push(session.view());
        }
        family.sort_by(|a, b| a.createdAt.cmp(&b.createdAt).then_with(|| a.branchAt.cmp(&b.branchAt)));
        Ok(family.into_iter().map(branch_view).collect())
    }
}

fn branch_view(ChatSessionView { id, name, branchAt, updatedAt, .. }: ChatSessionView) -> BranchView {
    BranchView { id, name, branchAt, updatedAt }
}

fn is_of(view: &ChatSessionView, root: &str) -> bool {
    view.id == root || view.branchOf.as_deref() == Some(root)
}

/// The end of an id, which has letters and digits only.
fn tail(id: &str) -> &str {
    &id[id.len().saturating_sub(TAIL)..]
}
