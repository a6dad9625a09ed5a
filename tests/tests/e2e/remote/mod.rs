//! Remote servers: real ones over HTTP, and scripted ones that do what none should.

mod asking;
mod greedy;
mod headers;
mod hostile;
mod real;
mod refused;
mod sessions;
mod streams;
mod tls;

use harbor_tests::{Answer, Bridge, ErrorValue};
use serde_json::{Value, json};

/// Defines the server `s` there.
pub fn add(bridge: &Bridge, url: &str, more: &Value) -> Result<Answer, ErrorValue> {
    let mut fields = json!({"server_id": "s", "url": url, "allow_private": true,
        "supervision": {"restart_delays_ms": [50, 100, 150]}});
    for (name, value) in more.as_object().into_iter().flatten() {
        fields[name] = value.clone();
    }
    bridge.call("add_remote_server", &fields)
}

/// Defines it and starts it.
pub fn connect(bridge: &Bridge, url: &str, more: &Value) -> Result<Answer, ErrorValue> {
    add(bridge, url, more)?;
    bridge.call("connect_server", &json!({"server_id": "s"}))
}

/// How a start fails: the cause and the sentence.
pub fn failure(bridge: &Bridge, url: &str, more: &Value) -> (String, String) {
    let error = connect(bridge, url, more).unwrap_err();
    let exit = bridge.exit("s");
    (exit["cause"].as_str().unwrap_or_default().to_owned(), error.message)
}
