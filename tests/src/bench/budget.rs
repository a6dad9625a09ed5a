//! What a small call costs in counts, which no load of the machine changes: instructions, allocations, system calls.
//!
//! ```text
//!  valgrind ── bridge ── runner ── echo-server     some calls, then more of them: what each further one costs
//!  strace ══► bridge, runner                       all system calls while calls are made
//! ```
//!
//! Owns both tools' command lines and what is read from their files. Must not judge; the budgets are the report's.

use crate::harbor::Bridge;
use crate::home::Home;
use crate::options::Options;
use crate::process;
use crate::request::{Manner, Workload};
use crate::setup::Setup;
use crate::{Outcome, say, watchdog};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Calls before what is counted, and those that are.
const BEFORE: usize = 300;
const COUNTED: usize = 1_000;

/// How long strace may take to begin, and to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What hands out memory.
const ALLOCATORS: [&str; 5] = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"];

/// Counts for one call of 100 bytes, one at a time.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Of the bridge, all threads, outside of the kernel.
    pub instructions: f64,
    /// Of the bridge: times that memory was asked for.
    pub allocations: f64,
    /// System calls of the bridge.
    pub bridge_calls: f64,
    /// System calls of the runner.
    pub runner_calls: f64,
}

/// Counts it all.
pub fn measure(options: &Options) -> Outcome<Counts> {
    say("budget: instructions and allocations");
    let few = profile(options, BEFORE)?;
    let many = profile(options, BEFORE + COUNTED)?;
    let each = |of: fn(&Profile) -> u64| of(&many).saturating_sub(of(&few)) as f64 / COUNTED as f64;
    say("budget: system calls");
    let [bridge_calls, runner_calls] = system_calls(options)?;
    Ok(Counts {
        instructions: each(|profile| profile.instructions),
        allocations: each(|profile| profile.allocations),
        bridge_calls,
        runner_calls,
    })
}

/// What callgrind has counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Profile {
    instructions: u64,
    allocations: u64,
}

fn profile(options: &Options, calls: usize) -> Outcome<Profile> {
    watchdog::step(format!("{calls} calls under callgrind"));
    let home = Home::new()?;
    let file = home.path.join("callgrind.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--tool=callgrind"]).arg(format!("--callgrind-out-file={}", file.display()));
    valgrind.arg(options.program("harbor-bridge")?);
    let (bridge, mut link) = Bridge::start_by(valgrind, home)?;
    let hops = bridge.connect_server(options, &mut link)?;
    let mut setup = Setup::open("Harbor, stdio", Manner::Owner, link, None, hops)?;
    setup.one_at_a_time(Workload::Small, calls)?;
    drop(setup);
    let _home = bridge.end();
    let text = fs::read_to_string(&file).map_err(|error| format!("valgrind has left no counts: {error}"))?;
    read_profile(&text)
}

/// Reads callgrind's format: names stand once, `(7) malloc`, and then as their number.
fn read_profile(text: &str) -> Outcome<Profile> {
    let mut profile = Profile::default();
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut called = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")) {
            let (number, rest) = name.split_once(' ').unwrap_or((name, ""));
            if !rest.is_empty() {
                names.insert(number, rest);
            }
            called = names.get(number).copied().unwrap_or_default();
        } else if let Some(calls) = line.strip_prefix("calls=") {
            let count = calls.split(' ').next().unwrap_or_default().parse::<u64>()?;
            profile.allocations += if ALLOCATORS.contains(&called) { count } else { 0 };
        } else if let Some(sum) = line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: ")) {
            profile.instructions = sum.trim().parse()?;
        }
    }
    if profile.instructions > 0 { Ok(profile) } else { Err("valgrind has counted nothing".into()) }
}

fn system_calls(options: &Options) -> Outcome<[f64; 2]> {
    watchdog::step("calls under strace".to_owned());
    // The link is dropped first, and so tells the bridge to end.
    let (bridge, mut link) = Bridge::start(options)?;
    let hops = bridge.connect_server(options, &mut link)?;
    let traced = [hops[0].1, hops[1].1];
    let mut setup = Setup::open("Harbor, stdio", Manner::Owner, link, None, hops)?;
    setup.one_at_a_time(Workload::Small, BEFORE)?;
    let scratch = Home::new()?;
    let files = traced.map(|pid| scratch.path.join(pid.to_string()));
    let tracers = [Tracer::attach(traced[0], &files[0])?, Tracer::attach(traced[1], &files[1])?];
    setup.one_at_a_time(Workload::Small, COUNTED)?;
    tracers.into_iter().try_for_each(Tracer::end)?;
    let per_call = |file| -> Outcome<f64> { Ok(read_calls(&fs::read_to_string(file)?)? / COUNTED as f64) };
    Ok([per_call(&files[0])?, per_call(&files[1])?])
}

/// All system calls in strace's table, whose last line has the sums.
fn read_calls(text: &str) -> Outcome<f64> {
    let line = text.lines().find(|line| line.trim_end().ends_with(" total"));
    let calls = line.and_then(|line| line.split_whitespace().nth(3));
    Ok(calls.ok_or("strace has counted nothing")?.parse()?)
}

/// strace at one process and its threads.
struct Tracer(Child);

impl Tracer {
    fn attach(pid: u32, file: &Path) -> Outcome<Self> {
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-qq", "-p", &pid.to_string(), "-o"]).arg(file);
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut tracer = Self(child.map_err(|error| format!("cannot start strace: {error}"))?);
        let end = Instant::now() + PATIENCE;
        while !process::is_traced(pid)? {
            if tracer.0.try_wait()?.is_some() || Instant::now() > end {
                return Err("strace cannot trace here".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(tracer)
    }

    fn end(mut self) -> Outcome<()> {
        kill(Pid::from_raw(i32::try_from(self.0.id())?), Signal::SIGINT)?;
        let end = Instant::now() + PATIENCE;
        while self.0.try_wait()?.is_none() {
            if Instant::now() > end {
                return Err("strace does not end".into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_once() {
        let text = "fn=(1) main\n1 10\ncfn=(2) malloc\ncalls=3 0\n1 30\nfn=(2)\n2 5\ncfn=(3) brk\ncalls=9 1\n\
                    fn=(4) other\ncfn=(2)\ncalls=4 0\n7 7\nsummary: 1234\n";
        assert_eq!(read_profile(text).unwrap(), Profile { instructions: 1234, allocations: 7 });
        assert!(read_profile("calls=many\n").is_err());
        assert!(read_profile("").is_err());
    }

    #[test]
    fn the_sum_is_in_the_last_line() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     ------ ----------- ----------- --------- --------- ------\n \
                     60.00    0.000600           1       500         2 read\n\
                     100.00    0.001000           1      1234         2 total\n";
        assert_eq!(read_calls(table).unwrap(), 1234.0);
        assert!(read_calls("").is_err());
    }
}
