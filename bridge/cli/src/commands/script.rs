//! A script that Harbor keeps and interprets itself, as the person's file has it.
//!
//! Owns reading the file, once. Must never run it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use harbor_client::errors::Failure;

use super::places::absolute;

/// The longest script, in bytes; the bridge has the same limit.
const MAX_SCRIPT: u64 = 512 * 1024;

/// A script.
#[derive(Debug)]
pub struct Script {
    /// The whole path of its file.
    pub file: String,
    pub text: String,
}

impl Script {
    /// Reads the file, as named in the directory `here`.
    pub fn read(file: &str, here: &Path) -> Result<Self, Failure> {
        let file = absolute(file, here)?;
        let mut bytes = Vec::new();
        let read = File::open(&file).and_then(|opened| opened.take(MAX_SCRIPT + 1).read_to_end(&mut bytes));
        read.map_err(|error| Failure::Usage(format!("--js: cannot read {file}: {error}")))?;
        if bytes.len() as u64 > MAX_SCRIPT {
            let most = MAX_SCRIPT / 1024;
            return Err(Failure::Usage(format!(
                "--js: {file} is longer than {most} KiB; leave out what it does not use"
            )));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text }),
            Err(_) => Err(Failure::Usage(format!("--js: {file} is not UTF-8; save it as UTF-8"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_script_is_refused_with_what_to_do() {
        let here = tempfile::tempdir().unwrap();
        let read = |content: &[u8]| {
            std::fs::write(here.path().join("a.js"), content).unwrap();
            Script::read("a.js", here.path())
                .map(|script| script.text)
                .map_err(|wrong| wrong.message().unwrap())
        };
        assert_eq!(read("let é".as_bytes()), Ok("let é".into()));
        assert!(read(b"\xff").unwrap_err().contains("save it as UTF-8"));
        assert!(read(&[b' '; 512 * 1024 + 1]).unwrap_err().contains("longer than 512 KiB"));
        assert!(Script::read("b.js", here.path()).unwrap_err().message().unwrap().contains("cannot read"));
    }
}
