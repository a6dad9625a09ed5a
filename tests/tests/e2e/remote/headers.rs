//! A server that wants other arguments as headers than its last list said: `x-mcp-header`, -32020.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harbor_tests::scripted::{Asked, answer, result, text};
use harbor_tests::{Bridge, Home, Scripted};
use serde_json::{Value, json};

use super::add;

/// By which header the server wants to have an argument, one after the other; beyond them, nothing is right.
const NAMES: [&str; 3] = ["Region", "Zone", "Area"];

const PLACE: &str = "eu";

fn listed(name: Option<&&str>) -> Value {
    let place = json!({"type": "string", "x-mcp-header": name.unwrap_or(&"Nowhere")});
    let schema = json!({"type": "object", "properties": {"place": place}});
    json!({"resultType": "complete", "tools": [{"name": "t", "inputSchema": schema}], "ttlMs": 0, "cacheScope": "private"})
}

fn error(asked: &Asked, code: i64) -> String {
    json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": {"code": code, "message": "no"}}).to_string()
}

/// A modern server that checks its header.
fn demanding(at: Arc<AtomicUsize>) -> Scripted {
    Scripted::start(move |asked, stream| {
        let name = NAMES.get(at.load(Ordering::SeqCst));
        let refused =
            |code, stream| answer(stream, "400 Bad Request", "application/json", "", &error(asked, code));
        match asked.method() {
            "server/discover" => {
                let said = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"});
                result(asked, stream, &said)
            }
            "tools/list" => result(asked, stream, &listed(name)),
            "tools/call" => match name {
                Some(name) if asked.header(&format!("mcp-param-{}", name.to_lowercase())) == PLACE => {
                    result(asked, stream, &text(name))
                }
                _ => refused(-32020, stream),
            },
            _ => refused(-32601, stream),
        }
    })
}

#[test]
fn a_call_with_headers_that_have_moved_is_sent_once_more_after_a_look_at_the_list() {
    let (home, at) = (Home::new(), Arc::<AtomicUsize>::default());
    let bridge = Bridge::start(&home);
    let server = demanding(at.clone());
    add(&bridge, &server.url(), &json!({})).unwrap();
    let place = json!({"place": PLACE});
    let seen =
        || [server.count(|asked| asked.calls("t")), server.count(|asked| asked.method() == "tools/list")];
    assert_eq!(bridge.tool_text("s", "t", &place), "Region", "the first call ever, which starts it");
    assert_eq!(seen(), [1, 1]);

    // A page gets what the person saw: it is not sent again.
    let page = bridge.asking("https://a.example").allowed();
    at.store(1, Ordering::SeqCst);
    let changed = page.call("s/t", &place).unwrap_err();
    assert_eq!(
        (changed.code.as_str(), &changed.details["reason"]),
        ("ERR_TOOL_NOT_ALLOWED", &json!("tool_changed"))
    );
    assert_eq!(seen(), [2, 2]);

    at.store(2, Ordering::SeqCst);
    assert_eq!(bridge.tool_text("s", "t", &place), "Area");
    assert_eq!(seen(), [4, 3]);

    at.store(NAMES.len(), Ordering::SeqCst);
    let refused = bridge.tool("s", "t", &place).unwrap_err();
    assert_eq!((refused.code.as_str(), &refused.details["code"]), ("ERR_TOOL_FAILED", &json!(-32020)));
    assert_eq!(seen(), [6, 4], "once more, and no more");
}
