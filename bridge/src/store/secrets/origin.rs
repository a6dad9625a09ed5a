//! The part of a secret that says where a token is from:
//!
//! ```text
//!  "origin":{"scopes":["a"],"granted_at":1795282800123,"issuer":"https://…","token_endpoint":"https://…",
//!            "resource":"https://…","client":{"id":"…","proof":"none","is_given":false}}
//! ```
//!
//! Owns reading and writing it. The rules are those of the whole text.

use harbor_ipc_proto::link::oauth::{Client, Proof};
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::strings::put_str;
use harbor_policy::credentials::TokenProvenance;
use serde::Deserialize;

const PROOFS: [(Proof, &str); 3] = [(Proof::None, "none"), (Proof::Basic, "basic"), (Proof::Post, "post")];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LoginEntry {
    scopes: Vec<String>,
    granted_at: u64,
    issuer: String,
    token_endpoint: String,
    revocation_endpoint: Option<String>,
    resource: String,
    client: ClientEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientEntry {
    id: String,
    secret: Option<Secret>,
    proof: String,
    is_given: bool,
}

/// The origin in an entry.
pub(super) fn origin(entry: LoginEntry) -> Result<TokenProvenance, String> {
    let LoginEntry { scopes, granted_at, issuer, token_endpoint, revocation_endpoint, resource, client } =
        entry;
    let ClientEntry { id, secret, proof, is_given } = client;
    let proof = PROOFS.iter().find(|(_, word)| *word == proof).map(|(proof, _)| *proof);
    let proof = proof.ok_or("it has a client with an unknown way of authentication")?;
    let client = Client { id, secret, proof, is_given };
    Ok(TokenProvenance { scopes, granted_at, client, issuer, token_endpoint, revocation_endpoint, resource })
}

/// How long its texts are, in bytes.
pub(super) fn size(origin: &TokenProvenance) -> usize {
    let TokenProvenance { scopes, client, issuer, token_endpoint, revocation_endpoint, resource, .. } =
        origin;
    let texts = [issuer, token_endpoint, resource, &client.id];
    texts.iter().map(|text| text.len()).sum::<usize>()
        + scopes.iter().map(|scope| scope.len() + 3).sum::<usize>()
        + revocation_endpoint.as_ref().map_or(0, String::len)
        + client.secret.as_ref().map_or(0, Secret::len)
}

/// Appends the member.
pub(super) fn put(out: &mut Vec<u8>, origin: &TokenProvenance) {
    out.extend_from_slice(b",\"origin\":{\"scopes\":[");
    for (at, scope) in origin.scopes.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        put_str(out, scope);
    }
    out.extend_from_slice(format!("],\"granted_at\":{}", origin.granted_at).as_bytes());
    for (name, text) in [
        ("issuer", Some(&origin.issuer)),
        ("token_endpoint", Some(&origin.token_endpoint)),
        ("revocation_endpoint", origin.revocation_endpoint.as_ref()),
        ("resource", Some(&origin.resource)),
    ] {
        if let Some(text) = text {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            put_str(out, text);
        }
    }
    out.extend_from_slice(b",\"client\":{\"id\":");
    put_str(out, &origin.client.id);
    if let Some(secret) = &origin.client.secret {
        out.extend_from_slice(b",\"secret\":");
        put_str(out, secret.expose());
    }
    let proof =
        PROOFS.iter().find(|(proof, _)| *proof == origin.client.proof).map_or("none", |(_, word)| *word);
    let is_given = origin.client.is_given;
    out.extend_from_slice(format!(",\"proof\":\"{proof}\",\"is_given\":{is_given}}}}}").as_bytes());
}
