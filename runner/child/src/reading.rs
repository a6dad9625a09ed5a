//! One read of a pipe or socket.
//!
//! Owns that a read which brings something has the memory's keeper look again. Must never read twice where one system call is enough.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, ReadBuf};

use crate::memory;

/// Reads what is there into `buf`, waiting until something is; 0 at the end of the stream.
///
/// After a read that fills less than `buf` it does not read again only to find nothing: that saves a system call.
///
/// # Errors
/// As read(2).
pub async fn read_some(source: &mut (impl AsyncRead + Unpin), buf: &mut [u8]) -> io::Result<usize> {
    let mut buf = ReadBuf::new(buf);
    poll_fn(|context| Pin::new(&mut *source).poll_read(context, &mut buf)).await?;
    memory::stir();
    Ok(buf.filled().len())
}
