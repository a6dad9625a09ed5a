//! What a runner needs to know to start a server.
//!
//! Owns turning a definition into the message, and the server's data directory. Must never start anything.

use std::time::Duration;

use harbor_ipc_proto::link::runner::{Launch, ToRunner};
use harbor_policy::{environment, limits};

use super::Server;
use crate::store::private_directory;

impl Server {
    /// Makes the server's data directory; gives the directory that it will run in.
    pub(super) fn prepare(&self) -> Result<String, String> {
        let data = self.runners.shared.paths.server_data(self.id.as_str());
        private_directory(&data).map_err(|error| format!("prepare its data directory: {error}"))?;
        Ok(self.definition.cwd.clone().unwrap_or_else(|| data.to_string_lossy().into_owned()))
    }

    pub(super) fn launch_message(&self, number: u32, cwd: &str) -> ToRunner<'static> {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let env = environment::of_server(inherited, &self.definition.env, &self.runners.shared.instance);
        let start_timeout =
            limits::start_timeout(self.definition.start_timeout_ms).unwrap_or(limits::START_TIMEOUT);
        ToRunner::Connect {
            server: number,
            launch: Launch {
                command: self.definition.command.clone().into(),
                args: self.definition.args.iter().map(|arg| arg.clone().into()).collect(),
                env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
                cwd: cwd.to_owned().into(),
                known_era: self.era.get(),
                offers_roots: !self.definition.roots.is_empty(),
                start_timeout_ms: millis(start_timeout),
                max_line: limits::MAX_LINE,
                eof_grace_ms: millis(limits::EOF_GRACE),
                term_grace_ms: millis(limits::TERM_GRACE),
            },
        }
    }
}
