//! A script or module that Harbor keeps and interprets itself, as the person's file has it.
//!
//! Owns reading the file, once. Must never run it.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_client::errors::Failure;
use harbor_home::files::regular_file;
use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};

use super::places::absolute;

/// The longest script, in bytes; the bridge has the same limit.
const MAX_SCRIPT: u64 = 512 * 1024;

/// The largest module, in bytes; the bridge has the same limit.
const MAX_MODULE: u64 = 16 * 1024 * 1024;

/// A script.
#[derive(Debug)]
pub struct Script {
    /// The whole path of its file.
    pub file: String,
    pub text: String,
}

/// A module of WebAssembly.
#[derive(Debug)]
pub struct Module {
    /// The whole path of its file.
    pub file: String,
    /// Its bytes, as they are sent.
    pub base64: String,
}

impl Script {
    /// Reads the file, as named in the directory `here`.
    pub fn read(file: &str, here: &Path) -> Result<Self, Failure> {
        let file = absolute(file, here)?;
        let bytes = bytes("--js", &file, MAX_SCRIPT)?;
        Self::of(file, bytes)
    }

    /// The script with these bytes, as if its file were there.
    pub fn of(file: String, bytes: Vec<u8>) -> Result<Self, Failure> {
        if bytes.len() as u64 > MAX_SCRIPT {
            let most = MAX_SCRIPT / 1024;
            let why = format!("--js: {file} is longer than {most} KiB; leave out what it does not use");
            return Err(Failure::Usage(why));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text }),
            Err(_) => Err(Failure::Usage(format!("--js: {file} is not UTF-8; save it as UTF-8"))),
        }
    }
}

impl Module {
    /// Reads the file, as named in the directory `here`.
    pub fn read(file: &str, here: &Path) -> Result<Self, Failure> {
        let file = absolute(file, here)?;
        let bytes = bytes("--wasm", &file, MAX_MODULE)?;
        Self::of(file, &bytes)
    }

    /// Checks that a module can have what these settings give: directories, and no network.
    pub fn may_have(sandbox: &SandboxSettings) -> Result<(), Failure> {
        if sandbox.network.as_ref().is_some_and(|network| *network != NetworkKind::None) {
            let why = "--network: a module of WebAssembly has no sockets; leave it out, or write the server in another way";
            return Err(Failure::Usage(why.into()));
        }
        let files =
            sandbox.read.iter().chain(&sandbox.write).flatten().filter(|path| Path::new(path).is_file());
        match files.into_iter().next() {
            Some(file) => Err(Failure::Usage(format!(
                "{file} is a file, and a module can only have directories; name its directory"
            ))),
            None => Ok(()),
        }
    }

    /// The module with these bytes, as if its file were there.
    pub fn of(file: String, bytes: &[u8]) -> Result<Self, Failure> {
        let wrong = |what: &str| Failure::Usage(format!("--wasm: {file} {what}"));
        if bytes.len() as u64 > MAX_MODULE {
            return Err(wrong("is larger than 16 MiB; build it optimised, without debug information"));
        }
        match bytes.get(..8) {
            Some([b'\0', b'a', b's', b'm', _, _, 1, 0]) => Err(wrong(
                "is a component (WASI preview 2), and Harbor runs modules; build it for WASI preview 1, such as Rust's target wasm32-wasip1",
            )),
            Some([b'\0', b'a', b's', b'm', ..]) => Ok(Self { base64: STANDARD.encode(bytes), file }),
            _ => Err(wrong(
                "is no module of WebAssembly; build one for WASI preview 1, such as with Rust's target wasm32-wasip1",
            )),
        }
    }
}

/// The bytes of a file; one more than `most` where it is longer.
fn bytes(option: &str, file: &str, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // A pipe would be waited for; the link to a file is the person's own.
    let whole = Path::new(file).canonicalize();
    let opened = whole.and_then(|file| regular_file(&file));
    let read = opened.and_then(|opened| opened.take(most + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::Usage(format!("{option}: cannot read {file}: {error}")))?;
    Ok(bytes)
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

    #[test]
    fn a_file_that_is_no_module_is_refused_with_what_to_do() {
        let here = tempfile::tempdir().unwrap();
        let read = |content: &[u8]| {
            std::fs::write(here.path().join("a.wasm"), content).unwrap();
            Module::read("a.wasm", here.path())
                .map(|module| module.base64)
                .map_err(|wrong| wrong.message().unwrap())
        };
        assert_eq!(read(b"\0asm\x01\0\0\0"), Ok("AGFzbQEAAAA=".into()));
        assert!(read(b"\0asm\x0d\0\x01\0").unwrap_err().contains("is a component (WASI preview 2)"));
        assert!(read(b"\0asm").unwrap_err().contains("is no module of WebAssembly"));
        assert!(read(&[b' '; 16 * 1024 * 1024 + 1]).unwrap_err().contains("larger than 16 MiB"));
    }

    #[test]
    fn a_module_has_directories_and_no_network() {
        let here = tempfile::tempdir().unwrap();
        let (directory, file) = (here.path().to_str().unwrap().to_owned(), here.path().join("a.txt"));
        std::fs::write(&file, "").unwrap();
        let of = |path: &str, network| {
            let sandbox = SandboxSettings {
                read: Some(vec![path.to_owned()]),
                network: Some(network),
                ..SandboxSettings::default()
            };
            Module::may_have(&sandbox).map_err(|wrong| wrong.message().unwrap())
        };
        assert_eq!(of(&directory, NetworkKind::None), Ok(()));
        assert!(of(&directory, NetworkKind::Hosts).unwrap_err().contains("has no sockets"));
        assert!(of(file.to_str().unwrap(), NetworkKind::None).unwrap_err().contains("name its directory"));
    }
}
