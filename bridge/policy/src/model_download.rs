//! A file of a model that a person has fetched: what is known of it before, and the command that fetches it.
//!
//! ```text
//!  URL, SHA-256, name ─► ModelDownload ─► harbor-runner-http fetch-long …
//! ```
//!
//! Owns what has to be known. Must never let a file through without its hash: a model is read by a program of no small size.

use harbor_ipc_proto::BUILD;
use url::Url;

use crate::package::binary::FETCHER;
use crate::remote::parse;

/// Longer names of files are refused, in bytes.
const MAX_NAME: usize = 128;

/// Why an address is not taken, and what to do.
pub(crate) const NO_TLS: &str = "the address has no TLS; --allow-http allows that";

/// A file to be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelDownload {
    /// Where it is.
    pub url: Url,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its name among the fetched models.
    pub name: String,
    /// True if it may come without TLS.
    pub allow_http: bool,
    /// True if it may come from a private address.
    pub allow_private: bool,
}

/// The field that is wrong, and what is expected of it.
pub type WrongDownload = (&'static str, String);

impl ModelDownload {
    /// Reads what a person says.
    ///
    /// # Errors
    /// Which field is wrong.
    pub fn read(
        url: &str,
        sha256: Option<&str>,
        name: Option<&str>,
        (allow_http, allow_private): (bool, bool),
    ) -> Result<Self, WrongDownload> {
        let url = parse(url.trim()).map_err(|expected| ("model_id", format!("expected {expected}")))?;
        if url.scheme() == "http" && !allow_http {
            return Err(("allow_http", NO_TLS.into()));
        }
        let sha256 = sha256.ok_or_else(|| {
            let why = "say its SHA-256 (--sha256): whoever sends the file, or is in between, could send another one";
            ("sha256", why.to_owned())
        })?;
        let sha256 = sha256.trim().to_ascii_lowercase();
        if sha256.len() != 64 || !sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(("sha256", "a SHA-256 has 64 hexadecimal digits".into()));
        }
        let last = || url.path_segments()?.next_back().map(str::to_owned);
        let name = name.map(str::to_owned).or_else(last).unwrap_or_default();
        match is_file_name(&name) {
            true => Ok(Self { url, sha256, name, allow_http, allow_private }),
            false => {
                let why = "say how the file is to be called (--name): NAME.gguf or NAME.llamafile, of letters, digits, \
                           `.`, `_` and `-`";
                Err(("name", why.to_owned()))
            }
        }
    }

    /// The program that fetches it into a directory, and its arguments.
    #[must_use]
    pub fn command(&self, directory: &str) -> Vec<String> {
        let mut command = fetcher("fetch-long", directory, &self.url, (self.allow_http, self.allow_private));
        command.extend(["--sha256".to_owned(), self.sha256.clone()]);
        command
    }
}

/// The program that fetches from a URL into a directory, by this step, and its arguments. `allowed`: without TLS, private
/// addresses.
pub(crate) fn fetcher(step: &str, directory: &str, url: &Url, allowed: (bool, bool)) -> Vec<String> {
    let said = [FETCHER, step, "--build", BUILD, "--dir", directory, "--url", url.as_str()];
    let allowed = [("--allow-http", allowed.0), ("--allow-private", allowed.1)];
    let allowed = allowed.into_iter().filter(|(_, is)| *is).map(|(word, _)| word);
    said.into_iter().chain(allowed).map(str::to_owned).collect()
}

/// True if a file of the fetched models may have this name.
#[must_use]
pub fn is_file_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let stem = [".gguf", ".llamafile"].iter().find_map(|ending| name.strip_suffix(ending));
    name.len() <= MAX_NAME
        && stem.is_some_and(|stem| stem.starts_with(|c: char| c.is_ascii_alphanumeric()))
        && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "B179C9523D0E6A0F98A330C7562B682750A6F8C8C15E5BC70EA373728110DB53";

    fn read(url: &str, sha256: Option<&str>, name: Option<&str>) -> Result<ModelDownload, WrongDownload> {
        ModelDownload::read(url, sha256, name, (false, false))
    }

    #[test]
    fn a_file_is_called_as_in_its_address_and_has_a_hash() {
        let download = read("https://a.com/x/y.gguf?download=true", Some(HASH), None).unwrap();
        assert_eq!((download.name.as_str(), download.sha256), ("y.gguf", HASH.to_ascii_lowercase()));
        let field = |url: &str, sha256, name| read(url, sha256, name).unwrap_err().0;
        assert_eq!(field("https://a.com/y.gguf", None, None), "sha256");
        assert_eq!(field("https://a.com/y.gguf", Some("ab"), None), "sha256");
        assert_eq!(field("https://a.com/", Some(HASH), None), "name");
        assert_eq!(field("https://a.com/y.gguf", Some(HASH), Some("../y.gguf")), "name");
        assert_eq!(field("http://a.com/y.gguf", Some(HASH), None), "allow_http");
        assert_eq!(field("file:///y.gguf", Some(HASH), None), "model_id");
        for wrong in
            [".gguf", "-a.gguf", "a.txt", "a b.gguf", "", "gguf", &format!("{}.gguf", "a".repeat(124))]
        {
            assert!(!is_file_name(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_fetcher_is_told_what_is_allowed() {
        let of = |allowed| {
            let download = ModelDownload::read("https://a.com/y.gguf", Some(HASH), None, allowed).unwrap();
            download.command("/d").join(" ")
        };
        let hash = HASH.to_ascii_lowercase();
        let plain = format!("{FETCHER} fetch-long --build {BUILD} --dir /d --url https://a.com/y.gguf");
        assert_eq!(of((false, false)), format!("{plain} --sha256 {hash}"));
        assert_eq!(of((true, true)), format!("{plain} --allow-http --allow-private --sha256 {hash}"));
    }
}
