//! How long a bridge takes to say how all its servers are.
//!
//! Owns the bridge with its servers, of which a few run. Must not ask for fresh numbers: what is promised is the answer from
//! memory.

use crate::ask::{ask, connect, program, request};
use crate::fleet::SERVERS;
use crate::harbor::Bridge;
use crate::options::Options;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::Ping;
use std::time::Instant;

/// How many of them run.
const RUNNING: usize = 10;

/// How many questions are asked before they count.
const WARM: usize = 50;

/// What was found.
#[derive(Debug)]
pub struct Status {
    /// The way there and back, in microseconds.
    pub ping: Vec<f64>,
    /// The same with the status as the answer, each right after its ping.
    pub status: Vec<f64>,
    /// How many servers ran.
    pub running: usize,
    /// The length of an answer.
    pub bytes: usize,
}

/// Asks as often as one repetition has calls.
pub fn measure(options: &Options) -> Outcome<Status> {
    let count = options.small_calls.max(WARM);
    say(&format!("the status of {SERVERS} servers: {count} questions"));
    watchdog::step(format!("defining {SERVERS} servers for the status"));
    let (bridge, stdio) = Bridge::start(options)?;
    // The link is closed before the bridge ends.
    let mut link = bridge.attach()?;
    let command = options.program("echo-server")?;
    for number in 0..SERVERS {
        let id = format!("bench-{number}");
        ask(&mut link, &program(&id, &command, &[])?)?;
        if number < RUNNING {
            connect(&mut link, &id)?;
        }
    }
    watchdog::step("asking for the status".to_owned());
    let ping = request(&Ping { echo: None });
    let status = request(&harbor_ipc_proto::client::Status { fresh: None });
    let mut found = Status { ping: Vec::new(), status: Vec::new(), running: RUNNING, bytes: 0 };
    for number in 0..WARM + count {
        let (of_ping, of_status) = (timed(&mut link, &ping)?.0, timed(&mut link, &status)?);
        if number >= WARM {
            found.ping.push(of_ping);
            found.status.push(of_status.0);
            found.bytes = of_status.1;
        }
    }
    drop((link, stdio));
    Ok(found)
}

/// How long an answer took, and its length.
fn timed(link: &mut Link, request: &[u8]) -> Outcome<(f64, usize)> {
    let begin = Instant::now();
    link.send(request)?;
    let bytes = link.receive()?.len();
    Ok((begin.elapsed().as_secs_f64() * 1e6, bytes))
}
