//! The bridge's report: what this kernel can enforce, which servers fail and why.
//!
//! Owns which parts of it are findings.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_ipc_proto::client::{
    BridgeStatus, CatalogStatus, HealthReason, KernelStatus, ListServers, ListSources, SecretStoreView,
    ServerStatus, ServerView, SourceView, Status, StatusView,
};

use super::findings::{Finding, State};
use crate::client::{Client, QUICK};
use crate::commands::catalog::headline;
use crate::commands::printing::count;
use crate::when;

/// A catalog is stale that is so old, in milliseconds.
const STALE: u64 = 3 * 86_400_000;

/// The next step where something could not be found out.
const AGAIN: &str = "the machine may be busy: run `harbor doctor` again";

/// Homes that are older may have servers that a call did not start: until then, that was so unless the person had chosen it.
const STARTS_WHEN_USED_SINCE: Duration = Duration::from_secs(1_795_651_200);

/// The name of a file in HARBOR_HOME that exists once Harbor has said that such servers start when they are used.
const SAID: &str = "starts-when-used.said";

pub(super) fn look(paths: &Paths, client: &mut Client) -> Result<Vec<Finding>, Failure> {
    // What the kernel offers is tried right after the start: whatever is measured waits for that.
    let status = client.ask(&Status { fresh: Some(true) }, QUICK)?.into_value().status;
    let listed = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    let catalog = catalog(&status.catalog);
    let sources = client.ask(&ListSources {}, QUICK)?.into_value().sources;
    let of_browsers = browser_tools(&sources, status.bridge.clients.extension);
    let of_servers = listed.iter().filter_map(uncontained);
    let said_once = unseen(&listed).into_iter().chain(starts_when_used(paths, &listed));
    Ok(findings(&status)
        .into_iter()
        .chain([catalog])
        .chain(of_servers)
        .chain(of_browsers)
        .chain(said_once)
        .collect())
}

/// Servers that would start when they are used, and have never said what they can do: AI clients do not see them.
fn unseen(servers: &[ServerView]) -> Option<Finding> {
    let is_unseen =
        |server: &&ServerView| server.tool_count.is_none() && server.supervision.lazy != Some(false);
    let names: Vec<_> = servers.iter().filter(is_unseen).map(|server| server.server_id.as_str()).collect();
    let (first, all) = (names.first()?, names.join(", "));
    let what = format!("AI clients see no tools of {all}, since these never listed any");
    Some(Finding::wrong(
        State::Warning,
        "servers",
        what,
        format!("`harbor start {first}` lists them, or says why it cannot"),
    ))
}

/// Says once in an old home which of its servers start when they are used. Notes in the home that it was said.
fn starts_when_used(paths: &Paths, servers: &[ServerView]) -> Option<Finding> {
    let names: Vec<_> = servers.iter().filter(|server| server.supervision.lazy.is_none()).collect();
    let born = paths.database().metadata().and_then(|file| file.created()).ok()?;
    let said = paths.home().join(SAID);
    if names.is_empty() || born > UNIX_EPOCH + STARTS_WHEN_USED_SINCE || said.exists() {
        return None;
    }
    // Where it cannot be noted, it is said again.
    let _ = fs::write(&said, "");
    let names = names.iter().map(|server| server.server_id.as_str()).collect::<Vec<_>>().join(", ");
    let what = format!("new: these servers now start when they are used: {names}");
    Some(Finding::wrong(
        State::Warning,
        "servers",
        what,
        "`harbor set NAME --manual` makes a server wait for `harbor start`",
    ))
}

fn findings(status: &StatusView) -> Vec<Finding> {
    let bridge = &status.bridge;
    let mut all = vec![Finding::ok(
        "bridge",
        format!("{} (build {}) runs, process {}", bridge.version, bridge.build, bridge.pid),
    )];
    all.extend(kernel(bridge.kernel.as_ref()));
    let is_unreadable = status.health.reasons.iter().any(|reason| reason.code == "secrets_unreadable");
    if !is_unreadable {
        all.push(secrets(&bridge.secrets));
    }
    all.extend(newcomers(bridge));
    let reasons = &status.health.reasons;
    // What was lost is found in its files, with what to do.
    all.extend(reasons.iter().filter(|reason| reason.code != "database_rebuilt").map(reason));
    let servers = &status.servers;
    all.extend(servers.iter().filter_map(open));
    if servers.iter().all(|server| !matches!(server.state.as_ref(), "failed" | "crashed")) {
        all.push(Finding::ok("servers", format!("{}, none has failed", count(servers.len(), "server"))));
    }
    all
}

fn kernel(kernel: Option<&KernelStatus>) -> Vec<Finding> {
    let Some(kernel) = kernel else {
        let what = "Harbor could not find out in time what this kernel offers for sandboxes";
        return vec![Finding::wrong(State::Warning, "kernel", what, AGAIN)];
    };
    if kernel.missing.is_empty() {
        return vec![Finding::ok("kernel", format!("sandboxes use {}", kernel.held_by))];
    }
    let next = "docs/sandbox.md says which kernel each rule needs; with `--required` a server does not start without \
                all of them";
    kernel.missing.iter().map(|what| Finding::wrong(State::Warning, "kernel", what.as_str(), next)).collect()
}

