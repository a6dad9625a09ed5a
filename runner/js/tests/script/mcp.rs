//! The module harbor:mcp: what a client is answered.

use serde_json::{Value, json};

use super::{Ran, run_with};

const MODERN: &str = "io.modelcontextprotocol/protocolVersion";

/// Tools of all kinds; `before` stands before them.
fn script(before: &str) -> String {
    format!(
        r#"import {{ serve }} from "harbor:mcp";
        {before}
        serve({{
          name: "tools", version: "2.1", instructions: "Be kind.",
          tools: {{
            greet: {{
              description: "Greets", input: {{ properties: {{ name: {{ type: "string" }} }}, required: ["name"] }},
              run: ({{ name }}) => `Hello, ${{name}}!`,
            }},
            content: {{ run: () => [{{ type: "text", text: "one" }}, {{ type: "text", text: "two" }}] }},
            structured: {{ run: async () => ({{ n: 1 }}) }},
            whole: {{ run: () => ({{ content: [], isError: true }}) }},
            nothing: {{ run() {{}} }},
            throws: {{ run() {{ throw new RangeError("too far"); }} }},
            big: {{ run: () => "x".repeat(17 << 20) }},
            huge: {{ run: () => "x".repeat(64 << 20) }},
            bomb: {{ run() {{ const all = []; for (;;) all.push(new Array(1000).fill(0)); }} }},
            round: {{ run() {{ const it = {{}}; it.it = it; return it; }} }},
            steps: {{ async run(_, {{ progress }}) {{ for (let at = 1; at <= 3; at++) progress(at, 3, `step ${{at}}`); return "done"; }} }},
            waits: {{ run: (_, {{ signal }}) => new Promise((_, no) => signal.addEventListener("abort", () => {{ console.log("cancelled", signal.reason); no(signal.reason); }})) }},
          }},
        }});"#
    )
}

