//! Landlock: which files can be reached, whether TCP ports can be bound, and who can be signalled.
//!
//! ```text
//!  ABI  1             2       3          4          5           6                          9
//!       read, write,  rename  truncate   bind TCP   ioctl of    signals and abstract       connect to
//!       make, remove  across                        devices     sockets stay inside        sockets by path
//! ```
//!
//! Everything that the asked version knows is refused, except what a rule allows; connecting by TCP is not looked at. Owns
//! the rights of each kind of access. Must never apply only a part of what was asked. Must never follow a symbolic link: a
//! server could have made it since its path was judged.

use std::error::Error;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::{SFlag, fstat};

/// The first version that can refuse binding.
const BIND: ABI = ABI::V4;

/// The access to a file, or to all below a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read, list and execute.
    Read,
    /// Read, write and control a device or a socket, but never make or remove one.
    Device,
    /// Everything but making devices.
    Write,
}

/// A place of the file system and what may be done there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandlockRule {
    /// A path without symbolic links. A path that does not exist is skipped.
    pub path: PathBuf,
    /// The access to it.
    pub access: Access,
}

impl Access {
    fn rights(self, abi: ABI) -> BitFlags<AccessFs> {
        let all = AccessFs::from_all(abi);
        let device = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev | ResolveUnix});
        match self {
            Self::Read => AccessFs::from_read(abi),
            Self::Device => all & device,
            Self::Write => all & !make_bitflags!(AccessFs::{MakeChar | MakeBlock}),
        }
    }
}

/// The version of this kernel's Landlock, 0 when it is missing or switched off.
#[must_use]
pub fn abi() -> u32 {
    const VERSION: libc::c_long = 1;
    let none: libc::c_long = 0;
    // SAFETY: with this flag the kernel tells its version; it takes no structure, so the null pointer is not
    // followed.
    #[allow(unsafe_code)]
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, none, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// Refuses this thread, and all that it starts, every access that version `abi` of Landlock knows and no rule allows.
/// Without `bind_tcp` no TCP port can be bound, except a port that the kernel chooses, as when connecting. Also sets
/// `no_new_privs`. Before version 2 nothing can be renamed or linked from one directory to another, whatever the rules say.
///
/// # Errors
/// When the kernel does not offer that version, or the version cannot refuse what was asked. When a path exists but cannot
/// be used: it is not to be reached, or a symbolic link is part of it. Then nothing has been refused.
pub fn restrict(abi: u32, rules: &[LandlockRule], bind_tcp: bool) -> io::Result<()> {
    let abi = ABI::from(i32::try_from(abi).unwrap_or(i32::MAX));
    if abi == ABI::Unsupported || (!bind_tcp && abi < BIND) {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let mut created = handled(abi, bind_tcp).and_then(Ruleset::create).map_err(told)?;
    if !bind_tcp {
        created = created.add_rule(NetPort::new(0, AccessNet::BindTcp)).map_err(told)?;
    }
    for rule in rules {
        if let Some((place, rights)) = opened(rule, abi)? {
            created = created.add_rule(PathBeneath::new(place, rights)).map_err(told)?;
        }
    }
    let status = created.restrict_self().map_err(told)?;
    let whole = status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs;
    if whole { Ok(()) } else { Err(Errno::EOPNOTSUPP.into()) }
}

fn handled(abi: ABI, bind_tcp: bool) -> Result<Ruleset, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if !bind_tcp {
        ruleset = ruleset.handle_access(AccessNet::BindTcp)?;
    }
    let scopes = Scope::from_all(abi);
    if scopes.is_empty() { Ok(ruleset) } else { ruleset.scope(scopes) }
}

/// Opens the place of a rule, with its rights there. None when there is no such place.
fn opened(rule: &LandlockRule, abi: ABI) -> io::Result<Option<(OwnedFd, BitFlags<AccessFs>)>> {
    let place = match open(&rule.path) {
        Err(Errno::ENOENT) => return Ok(None),
        place => place?,
    };
    let rights = rule.access.rights(abi);
    let kind = SFlag::from_bits_truncate(fstat(place.as_fd())?.st_mode) & SFlag::S_IFMT;
    let rights = if kind == SFlag::S_IFDIR { rights } else { rights & AccessFs::from_file(abi) };
    Ok(Some((place, rights)))
}

fn open(path: &Path) -> nix::Result<OwnedFd> {
    let how =
        OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    openat2(AT_FDCWD, path, how)
}

/// The kernel's own error if that is the cause. Otherwise an error that this kernel does not offer the request.
fn told(error: RulesetError) -> io::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if let Some(number) = inner.downcast_ref().and_then(io::Error::raw_os_error) {
            return io::Error::from_raw_os_error(number);
        }
        cause = inner.source();
    }
    Errno::EOPNOTSUPP.into()
}

#[cfg(test)]
mod tests;
