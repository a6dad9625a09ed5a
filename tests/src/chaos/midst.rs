//! Whether a process has a connection to a port of this machine, as the kernel says. Must not touch the process.

use std::collections::BTreeSet;
use std::fs;

use harbor_tests::Process;

/// The ends of connections to this port of this machine that somebody still has, by their inodes.
pub fn connections_to(port: u16) -> BTreeSet<u64> {
    inodes(&fs::read_to_string("/proc/net/tcp").unwrap_or_default(), port)
}

/// Whether it has one of these. Taken to have one where nobody may look.
pub fn has_one_of(process: Process, connections: &BTreeSet<u64>) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", process.pid)) else { return !connections.is_empty() };
    let names =
        open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()?.to_str().map(str::to_owned));
    let inode = |name: String| name.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    names.filter_map(inode).any(|inode| connections.contains(&inode))
}

/// What has no inode any more, nobody has.
fn inodes(table: &str, port: u16) -> BTreeSet<u64> {
    let of_line = |line: &str| {
        let fields: Vec<_> = line.split_ascii_whitespace().collect();
        let (_, to) = fields.get(2)?.rsplit_once(':')?;
        let is_there = u16::from_str_radix(to, 16).is_ok_and(|to| to == port);
        fields.get(9)?.parse().ok().filter(|inode| is_there && *inode != 0)
    };
    table.lines().skip(1).filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_connection_is_its_callers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert_eq!(connections_to(port), BTreeSet::new());
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let found = connections_to(port);
        let own = Process::of(std::process::id()).unwrap();
        assert!(found.len() == 1 && has_one_of(own, &found));
        drop(stream);
        assert_eq!(connections_to(port), BTreeSet::new());
    }

    #[test]
    fn lines_of_the_table_are_read_by_their_fields() {
        let line = |to: &str, inode: &str| {
            format!("0: 0100007F:1F90 0100007F:{to} 01 00000000:00000000 00:00000000 00000000 0 0 {inode} 1")
        };
        let table = ["head".to_owned(), line("0050", "7"), line("0050", "0"), line("0051", "8")].join("\n");
        assert_eq!(inodes(&table, 80), [7].into());
    }
}
