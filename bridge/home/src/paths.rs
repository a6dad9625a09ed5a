//! Where things are: paths under `HARBOR_HOME`.
//!
//! Owns the names of files and directories. Must never create one: rooms that own a file create it.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use harbor_ipc_proto::hex::hex;
use nix::unistd::geteuid;
use sha2::{Digest, Sha256};

use crate::lock::holder;
use crate::mounted::is_read_only;

/// The longest path that fits into `sockaddr_un`, in bytes, without its closing NUL.
const MAX_SOCKET_PATH: usize = 107;

/// The person's configuration file, in the home.
pub const CONFIG_FILE: &str = "config.toml";

/// The reason why there is no home, or no socket in it, with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathError(String);

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PathError {}

/// The files of one user's Harbor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    home: PathBuf,
    /// The place of files that are written: the home, or a directory in its place where the home is
    /// read-only.
    work: PathBuf,
    runtime_dir: Option<PathBuf>,
}

impl Paths {
    /// The paths below `HARBOR_HOME`, else below `~/.harbor`.
    ///
    /// # Errors
    /// When neither `HARBOR_HOME` nor `HOME` is set.
    pub fn from_env() -> Result<Self, PathError> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HARBOR_HOME").or_else(|| set("HOME").map(|home| home.join(".harbor")));
        let home = home.and_then(|home| std::path::absolute(home).ok());
        let home = home.ok_or_else(|| {
            PathError(
                "neither HARBOR_HOME nor HOME is set; set HARBOR_HOME to a directory that you own".into(),
            )
        })?;
        let runtime_dir = set("XDG_RUNTIME_DIR");
        let paths = Self { work: home.clone(), home, runtime_dir };
        // A bridge that runs since before goes on with it.
        match is_read_only(&paths.home) && holder(&paths.lock()).is_none() {
            true => Ok(paths.of_a_copy()),
            false => Ok(paths),
        }
    }

    /// The paths with a directory of ours in place of a read-only home.
    fn of_a_copy(self) -> Self {
        let name = format!("harbor-{}-{}", geteuid(), name_of(&self.home));
        let work = self.runtime_dir.clone().unwrap_or_else(env::temp_dir).join(name);
        Self { work, ..self }
    }

    /// The paths with this home, whatever the environment says.
    #[must_use]
    pub fn at(home: &Path) -> Self {
        Self { home: home.to_owned(), work: home.to_owned(), runtime_dir: None }
    }

    /// The directory of everything: `HARBOR_HOME`.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The home, where it is on a read-only file system.
    #[must_use]
    pub fn read_only(&self) -> Option<&Path> {
        (self.work != self.home).then_some(&self.home)
    }

    /// The directory below which Harbor's programs write: the home, unless that is read-only.
    #[must_use]
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Files that exist while a bridge runs: socket, token, lock.
    #[must_use]
    pub fn run_dir(&self) -> PathBuf {
        self.work.join("run")
    }

    /// The local socket.
    ///
    /// # Errors
    /// When its path would be too long, and there is no `XDG_RUNTIME_DIR` to put it into.
    pub fn socket(&self) -> Result<PathBuf, PathError> {
        let path = self.run_dir().join("bridge.sock");
        if path.as_os_str().len() <= MAX_SOCKET_PATH {
            return Ok(path);
        }
        let runtime_dir = self.runtime_dir.as_ref().ok_or_else(|| {
            PathError(format!(
                "{} is too long for a socket's path; set a shorter HARBOR_HOME, or XDG_RUNTIME_DIR",
                path.display()
            ))
        })?;
        Ok(runtime_dir.join("harbor").join(format!("{}.sock", name_of(&self.work))))
    }

    /// The token by which a Harbor program proves what it is.
    #[must_use]
    pub fn token(&self) -> PathBuf {
        self.run_dir().join("token")
    }

    /// Held by the one bridge; contains its process id.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.run_dir().join("bridge.lock")
    }

    /// The server definitions.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.work.join("harbor.db")
    }

    /// The journal from which the server definitions are rebuilt when the database is lost.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.work.join("definitions.journal")
    }

    /// The lock files of servers: the versions of their packages.
    #[must_use]
    pub fn locks(&self) -> PathBuf {
        self.work.join("locks")
    }

    /// The secrets of servers.
    #[must_use]
    pub fn credentials(&self) -> PathBuf {
        self.work.join("secrets").join("credentials.json")
    }

    /// Their key, where a passphrase protects them.
    #[must_use]
    pub fn credentials_key(&self) -> PathBuf {
        self.credentials().with_file_name("key.age")
    }

    /// The catalog of servers; its worker writes it.
    #[must_use]
    pub fn catalog(&self) -> PathBuf {
        self.work.join("catalog.db")
    }

    /// The messages that the person typed in conversations, for the command line's line editor.
    #[must_use]
    pub fn chat_history(&self) -> PathBuf {
        self.work.join("chat_history")
    }

    /// The person's configuration.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.home.join(CONFIG_FILE)
    }

    /// The browsers that were told of this Harbor, and for which extensions.
    #[must_use]
    pub fn native_hosts(&self) -> PathBuf {
        self.work.join("native-host").join("installed.json")
    }

    /// The program that browsers start where the bridge has to be told its home.
    #[must_use]
    pub fn native_host_program(&self) -> PathBuf {
        self.work.join("native-host").join("harbor-bridge")
    }

    /// The log of a bridge that has no terminal.
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.work.join("logs").join("bridge.log")
    }

    /// The audit log: who did what.
    #[must_use]
    pub fn audit_log(&self) -> PathBuf {
        self.work.join("logs").join("audit.jsonl")
    }

    /// The logs of servers.
    #[must_use]
    pub fn server_logs(&self) -> PathBuf {
        self.work.join("logs").join("servers")
    }

    /// The directory of a server.
    #[must_use]
    pub fn server(&self, server_id: &str) -> PathBuf {
        self.work.join("servers").join(server_id)
    }

    /// The directory of a server's package.
    #[must_use]
    pub fn server_package(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("package")
    }

    /// The directory in which a server runs while it is tried out, before it is installed or
    /// upgraded.
    #[must_use]
    pub fn server_trial(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("trial")
    }

    /// The directory of all servers.
    #[must_use]
    pub fn servers(&self) -> PathBuf {
        self.work.join("servers")
    }

    /// The files of models that were fetched.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.work.join("models")
    }

    /// Scripts that run once.
    #[must_use]
    pub fn scripts(&self) -> PathBuf {
        self.work.join("scripts")
    }

    /// Pages that are being fetched for a message.
    #[must_use]
    pub fn pages(&self) -> PathBuf {
        self.work.join("pages")
    }

    /// The directory of an engine.
    #[must_use]
    pub fn engine(&self, name: &str) -> PathBuf {
        self.work.join("engines").join(name)
    }

    /// Conversations of the person with their models.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.work.join("sessions")
    }

    /// The list of installed servers, for other programs to read.
    #[must_use]
    pub fn installed_servers(&self) -> PathBuf {
        self.work.join("installed_servers.json")
    }

    /// The file that says which image a server runs.
    #[must_use]
    pub fn server_image(&self, id: &str) -> PathBuf {
        self.server(id).join("image")
    }

    /// The directory of the script that Harbor keeps for a server.
    #[must_use]
    pub fn server_script(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("script")
    }

    /// The directory of the module that Harbor keeps for a server.
    #[must_use]
    pub fn server_module(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("module")
    }

    /// A server's own directory for temporary files.
    #[must_use]
    pub fn server_tmp(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("tmp")
    }

    /// The directory for its processes that belong to one web origin or AI client each.
    #[must_use]
    pub fn server_instances(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("instances")
    }

    /// A server's own directory to write into.
    #[must_use]
    pub fn server_data(&self, server_id: &str) -> PathBuf {
        self.server(server_id).join("data")
    }
}

/// A short name for a directory, for what lies outside of it: 16 hexadecimal digits.
fn name_of(directory: &Path) -> String {
    hex(&Sha256::digest(directory.as_os_str().as_encoded_bytes())[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_home_moves_the_socket_to_the_runtime_directory() {
        let home = PathBuf::from("/").join("h".repeat(120));
        let mut paths = Paths { work: home.clone(), home, runtime_dir: Some("/run/user/1".into()) };
        let socket = paths.socket().unwrap();
        assert!(socket.starts_with("/run/user/1/harbor"));
        assert_eq!(socket.file_name().unwrap().len(), 16 + ".sock".len());
        paths.runtime_dir = None;
        assert!(paths.socket().is_err());
        paths.work = "/h".into();
        assert_eq!(paths.socket(), Ok("/h/run/bridge.sock".into()));
    }
}
