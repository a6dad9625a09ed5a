//! The harness's own promise: a test that leaves something running fails, and what it left is ended. A check that
//! could not fail would be none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};

use harbor_tests::faults::Settings;
use harbor_tests::home::TEST_ID;
use harbor_tests::processes::assert_gone;
use harbor_tests::{DOWN_LIMIT, Fault, Home, LIMIT, Process, programs, wait_until};

/// A process that stays, with this variable in its environment.
fn stray(name: &str, value: &str) -> (Child, Process) {
    let mut command = Command::new(programs::double("misbehaving-server"));
    command.args(Settings::new(Fault::IgnoresShutdown).to_args()).env(name, value).stdin(Stdio::piped());
    let child = command.spawn().unwrap();
    let process = Process::of(child.id()).unwrap();
    // The kernel lets the parent go on before the child's environment can be read.
    let environment = format!("/proc/{}/environ", child.id());
    wait_until("its environment", LIMIT, || std::fs::read(&environment).is_ok_and(|bytes| !bytes.is_empty()));
    (child, process)
}

#[test]
fn a_home_notices_what_is_left_running_and_ends_it() {
    let home = Home::new();
    let (mut marked, first) = stray(TEST_ID, home.id());
    let (mut homed, second) = stray("HARBOR_HOME", &home.path().to_string_lossy());
    let (mut foreign, third) = stray(TEST_ID, "another test's");
    let panic = catch_unwind(AssertUnwindSafe(|| drop(home))).expect_err("it must not pass");
    let text = panic.downcast_ref::<String>().unwrap();
    for process in [first, second] {
        assert!(text.contains(&process.pid.to_string()), "{text}");
    }
    assert!(text.contains("misbehaving-server") && !text.contains(&third.pid.to_string()), "{text}");
    assert_gone(&[first, second], DOWN_LIMIT);
    assert!(!third.is_gone());
    foreign.kill().unwrap();
    for child in [&mut marked, &mut homed, &mut foreign] {
        child.wait().unwrap();
    }
}

#[test]
fn a_home_whose_processes_are_gone_is_content() {
    let home = Home::new();
    let (mut child, _) = stray(TEST_ID, home.id());
    assert_eq!(home.processes().len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(home);
}
