//! The person is asked, says yes, and takes it back.

use harbor_tests::authority::{Authority, Twists, WRITE, fields, get, visit};
use harbor_tests::{Bridge, Client, Home, LIMIT, wait_until};
use serde_json::json;

use super::{add, begin, finish, let_in, sound, start, told, url_of};

#[test]
fn a_server_that_wants_the_person_is_not_started_again_and_runs_once_they_have_said_yes() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    add(&bridge, &authority.mcp.url());
    let error = start(&bridge).unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["cause"]),
        ("connection_failed", &json!("needs_authorization"))
    );
    assert!(error.message.contains("`harbor auth s`"), "{}", error.message);
    assert_eq!(bridge.server("s")["state"], "failed");
    let error = bridge.tool("s", "t", &json!({})).unwrap_err();
    assert_eq!(error.code, "ERR_AUTHORIZATION_REQUIRED", "{}", error.message);

    let url = begin(&bridge, &json!({"scopes": ["extra"]})).unwrap();
    let asked = fields(url.split_once('?').unwrap().1);
    assert_eq!(
        (asked["scope"].as_str(), asked["resource"].as_str()),
        ("read extra", authority.mcp.url().as_str())
    );
    assert!(asked["redirect_uri"].starts_with("http://127.0.0.1:"), "{asked:?}");
    let page = visit(&url);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("cache-control: no-store"), "{page}");
    assert!(page.contains("default-src 'none'") && !page.contains("code-0"), "{page}");
    let granted = finish(&bridge).unwrap()["authorization"].clone();
    assert_eq!((&granted["client_id"], &granted["scopes"]), (&json!("client-0"), &json!(["read", "extra"])));
    start(&bridge).unwrap();
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
    assert_eq!((authority.registrations(), authority.grants("authorization_code")), (1, 1));

    let told = told(&bridge);
    assert!(told.contains("OAUTH") && told.contains("\"oauth\"") && !told.contains("token-"), "{told}");
    let file = std::fs::read_to_string(home.path().join("secrets/credentials.json")).unwrap();
    assert!(file.contains("access-token-1") && file.contains("refresh-token-1"));
    // What is the server's goes to nobody else.
    assert_eq!(authority.issuer.count(|asked| asked.header("authorization").contains("access-token")), 0);
}

/// Some authorization servers know a client by `http://localhost:PORT/callback` only.
#[test]
fn the_browser_is_sent_back_to_localhost_where_that_is_asked_for_and_to_a_port_that_is_free() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    add(&bridge, &authority.mcp.url());
    let url = begin(&bridge, &json!({"redirect_host": "localhost"})).unwrap();
    let back = fields(url.split_once('?').unwrap().1)["redirect_uri"].clone();
    let port =
        back.strip_prefix("http://localhost:").and_then(|rest| rest.strip_suffix("/callback")).unwrap();
    let (_, location, _) = get(&url, None);
    let foreign = get(&location, Some(&format!("127.0.0.1:{port}")));
    assert_eq!(foreign.0, 400, "{foreign:?}");
    assert!(get(&location, None).2.starts_with("HTTP/1.1 200"));
    finish(&bridge).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = begin(&bridge, &json!({"redirect_port": port})).unwrap_err();
    assert!(error.message.contains(&format!("port {port} of this machine is in use")), "{}", error.message);
}

#[test]
fn a_server_of_the_same_name_elsewhere_gets_no_token() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    let other = harbor_tests::Scripted::start(|_, _| false);
    add(&bridge, &other.url());
    start(&bridge).unwrap();
    assert!(other.count(|_| true) > 0 && other.count(|asked| !asked.header("authorization").is_empty()) == 0);
}

#[test]
fn more_rights_are_asked_for_when_a_call_needs_them() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    let error = bridge.tool("s", "bad", &json!({})).unwrap_err();
    assert_eq!(error.code, "ERR_AUTHORIZATION_REQUIRED", "{}", error.message);
    assert!(error.message.contains("`harbor auth s`"), "{}", error.message);
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "the others go on");
    let url = begin(&bridge, &json!({})).unwrap();
    assert_eq!(fields(&url)["scope"], format!("{WRITE} read"));
    let _ = visit(&url);
    finish(&bridge).unwrap();
    start(&bridge).unwrap();
    assert_eq!(bridge.tool_text("s", "bad", &json!({})), "done");
}

