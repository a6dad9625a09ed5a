//! First contact and what a server offers after it, for both generations of MCP and for servers that make it
//! hard.

use harbor_tests::double::echo_result;
use harbor_tests::faults::BANNER;
use harbor_tests::processes::Process;
use harbor_tests::{Answer, Bridge, Double, Fault, Home, LIMIT, PROMPT, wait_until};
use serde_json::{Value, json};

fn info(connected: &Answer) -> (&str, &str, &str) {
    let text = |name: &str| connected["connection_info"][name].as_str().unwrap_or_default();
    (text("server_name"), text("server_version"), text("protocol_version"))
}

fn reconnect(bridge: &Bridge, id: &str) {
    bridge.call("mcp_disconnect", &json!({"server_id": id})).unwrap();
    bridge.connect(id);
}

fn names(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// How many tools a double offers.
const TOOLS: usize = 22;

#[test]
fn a_legacy_server() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    let connected = bridge.add_and_connect("s", &double);
    assert_eq!(info(&connected), ("double", "1.2.3", "2025-11-25"));
    assert_eq!(connected["connected"], true);
    assert_eq!(connected["connection_info"]["instructions"], "Call echo.");
    assert!(connected["connection_info"]["capabilities"]["tools"].is_object());
    assert_eq!(connected["tools"].as_array().unwrap().len(), TOOLS);
    let own_id = Process::named_by(&connected["pid"]).own_id().unwrap();
    assert_eq!(bridge.tool_text("s", "pid", &json!({})), own_id.to_string());
    let journal = double.journal();
    assert_eq!((journal.count("start"), journal.count("early"), journal.count("unreadable")), (1, 0, 0));
    assert_eq!(journal.count("notification notifications/initialized"), 1);
    let server = bridge.server("s");
    assert_eq!((&server["protocol_version"], &server["tool_count"]), (&json!("2025-11-25"), &json!(TOOLS)));
    // The generation is remembered: no second probe.
    reconnect(&bridge, "s");
    assert_eq!((journal.count("start"), journal.count("request server/discover")), (2, 1));
}

#[test]
fn a_modern_server() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).modern();
    let connected = bridge.add_and_connect("s", &double);
    assert_eq!(info(&connected), ("double", "1.2.3", "2026-07-28"));
    let answer = bridge.tool("s", "echo", &json!({"a": 1})).unwrap();
    assert_eq!(answer.field_text("result"), echo_result(r#"{"a":1}"#, true));
    assert!(bridge.call("mcp_ping", &json!({"server_id": "s"})).unwrap()["elapsed_us"].is_u64());
    reconnect(&bridge, "s");
    let journal = double.journal();
    let counts = (journal.count("start"), journal.count("request initialize"), journal.count("bad-meta"));
    assert_eq!(counts, (2, 0, 0));
}

#[test]
fn a_server_that_is_silent_on_the_probe_and_one_that_dies_of_it_at_the_next_line() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let faults = [(Fault::SilentOnProbe, "silent", 1), (Fault::HangsOnProbe, "hung", 2)];
    let doubles = faults.map(|(fault, id, starts)| {
        let double = Double::new(&home, fault);
        bridge.add(id, &double);
        (bridge.request("mcp_connect", &json!({"server_id": id})), id, double.journal(), starts)
    });
    for (start, id, journal, starts) in doubles {
        assert_eq!(info(&start.wait(LIMIT).unwrap()).2, "2025-11-25", "{id}");
        assert_eq!(bridge.tool_text(id, "sleep", &json!({"ms": 1})), "slept");
        assert_eq!(journal.count("start"), starts, "{id}");
        reconnect(&bridge, id);
        let probes = journal.count("request server/discover");
        assert_eq!((journal.count("start"), probes), (starts + 1, 1), "{id} is never probed again");
    }
}

#[test]
fn a_server_that_answers_initialize_with_the_revision_that_has_none() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::ModernInitialize);
    assert_eq!(info(&bridge.add_and_connect("s", &double)).2, "2025-11-25");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    let logs = bridge.logs("s");
    let said = |line: &Value| line["text"].as_str().unwrap().contains("answered initialize with 2026-07-28");
    assert_eq!(logs.iter().filter(|line| said(line)).count(), 1, "{logs:#?}");
}

#[test]
fn a_server_that_exits_on_the_probe() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::ExitsOnProbe);
    assert_eq!(info(&bridge.add_and_connect("s", &double)).2, "2025-11-25");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    assert_eq!(double.journal().count("start"), 2, "the probe killed it once");
    reconnect(&bridge, "s");
    assert_eq!(double.journal().count("start"), 3, "and never again");
}

