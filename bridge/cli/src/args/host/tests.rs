//! What is understood of grants, changed tools and the audit log, and how it says no.

use super::super::Command;
use super::super::tests::{NOON, command, complaint, words};
use super::*;

fn asker(origin: &str, profile: Option<&str>) -> Asker {
    Asker { origin: Origin::parse(origin).unwrap(), profile: profile.map(str::to_owned) }
}

#[test]
fn grants() {
    let grant = |grant_type, expires_at, tools: Option<&[&str]>| {
        let (asker, tools) = (asker("https://a.example", None), tools.map(words));
        Command::Grant(Grant { asker, scope: Scope::McpToolsCall, grant_type, expires_at, tools })
    };
    let typed = |options: &[&str]| {
        command(&[&["grant", "https://A.example:443/", "mcp:tools.call"], options].concat())
    };
    assert_eq!(typed(&[]), grant(GrantType::AllowOnce, None, None));
    assert_eq!(typed(&["--once", "--for=30m"]), grant(GrantType::AllowOnce, Some(NOON + 1_800_000), None));
    assert_eq!(typed(&["--for", "365d"]), grant(GrantType::AllowOnce, Some(NOON + 31_536_000_000), None));
    assert_eq!(
        typed(&["--always", "--tool", "time/*", "--tool=files/read/x"]),
        grant(GrantType::AllowAlways, None, Some(&["time/*", "files/read/x"]))
    );
    assert_eq!(typed(&["--no-tools"]), grant(GrantType::AllowOnce, None, Some(&[])));
    assert_eq!(typed(&["--deny"]), grant(GrantType::Deny, None, None));

    let line = ["revoke", "client://x", "mcp:tools.list", "--profile", "work"];
    let (asker, scope) = (asker("client://x", Some("work")), Scope::McpToolsList);
    assert_eq!(command(&line), Command::Revoke(Revoke { asker: asker.clone(), scope, grant_type: None }));
    let grant_type = Some(GrantType::Deny);
    assert_eq!(
        command(&[&line[..], &["--deny"]].concat()),
        Command::Revoke(Revoke { asker, scope, grant_type })
    );
    assert_eq!(command(&["grants"]), Command::Grants(None));
    let origin = Origin::parse("client://x").ok();
    assert_eq!(command(&["grants", "client://x"]), Command::Grants(origin.clone()));
    assert_eq!(command(&["stats"]), Command::Stats(None));
    assert_eq!(command(&["stats", "client://x"]), Command::Stats(origin));
}

#[test]
fn the_audit_log() {
    let audit = |origin: Option<&str>, since, limit| {
        Command::Audit(Audit { origin: origin.map(str::to_owned), since, limit })
    };
    assert_eq!(command(&["audit"]), audit(None, None, None));
    assert_eq!(
        command(&["audit", "--origin", "https://A.example/", "--since", "10m", "--limit", "10000"]),
        audit(Some("https://a.example"), Some(NOON - 600_000), Some(10_000))
    );
    assert_eq!(
        command(&["audit", "--origin=owner", "--since=2026-11-21"]),
        audit(Some("owner"), Some(NOON - 43_200_000), None)
    );
    for name in ["harbor", "extension:abc"] {
        assert_eq!(command(&["audit", "--origin", name]), audit(Some(name), None, None));
    }
}

#[test]
fn tools_that_changed_and_tools_that_an_origin_sees() {
    let name = || Some("time".to_owned());
    assert_eq!(command(&["tools", "--changed"]), Command::Tools(Listing::Changed(None)));
    assert_eq!(command(&["tools", "time", "--changed"]), Command::Tools(Listing::Changed(name())));
    let seen = |profile, server| Command::Tools(Listing::SeenBy(asker("client://x", profile), server));
    assert_eq!(command(&["tools", "--as", "client://x"]), seen(None, None));
    assert_eq!(command(&["tools", "time", "--as", "client://x", "--profile", "p"]), seen(Some("p"), name()));
    let accept = |tool: Option<&str>, hash: Option<&str>| {
        let (tool, hash) = (tool.map(str::to_owned), hash.map(str::to_owned));
        Command::Accept(Accept { server: "time".into(), tool, hash })
    };
    let hash = "ab".repeat(32);
    assert_eq!(command(&["accept", "time"]), accept(None, None));
    assert_eq!(command(&["accept", "time/a/b"]), accept(Some("a/b"), None));
    assert_eq!(command(&["accept", "time/a", &hash.to_uppercase()]), accept(Some("a"), Some(&hash)));
}

