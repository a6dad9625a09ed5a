//! What a process says about itself to the kernel.
//!
//! Owns the few process-wide switches. The parent-death signal fires when the *thread* that started this
//! process ends, so parents start children from a thread that lives as long as they do.

use std::io;
use std::os::unix::process::parent_id;

use nix::sys::prctl;
use nix::sys::signal::Signal;

/// Has the kernel send `signal` to this process when its parent ends, and makes sure that the parent is still
/// `expected`: it may have ended before the request was made. A parent outside of this process's PID namespace has
/// the number 0, before and after its end; there it is the namespace's end that takes this process along.
///
/// # Errors
/// When the parent is another process already.
pub fn die_with_parent(expected: u32, signal: Signal) -> io::Result<()> {
    prctl::set_pdeathsig(signal)?;
    if parent_id() == expected {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::NotFound, "the parent has ended"))
    }
}

/// Makes this process the parent of all descendants that lose theirs.
///
/// # Errors
/// Where the kernel does not know how.
pub fn become_subreaper() -> io::Result<()> {
    Ok(prctl::set_child_subreaper(true)?)
}

/// Keeps other processes of the same user from reading this one: its memory, environment and open files.
///
/// # Errors
/// Where the kernel does not know how.
pub fn not_dumpable() -> io::Result<()> {
    Ok(prctl::set_dumpable(false)?)
}

/// What ps and top call this process: started from a descriptor, it would bear that one's number.
pub fn be_called(name: &std::ffi::CStr) {
    // A name is for people only.
    let _ = prctl::set_name(name);
}

/// Closes what this process was started with besides its standard streams: a caller's open files are none of its
/// business, and none of its children's. To be called before anything is opened here.
///
/// # Errors
/// When it cannot be found out what is open.
pub fn close_inherited() -> io::Result<()> {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2)
        .collect();
    for fd in open {
        // The descriptor of the listing itself is closed already.
        let _ = nix::unistd::close(fd);
    }
    Ok(())
}
