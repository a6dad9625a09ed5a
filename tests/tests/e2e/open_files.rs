//! As many open files as the system gives; and where they are all in use, the owner is still let in.

use std::fs;

use harbor_tests::client::attach_fields;
use harbor_tests::{Bridge, Client, Double, Home, Process, programs};
use serde_json::{Value, json};

/// A bridge with these limits of open files.
fn limited(home: &Home, soft: u32, hard: u32) -> Bridge {
    let script = format!("ulimit -Sn {soft}; ulimit -Hn {hard}; exec \"$0\" \"$@\"");
    let mut usual = home.command("harbor-bridge");
    usual.args(["serve", "--stdio"]);
    Bridge::start_as(home, &mut programs::behind(&["sh", "-c", &script], &usual))
}

/// The soft and the hard limit of a process.
fn limits(process: Process) -> [u32; 2] {
    let text = fs::read_to_string(format!("/proc/{}/limits", process.pid)).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let mut numbers = line.split_ascii_whitespace().map(|number| number.parse().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

#[test]
fn the_bridge_takes_all_that_it_may_have_and_its_servers_get_what_was_usual() {
    let home = Home::new();
    let bridge = limited(&home, 200, 3000);
    let mut definition = Double::sound(&home).definition("s");
    definition["sandbox"] = json!({"level": "off"});
    bridge.call("add_server", &definition).unwrap();
    let server = Process::named_by(&bridge.connect("s")["pid"]);
    assert_eq!(limits(bridge.process()), [3000, 3000]);
    assert_eq!(limits(server), [200, 3000]);
}

/// A further client, or why it is none.
fn attach(home: &Home, role: &Value) -> Result<Client, String> {
    let mut fields = attach_fields(home);
    fields.as_object_mut().unwrap().extend(role.as_object().unwrap().clone());
    let client = Client::over_socket(home.dial());
    match client.call("attach", &fields) {
        Ok(_) => Ok(client),
        Err(error) => Err(format!("{}: {}", error.code, error.message)),
    }
}

#[test]
fn where_all_are_in_use_clients_are_told_and_the_owner_can_look_and_end_it() {
    let home = Home::new();
    let mut bridge = limited(&home, 160, 160);
    bridge.add_and_connect("s", &Double::sound(&home));
    let (mut clients, mut refused) = (Vec::new(), Vec::new());
    while refused.len() < 5 {
        assert!(clients.len() < 160, "there is room for more than there are descriptors");
        match attach(&home, &json!({"role": "mcp", "client": "x"})) {
            Ok(client) => clients.push(client),
            Err(why) => refused.push(why),
        }
    }
    let told = "ERR_RATE_LIMITED: too many clients: the bridge cannot open more files.";
    assert!(refused.iter().all(|why| why.starts_with(told)), "{refused:?}");
    // As often as it likes.
    for _ in 0..10 {
        assert_eq!(home.done(&["health"]), "ok\n");
    }
    let (said, code) = home.refused(&["list"]);
    assert!(said.starts_with("harbor: too many clients: ") && code == Some(1), "{said}");
    assert_eq!(bridge.tool_text("s", "echo", &json!({})), "{}");
    let said = bridge.said("no room for a connection");
    let lines = |text: &str| said.lines().filter(|line| line.contains(text)).count();
    assert_eq!([lines("no room for a connection"), lines("refused")], [1, 0], "{said}");
    // Who leaves makes room.
    clients.drain(10..).for_each(|client| client.close());
    let another = || attach(&home, &json!({"role": "mcp", "client": "x"}));
    harbor_tests::wait_until("room", harbor_tests::LIMIT, || another().is_ok());
    assert_eq!(home.done(&["shutdown"]), "the bridge has ended\n");
    assert!(bridge.wait(harbor_tests::DOWN_LIMIT).is_some());
}
