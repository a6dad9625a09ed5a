//! Runs: the budget of an agent, which calls it counts, and whose it is.

use std::collections::HashSet;

use harbor_tests::random::Random;
use harbor_tests::{Asker, Client, Double, ErrorValue, Home, LIMIT, PROMPT, Pending, wait_until};
use serde_json::{Value, json};

use super::{FOR_EVER, PAGE, cancel, hold, scene, under_way, waiting};

fn in_run(page: &Asker, run: &str, tool: &str, args: &Value) -> Result<(), String> {
    page.call_with(tool, args, &json!({"run_id": run})).map(drop).map_err(|error| error.code)
}

#[test]
fn a_run_makes_its_calls_and_no_more() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (_bridge, page) = scene(&home, "", &double);
    let begun = page.ask("host_create_run", &json!({})).unwrap();
    assert_eq!((&begun["max_calls"], &begun["remaining"]), (&json!(5), &json!(5)), "limits.maxCallsPerRun");
    let run = begun["run_id"].as_str().unwrap();
    for left in (0..5).rev() {
        in_run(&page, run, "s/echo", &json!({})).unwrap();
        let now = page.ask("host_get_run", &json!({"run_id": run})).unwrap();
        assert_eq!((&now["max_calls"], &now["remaining"]), (&json!(5), &json!(left)));
        assert!(now["created_at"].as_u64().unwrap() > 1_600_000_000_000, "{}", now.text);
    }
    for _ in 0..2 {
        assert_eq!(in_run(&page, run, "s/echo", &json!({})), Err("ERR_BUDGET_EXCEEDED".into()));
    }
    assert_eq!((double.journal().count("call"), page.remaining(run)), (5, 0));
    let end = page.ask("host_end_run", &json!({"run_id": run})).unwrap();
    assert_eq!((&end["run_id"], &end["max_calls"], &end["remaining"]), (&json!(run), &json!(5), &json!(0)));
    for tag in ["host_end_run", "host_get_run"] {
        assert_eq!(page.ask(tag, &json!({"run_id": run})).unwrap_err().code, "not_found", "{tag}");
    }
    assert_eq!(in_run(&page, run, "s/echo", &json!({})), Err("not_found".into()));
}

#[test]
fn a_run_is_for_those_who_may_call() {
    let home = Home::new();
    let (bridge, _) = scene(&home, "", &Double::sound(&home));
    let stranger = bridge.asking("https://stranger.example");
    assert_eq!(stranger.ask("host_create_run", &json!({})).unwrap_err().code, "ERR_SCOPE_REQUIRED");
}

#[test]
fn a_run_is_as_long_as_the_limits_allow() {
    let home = Home::new();
    let config =
        "[limits]\nmaxCallsPerRun = 3\n[limits.origin.\"https://wide.example\"]\nmaxCallsPerRun = 10\n";
    let (bridge, page) = scene(&home, config, &Double::sound(&home));
    let wide = bridge.asking("https://wide.example").allowed();
    for (who, most) in [(&page, 3), (&wide, 10)] {
        assert_eq!(who.ask("host_create_run", &json!({})).unwrap()["max_calls"], most);
        assert_eq!(who.ask("host_create_run", &json!({"max_calls": most})).unwrap()["remaining"], most);
        for wrong in [0, most + 1] {
            let error = who.ask("host_create_run", &json!({"max_calls": wrong})).unwrap_err();
            let said = (error.code.as_str(), &error.details["field"]);
            assert_eq!(said, ("invalid_params", &json!("max_calls")), "{wrong}");
        }
    }
}

#[test]
fn a_server_can_have_a_smaller_share_of_each_run() {
    let home = Home::new();
    let (bridge, page) = scene(&home, "[limits.server.s]\nmaxCallsPerRun = 1\n", &Double::sound(&home));
    bridge.add_and_connect("t", &Double::sound(&home));
    let run = page.run(4);
    in_run(&page, &run, "s/echo", &json!({})).unwrap();
    assert_eq!(in_run(&page, &run, "s/echo", &json!({})), Err("ERR_BUDGET_EXCEEDED".into()));
    in_run(&page, &run, "t/echo", &json!({})).unwrap();
    assert_eq!(page.remaining(&run), 2);
    in_run(&page, &page.run(4), "s/echo", &json!({})).unwrap();
}

