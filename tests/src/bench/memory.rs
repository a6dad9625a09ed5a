//! What bridge, runner and the runner's init hold: idle, after traffic, and after one large result.
//!
//! Owns a bridge that has done nothing before, since memory has a history. Must not measure time.

use crate::fronts;
use crate::harbor::{Bridge, Runners};
use crate::options::Options;
use crate::process::{self, Memory};
use crate::request::{Manner, Workload};
use crate::setup::Setup;
use crate::{Outcome, say, watchdog};
use std::thread::sleep;
use std::time::Duration;

/// Time to give buffers back before a look.
const SETTLE: Duration = Duration::from_secs(1);

/// Bytes of the large result.
const LARGE: usize = 8 * 1024 * 1024;

/// What the processes held at one moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// When it was.
    pub when: &'static str,
    /// The bridge.
    pub bridge: Memory,
    /// The runner, once there is one.
    pub runner: Option<Memory>,
    /// The first process of the runner's namespace, where it has one and this user may look into it.
    pub init: Option<Memory>,
}

/// The name of the first process in a runner's namespace.
const INIT: &str = "harbor-init";

/// The moments, in order; the second is idle with a server, the third idle after calls, the last but one the state before the large
/// result.
pub fn measure(options: &Options) -> Outcome<Vec<Moment>> {
    say("memory");
    watchdog::step("memory".to_owned());
    let (bridge, mut link) = Bridge::start(options)?;
    sleep(SETTLE);
    let alone =
        Moment { when: "bridge alone", bridge: process::memory(bridge.pid())?, runner: None, init: None };
    let hops = bridge.connect_server(options, &mut link)?;
    let runner = hops[1].1;
    let look = |when| -> Outcome<Moment> {
        sleep(SETTLE);
        let (own, init) = of_runner(runner)?;
        Ok(Moment { when, bridge: process::memory(bridge.pid())?, runner: Some(own), init })
    };
    let mut moments = vec![alone, look("idle, one server connected")?];
    let mut setup = Setup::open("Harbor, stdio", Manner::Owner, link, None, hops)?;
    // What is read for the first calls stays: the schemas of their tools.
    Workload::ALL.into_iter().try_for_each(|workload| setup.one_at_a_time(workload, 1).map(drop))?;
    moments.push(look("idle, after its first calls")?);
    for workload in Workload::ALL {
        setup.one_at_a_time(workload, options.large_calls)?;
    }
    setup.flood(options.flood_calls)?;
    moments.push(look("1 s after traffic")?);
    setup.large_result(LARGE)?;
    moments.push(look("1 s after an 8 MB result")?);
    Ok(moments)
}

/// What `harbor mcp` holds after small calls, and after two large results: some allocators keep from the second one on.
pub fn of_mcp(options: &Options) -> Outcome<[Memory; 2]> {
    watchdog::step("memory of harbor mcp".to_owned());
    // Declared first to be dropped last.
    let (bridge, mut link) = fronts::start(options, Runners::Each)?;
    let hops = bridge.connect_server(options, &mut link)?;
    let mut setup = fronts::harbor_mcp(options, &bridge, &hops)?;
    let pid = setup.hops[0].1;
    setup.one_at_a_time(Workload::Small, options.large_calls)?;
    sleep(SETTLE);
    let before = process::memory(pid)?;
    (0..2).try_for_each(|_| setup.large_result(LARGE))?;
    sleep(SETTLE);
    let after = process::memory(pid)?;
    drop((setup, link));
    Ok([before, after])
}

/// What a runner holds, and what the first process of its namespace does, where it has one. Of a runner that is not
/// root's, nobody but root may look into that process.
pub fn of_runner(runner: u32) -> Outcome<(Memory, Option<Memory>)> {
    let init = process::child_named(runner, INIT)?;
    let readable = init.filter(|pid| process::is_readable(*pid));
    Ok((process::memory(runner)?, readable.map(process::memory).transpose()?))
}
