//! The journal of definitions: whatever its bytes are, it is read, and what was read is written and read as the same.
//!
//! Input: the bytes of a journal. Also, as a definition's text, a lock's names, the path of a written place and a program, one that was changed in one byte.

use harbor_bridge::store::journal::{JournalContent, LockRow, parse, text};
use harbor_bridge::store::program_rows::ProgramRow;

use super::Target;

pub(super) const DEFINITIONS_JOURNAL: Target = Target {
    name: "definitions_journal",
    run: definitions_journal,
    corpus: &[
        b"",
        b"\n\n",
        b"c775e7b757ede630 {\"end\":{\"lines\":0}}\n",
        b"0000000000000000 {\"definition\":{\"server_id\":\"a\",\"definition\":\"{}\"}}\n",
        b"0000000000000000 {\"lock\":{\"server_id\":\"a\",\"current\":\"0f0f\",\"previous\":null}}\n",
        b"0000000000000000 {\"written\":{\"path\":\"/a\"}}\n0000000000000000 {\"end\":{\"lines\":18446744073709551615}}\n",
        b"{\"command\":\"x\",\"args\":[\"\\n\"]}",
    ],
};

fn definitions_journal(bytes: &[u8]) {
    let read = parse(bytes);
    let again = parse(&text(&read));
    assert_eq!(again, JournalContent { unread: 0, ..read });
    let own = String::from_utf8_lossy(bytes).into_owned();
    let lock = LockRow { server_id: own.clone(), current: own.clone(), previous: Some(own.clone()) };
    let content = JournalContent {
        definitions: vec![(own.clone(), own.clone())],
        locks: vec![lock, LockRow::default()],
        written: vec![own.clone()],
        programs: vec![ProgramRow { server_id: own.clone(), program: own, other_since: i64::MIN }],
        unread: 0,
    };
    let mut written = text(&content);
    assert_eq!(parse(&written), content);
    let at = bytes.len() * 7 % (written.len() - 1);
    written[at] ^= 1 << (bytes.len() % 8);
    let damaged = parse(&written);
    assert!(damaged.unread > 0, "byte {at}");
    assert!(damaged.definitions.iter().all(|definition| content.definitions.contains(definition)));
    assert!(damaged.locks.iter().all(|row| content.locks.contains(row)));
    assert!(damaged.written.iter().all(|path| content.written.contains(path)));
    assert!(damaged.programs.iter().all(|row| content.programs.contains(row)));
}
