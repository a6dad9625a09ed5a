//! Messages about the connection itself.

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    Attach, Cancel, CancelResult, ConnectionRequest, Hello, HelloResult, Ping, PingResult, ShutdownResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::{BUILD, CLIENT_PROTOCOL};

use super::client::{Client, MAX_FRAME_RANGE};
use super::refusals::denied;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::invalid;

/// Answers a request that needs no waiting.
pub(super) fn at_once(router: &Router, client: &Client, request: &ConnectionRequest) -> Handled {
    match request {
        ConnectionRequest::Attach(_) => Err(denied(Attach::TAG)),
        ConnectionRequest::Hello(message) => hello(router, client, message),
        ConnectionRequest::Ping(message) => ping(message),
        ConnectionRequest::Cancel(message) => cancel(client, message),
    }
}

fn hello(router: &Router, client: &Client, message: &Hello) -> Handled {
    if message.protocol.is_some_and(|protocol| protocol != CLIENT_PROTOCOL) {
        return Err(version_mismatch(message.protocol, None));
    }
    let (mut max_frame, mut chunks) = client.takes();
    if let Some(asked) = message.max_frame {
        let (least, most) = MAX_FRAME_RANGE;
        max_frame = usize::try_from(asked)
            .ok()
            .filter(|asked| (least..=most).contains(asked))
            .ok_or_else(|| invalid("max_frame", "a number of bytes from 4096 to 134217728"))?;
    }
    let named = message.browser_session.as_deref();
    let joined = named.map(|name| join_session(router, client, name)).transpose()?.flatten();
    chunks = message.chunks.unwrap_or(chunks);
    client.set_takes(max_frame, chunks);
    reply(HelloResult {
        protocol: CLIENT_PROTOCOL,
        bridge_version: env!("CARGO_PKG_VERSION").into(),
        build: BUILD.into(),
        pid: std::process::id(),
        chunks,
        max_frame: max_frame as u64,
        joined,
    })
}

/// Notes the browser session of this connection: a grant for a tab is for a tab of that session. An AI client
/// names its own earlier session in a browser. True if the client takes up that session.
fn join_session(router: &Router, client: &Client, name: &str) -> Result<Option<bool>, ErrorBody> {
    if !(1..=128).contains(&name.len()) || name.contains(char::is_control) {
        return Err(invalid("browser_session", "1 to 128 bytes without control characters"));
    }
    let sender = client.sender();
    if let Some(own) = &sender.own {
        return Ok(Some(router.browsers.rejoin(&sender, own.shared(), name)));
    }
    let (is_new, before) = (!client.has_named_session(), client.sender().session.clone());
    if !client.name_session(name) {
        return Err(invalid("browser_session", "the name that this connection gave before"));
    }
    if is_new {
        // Grants for a tab of the connection alone could not be used any more.
        router.host.permissions.part(&before, false);
        router.host.permissions.join(&client.sender().session.clone());
    }
    Ok(None)
}

/// Client and bridge do not speak the same protocol: says which is older and what to do.
pub(crate) fn version_mismatch(protocol: Option<u32>, build: Option<&str>) -> ErrorBody {
    let theirs = protocol.map_or_else(|| "none".into(), |protocol| protocol.to_string());
    let next = if protocol.is_some_and(|protocol| protocol > CLIENT_PROTOCOL) {
        "the running bridge is older: end it with `harbor shutdown`; the next request starts the new one"
    } else {
        "the client (the browser extension, or the program that asks) is older: update it"
    };
    let build = build.map(|build| format!(" (build {build:.80})")).unwrap_or_default();
    let message = format!(
        "the client speaks protocol {theirs}{build}, this bridge protocol {CLIENT_PROTOCOL} (build {BUILD}); {next}"
    );
    ErrorBody::new(Code::VersionMismatch, message)
        .with_json("protocol", Json::from_valid(CLIENT_PROTOCOL.to_string()))
        .with("build", BUILD)
}

fn ping(message: &Ping) -> Handled {
    reply(PingResult { echo: message.echo.clone(), timestamp: wall_clock() })
}

fn cancel(client: &Client, message: &Cancel) -> Handled {
    let cancelled = client.cancel(&message.target);
    reply(CancelResult { cancelled })
}

pub(super) fn shut_down(router: &Router) -> Handled {
    router.shutdown.notify_one();
    reply(ShutdownResult { stopping: true })
}
