//! Places that the values of variables name, are here, and stay closed to what is to be installed: said before the question.
//!
//! Owns finding them. An argument opens what it names; a variable does not, and its server would only say that there is nothing.

use std::path::Path;

use harbor_ipc_proto::client::InstalledView;
use harbor_policy::sandbox::SandboxFacts;
use harbor_policy::sandbox::hint::{advice, shell};
use harbor_policy::sandbox::paths::is_within;
use harbor_policy::sandbox::system::SYSTEM;
use harbor_policy::unreachable_places::of_words;

use super::runs;
use crate::args::Package;
use crate::table::flatten;

/// A sentence for each.
pub fn places(plan: &InstalledView, wanted: &Package) -> Vec<String> {
    let level = plan.sandbox.as_ref().map_or("off", |held| &held.level);
    if ["off", "basic"].contains(&level) || ["oci", "remote"].contains(&plan.kind.as_ref()) {
        return Vec::new();
    }
    let settings = plan.settings.as_ref();
    let granted = settings.iter().flat_map(|said| [&said.read, &said.write]).flatten().flatten().cloned();
    let named = plan.runs.iter().flat_map(runs::places);
    let open: Vec<_> =
        granted.chain(named).chain(SYSTEM.iter().map(|(path, _)| (*path).to_owned())).collect();
    let is_closed = |place: &String| !open.iter().any(|open| is_within(place, open));
    let of = |(name, value): (&String, &String)| {
        let place = of_words([value.as_str()]).into_iter().find(is_closed)?;
        Path::new(&place).exists().then(|| sentence(name, &place))
    };
    wanted.definition.env.iter().filter_map(of).collect()
}

fn sentence(name: &str, place: &str) -> String {
    let facts = SandboxFacts { home: std::env::var("HOME").ok(), ..SandboxFacts::default() };
    let (name, shown) = (flatten(name), flatten(place));
    match advice(place, false, &facts) {
        Ok(read) => format!(
            "{name} names {shown}, which its sandbox hides: `{}` allows it to read that, `--write {}` also to change it",
            flatten(&read.option),
            flatten(&shell(place))
        ),
        Err(never) => format!("{name} names {shown}, which its sandbox hides: {}", flatten(&never)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    #[test]
    fn a_place_in_a_variable_is_told_unless_something_opens_it() {
        let here = tempfile::tempdir().unwrap();
        let dir = here.path().to_str().unwrap();
        let of = |level: &str, read: &str, value: &str| {
            let plan = format!(
                r#"{{"server_id":"s","kind":"npm","sandbox":{{"level":"{level}","network":"all"}},"settings":{{"read":[{read}]}}}}"#
            );
            let mut wanted = Package::default();
            wanted.definition.env.insert("DIR".into(), value.into());
            places(&typed(&plan), &wanted)
        };
        let told = of("standard", "", dir);
        assert!(told[0].starts_with(&format!("DIR names {dir}, which its sandbox hides: ")), "{told:?}");
        let granted = format!("{dir:?}");
        for (level, read, value) in [
            ("off", "", dir),
            ("standard", granted.as_str(), dir),
            ("standard", "", "/usr/bin"),
            ("standard", "", "https://h/x"),
            ("standard", "", "/no/such/place"),
        ] {
            assert_eq!(of(level, read, value), [""; 0], "{level} {read} {value}");
        }
    }
}
