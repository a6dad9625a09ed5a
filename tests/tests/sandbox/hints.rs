//! What a person is told when a server fails for want of what its sandbox has not: on the spot, in the log, and by
//! `harbor sandbox`; and that doing as told helps.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;

use harbor_tests::attacker::PYTHON;
use harbor_tests::client::CALL;
use harbor_tests::{Bridge, Direct, Home, LIMIT, wait_until};
use serde_json::{Value, json};

use crate::listeners::free_port;

/// A server with one tool, which does what its neighbour says.
const SERVER: &str = r#"
import json, sys
import helper

def answer(method):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "eat", "inputSchema": {"type": "object"}}]}
    try:
        text, failed = str(helper.act()), False
    except BaseException as error:
        text, failed = repr(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] in ("initialize", "tools/list", "tools/call"):
        said = {"result": answer(asked["method"])}
    else:
        said = {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"#;

/// Stdout and stderr, and whether it did what was asked for.
fn harbor(home: &Home, args: &[&str]) -> (String, String, bool) {
    let output = home.command("harbor").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.success())
}

/// Needs a lot of memory.
const EATS: &str = "def act():\n    return len(bytearray(100 << 20))\n";

/// Asks for a page, by the proxy that it finds in its environment.
const ASKS: &str = r#"
import urllib.request

def act():
    return urllib.request.urlopen("http://refused.example/").status
"#;

fn script(home: &Home, helper: &str) -> PathBuf {
    let directory = home.scratch("tool");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("helper.py"), helper).unwrap();
    fs::write(directory.join("server.py"), SERVER).unwrap();
    directory
}

#[test]
fn a_missing_neighbour_and_too_little_memory_are_told_with_what_helps() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // Until it answers, `harbor` would start another one.
    bridge.call("ping", &json!({})).unwrap();
    let directory = script(&home, EATS);
    let (tool, server) = (directory.to_str().unwrap(), directory.join("server.py"));
    let add = ["add", "s", "--memory", "64", "--restart", "never", "--", PYTHON, server.to_str().unwrap()];
    let (_, said, done) = harbor(&home, &add);
    let neighbour = format!("{tool}/helper.py; this allows it: harbor sandbox s --read {tool}\n");
    assert!(!done && said.contains(&format!("its sandbox refused {neighbour}")), "{said}");

    let shown = harbor(&home, &["sandbox", "s", "--read", tool]).0;
    assert!(shown.contains("may read and execute"), "{shown}");
    let (said, failure, done) = harbor(&home, &["start", "s"]);
    assert!(done, "{said}{failure}");
    let (said, remarks, done) = harbor(&home, &["call", "s/eat", "{}"]);
    let memory = "more memory than 64 MiB; this allows it: harbor sandbox s --memory 128\n";
    assert!(!done && said == "MemoryError()\n", "{said}{remarks}");
    assert!(remarks.contains(&format!("its sandbox refused {memory}")), "{remarks}");
    // Once a start.
    let _ = harbor(&home, &["call", "s/eat", "{}"]);
    let shown = harbor(&home, &["sandbox", "s"]).0;
    assert!(shown.contains("more memory than 64 MiB: --memory 128 allows it\n"), "{shown}");
    let hint = "the sandbox refused more memory than 64 MiB; `harbor sandbox s --memory 128` allows it";
    let missing = format!(
        "the sandbox refused reading \"{tool}/helper.py\"; `harbor sandbox s --read {tool}` allows it"
    );
    wait_until("both to be in the log", LIMIT, || {
        let log = harbor(&home, &["logs", "s"]).0;
        log.matches(hint).count() == 1 && log.matches(&missing).count() == 1
    });

    let (_, remarks, done) = harbor(&home, &["sandbox", "s", "--memory", "512"]);
    assert!(done, "{remarks}");
    assert!(harbor(&home, &["start", "s"]).2);
    assert_eq!(harbor(&home, &["call", "s/eat", "{}"]).0, format!("{}\n", 100 << 20));
}

#[test]
fn a_host_that_the_proxy_refuses_is_told_beside_the_call_and_once_in_the_log() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("ping", &json!({})).unwrap();
    let directory = script(&home, ASKS);
    let (tool, server) = (directory.to_str().unwrap(), directory.join("server.py"));
    let network = ["--network", "hosts", "--host", "allowed.example", "--read", tool];
    let add = [&["add", "s"][..], &network, &["--", PYTHON, server.to_str().unwrap()]].concat();
    let (_, said, done) = harbor(&home, &add);
    assert!(done, "{said}");
    for _ in 0..2 {
        let (said, remarks, done) = harbor(&home, &["call", "s/eat", "{}"]);
        assert!(!done && said.contains("403"), "{said}{remarks}");
        let hint = "its sandbox refused the host refused.example; this allows it: harbor sandbox s --host refused.example\n";
        assert!(remarks.contains(hint), "{remarks}");
    }
    let shown = harbor(&home, &["sandbox", "s"]).0;
    assert!(shown.contains("the host refused.example: --host refused.example allows it\n"), "{shown}");
    let hint =
        "the sandbox refused the host refused.example; `harbor sandbox s --host refused.example` allows it";
    wait_until("it to be in the log, once", LIMIT, || {
        let log = harbor(&home, &["logs", "s"]).0;
        log.matches(hint).count() == 1 && log.matches("refused.example").count() == 2
    });
}

