//! Requests about packages that are installed.

use std::collections::BTreeMap;

use super::super::define_requests;
use crate::field::JsonObject;
use crate::secret::SecretMap;
use crate::server_id::ServerId;

define_requests! {
    /// Any request about packages that are installed.
    InstallRequest:
    /// Installs a server and defines it: it is started once, lists its tools, and is stopped. Nothing of it is left where that
    /// fails, is cancelled, or the client leaves. One that lacks a secret is defined, its versions are locked, and it is not
    /// started. A plan runs no code of any package, unless `build`.
    "install_server" InstallServer -> InstallServerResult {
        /// `npm:NAME[@VERSION]`, `pypi:NAME[==VERSION]`, `git:URL[#BRANCH, TAG OR COMMIT][&subdirectory=DIRECTORY]`, `OWNER/NAME`
        /// of GitHub, `binary:URL[#…]` (see docs/install.md), `oci:IMAGE`, the URL of a server that runs elsewhere, or the id of
        /// an entry of the catalog or of what Harbor brings along. A repository is followed in what it says of its server, as
        /// `resolve_server` shows it.
        source: String,
        /// A manifest, or a server.json: what is installed is what it says, and `source` what people are told that it is.
        manifest: Option<JsonObject>,
        /// Of an entry: which of its ways, as `resolve_server` counts them from 0; the first one that can be gone when absent.
        package: Option<u64>,
        /// Of an entry: what is filled in, by name.
        inputs: Option<BTreeMap<String, Vec<String>>>,
        /// The server's id; made of the package's name when absent.
        server_id: Option<ServerId>,
        /// As in `add_server`.
        args: Option<Vec<String>>,
        /// As in `add_server`.
        env: Option<BTreeMap<String, String>>,
        /// Environment variables of the installer, which its server does not get. They stay for upgrades.
        install_env: Option<BTreeMap<String, String>>,
        /// Packages of PyPI, `NAME[==VERSION]`, that are installed beside a package of PyPI, and locked as it is.
        with: Option<Vec<String>>,
        /// As in `add_server`.
        label: Option<String>,
        /// As in `add_server`.
        supervision: Option<JsonObject>,
        /// As in `add_server`.
        sandbox: Option<JsonObject>,
        /// As in `add_server`; an entry names its own.
        secrets: Option<Vec<String>>,
        /// Secrets by name: for the first start, and stored if that succeeds.
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
        /// With `plan`, true: where something must be filled in that was not, it stands there as `{name}`, instead of an error.
        incomplete: Option<bool>,
        /// What a plan of this client, or `resolve_server` of a repository, has given: exactly that is installed.
        planned: Option<String>,
        /// Whether code of the package may run to find out what it needs, in a sandbox with nothing of the person's. Where that
        /// is needed and not said, a plan says so, and an installation is refused with the cause `needs_build`.
        build: Option<bool>,
        /// Whether a package that runs with the whole network is started once more without any, to know whether it needs one.
        without_network: Option<bool>,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// Says what would be installed, in which ways, and what has to be filled in. Of a repository one commit is fetched and read;
    /// nothing of it runs, and nothing of it stays.
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
    /// Lists the servers that Harbor brings along.
    "get_curated_list" GetCuratedList -> GetCuratedListResult {}
    /// Installs another version beside the present one, starts it with nothing of the person's (no secrets, variables, grants),
    /// and says how its tools differ. It is used once another request says `apply`; it goes when the client leaves before.
    "upgrade_server" UpgradeServer -> UpgradeServerResult {
        /// The server's id.
        server_id: ServerId,
        /// Which version, of git a branch, tag or commit, of what is downloaded a SHA-256 or another address; the newest that the definition admits when absent. One that is older than what is used has to be named.
        to: Option<String>,
        /// True: only says which version that is.
        plan: Option<bool>,
        /// What an earlier answer has given: it goes on with exactly that.
        planned: Option<String>,
        /// As in `install_server`.
        build: Option<bool>,
        /// Whether it is started with all that the server may use where it does not start without, or lists nothing.
        with_all: Option<bool>,
        /// What the answer to the first request gave.
        apply: Option<String>,
        /// As in `connect_server`.
        progress: Option<bool>,
    }
    /// Goes back to the version before the last upgrade; done twice, it is as before.
    "undo_upgrade" UndoUpgrade -> UndoUpgradeResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// As `remove_server`, of a server with a package only.
    "uninstall_server" UninstallServer -> UninstallServerResult {
        /// The server's id.
        server_id: ServerId,
        /// As in `remove_server`.
        data: Option<bool>,
    }
    /// Changes a server's arguments. One that runs is stopped and started again.
    "update_server_args" UpdateServerArgs -> UpdateServerArgsResult {
        /// The server's id.
        server_id: ServerId,
        /// All of them.
        args: Vec<String>,
    }
    /// Lists the servers with a package, in their versions. `connect_server` and `disconnect_server` start and stop them.
    "list_installed" ListInstalled -> ListInstalledResult {}
    /// Looks for the programs that servers and installers need.
    "check_runtimes" CheckRuntimes -> CheckRuntimesResult {}
}
