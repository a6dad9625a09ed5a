//! What is listed: which tools of which servers, and what is said about each.

use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Double, Fault, Home, LIMIT, PROMPT, wait_until};
use serde_json::json;

use super::{PAGE, announce, listed, offer, scene};

#[test]
fn a_name_is_split_at_its_first_slash() {
    let home = Home::new();
    let names = ["a/b/c", "/", "a b", "é😀", "s/echo", "a__b"];
    let tools: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
    let (_bridge, page) = scene(&home, &Double::sound(&home).offering(&json!(tools).to_string()));
    let wanted: Vec<_> = names.iter().map(|name| format!("s/{name}")).collect();
    assert_eq!(page.tool_names(), wanted);
    for name in names {
        let answer = page.call(&format!("s/{name}"), &json!({"n": name})).unwrap();
        assert_eq!(answer["result"]["structuredContent"]["n"], name);
        assert_eq!(answer["provenance"]["toolName"], name);
    }
}

#[test]
fn a_descriptor_says_all_that_the_server_says_as_it_says_it() {
    let home = Home::new();
    let input = r#"{"type":"object", "properties":{"z":{"maximum":1e2},"a":{"const":12345678901234567890}}}"#;
    let output = r#"{"type": "object", "novel": 1.50}"#;
    let annotations = r#"{"readOnlyHint":true,"title":null,"future":[1.0]}"#;
    let tools = format!(
        r#"[{{"name":"full","future":1,"annotations":{annotations},"outputSchema":{output},"inputSchema":{input},
        "description":"Does\u0020it.","title":"A title"}},{{"name":"bare"}}]"#
    );
    let double = Double::sound(&home).offering(&tools);
    let bridge = Bridge::start(&home);
    let mut definition = double.definition("s");
    definition["label"] = json!("A server of mine");
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    let page = bridge.asking(PAGE).allowed();
    let [full, bare] = page.tools().try_into().unwrap();
    let hash = |tool: &serde_json::Value| tool["toolHash"].as_str().unwrap().to_owned();
    assert_eq!(
        bare,
        json!({"name": "s/bare", "serverId": "s", "serverLabel": "A server of mine", "originalName": "bare",
            "toolHash": hash(&bare)})
    );
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let wanted = json!({"name": "s/full", "serverId": "s", "serverLabel": "A server of mine", "originalName": "full",
        "toolHash": hash(&full), "otherMembers": {"future": 1}, "title": "A title", "description": "Does it.", "inputSchema": value(input),
        "outputSchema": value(output), "annotations": value(annotations)});
    assert_eq!(full, wanted);
    let text = page.ask("host_list_tools", &json!({})).unwrap().field_text("tools");
    for written in [input, output, annotations, r#""Does\u0020it.""#] {
        assert!(text.contains(written), "{written} in {text}");
    }
}

#[test]
fn a_new_label_is_shown_though_the_tools_are_the_same() {
    let home = Home::new();
    let mut definition = Double::sound(&home).definition("s");
    let bridge = Bridge::start(&home);
    let page = bridge.asking(PAGE).allowed();
    for label in ["A label", "Another label"] {
        definition["label"] = json!(label);
        bridge.call("add_server", &definition).unwrap();
        bridge.connect("s");
        assert_eq!(page.tools()[0]["serverLabel"], label);
    }
}

