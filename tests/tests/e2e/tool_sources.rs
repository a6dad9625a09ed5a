//! Whatever has tools goes by one road: a server below a runner and a source in the bridge's memory behave alike, and what was
//! granted for servers covers nothing else.

use harbor_tests::{Asker, Bridge, Client, Double, Home, Journal, LIMIT, PROMPT, programs, wait_until};
use serde_json::{Value, json};

const PAGE: &str = "https://page.example";

/// A source of each kind that is no server.
const OTHERS: [&str; 4] = ["browser", "browser:work", "page:shop.example", "js:notes"];

/// One source, and a bridge that has it.
struct Scene {
    bridge: Bridge,
    journal: Journal,
    id: &'static str,
}

impl Scene {
    fn of_server(home: &Home) -> (Self, Double) {
        home.configure(CONFIG);
        let bridge = Bridge::start(home);
        let double = Double::sound(home).offering(&tools("is what it is"));
        bridge.add_and_connect("s", &double);
        let scene = Self { bridge, journal: double.journal(), id: "s" };
        (scene, double)
    }

    fn in_memory(home: &Home) -> Self {
        home.configure(CONFIG);
        let bridge = with_sources(home, "js:s");
        Self { bridge, journal: Journal::at(home.scratch("journal")), id: "js:s" }
    }

    fn tool(&self, name: &str) -> String {
        format!("{}/{name}", self.id)
    }

    /// A page of its own that may list, and may call these tools.
    fn page(&self, name: &str, tools: &[&str]) -> Asker {
        let page = self.bridge.asking(&format!("https://{name}.example"));
        let tools: Vec<_> = tools.iter().map(|tool| self.tool(tool)).collect();
        for scope in ["mcp:tools.list", "mcp:tools.call"] {
            page.granted(scope, "ALLOW_ALWAYS", &json!({"allowed_tools": tools}));
        }
        page
    }
}

/// One call of an origin at a time, and none waits.
const CONFIG: &str = "[limits]\nmaxConcurrentPerOrigin = 1\nqueueLength = 0\n";

/// The bridge with sources of these ids in its memory.
fn with_sources(home: &Home, ids: &str) -> Bridge {
    let usual = home.command("harbor-bridge");
    let mut command = std::process::Command::new(programs::double("bridge-with-source"));
    programs::take_environment(&mut command, &usual);
    command.args(["serve", "--stdio"]).env("HARBOR_TEST_SOURCES", ids);
    command.env("HARBOR_TEST_JOURNAL", home.scratch("journal"));
    Bridge::start_as(home, &mut command)
}

/// The tools of the source in memory, as a server lists them.
fn tools(says: &str) -> String {
    let tool = |name: &str| json!({"name": name, "description": format!("{name} {says}"), "inputSchema": {"type": "object"}});
    json!(["echo", "sleep", "tool_error", "change_tools"].map(tool)).to_string()
}

fn code(result: Result<harbor_tests::Answer, harbor_tests::ErrorValue>) -> String {
    result.map_or_else(|error| error.code, |_| "ok".into())
}

fn only_what_was_granted_is_called_and_seen(scene: &Scene) {
    let nobody = scene.bridge.asking("https://nobody.example");
    assert_eq!(code(nobody.call(&scene.tool("echo"), &json!({}))), "ERR_SCOPE_REQUIRED");
    let page = scene.page("one-tool", &["echo"]);
    assert_eq!(page.tool_names(), [scene.tool("echo")]);
    assert_eq!(code(page.call(&scene.tool("tool_error"), &json!({}))), "ERR_TOOL_NOT_ALLOWED");
    assert_eq!(scene.journal.count("call "), 0, "nothing came through");
    assert_eq!(code(page.call(&scene.tool("echo"), &json!({}))), "ok");
    page.granted("mcp:tools.call", "DENY", &json!({}));
    assert_eq!(code(page.call(&scene.tool("echo"), &json!({}))), "ERR_PERMISSION_DENIED");
    assert_eq!(page.tool_names(), [""; 0]);
    assert_eq!(scene.journal.count("call echo"), 1);
}

