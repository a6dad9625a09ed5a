//! The fetch process of one script: it sends the requests of the script's `fetch`, and nothing else.
//!
//! ```text
//!   harbor-runner-http requests BUILD PARENT_PID PROXY      link on stdin and stdout, until its end
//!
//!   Ask ─► request: hop by hop ─► egress proxy, which judges each host ─► Answered | Failed
//! ```
//!
//! The interpreter starts it at the first fetch, inside the server's own sandbox, and its end is the end of this process. Its
//! client connects to this machine's own addresses only: what is allowed is the proxy's to judge. As every process of a server
//! it does not hide from who counts its memory. Must never connect to
//! anything but that proxy, keep a cookie, or tell one request of another.

mod egress;
mod failure;
mod headers;
mod request;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;

use harbor_child::link::{self, Ends, LinkReader, LinkWriter};
use harbor_child::reading::read_some;
use harbor_child::signal::Signal;
use harbor_child::{memory, own};
use harbor_ipc_proto::BUILD;
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message, put_message};
use harbor_ipc_proto::link::fetch::{FromFetcher, ToFetcher, WebRequest};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Mutex, oneshot};

use self::egress::Egress;
use self::failure::FetchFailure;

/// The word that asks for this.
const MODE: &str = "requests";

/// Does what the command line asks for, if it asks for this.
#[must_use]
pub fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let (mode, words) = arguments.split_first()?;
    if mode != MODE {
        return None;
    }
    let words: Vec<_> = words.iter().filter_map(|word| word.to_str()).collect();
    let served = match *words {
        [BUILD, parent, proxy] => begin(parent, proxy),
        _ => Err(io::Error::other("Harbor was upgraded meanwhile; restart the server")),
    };
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "harbor-fetch: {error}");
            ExitCode::FAILURE
        }
    })
}

fn begin(parent: &str, proxy: &str) -> io::Result<()> {
    own::be_called(c"harbor-fetch");
    memory::return_large_blocks();
    let link = link::take()?;
    own::die_with_parent(parent.parse().map_err(io::Error::other)?, Signal::SIGKILL)?;
    let proxy: SocketAddr = proxy.parse().map_err(io::Error::other)?;
    let egress = Egress::new(proxy).map_err(|trouble| io::Error::other(trouble.why))?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    harbor_web::confine::confine()?;
    runtime.block_on(serve(link, egress))
}

async fn serve(link: Ends, egress: Egress) -> io::Result<()> {
    let (mut reader, writer) = link.watch()?;
    let fetcher = Rc::new(Fetcher { egress, writer: Mutex::new(writer), open: RefCell::default() });
    let mut frames = FrameDecoder::new(MAX_MESSAGE);
    while read(&mut reader, &mut frames).await? {
        while let Some(popped) = frames.pop() {
            let Popped::Frame(body) = popped else { return Err(io::Error::other("a message is too long")) };
            match get_message(body).map_err(io::Error::other)? {
                ToFetcher::Ask(ask) => fetcher.clone().begin(ask),
                // Dropping the other end tells its task.
                ToFetcher::Abandon { id } => drop(fetcher.open.borrow_mut().remove(&id)),
            }
        }
    }
    Ok(())
}

async fn read(reader: &mut LinkReader, frames: &mut FrameDecoder) -> io::Result<bool> {
    let n = read_some(reader, frames.space()).await?;
    frames.filled(n);
    Ok(n > 0)
}

/// The requests that are going on.
struct Fetcher {
    egress: Egress,
    /// One answer after the other.
    writer: Mutex<LinkWriter>,
    /// By their ids: dropped, a request is abandoned.
    open: RefCell<HashMap<u32, oneshot::Sender<()>>>,
}

impl Fetcher {
    fn begin(self: Rc<Self>, ask: WebRequest) {
        let (wanted, abandoned) = oneshot::channel();
        let id = ask.id;
        self.open.borrow_mut().insert(id, wanted);
        tokio::task::spawn_local(async move {
            let answered = tokio::select! {
                answered = request::answered(&self.egress, ask) => answered,
                _ = abandoned => return,
            };
            self.open.borrow_mut().remove(&id);
            let failed = |why: FetchFailure| FromFetcher::Failed { id, why: why.to_string() };
            self.send(&answered.unwrap_or_else(failed)).await;
        });
    }

    async fn send(&self, message: &FromFetcher) {
        let mut frame = Vec::new();
        put_message(&mut frame, message);
        // The interpreter may be gone: then this process ends as well.
        let _ = self.writer.lock().await.write_all(&frame).await;
    }
}
