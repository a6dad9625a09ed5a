//! `serve --stdio`: the client is the program that started the bridge, on its stdin and stdout.
//!
//! Owns the way to wait on these two, whatever they are: pipes and sockets as they are, files and terminals by a thread
//! that copies.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::rc::Rc;

use harbor_child::capacity::{TO_CLIENT, widen};
use harbor_child::socket::{SocketReader, SocketWriter, split};
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME};
use harbor_policy::access::Principal;
use nix::sys::stat::{SFlag, fstat};
use tokio::net::unix::pipe;

use super::connection::serve;
use crate::router::Router;
use crate::router::client::Client;

/// Serves the owner until stdin ends.
///
/// # Errors
/// When stdin or stdout cannot be used.
pub async fn run(router: &Rc<Router>) -> io::Result<()> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    // Programs that start later must neither read the owner's requests nor write among the answers.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    let frames = FrameDecoder::new(MAX_CLIENT_FRAME);
    match (kind(&input)?, kind(&output)?) {
        (StreamKind::Pipe, StreamKind::Pipe) => {
            widen(&output, TO_CLIENT);
            let reader = pipe::Receiver::from_owned_fd(input)?;
            let writer = pipe::Sender::from_owned_fd(output)?;
            serve(router, Client::new(Principal::Owner), reader, writer, frames).await;
        }
        (input_kind, output_kind) => {
            let reader = readable(input, input_kind)?;
            let writer = writable(output, output_kind)?;
            serve(router, Client::new(Principal::Owner), reader, writer, frames).await;
        }
    }
    Ok(())
}

enum StreamKind {
    Pipe,
    Socket,
    Other,
}

fn kind(fd: &OwnedFd) -> io::Result<StreamKind> {
    let format = SFlag::from_bits_truncate(fstat(fd)?.st_mode) & SFlag::S_IFMT;
    Ok(match format {
        SFlag::S_IFIFO => StreamKind::Pipe,
        SFlag::S_IFSOCK => StreamKind::Socket,
        _ => StreamKind::Other,
    })
}

fn readable(fd: OwnedFd, kind: StreamKind) -> io::Result<SocketReader> {
    if matches!(kind, StreamKind::Socket) {
        return Ok(split(StdStream::from(fd))?.0);
    }
    let (mine, theirs) = StdStream::pair()?;
    copy_in_a_thread("stdin", File::from(fd), theirs.try_clone()?, move || {
        // The end of the file is the end of the stream.
        let _ = theirs.shutdown(std::net::Shutdown::Write);
    })?;
    Ok(split(mine)?.0)
}

fn writable(fd: OwnedFd, kind: StreamKind) -> io::Result<SocketWriter> {
    if matches!(kind, StreamKind::Socket) {
        return Ok(split(StdStream::from(fd))?.1);
    }
    let (mine, theirs) = StdStream::pair()?;
    copy_in_a_thread("stdout", theirs, File::from(fd), || ())?;
    Ok(split(mine)?.1)
}

fn copy_in_a_thread(
    name: &str,
    mut from: impl io::Read + Send + 'static,
    mut to: impl io::Write + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            if to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        end();
    })?;
    Ok(())
}
