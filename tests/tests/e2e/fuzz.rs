//! Every fuzz target, one test each: its corpus, then `HARBOR_FUZZ_SECONDS` of mutation (a quarter when unset).
//!
//! Must never hold what a parser has to do; `harbor_tests::fuzz` does.

use std::fs;
use std::path::Path;
use std::time::Duration;

use harbor_tests::fuzz::{Plan, TARGETS, Target, drive, mutate, target};

macro_rules! targets {
    ($($(#[$attribute:meta])* $name:ident,)*) => {
        $($(#[$attribute])* #[test] fn $name() { run(stringify!($name)) })*
        const DRIVEN: &[&str] = &[$(stringify!($name)),*];
    };
}

targets! {
    frames,
    envelope,
    addressee,
    contained,
    fields,
    link_to_runner,
    link_from_runner,
    link_worker,
    link_model,
    server_id,
    extension_id,
    lines,
    events,
    model_stream,
    challenge,
    oauth_documents,
    redirect,
    message,
    line_ends,
    contact,
    pages,
    passed_on,
    rounds,
    write_requests,
    write_answers,
    supervision,
    log_record,
    package,
    package_json,
    readme,
    image,
    archive,
    source,
    server_json,
    server_manifest,
    config,
    foreign,
    native_manifest,
    origin,
    tool_name,
    allowlist,
    consent,
    grant_row,
    definitions_journal,
    text_calls,
    tool,
    schema,
    host_rules,
    proxy_head,
    metrics_head,
    collector_answer,
    denied,
    sandbox_settings,
    lowered,
    secret_store,
    registry_page,
    awesome_list,
}

fn run(name: &str) {
    match drive(target(name), Plan::from_env()) {
        Ok(ran) => {
            let seconds = ran.took.as_secs_f64();
            println!("{name}: {} executions in {seconds:.1} s", ran.executions);
        }
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn every_target_is_driven_here_and_wrapped_for_cargo_fuzz() {
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(DRIVEN, names);
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for name in names {
        let source = fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).unwrap_or_default();
        assert!(source.contains(&format!("target(\"{name}\")")), "fuzz_targets/{name}.rs");
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name} in Cargo.toml");
    }
}

/// A driver that finds nothing would make every target pass.
#[test]
fn what_fails_is_found_and_shown_as_short_as_it_can_be() {
    let broken = Target {
        name: "broken",
        run: |bytes| assert!(!bytes.windows(2).any(|two| two == b"\"\n"), "a quote at the end of a line"),
        corpus: &[b"{\"a\":\"b\"}", b"[1]\n"],
    };
    let plan = Plan { time: Duration::from_secs(60), seed: 1 };
    let failure = drive(&broken, plan).unwrap_err();
    assert_eq!(failure.input, b"\"\n");
    let text = failure.to_string();
    for part in ["`broken`", "a quote at the end of a line", "HARBOR_FUZZ_SEED=", "b\"\\\"\\n\""] {
        assert!(text.contains(part), "{text}");
    }
    let again = drive(&broken, Plan { seed: failure.seed.unwrap(), ..plan }).unwrap_err();
    assert_eq!(again.seed, failure.seed);
}

#[test]
fn a_seed_always_makes_the_same_input() {
    let corpus: &[&[u8]] = &[b"{\"id\":7}", b"abc"];
    let inputs: Vec<_> = (0..1000).map(|seed| mutate(corpus, seed)).collect();
    assert_eq!(inputs, (0..1000).map(|seed| mutate(corpus, seed)).collect::<Vec<_>>());
    let mut different = inputs.clone();
    different.sort();
    different.dedup();
    assert!(different.len() > 700, "only {} of 1000 inputs differ", different.len());
}
