//! A real Prometheus scrapes a real bridge, and its own checker reads the text.

use std::env;
use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use harbor_tests::{Bridge, Double, Home, LIMIT, Program, wait_until};
use serde_json::{Value, json};

use super::http::{address, get};

/// One of the package's programs.
fn tool(name: &str) -> PathBuf {
    let dir = env::var_os("HARBOR_TEST_PROMETHEUS").filter(|dir| !dir.is_empty());
    let dir =
        dir.expect("HARBOR_TEST_PROMETHEUS is not set: run scripts/test, which finds Prometheus and sets it");
    PathBuf::from(dir).join(name)
}

struct Prometheus {
    _program: Program,
    at: SocketAddr,
}

impl Prometheus {
    fn scraping(home: &Home, target: SocketAddr) -> Self {
        let config = home.scratch("prometheus.json");
        let scrape = json!({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "harbor", "static_configs": [{"targets": [target.to_string()]}]}],
        });
        fs::write(&config, scrape.to_string()).unwrap();
        let program = Program::start(
            Command::new(tool("prometheus"))
                .arg(format!("--config.file={}", config.display()))
                .arg(format!("--storage.tsdb.path={}", home.scratch("tsdb").display()))
                .args(["--web.listen-address=127.0.0.1:0", "--log.format=json"]),
        );
        let mut at = None;
        wait_until("Prometheus to say where it listens", LIMIT, || {
            let said = program.stderr();
            let lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let mut listening = lines.filter(|line| line["msg"] == "Listening on");
            at = listening.find_map(|line| line["address"].as_str()?.parse().ok());
            at.is_some()
        });
        Self { _program: program, at: at.unwrap() }
    }

    fn ask(&self, path: &str) -> Value {
        let answer = get(self.at, path, &["Connection: close"]);
        // Before it is ready it says so as text.
        let text =
            answer.body.find('{').zip(answer.body.rfind('}')).map(|(from, to)| &answer.body[from..=to]);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The value of a query that has one; its metacharacters as in a URL.
    fn value(&self, query: &str) -> Option<f64> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = self.ask(&format!("/api/v1/query?query={query}"));
        answer["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

fn bridge_with_calls(home: &Home) -> Bridge {
    let mut command = home.command("harbor-bridge");
    let bridge = Bridge::start_as(home, command.args(["serve", "--stdio", "--metrics", "127.0.0.1:0"]));
    let definition = json!({"server_id": "odd", "command": "/bin/true", "label": "a \"b\" \\ \n\r\0 é"});
    bridge.call("add_server", &definition).unwrap();
    bridge.add_and_connect("s", &Double::sound(home));
    (0..3).for_each(|_| drop(bridge.tool("s", "echo", &json!({"text": "x"})).unwrap()));
    bridge.asking("https://a.example").allowed().call("s/echo", &json!({"text": "x"})).unwrap();
    bridge
}

#[test]
fn prometheus_scrapes_the_bridge() {
    let home = Home::new();
    home.configure("[metrics]\norigins = true\n");
    let bridge = bridge_with_calls(&home);
    let target = address(&bridge).unwrap();
    let prometheus = Prometheus::scraping(&home, target);
    let mut last = Value::Null;
    wait_until("the target to be up", LIMIT, || {
        last = prometheus.ask("/api/v1/targets")["data"]["activeTargets"][0].clone();
        assert_ne!(last["health"], "down", "{last:#}");
        last["health"] == "up"
    });
    assert_eq!(last["scrapeUrl"], format!("http://{target}/metrics"));
    for (query, wanted) in [
        ("harbor_up", 1.0),
        ("harbor_server_state{server=\"s\",state=\"running\"}", 1.0),
        ("harbor_server_calls_total{server=\"s\",code=\"ok\"}", 4.0),
        ("harbor_server_call_duration_seconds_bucket{server=\"s\",le=\"+Inf\"}", 4.0),
        ("harbor_server_info{label=\"a \\\"b\\\" \\\\ \\n?? é\"}", 1.0),
        ("harbor_origin_calls_total{origin=\"https://a.example\",code=\"ok\"}", 1.0),
        ("scrape_samples_scraped > bool 100", 1.0),
    ] {
        wait_until(query, LIMIT, || prometheus.value(query) == Some(wanted));
    }
    let p99 = "histogram_quantile(0.99, harbor_server_call_duration_seconds_bucket{server=\"s\"})";
    assert!(prometheus.value(p99).is_some_and(|seconds| seconds > 0.0 && seconds < 30.0));
    bridge.tool("s", "echo", &json!({"text": "x"})).unwrap();
    let calls = "harbor_server_calls_total{server=\"s\",code=\"ok\"}";
    wait_until("the next scrape", LIMIT, || prometheus.value(calls) == Some(5.0));
}

#[test]
fn the_checker_of_prometheus_has_nothing_to_say() {
    let home = Home::new();
    home.configure("[metrics]\norigins = true\n");
    let bridge = bridge_with_calls(&home);
    let text = get(address(&bridge).unwrap(), "/metrics", &[]).body;
    let mut checker = Command::new(tool("promtool"))
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    checker.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = checker.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!((said.as_str(), output.status.code()), ("", Some(0)), "{text}");
}
