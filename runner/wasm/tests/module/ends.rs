//! How modules end, and what is no module.

use std::time::{Duration, Instant};

use super::{HEAD, Ran, module, run, run_bytes, run_file};

/// An end with this code and these words in the log's last line.
#[track_caller]
fn ended(ran: &Ran, code: i32, words: &str) {
    let last = ran.log.lines().last().filter(|line| line.starts_with("harbor-runner-wasm: "));
    assert!(ran.code == Some(code) && last.is_some_and(|last| last.contains(words)), "{ran:?}");
}

/// A read of at most 64 bytes of stdin to the place 256; its number of bytes is then at 8.
const READ: &str = "(i32.store (i32.const 0) (i32.const 256)) (i32.store (i32.const 4) (i32.const 64))
  (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))";

#[test]
fn an_endless_loop_is_ended_soon_after_its_limit() {
    for start in [
        "(loop $on (br $on))".to_owned(),
        format!("{READ} (loop $on (br $on))"),
        "(loop $on (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)) (br $on))".to_owned(),
        "(loop $on (drop (call $fd_write (i32.const 9) (i32.const 0) (i32.const 0) (i32.const 0))) (br $on))"
            .to_owned(),
    ] {
        let began = Instant::now();
        let ran = run(&["--busy", "0.3"], &start, b"line\n");
        ended(&ran, 124, "computed for more than 0.3 s");
        assert!(began.elapsed() >= Duration::from_millis(300), "{start}");
    }
}

#[test]
fn a_loop_before_the_start_is_ended_too() {
    let ran = run_bytes(
        &module(r#"(func $on (loop $on (br $on))) (start $on) (func (export "_start"))"#),
        &["--busy", "0.3"],
        b"",
    );
    ended(&ran, 124, "computed for more than 0.3 s");
}

#[test]
fn waiting_is_not_computing() {
    // Four waits of a quarter of a second, by the clock.
    let wait = "(i32.store8 (i32.const 16) (i32.const 0)) (i32.store (i32.const 24) (i32.const 1))
      (i64.store (i32.const 32) (i64.const 250000000))
      (drop (call $poll (i32.const 8) (i32.const 128) (i32.const 1) (i32.const 200)))";
    let ran = run(&["--busy", "0.1"], &wait.repeat(4), b"");
    assert_eq!(ran.text(), "");
}

#[test]
fn each_line_that_is_read_begins_a_stretch() {
    // Each turn computes for 0.1 s by the clock; all of them together for longer than the limit.
    let now = "(drop (call $clock (i32.const 1) (i64.const 0) (i32.const 16)))";
    let start = format!(
        "(local $end i64)
         (loop $lines {READ} {now} (local.set $end (i64.add (i64.load (i32.const 16)) (i64.const 100000000)))
           (loop $on {now} (br_if $on (i64.lt_u (i64.load (i32.const 16)) (local.get $end))))
           (br_if $lines (i32.load (i32.const 8))))"
    );
    assert_eq!(run(&["--busy", "0.5"], &start, &[b'x'; 64 * 9]).text(), "");
}

#[test]
fn a_large_function_costs_no_fuel_at_its_first_call() {
    let body = "nop ".repeat(300_000);
    let large = format!(r#"(func $large {body}) (func (export "_start") (call $large))"#);
    assert_eq!(run_bytes(&module(&large), &[], b"").text(), "");
}

#[test]
fn recursion_is_a_trap_that_says_so() {
    let deep = module(r#"(func $deep (export "_start") (call $deep))"#);
    ended(&run_bytes(&deep, &[], b""), 1, "trap: the calls are too deep");
}

#[test]
fn a_memory_bomb_ends_with_its_cause() {
    // As a compiler makes of an allocation that fails: growing is refused, and it gives up.
    let bomb = "(loop $on (br_if $on (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";
    ended(&run(&["--memory", "16"], bomb, b""), 125, "the module needed more than 16 MiB");
    let goes_on = "(drop (memory.grow (i32.const 60000)))";
    assert_eq!(run(&["--memory", "16"], goes_on, b"").text(), "");
    let born_large = wat::parse_str(format!(
        r#"(module {} (func (export "_start")))"#,
        HEAD.replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") 1000)")
    ));
    ended(&run_bytes(&born_large.unwrap(), &["--memory", "16"], b""), 125, "more than 16 MiB");
    let tables = r#"(table $t 1 funcref) (func (export "_start")
      (loop $on (br_if $on (i32.ne (table.grow $t (ref.null func) (i32.const 10000)) (i32.const -1)))) unreachable)"#;
    ended(&run_bytes(&module(tables), &[], b""), 125, "needed more than 64 MiB");
}

#[test]
fn an_answer_of_64_mb_takes_no_memory_here() {
    let start = "(local $i i32) (memory.fill (i32.const 1024) (i32.const 120) (i32.const 64512))
      (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 64000))
      (loop $on (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
        (local.set $i (i32.add (local.get $i) (i32.load (i32.const 8))))
        (br_if $on (i32.lt_u (local.get $i) (i32.const 64000000))))";
    let ran = run(&["--memory", "1"], start, b"");
    assert!(ran.code == Some(0) && ran.said.len() >= 64_000_000, "{:?} {}", ran.code, ran.said.len());
}

#[test]
fn a_trap_and_an_exit_code_are_told() {
    ended(&run(&[], "unreachable", b""), 1, "trap: ");
    ended(&run(&[], "(drop (i32.load (i32.const 70000)))", b""), 1, "trap: ");
    ended(&run(&[], "(call $proc_exit (i32.const 42))", b""), 42, "ended itself with exit code 42");
    ended(&run(&[], "(call $proc_exit (i32.const 124))", b""), 1, "ended itself with exit code 124");
    assert_eq!(run(&[], "(call $proc_exit (i32.const 0))", b"").text(), "");
}

#[test]
fn what_is_no_program_is_told_with_what_to_do() {
    let whole = module(r#"(func (export "_start"))"#);
    ended(&run_bytes(&whole[..whole.len() - 3], &[], b""), 2, "the module is broken: ");
    ended(&run_bytes(&whole[..6], &[], b""), 2, "is no module of WebAssembly");
    ended(&run_bytes(b"#!/bin/sh", &[], b""), 2, "is no module of WebAssembly; build it for WASI preview 1");
    ended(&run_bytes(b"\0asm\x0d\0\x01\0", &[], b""), 2, "is a component (WASI preview 2)");
    ended(&run_bytes(b"\0asm\x02\0\0\0", &[], b""), 2, "another version");
    ended(&run_bytes(&module(""), &[], b""), 2, "no function _start: build a program");
    let missing =
        r#"(module (import "env" "dance" (func)) (import "env" "sing" (func)) (func (export "_start")))"#;
    let missing = run_bytes(&wat::parse_str(missing).unwrap(), &[], b"");
    ended(&missing, 2, "imports what Harbor does not have (invalid Wasi import: env::dance)");
    let bare = run_bytes(&wat::parse_str(r#"(module (func (export "_start")))"#).unwrap(), &[], b"");
    ended(&bare, 2, "exports no memory");
    ended(&run_file("/nowhere.wasm".as_ref(), &[], b""), 2, "cannot read /nowhere.wasm");
    ended(&run_bytes(&whole, &["--memory", "0"], b""), 2, "use MiB from 1 to 4096");
    ended(&run_bytes(&whole, &["--read", "/nowhere"], b""), 2, "cannot open the directory /nowhere");
    let long = vec![0; 16 * 1024 * 1024 + 1];
    ended(&run_bytes(&long, &[], b""), 2, "larger than 16 MiB");
}