#[test]
fn calls_that_were_not_sent_are_given_back() {
    let home = Home::new();
    let double = Double::sound(&home).quick_restarts();
    let config = "[limits]\nmaxConcurrentPerOrigin = 1\nqueueLength = 1\nqueueWaitMs = 100\n";
    let (bridge, page) = scene(&home, config, &double);
    bridge.add("off", &Double::sound(&home).manual());
    let strict = r#"[{"name": "t", "inputSchema": {"type": "object", "required": ["n"]}}]"#;
    bridge.add_and_connect("strict", &Double::sound(&home).offering(strict));
    let run = page.run(5);
    let not_sent = [
        ("strict/t", "invalid_params"),
        ("off/echo", "ERR_SERVER_UNAVAILABLE"),
        ("s/nothing", "ERR_TOOL_NOT_FOUND"),
        ("nobody/nothing", "ERR_TOOL_NOT_FOUND"),
    ];
    for (tool, code) in not_sent {
        assert_eq!(in_run(&page, &run, tool, &json!({})), Err(code.into()), "{tool}");
        assert_eq!(page.remaining(&run), 5, "{tool}");
    }
    let held = hold(&page, &double);
    assert_eq!(in_run(&page, &run, "s/echo", &json!({})), Err("ERR_RATE_LIMITED".into()));
    assert_eq!(page.remaining(&run), 5, "a call that waited in vain");
    cancel(&bridge, &held);

    // What the server has seen counts, whatever became of it.
    let sent = [("s/echo", Ok(())), ("s/tool_error", Ok(())), ("s/fail", Err("ERR_TOOL_FAILED".to_owned()))];
    for (left, (tool, end)) in [4, 3, 2].into_iter().zip(sent) {
        assert_eq!(in_run(&page, &run, tool, &json!({})), end, "{tool}");
        assert_eq!(page.remaining(&run), left, "{tool}");
    }
    let fields = json!({"run_id": run, "timeout_ms": 100});
    let late = page.call_with("s/sleep", &json!({"ms": FOR_EVER}), &fields);
    assert_eq!((late.unwrap_err().code.as_str(), page.remaining(&run)), ("ERR_TOOL_TIMEOUT", 1));
    assert_eq!(in_run(&page, &run, "s/die", &json!({})), Err("ERR_SERVER_UNAVAILABLE".into()));
    assert_eq!(page.remaining(&run), 0);
}

#[test]
fn a_call_under_way_is_counted_and_one_that_waits_too() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "[limits]\nmaxConcurrentPerOrigin = 1\n", &double);
    let run = json!({"run_id": page.run(2)});
    let id = run["run_id"].as_str().unwrap();
    let held = page.send_call_with("s/sleep", &json!({"ms": FOR_EVER}), &run);
    let _ = double.journal().wait_for("call sleep");
    let waits = page.send_call_with("s/echo", &json!({}), &run);
    wait_until("the call to wait", LIMIT, || waiting(&page) == 1);
    assert_eq!(page.remaining(id), 0);
    assert_eq!(in_run(&page, id, "s/echo", &json!({})), Err("ERR_BUDGET_EXCEEDED".into()), "at once");
    cancel(&bridge, &waits);
    wait_until("it to be given back", PROMPT, || page.remaining(id) == 1);
    cancel(&bridge, &held);
    wait_until("its end", PROMPT, || under_way(&page) == 0);
    assert_eq!(page.remaining(id), 1, "the server has seen it");
}

/// The error for a run that is somebody else's, and for one that never was, without its id.
fn refusals(page: &Asker, run: &str) -> Vec<Value> {
    let without_id = |error: ErrorValue| {
        assert_eq!(error.details["run_id"], run);
        json!([error.code, error.message, error.details.as_object().unwrap().len()])
    };
    let fields = json!({"run_id": run});
    ["host_get_run", "host_end_run"]
        .iter()
        .map(|tag| page.ask(tag, &fields).unwrap_err())
        .chain(page.call_with("s/echo", &json!({}), &fields).err())
        .map(without_id)
        .collect()
}

#[test]
fn a_run_of_somebody_else_looks_like_none() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "", &double);
    let run = page.run(3);
    let client = Client::attach(&home);
    let foreign = [
        bridge.asking("https://other.example").allowed(),
        page.in_profile("work").allowed(),
        page.over(&client),
    ];
    for other in &foreign {
        let none = "0".repeat(run.len());
        let answers = refusals(other, &run);
        assert!(answers.len() == 3 && answers.iter().all(|answer| answer[0] == "not_found"), "{answers:?}");
        assert_eq!(answers, refusals(other, &none));
    }
    assert_eq!((page.remaining(&run), double.journal().count("call")), (3, 0));
    assert_eq!(page.in_tab(4).remaining(&run), 3, "a tab is no owner of its own");
}

#[test]
fn runs_end_with_their_client() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "", &double);
    let runs = || bridge.call("host_get_stats", &json!({})).unwrap()["stats"]["runs"].as_u64().unwrap();
    let own = page.run(2);
    let client = Client::attach(&home);
    let run = page.over(&client).run(5);
    let _open =
        page.over(&client).send_call_with("s/sleep", &json!({"ms": FOR_EVER}), &json!({"run_id": run}));
    let _ = double.journal().wait_for("call sleep");
    assert_eq!(runs(), 2);
    client.close();
    wait_until("its run to end", PROMPT, || runs() == 1);
    wait_until("its call to end", PROMPT, || under_way(&page) == 0);
    assert_eq!(page.ask("host_get_run", &json!({"run_id": run})).unwrap_err().code, "not_found");
    assert_eq!(page.remaining(&own), 2);
}

