//! What an origin may know of: tools, the other things that servers offer, and the servers themselves.
//!
//! Owns which of them are shown. Whatever the grants do not cover does not exist for the origin that asks.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{OffersView, UsableServer};
use harbor_ipc_proto::json::{Json, Pieces};
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::browser_tools::is_by_name;
use harbor_policy::grants::{SourceView, View};
use harbor_policy::lifecycle::State;
use harbor_policy::limiter::CallLimits;
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::EVERY;

use super::Host;
use super::admission::Entrant;
use super::asker::{Asker, Caller};
use super::origin_refusals::too_many_lists;
use super::registry::{ToolListing, asking_first};
use super::source::ToolSource;
use crate::config::{Feature, FirstUse};
use crate::supervisor::{Fetched, ListKind, Server};

/// The tools that an asker may see.
struct Sight {
    list: View,
    call: View,
}

impl Sight {
    fn of_source(&self, source: &SourceId) -> SourceSight<'_> {
        let restricts = self.call.any() || self.call.denied();
        let call = restricts.then(|| self.call.of_source(source));
        SourceSight { list: self.list.of_source(source), call }
    }
}

/// The tools of one source that an asker may see.
struct SourceSight<'a> {
    list: SourceView<'a>,
    call: Option<SourceView<'a>>,
}

impl SourceSight<'_> {
    /// A tool is seen if the permission to list covers it. If there are permissions to call (in whatever
    /// tab), one of them must cover it too. An origin that may use two tools does not need the names of
    /// others, and an origin without tools needs none.
    fn has(&self, tool: &str) -> bool {
        self.list.covers(tool) && self.call.as_ref().is_none_or(|call| call.covers(tool))
    }

    /// True if the asker may see any tool of the source.
    fn any(&self) -> bool {
        self.list.any() && self.call.as_ref().is_none_or(SourceView::any)
    }
}

impl Host {
    /// The tools that an origin may know of, as an array of descriptors; of these sources, where some are named.
    ///
    /// # Errors
    /// Why it may not know of any.
    pub async fn list_tools(&self, asker: &Asker, only: Option<&[String]>) -> Result<Pieces, ErrorBody> {
        self.offers(asker, Feature::ToolAccess)?;
        let sight = self.sight(asker).await?;
        let is_named = |id: &str| only.is_none_or(|only| only.iter().any(|named| named == id));
        if asker.sender.own.is_some() {
            self.wake_unseen(|id| is_named(id.as_str()) && sight.of_source(&id.into()).any()).await;
        }
        let mut tools = Pieces::default();
        for (source, written) in self.listed_sources(self.may_start(asker)) {
            let id = source.id();
            if !is_named(id.as_str()) {
                continue;
            }
            let asks_first = !sight.call.denied() && self.asks_first(asker, &id);
            let sight = sight.of_source(&id);
            for (tool, descriptor) in written.tools() {
                if sight.has(tool) {
                    tools.push(written.descriptors(), descriptor);
                } else if let Some(tool) = written.get(tool).filter(|_| asks_first && !is_by_name(&id, tool))
                {
                    let marked = asking_first(&*source, tool);
                    let whole = 0..marked.len();
                    tools.push(&marked, whole);
                }
            }
        }
        Ok(tools)
    }

    /// True if an AI client hears of a source that it was not given: its first call asks the person. Servers
    /// are given all at once, or one by one by the person, who knows them.
    fn asks_first(&self, asker: &Asker, source: &SourceId) -> bool {
        asker.sender.own.is_some()
            && source.kind() != SourceKind::Server
            && self.config.now().first_use != FirstUse::None
            && !self.consent.is_never(asker.origin.as_str(), source)
    }

    /// The servers of which an origin may use a tool.
    ///
    /// # Errors
    /// Why it may not know of any.
    pub async fn list_servers(&self, asker: &Asker) -> Result<Vec<UsableServer>, ErrorBody> {
        let sight = self.sight(asker).await?;
        let listed = self.listed_sources(self.may_start(asker));
        let servers = listed.filter(|(source, _)| source.id().kind() == SourceKind::Server);
        let servers = servers.filter_map(|(server, written)| {
            let sight = sight.of_source(&server.id());
            let usable = written.tools().filter(|(tool, _)| sight.has(tool)).count();
            (usable > 0).then(|| UsableServer {
                server_id: server.id().to_string(),
                label: server.label(),
                state: server.state().into(),
                tool_count: u32::try_from(usable).unwrap_or(u32::MAX),
            })
        });
        Ok(servers.collect())
    }

    /// The lists of one kind, other than tools, of the servers of which an origin may use every tool. A
    /// server that does not run, but that a request starts, counts with its last list.
    ///
    /// # Errors
    /// Why it may not know of any.
    pub async fn list_offers(&self, asker: &Asker, kind: ListKind) -> Result<Vec<OffersView>, ErrorBody> {
        let sight = self.sight(asker).await?;
        let all = self.supervisor.all().into_iter();
        let all = all.filter(|server| !self.suspended.has(&server.id().into()));
        let caller = Caller::Origin(asker.clone());
        let mut offers = Vec::new();
        for server in all.filter(|server| sight.of_source(&server.id().into()).has(EVERY)) {
            if let Some(items) = self.offered_by(&server, kind) {
                offers.push(OffersView { server_id: server.id().to_string(), items });
                let source: Rc<dyn ToolSource> = server;
                self.client_reads(&caller, &source, "list").await;
            }
        }
        Ok(offers)
    }

    fn offered_by(&self, server: &Server, kind: ListKind) -> Option<Json> {
        let Fetched { items, count, .. } = server.list(kind);
        let is_settled = server.state() == State::Running && !server.is_listing();
        match count {
            0 if is_settled || server.at_rest().is_some() => None,
            0 => self.offered.of(server.id(), kind),
            _ => Some(items),
        }
    }

    /// The sources whose tools can be called. `stopped`: also servers that the person has stopped.
    pub(super) fn listed_sources(
        &self,
        stopped: bool,
    ) -> impl Iterator<Item = (Rc<dyn ToolSource>, Rc<ToolListing>)> {
        let all = self.sources.all().into_iter().filter(|source| !self.suspended.has(&source.id()));
        all.filter_map(move |source| self.registry.listed(&*source, stopped).map(|written| (source, written)))
    }

    /// True if calls of an origin start servers that the person has stopped.
    pub(super) fn may_start(&self, asker: &Asker) -> bool {
        self.permissions.check(asker, Scope::McpServerConnect, None).is_ok()
    }

    /// An origin may list as often in a minute as it may call.
    async fn may_list_again(&self, asker: &Asker) -> Result<(), ErrorBody> {
        let per_minute = self.config.now().limits_of(asker.origin.as_str()).per_minute;
        let limits = CallLimits { concurrent: 0, queue: 0, queue_wait_ms: 0, per_minute };
        // No origin has a space in it: lists have their own count.
        let lists = format!("{} lists", asker.origin);
        let entrant = Entrant { origin: &lists, lane: 0, server: "", server_per_minute: None };
        let slot = self.admission.enter(entrant, &limits, Duration::ZERO).await;
        slot.map(drop).map_err(|refusal| too_many_lists(&asker.origin, refusal))
    }

    async fn sight(&self, asker: &Asker) -> Result<Sight, ErrorBody> {
        self.allowed(asker, Scope::McpToolsList).await?;
        self.may_list_again(asker).await?;
        let list = self.permissions.view(asker, Scope::McpToolsList);
        let call = self.permissions.view_of_all_tabs(asker, Scope::McpToolsCall);
        Ok(Sight { list, call })
    }
}