#[test]
fn a_server_that_starts_slowly() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let legacy = Double::sound(&home).delay_ms(4000);
    let modern = Double::sound(&home).modern().delay_ms(4000);
    bridge.add("legacy", &legacy);
    bridge.add("modern", &modern);
    let starts = ["legacy", "modern"].map(|id| bridge.request("mcp_connect", &json!({"server_id": id})));
    assert!(bridge.is_alive());
    wait_until("the state to be seen", PROMPT, || bridge.server("legacy")["state"] == "starting");
    let [old, new] = starts.map(|start| start.wait(LIMIT).unwrap());
    assert_eq!((info(&old).2, info(&new).2), ("2025-11-25", "2026-07-28"));
    assert_eq!((legacy.journal().count("start"), modern.journal().count("start")), (1, 1));
    for id in ["legacy", "modern"] {
        assert_eq!(bridge.tool_text(id, "sleep", &json!({"ms": 1})), "slept");
    }
}

#[test]
fn garbage_on_stdout_becomes_log_lines() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::GarbageOnStdout));
    for n in 0..10 {
        let answer = bridge.tool("s", "echo", &json!({"n": n})).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["n"], n);
    }
    let logs = bridge.logs("s");
    // What could be half of an answer is left out.
    let half = "a message was dropped: it is not on one line";
    for (source, text) in [("stdout", BANNER), ("stdout", "debug: about to speak"), ("harbor", half)] {
        let found = logs.iter().any(|line| line["source"] == source && line["text"] == text);
        assert!(found, "{text:?} is not in {logs:#?}");
    }
}

#[test]
fn a_last_line_without_a_newline_is_delivered() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::new(&home, Fault::NoFinalNewline));
    let answer = bridge.tool("s", "echo", &json!({"last": true})).unwrap();
    assert_eq!(answer.field_text("result"), echo_result(r#"{"last":true}"#, false));
}

#[test]
fn all_pages_of_all_lists() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("legacy", &Double::sound(&home).paged());
    bridge.add("modern", &Double::sound(&home).paged().modern());
    for id in ["legacy", "modern"] {
        let connected = bridge.connect(id);
        assert_eq!(connected["tools"].as_array().unwrap().len(), TOOLS);
        assert_eq!(names(&connected["resources"], "name"), ["note", "note-2", "note-3"]);
        assert_eq!(
            names(&connected["resource_templates"], "name"),
            ["named note", "named note-2", "named note-3"]
        );
        assert_eq!(names(&connected["prompts"], "name"), ["greet", "greet-2", "greet-3"]);
        let connection = bridge.connection(id).unwrap();
        assert_eq!(
            (&connection["tool_count"], &connection["resource_count"], &connection["prompt_count"]),
            (&json!(TOOLS), &json!(3), &json!(3))
        );
        for (tag, field, count) in [
            ("mcp_list_tools", "tools", TOOLS),
            ("mcp_list_resources", "resources", 3),
            ("mcp_list_resource_templates", "resource_templates", 3),
            ("mcp_list_prompts", "prompts", 3),
        ] {
            let answer = bridge.call(tag, &json!({"server_id": id})).unwrap();
            assert_eq!(answer[field].as_array().unwrap().len(), count, "{id} {tag}");
        }
    }
}

#[test]
fn a_changed_list_is_fetched_again() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("legacy", &Double::sound(&home));
    let modern = Double::sound(&home).modern();
    bridge.add_and_connect("modern", &modern);
    let _ = modern.journal().wait_for("listen");
    for id in ["legacy", "modern"] {
        for count in [TOOLS + 1, TOOLS + 2] {
            assert_eq!(bridge.tool_text(id, "change_tools", &json!({})), "changed");
            wait_until("the new number of tools", PROMPT, || {
                bridge.connection(id).unwrap()["tool_count"] == count
            });
            assert_eq!(bridge.server(id)["tool_count"], count);
        }
        let tools = bridge.call("mcp_list_tools", &json!({"server_id": id})).unwrap();
        assert!(names(&tools["tools"], "name").contains(&"added_1".to_owned()));
    }
}

/// As server-everything does, which registers its tools after `notifications/initialized`.
#[test]
fn lists_are_whole_although_some_change_at_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let connected = bridge.add_and_connect("s", &Double::new(&home, Fault::RestlessLists));
    let sizes = ["tools", "resources", "resource_templates", "prompts"]
        .map(|list| connected[list].as_array().unwrap().len());
    assert_eq!(sizes, [TOOLS, 1, 1, 1]);
}

