//! A registry: pages of servers, changes since a time with tombstones, as the official one has them.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{Reply, Request, Web};

/// A time long before every test.
pub const OLD: &str = "2026-01-01T00:00:00Z";

/// A server as it lists it.
pub fn server(name: &str, description: &str, official: &Value) -> Value {
    let short = name.rsplit('/').next().unwrap();
    json!({
        "server": {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": name,
            "description": description,
            "version": "1.0.0",
            "repository": {"url": format!("https://github.com/ann/{short}"), "source": "github"},
            "packages": [{"registryType": "npm", "identifier": format!("@ann/{short}"), "version": "1.0.0",
                          "transport": {"type": "stdio"}}],
        },
        "_meta": {"io.modelcontextprotocol.registry/official": official},
    })
}

/// One that is there.
pub fn active(name: &str, description: &str) -> Value {
    server(
        name,
        description,
        &json!({"status": "active", "publishedAt": OLD, "updatedAt": OLD, "isLatest": true}),
    )
}

/// Its servers, which a test may change while it runs.
#[derive(Debug, Clone)]
pub struct Registry {
    /// Where it is served.
    pub web: Web,
    servers: Arc<Mutex<Vec<Value>>>,
}

impl Registry {
    /// A registry of these servers.
    pub fn start(servers: Vec<Value>) -> Self {
        let servers = Arc::new(Mutex::new(servers));
        let listed = servers.clone();
        let web = Web::start(move |request| {
            answer(request, &listed.lock().unwrap_or_else(PoisonError::into_inner))
        });
        Self { web, servers }
    }

    /// A registry of so many servers.
    pub fn of(count: usize) -> Self {
        Self::start((0..count).map(|n| active(&format!("io.test/s{n:05}"), &format!("Does {n}."))).collect())
    }

    /// Changes what it lists.
    pub fn change(&self, change: impl FnOnce(&mut Vec<Value>)) {
        change(&mut self.servers.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A page. The cursor is the number of the first, in words that have to be encoded.
pub fn answer(request: &Request, servers: &[Value]) -> Reply {
    assert_eq!((request.path(), request.value("version")), ("/v0.1/servers", Some("latest")));
    let limit: usize = request.value("limit").unwrap().parse().unwrap();
    let first: usize = request
        .value("cursor")
        .map_or(0, |cursor| cursor.strip_prefix("from%3A").expect("the cursor is encoded").parse().unwrap());
    let since = request.value("updated_since");
    let official = |server: &Value| server["_meta"]["io.modelcontextprotocol.registry/official"].clone();
    let wanted: Vec<&Value> = servers
        .iter()
        .filter(|server| match since {
            Some(_) => official(server)["updatedAt"] != OLD,
            None => official(server)["status"] != "deleted",
        })
        .collect();
    let page: Vec<_> = wanted.iter().skip(first).take(limit).collect();
    let mut metadata = json!({"count": page.len()});
    if first + limit < wanted.len() {
        metadata["nextCursor"] = json!(format!("from:{}", first + limit));
    }
    Reply::ok(json!({"servers": page, "metadata": metadata}).to_string())
}
