//! How far a server gets beyond its memory before it is killed.
//!
//! ```text
//!  /bin/sh ─► echo-server, which Harbor speaks to
//!     └─► several processes that take memory as fast as they can, each within the limit of one process
//! ```
//!
//! Owns such a server. Must not judge: the kernel holds each process, and the runner looks once a second at all of them.

use crate::ask::{ask, connect, program, servers};
use crate::harbor::Bridge;
use crate::options::Options;
use crate::request::SERVER;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::{AddServer, ExitView, RestartWhen, SandboxSettings, Supervision};
use harbor_ipc_proto::field::JsonObject;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What all of them may use together, in MiB.
pub const LIMIT: u64 = 256;

/// How many processes take memory.
pub const TAKERS: usize = 4;

/// Each stays below the limit, which the kernel holds it to: together they are far above.
const TAKER: &str = "a=[]\nfor _ in range(50): a.append(bytearray(4<<20))\nimport time; time.sleep(60)";

/// Longer than the runner can need, or the bench is wrong.
const PATIENCE: Duration = Duration::from_secs(30);

/// One server that took too much.
#[derive(Debug, Clone, Copy)]
pub struct Greed {
    /// What it had when it was killed, in MiB.
    pub used: f64,
    /// From its contact to its end, in milliseconds.
    pub lived: f64,
}

/// Lets it happen again and again.
pub fn measure(options: &Options) -> Outcome<Vec<Greed>> {
    say(&format!("servers that take too much memory: {}", options.greeds));
    let (_bridge, mut link) = Bridge::start(options)?;
    let takers = "python3 -c \"$1\" </dev/null >/dev/null 2>&1 & ".repeat(TAKERS);
    let echo = options.program("echo-server")?;
    let mut all = Vec::new();
    for _ in 0..options.greeds {
        watchdog::step("waiting for a server to take too much memory".to_owned());
        let echo = echo.to_str().ok_or("a path that is no text")?;
        let script = format!("{takers} exec \"$2\"");
        let args = ["-c", &script, "sh", TAKER, echo].map(str::to_owned);
        let sandbox = SandboxSettings { memory_mb: Some(LIMIT), ..SandboxSettings::default() };
        let supervision = Supervision { restart: Some(RestartWhen::Never), ..Supervision::default() };
        let definition = AddServer {
            sandbox: Some(JsonObject::written(&sandbox)),
            supervision: Some(JsonObject::written(&supervision)),
            ..program(SERVER, Path::new("/bin/sh"), &args)?
        };
        ask(&mut link, &definition)?;
        connect(&mut link, SERVER)?;
        let begin = Instant::now();
        let used = used(&exit(&mut link)?)?;
        all.push(Greed { used, lived: begin.elapsed().as_secs_f64() * 1e3 });
    }
    Ok(all)
}

fn exit(link: &mut Link) -> Outcome<ExitView> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if let Some(exit) = servers(link)?.into_iter().find_map(|server| server.last_exit) {
            return Ok(exit);
        }
        sleep(Duration::from_millis(5));
    }
    Err("nothing ended the server that takes too much memory".into())
}

/// `it had 700 MiB of memory; …`.
fn used(exit: &ExitView) -> Outcome<f64> {
    let number = exit.message.split(' ').find_map(|word| word.parse().ok());
    match number.filter(|_| exit.cause == "out_of_memory") {
        Some(number) => Ok(number),
        None => Err(format!("it ended otherwise: {}", exit.message).into()),
    }
}