#[test]
fn what_is_wrong_is_named() {
    for (line, text) in [
        (&["grant"][..], "whose? Name an origin such as https://example.com"),
        (&["grant", "https://a.example"], "what for? Name a scope such as mcp:tools.call"),
        (&["grant", "https://a.example", "web:fetch", "x"], "unexpected argument x"),
        (&["grant", "a.example", "web:fetch"], "a.example: an origin begins with its scheme"),
        (
            &["grant", "https://a.example/x", "web:fetch"],
            "https://a.example/x: an origin ends after host and port",
        ),
        (
            &["grant", "https://a.example", "mcp:tool.call"],
            "unknown scope mcp:tool.call; did you mean mcp:tools.call?",
        ),
        (&["revoke", "https://a.example", "all"], "unknown scope all; `harbor help grant` lists them"),
        (&["grant", "client://x", "web:fetch", "--deny", "--once"], "--once and --deny exclude each other"),
        (&["grant", "client://x", "web:fetch", "--always", "--for", "1m"], "--for goes with --once only"),
        (&["grant", "client://x", "web:fetch", "--deny", "--tool", "a/b"], "--deny is for all tools: leave"),
        (
            &["grant", "client://x", "web:fetch", "--no-tools", "--tool", "a/b"],
            "--tool and --no-tools exclude",
        ),
        (
            &["grant", "client://x", "web:fetch", "--tool", "a"],
            "--tool a: a tool is named server/tool, with the id of its server; did you mean a/*?\n",
        ),
        (
            &["grant", "client://x", "web:fetch", "--tool", "*"],
            "--tool *: a tool is named server/tool, with the id of its server\n",
        ),
        (
            &["grant", "client://x", "web:fetch", "--for", "0s"],
            "--for 0s: use how long, such as 90s, 30m, 2h or 3d",
        ),
        (&["grant", "client://x", "web:fetch", "--for", "366d"], "--for 366d: use how long"),
        (&["grant", "client://x", "web:fetch", "--for", "10"], "--for 10: use how long"),
        (&["grant", "client://x", "web:fetch", "--profile", ""], "--profile: use 1 to 128 bytes"),
        (&["grants", "x"], "x: an origin begins with its scheme"),
        (&["stats", "client://x", "y"], "unexpected argument y"),
        (&["audit", "x"], "unexpected argument x"),
        (&["audit", "--since", "yesterday"], "--since yesterday: use how long ago"),
        (&["audit", "--origin", "null"], "null: a page without an origin of its own"),
        (&["audit", "--limit", "10001"], "--limit 10001: use a whole number from 1 to 10000"),
        (&["audit", "--limit", "0"], "--limit 0: use a whole number from 1 to 10000"),
        (&["tools", "--changed", "--as", "client://x"], "--changed and --as exclude each other"),
        (&["tools", "--profile", "x"], "--profile goes with --as only"),
        (&["call", "time/x", "--profile", "x"], "--profile goes with --as only"),
        (&["call", "time/x", "--as", "x"], "x: an origin begins with its scheme"),
        (&["accept"], "which tool? Name it as SERVER/TOOL, or SERVER for all of it"),
        (&["accept", "time/"], "time/: a tool is named as SERVER/TOOL"),
        (&["accept", "a b"], "\"a b\" is no server's name"),
        (&["accept", "time/x", "abc"], "abc: a hash has 64 hexadecimal digits"),
    ] {
        let complaint = complaint(line);
        assert!(complaint.starts_with(text), "{complaint}");
        assert_eq!(complaint.lines().count(), 2, "{complaint}");
    }
}
