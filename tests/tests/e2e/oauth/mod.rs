//! OAuth at remote servers: real HTTP with an authorization server that checks what it is sent.

mod asking;
mod command;
mod hostile;
mod renewing;

use harbor_tests::authority::{Authority, Twists, visit};
use harbor_tests::{Answer, Bridge, ErrorValue};
use serde_json::{Value, json};

/// Defines the server `s` there.
pub fn add(bridge: &Bridge, url: &str) {
    let fields = json!({"server_id": "s", "url": url, "allow_private": true,
        "supervision": {"restart": "always", "restart_delays_ms": [50, 100, 150]}});
    bridge.call("add_remote_server", &fields).unwrap();
}

/// Starts it.
pub fn start(bridge: &Bridge) -> Result<Answer, ErrorValue> {
    bridge.call("connect_server", &json!({"server_id": "s"}))
}

/// Begins an authorization; the URL for the person.
pub fn begin(bridge: &Bridge, more: &Value) -> Result<String, ErrorValue> {
    let mut fields = json!({"server_id": "s"});
    for (name, value) in more.as_object().into_iter().flatten() {
        fields[name] = value.clone();
    }
    bridge.call("oauth_start", &fields).map(|answer| url_of(&answer))
}

/// What the person is to open.
pub fn url_of(answer: &Answer) -> String {
    answer["authorization_url"].as_str().unwrap().to_owned()
}

/// Waits for the person's answer.
pub fn finish(bridge: &Bridge) -> Result<Answer, ErrorValue> {
    bridge.call("oauth_finish", &json!({"server_id": "s"}))
}

/// The whole way, to a server that runs.
pub fn let_in(bridge: &Bridge, authority: &Authority) {
    add(bridge, &authority.mcp.url());
    let url = begin(bridge, &json!({})).unwrap();
    let _ = visit(&url);
    finish(bridge).unwrap();
    start(bridge).unwrap();
}

/// A server that wants the person, and is sound.
pub fn sound() -> Authority {
    Authority::start(Twists::default())
}

/// All that is told of the server.
pub fn told(bridge: &Bridge) -> String {
    let logs = bridge.call("mcp_get_logs", &json!({"server_id": "s"})).unwrap();
    let secrets = bridge.call("list_credentials", &json!({})).unwrap();
    let status = bridge.call("oauth_status", &json!({"server_id": "s"})).unwrap();
    let all = [logs.into_value(), secrets.into_value(), status.into_value(), bridge.server("s")];
    json!(all).to_string()
}
