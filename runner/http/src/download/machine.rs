//! Finds out what a file is, by how it begins: a program of this machine, of another one, or none.
//!
//! Owns these few bytes of each format. Must never say that a file is harmless: only what it looks like.

use std::env::consts::ARCH;

/// Bytes that are looked at.
pub const START: usize = 64;

/// The kind of a file, by its looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// A program that this machine can start.
    Program,
    /// A program of another one, with its words: `Linux on aarch64`.
    Foreign(String),
    /// A tar that gzip has packed, or another file.
    Gzip,
    /// An archive.
    Zip,
    /// A page of the web.
    Page,
    /// Anything else.
    Other,
}

/// Processors by their numbers in ELF.
const PROCESSORS: &[(u16, &str)] = &[
    (3, "x86"),
    (8, "mips"),
    (20, "powerpc"),
    (21, "powerpc64"),
    (22, "s390x"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (258, "loongarch64"),
];

/// The first bytes of programs of macOS: for one processor, in either order, and for several.
const MACH_O: &[[u8; 4]] = &[
    *b"\xcf\xfa\xed\xfe",
    *b"\xce\xfa\xed\xfe",
    *b"\xfe\xed\xfa\xcf",
    *b"\xfe\xed\xfa\xce",
    *b"\xca\xfe\xba\xbe",
];

/// The kind of a file that begins like this.
#[must_use]
pub fn form(start: &[u8]) -> Form {
    match start {
        [0x7f, b'E', b'L', b'F', rest @ ..] => elf(rest),
        [b'#', b'!', ..] => Form::Program,
        // A module of WebAssembly, which Harbor interprets.
        [b'\0', b'a', b's', b'm', ..] => Form::Program,
        [0x1f, 0x8b, ..] => Form::Gzip,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Form::Zip,
        [b'M', b'Z', ..] => Form::Foreign("Windows".into()),
        [a, b, c, d, ..] if MACH_O.contains(&[*a, *b, *c, *d]) => Form::Foreign("macOS".into()),
        _ if start.trim_ascii_start().first() == Some(&b'<') => Form::Page,
        _ => Form::Other,
    }
}

/// Reads the header of an ELF behind its first four bytes: class, byte order, version, system; from byte 12
/// on kind and processor.
fn elf(rest: &[u8]) -> Form {
    let number = |at: usize| Some([*rest.get(at)?, *rest.get(at + 1)?]);
    let (Some(kind), Some(processor)) = (number(12), number(14)) else { return Form::Other };
    let order =
        |bytes: [u8; 2]| if rest[1] == 2 { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
    // Executable, or to be put anywhere, as most are now. Others are pieces of programs.
    if !matches!(order(kind), 2 | 3) {
        return Form::Other;
    }
    // Nothing begins at zero: that is a library.
    let begin = rest.get(20..if rest[0] == 1 { 24 } else { 28 });
    if order(kind) == 3 && begin.is_some_and(|begin| begin.iter().all(|byte| *byte == 0)) {
        return Form::Other;
    }
    let found = PROCESSORS.iter().find(|(known, _)| *known == order(processor));
    match (rest[3], found) {
        (0 | 3, Some((_, name))) if *name == ARCH => Form::Program,
        (0 | 3, Some((_, name))) => Form::Foreign(format!("Linux on {name}")),
        (0 | 3, None) => Form::Foreign(format!("Linux on a processor with the number {}", order(processor))),
        (9, _) => Form::Foreign("FreeBSD".into()),
        (system, _) => Form::Foreign(format!("a system with the number {system}")),
    }
}

/// The refusal of a program of another machine.
#[must_use]
pub fn foreign(what: &str, machine: &str) -> String {
    format!(
        "{what} is a program for {machine}, but this is Linux on {ARCH}; look for the file for this machine ({{arch}} \
         in the address stands for {ARCH})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(system: u8, kind: u16, processor: u16) -> Form {
        let head = [b"\x7fELF\x02\x01\x01".as_slice(), &[system], &[0; 8]].concat();
        form(&[&head[..], &kind.to_le_bytes(), &processor.to_le_bytes()].concat())
    }

    #[test]
    fn programs_are_known_by_their_first_bytes() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(form(&own[..START]), Form::Program);
        let here = PROCESSORS.iter().find(|(_, name)| *name == ARCH).unwrap().0;
        let other = if here == 183 { (62, "x86_64") } else { (183, "aarch64") };
        assert_eq!((of(0, 2, here), of(3, 3, here)), (Form::Program, Form::Program));
        assert_eq!(of(0, 3, other.0), Form::Foreign(format!("Linux on {}", other.1)));
        assert_eq!(of(9, 2, here), Form::Foreign("FreeBSD".into()));
        assert_eq!(of(0, 1, here), Form::Other);
        let head = [&own[..24], &[0; 8], &own[32..START]].concat();
        assert_eq!(form(&head), Form::Other, "a library");
        for (start, wanted) in [
            (&b"#!/bin/sh"[..], Form::Program),
            (b"MZ\x90\0", Form::Foreign("Windows".into())),
            (b"\xcf\xfa\xed\xfe..", Form::Foreign("macOS".into())),
            (b"\n <!DOCTYPE html>", Form::Page),
            (b"\x1f\x8b\x08", Form::Gzip),
            (b"PK\x03\x04", Form::Zip),
            (b"\x7fELF\x02", Form::Other),
            (b"", Form::Other),
        ] {
            assert_eq!(form(start), wanted, "{start:?}");
        }
    }
}
