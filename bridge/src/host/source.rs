//! The seam to everything that has tools: servers today; browsers, pages and runtimes on the same way.
//!
//! ```text
//!  host ─► Sources ─ by id ─► ToolSource ◄── Server          (below a runner)
//!                                        ◄── whatever is added while it lives: a guard takes it out again
//! ```
//!
//! Owns the one place that calls a source ([`call`]). Permit, slot, pin, limit, audit and counts belong to the host, and
//! are the same for every kind. Must never hold what only one kind has: that stays behind the trait.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::facts::Holding;
use harbor_policy::consent::{Names, Permit};
use harbor_policy::slots::Slot;

use super::consent::requested_call::{About, RequestedCall};
use crate::link::{Audience, Failure, ServerAnswer, TimeLimit, ToolList};
use crate::supervisor::{
    NoInstance, RemarkedOutcome, Server, Supervisor, UnansweredReason, Unavailable, User,
};

/// A future that a source returns.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The time limit of a call that names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultTime {
    /// The time without a sign of progress.
    pub timeout: Duration,
    /// True if the person has set it for this source; then no setting of an origin changes it.
    pub is_set: bool,
}

/// The calls that one call stands for, made one after the other.
pub trait Steps {
    /// The next call, a tool of the same source and its arguments. None once nothing is left, or one has ended all.
    fn next(&mut self) -> Option<(Arc<str>, String)>;

    /// Takes what came of it.
    fn take(&mut self, came: Result<Json, ErrorBody>);

    /// No time is left for the calls that have not been made.
    fn run_out(&mut self);

    /// MCP's CallToolResult of all of it.
    fn whole(self: Box<Self>) -> Json;
}

/// Something that has tools.
pub trait ToolSource: Debug {
    /// Its id; it never changes.
    fn id(&self) -> SourceId;

    /// Its name for people.
    fn label(&self) -> String;

    /// Its state as clients see it: `running`, or why it is not. What is no process runs as long as it is there; the same
    /// holds for those below.
    fn state(&self) -> &'static str {
        "running"
    }

    /// The present tools of the source. None while it does not run, or has not listed them.
    fn tools(&self) -> Option<Rc<ToolList>>;

    /// Its tools as last listed, even if it has ended since.
    fn known_tools(&self) -> Option<Rc<ToolList>> {
        self.tools()
    }

    /// True while its tools are being listed.
    fn is_listing(&self) -> bool {
        false
    }

    /// True if it does not run, and the next call starts it.
    fn wakes_on_demand(&self) -> bool {
        false
    }

    /// The state of the source while it does not run and no call starts it; none otherwise.
    fn at_rest(&self) -> Option<Unavailable> {
        None
    }

    /// Begins to start a source that is at rest. One that cannot be started stays as it is.
    fn start(self: Rc<Self>) {}

    /// How long a call may take.
    fn default_time(&self) -> DefaultTime;

    /// A place for one more open request. None if the source has as many as it takes.
    fn slot(&self) -> Option<Slot>;

    /// Waits until it runs and its tools are listed. The time is taken off `limit`. The error says why it
    /// cannot be called.
    fn ready<'a>(self: Rc<Self>, _limit: &'a mut TimeLimit) -> Answering<'a, Result<(), Unavailable>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Waits until a listing in progress has ended, with a bound of its own. The time is taken off `limit`.
    fn listed<'a>(self: Rc<Self>, _limit: &'a mut TimeLimit) -> Answering<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Has its tools listed anew, after a call that was refused for something that its list says by now, and
    /// waits as above. True if that can help.
    fn relisted<'a>(self: Rc<Self>, _limit: &'a mut TimeLimit) -> Answering<'a, bool> {
        Box::pin(std::future::ready(false))
    }

    /// The instance of the source for `user`, if each user has one. None if this source itself answers. The
    /// time is taken off `limit`.
    fn instance_for<'a>(
        self: Rc<Self>,
        _user: User<'a>,
        _limit: &'a mut TimeLimit,
    ) -> Answering<'a, Result<Option<Rc<dyn ToolSource>>, NoInstance>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// The data that the source can reach, open and write now, whatever anybody says.
    fn holding<'a>(self: Rc<Self>) -> Answering<'a, Holding>;

    /// Facts for consent about one call of it.
    fn about(&self, _wish: &RequestedCall<'_>) -> About {
        About::default()
    }

    /// The files of the person's that Harbor itself hands over by one call of it, in words for the person. They are asked
    /// about first.
    fn files<'a>(self: Rc<Self>, _wish: &'a RequestedCall<'a>) -> Answering<'a, Names> {
        Box::pin(std::future::ready(Names::new()))
    }

    /// The calls that a call stands for. None if it is one call itself.
    fn steps(&self, _tool: &str, _arguments: &str) -> Option<Result<Box<dyn Steps>, Failure>> {
        None
    }

    /// Its name, if it is an instance.
    fn instance(&self) -> Option<Arc<str>> {
        None
    }

    /// Notes on the outcome of a call for those who may know of this machine, a sentence each. `to_person`:
    /// not for a model.
    fn beside<'a>(
        self: Rc<Self>,
        _arguments: &'a str,
        _came: &'a RemarkedOutcome,
        _to_person: bool,
    ) -> Answering<'a, Vec<String>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Asks the source. Permit and slot are given up here. Dropping the future, or the end of `limit`,
    /// cancels the call. The error says why there is no answer.
    fn call<'a>(
        self: Rc<Self>,
        permit: Permit,
        slot: Slot,
        operation: Operation<'a>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Answering<'a, Result<ServerAnswer, UnansweredReason>>;
}

