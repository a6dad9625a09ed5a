//! Finds the ports of this machine that Harbor's own servers hold.
//!
//! Owns the way from a port to its process, by /proc. A program below the bridge is a server of Harbor's. It is no
//! provider of models, whatever it answers. Must run off the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use harbor_child::reaper::parent_of;

use super::listening_sockets;

/// The ports among these at which a process below this one listens.
pub(super) fn held_by_servers(ports: &[u16]) -> BTreeSet<u16> {
    let listeners: BTreeMap<String, u16> = listeners(ports).collect();
    if listeners.is_empty() {
        return BTreeSet::new();
    }
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let ours = pids.filter(|pid| is_below(*pid, std::process::id()));
    ours.flat_map(sockets_of).filter_map(|socket| listeners.get(&socket).copied()).collect()
}

/// The sockets that listen at one of `ports`, in the form that descriptors name them.
fn listeners(ports: &[u16]) -> impl Iterator<Item = (String, u16)> {
    let all = listening_sockets::all().into_iter().filter(|one| ports.contains(&one.port));
    all.map(|one| (format!("socket:[{}]", one.inode), one.port))
}

fn is_below(pid: u32, ancestor: u32) -> bool {
    std::iter::successors(parent_of(pid), |pid| parent_of(*pid))
        .take_while(|pid| *pid > 1)
        .any(|pid| pid == ancestor)
}

fn sockets_of(pid: u32) -> Vec<String> {
    let held = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    held.filter_map(|entry| fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_listener_is_found_by_its_port_and_one_of_this_process_is_no_server() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let found: Vec<_> = listeners(&[port]).collect();
        assert!(
            matches!(&found[..], [(socket, at)] if *at == port && sockets_of(std::process::id()).contains(socket))
        );
        assert_eq!(held_by_servers(&[port]), BTreeSet::new());
        assert!(is_below(std::process::id(), parent_of(std::process::id()).unwrap()));
    }
}
