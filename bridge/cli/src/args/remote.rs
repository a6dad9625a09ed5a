//! `harbor add NAME --url URL`: a server that runs elsewhere, as it was typed.

use std::collections::BTreeMap;

use harbor_policy::recipe::source::{Source, sort};
use harbor_policy::remote::{parse, says_loopback, says_private, wrong_headers};
use url::Url;

use super::{Definition, Words, variable};

/// What only such a server has.
pub(super) const OF_REMOTE: &[&str] = &["--transport", "--header", "--allow-private", "--allow-http"];

/// What it has not: it is no program here.
const OF_PROGRAM: &[&str] = &[
    "--image",
    "--engine",
    "--cwd",
    "--as-is",
    "--keep-data",
    "--sandbox",
    "--required",
    "--read",
    "--write",
    "--socket",
    "--network",
    "--host",
    "--memory",
    "--processes",
    "--open-files",
    "--file-size",
    "--disk",
    "--nice",
];

/// Where a server is, and how it is spoken to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    pub url: String,
    pub transport: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub allow_private: bool,
    pub allow_http: bool,
}

impl Words {
    pub(super) fn elsewhere(&self) -> Result<Definition, String> {
        if self.behind.is_some() {
            return Err("a server is either a command behind `--` or at a --url".into());
        }
        self.none_of(&["--secret"], "is for a command; name the key in a --header, as ${KEY}")?;
        self.none_of(OF_PROGRAM, "is for a command; what is elsewhere is not held here")?;
        let url = self.option("--url").unwrap_or_default();
        let parsed = parse(url).map_err(|why| format!("--url: use {why}"))?;
        let remote = self.way_there(url, Some(&parsed))?;
        Ok(Definition {
            name: self.server()?,
            label: self.option("--label").map(str::to_owned),
            env: self.all("--env").map(variable).collect::<Result<_, _>>()?,
            roots: self.named("--root", "a file or directory; `.` is the current one")?,
            supervision: self.supervision()?,
            start: !self.has("--no-start"),
            remote: Some(remote),
            ..Definition::default()
        })
    }

    /// How the server that is to be installed is spoken to. Where it is, the catalog may be the one to know.
    pub(super) fn spoken(&self, source: &str) -> Result<Remote, String> {
        match sort(source) {
            Ok(Source::Remote(url)) => {
                self.none_of(&OF_PROGRAM[4..], "is for a program; what is elsewhere is not held here")?;
                self.way_there("", parse(&url).ok().as_ref())
            }
            Ok(Source::Entry(_)) => self.way_there("", None),
            // Where a download may come from stands in its source.
            Ok(Source::Package(package)) if package.starts_with("binary:") => Ok(Remote::default()),
            _ => {
                self.none_of(OF_REMOTE, "is for a server that runs elsewhere")?;
                Ok(Remote::default())
            }
        }
    }

    fn way_there(&self, url: &str, parsed: Option<&Url>) -> Result<Remote, String> {
        let transport = self.option("--transport").map(str::to_owned);
        if let Some(word) = transport.as_deref().filter(|word| !["http", "sse", "auto"].contains(word)) {
            return Err(format!("--transport {word}: use http, sse or auto"));
        }
        let headers = self.all("--header").map(header).collect::<Result<BTreeMap<_, _>, _>>()?;
        if let Some(why) = wrong_headers(&headers) {
            return Err(format!("--header: use {why}"));
        }
        Ok(Remote {
            url: url.to_owned(),
            transport,
            headers,
            // Who types such an address means it. At this machine's own, that is this machine and no other.
            allow_private: self.has("--allow-private")
                || parsed.is_some_and(|url| says_private(url) && !says_loopback(url)),
            allow_http: self.has("--allow-http"),
        })
    }

    pub(super) fn none_of(&self, options: &[&str], why: &str) -> Result<(), String> {
        match options.iter().find(|option| self.has(option)) {
            Some(option) => Err(format!("{option} {why}")),
            None => Ok(()),
        }
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("--header: use 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::{Command, parse};
    use super::*;

    fn added(line: &[&str]) -> Result<Definition, String> {
        let line: Vec<String> = ["add", "x"].iter().chain(line).map(ToString::to_string).collect();
        match parse(&line, 0).map(|parsed| parsed.command) {
            Ok(Command::Add(definition)) => Ok(*definition),
            Ok(_) => Err("another command".into()),
            Err(failure) => Err(failure.message().unwrap_or_default()),
        }
    }

    #[test]
    fn a_server_elsewhere() {
        let line =
            ["--url", "https://a.com/mcp", "--header", "X-Key: a: b", "--transport=sse", "--allow-http"];
        let remote = Remote {
            url: "https://a.com/mcp".into(),
            transport: Some("sse".into()),
            headers: [("X-Key".to_owned(), "a: b".to_owned())].into(),
            allow_private: false,
            allow_http: true,
        };
        let definition =
            Definition { name: "x".into(), start: true, remote: Some(remote), ..Definition::default() };
        assert_eq!(added(&line), Ok(definition));
        let local = added(&["--url", "http://localhost:3000/mcp"]).unwrap().remote.unwrap();
        assert!(!local.allow_private && !local.allow_http);
        assert!(added(&["--url", "https://10.0.0.1/mcp"]).unwrap().remote.unwrap().allow_private);
        assert!(
            added(&["--url", "https://[::1]/mcp", "--allow-private"]).unwrap().remote.unwrap().allow_private
        );
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for (line, part) in [
            (&["--url", "ftp://a.com"][..], "https://"),
            (&["--url", "https://a.com", "--", "x"], "either"),
            (&["--url", "https://a.com", "--cwd", "."], "--cwd is for a command"),
            (&["--url", "https://a.com", "--transport", "x"], "http, sse or auto"),
            (&["--url", "https://a.com", "--header", "Host: b"], "Harbor's to say"),
            (&["--url", "https://a.com", "--header", "x"], "'Name: value'"),
            (&["--header", "X: y", "--", "run"], "--url"),
            (&[], "--url"),
        ] {
            let said = added(line).unwrap_err();
            assert!(said.contains(part), "{line:?}: {said}");
        }
    }
}
