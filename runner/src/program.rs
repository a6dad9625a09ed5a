//! The runner: owns one MCP server, or all of them where isolation is off.
//!
//! ```text
//!   harbor-runner BRIDGE_PID isolated|shared|engine MARK    link on stdin and stdout, until its end, SIGTERM or SIGINT
//!   harbor-runner BRIDGE_PID offer MARK              finds out what the kernel offers, tells the bridge, ends
//!   harbor-runner exec …                             the launcher: becomes a server (see harbor_child::launcher)
//!   harbor-runner unmount …                          unmounts a disk in a server's mounts (see harbor_child::unmounting)
//! ```
//!
//! A carrier (see [`Carrier`]) makes a runner of it that speaks to remote servers, and starts no program: it is neither
//! launcher nor namespace.
//!
//! Owns the link to the bridge. Must never outlive it, and never write anything else to stdout.

use std::ffi::{CStr, OsString};
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::rc::Rc;

use harbor_child::link::{Ends, LinkReader};
use harbor_child::namespace::{Containment, Namespace};
use harbor_child::reading::read_some;
use harbor_child::reaper::Reaper;
use harbor_child::signal::Signal;
use harbor_child::signals::Signals;
use harbor_child::{launcher, link, memory, namespace, own, unmounting};
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message};
use harbor_ipc_proto::link::runner::{FromRunner, ToRunner};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

use crate::confinement;
use crate::servers::Servers;
use crate::session::remote::Carrier;
use crate::to_bridge::Up;

/// The reason to stay outside a namespace. An engine notes its containers by process ids, which differ in
/// another namespace. Without root it needs setuid programs, too.
const OF_AN_ENGINE: &str = "a container engine needs to see all processes of this machine";

/// Servers of one runner would end together in a namespace.
const SHARED: &str = "the servers share a runner";

/// Events that the system tells of at once: a runner has a few pipes, and pays for the room of each event.
const IO_EVENTS: usize = 64;

/// Exit code for a wrong command line.
const USAGE: u8 = 2;

/// Runs the program that the command line asks for, and returns its exit code.
#[must_use]
pub fn run() -> ExitCode {
    run_as(c"harbor-runner", None)
}

/// Runs a runner of that name, which carries messages by `carrier`.
#[must_use]
pub fn run_with(name: &'static CStr, carrier: Rc<dyn Carrier>) -> ExitCode {
    run_as(name, Some(carrier))
}

