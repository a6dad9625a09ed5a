//! `harbor models pull`: a file comes whole, or not at all, whatever happens to it on its way.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use harbor_tests::downloads::sha256;
use harbor_tests::rights::is_root;
use harbor_tests::scripted::{Asked, begin_stream};
use harbor_tests::small_disk::SmallDisk;
use harbor_tests::{Bridge, Home, LIMIT, Scripted, wait_until};
use serde_json::{Value, json};

use super::commands::{done, harbor};
use super::engines::real_engine;

/// How the server treats whoever asks for the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// It sends what is asked for.
    Sound,
    /// It breaks off after so many bytes.
    Cut(usize),
    /// It sends so many bytes, and then nothing until whoever asked has gone.
    Held(usize),
    /// It always sends all of it.
    Whole,
}

/// A server that has one file.
struct FileServer {
    server: Scripted,
    bytes: Arc<Vec<u8>>,
    manner: Arc<Mutex<Sending>>,
}

impl FileServer {
    fn of(bytes: Vec<u8>, manner: Sending) -> Self {
        let (bytes, manner) = (Arc::new(bytes), Arc::new(Mutex::new(manner)));
        let server = Scripted::start({
            let (bytes, manner) = (bytes.clone(), manner.clone());
            move |asked, stream| {
                let manner = *manner.lock().unwrap();
                serve(asked, stream, &bytes, manner);
                true
            }
        });
        Self { server, bytes, manner }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/m.gguf", self.server.port)
    }

    fn set(&self, manner: Sending) {
        *self.manner.lock().unwrap() = manner;
    }

    fn ranges(&self) -> Vec<String> {
        self.server.asked().iter().map(|asked| asked.header("range").to_owned()).collect()
    }

    fn order(&self) -> Value {
        let hash = sha256(&self.bytes);
        json!({"model_id": self.url(), "sha256": hash, "allow_http": true, "allow_private": true})
    }
}

fn serve(asked: &Asked, stream: &mut TcpStream, bytes: &[u8], manner: Sending) {
    let from = asked
        .header("range")
        .strip_prefix("bytes=")
        .and_then(|range| range.trim_end_matches('-').parse().ok());
    let from = from.filter(|_| manner != Sending::Whole).unwrap_or(0_usize);
    let (rest, all) = (&bytes[from..], bytes.len());
    let status = match from {
        0 => "200 OK".to_owned(),
        from => format!("206 Partial Content\r\ncontent-range: bytes {from}-{}/{all}", all - 1),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\netag: \"e\"\r\nconnection: close\r\n\r\n",
        rest.len()
    );
    let sent = match manner {
        Sending::Cut(most) | Sending::Held(most) => &rest[..most.min(rest.len())],
        Sending::Sound | Sending::Whole => rest,
    };
    // Who has gone meanwhile is not waited for.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
    if matches!(manner, Sending::Held(_)) {
        let _ = stream.read(&mut [0]);
    }
}

/// A file of a model of so many bytes, none like the one before.
fn model(bytes: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    b"GGUF".iter().copied().chain(std::iter::repeat_with(&mut next).take(bytes)).collect()
}

fn file(home: &Home) -> PathBuf {
    home.path().join("models/m.gguf")
}

fn refusal(bridge: &Bridge, order: &Value) -> String {
    bridge.call("llm_download_model", order).unwrap_err().message
}

#[test]
fn the_test_model_is_fetched_started_and_asked_in_a_fresh_home() {
    let Some((engine, path)) = real_engine() else { return };
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let shelf = FileServer::of(fs::read(path).unwrap(), Sending::Sound);
    let hash = sha256(&shelf.bytes);
    let pull = ["models", "pull", &shelf.url(), "--sha256", &hash, "--allow-http", "--allow-private"];
    assert!(done(&home, &pull).contains("`harbor models start m.gguf` starts it"));
    let start = ["models", "start", "m", "--engine", engine.to_str().unwrap(), "--context", "512"];
    assert_eq!(done(&home, &start), "m runs; `harbor ask --model m:m` asks it\n");
    let (said, err, code) = harbor(&home, &["ask", "Say something.", "--max-tokens", "8"], "");
    assert!(!said.trim().is_empty() && code == Some(0), "{err}");
    let (_, err, code) = harbor(&home, &["models", "delete", "m"], "");
    assert!(err.contains("`harbor models remove m` first") && code != Some(0), "{err}");
    done(&home, &["models", "remove", "m"]);
    done(&home, &["models", "delete", "m"]);
    assert!(!file(&home).exists());
}

#[test]
fn a_file_that_is_cut_ten_times_comes_whole() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let shelf = FileServer::of(model(1_000_000), Sending::Cut(95_000));
    let mut order = shelf.order();
    order["progress"] = json!(true);
    let answer = bridge.call("llm_download_model", &order).unwrap();
    assert_eq!((&answer["modelId"], &answer["started"]), (&json!("m.gguf"), &json!(true)));
    assert_eq!(fs::read(file(&home)).unwrap(), *shelf.bytes);
    let ranges = shelf.ranges();
    assert_eq!((ranges.len(), ranges[0].as_str(), ranges[1].as_str()), (11, "", "bytes=95000-"));
    assert!(!home.path().join("models/.pulls/m.gguf").exists());
    let told: Vec<_> = std::iter::from_fn(|| bridge.push_now("progress")).collect();
    assert_eq!(told.last().unwrap()["total"], json!(shelf.bytes.len()));
    assert!(refusal(&bridge, &order).contains("is there already"));
}

