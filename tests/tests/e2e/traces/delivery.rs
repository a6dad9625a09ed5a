//! How spans come to the collector, and that one of any kind holds up nobody.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Client, DOWN_LIMIT, Double, Home, LIMIT, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

use super::collector::{Collector, OK, Reply};
use super::{attribute, roots, sending_to};

/// A call that is over at once: there is no such server.
fn call(client: &Client) {
    client.tool("nobody", "echo", &json!({})).unwrap_err();
}

fn metric(client: &Client, name: &str) -> u64 {
    let text = client.call("get_metrics", &json!({})).unwrap()["text"].as_str().unwrap().to_owned();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name}: {text}")).parse().unwrap()
}

#[test]
fn the_file_is_followed() {
    let (home, first, second) = (Home::new(), Collector::start(&[OK]), Collector::start(&[OK]));
    let bridge = Bridge::start(&home);
    call(&bridge);
    for collector in [&first, &second] {
        home.configure(&sending_to(&collector.at));
        let line = format!("traces are sent to=http://{}/v1/traces", collector.at);
        wait_until("traces to be sent", LIMIT, || bridge.stderr().contains(&line));
        call(&bridge);
        wait_until("a trace", LIMIT, || !collector.requests().is_empty());
    }
    let shown = bridge.call("get_config", &json!({})).unwrap()["config"].as_str().unwrap().to_owned();
    assert!(shown.contains(&format!("endpoint = \"http://{}\"", second.at)), "{shown}");
    wait_until("it to be counted", LIMIT, || metric(&bridge, "harbor_traces_sent_total") == 2);
    home.configure("");
    wait_until("the end of it", LIMIT, || bridge.stderr().contains("traces are sent no more"));
    call(&bridge);
    drop(bridge);
    assert_eq!((first.spans().len(), second.spans().len()), (1, 1), "one call each, none before or after");
}

#[test]
fn the_last_spans_are_sent_at_sigterm() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    home.configure(&sending_to(&collector.at));
    let mut bridge = Bridge::foreground(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    bridge.tool("s", "echo", &json!({})).unwrap();
    let open = bridge.send_tool("s", "sleep", &json!({"ms": 60_000}));
    let _ = double.journal().wait_for("call sleep");
    bridge.signal(Signal::SIGTERM);
    assert!(bridge.wait(DOWN_LIMIT).expect("it ends").success());
    let spans = collector.spans();
    assert_eq!(roots(&spans, "tools/call echo").len(), 1, "{spans:#?}");
    let [cut] = roots(&spans, "tools/call sleep")[..] else { panic!("{spans:#?}") };
    assert_eq!(attribute(cut, "error.type"), Some("cancelled"), "what the end has cut off, too");
    drop(open);
}

