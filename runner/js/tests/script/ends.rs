//! How scripts end, and what they cannot do to their process.

use std::time::{Duration, Instant};

use super::{Ran, run, run_with};

/// An end with this code and these words in the log's last line.
#[track_caller]
fn ended(ran: &Ran, code: i32, words: &str) {
    let last = ran.log.lines().find(|line| line.starts_with("harbor-runner-js: ")).unwrap_or_default();
    assert!(ran.code == Some(code) && last.contains(words), "{ran:?}");
}

#[test]
fn an_endless_loop_is_ended_soon_after_its_limit() {
    for script in [
        "for (;;) {}",
        "for (;;) { try { for (;;); } catch {} finally { for (;;); } }",
        "const again = () => Promise.resolve().then(again); again();",
        "(async () => { for (;;) await null; })();",
        "setTimeout(() => { for (;;); }, 1);",
        "MCP.readLine().then(() => { for (;;); });",
        "/(a+)+$/.test('a'.repeat(64) + 'b');",
        "new Array(1e6).fill(0).sort(() => 1); for (;;);",
        // Each step takes long, and the engine asks after thousands of them.
        "const big = 'x'.repeat(1 << 20); for (;;) big.indexOf('y');",
        "for (;;) JSON.parse('[' + '1,'.repeat(1e5) + '1]');",
        "for (;;) 3n ** 100000n;",
    ] {
        let began = Instant::now();
        let ran = run_with(&["--busy", "0.5"], script, b"line\n");
        let took = began.elapsed();
        ended(&ran, 124, "computed for more than 0.5 s");
        // 100 ms are meant; a machine with much else to do needs more for the start of the program.
        assert!(took >= Duration::from_millis(500) && took < Duration::from_secs(1), "{script}: {took:?}");
    }
}

#[test]
fn a_step_of_the_engine_that_takes_for_ever_is_ended_as_well() {
    let began = Instant::now();
    let ran = run_with(&["--busy", "0.1", "--memory", "1024"], "let x = 3n ** 100000000n; x * x;", b"");
    ended(&ran, 124, "computed for more than 0.1 s");
    assert!(began.elapsed() < Duration::from_millis(600), "{:?}", began.elapsed());
}

#[test]
fn waiting_is_not_computing() {
    let script = "await new Promise((done) => setTimeout(done, 400)); MCP.writeLine('done');";
    assert_eq!(run_with(&["--busy", "0.1"], script, b"").line(), "done");
}

#[test]
fn recursion_is_an_error_that_can_be_caught() {
    let deep = "const deep = () => deep() + 1; try { deep(); } catch (error) { MCP.writeLine(error.name); }";
    assert_eq!(run(deep).line(), "RangeError");
    ended(&run("const deep = () => deep() + 1; deep();"), 1, "uncaught RangeError");
    let json =
        "let deep = '['.repeat(1e5); try { JSON.parse(deep); } catch (error) { MCP.writeLine('caught'); }";
    assert_eq!(run(json).line(), "caught");
    let shown = "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; try { JSON.stringify(deep); } catch (error) { MCP.writeLine('caught'); }";
    assert_eq!(run(shown).line(), "caught");
}

#[test]
fn a_memory_bomb_ends_with_its_cause() {
    for script in [
        "const all = []; for (;;) all.push(new Array(1000).fill(0));",
        "const all = []; for (;;) all.push('x'.repeat(1000) + all.length);",
        "const all = []; for (;;) all.push(new Uint8Array(1 << 20));",
        "const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });",
    ] {
        ended(&run_with(&["--memory", "16"], script, b""), 125, "the script needed more than 16 MiB");
    }
    let caught = "try { new Array(1e8).fill(0); } catch { MCP.writeLine('goes on'); }";
    assert_eq!(run_with(&["--memory", "16"], caught, b"").line(), "goes on");
}

#[test]
fn an_error_that_nobody_catches_is_told_with_its_place() {
    ended(&run("\n\nthrow new TypeError('of mine');"), 1, "uncaught TypeError: of mine");
    assert!(run("\n\nthrow new TypeError('of mine');").log.contains("server.js:3"));
    ended(&run("let = ;"), 1, "uncaught SyntaxError");
    ended(&run("await Promise.reject(new Error('late'));"), 1, "uncaught Error: late");
    ended(&run("throw { toString() { throw 1; } };"), 1, "uncaught");
    ended(&run("throw undefined;"), 1, "uncaught undefined");
}

#[test]
fn an_unhandled_rejection_is_logged_and_the_script_goes_on() {
    let script = "Promise.reject(new Error('lost')); await new Promise((done) => setTimeout(done, 5)); MCP.writeLine('on');";
    let ran = run(script);
    assert_eq!(ran.lines, ["on"]);
    assert!(
        ran.log.contains("uncaught (in a promise) Error: lost\n") && ran.log.contains("server.js:1"),
        "{}",
        ran.log
    );
    ended(&ran, 1, "uncaught (in a promise) Error: lost");
    let handled = "const late = Promise.reject(1); late.catch(() => {}); MCP.writeLine('on');";
    assert_eq!((run(handled).line(), run(handled).log.as_str()), ("on", ""));
    let timer =
        "setTimeout(() => { throw new Error('timer'); }, 1); setTimeout(() => MCP.writeLine('on'), 20);";
    let ran = run(timer);
    assert!(ran.lines == ["on"] && ran.log.contains("uncaught Error: timer"), "{ran:?}");
}

#[test]
fn a_file_that_is_no_script_and_a_wrong_line_are_told() {
    ended(&run_with(&["--memory", "1"], "", b""), 2, "use MiB from 4 to 4096");
    ended(&run_with(&["/nowhere.js"], "", b""), 2, "there is one FILE");
    ended(&run("\0"), 2, "NUL");
    assert_eq!(run("").code, Some(0), "an empty script has nothing to do");
}

#[test]
fn a_script_that_nobody_reads_ends() {
    use std::process::{Command, Stdio};
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("server.js");
    std::fs::write(&file, "for (;;) MCP.writeLine('x'.repeat(1000));").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_harbor-runner-js"));
    let mut child = command
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