fn run_as(name: &'static CStr, carrier: Option<Rc<dyn Carrier>>) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let code = match arguments.split_first() {
        Some((first, rest)) if carrier.is_none() && first == "exec" => {
            Some(launcher::run(rest, confinement::profile))
        }
        Some((first, rest)) if carrier.is_none() && first == "unmount" => Some(unmounting::run(rest)),
        _ => None,
    };
    if let Some(code) = code {
        return u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    let [parent, isolation, _mark] = arguments.as_slice() else { return usage() };
    let Some(parent) = parent.to_str().and_then(|pid| pid.parse().ok()) else { return usage() };
    memory::return_large_blocks();
    let ended = match isolation.to_str() {
        Some("isolated") => begin(name, parent, None, carrier),
        Some("shared") => begin(name, parent, Some(SHARED), carrier),
        Some("engine") if carrier.is_none() => begin(name, parent, Some(OF_AN_ENGINE), carrier),
        Some("offer") if carrier.is_none() => confinement::tell_offer(),
        _ => return usage(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{}: {error}", name.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    let _ = writeln!(io::stderr(), "harbor-runner is started by harbor-bridge; run `harbor help` instead");
    ExitCode::from(USAGE)
}

fn begin(
    name: &'static CStr,
    parent: u32,
    outside: Option<&str>,
    carrier: Option<Rc<dyn Carrier>>,
) -> io::Result<()> {
    // First, while this process has nothing that the namespace's init would copy.
    let (containment, namespace) = contain(outside.or(carrier.is_some().then_some(SHARED)))?;
    own::be_called(name);
    own::not_dumpable()?;
    let link = link::take()?;
    own::die_with_parent(parent, Signal::SIGTERM)?;
    own::become_subreaper()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_io_events_per_tick(IO_EVENTS)
        .build_local(Default::default())?;
    if let Some(carrier) = &carrier {
        // Behind the runtime and before the first message: nothing of what comes over the network is read unconfined.
        carrier.confine()?;
    }
    runtime.block_on(serve(link, &containment, namespace, carrier, outside == Some(SHARED)))
}

/// Makes a namespace, unless there is a reason to be `outside`: servers that share a runner would end together in one.
fn contain(outside: Option<&str>) -> io::Result<(Containment, Option<Namespace>)> {
    match outside {
        None => namespace::enter(),
        Some(why) => Ok((Containment::ProcessGroup { why: why.into() }, None)),
    }
}

async fn serve(
    link: Ends,
    containment: &Containment,
    namespace: Option<Namespace>,
    carrier: Option<Rc<dyn Carrier>>,
    is_shared: bool,
) -> io::Result<()> {
    let mut ended = Signals::listen(&[Signal::SIGTERM, Signal::SIGINT])?;
    let reaper = Reaper::start_with(namespace)?;
    let (mut reader, writer) = link.watch()?;
    let up = Rc::new(Up::new());
    up.send(&FromRunner::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
    let why = match containment {
        Containment::PidNamespace => "",
        Containment::ProcessGroup { why } => why,
    };
    up.send(&FromRunner::Containment { pid_namespace: why.is_empty(), why: why.into() });
    let driver = tokio::task::spawn_local({
        let up = up.clone();
        async move { up.outbox().drive(&writer).await }
    });
    tokio::task::spawn_local(memory::return_at_rest());
    let servers = Servers::new(up.clone(), reaper, carrier, is_shared);
    // A task of its own: waking the outermost future costs a system call each time.
    let mut reading = tokio::task::spawn_local({
        let servers = servers.clone();
        async move { read_link(&mut reader, &servers).await }
    });
    let read = tokio::select! {
        read = &mut reading => read.map_err(io::Error::other)?,
        () = ended.recv() => tokio::select! {
            // Without the bridge nobody hears what comes of a renewal.
            read = &mut reading => read.map_err(io::Error::other)?,
            () = servers.renewed() => Ok(()),
        },
    };
    servers.end_all().await;
    up.outbox().close();
    // What is still queued goes out; a bridge that is gone ends this at once, one that hangs is not waited for.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), driver).await;
    read
}

/// Reads the bridge's messages until the link ends or the bridge says so.
async fn read_link(reader: &mut LinkReader, servers: &Rc<Servers>) -> io::Result<()> {
    let mut frames = FrameDecoder::new(MAX_MESSAGE);
    let mut greeted = false;
    loop {
        let n = read_some(reader, frames.space()).await?;
        if n == 0 {
            return Ok(());
        }
        frames.filled(n);
        while let Some(popped) = frames.pop() {
            let Popped::Frame(body) = popped else { return Err(io::Error::other("a message is too long")) };
            let message: ToRunner<'_> = get_message(body).map_err(io::Error::other)?;
            if !greeted {
                greet(&message)?;
                greeted = true;
            }
            if !servers.on_message(message) {
                return Ok(());
            }
        }
    }
}

/// The first message must be a greeting of our own build.
fn greet(message: &ToRunner<'_>) -> io::Result<()> {
    match message {
        ToRunner::Hello { protocol: LINK_PROTOCOL, build } if build == BUILD => Ok(()),
        ToRunner::Hello { build, .. } => {
            Err(io::Error::other(format!("the bridge is from build {build}, this runner from {BUILD}")))
        }
        _ => Err(io::Error::other("the bridge's first message was not a greeting")),
    }
}
