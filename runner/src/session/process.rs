//! The process of one server, from start to end.
//!
//! ```text
//!  start ─► launcher becomes the server ─► contact ─► running ─► ladder or exit ─► Ended
//!    ▲                                       │ the server died of the probe
//!    └───────────────────────────────────────┘ (once)
//! ```
//!
//! One task per server waits for everything that can happen to it: output, exit, a stop, a deadline. It only
//! reads; writing is the outbox's task, so neither can block the other.

use std::future::pending;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_child::dying::Dying;
use harbor_child::namespace::Namespace;
use harbor_child::outbox::Outbox;
use harbor_child::reading::read_some;
use harbor_child::reaper::{Exit, Reaper, send_group};
use harbor_child::signal::Signal;
use harbor_child::spawn::Started;
use harbor_child::turn::Turn;
use harbor_child::usage::most_of_an_ended_child;
use harbor_child::{capacity, cgroup};
use harbor_ipc_proto::link::runner::{EndCause, Era, FromRunner};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep_until;

use super::afterwards::afterwards;
use super::alive::Signs;
use super::deadlines::{millis, timeout};
use super::ended::Ended;
use super::exits::{self, WORTH_KILLING, code_and_signal, oom_kills};
use super::ladder::{Ladder, Rung};
use super::launching::{Launched, launch};
use super::listening::Answering;
use super::output::{log_stderr, read_with_room, take_line};
use super::plan::Plan;
use super::proxy::Proxy;
use super::unmounting::Unmounting;
use super::watcher::Watcher;
use super::{STDIN_LIMIT, Session};
use crate::logs::{MAX_LINE, Tail};
use crate::mcp::contact::Event;
use crate::mcp::line::LineSplitter;

/// A server that has not answered the probe for this long is asked by the handshake as well.
const PROBE_SILENCE: Duration = Duration::from_secs(5);

/// How long a server that closed its stdout may take to exit by itself.
const CLOSED_STDOUT_GRACE: Duration = Duration::from_millis(500);

/// How long a start waits for the previous one's leftovers to end.
const STRAYS: Duration = Duration::from_secs(1);

/// The end of one process.
enum End {
    /// The server has ended for good.
    Because(EndCause<'static>),
    /// The server did not survive the probe.
    StartAgain,
}

/// Runs a server or a program until its process is gone.
pub async fn run(session: &Rc<Session>, plan: &Plan, reaper: &Rc<Reaper>) -> Ended {
    let deadline = Instant::now() + plan.start_timeout;
    let mut known = plan.known_era;
    let ended = loop {
        let mut process = match Process::start(session, plan, reaper, deadline).await {
            Ok(process) => process,
            Err(cause) => break (cause, String::new()),
        };
        if plan.is_server {
            session.begin_contact(known, plan.known_revision.as_deref());
        } else {
            session.stdin.borrow().close();
        }
        match process.live().await {
            End::Because(cause) => break (cause, process.tail.text()),
            End::StartAgain => {
                known = Some(Era::Legacy);
                let why = "it ended when Harbor sent server/discover; Harbor starts it again and sends initialize instead";
                session.up.remark(session.number, why);
            }
        }
        afterwards(plan, reaper).await;
        reaper.end_strays(STRAYS).await;
    };
    session.stdin.borrow().close();
    ended
}

struct Process<'a> {
    session: &'a Session,
    plan: &'a Plan,
    pid: u32,
    stdout: pipe::Receiver,
    lines: LineSplitter,
    stdout_signs: Signs,
    stdout_open: bool,
    stderr: pipe::Receiver,
    stderr_lines: LineSplitter,
    stderr_signs: Signs,
    stderr_open: bool,
    tail: Tail,
    exited: oneshot::Receiver<Exit>,
    /// The watch on its death, from contact on. Before contact an end has other meanings.
    dying: Option<Dying>,
    writer: JoinHandle<()>,
    contact_deadline: Instant,
    silence: Instant,
    closed_stdout: Option<Instant>,
    oom_kills: u64,
    ending: Option<(Ladder, EndCause<'static>)>,
    reaper: &'a Reaper,
    watcher: Option<Watcher>,
    /// The server's process, and that which gets its orphans.
    roots: Vec<u32>,
    /// Ends with the server.
    _proxy: Option<Proxy>,
    _answering: Option<Answering>,
    _unmounting: Option<Unmounting>,
    group: Option<cgroup::Cgroup>,
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // The writer owns the pipe to the server; without it the server sees the end of its input.
        self.writer.abort();
    }
}

