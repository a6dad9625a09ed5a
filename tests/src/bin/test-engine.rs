//! A program that runs models, as llama-server does, without a model: `test-engine --model FILE --host … --api-key-file …`.
//!
//! ```text
//!  FILE: "GGUF" and a word    ready | slow | never | elsewhere | damaged | greedy | dies
//!  its own name               test-engine: takes a Unix socket     old-engine: takes a port only     mute-engine: says no option
//! ```
//!
//! `slow` loads for three looks at /health, `never` for ever; `elsewhere` listens at another address than it was given; `greedy` takes
//! memory until it is killed; `dies` ends at the first question. Must never write its key.
#![allow(clippy::expect_used, clippy::print_stdout, clippy::print_stderr, reason = "test support")]

use std::io::{BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process, thread};

/// Looks at /health until one that is slow is ready.
const SLOW: u32 = 3;

const OPTIONS: &str = "usage: test-engine
-m,    --model FNAME                    model path to load
-a,    --alias STRING                   set model name aliases
--port PORT                             port to listen
--cors-origins ORIGINS                  allowed origins
--api-key-file FNAME                    path to file containing API keys
--no-ui                                 no UI
";
const SOCKET: &str =
    "--host HOST    ip address to listen, or bind to an UNIX socket if the address ends with .sock\n";
const NO_SOCKET: &str = "--host HOST    ip address to listen\n";

static LOOKS: AtomicU32 = AtomicU32::new(0);

struct Engine {
    word: String,
    key: String,
    name: String,
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().collect();
    let own = args.first().map(String::as_str).unwrap_or_default();
    if args.iter().any(|arg| arg == "--help") {
        if own.ends_with("mute-engine") {
            eprintln!("no help here");
            return ExitCode::FAILURE;
        }
        println!("{OPTIONS}{}", if own.ends_with("old-engine") { NO_SOCKET } else { SOCKET });
        return ExitCode::SUCCESS;
    }
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).cloned();
    let variables = env::vars().filter(|(name, _)| name.starts_with("LLAMA_")).count();
    assert_eq!(variables, 0, "no variable of the person's changes what an engine does");
    let word = match value("--model") {
        Some(file) => {
            fs::read_to_string(file).expect("the model is readable").trim_start_matches("GGUF").to_owned()
        }
        None => "ready".to_owned(),
    };
    eprintln!("loading: {word}");
    match word.as_str() {
        "damaged" => {
            eprintln!("error: the model is damaged");
            return ExitCode::FAILURE;
        }
        "greedy" => take_memory(),
        _ => {}
    }
    let key = fs::read_to_string(value("--api-key-file").expect("there is a key")).expect("it is readable");
    let name = value("--alias").unwrap_or_default();
    let engine: &'static Engine = Box::leak(Box::new(Engine { word, key: key.trim().to_owned(), name }));
    let host = value("--host").expect("there is an address");
    match host.strip_suffix(".sock") {
        Some(_) if engine.word == "elsewhere" => {
            listen(engine, &UnixListener::bind("other.sock").expect("a socket"))
        }
        Some(_) => listen(engine, &UnixListener::bind(&host).expect("a socket")),
        None => {
            let port = value("--port").expect("there is a port").parse().expect("it is a number");
            let listener = TcpListener::bind((host.as_str(), port)).expect("a port");
            for stream in listener.incoming().flatten() {
                thread::spawn(move || serve(engine, stream.try_clone().expect("a descriptor"), stream));
            }
        }
    }
    ExitCode::SUCCESS
}

fn listen(engine: &'static Engine, listener: &UnixListener) {
    for stream in listener.incoming().flatten() {
        thread::spawn(move || serve(engine, stream.try_clone().expect("a descriptor"), stream));
    }
}

/// Until it is killed.
fn take_memory() {
    let mut taken = Vec::new();
    loop {
        taken.push(vec![1_u8; 8 << 20]);
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn serve(engine: &Engine, stream: impl Read, mut answer: impl Write) {
    let mut reader = BufReader::new(stream);
    while let Some((path, key)) = request(&mut reader) {
        let (status, kind, body) = said(engine, &path, &key);
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if answer.write_all(head.as_bytes()).and_then(|()| answer.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

/// The path of a request, and its key.
fn request(reader: &mut impl std::io::BufRead) -> Option<(String, String)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let (mut length, mut key) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => key = value.trim().trim_start_matches("Bearer ").to_owned(),
            _ => {}
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    Some((path, key))
}

fn said(engine: &Engine, path: &str, key: &str) -> (&'static str, &'static str, String) {
    let json = "application/json";
    if path == "/health" {
        let looks = LOOKS.fetch_add(1, Ordering::SeqCst);
        let loads = engine.word == "never" || engine.word == "slow" && looks < SLOW;
        return match loads {
            true => ("503 Service Unavailable", json, "{\"error\":{\"message\":\"Loading model\"}}".into()),
            false => ("200 OK", json, "{\"status\":\"ok\"}".into()),
        };
    }
    if key != engine.key {
        return ("401 Unauthorized", json, "{\"error\":{\"message\":\"Invalid API Key\"}}".into());
    }
    match path {
        "/v1/models" => {
            let name = &engine.name;
            (
                "200 OK",
                json,
                format!("{{\"object\":\"list\",\"data\":[{{\"id\":\"{name}\",\"owned_by\":\"llamacpp\"}}]}}"),
            )
        }
        "/v1/chat/completions" if engine.word == "dies" => process::exit(3),
        "/v1/chat/completions" => {
            let piece = |delta: &str, finish: &str| {
                format!(
                    "data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
                )
            };
            let text = piece("{\"content\":\"Hello from the engine\"}", "null") + &piece("{}", "\"stop\"");
            ("200 OK", "text/event-stream", format!("{text}data: [DONE]\n\n"))
        }
        _ => ("404 Not Found", json, "{}".into()),
    }
}
