//! Paths as text: their one form, and which path lies below which.
//!
//! Owns the form: absolute, no `.`, no `..`, no slash at the end. Must never ask the disk. So `..` is not followed but refused:
//! where it leads depends on symbolic links.

/// The most bytes of a path: the kernel's own limit.
pub const MAX_PATH: usize = 4096;

/// The path in its one form. None if it is not absolute, is too long, or contains `..` or a NUL.
#[must_use]
pub fn clean(path: &str) -> Option<String> {
    if !path.starts_with('/') || path.len() >= MAX_PATH || path.contains('\0') {
        return None;
    }
    let mut clean = String::with_capacity(path.len());
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return None;
        }
        clean.push('/');
        clean.push_str(part);
    }
    Some(if clean.is_empty() { "/".into() } else { clean })
}

/// True if a path is this directory or lies below it; both in their one form. Nothing lies below the empty path.
#[must_use]
pub fn is_within(path: &str, directory: &str) -> bool {
    if directory == "/" {
        return path.starts_with('/');
    }
    let rest = path.strip_prefix(directory).filter(|_| !directory.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path without its last part; the root's is the root.
#[must_use]
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

/// A name below a directory.
#[must_use]
pub fn below(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_has_one_form() {
        for (text, wanted) in [
            ("/", Some("/")),
            ("//a/./b//", Some("/a/b")),
            ("/a/..b/c..", Some("/a/..b/c..")),
            ("/a/../b", None),
            ("a", None),
            ("", None),
            ("/a\0", None),
        ] {
            assert_eq!(clean(text).as_deref(), wanted, "{text:?}");
        }
        assert_eq!(clean(&format!("/{}", "a".repeat(MAX_PATH))), None);
    }

    #[test]
    fn below_is_by_whole_names() {
        assert!(
            is_within("/a/b", "/a") && is_within("/a", "/a") && is_within("/a", "/") && is_within("/", "/")
        );
        assert!(!is_within("/ab", "/a") && !is_within("/a", "/a/b") && !is_within("/a", ""));
        assert_eq!([parent("/a/b"), parent("/a"), parent("/")], ["/a", "/", "/"]);
        assert_eq!([below("/", "a"), below("/a", "b")], ["/a", "/a/b"]);
    }

    proptest! {
        #[test]
        fn a_clean_path_stays_as_it_is(path in "[/a.\\x00]{0,12}") {
            if let Some(once) = clean(&path) {
                prop_assert_eq!(clean(&once), Some(once.clone()));
                prop_assert!(is_within(&once, parent(&once)));
            }
        }
    }
}
