//! Objects about packages, upgrades and runtimes.

use super::{SandboxSettings, SandboxSummary, ServerView, define_sent};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects of installations.
    INSTALL_OBJECTS:
    /// A server's package in one version.
    "Installed" InstalledView {
        /// The server's id.
        server_id: String,
        /// `npm`, `pypi`, `git`, `binary`, `oci` or `remote`.
        kind: Word,
        /// The package's name. For `git` and `binary` the address, for `oci` the image, for `remote` the URL without its query.
        name: String,
        /// The `source` with which `install_server` installs exactly this version.
        source: String,
        /// The version: for `git` the commit, for `binary` the SHA-256. Absent while none is locked.
        version: Option<String>,
        /// Why the locked version is no longer known; absent when it is. The server does not start until `upgrade_server`
        /// chooses a version.
        lost: Option<String>,
        /// The hash of the package, as its registry gives it.
        integrity: Option<String>,
        /// How many packages are installed in all. Each is locked with its version and hash.
        packages: Option<u32>,
        /// When it was installed, in milliseconds since 1970. Absent while it is not: the server's first start installs the
        /// locked versions.
        installed_at: Option<u64>,
        /// The version that `undo_upgrade` goes back to; absent when there is none.
        previous: Option<String>,
        /// After an installation: the names of the tools that the server listed.
        tools: Option<Vec<String>>,
        /// The secrets that are still missing. The server does not start until they are set.
        missing: Option<Vec<String>>,
        /// After an installation with `without_network`: true if the server also started and listed tools without a network.
        runs_without_network: Option<bool>,
        /// After an installation: true if the server wants the person to let Harbor in first (`oauth_start`). Its tools are
        /// not known yet.
        needs_authorization: Option<bool>,
        /// In a plan: the sandbox that the server would get; absent for a remote server.
        sandbox: Option<SandboxSummary>,
        /// In a plan: the directory with files of an earlier server with this id, which this one would get as its home;
        /// absent when there are none.
        old_data: Option<String>,
        /// In a plan: the settings of the sandbox.
        settings: Option<SandboxSettings>,
        /// In a plan: the program that would be started, with its arguments and variables.
        runs: Option<RunsView>,
        /// In a plan: the value for `planned`, which holds while the client is connected.
        planned: Option<String>,
        /// In a plan: true if code of the package must run to find its dependencies (`build`).
        needs_build: Option<bool>,
        /// In a plan: the newest version of the package, if only an older one fits this machine.
        newest: Option<String>,
        /// The Python (for an npm package, the Node.js) that it runs with, if not the usual one. In a plan it may have no
        /// version: then it is what `newest` requires and this machine lacks.
        python: Option<PythonView>,
        /// In a plan: the registry that the person's own settings name in place of the public one, and the file that names it.
        registry: Option<String>,
        /// The downloaded file, for `binary`.
        file: Option<FileView>,
        /// The server as `list_servers` shows it; absent in a plan.
        server: Option<ServerView>,
    }
    /// What a server is started with. For a remote server: what each request carries.
    "Runs" RunsView {
        /// The program, if it is known before the installation. Absent for an image and for a remote server.
        program: Option<String>,
        /// Its arguments, with all values filled in.
        args: Vec<String>,
        /// Its environment variables.
        env: Vec<NamedView>,
        /// The headers of each request to a remote server. `${KEY}` stands for a secret.
        headers: Vec<NamedView>,
        /// Names of the secrets without which the server does not start.
        secrets: Vec<String>,
    }
    /// A variable or a header.
    "Named" NamedView {
        /// Its name.
        name: String,
        /// The value that an entry or a manifest gives it; absent if the value comes from the request itself.
        value: Option<String>,
    }
    /// A Python, or a Node.js, that a package requires.
    "Python" PythonView {
        /// The requirement, as the package states it: `>=3.12`; for Node.js such as `>=22`.
        requires: String,
        /// The version that was found; absent when none was.
        version: Option<String>,
        /// Its path; absent when none was found.
        path: Option<String>,
    }
    /// A downloaded program, or a downloaded archive with one.
    "File" FileView {
        /// Its size, in bytes.
        size: u64,
        /// The file in it that is the program.
        program: String,
        /// What proves that it is the right file: `checksum` (for one version), `signature` (for each version). Empty: only
        /// its address does.
        vouched_by: Vec<String>,
        /// The minisign public key that must have signed each version.
        key: Option<String>,
        /// True if a signature lies beside the file and was not checked, since no key was given.
        unread_signature: Option<bool>,
    }
    /// A server that can be installed, as `resolve_server` describes it.
    "Resolved" ResolvedView {
        /// The `source` with which `install_server` installs it.
        source: String,
        /// The id that the server gets unless the request names another.
        server_id: Option<String>,
        /// A name for people.
        title: Option<String>,
        /// Its own description of itself.
        description: Option<String>,
        /// The address of its code.
        repository: Option<String>,
        /// Where the information comes from: `curated`, `registry`, `awesome`, `repository`, `manifest`, or `person`.
        from: String,
        /// For a repository or a manifest: the file that says how to install it.
        found_in: Option<String>,
        /// For a repository: the commit that was read.
        commit: Option<String>,
        /// Further remarks, a sentence each.
        notes: Vec<String>,
        /// The ways to install it; `package` of `install_server` counts them from 0.
        ways: Vec<WayView>,
        /// The index in `ways` that the fields below are about; absent when no way works here.
        way: Option<u64>,
        /// The inputs to fill in.
        inputs: Vec<DeclaredView>,
        /// Its environment variables.
        variables: Vec<DeclaredView>,
        /// Its secrets.
        secrets: Vec<DeclaredView>,
        /// Ids of the servers here that have the same source.
        installed: Vec<String>,
        /// For a repository or a manifest: the value for `planned` of `install_server`, which holds while the client is
        /// connected.
        planned: Option<String>,
    }
    /// One way to install a server.
    "Way" WayView {
        /// The package that this way installs.
        source: String,
        /// Why this way does not work here; absent when it does.
        why_not: Option<String>,
    }
    /// An input, variable or secret that a server asks for.
    "Declared" DeclaredView {
        /// Its name.
        name: String,
        /// Its description.
        description: String,
        /// True if a value must be given: it is needed and has no default.
        required: bool,
        /// True if it may have several values.
        many: bool,
        /// True if its value is a path on this machine.
        path: bool,
        /// Its default value; absent when it has none.
        default: Option<String>,
        /// The allowed values; empty: any value.
        choices: Vec<String>,
        /// The type of the value: `path`, `url`, `number` or `boolean`; absent: any text.
        value_type: Option<Word>,
        /// A regular expression that the value of a secret must match.
        pattern: Option<String>,
        /// An example of a value.
        placeholder: Option<String>,
        /// The address where a person gets such a value.
        help_url: Option<String>,
        /// For a secret of a remote server: the header that carries it.
        header: Option<String>,
    }
    /// An upgrade, planned or done.
    "Upgrade" UpgradeView {
        /// The kind of its package: `npm`, `pypi`, `git` or `binary`.
        kind: Word,
        /// The version in use, or the one that was in use until this upgrade.
        before: String,
        /// The new version; empty if it is not known before a build.
        after: String,
        /// The hash of the new version; empty if it is not known before a build.
        integrity: String,
        /// The newest version of the package, if only an older one fits this machine.
        newest: Option<String>,
        /// The Python (for an npm package, the Node.js) that the new version would run with, if not the usual one. It may
        /// have no version: then it is what `newest` requires and this machine lacks.
        python: Option<PythonView>,
        /// The downloaded file, for `binary`.
        file: Option<FileView>,
        /// Names of new tools.
        added: Vec<String>,
        /// Names of tools that are gone.
        removed: Vec<String>,
        /// Tools that have changed. Origins may not use them until the person accepts them.
        changed: Vec<ToolDifference>,
        /// The value for `planned`, if the version was not tried or did not start. It holds while the client is connected.
        planned: Option<String>,
        /// True if code of the package must run to find its dependencies (`build`).
        needs_build: Option<bool>,
        /// Why the trial start failed or listed no tools. It has nothing of the person's; `with_all` starts it with everything.
        failed: Option<String>,
        /// The value for `apply`; absent when the version is in use already, or nothing would change.
        apply: Option<String>,
        /// True if the new version is in use.
        applied: bool,
        /// For an applied upgrade: the version that `undo_upgrade` goes back to; absent if the earlier one was never installed.
        previous: Option<String>,
    }
    /// A tool before and after an upgrade.
    "ToolDifference" ToolDifference {
        /// Its name.
        tool_name: String,
        /// The tool as it was.
        before: Json,
        /// The tool as it is now.
        after: Json,
    }
    /// The programs that servers and installers need.
    "Runtimes" RuntimesView {
        /// The programs, found or not.
        programs: Vec<RuntimeView>,
        /// The kinds of packages that can be installed here.
        can_install: Vec<String>,
        /// The directories that were searched, in this order.
        looked_in: Vec<LookedIn>,
    }
    /// A program that was searched for.
    "Runtime" RuntimeView {
        /// `node`, `npm`, `npx`, `uv`, `python`, `docker`, `podman` or `git`.
        name: Word,
        /// Its path; absent when it was not found.
        path: Option<String>,
        /// How it was found: `PATH`, `the login shell`, `nvm`, `a usual prefix` or another way.
        found_by: Option<Word>,
        /// The version that it reports.
        version: Option<String>,
        /// What needs it.
        needed_for: Word,
        /// How to get it; absent when it was found.
        install_hint: Option<Word>,
    }
    /// A directory that was searched.
    "LookedIn" LookedIn {
        /// The directory.
        dir: String,
        /// How the directory was found.
        found_by: Word,
    }
}
