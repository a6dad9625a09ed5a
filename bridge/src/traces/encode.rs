//! Spans as OTLP's JSON: an `ExportTraceServiceRequest`.
//!
//! Owns names of attributes: those of OpenTelemetry's conventions for MCP where there is one, else `harbor.…`. They are
//! in other people's queries, so none changes its meaning. In this JSON, ids of traces are hexadecimal, and numbers of 64
//! bits are text.

use harbor_ipc_proto::hex::hex;
use serde::{Serialize, Serializer};

use super::span::{Part, TracedCall};

/// Kinds of spans and of status, as OTLP numbers them.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// The facts about this bridge that each request has.
#[derive(Debug)]
pub(super) struct TraceResource {
    /// An id that is new at each start.
    pub(super) instance: String,
    pub(super) version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Attributes<'a>,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct Attributes<'a> {
    attributes: Vec<Attribute<'a>>,
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Vec<Span<'a>>,
}

#[derive(Serialize)]
struct Scope {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Span<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: String,
    kind: u8,
    #[serde(serialize_with = "as_text")]
    start_time_unix_nano: u64,
    #[serde(serialize_with = "as_text")]
    end_time_unix_nano: u64,
    attributes: Vec<Attribute<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<SpanStatus>,
}

#[derive(Serialize)]
struct SpanStatus {
    code: u8,
}

#[derive(Serialize)]
struct Attribute<'a> {
    key: &'static str,
    value: Value<'a>,
}

#[derive(Serialize)]
enum Value<'a> {
    #[serde(rename = "stringValue")]
    Text(&'a str),
    #[serde(rename = "intValue", serialize_with = "as_text")]
    Number(u64),
}

fn as_text<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    // OTLP's numbers are signed.
    serializer.collect_str(&(*number).min(i64::MAX as u64))
}

/// The body of a request with these calls. `origins` is true if the person still wants origins told.
pub(super) fn encode(resource: &TraceResource, calls: &[TracedCall], origins: bool) -> Vec<u8> {
    let spans = calls.iter().flat_map(|call| spans(call, origins)).collect();
    let scope = Scope { name: "harbor", version: resource.version };
    let attributes = vec![
        text("service.name", "harbor"),
        text("service.version", resource.version),
        text("service.instance.id", &resource.instance),
    ];
    let scope_spans = [ScopeSpans { scope, spans }];
    let request =
        Request { resource_spans: [ResourceSpans { resource: Attributes { attributes }, scope_spans }] };
    // This cannot fail: there are no maps, and it writes to memory.
    serde_json::to_vec(&request).unwrap_or_default()
}

fn spans(call: &TracedCall, origins: bool) -> impl Iterator<Item = Span<'_>> {
    let id = |nth: u64| hex(&call.ids.span.wrapping_add(nth).max(1).to_be_bytes());
    call.parts().zip(0..).map(move |((part, began, ended), nth)| {
        let (name, kind, attributes) = match part {
            Part::Call => (name(call), SERVER, of_call(call, origins)),
            Part::Queue => ("queue".to_owned(), INTERNAL, of_server(call).collect()),
            Part::Start => ("start".to_owned(), INTERNAL, of_server(call).collect()),
            Part::Work => (name(call), CLIENT, of_work(call)),
        };
        let has_failed = call.error.is_some() && matches!(part, Part::Call | Part::Work);
        Span {
            trace_id: hex(&call.ids.trace),
            span_id: id(nth),
            parent_span_id: (part != Part::Call).then(|| id(0)),
            name,
            kind,
            start_time_unix_nano: began,
            end_time_unix_nano: ended,
            attributes,
            status: has_failed.then_some(SpanStatus { code: ERROR }),
        }
    })
}

fn name(call: &TracedCall) -> String {
    call.tool.as_ref().map_or_else(|| call.method.to_owned(), |tool| format!("{} {tool}", call.method))
}

/// The attributes that the conventions want of a request, on either side of it.
fn of_request(call: &TracedCall) -> impl Iterator<Item = Attribute<'_>> {
    let is_tool = call.method == "tools/call";
    [
        Some(text("mcp.method.name", call.method)),
        is_tool.then(|| text("gen_ai.operation.name", "execute_tool")),
        call.tool.as_deref().map(|tool| text("gen_ai.tool.name", tool)),
        call.error.map(|code| text("error.type", code)),
    ]
    .into_iter()
    .flatten()
}

fn of_server(call: &TracedCall) -> impl Iterator<Item = Attribute<'_>> {
    call.server.as_deref().map(|server| text("harbor.server.id", server)).into_iter()
}

fn of_call(call: &TracedCall, origins: bool) -> Vec<Attribute<'_>> {
    let own = [
        call.sandbox.map(|level| text("harbor.server.sandbox", level)),
        Some(text("harbor.caller", call.caller)),
        call.origin.as_deref().filter(|_| origins).map(|origin| text("harbor.origin", origin)),
        call.bytes_in.map(|bytes| number("harbor.request.size", bytes)),
        call.bytes_out.map(|bytes| number("harbor.response.size", bytes)),
    ];
    of_request(call).chain(of_server(call)).chain(own.into_iter().flatten()).collect()
}