#[test]
fn resources_prompts_and_completion() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("legacy", &Double::sound(&home));
    bridge.add("modern", &Double::sound(&home).modern());
    for id in ["legacy", "modern"] {
        bridge.connect(id);
        let read = |uri: &str| bridge.call("mcp_read_resource", &json!({"server_id": id, "uri": uri}));
        assert_eq!(read("double://note").unwrap()["resource"]["contents"][0]["text"], "a note");
        assert_eq!(read("double://none").unwrap_err().code, "ERR_TOOL_FAILED");
        let prompt = json!({"server_id": id, "prompt_name": "greet", "arguments": {"who": "\"Ada\""}});
        let prompt = bridge.call("mcp_get_prompt", &prompt).unwrap();
        assert_eq!(prompt["prompt"]["messages"][0]["content"]["text"], "Hello, \"Ada\"!");
        let complete = json!({"server_id": id, "reference": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "who", "value": "A"}});
        let complete = bridge.call("mcp_complete", &complete).unwrap();
        assert_eq!(complete["result"]["completion"]["values"], json!(["Ada", "Alan"]));
    }
}

#[test]
fn requests_of_the_tasks_extension() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("legacy", &Double::sound(&home));
    bridge.add_and_connect("modern", &Double::sound(&home).modern());
    for (id, declared) in [("legacy", false), ("modern", true)] {
        let task = json!({"deep": {"er": {}}});
        let fields = json!({"server_id": id, "method": "tasks/get", "arguments": {"taskId": task}});
        // The field `params` is also the name of the other envelope's.
        let rpc = bridge.rpc(&json!(format!("task of {id}")), "mcp_task", &fields).wait(LIMIT).unwrap();
        let typed = bridge.call("mcp_task", &fields).unwrap();
        for answer in [rpc, typed] {
            let result = &answer["result"];
            assert_eq!(
                (&result["taskId"], &result["declared"]),
                (&task, &json!(declared)),
                "{id}: {}",
                answer.text
            );
        }
        let fields = json!({"server_id": id, "method": "tools/call", "arguments": {"name": "die"}});
        assert_eq!(bridge.call("mcp_task", &fields).unwrap_err().code, "invalid_params", "no way around");
    }
    assert!(bridge.is_alive() && bridge.connection("legacy").is_some());
}

#[test]
fn the_two_ways_to_start_and_stop_a_server_say_the_same() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    let started = bridge.call("connect_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(started["connection_info"], bridge.connect("s")["connection_info"]);
    assert_eq!(started["server"], bridge.server("s"));
    assert_eq!(started["server"]["state"], "running");
    let stopped = bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    assert_eq!(stopped["server"]["state"], "stopped");
    assert_eq!(bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap()["disconnected"], false);
}

#[test]
fn a_subscribed_resource_is_reported_to_its_subscriber() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("legacy", &Double::sound(&home));
    bridge.add("modern", &Double::sound(&home).modern());
    for id in ["legacy", "modern"] {
        bridge.connect(id);
        let resource = json!({"server_id": id, "uri": "double://note"});
        let touch = || bridge.tool_text(id, "touch", &json!({"uri": "double://note"}));
        assert_eq!(bridge.call("mcp_subscribe_resource", &resource).unwrap()["subscribed"], true);
        assert_eq!(touch(), "touched");
        let push = bridge.next_push("resource_updated", PROMPT);
        assert_eq!((&push["server_id"], &push["uri"]), (&json!(id), &json!("double://note")));
        assert_eq!(bridge.call("mcp_unsubscribe_resource", &resource).unwrap()["unsubscribed"], true);
        assert_eq!(touch(), "touched");
        assert!(bridge.is_alive());
        assert_eq!(bridge.push_now("resource_updated"), None, "{id}");
    }
}

#[test]
fn log_lines_come_from_stderr_and_from_mcp() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("legacy", &Double::sound(&home));
    bridge.add("modern", &Double::sound(&home).modern());
    for id in ["legacy", "modern"] {
        bridge.connect(id);
        let level = bridge.call("mcp_set_log_level", &json!({"server_id": id, "level": "debug"})).unwrap();
        assert_eq!(level["level"], "debug");
        assert_eq!(bridge.tool_text(id, "log", &json!({})), "logged");
        let has = |source: &str, part: &str| {
            let fits =
                |line: &Value| line["source"] == source && line["text"].as_str().unwrap().contains(part);
            bridge.logs(id).into_iter().find(fits)
        };
        wait_until("the line on stderr", PROMPT, || has("stderr", "a log line on stderr").is_some());
        wait_until("the line by MCP", PROMPT, || has("mcp", "a log line by MCP").is_some());
        assert_eq!(has("mcp", "a log line by MCP").unwrap()["level"], "warning");
        let one = bridge.call("mcp_get_logs", &json!({"server_id": id, "limit": 1})).unwrap();
        assert_eq!((one["logs"].as_array().unwrap().len(), one["pid"].is_u64()), (1, true));
    }
}
