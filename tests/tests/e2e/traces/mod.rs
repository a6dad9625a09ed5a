//! Traces: what is told of a call, what never is, and what becomes of it with collectors of every kind.

mod collector;
mod delivery;
mod real;
mod told;

use serde_json::Value;

/// A configuration that sends traces there.
fn sending_to(at: &std::net::SocketAddr) -> String {
    format!("[traces]\nendpoint = \"http://{at}\"\n")
}

/// The value of an attribute, numbers as the text that they are.
fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a str> {
    let attributes = span["attributes"].as_array()?;
    let value = &attributes.iter().find(|attribute| attribute["key"] == key)?["value"];
    value["stringValue"].as_str().or(value["intValue"].as_str())
}

/// The spans with this name that have no parent.
fn roots<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|span| span["name"] == name && span["parentSpanId"].is_null()).collect()
}

/// The spans below this one, by name.
fn children<'a>(spans: &'a [Value], root: &Value) -> Vec<(&'a str, &'a Value)> {
    let below = spans
        .iter()
        .filter(|span| span["parentSpanId"] == root["spanId"] && span["traceId"] == root["traceId"]);
    below.map(|span| (span["name"].as_str().unwrap(), span)).collect()
}

/// When a span began and ended, in nanoseconds since 1970.
fn times(span: &Value) -> (u64, u64) {
    let time = |name: &str| span[name].as_str().unwrap().parse().unwrap();
    (time("startTimeUnixNano"), time("endTimeUnixNano"))
}