fn of_work(call: &TracedCall) -> Vec<Attribute<'_>> {
    of_request(call).chain([text("network.transport", "pipe")]).chain(of_server(call)).collect()
}

fn text<'a>(key: &'static str, value: &'a str) -> Attribute<'a> {
    Attribute { key, value: Value::Text(value) }
}

fn number(key: &'static str, value: u64) -> Attribute<'static> {
    Attribute { key, value: Value::Number(value) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::span::CallTimes;
    use super::super::span::tests::call;
    use super::*;

    fn encoded(calls: &[TracedCall], origins: bool) -> String {
        let resource = TraceResource { instance: "i-1".into(), version: "0.1.0" };
        String::from_utf8(encode(&resource, calls, origins)).unwrap()
    }

    const START: &str = concat!(
        r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"harbor"}},"#,
        r#"{"key":"service.version","value":{"stringValue":"0.1.0"}},"#,
        r#"{"key":"service.instance.id","value":{"stringValue":"i-1"}}]},"#,
        r#""scopeSpans":[{"scope":{"name":"harbor","version":"0.1.0"},"spans":["#,
    );

    /// Byte by byte, as the protocol's mapping to JSON has it.
    #[test]
    fn a_call_is_told_in_otlps_json() {
        let millis = Duration::from_millis;
        let times = CallTimes {
            began: 1_700_000_000_000_000_000,
            whole: millis(9),
            queued: Some(millis(2)),
            asked: Some(millis(5)),
        };
        let failed = TracedCall { error: Some("ERR_TIMEOUT"), bytes_out: None, ..call(times) };
        let wanted = [
            START,
            r#"{"traceId":"abababababababababababababababab","spanId":"0102030405060708","name":"tools/call echo","kind":2,"#,
            r#""startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000009000000","attributes":["#,
            r#"{"key":"mcp.method.name","value":{"stringValue":"tools/call"}},"#,
            r#"{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},"#,
            r#"{"key":"gen_ai.tool.name","value":{"stringValue":"echo"}},"#,
            r#"{"key":"error.type","value":{"stringValue":"ERR_TIMEOUT"}},"#,
            r#"{"key":"harbor.server.id","value":{"stringValue":"s"}},"#,
            r#"{"key":"harbor.server.sandbox","value":{"stringValue":"strict"}},"#,
            r#"{"key":"harbor.caller","value":{"stringValue":"page"}},"#,
            r#"{"key":"harbor.request.size","value":{"intValue":"2"}}],"status":{"code":2}},"#,
            r#"{"traceId":"abababababababababababababababab","spanId":"0102030405060709","parentSpanId":"0102030405060708","#,
            r#""name":"queue","kind":1,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000002000000","#,
            r#""attributes":[{"key":"harbor.server.id","value":{"stringValue":"s"}}]},"#,
            r#"{"traceId":"abababababababababababababababab","spanId":"010203040506070a","parentSpanId":"0102030405060708","#,
            r#""name":"start","kind":1,"startTimeUnixNano":"1700000000002000000","endTimeUnixNano":"1700000000005000000","#,
            r#""attributes":[{"key":"harbor.server.id","value":{"stringValue":"s"}}]},"#,
            r#"{"traceId":"abababababababababababababababab","spanId":"010203040506070b","parentSpanId":"0102030405060708","#,
            r#""name":"tools/call echo","kind":3,"startTimeUnixNano":"1700000000005000000","endTimeUnixNano":"1700000000009000000","#,
            r#""attributes":[{"key":"mcp.method.name","value":{"stringValue":"tools/call"}},"#,
            r#"{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},"#,
            r#"{"key":"gen_ai.tool.name","value":{"stringValue":"echo"}},"#,
            r#"{"key":"error.type","value":{"stringValue":"ERR_TIMEOUT"}},"#,
            r#"{"key":"network.transport","value":{"stringValue":"pipe"}},"#,
            r#"{"key":"harbor.server.id","value":{"stringValue":"s"}}],"status":{"code":2}}]}]}]}"#,
        ];
        assert_eq!(encoded(&[failed], false), wanted.concat());
    }

    #[test]
    fn origins_are_told_only_where_they_are_wanted_and_what_is_not_known_is_absent() {
        let known = call(CallTimes::default());
        assert!(!encoded(std::slice::from_ref(&known), false).contains("a.example"));
        let told = r#"{"key":"harbor.origin","value":{"stringValue":"https://a.example"}}"#;
        assert!(encoded(std::slice::from_ref(&known), true).contains(told));
        let size = r#"{"key":"harbor.response.size","value":{"intValue":"9223372036854775807"}}"#;
        assert!(encoded(std::slice::from_ref(&known), false).contains(size));
        let unknown =
            TracedCall { method: "resources/read", tool: None, server: None, sandbox: None, ..known };
        let text = encoded(&[unknown], false);
        assert!(text.contains(r#""name":"resources/read","kind":2"#), "{text}");
        for absent in ["gen_ai", "harbor.server", "status", "parentSpanId", "error.type"] {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
        assert_eq!(encoded(&[], true), format!("{START}]}}]}}]}}"));
    }
}
