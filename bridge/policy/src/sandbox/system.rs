//! The parts of the system that every server may use: an interpreter does not start without them.
//!
//! Owns the list. Nothing in it is anybody's secret, not even root's, and nothing leads out of the sandbox. The list names
//! entries of /etc one by one: other programs keep passwords there.

use harbor_ipc_proto::link::sandbox::PathAccess::{self, Device, Read, Write};

/// Shared memory: given only where a mount namespace makes it the server's own.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// The places that are looked for; a symbolic link among them stands for its target.
pub const SYSTEM: &[(&str, PathAccess)] = &[
    // Programs and libraries. /opt is not here: an interpreter in it comes with the facts.
    ("/bin", Read),
    ("/gnu/store", Read),
    ("/lib", Read),
    ("/lib32", Read),
    ("/lib64", Read),
    ("/libx32", Read),
    ("/nix/store", Read),
    ("/sbin", Read),
    ("/snap", Read),
    ("/usr", Read),
    ("/var/cache/fontconfig", Read),
    ("/var/lib/ca-certificates", Read),
    // Devices.
    ("/dev/full", Device),
    ("/dev/null", Device),
    ("/dev/random", Device),
    ("/dev/urandom", Device),
    ("/dev/zero", Device),
    (SHARED_MEMORY, Write),
    // The kernel: Node, Python and Go look at their own process and count processors and memory.
    ("/proc", Read),
    ("/sys/devices/system/cpu", Read),
    ("/sys/devices/system/node", Read),
    ("/sys/fs/cgroup", Read),
    ("/sys/kernel/mm/transparent_hugepage", Read),
    // Certificates, but not the private keys beside them.
    ("/etc/ca-certificates", Read),
    ("/etc/ca-certificates.conf", Read),
    ("/etc/crypto-policies", Read),
    ("/etc/pki/ca-trust", Read),
    ("/etc/pki/tls/cert.pem", Read),
    ("/etc/pki/tls/certs", Read),
    ("/etc/pki/tls/openssl.cnf", Read),
    ("/etc/ssl/ca-bundle.pem", Read),
    ("/etc/ssl/cert.pem", Read),
    ("/etc/ssl/certs", Read),
    ("/etc/ssl/openssl.cnf", Read),
    ("/etc/static/ssl/certs", Read),
    // Names of hosts, users and services.
    ("/etc/gai.conf", Read),
    ("/etc/group", Read),
    ("/etc/host.conf", Read),
    ("/etc/hostname", Read),
    ("/etc/hosts", Read),
    ("/etc/nsswitch.conf", Read),
    ("/etc/passwd", Read),
    ("/etc/protocols", Read),
    ("/etc/resolv.conf", Read),
    ("/etc/services", Read),
    // The dynamic linker, and which of several programs a name stands for.
    ("/etc/alternatives", Read),
    ("/etc/ld.so.cache", Read),
    ("/etc/ld.so.conf", Read),
    ("/etc/ld.so.conf.d", Read),
    ("/etc/ld.so.preload", Read),
    // Time, language, terminal, fonts, types of files.
    ("/etc/default/locale", Read),
    ("/etc/fonts", Read),
    ("/etc/inputrc", Read),
    ("/etc/locale.alias", Read),
    ("/etc/locale.conf", Read),
    ("/etc/localtime", Read),
    ("/etc/magic", Read),
    ("/etc/mime.types", Read),
    ("/etc/terminfo", Read),
    ("/etc/timezone", Read),
    // Which system this is.
    ("/etc/debian_version", Read),
    ("/etc/lsb-release", Read),
    ("/etc/os-release", Read),
    ("/etc/redhat-release", Read),
    // Interpreters and installers.
    ("/etc/bash.bashrc", Read),
    ("/etc/bashrc", Read),
    ("/etc/gitconfig", Read),
    ("/etc/java", Read),
    ("/etc/npmrc", Read),
    ("/etc/openssl", Read),
    ("/etc/perl", Read),
    ("/etc/pip.conf", Read),
    ("/etc/profile", Read),
    ("/etc/python3", Read),
    ("/etc/python3.10", Read),
    ("/etc/python3.11", Read),
    ("/etc/python3.12", Read),
    ("/etc/python3.13", Read),
    ("/etc/python3.14", Read),
    ("/etc/python3.9", Read),
    ("/etc/uv", Read),
    ("/etc/xdg/pip", Read),
];

/// Directories that are hidden from every server if they exist, beside the home: other people's files, disks of all kinds,
/// sockets.
pub const HIDEABLE: &[&str] = &["/home", "/media", "/mnt", "/root", "/run", "/var/home", "/var/run"];

/// The system's directories of the root. Every other one belongs to somebody, and is hidden as well.
const OF_THE_ROOT: &[&str] = &[
    "bin", "boot", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin",
    "snap", "sys", "tmp", "usr", "var",
];

/// True if a directory of the root is not the system's.
#[must_use]
pub fn is_somebodys(name: &str) -> bool {
    !OF_THE_ROOT.contains(&name)
}

/// Keeps /run from being hidden where it exists, since all programs are found through a symbolic link in it.
pub const KEEPS_RUN: &str = "/run/current-system";

/// True if the system still works when this directory looks empty: nothing that every server uses lies in it.
#[must_use]
pub fn can_be_hidden(directory: &str) -> bool {
    directory != "/" && !SYSTEM.iter().any(|(path, _)| super::paths::is_within(path, directory))
}

#[cfg(test)]
mod tests {
    use super::super::protected::of_home;
    use super::super::{SandboxFacts, protected};
    use super::*;

    #[test]
    fn nothing_is_listed_twice_and_no_secret_at_all() {
        let mut paths: Vec<_> = SYSTEM.iter().map(|(path, _)| *path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), SYSTEM.len());
        let facts = SandboxFacts { home: Some("/home/u".into()), ..SandboxFacts::default() };
        for path in paths.iter().filter(|path| path.starts_with("/etc/") || path.starts_with("/usr")) {
            assert_eq!(protected::why_never(path, &facts), None);
        }
        assert!(of_home("/home/u").iter().all(|secret| !paths.iter().any(|path| secret.starts_with(path))));
    }

    #[test]
    fn what_the_system_needs_is_not_hidden() {
        for (directory, wanted) in [
            ("/", false),
            ("/usr", false),
            ("/var", false),
            ("/usr/home/u", true),
            ("/run", true),
            ("/etc", false),
            ("/home", true),
            ("/dev", false),
        ] {
            assert_eq!(can_be_hidden(directory), wanted, "{directory}");
        }
        assert!(HIDEABLE.iter().all(|directory| can_be_hidden(directory)));
        for (path, _) in SYSTEM {
            assert!(!is_somebodys(path.split('/').nth(1).unwrap()), "{path}");
        }
        assert!(["home", "srv", "work", "data"].iter().all(|name| is_somebodys(name)));
    }
}
