//! `harbor mcp` as real clients meet it: the MCP Inspector and the official SDKs, at pinned versions, on stdin and stdout
//! and over HTTP, in both generations of MCP.

use std::fs;
use std::io::Read as _;
use std::process::Command;
use std::thread;

use harbor_tests::programs::{installed, product};
use harbor_tests::{Bridge, Double, Home, HttpServer, LIMIT, Program, token, wait_until};
use serde_json::{Value, json};

/// A program of the pinned Node, with a home of its own.
fn node(home: &Home) -> Command {
    let mut command = Command::new(installed("npm/node_modules/node/bin/node"));
    let own = home.scratch("client");
    fs::create_dir_all(&own).unwrap();
    command.env("HOME", own);
    command
}

/// What it printed, as JSON.
fn printed(command: &mut Command) -> Value {
    let mut program = Program::start(command);
    let (_, mut stdout) = program.pipes();
    let reading = thread::spawn(move || {
        let mut text = Vec::new();
        stdout.read_to_end(&mut text).map(|_| text).unwrap()
    });
    let status = program.wait(LIMIT).expect("it ends");
    assert!(status.success(), "{status}");
    let text = reading.join().unwrap();
    serde_json::from_slice(&text)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)))
}

/// The inspector's command line, for this server and method.
fn inspect(home: &Home, server: &[&str], method: &[&str]) -> Value {
    let inspector =
        installed("npm/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    printed(node(home).arg(inspector).arg("--cli").args(server).arg("--method").args(method))
}

/// Lists and calls, each by an inspector of its own.
fn inspect_both(home: &Home, server: &[&str]) {
    let listed = inspect(home, server, &["tools/list"]);
    let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    assert!(tools.iter().any(|tool| tool["name"] == "s__echo"), "{listed}");
    let called = inspect(home, server, &["tools/call", "--tool-name", "s__echo", "--tool-arg", "n=1"]);
    assert_eq!(called["structuredContent"], json!({"n": 1}), "{called}");
}

#[test]
fn the_inspector_lists_and_calls_over_stdio() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let (harbor, place) = (product("harbor"), format!("HARBOR_HOME={}", home.path().display()));
    let id = format!("HARBOR_TEST_ID={}", home.id());
    inspect_both(&home, &["-e", &place, "-e", &id, harbor.to_str().unwrap(), "mcp"]);
}

#[test]
fn the_inspector_lists_and_calls_over_http() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let header = format!("Authorization: Bearer {}", token(&home, "inspector"));
    let server = HttpServer::start(&home, &[]);
    inspect_both(&home, &[&server.url(), "--transport", "http", "--header", &header]);
    assert_eq!(bridge.speaking_for("client://inspector").grants().len(), 2);
}

/// Both generations of the TypeScript SDK: lists, calls with progress, and hears of a change; prints what came.
const TYPESCRIPT: &str = r#"
const [sdk, url, token, mode, ready] = process.argv.slice(2);
let stage = "connect";
setTimeout(() => { console.error(`it hangs: ${stage}`); process.exit(1); }, 20_000);
const { writeFileSync } = await import("node:fs");
const old = sdk.endsWith("/sdk");
const at = (path) => import(`${sdk}/dist/${path}`);
const { Client } = old ? await at("esm/client/index.js") : await at("index.mjs");
const { StreamableHTTPClientTransport } = old ? await at("esm/client/streamableHttp.js") : await at("index.mjs");
let heard;
const changed = new Promise((resolve) => (heard = resolve));
const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => heard() } };
const client = new Client({ name: "t", version: "1" }, { listChanged, versionNegotiation: { mode } });
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
stage = "list";
const { tools } = await client.listTools();
stage = "call";
const steps = [];
const options = { onprogress: (progress) => steps.push(progress.progress) };
const call = { name: "s__progress", arguments: { steps: 3 } };
await (old ? client.callTool(call, undefined, options) : client.callTool(call, options));
const echoed = await client.callTool({ name: "s__echo", arguments: { n: 1 } });
stage = "hear of a change";
writeFileSync(ready, "");
await changed;
const version = old ? null : client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), steps, echoed: echoed.structuredContent, version }));
process.exit(0);
"#;

/// The Python SDK: lists and calls with progress; prints what came.
const PYTHON: &str = r#"
import asyncio, json, sys
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
url, token, mode = sys.argv[1:]
async def main():
    steps = []
    async def progress(step, total, message): steps.append(step)
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = (await client.list_tools()).tools
            await client.call_tool("s__progress", {"steps": 3}, progress_callback=progress)
            echoed = await client.call_tool("s__echo", {"n": 1})
            version = client.session.protocol_version
            print(json.dumps({"tools": [tool.name for tool in tools], "steps": steps,
                              "echoed": echoed.structured_content, "version": version}))
asyncio.run(main())
"#;

fn assert_sound(said: &Value, version: Option<&str>) {
    assert!(said["tools"].as_array().unwrap().contains(&json!("s__echo")), "{said}");
    let steps: Vec<_> = said["steps"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!((steps, &said["echoed"]), (vec![1.0, 2.0, 3.0], &json!({"n": 1})), "{said}");
    assert!(version.is_none_or(|version| said["version"] == version), "{said}");
}

#[test]
fn the_typescript_sdks_list_call_and_hear_over_http() {
    for (sdk, mode, version) in [
        ("sdk", "legacy", None),
        ("client", "legacy", Some("2025-11-25")),
        ("client", "auto", Some("2026-07-28")),
    ] {
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let double = Double::sound(&home);
        bridge.add_and_connect("s", &double);
        let token = token(&home, "ai");
        let server = HttpServer::start(&home, &[]);
        let (script, ready) = (home.scratch("client.mjs"), home.scratch("ready"));
        fs::write(&script, TYPESCRIPT).unwrap();
        let sdk = installed(&format!("npm/node_modules/@modelcontextprotocol/{sdk}"));
        let mut client = node(&home);
        client.arg(script).arg(sdk).args([&server.url(), &token, mode]).arg(&ready);
        thread::scope(|scope| {
            let said = scope.spawn(|| printed(&mut client));
            wait_until("it to have called", LIMIT, || ready.exists() || said.is_finished());
            bridge.add_and_connect("t", &Double::sound(&home));
            assert_sound(&said.join().unwrap(), version);
        });
    }
}

#[test]
fn the_python_sdk_lists_and_calls_over_http_in_both_generations() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let token = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let mut client = Command::new(installed("venv/bin/python"));
        let said = printed(client.args(["-c", PYTHON, &server.url(), &token, mode]));
        assert_sound(&said, Some(version));
    }
}
