//! Entries of a client's configuration for remote servers.
//!
//! Owns the words that clients use for it. Must never show a value of a header.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::launch::{RemoteEntry, Skip};
use super::placeholders::{Surroundings, Use};

/// The keys that may have the URL.
const URLS: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

/// True if an entry is for a remote server.
pub fn is_meant(entry: &Value) -> bool {
    let kind = kind(entry).unwrap_or("stdio");
    kind != "stdio" && kind != "local" || URLS.iter().any(|key| entry.get(key).is_some())
}

fn kind(entry: &Value) -> Option<&str> {
    entry["type"].as_str().or_else(|| entry["transport"].as_str())
}

/// Reads such an entry.
///
/// # Errors
/// Says why the entry is left out.
pub fn read(
    entry: &Value,
    around: &Surroundings<'_>,
    taken: &mut BTreeSet<Use>,
) -> Result<RemoteEntry, Skip> {
    let url = URLS.iter().find_map(|key| entry[key].as_str()).ok_or(Skip::Malformed("url"))?;
    let mut headers = BTreeMap::new();
    for key in ["headers", "http_headers"] {
        match &entry[key] {
            Value::Null => {}
            Value::Object(all) => {
                for (name, value) in all {
                    let value = value.as_str().ok_or(Skip::Malformed("headers"))?;
                    let value = around.put(value, &format!("the header {name}"), taken);
                    let value = value.map_err(|why| Skip::Unresolved(why, Some(name.clone())))?;
                    headers.insert(name.clone(), value);
                }
            }
            _ => return Err(Skip::Malformed("headers")),
        }
    }
    // As Codex has them: names of the person's variables.
    for (name, variable) in entry["env_http_headers"].as_object().into_iter().flatten() {
        forwarded(&mut headers, name, variable, "", around, taken);
    }
    forwarded(&mut headers, "Authorization", &entry["bearer_token_env_var"], "Bearer ", around, taken);
    Ok(RemoteEntry { url: around.put(url, "its URL", taken)?, sse: kind(entry) == Some("sse"), headers })
}

/// Adds a header with a variable's value. A variable that is not set is not sent.
fn forwarded(
    headers: &mut BTreeMap<String, String>,
    name: &str,
    variable: &Value,
    before: &str,
    around: &Surroundings<'_>,
    taken: &mut BTreeSet<Use>,
) {
    let Some(variable) = variable.as_str() else { return };
    if let Some(value) = around.hand_on(variable, &format!("the header {name}"), taken) {
        headers.insert(name.to_owned(), format!("{before}{value}"));
    }
}
