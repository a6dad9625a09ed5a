//! harbor-bridge with one more tool source, which is held in its own memory.
//!
//! `bridge-with-source serve [--stdio]` is the bridge itself; `HARBOR_TEST_SOURCES` names the ids of the sources, separated by
//! spaces, and `HARBOR_TEST_JOURNAL` the file that they write what happened to them to. Must never differ from the bridge in
//! anything else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

mod source;

use harbor_bridge::app::{ServeMode, serve_with};
use harbor_bridge::config::Settings;
use harbor_bridge::observe;
use harbor_home::Paths;

fn main() {
    let stdio = std::env::args().any(|word| word == "--stdio");
    let mode = if stdio { ServeMode::Stdio } else { ServeMode::Foreground };
    let paths = Paths::from_env().expect("HARBOR_HOME is set");
    let settings = Settings::read(&paths, None).expect("the test's settings are right");
    observe::begin(settings.log, false).expect("a thread can be started");
    let ids = std::env::var("HARBOR_TEST_SOURCES").expect("the sources are named");
    let served = serve_with(&paths, &settings, mode, |host| {
        ids.split(' ').map(|id| source::MemorySource::add(host, id)).collect::<Vec<_>>()
    });
    served.expect("the bridge serves");
}
