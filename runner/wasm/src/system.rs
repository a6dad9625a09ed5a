//! The part of the system that a module has.
//!
//! Owns this list: stdin, stdout, stderr, clocks, random numbers, variables, arguments, the granted directories. There is no
//! socket, and no way to another program.

use wasmi_wasi::wasi_common::{Table, WasiCtx};
use wasmi_wasi::{clocks_ctx, random_ctx, stdio};

use crate::directories;
use crate::ending::Unusable;
use crate::input::Input;
use crate::options::Options;
use crate::stretch::Stretch;
use crate::waiting::Waiting;

/// The system of a module.
///
/// # Errors
/// The part that cannot be given, and why.
pub(crate) fn of(options: &Options, stretch: &Stretch) -> Result<WasiCtx, Unusable> {
    let waiting = Box::new(Waiting(stretch.clone()));
    let mut system = WasiCtx::new(random_ctx(), clocks_ctx(), waiting, Table::new());
    let input = Input::new(stretch.clone()).map_err(|error| Unusable(format!("stdin: {error}")))?;
    system.set_stdin(Box::new(input));
    system.set_stdout(Box::new(stdio::stdout()));
    system.set_stderr(Box::new(stdio::stderr()));
    let name = options.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for argument in std::iter::once(&name).chain(&options.arguments) {
        system.push_arg(argument).map_err(|error| Unusable(format!("the arguments: {error}")))?;
    }
    for (name, value) in std::env::vars_os() {
        // What is no text has no form in a module.
        if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) {
            system
                .push_env(&name, &value)
                .map_err(|error| Unusable(format!("the variable {name}: {error}")))?;
        }
    }
    directories::grant(&system, options)?;
    Ok(system)
}
