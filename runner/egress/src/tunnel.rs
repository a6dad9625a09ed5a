//! Bytes in both directions, until both sides or the server have ended, or nothing moves any more.
//!
//! Owns both sockets of a connection. Must never look at what it carries.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

/// A tunnel in which nothing has moved for this long is closed.
const IDLE_LIMIT: Duration = Duration::from_mins(10);

/// Bytes that one direction holds while it waits for the other side.
const BUFFER: usize = 8 * 1024;

/// The condition for the end of a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// Both sides have said that they send no more.
    BothEnd,
    /// The server has: one request, one answer.
    ServerEnds,
}

/// Sends `first` to the server, then carries both ways.
pub(crate) async fn carry(mut client: TcpStream, mut server: TcpStream, first: &[u8], until: Until) {
    let moved = Cell::new(Instant::now());
    let carried = {
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let up = async {
            // A server that takes no more may still answer.
            if to_server.write_all(first).await.is_err() {
                return Ok(());
            }
            pump(&mut from_client, &mut to_server, &moved).await
        };
        let down = pump(&mut from_server, &mut to_client, &moved);
        let both = async {
            let (mut up, mut down) = (std::pin::pin!(up), std::pin::pin!(down));
            tokio::select! {
                ended = &mut down => match until {
                    Until::BothEnd if ended.is_ok() => up.await,
                    _ => ended,
                },
                ended = &mut up => match ended {
                    Ok(()) => down.await,
                    Err(error) => Err(error),
                },
            }
        };
        tokio::select! { carried = both => carried, () = idle(&moved) => Ok(()) }
    };
    if carried.is_err() {
        // An end that came too early must not look like a good one.
        let _ = (client.set_zero_linger(), server.set_zero_linger());
    }
}

/// Carries one direction to its end. A receiver may stop taking bytes; what it sends still counts.
async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    moved: &Cell<Instant>,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let n = from.read(&mut buffer).await?;
        if n == 0 {
            let _ = to.shutdown().await;
            return Ok(());
        }
        if to.write_all(&buffer[..n]).await.is_err() {
            return Ok(());
        }
        moved.set(Instant::now());
    }
}

/// Ends when nothing has moved for too long.
async fn idle(moved: &Cell<Instant>) {
    loop {
        let end = moved.get() + IDLE_LIMIT;
        if end <= Instant::now() {
            return;
        }
        sleep_until(end).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connected = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (connected, listener.accept().await.unwrap().0)
    }

    #[tokio::test(flavor = "local")]
    async fn a_side_that_has_ended_still_hears_the_other() {
        let ((mut client, at_client), (mut server, at_server)) = (pair().await, pair().await);
        let carried = tokio::task::spawn_local(carry(at_client, at_server, b"first ", Until::BothEnd));
        client.write_all(b"then").await.unwrap();
        client.shutdown().await.unwrap();
        let mut heard = String::new();
        server.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "first then");
        server.write_all(b"answer").await.unwrap();
        drop(server);
        heard.clear();
        client.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "answer");
        carried.await.unwrap();
    }

    #[tokio::test(flavor = "local")]
    async fn an_answer_that_has_ended_ends_the_connection() {
        let ((mut client, at_client), (mut server, at_server)) = (pair().await, pair().await);
        let carried = tokio::task::spawn_local(carry(at_client, at_server, b"", Until::ServerEnds));
        server.write_all(b"answer").await.unwrap();
        server.shutdown().await.unwrap();
        carried.await.unwrap();
        let mut heard = String::new();
        client.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "answer");
    }

    #[tokio::test(flavor = "local")]
    async fn a_broken_answer_does_not_look_complete() {
        let ((mut client, at_client), (server, at_server)) = (pair().await, pair().await);
        let carried = tokio::task::spawn_local(carry(at_client, at_server, b"", Until::BothEnd));
        server.set_zero_linger().unwrap();
        drop(server);
        carried.await.unwrap();
        let error = client.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test(flavor = "local", start_paused = true)]
    async fn a_tunnel_in_which_nothing_moves_is_taken_down() {
        let ((mut client, at_client), (mut server, at_server)) = (pair().await, pair().await);
        let begin = Instant::now();
        carry(at_client, at_server, b"x", Until::BothEnd).await;
        assert!(begin.elapsed() >= IDLE_LIMIT);
        let mut heard = [0; 2];
        assert_eq!((client.read(&mut heard).await.unwrap(), server.read(&mut heard).await.unwrap()), (0, 1));
    }
}