/// The place where secrets are kept. Tells nothing about the secrets themselves.
fn secrets(store: &SecretStoreView) -> Finding {
    let kept = match store.encryption.as_ref() {
        "passphrase" => "encrypted with a passphrase",
        "keyring" => "encrypted; the key is in the keyring",
        _ if store.store == "keyring" => "the keyring will keep the key",
        _ => "stored unencrypted in a file only you can read",
    };
    match &store.misplaced {
        Some(misplaced) => Finding::wrong(State::Warning, "secrets", misplaced.as_str(), ""),
        None if store.locked => Finding::wrong(
            State::Warning,
            "secrets",
            format!("{kept}; locked: servers that need secrets wait"),
            "`harbor secrets unlock`",
        ),
        None => Finding::ok("secrets", kept),
    }
}

/// It stays so; nothing is broken.
fn newcomers(bridge: &BridgeStatus) -> Option<Finding> {
    let what = "new AI clients may use no tools, because harbor.db was lost; allow one: `harbor grant client://NAME \
                mcp:tools.list --always`, and the same with mcp:tools.call";
    (bridge.first_use == "closed").then(|| Finding::ok("AI clients", what))
}

/// The browsers that tools may work in, and how many have these tools off. Off is not a fault.
fn browser_tools(sources: &[SourceView], extensions: u64) -> Vec<Finding> {
    let on: Vec<_> = sources.iter().filter(|source| source.kind.as_ref() == "browser").collect();
    let shown = on.iter().map(|browser| {
        let what =
            format!("{} is connected, and its browser tools are on ({})", browser.label, browser.source_id);
        Finding::ok("browsers", what)
    });
    let off = usize::try_from(extensions).unwrap_or(usize::MAX).saturating_sub(on.len());
    let what = format!(
        "{} connected with browser tools off; switch them on in Harbor's panel: Sites, \"Browser tools…\"",
        count(off, "browser")
    );
    shown.chain((off > 0).then(|| Finding::ok("browsers", what))).collect()
}

/// Judges the catalog. An unreachable source is no fault of this machine, unless that lasts for days.
fn catalog(catalog: &CatalogStatus) -> Finding {
    let wrong = |what: String, next: &str| Finding::wrong(State::Warning, "catalog", what, next);
    let retry = "try again: `harbor catalog refresh`; sources: `harbor catalog status`";
    let state = catalog.state.as_ref();
    let error = catalog.last_error.as_deref().unwrap_or("the reason is unknown");
    let stale = catalog.last_refresh.is_some_and(|at| at + STALE < when::now());
    if let Some(file_error) = &catalog.file_error {
        return wrong(file_error.clone(), "");
    }
    match () {
        () if state.is_empty() => wrong("the state of the catalog is unknown".into(), AGAIN),
        () if state == "failed" => wrong(format!("the catalog worker has failed: {error}"), retry),
        () if state == "off" => Finding::ok("catalog", "fetching is turned off"),
        () if catalog.failing > 0 => wrong(format!("a source failed last time: {error}"), retry),
        () if stale => wrong("last refreshed more than three days ago".into(), retry),
        () => Finding::ok("catalog", headline(catalog, when::now())),
    }
}

/// A problem that the bridge itself reports.
fn reason(reason: &HealthReason) -> Finding {
    let is_of_secrets = reason.code == "secrets_unreadable";
    let state = if reason.state == "failing" || is_of_secrets { State::Broken } else { State::Warning };
    let (about, next) = match &reason.server {
        None if is_of_secrets => ("secrets", String::new()),
        None => ("bridge", String::new()),
        Some(server) => {
            ("servers", format!("log: `harbor logs {server}`; try again: `harbor start {server}`"))
        }
    };
    Finding::wrong(state, about, reason.message.as_str(), next)
}

/// A server without a sandbox.
fn open(server: &ServerStatus) -> Option<Finding> {
    let (name, level) = (&server.id, server.sandbox.as_deref().unwrap_or_default());
    matches!(level, "off" | "basic").then(|| {
        let what = format!("{name} has sandbox level {level}: it can do everything that you can");
        Finding::wrong(State::Warning, "servers", what, format!("`harbor sandbox {name} --sandbox standard`"))
    })
}