#[test]
fn the_environment_goes_before_the_file_and_brings_headers() {
    let (home, of_file) = (Home::new(), Collector::start(&[OK]));
    let [all, own] = [(); 2].map(|()| Collector::start(&[OK]));
    home.configure(&sending_to(&of_file.at));
    let (to_all, to_own) = (format!("http://{}/base/", all.at), format!("http://{}/own", own.at));
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=canary%20secret,x-b=c");
    let mut env = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", to_all.as_str()), headers];
    let run = |collector: &Collector, path: &str, env: &[(&str, &str)]| {
        let mut bridge = Bridge::start_with(&home, env);
        call(&bridge);
        let shown = bridge.call("get_config", &json!({})).unwrap().into_value().to_string();
        bridge.stop();
        assert!(!format!("{shown}{}", bridge.stderr()).contains("canary"), "headers are passwords");
        let [request] = &collector.requests()[..] else { panic!("{}", bridge.stderr()) };
        let wanted = format!("POST {path} HTTP/1.1\r\nHost: {}\r\n", collector.at);
        assert!(request.head.starts_with(&wanted), "{}", request.head);
        assert!(request.head.ends_with("\r\napi-key: canary secret\r\nx-b: c"), "{}", request.head);
        assert!(request.head.contains("\r\nContent-Type: application/json\r\n"), "{}", request.head);
    };
    run(&all, "/base/v1/traces", &env);
    env.push(("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &to_own));
    run(&own, "/own", &env);
    assert!(of_file.requests().is_empty());
}

#[test]
fn variables_that_are_of_no_use_are_left_out_with_a_warning() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    home.configure(&sending_to(&collector.at));
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", "https://user:canary@collector.example")];
    let mut bridge = Bridge::start_with(&home, &env);
    call(&bridge);
    bridge.stop();
    let warning =
        "OTEL_EXPORTER_OTLP_ENDPOINT: expected the address of a collector that accepts OTLP over plain HTTP";
    assert!(bridge.stderr().contains(warning), "{}", bridge.stderr());
    assert!(!bridge.stderr().contains("canary"), "{}", bridge.stderr());
    assert_eq!(collector.spans().len(), 1);
}

/// Each of them while calls go on; then the bridge ends in time, having said so once.
#[test]
fn a_collector_that_is_no_good_costs_a_line_of_the_log() {
    let absent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let collector = |reply: Reply| Collector::start(&[reply]);
    for (collector, why) in [
        (None, "it cannot be reached: Connection refused"),
        (Some(collector(Reply::Silence)), ""),
        (Some(collector(Reply::Trickle)), ""),
        (Some(collector(Reply::Status("500 No"))), "it answered 500"),
        (
            Some(collector(Reply::Status("503 No\r\nRetry-After: 86400"))),
            "it answered 503; Harbor tries again",
        ),
        (Some(collector(Reply::Flood)), "-"),
    ] {
        let home = Home::new();
        home.configure(&sending_to(&collector.as_ref().map_or(absent, |collector| collector.at)));
        let mut bridge = Bridge::start(&home);
        // Enough for several requests.
        (0..1200).for_each(|_| call(&bridge));
        match &collector {
            Some(collector) => wait_until("a request", LIMIT, || !collector.requests().is_empty()),
            None => wait_until("the warning", LIMIT, || bridge.stderr().contains(why)),
        }
        let asked = Instant::now();
        assert!(bridge.is_alive());
        assert!(asked.elapsed() < Duration::from_secs(1), "{why}");
        let stopped = Instant::now();
        bridge.stop();
        assert!(stopped.elapsed() < Duration::from_secs(3), "{why}: {:?}", stopped.elapsed());
        let said = bridge.stderr();
        let warnings = said.matches("the collector does not take traces").count();
        let wanted = usize::from(!["", "-"].contains(&why));
        assert_eq!(warnings, wanted, "{why}: {said}");
        assert!(["", "-"].contains(&why) || said.contains(why), "{said}");
        assert_eq!(said.contains("not all traces could be sent"), why.is_empty(), "{why}: {said}");
    }
}

#[test]
fn what_a_collector_wants_later_is_sent_again_no_sooner_than_it_says() {
    let home = Home::new();
    let replies = [Reply::Status("503 No"), Reply::Status("429 Slow\r\nRetry-After: 3"), OK];
    let collector = Collector::start(&replies);
    home.configure(&sending_to(&collector.at));
    let bridge = Bridge::start(&home);
    (0..512).for_each(|_| call(&bridge));
    wait_until("three requests", LIMIT, || collector.requests().len() == 3);
    wait_until("it to be counted", LIMIT, || metric(&bridge, "harbor_traces_sent_total") == 512);
    assert_eq!(metric(&bridge, "harbor_traces_dropped_total"), 0);
    let requests = collector.requests();
    assert!(requests.windows(2).all(|two| two[0].body == two[1].body), "the same again");
    let pause = |at: usize| requests[at].came - requests[at - 1].came;
    assert!(pause(1) >= Duration::from_millis(900), "{:?}", pause(1));
    assert!(pause(2) >= Duration::from_millis(2900), "{:?}", pause(2));
    bridge.said("the collector takes traces again");
}

#[test]
fn what_a_collector_refuses_is_not_sent_again_and_redirects_are_not_followed() {
    let elsewhere = Collector::start(&[OK]);
    let location = format!("307 Temporary Redirect\r\nLocation: http://{}/v1/traces", elsewhere.at);
    let collector = Collector::start(&[Reply::Status(location.leak()), Reply::Status("400 No"), OK]);
    let home = Home::new();
    home.configure(&sending_to(&collector.at));
    let bridge = Bridge::start(&home);
    (0..3 * 512).for_each(|_| call(&bridge));
    wait_until("the third to be taken", LIMIT, || metric(&bridge, "harbor_traces_sent_total") == 512);
    assert_eq!(metric(&bridge, "harbor_traces_dropped_total"), 1024);
    assert_eq!((collector.requests().len(), elsewhere.requests().len()), (3, 0));
    bridge.said("it answered 307, and Harbor does not follow redirects; set the final address");
}

#[test]
fn a_flood_of_calls_fills_the_queue_and_no_more() {
    let (home, collector) = (Home::new(), Collector::start(&[Reply::Silence]));
    home.configure(&sending_to(&collector.at));
    let bridge = Bridge::start(&home);
    (0..512).for_each(|_| call(&bridge));
    wait_until("a request that is not answered", LIMIT, || collector.requests().len() == 1);
    let began = Instant::now();
    (0..5000).for_each(|_| call(&bridge));
    // What is under way is given up after ten seconds, and makes room.
    if began.elapsed() < Duration::from_secs(8) {
        assert_eq!(metric(&bridge, "harbor_traces_dropped_total"), 5000 - 4096);
    }
    assert!(bridge.is_alive());
}
