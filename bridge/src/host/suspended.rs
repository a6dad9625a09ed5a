//! Servers whose name now belongs to another program than the one that was accepted.
//!
//! ```text
//!  a server is defined ─► the accepted program? ─ yes ─► nothing
//!                                 └─ another one ─► suspended: origins get `server_changed`, old secrets are withheld
//!                                                   └─ the person accepts it, or the accepted program is back ─► ends
//!
//!  an AI client comes first, with `--only t/*` ─► had `t` another program since it was last accepted? ─ yes ─► suspended
//! ```
//!
//! Owns which servers are suspended. Must never accept a program by itself if the one before was given anything.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::ServerChange;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;

use super::origin_refusals::server_changed;
use crate::store::StoreError;
use crate::store::programs::{Accepted, AcceptedPrograms, EARLIER, Former, digest};
use crate::supervisor::Server;

/// The suspended servers.
#[derive(Debug)]
pub struct Suspended {
    file: AcceptedPrograms,
    /// The program that was accepted for each name, and the time since which another one runs under it.
    accepted: RefCell<HashMap<ServerId, (String, Option<u64>)>>,
    /// The digests of the programs that each name had before, each with the time of its end.
    former: RefCell<HashMap<ServerId, HashMap<String, u64>>>,
    /// The suspended servers. Mostly there are none, and each call of an origin looks here.
    now: RefCell<BTreeMap<SourceId, Other>>,
}

/// A program in the place of another one.
#[derive(Debug, Clone)]
struct Other {
    before: String,
    after: String,
    since: u64,
}

impl Suspended {
    pub(super) async fn open(file: AcceptedPrograms) -> Result<Rc<Self>, StoreError> {
        let rows = file.all().await?.into_iter();
        let accepted =
            rows.map(|Accepted { server_id, program, other_since }| (server_id, (program, other_since)));
        let accepted = RefCell::new(accepted.collect());
        let mut former: HashMap<_, HashMap<_, _>> = HashMap::new();
        for Former { server_id, digest, until } in file.former().await? {
            former.entry(server_id).or_default().insert(digest, until);
        }
        Ok(Rc::new(Self { file, accepted, former: former.into(), now: RefCell::default() }))
    }

    /// Checks that the server is not suspended, so that the grants for its name count.
    ///
    /// # Errors
    /// Why origins may not use it.
    pub(super) fn admit(&self, source: &SourceId) -> Result<(), ErrorBody> {
        if self.has(source) { Err(server_changed(source)) } else { Ok(()) }
    }

    /// True if a source is suspended.
    pub(super) fn has(&self, source: &SourceId) -> bool {
        let now = self.now.borrow();
        !now.is_empty() && now.contains_key(source)
    }

    /// A server has a definition, which may differ from the one before. Its old secrets are withheld while it
    /// is suspended.
    pub(super) fn on_defined(&self, server: &Server) {
        let (id, program) = (server.id(), server.definition().program());
        let mut accepted = self.accepted.borrow_mut();
        let first = || match self.other_until(id, &program) {
            Some(_) => (EARLIER.to_owned(), None),
            None => (program.clone(), None),
        };
        let (before, since) = accepted.entry(id.clone()).or_insert_with(first);
        // Grants to a program that was not accepted do not pass to the next one.
        if self.now.borrow().get(&SourceId::from(id)).is_some_and(|last| last.after != program) {
            *since = None;
        }
        let other = (*before != program).then(|| Other {
            before: before.clone(),
            after: program,
            since: *since.get_or_insert_with(wall_clock),
        });
        if other.is_none() {
            *since = None;
        }
        drop(accepted);
        server.withhold_secrets(other.as_ref().map(|other| other.since));
        let mut now = self.now.borrow_mut();
        match other {
            Some(other) => drop(now.insert(id.into(), other)),
            None => drop(now.remove(&SourceId::from(id))),
        }
    }

    /// The name has no server any more. Its programs are remembered.
    pub(super) fn forget(&self, id: &ServerId) {
        let accepted = self.accepted.borrow_mut().remove(id).map(|(program, _)| program);
        let other = self.now.borrow_mut().remove(&SourceId::from(id)).map(|other| other.after);
        accepted.iter().chain(&other).for_each(|program| self.remember(id, program));
    }

    fn remember(&self, id: &ServerId, program: &str) {
        if program != EARLIER {
            let mut former = self.former.borrow_mut();
            former.entry(id.clone()).or_default().insert(digest(program), wall_clock());
        }
    }

    /// The time until which a name had another program than this one, if it had.
    fn other_until(&self, id: &ServerId, program: &str) -> Option<u64> {
        let (former, this) = (self.former.borrow(), digest(program));
        former.get(id)?.iter().filter(|(other, _)| **other != this).map(|(_, until)| *until).max()
    }

    /// Notes that an AI client was configured with this name at an unknown time. If the name ever had another
    /// program, the person must accept this one.
    pub(super) async fn on_named(&self, server: &Server) -> Result<(), StoreError> {
        let id = server.id();
        if self.has(&id.into()) {
            return Ok(());
        }
        let Some(until) = self.other_until(id, &server.definition().program()) else { return Ok(()) };
        self.file.suspend(id, until).await?;
        self.accepted.borrow_mut().insert(id.clone(), (EARLIER.to_owned(), Some(until)));
        self.on_defined(server);
        Ok(())
    }

    /// The change of a server that the person must accept.
    pub(super) fn change(&self, source: &SourceId) -> Option<ServerChange> {
        self.now.borrow().get(source).map(|other| change(source, other))
    }

    /// All changes, or those of one source.
    pub(super) fn changes(&self, only: Option<&SourceId>) -> Vec<ServerChange> {
        let now = self.now.borrow();
        let meant = now.iter().filter(|(source, _)| only.is_none_or(|only| only == *source));
        meant.map(|(source, other)| change(source, other)).collect()
    }

    /// Accepts a program: the person's decision.
    pub(super) async fn accept(&self, server: &Server, program: String) -> Result<(), StoreError> {
        self.file.accept(server.id(), &program).await?;
        self.former.borrow_mut().remove(server.id());
        self.runs(server, program);
        Ok(())
    }

    /// Accepts a program without the person, since the program before was given nothing.
    pub(super) async fn settle(&self, server: &Server, program: String) -> Result<(), StoreError> {
        let id = server.id();
        self.file.settle(id, &program).await?;
        let before = self.accepted.borrow().get(id).map(|(before, _)| before.clone());
        before.iter().for_each(|before| self.remember(id, before));
        self.runs(server, program);
        Ok(())
    }

    fn runs(&self, server: &Server, program: String) {
        self.accepted.borrow_mut().insert(server.id().clone(), (program, None));
        self.on_defined(server);
    }
}

fn change(source: &SourceId, other: &Other) -> ServerChange {
    let Other { before, after, since } = other.clone();
    ServerChange { server_id: source.to_string(), before, after, since }
}
