//! The tools. What a fault does instead is in `spoil`.

use std::collections::BTreeMap;
use std::process::exit;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use harbor_tests::double::echo_result;
use harbor_tests::faults::EXIT_IN_CALL;

use crate::server::{Request, Server};
use crate::wire::{Object, quoted};
use crate::{asks, offers, spoil, startup, tasks};

/// The tool `eat_memory` takes so much at a time, in bytes.
const BITE: usize = 16 * 1024 * 1024;

/// And no more than this.
const MOST_EATEN: usize = 2 * 1024 * 1024 * 1024;

/// Every tool that is there from the start.
pub const TOOLS: &[&str] = &[
    "echo",
    "sleep",
    "big",
    "progress",
    "fail",
    "tool_error",
    "die",
    "exit",
    "hang",
    "block",
    "late",
    "eat_memory",
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
    if spoil::call(server, request, &name) {
        return;
    }
    match name.as_str() {
        "echo" => {
            let arguments = request.params.raw("arguments").unwrap_or("{}");
            server.out.result(id, &echo_result(arguments, server.settings.modern));
        }
        "sleep" => sleep(server, id, milliseconds(&arguments, "ms", 0)),
        "big" => put_text(server, id, &"x".repeat(length(&arguments, "bytes"))),
        "progress" if arguments.number("ms").is_some() => steady_progress(server, request, &arguments),
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
            exit(EXIT_IN_CALL);
        }
        "exit" => exit(i32::try_from(arguments.number("code").unwrap_or(0)).expect("an exit code")),
        "hang" => server.out.fall_silent(),
        "block" => {
            thread::sleep(milliseconds(&arguments, "ms", 0));
            put_text(server, id, "blocked");
        }
        "late" => late(server, id, milliseconds(&arguments, "after_ms", 50)),
        "eat_memory" => put_text(server, id, &format!("{} bytes and still alive", eat_memory())),
        "cancelled_ids" => put_text(server, id, &server.calls.cancelled()),
        "ask_forever" => asks::require_for_ever(server, request),
        "ask_roots" | "ask_elicitation" | "ask_sampling" => ask(server, request, &name),
        "change_tools" => {
            offers::change_tools(server);
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
        name if name.starts_with(tasks::PREFIX) => tasks::begin(server, request),
        name if name.starts_with("added_") => put_text(server, id, name),
        // Whatever it was told to offer.
        _ if server.settings.tools.is_some() => {
            let arguments = request.params.raw("arguments").unwrap_or("{}");
            server.out.result(id, &echo_result(arguments, server.settings.modern));
        }
        _ => server.out.error(id, -32602, "the double has no such tool", None),
    }
}

/// Answers with one text.
pub fn put_text(server: &Server, id: &str, text: &str) {
    server.complete(id, &format!("\"content\":[{{\"type\":\"text\",\"text\":{}}}]", quoted(text)));
}

fn length(arguments: &Object, name: &str) -> usize {
    usize::try_from(arguments.number(name).unwrap_or(0)).expect("a size that fits")
}

fn milliseconds(arguments: &Object, name: &str, otherwise: u64) -> Duration {
    Duration::from_millis(arguments.number(name).unwrap_or(otherwise))
}

/// A small stack, since a test may have a thousand of them.
fn in_thread(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(256 * 1024).spawn(work).expect("a thread starts");
}

fn sleep(server: &Arc<Server>, id: &str, time: Duration) {
    let (server, id) = (Arc::clone(server), id.to_owned());
    in_thread(move || {
        if server.calls.rest(&id, time) {
            put_text(&server, &id, "slept");
        }
    });
}

/// Answers only once nobody waits for it any more, and so long after that.
fn late(server: &Arc<Server>, id: &str, after: Duration) {
    let (server, id) = (Arc::clone(server), id.to_owned());
    in_thread(move || {
        server.calls.rest(&id, startup::LIFETIME);
        thread::sleep(after);
        put_text(&server, &id, "late");
        server.journal.write(&format!("late {id}"));
    });
}

/// Ends by the allocator's refusal. Where there is no limit it stops, so as not to take the machine along.
fn eat_memory() -> usize {
    let mut eaten = Vec::new();
    while eaten.len() < MOST_EATEN / BITE {
        eaten.push(vec![1_u8; BITE]);
    }
    eaten.iter().map(Vec::len).sum()
}

fn progress(server: &Server, request: &Request, steps: u64) {
    let meta = request.params.object("_meta");
    if let Some(token) = meta.raw("progressToken") {
        (1..=steps).for_each(|step| step_forward(server, token, step, steps));
    }
    put_text(server, &request.id, "done");
}

/// Tells one step of how far it is.
pub fn step_forward(server: &Server, token: &str, step: u64, steps: u64) {
    let params = format!(
        "{{\"progressToken\":{token},\"progress\":{step},\"total\":{steps}.0,\"message\":\"step {step}\"}}"
    );
    server.out.notify("notifications/progress", &params);
}

/// Progress every `every_ms` for `ms`, unless it is cancelled; then the answer.
fn steady_progress(server: &Arc<Server>, request: &Request, arguments: &Object) {
    let (time, every) = (milliseconds(arguments, "ms", 0), milliseconds(arguments, "every_ms", 100));
    let steps = u64::try_from(time.as_millis() / every.as_millis().max(1)).expect("a number of steps");
    let token = request.params.object("_meta").raw("progressToken").map(str::to_owned);
    let (server, id) = (Arc::clone(server), request.id.clone());
    in_thread(move || {
        for step in 1..=steps {
            if !server.calls.rest(&id, every) {
                return;
            }
            token.iter().for_each(|token| step_forward(&server, token, step, steps));
        }
        put_text(&server, &id, "done");
    });
}

/// Asks the client, and answers with what came back.
pub fn ask(server: &Arc<Server>, request: &Request, tool: &str) {
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
