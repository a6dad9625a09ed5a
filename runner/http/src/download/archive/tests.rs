//! Tests of archives: as others make them, and as nobody should.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::super::disk::Disk;
use super::*;

/// One entry: kind, path, target of a link, mode, content.
type Raw<'a> = (EntryType, &'a str, &'a str, u32, &'a [u8]);

/// More is not unpacked here.
const MOST: u64 = 8 << 20;

const SCRIPT: &[u8] = b"#!/bin/sh\n";

fn file(path: &str) -> Raw<'_> {
    (EntryType::Regular, path, "", 0o644, b"text")
}

fn link<'a>(path: &'a str, target: &'a str) -> Raw<'a> {
    (EntryType::Symlink, path, target, 0o777, b"")
}

/// Names are written as they are: a sound library would refuse some of them.
fn tar(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (kind, path, target, mode, content) in entries {
        let mut header = Header::new_ustar();
        let fields = header.as_ustar_mut().unwrap();
        fields.name[..path.len()].copy_from_slice(path.as_bytes());
        fields.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(*mode);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn zip(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, mode, content) in entries {
        let options = SimpleFileOptions::default().unix_permissions(*mode);
        match (mode & KIND == LINK, path.ends_with('/')) {
            (true, _) => writer.add_symlink(*path, std::str::from_utf8(content).unwrap(), options).unwrap(),
            (_, true) => writer.add_directory(*path, options).unwrap(),
            _ => {
                writer.start_file(*path, options).unwrap();
                writer.write_all(content).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

/// Unpacks below `DIR/files`; nothing may be beside it then.
fn unpacked(bytes: &[u8], look: impl FnOnce(&Path, &[Entry])) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("files");
    let mut disk = Disk::new(&root).unwrap();
    let read = match bytes.starts_with(b"PK") {
        true => read_zip(Cursor::new(bytes), MOST, &mut disk),
        false => read_tar(bytes, MOST, &mut disk),
    };
    let done = read.and_then(|entries| {
        disk.finish()?;
        look(&root, &entries);
        Ok(())
    });
    assert_eq!(dir.path().read_dir().unwrap().count(), 1, "nothing is beside it");
    done
}

fn refusal(bytes: &[u8]) -> String {
    unpacked(bytes, |_, _| {}).unwrap_err()
}

#[test]
fn what_others_pack_is_unpacked() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = (EntryType::Directory, "a/", "", 0o755, &b""[..]);
    let server = (EntryType::Regular, "./a/bin/server", "", 0o4755, SCRIPT);
    let second = (EntryType::Link, "a/again", "a/bin/server", 0o755, &b""[..]);
    let tar = tar(&[
        directory,
        server,
        file("a/README"),
        second,
        link("run", "a/bin/server"),
        link("a/bin/up", "../README"),
    ]);
    unpacked(&tar, |root, entries| {
        let paths: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.executable)).collect();
        assert_eq!(paths, [("a/bin/server", true), ("a/README", false), ("a/again", true)]);
        assert_eq!((&entries[0].form, &entries[1].form), (&Form::Program, &Form::Other));
        assert_eq!(std::fs::read(root.join("run")).unwrap(), SCRIPT);
        assert_eq!(std::fs::read(root.join("a/bin/up")).unwrap(), b"text");
        let mode = root.join("a/bin/server").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "setuid is not taken over");
    })
    .unwrap();
    let zip = zip(&[
        ("a/", 0o40755, b""),
        ("a/server", 0o100_755, SCRIPT),
        ("a/x", 0o100_644, b"x"),
        ("l", 0o120_777, b"a/x"),
    ]);
    unpacked(&zip, |root, entries| {
        assert_eq!((entries[0].executable, entries[1].executable), (true, false));
        assert_eq!(std::fs::read(root.join("l")).unwrap(), b"x");
    })
    .unwrap();
}

#[test]
fn nothing_leads_out() {
    for path in ["../x", "/etc/x", "a/../../x", "a\\..\\x", "a/..", "\u{1b}[2J"] {
        let said = refusal(&tar(&[file(path)]));
        assert!(said.contains("leads out") || said.contains("not a valid file name"), "{path}: {said}");
        let said = refusal(&zip(&[(path, 0o100_644, b"x")]));
        assert!(said.contains("leads out") || said.contains("not a valid file name"), "{path}: {said}");
    }
    for target in ["/etc/passwd", "..", "../x", "a/../../x", "a/..", "", "./../x"] {
        assert!(refusal(&tar(&[link("l", target)])).contains("leads out"), "{target}");
    }
    assert!(refusal(&zip(&[("l", 0o120_777, b"../../x")])).contains("leads out"));
    assert!(refusal(&tar(&[(EntryType::Link, "x", "/etc/passwd", 0o644, b"")])).contains("leads out"));
    assert!(refusal(&tar(&[(EntryType::Link, "x", "y", 0o644, b"")])).contains("not a file in the archive"));
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        assert!(refusal(&tar(&[(kind, "x", "", 0o644, b"")])).contains("neither a file nor"));
    }
}

