//! Servers that answer with far more than was asked for: that costs the call, and little memory.

use std::io::Read as _;

use harbor_tests::processes::Process;
use harbor_tests::scripted::{Asked, answer, begin_events, event, text};
use harbor_tests::{Bridge, Double, Home, LIMIT, Scripted, wait_until};
use serde_json::json;

use super::connect;

const MIB: usize = 1024 * 1024;

/// What the process may have had: three answers of 60 MiB on their way in, a copy of one, and what it is itself.
const PEAK: usize = 300 * MIB;

/// How a call fails on such a server, while another one is called; what its process had at most is checked.
fn greed(
    script: impl Fn(&Asked, &mut std::net::TcpStream) -> bool + Send + Sync + 'static,
) -> (String, String) {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let other = Scripted::start(|_, _| false);
    let fields = json!({"server_id": "other", "url": other.url(), "allow_private": true});
    bridge.call("add_remote_server", &fields).unwrap();
    bridge.call("connect_server", &json!({"server_id": "other"})).unwrap();
    let server = Scripted::start(move |asked, stream| asked.calls("bad") && script(asked, stream));
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let runner = Process::named_by(&bridge.server("s")["runner_pid"]);

    let calls: Vec<_> = (0..3).map(|_| bridge.send_tool("s", "bad", &json!({}))).collect();
    for _ in 0..10 {
        assert_eq!(bridge.tool_text("other", "t", &json!({})), "done");
    }
    let errors: Vec<_> = calls.into_iter().map(|call| call.wait(LIMIT).unwrap_err()).collect();
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "the next call works");
    assert_eq!(bridge.server("s")["restarts"], 0);
    assert!(!runner.is_gone());
    let most = peak(runner);
    assert!(most < PEAK, "it had {most} bytes");
    (errors[0].details["cause"].as_str().unwrap_or_default().to_owned(), errors[0].message.clone())
}

/// The most memory that it has had, in bytes.
fn peak(process: Process) -> usize {
    let kib: usize = process.status("VmHWM").trim_end_matches(" kB").parse().unwrap();
    kib * 1024
}

#[test]
fn a_batch_of_millions_is_none() {
    let body = format!("[{}0]", "0,".repeat(30 * MIB));
    let (cause, said) = greed(move |_, stream| answer(stream, "200 OK", "application/json", "", &body));
    assert_eq!(cause, "connection_lost");
    assert!(said.contains("not a batch of at most 1000 messages"), "{said}");
}

#[test]
fn nor_is_one_that_comes_as_an_event() {
    let body = format!("data: [{}0]\n\n", "0,".repeat(30 * MIB));
    let (cause, said) = greed(move |_, stream| {
        begin_events(stream);
        event(stream, &body)
    });
    assert_eq!(cause, "connection_lost");
    assert!(said.contains("not a batch of at most 1000 messages"), "{said}");
}

#[test]
fn an_event_of_endless_lines_is_given_up() {
    let line = format!("data: {}\n", "x".repeat(MIB));
    let (cause, said) = greed(move |_, stream| {
        begin_events(stream);
        (0..200).all(|_| event(stream, &line))
    });
    assert_eq!(cause, "too_large", "{said}");
}

