//! What others offer for download, by steps of an installer. For a program: see `policy::package::binary`.
//!
//! ```text
//!  harbor-runner-http fetch …  ─► fetch: one file, its hash and its signature ─► DIR/download, DIR/fetched.json
//!  harbor-runner-http fetch-long … ─► long: a file of any size, which goes on where it broke off ─► DIR/part
//!  harbor-runner-http fetch-page … ─► page: a page as text, a text or a picture ─► DIR/page
//!  harbor-runner-http unpack … ─► archive: entries ─► disk: DIR/files ─► choice ─► DIR/unpacked.json
//! ```
//!
//! Each step is a process of its own: the one that reads an archive of other people has read nothing of the network. Both
//! run below a runner, in the sandbox of installers. Owns the command line. Must never run anything of what was fetched.

pub mod archive;
pub mod choice;
mod disk;
mod fetch;
mod long;
pub mod machine;
mod page;
mod signature;
mod step;
mod unpack;

use std::ffi::OsString;
use std::process::ExitCode;

use harbor_ipc_proto::BUILD;
use harbor_policy::package::binary::SAID;

use self::step::{Options, say};

/// Does what the command line asks for, if it asks for one of these steps.
#[must_use]
pub fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let (mode, words) = arguments.split_first()?;
    let step = match mode.to_str()? {
        "fetch" => fetch::fetch,
        "fetch-long" => |options: &Options| long::fetch_long(options).map_err(|broken| broken.to_string()),
        "fetch-page" => page::fetch_page,
        "unpack" => unpack::unpack,
        _ => return None,
    };
    let done = match Options::read(words) {
        Some(options) if options.get("build") == Some(BUILD) => step(&options),
        _ => Err("Harbor was upgraded meanwhile; run `harbor shutdown` and try again".into()),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say(&format!("{SAID}{why}"));
            ExitCode::FAILURE
        }
    })
}
