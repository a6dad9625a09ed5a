//! Instances: each web origin and each AI client has its own process of a server that says so, with files of its own.

use std::fs;

use harbor_tests::client::CALL;
use harbor_tests::processes::Process;
use harbor_tests::{Bridge, Client, Double, Home, LIMIT, Speaker, wait_until};
use serde_json::{Value, json};

const ALWAYS: &str = "ALLOW_ALWAYS";
const A: &str = "https://a.example";
const B: &str = "https://b.example";

fn per_principal(home: &Home, more: &Value) -> Double {
    Double::sound(home).supervision(&json!({"instance": "per_principal"})).supervision(more)
}

fn granted(bridge: &Client, origin: &str) -> Speaker {
    let site = bridge.speaking_for(origin);
    site.grant(CALL, ALWAYS, &json!({}));
    site
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

fn of(site: &Speaker, tool: &str) -> String {
    text(&site.tool(&format!("s/{tool}"), &json!({})).unwrap())
}

/// What the principal's process says of itself; after that there is one.
fn pid(bridge: &Client, site: &Speaker, principal: &str) -> Process {
    site.tool("s/pid", &json!({})).unwrap();
    let one = instances(bridge).into_iter().find(|one| one["principal"] == principal);
    Process::named_by(&one.expect("it has one")["pid"])
}

fn instances(bridge: &Client) -> Vec<Value> {
    let status = bridge.call("status", &json!({})).unwrap();
    status["status"]["servers"][0]["instances"].as_array().unwrap().clone()
}

#[test]
fn each_origin_has_its_own_process_and_files_and_the_person_the_plain_one() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &per_principal(&home, &json!({})));
    let (a, b) = (granted(&bridge, A), granted(&bridge, B));
    let (of_a, of_b) = (pid(&bridge, &a, A), pid(&bridge, &b, B));
    let status = bridge.call("status", &json!({})).unwrap();
    let plain = Process::named_by(&status["status"]["servers"][0]["pid"]);
    assert!(of_a != of_b && of_a != plain && of_b != plain);
    assert_eq!((pid(&bridge, &a, A), pid(&bridge, &b, B)), (of_a, of_b), "it stays");
    let work = a.with(&json!({"profile": "work"}));
    work.grant(CALL, ALWAYS, &json!({}));
    let of_work = pid(&bridge, &work, &format!("{A} (work)"));
    assert!(![of_a, of_b, plain].contains(&of_work), "another profile is somebody else");

    let data = |site: &Speaker| {
        let env: Value = serde_json::from_str(&of(site, "env")).unwrap();
        env["TMPDIR"].as_str().unwrap().to_owned()
    };
    assert!(data(&a) != data(&b) && data(&a).contains("/servers/s/instances/"), "{}", data(&a));

    let shown = instances(&bridge);
    assert_eq!(shown.len(), 3, "{shown:#?}");
    let one = shown.iter().find(|one| one["principal"] == A).unwrap();
    let name = one["id"].as_str().unwrap();
    assert!(name.starts_with("s@") && name.len() == "s@".len() + 16, "{name}");
    assert_eq!((&one["state"], &one["in_flight"]), (&json!("running"), &json!(0)));
    let audit = bridge.audit(&json!({"origin": A}));
    assert!(audit.iter().filter(|line| line["event"] == "call").all(|line| line["instance"].is_string()));
    assert!(audit.iter().any(|line| line["instance"] == name), "{audit:#?}");
    let own = bridge.audit(&json!({"origin": "owner"}));
    assert!(own.iter().filter(|line| line["origin"].is_null()).all(|line| line["instance"].is_null()));
    a.tool("s/log", &json!({"text": "a line"})).unwrap();
    wait_until("its log says whose a line is", LIMIT, || {
        let logs = bridge.call("mcp_get_logs", &json!({"server_id": "s"})).unwrap();
        logs["logs"].to_string().contains(&format!("[{name}]"))
    });
}

#[test]
fn an_instance_ends_with_its_client_with_its_server_and_for_one_that_is_wanted_more() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &per_principal(&home, &json!({"max_instances": 1})));
    let (a, b) = (granted(&bridge, A), granted(&bridge, B));
    let of_a = pid(&bridge, &a, A);
    let of_b = pid(&bridge, &b, B);
    wait_until("the one that nobody uses has ended", LIMIT, || of_a.is_gone());
    let busy = b.send_tool("s/sleep", &json!({"ms": 60_000}));
    wait_until("it is in use", LIMIT, || instances(&bridge).iter().any(|one| one["in_flight"] == 1));
    let full = a.tool("s/pid", &json!({})).unwrap_err();
    assert_eq!((&*full.code, &full.details["cause"]), ("ERR_SERVER_UNAVAILABLE", &json!("instances_in_use")));
    drop(busy);
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    wait_until("it ends with its server", LIMIT, || of_b.is_gone());
    assert_eq!(b.tool("s/pid", &json!({})).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
    bridge.connect("s");

    let other = Client::attach(&home);
    let of_b = pid(&other, &other.speaking_for(B), B);
    other.close();
    wait_until("it ends with its client", LIMIT, || of_b.is_gone());
    assert_eq!(instances(&bridge), [] as [Value; 0]);

    pid(&bridge, &a, A);
    let shared = json!({"server_id": "s", "supervision": {"instance": "shared"}});
    bridge.call("set_supervision", &shared).unwrap();
    let tmp = |env: &str| serde_json::from_str::<Value>(env).unwrap()["TMPDIR"].clone();
    let plain = tmp(&text(&bridge.tool("s", "env", &json!({})).unwrap()));
    assert_eq!((tmp(&of(&a, "env")), tmp(&of(&b, "env"))), (plain.clone(), plain), "all share one again");
}

#[test]
fn what_one_has_left_is_there_for_it_alone_and_goes_with_the_server() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // It writes a file below its data directory, as the definition names it.
    let data = home.path().join("servers/s/data");
    let double = per_principal(&home, &json!({}));
    let mut definition = double.definition("s");
    definition["env"]["MEMORY_FILE"] = json!(data.join("memory.jsonl"));
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    let (a, b) = (granted(&bridge, A), granted(&bridge, B));
    let file = |site: &Speaker| {
        let env: Value = serde_json::from_str(&of(site, "env")).unwrap();
        env["MEMORY_FILE"].as_str().unwrap().to_owned()
    };
    assert!(file(&a) != file(&b) && file(&a).ends_with("/data/memory.jsonl"), "{}", file(&a));
    let of_owner: Value = serde_json::from_str(&text(&bridge.tool("s", "env", &json!({})).unwrap())).unwrap();
    assert_eq!(of_owner["MEMORY_FILE"], json!(data.join("memory.jsonl")));
    fs::write(file(&a), "what a said").unwrap();
    assert!(!fs::exists(file(&b)).unwrap());
    bridge.call("remove_server", &json!({"server_id": "s", "data": true})).unwrap();
    wait_until("its files are gone", LIMIT, || !home.path().join("servers/s/instances").exists());
}
