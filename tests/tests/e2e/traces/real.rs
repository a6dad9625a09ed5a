//! A collector that reads with OpenTelemetry's own messages (PyPI's opentelemetry-proto) and refuses what they do not know.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use harbor_tests::programs::installed;
use harbor_tests::{Bridge, Client, Double, Home, LIMIT, Program, wait_until};
use serde_json::{Value, json};

use super::{attribute, children, roots, times};

/// Says its port on stderr; writes each request that it could read, as its own library writes it, as a line of a file. That
/// library takes numbers of traces for base64, which OTLP has as hexadecimal: it is undone.
const COLLECTOR: &str = r#"
import base64, http.server, json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as service

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            assert (self.path, self.headers["Content-Type"]) == ("/v1/traces", "application/json"), self.path
            read = json_format.Parse(body, service.ExportTraceServiceRequest())
            assert len(read.resource_spans) == 1
            with open(sys.argv[1], "a") as kept:
                kept.write(json_format.MessageToJson(read, indent=None) + "\n")
            status, answer = 200, json_format.MessageToJson(service.ExportTraceServiceResponse())
        except Exception as error:
            print("refused:", error, body, file=sys.stderr, flush=True)
            status, answer = 400, "{}"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())
    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, file=sys.stderr, flush=True)
server.serve_forever()
"#;

struct Collector {
    program: Program,
    kept: PathBuf,
    port: u16,
}

impl Collector {
    fn start(home: &Home) -> Self {
        let kept = home.scratch("traces");
        let program =
            Program::start(Command::new(installed("venv/bin/python")).args(["-c", COLLECTOR]).arg(&kept));
        let mut port = None;
        wait_until("the collector to listen", LIMIT, || {
            let said = program.said();
            assert!(!said.iter().any(|line| line.contains("Error")), "{said:?}");
            port = said.iter().find_map(|line| line.strip_prefix("port ")?.parse().ok());
            port.is_some()
        });
        Self { program, kept, port: port.unwrap() }
    }

    fn requests(&self) -> Vec<Value> {
        let said = self.program.stderr();
        assert!(!said.contains("refused"), "{said}");
        let text = fs::read_to_string(&self.kept).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn spans(requests: &[Value]) -> Vec<Value> {
    let spans = requests.iter().map(|request| &request["resourceSpans"][0]["scopeSpans"][0]["spans"]);
    spans.flat_map(|spans| spans.as_array().unwrap().clone()).collect()
}

#[test]
fn opentelemetrys_own_messages_read_what_is_sent() {
    let home = Home::new();
    let collector = Collector::start(&home);
    // By name, as people write it.
    home.configure(&format!("[traces]\nendpoint = \"http://localhost:{}\"\n", collector.port));
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let before = harbor_home::clock::wall_clock_nanos();
    bridge.tool("s", "echo", &json!({"text": "abc"})).unwrap();
    let answered = harbor_home::clock::wall_clock_nanos();
    bridge.tool("s", "fail", &json!({})).unwrap_err();
    bridge.call("mcp_read_resource", &json!({"server_id": "s", "uri": "double://note"})).unwrap();
    let client = Client::attach_ai(&home, "ai");
    client.speaking(&json!({})).tool("s/echo", &json!({})).unwrap_err();
    bridge.stop();

    let requests = collector.requests();
    let resource = &requests[0]["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name"), Some("harbor"));
    assert_eq!(attribute(resource, "service.version"), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(attribute(resource, "service.instance.id").map(str::len), Some(36));
    let spans = spans(&requests);
    let echoes = roots(&spans, "tools/call echo");
    let [echo, refused] = echoes[..] else { panic!("{spans:#?}") };

    assert_eq!((&echo["kind"], &echo["status"]), (&json!("SPAN_KIND_SERVER"), &Value::Null));
    for (key, value) in [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "echo"),
        ("harbor.server.id", "s"),
        ("harbor.caller", "owner"),
        ("harbor.request.size", "14"),
    ] {
        assert_eq!(attribute(echo, key), Some(value), "{key}: {echo:#?}");
    }
    assert!(attribute(echo, "harbor.server.sandbox").is_some());
    assert!(attribute(echo, "harbor.response.size").unwrap().parse::<u64>().unwrap() > 10);
    assert!(attribute(echo, "error.type").is_none());
    let (began, ended) = times(echo);
    assert!(before <= began && began < ended && ended <= answered, "{before} {began} {ended} {answered}");
    let below = children(&spans, echo);
    let (name, work) = below.last().unwrap();
    assert_eq!((*name, &work["kind"]), ("tools/call echo", &json!("SPAN_KIND_CLIENT")));
    assert_eq!(attribute(work, "network.transport"), Some("pipe"));

    assert_eq!(attribute(refused, "harbor.caller"), Some("client"));
    assert_eq!(attribute(refused, "error.type"), Some("ERR_SCOPE_REQUIRED"));
    assert_eq!(
        (&refused["status"], children(&spans, refused).len()),
        (&json!({"code": "STATUS_CODE_ERROR"}), 0)
    );
    let failed = roots(&spans, "tools/call fail")[0];
    assert_eq!(failed["status"]["code"], "STATUS_CODE_ERROR");
    assert_eq!(children(&spans, failed).last().unwrap().1["status"]["code"], "STATUS_CODE_ERROR");
    let read = roots(&spans, "resources/read")[0];
    assert_eq!((attribute(read, "mcp.method.name"), &read["status"]), (Some("resources/read"), &Value::Null));
    let mut traces: Vec<_> = spans.iter().map(|span| span["traceId"].as_str().unwrap()).collect();
    traces.sort_unstable();
    traces.dedup();
    assert_eq!(traces.len(), 4, "one for each call");
    assert!(traces.iter().all(|trace| trace.len() == 32 && trace.bytes().all(|b| b.is_ascii_hexdigit())));
}