#[test]
fn a_list_is_of_the_servers_that_are_asked_for_and_the_tools_that_are_allowed() {
    let home = Home::new();
    let (bridge, page) = scene(&home, &Double::sound(&home).offering(&offer(&[("a", ""), ("b", "")])));
    bridge.add_and_connect("other", &Double::sound(&home).offering(&offer(&[("a", ""), ("b", "")])));
    let names = |page: &harbor_tests::Asker, only: serde_json::Value| {
        let answer = page.ask("host_list_tools", &only).unwrap();
        let tools = answer["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = ["other/a", "other/b", "other/change_tools", "s/a", "s/b", "s/change_tools"];
    assert_eq!(names(&page, json!({})), all);
    assert_eq!(names(&page, json!({"server_ids": ["other"]})), all[..3]);
    assert_eq!(names(&page, json!({"server_ids": ["s", "other", "nobody"]})), all);
    assert_eq!(names(&page, json!({"server_ids": ["nobody"]})), [""; 0]);
    assert_eq!(names(&page, json!({"server_ids": []})), [""; 0]);

    // What may be listed, and of that what may be called.
    let rows = [
        (json!(["s/a", "other/*"]), None, vec!["other/a", "other/b", "other/change_tools", "s/a"]),
        (json!(["s/a", "other/*"]), Some(json!(["other/b", "s/*"])), vec!["other/b", "s/a"]),
        (json!([]), None, vec![]),
        (json!(["s/*"]), Some(json!([])), vec![]),
    ];
    for (at, (list, call, wanted)) in rows.into_iter().enumerate() {
        let guest = bridge.asking(&format!("https://guest{at}.example"));
        guest.granted("mcp:tools.list", "ALLOW_ONCE", &json!({"allowed_tools": list}));
        if let Some(call) = call {
            guest.granted("mcp:tools.call", "ALLOW_ONCE", &json!({"allowed_tools": call}));
        }
        assert_eq!(names(&guest, json!({})), wanted, "row {at}");
        let servers = guest.ask("host_list_servers", &json!({})).unwrap();
        let counted = servers["servers"].as_array().unwrap().iter().map(|server| {
            let id = server["server_id"].as_str().unwrap();
            let count = wanted.iter().filter(|name| name.starts_with(&format!("{id}/"))).count();
            (server["tool_count"].as_u64().unwrap(), count as u64)
        });
        assert!(
            counted.clone().all(|(told, count)| told == count && count > 0),
            "row {at}: {}",
            servers.text
        );
        assert_eq!(counted.map(|(told, _)| told).sum::<u64>(), wanted.len() as u64);
    }
}

#[test]
fn servers_are_listed_with_their_label_and_state() {
    let home = Home::new();
    let (bridge, page) = scene(&home, &Double::sound(&home).offering(&offer(&[("a", "")])));
    let mut definition = Double::sound(&home).definition("stopped");
    definition["label"] = json!("Not running");
    bridge.call("add_server", &definition).unwrap();
    let servers = page.ask("host_list_servers", &json!({})).unwrap();
    let wanted = json!([{"server_id": "s", "label": bridge.server("s")["label"], "state": "running", "tool_count": 2}]);
    assert_eq!(servers["servers"], wanted, "one that is stopped has no tools to use");
}

#[test]
fn a_list_follows_what_the_server_says() {
    let home = Home::new();
    let double = Double::sound(&home).offering(&offer(&[("a", "")]));
    let (bridge, page) = scene(&home, &double);
    bridge.call("host_watch", &json!({})).unwrap();
    assert_eq!(page.tool_names(), ["s/a", "s/change_tools"]);
    double.offer(&offer(&[("b", "")]));
    announce(&bridge);
    let push = bridge.next_push("tools_changed", PROMPT);
    assert_eq!(push, json!({"type": "tools_changed", "server_id": "s"}));
    assert_eq!(page.tool_names(), ["s/b", "s/change_tools"]);
    assert!(page.call("s/b", &json!({})).is_ok());
    assert_eq!(page.call("s/a", &json!({})).unwrap_err().code, "ERR_TOOL_NOT_FOUND");
}

#[test]
fn a_tool_that_was_just_announced_can_be_called() {
    let home = Home::new();
    let double = Double::sound(&home).offering(&offer(&[]));
    let (bridge, page) = scene(&home, &double);
    for round in 0..20 {
        let name = format!("new{round}");
        // The next one comes too soon to be told at once, and yet before its answer.
        announce(&bridge);
        double.offer(&offer(&[(&name, "")]));
        announce(&bridge);
        assert!(page.call(&format!("s/{name}"), &json!({})).is_ok(), "{name}");
    }
}

#[test]
fn a_server_that_says_without_end_that_its_tools_change_is_asked_with_pauses_and_tells_nobody_anything() {
    const ROUNDS: u32 = 5;
    const PAUSE: Duration = Duration::from_millis(100);
    let home = Home::new();
    let double = Double::new(&home, Fault::EndlessLists).offering(&offer(&[("a", "")]));
    let (bridge, page) = scene(&home, &double);
    bridge.call("host_watch", &json!({})).unwrap();
    let asked = || double.journal().count("request tools/list");
    let (began, before) = (Instant::now(), asked());
    wait_until("more rounds", LIMIT, || asked() >= before + ROUNDS as usize);
    // The first of them may have been about to begin.
    assert!(began.elapsed() >= PAUSE * (2_u32.pow(ROUNDS - 2) - 1), "{:?}", began.elapsed());
    // Had anything been told before, this would be that.
    double.offer(&offer(&[("b", "")]));
    let _ = bridge.next_push("tools_changed", PROMPT);
    assert!(page.tool_names().contains(&"s/b".to_owned()));
}

#[test]
fn what_a_server_had_is_gone_with_it_and_back_with_it() {
    let home = Home::new();
    let double = Double::sound(&home)
        .offering(&json!([{"name": "a"}, {"name": "die"}]).to_string())
        .supervision(&json!({"restart_delays_ms": [1500]}));
    let (bridge, page) = scene(&home, &double);
    bridge.call("host_watch", &json!({})).unwrap();
    assert!(page.call("s/die", &json!({})).is_err());
    let _ = bridge.next_push("tools_changed", PROMPT);
    assert_eq!(page.tool_names(), ["s/a", "s/die"], "it has crashed, and a call brings it back");
    let _ = bridge.next_push("tools_changed", PROMPT);
    assert_eq!(page.tool_names(), ["s/a", "s/die"], "it is back");
    assert!(listed(&page, "s/a").is_some());

    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    let _ = bridge.next_push("tools_changed", PROMPT);
    assert_eq!(page.tool_names(), [""; 0], "it is stopped");
    bridge.connect("s");
    let _ = bridge.next_push("tools_changed", PROMPT);
    assert_eq!(page.tool_names(), ["s/a", "s/die"]);
    bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    wait_until("its tools to go", PROMPT, || page.tools().is_empty());
}

/// A browser's pages share one connection.
#[test]
fn a_page_that_asks_for_its_list_without_end_does_not_cut_off_the_others() {
    let home = Home::new();
    let tools: Vec<_> =
        (0..280).map(|n| json!({"name": format!("t{n}"), "description": "x".repeat(3000)})).collect();
    home.configure("[limits]\ncallsPerMinutePerOrigin = 400\n");
    let double = Double::sound(&home).offering(&json!(tools).to_string());
    let (bridge, page) = scene(&home, &double);
    let held = bridge.asking("https://other.example").allowed().send_call("s/t0", &json!({}));
    let began = Instant::now();
    // More than may wait for a client that does not read: 128 MiB.
    let lists: Vec<_> = (0..500).map(|_| page.send("host_list_tools", &json!({}))).collect();
    let codes: Vec<_> = lists.iter().map(|list| list.wait(LIMIT * 2).err().map(|error| error.code)).collect();
    let given = codes.iter().filter(|code| code.is_none()).count();
    // Some more become possible in each second.
    let most = 401 + usize::try_from(began.elapsed().as_secs() + 1).unwrap() * 400 / 60;
    assert!((400..=most).contains(&given), "{given} of at most {most}");
    assert!(codes.iter().flatten().all(|code| code == "ERR_RATE_LIMITED"), "{codes:?}");
    assert!(held.wait(LIMIT).is_ok() && bridge.is_alive());
}

#[test]
fn losing_a_permission_to_call_shows_nothing_more() {
    let home = Home::new();
    let (bridge, _) = scene(&home, &Double::sound(&home));
    let page = bridge.asking("https://narrow.example");
    page.granted("mcp:tools.list", "ALLOW_ALWAYS", &json!({}));
    assert!(page.tool_names().len() > 1, "nothing else is said");
    page.granted("mcp:tools.call", "ALLOW_ONCE", &json!({"allowed_tools": ["s/echo"], "tab_id": 3}));
    assert_eq!(page.in_tab(3).tool_names(), ["s/echo"]);
    assert_eq!(page.in_tab(4).tool_names(), ["s/echo"], "from another tab no more than that");
    page.granted("mcp:tools.call", "DENY", &json!({}));
    assert_eq!(page.in_tab(3).tool_names(), Vec::<String>::new());
}

/// Answers wait in the same queue as news: a long one is no sign of a client that does not read.
#[test]
fn a_long_answer_and_news_at_once_cut_off_nobody() {
    let home = Home::new();
    let (bridge, page) = scene(&home, &Double::sound(&home));
    bridge.call("hello", &json!({"max_frame": 64 << 20})).unwrap();
    bridge.call("host_watch", &json!({})).unwrap();
    let long = page.send_call("s/echo", &json!({"text": "x".repeat(20 << 20)}));
    for _ in 0..20 {
        announce(&bridge);
    }
    assert!(long.wait(LIMIT).is_ok() && bridge.is_alive());
}
