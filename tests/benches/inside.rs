//! What each step of a call takes by itself (`harbor_tests::steps`), in the order of a call.
//!
//! Must not judge: what has a budget is the whole call (`scripts/bench --budget-only`). `cargo test` does each step once.

use divan::Bencher;
use harbor_tests::steps::{self, CARRIED, Carried};

fn main() {
    divan::main();
}

macro_rules! steps {
    ($($name:ident)*) => {$(
        #[divan::bench(args = CARRIED)]
        fn $name(bencher: Bencher<'_, '_>, carried: Carried) {
            bencher.bench_local(steps::$name(carried));
        }
    )*};
}

steps! {
    read_request
    pass_to_runner
    take_from_bridge
    write_line
    read_line
    pass_to_bridge
    take_from_runner
    write_reply
}
