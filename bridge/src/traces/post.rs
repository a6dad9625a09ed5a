//! One request to the collector.
//!
//! Owns its connection: a new one each time, closed after the answer's head. Must never follow a redirect, nor wait
//! without a limit: the program at the address may be slow or hostile.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use harbor_ipc_proto::BUILD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use url::Host;

use super::answer::{MAX_HEAD, NoAnswer, Verdict, read};
use crate::closing::read_rest;
use crate::config::traces::{Endpoint, Headers};

/// How long a request may take, from the look-up of the name to the answer.
const LIMIT: Duration = Duration::from_secs(10);

/// How long the rest of an answer is read, and how many bytes: closing earlier would cut off a collector that still
/// writes.
const REST_LIMIT: Duration = Duration::from_millis(200);
const MAX_REST: usize = 64 * 1024;

/// The reason why there is no answer.
#[derive(Debug)]
pub(super) enum PostError {
    /// Nothing was sent.
    Unreachable(io::Error),
    /// The connection was lost on the way.
    Lost(io::Error),
    /// The answer is not HTTP/1.1.
    NoAnswer,
    /// It took too long.
    TooSlow,
}

impl fmt::Display for PostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "it cannot be reached: {why}"),
            Self::Lost(why) => write!(f, "the connection was lost: {why}"),
            Self::NoAnswer => {
                f.write_str("its answer is not HTTP/1.1; is this the port for OTLP over HTTP (4318)?")
            }
            Self::TooSlow => write!(f, "it did not answer within {} seconds", LIMIT.as_secs()),
        }
    }
}

/// Sends a body, and returns the verdict of the answer.
pub(super) async fn post(to: &Endpoint, headers: &Headers, body: &[u8]) -> Result<Verdict, PostError> {
    let posted = tokio::time::timeout(LIMIT, async {
        let mut stream = connect(to).await.map_err(PostError::Unreachable)?;
        let head = head(to, headers, body.len());
        let written = async {
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body).await
        };
        // The collector may refuse before it has read everything.
        let written = written.await;
        match (read_head(&mut stream).await, written) {
            (Ok(verdict), _) => {
                let _ = tokio::time::timeout(REST_LIMIT, read_rest(&mut stream, MAX_REST)).await;
                Ok(verdict)
            }
            (Err(PostError::Lost(_)), Err(why)) => Err(PostError::Lost(why)),
            (Err(error), _) => Err(error),
        }
    });
    posted.await.unwrap_or(Err(PostError::TooSlow))
}

fn head(to: &Endpoint, headers: &Headers, length: usize) -> String {
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: harbor/{BUILD}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n{more}\r\n",
        to.path(),
        to.authority()
    )
}

async fn connect(to: &Endpoint) -> io::Result<TcpStream> {
    let (host, port) = to.place();
    let addresses = match host {
        Host::Ipv4(address) => vec![SocketAddr::new(IpAddr::V4(address), port)],
        Host::Ipv6(address) => vec![SocketAddr::new(IpAddr::V6(address), port)],
        Host::Domain(name) => resolve(name.to_owned(), port).await?,
    };
    TcpStream::connect(&*addresses).await
}

/// Looks up a name on a thread that nobody waits for, since a resolver can take longer than a bridge's end.
async fn resolve(name: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let (tell, told) = oneshot::channel();
    std::thread::Builder::new().name("resolver".into()).spawn(move || {
        // The one who asked may have given up.
        let _ = tell.send((name.as_str(), port).to_socket_addrs().map(Iterator::collect));
    })?;
    told.await.map_err(io::Error::other)?
}

async fn read_head(stream: &mut TcpStream) -> Result<Verdict, PostError> {
    let mut bytes = Vec::new();
    loop {
        let room = (MAX_HEAD - bytes.len()) as u64;
        if (&mut *stream).take(room).read_buf(&mut bytes).await.map_err(PostError::Lost)? == 0 {
            return Err(PostError::Lost(io::ErrorKind::UnexpectedEof.into()));
        }
        if let Some(verdict) = read(&bytes).map_err(|NoAnswer| PostError::NoAnswer)? {
            return Ok(verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TracesEnvironment;

    #[test]
    fn the_request_names_its_host_and_carries_the_headers_of_the_person() {
        let environment = TracesEnvironment::read(|name| match name {
            "OTEL_EXPORTER_OTLP_ENDPOINT" => Some("http://[::1]:4318/base".into()),
            "OTEL_EXPORTER_OTLP_HEADERS" => Some("api-key=s%20t".into()),
            _ => None,
        });
        let head = head(&environment.endpoint.unwrap(), &environment.headers, 3);
        assert!(head.starts_with("POST /base/v1/traces HTTP/1.1\r\nHost: [::1]:4318\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Type: application/json\r\nContent-Length: 3\r\n"), "{head}");
        assert!(head.ends_with("\r\nConnection: close\r\napi-key: s t\r\n\r\n"), "{head}");
    }
}
