//! Metrics over HTTP, for a monitoring system on this machine.
//!
//! ```text
//!  --metrics, [metrics] listen ─► Exporter ─► accept ─► a task per connection: head, judge, text, end
//! ```
//!
//! Owns the listener, and its status. One request per connection, within limits of size, time and number. Must never
//! listen elsewhere than on loopback, nor hold up the bridge: if the listener of the file fails, that is only a reason in
//! its health.

pub mod head;
mod text_cache;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use self::head::{MAX_HEAD, MetricsPage, Refusal, TOO_LARGE, TOO_SLOW, content_type, end, judge};
use self::text_cache::MetricsCache;
use crate::closing::read_rest;
use crate::router::Router;

/// Connections at once; beyond them the oldest one ends.
const MAX_CONNECTIONS: usize = 16;

/// How long a head may take to come.
const HEAD_LIMIT: Duration = Duration::from_secs(5);

/// How long a whole request may take.
const LIMIT: Duration = Duration::from_secs(20);

/// How long, and for how many bytes, the bridge reads on if a client sends more than its head. Closing earlier would take
/// the answer from it.
const REST_LIMIT: Duration = Duration::from_secs(1);
const MAX_REST: usize = 1024 * 1024;

const INDEX: &str = "Harbor's metrics are at /metrics.\n";

/// An address that cannot be listened on.
#[derive(Debug)]
pub struct MetricsError {
    at: SocketAddr,
    why: io::Error,
}

impl fmt::Display for MetricsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, why } = self;
        write!(
            f,
            "cannot listen on {at} for metrics: {why}; use another address, or stop the program that listens there"
        )
    }
}

impl std::error::Error for MetricsError {}

/// The listener, if one is wanted: on the address of the command line, else on the present one of `config.toml`.
#[derive(Debug)]
pub struct Exporter {
    router: Weak<Router>,
    /// True if the address comes from the command line: then the file does not count.
    is_fixed: bool,
    /// The address that was wanted last.
    wanted: RefCell<Option<SocketAddr>>,
    listening: RefCell<Option<Listening>>,
}

impl Exporter {
    /// Listens on the address of the command line, or of the file.
    ///
    /// # Errors
    /// When the address of the command line is not available.
    pub fn begin(
        router: &Rc<Router>,
        fixed: Option<SocketAddr>,
        configured: Option<SocketAddr>,
    ) -> Result<Self, MetricsError> {
        let exporter = Self {
            router: Rc::downgrade(router),
            is_fixed: fixed.is_some(),
            wanted: RefCell::default(),
            listening: RefCell::default(),
        };
        match fixed {
            Some(at) => exporter.listen(router, at)?,
            None => exporter.follow(configured),
        }
        Ok(exporter)
    }

    /// Listens on the address that the file has now.
    pub fn follow(&self, configured: Option<SocketAddr>) {
        let Some(router) = self.router.upgrade() else { return };
        if self.is_fixed || *self.wanted.borrow() == configured {
            return;
        }
        *self.wanted.borrow_mut() = configured;
        drop(self.listening.take());
        router.note_metrics(None, None);
        let Some(at) = configured else { return tracing::info!("metrics are served no more") };
        if let Err(error) = self.listen(&router, at) {
            tracing::warn!(%error, "no metrics are served");
            router.note_metrics(None, Some(error.to_string()));
        }
    }

    fn listen(&self, router: &Rc<Router>, at: SocketAddr) -> Result<(), MetricsError> {
        let listening = Listening::begin(at, self.router.clone()).map_err(|why| MetricsError { at, why })?;
        tracing::info!(at = %listening.at, "metrics are served");
        router.note_metrics(Some(listening.at), None);
        *self.listening.borrow_mut() = Some(listening);
        Ok(())
    }
}

/// A listener and its connections, until it is dropped.
#[derive(Debug)]
struct Listening {
    /// The address; if none was given, with the port that the system chose.
    at: SocketAddr,
    task: AbortHandle,
}

impl Listening {
    fn begin(at: SocketAddr, router: Weak<Router>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let task = tokio::task::spawn_local(accept(listener, at.port(), router));
        Ok(Self { at, task: task.abort_handle() })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, port: u16, router: Weak<Router>) {
    // Dropped together with this task, and all connections with it.
    let mut connections = JoinSet::new();
    let mut oldest = VecDeque::<AbortHandle>::new();
    let kept = Rc::new(MetricsCache::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // There are no descriptors left, or the connection has gone already.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        oldest.retain(|connection| !connection.is_finished());
        if oldest.len() >= MAX_CONNECTIONS
            && let Some(connection) = oldest.pop_front()
        {
            connection.abort();
        }
        let (router, kept) = (router.clone(), Rc::clone(&kept));
        oldest.push_back(connections.spawn_local(async move {
            let served = tokio::time::timeout(LIMIT, serve(stream, port, &router, &kept)).await;
            tracing::trace!(?served, "a request for metrics is over");
        }));
    }
}

async fn serve(
    mut stream: TcpStream,
    port: u16,
    router: &Weak<Router>,
    kept: &MetricsCache,
) -> io::Result<()> {
    let head = tokio::time::timeout(HEAD_LIMIT, read_head(&mut stream)).await;
    let judged = match head {
        Ok(head) => head?.and_then(|head| judge(&head, port)),
        Err(_) => Err(TOO_SLOW),
    };
    let Some(router) = router.upgrade() else { return Ok(()) };
    let answer = match judged {
        Ok(page @ MetricsPage::Metrics(dialect)) => {
            let text = kept.text(dialect, Instant::now(), || router.metrics(dialect)).await;
            answer("200 OK", content_type(page), &text)
        }
        Ok(page @ MetricsPage::Index) => answer("200 OK", content_type(page), INDEX),
        Err(Refusal { status, why }) => answer(status, content_type(MetricsPage::Index), &format!("{why}\n")),
    };
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let _ = tokio::time::timeout(REST_LIMIT, read_rest(&mut stream, MAX_REST)).await;
    Ok(())
}

/// Reads the head; bytes after it are left out.
async fn read_head(stream: &mut TcpStream) -> io::Result<Result<Vec<u8>, Refusal>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = end(&bytes) {
            bytes.truncate(end);
            return Ok(Ok(bytes));
        }
        if bytes.len() >= MAX_HEAD {
            return Ok(Err(TOO_LARGE));
        }
        let room = (MAX_HEAD - bytes.len()) as u64;
        if (&mut *stream).take(room).read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn answer(status: &str, kind: &str, body: &str) -> String {
    let allow = if status.starts_with("405") { "Allow: GET\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Cache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
