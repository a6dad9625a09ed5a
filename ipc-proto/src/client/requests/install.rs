//! Requests about installations and upgrades.

use std::collections::BTreeMap;

use super::super::define_requests;
use crate::field::JsonObject;
use crate::secret::SecretMap;
use crate::server_id::ServerId;

define_requests! {
    /// Any request about installations and upgrades.
    InstallRequest:
    /// Installs a server and defines it: the server is started once, lists its tools, and is stopped. If that fails or is
    /// cancelled, or the client leaves, nothing of it stays. A server that lacks a secret is defined and its versions are
    /// locked, but it is not started. A plan runs no code of any package, except with `build`.
    "install_server" InstallServer -> InstallServerResult {
        /// The package: `npm:NAME[@VERSION]`, `pypi:NAME[==VERSION]`, `git:URL[#BRANCH, TAG OR
        /// COMMIT][&subdirectory=DIRECTORY]`, `OWNER/NAME` of GitHub, `binary:URL[#…]` (see docs/install.md), `oci:IMAGE`.
        /// Or the URL of a remote server, or the id of an entry of the catalog or of Harbor's own list. A
        /// repository's own statement on how to install its server is followed, as `resolve_server` shows it.
        source: String,
        /// A manifest, or a server.json. It says what is installed; `source` is only what people are shown.
        manifest: Option<JsonObject>,
        /// For an entry: the number of its way, from 0, as `resolve_server` lists them. Absent: the first way that works here.
        package: Option<u64>,
        /// For an entry: the values of its inputs, by name.
        inputs: Option<BTreeMap<String, Vec<String>>>,
        /// The server's id; absent: made from the package's name.
        server_id: Option<ServerId>,
        /// As in `add_server`.
        args: Option<Vec<String>>,
        /// As in `add_server`.
        env: Option<BTreeMap<String, String>>,
        /// Environment variables for the installer only; the server does not get them. They are kept for upgrades.
        install_env: Option<BTreeMap<String, String>>,
        /// Packages of PyPI, `NAME[==VERSION]`, to install beside a package of PyPI. They are locked like that package.
        with: Option<Vec<String>>,
        /// As in `add_server`.
        label: Option<String>,
        /// As in `add_server`.
        supervision: Option<JsonObject>,
        /// As in `add_server`.
        sandbox: Option<JsonObject>,
        /// As in `add_server`. An entry names its own secrets.
        secrets: Option<Vec<String>>,
        /// Values of secrets, by name. They serve the first start, and are stored if it succeeds.
        secret_values: Option<SecretMap>,
        /// As in `add_server`.
        keep_data: Option<bool>,
        /// As in `add_remote_server`.
        headers: Option<BTreeMap<String, String>>,
        /// As in `add_remote_server`.
        transport_type: Option<String>,
        /// As in `add_remote_server`.
        allow_private: Option<bool>,
        /// As in `add_remote_server`.
        allow_http: Option<bool>,
        /// True: only says what would be installed.
        plan: Option<bool>,
        /// With `plan`, true: an input that was not given appears as `{name}`; otherwise it is an error.
        incomplete: Option<bool>,
        /// The `planned` of an earlier plan of this client, or of `resolve_server` for a repository: exactly that is installed.
        planned: Option<String>,
        /// True: code of the package may run to find its dependencies, in a sandbox with nothing of the person's. If it is
        /// needed and absent, a plan says so, and an installation is refused with the cause `needs_build`.
        build: Option<bool>,
        /// True: a package that runs with the whole network is started once more without any, to learn whether it needs one.
        without_network: Option<bool>,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// Says what would be installed, in which ways, and which inputs it needs. Of a repository, one commit is fetched and
    /// read. No code of it runs, and nothing of it stays.
    "resolve_server" ResolveServer -> ResolveServerResult {
        /// As in `install_server`.
        source: String,
        /// As in `install_server`.
        manifest: Option<JsonObject>,
        /// As in `install_server`.
        package: Option<u64>,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// Lists the servers that are part of Harbor.
    "get_curated_list" GetCuratedList -> GetCuratedListResult {}
    /// Installs another version beside the present one, starts it with nothing of the person's (no secrets, variables,
    /// grants), and says how its tools differ. The version is used once another request has `apply`. It is deleted if the
    /// client leaves before that.
    "upgrade_server" UpgradeServer -> UpgradeServerResult {
        /// The server's id.
        server_id: ServerId,
        /// The version; for git a branch, tag or commit, for a download a SHA-256 or another address. Absent: the newest
        /// that the definition admits. An older version than the present one must be named.
        to: Option<String>,
        /// True: only says which version that is.
        plan: Option<bool>,
        /// The `planned` of an earlier answer: the request goes on with exactly that version.
        planned: Option<String>,
        /// As in `install_server`.
        build: Option<bool>,
        /// True: a version that does not start or lists no tools in the trial is started with everything that the server
        /// may use.
        with_all: Option<bool>,
        /// The `apply` of an earlier answer: that version is used from now on.
        apply: Option<String>,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// Goes back to the version before the last upgrade. A second request restores the newer version.
    "undo_upgrade" UndoUpgrade -> UndoUpgradeResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Removes a server that has a package, as `remove_server` does.
    "uninstall_server" UninstallServer -> UninstallServerResult {
        /// The server's id.
        server_id: ServerId,
        /// As in `remove_server`.
        data: Option<bool>,
    }
    /// Changes a server's arguments. A running server is restarted.
    "update_server_args" UpdateServerArgs -> UpdateServerArgsResult {
        /// The server's id.
        server_id: ServerId,
        /// All its arguments.
        args: Vec<String>,
    }
    /// Lists the servers with a package, and their versions. `connect_server` and `disconnect_server` start and stop them.
    "list_installed" ListInstalled -> ListInstalledResult {}
    /// Searches for the programs that servers and installers need.
    "check_runtimes" CheckRuntimes -> CheckRuntimesResult {}
}
