//! How often each step of a call asks for memory.
//!
//! A whole call is counted by `scripts/bench --budget-only`; here is which step it is, where that number grows. Must never
//! count bytes: they follow what the call carries. A buffer that grows counts each time; those of the programs are kept.

use allocation_counter::measure;
use harbor_tests::steps::{self, CARRIED};

/// In the order of [`CARRIED`].
fn counted<T>(mut step: impl FnMut() -> T) -> u64 {
    measure(|| drop(step())).count_total
}

macro_rules! most {
    ($($name:ident: $most:expr,)*) => {$(
        #[test]
        fn $name() {
            let found = CARRIED.map(|carried| counted(steps::$name(carried)));
            assert_eq!(found, $most, "100 B, 64 KB text, 64 KB structured: if fewer, write that down");
        }
    )*};
}

most! {
    read_request: [6, 7, 7],
    consent: [1, 1, 1],
    pass_to_runner: [4, 5, 5],
    take_from_bridge: [0, 0, 0],
    write_line: [7, 7, 7],
    read_line: [1, 6, 6],
    pass_to_bridge: [3, 3, 3],
    take_from_runner: [1, 1, 1],
    write_reply: [6, 6, 6],
}
