//! Writes what is in force as a file that says it: every key, with its value.
//!
//! Must never leave a key out that differs from the default: what is written, read again, is the same.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use harbor_policy::tabs::urls::{Hosts, Sites};

use super::super::host::{ChangedTools, HostConfig, OriginLimits, ServerLimits};
use super::super::{CatalogConfig, Feature, SecretsConfig};

/// The whole file.
#[must_use]
pub fn show(config: &HostConfig) -> String {
    let HostConfig { every_origin, every_server, .. } = config;
    let changed = match config.changed_tools {
        ChangedTools::Block => "block",
        ChangedTools::Warn => "warn",
    };
    let first_use = config.first_use.as_str();
    let feature = |one: &Feature| format!("{} = {}\n", one.as_str(), config.pages.has(*one));
    let pages: String = Feature::ALL.iter().map(feature).collect();
    let mut out = format!(
        "[grants]\nonceSeconds = {}\n\n[host]\nauditRequired = {}\ncheckOutput = {}\nchangedTools = \"{changed}\"\n\n[mcp]\nfirstUse = \"{first_use}\"\n\n[pages]\n{pages}\n[metrics]\norigins = {}\n",
        config.once.as_secs(),
        config.audit_required,
        config.check_output,
        config.metrics_of_origins,
    );
    if let Some(at) = config.metrics_listen {
        let _ = writeln!(
            out,
            "listen = \"{at}\"  # a change takes effect immediately; `serve --metrics` overrides it"
        );
    }
    let _ = write!(
        out,
        "\n[traces]\nsample = {}\norigins = {}\n",
        config.traces_sample, config.traces_of_origins
    );
    if let Some(endpoint) = &config.traces_endpoint {
        let _ = writeln!(
            out,
            "endpoint = \"{}\"  # a change takes effect immediately; OTEL_EXPORTER_OTLP_ENDPOINT overrides it",
            endpoint.written()
        );
    }
    of_catalog(&mut out, &config.catalog);
    if let Some(document) = &config.client_document {
        let _ = write!(out, "\n[oauth]\nclientMetadataUrl = \"{document}\"\n");
    }
    of_browser(&mut out, &config.sites, &config.browser_groups);
    of_secrets(&mut out, &config.secrets);
    out.push_str("\n[limits]\n");
    of_origin(&mut out, every_origin);
    number(&mut out, "callsPerMinutePerServer", every_server.per_minute.or(Some(0)));
    number(&mut out, "runStaleSeconds", Some(config.run_stale.as_secs()));
    for (origin, limits) in &config.origins {
        let _ = writeln!(out, "\n[limits.origin.{}]", quoted(origin));
        of_origin(&mut out, limits);
    }
    for (server, limits) in &config.servers {
        let _ = writeln!(out, "\n[limits.server.{}]", quoted(server));
        of_server(&mut out, limits);
    }
    out
}

fn of_browser(out: &mut String, sites: &Sites, groups: &BTreeSet<String>) {
    let list =
        |hosts: &Hosts| hosts.entries().map(|entry| format!("{entry:?}")).collect::<Vec<_>>().join(", ");
    let (blocked, asked) = (list(&sites.blocked), list(&sites.ask_first));
    let uploads: Vec<_> =
        sites.uploads.all().map(|path| format!("{:?}", path.display().to_string())).collect();
    let uploads = uploads.join(", ");
    let _ = write!(out, "\n[browser]\nblocked = [{blocked}]\naskFirst = [{asked}]\nuploads = [{uploads}]\n");
    let groups: Vec<_> = groups.iter().map(|group| format!("{group:?}")).collect();
    let _ = writeln!(out, "groups = [{}]", groups.join(", "));
}

fn of_secrets(out: &mut String, secrets: &SecretsConfig) {
    let _ = write!(out, "\n[secrets]\nstore = \"{}\"\n", secrets.store.as_str());
    if let Some(path) = &secrets.passphrase_file {
        let _ = writeln!(out, "passphraseFile = \"{}\"", path.display());
    }
}

fn of_catalog(out: &mut String, catalog: &CatalogConfig) {
    let (enabled, minutes) = (catalog.enabled, catalog.interval.as_secs() / 60);
    let _ = write!(out, "\n[catalog]\nenabled = {enabled}\nintervalMinutes = {minutes}\n");
    for (name, url) in [
        ("registryUrl", &catalog.registry),
        ("awesomeUrl", &catalog.awesome),
        ("githubApiUrl", &catalog.github_api),
        ("npmDownloadsUrl", &catalog.npm_downloads),
        ("pypiDownloadsUrl", &catalog.pypi_downloads),
    ] {
        let _ = writeln!(out, "{name} = \"{}\"", url.as_deref().unwrap_or_default());
    }
}

fn of_origin(out: &mut String, limits: &OriginLimits) {
    number(out, "maxCallsPerRun", limits.max_calls_per_run);
    number(out, "maxConcurrentPerOrigin", Some(limits.concurrent).filter(|n| *n > 0));
    number(out, "defaultTimeoutMs", limits.default_timeout.map(millis));
    number(out, "queueLength", Some(limits.queue));
    number(out, "queueWaitMs", Some(limits.queue_wait_ms));
    number(out, "callsPerMinutePerOrigin", limits.per_minute.or(Some(0)));
}

fn of_server(out: &mut String, limits: &ServerLimits) {
    number(out, "maxCallsPerRun", limits.max_calls_per_run);
    number(out, "maxConcurrentPerOrigin", limits.concurrent);
    number(out, "defaultTimeoutMs", limits.default_timeout.map(millis));
    number(out, "callsPerMinutePerServer", limits.per_minute.or(Some(0)));
}

fn number(out: &mut String, name: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        let _ = writeln!(out, "{name} = {value}");
    }
}

fn millis(time: Duration) -> u128 {
    time.as_millis()
}

/// Origins and servers' names have nothing in them that would have to be written otherwise.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn what_is_shown_is_what_was_read() {
        let file = r#"
            [grants]
            onceSeconds = 30
            [host]
            auditRequired = true
            checkOutput = true
            changedTools = "warn"
            [mcp]
            firstUse = "ask"
            [pages]
            agentRuns = false
            [metrics]
            origins = true
            listen = "127.0.0.1:9464"
            [traces]
            endpoint = "http://collector:4318/base/"
            sample = 7
            origins = true
            [catalog]
            enabled = false
            intervalMinutes = 5
            registryUrl = "https://registry.example"
            awesomeUrl = ""
            githubApiUrl = "http://127.0.0.1:1"
            npmDownloadsUrl = "https://npm.example/{name}"
            [browser]
            blocked = ["bank.example", "*.Shop.example"]
            askFirst = ["127.1"]
            uploads = ["/home/me/Documents"]
            groups = ["testing"]
            [secrets]
            store = "keyring"
            passphraseFile = "/run/harbor passphrase"
            [limits]
            maxCallsPerRun = 7
            callsPerMinutePerOrigin = 0
            callsPerMinutePerServer = 9
            runStaleSeconds = 99
            [limits.origin."https://a.example"]
            queueLength = 0
            [limits.origin.owner]
            maxConcurrentPerOrigin = 4
            [limits.server.time]
            maxCallsPerRun = 1
            callsPerMinutePerServer = 0
        "#;
        for text in ["", file] {
            let config = parse(text).unwrap();
            assert_eq!(parse(&show(&config)), Ok(config));
        }
        assert!(
            show(&parse(file).unwrap())
                .contains("[limits.origin.\"owner\"]\nmaxConcurrentPerOrigin = 4\nqueueLength = 16\n")
        );
    }
}
