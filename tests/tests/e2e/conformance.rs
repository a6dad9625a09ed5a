//! MCP's own conformance suite, with Harbor as the client: what its people hold a client to.
//!
//! `tests/conformance/client.py` is what the suite starts for each scenario. Every client scenario that the pinned suite
//! knows is in one of the two tables.

use std::path::Path;
use std::process::Command;

use harbor_tests::Home;
use harbor_tests::programs::{installed, product_dir};
use serde_json::Value;

/// What Harbor does not pass, and why.
const LEFT_OUT: [(&str, &str); 5] = [
    ("auth/client-credentials-", "an extension without a person: nobody lets Harbor in there"),
    ("auth/enterprise-managed-authorization", "an extension for companies, whose own server lets Harbor in"),
    ("auth/dpop", "an extension that binds tokens to a key of the client"),
    ("auth/wif-jwt-bearer", "an extension without a person, for programs of a cloud"),
    (
        "sep-2640-client-",
        "needs the skills extension, which Harbor does not announce: it never asks for `skills/list`, and loads no skill",
    ),
];

/// A test for each: its name, the scenario, the revision of MCP, and the checks that are skipped as nothing calls for them.
macro_rules! passed {
    ($($test:ident: $scenario:literal, $revision:literal, $skipped:expr;)*) => {
        const PASSED: &[&str] = &[$($scenario),*];
        $(#[test] fn $test() { pass($scenario, $revision, &$skipped); })*
    };
}

passed! {
    initialize: "initialize", "2025-11-25", [];
    initialize_of_before: "initialize", "2025-06-18", [];
    tools_call: "tools_call", "2026-07-28", [];
    tools_call_of_before: "tools_call", "2025-11-25", [];
    tools_call_of_long_before: "tools_call", "2025-06-18", [];
    sse_retry: "sse-retry", "2025-11-25", [];
    elicitation_defaults: "elicitation-sep1034-client-defaults", "2025-11-25", [];
    request_state: "sep-2322-client-request-state", "2026-07-28", [];
    // A command line answers no questions, and says so.
    request_metadata: "request-metadata", "2026-07-28", [
        "ClientDeclaresRootsCapability", "ClientDeclaresSamplingCapability", "ClientDeclaresElicitationCapability",
    ];
    // This generation has no handshake.
    standard_headers: "http-standard-headers", "2026-07-28", [
        "ClientMcpMethodHeader_initialize", "ClientMcpMethodHeader_notifications_initialized",
    ];
    custom_headers: "http-custom-headers", "2026-07-28", [];
    invalid_tool_headers: "http-invalid-tool-headers", "2026-07-28", [];
    schema_without_dereference: "json-schema-ref-no-deref", "2026-07-28", [];
    schema_as_it_was: "json-schema-2020-12-preservation", "2026-07-28", [];
    schema_as_it_was_before: "json-schema-2020-12-preservation", "2025-11-25", [];
    auth_metadata_default: "auth/metadata-default", "2026-07-28", [];
    auth_metadata_var1: "auth/metadata-var1", "2026-07-28", [];
    auth_metadata_var2: "auth/metadata-var2", "2026-07-28", [];
    auth_metadata_var3: "auth/metadata-var3", "2026-07-28", [];
    auth_basic_cimd: "auth/basic-cimd", "2026-07-28", [];
    auth_scope_from_www_authenticate: "auth/scope-from-www-authenticate", "2026-07-28", [];
    auth_scope_from_scopes_supported: "auth/scope-from-scopes-supported", "2026-07-28", [];
    auth_scope_omitted_when_undefined: "auth/scope-omitted-when-undefined", "2026-07-28", [];
    auth_scope_step_up: "auth/scope-step-up", "2026-07-28", [];
    auth_scope_retry_limit: "auth/scope-retry-limit", "2026-07-28", [];
    auth_token_endpoint_auth_basic: "auth/token-endpoint-auth-basic", "2026-07-28", [];
    auth_token_endpoint_auth_post: "auth/token-endpoint-auth-post", "2026-07-28", [];
    auth_token_endpoint_auth_none: "auth/token-endpoint-auth-none", "2026-07-28", [];
    auth_pre_registration: "auth/pre-registration", "2026-07-28", [];
    auth_resource_mismatch: "auth/resource-mismatch", "2026-07-28", [];
    auth_offline_access_scope: "auth/offline-access-scope", "2026-07-28", [];
    auth_offline_access_not_supported: "auth/offline-access-not-supported", "2026-07-28", [];
    auth_authorization_server_migration: "auth/authorization-server-migration", "2026-07-28", [];
    auth_iss_supported: "auth/iss-supported", "2026-07-28", [];
    auth_iss_not_advertised: "auth/iss-not-advertised", "2026-07-28", [];
    auth_iss_supported_missing: "auth/iss-supported-missing", "2026-07-28", [];
    auth_iss_wrong_issuer: "auth/iss-wrong-issuer", "2026-07-28", [];
    auth_iss_unexpected: "auth/iss-unexpected", "2026-07-28", [];
    auth_iss_normalized: "auth/iss-normalized", "2026-07-28", [];
    auth_metadata_issuer_mismatch: "auth/metadata-issuer-mismatch", "2026-07-28", [];
    auth_metadata_default_before: "auth/metadata-default", "2025-11-25", [];
    auth_scope_step_up_before: "auth/scope-step-up", "2025-11-25", [];
    auth_pre_registration_before: "auth/pre-registration", "2025-11-25", [];
    auth_metadata_long_before: "auth/2025-03-26-oauth-metadata-backcompat", "2025-03-26", [];
    auth_endpoints_long_before: "auth/2025-03-26-oauth-endpoint-fallback", "2025-03-26", [];
}

fn suite() -> Command {
    let mut command = Command::new(installed("npm/node_modules/node/bin/node"));
    command.arg(installed("npm/node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    command
}

/// Runs the scenario: all of its checks succeed, but those that are named.
fn pass(scenario: &str, revision: &str, skipped: &[&str]) {
    let home = Home::new();
    let results = home.scratch("results");
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/client.py");
    let output = suite()
        .args(["client", "--scenario", scenario, "--spec-version", revision, "--timeout", "120000"])
        .args(["--command", &format!("python3 '{}'", client.display())])
        .arg("--output-dir")
        .arg(&results)
        .env("HARBOR_CONFORMANCE_BIN", product_dir())
        .env("HARBOR_CONFORMANCE_HOME", home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let group = scenario.rsplit_once('/').map_or("", |(group, _)| group);
    let place = std::fs::read_dir(results.join(group)).unwrap().next().expect("a result").unwrap().path();
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap_or_default();
    assert!(output.status.success(), "{said}\n{}", read("stderr.txt"));
    let checks: Vec<Value> = serde_json::from_str(&read("checks.json")).unwrap();
    let of = |status: &str| {
        let found = checks.iter().filter(move |check| check["status"] == status);
        found.map(|check| check["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("SKIPPED"), skipped, "{said}");
    let sound = of("SUCCESS").len();
    assert!(sound > 0 && sound + of("INFO").len() + skipped.len() == checks.len(), "{said}");
}

#[test]
fn every_scenario_for_clients_is_passed_or_has_a_reason() {
    let output = suite().args(["list", "--client"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let names: Vec<_> =
        text.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split(' ').next()).collect();
    assert!(names.len() > 40, "{text}");
    let is_left_out = |name: &str| LEFT_OUT.iter().any(|(prefix, _)| name.starts_with(prefix));
    let unknown: Vec<_> = names.iter().filter(|name| !PASSED.contains(name) && !is_left_out(name)).collect();
    assert!(unknown.is_empty(), "new in this suite: {unknown:?}");
    assert!(PASSED.iter().all(|name| names.contains(name)), "{text}");
    let documented = include_str!("../../../docs/remote.md");
    assert!(
        LEFT_OUT.iter().all(|(_, why)| documented.contains(why)),
        "docs/remote.md gives the same reasons"
    );
}
