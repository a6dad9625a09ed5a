//! Copies of clients' files as they were before Harbor took servers over: keys stand in them as the client had them.
//!
//! Owns saying so, and that a copy goes with the last of its servers. Must never delete one from which a
//! server could still be given back.

use std::fs;
use std::path::Path;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_client_configs::server_id;
use harbor_home::Paths;
use harbor_ipc_proto::client::ListServers;

use super::undo::UndoNote;
use crate::client::{Client, QUICK};

/// A server was removed here: says where its keys still stand, and deletes the copies of which nothing is here any more.
pub fn after_removal(client: &mut Client, server: &str, paths: &Paths) -> Result<(), Failure> {
    let is_its = |name: &str| server_id(name).as_deref() == Some(server);
    let notes: Vec<_> = UndoNote::all(paths)
        .into_iter()
        .filter(|note| note.taken.iter().any(|taken| is_its(&taken.name)))
        .collect();
    if notes.is_empty() {
        return Ok(());
    }
    let servers = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    let is_here =
        |name: &str| server_id(name).is_some_and(|id| servers.iter().any(|server| server.server_id == id));
    for mut note in notes {
        let mut copies: Vec<_> =
            note.taken.iter().filter(|taken| is_its(&taken.name)).map(|taken| taken.copy.clone()).collect();
        copies.dedup();
        for copy in copies.iter().filter(|copy| copy.exists()) {
            let is_needed = note.taken.iter().any(|taken| taken.copy == *copy && is_here(&taken.name));
            match is_needed {
                true => remark(&format!(
                    "{}, a copy of the client's earlier file, still contains {server} with its keys. Harbor restores \
                     other servers from that copy; when you no longer need it: `rm {0}`",
                    copy.display()
                )),
                false => deleted(copy),
            }
        }
        note.taken.retain(|taken| taken.copy.exists());
        note.save(paths)?;
    }
    Ok(())
}

fn deleted(copy: &Path) {
    match fs::remove_file(copy) {
        Ok(()) => remark(&format!(
            "deleted {}, the copy of the client's earlier file, with the keys in it",
            copy.display()
        )),
        Err(error) => remark(&format!("{} stays, with the keys in it: {error}", copy.display())),
    }
}
