//! The owner of the program that answers at a provider's address on this machine.
//!
//! Owns the look at the sockets that listen before each request. Anybody can take a port, and another person's program
//! there reads the request and chooses which tools are called. Must run off the loop, and never refuse because it could
//! not look.

use std::fs;

use harbor_policy::listeners::{Accounts, answering_at};
use harbor_policy::models::is_local;
use nix::unistd::{Uid, User, geteuid};

use super::listening_sockets;

/// The name of another person of this machine whose program answers at this address.
pub(super) async fn another_person_at(base_url: &str) -> Option<String> {
    if !is_local(base_url) {
        return None;
    }
    let base_url = base_url.to_owned();
    let looked = tokio::task::spawn_blocking(move || look(&base_url, geteuid()));
    looked.await.unwrap_or_default()
}

fn look(base_url: &str, own: Uid) -> Option<String> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let accounts = Accounts::read(own.as_raw(), &read("/etc/login.defs"));
    let mut found = answering_at(base_url, &listening_sockets::all()).into_iter();
    found.find(|account| accounts.is_another_persons(*account)).map(name)
}

fn name(account: u32) -> String {
    let user = User::from_uid(Uid::from_raw(account)).ok().flatten();
    user.map_or_else(|| account.to_string(), |user| user.name)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn ones_own_program_is_nobody_elses_and_one_of_root_nobodys() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        assert_eq!(look(&url, geteuid()), None);
        let (own, stranger) = (geteuid(), Uid::from_raw(geteuid().as_raw() + 1));
        let accounts =
            Accounts::read(stranger.as_raw(), &fs::read_to_string("/etc/login.defs").unwrap_or_default());
        let is_another = accounts.is_another_persons(own.as_raw());
        assert_eq!(look(&url, stranger).is_some(), is_another);
    }
}
