//! What the server offers besides tool calls: lists, a resource, a prompt, completion, subscriptions, logging.

use std::sync::atomic::Ordering;
use std::time::Duration;

use harbor_tests::Fault;
use serde_json::value::RawValue;

use crate::server::{Request, Server};
use crate::tools::TOOLS;
use crate::wire::{Object, quoted};

const NOTE: &str = "double://note";
const PAGES: usize = 3;

/// How long [`Fault::RestlessLists`] takes for its prompts: long enough for every other list to be there first.
const SLOW_LIST: Duration = Duration::from_millis(300);

/// Answers a request of these kinds; false when it is of another kind.
pub fn answer(server: &Server, request: &Request) -> bool {
    let (id, params) = (request.id.as_str(), &request.params);
    match (request.method.as_str(), server.settings.modern) {
        ("tools/list", _) => {
            list(server, request, "tools", &tools(server));
            if server.settings.fault == Fault::EndlessLists {
                change_tools(server);
            }
        }
        ("resources/list", _) => list(server, request, "resources", &resources(server)),
        ("resources/templates/list", _) => list(server, request, "resourceTemplates", &templates(server)),
        ("prompts/list", _) => {
            if server.settings.fault == Fault::RestlessLists {
                std::thread::sleep(SLOW_LIST);
            }
            list(server, request, "prompts", &prompts(server));
        }
        ("resources/read", _) => read(server, id, &params.text("uri")),
        ("prompts/get", _) => prompt(server, request),
        ("completion/complete", _) => complete(server, request),
        ("subscriptions/listen", true) => listen(server, request),
        ("resources/subscribe", false) => {
            server.subscriptions.lock().unwrap().insert(params.text("uri"));
            server.complete(id, "");
        }
        ("resources/unsubscribe", false) => {
            server.subscriptions.lock().unwrap().remove(&params.text("uri"));
            server.complete(id, "");
        }
        ("logging/setLevel", false) => {
            server.journal.write(&format!("level {}", params.text("level")));
            server.complete(id, "");
        }
        ("ping", false) => server.complete(id, ""),
        ("tasks/get" | "tasks/cancel" | "tasks/update", _) => task(server, request),
        _ => return false,
    }
    true
}

/// Has one tool more, and says so.
pub fn change_tools(server: &Server) {
    server.added_tools.fetch_add(1, Ordering::Relaxed);
    server.list_changed("notifications/tools/list_changed", "toolsListChanged");
}

/// A page of a list; `items` are JSON texts. The whole of it, unless the server was told to page.
fn list(server: &Server, request: &Request, name: &str, items: &[String]) {
    let page = match request.params.text("cursor").as_str() {
        "" => 0,
        "page-1" => 1,
        "page-2" => 2,
        _ => {
            server.out.error(&request.id, -32602, "the double never gave this cursor", None);
            return;
        }
    };
    let pages = if server.settings.paged { PAGES } else { 1 };
    let size = items.len().div_ceil(pages).max(1);
    let here = items.chunks(size).nth(page).unwrap_or_default().join(",");
    let next =
        if page + 1 < pages { format!(",\"nextCursor\":\"page-{}\"", page + 1) } else { String::new() };
    let cache = if server.settings.modern { ",\"ttlMs\":0,\"cacheScope\":\"private\"" } else { "" };
    server.complete(&request.id, &format!("\"{name}\":[{here}]{next}{cache}"));
}

fn tools(server: &Server) -> Vec<String> {
    if let Some(path) = &server.settings.tools {
        let text = std::fs::read(path).expect("the list of tools can be read");
        let tools: Vec<Box<RawValue>> = serde_json::from_slice(&text).expect("it is an array");
        return tools.iter().map(|tool| tool.get().to_owned()).collect();
    }
    let added = (0..server.added_tools.load(Ordering::Relaxed)).map(|n| format!("added_{n}"));
    let names = TOOLS.iter().map(ToString::to_string).chain(added);
    let tool = |name: String| {
        format!(
            "{{\"name\":\"{name}\",\"futureHint\":{{\"z\":1,\"a\":2}},\"inputSchema\":{{\"type\":\"object\"}},\
             \"description\":\"The tool {name}.\"}}"
        )
    };
    names.map(tool).collect()
}

