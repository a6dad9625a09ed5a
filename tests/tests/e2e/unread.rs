//! Answers that clients do not read: how much of them may wait for all clients together, and who is cut off.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use harbor_ipc_proto::frame::put_frame;
use harbor_tests::client::attach_fields;
use harbor_tests::{Bridge, Home, LIMIT, wait_until};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use serde_json::{Value, json};

/// The text of each long answer, in bytes: less than one client may let wait.
const LONG: usize = 20 << 20;

/// So much is read where somebody reads slowly, in bytes: more than the socket itself holds.
const SIP: usize = 512 << 10;

/// A client that reads what its test reads, and nothing by itself.
struct Silent {
    stream: UnixStream,
    read: Vec<u8>,
}

impl Silent {
    /// One that has asked for a long answer.
    fn asking(home: &Home) -> Self {
        let mut silent = Self { stream: home.dial(), read: Vec::new() };
        let mut attach = attach_fields(home);
        (attach["type"], attach["request_id"]) = (json!("attach"), json!("a"));
        let hello = json!({"type": "hello", "request_id": "h", "max_frame": 64 << 20});
        for request in [attach, hello] {
            silent.send(&request);
            let answer = silent.answer().unwrap();
            assert_eq!(answer["request_id"], request["request_id"], "{answer}");
        }
        silent.send(&json!({"type": "ping", "request_id": "p", "echo": "x".repeat(LONG)}));
        silent
    }

    fn send(&mut self, request: &Value) {
        let mut frame = Vec::new();
        put_frame(&mut frame, |out| serde_json::to_writer(out, request).unwrap());
        self.stream.write_all(&frame).unwrap();
    }

    /// Reads so many bytes more; whether they came.
    fn sip(&mut self, bytes: usize) -> bool {
        let from = self.read.len();
        self.read.resize(from + bytes, 0);
        self.stream.read_exact(&mut self.read[from..]).is_ok()
    }

    /// The next answer; none where it was cut off.
    fn answer(&mut self) -> Option<Value> {
        let missing = 4_usize.saturating_sub(self.read.len());
        self.sip(missing).then_some(())?;
        let length = u32::from_le_bytes(self.read[..4].try_into().unwrap()) as usize;
        self.sip(4 + length - self.read.len()).then_some(())?;
        let body: Vec<_> = self.read.drain(..).skip(4).collect();
        Some(serde_json::from_slice(&body).unwrap())
    }
}

/// A machine of 2 GiB, which lets 64 MiB wait, for this process and its children. Who is not root has the real one, and more to do.
fn have_little_memory(home: &Home) {
    if !geteuid().is_root() {
        return;
    }
    unshare(CloneFlags::CLONE_NEWNS).unwrap();
    let (none, about) = (None::<&str>, home.scratch("meminfo"));
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).unwrap();
    fs::write(&about, "MemTotal:        2097152 kB\n").unwrap();
    mount(Some(&about), "/proc/meminfo", none, MsFlags::MS_BIND, none).unwrap();
}

fn health(bridge: &Bridge) -> Value {
    bridge.call("health", &json!({})).unwrap()["health"].clone()
}

#[test]
fn where_too_much_waits_health_says_so_and_who_does_not_read_is_cut_off() {
    let home = Home::new();
    have_little_memory(&home);
    let bridge = Bridge::start(&home);
    bridge.call("hello", &json!({"max_frame": 4 << 20})).unwrap();
    let waiting = || {
        let status = bridge.call("status", &json!({})).unwrap();
        status["status"]["bridge"]["unread_bytes"].as_u64().unwrap()
    };
    let mut silent: Vec<Silent> = Vec::new();
    while health(&bridge)["state"] == "ok" {
        assert!(silent.len() < 20, "that is more than may wait on any machine");
        // Who reads slowly is not cut off below twice as much, however long all of this takes.
        assert!(silent.iter_mut().all(|client| client.sip(SIP)));
        silent.push(Silent::asking(&home));
        let least: usize = silent.iter().map(|client| LONG - client.read.len() - SIP).sum();
        wait_until("the answer to wait", LIMIT, || waiting() > least as u64);
    }
    let said = health(&bridge);
    let message = said["reasons"][0]["message"].as_str().unwrap();
    let number = |before: &str| -> usize {
        let rest = message.split_once(before).unwrap_or_else(|| panic!("{message}")).1;
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let (held, most) = (number("have not read "), number("the limit is "));
    let right = format!(
        "clients have not read {held} MiB of answers, and the limit is {most} MiB: Harbor disconnects clients that do \
         not read"
    );
    let reason = json!({"state": "degraded", "code": "unread_answers", "message": right});
    assert_eq!(said, json!({"state": "degraded", "reasons": [reason]}));
    assert!((64..=256).contains(&most) && held >= most, "{message}");

    // Who is to be cut off is looked for where another long answer comes.
    let long = json!({"echo": "x".repeat(2 << 20)});
    wait_until("room for further answers", LIMIT, || {
        bridge.call("ping", &long).unwrap();
        health(&bridge)["state"] == "ok"
    });
    assert_eq!(health(&bridge), json!({"state": "ok", "reasons": []}));
    let all = silent.len();
    let whole: Vec<_> = silent.into_iter().filter_map(|mut client| client.answer()).collect();
    assert!((1..=2).contains(&(all - whole.len())), "{} of {all}: no more than it takes", whole.len());
    assert!(whole.iter().all(|answer| answer["echo"].as_str().unwrap().len() == LONG));
}
