//! Servers that AI clients and pages do not find unless a person has started them.
//!
//! Owns which these are, and the sentence. Must never start a bridge to find out.

use harbor_home::Paths;
use harbor_ipc_proto::client::{ListServers, ServerView, Supervision};

use super::grants::shorten;
use crate::client::{Client, QUICK};

/// What is to be said of `servers`, as `list_servers` shows them.
pub fn among(servers: &[ServerView]) -> Option<(String, String)> {
    let is_seen = |said: &Supervision| said.lazy == Some(true) || said.auto_start == Some(true);
    let unseen = servers.iter().filter(|server| !is_seen(&server.supervision));
    let names: Vec<_> = unseen.map(|server| server.server_id.clone()).collect();
    let first = names.first()?.clone();
    let (which, are, it_runs) = match names.len() {
        1 => (first.clone(), "is", "it unless it runs"),
        _ => (shorten(Some(names)), "are", "them unless they run"),
    };
    Some((
        format!(
            "{which} {are} neither --lazy nor --auto-start: AI clients and pages see nothing of {it_runs}"
        ),
        format!("`harbor set {first} --lazy` has a call start it, --auto-start each start of the bridge"),
    ))
}

/// The same of a bridge that runs, in one sentence; nothing where none does.
pub fn here(paths: &Paths) -> Option<String> {
    let mut client = Client::connect_running(paths).ok()??;
    let listed = client.ask(&ListServers {}, QUICK).ok()?;
    among(&listed.servers).map(|(what, next)| format!("{what}; {next}"))
}

/// What is said of a server that has just come, if these are its settings.
pub fn once_added(name: &str, said: &Supervision) -> Option<String> {
    let is_seen = said.lazy == Some(true) || said.auto_start == Some(true);
    (!is_seen).then(|| {
        format!(
            "AI clients and pages see it only while it runs: `harbor set {name} --lazy` has a call start it"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::rig::typed;
    use super::*;

    #[test]
    fn of_a_new_server_it_is_said_once() {
        let with = |lazy, auto_start| Supervision { lazy, auto_start, ..Supervision::default() };
        assert!(
            once_added("s", &with(None, Some(false)))
                .unwrap()
                .ends_with("`harbor set s --lazy` has a call start it")
        );
        assert_eq!(
            (once_added("s", &with(Some(true), None)), once_added("s", &with(None, Some(true)))),
            (None, None)
        );
    }

    #[test]
    fn servers_that_nobody_starts_are_named() {
        let server = |name: &str, said: &str| {
            typed::<ServerView>(&format!(r#"{{"server_id":"{name}","supervision":{said}}}"#))
        };
        let seen = [server("a", r#"{"lazy":true}"#), server("b", r#"{"auto_start":true}"#)];
        assert_eq!(among(&seen), None);
        let (what, next) = among(&[server("c", r#"{"lazy":false}"#)]).unwrap();
        assert!(what.starts_with("c is neither --lazy nor"), "{what}");
        assert!(next.starts_with("`harbor set c --lazy`"), "{next}");
        let (what, _) = among(&[server("c", "{}"), server("d", "{}")]).unwrap();
        assert!(what.starts_with("c, d are neither") && what.ends_with("them unless they run"), "{what}");
    }
}