/// One of a kind, or as many as there are pages.
fn numbered(server: &Server, one: impl Fn(&str) -> String) -> Vec<String> {
    let suffixes: &[&str] = if server.settings.paged { &["", "-2", "-3"] } else { &[""] };
    suffixes.iter().map(|suffix| one(suffix)).collect()
}

fn resources(server: &Server) -> Vec<String> {
    numbered(server, |n| {
        format!("{{\"uri\":\"{NOTE}{n}\",\"name\":\"note{n}\",\"novel\":[1e2],\"mimeType\":\"text/plain\"}}")
    })
}

fn templates(server: &Server) -> Vec<String> {
    numbered(server, |n| format!("{{\"uriTemplate\":\"{NOTE}{n}/{{name}}\",\"name\":\"named note{n}\"}}"))
}

fn prompts(server: &Server) -> Vec<String> {
    numbered(server, |n| {
        format!(
            "{{\"name\":\"greet{n}\",\"arguments\":[{{\"name\":\"who\",\"required\":true}}],\"novel\":null}}"
        )
    })
}

fn read(server: &Server, id: &str, uri: &str) {
    if !uri.starts_with(NOTE) {
        let code = if server.settings.modern { -32602 } else { -32002 };
        server.out.error(id, code, "Resource not found", Some(&format!("{{\"uri\":{}}}", quoted(uri))));
        return;
    }
    let uri = quoted(uri);
    let cache = if server.settings.modern { ",\"ttlMs\":0,\"cacheScope\":\"private\"" } else { "" };
    let content = format!("{{\"uri\":{uri},\"novel\":1.50,\"mimeType\":\"text/plain\",\"text\":\"a note\"}}");
    server.complete(id, &format!("\"contents\":[{content}]{cache}"));
}

fn prompt(server: &Server, request: &Request) {
    let who = request.params.object("arguments").text("who");
    if request.params.text("name") != "greet" || who.is_empty() {
        server.out.error(&request.id, -32602, "the double greets somebody, or nobody", None);
        return;
    }
    let text = quoted(&format!("Hello, {who}!"));
    let message = format!("{{\"role\":\"user\",\"content\":{{\"type\":\"text\",\"text\":{text}}}}}");
    server.complete(&request.id, &format!("\"messages\":[{message}],\"novel\":0.10"));
}

fn complete(server: &Server, request: &Request) {
    let begun = request.params.object("argument").text("value");
    let names: Vec<_> =
        ["Ada", "Alan", "Grace"].into_iter().filter(|name| name.starts_with(&begun)).collect();
    let values: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    let (values, total) = (values.join(","), names.len());
    server.complete(
        &request.id,
        &format!("\"completion\":{{\"values\":[{values}],\"total\":{total},\"hasMore\":false}}"),
    );
}

/// Says which task was asked for, and whether the client declared the extension with the request.
fn task(server: &Server, request: &Request) {
    let task = request.params.raw("taskId").unwrap_or("null");
    let meta = request.params.object("_meta");
    let extensions = meta.object("io.modelcontextprotocol/clientCapabilities").object("extensions");
    let declared = extensions.raw("io.modelcontextprotocol/tasks").is_some();
    server.complete(&request.id, &format!("\"taskId\":{task},\"novel\":1e2,\"declared\":{declared}"));
}

/// Acknowledges, and answers no further: the request stays open as long as the subscription.
fn listen(server: &Server, request: &Request) {
    let id = &request.id;
    let wanted = request.params.raw("notifications").unwrap_or("{}");
    let meta = format!("\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}");
    server.journal.write(&format!("listen {id} {wanted}"));
    let filter = Object::read(wanted.as_bytes()).unwrap_or_default();
    server.listens.lock().unwrap().insert(id.clone(), filter);
    let params = format!("{{{meta},\"notifications\":{wanted}}}");
    server.out.notify("notifications/subscriptions/acknowledged", &params);
}