#[test]
fn a_run_that_ends_lets_its_calls_end_by_themselves() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (_bridge, page) = scene(&home, "", &double);
    let run = page.run(2);
    let open = page.send_call_with("s/sleep", &json!({"ms": 500}), &json!({"run_id": run}));
    let _ = double.journal().wait_for("call sleep");
    let end = page.ask("host_end_run", &json!({"run_id": run})).unwrap();
    assert_eq!(end["remaining"], 1);
    let other = page.run(2);
    assert_eq!(open.wait(LIMIT).unwrap().content_text(), "slept");
    assert_eq!(page.remaining(&other), 2, "another run has nothing to do with it");
}

/// What a round leaves behind.
struct Calm {
    /// The run, unless it was ended.
    run: Option<String>,
    budget: u64,
    /// Calls whose caller left before it was said that their arguments are wrong: they count as made, although the
    /// server has not seen them.
    uncertain: u64,
}

/// One round: a run, calls of every kind, cancels in between, and perhaps an end.
fn storm(page: &Asker, client: &Client, server: &str, dice: &mut Random) -> Calm {
    let budget = 1 + dice.below(6);
    let run = page.run(u32::try_from(budget).unwrap());
    let fields = json!({"run_id": run});
    let (mut open, mut cancels) = (Vec::<Pending>::new(), Vec::new());
    let (mut strict, mut uncertain) = (HashSet::new(), 0);
    let ends_at = dice.below(30);
    for step in 0..1 + dice.below(10) {
        let (tool, args) = match dice.below(6) {
            0 => ("nothing", json!({})),
            1 => ("fail", json!({})),
            2 => ("strict", json!({"n": "no number"})),
            3 => ("sleep", json!({"ms": dice.below(4)})),
            _ => ("echo", json!({"n": step})),
        };
        if tool == "strict" {
            strict.insert(open.len());
        }
        open.push(page.send_call_with(&format!("{server}/{tool}"), &args, &fields));
        if dice.below(3) == 0 {
            let target = &open[usize::try_from(dice.below(open.len() as u64)).unwrap()];
            cancels.push(client.request("cancel", &json!({"target": target.id})));
        }
        if step == ends_at {
            page.ask("host_end_run", &fields).unwrap();
        }
    }
    for (at, call) in open.iter().enumerate() {
        if let Err(error) = call.wait(LIMIT) {
            let expected = [
                "cancelled",
                "not_found",
                "invalid_params",
                "ERR_TOOL_NOT_FOUND",
                "ERR_TOOL_FAILED",
                "ERR_RATE_LIMITED",
                "ERR_BUDGET_EXCEEDED",
            ];
            assert!(expected.contains(&error.code.as_str()), "{error:?}");
            uncertain += u64::from(error.code == "cancelled" && strict.contains(&at));
        }
    }
    cancels.iter().for_each(|cancel| assert!(cancel.wait(LIMIT).is_ok()));
    let ended = page.ask("host_get_run", &fields).is_err();
    Calm { run: (!ended).then_some(run), budget, uncertain }
}

/// The server's journal says how many calls were made; nothing else may be missing from a budget.
#[test]
fn whatever_happens_what_remains_and_what_was_sent_are_the_budget() {
    let home = Home::new();
    let tools = r#"[{"name": "echo"}, {"name": "fail"}, {"name": "sleep"},
        {"name": "strict", "inputSchema": {"properties": {"n": {"type": "integer"}}}}]"#;
    let config = "[limits]\nmaxCallsPerRun = 6\nmaxConcurrentPerOrigin = 3\nqueueLength = 2\n\
                  callsPerMinutePerOrigin = 0\n";
    let (bridge, page) = scene(&home, config, &Double::sound(&home));
    let seed = u64::from(std::process::id());
    let mut dice = Random::new(seed);
    for group in 0..10 {
        // A journal of its own, so that reading it stays quick.
        let (server, double) = (format!("s{group}"), Double::sound(&home).offering(tools));
        bridge.add_and_connect(&server, &double);
        for round in 0..100 {
            let place = format!("group {group}, round {round}, seed {seed}");
            let before = double.journal().count("call");
            let Calm { run, budget, uncertain } = storm(&page, &bridge, &server, &mut dice);
            wait_until(&place, PROMPT, || (under_way(&page), waiting(&page)) == (0, 0));
            // The server takes its calls in order: with this one it has all of them.
            bridge.tool(&server, "echo", &json!({})).unwrap();
            if let Some(run) = run {
                let left = page.remaining(&run);
                let sent = (double.journal().count("call") - before - 1) as u64;
                let made = left + sent..=left + sent + uncertain;
                assert!(made.contains(&budget), "{place}: {left} left, {sent} sent, of {budget}");
                page.ask("host_end_run", &json!({"run_id": run})).unwrap();
            }
        }
        bridge.call("remove_server", &json!({"server_id": server})).unwrap();
    }
    let stats = bridge.call("host_get_stats", &json!({})).unwrap();
    assert_eq!(stats["stats"]["runs"], 0);
    assert_eq!(bridge.asking(PAGE).stats()["underWay"], 0);
}
