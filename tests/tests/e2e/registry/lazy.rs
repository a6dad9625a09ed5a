//! Servers that sleep until they are called: their tools are there all the time.

use harbor_tests::{Bridge, Double, Home, LIMIT};
use serde_json::json;

use super::{PAGE, offer};

fn lazy(home: &Home, tools: &[(&str, &str)]) -> Double {
    let settings = json!({"idle_stop_ms": 1000});
    Double::sound(home).offering(&offer(tools)).supervision(&settings)
}

fn falls_asleep(bridge: &Bridge) {
    let _ =
        bridge.wait_for_event(|event| event["old_state"] == "stopping" && event["new_state"] == "stopped");
}

#[test]
fn the_tools_of_a_server_that_sleeps_are_listed_and_a_call_wakes_it() {
    let home = Home::new();
    let double = lazy(&home, &[("a", "First."), ("b", "Second.")]);
    let names = ["s/a", "s/b", "s/change_tools"];
    {
        let bridge = Bridge::start(&home);
        bridge.watch();
        bridge.add("s", &double);
        let page = bridge.asking(PAGE).allowed();
        assert_eq!(page.tool_names(), [""; 0], "nobody has seen its tools yet");
        assert!(page.call("s/a", &json!({})).is_ok(), "one can be called all the same");
        let awake = page.tools();
        falls_asleep(&bridge);
        assert_eq!(page.tools(), awake);
        assert_eq!(page.ask("host_list_servers", &json!({})).unwrap()["servers"][0]["state"], "stopped");
        assert!(page.call("s/b", &json!({})).is_ok());
        assert_eq!(double.journal().count("start"), 2);
    }
    // After a restart of the bridge nobody has asked the server; what it had was written down.
    let bridge = Bridge::start(&home);
    let page = bridge.asking(PAGE);
    assert_eq!((page.tool_names(), double.journal().count("start")), (names.map(str::to_owned).to_vec(), 2));
    assert_eq!(page.tools()[0]["description"], "First.");
    let answer = page.call("s/b", &json!({"n": 1})).unwrap();
    assert_eq!(answer["provenance"]["toolHash"], page.tools()[1]["toolHash"]);
    assert_eq!(double.journal().count("start"), 3);
}

#[test]
fn a_server_that_changed_in_its_sleep_is_found_out_by_the_call_that_wakes_it() {
    let home = Home::new();
    let double = lazy(&home, &[("a", "First."), ("b", "Second.")]);
    {
        let bridge = Bridge::start(&home);
        bridge.add("s", &double);
        let page = bridge.asking(PAGE).allowed();
        assert!(page.call("s/a", &json!({})).is_ok());
    }
    double.offer(&offer(&[("a", "Something else."), ("c", "Third.")]));
    let bridge = Bridge::start(&home);
    let page = bridge.asking(PAGE);
    let calls = ["a", "b", "c"].map(|name| page.send_call(&format!("s/{name}"), &json!({})));
    let codes = calls.map(|call| call.wait(LIMIT).err().map(|error| error.code));
    let wanted = [Some("ERR_TOOL_NOT_ALLOWED".into()), Some("ERR_TOOL_NOT_FOUND".into()), None];
    assert_eq!(codes, wanted);
    assert_eq!((double.journal().count("call a"), double.journal().count("start")), (1, 2));
    assert_eq!(page.tool_names(), ["s/c", "s/change_tools"]);
}

#[test]
fn a_server_that_the_person_has_stopped_is_not_woken() {
    let home = Home::new();
    let double = lazy(&home, &[("a", "First.")]);
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &double);
    let page = bridge.asking(PAGE).allowed();
    bridge.call("mcp_disconnect", &json!({"server_id": "s"})).unwrap();
    assert_eq!(page.tool_names(), [""; 0]);
    assert_eq!(page.call("s/a", &json!({})).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
    assert_eq!(double.journal().count("start"), 1);
}
