//! What each step of a call takes by itself (`harbor_tests::steps`), in the order of a call.
//!
//! Must not judge: what has a budget is the whole call (`scripts/bench --budget-only`). `cargo test` does each step once.

use divan::Bencher;
use harbor_tests::steps::{self, CARRIED, Carried};

fn main() {
    divan::main();
}

// One line each: they are shown in the order of their lines.
macro_rules! step {
    ($name:ident) => {
        #[divan::bench(args = CARRIED)]
        fn $name(bencher: Bencher<'_, '_>, carried: Carried) {
            bencher.bench_local(steps::$name(carried));
        }
    };
}

step!(read_request);
step!(consent);
step!(pass_to_runner);
step!(take_from_bridge);
step!(write_line);
step!(read_line);
step!(pass_to_bridge);
step!(take_from_runner);
step!(write_reply);