impl ToolSource for Server {
    fn relisted<'a>(self: Rc<Self>, limit: &'a mut TimeLimit) -> Answering<'a, bool> {
        Box::pin(async move { Server::relisted(&self, limit).await })
    }

    fn id(&self) -> SourceId {
        SourceId::from(self.id())
    }

    fn label(&self) -> String {
        self.label()
    }

    fn state(&self) -> &'static str {
        self.state().as_str()
    }

    fn tools(&self) -> Option<Rc<ToolList>> {
        self.tools()
    }

    fn known_tools(&self) -> Option<Rc<ToolList>> {
        self.known_tools()
    }

    fn is_listing(&self) -> bool {
        self.is_listing()
    }

    fn wakes_on_demand(&self) -> bool {
        self.wakes_on_demand()
    }

    fn at_rest(&self) -> Option<Unavailable> {
        self.at_rest()
    }

    fn start(self: Rc<Self>) {
        self.expect_start();
        tokio::task::spawn_local(async move { self.start_in_turn().await });
    }

    fn default_time(&self) -> DefaultTime {
        let is_set = self.definition().supervision.call_timeout_ms.is_some();
        DefaultTime { timeout: self.settings().call_timeout, is_set }
    }

    fn slot(&self) -> Option<Slot> {
        self.slot()
    }

    fn ready<'a>(self: Rc<Self>, limit: &'a mut TimeLimit) -> Answering<'a, Result<(), Unavailable>> {
        Box::pin(async move { Server::ready(&self, limit).await })
    }

    fn listed<'a>(self: Rc<Self>, limit: &'a mut TimeLimit) -> Answering<'a, ()> {
        Box::pin(async move { Server::listed(&self, limit).await })
    }

    fn instance_for<'a>(
        self: Rc<Self>,
        user: User<'a>,
        limit: &'a mut TimeLimit,
    ) -> Answering<'a, Result<Option<Rc<dyn ToolSource>>, NoInstance>> {
        Box::pin(async move {
            let instance = Server::instance_for(&self, user, limit).await?;
            Ok(instance.map(|instance| instance as Rc<dyn ToolSource>))
        })
    }

    fn holding<'a>(self: Rc<Self>) -> Answering<'a, Holding> {
        Box::pin(async move { Server::holding(&self).await })
    }

    fn instance(&self) -> Option<Arc<str>> {
        self.instance()
    }

    fn beside<'a>(
        self: Rc<Self>,
        arguments: &'a str,
        came: &'a RemarkedOutcome,
        to_person: bool,
    ) -> Answering<'a, Vec<String>> {
        Box::pin(async move { Server::beside(&self, arguments, came, to_person).await })
    }

    fn call<'a>(
        self: Rc<Self>,
        permit: Permit,
        slot: Slot,
        operation: Operation<'a>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Answering<'a, Result<ServerAnswer, UnansweredReason>> {
        Box::pin(async move { Server::call(&self, permit, slot, operation, limit, audience).await })
    }
}

/// Calls a source. Nothing else does. A permit for one kind is not valid for another.
///
/// # Errors
/// Why there is no answer.
pub(super) async fn call(
    source: Rc<dyn ToolSource>,
    (permit, slot): (Permit, Slot),
    operation: Operation<'_>,
    limit: TimeLimit,
    audience: Audience,
) -> Result<ServerAnswer, UnansweredReason> {
    match permit.is_for(source.id().kind()) {
        true => source.call(permit, slot, operation, limit, audience).await,
        false => Err(UnansweredReason::NotPermitted),
    }
}

/// All sources.
#[derive(Debug)]
pub struct Sources {
    supervisor: Rc<Supervisor>,
    others: RefCell<BTreeMap<SourceId, Rc<dyn ToolSource>>>,
}

/// While this exists, a source is there.
#[derive(Debug)]
pub struct SourceGuard {
    sources: Rc<Sources>,
    id: SourceId,
}

impl Drop for SourceGuard {
    fn drop(&mut self) {
        self.sources.others.borrow_mut().remove(&self.id);
    }
}

impl Sources {
    /// The servers of `supervisor`, without other sources.
    pub(super) fn new(supervisor: Rc<Supervisor>) -> Rc<Self> {
        Rc::new(Self { supervisor, others: RefCell::default() })
    }

    /// The source with this id.
    pub(super) fn get(&self, id: &SourceId) -> Option<Rc<dyn ToolSource>> {
        match id.as_server() {
            Some(server) => self.supervisor.get(&server).map(|server| server as _),
            None => self.others.borrow().get(id).cloned(),
        }
    }

    /// All of them: servers by id, then the others.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<dyn ToolSource>> {
        let servers = self.supervisor.all().into_iter().map(|server| server as _);
        servers.chain(self.others.borrow().values().cloned()).collect()
    }

    /// Adds a source that is no server, until the guard is dropped. None if its id is a server's, or is
    /// taken.
    pub(super) fn add(self: &Rc<Self>, source: Rc<dyn ToolSource>) -> Option<SourceGuard> {
        let id = source.id();
        let mut others = self.others.borrow_mut();
        if id.as_server().is_some() || others.contains_key(&id) {
            return None;
        }
        others.insert(id.clone(), source);
        Some(SourceGuard { sources: self.clone(), id })
    }
}
