//! Pages of forges that people copy from their browsers: a directory of a repository, one of its files, one of its downloads.
//!
//! Owns their addresses. A branch whose name has a `/` cannot be told from a directory: its first part is taken, and git says
//! that there is no such branch. Must never guess at other pages: a server may be there.

use url::Url;

/// The form of a forge's pages of a repository.
struct Forge {
    host: &'static str,
    /// The words between a repository and a page of it.
    between: &'static [&'static str],
    /// The words before the reference of a directory: the first one, then any of the second.
    directory: (&'static str, &'static [&'static str]),
    /// The words for a single file.
    files: &'static [&'static str],
}

const FORGES: &[Forge] = &[
    Forge { host: "github.com", between: &[], directory: ("tree", &[]), files: &["blob", "raw"] },
    Forge { host: "gitlab.com", between: &["-"], directory: ("tree", &[]), files: &["blob", "raw"] },
    Forge {
        host: "codeberg.org",
        between: &[],
        directory: ("src", &["branch", "tag", "commit"]),
        files: &["raw"],
    },
];

/// The repository of a directory's page, in the form behind `git:`. None if it is no such page.
///
/// # Errors
/// A sentence, where another command is meant.
pub(super) fn meant(text: &str) -> Option<Result<String, String>> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https")?;
    let forge = FORGES.iter().find(|forge| url.host_str() == Some(forge.host) && url.port().is_none())?;
    let parts: Vec<_> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
    let (repository, page) = split(forge, &parts)?;
    let address = format!("https://{}/{}", forge.host, repository.join("/"));
    let (word, rest) = page.split_first()?;
    if !url.username().is_empty() || url.password().is_some() {
        return Some(Err(
            "the address contains a name or a password, which Harbor would store and show".into()
        ));
    }
    if *word == "releases" && rest.first() == Some(&"download") {
        return Some(Err(format!(
            "that is a file to download; `harbor install {}` installs a program",
            quoted(&format!("binary:{text}"))
        )));
    }
    let kinds = forge.directory.1;
    let behind = match rest.split_first() {
        Some((kind, behind)) if kinds.contains(kind) => behind,
        _ if kinds.is_empty() => rest,
        _ => return None,
    };
    let (reference, path) = behind.split_first()?;
    match *word {
        word if word == forge.directory.0 => Some(match url.fragment() {
            None | Some("") => Ok(written(&address, reference, path)),
            Some(_) => Err(format!(
                "that address already names {reference}: leave out the `#` and everything after it"
            )),
        }),
        word if forge.files.contains(&word) => {
            let directory = path.split_last().map_or(path, |(_, directory)| directory);
            let kind = if kinds.is_empty() { &[][..] } else { &rest[..1] };
            let between =
                [forge.between, &[forge.directory.0], kind, &[reference], directory].concat().join("/");
            let page = quoted(&format!("{address}/{between}"));
            Some(Err(format!(
                "that is the page of one file; `harbor install {page}` installs the directory that contains it"
            )))
        }
        _ => None,
    }
}

/// The repository and what is behind it; of GitLab, a repository may be in groups of groups.
fn split<'p>(forge: &Forge, parts: &'p [&'p str]) -> Option<(&'p [&'p str], &'p [&'p str])> {
    let at = match forge.between.first() {
        Some(word) => parts.iter().position(|part| part == word)?,
        None => 2,
    };
    let behind = parts.get(at + forge.between.len()..)?;
    (at >= 2).then(|| (&parts[..at], behind))
}

fn written(address: &str, reference: &str, directory: &[&str]) -> String {
    match directory {
        [] => format!("{address}#{reference}"),
        parts => format!("{address}#{reference}&subdirectory={}", parts.join("/")),
    }
}

/// Quotes the word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:@%+=".contains(&byte));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_repository_or_a_sentence() {
        for (page, repository) in [
            ("https://github.com/o/n/tree/main", "https://github.com/o/n#main"),
            ("https://github.com/o/n/tree/main/a/b/", "https://github.com/o/n#main&subdirectory=a/b"),
            (
                "https://gitlab.com/g/h/n/-/tree/v1/a?ref_type=tags",
                "https://gitlab.com/g/h/n#v1&subdirectory=a",
            ),
            ("https://codeberg.org/o/n/src/branch/main/a", "https://codeberg.org/o/n#main&subdirectory=a"),
        ] {
            assert_eq!(meant(page), Some(Ok(repository.into())), "{page}");
        }
        for (page, command) in [
            (
                "https://github.com/o/n/blob/main/a/server.json",
                "`harbor install https://github.com/o/n/tree/main/a`",
            ),
            ("https://gitlab.com/g/n/-/raw/v1/x.json", "`harbor install https://gitlab.com/g/n/-/tree/v1`"),
            (
                "https://codeberg.org/o/n/raw/tag/v1/a/x",
                "`harbor install https://codeberg.org/o/n/src/tag/v1/a`",
            ),
            (
                "https://github.com/o/n/releases/download/v1/x.zip",
                "`harbor install binary:https://github.com/o/n/releases/download/v1/x.zip`",
            ),
            ("https://github.com/o/n/blob/$(id)/a", "`harbor install 'https://github.com/o/n/tree/$(id)'`"),
            (
                "https://github.com/o/n/releases/download/v'1/x",
                r"`harbor install 'binary:https://github.com/o/n/releases/download/v'\''1/x'`",
            ),
            ("https://me:pw@github.com/o/n/tree/main/a", "a name or a password"),
            ("https://me@github.com/o/n/blob/main/a", "a name or a password"),
            ("https://github.com/o/n/tree/main/a#other", "already names main"),
        ] {
            let said = meant(page).unwrap().unwrap_err();
            assert!(said.contains(command), "{page}: {said}");
        }
        for other in [
            "https://github.com/o/n",
            "https://gitlab.com/api/v4/mcp",
            "https://github.com/o/n/tree",
            "https://h/o/n/tree/x",
            "https://github.com:8443/o/n/tree/main",
            "https://gitlab.com/-/tree/x",
            "https://codeberg.org/o/n/src/x/y",
        ] {
            assert_eq!(meant(other), None, "{other}");
        }
    }
}
