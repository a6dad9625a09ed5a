//! What a flood on one server costs the calls to another one beside it.
//!
//! ```text
//!  relays   driver ── relay ── relay ── echo-server          the same, twice, side by side:
//!  Harbor   driver ── bridge ── runner ── echo-server        one is flooded, the other one called
//! ```
//!
//! Owns the order: all four situations take turns within each repetition. Must not compare them; that is the report's.

use crate::caller::{Caller, Tool};
use crate::calls::turns;
use crate::harbor::Bridge;
use crate::options::Options;
use crate::scale::connect_echo;
use crate::stats::{median, percentile};
use crate::{Outcome, say, watchdog};
use std::time::{Duration, Instant};

/// Large calls in flight on the flooded server.
pub const FLOOD: usize = 32;

/// Each sample takes at least so long, so that the flood is at its height for all but a moment of it.
const SAMPLE: Duration = Duration::from_millis(200);

/// One way to two servers.
#[derive(Debug)]
pub struct Beside {
    /// For reports.
    pub name: &'static str,
    /// Median times of a small call per repetition, in microseconds, without the flood.
    pub quiet: Vec<f64>,
    /// The same under it.
    pub flooded: Vec<f64>,
    /// Of each repetition under the flood the time that one call in a hundred takes longer than.
    pub tails: Vec<f64>,
    /// Answers of the flood per second.
    pub rates: Vec<f64>,
}

/// The connections of one way: the one that is measured, and the one that floods.
struct Ways {
    measured: Caller,
    loud: Caller,
}

/// Measures both ways; relays come first.
pub fn measure(options: &Options) -> Outcome<[Beside; 2]> {
    watchdog::step("a flood beside: starting".to_owned());
    // Declared first to be dropped last: the links of the callers have to be closed before.
    let (bridge, mut stdio) = Bridge::start(options)?;
    connect_echo(options, &mut stdio, "measured")?;
    connect_echo(options, &mut stdio, "flooded")?;
    let of_bridge = Ways {
        measured: Caller::of_server(bridge.attach()?, "measured", Tool::Small, 1)?,
        loud: Caller::of_server(bridge.attach()?, "flooded", Tool::Large, FLOOD)?,
    };
    let of_relays = Ways {
        measured: Caller::of_relays(options, Tool::Small, 1)?,
        loud: Caller::of_relays(options, Tool::Large, FLOOD)?,
    };
    let mut ways = [of_relays, of_bridge];
    let mut found = ["relays", "Harbor"].map(none);
    for repetition in 0..options.repetitions {
        say(&format!("a flood beside: repetition {} of {}", repetition + 1, options.repetitions));
        for turn in turns(repetition, 2 * ways.len()) {
            let which = turn / 2;
            sample(options, &mut ways[which], &mut found[which], turn.is_multiple_of(2))?;
        }
    }
    // The ways are closed before the bridge ends with its stdin.
    drop((ways, stdio));
    Ok(found)
}

fn none(name: &'static str) -> Beside {
    Beside { name, quiet: Vec::new(), flooded: Vec::new(), tails: Vec::new(), rates: Vec::new() }
}

fn sample(options: &Options, ways: &mut Ways, found: &mut Beside, quiet: bool) -> Outcome<()> {
    watchdog::step(format!("a flood beside: {}", found.name));
    let Ways { measured, loud } = ways;
    // Under a flood a small call takes as long as a large one.
    let mut warm_and_measured = || {
        measured.one_at_a_time(options.large_calls / 10)?;
        let (mut times, begin) = (Vec::new(), Instant::now());
        while begin.elapsed() < SAMPLE {
            times.extend(measured.one_at_a_time(options.large_calls)?);
        }
        Ok(times)
    };
    if quiet {
        found.quiet.push(median(warm_and_measured()?));
    } else {
        let (times, rate) = loud.flood_beside(warm_and_measured)?;
        found.tails.push(percentile(times.iter().copied(), 0.99));
        found.flooded.push(median(times));
        found.rates.push(rate);
    }
    Ok(())
}
