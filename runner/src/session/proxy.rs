//! The egress proxy of a server whose network is some hosts: a process of its own, outside of the server's network.
//!
//! Owns its life, which is that of the server's process, and its words in the server log. Must never hold up the server's
//! messages: without it the server only has no network.

use std::io;
use std::os::fd::OwnedFd;

use harbor_child::instructions::Server;
use harbor_child::reading::read_some;
use harbor_child::reaper::{ChildGroup, Reaper, send_group};
use harbor_child::signal::Signal;
use harbor_child::spawn;
use harbor_ipc_proto::link::runner::LogSource;
use tokio::net::unix::pipe;

use super::Session;
use super::told_refusals::Refusals;
use crate::logs::{MAX_LINE, readable};
use crate::mcp::line::{LineSplitter, Popped};
use crate::to_bridge::Up;

/// A running proxy; it is ended with this.
#[derive(Debug)]
pub(super) struct Proxy {
    pid: u32,
}

impl Proxy {
    /// Starts it, for the server of that `name`, with the socket that it is to listen on.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) async fn start(
        session: &Session,
        name: &str,
        server: &Server,
        socket: OwnedFd,
        reaper: &Reaper,
    ) -> io::Result<Self> {
        // In a PID namespace nobody's parent is to be seen.
        let parent = reaper.namespace().map_or_else(std::process::id, |_| 0);
        let mut server = server.clone();
        server.args.insert(1, parent.to_string().into());
        let helper = spawn::start_helper(&server, socket, reaper.namespace())?;
        let proxy = Self { pid: helper.pid };
        let exited = reaper.watch(helper.pid, ChildGroup::Own);
        helper.executed().await.map_err(|failure| io::Error::other(failure.what))?;
        let (up, number, refusals) = (session.up.clone(), session.number, session.refusals.clone());
        let name = name.to_owned();
        tokio::task::spawn_local(async move {
            tell(&up, number, &refusals, &name, helper.stderr).await;
            if exited.await.is_ok() {
                up.remark(number, "its egress proxy has ended: it has no network until it is restarted");
            }
        });
        Ok(proxy)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = send_group(self.pid, Signal::SIGKILL);
    }
}

/// Passes on what it says until it closes its stderr: as a refusal what an option would allow, the rest as lines.
async fn tell(up: &Up, server: u32, refusals: &Refusals, name: &str, mut stderr: pipe::Receiver) {
    let mut lines = LineSplitter::new(MAX_LINE);
    while let Ok(n @ 1..) = read_some(&mut stderr, lines.space()).await {
        lines.filled(n);
        while let Some(line) = lines.pop() {
            if let Popped::Line(line) = line {
                // It knows rules, and not whose they are.
                let text = readable(line, false);
                if refusals.of_proxy(up, server, &text) {
                    continue;
                }
                let text = text.replacen(" NAME ", &format!(" {name} "), 1);
                up.log(server, LogSource::Runner, None, &text);
            }
        }
    }
}
