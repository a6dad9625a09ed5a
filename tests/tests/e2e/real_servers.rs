//! Servers as people use them, at pinned versions: each is listed and called through its isolated runner, by the person
//! and by a page.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use harbor_ipc_proto::field::PutField as _;
use harbor_policy::curated::{CURATED, Curated, CuratedPackage};
use harbor_policy::recipe::{Recipe, RecipeValues};
use harbor_tests::git::git;
use harbor_tests::home::TEST_ID;
use harbor_tests::programs::installed;
use harbor_tests::{Answer, Asker, Bridge, Home, LIMIT, wait_until};
use serde_json::{Value, json};

/// A server of the npm packages, by its entry point: `npx` would stay beside it.
fn node(name: &str) -> (Value, Value) {
    let script = installed(&format!("npm/node_modules/@modelcontextprotocol/{name}/dist/index.js"));
    (json!("node"), json!([script]))
}

fn connect(bridge: &Bridge, home: &Home, server: (Value, Value)) -> Answer {
    granted(bridge, home, server, &json!({}))
}

/// With these settings of its sandbox.
fn granted(bridge: &Bridge, home: &Home, (command, args): (Value, Value), sandbox: &Value) -> Answer {
    let env = json!({TEST_ID: home.id()});
    let definition =
        json!({"server_id": "s", "command": command, "args": args, "env": env, "sandbox": sandbox});
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s")
}

fn tools(connected: &Answer) -> Vec<&str> {
    connected["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// RFC 8785 and sha256, as Python has them: `{tool: hash}` of an array of tools.
const HASHES: &str = r#"
import hashlib, json, sys
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
    said = {name: value for name, value in tool.items() if value is not None}
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
    let connected = granted(&bridge, &home, (command, args), &json!({"write": [dir]}));
    assert!(tools(&connected).contains(&"read_text_file"), "{:?}", tools(&connected));
    assert_eq!(bridge.tool_text("s", "read_text_file", &json!({"path": dir.join("hello.txt")})), "ahoy");
    let outside = bridge.tool("s", "read_text_file", &json!({"path": "/etc/hostname"})).unwrap();
    assert_eq!(outside["result"]["isError"], true, "the server itself refuses");
    // It says that it may destroy something, of which a page's call would ask.
    let supervision = json!({"server_id": "s", "supervision": {"writes": ["write_file"]}});
    bridge.call("set_supervision", &supervision).unwrap();
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

/// The text of a call, whether it failed or not.
fn text(bridge: &Bridge, tool: &str, args: &Value) -> (String, bool) {
    let answer = bridge.tool("s", tool, args).unwrap();
    let failed = answer["result"]["isError"] == true;
    (answer.content_text().to_owned(), failed)
}

/// The options that the bridge has found for what the server was refused.
fn advice(bridge: &Bridge) -> Vec<String> {
    let shown = bridge.call("get_sandbox", &json!({"server_id": "s"})).unwrap();
    let denied = shown["sandbox"]["denied"].as_array().unwrap().clone();
    denied.iter().filter_map(|denied| denied["allow"].as_str().map(str::to_owned)).collect()
}

#[test]
fn memory_writes_into_its_data() {
    let (home, (command, args)) = (Home::new(), node("server-memory"));
    let bridge = Bridge::start(&home);
    let file = home.path().join("servers/s/data/memory.jsonl");
    let env = json!({TEST_ID: home.id(), "MEMORY_FILE_PATH": file});
    let definition = json!({"server_id": "s", "command": command, "args": args, "env": env});
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    let ann = json!({"entities": [{"name": "Ann", "entityType": "person", "observations": ["sails"]}]});
    let (said, failed) = text(&bridge, "create_entities", &ann);
    assert!(!failed, "{said}");
    assert!(text(&bridge, "read_graph", &json!({})).0.contains("sails"));
    assert!(std::fs::read_to_string(file).unwrap().contains("sails"));
}

#[test]
fn sequential_thinking() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    connect(&bridge, &home, node("server-sequential-thinking"));
    let thought =
        json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    let (said, failed) = text(&bridge, "sequentialthinking", &thought);
    assert!(!failed && said.contains("thoughtNumber"), "{said}");
}

#[test]
fn git_reads_its_repository_and_writes_where_that_is_granted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let dir = home.scratch("repository");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("a"), "a").unwrap();
    git(&dir, &["init", "-q"]);
    git(&dir, &["add", "a"]);
    git(&dir, &["commit", "-qm", "the first"]);
    std::fs::write(dir.join("b"), "b").unwrap();

    let command = json!(installed("venv/bin/mcp-server-git"));
    let here = json!({"repo_path": dir});
    // Of what it does not see, it says no more than the path.
    connect(&bridge, &home, (command.clone(), json!([])));
    let (said, failed) = text(&bridge, "git_status", &here);
    assert!(failed && said.ends_with(&format!(": {}", dir.display())), "{said}");
    let hint = [format!("--read {}", dir.display())];
    wait_until("a hint", LIMIT, || advice(&bridge) == hint);

    let server = (command, json!(["--repository", dir]));
    connect(&bridge, &home, server.clone());
    assert!(text(&bridge, "git_log", &here).0.contains("the first"));
    let add = json!({"repo_path": dir, "files": ["b"]});
    let (said, failed) = text(&bridge, "git_add", &add);
    assert!(failed, "{said}");
    let option = format!("--write {}", dir.join(".git").display());
    assert_eq!(advice(&bridge), [option]);

    granted(&bridge, &home, server, &json!({"write": [dir.join(".git")]}));
    let (said, failed) = text(&bridge, "git_add", &add);
    assert!(!failed, "{said}");
}

