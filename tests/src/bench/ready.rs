//! How long a runner takes from its spawn to its first message, started as the bridge starts it.
//!
//! ```text
//!  driver ══ link: stdin, stdout ══► harbor-runner ── namespace, runtime ──► Hello
//! ```
//!
//! Owns the runners for the time of one start each. Must start them by posix_spawn, as the bridge does: what is to be
//! shown is that the parent's heap does not matter.

use crate::options::Options;
use crate::{Outcome, say, watchdog};
use harbor_child::link;
use harbor_ipc_proto::link::codec::get_message;
use harbor_ipc_proto::link::runner::FromRunner;
use std::fs::File;
use std::hint::black_box;
use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

/// The larger heap of the driver, in bytes; all of it is written to.
const HEAP: usize = 100 * 1024 * 1024;

/// Starts in a row with the same heap.
const ROW: usize = 10;

/// A first message has fewer bytes.
const MAX_HELLO: usize = 4096;

/// What marks a runner's environment; no bridge looks for this one.
const MARK: &str = "HARBOR_INSTANCE=bench";

/// Starts of runners from one heap.
#[derive(Debug)]
pub struct Ready {
    /// For reports.
    pub heap: &'static str,
    /// From before the spawn to the first message, in milliseconds.
    pub times: Vec<f64>,
}

/// Starts runners from a small heap and from a large one, in turn.
pub fn measure(options: &Options) -> Outcome<[Ready; 2]> {
    let count = options.scale.runner_starts;
    say(&format!("runners: {count} starts from either heap"));
    let executable = File::open(options.program("harbor-runner")?)?;
    let mut found = ["small", "100 MB more"].map(|heap| Ready { heap, times: Vec::new() });
    while found[0].times.len() < count {
        for (ready, more) in found.iter_mut().zip([0, HEAP]) {
            watchdog::step("starting runners".to_owned());
            let heap = black_box(vec![1_u8; more]);
            for _ in 0..ROW {
                ready.times.push(start(&executable)?);
            }
            drop(black_box(heap));
        }
    }
    Ok(found)
}

/// Starts one and waits until it has ended again.
fn start(executable: &File) -> Outcome<f64> {
    let (mut mine, [stdin, stdout]) = link::pair()?;
    let mut command = Command::new(format!("/proc/self/fd/{}", executable.as_raw_fd()));
    command.arg0("harbor-runner").arg(std::process::id().to_string()).arg("isolated").arg(MARK).env_clear();
    command.process_group(0).stdin(stdin).stdout(stdout);
    let begin = Instant::now();
    let mut child = command.spawn()?;
    // It holds the runner's ends, too: without them its death would not be seen.
    drop(command);
    watchdog::started(child.id());
    let said = hello(&mut mine.from);
    let time = begin.elapsed().as_secs_f64() * 1e3;
    // The end of its link ends it, and all that it still says is read, so that it ends in peace.
    drop(mine.to);
    mine.from.read_to_end(&mut Vec::new())?;
    child.wait()?;
    watchdog::ended(child.id());
    said.map(|()| time)
}

fn hello(link: &mut PipeReader) -> Outcome<()> {
    let mut length = [0; 4];
    link.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length))?;
    if length > MAX_HELLO {
        return Err(format!("a runner began with {length} bytes").into());
    }
    let mut message = vec![0; length];
    link.read_exact(&mut message)?;
    match get_message(&message)? {
        FromRunner::Hello { .. } => Ok(()),
        other => Err(format!("a runner began with {other:?}").into()),
    }
}
