//! Who may use what, and AI clients and browsers, as they are typed.

use harbor_client_configs::browsers::{BROWSERS, browser};
use harbor_client_configs::client;
use harbor_mcp_server::Offering;
use harbor_policy::grants::GrantType;
use harbor_policy::scope::Scope;

use super::super::mcp::Http;
use super::super::*;
use super::{command, refused_with, words};

fn asker(origin: &str, profile: Option<&str>) -> Asker {
    Asker { origin: Origin::parse(origin).unwrap(), profile: profile.map(str::to_owned) }
}

#[test]
fn grants() {
    let typed = |options: &[&str]| {
        let line = [&["grant", "https://A.example:443/", "mcp:tools.call"], options].concat();
        let Command::Grant(grant) = command(&line) else { panic!("grant") };
        let granted = (grant.granted.origin.as_str(), grant.granted.scope);
        assert_eq!(granted, ("https://a.example", Scope::McpToolsCall));
        (grant.grant_type(), grant.length, grant.tools())
    };
    assert_eq!(typed(&[]), (GrantType::AllowOnce, None, None));
    assert_eq!(typed(&["--once", "--for=30m"]), (GrantType::AllowOnce, Some(1_800_000), None));
    let tools = Some(words(&["time/*", "files/read/x"]));
    let line = ["--always", "--tool", "time/*", "--tool=files/read/x"];
    assert_eq!(typed(&line), (GrantType::AllowAlways, None, tools));
    assert_eq!(typed(&["--no-tools"]), (GrantType::AllowOnce, None, Some(Vec::new())));
    assert_eq!(typed(&["--deny"]), (GrantType::Deny, None, None));
    let line = ["revoke", "client://x", "mcp:tools.list", "--profile", "work", "--deny"];
    let Command::Revoke(revoke) = command(&line) else { panic!("revoke") };
    assert_eq!(
        (revoke.granted.profile.as_deref(), revoke.grant_type()),
        (Some("work"), Some(GrantType::Deny))
    );
    let grant = ["grant", "client://x", "mcp:tools.call"];
    let with = |more: &[&'static str]| [&grant, more].concat();
    refused_with(&[
        (&["grant", "https://a.example", "chat:open"], "invalid value 'chat:open'"),
        (&["grant", "a.example", "mcp:tools.call"], "an origin begins with its scheme"),
        (&["grant", "https://a.example/x", "mcp:tools.call"], "an origin ends after the host and the port"),
        (&with(&["--deny", "--once"]), "cannot be used with"),
        (&with(&["--always", "--for", "1m"]), "cannot be used with"),
        (&with(&["--deny", "--tool", "a/b"]), "cannot be used with"),
        (&with(&["--no-tools", "--tool", "a/b"]), "cannot be used with"),
        (&with(&["--tool", "a"]), "with the id of its server; did you mean a/*?"),
        (&with(&["--for", "0s"]), "give a length of time such as 90s, 30m, 2h or 3d"),
        (&with(&["--for", "366d"]), "give a length of time"),
        (&with(&["--profile", ""]), "use 1 to 128 bytes"),
    ]);
}

#[test]
fn the_audit_log_and_changed_tools() {
    for (typed, origin) in [
        ("https://A.example/", "https://a.example"),
        ("owner", "owner"),
        ("harbor", "harbor"),
        ("extension:abc", "extension:abc"),
    ] {
        let audit =
            Audit { origin: Some(origin.into()), since: Some(1_795_219_200_000), limit: Some(10_000) };
        let line = ["audit", "--origin", typed, "--since", "2026-11-21", "--limit", "10000"];
        assert_eq!(command(&line), Command::Audit(audit), "{typed}");
    }
    let name = || Some("time".to_owned());
    let listing = |line: &[&str]| command(&[&["tools"], line].concat());
    assert_eq!(listing(&[]), Command::Tools(Listing::Running));
    assert_eq!(listing(&["time"]), Command::Tools(Listing::Of("time".into())));
    assert_eq!(listing(&["time/a/b"]), Command::Tools(Listing::One("time".into(), "a/b".into())));
    assert_eq!(listing(&["time", "--changed"]), Command::Tools(Listing::Changed(name())));
    let seen = Listing::SeenBy(asker("client://x", Some("p")), name());
    assert_eq!(listing(&["time", "--as", "client://x", "--profile", "p"]), Command::Tools(seen));
    let hash = "ab".repeat(32);
    let accept = Accept { server: "time".into(), tool: Some("a".into()), hash: Some(hash.clone()) };
    assert_eq!(command(&["accept", "time/a", &hash.to_uppercase()]), Command::Accept(accept));
    refused_with(&[
        (&["audit", "--since", "yesterday"], "use a time span back from now"),
        (&["audit", "--origin", "null"], "a page without an origin of its own"),
        (&["tools", "time/a", "--changed"], "--changed goes with a server: leave /a out"),
        (&["tools", "--profile", "x"], "--as"),
        (&["accept", "time/"], "a tool is named SERVER/TOOL"),
        (&["accept", "time", &hash], "a hash belongs to one tool"),
        (&["accept", "time/x", "abc"], "a hash has 64 hexadecimal digits"),
    ]);
}

#[test]
fn an_ai_client_is_served_or_given_a_token() {
    let serve = |client: &str, only: &[&str], http| Command::Mcp {
        wanted: None,
        serve: Mcp {
            client: client.into(),
            only: words(only),
            offering: Offering::All,
            browser_session: None,
            http,
        },
    };
    assert_eq!(command(&["mcp"]), serve("default", &[], None));
    let line = ["mcp", "--client", "Some Client", "--only", "a/b", "--only=c/*"];
    assert_eq!(command(&line), serve("Some Client", &["a/b", "c/*"], None));
    let http = Http { listen: "127.0.0.1:0".parse().unwrap(), origins: words(&["https://a.example"]) };
    let line = ["mcp", "--http", "localhost:0", "--allow-origin", "https://a.example"];
    assert_eq!(command(&line), serve("default", &[], Some(http)));
    let token = |line: &[&str]| match command(&[&["mcp", "token"], line].concat()) {
        Command::Mcp { wanted: Some(McpWanted::Token(wanted)), .. } => wanted,
        other => panic!("{other:?}"),
    };
    assert_eq!(token(&[]), TokenWanted::List);
    assert_eq!(token(&["a"]), TokenWanted::Make("a".into(), false));
    assert_eq!(token(&["a", "--delete"]), TokenWanted::Delete("a".into()));
    refused_with(&[
        (&["mcp", "--only", "time"], "a tool is named server/tool"),
        (&["mcp", "--client="], "use 1 to 128 bytes"),
        (&["mcp", "token", "a\nb"], "must not contain control characters"),
        (&["mcp", "--http", "[::]:1"], "only this machine is served"),
        (&["mcp", "--http", "8765"], "use an address and a port"),
        (&["mcp", "--http=localhost:1", "--client=x"], "cannot be used with"),
        (&["mcp", "--http=localhost:1", "--browser-session=x"], "cannot be used with"),
        (&["mcp", "--allow-origin", "https://a.example"], "--http"),
        (&["mcp", "--http=[::1]:1", "--allow-origin=client://a"], "use an origin such as"),
        (&["mcp", "token", "--delete"], "<CLIENT>"),
        (&["mcp", "--lazy", "install", "zed"], "must come after `install`"),
        (&["mcp", "install"], "<CLIENT>"),
    ]);
}

#[test]
fn harbor_is_put_into_clients_and_takes_over_their_servers() {
    let line = ["mcp", "install", "zed", "--client=z", "--only", "a/*", "--lazy", "--file", "f", "--dry-run"];
    let install = Install {
        clients: vec![client("zed").unwrap()],
        all: false,
        name: Some("z".into()),
        only: vec!["a/*".into()],
        lazy: true,
        code: false,
        file: Some("f".into()),
        replace: false,
        dry_run: true,
    };
    let typed = |line: &[&str]| match command(line) {
        Command::Mcp { wanted: Some(McpWanted::Install(install)), .. } => install,
        other => panic!("{other:?}"),
    };
    assert_eq!(typed(&line), install);
    assert_eq!(typed(&["mcp", "install", "zed", "cursor"]).clients.len(), 2);
    assert!(typed(&["mcp", "install", "--all"]).all);
    let from = |word: &str| match command(&["import", word]) {
        Command::Import(import) => import.from.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(from("zed"), Source::Client(client("zed").unwrap()));
    assert_eq!(from("./zed"), Source::File("./zed".into()));
    assert_eq!(from(".mcp.json"), Source::File(".mcp.json".into()));
}

#[test]
fn browsers() {
    let place = |ids: &[&str]| HostPlace {
        browsers: ids.iter().map(|id| browser(id).unwrap()).collect(),
        user_data_dir: None,
    };
    let host = |wanted| Command::Host { wanted: Some(wanted), place: HostPlace::default() };
    assert_eq!(command(&["host"]), Command::Host { wanted: None, place: place(&[]) });
    assert_eq!(command(&["host", "status", "--browser=edge"]), host(NativeHost::Status(place(&["edge"]))));
    let everywhere = place(&BROWSERS.iter().map(|browser| browser.id).collect::<Vec<_>>());
    assert_eq!(command(&["host", "uninstall", "--browser", "all"]), host(NativeHost::Uninstall(everywhere)));
    let id = "abcdefghijklmnopabcdefghijklmnop";
    let install = HostInstall {
        place: HostPlace { user_data_dir: Some("d".into()), ..place(&["chromium"]) },
        extension_ids: vec![id.into()],
        replace: true,
    };
    let line = ["host", "install", "--user-data-dir", "d", "--extension-id", id, "--replace"];
    assert_eq!(command(&line), host(NativeHost::Install(install)));
    refused_with(&[
        (&["host", "install", "--browser", "firefox", "--user-data-dir", "d"], "is for Chromium"),
        (&["host", "install", "--browser", "all", "--user-data-dir", "d"], "to one browser"),
        (&["host", "install", "--user-data-dir", ""], "'--user-data-dir <DIR>'"),
        (&["host", "install", "--extension-id", "a b"], "an id has "),
    ]);
}
