//! What waits for a person's yes: repositories that were read, versions that were found out, and upgrades that were tried out.
//!
//! ```text
//!  look ─► Looked ─► plan ─► Planned ─► installed as it was planned, or tried out ─► Alone, Tried ─► used
//! ```
//!
//! Owns that it is its client's alone, and goes with it. Must never be taken for a yes.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use harbor_ipc_proto::client::UpgradeView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::Package;
use harbor_policy::package::older::Unfit;

use super::client::Client;
use super::sources::Looked;
use crate::store::locks::Lock;
use crate::supervisor::{Installed, Plan, Trial};

/// How much of one client waits; the oldest goes.
const MOST: usize = 8;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Staged {
    waiting: RefCell<Vec<Waiting>>,
    last: Cell<u64>,
}

#[derive(Debug)]
struct Waiting {
    client: Weak<Client>,
    /// Its server; none of what has no name yet.
    id: Option<ServerId>,
    token: String,
    what: What,
}

/// What waits.
#[derive(Debug)]
pub(super) enum What {
    /// What a repository or a manifest says.
    Looked(Rc<Looked>),
    /// Nothing of it has run.
    Planned(Box<Planned>),
    /// It is installed, and does not do with nothing of the person's.
    Alone(Trial),
    /// It has listed its tools.
    Tried(Box<Tried>),
}

/// The versions of a package.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    /// What was asked for.
    pub wanted: Package,
    /// The same, of git at its commit once that is known.
    pub package: Package,
    /// All of it; none before something is built.
    pub lock: Option<Rc<Lock>>,
    /// Of an upgrade: the newest version, where that is another one.
    pub unfit: Unfit,
    /// Of an upgrade: somebody has named the version.
    pub is_named: bool,
    /// Where its repository or manifest was read: what that said.
    pub looked: Option<Rc<Looked>>,
}

/// An upgrade that was tried out.
#[derive(Debug)]
pub(super) struct Tried {
    pub installed: Installed,
    pub view: UpgradeView,
    pub trial: Trial,
}

impl Planned {
    /// Nothing is known yet.
    pub(super) fn of(package: Package) -> Self {
        let unfit = Unfit::default();
        Self { wanted: package.clone(), package, lock: None, unfit, is_named: false, looked: None }
    }

    /// What was found out.
    pub(super) fn with(self, plan: Plan) -> Self {
        match plan {
            Plan::Locked(lock) => Self { lock: Some(lock), ..self },
            Plan::NeedsBuild { commit } => {
                let package = commit.and_then(|commit| self.package.exactly(&commit));
                Self { package: package.unwrap_or(self.package), lock: None, ..self }
            }
        }
    }
}

impl Staged {
    /// Keeps something for a client, in the place of what it had of this server; by what it can be named.
    pub(super) fn keep<'i>(
        &self,
        client: &Rc<Client>,
        id: impl Into<Option<&'i ServerId>>,
        what: What,
    ) -> String {
        let id = id.into().cloned();
        self.last.set(self.last.get() + 1);
        let token = self.last.get().to_string();
        let mine = id.clone();
        let waiting = Waiting { client: Rc::downgrade(client), id, token: token.clone(), what };
        let mut all = self.waiting.borrow_mut();
        let mut gone: Vec<_> =
            all.extract_if(.., |one| one.is_of(client) && mine.is_some() && one.id == mine).collect();
        let others = all.iter().filter(|one| one.is_of(client)).count();
        if others >= MOST
            && let Some(oldest) = all.iter().position(|one| one.is_of(client))
        {
            gone.push(all.remove(oldest));
        }
        all.push(waiting);
        drop(all);
        drop(gone);
        token
    }

    /// A client has gone: what it has not said yes to goes, too.
    pub(super) fn forget(&self, client: &Client) {
        self.drop_if(|one| one.is_of(client));
    }

    /// Somebody does something else with this server.
    pub(super) fn drop_of(&self, id: &ServerId) {
        self.drop_if(|one| one.id.as_ref() == Some(id));
    }

    /// What goes is dropped once nobody looks at the others.
    fn drop_if(&self, is_gone: impl Fn(&Waiting) -> bool) {
        let gone: Vec<_> = self.waiting.borrow_mut().extract_if(.., |one| is_gone(one)).collect();
        drop(gone);
    }

    /// What was planned; it goes on waiting, as an installation may be tried again.
    pub(super) fn planned(&self, client: &Client, id: &ServerId, token: &str) -> Option<Planned> {
        let all = self.waiting.borrow();
        all.iter().find(|one| one.is(client, id, token)).and_then(|one| match &one.what {
            What::Planned(planned) => Some(Planned::clone(planned)),
            What::Looked(_) | What::Alone(_) | What::Tried(_) => None,
        })
    }

    /// What a repository or a manifest said, by its own token or that of a plan that was made of it.
    pub(super) fn looked(&self, client: &Client, token: &str) -> Option<Rc<Looked>> {
        let all = self.waiting.borrow();
        all.iter().find(|one| one.is_of(client) && one.token == token).and_then(|one| match &one.what {
            What::Looked(looked) => Some(looked.clone()),
            What::Planned(planned) => planned.looked.clone(),
            What::Alone(_) | What::Tried(_) => None,
        })
    }

    /// Takes out what is named.
    pub(super) fn take(&self, client: &Client, id: &ServerId, token: &str) -> Option<What> {
        let mut all = self.waiting.borrow_mut();
        let at = all.iter().position(|one| one.is(client, id, token))?;
        Some(all.remove(at).what)
    }
}

impl Waiting {
    fn is_of(&self, client: &Client) -> bool {
        std::ptr::eq(self.client.as_ptr(), client)
    }

    fn is(&self, client: &Client, id: &ServerId, token: &str) -> bool {
        self.is_of(client) && self.id.as_ref() == Some(id) && self.token == token
    }
}

/// What is named does not wait any more.
pub(super) fn gone(field: &'static str) -> ErrorBody {
    let message = "what was looked up is no longer available, or belongs to something else; start again";
    ErrorBody::new(Code::InvalidParams, message).with("field", field)
}
