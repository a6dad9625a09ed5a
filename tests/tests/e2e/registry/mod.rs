//! The tools and servers that origins see: which, as what, and whether they are still what the person saw first.

mod hashes;
mod lazy;
mod lists;
mod pins;
mod stats;

use harbor_tests::{Asker, Bridge, Double, Home};
use serde_json::{Value, json};

/// A web page's origin.
pub(crate) const PAGE: &str = "https://page.example";

/// A bridge with the server `s`, and a page that may list and call its tools.
pub(crate) fn scene(home: &Home, double: &Double) -> (Bridge, Asker) {
    let bridge = Bridge::start(home);
    bridge.add_and_connect("s", double);
    let page = bridge.asking(PAGE).allowed();
    (bridge, page)
}

/// Tools with these names and descriptions, and the one by which the server says that they have changed.
pub(crate) fn offer(tools: &[(&str, &str)]) -> String {
    let tool = |(name, description): &(&str, &str)| json!({"name": name, "description": description});
    let mut all: Vec<_> = tools.iter().map(tool).collect();
    all.push(json!({"name": "change_tools"}));
    Value::Array(all).to_string()
}

/// Has the server say that its tools have changed.
pub(crate) fn announce(bridge: &Bridge) {
    assert_eq!(bridge.tool_text("s", "change_tools", &json!({})), "changed");
}

/// The descriptor of a tool that is listed.
pub(crate) fn listed(page: &Asker, name: &str) -> Option<Value> {
    page.tools().into_iter().find(|tool| tool["name"] == name)
}
