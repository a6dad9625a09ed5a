//! The text of `credentials.json`:
//!
//! ```text
//!  {"version":1,"servers":{"SERVER":{"KEY":{"value":"…","type":"api_key","set_at":1795282800123}}}}
//! ```
//!
//! Owns reading and writing it. Must never leave a copy of it in memory, nor quote it in an error: it is full of secrets.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::CredentialType;
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::strings::put_str;
use harbor_policy::credentials::{Credential, Credentials};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::origin;

/// The version that this Harbor writes.
const VERSION: u32 = 1;

/// The most bytes that one byte of a text becomes in JSON.
const WIDEST: usize = 6;

/// Names, numbers and signs around the texts of one secret.
const AROUND: usize = 256;

/// The secrets of all servers.
pub type SecretsByServer = BTreeMap<String, Credentials>;

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version")]
    _version: u32,
    servers: BTreeMap<String, BTreeMap<String, SecretEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretEntry {
    value: Secret,
    #[serde(rename = "type")]
    kind: String,
    username: Option<String>,
    set_at: u64,
    expires_at: Option<u64>,
    refresh_token: Option<Secret>,
    origin: Option<origin::LoginEntry>,
}

/// Reads the text.
///
/// # Errors
/// The fault in it, without a word of it.
pub(super) fn parse(text: &[u8]) -> Result<SecretsByServer, String> {
    let place = |error: &serde_json::Error| format!("line {}, column {}", error.line(), error.column());
    let broken = |error: serde_json::Error| format!("it is not a file of secrets ({})", place(&error));
    let Version { version } = serde_json::from_slice(text).map_err(broken)?;
    if version != VERSION {
        return Err(format!("it comes from another Harbor (its version is {version})"));
    }
    let File { servers, .. } = serde_json::from_slice(text).map_err(broken)?;
    servers
        .into_iter()
        .map(|(server, keys)| {
            let keys = keys.into_iter().map(|(key, entry)| Ok((key, credential(entry)?)));
            Ok((server, Credentials(keys.collect::<Result<_, String>>()?)))
        })
        .collect()
}

fn credential(entry: SecretEntry) -> Result<Credential, String> {
    let SecretEntry { value, kind, username, set_at, expires_at, refresh_token, origin } = entry;
    let kind = CredentialType::named(&kind).ok_or("it contains a secret of an unknown type")?;
    let origin = origin.map(origin::origin).transpose()?;
    Ok(Credential { value, kind, username, set_at, expires_at, refresh_token, origin })
}

/// The text, in memory that is overwritten.
pub(super) fn text(all: &SecretsByServer) -> Zeroizing<Vec<u8>> {
    // As long as it can get: what grows leaves copies behind.
    let mut out = Zeroizing::new(Vec::with_capacity(AROUND + all.iter().map(size).sum::<usize>()));
    out.extend_from_slice(format!("{{\"version\":{VERSION},\"servers\":{{").as_bytes());
    for (at, (server, credentials)) in all.iter().enumerate() {
        begin(&mut out, at, server);
        for (at, (key, credential)) in credentials.0.iter().enumerate() {
            begin(&mut out, at, key);
            put(&mut out, credential);
            out.push(b'}');
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"}}\n");
    out
}

fn size((server, credentials): (&String, &Credentials)) -> usize {
    let texts = |(key, credential): (&String, &Credential)| {
        let more = credential.refresh_token.as_ref().map_or(0, Secret::len);
        let name = credential.username.as_ref().map_or(0, String::len);
        let origin = credential.origin.as_ref().map_or(0, |from| AROUND + WIDEST * origin::size(from));
        AROUND + origin + WIDEST * (key.len() + credential.value.len() + more + name)
    };
    AROUND + WIDEST * server.len() + credentials.0.iter().map(texts).sum::<usize>()
}

/// The name of a member that is an object.
fn begin(out: &mut Vec<u8>, at: usize, name: &str) {
    if at > 0 {
        out.push(b',');
    }
    out.push(b'\n');
    put_str(out, name);
    out.extend_from_slice(b":{");
}

fn put(out: &mut Vec<u8>, credential: &Credential) {
    out.extend_from_slice(b"\"value\":");
    put_str(out, credential.value.expose());
    out.extend_from_slice(b",\"type\":");
    put_str(out, credential.kind.as_str());
    for (name, text) in [
        ("username", credential.username.as_deref()),
        ("refresh_token", credential.refresh_token.as_ref().map(Secret::expose)),
    ] {
        if let Some(text) = text {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            put_str(out, text);
        }
    }
    out.extend_from_slice(format!(",\"set_at\":{}", credential.set_at).as_bytes());
    if let Some(at) = credential.expires_at {
        out.extend_from_slice(format!(",\"expires_at\":{at}").as_bytes());
    }
    if let Some(from) = &credential.origin {
        origin::put(out, from);
    }
}
