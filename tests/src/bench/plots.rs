//! Which figures are drawn, and where: the calls of all setups, and the curves of scale.
//!
//! Owns the files. Must draw nothing that is not in a table, too.

use crate::Outcome;
use crate::calls::Samples;
use crate::options::Options;
use crate::plot::{self, Bar, Curve};
use crate::request::Workload;
use crate::scale::Figures;
use crate::stats::median;
use std::fs;

/// Makes the directory, so that nothing is measured in vain.
pub fn prepare(options: &Options) -> Outcome<()> {
    let Some(directory) = &options.plot else { return Ok(()) };
    fs::create_dir_all(directory).map_err(|error| format!("--plot {}: {error}", directory.display()))?;
    Ok(())
}

/// Draws the small calls over all setups, where plots are wanted.
pub fn calls(options: &Options, results: &[Samples]) -> Outcome<()> {
    let bars: Vec<_> = results.iter().map(bar).collect();
    write(options, "bench-calls.svg", || plot::bars("100 B call, one at a time: p50 in µs", &bars))
}

fn bar(result: &Samples) -> Bar {
    let times = result.samples.iter().map(|sample| sample.latency[Workload::Small as usize]);
    Bar { label: result.name.into(), value: median(times), is_own: result.name.starts_with("Harbor") }
}

/// Draws what servers and clients cost by their number, where plots are wanted.
pub fn scale(options: &Options, figures: &Figures) -> Outcome<()> {
    write(options, "bench-scale.svg", || {
        plot::curves("Servers and clients under one bridge", &curves(figures))
    })
}

fn curves(figures: &Figures) -> Vec<Curve> {
    // Numbers of servers, clients and KiB are far below what a float counts exactly.
    let servers = |title: &str, value: fn(&crate::growth::Size) -> f64| Curve {
        title: title.to_owned(),
        over: "servers",
        points: figures.growth.iter().map(|size| (size.servers as f64, value(size))).collect(),
    };
    let clients = |title: &str, value: fn(&crate::crowd::Crowd) -> f64| Curve {
        title: title.to_owned(),
        over: "clients",
        points: figures.crowd.iter().map(|crowd| (crowd.clients as f64, value(crowd))).collect(),
    };
    vec![
        servers("All servers run after, ms", |size| median(size.times.iter().copied())),
        servers("Call to one server, p50 in µs", |size| size.call),
        servers("Memory of the bridge, PSS in KiB", |size| size.bridge.pss as f64),
        servers("Memory of runners and inits, PSS in KiB", |size| (size.runners.pss + size.inits.pss) as f64),
        clients("Calls per second of all clients", |crowd| median(crowd.rates.iter().copied())),
        clients("Call of one client, p50 in µs", |crowd| median(crowd.times.iter().copied())),
        clients("Processor time of the bridge per call, µs", |crowd| median(crowd.cpu.iter().copied())),
        clients("Memory of the bridge, PSS in KiB", |crowd| crowd.bridge.pss as f64),
    ]
}

fn write(options: &Options, name: &str, draw: impl FnOnce() -> String) -> Outcome<()> {
    let Some(directory) = &options.plot else { return Ok(()) };
    let path = directory.join(name);
    fs::write(&path, draw()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(())
}
