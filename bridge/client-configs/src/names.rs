//! Ids for servers that other programs have named.
//!
//! Owns how a name becomes an id. Must never make two different ids of one name.

use harbor_ipc_proto::server_id::ServerId;

/// The longest id, in bytes.
const LONGEST: usize = 64;

/// The id that is nearest to a name. None if no part of the name can stand in an id.
#[must_use]
pub fn server_id(name: &str) -> Option<String> {
    let mut id = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
        // Two of them in a row mean something else in an id, and one in the place of many reads better.
        let again = !c.is_ascii_alphanumeric() && id.ends_with(c);
        let leading = id.is_empty() && !c.is_ascii_alphanumeric();
        if !again && !leading && id.len() < LONGEST {
            id.push(c);
        }
    }
    let id = id.trim_end_matches(['.', '_', '-']);
    ServerId::parse(id).map(|_| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_become_ids() {
        for (name, id) in [
            ("time", Some("time")),
            ("GitHub", Some("GitHub")),
            ("my files (home)", Some("my-files-home")),
            ("@scope/server", Some("scope-server")),
            ("a__b..c", Some("a_b.c")),
            ("日本", None),
            ("", None),
        ] {
            assert_eq!(server_id(name).as_deref(), id, "{name}");
        }
        assert_eq!(server_id(&"x".repeat(100)).unwrap().len(), LONGEST);
    }

    proptest! {
        #[test]
        fn an_id_keeps_the_rule_and_stays_as_it_is(name in "\\PC{0,80}") {
            if let Some(id) = server_id(&name) {
                prop_assert!(ServerId::parse(&id).is_some());
                prop_assert_eq!(server_id(&id), Some(id));
            }
        }
    }
}