#[test]
fn a_server_without_ranges_begins_anew_and_another_file_is_not_taken() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let shelf = FileServer::of(model(200_000), Sending::Held(100_000));
    let id = "pull";
    let pending = bridge.request_as(id, "llm_download_model", &shelf.order());
    let part = home.path().join("models/.pulls/m.gguf/data/part");
    let has_come = || fs::metadata(&part).is_ok_and(|about| about.len() == 100_000);
    wait_until("half of it to come", LIMIT, has_come);
    assert!(refusal(&bridge, &shelf.order()).contains("is being fetched already"));
    // Cancelled: what has come stays.
    bridge.call("cancel", &json!({"target": id})).unwrap();
    assert!(pending.wait(LIMIT).is_err());
    wait_until("the fetcher to end", LIMIT, || {
        harbor(&home, &["models", "local"], "").2 == Some(0) && has_come()
    });
    let mut wrong = shelf.order();
    wrong["sha256"] = json!("0".repeat(64));
    shelf.set(Sending::Whole);
    let why = refusal(&bridge, &wrong);
    assert!(why.contains("is not the expected file") && !part.exists(), "{why}");
    assert!(!file(&home).exists());
    bridge.call("llm_download_model", &shelf.order()).unwrap();
    assert_eq!(fs::read(file(&home)).unwrap(), *shelf.bytes);
}

#[test]
fn what_has_come_before_is_not_fetched_again() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let shelf = FileServer::of(model(200_000), Sending::Sound);
    let data = home.path().join("models/.pulls/m.gguf/data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("part"), &shelf.bytes[..150_000]).unwrap();
    bridge.call("llm_download_model", &shelf.order()).unwrap();
    assert_eq!(fs::read(file(&home)).unwrap(), *shelf.bytes);
    assert_eq!(shelf.ranges().last().unwrap(), "bytes=150000-");
}

#[test]
fn what_is_not_allowed_or_no_model_is_refused() {
    let home = Home::new();
    let shelf = FileServer::of(b"not a model".to_vec(), Sending::Sound);
    let to = shelf.url();
    // What asks for example.com asks this one: its proxy.
    let proxy = Scripted::start(move |_, stream| {
        let head =
            format!("HTTP/1.1 302 Found\r\ncontent-length: 0\r\nlocation: {to}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).is_ok()
    });
    let through = format!("http://127.0.0.1:{}", proxy.port);
    let bridge = Bridge::start_with(&home, &[("HTTP_PROXY", &through)]);
    let hash = sha256(&shelf.bytes);
    let refused = |url: &str, sha256: Option<&str>, private: bool| {
        let order = json!({"model_id": url, "sha256": sha256, "allow_http": true, "allow_private": private});
        refusal(&bridge, &order)
    };
    let (private, hash) = ("is a private address; `--allow-private` allows that", Some(hash.as_str()));
    assert!(refused(&shelf.url(), hash, false).contains(private));
    assert!(refused("http://example.com/m.gguf", hash, false).contains(private));
    assert_eq!((proxy.asked().len(), shelf.server.asked().len()), (1, 0));
    assert!(refused(&shelf.url(), None, true).contains("say its SHA-256"));
    assert!(refused(&shelf.url(), hash, true).contains("is damaged"));
    assert!(refused(&format!("{}x", shelf.url()), hash, true).contains("how the file is to be called"));
    assert!(!file(&home).exists());
}

#[test]
fn a_disk_without_room_is_seen_before_anything_comes() {
    if !is_root("a_disk_without_room_is_seen_before_anything_comes") {
        return;
    }
    let home = Home::new();
    let _disk = SmallDisk::below(&home, 64);
    let bridge = Bridge::start(&home);
    let shelf = FileServer::of(model(1000), Sending::Sound);
    let why = refusal(&bridge, &shelf.order());
    assert!(why.contains("stay free: make room on that disk"), "{why}");
    assert!(!file(&home).exists());
}

#[test]
fn ollama_is_asked_to_fetch_a_model() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let ollama = Scripted::start(|asked, stream| {
        begin_stream(stream, "application/x-ndjson");
        let lines = match asked.body["model"].as_str() {
            Some("m:1b") => {
                "{\"status\":\"pulling manifest\"}\n{\"status\":\"pulling ab\",\"total\":9,\"completed\":4}\n{\"status\":\"success\"}\n"
            }
            Some("half") => "{\"status\":\"pulling manifest\"}\n",
            _ => "{\"error\":\"pull model manifest: file does not exist\"}\n",
        };
        stream.write_all(lines.as_bytes()).is_ok()
    });
    let pull = |name: &str| {
        let order = json!({"model_id": format!("ollama:{name}"), "progress": true});
        bridge.call("llm_download_model", &order).map_err(|error| error.message)
    };
    assert!(pull("m:1b").unwrap_err().contains("`harbor models add ollama`"));
    done(&home, &["models", "add", "ollama", "--url", &format!("http://127.0.0.1:{}", ollama.port)]);
    assert_eq!(pull("m:1b").unwrap()["message"], "Ollama has m:1b");
    let told: Vec<_> = std::iter::from_fn(|| bridge.push_now("progress")).collect();
    let last = told.last().unwrap();
    assert_eq!(
        (&last["progress"], &last["total"], &last["message"]),
        (&json!(4), &json!(9), &json!("pulling ab"))
    );
    assert!(pull("none").unwrap_err().contains("file does not exist"));
    assert!(pull("half").unwrap_err().contains("broke off"));
}
