//! `harbor mcp --code`: one script calls many tools, and each of its calls is a call of its client.

use harbor_tests::direct::Direct;
use harbor_tests::processes::wait_until;
use harbor_tests::{Bridge, Home, LIMIT};
use serde_json::{Value, json};

/// Three servers, and a client that may use them.
fn scene(home: &Home) -> Bridge {
    let bridge = Bridge::start(home);
    for (id, tools) in [
        (
            "hello",
            "greet: { description: 'Greets somebody', input: { properties: { name: { type: 'string' } }, required: ['name'] }, run: ({ name }) => `Hello, ${name}!` }",
        ),
        (
            "time",
            "now: { description: 'Says what time it is', output: { type: 'object', properties: { hour: { type: 'number' } } }, run: () => ({ hour: 7 }) }",
        ),
        (
            "memory",
            "add: { description: 'Keeps a text', input: { properties: { text: { type: 'string' } } }, run: ({ text }) => `kept ${text}` }, fail: { run: () => { throw new Error('not today') } }",
        ),
    ] {
        let file = home.scratch(&format!("{id}.js"));
        std::fs::write(
            &file,
            format!("import {{ serve }} from 'harbor:mcp'; serve({{ name: '{id}', tools: {{ {tools} }} }});"),
        )
        .unwrap();
        let _ = home.done(&["add", id, "--js", file.to_str().unwrap()]);
    }
    let tools = ["--tool", "hello/*", "--tool", "memory/*", "--tool", "time/*"];
    let _ = home.done(&[&["grant", "client://coder", "mcp:tools.call", "--always"], &tools[..]].concat());
    let _ = home.done(&["grant", "client://coder", "mcp:tools.list", "--always"]);
    bridge
}

fn coder(home: &Home, more: &[&str]) -> Direct {
    let args = [&["mcp", "--client", "coder"], more].concat();
    Direct::start(home.command("harbor").args(args)).initialized()
}

