//! What is shown of packages, upgrades and runtimes.

use super::{SandboxSettings, SandboxSummary, ServerView, define_sent};
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects of installations.
    INSTALL_OBJECTS:
    /// A package of a server, in its version.
    "Installed" InstalledView {
        /// The server's id.
        server_id: String,
        /// `npm`, `pypi`, `git`, `binary`, `oci` or `remote`.
        kind: Word,
        /// The package; of git and of what is downloaded the address; the image; the URL without what stands behind `?`.
        name: String,
        /// What `install_server` takes for exactly this version.
        source: String,
        /// The version; of git the commit, of what is downloaded its SHA-256. Absent while none is locked.
        version: Option<String>,
        /// Why nobody knows any more which version was locked; until one is taken on purpose (`upgrade_server`) it is not started.
        lost: Option<String>,
        /// The hash of the package, as its registry gives it.
        integrity: Option<String>,
        /// How many packages there are in all. Each is locked with its version and its hash.
        packages: Option<u32>,
        /// When it was installed, in milliseconds since 1970; absent while it is not: its first start installs what is locked.
        installed_at: Option<u64>,
        /// The version that `undo_upgrade` goes back to.
        previous: Option<String>,
        /// After an installation: the names of the tools that it has listed.
        tools: Option<Vec<String>>,
        /// Secrets that it still needs: until they are set it is not started.
        missing: Option<Vec<String>>,
        /// After an installation with `without_network`: whether it started there, too, and listed tools.
        runs_without_network: Option<bool>,
        /// After an installation, true: it wants the person to let Harbor in first (`oauth_start`). Its tools are not known yet.
        needs_authorization: Option<bool>,
        /// In a plan: what it would be held to; absent of one that runs elsewhere.
        sandbox: Option<SandboxSummary>,
        /// In a plan: where an earlier server with this id left files, which this one would get as its home. Absent when there are none.
        old_data: Option<String>,
        /// In a plan: the settings of its sandbox.
        settings: Option<SandboxSettings>,
        /// In a plan: what would be started, and with what.
        runs: Option<RunsView>,
        /// In a plan: for `planned`, while the client is connected.
        planned: Option<String>,
        /// In a plan, true: code of the package would have to run to find out what it needs (`build`).
        needs_build: Option<bool>,
        /// In a plan: the newest version of the package, where an older one is what fits this machine.
        newest: Option<String>,
        /// The Python, or of a package of npm the Node.js, that it runs with, where that is not the usual one. In a plan without one in it: what `newest` requires, which is not here.
        python: Option<PythonView>,
        /// In a plan: the registry in place of the public one, as the person's own settings have it, and the file.
        registry: Option<String>,
        /// Of what is downloaded.
        file: Option<FileView>,
        /// The server as `list_servers` shows it; absent in a plan.
        server: Option<ServerView>,
    }
    /// What a server is started with; of one elsewhere, what each request has.
    "Runs" RunsView {
        /// The program, where it is known before it is installed; absent of an image and of a server elsewhere.
        program: Option<String>,
        /// Its arguments, filled in.
        args: Vec<String>,
        /// Variables of its environment.
        env: Vec<NamedView>,
        /// Headers of each request to a server elsewhere; `${KEY}` stands for a secret.
        headers: Vec<NamedView>,
        /// Names of the secrets without which it is not started.
        secrets: Vec<String>,
    }
    /// A variable or a header.
    "Named" NamedView {
        /// Its name.
        name: String,
        /// What an entry or a manifest sets it to; absent of what the request itself says.
        value: Option<String>,
    }
    /// A Python that a package requires.
    "Python" PythonView {
        /// What is required, as the package says it: `>=3.12`, of a Node.js as in `>=22`.
        requires: String,
        /// The version of the one that was found.
        version: Option<String>,
        /// Its path.
        path: Option<String>,
    }
    /// A program that was downloaded, or an archive with one.
    "File" FileView {
        /// Its size, in bytes.
        size: u64,
        /// Which file of it is the program.
        program: String,
        /// What says that it is the right file: `checksum` (of one version), `signature` (of each). Empty: nothing but its address.
        vouched_by: Vec<String>,
        /// The public key of minisign that each version has to be signed by.
        key: Option<String>,
        /// True: a signature lies beside it that was not checked, since no key was said.
        unread_signature: Option<bool>,
    }
    /// A server that can be had.
    "Resolved" ResolvedView {
        /// What `install_server` takes for it.
        source: String,
        /// What its server is called where nothing else is said.
        server_id: Option<String>,
        /// A name for people.
        title: Option<String>,
        /// What it says about itself.
        description: Option<String>,
        /// Where its code is.
        repository: Option<String>,
        /// Who names it: `curated`, `registry`, `awesome`, `repository`, `manifest`, or `person`.
        from: String,
        /// Of a repository or a manifest: the file that says how it is had.
        found_in: Option<String>,
        /// Of a repository: the commit that was read.
        commit: Option<String>,
        /// What is to be known beside that, a sentence each.
        notes: Vec<String>,
        /// How it can be had, one after the other.
        ways: Vec<WayView>,
        /// Which of them this is about: what follows is its. Absent when none can be gone here.
        way: Option<u64>,
        /// What is filled in.
        inputs: Vec<DeclaredView>,
        /// Variables of its environment.
        variables: Vec<DeclaredView>,
        /// Its secrets.
        secrets: Vec<DeclaredView>,
        /// The servers here that have the same source.
        installed: Vec<String>,
        /// Of a repository or a manifest: for `planned` of `install_server`, while the client is connected.
        planned: Option<String>,
    }
    /// One way to have a server.
    "Way" WayView {
        /// What is installed.
        source: String,
        /// Why it cannot be installed here; absent when it can.
        why_not: Option<String>,
    }
    /// Something that a server wants to be told.
    "Declared" DeclaredView {
        /// Its name.
        name: String,
        /// What it is.
        description: String,
        /// Whether it must be given: it is needed, and has no default.
        required: bool,
        /// Whether there may be more than one.
        many: bool,
        /// Whether it is a path of this machine.
        path: bool,
        /// What it is by default.
        default: Option<String>,
        /// What it may be; anything when empty.
        choices: Vec<String>,
        /// What a value has to be: `path`, `url`, `number` or `boolean`; any text when absent.
        value_type: Option<Word>,
        /// A regular expression that the value of a secret has to match.
        pattern: Option<String>,
        /// What one looks like.
        placeholder: Option<String>,
        /// Where a person gets one.
        help_url: Option<String>,
        /// Of a secret of a server elsewhere: the header that it goes into.
        header: Option<String>,
    }
    /// An upgrade, wanted or done.
    "Upgrade" UpgradeView {
        /// The kind of its package: `npm`, `pypi`, `git` or `binary`.
        kind: Word,
        /// The version that is used, or was until now.
        before: String,
        /// The version that was tried out, or would be; empty where it is not known before something is built.
        after: String,
        /// Its hash; likewise.
        integrity: String,
        /// The newest version of the package, where an older one is what fits this machine.
        newest: Option<String>,
        /// The Python, or of a package of npm the Node.js, that it would run with, where that is not the usual one. Without a version in it: what `newest` requires, which is not here.
        python: Option<PythonView>,
        /// Of what is downloaded.
        file: Option<FileView>,
        /// Names of tools that are new.
        added: Vec<String>,
        /// Names of tools that are gone.
        removed: Vec<String>,
        /// Tools that say something else of themselves. They are kept from origins until they are accepted.
        changed: Vec<ToolDifference>,
        /// For `planned`, while the client is connected: it was not tried out, or did not start.
        planned: Option<String>,
        /// True: code of the package would have to run to find out what it needs (`build`).
        needs_build: Option<bool>,
        /// Why it did not start, or listed nothing, with nothing of the person's: `with_all` starts it with all.
        failed: Option<String>,
        /// For `apply`; absent when it is used already, or nothing would be different.
        apply: Option<String>,
        /// Whether it is used now.
        applied: bool,
        /// Of one that is: the version that `undo_upgrade` goes back to; absent where the one before was never installed.
        previous: Option<String>,
    }
    /// A tool, before and after.
    "ToolDifference" ToolDifference {
        /// Its name.
        tool_name: String,
        /// What it said of itself.
        before: Json,
        /// What it says now.
        after: Json,
    }
    /// Programs that servers and installers need.
    "Runtimes" RuntimesView {
        /// One after the other.
        programs: Vec<RuntimeView>,
        /// The kinds of packages that can be installed here.
        can_install: Vec<String>,
        /// The directories that were looked at, in this order.
        looked_in: Vec<LookedIn>,
    }
    /// A program that was looked for.
    "Runtime" RuntimeView {
        /// `node`, `npm`, `npx`, `uv`, `python`, `docker`, `podman` or `git`.
        name: Word,
        /// Where it is; absent when it was not found.
        path: Option<String>,
        /// How it was found: `PATH`, `the login shell`, `nvm`, `a usual prefix` or another one.
        found_by: Option<Word>,
        /// What it says that its version is.
        version: Option<String>,
        /// Who needs it.
        needed_for: Word,
        /// How to get it; absent when it is there.
        install_hint: Option<Word>,
    }
    /// A directory that was looked at.
    "LookedIn" LookedIn {
        /// The directory.
        dir: String,
        /// How it is known.
        found_by: Word,
    }
}
