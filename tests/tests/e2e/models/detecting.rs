//! Detection at a real port: proof is demanded, nothing more is sent, and a server of Harbor's own is no provider.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use harbor_tests::{Bridge, Home, LIMIT, wait_until};
use serde_json::{Value, json};

/// The newer of llama-server's two ports.
const PORT: u16 = 9931;

/// The other one.
const FORMER: u16 = 8080;

/// Lemonade's.
const LEMONADE: u16 = 13305;

/// What proves a llama-server.
const MODELS: &str = r#"{"object":"list","data":[{"id":"m","owned_by":"llamacpp"}]}"#;

/// The same as a server of Harbor's: it listens at the port, and speaks MCP at its pipes.
const SERVER: &str = r#"
import http.server, json, sys, threading
class Llama(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = MODELS.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer.allow_reuse_address = True
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Llama).serve_forever, daemon=True).start()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "llama", "version": "1"}}
    answer = {"result": info} if asked["method"] == "initialize" else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"#;

/// Answers everything with this, one connection after the other, until it is told to end; gives the requests' heads.
struct Listener {
    port: u16,
    heads: Receiver<String>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Listener {
    fn start(body: &'static str) -> Self {
        Self::at(PORT, body)
    }

    fn at(port: u16, body: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
        let (tell, heads) = channel();
        let thread = thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut head = vec![0; 4096];
                let read = stream.read(&mut head).unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                if head.starts_with("END") {
                    return;
                }
                let _ = tell.send(head);
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
                );
            }
        });
        Self { port, heads, thread: Some(thread) }
    }

    /// Ends it; gives what came.
    fn end(mut self) -> Vec<String> {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap().write_all(b"END").unwrap();
        self.thread.take().unwrap().join().unwrap();
        self.heads.try_iter().collect()
    }
}

/// What is found at the port.
fn found(bridge: &Bridge) -> Option<Value> {
    let found = bridge.call("llm_detect", &json!({})).unwrap();
    let url = format!("http://127.0.0.1:{PORT}");
    found["providers"].as_array().unwrap().iter().find(|one| one["base_url"] == url.as_str()).cloned()
}

/// All at one port, so one after the other.
#[test]
fn who_proves_it_is_found_an_impostor_is_not_nor_is_a_server_of_harbors_own() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let impostor = Listener::start("Ollama is running");
    assert_eq!(found(&bridge), None);
    assert!(!impostor.end().is_empty(), "it was looked at");

    let real = Listener::start(MODELS);
    let provider = found(&bridge).unwrap();
    let told = ["type", "is_added", "enabled", "is_local"].map(|name| provider[name].clone());
    assert_eq!(told, [json!("llama-server"), json!(false), json!(false), json!(true)]);
    let heads = real.end();
    assert!(
        heads
            .iter()
            .all(|head| head.starts_with("GET ") && !head.to_ascii_lowercase().contains("\nauthorization"))
    );
    assert_eq!(bridge.call("llm_list_providers", &json!({})).unwrap()["providers"], json!([]));

    // Where it is found is where it is added, at its former port, too; without one, at the newer one.
    let add = |kind: &str| {
        let added = bridge.call("llm_add_provider", &json!({"provider_type": kind})).unwrap();
        let id = added["id"].clone();
        assert_eq!(bridge.call("llm_remove_provider", &json!({"id": id})).unwrap()["removed"], true);
        added["provider"]["base_url"].as_str().unwrap().to_owned()
    };
    let former = Listener::at(FORMER, MODELS);
    assert_eq!(add("llama-server"), format!("http://127.0.0.1:{FORMER}/v1"));
    let real = Listener::start(MODELS);
    assert_eq!(add("llama-server"), format!("http://127.0.0.1:{PORT}/v1"), "the newer one comes first");
    former.end();
    assert_eq!(add("llamafile"), format!("http://127.0.0.1:{PORT}/v1"));
    real.end();
    assert_eq!(add("llama-server"), format!("http://127.0.0.1:{PORT}/v1"));
    let lemonade = Listener::at(LEMONADE, r#"{"status":"ok","version":"11.7.0","all_models_loaded":[]}"#);
    let found_there = bridge.call("llm_detect", &json!({})).unwrap();
    let kinds: Vec<_> =
        found_there["providers"].as_array().unwrap().iter().map(|one| one["type"].clone()).collect();
    assert!(kinds.contains(&json!("lemonade")), "{kinds:?}");
    assert_eq!(add("lemonade"), format!("http://127.0.0.1:{LEMONADE}/api/v1"));
    lemonade.end();

    let script = home.scratch("llama.py");
    let text = SERVER.replace("MODELS", &format!("{MODELS:?}")).replace("PORT", &PORT.to_string());
    fs::write(&script, text).unwrap();
    let server =
        json!({"server_id": "own", "command": "python3", "args": [script], "sandbox": {"level": "off"}});
    bridge.call("add_server", &server).unwrap();
    bridge.connect("own");
    wait_until("it to listen", LIMIT, || TcpStream::connect(("127.0.0.1", PORT)).is_ok());
    assert_eq!(found(&bridge), None);
}
