//! Finds out what an exit means.
//!
//! Owns the judgement whether a server ran out of memory, which no exit says by itself: the kernel sends SIGKILL as
//! anybody may, and runtimes give up in ways of their own. Pure but for reading the kernel's counter.

use std::fs::File;
use std::io::Read;

use harbor_child::reaper::Exit;
use harbor_ipc_proto::link::runner::EndCause;

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;

/// The exit code of shells and container engines when the kernel has killed the program that they ran.
const KILLED_BELOW: i32 = 128 + SIGKILL;

/// Words on stderr of runtimes that cannot get memory: V8, Go, Rust, Python, the JVM, C++ and glibc.
const LAST_WORDS: &[&str] = &[
    "JavaScript heap out of memory",
    "runtime: out of memory",
    "memory allocation of ",
    "MemoryError",
    "java.lang.OutOfMemoryError",
    "std::bad_alloc",
    "Cannot allocate memory",
    "Array buffer allocation failed",
];

/// How the last line of Harbor's own interpreters begins. It names the limit that ended the server, which is not the sandbox's,
/// whatever the server said before.
const INTERPRETERS: &[&str] = &["harbor-runner-js: ", "harbor-runner-wasm: "];

/// The kernel kills those that have the most. A process with fewer bytes than this was killed by somebody
/// else, though the kernel may have killed another one meanwhile, as in somebody's container.
pub const WORTH_KILLING: u64 = 128 * 1024 * 1024;

/// More bytes than the kernel's counters have, so that they are read at once: callers wait for that.
const COUNTERS: usize = 16 * 1024;

/// The number of the kernel's kills for want of memory since it started; see proc(5) on /proc/vmstat.
pub fn oom_kills() -> u64 {
    let mut counters = String::with_capacity(COUNTERS);
    // What cannot be read is as good as no kill.
    let _ = File::open("/proc/vmstat").and_then(|mut file| file.read_to_string(&mut counters));
    let count = counters.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

/// True if the kernel may have killed a process that ends like this for want of memory.
pub fn may_be_for_memory(exit: Exit) -> bool {
    matches!(exit, Exit::Signal(SIGKILL) | Exit::Code(KILLED_BELOW))
}

/// Why a server ended by itself. `killed_for_memory` tells if the kernel has killed a process for want of
/// memory meanwhile. It is only asked if that may be the cause. `tail` is the end of its stderr.
pub fn cause(exit: Exit, killed_for_memory: impl Fn() -> bool, tail: &str) -> EndCause<'static> {
    let last = tail.lines().last().unwrap_or_default();
    let is_named = INTERPRETERS.iter().any(|start| last.starts_with(start));
    let said_so = || !is_named && LAST_WORDS.iter().any(|words| tail.contains(words));
    let (code, signal) = code_and_signal(exit);
    let out_of_memory = match exit {
        exit if may_be_for_memory(exit) && killed_for_memory() => true,
        // A process without memory ends by abort(), or with an error; an orderly end is none.
        Exit::Signal(SIGABRT) => said_so(),
        Exit::Code(code) => code != 0 && said_so(),
        Exit::Signal(_) => false,
    };
    match exit {
        _ if out_of_memory => EndCause::OutOfMemory { code, signal },
        Exit::Code(code) => EndCause::Exited { code },
        Exit::Signal(signal) => EndCause::Signalled { signal },
    }
}

/// The exit as the wire has it.
pub fn code_and_signal(exit: Exit) -> (Option<i32>, Option<i32>) {
    match exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_blamed_only_where_something_says_so() {
        let kill = Exit::Signal(SIGKILL);
        let below = Exit::Code(137);
        assert_eq!(cause(below, || true, ""), EndCause::OutOfMemory { code: Some(137), signal: None });
        assert_eq!(cause(below, || false, ""), EndCause::Exited { code: 137 });
        assert_eq!(cause(kill, || false, "JavaScript heap out of memory"), EndCause::Signalled { signal: 9 });
        assert_eq!(cause(kill, || true, ""), EndCause::OutOfMemory { code: None, signal: Some(9) });
        let abort = Exit::Signal(SIGABRT);
        assert_eq!(cause(abort, || true, "assertion failed"), EndCause::Signalled { signal: 6 });
        let rust = "memory allocation of 1048576 bytes failed";
        assert_eq!(cause(abort, || false, rust), EndCause::OutOfMemory { code: None, signal: Some(6) });
        let module = format!("{rust}\nharbor-runner-wasm: the module needed more than 16 MiB");
        assert_eq!(cause(Exit::Code(125), || false, &module), EndCause::Exited { code: 125 });
        let node = "RangeError: Array buffer allocation failed";
        assert_eq!(
            cause(Exit::Code(1), || false, node),
            EndCause::OutOfMemory { code: Some(1), signal: None }
        );
        let python = "Traceback …\nMemoryError";
        assert_eq!(
            cause(Exit::Code(1), || false, python),
            EndCause::OutOfMemory { code: Some(1), signal: None }
        );
        assert_eq!(cause(Exit::Code(0), || false, python), EndCause::Exited { code: 0 });
    }
}