#[test]
fn harbor_is_who_its_document_says_or_the_person() {
    let takes = Twists {
        about: Some(|about| about["client_id_metadata_document_supported"] = json!(true)),
        ..Twists::default()
    };
    let (home, authority) = (Home::new(), Authority::start(takes));
    home.configure("[oauth]\nclientMetadataUrl = \"https://h.example/harbor.json\"\n");
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    assert_eq!(authority.registrations(), 0);
    let shown = bridge.call("oauth_status", &json!({"server_id": "s"})).unwrap();
    assert_eq!(shown["authorization"]["client_id"], "https://h.example/harbor.json");

    let given = json!({"client_id": "known", "client_secret": "s3cr3t-of-it"});
    let _ = visit(&begin(&bridge, &given).unwrap());
    finish(&bridge).unwrap();
    start(&bridge).unwrap();
    // It is the same from now on.
    let url = begin(&bridge, &json!({})).unwrap();
    assert_eq!(fields(url.split_once('?').unwrap().1)["client_id"], "known");
    assert!(authority.issuer.count(|asked| asked.header("authorization").starts_with("Basic ")) > 0);
    assert!(!told(&bridge).contains("s3cr3t-of-it"));
}

#[test]
fn an_authorization_ends_with_whoever_began_it() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    add(&bridge, &authority.mcp.url());
    let port = |url: &str| {
        let asked = fields(url.split_once('?').unwrap().1);
        url::Url::parse(&asked["redirect_uri"]).unwrap().port().unwrap()
    };
    let is_open = |port: u16| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
    let gone = |port: u16| wait_until("the port is closed", LIMIT, || !is_open(port));

    let first = port(&begin(&bridge, &json!({})).unwrap());
    assert!(is_open(first));
    let second = port(&begin(&bridge, &json!({})).unwrap());
    gone(first);
    assert_eq!(bridge.call("oauth_cancel", &json!({"server_id": "s"})).unwrap()["cancelled"], true);
    gone(second);
    assert_eq!(finish(&bridge).unwrap_err().code, "not_found");

    let third = port(&begin(&bridge, &json!({})).unwrap());
    let waiting = bridge.request("oauth_finish", &json!({"server_id": "s"}));
    // What is answered behind it has seen it begin.
    bridge.call("oauth_status", &json!({"server_id": "s"})).unwrap();
    bridge.call("cancel", &json!({"target": waiting.id})).unwrap();
    assert_eq!(waiting.wait(LIMIT).unwrap_err().code, "cancelled");
    gone(third);

    let other = Client::attach(&home);
    let answer = other.call("oauth_start", &json!({"server_id": "s"})).unwrap();
    let fourth = port(&url_of(&answer));
    assert_eq!(finish(&bridge).unwrap_err().code, "not_found", "it is the other's");
    other.close();
    gone(fourth);
}

#[test]
fn who_does_not_know_the_state_ends_nothing() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    add(&bridge, &authority.mcp.url());
    let url = begin(&bridge, &json!({})).unwrap();
    let waiting = bridge.request("oauth_finish", &json!({"server_id": "s"}));
    let asked = fields(url.split_once('?').unwrap().1);
    let (back, state) = (&asked["redirect_uri"], &asked["state"]);
    let status = |url: String, host: Option<&str>| get(&url, host).0;
    assert_eq!(status(format!("{back}?code=evil&state=x"), None), 400);
    assert_eq!(status(format!("{back}?code=evil"), None), 400);
    assert_eq!(status(format!("{back}x?code=evil&state={state}"), None), 404);
    assert_eq!(status(format!("{back}?code=evil&state={state}"), Some("evil.example")), 400);
    let _ = visit(&url);
    waiting.wait(LIMIT).unwrap();
    start(&bridge).unwrap();
}

#[test]
fn what_is_given_back_is_good_for_nothing() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    let revoke = || bridge.call("oauth_revoke", &json!({"server_id": "s"})).unwrap();
    let said = revoke();
    assert_eq!((&said["revoked"], &said["told"]), (&json!(true), &json!(true)), "{said:?}");
    let told = |asked: &harbor_tests::scripted::Asked| {
        asked.path == "/revoke" && fields(&asked.text)["token"] == "refresh-token-1"
    };
    assert_eq!(authority.issuer.count(told), 1);
    assert!(authority.good().refresh.is_empty());
    let file = std::fs::read_to_string(home.path().join("secrets/credentials.json")).unwrap();
    assert!(!file.contains("token-1"), "{file}");
    assert_eq!(bridge.server("s")["state"], "stopped");
    assert_eq!(revoke()["revoked"], false);
    assert_eq!(start(&bridge).unwrap_err().details["cause"], "needs_authorization");
}