impl<'a> Process<'a> {
    async fn start(
        session: &'a Rc<Session>,
        plan: &'a Plan,
        reaper: &'a Rc<Reaper>,
        deadline: Instant,
    ) -> Result<Self, EndCause<'static>> {
        let Launched { started, exited, proxy, answering, unmounting, group } =
            launch(session, plan, reaper, deadline).await?;
        session.up.send(&FromRunner::Started { server: session.number, pid: started.pid });
        let stdin = Rc::new(Outbox::new(STDIN_LIMIT));
        *session.stdin.borrow_mut() = stdin.clone();
        let Started { pid, stdin: pipe, stdout, stderr, .. } = started;
        let writer = tokio::task::spawn_local(async move {
            // A server that no longer reads shows itself by its exit or by its silence.
            let _ = stdin.drive(&pipe).await;
        });
        Ok(Self {
            session,
            plan,
            pid,
            stdout,
            lines: LineSplitter::new(plan.max_line),
            stdout_signs: Signs::of(*b"\n\n"),
            stdout_open: true,
            stderr,
            stderr_lines: LineSplitter::new(MAX_LINE),
            // Many say how far they are in one line, which they write anew.
            stderr_signs: Signs::of(*b"\n\r"),
            stderr_open: true,
            tail: Tail::default(),
            exited,
            dying: None,
            writer,
            contact_deadline: deadline,
            silence: Instant::now() + PROBE_SILENCE,
            closed_stdout: None,
            oom_kills: oom_kills(),
            ending: None,
            reaper,
            watcher: Watcher::new(&plan.limits, plan.own_shared_memory, Instant::now()),
            roots: [pid].into_iter().chain(reaper.namespace().map(Namespace::init)).collect(),
            _proxy: proxy,
            _answering: answering,
            _unmounting: unmounting,
            group,
        })
    }

    /// Waits for what happens until the process is gone.
    async fn live(&mut self) -> End {
        loop {
            let due = self.next_deadline();
            tokio::select! {
                biased;
                // First: who has left something behind that writes without end is told to be dead as well.
                exit = &mut self.exited => return self.on_exit(exit.unwrap_or(Exit::Code(-1))),
                exit = exit_of(&mut self.dying) => {
                    if let Some(end) = self.on_dying(exit).await {
                        return end;
                    }
                }
                read = read_with_room(self.session, &mut self.stdout, &mut self.lines), if self.stdout_open => {
                    self.on_stdout(read);
                    self.take_lines_in_turns().await;
                }
                read = read_some(&mut self.stderr, self.stderr_lines.space()), if self.stderr_open => {
                    self.on_stderr(read);
                    self.take_lines_in_turns().await;
                }
                () = self.session.stop.notified() => {}
                () = sleep_until(due.unwrap_or_else(far_off).into()), if due.is_some() => {}
            }
            self.act();
        }
    }

    fn on_stdout(&mut self, read: io::Result<usize>) {
        match read {
            Ok(n) if n > 0 => {
                let (is_dropped, now) = (self.lines.is_dropping(), Instant::now());
                if self.stdout_signs.has(self.lines.filled(n), is_dropped, now) {
                    self.session.alive.heard(now);
                }
            }
            _ => {
                self.stdout_open = false;
                // A program may close what it likes; a server without stdout is none.
                self.closed_stdout = self.plan.is_server.then(|| Instant::now() + CLOSED_STDOUT_GRACE);
                self.finish_stdout();
            }
        }
    }

    /// Takes a whole line of what was read, if there is one.
    fn take_next(&mut self) -> bool {
        if let Some(line) = self.lines.pop() {
            take_line(self.session, self.plan, &mut self.tail, &line);
        } else if let Some(line) = self.stderr_lines.pop() {
            log_stderr(self.session, &mut self.tail, &line);
        } else {
            return false;
        }
        true
    }

    /// A read may bring tens of thousands of lines, and other servers may be in this runner.
    async fn take_lines_in_turns(&mut self) {
        let mut turn = Turn::default();
        while self.take_next() {
            turn.handled(0).await;
        }
    }

    fn finish_stdout(&mut self) {
        while let Some(line) = self.lines.finish() {
            take_line(self.session, self.plan, &mut self.tail, &line);
        }
    }

    fn on_stderr(&mut self, read: io::Result<usize>) {
        match read {
            Ok(n) if n > 0 => {
                let (is_dropped, now) = (self.stderr_lines.is_dropping(), Instant::now());
                if self.stderr_signs.has(self.stderr_lines.filled(n), is_dropped, now) {
                    self.session.alive.heard(now);
                }
            }
            _ => {
                self.stderr_open = false;
                while let Some(line) = self.stderr_lines.finish() {
                    log_stderr(self.session, &mut self.tail, &line);
                }
            }
        }
    }

    /// Performs what is due.
    fn act(&mut self) {
        let now = Instant::now();
        let verdict = self.session.verdict.borrow_mut().take();
        if let Some(cause) = self.watch(now) {
            self.kill(cause);
        } else if self.session.kill_wanted.get() {
            self.kill(EndCause::Hung);
        } else if let Some(cause) = verdict {
            self.end(now, cause);
        } else if self.session.stop_wanted.get() {
            self.end(now, EndCause::Stopped);
        } else if !self.plan.is_server && self.contact_deadline <= now {
            let limit_ms = millis(self.plan.start_timeout);
            self.end(now, EndCause::Overdue { limit_ms });
        } else if self.closed_stdout.is_some_and(|at| at <= now) {
            self.end(now, EndCause::ClosedStdout);
        } else if self.session.is_contacting() && self.ending.is_none() {
            self.act_on_contact(now);
        } else if self.dying.is_none() && self.plan.is_server {
            self.dying = Some(Dying::watch(self.pid));
        }
        self.session.do_due(now);
        if let Some((ladder, _)) = &mut self.ending {
            let signal = ladder.due(now).map(|rung| match rung {
                Rung::Terminate => Signal::SIGTERM,
                Rung::Kill => Signal::SIGKILL,
            });
            // A group that is gone already has an exit on its way here.
            let _ = signal.map(|signal| send_group(self.pid, signal));
        }
    }

    /// Looks at what it uses up; the cause of its end, if that is too much.
    fn watch(&mut self, now: Instant) -> Option<EndCause<'static>> {
        let watcher = self.watcher.as_mut().filter(|watcher| watcher.deadline() <= now)?;
        let mut roots = self.roots.clone();
        roots.extend(self.plan.mark().iter().flat_map(|mark| self.reaper.orphans_of(mark)));
        watcher.look(&roots, self.reaper.namespace().map(Namespace::init), now)
    }

    fn act_on_contact(&mut self, now: Instant) {
        if self.contact_deadline <= now {
            self.end(now, timeout(self.plan));
        } else if self.silence <= now {
            self.silence = now + PROBE_SILENCE;
            self.session.on_contact(Event::Silence);
        }
    }

    /// Begins the ladder, once; the first cause counts.
    fn end(&mut self, now: Instant, cause: EndCause<'static>) {
        if self.ending.is_none() {
            self.session.stdin.borrow().close();
            self.ending = Some((Ladder::begin(now, self.plan.eof_grace, self.plan.term_grace), cause));
        }
    }

    /// Kills a server that hangs or uses up too much, without the ladder. The reason of a stop under way stays.
    fn kill(&mut self, cause: EndCause<'static>) {
        if self.ending.as_ref().is_none_or(|(ladder, _)| ladder.deadline().is_some()) {
            let cause = self.ending.take().map_or(cause, |(_, cause)| cause);
            self.session.stdin.borrow().close();
            self.ending = Some((Ladder::at_its_end(), cause));
            // A group that is gone already has an exit on its way here.
            let _ = send_group(self.pid, Signal::SIGKILL);
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let due = self.session.next_due();
        let watch = self.watcher.as_ref().map(Watcher::deadline);
        if let Some((ladder, _)) = &self.ending {
            return [ladder.deadline(), due, watch].into_iter().flatten().min();
        }
        let contact = self.session.is_contacting().then(|| self.contact_deadline.min(self.silence));
        let run = (!self.plan.is_server).then_some(self.contact_deadline);
        [contact, run, self.closed_stdout, due, watch].into_iter().flatten().min()
    }

    /// The server will say no more. Whoever waits for an answer need not wait until the kernel has freed its
    /// memory. The requests that only its end can explain are told then.
    async fn on_dying(&mut self, exit: Exit) -> Option<End> {
        if self.ending.is_some() || (exits::may_be_for_memory(exit) && self.memory_ran_out()) {
            return None;
        }
        let end = self.end_by(exit, |_| false);
        if let End::Because(cause) = &end {
            self.session.tell_death(&(cause.clone(), self.tail.text()));
        }
        let _ = (&mut self.exited).await;
        Some(end)
    }

    fn on_exit(&mut self, exit: Exit) -> End {
        self.end_by(exit, Self::was_killed_for_memory)
    }

    fn end_by(&mut self, exit: Exit, was_killed_for_memory: impl Fn(&Self) -> bool) -> End {
        self.read_what_is_left();
        let verdict = self.session.verdict.borrow_mut().take();
        if let Some(cause) = self.ending.take().map(|(_, cause)| cause).or(verdict) {
            return End::Because(cause);
        }
        if self.session.is_contacting() {
            if self.session.on_contact(Event::Exited) {
                return End::StartAgain;
            }
            let (code, signal) = code_and_signal(exit);
            let verdict = self.session.verdict.borrow_mut().take();
            return End::Because(verdict.unwrap_or(EndCause::ExitedBeforeContact { code, signal }));
        }
        End::Because(exits::cause(exit, || was_killed_for_memory(self), &self.tail.text()))
    }

    /// True if the kernel has killed for want of memory since the process began. If its memory is counted
    /// apart, only kills in its group count; otherwise all do.
    fn memory_ran_out(&self) -> bool {
        self.group.as_ref().map_or_else(|| oom_kills() > self.oom_kills, cgroup::Cgroup::ran_out_of_memory)
    }

    /// True if this process was killed for want of memory. Ask once the process is reaped.
    fn was_killed_for_memory(&self) -> bool {
        // What runs in a container is no child of ours.
        let is_known = self.group.is_some() || self.plan.afterwards.is_some();
        self.memory_ran_out() && (is_known || most_of_an_ended_child() >= WORTH_KILLING)
    }

    /// Reads what lay in the pipes when the process ended, and no more than they take: processes that it has left behind may
    /// write on. Others who hold the pipes open are not waited for.
    fn read_what_is_left(&mut self) {
        let mut left = capacity::of(&self.stdout);
        while self.stdout_open && left > 0 {
            match self.stdout.try_read(self.lines.space()) {
                Ok(n) if n > 0 => {
                    left = left.saturating_sub(n);
                    self.on_stdout(Ok(n));
                }
                _ => break,
            }
            while self.take_next() {}
        }
        self.finish_stdout();
        let mut left = capacity::of(&self.stderr);
        while self.stderr_open {
            match self.stderr.try_read(self.stderr_lines.space()) {
                Ok(n) if n > 0 && left > 0 => {
                    left = left.saturating_sub(n);
                    self.on_stderr(Ok(n));
                }
                _ => self.on_stderr(Ok(0)),
            }
            while self.take_next() {}
        }
    }
}

/// Waits for the exit of a watched process; waits for ever if none is watched.
async fn exit_of(dying: &mut Option<Dying>) -> Exit {
    match dying {
        Some(dying) => dying.exit().await,
        None => pending().await,
    }
}

fn far_off() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}
