//! The catalog worker: all network fetches of the server catalog, and the only writer of catalog.db.
//!
//! ```text
//!   harbor-catalog-worker BRIDGE_PID      link on stdin, until its end or Shutdown
//! ```
//!
//! Owns its link so far: it greets and ends when it is told to. The bridge starts none until there is a catalog
//! to keep. Must never outlive the bridge, and never write to stdout.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use harbor_child::signal::Signal;
use harbor_child::{link, own};
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message, put_message};
use harbor_ipc_proto::link::worker::{FromWorker, ToWorker};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

/// Exit code for a wrong command line.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let parent = std::env::args().nth(1).and_then(|pid| pid.parse().ok());
    let Some(parent) = parent else {
        let _ =
            writeln!(io::stderr(), "harbor-catalog-worker is started by harbor-bridge; run `harbor help`");
        return USAGE.into();
    };
    match own::die_with_parent(parent, Signal::SIGTERM).and_then(|()| link::take()).and_then(serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "harbor-catalog-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(mut link: UnixStream) -> io::Result<()> {
    link.set_nonblocking(false)?;
    let mut hello = Vec::new();
    put_message(&mut hello, &FromWorker::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
    link.write_all(&hello)?;
    let mut frames = FrameDecoder::new(MAX_MESSAGE);
    let mut greeted = false;
    loop {
        let n = link.read(frames.space())?;
        if n == 0 {
            return Ok(());
        }
        frames.filled(n);
        while let Some(popped) = frames.pop() {
            let Popped::Frame(body) = popped else { return Err(io::Error::other("a message is too long")) };
            match get_message(body).map_err(io::Error::other)? {
                ToWorker::Hello { protocol: LINK_PROTOCOL, build } if build == BUILD => greeted = true,
                ToWorker::Hello { build, .. } => {
                    let message = format!("the bridge is of build {build:.80}, this worker of {BUILD}");
                    return Err(io::Error::other(message));
                }
                _ if !greeted => return Err(io::Error::other("the bridge did not greet first")),
                ToWorker::Shutdown => return Ok(()),
            }
        }
    }
}
