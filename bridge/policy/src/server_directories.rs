//! A server's own directories, in what its tools say of themselves.
//!
//! ```text
//!  SERVERS/NAME/package/1/…  ─┐                                  SERVERS/NAME/trial/data ─┐
//!  SERVERS/NAME/package/2/…  ─┴► the same: another installation  SERVERS/NAME/data ───────┴► the same: it was tried out there
//! ```
//!
//! Each version is installed into a directory of its own, and may be tried out in another one than it will run in. A tool that
//! names one of them has not changed by that. Owns which places count as the same; any other difference is a change.

/// The number of an installation stands behind it.
const PACKAGE: &str = "package/";
/// Before the directories of a version that is tried out.
const TRIAL: &str = "trial/";

/// A text in which the places that are the same have the same names. `own`: the server's directory, by all of its names.
#[must_use]
pub fn neutral(text: &str, own: &[String]) -> String {
    let own: Vec<_> = own.iter().filter(|own| own.len() > 1).map(|own| format!("{own}/")).collect();
    let (mut neutral, mut rest) = (String::new(), text);
    while let Some(end) = own.iter().filter_map(|own| Some(rest.find(own.as_str())? + own.len())).min() {
        let (before, behind) = rest.split_at(end);
        neutral.push_str(before);
        rest = behind.strip_prefix(TRIAL).unwrap_or(behind);
        if let Some(numbered) = behind.strip_prefix(PACKAGE) {
            let named = numbered.trim_start_matches(|c: char| c.is_ascii_digit());
            neutral.push_str(PACKAGE);
            rest = named;
        }
    }
    neutral + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(one: &str, other: &str) -> bool {
        let own = ["/h/servers/s".to_owned(), "/real/servers/s".into(), String::new()];
        neutral(one, &own) == neutral(other, &own)
    }

    #[test]
    fn another_installation_and_a_trial_are_the_same_place_and_nothing_else_is() {
        for (one, other) in [
            ("in /h/servers/s/package/1/x.", "in /h/servers/s/package/12/x."),
            (
                "/h/servers/s/trial/data and /h/servers/s/trial/tmp/a",
                "/h/servers/s/data and /h/servers/s/tmp/a",
            ),
            ("/real/servers/s/package/1", "/real/servers/s/package/2"),
        ] {
            assert!(same(one, other), "{one}");
        }
        for (one, other) in [
            ("/h/servers/s/package/1/x", "/h/servers/s/package/2/y"),
            ("/h/servers/t/package/1/x", "/h/servers/t/package/2/x"),
            ("/h/servers/s/data/1", "/h/servers/s/data/2"),
            ("package/1", "package/2"),
            ("/h/servers/s/data", "/h/servers/t/data"),
            ("/h/servers/s/package/1: reads", "/h/servers/s/package/1: reads and sends"),
        ] {
            assert!(!same(one, other), "{one}");
        }
    }

    proptest! {
        #[test]
        fn what_names_none_of_them_stays(text in "\\PC*|[a/psk1]{0,40}") {
            prop_assert_eq!(neutral(&text, &["/h/servers/s".to_owned()]), text.clone());
            let _ = neutral(&text, &["/a".to_owned(), "/".into()]);
        }
    }
}
