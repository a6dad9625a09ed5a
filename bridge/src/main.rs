//! harbor-bridge: mode, configuration, exit code.
//!
//! ```text
//!   harbor-bridge serve             in the foreground, until a signal
//!   harbor-bridge serve --stdio     native-messaging frames on stdin and stdout too, until stdin ends
//!   harbor-bridge serve --detached  started by a client; says `ready` on stdout, or why it is not
//!   harbor-bridge serve --metrics A also serves metrics over HTTP at this address
//!   harbor-bridge check --json      what is wrong with the bridge's files, beside a bridge that runs or without one
//!   harbor-bridge ORIGIN …          native host: started by a browser; a relay to the user's one bridge
//! ```

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;

use harbor_bridge::app::{AppError, ServeMode, serve};
use harbor_bridge::check::CheckRequest;
use harbor_bridge::config::metrics::{LISTEN_RULE, listen_address};
use harbor_bridge::config::{ConfigError, Settings, log_json};
use harbor_bridge::front::relay;
use harbor_bridge::observe;
use harbor_bridge::store::instance::InstanceError;
use harbor_child::signals::outlive_full_files;
use harbor_child::{memory, own};
use harbor_home::Paths;
use harbor_home::dial::EXIT_LOCKED;

/// Exit code for a wrong command line.
const USAGE: u8 = 2;

const HELP: &str = "\
Usage: harbor-bridge serve [--stdio] [--metrics ADDRESS:PORT]

  serve            serve on the local socket of HARBOR_HOME (default ~/.harbor) until a signal
  serve --stdio    also speak native-messaging frames on stdin and stdout; end when stdin ends
  check --json     say what is wrong with the files of HARBOR_HOME, as JSON; behind it some of: config database secrets lost programs,
                   and --config FILE instead of config.toml
  --metrics A:P    also serve metrics over HTTP at this loopback address, such as 127.0.0.1:9464

Browsers start harbor-bridge as a native host, without `serve`. For everything else use `harbor`.

Environment: HARBOR_HOME, HARBOR_MCP_ISOLATION and HARBOR_CATALOG_WORKER (1 or 0), HARBOR_LOG (off, error, warn, info, debug, trace),
HARBOR_LOG_FORMAT (text or json), HARBOR_IDLE_EXIT_SECONDS (for a bridge that a client started; 300).
Traces: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SDK_DISABLED.
Limits and permissions: HARBOR_HOME/config.toml.

Exit codes of `serve`: 0 it was told to end, 1 it could not serve, 2 the command line, a variable or config.toml is wrong,
75 another bridge serves this HARBOR_HOME already.
";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or("\u{fffd}")).collect();
    match words.as_slice() {
        ["serve", options @ ..] => match Serve::read(options) {
            Ok(wanted) => run(wanted),
            Err(wrong) => {
                let _ = write!(io::stderr(), "harbor-bridge: {wrong}\n{HELP}");
                USAGE.into()
            }
        },
        ["check", ..] => match CheckRequest::read(arguments.get(1..).unwrap_or_default()) {
            Ok(wanted) => check(&wanted),
            Err(wrong) => {
                let _ = write!(io::stderr(), "harbor-bridge: {wrong}\n{HELP}");
                USAGE.into()
            }
        },
        ["--help" | "-h" | "help"] => {
            let _ = io::stdout().write_all(HELP.as_bytes());
            ExitCode::SUCCESS
        }
        ["--version" | "-V" | "version"] => {
            let _ = writeln!(io::stdout(), "harbor-bridge {}", harbor_ipc_proto::BUILD);
            ExitCode::SUCCESS
        }
        _ if relay::extension_id(&arguments).is_some() => match Paths::from_env() {
            Ok(paths) => relay::run(&paths, &arguments).into(),
            Err(error) => fail(&error, log_json().unwrap_or_default(), 1),
        },
        _ => {
            let _ = io::stderr().write_all(HELP.as_bytes());
            USAGE.into()
        }
    }
}

fn check(wanted: &CheckRequest) -> ExitCode {
    let checked = Paths::from_env().map(|paths| wanted.look(&paths));
    let printed = checked.map_err(io::Error::other).and_then(|checked| {
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, &checked)?;
        out.write_all(b"\n")
    });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "harbor-bridge: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How the bridge is to serve.
struct Serve {
    mode: ServeMode,
    metrics: Option<SocketAddr>,
}

impl Serve {
    fn read(options: &[&str]) -> Result<Self, String> {
        let mut serve = Self { mode: ServeMode::Foreground, metrics: None };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match *option {
                "--stdio" => serve.mode = ServeMode::Stdio,
                "--detached" => serve.mode = ServeMode::Detached,
                "--metrics" => {
                    let address = options.next().and_then(|text| listen_address(text));
                    serve.metrics = Some(address.ok_or_else(|| format!("--metrics needs {LISTEN_RULE}"))?);
                }
                other => return Err(format!("unknown option {other}")),
            }
        }
        Ok(serve)
    }
}

fn run(Serve { mode, metrics }: Serve) -> ExitCode {
    let fail = |error: &dyn std::error::Error, log_json, code| {
        if mode == ServeMode::Detached {
            // The log may be the very thing that cannot be written.
            let _ = writeln!(io::stdout(), "{error}");
        }
        fail(error, log_json, code)
    };
    let log_json = match log_json() {
        Ok(log_json) => log_json,
        Err(error) => return fail(&error, false, USAGE),
    };
    if let Err(error) = own::close_inherited().and_then(|()| outlive_full_files()) {
        return fail(&error, log_json, 1);
    }
    let configured = Paths::from_env().map_err(ConfigError::from).and_then(|paths| {
        let settings = Settings::read(&paths, metrics)?;
        Ok((paths, settings))
    });
    let (paths, settings) = match configured {
        Ok(configured) => configured,
        Err(error) => return fail(&error, log_json, USAGE),
    };
    // Done while this is the only thread.
    memory::return_large_blocks();
    if let Err(error) = observe::begin(settings.log, log_json) {
        return fail(&error, log_json, 1);
    }
    let code = match serve(&paths, &settings, mode) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ AppError::Instance(InstanceError::Running(_))) => {
            fail(&error, log_json, EXIT_LOCKED as u8)
        }
        Err(error) => fail(&error, log_json, 1),
    };
    observe::finish();
    code
}

fn fail(error: &dyn std::error::Error, log_json: bool, code: u8) -> ExitCode {
    observe::say_last(error, log_json);
    code.into()
}
