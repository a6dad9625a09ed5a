//! The worker's beginning and end, and what it may do.

use std::process::{Command, Stdio};

use harbor_ipc_proto::BUILD;
use harbor_ipc_proto::link::model::ToModel;
use harbor_ipc_proto::model::Dialect;

use super::driven::{Driven, chat};
use super::server::{Server, Step};

#[test]
fn it_ends_with_its_link_or_when_it_is_told() {
    let server = Server::says(vec![Step::Hang]);
    for shut_down in [true, false] {
        let mut worker = Driven::start();
        worker.send(&ToModel::Chat(chat(Dialect::Chat, server.port)));
        match shut_down {
            true => worker.send(&ToModel::Shutdown),
            false => worker.hang_up(),
        }
        assert!(worker.child.wait().unwrap().success());
    }
}

#[test]
fn a_bridge_of_another_build_or_without_manners_is_left() {
    for first in [ToModel::Hello { protocol: 0, build: BUILD.into() }, ToModel::Cancel { id: 1 }] {
        let mut worker = Driven::bare();
        worker.send(&first);
        assert_eq!(worker.child.wait().unwrap().code(), Some(1));
    }
}

#[test]
fn it_is_started_by_the_bridge_only() {
    let program = env!("CARGO_BIN_EXE_harbor-model-worker");
    let started = Command::new(program).stdin(Stdio::null()).output().unwrap();
    assert_eq!((started.status.code(), started.stdout.as_slice()), (Some(2), &b""[..]));
    // A link is two pipes.
    let own = std::process::id().to_string();
    let started = Command::new(program).arg(own).stdin(Stdio::null()).output().unwrap();
    assert_eq!((started.status.code(), started.stdout.as_slice()), (Some(1), &b""[..]));
}

/// It is held to HTTP: seccomp filters it, and nothing can be gained by a program that it would start.
#[test]
fn it_is_confined_before_it_reads_a_byte() {
    let worker = Driven::start();
    let status = std::fs::read_to_string(format!("/proc/{}/status", worker.child.id())).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().to_owned()
    };
    assert_eq!((field("Seccomp:").as_str(), field("NoNewPrivs:").as_str()), ("2", "1"));
}
