//! `config.toml`: whatever stands in it, limits are within their ranges, and a complaint is one line about one line.

use harbor_bridge::config::file::parse;
use harbor_bridge::config::{HostConfig, OWNER, OriginLimits, ServerLimits};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::origin::Origin;

use super::Target;

pub(super) const CONFIG: Target = Target {
    name: "config",
    run: config,
    corpus: &[
        b"[grants]\nonceSeconds = 600\n\n[limits]\nmaxCallsPerRun = 5\nmaxConcurrentPerOrigin = 2\n\
          defaultTimeoutMs = 30_000\nqueueLength = 16\nqueueWaitMs = 0\n",
        b"[limits]\ncallsPerMinutePerOrigin = 1000000\ncallsPerMinutePerServer = 0\nrunStaleSeconds = 0x10\n",
        b"[limits.origin.\"https://example.com\"]\nmaxConcurrentPerOrigin = 4\n\n[limits.origin.owner]\n\
          callsPerMinutePerOrigin = 100\n",
        b"[limits.server.time]\ncallsPerMinutePerServer = 30\ndefaultTimeoutMs = 3600000\n",
        b"[host]\r\nauditRequired = true\r\ncheckOutput = false\r\nchangedTools = \"warn\" # or block\r\n",
        b"limits.origin.\"http://b\" = { queueLength = 1024 }\nlimits.origin.\"HTTP://b\" = {}\n",
        b"limits.origin.'http://b'.queueWaitMs = -1",
        b"[limits.server.\"../x\"]\n[[limits]]\n",
        b"[limits]\nqueueLenght = \"\"\"\n4\n\"\"\"\n",
        b"host = [[[[[[[[{a={b=[1979-05-27T07:32:00Z]}}]]]]]]]]",
        b"\xef\xbb\xbf[host]\nchangedTools = \"\\u00e9\"",
        b"a.b.c.d.e.f = inf\n\"\\u0000\" = 1e999",
    ],
};

fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(config) => in_range(&config),
        Err(error) => explained(&error.to_string(), &text),
    }
}

fn in_range(config: &HostConfig) {
    assert!((1..=86_400).contains(&config.once.as_secs()));
    assert!((1..=86_400).contains(&config.run_stale.as_secs()));
    assert_eq!(config.limits_of("nobody://knows"), config.every_origin);
    assert_eq!(config.server_limits("unknown__server"), config.every_server);
    for origin in config.origins.keys().map(String::as_str).chain(["nobody://knows", OWNER]) {
        let is_canonical = Origin::parse(origin).is_ok_and(|parsed| parsed.as_str() == origin);
        assert!(!config.origins.contains_key(origin) || origin == OWNER || is_canonical, "{origin:?}");
        of_origin(config.limits_of(origin), origin == OWNER);
    }
    for server in config.servers.keys().map(String::as_str).chain(["unknown__server"]) {
        assert!(!config.servers.contains_key(server) || ServerId::parse(server).is_some(), "{server:?}");
        of_server(config.server_limits(server));
    }
}

/// Only the owner may be without limits.
fn of_origin(limits: OriginLimits, is_owner: bool) {
    assert!(limits.max_calls_per_run.map_or(is_owner, |calls| (1..=1000).contains(&calls)));
    assert!((u32::from(!is_owner)..=1000).contains(&limits.concurrent));
    assert!(limits.queue <= 1024 && limits.queue_wait_ms <= 600_000);
    assert!(limits.per_minute.is_none_or(|calls| (1..=1_000_000).contains(&calls)));
    let timeout = limits.default_timeout.map(|timeout| timeout.as_millis());
    assert!(timeout.map_or(is_owner, |ms| (1..=3_600_000).contains(&ms)));
}

fn of_server(limits: ServerLimits) {
    for most in [limits.max_calls_per_run, limits.concurrent] {
        assert!(most.is_none_or(|calls| (1..=1000).contains(&calls)));
    }
    assert!(limits.per_minute.is_none_or(|calls| (1..=1_000_000).contains(&calls)));
    assert!(limits.default_timeout.is_none_or(|timeout| (1..=3_600_000).contains(&timeout.as_millis())));
}

fn explained(error: &str, text: &str) {
    let (line, what) =
        error.strip_prefix("config.toml:").and_then(|rest| rest.split_once(": ")).expect("a place");
    let line: usize = line.parse().expect("a line");
    assert!((1..=text.matches('\n').count() + 1).contains(&line), "{error:?}");
    assert!(!what.is_empty() && error.len() < 2000 && !error.contains(char::is_control), "{error:?}");
}
