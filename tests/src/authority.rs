//! An authorization server and the MCP server that it lets people in at, with the checks that the RFCs demand of both; and
//! the person's browser.
//!
//! ```text
//!  Authority::start ─► `mcp`: 401 without a token that is good ─► its document ─► `issuer`: its document, /register,
//!                                                                              /authorize, /token, /revoke
//!  visit(URL) ─► /authorize ─► 302 ─► the redirect URI ─► the page that is shown there
//! ```
//!
//! Owns which tokens are good. Must never be kinder than a real one: a code is good once, for its own redirect URI, verifier,
//! resource and client; a refresh token is good once, and whoever shows one a second time has all that came of it taken back.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;
use url::form_urlencoded;

use crate::client::base64;
use crate::scripted::{Asked, Scripted, answer};

/// What the tool `bad` wants besides.
pub const WRITE: &str = "write";

/// How this one differs from a sound one.
#[derive(Default)]
pub struct Twists {
    /// Changes the document of the authorization server.
    pub about: Option<fn(&mut Value)>,
    /// Changes that of the MCP server.
    pub resource: Option<fn(&mut Value)>,
    /// What is in the answer besides code and state.
    pub also: &'static str,
    /// How long tokens last, in seconds.
    pub expires_in: Option<u64>,
    /// Whether the tool `other` fails with the token in its words.
    pub tells_tokens: bool,
    /// A renewal is answered when the other end is told so.
    pub holds_renewals: Option<Receiver<()>>,
}

/// What is good at present.
#[derive(Debug, Default)]
pub struct Good {
    /// Access tokens and their scopes.
    pub tokens: BTreeMap<String, String>,
    /// Refresh tokens and their scopes.
    pub refresh: BTreeMap<String, String>,
    codes: BTreeMap<String, BTreeMap<String, String>>,
    clients: Vec<String>,
    count: u32,
    /// How often a refresh token was shown that had been used.
    pub reuses: u32,
}

/// Both servers.
pub struct Authority {
    /// The MCP server.
    pub mcp: Scripted,
    /// The authorization server.
    pub issuer: Scripted,
    good: Arc<Mutex<Good>>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("mcp", &self.mcp).finish_non_exhaustive()
    }
}

type Fields = BTreeMap<String, String>;

impl Authority {
    /// Starts them.
    #[must_use]
    pub fn start(twists: Twists) -> Self {
        let good = Arc::<Mutex<Good>>::default();
        let (also, expires_in) = (twists.also, twists.expires_in);
        let held = twists.holds_renewals.map(Mutex::new);
        let issuer = Scripted::start({
            let good = good.clone();
            move |asked, stream| {
                let base = format!("http://{}", asked.header("host"));
                let (status, more, body) = match asked.path.split_once('?').unwrap_or((&asked.path, "")) {
                    ("/.well-known/oauth-authorization-server", _) => ok(&about(&base, twists.about)),
                    ("/register", _) => register(&mut lock(&good), asked),
                    ("/authorize", query) => authorize(&mut lock(&good), &fields(query), also),
                    ("/token", _) => {
                        let said = token(&mut lock(&good), asked, expires_in);
                        let is_renewal =
                            fields(&asked.text).get("grant_type").is_some_and(|kind| kind == "refresh_token");
                        if let Some(held) = held.as_ref().filter(|_| is_renewal) {
                            // Where nobody holds it any more, it goes on.
                            let _ = held.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        }
                        said
                    }
                    ("/revoke", _) => revoke(&mut lock(&good), &fields(&asked.text)),
                    _ => ("404 Not Found", String::new(), "{}".into()),
                };
                answer(stream, status, "application/json", &more, &body)
            }
        });
        let port = issuer.port;
        let mcp = Scripted::start({
            let good = good.clone();
            move |asked, stream| {
                serve(&lock(&good), asked, stream, port, twists.resource, twists.tells_tokens)
            }
        });
        Self { mcp, issuer, good }
    }

