//! One connection, from its first byte to its last.
//!
//! ```text
//!   reader ─► frames ─► first: attach (socket only) ─► parsed (a large one: aside) ─► Router::receive
//!   writer ◄── Client's outbox, by a task of its own
//! ```
//!
//! A connection reads and never writes, so a client that does not read blocks only itself. When either direction
//! ends, its open requests end with it.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::outbox::Sink;
use harbor_child::reading::read_some;
use harbor_child::turn::{Aside, LARGE, Turn};
use harbor_ipc_proto::client::envelope::{Envelope, ErrorBody, Incoming, Refused};
use harbor_ipc_proto::client::{Attach, AttachResult, ConnectionRequest, Request};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped, put_frame};
use harbor_ipc_proto::{BUILD, CLIENT_PROTOCOL};
use harbor_policy::access::Principal;
use harbor_policy::origin::Origin;
use tokio::io::AsyncRead;
use tokio::sync::Notify;

use crate::router::Router;
use crate::router::client::Client;
use crate::router::version_mismatch;

/// Parses large frames.
static ASIDE: Aside = Aside::new();

/// How long a program on the socket may take to attach.
const ATTACH_LIMIT: Duration = Duration::from_secs(2);

/// How long a client may pause in the middle of a large frame.
const HALF_A_FRAME: Duration = Duration::from_secs(30);

/// How long the last answers may take to be written to a slow client.
const FLUSH_LIMIT: Duration = Duration::from_millis(500);

/// The largest `attach` frame.
const MAX_ATTACH: usize = 64 * 1024;

/// Serves a client whose role is known, until it leaves or is cut off.
pub async fn serve<R: AsyncRead + Unpin>(
    router: &Rc<Router>,
    client: Rc<Client>,
    mut reader: R,
    writer: impl Sink + 'static,
    mut frames: FrameDecoder,
) {
    router.join(&client);
    let mut driver = tokio::task::spawn_local({
        let client = client.clone();
        async move { client.outbox().drive(&writer).await }
    });
    let writes = tokio::select! {
        // A client that does not read, or is gone, is noticed by the end of its writer.
        _ = &mut driver => false,
        _ = read(router, &client, &mut reader, &mut frames) => true,
    };
    router.leave(&client);
    client.outbox().close();
    if writes && tokio::time::timeout(FLUSH_LIMIT, &mut driver).await.is_err() {
        driver.abort();
    }
    drop(client);
    router.clients.changed.notify_waiters();
}

async fn read<R: AsyncRead + Unpin>(
    router: &Rc<Router>,
    client: &Rc<Client>,
    reader: &mut R,
    frames: &mut FrameDecoder,
) -> io::Result<()> {
    let mut turn = Turn::default();
    loop {
        if let Some(frame) = frames.take_longer_than(LARGE) {
            // Its client's further frames wait meanwhile, to keep their order.
            let parsed = ASIDE.run(frame.bytes().len(), move || Incoming::parse(frame.bytes())).await?;
            router.receive(client, parsed);
            continue;
        }
        if let Some(popped) = frames.pop() {
            let length = match popped {
                Popped::Frame(frame) => {
                    router.receive(client, Incoming::parse(frame));
                    frame.len()
                }
                Popped::Oversize(length) => {
                    router.receive(client, Err(oversize(length)));
                    0
                }
            };
            turn.handled(length).await;
            continue;
        }
        // A client with half a large frame takes up memory here, so it has to go on with it.
        let limit = if frames.held() > LARGE { HALF_A_FRAME } else { Duration::MAX };
        let lacking = frames.lacking();
        let n = within(limit, turn.read(reader, frames.space(), lacking)).await?;
        if n == 0 {
            return Ok(());
        }
        frames.filled(n);
    }
}

/// Waits for bytes. Without a limit no timer is set.
async fn within(limit: Duration, read: impl Future<Output = io::Result<usize>>) -> io::Result<usize> {
    match limit {
        Duration::MAX => read.await,
        limit => tokio::time::timeout(limit, read).await?,
    }
}

fn oversize(length: u32) -> Refused {
    let message =
        format!("the bridge skipped a frame of {length} bytes; it accepts at most {MAX_CLIENT_FRAME}");
    Refused { envelope: Envelope::nobody(), error: ErrorBody::new(Code::MessageTooLarge, message) }
}

/// Reads the first frame of a program on the socket, and decides its principal.
///
/// # Errors
/// The error to tell the program before the connection is closed; none if it is gone already.
pub(super) async fn attach<R: AsyncRead + Unpin>(
    reader: &mut R,
    frames: &mut FrameDecoder,
    token: &str,
    evicted: &Notify,
) -> Result<(Envelope, Principal), Option<(Envelope, ErrorBody)>> {
    let first = async {
        loop {
            match frames.pop() {
                Some(Popped::Frame(frame)) => return Ok(decide(frame, token)),
                Some(Popped::Oversize(_)) => return Ok(Err((Envelope::nobody(), unattached()))),
                None => {}
            }
            let n = read_some(reader, frames.space()).await?;
            if n == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            frames.filled(n);
        }
    };
    let decided = tokio::select! {
        decided = tokio::time::timeout(ATTACH_LIMIT, first) => decided,
        () = evicted.notified() => return Err(None),
    };
    match decided {
        Ok(Ok(decided)) => decided.map_err(Some),
        Ok(Err(_)) => Err(None),
        Err(_) => Err(Some((Envelope::nobody(), unattached()))),
    }
}

