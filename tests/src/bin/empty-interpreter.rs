//! An interpreter of JavaScript that interprets nothing, until its stdin ends: what QuickJS itself holds.
//!
//! The benchmark compares `harbor-runner-js` with it. Must never have more than a runtime and its globals.
#![allow(clippy::expect_used, reason = "test support")]

use rquickjs::{Context, Runtime};
use std::io;

fn main() {
    let runtime = Runtime::new().expect("the interpreter starts");
    let _context = Context::full(&runtime).expect("it has globals");
    io::copy(&mut io::stdin(), &mut io::sink()).expect("stdin can be read");
}