/// Listens before it answers; what it says of that names neither the port nor the refusal.
const LISTENS: &str = r#"
import socket, sys

def begin(port):
    own = socket.socket()
    try:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(("0.0.0.0", port))
        own.listen()
    except OSError:
        sys.exit("something went wrong")
    return own

own = begin(PORT)

def act():
    return own.getsockname()
"#;

#[test]
fn a_port_is_told_as_the_kernel_told_it_and_may_be_granted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("ping", &json!({})).unwrap();
    let port = free_port();
    let directory = script(&home, &LISTENS.replace("PORT", &port.to_string()));
    let (tool, server) = (directory.to_str().unwrap(), directory.join("server.py"));
    let add = ["add", "s", "--read", tool, "--restart", "never", "--", PYTHON, server.to_str().unwrap()];
    let (_, said, done) = harbor(&home, &add);
    let told = format!("its sandbox refused listening on port {port}; this allows it (");
    let option = format!("harbor sandbox s --listen {port}\n");
    assert!(!done && said.contains(&told) && said.contains(&option), "{said}");

    let shown = harbor(&home, &["sandbox", "s", "--listen", &port.to_string()]).0;
    assert!(shown.contains(&format!("it may listen on port {port} of 127.0.0.1")), "{shown}");
    let (said, failure, done) = harbor(&home, &["start", "s"]);
    assert!(done, "{said}{failure}");
    // All addresses were asked for, and a loopback one given.
    assert_eq!(harbor(&home, &["call", "s/eat", "{}"]).0, format!("('127.0.0.1', {port})\n"));
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let (_, remarks, done) = harbor(&home, &["sandbox", "s", "--reset", "listen"]);
    assert!(done && harbor(&home, &["start", "s"]).1.contains(&told), "{remarks}");
}

/// Answers with an error of the protocol where a file is closed to it, and is silent where it may not listen.
const THROWS: &str = r#"
import json, socket, sys, time

def act(asked):
    if asked.get("listen"):
        try:
            socket.create_server(("127.0.0.1", 0))
        except OSError:
            time.sleep(600)
    return open(asked["path"]).read()

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    said = {"error": {"code": -32601, "message": "unknown"}}
    if asked["method"] == "initialize":
        info = {"name": "s", "version": "1"}
        said = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if asked["method"] == "tools/list":
        said = {"result": {"tools": [{"name": "act", "inputSchema": {"type": "object"}}]}}
    if asked["method"] == "tools/call":
        try:
            said = {"result": {"content": [{"type": "text", "text": act(asked["params"]["arguments"])}]}}
        except OSError as error:
            said = {"error": {"code": -32603, "message": str(error)}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"#;

#[test]
fn an_ai_client_hears_beside_an_error_and_a_timeout_what_was_refused_and_a_page_does_not() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("ping", &json!({})).unwrap();
    let directory = script(&home, "");
    let (server, closed) = (directory.join("throws.py"), home.scratch("closed"));
    fs::write(&server, THROWS).unwrap();
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("a.txt"), "x").unwrap();
    let (server, closed) = (server.to_str().unwrap(), closed.to_str().unwrap());
    let add = ["add", "s", "--call-timeout", "1", "--", PYTHON, server];
    let (_, said, done) = harbor(&home, &add);
    assert!(done, "{said}");
    let path = format!("{closed}/a.txt");
    // Of a file, or of its directory where not even that can be seen.
    let allowed = format!("; this allows it: harbor sandbox s --read {closed}");
    let (_, said, _) = harbor(&home, &["call", "s/act", &format!("path={path}")]);
    assert!(said.contains(&allowed), "{said}");

    let mut mcp = Direct::start(home.command("harbor").args(["mcp", "--client", "ai"])).initialized();
    let failure = |answer: &Value| {
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{answer}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let said = failure(&mcp.tool("s__act", &json!({"path": path})));
    assert!(said.starts_with("s answered with an error: [Errno ") && said.contains("\nHarbor: "), "{said}");
    assert!(said.contains(&allowed), "{said}");
    let page = bridge.speaking_for("https://a.example");
    page.grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/*"]}));
    let refused = page.tool("s/act", &json!({"path": path})).unwrap_err();
    assert_eq!((refused.code.as_str(), refused.details.get("beside")), ("ERR_TOOL_FAILED", None));

    let said = failure(&mcp.tool("s__act", &json!({"listen": true})));
    assert!(said.contains("did not answer within 1000 ms") && !said.contains("`--timeout"), "{said}");
    assert!(said.contains("\nHarbor: its sandbox refused listening on a port"), "{said}");
}
