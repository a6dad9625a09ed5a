//! Connections from the server: their number, their heads, their answers.
//!
//! ```text
//!  accept ─► head (10 s, 16 KiB) ─► judged, resolved, connected ─► tunnel
//!    │ the 129th: 503                └─► refused: answer, close
//! ```
//!
//! Owns the listening socket and all its connections. The client is not trusted: everything that it can make wait or grow
//! has a limit.

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_policy::sandbox::hosts::Allowed;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::head::{self, MAX_HEAD};
use crate::minute::Minute;
use crate::reach::Reach;
use crate::refusal::Refusal;
use crate::tunnel::{Until, carry};

const MAX_CONNECTIONS: usize = 128;
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// How long a refused client may still send. If the connection is closed earlier, it is reset, and the answer may be lost.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long nothing is accepted after a failure, which means that the system is short of something.
const PAUSE: Duration = Duration::from_millis(100);

const MINUTE: Duration = Duration::from_mins(1);

/// Accepts connections for ever.
pub(crate) async fn serve(listener: TcpListener, allowed: Allowed) {
    let proxy = Rc::new(Proxy { reach: Reach::new(allowed), minute: RefCell::default() });
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok((client, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let Ok(slot) = slots.clone().try_acquire_owned() else {
            turn_away(&client);
            continue;
        };
        let proxy = proxy.clone();
        tokio::task::spawn_local(async move {
            proxy.attend(client).await;
            drop(slot);
        });
    }
}

/// Answers without waiting for anything.
fn turn_away(client: &TcpStream) {
    // What has come is taken out: closing over it would reset the connection.
    let _ = client.try_read(&mut [0; 4096]);
    let _ = client.try_write(&Refusal::TooMany.answer());
}

#[derive(Debug)]
struct Proxy {
    reach: Reach,
    minute: RefCell<Minute>,
}

/// A request that may be carried.
struct Opened {
    server: TcpStream,
    /// The bytes that the server gets first.
    first: Vec<u8>,
    until: Until,
}

impl Proxy {
    async fn attend(self: Rc<Self>, mut client: TcpStream) {
        // Small messages go at once; the kernel may refuse that and nothing is lost.
        let _ = client.set_nodelay(true);
        match self.open(&mut client).await {
            Ok(Opened { server, first, until }) => {
                let _ = server.set_nodelay(true);
                let greeted = match until {
                    Until::BothEnd => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await,
                    Until::ServerEnds => Ok(()),
                };
                if greeted.is_ok() {
                    carry(client, server, &first, until).await;
                }
            }
            Err(refusal) => {
                self.tell_the_log(&refusal);
                let _ = timeout(FAREWELL, part(client, &refusal.answer())).await;
            }
        }
    }

    async fn open(&self, client: &mut TcpStream) -> Result<Opened, Refusal> {
        let (mut read, end) = timeout(HEAD_LIMIT, read_head(client)).await.map_err(|_| Refusal::Slow)??;
        let request = head::parse(&read[..end])?;
        let server = self.reach.connect(&request.target).await?;
        read.drain(..end);
        Ok(match request.forward {
            None => Opened { server, first: read, until: Until::BothEnd },
            Some(mut first) => {
                first.append(&mut read);
                Opened { server, first, until: Until::ServerEnds }
            }
        })
    }

    fn tell_the_log(self: &Rc<Self>, refusal: &Refusal) {
        let Some(line) = refusal.for_the_log() else { return };
        let noted = self.minute.borrow_mut().on_refused(&line);
        if noted.write {
            log(&line);
        }
        if noted.begins {
            let proxy = self.clone();
            tokio::task::spawn_local(async move {
                sleep(MINUTE).await;
                let more = proxy.minute.borrow_mut().on_over();
                if let Some(more) = more {
                    log(&more.to_string());
                }
            });
        }
    }
}

/// One line into the server's log, as one write: the server writes there, too.
fn log(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Reads a request. Returns its bytes, and the end of the head in them.
async fn read_head(client: &mut TcpStream) -> Result<(Vec<u8>, usize), Refusal> {
    let mut read = Vec::with_capacity(1024);
    let mut searched = 0;
    loop {
        if let Some(end) = head::end(&read, searched) {
            return Ok((read, end));
        }
        searched = read.len();
        let room = u64::try_from(MAX_HEAD - searched).unwrap_or(0);
        if room == 0 {
            return Err(Refusal::TooLarge);
        }
        match (&mut *client).take(room).read_buf(&mut read).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => {
                return Err(Refusal::Malformed(
                    "the connection ended before the head of the request was complete",
                ));
            }
        }
    }
}

/// Answers, and waits until the client has ended.
async fn part(mut client: TcpStream, answer: &[u8]) -> io::Result<()> {
    client.write_all(answer).await?;
    client.shutdown().await?;
    let mut ignored = [0; 1024];
    while client.read(&mut ignored).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests;
