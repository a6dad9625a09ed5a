//! Messages on behalf of an origin: its tools, its calls, its runs; and the owner's messages about them.

use std::rc::Rc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    HostAcceptServerChange, HostAcceptServerChangeResult, HostAcceptToolChange, HostAcceptToolChangeResult,
    HostCreateRun, HostCreateRunResult, HostEndRun, HostEndRunResult, HostGetAudit, HostGetAuditResult,
    HostGetRun, HostGetRunResult, HostGetStats, HostGetStatsResult, HostListOffers, HostListOffersResult,
    HostListServers, HostListServersResult, HostListToolChanges, HostListToolChangesResult, HostListTools,
    HostListToolsResult, HostNameProfile, HostNameProfileResult, HostNoteConsent, HostNoteConsentResult,
    HostWatch, HostWatchResult,
};
use harbor_ipc_proto::json::Json;

use super::client::Client;
use super::grants::asker;
use super::own_prompts;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::config::OWNER;
use crate::host::asker::parse_origin;
use crate::host::{invalid, to_the_end};
use crate::store::audit::{AuditRecord, Query};
use crate::supervisor::ListKind;

/// How many audit lines are given if a request does not say, and at most.
const AUDIT_LINES: u64 = 200;
const MAX_AUDIT_LINES: u64 = 10_000;

pub(super) async fn tools(router: &Router, client: &Client, message: HostListTools) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let tools = router.host.list_tools(&asker, message.server_ids.as_deref()).await?;
    client.note_list();
    reply(HostListToolsResult { tools })
}

pub(super) async fn servers(router: &Router, client: &Client, message: HostListServers) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    reply(HostListServersResult { servers: router.host.list_servers(&asker).await? })
}

pub(super) async fn offers(router: &Router, client: &Client, message: HostListOffers) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let kind = match message.kind.as_str() {
        "resources" => ListKind::Resources,
        "resource_templates" => ListKind::ResourceTemplates,
        "prompts" => ListKind::Prompts,
        _ => return Err(invalid("kind", "resources, resource_templates or prompts")),
    };
    let mut servers = router.host.list_offers(&asker, kind).await?;
    if kind == ListKind::Prompts && asker.origin.is_client() {
        servers.extend(own_prompts::offered(router));
    }
    client.note_list();
    reply(HostListOffersResult { servers })
}

pub(super) async fn create_run(router: &Router, client: &Client, message: &HostCreateRun) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let (run_id, run) = router.host.create_run(&asker, message.max_calls).await?;
    reply(HostCreateRunResult { run_id, max_calls: run.max_calls, remaining: run.remaining })
}

pub(super) fn end_run(router: &Router, client: &Client, message: HostEndRun) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let run = router.host.runs.end(&asker, &message.run_id)?;
    reply(HostEndRunResult { run_id: message.run_id, max_calls: run.max_calls, remaining: run.remaining })
}

pub(super) fn get_run(router: &Router, client: &Client, message: HostGetRun) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let run = router.host.runs.get(&asker, &message.run_id)?;
    // It was noted by the clock that does not jump; people read the wall clock.
    let created_at = wall_clock().saturating_sub(boot_clock().saturating_sub(run.created_at));
    reply(HostGetRunResult {
        run_id: message.run_id,
        max_calls: run.max_calls,
        remaining: run.remaining,
        created_at,
    })
}

pub(super) fn stats(router: &Router, client: &Client, message: &HostGetStats) -> Handled {
    let is_owner = client.sender().own.is_none();
    let of = match (is_owner, &message.origin) {
        (true, None) => None,
        _ => Some(asker(client, &message.origin, &None, None)?.origin),
    };
    reply(HostGetStatsResult { stats: router.host.counts(of.as_ref()) })
}

pub(super) fn watch(client: &Client, message: &HostWatch) -> Handled {
    let watching = message.watch != Some(false);
    client.watch_host(watching);
    reply(HostWatchResult { watching })
}

pub(super) async fn name_profile(router: &Router, message: HostNameProfile) -> Handled {
    let is_id =
        (8..=32).contains(&message.id.len()) && message.id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id {
        return Err(invalid("id", "8 to 32 hexadecimal digits"));
    }
    reply(HostNameProfileResult { profile: router.host.name_profile(message.id).await? })
}

pub(super) async fn consent(router: &Router, client: &Client, message: HostNoteConsent) -> Handled {
    let asker = asker(client, &Some(message.origin), &message.profile, message.tab_id)?;
    let outcome = match message.outcome.as_str() {
        "allowed" => "allowed",
        "denied" => "denied",
        "dismissed" => "dismissed",
        _ => return Err(invalid("outcome", "allowed, denied or dismissed")),
    };
    router.host.note_consent(&asker, message.tools, outcome).await?;
    reply(HostNoteConsentResult { noted: true })
}

pub(super) async fn audit(router: &Router, message: HostGetAudit) -> Handled {
    let origin = match message.origin.as_deref() {
        None => None,
        // Not origins, but names that are in the log as well.
        Some(name) if name == OWNER || name == "harbor" || name.starts_with("extension:") => {
            Some(name.to_owned())
        }
        Some(origin) => Some(parse_origin(origin)?.to_string()),
    };
    let limit = message.limit.unwrap_or(AUDIT_LINES).min(MAX_AUDIT_LINES);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let lines = router.host.trail.read(Query { origin, since_ms: message.since, limit }).await?;
    let (failing, unaudited) = router.host.trail.health();
    let records = Json::from_valid(format!("[{}]", lines.join(",")));
    reply(HostGetAuditResult { records, failing, unaudited })
}

pub(super) fn changes(router: &Router, message: &HostListToolChanges) -> Handled {
    if let Some(id) = &message.server_id {
        router.host.source(id)?;
    }
    let changes = router.host.registry.changes(&router.host.sources, message.server_id.as_ref());
    let servers = router.host.server_changes(message.server_id.as_ref());
    reply(HostListToolChangesResult { changes, servers })
}

pub(super) async fn accept_server(
    router: &Router,
    client: &Client,
    message: HostAcceptServerChange,
) -> Handled {
    router.installs.accept_change(&client.sender(), message).await?;
    reply(HostAcceptServerChangeResult { accepted: true })
}

pub(super) async fn accept(router: &Rc<Router>, client: &Client, message: HostAcceptToolChange) -> Handled {
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        let HostAcceptToolChange { server_id, tool_name, tool_hash } = message;
        let source = router.host.source(&server_id)?;
        let record = AuditRecord {
            server: Some(server_id.shared()),
            tool: Some(tool_name.as_str().into()),
            tool_hash: Some(router.host.registry.now(&*source, &tool_name, &tool_hash)?.hash),
            ..AuditRecord::default()
        };
        router.host.trail.decided("tool_accepted", &sender, record, true).await?;
        router.host.registry.accept(&*source, &tool_name, &tool_hash).await?;
        Ok::<_, ErrorBody>(Box::new(HostAcceptToolChangeResult { accepted: true }) as _)
    })
    .await
}
