//! A double of the official registry: pages of servers over HTTP on this machine, as slow or broken as a test wants it.
//!
//! Must never be reached by anybody else: it listens on loopback, for as long as it is there.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A request that is held waits no longer.
const HELD: Duration = Duration::from_secs(60);

/// Servers on a page.
const PAGE: usize = 100;

/// It.
#[derive(Debug)]
pub struct Registry {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    servers: Vec<Value>,
    /// What every request is answered with instead of a page.
    status: Option<u16>,
    /// From which page on, counted from 0, requests wait.
    held_from: Option<usize>,
    asked: Vec<String>,
    ended: bool,
}

impl Registry {
    /// One with these servers: a name and a description each.
    ///
    /// # Panics
    /// When there is no port.
    #[must_use]
    pub fn with(servers: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback is free");
        let port = listener.local_addr().expect("it is bound").port();
        let registry = Self { port, shared: Arc::default() };
        registry.set(servers);
        let shared = Arc::clone(&registry.shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.state().ended {
                    return;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || answer(&shared, stream));
            }
        });
        registry
    }

    /// Its base.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The `[catalog]` that has nothing but it.
    #[must_use]
    pub fn config(&self) -> String {
        format!("[catalog]\nregistryUrl = \"{}\"\nawesomeUrl = \"\"\ngithubApiUrl = \"\"\n", self.url())
    }

    /// Has these servers instead.
    pub fn set(&self, servers: &[(&str, &str)]) {
        let server = |(name, description): &(&str, &str)| {
            json!({
                "name": name, "description": description, "version": "1.0.0",
                "packages": [{"registryType": "npm", "identifier": name, "version": "1.0.0", "transport": {"type": "stdio"}}],
            })
        };
        self.publish(servers.iter().map(server).collect());
    }

    /// Has these instead, a server.json each.
    pub fn publish(&self, servers: Vec<Value>) {
        let official = json!({"status": "active", "updatedAt": "2026-01-02T00:00:00Z", "isLatest": true});
        let meta = json!({"io.modelcontextprotocol.registry/official": official});
        let listed = |server: Value| json!({"server": server, "_meta": meta});
        self.shared.change(|state| state.servers = servers.into_iter().map(listed).collect());
    }

    /// Answers everything with this status from now on; with none, with pages.
    pub fn fail(&self, status: Option<u16>) {
        self.shared.change(|state| state.status = status);
    }

    /// Lets requests from this page on wait until it is called again.
    pub fn hold(&self, from_page: Option<usize>) {
        self.shared.change(|state| state.held_from = from_page);
    }

    /// What was asked for so far.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.shared.state().asked.clone()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.shared.change(|state| state.ended = true);
        // Its thread waits for somebody to come.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

/// Answers one request, and closes.
fn answer(shared: &Shared, mut stream: TcpStream) {
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    if lines.take_while(|line| !line.is_empty()).count() == 0 {
        return;
    }
    let cursor = path.split(['?', '&']).find_map(|part| part.strip_prefix("cursor="));
    let page: usize = cursor.and_then(|cursor| cursor.trim_start_matches('p').parse().ok()).unwrap_or(0);
    let mut state = shared.state();
    state.asked.push(path);
    let waits = |state: &mut State| !state.ended && state.held_from.is_some_and(|from| page >= from);
    state = shared.changed.wait_timeout_while(state, HELD, waits).unwrap_or_else(PoisonError::into_inner).0;
    let (status, body) = match state.status {
        Some(status) => (status, "{}".to_owned()),
        None => (200, shown(&state.servers, page).to_string()),
    };
    drop(state);
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // Whoever asked may have been killed.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

fn shown(servers: &[Value], page: usize) -> Value {
    let some: Vec<_> = servers.iter().skip(page * PAGE).take(PAGE).collect();
    let next = (servers.len() > (page + 1) * PAGE).then(|| format!("p{}", page + 1));
    json!({"servers": some, "metadata": {"nextCursor": next, "count": some.len()}})
}
