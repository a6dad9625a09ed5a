//! Latency, throughput and processor time of calls, all setups in turn within each repetition.
//!
//! Owns the order of the measurements. Must not compare them; that is the report's.

use crate::options::Options;
use crate::request::Workload;
use crate::setup::{self, Setup};
use crate::stats::{median, percentile};
use crate::{Outcome, harbor, say, watchdog};

/// What was measured in one repetition over one setup.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Median time of a call in microseconds, by workload.
    pub latency: [f64; 3],
    /// The time that one call in a hundred takes longer than, the same.
    pub tails: [f64; 3],
    /// Small calls per second, many in flight.
    pub rate: f64,
    /// Processor time of each hop per small call, one at a time, in microseconds.
    pub cpu_alone: Vec<f64>,
    /// The same with many in flight.
    pub cpu_flood: Vec<f64>,
}

/// All samples of one setup.
#[derive(Debug, Clone)]
pub struct Samples {
    /// The setup's name.
    pub name: &'static str,
    /// What the processes on the way are.
    pub hops: Vec<&'static str>,
    /// One per repetition.
    pub samples: Vec<Sample>,
}

/// Measures all setups. The first is direct, the second the floor.
pub fn measure(options: &Options) -> Outcome<Vec<Samples>> {
    watchdog::step("starting the setups".to_owned());
    // Declared first to be dropped last: the links in the setups have to be closed before.
    let mut _bridge = None;
    let mut setups = vec![setup::direct(options)?, setup::floor(options)?];
    if options.harbor {
        let (bridge, of_harbor) = harbor::setups(options)?;
        _bridge = Some(bridge);
        setups.extend(of_harbor);
    }
    let mut results: Vec<Samples> = setups.iter().map(no_samples).collect();
    for repetition in 0..options.repetitions {
        say(&format!("calls: repetition {} of {}", repetition + 1, options.repetitions));
        for which in turns(repetition, setups.len()) {
            let sample = sample(options, &mut setups[which])?;
            results[which].samples.push(sample);
        }
    }
    watchdog::step("ending the setups".to_owned());
    Ok(results)
}

/// Who is measured when in one repetition. Another one begins each time, and every second time they go backwards, so
/// that none always comes after the same neighbour.
pub fn turns(repetition: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |turn| {
        let place = if repetition.is_multiple_of(2) { turn } else { count - 1 - turn };
        (place + repetition) % count
    })
}

fn no_samples(setup: &Setup) -> Samples {
    Samples {
        name: setup.name,
        hops: setup.hops.iter().map(|(what, _)| *what).collect(),
        samples: Vec::new(),
    }
}

fn sample(options: &Options, setup: &mut Setup) -> Outcome<Sample> {
    let (mut latency, mut tails) = ([0.0; 3], [0.0; 3]);
    let mut cpu_alone = Vec::new();
    for workload in Workload::ALL {
        watchdog::step(format!("{}, {}", setup.name, workload.title()));
        let calls = if workload == Workload::Small { options.small_calls } else { options.large_calls };
        // What the turn of another setup has cooled down: caches, the processor's clock, buffers.
        setup.one_at_a_time(workload, calls / 10)?;
        let before = setup.cpu()?;
        let times = setup.one_at_a_time(workload, calls)?;
        if workload == Workload::Small {
            cpu_alone = per_call(&before, &setup.cpu()?, calls);
        }
        tails[workload as usize] = percentile(times.iter().copied(), 0.99);
        latency[workload as usize] = median(times);
    }
    watchdog::step(format!("{}, flood", setup.name));
    setup.flood(options.flood_calls / 10)?;
    let before = setup.cpu()?;
    let rate = setup.flood(options.flood_calls)?;
    let cpu_flood = per_call(&before, &setup.cpu()?, options.flood_calls);
    Ok(Sample { latency, tails, rate, cpu_alone, cpu_flood })
}

/// Processor time of each hop per call in microseconds, out of two looks in nanoseconds.
pub fn per_call(before: &[u64], after: &[u64], calls: usize) -> Vec<f64> {
    let used = before.iter().zip(after).map(|(before, after)| after.saturating_sub(*before));
    used.map(|nanoseconds| nanoseconds as f64 / 1e3 / calls as f64).collect()
}
