//! Places that were named and that a server does not have, said beside a result: nothing else says that a file was lost.
//!
//! Owns looking for them here. Must never be asked for words that somebody else has said.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use harbor_client::id::server_id;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{GetSandbox, SandboxView};
use harbor_policy::outside::{Found, Opening, advised, find, of_words};
use harbor_policy::sandbox::Facts;
use harbor_policy::sandbox::paths::is_within;

use crate::client::{Client, QUICK};
use crate::table::flatten;

/// Says of each of these places how a server could have it, if it does not. `told`: what has been said already.
pub fn tell(client: &mut Client, server: &str, places: &[String], told: &dyn Fn(&SandboxView, &str) -> bool) {
    if places.is_empty() {
        return;
    }
    let Ok(server_id) = server_id(server) else { return };
    let Ok(answer) = client.ask(&GetSandbox { server_id }, QUICK) else { return };
    let sandbox = &answer.sandbox;
    let facts = Facts { home: env::var("HOME").ok(), ..Facts::default() };
    for place in places.iter().filter(|place| !told(sandbox, place)) {
        let real = real(place);
        if let Some(found) = look(place)
            && !has(sandbox, place)
            && !has(sandbox, &real)
        {
            remark(&sentence(server, place, &advised(place, found, &facts)));
        }
    }
}

/// The same of the arguments and variables of a definition.
pub fn tell_words(client: &mut Client, server: &str, args: &[String], env: &BTreeMap<String, String>) {
    let words = args.iter().chain(env.values()).map(String::as_str);
    tell(client, server, &of_words(words), &|_, _| false);
}

/// Whether a server reaches a place. Where it reaches nothing of this system, it is held by other means or not at all, and its paths
/// are others or all.
fn has(sandbox: &SandboxView, place: &str) -> bool {
    let is_held = sandbox.paths.iter().any(|path| path.why == "system");
    let reaches = |within: &str| is_within(place, within);
    !is_held
        || sandbox
            .paths
            .iter()
            .any(|path| reaches(&path.path) || path.granted_as.as_deref().is_some_and(reaches))
}

/// What a place is here.
fn look(place: &str) -> Option<Found> {
    find(place, |path| fs::metadata(path).ok().map(|found| found.is_dir()))
}

/// Without the links on its way, as far as it is there.
fn real(place: &str) -> String {
    let path = Path::new(place);
    let whole = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let above = above.canonicalize().ok()?;
        // Nothing joined would end with a slash.
        Some(if rest.as_os_str().is_empty() { above } else { above.join(rest) })
    });
    whole.and_then(|whole| whole.to_str().map(str::to_owned)).unwrap_or_else(|| place.to_owned())
}

fn sentence(server: &str, place: &str, opens: &Result<Opening, String>) -> String {
    let outside = format!(
        "{} is outside of what {server} has: what it finds there is not yours, and what it leaves there is lost",
        flatten(place)
    );
    match opens {
        Ok(Opening { option, to_make: None }) => {
            format!("{outside}; this opens it: harbor sandbox {server} {}", flatten(option))
        }
        Ok(Opening { option, to_make: Some(directory) }) => format!(
            "{outside}; its directory does not exist yet; this makes and opens it: mkdir -p {} && harbor sandbox {server} {}",
            flatten(directory),
            flatten(option)
        ),
        Err(why) => format!("{outside}; {}", flatten(why)),
    }
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

    #[test]
    fn what_is_not_of_this_machine_is_nothing() {
        let here = tempfile::tempdir().unwrap();
        let of = |name: &str| look(here.path().join(name).to_str().unwrap());
        fs::write(here.path().join("file"), "").unwrap();
        assert_eq!((of(""), of("file")), (Some(Found::Directory), Some(Found::File)));
        assert_eq!((of("new"), of("no/new")), (Some(Found::Nothing), Some(Found::Nowhere)));
        assert_eq!((of("file/new"), look("/api"), look("/api/v1/users")), (None, None, None));
        std::os::unix::fs::symlink(here.path(), here.path().join("link")).unwrap();
        let (through, itself) = (here.path().join("link/no/new"), here.path().canonicalize().unwrap());
        assert_eq!(real(through.to_str().unwrap()), itself.join("no/new").to_str().unwrap());
        let said = sentence("s", "/tmp/n", &Err("/tmp is too wide".into()));
        assert!(said.ends_with("is lost; /tmp is too wide"), "{said}");
    }
}
