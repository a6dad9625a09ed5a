//! What is told of a call, and what never is.

use std::net::TcpStream;

use harbor_tests::{Bridge, Client, Double, Home, programs};
use serde_json::{Value, json};

use super::collector::{Collector, OK};
use super::{attribute, children, roots, sending_to, times};

const PAGE: &str = "https://canary-origin.example";

/// What may be in no byte that is sent.
const CANARIES: &[&str] = &[
    "canary-argument",
    "canary-result",
    "canary-message",
    "canary-origin",
    "canary-client",
    "canary-uri",
    "canary-prompt",
    "canary-reference",
    "canary-tool",
    "canary-server",
    "canary-secret",
    "canary-run",
];

#[test]
fn nothing_of_arguments_results_messages_origins_and_made_up_names_is_sent() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    home.configure(&sending_to(&collector.at));
    let mut bridge = Bridge::start(&home);
    let parrot = json!({"server_id": "p", "command": programs::double("parrot-server"), "env": {"A": "canary-secret"}});
    bridge.call("add_server", &parrot).unwrap();
    bridge.connect("p");
    let say = |how: &str, text: &str| json!({"as": how, "text": text});
    bridge.tool("p", "say", &say("result", "canary-argument canary-result")).unwrap();
    bridge.tool("p", "say", &say("is_error", "canary-result")).unwrap();
    let refused = bridge.tool("p", "say", &say("rpc_error", "canary-message")).unwrap_err();
    assert!(refused.message.contains("canary-message"), "{refused:?}");
    bridge.tool("p", "canary-tool", &json!({})).unwrap_err();
    bridge.tool("canary-server", "canary-tool", &json!({})).unwrap_err();
    bridge.asking(PAGE).call("p/say", &say("result", "canary-argument")).unwrap_err();
    let page = bridge.asking(PAGE).allowed();
    page.call("p/say", &say("result", "canary-argument")).unwrap();
    page.call("p/canary-tool", &json!({})).unwrap_err();
    page.call_with("p/say", &say("result", ""), &json!({"run_id": "canary-run"})).unwrap_err();
    let client = Client::attach_ai(&home, "canary-client");
    client.speaking(&json!({})).tool("p/say", &say("result", "canary-argument")).unwrap_err();
    let ask = |tag: &str, more: Value| {
        let mut fields = json!({"server_id": "p"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bridge.call(tag, &fields).unwrap_err();
    };
    ask("mcp_read_resource", json!({"uri": "x://canary-uri"}));
    ask("mcp_get_prompt", json!({"prompt_name": "canary-prompt", "arguments": {"a": "canary-argument"}}));
    let reference = json!({"type": "ref/prompt", "name": "canary-reference"});
    ask(
        "mcp_complete",
        json!({"reference": reference, "argument": {"name": "a", "value": "canary-argument"}}),
    );
    bridge.stop();

    let spans = collector.spans();
    let count = |name: &str| roots(&spans, name).len();
    assert_eq!((count("tools/call say"), count("tools/call")), (7, 3), "{spans:#?}");
    assert_eq!((count("resources/read"), count("prompts/get"), count("completion/complete")), (1, 1, 1));
    let bytes = String::from_utf8(collector.bytes()).unwrap();
    for canary in CANARIES {
        assert!(!bytes.contains(canary), "{canary} was sent:\n{bytes}");
    }
    let home = home.path();
    assert!(!bytes.contains(home.to_str().unwrap()) && !bytes.contains("parrot-server"), "a path: {bytes}");
}

#[test]
fn origins_are_told_to_who_asks_for_them() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    home.configure(&format!("{}origins = true\n", sending_to(&collector.at)));
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.asking(PAGE).allowed().call("s/echo", &json!({})).unwrap();
    bridge.stop();
    let spans = collector.spans();
    let [root] = roots(&spans, "tools/call echo")[..] else { panic!("{spans:#?}") };
    assert_eq!(
        (attribute(root, "harbor.origin"), attribute(root, "harbor.caller")),
        (Some(PAGE), Some("page"))
    );
}

