//! What a script has, and what it does not have.

use serde_json::json;

use super::{run, run_with, value};

#[test]
fn lines_are_read_and_written_until_the_input_ends() {
    let script =
        "for (let line; (line = await MCP.readLine()) !== null; ) MCP.writeLine(line.toUpperCase());";
    let ran = run_with(&[], script, "eins\r\nzwei ä€😀\n\nrest".as_bytes());
    assert_eq!((ran.code, ran.lines), (Some(0), vec!["EINS".into(), "ZWEI Ä€😀".into(), String::new()]));
    let several = "const [a, b] = await Promise.all([MCP.readLine(), MCP.readLine()]); MCP.writeLine(b + a);";
    assert_eq!(run_with(&[], several, b"1\n2\n").line(), "21");
}

#[test]
fn a_line_that_is_none_is_an_error_and_the_next_one_comes() {
    let script = "try { await MCP.readLine(); } catch (error) { MCP.writeLine(`${error}`); }
        MCP.writeLine(await MCP.readLine());";
    assert_eq!(run_with(&[], script, b"\xff\nnext\n").lines, ["TypeError: the line is not UTF-8", "next"]);
    let long = [&vec![b'x'; 17 << 20][..], b"\nnext\n"].concat();
    assert_eq!(run_with(&[], script, &long).lines, ["TypeError: the line is longer than 16 MiB", "next"]);
    let script = "for (const wrong of ['a\\nb', 'a\\r', {}, 'x'.repeat(17 << 20)]) {
        try { MCP.writeLine(wrong); } catch (error) { console.log(error.name, error.message); } }";
    let log = run(script).log;
    let names: Vec<_> = log.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["RangeError", "RangeError", "TypeError", "RangeError"], "{log}");
}

#[test]
fn what_could_load_code_or_connect_does_not_exist() {
    let gone =
        "['require', 'XMLHttpRequest', 'WebSocket', 'importScripts', 'fetch', 'eval', 'Deno', 'std', 'os']
        .filter((name) => name in globalThis)";
    assert_eq!(value(gone), json!([]));
    let made = "{
        const said = [];
        const kinds = [function () {}, async function () {}, function* () {}, async function* () {}];
        for (const kind of kinds) {
            try { said.push(kind.constructor('return 1')); } catch (error) { said.push(error.name); }
            try { said.push(Reflect.construct(kind.constructor, ['return 1'])); } catch (error) { said.push(error.name); }
        }
        try { said.push(new Function('return 1')); } catch (error) { said.push(error.name); }
        try { said.push((0, globalThis.eval)('1')); } catch (error) { said.push(error.name); }
        return said;
    }";
    assert_eq!(value(made), json!(vec!["TypeError"; 10]));
    assert_eq!(value("(() => {}) instanceof Function && typeof Function.prototype.call"), json!("function"));
    for module in ["fs", "./other.js", "https://example.com/x.js", "node:fs", "std"] {
        let said = value(&format!("import('{module}').catch((error) => error.message)"));
        assert!(said.as_str().unwrap().contains("import() does not exist here"), "{said}");
        let ran = run(&format!("import '{module}'; MCP.writeLine('no');"));
        assert_eq!((ran.code, ran.lines.len()), (Some(1), 0));
        assert!(ran.log.contains("only harbor:mcp can be imported"), "{}", ran.log);
    }
    assert!(
        value("import('harbor:mcp').catch((error) => error.message)").as_str().unwrap().contains("import()")
    );
}

#[test]
fn the_environment_is_a_frozen_object() {
    assert_eq!(value("process.env"), json!({"KEY": "välue"}));
    let frozen = "{ 'use strict'; try { process.env.KEY = 'x'; } catch (error) { return [error.name, process.env.KEY]; } }";
    assert_eq!(value(frozen), json!(["TypeError", "välue"]));
}

#[test]
fn timers_fire_in_their_order_and_a_thousand_are_all() {
    let order = "new Promise((done) => {
        const said = [];
        const gone = setTimeout(() => said.push('gone'), 1);
        setTimeout(() => { said.push('late'); done(said); }, 30);
        setTimeout((a, b) => said.push(a + b), 5, 'ear', 'ly');
        const again = setInterval(() => { said.push('again'); clearInterval(again); }, 1);
        clearTimeout(gone);
        queueMicrotask(() => said.push('micro'));
        said.push('now');
    })";
    assert_eq!(value(order), json!(["now", "micro", "again", "early", "late"]));
    let many = "{
        for (let at = 0; at < 1000; at++) setTimeout(() => {}, 0);
        try { setTimeout(() => {}, 0); } catch (error) { return error.message; }
    }";
    assert!(value(many).as_str().unwrap().contains("1000 timers"));
    let more = "new Promise((done) => { let left = 5000; const next = () => (--left ? setTimeout(next) : done('all')); next(); })";
    assert_eq!(value(more), json!("all"));
}

#[test]
fn timers_that_are_always_due_keep_no_line_waiting() {
    let script = "const busy = setInterval(() => { for (let i = 0; i < 1e5; i++); }, 0);
        MCP.writeLine(await MCP.readLine()); clearInterval(busy);";
    assert_eq!(run_with(&[], script, b"soon\n").line(), "soon");
}

