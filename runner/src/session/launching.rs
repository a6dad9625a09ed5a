//! The way from a plan to a running process: control group, launcher, egress proxy, answers to its calls.
//!
//! Owns which steps may fail, and the words for each failure. Must never leave a process behind that nobody watches.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use harbor_child::cgroup::{self, Delegated, Share};
use harbor_child::instructions::Server;
use harbor_child::interpreter;
use harbor_child::launcher::{Failure, Step};
use harbor_child::reaper::{ChildGroup, Exit, Reaper, send_group};
use harbor_child::signal::Signal;
use harbor_child::spawn::{self, Started};
use harbor_ipc_proto::link::runner::EndCause;
use harbor_ipc_proto::link::sandbox::SandboxLimits;
use tokio::sync::oneshot;
use tokio::time::timeout_at;

use super::Session;
use super::deadlines::timeout;
use super::listening::Answering;
use super::plan::Plan;
use super::proxy::Proxy;
use super::unmounting::{self, Unmounting};

/// A process that has become the server, and what belongs to it.
pub(super) struct Launched {
    pub started: Started,
    pub exited: oneshot::Receiver<Exit>,
    pub proxy: Option<Proxy>,
    pub answering: Option<Answering>,
    pub unmounting: Option<Unmounting>,
    pub group: Option<cgroup::Cgroup>,
}

/// Starts the server, by `deadline`.
///
/// # Errors
/// Why it is not started.
pub(super) async fn launch(
    session: &Rc<Session>,
    plan: &Plan,
    reaper: &Rc<Reaper>,
    deadline: Instant,
) -> Result<Launched, EndCause<'static>> {
    let group = group(session.number, &plan.limits);
    let server = Server { group: group.as_ref().map(cgroup::Cgroup::entrance), ..plan.server.clone() };
    let disks = unmounting::disks(&server);
    let started = spawn::start(&server, reaper.namespace())
        .map_err(|error| failed("start a process".into(), &error))?;
    let exited = reaper.watch(started.pid, ChildGroup::Own);
    let end = || {
        // It may have ended already.
        let _ = send_group(started.pid, Signal::SIGKILL);
    };
    let handed = match timeout_at(deadline.into(), started.executed()).await {
        Ok(executed) => executed.map_err(|failure| describe(&failure, &plan.server))?,
        Err(_) => {
            end();
            return Err(timeout(plan));
        }
    };
    let answering = match (handed.calls, plan.allowed) {
        (Some(calls), Some(allowed)) => Some(
            Answering::start(session, calls, allowed)
                .inspect_err(|_| end())
                .map_err(|error| failed("answer its calls".into(), &error))?,
        ),
        _ => None,
    };
    let mut proxy = None;
    if let (Some(socket), Some(program)) = (handed.egress, &plan.proxy) {
        let starting =
            timeout_at(deadline.into(), Proxy::start(session, plan.name(), program, socket, reaper)).await;
        let running = starting.map_err(|_| timeout(plan)).and_then(|running| {
            running.map_err(|error| failed(format!("start its egress proxy ({error})"), &error))
        });
        proxy = Some(running.inspect_err(|_| end())?);
    }
    let unmounting = disks
        .zip(handed.mounts)
        .map(|(disks, mounts)| Unmounting::start(session, plan.name(), disks, mounts, reaper));
    Ok(Launched { started, exited, proxy, answering, unmounting, group })
}

/// A control group for a start, where the session delegates one. Without it rlimits and the watcher hold the limits.
fn group(number: u32, limits: &SandboxLimits<'_>) -> Option<cgroup::Cgroup> {
    let share = Share { memory: limits.memory, processes: limits.processes, nice: limits.nice };
    if share == Share::default() {
        return None;
    }
    Delegated::find()?.group(&format!("server-{}-{number}", std::process::id()), &share).ok()
}

fn failed(what: String, error: &io::Error) -> EndCause<'static> {
    EndCause::SpawnFailed { what: what.into(), errno: error.raw_os_error().unwrap_or(0) }
}

fn describe(failure: &Failure, server: &Server) -> EndCause<'static> {
    let what = match failure.step {
        Step::Begin | Step::Session | Step::Namespace => "prepare the process".into(),
        Step::Sandbox => format!("confine it ({})", failure.what),
        Step::Directory => format!("enter the directory {}", server.cwd.display()),
        Step::Execute => {
            let program = interpreter::missing(Path::new(&server.command), failure.errno);
            let by = program.map(|program| format!(" by its interpreter {program}")).unwrap_or_default();
            format!("run {}{by}", server.command.display())
        }
    };
    EndCause::SpawnFailed { what: what.into(), errno: failure.errno }
}
