//! What a script tries against its process and finds nothing: the attacks of docs/attacks.md, as far as a script can say them.

use serde_json::json;

use super::{run, run_with, value};

#[test]
fn there_is_no_way_to_files_programs_or_memory() {
    let names = "[
        ...['process', 'MCP', 'crypto'].map((name) => Object.getOwnPropertyNames(globalThis[name]).sort().join()),
        ...['std', 'os', 'bjson', 'scriptArgs', 'print', 'load', 'Worker', 'navigator', 'WebAssembly', 'gc', 'require', 'module',
            'exports', '__filename', 'Bun', 'Deno', 'global', 'native'].filter((name) => name in globalThis),
    ]";
    assert_eq!(value(names), json!(["env", "readLine,writeLine", "getRandomValues,randomUUID"]));
    let keys = "Object.getOwnPropertyNames(import.meta).map((name) => `${name}=${import.meta[name]}`)";
    let ran = run(&format!("MCP.writeLine(JSON.stringify({keys}));"));
    assert!(ran.line() == "[]" || !ran.line().contains('/'), "{ran:?}");
}

#[test]
fn a_stack_gives_away_no_function_of_the_program() {
    let script = "const found = [];
        Error.prepareStackTrace = (_, sites) => {
            for (const site of sites ?? []) {
                for (const name of ['getFunction', 'getThis']) {
                    try { found.push(site[name]?.()); } catch {}
                }
            }
            return '';
        };
        const look = () => new Error('look').stack;
        const spy = { toString() { look(); return 'x'; }, valueOf() { look(); return 1; }, toJSON() { look(); return 1; } };
        const tries = [() => setTimeout(spy, spy), () => setTimeout(look, spy), () => console.log(spy), () => new URL(spy),
            () => new TextEncoder().encode(spy), () => crypto.getRandomValues(spy), () => structuredClone({ get a() { return look(); } })];
        for (const one of tries) { try { one(); } catch {} }
        setTimeout(() => {
            look();
            const able = found.filter((it) => it && (it.piece || it.write || it.arm || /native code/.test(`${it}`) && /^(write|arm|piece|want|log)$/.test(it.name)));
            MCP.writeLine(JSON.stringify(able.length));
        }, 20);";
    assert_eq!(run(script).line(), "0");
}

#[test]
fn prototypes_that_a_script_has_poisoned_hand_it_nothing() {
    let script = "const stolen = [];
        const names = ['then', 'get', 'set', 'callback', 'args', 'ms', 'repeats', 'resolve', 'reject', 'value', 'of', 'piece', 'write', '0', '1'];
        const { defineProperty, create } = Object;
        for (const name of names) {
            // Of no prototype, which would be poisoned already.
            const trap = create(null);
            trap.set = (it) => { stolen[stolen.length] = it; };
            trap.configurable = true;
            defineProperty(Object.prototype, name, trap);
        }
        Map.prototype.get = Map.prototype.set = Array.prototype.push = Array.prototype[Symbol.iterator] = undefined;
        Function.prototype.call = Function.prototype.apply = function () { stolen[stolen.length] = this; };
        await new Promise((done) => setTimeout(done, 1));
        MCP.writeLine(`${await MCP.readLine()} ${stolen.filter((it) => typeof it === 'function').length}`);";
    assert_eq!(run_with(&[], script, b"still here\n").line(), "still here 0");
}

#[test]
fn json_and_promise_may_be_anything_and_lines_still_come() {
    let script = "JSON.stringify = JSON.parse = () => { throw 1; };
        globalThis.JSON = globalThis.Map = globalThis.Array = null;
        Promise.prototype.then = Promise.prototype.catch = () => { throw 2; };
        Promise.resolve = Promise.reject = null;
        globalThis.Promise = function () { throw 3; };
        globalThis.String = globalThis.Error = globalThis.TypeError = globalThis.Uint8Array = null;
        for (let line; (line = await MCP.readLine()) !== null; ) MCP.writeLine(line);
        queueMicrotask(() => MCP.writeLine('micro'));
        setTimeout(() => MCP.writeLine('timer'), 1);";
    let ran = run_with(&[], script, b"a\nb\n");
    assert_eq!(
        (ran.code, ran.lines),
        (Some(0), ["a", "b", "micro", "timer"].map(String::from).to_vec()),
        "{}",
        ran.log
    );
}

#[test]
fn a_thread_that_waits_for_ever_is_ended() {
    let script = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
    let ran = run_with(&["--busy", "0.2"], script, b"");
    let is_refused = ran.code == Some(1) && ran.log.contains("TypeError");
    assert!(is_refused || ran.code == Some(124), "{ran:?}");
}

#[test]
fn what_is_no_unicode_leaves_as_unicode() {
    let script = "MCP.writeLine('a\\ud800b'); console.log('\\udfff'); MCP.writeLine(encodeURIComponent('ä'));
        try { encodeURIComponent('\\ud800'); } catch (error) { MCP.writeLine(error.name); }";
    let ran = run(script);
    assert_eq!(
        (ran.lines, ran.log.as_str()),
        (["a\u{fffd}b", "%C3%A4", "URIError"].map(String::from).to_vec(), "\u{fffd}\n")
    );
}

#[test]
fn what_is_endless_in_the_log_or_the_input_is_bounded() {
    let ran = run("console.log('x'.repeat(4 << 20)); MCP.writeLine('on');");
    assert_eq!((ran.line(), ran.log.len()), ("on", 64 * 1024 + 1));
    let readers = "let count = 0; for (let at = 0; at < 1e4; at++) MCP.readLine().then((line) => { count += line === null ? 0 : 1; if (line === 'last') MCP.writeLine(`${count}`); });";
    assert_eq!(run_with(&[], readers, "line\n".repeat(5000).as_bytes()).code, Some(0));
    assert_eq!(run_with(&[], readers, format!("{}last\n", "line\n".repeat(5000)).as_bytes()).line(), "5001");
}

#[test]
fn recursion_that_goes_through_the_engine_is_an_error_too() {
    for deep in [
        "const it = { get a() { return it.a; } }; it.a;",
        "const it = { toString: () => `${it}` }; `${it}`;",
        "const it = new Proxy({}, { get: (_, name, self) => self[name] }); it.a;",
        "const it = { toJSON: () => JSON.stringify(it) }; JSON.stringify(it);",
        "const sort = () => [1, 2].sort(sort); sort();",
        "const replace = () => 'a'.replace(/a/, replace); replace();",
        "class A { constructor() { new A(); } } new A();",
        "let it = {}; for (let at = 0; at < 1e5; at++) it = { it }; structuredClone(it);",
        "RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('');",
    ] {
        let ran = run(&format!(
            "try {{ {deep} MCP.writeLine('done'); }} catch (error) {{ MCP.writeLine(error?.name ?? 'none'); }}"
        ));
        assert!(["RangeError", "InternalError", "SyntaxError"].contains(&ran.line()), "{deep}: {ran:?}");
    }
}
