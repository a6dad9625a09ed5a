//! Real processes with threads, killed and ending by themselves.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

/// What a process without a second thread would be waited for in vain.
const SHORT: Duration = Duration::from_millis(200);

/// A Python that has run this, said so, and then does what it is told by its stdin.
struct Python(Child);

impl Python {
    fn run(program: &str) -> Self {
        let program = format!(
            "import ctypes, os, sys, threading, time\n\
             wait = lambda: threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()\n\
             {program}\n"
        );
        let child = Command::new("python3")
            .args(["-I", "-c", &program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut python = Self(child);
        python.hear("ready");
        python
    }

    fn hear(&mut self, wanted: &str) {
        let mut line = String::new();
        BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), wanted);
    }

    fn go_on(&mut self) {
        use std::io::Write as _;
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Waits for its end, and leaves it unreaped.
    fn wait_for_its_end(&self) {
        let pid = Pid::from_raw(self.0.id().cast_signed());
        waitid(Id::Pid(pid), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).unwrap();
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn on_a_runtime<T>(body: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(body)
}

async fn told(dying: &mut Dying) -> Option<Exit> {
    tokio::time::timeout(LIMIT, dying.exit()).await.ok()
}

async fn untold(dying: &mut Dying) {
    assert_eq!(tokio::time::timeout(SHORT, dying.exit()).await.ok(), None);
}

/// From Linux 6.9 on; before, nothing is told, and that is all there is to test.
fn handles_of_threads_are_offered() -> bool {
    let thread =
        std::thread::spawn(|| open(nix::unistd::gettid().as_raw().unsigned_abs(), PIDFD_THREAD).is_ok());
    thread.join().unwrap()
}

#[test]
fn a_kill_is_told_with_its_signal() {
    on_a_runtime(async {
        let mut python = Python::run("wait(); print('ready', flush=True); sys.stdin.readline()");
        let mut dying = Dying::watch(python.0.id());
        untold(&mut dying).await;
        python.0.kill().unwrap();
        if handles_of_threads_are_offered() {
            assert_eq!(told(&mut dying).await, Some(Exit::Signal(9)));
        } else {
            untold(&mut dying).await;
        }
    });
}

#[test]
fn the_end_of_any_process_is_told() {
    on_a_runtime(async {
        let mut python = Python::run("print('ready', flush=True); sys.stdin.readline()");
        let other = Other::watch(python.0.id()).unwrap();
        assert!(tokio::time::timeout(SHORT, other.ended()).await.is_err());
        python.0.kill().unwrap();
        tokio::time::timeout(LIMIT, other.ended()).await.unwrap();
        python.0.wait().unwrap();
        assert!(Other::watch(python.0.id()).is_err());
    });
}

#[test]
fn an_exit_is_told_with_its_code() {
    on_a_runtime(async {
        let mut python = Python::run("wait(); print('ready', flush=True); sys.stdin.readline(); os._exit(7)");
        let mut dying = Dying::watch(python.0.id());
        python.go_on();
        // Before, its first thread may not show yet that it ends.
        python.wait_for_its_end();
        if handles_of_threads_are_offered() {
            assert_eq!(told(&mut dying).await, Some(Exit::Code(7)));
        }
    });
}

#[test]
fn threads_that_end_are_no_death() {
    on_a_runtime(async {
        let mut python = Python::run(
            "wait_a_line = lambda: sys.stdin.readline() and print('over', flush=True)\n\
             first = threading.Thread(target=wait_a_line); first.start()\n\
             wait()\n\
             print('ready', flush=True)\n\
             first.join(); time.sleep(3600)",
        );
        let mut dying = Dying::watch(python.0.id());
        python.go_on();
        python.hear("over");
        untold(&mut dying).await;
        python.0.kill().unwrap();
        if handles_of_threads_are_offered() {
            assert_eq!(told(&mut dying).await, Some(Exit::Signal(9)), "the next thread is watched");
        }
    });
}

#[test]
fn a_first_thread_that_ends_alone_is_no_death() {
    on_a_runtime(async {
        let mut python = Python::run(
            "wait()\n\
             def last(): sys.stdin.readline(); print('over', flush=True); time.sleep(3600)\n\
             threading.Thread(target=last).start()\n\
             print('ready', flush=True)\n\
             ctypes.CDLL(None).syscall(60, 9)",
        );
        let mut dying = Dying::watch(python.0.id());
        python.go_on();
        python.hear("over");
        untold(&mut dying).await;
        assert_eq!(exit_of(python.0.id(), &threads(python.0.id())), None);
    });
}

#[test]
fn who_has_one_thread_is_not_watched() {
    on_a_runtime(async {
        let mut python = Python::run("print('ready', flush=True); sys.stdin.readline()");
        let mut dying = Dying::watch(python.0.id());
        assert!(dying.threads.is_none());
        python.0.kill().unwrap();
        untold(&mut dying).await;
    });
}

#[test]
fn the_fields_are_found_behind_any_name() {
    let text = |flags: u64, threads: usize, pending: u64, code: i32| {
        let zeros = |count: usize| ["0"].repeat(count).join(" ");
        let middle = format!("{} {threads} {} {pending} {}", zeros(10), zeros(10), zeros(20));
        format!("7 (a) Z 1 2) R 1 7 7 0 -1 {flags} {middle} {code}\n")
    };
    let stat = |code| ThreadStat::parse(text(0, 2, 0, code).as_bytes()).unwrap();
    assert_eq!(stat(9).exit(2), Some(Exit::Signal(9)));
    assert_eq!(stat(0x80 | 11).exit(2), Some(Exit::Signal(11)), "with a core");
    assert_eq!((stat(7 << 8).exit(3), stat(0).exit(2)), (Some(Exit::Code(7)), None));
    assert_eq!((stat(9).exit(1), stat(libc::SIGSTOP).exit(2)), (None, None));
    let is_doomed =
        |flags, pending| ThreadStat::parse(text(flags, 1, pending, 0).as_bytes()).unwrap().is_doomed();
    assert!(is_doomed(PF_EXITING, 0) && is_doomed(0, 0x100) && !is_doomed(0x40_0000, 0x4000));
    for torn in [&text(0, 1, 0, 0)[..60], "7 (a", ""] {
        assert!(ThreadStat::parse(torn.as_bytes()).is_none(), "{torn}");
    }
}