#[test]
fn answers_that_are_never_whole_share_one_bound() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (closed, seen) = std::sync::mpsc::channel();
    let piece = "x".repeat(40 * MIB);
    let server = Scripted::start(move |asked, stream| {
        asked.calls("bad") && {
            begin_events(stream);
            let _ = event(stream, "data: ") && event(stream, &piece);
            // Until the caller has had enough.
            let _ = stream.read(&mut [0]);
            let _ = closed.send(());
            true
        }
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let runner = Process::named_by(&bridge.server("s")["runner_pid"]);
    let calls: Vec<_> = (0..7).map(|_| bridge.send_tool("s", "bad", &json!({}))).collect();
    seen.recv_timeout(LIMIT).expect("one is one too many");
    let most = peak(runner);
    assert!(most < 380 * MIB, "it had {most} bytes");
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    let errors = calls.into_iter().map(|call| call.wait(LIMIT).unwrap_err().message);
    assert_eq!(errors.filter(|said| said.contains("hold more than 256 MiB")).count(), 1);
}

#[test]
fn a_flood_is_no_matter_of_who_shares_its_runner_nor_of_the_bridge() {
    let home = Home::new();
    let bridge = Bridge::start_with(&home, &[("HARBOR_MCP_ISOLATION", "0")]);
    let (closed, seen) = std::sync::mpsc::channel();
    let log = |text: &str| {
        let params = json!({"level": "info", "data": text});
        format!(
            "data: {}\n\n",
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        )
    };
    let changed = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";
    let flood = (log(&"x".repeat(4096)) + changed).repeat(256);
    let server = Scripted::start(move |asked, stream| {
        asked.calls("bad") && {
            begin_events(stream);
            // Until the caller has had enough.
            while event(stream, &flood) {}
            let _ = closed.send(());
            true
        }
    });
    let sound = Scripted::start(|_, _| false);
    for (id, url) in [("flood", server.url()), ("far", sound.url())] {
        let fields = json!({"server_id": id, "url": url, "allow_private": true});
        bridge.call("add_remote_server", &fields).unwrap();
        bridge.connect(id);
    }
    bridge.add_and_connect("here", &Double::sound(&home));
    let runner = Process::named_by(&bridge.server("flood")["runner_pid"]);
    let calls: Vec<_> = (0..3).map(|_| bridge.send_tool("flood", "bad", &json!({}))).collect();
    wait_until("the flood", LIMIT, || server.count(|asked| asked.calls("bad")) == 3);
    for _ in 0..20 {
        assert_eq!(bridge.tool_text("far", "t", &json!({})), "done");
        assert_eq!(bridge.tool_text("here", "echo", &json!({"a": 1})), "{\"a\":1}");
        assert_eq!(bridge.call("health", &json!({})).unwrap()["health"]["state"], "ok");
    }
    bridge.call("disconnect_server", &json!({"server_id": "flood"})).unwrap();
    calls.into_iter().for_each(|call| drop(call.wait(LIMIT).unwrap_err()));
    (0..3).for_each(|_| seen.recv_timeout(LIMIT).expect("nobody listens any more"));
    let status = bridge.call("status", &json!({})).unwrap();
    let most = [peak(runner), peak(Process::named_by(&status["status"]["bridge"]["pid"]))];
    assert!(most.iter().all(|most| *most < 200 * MIB), "{most:?}");
    assert_eq!(
        (&bridge.server("far")["restarts"], &bridge.server("here")["restarts"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn who_asks_faster_than_it_lets_itself_be_answered_is_not_answered() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|asked, stream| {
        if asked.method().is_empty() && asked.verb == "POST" {
            // An answer to one of its questions: it is never taken, as long as somebody waits for that.
            let _ = stream.read(&mut [0]);
            return true;
        }
        asked.calls("bad") && {
            begin_events(stream);
            let ping = |n: u32| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"ping\"}}\n\n");
            (0..20).all(|k| event(stream, &(0..1000).map(|n| ping(1000 * k + n)).collect::<String>()))
                && event(
                    stream,
                    &format!(
                        "data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}\n\n",
                        asked.body["id"],
                        text("over")
                    ),
                )
        }
    });
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let runner = Process::named_by(&bridge.server("s")["runner_pid"]);
    assert_eq!(bridge.tool_text("s", "bad", &json!({})), "over");
    let answers = || server.count(|asked| asked.verb == "POST" && asked.method().is_empty());
    wait_until("some answers", LIMIT, || answers() > 100);
    assert!(answers() <= 256, "{}", answers());
    let most = peak(runner);
    assert!(most < 100 * MIB, "it had {most} bytes");
    bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
}

#[test]
fn its_process_is_limited_and_filtered() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = Scripted::start(|_, _| false);
    connect(&bridge, &server.url(), &json!({})).unwrap();
    let runner = Process::named_by(&bridge.server("s")["runner_pid"]);
    assert_eq!((runner.status("Seccomp"), runner.status("NoNewPrivs")), ("2".into(), "1".into()));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", runner.pid)).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().unwrap_or_default().to_owned()
    };
    let limited = ["Max data size", "Max core file size", "Max open files"].map(limit);
    assert_eq!(limited, [(1024 * MIB).to_string(), "0".to_owned(), "1024".to_owned()]);
}
