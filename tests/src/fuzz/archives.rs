//! What is read of downloads: archives, how files begin, and which of them is the program.

use std::io::{self, Cursor, Read};

use harbor_runner_http::download::archive::{Place, read_tar, read_zip};
use harbor_runner_http::download::choice::program;
use harbor_runner_http::download::machine::{START, form};

use super::Target;

/// More is not unpacked.
const MOST: u64 = 1 << 20;

pub(super) const ARCHIVE: Target = Target {
    name: "archive",
    run: archive,
    corpus: &[
        b"PK\x03\x04\x14\0\0\0\0\0\0\0!\0\xe5\xd2\x12\xae\x02\0\0\0\x02\0\0\0\x01\0\0\0a#!PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0!\0\xe5\xd2\x12\xae\x02\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\xed\x81\0\0\0\0aPK\x05\x06\0\0\0\0\x01\0\x01\0/\0\0\0!\0\0\0\0\0",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"../a\0x 0755",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0",
    ],
};

/// What is handed on stays inside, and within the limit.
#[derive(Default)]
struct Counted(u64);

fn stays(path: &str) {
    assert!(!path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")), "{path}");
    assert!(!path.chars().any(char::is_control) && !path.contains('\\'));
}

impl Place for Counted {
    fn directory(&mut self, path: &str) -> io::Result<()> {
        stays(path);
        Ok(())
    }

    fn file(&mut self, path: &str, _: bool, content: &mut dyn Read) -> io::Result<()> {
        stays(path);
        let mut piece = [0; 4096];
        loop {
            match content.read(&mut piece)? {
                0 => return Ok(()),
                length => self.0 += length as u64,
            }
        }
    }

    /// From its directory as many steps up as there are, at most, and none behind one down.
    fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        stays(path);
        let mut depth = path.split('/').count() - 1;
        let mut down = false;
        for part in target.split('/').filter(|part| !matches!(*part, "" | ".")) {
            match part {
                ".." => {
                    assert!(depth > 0 && !down, "{path} -> {target}");
                    depth -= 1;
                }
                _ => down = true,
            }
        }
        assert!(!target.starts_with('/'));
        Ok(())
    }

    fn second_name(&mut self, path: &str, of: &str) -> io::Result<()> {
        stays(path);
        stays(of);
        Ok(())
    }
}

fn archive(bytes: &[u8]) {
    let _ = form(&bytes[..bytes.len().min(START)]);
    // As they are, and without gzip around them, so that mutation reaches what is inside.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    let _ = io::Write::write_all(&mut packed, &tar_of(bytes));
    let packed = packed.finish().unwrap_or_default();
    let mut counted = Counted::default();
    let read = [
        read_tar(bytes, MOST, &mut counted),
        read_tar(&packed[..], MOST, &mut counted),
        read_zip(Cursor::new(bytes), MOST, &mut counted),
    ];
    assert!(counted.0 <= 3 * MOST);
    for entries in read.iter().flatten() {
        let _ = program(entries, None).map(stays);
        let _ = program(entries, Some("a"));
    }
}

/// A block of a tar with these bytes as name, and its sum set right; else no mutation would get behind it.
fn tar_of(bytes: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    let whole = header.as_mut_bytes();
    for (place, byte) in whole.iter_mut().zip(bytes) {
        *place = *byte;
    }
    let kind = bytes.get(5).map_or(b'0', |byte| b'0' + byte % 8);
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_size((bytes.len() as u64).min(512));
    header.set_cksum();
    let mut all = header.as_bytes().to_vec();
    all.extend(bytes.iter().take(512));
    all.resize(4 * 512, 0);
    all
}