    /// What is good at present; it may be changed.
    pub fn good(&self) -> MutexGuard<'_, Good> {
        lock(&self.good)
    }

    /// From now on no access token is good any more; refresh tokens are.
    pub fn end_tokens(&self) {
        self.good().tokens.clear();
    }

    /// The number of the newest refresh token: `refresh-token-NUMBER`.
    #[must_use]
    pub fn issued(&self) -> u32 {
        self.good().count
    }

    /// How often tokens were asked for like this.
    #[must_use]
    pub fn grants(&self, kind: &str) -> usize {
        self.issuer.count(|asked| {
            asked.path == "/token" && fields(&asked.text).get("grant_type").is_some_and(|said| said == kind)
        })
    }

    /// How many clients have made themselves known.
    #[must_use]
    pub fn registrations(&self) -> usize {
        self.issuer.count(|asked| asked.path == "/register")
    }
}

fn lock(good: &Mutex<Good>) -> MutexGuard<'_, Good> {
    good.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fields of a form or a query.
#[must_use]
pub fn fields(text: &str) -> Fields {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

type Said = (&'static str, String, String);

fn ok(body: &Value) -> Said {
    ("200 OK", String::new(), body.to_string())
}

fn refused(error: &str) -> Said {
    ("400 Bad Request", String::new(), json!({"error": error, "error_description": "<b>no</b>"}).to_string())
}

fn about(base: &str, change: Option<fn(&mut Value)>) -> Value {
    let at = |path: &str| format!("{base}{path}");
    let mut about = json!({
        "issuer": base,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "registration_endpoint": at("/register"),
        "revocation_endpoint": at("/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
    });
    if let Some(change) = change {
        change(&mut about);
    }
    about
}

fn register(good: &mut Good, asked: &Asked) -> Said {
    if asked.body["redirect_uris"].as_array().is_none_or(Vec::is_empty)
        || asked.body["application_type"] != "native"
    {
        return refused("invalid_client_metadata");
    }
    let id = format!("client-{}", good.clients.len());
    good.clients.push(id.clone());
    ("201 Created", String::new(), json!({"client_id": id}).to_string())
}

/// The person says yes at once.
fn authorize(good: &mut Good, asked: &Fields, also: &str) -> Said {
    let of = |name: &str| asked.get(name).cloned().unwrap_or_default();
    let is_known = good.clients.contains(&of("client_id")) || !of("client_id").starts_with("client-");
    if !is_known || of("code_challenge_method") != "S256" || of("resource").is_empty() {
        return refused("invalid_request");
    }
    let code = format!("code-{}", good.codes.len());
    good.codes.insert(code.clone(), asked.clone());
    let location = format!("location: {}?code={code}&state={}{also}\r\n", of("redirect_uri"), of("state"));
    ("302 Found", location, String::new())
}

fn token(good: &mut Good, asked: &Asked, expires_in: Option<u64>) -> Said {
    let form = fields(&asked.text);
    let of = |name: &str| form.get(name).cloned().unwrap_or_default();
    let scope = match of("grant_type").as_str() {
        "authorization_code" => {
            let Some(begun) = good.codes.remove(&of("code")) else { return refused("invalid_grant") };
            let same = |name: &str| begun.get(name) == form.get(name);
            let challenge =
                begun.get("code_challenge").map_or("", String::as_str).replace('-', "+").replace('_', "/");
            let digest = Sha256::digest(of("code_verifier")).to_vec();
            let proven = base64::decode(&format!("{challenge}=")).is_some_and(|said| said == digest);
            let by_header = !asked.header("authorization").is_empty();
            if !proven || !same("redirect_uri") || !same("resource") || !(same("client_id") || by_header) {
                return refused("invalid_grant");
            }
            begun.get("scope").cloned().unwrap_or_default()
        }
        "refresh_token" => match good.refresh.remove(&of("refresh_token")) {
            Some(scope) if !of("resource").is_empty() => scope,
            Some(_) => return refused("invalid_grant"),
            None => {
                // RFC 9700: it may have been stolen.
                good.reuses += 1;
                good.refresh.clear();
                good.tokens.clear();
                return refused("invalid_grant");
            }
        },
        _ => return refused("unsupported_grant_type"),
    };
    good.count += 1;
    let (access, refresh) = (format!("access-token-{}", good.count), format!("refresh-token-{}", good.count));
    good.tokens.insert(access.clone(), scope.clone());
    good.refresh.insert(refresh.clone(), scope);
    let mut body = json!({"access_token": access, "token_type": "Bearer", "refresh_token": refresh});
    if let Some(expires_in) = expires_in {
        body["expires_in"] = json!(expires_in);
    }
    ok(&body)
}

fn revoke(good: &mut Good, form: &Fields) -> Said {
    let token = form.get("token").cloned().unwrap_or_default();
    good.refresh.remove(&token);
    good.tokens.clear();
    ("200 OK", String::new(), String::new())
}

fn serve(
    good: &Good,
    asked: &Asked,
    stream: &mut TcpStream,
    issuer: u16,
    change: Option<fn(&mut Value)>,
    tells_tokens: bool,
) -> bool {
    let base = format!("http://{}", asked.header("host"));
    let document = format!("{base}/.well-known/oauth-protected-resource/mcp");
    if asked.path == "/.well-known/oauth-protected-resource/mcp" {
        let mut said = json!({
            "resource": format!("{base}/mcp"),
            "authorization_servers": [format!("http://127.0.0.1:{issuer}")],
            "scopes_supported": ["read"],
        });
        if let Some(change) = change {
            change(&mut said);
        }
        return answer(stream, "200 OK", "application/json", "", &said.to_string());
    }
    let token = asked.header("authorization").strip_prefix("Bearer ").unwrap_or_default();
    let Some(scope) = good.tokens.get(token) else {
        let more = format!("www-authenticate: Bearer resource_metadata=\"{document}\"\r\n");
        return answer(stream, "401 Unauthorized", "application/json", &more, "{}");
    };
    if asked.calls("bad") && !scope.split(' ').any(|scope| scope == WRITE) {
        let more = format!(
            "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"{WRITE}\", resource_metadata=\"{document}\"\r\n"
        );
        return answer(stream, "403 Forbidden", "application/json", &more, "{}");
    }
    if tells_tokens && asked.calls("other") {
        let line = json!({"jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": "error", "data": format!("wrong token {token}")}});
        let result = json!({"jsonrpc": "2.0", "id": asked.body["id"],
            "result": {"content": [{"type": "text", "text": "done"}]}});
        let events = format!("data: {line}\n\ndata: {result}\n\n");
        return answer(stream, "200 OK", "text/event-stream", "", &events);
    }
    false
}

/// Asks like a browser, without following: the status, the header `location`, and the page.
///
/// # Panics
/// When nobody is there.
#[must_use]
pub fn get(url: &str, host: Option<&str>) -> (u16, String, String) {
    try_get(url, host).expect("somebody there")
}

fn try_get(url: &str, host: Option<&str>) -> io::Result<(u16, String, String)> {
    let url = Url::parse(url).expect("a URL");
    let place = format!("{}:{}", url.host_str().expect("a host"), url.port().expect("a port"));
    let mut stream = TcpStream::connect(&place)?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let host = host.unwrap_or(&place);
    let head = format!("GET {}{query} HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\n\r\n", url.path());
    stream.write_all(head.as_bytes())?;
    let mut all = String::new();
    // What was said before the connection broke is the answer.
    let _ = stream.read_to_string(&mut all);
    let status = all.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let location =
        all.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_default().to_owned();
    Ok((status, location, all))
}

/// The person opens a page and says yes; what their browser shows in the end.
#[must_use]
pub fn visit(url: &str) -> String {
    try_visit(url).expect("somebody there")
}

/// The same where the bridge may be gone by then.
///
/// # Errors
/// When it is.
///
/// # Panics
/// When the authorization server refuses.
pub fn try_visit(url: &str) -> io::Result<String> {
    let (status, location, said) = try_get(url, None)?;
    assert_eq!(status, 302, "{said}");
    Ok(try_get(&location, None)?.2)
}
