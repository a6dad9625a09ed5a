//! What a server takes of the machine: who goes first where memory ends.

use std::fs;

use harbor_tests::{Bridge, Double, Home};

#[test]
fn a_server_goes_first_where_the_memory_of_the_machine_ends() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let server = bridge.server("s");
    let score = |pid: &dyn std::fmt::Display| {
        fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap().trim().parse::<i64>().unwrap()
    };
    let own = score(&bridge.process().pid);
    assert_eq!((score(&server["pid"]), own < 500, score(&server["runner_pid"])), (500, true, own));
}
