//! Sums agree, names are bounded, numbers stay at their most.

use proptest::prelude::*;

use super::*;

fn call<'a>(origin: &'a str, server: &'a str, tool: &'a str) -> FinishedCall<'a> {
    FinishedCall {
        origin,
        server,
        tool,
        code: None,
        tool_error: false,
        duration_us: 5,
        queued_us: 0,
        bytes_in: 2,
        bytes_out: 3,
    }
}

#[test]
fn failures_are_counted_by_code() {
    let mut stats = Stats::default();
    stats.note(&call("a", "time", "now"));
    stats.note(&call("a", "time", "now"));
    stats.note(&FinishedCall { code: Some("ERR_TIMEOUT"), ..call("a", "time", "now") });
    let counted = |counters: &Counters| {
        let bytes = (counters.bytes_in, counters.bytes_out);
        (counters.calls, counters.failures, counters.codes.clone(), bytes)
    };
    let wanted = (3, 1, BTreeMap::from([("ERR_TIMEOUT", 1)]), (6, 9));
    assert_eq!(counted(stats.total()), wanted);
    assert_eq!(stats.origin("a").map(counted), Some(wanted));
    assert_eq!(stats.origin("b"), None);
}

#[test]
fn everything_is_listed_by_name() {
    let mut stats = Stats::default();
    for (origin, server, tool) in [("b", "time", "zone"), ("a", "time", "now"), ("c", "files", "read")] {
        stats.note(&call(origin, server, tool));
        stats.note_decision(origin, "mcp:tools.call", "allowed");
    }
    stats.note_decision("a", "mcp:tools.call", "allowed");
    stats.note_decision("a", "mcp:tools.call", "denied");
    assert_eq!(stats.origins().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(stats.servers().map(|(name, _)| name).collect::<Vec<_>>(), ["files", "time"]);
    let tools: Vec<_> = stats.tools().map(|(server, tool, _)| (server, tool)).collect();
    assert_eq!(tools, [("files", "read"), ("time", "now"), ("time", "zone")]);
    let of = |origin, decision, count| (origin, "mcp:tools.call", decision, count);
    let wanted = [of("a", "allowed", 2), of("a", "denied", 1), of("b", "allowed", 1), of("c", "allowed", 1)];
    assert_eq!(stats.decisions().collect::<Vec<_>>(), wanted);
}

#[test]
fn made_up_names_are_counted_together() {
    let mut stats = Stats::default();
    for i in 0..3 * MAX_ORIGINS {
        let name = format!("{i}");
        stats.note(&call(&name, &name, "x"));
        stats.note_decision(&name, "mcp:tools.call", "denied");
    }
    let calls =
        |found: Option<(&str, &Counters)>| found.map(|(name, counters)| (name.to_owned(), counters.calls));
    let rest = Some((OTHERS.to_owned(), 2000));
    assert_eq!((stats.origins().count(), calls(stats.origins().next())), (MAX_ORIGINS + 1, rest.clone()));
    assert_eq!((stats.servers().count(), calls(stats.servers().next())), (MAX_SERVERS + 1, rest));
    assert_eq!(stats.decisions().count(), MAX_ORIGINS + 1);
    assert_eq!(stats.decisions().next(), Some((OTHERS, "mcp:tools.call", "denied", 2000)));
    stats.note(&call("7", "7", "x"));
    assert_eq!(stats.origin("7").map(|origin| origin.calls), Some(2), "who has a place keeps it");
}

#[test]
fn tools_are_bounded_over_all_servers() {
    let mut stats = Stats::default();
    for i in 0..2 * MAX_TOOLS {
        stats.note(&call("a", if i % 2 == 0 { "even" } else { "odd" }, &i.to_string()));
    }
    for _ in 0..5 {
        stats.note(&call("a", "late", OTHERS));
        stats.note(&call("a", "late", "tool"));
    }
    let others: Vec<_> = stats.tools().filter(|(_, tool, _)| *tool == OTHERS).collect();
    let others: Vec<_> = others.iter().map(|(server, _, counters)| (*server, counters.calls)).collect();
    assert_eq!(others, [("even", 5000), ("late", 10), ("odd", 5000)]);
    assert_eq!(stats.tools().count(), MAX_TOOLS + 3);
}

#[test]
fn counters_stay_at_their_most() {
    let mut stats = Stats::default();
    for _ in 0..2 {
        let most = u64::MAX;
        let call = call("a", "time", "now");
        stats.note(&FinishedCall {
            bytes_in: most,
            bytes_out: most,
            duration_us: most,
            queued_us: most,
            ..call
        });
    }
    let total = stats.total();
    let sums =
        [total.bytes_in, total.bytes_out, total.duration.sum(), total.queued.sum(), total.duration.max()];
    assert_eq!((total.calls, sums), (2, [u64::MAX; 5]));
}

/// What can be added up.
fn sums<'a>(
    all: impl Iterator<Item = &'a Counters>,
) -> (u64, u64, u64, u64, u64, u64, BTreeMap<&'static str, u64>) {
    all.fold(Default::default(), |mut sums, one| {
        sums.0 += one.calls;
        sums.1 += one.failures;
        sums.2 += one.bytes_in;
        sums.3 += one.bytes_out;
        sums.4 += one.duration.sum();
        sums.5 += one.queued.sum();
        for (code, count) in &one.codes {
            *sums.6.entry(code).or_default() += count;
        }
        sums
    })
}

proptest! {
    #[test]
    fn the_total_is_the_sum_over_origins_servers_and_tools(
        calls in prop::collection::vec(
            ((0u8..4, 0u8..4, 0u8..4), 0usize..4, prop::array::uniform4(0u64..1 << 40)), 0..200),
    ) {
        let mut stats = Stats::default();
        for ((origin, server, tool), code, [duration_us, queued_us, bytes_in, bytes_out]) in calls {
            let code = [None, None, Some("ERR_TIMEOUT"), Some("ERR_TOOL_FAILED")][code];
            let names = [origin, server, tool].map(|name| name.to_string());
            stats.note(&FinishedCall {
                origin: &names[0], server: &names[1], tool: &names[2],
                code, tool_error: false, duration_us, queued_us, bytes_in, bytes_out,
            });
        }
        let total = sums(std::iter::once(stats.total()));
        prop_assert_eq!(&sums(stats.origins().map(|(_, one)| one)), &total);
        prop_assert_eq!(&sums(stats.servers().map(|(_, one)| one)), &total);
        prop_assert_eq!(&sums(stats.tools().map(|(_, _, one)| one)), &total);
    }
}