/// The sandbox that the curated list has for each is enough to start it, and to list its tools.
#[test]
fn curated_servers_work_in_the_sandbox_of_the_list() {
    // Those that drive a browser are not installed here: the recipes' own tests say what such a server is given.
    let drives_none = |curated: &&Curated| curated.inputs.iter().all(|input| input.places.is_empty());
    for curated in CURATED.iter().filter(drives_none) {
        let (command, mut args) = match curated.source {
            CuratedPackage::Npm(name) => node(name.rsplit('/').next().unwrap()),
            CuratedPackage::Pypi(name) => (json!(installed(&format!("venv/bin/{name}"))), json!([])),
            CuratedPackage::Oci(_) | CuratedPackage::Remote(_) => continue,
        };
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let dir = home.scratch("files");
        std::fs::create_dir(&dir).unwrap();
        assert!(Command::new("git").args(["init", "-q"]).arg(&dir).status().unwrap().success());
        let data = home.path().join("servers/s/data").display().to_string();
        let inputs =
            curated.inputs.iter().map(|input| (input.name.to_owned(), vec![dir.display().to_string()]));
        let own = [(TEST_ID.to_owned(), home.id().to_owned())].into();
        let given = RecipeValues {
            inputs: &inputs.collect(),
            env: &own,
            secrets: &[],
            data: &data,
            incomplete: false,
        };
        let filled = Recipe::of_curated(curated, &|path| Path::new(path).exists()).fill(given).unwrap();
        args.as_array_mut().unwrap().extend(filled.args.into_iter().map(Value::from));
        let env = json!(filled.env);
        let mut sandbox = Vec::new();
        filled.sandbox.put(&mut sandbox);
        let sandbox: Value = serde_json::from_slice(&sandbox).unwrap();
        let definition =
            json!({"server_id": "s", "command": command, "args": args, "env": env, "sandbox": sandbox});
        bridge.call("add_server", &definition).unwrap();
        assert!(!tools(&bridge.connect("s")).is_empty(), "{}", curated.id);
        let shown = bridge.call("get_sandbox", &json!({"server_id": "s"})).unwrap();
        assert_eq!(
            shown["sandbox"]["denied"].as_array().map_or(0, Vec::len),
            0,
            "{}: {}",
            curated.id,
            shown["sandbox"]
        );
    }
}

/// A web server of one page, on an address of this machine that programs do not take for their own.
fn page_server() -> (Program, u16) {
    let script = "import http.server,sys\n\
                  class H(http.server.BaseHTTPRequestHandler):\n\
                  \x20def do_GET(s):\n\
                  \x20 s.send_response(200); s.send_header('Content-Type', 'text/plain'); s.end_headers()\n\
                  \x20 s.wfile.write(b'from outside')\n\
                  s = http.server.HTTPServer(('127.0.0.2', 0), H)\n\
                  print(s.server_port, flush=True)\n\
                  s.serve_forever()\n";
    let mut command = Command::new("python3");
    command.args(["-c", script]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut program = Program(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (program, line.trim().parse().unwrap())
}

/// Ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_python_server_reaches_the_hosts_that_it_was_granted_and_no_others() {
    let (_program, port) = page_server();
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let args = json!(["--ignore-robots-txt", "--allow-private-ips"]);
    let server = (json!(installed("venv/bin/mcp-server-fetch")), args);
    let sandbox = json!({"network": "hosts", "hosts": [format!("127.0.0.2:{port}")]});
    granted(&bridge, &home, server.clone(), &sandbox);
    let fetch = |host: &str| text(&bridge, "fetch", &json!({"url": format!("http://{host}:{port}/")}));
    let (said, failed) = fetch("127.0.0.2");
    assert!(!failed && said.contains("from outside"), "{said}");
    for host in ["127.0.0.3", "2130706435", "[::ffff:127.0.0.3]", "0x7f.3"] {
        let (said, failed) = fetch(host);
        assert!(failed && !said.contains("from outside"), "{host}: {said}");
    }

    granted(&bridge, &home, server.clone(), &json!({"network": "none"}));
    assert!(fetch("127.0.0.2").1);
    granted(&bridge, &home, server, &json!({}));
    assert!(!fetch("127.0.0.2").1, "the network all reaches this machine");
}

#[test]
fn a_node_server_reaches_the_hosts_that_it_was_granted_and_no_others() {
    let (_program, port) = page_server();
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/doubles/fetching.mjs");
    let server = (json!(installed("npm/node_modules/node/bin/node")), json!([script]));
    let sandbox = json!({"network": "hosts", "hosts": [format!("127.0.0.2:{port}")]});
    granted(&bridge, &home, server, &sandbox);
    let fetch = |host: &str| text(&bridge, "fetch", &json!({"url": format!("http://{host}:{port}/")}));
    let (said, failed) = fetch("127.0.0.2");
    assert!(!failed && said.contains("from outside"), "{said}");
    let (said, failed) = fetch("127.0.0.3");
    assert!(failed && !said.contains("from outside"), "{said}");
}
