//! The end of a connection, such that the last answer arrives.
//!
//! Owns reading the rest that the other end sends: a socket that is closed with unread bytes takes the last answer with
//! it. Must never read without a bound; the caller bounds the time.

use std::io;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// Reads until the other end closes, or has sent `most` bytes more.
///
/// # Errors
/// When the connection is broken.
pub async fn read_rest(stream: &mut TcpStream, most: usize) -> io::Result<()> {
    let (mut bytes, mut rest) = ([0; 4096], 0);
    while rest < most {
        match stream.read(&mut bytes).await? {
            0 => break,
            read => rest += read,
        }
    }
    Ok(())
}
