//! stdin of a module.
//!
//! Owns that a read of it is a wait: the next stretch begins with what was read. Must never read ahead, or nobody could wait
//! for the file to become readable.

use std::any::Any;
use std::fs::File;
use std::io::{self, IoSliceMut, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd};

use wasmi_wasi::wasi_common::Error;
use wasmi_wasi::wasi_common::file::{FdFlags, FileType, WasiFile};

use crate::stretch::Stretch;

/// The process's own stdin.
pub(crate) struct Input {
    file: File,
    stretch: Stretch,
}

impl Input {
    /// # Errors
    /// When the process has none.
    pub(crate) fn new(stretch: Stretch) -> io::Result<Self> {
        Ok(Self { file: File::from(io::stdin().as_fd().try_clone_to_owned()?), stretch })
    }
}

#[wiggle::async_trait]
impl WasiFile for Input {
    fn as_any(&self) -> &dyn Any {
        self
    }

    async fn get_filetype(&self) -> Result<FileType, Error> {
        Ok(FileType::Pipe)
    }

    fn pollable(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
    }

    /// It stays a file that is waited for, as far as a module can tell.
    async fn set_fdflags(&mut self, _flags: FdFlags) -> Result<(), Error> {
        Ok(())
    }

    async fn read_vectored<'a>(&self, into: &mut [IoSliceMut<'a>]) -> Result<u64, Error> {
        let read = (&self.file).read_vectored(into);
        self.stretch.begin();
        Ok(u64::try_from(read?)?)
    }
}
