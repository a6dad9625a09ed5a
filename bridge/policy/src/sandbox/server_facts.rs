//! The facts about a server that its confinement follows from, as they were found on the disk before a start.
//!
//! Must never look for them.

use harbor_ipc_proto::link::sandbox::PathAccess;

/// The facts that were found on the disk before a start; all paths are absolute and without symbolic links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxFacts {
    /// The person's home.
    pub home: Option<String>,
    /// `$HARBOR_HOME`.
    pub harbor_home: String,
    /// The server's data directory.
    pub data: String,
    /// The server's directory for temporary files.
    pub tmp: String,
    /// The directory in which its package is installed.
    pub package: Option<String>,
    /// True if this start installs that package: then it may be written.
    pub installs: bool,
    /// Files and directories of the system that exist.
    pub system: Vec<(String, PathAccess)>,
    /// The program, and what it needs to run: interpreters, their directories, in the order in which they were found.
    pub program: Vec<String>,
    /// The working directory and the arguments that name something that exists, each with its package root.
    pub named: Vec<NamedPath>,
    /// Granted paths (`read`, `write`, `sockets` of the settings), as given and without symbolic links; what does not
    /// exist stands for itself.
    pub granted: Vec<(String, String)>,
    /// Granted paths, as given, with a link on their way that leads out of a directory which the server can change. The server
    /// can have laid that link.
    pub led_out: Vec<String>,
    /// Such paths of the command, the working directory and the arguments: they are not granted then.
    pub not_followed: Vec<String>,
    /// Symbolic links on the ways to all of this: where each lies, and where it leads.
    pub links: Vec<(String, String)>,
    /// Directories of its own PATH that are not in `program`, since their names are not those of programs.
    pub left_out: Vec<String>,
    /// The real paths of `write`.
    pub written: Vec<String>,
    /// Places where any server could ever write. Files there may be a server's.
    pub ever_written: Vec<String>,
    /// The directories of `written` in which git repositories lie.
    pub repositories: Vec<String>,
    /// The granted paths, as given, that do not exist.
    pub absent: Vec<String>,
    /// True if the servers share a runner, and so their view of processes.
    pub shared: bool,
    /// The granted `sockets`, as given, that exist and are no sockets.
    pub not_sockets: Vec<String>,
    /// The targets of protected places that are symbolic links (`protected::of_home`).
    pub protected: Vec<String>,
    /// The directories of `system::HIDEABLE`, and those of somebody, that exist.
    pub hideable: Vec<String>,
    /// The bridge's own socket.
    pub socket: String,
    /// The egress proxy's executable.
    pub proxy: String,
}

/// Something that the definition names and that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    /// The file or directory.
    pub path: String,
    /// The directory of the package that it belongs to.
    pub package_root: Option<String>,
    /// True if it is the working directory; else it is an argument.
    pub is_cwd: bool,
}
