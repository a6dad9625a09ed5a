//! Servers as people use them, at pinned versions: each is listed and called through its isolated runner, by the person
//! and by a page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

use std::collections::BTreeMap;
use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harbor_tests::home::TEST_ID;
use harbor_tests::{Answer, Asker, Bridge, Home};
use serde_json::{Value, json};

fn installed(path: &str) -> PathBuf {
    let dir = env::var_os("HARBOR_TEST_SERVERS").filter(|dir| !dir.is_empty());
    let dir = dir
        .expect("HARBOR_TEST_SERVERS is not set: run scripts/test, which installs the servers and sets it");
    let path = Path::new(&dir).join(path);
    assert!(path.exists(), "{} is missing: run scripts/test, which installs it", path.display());
    path
}

/// A server of the npm packages, by its entry point: `npx` would stay beside it.
fn node(name: &str) -> (Value, Value) {
    let script = installed(&format!("npm/node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    (json!("node"), json!([script]))
}

fn connect(bridge: &Bridge, home: &Home, (command, args): (Value, Value)) -> Answer {
    let definition = json!({"server_id": "s", "command": command, "args": args, "env": {TEST_ID: home.id()}});
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s")
}

fn tools(connected: &Answer) -> Vec<&str> {
    connected["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// RFC 8785 and sha256, as Python has them: `{tool: hash}` of an array of tools.
const HASHES: &str = r#"
import hashlib, json, sys
NAMES = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]
def canonical(value):
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value) for name, value in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False)
def digest(tool):
    said = {name: tool[name] for name in NAMES if tool.get(name) is not None}
    return hashlib.sha256(canonical(said).encode()).hexdigest()
print(json.dumps({tool["name"]: digest(tool) for tool in json.load(sys.stdin)}))
"#;

fn hashes_by_python(tools: &str) -> BTreeMap<String, String> {
    let mut python = Command::new(installed("venv/bin/python"))
        .args(["-c", HASHES])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(tools.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A page that may use all tools: it is shown each as the server describes it, with the hash that Python finds.
fn page(bridge: &Bridge) -> Asker {
    let page = bridge.asking("https://page.example").allowed();
    let raw = bridge.call("mcp_list_tools", &json!({"server_id": "s"})).unwrap();
    let tools = page.tools();
    let hash = |tool: &Value| {
        (tool["originalName"].as_str().unwrap().into(), tool["toolHash"].as_str().unwrap().into())
    };
    assert_eq!(
        tools.iter().map(hash).collect::<BTreeMap<_, _>>(),
        hashes_by_python(&raw.field_text("tools"))
    );
    assert_eq!(tools.len(), raw["tools"].as_array().unwrap().len());
    for (shown, written) in tools.iter().zip(raw["tools"].as_array().unwrap()) {
        assert_eq!(shown["name"], format!("s/{}", written["name"].as_str().unwrap()));
        for member in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
            assert_eq!(shown[member], written[member], "{member} of {}", shown["name"]);
        }
        assert_eq!(shown["hiddenCharacters"], Value::Null, "{}", shown["name"]);
    }
    let servers = page.ask("host_list_servers", &json!({})).unwrap();
    assert_eq!(servers["servers"][0]["tool_count"], tools.len());
    page
}

/// Its first text, and where it comes from.
fn said(page: &Asker, tool: &str, args: &Value) -> String {
    let answer = page.call(&format!("s/{tool}"), args).unwrap();
    assert_eq!(
        (&answer["provenance"]["serverId"], &answer["provenance"]["toolName"]),
        (&json!("s"), &json!(tool))
    );
    answer.content_text().to_owned()
}

/// The server's own schema keeps these arguments from it.
fn refused(page: &Asker, tool: &str, args: &Value, path: &str) {
    let error = page.call(&format!("s/{tool}"), args).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["path"]), ("invalid_params", &json!(path)), "{error:?}");
}

#[test]
fn everything() {
    let server = node("server-everything");
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let connected = connect(&bridge, &home, server);
    assert!(tools(&connected).contains(&"echo"), "{:?}", tools(&connected));
    assert!(!connected["resources"].as_array().unwrap().is_empty());
    assert!(!connected["prompts"].as_array().unwrap().is_empty());
    assert!(bridge.tool_text("s", "echo", &json!({"message": "ahoy"})).contains("ahoy"));
    let page = page(&bridge);
    assert!(said(&page, "echo", &json!({"message": "ahoy"})).contains("ahoy"));
    assert!(said(&page, "get-sum", &json!({"a": 2, "b": 3})).contains('5'));
    refused(&page, "echo", &json!({"message": 7}), "/message");
    refused(&page, "get-sum", &json!({"a": 2}), "");
}

#[test]
fn filesystem() {
    let (command, mut args) = node("server-filesystem");
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let dir = home.scratch("files");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("hello.txt"), "ahoy").unwrap();
    args.as_array_mut().unwrap().push(json!(dir));
    let connected = connect(&bridge, &home, (command, args));
    assert!(tools(&connected).contains(&"read_text_file"), "{:?}", tools(&connected));
    assert_eq!(bridge.tool_text("s", "read_text_file", &json!({"path": dir.join("hello.txt")})), "ahoy");
    let outside = bridge.tool("s", "read_text_file", &json!({"path": "/etc/hostname"})).unwrap();
    assert_eq!(outside["result"]["isError"], true, "the server itself refuses");
    let page = page(&bridge);
    assert_eq!(said(&page, "read_text_file", &json!({"path": dir.join("hello.txt")})), "ahoy");
    let _ = said(&page, "write_file", &json!({"path": dir.join("new.txt"), "content": "from a page"}));
    assert_eq!(std::fs::read_to_string(dir.join("new.txt")).unwrap(), "from a page");
    refused(&page, "read_text_file", &json!({"path": ["/"]}), "/path");
}

#[test]
fn time() {
    let server = (json!(installed("venv/bin/mcp-server-time")), json!([]));
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let connected = connect(&bridge, &home, server);
    assert!(tools(&connected).contains(&"get_current_time"), "{:?}", tools(&connected));
    let time: Value =
        serde_json::from_str(&bridge.tool_text("s", "get_current_time", &json!({"timezone": "UTC"})))
            .unwrap();
    assert_eq!(time["timezone"], "UTC");
    assert!(time["datetime"].is_string(), "{time}");
    let page = page(&bridge);
    let time: Value =
        serde_json::from_str(&said(&page, "get_current_time", &json!({"timezone": "UTC"}))).unwrap();
    assert_eq!(time["timezone"], "UTC");
    refused(&page, "get_current_time", &json!({}), "");
}
