//! In what a server says: its log, its last words, its progress. Results are its caller's.

use std::fs;

use harbor_tests::{Bridge, Double, Fault, Home, LIMIT, wait_until};
use serde_json::json;

use super::{VALUE, file, files_with, scripted, set};

#[test]
fn a_log_has_names_where_values_would_be() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // A line that is too long is shown by its first 4 KiB, which end within the value.
    let script = "echo \"the key is $API_KEY, pin $PIN\" >&2; echo \"stray $API_KEY\"; \
                  printf 'u:%s' \"$API_KEY\" | base64 -w0 >&2; echo >&2; \
                  (head -c 4084 /dev/zero; printf '%s' \"$API_KEY\"; head -c 9000 /dev/zero) | tr '\\0' x >&2; echo >&2; \
                  echo \"$PEM\" >&2; echo ready >&2";
    bridge.call("add_server", &scripted(&home, "s", script)).unwrap();
    set(&bridge, "s", "API_KEY", VALUE);
    set(&bridge, "s", "PIN", "1234");
    set(&bridge, "s", "PEM", "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n");
    bridge.connect("s");
    let mut texts = Vec::new();
    wait_until("the script's last line", LIMIT, || {
        texts = bridge.logs("s").iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect();
        texts.iter().any(|text| text == "ready")
    });
    let has = |wanted: &str| texts.iter().any(|text| text == wanted);
    assert!(has("the key is [API_KEY], pin 1234") && has("stray [API_KEY]"), "{texts:?}");
    assert!(
        texts.iter().any(|text| text.starts_with("xxx") && text.ends_with("[API_KEY] … (cut)")),
        "{texts:?}"
    );
    assert_eq!(texts.iter().filter(|text| *text == "[PEM]").count(), 3, "{texts:?}");
    let whole = texts.join("\n");
    for part in [VALUE, "sk-live", "MIIEvQ", "c2stbGl2ZS80NzExK2FiYz1YW"] {
        assert!(!whole.contains(part), "{part}");
    }
    let on_disk = home.path().join("logs/servers/s.log");
    wait_until("the log on disk", LIMIT, || {
        fs::read_to_string(&on_disk).unwrap_or_default().contains("ready")
    });
    assert_eq!(files_with(&home, VALUE), [file(&home)]);
    let shown = home.done(&["logs", "s"]);
    assert!(shown.contains("[API_KEY]") && !shown.contains("sk-live"));
    assert!(!bridge.stderr().contains("sk-live"));
}

#[test]
fn last_words_are_told_without_values() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let mut definition = scripted(&home, "s", "echo \"401 for $API_KEY\" >&2; exit 3");
    definition["supervision"] = json!({"restart": "never"});
    bridge.call("add_server", &definition).unwrap();
    set(&bridge, "s", "API_KEY", VALUE);
    let failed = bridge.fail_to_connect("s");
    assert_eq!(failed.details["stderr_tail"], "401 for [API_KEY]");
    assert_eq!(bridge.server("s")["last_exit"]["stderr_tail"], "401 for [API_KEY]");
    let (said, _) = home.refused(&["start", "s"]);
    assert!(said.contains("401 for [API_KEY]") && !said.contains("sk-live"), "{said}");

    // The double's own words for its refusal and for its progress, as if they were secrets.
    bridge.add("refuses", &Double::new(&home, Fault::RefusesInitialize));
    let words = bridge.fail_to_connect("refuses").message;
    let secret =
        words.split("it refused to connect: ").nth(1).unwrap().rsplit_once(" (").unwrap().0.to_owned();
    set(&bridge, "refuses", "WORDS", &secret);
    let hidden = bridge.fail_to_connect("refuses").message;
    assert!(hidden.contains("it refused to connect: [WORDS] (") && !hidden.contains(&secret), "{hidden}");

    bridge.add("s", &Double::sound(&home));
    set(&bridge, "s", "STEP", "step 2");
    bridge.connect("s");
    let call =
        json!({"server_id": "s", "tool_name": "progress", "arguments": {"steps": 3}, "progress": true});
    bridge.call("mcp_call_tool", &call).unwrap();
    let said: Vec<_> = (0..3).map(|_| bridge.next_push("progress", LIMIT)["message"].clone()).collect();
    assert_eq!(said, ["step 1", "[STEP]", "step 3"]);
}

/// It says its key in what is kept of its tools, to see whether they change.
const TALKER: &str = r#"
import json, os, sys
key = os.environ["API_KEY"]
tools = [{"name": "say", "description": "say " + key, "inputSchema": {"type": "object", "default": {"k": key}}},
         {"name": "say-" + key, "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": tools}
    elif message["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "said"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn what_is_kept_of_tools_has_names_where_values_would_be() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let definition = json!({"server_id": "s", "command": "python3", "args": ["-c", TALKER], "secrets": ["API_KEY"],
        "env": {harbor_tests::home::TEST_ID: home.id()}});
    bridge.call("add_server", &definition).unwrap();
    set(&bridge, "s", "API_KEY", VALUE);
    bridge.connect("s");
    assert_eq!(bridge.tool_text("s", "say", &json!({})), "said");
    wait_until("its tools on the disk", LIMIT, || !files_with(&home, "say [API_KEY]").is_empty());
    assert_eq!(files_with(&home, VALUE), [file(&home)]);
    let said: Vec<_> = bridge.logs("s").iter().map(|line| line["text"].to_string()).collect();
    assert!(
        said.iter().any(|text| text.contains("1 of its tools have one of its secrets in their names")),
        "{said:?}"
    );
    // The next start says the same, and that is no change.
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    bridge.connect("s");
    assert_eq!(bridge.server("s")["changed_tools"], serde_json::Value::Null);
}
