//! The interpreter: its limits, its modules, and the script in it.
//!
//! ```text
//!  runtime (memory, stack, interrupt) ─► globals (js/core.js) ─► script declared: its imports ─► stretches
//! ```
//!
//! Owns that order. Must never let a script load code that is not in its file.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::mem::ManuallyDrop;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::runtime::RejectionTracker;
use rquickjs::{Context, Ctx, Error, Module, Object, Persistent, Result, Runtime, Value};

use crate::ending::Ending;
use crate::event_loop::{self, Hooks};
use crate::fetching::Fetching;
use crate::globals::{Host, native};
use crate::options::Options;
use crate::pieces;
use crate::stretch::Stretch;

/// Bytes of the machine's stack that a script may use.
const STACK: usize = 1024 * 1024;

/// Rejections that nobody has handled, each with its promise's number.
pub(crate) type Rejections = Rc<RefCell<Vec<(u64, Persistent<Value<'static>>)>>>;

/// Runs a script, which is called `name` in its errors, to its end.
pub(crate) fn run(options: &Options, name: &str, script: String) -> Ending {
    let no_start =
        |error: &dyn std::fmt::Display| Ending::Unusable(format!("the interpreter does not start: {error}"));
    let fetching = Fetching::new(options.fetch.clone(), options.fetch_time);
    let too_long = Ending::TooLong(options.busy);
    let stretch = Stretch::new(options.busy, move || too_long.at_once());
    let host = match stretch.and_then(|stretch| Host::new(stretch, fetching)) {
        Ok(host) => Rc::new(host),
        Err(error) => return no_start(&error),
    };
    let runtime = match Runtime::new() {
        // The process ends behind this: what is left of the script is not taken apart.
        Ok(runtime) => ManuallyDrop::new(runtime),
        Err(error) => return no_start(&error),
    };
    let (rejections, is_declared) = (Rejections::default(), Rc::new(Cell::new(false)));
    confine(&runtime, options, &host);
    runtime.set_host_promise_rejection_tracker(Some(tracker(rejections.clone())));
    runtime.set_loader(Only { is_declared: is_declared.clone() }, Own);
    let context = match Context::full(&runtime) {
        Ok(context) => ManuallyDrop::new(context),
        Err(error) => return no_start(&error),
    };
    context.with(|ctx| {
        host.stretch.begin();
        let hooks = match begin(&ctx, &host, options.memory) {
            Ok(hooks) => hooks,
            Err(error) => return no_start(&error),
        };
        let declared = Module::declare(ctx.clone(), name, script);
        is_declared.set(true);
        match declared.and_then(Module::eval) {
            Ok((_, promise)) => event_loop::run(&ctx, &host, &hooks, &promise, &rejections),
            Err(_) => event_loop::thrown(&host, &hooks, &ctx.catch()),
        }
    })
}

fn confine(runtime: &Runtime, options: &Options, host: &Rc<Host>) {
    runtime.set_memory_limit(usize::try_from(options.memory).unwrap_or(usize::MAX) << 20);
    runtime.set_max_stack_size(STACK);
    let host = host.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || host.is_over())));
}

/// Makes the globals. Returns what the turns call.
fn begin<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, memory: u32) -> Result<Hooks<'js>> {
    let core = pieces::function(ctx, "core", pieces::CORE)?;
    let hooks: Object<'js> = core.call((native(ctx, host)?,))?;
    let hook = |name: &str| hooks.get(name);
    Ok(Hooks {
        fire: hook("fire")?,
        line: hook("line")?,
        fetched: hook("fetched")?,
        shown: hook("shown")?,
        memory,
    })
}

/// The number of a value, the same as long as it exists.
pub(crate) fn number(value: &Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn tracker(rejections: Rejections) -> RejectionTracker {
    Box::new(move |ctx, promise, reason, is_handled| {
        let promise = number(&promise);
        match is_handled {
            true => rejections.borrow_mut().retain(|(other, _)| *other != promise),
            false => rejections.borrow_mut().push((promise, Persistent::save(&ctx, reason))),
        }
    })
}

/// Finds the modules that scripts may import.
struct Only {
    is_declared: Rc<Cell<bool>>,
}

impl Resolver for Only {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let why = match (self.is_declared.get(), name) {
            (false, _) if pieces::module(name).is_some() => return Ok(name.to_owned()),
            (true, _) => {
                "import() does not exist here; use an import statement at the beginning of the script"
            }
            (false, _) => "a script is one file here; only harbor:mcp can be imported",
        };
        Err(Error::new_resolving_message(base, name, why))
    }
}

/// Loads those modules.
struct Own;

impl Loader for Own {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let source = pieces::module(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(ctx.clone(), name, source)
    }
}