#[test]
fn the_log_has_what_is_said_and_nothing_else() {
    let script = r#"console.log("plain", 1, null, { a: [1n] }); console.warn("careful"); console.error(new TypeError("no"));
        const round = {}; round.round = round; console.info(round); console.debug(undefined, Symbol("s"));"#;
    let ran = run(script);
    assert_eq!((ran.code, ran.lines.len()), (Some(0), 0));
    let log = ran.log;
    assert!(
        log.starts_with("plain 1 null {\"a\":[\"1n\"]}\nwarning: careful\nerror: TypeError: no\n"),
        "{log}"
    );
    assert!(log.contains("server.js:1") && log.contains("[an object that JSON cannot show]"), "{log}");
    assert!(log.ends_with("debug: undefined Symbol(s)\n"), "{log}");
}

#[test]
fn texts_become_bytes_and_back_as_the_standard_says() {
    assert_eq!(
        value("[...new TextEncoder().encode('aä€😀\\ud800')]"),
        json!([97, 195, 164, 226, 130, 172, 240, 159, 152, 128, 239, 191, 189])
    );
    assert_eq!(
        value("new TextEncoder().encodeInto('aä€', new Uint8Array(4))"),
        json!({"read": 2, "written": 3})
    );
    for (bytes, text) in [
        ("239, 187, 191, 97", "a"),
        ("97, 195, 164, 226, 130, 172, 240, 159, 152, 128", "aä€😀"),
        ("255, 97, 226, 130, 98, 192, 128", "\u{fffd}a\u{fffd}b\u{fffd}\u{fffd}"),
        ("237, 160, 128", "\u{fffd}\u{fffd}\u{fffd}"),
        ("240, 159, 152", "\u{fffd}"),
    ] {
        assert_eq!(
            value(&format!("new TextDecoder().decode(new Uint8Array([{bytes}]))")),
            json!(text),
            "{bytes}"
        );
    }
    let stream = "{ const decoder = new TextDecoder(); let text = '';
        for (const byte of new TextEncoder().encode('ä€😀')) text += decoder.decode(new Uint8Array([byte]), { stream: true });
        return text + decoder.decode(); }";
    assert_eq!(value(stream), json!("ä€😀"));
    let fatal = "{ try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])); } catch (error) { return error.name; } }";
    assert_eq!(value(fatal), json!("TypeError"));
    let long = "new TextDecoder().decode(new TextEncoder().encode('xä'.repeat(1e5))).length";
    assert_eq!(value(long), json!(200_000));
}

#[test]
fn addresses_are_read_changed_and_written() {
    let read = "{ const url = new URL('../b?x=1&y=%20#z', 'https://user:pw@example.com:8443/a/c'); return [url.href, url.origin, url.host, url.port, url.pathname, url.search, url.hash, url.searchParams.get('y')]; }";
    assert_eq!(
        value(read),
        json!([
            "https://user:pw@example.com:8443/b?x=1&y=%20#z",
            "https://example.com:8443",
            "example.com:8443",
            "8443",
            "/b",
            "?x=1&y=%20",
            "#z",
            " "
        ])
    );
    let change = "{ const url = new URL('http://a.example/'); url.searchParams.append('q', 'ä b'); url.hash = 'x'; url.protocol = 'https'; url.port = 'no'; return `${url}`; }";
    assert_eq!(value(change), json!("https://a.example/?q=%C3%A4+b#x"));
    assert_eq!(
        value("[URL.canParse('x'), URL.canParse('/x', 'http://a'), URL.parse('x')]"),
        json!([false, true, null])
    );
    let form = "{ const form = new URLSearchParams('?b=2&a=1&b=3'); form.set('b', '4'); form.sort(); form.delete('c'); return [`${form}`, form.size, [...form], form.has('a', '2'), `${new URLSearchParams({ k: 'v w' })}`]; }";
    assert_eq!(value(form), json!(["a=1&b=4", 2, [["a", "1"], ["b", "4"]], false, "k=v+w"]));
}

#[test]
fn random_numbers_clones_and_signals() {
    let random = "{ const bytes = crypto.getRandomValues(new Uint16Array(64)); return [new Set(bytes).size > 8, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())]; }";
    assert_eq!(value(random), json!([true, true]));
    let wrong = "[new Float32Array(1), [], new Uint8Array(65537)].map((view) => { try { crypto.getRandomValues(view); } catch (error) { return error.name; } })";
    assert_eq!(value(wrong), json!(["TypeError", "TypeError", "RangeError"]));
    let clone = "{ const one = { list: [1, new Date(0)], map: new Map([[{}, new Set([1])]]), bytes: new Uint8Array([1, 2]) }; one.own = one; const two = structuredClone(one); two.list[0] = 9; return [one.list[0], two.own === two, two.list[1].getTime(), two.map.size, [...two.bytes], two.bytes.buffer !== one.bytes.buffer]; }";
    assert_eq!(value(clone), json!([1, true, 0, 1, [1, 2], true]));
    assert_eq!(
        value("{ try { structuredClone({ a() {} }); } catch (error) { return error.name; } }"),
        json!("DataCloneError")
    );
    let abort = "{ const controller = new AbortController(); const said = []; controller.signal.addEventListener('abort', (event) => said.push(event.type)); controller.abort(); controller.abort(); said.push(controller.signal.reason.name, AbortSignal.any([controller.signal]).aborted); return said; }";
    assert_eq!(value(abort), json!(["abort", "AbortError", true]));
    let timeout = "new Promise((done) => { AbortSignal.timeout(5).onabort = (event) => done(event.target.reason.name); })";
    assert_eq!(value(timeout), json!("TimeoutError"));
}
