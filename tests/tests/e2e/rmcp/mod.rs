//! rmcp, the Rust SDK, at both ends: its client against `harbor mcp` by stdio and by HTTP, its server behind the runner and
//! behind the HTTP runner, each in both generations of MCP.
//!
//! ```text
//!  rmcp's client ─stdio, HTTP─► harbor mcp ─► bridge ─► runner, HTTP runner ─► rmcp's server
//!        └───────────── what arrives is compared with what was said ─────────────┘
//! ```
//!
//! rmcp reads what it is told into types and refuses what does not fit, so a tour past both ends is a check of the shape of all that
//! Harbor says. That unknown members survive is no question for it: it drops them.

mod client;
mod confirming;
mod tour;

use harbor_tests::home::TEST_ID;
use harbor_tests::programs::double;
use harbor_tests::rmcp_server::Generation::{self, Newer, Older};
use harbor_tests::rmcp_server::http::RmcpHttp;
use harbor_tests::{Bridge, Home};
use serde_json::json;

use client::{AiClient, Way};

/// Defines rmcp's server on pipes as `s`, and starts it.
fn connect_stdio(home: &Home, bridge: &Bridge, generation: Generation) {
    let definition = json!({"server_id": "s", "command": double("rmcp-server"), "args": [generation.word()],
        "env": {TEST_ID: home.id()}});
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
}

/// The same behind HTTP.
fn connect_http(bridge: &Bridge, server: &RmcpHttp) {
    super::remote::connect(bridge, &server.url(), &json!({})).unwrap();
}

/// Goes the whole tour with a client of this generation.
fn tour(home: &Home, bridge: &Bridge, way: Way, client: Generation, server: Generation) {
    let revision = server.revision();
    assert_eq!(bridge.server("s")["protocol_version"], revision.as_str());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = AiClient::connect(home, way, client, server).await;
        tour::go(&mut client).await;
        client.end().await;
    });
}

fn tour_on_stdio(way: Way, client: Generation, server: Generation) {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    connect_stdio(&home, &bridge, server);
    tour(&home, &bridge, way, client, server);
}

fn tour_on_http(way: Way, client: Generation, server: Generation) {
    let home = Home::new();
    let http = RmcpHttp::start(server);
    let bridge = Bridge::start(&home);
    connect_http(&bridge, &http);
    tour(&home, &bridge, way, client, server);
}

#[test]
fn an_older_client_by_stdio_and_an_older_server_on_pipes() {
    tour_on_stdio(Way::Stdio, Older, Older);
}

#[test]
fn a_newer_client_by_stdio_and_a_newer_server_on_pipes() {
    tour_on_stdio(Way::Stdio, Newer, Newer);
}

#[test]
fn an_older_client_by_http_and_a_newer_server_on_pipes() {
    tour_on_stdio(Way::Http, Older, Newer);
}

#[test]
fn a_newer_client_by_http_and_an_older_server_on_pipes() {
    tour_on_stdio(Way::Http, Newer, Older);
}

#[test]
fn a_newer_client_by_stdio_and_an_older_server_behind_http() {
    tour_on_http(Way::Stdio, Newer, Older);
}

#[test]
fn an_older_client_by_stdio_and_a_newer_server_behind_http() {
    tour_on_http(Way::Stdio, Older, Newer);
}

#[test]
fn an_older_client_by_http_and_an_older_server_behind_http() {
    tour_on_http(Way::Http, Older, Older);
}

#[test]
fn a_newer_client_by_http_and_a_newer_server_behind_http() {
    tour_on_http(Way::Http, Newer, Newer);
}