fn ask(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn serve_after(before: &str, messages: &[Value]) -> Ran {
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    run_with(&[], &script(before), input.as_bytes())
}

/// The answers, in their order.
#[track_caller]
fn answers(messages: &[Value]) -> Vec<Value> {
    let ran = serve_after("", messages);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.messages()
}

fn call(id: i64, name: &str, arguments: Value) -> Value {
    ask(id, "tools/call", json!({"name": name, "arguments": arguments}))
}

#[test]
fn both_generations_of_mcp_are_spoken() {
    let meta = json!({MODERN: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let said = answers(&[
        ask(
            1,
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        ask(2, "initialize", json!({"protocolVersion": "1999-01-01"})),
        ask(3, "server/discover", json!({"_meta": meta})),
        ask(4, "tools/call", json!({"name": "greet", "arguments": {"name": "W"}, "_meta": meta})),
        ask(5, "tools/list", json!({"_meta": {MODERN: "2030-01-01"}})),
        ask(6, "ping", json!({})),
    ]);
    let info = json!({"name": "tools", "version": "2.1"});
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info, "instructions": "Be kind."});
    assert_eq!(said[0], json!({"jsonrpc": "2.0", "id": 1, "result": result}));
    assert_eq!(said[1]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(said[2]["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(said[2]["result"]["_meta"]["io.modelcontextprotocol/serverInfo"], info);
    assert_eq!(
        said[3]["result"],
        json!({"resultType": "complete", "content": [{"type": "text", "text": "Hello, W!"}]})
    );
    assert_eq!(said[4]["error"]["code"], -32022);
    assert_eq!(said[4]["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(said[5], json!({"jsonrpc": "2.0", "id": 6, "result": {}}));
}

#[test]
fn tools_are_listed_as_they_were_written() {
    let said = answers(&[ask(1, "tools/list", json!({}))]);
    let tools = said[0]["result"]["tools"].as_array().unwrap();
    assert_eq!(
        tools[0],
        json!({"name": "greet", "description": "Greets", "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}})
    );
    assert_eq!(
        (tools.len(), &tools[1]),
        (12, &json!({"name": "content", "inputSchema": {"type": "object"}}))
    );
}

#[test]
fn each_kind_of_result_is_an_answer() {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
    for (name, wanted) in [
        ("content", json!({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]})),
        (
            "structured",
            json!({"content": [{"type": "text", "text": "{\"n\":1}"}], "structuredContent": {"n": 1}}),
        ),
        ("whole", json!({"content": [], "isError": true})),
        ("nothing", json!({"content": []})),
    ] {
        assert_eq!(answers(&[call(1, name, json!({}))])[0]["result"], wanted, "{name}");
    }
    let names = ["\u{1f600} ä € \u{2028}", "\u{0}\"\\\n"];
    for name in names {
        let said = answers(&[call(1, "greet", json!({"name": name}))]);
        assert_eq!(said[0]["result"], text(&format!("Hello, {name}!")));
    }
}

#[test]
fn what_a_tool_throws_or_cannot_send_is_an_error_of_the_tool() {
    for (name, words) in [
        ("throws", "too far"),
        ("big", "at most 16 MiB are sent at once"),
        ("huge", "out of memory"),
        ("bomb", "out of memory"),
        ("round", "circular"),
    ] {
        let ran = serve_after("", &[call(1, name, json!({})), call(2, "greet", json!({"name": "W"}))]);
        let said = ran.messages();
        let of = |id: i64| said.iter().find(|message| message["id"] == id).unwrap()["result"].clone();
        assert_eq!(of(1)["isError"], true, "{name}: {said:?}");
        assert!(of(1)["content"][0]["text"].as_str().unwrap().contains(words), "{name}: {said:?}");
        assert_eq!(of(2)["content"][0]["text"], "Hello, W!", "the next call works");
        assert!(
            name != "throws"
                || ran.log.contains("the tool throws threw RangeError\n") && !ran.log.contains("too far")
        );
    }
}

#[test]
fn wrong_messages_are_answered_as_json_rpc_says() {
    let wrong = [
        (&b"{\n"[..], -32700),
        (b"\xff\xfe\n", -32700),
        (b"[]\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":7}\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"no/such\"}\n", -32601),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"toString\"}}\n", -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"greet\",\"arguments\":[]}}\n", -32602),
    ];
    for (line, code) in wrong {
        let input = [line, b"\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n"].concat();
        let said = run_with(&[], &script(""), &input).messages();
        let codes: Vec<_> = said.iter().filter_map(|message| message["error"]["code"].as_i64()).collect();
        assert_eq!((said.len(), codes), (2, vec![code]), "{said:?}");
        assert!(said.iter().any(|message| message["id"] == 8), "it goes on");
    }
}

#[test]
fn progress_and_cancellation_reach_the_tool() {
    let asked =
        ask(1, "tools/call", json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": "t"}}));
    let said = answers(&[asked, call(2, "steps", json!({}))]);
    let progress: Vec<_> =
        said.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert_eq!(progress.len(), 3, "only for who asked");
    assert_eq!(
        progress[2]["params"],
        json!({"progressToken": "t", "progress": 3, "total": 3, "message": "step 3"})
    );
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "enough"}});
    let ran = serve_after("", &[call(1, "waits", json!({})), cancel, ask(2, "ping", json!({}))]);
    assert_eq!((ran.messages().len(), ran.log.as_str()), (1, "cancelled enough\n"), "{ran:?}");
}

#[test]
fn a_script_that_changes_the_built_in_objects_harms_only_itself() {
    let before = "JSON.parse = JSON.stringify = () => 'no'; globalThis.JSON = null; globalThis.Promise = class {};
        Object.keys = () => []; Array.isArray = () => false; Reflect.apply = null;
        globalThis.MCP = null; globalThis.console = null; globalThis.String = null; Map.prototype.get = null;
        Map.prototype.set = () => { throw 1; }; Map.prototype.delete = null; globalThis.AbortController = null;";
    let ran =
        serve_after(before, &[call(1, "greet", json!({"name": "W"})), call(2, "structured", json!({}))]);
    let said = ran.messages();
    assert_eq!(said.len(), 2, "{ran:?}");
    assert!(said.iter().all(|message| message["result"]["content"].is_array()), "{said:?}");
}

#[test]
fn a_wrong_definition_of_a_tool_says_what_to_change() {
    for (definition, words) in [
        ("7", "serve takes { name, version, tools"),
        ("{ tools: { a: 1 } }", "the tool a must be an object"),
        ("{ tools: { a: {} } }", "the tool a needs a function `run`"),
        ("{ tools: { a: { run() {}, input: 7 } } }", "has an `input` that is no JSON schema"),
        ("{ tools: { a: { run() {}, input: { type: 'array' } } } }", "whose type is not \"object\""),
    ] {
        let ran = run_with(&[], &format!("import {{ serve }} from 'harbor:mcp'; serve({definition});"), b"");
        assert!(ran.code == Some(1) && ran.log.contains(words), "{definition}: {ran:?}");
    }
}