/// What a script comes to: its text, and whether it failed.
fn run(client: &mut Direct, script: &str) -> (String, bool) {
    let answer = client.ask("tools/call", &json!({"name": "run_script", "arguments": {"script": script}}));
    let result = &answer["result"];
    let texts = result["content"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let text = texts.map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("|");
    (text, result["isError"] == true)
}

/// About so many tokens are these.
fn tokens(said: &[&Value]) -> usize {
    said.iter().map(|one| one.to_string().len()).sum::<usize>() / 4
}

#[test]
fn a_script_over_three_servers_answers_in_one_call_of_which_each_inner_one_is_in_the_log() {
    let home = Home::new();
    let _bridge = scene(&home);
    let mut client = coder(&home, &["--code"]);
    let listed = client.ask("tools/list", &json!({}));
    assert!(listed.to_string().len() < 10_000);
    let found =
        client.ask("tools/call", &json!({"name": "search_tools", "arguments": {"query": "time greet keep"}}));
    let declared = found["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    for part in [
        "tools.hello.greet(args: { name: string }): Promise<any>",
        "tools.time.now(): Promise<{ hour?: number }>",
    ] {
        assert!(declared.contains(part), "{declared}");
    }
    let script = "const { hour } = await tools.time.now();
        const all = await Promise.all(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'].map((name) => tools.hello.greet({ name })));
        for (const text of all) await tools.memory.add({ text });
        return `${all.length} at ${hour}`;";
    let arguments = json!({"name": "run_script", "arguments": {"script": script}});
    let answer = client.ask("tools/call", &arguments);
    assert_eq!(answer["result"]["content"][0]["text"], "8 at 7", "{answer}");
    let in_a_script = tokens(&[&listed, &found, &arguments, &answer]);

    // The same by single calls.
    let mut single = coder(&home, &[]);
    let mut said = vec![single.ask("tools/list", &json!({}))];
    let mut call = |name: &str, arguments: Value| {
        let call = json!({"name": name, "arguments": arguments});
        let answer = single.ask("tools/call", &call);
        assert!(answer["result"]["isError"] != true, "{answer}");
        said.extend([call, answer]);
    };
    call("time__now", json!({}));
    for name in ["A", "B", "C", "D", "E", "F", "G", "H"] {
        call("hello__greet", json!({"name": name}));
        call("memory__add", json!({"text": format!("Hello, {name}!")}));
    }
    // A model reads all that was said before with each of its answers.
    let again: usize =
        (1..=said.len()).step_by(2).map(|upto| tokens(&said[..upto].iter().collect::<Vec<_>>())).sum();
    assert!(in_a_script * 4 * 3 <= again, "a script: {in_a_script} in four answers, single calls: {again}");

    let log = home.done(&["activity", "--limit", "200"]);
    let calls = |tool: &str| log.lines().filter(|line| line.contains("coder") && line.contains(tool)).count();
    assert_eq!((calls("hello/greet"), calls("memory/add"), calls("time/now")), (16, 16, 2), "{log}");
}

#[test]
fn a_script_can_do_what_its_client_may_and_ends_within_its_limits() {
    let home = Home::new();
    let _bridge = scene(&home);
    let mut client = coder(&home, &["--code"]);
    let is = |client: &mut Direct, script: &str, text: &str| {
        let (said, failed) = run(client, script);
        assert!(said.contains(text), "{script}: {said}");
        failed
    };
    assert!(is(&mut client, "return await tools.memory.fail()", "Error: not today (code.js:1)"));
    assert!(is(&mut client, "let x = ;", "SyntaxError"));
    assert!(is(&mut client, "const all = []; for (;;) all.push(new Array(1000).fill(0));", "memory"));
    assert!(is(&mut client, "return 'x'.repeat(2 ** 21)", "return less"));
    assert!(is(&mut client, "const a = {}; a.a = a; return a", "circular reference"));
    assert!(!is(
        &mut client,
        "console.log('seen', { a: 1 }); JSON.parse = Promise = null; return 7",
        "seen {\"a\":1}\n|7"
    ));
    assert!(!is(
        &mut client,
        "return typeof fetch + typeof process.env.HOME + typeof require",
        "undefinedundefinedundefined"
    ));
    let forty = "return (await Promise.all(Array.from({ length: 40 }, () => tools.time.now()))).length";
    assert!(!is(&mut client, forty, "40"));
    let many = "const all = await Promise.allSettled(Array.from({ length: 10000 }, () => tools.time.now()));
        return `${all.filter(({ status }) => status === 'fulfilled').length}: ${all[9999].reason.message}`";
    assert!(!is(&mut client, many, "64: a script makes at most 64 calls"));
    // Whatever name it writes, it is its client's call.
    let forged = "MCP.writeLine(JSON.stringify({ jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'time/now', origin: 'client://other', _meta: { origin: 'owner' } } }));
        return await tools.time.now()";
    assert!(!is(&mut client, forged, "{\"hour\":7}"));
    let log = home.done(&["activity", "--json", "--limit", "500"]);
    assert!(!log.contains("client://other"), "{log}");

    let _ = home.done(&["revoke", "client://coder", "mcp:tools.call"]);
    let (said, failed) = run(&mut client, "return await tools.time.now()");
    assert!(failed && said.contains("mcp:tools.call"), "{said}");

    let _ = home.done(&["grant", "client://coder", "mcp:tools.call", "--always", "--tool", "*"]);
    let mut few = coder(&home, &["--code", "--only", "hello/*"]);
    assert!(!is(&mut few, "return await tools.hello.greet({ name: 'you' })", "Hello, you!"));
    assert!(is(&mut few, "return await tools.time.now()", "not among the tools"));

    // One that goes on for ever ends with its request, and its process too.
    let id = few.send_request("tools/call", &json!({"name": "run_script", "arguments": {"script": "for (;;) await tools.hello.greet({ name: 'again' });"}}));
    wait_until("the script to call", LIMIT, || home.done(&["activity"]).matches("hello/greet").count() > 1);
    few.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            .to_string(),
    );
    assert!(!is(&mut few, "return 1", "1"));
    wait_until("its process to be gone", LIMIT, || {
        !std::fs::read_dir(home.path().join("scripts")).is_ok_and(|all| all.count() > 0)
    });
}
