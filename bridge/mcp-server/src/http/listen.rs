//! Takes connections until a signal ends it.
//!
//! Owns the listening socket and the limits of a connection: how long a head may take and how large it may be,
//! how long written bytes may stay unread. Its end closes every stream and session.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harbor_child::signal::Signal;
use harbor_child::signals::Signals;
use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_policy::tool_name::Allowlist;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::sys::socket::{setsockopt, sockopt::TcpUserTimeout};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{interval, sleep, timeout};

use super::body::Room;
use super::connections::{Connections, Standing};
use super::parked::ParkedMachines;
use super::places::Places;
use super::server::{PATH, Server, WRONG_TOKENS};
use super::sessions::{Sessions, Works};
use super::tokens::Tokens;
use crate::offering::Offering;

/// The time limit for a request's head, and for a connection without one.
const HEAD_LIMIT: Duration = Duration::from_secs(5);

/// The bytes of a request that are read ahead: no head is longer.
const MAX_HEAD: usize = 32 * 1024;

/// The time that written bytes may stay unread, in milliseconds.
const UNREAD_LIMIT: u32 = 60_000;

/// The pause between two looks through the sessions.
const SWEEP: Duration = Duration::from_secs(5);

/// The pause after the system had no connection for us, for instance for want of file descriptors.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// The time that open answers have to end.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Serving over HTTP, where a client's name is that of its token.
#[derive(Debug, Clone, Copy)]
pub struct Http<'a> {
    /// An address of this machine only.
    pub listen: SocketAddr,
    /// Web origins whose pages may come.
    pub origins: &'a [String],
}

/// Serves until SIGTERM or SIGINT.
pub fn serve(
    http: Http<'_>,
    only: Option<Allowlist>,
    offering: Offering,
    paths: &Paths,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Io("begin", error))?;
    let works = Works { paths: paths.clone(), only, offering };
    let served = runtime.block_on(listen(http, works));
    runtime.shutdown_background();
    served
}

async fn listen(http: Http<'_>, works: Works) -> Result<(), Failure> {
    let listening = |error: io::Error| {
        let text = format!("{}: {error}", http.listen);
        Failure::Io("listen", io::Error::new(error.kind(), text))
    };
    let listener = TcpListener::bind(http.listen).await.map_err(listening)?;
    let local = listener.local_addr().map_err(listening)?;
    let mut ended = Signals::listen(&[Signal::SIGTERM, Signal::SIGINT]).map_err(listening)?;
    let server = Arc::new(Server {
        local,
        origins: http.origins.to_vec(),
        tokens: Mutex::new(Tokens::of(&works.paths)),
        works,
        sessions: Mutex::new(Sessions::default()),
        parked: ParkedMachines::default(),
        places: Places::default(),
        room: Room::default(),
        wrong: Semaphore::new(WRONG_TOKENS),
        told_wrong: Mutex::new(None),
        ending: watch::Sender::new(false),
    });
    if server.tokens().is_empty() {
        remark("harbor mcp: no client has a token yet; `harbor mcp token NAME` makes one");
    }
    remark(&format!("harbor mcp: listening on http://{local}{PATH}"));
    let (mut connections, mut sweep) = (Connections::default(), interval(SWEEP));
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.admit(|standing| connection(Arc::clone(&server), stream, standing));
                }
                Err(_) => sleep(REFUSED_PAUSE).await,
            },
            _ = sweep.tick() => {
                connections.forget_ended();
                let tokens = server.tokens();
                server.sessions().sweep(Instant::now(), |client| tokens.has(client));
                server.parked.sweep(Instant::now(), |client| tokens.has(client));
            }
            () = ended.recv() => break,
        }
    }
    drop(listener);
    server.ending.send_replace(true);
    server.sessions().clear();
    server.parked.clear();
    let _ = timeout(END_LIMIT, connections.ended()).await;
    remark("harbor mcp: ended");
    Ok(())
}

async fn connection(server: Arc<Server>, stream: TcpStream, standing: Arc<Standing>) {
    // Events are small, and each is to be seen at once.
    let _ = stream.set_nodelay(true);
    let _ = setsockopt(&stream, TcpUserTimeout, &UNREAD_LIMIT);
    let answering = Arc::clone(&server);
    let service = service_fn(move |request| {
        let (server, standing) = (Arc::clone(&answering), Arc::clone(&standing));
        async move { Ok::<_, Infallible>(server.reply(request, &standing).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        // What went wrong with a connection is its client's to know.
        _ = served.as_mut() => return,
        () = server.ended() => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = served.await;
}
