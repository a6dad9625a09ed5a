//! The program: its command line, its link, its end.
//!
//! ```text
//!   harbor-catalog-worker BRIDGE_PID      link on stdin and stdout, until its end, Shutdown or SIGTERM
//! ```
//!
//! Must never outlive the bridge, and never write anything but its link to stdout. A job that runs at the end is dropped:
//! catalog.db is then as it was before.

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
use harbor_ipc_proto::link::codec::get_message;
use harbor_ipc_proto::link::worker::{FromWorker, ToWorker};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};
use tokio::sync::mpsc::{self, Sender};

use crate::to_bridge::Up;
use crate::worker::{Order, Worker};

/// Exit code for a wrong command line.
const USAGE: u8 = 2;
/// Settings are the longest message, and short.
const MAX_MESSAGE: usize = 1024 * 1024;
/// Orders that may wait for the worker while it writes.
const ORDERS: usize = 64;

/// Runs the program, and returns its exit code.
#[must_use]
pub fn run() -> ExitCode {
    let parent = std::env::args().nth(1).and_then(|pid| pid.parse().ok());
    let Some(parent) = parent else {
        let _ = writeln!(
            io::stderr(),
            "harbor-catalog-worker is started by harbor-bridge; run `harbor help` instead"
        );
        return USAGE.into();
    };
    match begin(parent) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "harbor-catalog-worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn begin(parent: u32) -> io::Result<()> {
    memory::return_large_blocks();
    own::die_with_parent(parent, Signal::SIGTERM)?;
    let link = link::take()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let ended = runtime.block_on(serve(link));
    // A name that is being looked up is not waited for.
    runtime.shutdown_background();
    ended
}

async fn serve(link: Ends) -> io::Result<()> {
    let mut terminate = Signals::listen(&[Signal::SIGTERM])?;
    let (reader, writer) = link.watch()?;
    let up = Rc::new(Up::default());
    up.send(&FromWorker::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
    let driver = tokio::task::spawn_local({
        let up = up.clone();
        async move { up.outbox().drive(&writer).await }
    });
    let (orders, inbox) = mpsc::channel(ORDERS);
    let ended = tokio::select! {
        read = read_link(reader, orders) => read,
        () = Worker::new(up.clone()).run(inbox) => Ok(()),
        () = terminate.recv() => Ok(()),
    };
    up.outbox().close();
    let _ = tokio::time::timeout(Duration::from_secs(1), driver).await;
    ended
}

/// Reads the bridge's messages until the link ends or the bridge says so.
async fn read_link(mut reader: LinkReader, orders: Sender<Order>) -> io::Result<()> {
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
            let order = match get_message(body).map_err(io::Error::other)? {
                ToWorker::Hello { protocol: LINK_PROTOCOL, build } if build == BUILD => {
                    greeted = true;
                    continue;
                }
                ToWorker::Hello { build, .. } => {
                    let message = format!("the bridge is from build {build:.80}, this worker from {BUILD}");
                    return Err(io::Error::other(message));
                }
                _ if !greeted => {
                    return Err(io::Error::other("the bridge's first message was not a greeting"));
                }
                ToWorker::Shutdown => return Ok(()),
                ToWorker::Configure(settings) => Order::configure(&settings),
                ToWorker::Refresh { id, full } => Order::Refresh { id, full },
                ToWorker::Enrich { id } => Order::Enrich { id },
            };
            if orders.send(order).await.is_err() {
                return Ok(());
            }
        }
    }
}
