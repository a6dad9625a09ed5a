//! The interpreter: its limits, and the module in it.
//!
//! ```text
//!  bytes ─► validated ─► its imports ─► instance ─► _start ─┬─ a slice of fuel is used up: still within the stretch? ─┐
//!                                         ▲                └─ done, exit code, trap                                  │
//!                                         └──────────────────────────── another slice ◄──────────────────────────────┘
//! ```
//!
//! Owns that order. Fuel only says when to look at the clock: how much work an instruction is, it does not know.

use wasmi::{
    Config, CustomFuelCosts, EnforcedLimits, Engine, Error, Instance, Module, ResumableCall, Store, TrapCode,
};
use wasmi_wasi::{WasiCtx, add_to_externals};

use crate::ending::{Ending, Unusable};
use crate::limiter::Limiter;
use crate::module;
use crate::options::Options;
use crate::stretch::Stretch;
use crate::system;

/// About as many instructions: some milliseconds of work.
const SLICE: u64 = 1_000_000;

/// The depth of calls, each of which takes what its function needs of the stack.
const DEPTH: usize = 10_000;

/// The bytes of the stack that all calls share.
const STACK: usize = 4 * 1024 * 1024;

/// What the functions of the system work on.
struct Host {
    system: WasiCtx,
    limiter: Limiter,
}

/// Runs a module to its end.
pub(crate) fn run(options: &Options, bytes: Vec<u8>) -> Ending {
    let stretch = Stretch::new(options.busy);
    let (mut store, instance) = match start(options, bytes, &stretch) {
        Ok(started) => started,
        Err(ending) => return ending,
    };
    match slices(&mut store, &instance, &stretch) {
        Ok(ending) => ending,
        Err(error) => ended(&mut store, options, &error),
    }
}

fn start(options: &Options, bytes: Vec<u8>, stretch: &Stretch) -> Result<(Store<Host>, Instance), Ending> {
    let engine = Engine::new(&config());
    let module = Module::new(&engine, &bytes)
        .map_err(|error| Unusable(format!("the module is broken: {error}; build it again")))?;
    drop(bytes);
    let system = system::of(options, stretch)?;
    let mut store = Store::new(&engine, Host { system, limiter: Limiter::new(options) });
    store.limiter(|host| &mut host.limiter);
    let mut functions = Vec::new();
    add_to_externals(&mut store, &module, &mut functions, |host: &mut Host| &mut host.system)
        .map_err(|missing| module::lacks(&missing))?;
    module::is_program(&module)?;
    // For what a module does while it is made; that cannot be resumed.
    store
        .set_fuel(SLICE * 10)
        .map_err(|error| Unusable(format!("the interpreter does not start: {error}")))?;
    let instance = Instance::new(&mut store, &module, &functions);
    let instance = instance.map_err(|error| match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => Ending::TooLong(stretch.limit()),
        Some(_) => ended(&mut store, options, &error),
        None if store.data_mut().limiter.has_refused() => Ending::OutOfMemory(options.memory),
        None => Unusable(format!("the module cannot be started: {error}")).into(),
    })?;
    Ok((store, instance))
}

fn config() -> Config {
    let mut config = Config::default();
    config.consume_fuel(true).wasm_multi_memory(false).ignore_custom_sections(true);
    config.set_max_recursion_depth(DEPTH).set_max_stack_height(STACK);
    config.enforced_limits(EnforcedLimits::strict());
    // A function is translated at its first call, and once; a lack of fuel for that would be an end that cannot be resumed.
    config.fuel_cost(CustomFuelCosts {
        bytes_copied_per_fuel: 64,
        fuel_per_bytes_translated: 0,
        fuel_per_bytes_validated: 0,
    });
    config
}

fn slices(store: &mut Store<Host>, instance: &Instance, stretch: &Stretch) -> Result<Ending, Error> {
    let start = instance.get_func(&mut *store, "_start");
    let start = start.ok_or_else(|| Error::new("the module has no function _start"))?;
    stretch.begin();
    store.set_fuel(SLICE)?;
    let mut call = start.call_resumable(&mut *store, &[], &mut [])?;
    loop {
        call = match call {
            ResumableCall::Finished => return Ok(Ending::Exit(0)),
            ResumableCall::HostTrap(trap) => return Err(trap.into_host_error()),
            ResumableCall::OutOfFuel(_) if stretch.is_too_long() => {
                return Ok(Ending::TooLong(stretch.limit()));
            }
            ResumableCall::OutOfFuel(more) => {
                store.set_fuel(SLICE.max(more.required_fuel()))?;
                more.resume(&mut *store, &mut [])?
            }
        }
    }
}

/// The end that an error is. What a module does after a refusal to grow is called a lack of memory: it has no other way to say so.
fn ended(store: &mut Store<Host>, options: &Options, error: &Error) -> Ending {
    let refused = store.data_mut().limiter.has_refused();
    match (error.i32_exit_status(), error.as_trap_code()) {
        (Some(code), _) => Ending::Exit(code),
        (_, Some(TrapCode::UnreachableCodeReached)) if refused => Ending::OutOfMemory(options.memory),
        (_, Some(TrapCode::GrowthOperationLimited)) => Ending::OutOfMemory(options.memory),
        (_, Some(TrapCode::StackOverflow)) => {
            Ending::Trap("the calls are too deep: the stack is used up".into())
        }
        // Compilers keep a stack of their own at the begin of the memory.
        (_, Some(code @ TrapCode::MemoryOutOfBounds)) => {
            Ending::Trap(format!("{code}, as when calls are too deep for the stack"))
        }
        (_, Some(code)) => Ending::Trap(code.to_string()),
        _ => Ending::Trap(error.to_string()),
    }
}