/// A decoder for a connection that has not attached yet: strangers get little room.
pub(super) fn unattached_frames() -> FrameDecoder {
    FrameDecoder::new(MAX_ATTACH)
}

fn unattached() -> ErrorBody {
    let message = "the first frame must be attach {token, role}; use `harbor`, which does that";
    ErrorBody::new(Code::Unauthorized, message)
}

fn decide(frame: &[u8], token: &str) -> Result<(Envelope, Principal), (Envelope, ErrorBody)> {
    let incoming = Incoming::parse(frame).map_err(|refused| (refused.envelope, refused.error))?;
    let Incoming { envelope, request: Request::Connection(ConnectionRequest::Attach(attach)) } = incoming
    else {
        return Err((incoming.envelope, unattached()));
    };
    if !equal_in_constant_time(attach.token.as_bytes(), token.as_bytes()) {
        let message =
            "the token is not the one in run/token; read that file again, since each start makes a new token";
        return Err((envelope, ErrorBody::new(Code::Unauthorized, message)));
    }
    if attach.protocol.is_some_and(|protocol| protocol != CLIENT_PROTOCOL) {
        return Err((envelope, version_mismatch(attach.protocol, attach.build.as_deref())));
    }
    match role(attach) {
        Ok(principal) => Ok((envelope, principal)),
        Err(error) => Err((envelope, error)),
    }
}

fn role(attach: Attach) -> Result<Principal, ErrorBody> {
    let wrong = |field, expected: &str| {
        ErrorBody::new(Code::InvalidParams, format!("field `{field}`: expected {expected}"))
            .with("field", field)
            .with("expected", expected)
    };
    let named = |name: Option<String>| name.filter(|name| (1..=128).contains(&name.len()));
    match attach.role.as_str() {
        "cli" => Ok(Principal::Owner),
        "relay" => named(attach.extension_id)
            .map(|id| Principal::Extension { id })
            .ok_or_else(|| wrong("extension_id", "the id of the browser extension")),
        "mcp" => {
            let origin = attach.client.and_then(|name| Origin::client(&name));
            let origin =
                origin.ok_or_else(|| wrong("client", "the name of the AI client, 1 to 128 bytes"))?;
            let is_id = |id: &String| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
            match attach.token_id {
                Some(id) if !is_id(&id) => Err(wrong("token_id", "64 hexadecimal digits")),
                id => Ok(Principal::Client { origin, token_id: id.map(Into::into) }),
            }
        }
        _ => Err(wrong("role", "relay, mcp or cli")),
    }
}

/// Compares without revealing by its time where the first difference is.
fn equal_in_constant_time(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// The frame that accepts an `attach`.
pub(super) fn attached(envelope: &Envelope) -> Vec<u8> {
    let reply = AttachResult { protocol: CLIENT_PROTOCOL, build: BUILD.into(), pid: std::process::id() };
    let mut out = Vec::new();
    put_frame(&mut out, |out| envelope.put_reply(out, Attach::TAG, &reply));
    out
}

/// The frame that refuses a connection.
pub(super) fn refused(envelope: &Envelope, error: &ErrorBody) -> Vec<u8> {
    let mut out = Vec::new();
    put_frame(&mut out, |out| envelope.put_error(out, error));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attach(fields: &str) -> Result<Principal, &'static str> {
        let frame = format!(r#"{{"type":"attach","request_id":"1",{fields}}}"#);
        let decided = decide(frame.as_bytes(), "secret");
        decided.map(|(_, principal)| principal).map_err(|(_, error)| error.code.as_str())
    }

    #[tokio::test(flavor = "local")]
    async fn half_a_frame_is_waited_for_only_so_long() {
        let waited = within(Duration::from_millis(1), std::future::pending()).await;
        assert_eq!(waited.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(within(Duration::MAX, async { Ok(7) }).await.unwrap(), 7);
    }

    #[test]
    fn the_first_frame_decides_who_it_is() {
        assert_eq!(attach(r#""token":"secret","role":"cli""#), Ok(Principal::Owner));
        assert_eq!(
            attach(r#""token":"secret","role":"relay","extension_id":"x""#),
            Ok(Principal::Extension { id: "x".into() })
        );
        assert_eq!(
            attach(r#""token":"secret","role":"mcp","client":"x""#),
            Ok(Principal::Client { origin: Origin::client("x").unwrap(), token_id: None })
        );
        assert_eq!(attach(r#""token":"secre","role":"cli""#), Err("unauthorized"));
        assert_eq!(attach(r#""token":"Secret","role":"cli""#), Err("unauthorized"));
        assert_eq!(attach(r#""token":"secret","role":"king""#), Err("invalid_params"));
        assert_eq!(attach(r#""token":"secret","role":"relay""#), Err("invalid_params"));
        assert_eq!(attach(r#""token":"secret","role":"cli","protocol":99"#), Err("version_mismatch"));
        let ping = decide(br#"{"type":"ping","request_id":"1"}"#, "secret");
        assert_eq!(ping.unwrap_err().1.code.as_str(), "unauthorized");
    }
}
