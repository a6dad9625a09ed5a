//! The functions of this program that the script's globals are made of.
//!
//! ```text
//!  js/core.js: MCP, process, console, timers, crypto ──► native: these functions ──► Host
//! ```
//!
//! Owns what crosses from the script into this program: numbers and texts, each bounded. No script sees `native`. Must never
//! keep a value of the script.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::rc::Rc;
use std::time::Instant;

use rquickjs::function::This;
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray, Value};

use crate::fetching::Fetching;
use crate::input::MAX_LINE;
use crate::stretch::Stretch;
use crate::timers::Timers;
use crate::{fetch_calls, pieces, urls};

/// Bytes of one message to the log that are kept.
const MAX_LOGGED: usize = 64 * 1024;

/// The state that the script's functions and the event loop share.
pub(crate) struct Host {
    pub(crate) stretch: Stretch,
    pub(crate) timers: RefCell<Timers>,
    pub(crate) fetching: RefCell<Fetching>,
    /// How many lines the script waits for.
    pub(crate) wanted: Cell<u32>,
    /// True once nobody reads the output any more.
    pub(crate) unread: Cell<bool>,
    output: RefCell<File>,
    began: Instant,
}

impl Host {
    /// Writes to standard output.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn new(stretch: Stretch, fetching: Fetching) -> io::Result<Self> {
        let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self {
            stretch,
            timers: RefCell::default(),
            fetching: RefCell::new(fetching),
            wanted: Cell::new(0),
            unread: Cell::new(false),
            output: RefCell::new(output),
            began: Instant::now(),
        })
    }

    /// Milliseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// True if the script must not go on.
    pub(crate) fn is_over(&self) -> bool {
        self.unread.get() || self.stretch.is_too_long()
    }

    fn at(&self, delay: f64) -> u64 {
        // Rounded up: a timer never fires early.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float saturates"
        )]
        let delay = delay.ceil() as u64;
        self.now().saturating_add(delay)
    }

    fn write(&self, mut line: String) -> Option<String> {
        if line.len() > MAX_LINE {
            let mib = MAX_LINE >> 20;
            return Some(format!("the line has {} bytes; at most {mib} MiB are sent at once", line.len()));
        }
        if line.contains(['\n', '\r']) {
            return Some("MCP.writeLine takes one line; a line end in it would begin another message".into());
        }
        line.push('\n');
        let written = self.stretch.apart(|| self.output.borrow_mut().write_all(line.as_bytes()));
        self.unread.set(self.unread.get() || written.is_err());
        None
    }
}

/// Writes a message to the log, which may be several lines.
pub(crate) fn log(stretch: &Stretch, mut text: String) {
    text.truncate(text.floor_char_boundary(MAX_LOGGED));
    text.push('\n');
    // Nobody can be told that the log is gone.
    let _ = stretch.apart(|| io::stderr().write_all(text.as_bytes()));
}

/// The object of all functions.
///
/// # Errors
/// An exception: memory is used up.
pub(crate) fn native<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    of_input_and_output(ctx, host, &native)?;
    of_timers(ctx, host, &native)?;
    fetch_calls::add(ctx, host, &native)?;
    native.set("env", Function::new(ctx.clone(), environment)?)?;
    native.set("random", Function::new(ctx.clone(), random)?)?;
    native.set("uuid", Function::new(ctx.clone(), uuid)?)?;
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    native.set("piece", Function::new(ctx.clone(), piece)?)?;
    native.set(
        "url",
        Function::new(ctx.clone(), |ctx, text, base: rquickjs::function::Opt<Option<String>>| {
            urls::read(ctx, text, base.0.flatten())
        })?,
    )?;
    native.set("url_set", Function::new(ctx.clone(), urls::set)?)?;
    native.set("form_read", Function::new(ctx.clone(), urls::form_read)?)?;
    native.set("form_write", Function::new(ctx.clone(), urls::form_write)?)?;
    Ok(native)
}

fn of_input_and_output<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, native: &Object<'js>) -> Result<()> {
    let of = host.clone();
    let want = move || of.wanted.set(of.wanted.get().saturating_add(1));
    native.set("want", Function::new(ctx.clone(), want)?)?;
    let of = host.clone();
    native.set("write", Function::new(ctx.clone(), move |line: String| of.write(line))?)?;
    let of = host.clone();
    native.set("log", Function::new(ctx.clone(), move |text: String| log(&of.stretch, text))?)
}

fn of_timers<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, native: &Object<'js>) -> Result<()> {
    let of = host.clone();
    // Zero is no timer's number.
    let arm = move |delay: f64| of.timers.borrow_mut().set(of.at(delay)).unwrap_or_default();
    native.set("arm", Function::new(ctx.clone(), arm)?)?;
    let of = host.clone();
    let rearm = move |id: u32, delay: f64| of.timers.borrow_mut().again(id, of.at(delay));
    native.set("rearm", Function::new(ctx.clone(), rearm)?)?;
    let of = host.clone();
    native.set("disarm", Function::new(ctx.clone(), move |id: u32| of.timers.borrow_mut().clear(id))?)
}

/// The variables of this process. What is no text is left out.
fn environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

fn random_bytes(ctx: &Ctx<'_>, count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count.min(65536)];
    match File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes)) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Exception::throw_message(ctx, &format!("no random numbers: {error}"))),
    }
}

fn random(ctx: Ctx<'_>, count: usize) -> Result<TypedArray<'_, u8>> {
    let bytes = random_bytes(&ctx, count)?;
    TypedArray::new_copy(ctx, bytes)
}

/// A random UUID, version 4 of RFC 9562.
fn uuid(ctx: Ctx<'_>) -> Result<String> {
    let mut bytes = random_bytes(&ctx, 16)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

fn encode(ctx: Ctx<'_>, text: String) -> Result<TypedArray<'_, u8>> {
    TypedArray::new_copy(ctx, text)
}

/// Evaluates a piece of the globals that is asked for.
fn piece<'js>(native: This<Object<'js>>, ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    pieces::later(&ctx, &name)?.call((native.0,))
}
