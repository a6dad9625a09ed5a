//! A directory that a module may only read.
//!
//! Owns the refusal of every change. The sandbox refuses the same, where there is one.

use std::any::Any;
use std::path::PathBuf;

use wasmi_wasi::WasiDir;
use wasmi_wasi::wasi_common::dir::{OpenResult, ReaddirCursor, ReaddirEntity};
use wasmi_wasi::wasi_common::file::{FdFlags, Filestat, OFlags};
use wasmi_wasi::wasi_common::{Error, ErrorExt as _};

/// Another directory, without what changes it.
pub(crate) struct ReadOnly(pub(crate) Box<dyn WasiDir>);

#[wiggle::async_trait]
impl WasiDir for ReadOnly {
    fn as_any(&self) -> &dyn Any {
        self
    }

    async fn open_file(
        &self,
        follow: bool,
        path: &str,
        how: OFlags,
        read: bool,
        write: bool,
        flags: FdFlags,
    ) -> Result<OpenResult, Error> {
        if write || how.intersects(OFlags::CREATE | OFlags::TRUNCATE | OFlags::EXCLUSIVE) {
            return Err(Error::perm());
        }
        Ok(match self.0.open_file(follow, path, how, read, false, flags).await? {
            OpenResult::Dir(below) => OpenResult::Dir(Box::new(Self(below))),
            file @ OpenResult::File(_) => file,
        })
    }

    async fn readdir(
        &self,
        cursor: ReaddirCursor,
    ) -> Result<Box<dyn Iterator<Item = Result<ReaddirEntity, Error>> + Send>, Error> {
        self.0.readdir(cursor).await
    }

    async fn read_link(&self, path: &str) -> Result<PathBuf, Error> {
        self.0.read_link(path).await
    }

    async fn get_filestat(&self) -> Result<Filestat, Error> {
        self.0.get_filestat().await
    }

    async fn get_path_filestat(&self, path: &str, follow: bool) -> Result<Filestat, Error> {
        self.0.get_path_filestat(path, follow).await
    }
}
