//! What the way through the permissions costs a call: for an origin, beside the owner, beside no Harbor at all.
//!
//! Owns the order of the measurements, in one bridge, by its socket. Must not compare them; that is the report's.

use crate::calls::turns;
use crate::harbor::Bridge;
use crate::options::Options;
use crate::request::{Manner, Workload};
use crate::setup::{self, Setup};
use crate::stats::median;
use crate::wire::Link;
use crate::{Outcome, say, watchdog};

/// What is called.
pub const WORKLOADS: [Workload; 2] = [Workload::Small, Workload::Structured];

/// Calls of one kind over one setup: a figure for each repetition, in microseconds.
#[derive(Debug, Clone)]
pub struct Way {
    /// What is called.
    pub workload: Workload,
    /// The setup's name.
    pub name: &'static str,
    /// Medians of a call's time.
    pub times: Vec<f64>,
    /// Processor time of the bridge for a call; none where there is no bridge.
    pub cpu: Vec<f64>,
}

/// Measures both workloads over all setups: the first is direct, the second the owner's.
pub fn measure(options: &Options, bridge: &Bridge, link: &mut Link) -> Outcome<Vec<Way>> {
    watchdog::step("starting the setups".to_owned());
    let hops = bridge.connect_server(options, link)?;
    let of_bridge = hops[..1].to_vec();
    let mut setups = [
        setup::direct(options)?,
        Setup::open("as the owner", Manner::Owner, bridge.attach()?, None, of_bridge.clone())?,
        Setup::open("for an origin", Manner::Origin, bridge.attach()?, None, of_bridge)?,
    ];
    let kinds = WORKLOADS.iter().flat_map(|workload| setups.iter().map(|setup| (*workload, setup.name)));
    let mut ways: Vec<_> =
        kinds.map(|(workload, name)| Way { workload, name, times: Vec::new(), cpu: Vec::new() }).collect();
    for repetition in 0..options.repetitions {
        say(&format!("the host's path: repetition {} of {}", repetition + 1, options.repetitions));
        for which in turns(repetition, setups.len()) {
            let of_setup = ways.iter_mut().skip(which).step_by(setups.len());
            of_setup.zip(&WORKLOADS).try_for_each(|(way, _)| sample(options, &mut setups[which], way))?;
        }
    }
    Ok(ways)
}

fn sample(options: &Options, setup: &mut Setup, way: &mut Way) -> Outcome<()> {
    watchdog::step(format!("{}, {}", way.name, way.workload.title()));
    let calls = if way.workload == Workload::Small { options.small_calls } else { options.large_calls };
    setup.one_at_a_time(way.workload, calls / 10)?;
    let before = setup.cpu()?;
    way.times.push(median(setup.one_at_a_time(way.workload, calls)?));
    if let [("bridge", _)] = setup.hops[..] {
        let used = setup.cpu()?[0].saturating_sub(before[0]);
        way.cpu.push(used as f64 / 1e3 / calls as f64);
    }
    Ok(())
}
