//! The program: its command line, its link, its end.
//!
//! ```text
//!   harbor-model-worker BRIDGE_PID      link on stdin and stdout, until its end, Shutdown or SIGTERM
//! ```
//!
//! Must never outlive the bridge, read a byte of the network before it is confined, or write anything but its link to stdout.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::link::{Ends, LinkReader};
use harbor_child::reading::read_some;
use harbor_child::signal::Signal;
use harbor_child::signals::Signals;
use harbor_child::{link, memory, own};
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message};
use harbor_ipc_proto::link::model::{FromModel, ToModel};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

use crate::to_bridge::Up;
use crate::worker::Worker;

/// Exit code for a wrong command line.
const USAGE: u8 = 2;

/// Runs the program; gives its exit code.
#[must_use]
pub fn run() -> ExitCode {
    let parent = std::env::args().nth(1).and_then(|pid| pid.parse().ok());
    let Some(parent) = parent else {
        let _ = writeln!(
            io::stderr(),
            "harbor-model-worker is started by harbor-bridge; run `harbor help` instead"
        );
        return USAGE.into();
    };
    match begin(parent) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "harbor-model-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn begin(parent: u32) -> io::Result<()> {
    harbor_web::use_ring();
    memory::return_large_blocks();
    // Keys in use are in its memory.
    own::not_dumpable()?;
    let link = link::take()?;
    own::die_with_parent(parent, Signal::SIGTERM)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    harbor_web::confine::confine()?;
    let ended = runtime.block_on(serve(link));
    // A name that is being looked up is not waited for.
    runtime.shutdown_background();
    ended
}

async fn serve(link: Ends) -> io::Result<()> {
    let mut terminate = Signals::listen(&[Signal::SIGTERM])?;
    let (reader, writer) = link.watch()?;
    let up = Rc::new(Up::default());
    up.send(&FromModel::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
    let driver = tokio::task::spawn_local({
        let up = up.clone();
        async move { up.outbox().drive(&writer).await }
    });
    tokio::task::spawn_local(memory::return_at_rest());
    let ended = tokio::select! {
        read = read_link(reader, Worker::new(up.clone())) => read,
        () = terminate.recv() => Ok(()),
    };
    up.outbox().close();
    // What is still queued goes out; a bridge that is gone ends this at once, one that hangs is not waited for.
    let _ = tokio::time::timeout(Duration::from_secs(1), driver).await;
    ended
}

/// Reads the bridge's messages until the link ends or the bridge says so.
async fn read_link(mut reader: LinkReader, worker: Worker) -> io::Result<()> {
    let mut frames = FrameDecoder::new(MAX_MESSAGE);
    let mut greeted = false;
    loop {
        let n = read_some(&mut reader, frames.space()).await?;
        if n == 0 {
            return Ok(());
        }
        frames.filled(n);
        while let Some(popped) = frames.pop() {
            let Popped::Frame(body) = popped else { return Err(io::Error::other("a message is too long")) };
            match get_message(body).map_err(io::Error::other)? {
                ToModel::Hello { protocol: LINK_PROTOCOL, build } if build == BUILD => greeted = true,
                ToModel::Hello { build, .. } => {
                    let message = format!("the bridge is from build {build:.80}, this worker from {BUILD}");
                    return Err(io::Error::other(message));
                }
                _ if !greeted => {
                    return Err(io::Error::other("the bridge's first message was not a greeting"));
                }
                ToModel::Shutdown => return Ok(()),
                message => worker.take(message),
            }
        }
    }
}
