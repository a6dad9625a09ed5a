//! The link between a parent and its child: a pipe for each direction. No name, no token, nobody else can connect.
//!
//! ```text
//!  parent ── to ══════════► from (stdin) ── child        the end of either is the end of the link
//!         ── from ◄══════════ to (stdout) ──
//! ```
//!
//! The child gets its ends as standard input and output, which keeps posix_spawn. Pipes and no socket pair: a socket's
//! buffers are allocated anew for each write, which takes longer than copying into them.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;

use nix::sys::stat::{SFlag, fstat};
use tokio::net::unix::pipe;

/// The half that is read from.
pub type LinkReader = pipe::Receiver;

/// The half that is written to.
pub type LinkWriter = pipe::Sender;

/// One process's ends.
#[derive(Debug)]
pub struct Ends {
    /// Reads the messages of the other process.
    pub from: PipeReader,
    /// Writes messages to the other process.
    pub to: PipeWriter,
}

impl Ends {
    /// Has the runtime watch both.
    ///
    /// # Errors
    /// When the runtime takes no more descriptors.
    pub fn watch(self) -> io::Result<(LinkReader, LinkWriter)> {
        Ok((LinkReader::from_owned_fd(self.from.into())?, LinkWriter::from_owned_fd(self.to.into())?))
    }
}

/// The parent's ends, and the child's as its standard input and output.
///
/// # Errors
/// When the system is out of file descriptors.
pub fn pair() -> io::Result<(Ends, [Stdio; 2])> {
    let (stdin, to) = io::pipe()?;
    let (from, stdout) = io::pipe()?;
    Ok((Ends { from, to }, [stdin.into(), stdout.into()]))
}

/// In the child: takes the link out of standard input and output and puts `/dev/null` there, so that no process started
/// from here inherits it (an inherited end would also hide a death).
///
/// # Errors
/// When standard input or output is closed, or is no pipe.
pub fn take() -> io::Result<Ends> {
    // SAFETY: the descriptors are only looked at while they are cloned, and whether they are open is the kernel's answer
    // to that. The library's own handles of them would come with buffers that nobody reads from.
    #[allow(unsafe_code)]
    let standard = unsafe { [BorrowedFd::borrow_raw(0), BorrowedFd::borrow_raw(1)] };
    let [from, to] = standard.map(own);
    let ends = Ends { from: from?.into(), to: to?.into() };
    let null = File::options().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdin(&null)?;
    nix::unistd::dup2_stdout(&null)?;
    Ok(ends)
}

fn own(end: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let kind = SFlag::from_bits_truncate(fstat(end.as_fd())?.st_mode) & SFlag::S_IFMT;
    if kind != SFlag::S_IFIFO {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "standard input and output must be pipes"));
    }
    end.try_clone_to_owned()
}
