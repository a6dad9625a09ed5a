//! Two questions about a path on this machine: is it a directory, and where do its links lead?
//!
//! Owns these two looks, which take as long as the disk does. Must never be asked on a loop that serves others.

use std::fs;
use std::path::Path;

/// True if `path` is a directory. None if nothing is there, or nothing can be seen there.
#[must_use]
pub fn is_directory(path: &str) -> Option<bool> {
    fs::metadata(path).ok().map(|found| found.is_dir())
}

/// A path without the links on its way, as far as it exists.
#[must_use]
pub fn real(place: &str) -> String {
    let path = Path::new(place);
    let whole = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let above = above.canonicalize().ok()?;
        // Nothing joined would end with a slash.
        Some(if rest.as_os_str().is_empty() { above } else { above.join(rest) })
    });
    whole.and_then(|whole| whole.to_str().map(str::to_owned)).unwrap_or_else(|| place.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_yet_is_below_the_real_place_of_what_is() {
        let here = tempfile::tempdir().unwrap();
        let of = |name: &str| here.path().join(name).to_str().unwrap().to_owned();
        fs::write(of("file"), "").unwrap();
        assert_eq!(
            (is_directory(&of("")), is_directory(&of("file")), is_directory(&of("new"))),
            (Some(true), Some(false), None)
        );
        std::os::unix::fs::symlink(here.path(), of("link")).unwrap();
        let itself = here.path().canonicalize().unwrap();
        assert_eq!(real(&of("link/no/new")), itself.join("no/new").to_str().unwrap());
        assert_eq!(real(&of("link")), itself.to_str().unwrap());
    }
}
