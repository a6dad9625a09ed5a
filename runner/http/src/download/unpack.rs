//! Unpacks a download, and says which file is the program.
//!
//! Owns the order: all of it is looked at before a file is said to be the program. Must never be asked before the download
//! was checked.

use std::fs::{self, File, Permissions};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use harbor_child::sandbox::limits::{self, Limits};
use harbor_ipc_proto::download::{Fetched, Unpacked};
use harbor_policy::package::binary::{FILES, REPORT};

use super::archive::{Entry, MAX_BYTES, read_tar, read_zip};
use super::choice::program;
use super::disk::Disk;
use super::machine::{Form, START, foreign, form};
use super::step::{DOWNLOAD, FETCHED, Options};

/// Bytes of memory: files go to the disk as they come, but an archive can have names of any length.
const MEMORY: u64 = 1 << 30;

/// The step.
pub(super) fn unpack(options: &Options) -> Result<(), String> {
    let most = Limits { memory: Some(MEMORY), ..Limits::default() };
    limits::apply(&most, false).map_err(|error| format!("its limits cannot be set: {error}"))?;
    let dir = options.dir();
    let wrote = |error: std::io::Error| format!("it cannot be unpacked: {error}");
    let fetched = fs::read(dir.join(FETCHED)).map_err(wrote)?;
    let fetched: Fetched = serde_json::from_slice(&fetched).map_err(|_| "it was not fetched")?;
    let path = dir.join(DOWNLOAD);
    let (name, wanted) = (options.get("name").unwrap_or_default(), options.get("bin"));
    let program = place(&path, &dir.join(FILES), name, wanted)?;
    fs::set_permissions(dir.join(FILES).join(&program), Permissions::from_mode(0o755)).map_err(wrote)?;
    let Fetched { sha256, size, unread_signature } = fetched;
    let report = Unpacked { sha256, size, program, unread_signature };
    let report = serde_json::to_vec(&report).map_err(|error| error.to_string())?;
    fs::write(dir.join(REPORT), report).map_err(wrote)?;
    // Of a program alone it has gone already.
    let _ = fs::remove_file(path);
    Ok(())
}

/// Brings the file to its place. Returns the path of the program there.
fn place(file: &Path, files: &Path, name: &str, wanted: Option<&str>) -> Result<String, String> {
    let unread = |error: std::io::Error| format!("it cannot be unpacked: {error}");
    let opened = || File::open(file).map_err(unread);
    let mut start = Vec::new();
    opened()?.take(START as u64).read_to_end(&mut start).map_err(unread)?;
    let form = form(&start);
    let mut disk = Disk::new(files).map_err(unread)?;
    let entries: Vec<Entry> = match form {
        Form::Gzip => read_tar(opened()?, MAX_BYTES, &mut disk)?,
        Form::Zip => read_zip(opened()?, MAX_BYTES, &mut disk)?,
        form => return alone(file, files, name, &form, wanted),
    };
    disk.finish()?;
    program(&entries, wanted).map(ToOwned::to_owned)
}

/// A program that is no archive.
fn alone(file: &Path, files: &Path, name: &str, form: &Form, wanted: Option<&str>) -> Result<String, String> {
    match form {
        Form::Program if wanted.is_some() => {
            Err("it is a single program, not an archive: leave --bin out".into())
        }
        Form::Program => {
            fs::rename(file, files.join(name)).map_err(|error| format!("it cannot be unpacked: {error}"))?;
            Ok(name.to_owned())
        }
        Form::Foreign(machine) => Err(foreign("it", machine)),
        Form::Page => Err("it is a web page; use the address of the file itself".into()),
        _ => Err("it is neither a program nor a .tar.gz or .zip".into()),
    }
}
