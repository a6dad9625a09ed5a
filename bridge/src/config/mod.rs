//! Where things are and how the bridge is set up: paths under `HARBOR_HOME`, the environment's switches, `config.toml`.
//!
//! Owns reading environment and file, at the start and when the file changes. Must never create a file: the rooms that own one
//! create it.

mod catalog;
mod error;
pub mod file;
mod host;
mod live;
mod manager;
pub mod metrics;
mod pages;
mod secrets;
pub mod traces;
pub mod watch;

use std::env;
use std::net::SocketAddr;
use std::time::Duration;

use harbor_home::Paths;
use harbor_policy::sandbox::offer::Lowered;

pub use self::catalog::CatalogConfig;
pub use self::error::ConfigError;
pub use self::host::{ChangedTools, FirstUse, HostConfig, OWNER, OriginLimits, ServerLimits};
pub use self::live::LiveConfig;
pub use self::manager::ServiceManager;
pub use self::pages::{Feature, PagesConfig};
pub use self::secrets::SecretsConfig;
pub use self::traces::TracesEnvironment;

/// The environment's switches, and where everything is. They are read at the start only.
pub const SWITCHES: &[&str] = &[
    "HARBOR_HOME",
    "HARBOR_MCP_ISOLATION",
    "HARBOR_CATALOG_WORKER",
    "HARBOR_LOG",
    "HARBOR_LOG_FORMAT",
    "HARBOR_IDLE_EXIT_SECONDS",
    "HARBOR_SANDBOX_OFFER",
    "OTEL_SDK_DISABLED",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];

/// How long a bridge that a client started stays without clients.
const IDLE_EXIT: Duration = Duration::from_secs(300);

/// The bridge's setup: the switches, and the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// One runner process per server (`HARBOR_MCP_ISOLATION`, on unless `0`).
    pub isolation: bool,
    /// True if the catalog has its worker (`HARBOR_CATALOG_WORKER`, on unless `0`).
    pub catalog_worker: bool,
    /// How much to log (`HARBOR_LOG`).
    pub log: tracing::level_filters::LevelFilter,
    /// How long a bridge that a client started stays without clients (`HARBOR_IDLE_EXIT_SECONDS`).
    pub idle_exit: Duration,
    /// The settings of `config.toml`.
    pub host: HostConfig,
    /// The features of the kernel that sandboxes are not to use (`HARBOR_SANDBOX_OFFER`).
    pub offered: Lowered,
    /// The address of the metrics listener, whatever the file says (`serve --metrics`).
    pub metrics: Option<SocketAddr>,
    /// The environment's settings for traces (`OTEL_…`).
    pub traces: TracesEnvironment,
    /// The service manager that wants to know how the bridge does (`NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`).
    pub manager: Option<ServiceManager>,
}

impl Settings {
    /// Reads the environment and the file; `metrics` is what the command line says.
    ///
    /// # Errors
    /// Names the variable, or file, line and key, and what it may be.
    pub fn read(paths: &Paths, metrics: Option<SocketAddr>) -> Result<Self, ConfigError> {
        Ok(Self {
            isolation: isolation(switch("HARBOR_MCP_ISOLATION").as_deref())?,
            catalog_worker: catalog_worker(switch("HARBOR_CATALOG_WORKER").as_deref())?,
            log: log_level(switch("HARBOR_LOG").as_deref())?,
            idle_exit: idle_exit(switch("HARBOR_IDLE_EXIT_SECONDS").as_deref())?,
            host: file::read(&paths.config_file())?,
            offered: offered(switch("HARBOR_SANDBOX_OFFER").as_deref())?,
            metrics,
            traces: TracesEnvironment::read(switch),
            manager: ServiceManager::from_env(),
        })
    }
}

fn switch(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// True if a line of the log is a JSON object (`HARBOR_LOG_FORMAT`). That includes a line that says why nothing else could be
/// read.
///
/// # Errors
/// Names the variable, and what it may be.
pub fn log_json() -> Result<bool, ConfigError> {
    is_json(switch("HARBOR_LOG_FORMAT").as_deref())
}

fn isolation(value: Option<&str>) -> Result<bool, ConfigError> {
    match value {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err(ConfigError(
            "HARBOR_MCP_ISOLATION: use 1 (a process per server) or 0 (one process for all)".into(),
        )),
    }
}

fn catalog_worker(value: Option<&str>) -> Result<bool, ConfigError> {
    match value {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(_) => Err(ConfigError(
            "HARBOR_CATALOG_WORKER: use 1 (the catalog is kept up to date) or 0 (it stays as it is)".into(),
        )),
    }
}

fn log_level(value: Option<&str>) -> Result<tracing::level_filters::LevelFilter, ConfigError> {
    value
        .unwrap_or("info")
        .parse()
        .map_err(|_| ConfigError("HARBOR_LOG: use off, error, warn, info, debug or trace".into()))
}

fn is_json(value: Option<&str>) -> Result<bool, ConfigError> {
    match value {
        None | Some("text") => Ok(false),
        Some("json") => Ok(true),
        Some(_) => Err(ConfigError("HARBOR_LOG_FORMAT: use text, or json (an object per line)".into())),
    }
}

fn offered(value: Option<&str>) -> Result<Lowered, ConfigError> {
    Lowered::parse(value.unwrap_or_default()).ok_or_else(|| {
        let expected =
            "use any of landlock=0 to 7, seccomp=no, namespaces=no, answers=no, with commas between them";
        ConfigError(format!("HARBOR_SANDBOX_OFFER: {expected}"))
    })
}

fn idle_exit(value: Option<&str>) -> Result<Duration, ConfigError> {
    value.map_or(Ok(IDLE_EXIT), |text| {
        text.parse()
            .map(Duration::from_secs)
            .map_err(|_| ConfigError("HARBOR_IDLE_EXIT_SECONDS: use a whole number of seconds".into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_checked() {
        assert_eq!(
            (isolation(None), isolation(Some("1")), isolation(Some("0"))),
            (Ok(true), Ok(true), Ok(false))
        );
        assert!(isolation(Some("yes")).is_err());
        let worker = [None, Some("1"), Some("0")].map(catalog_worker);
        assert_eq!(worker, [Ok(true), Ok(true), Ok(false)]);
        assert!(catalog_worker(Some("no")).is_err());
        assert!(log_level(Some("loud")).is_err());
        assert_eq!((is_json(None), is_json(Some("json"))), (Ok(false), Ok(true)));
        assert!(is_json(Some("JSON")).is_err());
        assert_eq!(idle_exit(Some("7")), Ok(Duration::from_secs(7)));
        assert!(idle_exit(Some("-1")).is_err());
    }
}
