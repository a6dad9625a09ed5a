//! Places that a definition's arguments and variables name and that its server does not have. Nothing else
//! says that the server would find nothing there. For the arguments of a call the bridge says so itself.
//!
//! Owns looking for them here. Must never be asked for words of other people.

use std::collections::BTreeMap;
use std::env;

use harbor_client::id::server_id;
use harbor_client::terminal::remark;
use harbor_home::places::{is_directory, real};
use harbor_ipc_proto::client::{GetSandbox, SandboxView};
use harbor_policy::sandbox::SandboxFacts;
use harbor_policy::sandbox::paths::is_within;
use harbor_policy::unreachable_places::{advised, find, is_missing_program, of_words, told};

use crate::client::{Client, QUICK};
use crate::table::flatten;

/// Says of each of these places how a server could have it, if it does not.
pub fn tell_words(client: &mut Client, server: &str, args: &[String], env: &BTreeMap<String, String>) {
    let words = args.iter().chain(env.values()).map(String::as_str);
    let places = of_words(words);
    if places.is_empty() {
        return;
    }
    let Ok(server_id) = server_id(server) else { return };
    let Ok(answer) = client.ask(&GetSandbox { server_id }, QUICK) else { return };
    let facts = SandboxFacts { home: env::var("HOME").ok(), ..SandboxFacts::default() };
    for place in places {
        let Some(found) = find(&place, is_directory) else { continue };
        if is_missing_program(&place, found) {
            remark(&format!("{} does not exist", flatten(&place)));
        } else if !has(&answer.sandbox, &place) && !has(&answer.sandbox, &real(&place)) {
            remark(&flatten(&told(server, &place, &advised(&place, found, &facts))));
        }
    }
}

/// True if a server reaches a place. A server without the system's paths is confined by other means, or not
/// at all: its paths are then unknown.
fn has(sandbox: &SandboxView, place: &str) -> bool {
    let is_held = sandbox.paths.iter().any(|path| path.why == "system");
    let reaches = |within: &str| is_within(place, within);
    !is_held
        || sandbox
            .paths
            .iter()
            .any(|path| reaches(&path.path) || path.granted_as.as_deref().is_some_and(reaches))
}

#[cfg(test)]
mod tests {
    use super::super::rig::typed;
    use super::*;

    #[test]
    fn what_a_server_has_is_not_outside() {
        let sandbox: SandboxView = typed(
            r#"{"paths":[{"path":"/usr","why":"system"},{"path":"/data/a","why":"granted","granted_as":"/home/me/a"}]}"#,
        );
        assert!(has(&sandbox, "/data/a/x") && has(&sandbox, "/home/me/a/x") && has(&sandbox, "/usr/share"));
        assert!(!has(&sandbox, "/home/me/ab") && !has(&sandbox, "/tmp/x"));
        let container: SandboxView = typed(r#"{"paths":[{"path":"/data/a","why":"granted"}]}"#);
        assert!(has(&container, "/tmp/x"));
    }
}