/// A link in the way is never written through, and what it would make of another one is not made.
#[test]
fn links_are_no_way_for_others() {
    let said = refusal(&tar(&[link("a", "."), link("a/c", "../x")]));
    assert!(said.contains("a/c of the archive cannot be made"), "{said}");
    let said = refusal(&tar(&[link("d/a", "b"), file("d/b/f"), link("d/a/l", "x")]));
    assert!(said.contains("cannot be made"), "{said}");
    // Files come first: where a link would be in their way, it cannot be made.
    let said = refusal(&tar(&[link("a", "b"), file("b/f"), file("a/f")]));
    assert!(said.contains("the link a of the archive cannot be made"), "{said}");
}

#[test]
fn there_are_limits() {
    let deep = vec!["d"; MAX_DEPTH + 1].join("/");
    assert!(refusal(&tar(&[file(&deep)])).contains("too deep"));
    assert!(refusal(&tar(&[file("x"), file("./x")])).contains("x is in the archive twice"));
    let mut twice = zip(&[("a/x", 0o100_644, b"first"), ("a/y", 0o100_755, SCRIPT)]);
    // No library writes that.
    let at: Vec<_> = (0..twice.len()).filter(|at| twice[*at..].starts_with(b"a/y")).collect();
    at.iter().for_each(|at| twice[at + 2] = b'x');
    assert!(refusal(&twice).contains("contains a file twice"));
    assert!(
        refusal(&zip(&[("x", 0o100_644, b"1"), ("./x", 0o100_644, b"2")]))
            .contains("x is in the archive twice")
    );
    let name = |at: usize| format!("f{at}");
    let names: Vec<_> = (0..=MAX_ENTRIES).map(name).collect();
    let many: Vec<_> =
        names.iter().map(|name| (EntryType::Directory, name.as_str(), "", 0o755, &b""[..])).collect();
    let read = read_tar(&tar(&many)[..], MOST, &mut Counted(0));
    assert!(read.unwrap_err().contains("more than 10000 files"));
    for bytes in [&b"\x1f\x8b\x08"[..], b"PK\x03\x04", b"\x1f\x8bno gzip at all"] {
        assert!(refusal(bytes).contains("damaged"), "{bytes:?}");
    }
    let whole = tar(&[(EntryType::Regular, "x", "", 0o644, &[7; 5000])]);
    assert!(refusal(&whole[..whole.len() / 2]).contains("damaged"));
}

/// What a place is given, without a disk.
struct Counted(u64);

impl Place for Counted {
    fn directory(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, _: &str, _: bool, content: &mut dyn Read) -> io::Result<()> {
        let mut piece = [0; 4096];
        loop {
            match content.read(&mut piece)? {
                0 => return Ok(()),
                length => self.0 += length as u64,
            }
        }
    }

    fn link(&mut self, _: &str, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn second_name(&mut self, _: &str, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// A kilobyte of it becomes a megabyte, and so on.
#[test]
fn what_swells_is_cut_off() {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut header = Header::new_ustar();
    header.set_path("swell").unwrap();
    header.set_size(2 * MOST);
    header.set_cksum();
    builder.append(&header, io::repeat(0).take(2 * MOST)).unwrap();
    let tar = builder.into_inner().unwrap().finish().unwrap();
    let zip =
        zip(&[("a", 0o100_644, &vec![0; MOST as usize / 2]), ("b", 0o100_644, &vec![0; MOST as usize])]);
    assert!(tar.len() + zip.len() < MOST as usize / 50);
    let (mut of_tar, mut of_zip) = (Counted(0), Counted(0));
    assert!(read_tar(&tar[..], MOST, &mut of_tar).unwrap_err().contains("unpacked archive is larger"));
    assert!(
        read_zip(Cursor::new(&zip), MOST, &mut of_zip).unwrap_err().contains("unpacked archive is larger")
    );
    assert!(of_tar.0 <= MOST && of_zip.0 <= MOST);
}