fn a_result_says_where_it_is_from(scene: &Scene) {
    let page = scene.page("results", &["*"]);
    let answer = page.call(&scene.tool("echo"), &json!({"a": 1})).unwrap();
    assert!(answer.text.contains(r#"{\"a\":1}"#), "{}", answer.text);
    let from = &answer["provenance"];
    assert_eq!((&from["serverId"], &from["toolName"]), (&json!(scene.id), &json!("echo")));
    assert_eq!(from["toolHash"].as_str().unwrap().len(), 64);
    let failed = page.call(&scene.tool("tool_error"), &json!({})).unwrap();
    assert_eq!(failed["result"]["isError"], true);
    assert_eq!(code(page.call(&scene.tool("none"), &json!({}))), "ERR_TOOL_NOT_FOUND");
}

/// The end of a call, whoever ends it, reaches the source and frees the place.
fn calls_end(scene: &Scene) {
    let page = scene.page("ends", &["*"]);
    let (sleep, for_ever) = (scene.tool("sleep"), json!({"ms": 60_000}));
    let late = page.call_with(&sleep, &for_ever, &json!({"timeout_ms": 50}));
    assert_eq!(code(late), "ERR_TOOL_TIMEOUT");
    wait_until("the source to hear of it", LIMIT, || scene.journal.count("cancelled") == 1);
    let open = page.send_call(&sleep, &for_ever);
    wait_until("the call to be made", LIMIT, || scene.journal.count("call sleep") == 2);
    let second = page.call(&scene.tool("echo"), &json!({})).unwrap_err();
    assert_eq!((second.code.as_str(), &second.details["limit"]), ("ERR_RATE_LIMITED", &json!("concurrent")));
    scene.bridge.call("cancel", &json!({"target": open.id})).unwrap();
    assert_eq!(code(open.wait(PROMPT)), "cancelled");
    wait_until("the source to hear of it", LIMIT, || scene.journal.count("cancelled") == 2);
    assert_eq!(code(page.call(&scene.tool("echo"), &json!({}))), "ok", "its place is free");
}

fn a_run_has_its_budget(scene: &Scene) {
    let page = scene.page("runs", &["*"]);
    let in_run = json!({"run_id": page.run(1)});
    let echo = || code(page.call_with(&scene.tool("echo"), &json!({}), &in_run));
    assert_eq!([echo(), echo()], ["ok", "ERR_BUDGET_EXCEEDED"]);
}

fn each_call_is_counted_and_written_down(scene: &Scene) {
    let page = scene.page("counts", &["*"]);
    page.call(&scene.tool("echo"), &json!({"secret": "canary"})).unwrap();
    assert_eq!(page.stats()["calls"]["calls"], 1);
    let all = scene.bridge.call("host_get_stats", &json!({})).unwrap()["stats"].clone();
    assert!(all["callsByServer"][scene.id]["calls"].as_u64().unwrap() > 0, "{all}");
    let audit = scene.bridge.call("host_get_audit", &json!({"origin": "https://counts.example"})).unwrap();
    assert!(!audit.text.contains("canary"));
    let of_call = |record: &&Value| record["event"] == "call";
    let record = audit["records"].as_array().unwrap().iter().find(of_call).unwrap();
    assert_eq!(
        (&record["server"], &record["tool"], &record["decision"]),
        (&json!(scene.id), &json!("echo"), &json!("allowed"))
    );
}

/// A tool that is not what it was is kept from origins until the person accepts it.
fn what_has_changed_waits_for_the_person(scene: &Scene) {
    scene.bridge.call("host_watch", &json!({})).unwrap();
    let page = scene.page("changes", &["*"]);
    assert_eq!(code(page.call(&scene.tool("echo"), &json!({}))), "ok");
    page.call(&scene.tool("change_tools"), &json!({})).unwrap();
    let push = scene.bridge.next_push("tool_changed", PROMPT);
    assert_eq!((&push["server_id"], &push["blocked"]), (&json!(scene.id), &json!(true)));
    let name = push["tool_name"].as_str().unwrap();
    let error = page.call(&scene.tool(name), &json!({})).unwrap_err();
    assert_eq!(error.details["reason"], "tool_changed", "{error:?}");
    assert!(!page.tool_names().contains(&scene.tool(name)));
    let this = json!({"server_id": scene.id});
    let changes = scene.bridge.call("host_list_tool_changes", &this).unwrap()["changes"].clone();
    let change = changes.as_array().unwrap().iter().find(|change| change["tool_name"] == name).unwrap();
    let accepted = json!({"server_id": scene.id, "tool_name": name, "tool_hash": change["tool_hash"]});
    scene.bridge.call("host_accept_tool_change", &accepted).unwrap();
    assert!(page.tool_names().contains(&scene.tool(name)));
}

/// `offer_others` has the source's next list be another one; the tool `change_tools` tells of it.
fn behaves(scene: &Scene, offer_others: impl Fn()) {
    only_what_was_granted_is_called_and_seen(scene);
    a_result_says_where_it_is_from(scene);
    calls_end(scene);
    a_run_has_its_budget(scene);
    each_call_is_counted_and_written_down(scene);
    offer_others();
    what_has_changed_waits_for_the_person(scene);
}

#[test]
fn a_server_behaves_as_a_source() {
    let home = Home::new();
    let (scene, double) = Scene::of_server(&home);
    behaves(&scene, || double.offer(&tools("is another one now")));
}

#[test]
fn a_source_in_memory_behaves_as_a_server() {
    let home = Home::new();
    let scene = Scene::in_memory(&home);
    behaves(&scene, || ());
}

/// A home whose clients and sites were granted "all" lists and calls no tool of another kind.
#[test]
fn all_means_all_servers() {
    let home = Home::new();
    let bridge = with_sources(&home, &OTHERS.join(" "));
    bridge.add_and_connect("s", &Double::sound(&home));
    let owner = Client::attach(&home);
    let site = owner.asking(PAGE).allowed();
    let client = owner.asking("client://Editor").allowed();
    for asker in [&site, &client] {
        let names = asker.tool_names();
        assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("s/")), "{names:?}");
        assert_eq!(code(asker.call("s/echo", &json!({}))), "ok");
        for other in OTHERS {
            let error = asker.call(&format!("{other}/echo"), &json!({})).unwrap_err();
            assert_eq!(error.code, "ERR_TOOL_NOT_ALLOWED", "{other}: {error:?}");
        }
    }
    // Named, a source is covered; but a page does not drive a browser by a list of tools.
    let all: Vec<_> = OTHERS.iter().map(|other| format!("{other}/*")).collect();
    let (site, client) = (owner.asking("https://named.example"), owner.asking("client://Named"));
    for (asker, of_browser) in [(&site, "ERR_TOOL_NOT_ALLOWED"), (&client, "ok")] {
        asker.granted("mcp:tools.call", "ALLOW_ALWAYS", &json!({"allowed_tools": all}));
        let called = OTHERS.map(|other| code(asker.call(&format!("{other}/echo"), &json!({}))));
        assert_eq!(called, [of_browser, of_browser, "ok", "ok"]);
    }
}

#[test]
fn no_server_gets_the_browsers_name() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let error = bridge.call("add_server", &Double::sound(&home).definition("browser")).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!("server_id")));
    assert!(error.message.contains("another name"), "{}", error.message);
}
