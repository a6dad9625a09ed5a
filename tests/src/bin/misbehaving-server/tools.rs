//! The tools, and the faults that show on a tool call.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use harbor_tests::double::echo_result;
use harbor_tests::faults::{Fault, OVER_THE_BOUND};

use crate::server::{Request, Server};
use crate::wire::{Object, quoted};
use crate::{asks, startup};

/// Every tool that is there from the start.
pub const TOOLS: &[&str] = &[
    "echo",
    "sleep",
    "big",
    "progress",
    "fail",
    "tool_error",
    "die",
    "cancelled_ids",
    "ask_roots",
    "ask_elicitation",
    "ask_sampling",
    "ask_forever",
    "change_tools",
    "env",
    "log",
    "pid",
    "touch",
];

/// Performs a tool call.
pub fn call(server: &Arc<Server>, request: &Request) {
    let (id, name) = (request.id.as_str(), request.params.text("name"));
    server.journal.write(&format!("call {name} {id}"));
    let arguments = request.params.object("arguments");
    if spoil(server, request, &name) {
        return;
    }
    match name.as_str() {
        "echo" => {
            let arguments = request.params.raw("arguments").unwrap_or("{}");
            server.out.result(id, &echo_result(arguments, server.settings.modern));
        }
        "sleep" => sleep(server, id, arguments.number("ms").unwrap_or(0)),
        "big" => put_text(server, id, &"x".repeat(length(&arguments, "bytes"))),
        "progress" => progress(server, request, arguments.number("steps").unwrap_or(3)),
        "fail" => {
            let data = "{\"why\":\"test\",\"n\":12345678901234567890}";
            server.out.error(id, -32050, "the double refuses", Some(data));
        }
        "tool_error" => {
            let members = "\"content\":[{\"type\":\"text\",\"text\":\"it did not work\"}],\"isError\":true";
            server.complete(id, members);
        }
        "die" => {
            eprintln!("dying in mid-call");
            exit(7);
        }
        "cancelled_ids" => put_text(server, id, &server.calls.cancelled()),
        "ask_forever" => asks::require_for_ever(server, request),
        "ask_roots" | "ask_elicitation" | "ask_sampling" => ask(server, request, &name),
        "change_tools" => {
            server.added_tools.fetch_add(1, Ordering::Relaxed);
            server.list_changed("notifications/tools/list_changed", "toolsListChanged");
            put_text(server, id, "changed");
        }
        "env" => {
            let all: BTreeMap<_, _> = std::env::vars().collect();
            put_text(server, id, &serde_json::to_string(&all).expect("strings are JSON"));
        }
        "log" => log(server, request),
        "pid" => put_text(server, id, &std::process::id().to_string()),
        "touch" => {
            server.resource_updated(&arguments.text("uri"));
            put_text(server, id, "touched");
        }
        name if name.starts_with("added_") => put_text(server, id, name),
        _ => server.out.error(id, -32602, "the double has no such tool", None),
    }
}

/// Does what the fault says on this call; false when the call goes its usual way.
fn spoil(server: &Server, request: &Request, tool: &str) -> bool {
    let id = &request.id;
    let first = !server.called.swap(true, Ordering::Relaxed);
    match server.settings.fault {
        Fault::InvalidUtf8 => {
            let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"text\":\"");
            server.out.bytes(&[head.as_bytes(), b"\xff\xfe", b"\"}]}}\n"].concat());
        }
        Fault::NoFinalNewline if first => {
            let result = echo_result(request.params.raw("arguments").unwrap_or("{}"), server.settings.modern);
            server.out.bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").as_bytes());
            exit(0);
        }
        Fault::HugeLine if tool == "echo" => {
            let mut line =
                b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"".to_vec();
            line.resize(line.len() + OVER_THE_BOUND, b'x');
            writeln!(line, "\"}}]}},\"id\":{id}}}").expect("memory takes everything");
            server.out.bytes(&line);
        }
        Fault::ClosesStdout if first => {
            let nowhere = std::fs::File::options().write(true).open("/dev/null").expect("it is always there");
            nix::unistd::dup2_stdout(nowhere).expect("stdout can be replaced");
        }
        Fault::StopsReading if first => startup::linger(),
        _ => return false,
    }
    true
}

/// Answers with one text.
pub fn put_text(server: &Server, id: &str, text: &str) {
    server.complete(id, &format!("\"content\":[{{\"type\":\"text\",\"text\":{}}}]", quoted(text)));
}

fn length(arguments: &Object, name: &str) -> usize {
    usize::try_from(arguments.number(name).unwrap_or(0)).expect("a size that fits")
}

/// A small stack, since a test may have a thousand of them.
fn in_thread(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(256 * 1024).spawn(work).expect("a thread starts");
}

fn sleep(server: &Arc<Server>, id: &str, ms: u64) {
    let (server, id) = (Arc::clone(server), id.to_owned());
    in_thread(move || {
        if server.calls.rest(&id, Duration::from_millis(ms)) {
            put_text(&server, &id, "slept");
        }
    });
}

fn progress(server: &Server, request: &Request, steps: u64) {
    let meta = request.params.object("_meta");
    if let Some(token) = meta.raw("progressToken") {
        for step in 1..=steps {
            let params = format!(
                "{{\"progressToken\":{token},\"progress\":{step},\"total\":{steps}.0,\"message\":\"step {step}\"}}"
            );
            server.out.notify("notifications/progress", &params);
        }
    }
    put_text(server, &request.id, "done");
}

fn ask(server: &Arc<Server>, request: &Request, tool: &str) {
    if server.settings.modern {
        asks::require_input(server, request, tool);
        return;
    }
    let (method, params) = asks::question(tool);
    let (server, id) = (Arc::clone(server), request.id.clone());
    in_thread(move || {
        let answer = server.asks.ask(&server.out, method, params);
        put_text(&server, &id, &answer);
    });
}

/// A line on stderr, and one by MCP; a modern server sends the latter only to whoever set a level.
fn log(server: &Server, request: &Request) {
    eprintln!("a log line on stderr");
    let level = request.params.object("_meta").text("io.modelcontextprotocol/logLevel");
    if !server.settings.modern || !level.is_empty() {
        let params = "{\"level\":\"warning\",\"logger\":\"double\",\"data\":\"a log line by MCP\"}";
        server.out.notify("notifications/message", params);
    }
    put_text(server, &request.id, "logged");
}