/// A server, started in this bridge's time, whose processes no PID namespace holds.
fn uncontained(server: &ServerView) -> Option<Finding> {
    (server.containment.as_deref() == Some("process_group")).then(|| {
        let (name, why) = (&server.server_id, server.containment_reason.as_deref().unwrap_or_default());
        let what = format!("{name} has no PID namespace ({why}): it sees other processes, and Harbor has to search for what it leaves behind");
        Finding::wrong(State::Warning, "servers", what, "docs/sandbox.md says what that allows, and docs/deploy.md \
                                        what a container needs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::rig::typed;

    #[test]
    fn browsers_are_told_by_whether_they_may_be_worked_in() {
        let source = |kind: &str| SourceView {
            source_id: "browser".into(),
            kind: kind.to_owned().into(),
            label: "Firefox".into(),
            state: "running".into(),
            tool_count: 23,
        };
        let said = |sources: &[SourceView], extensions| -> Vec<_> {
            browser_tools(sources, extensions)
                .into_iter()
                .map(|finding| (finding.state, finding.what))
                .collect()
        };
        assert_eq!(said(&[source("page")], 0), []);
        let both = said(&[source("browser")], 2);
        assert!(both.iter().all(|(state, _)| *state == State::Ok), "{both:?}");
        assert_eq!(both[0].1, "Firefox is connected, and its browser tools are on (browser)");
        assert!(both[1].1.starts_with("1 browser connected with browser tools off"), "{}", both[1].1);
        assert_eq!(said(&[source("browser")], 1).len(), 1);
    }

    #[test]
    fn where_secrets_are_kept_is_told() {
        let found = |text: &str| secrets(&typed(text));
        for (text, state, said) in [
            (r#"{"store":"file","encryption":"none","locked":false}"#, State::Ok, "stored unencrypted"),
            (r#"{"store":"keyring","encryption":"none","locked":false}"#, State::Ok, "will keep the key"),
            (r#"{"store":"file","encryption":"passphrase","locked":false}"#, State::Ok, "with a passphrase"),
            (r#"{"store":"keyring","encryption":"keyring","locked":true}"#, State::Warning, "; locked"),
            (
                r#"{"store":"keyring","encryption":"none","locked":false,"misplaced":"no"}"#,
                State::Warning,
                "no",
            ),
        ] {
            let finding = found(text);
            assert!(finding.state == state && finding.what.contains(said), "{finding:?}");
        }
    }

    #[test]
    fn a_catalog_that_is_broken_failing_or_stale_is_told() {
        let found = |text: &str| catalog(&typed(text));
        let now = when::now();
        for (text, state, said) in [
            (
                r#"{"state":"stopped","file_error":"catalog.db is damaged"}"#,
                State::Warning,
                "catalog.db is damaged",
            ),
            (r#"{"state":"failed","last_error":"no"}"#, State::Warning, "the catalog worker has failed: no"),
            (r#"{"state":"off"}"#, State::Ok, "fetching is turned off"),
            (
                r#"{"state":"stopped","failing":1,"last_error":"registry: no"}"#,
                State::Warning,
                "a source failed last time: registry: no",
            ),
            (
                r#"{"state":"stopped","failing":1}"#,
                State::Warning,
                "a source failed last time: the reason is unknown",
            ),
            ("{}", State::Warning, "the state of the catalog is unknown"),
            (r#"{"state":"stopped","last_refresh":1}"#, State::Warning, "last refreshed more than"),
            (r#"{"state":"stopped"}"#, State::Ok, "none yet"),
        ] {
            let found = found(text);
            assert!(found.state == state && found.what.starts_with(said), "{found:?}");
        }
        let fresh = found(&format!(r#"{{"state":"stopped","entries":5,"last_refresh":{now}}}"#));
        assert_eq!((fresh.state, fresh.what.as_str()), (State::Ok, "5 entries, refreshed just now"));
    }

    #[test]
    fn what_the_bridge_says_becomes_findings() {
        let status = r#"{"health":{"state":"degraded","reasons":[{"state":"degraded","server":"x","code":"server_failed","message":"x has failed"},{"state":"failing","code":"audit_failing","message":"the audit log cannot be written"}]},"bridge":{"version":"1","build":"b","pid":7,"kernel":{"held_by":"landlock 3","missing":["ports are not held"]}},"servers":[{"id":"x","state":"failed","sandbox":"off"}]}"#;
        let found = findings(&typed(status));
        let states: Vec<_> = found.iter().map(|finding| (finding.state, finding.about)).collect();
        assert_eq!(
            states,
            [
                (State::Ok, "bridge"),
                (State::Warning, "kernel"),
                (State::Ok, "secrets"),
                (State::Warning, "servers"),
                (State::Broken, "bridge"),
                (State::Warning, "servers"),
            ]
        );
        let listed =
            r#"{"server_id":"x","containment":"process_group","containment_reason":"mount /proc: no"}"#;
        let found = uncontained(&typed(listed)).unwrap();
        assert_eq!((found.state, found.about), (State::Warning, "servers"));
        assert!(uncontained(&typed(r#"{"containment":"pid_namespace"}"#)).is_none());
        let busy = r#"{"health":{"reasons":[]},"bridge":{},"servers":[]}"#;
        let found = findings(&typed(busy));
        assert!(found.iter().any(|finding| finding.what.starts_with("Harbor could not find out in time")));
        let well = r#"{"health":{"reasons":[]},"bridge":{"kernel":{"held_by":"landlock 7","missing":[]}},"servers":[]}"#;
        let found = findings(&typed(well));
        assert!(found.iter().all(|finding| finding.state == State::Ok) && found.len() == 4);
    }
}