#[test]
fn waits_are_spans_of_their_own_and_parts_lie_within_the_whole() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    home.configure(&format!("{}[limits]\nmaxConcurrentPerOrigin = 1\n", sending_to(&collector.at)));
    let mut bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add("s", &double.clone());
    // Nobody has started it: this call does.
    bridge.tool("s", "echo", &json!({})).unwrap();
    let page = bridge.asking(PAGE).allowed();
    let slow = page.send_call("s/sleep", &json!({"ms": 100}));
    let _ = double.journal().wait_for("call sleep");
    let waiting = page.send_call("s/sleep", &json!({"ms": 1}));
    slow.wait(harbor_tests::LIMIT).unwrap();
    waiting.wait(harbor_tests::LIMIT).unwrap();
    bridge.stop();

    let spans = collector.spans();
    let [first] = roots(&spans, "tools/call echo")[..] else { panic!("{spans:#?}") };
    let names = |root: &Value| children(&spans, root).iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert!(names(first).ends_with(&["start", "tools/call echo"]), "{spans:#?}");
    let slept = roots(&spans, "tools/call sleep");
    let waited: Vec<_> = slept.iter().filter(|root| names(root).contains(&"queue")).collect();
    assert_eq!((slept.len(), waited.len()), (2, 1), "{spans:#?}");
    for root in slept.iter().chain([&first]) {
        let (began, ended) = times(root);
        let mut last = began;
        for (name, child) in children(&spans, root) {
            let (from, to) = times(child);
            assert!(last <= from && from <= to && to <= ended, "{name}: {root:#?} {child:#?}");
            last = to;
        }
        assert_eq!(last, ended, "the server's work is the end of it");
    }
    assert_eq!(
        spans.iter().filter(|span| span["parentSpanId"].is_null()).count(),
        3,
        "one trace for each call"
    );
}

#[test]
fn a_sample_has_whole_traces() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    home.configure(&format!("{}sample = 50\n", sending_to(&collector.at)));
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    (0..200).for_each(|_| drop(bridge.tool("s", "echo", &json!({})).unwrap()));
    bridge.stop();
    let spans = collector.spans();
    let traced = roots(&spans, "tools/call echo");
    assert!((40..160).contains(&traced.len()), "{}", traced.len());
    for root in &traced {
        assert_eq!(children(&spans, root).last().unwrap().0, "tools/call echo");
    }
    let with_parent = spans.iter().filter(|span| !span["parentSpanId"].is_null()).count();
    let below: usize = traced.iter().map(|root| children(&spans, root).len()).sum();
    assert_eq!(with_parent, below, "none without its root");
}

#[test]
fn nothing_is_sent_unless_somebody_says_so() {
    let (home, collector) = (Home::new(), Collector::start(&[OK]));
    let at = format!("http://{}", collector.at);
    for (file, env) in [
        (String::new(), vec![]),
        ("[traces]\nsample = 100\norigins = true\n".to_owned(), vec![]),
        (sending_to(&collector.at), vec![("OTEL_SDK_DISABLED", "true")]),
        (String::new(), vec![("OTEL_SDK_DISABLED", "True"), ("OTEL_EXPORTER_OTLP_ENDPOINT", at.as_str())]),
    ] {
        home.configure(&file);
        let mut bridge = Bridge::start_with(&home, &env);
        bridge.tool("nobody", "echo", &json!({})).unwrap_err();
        let metrics = bridge.call("get_metrics", &json!({})).unwrap()["text"].as_str().unwrap().to_owned();
        assert!(!metrics.contains("harbor_traces"), "{metrics}");
        bridge.stop();
        assert!(!bridge.stderr().contains("traces are sent"), "{}", bridge.stderr());
    }
    assert!(collector.requests().is_empty());
    // It does listen.
    drop(TcpStream::connect(collector.at).unwrap());
}
