//! AI clients' configurations, as they are spoken of on the command line.

use std::path::PathBuf;

use harbor_client_configs::{AiClient, CLIENTS, client};
use harbor_policy::origin::Origin;
use harbor_policy::suggest::hint;

use super::host::checked_pattern;
use super::{Command, Words};

/// The words behind `mcp`; without one it is the server.
const VERBS: [&str; 3] = ["install", "uninstall", "status"];

/// Options that only an installation has.
const OF_INSTALLS: [&str; 3] = ["--file", "--dry-run", "--replace"];

/// Options that only the server over HTTP has.
const OF_SERVING: [&str; 3] = ["--http", "--allow-origin", "--delete"];

/// What is to be done about clients' configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clients {
    Install(Install),
    Uninstall(Uninstall),
    Status,
}

/// Harbor, put into a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    pub client: &'static AiClient,
    /// It is `client://NAME`.
    pub name: String,
    /// The tools that it gets; all when empty.
    pub only: Vec<String>,
    /// Whether three tools stand for all.
    pub lazy: bool,
    /// The configuration; the client's own when absent.
    pub file: Option<PathBuf>,
    /// Whether another program's entry of our name goes.
    pub replace: bool,
    pub dry_run: bool,
}

/// Harbor, taken out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uninstall {
    pub client: &'static AiClient,
    pub file: Option<PathBuf>,
    pub dry_run: bool,
}

/// Servers to take over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Import {
    /// From all clients when absent.
    pub from: Option<Source>,
    /// The servers of these names; all when empty.
    pub only: Vec<String>,
    /// Also those that are switched off.
    pub disabled: bool,
    pub dry_run: bool,
    pub start: bool,
    /// Whether nobody is asked.
    pub yes: bool,
    /// Whether the person's variables are put in.
    pub expand: bool,
    /// Whether servers elsewhere may be at private addresses.
    pub allow_private: bool,
    /// And do without TLS.
    pub allow_http: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Client(&'static AiClient),
    File(PathBuf),
}

impl Words {
    pub(super) fn mcp_or_clients(&self) -> Result<Command, String> {
        let verb = self.plain.first().map(String::as_str).filter(|word| VERBS.contains(word));
        let refuse = |options: &[&str]| match options.iter().find(|option| self.has(option)) {
            Some(option) => Err(format!("{option} has no meaning here")),
            None => Ok(()),
        };
        Ok(match verb {
            Some("install") => {
                refuse(&OF_SERVING)?;
                Command::Clients(Clients::Install(self.install()?))
            }
            Some("uninstall") => {
                refuse(&OF_SERVING)?;
                refuse(&["--client", "--only", "--lazy", "--replace"])?;
                Command::Clients(Clients::Uninstall(self.uninstall()?))
            }
            Some(_) => {
                self.at_most(1)?;
                refuse(&OF_SERVING)?;
                refuse(&["--client", "--only", "--lazy", "--file", "--dry-run", "--replace"])?;
                Command::Clients(Clients::Status)
            }
            None => {
                // A token may be put in the place of another, too.
                let is_token = self.plain.first().is_some_and(|word| word == "token");
                refuse(if is_token { &OF_INSTALLS[..2] } else { &OF_INSTALLS })?;
                self.mcp()?
            }
        })
    }

    fn install(&self) -> Result<Install, String> {
        let client = self.ai_client()?;
        let name = self.option("--client").unwrap_or(client.id).to_owned();
        Origin::client(&name).ok_or("--client: use 1 to 128 bytes")?;
        let only: Vec<_> = self.all("--only").map(str::to_owned).collect();
        only.iter().try_for_each(|pattern| checked_pattern("--only", pattern))?;
        let (replace, dry_run) = (self.has("--replace"), self.has("--dry-run"));
        let (lazy, file) = (self.has("--lazy"), self.file()?);
        Ok(Install { client, name, only, lazy, file, replace, dry_run })
    }

    fn uninstall(&self) -> Result<Uninstall, String> {
        Ok(Uninstall { client: self.ai_client()?, file: self.file()?, dry_run: self.has("--dry-run") })
    }

    fn ai_client(&self) -> Result<&'static AiClient, String> {
        self.at_most(2)?;
        let id = self.plain.get(1).ok_or_else(|| format!("which client? Name one of {}", names()))?;
        client(id).ok_or_else(|| unknown(id))
    }

    fn file(&self) -> Result<Option<PathBuf>, String> {
        Ok(self.named("--file", "the client's configuration")?.pop().map(PathBuf::from))
    }

    pub(super) fn import(&self) -> Result<Import, String> {
        self.at_most(1)?;
        let source = |word: &String| match client(word) {
            Some(client) => Ok(Source::Client(client)),
            None if word.contains(['/', '.']) => Ok(Source::File(word.into())),
            None => Err(unknown(word)),
        };
        Ok(Import {
            from: self.plain.first().map(source).transpose()?,
            only: self.named("--only", "a server as the client calls it")?,
            disabled: self.has("--disabled"),
            dry_run: self.has("--dry-run"),
            start: self.has("--start"),
            yes: self.has("--yes"),
            expand: self.has("--expand"),
            allow_private: self.has("--allow-private"),
            allow_http: self.has("--allow-http"),
        })
    }
}

fn names() -> String {
    CLIENTS.iter().map(|client| client.id).collect::<Vec<_>>().join(", ")
}

fn unknown(id: &str) -> String {
    let meant = hint(id, CLIENTS.iter().map(|client| client.id));
    format!("unknown client {id}{meant}; Harbor knows {}", names())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn installs() {
        let wanted = Install {
            client: client("zed").unwrap(),
            name: "zed".into(),
            only: Vec::new(),
            lazy: false,
            file: None,
            replace: false,
            dry_run: false,
        };
        let install = |wanted| Command::Clients(Clients::Install(wanted));
        assert_eq!(command(&["mcp", "install", "zed"]), install(wanted.clone()));
        assert_eq!(
            command(&[
                "mcp",
                "install",
                "zed",
                "--client=z",
                "--only",
                "a/*",
                "--lazy",
                "--file",
                "f",
                "--replace",
                "--dry-run"
            ]),
            install(Install {
                name: "z".into(),
                only: vec!["a/*".into()],
                lazy: true,
                file: Some("f".into()),
                replace: true,
                dry_run: true,
                ..wanted
            })
        );
        assert_eq!(command(&["mcp", "status", "--json"]), Command::Clients(Clients::Status));
        assert!(matches!(command(&["mcp", "uninstall", "codex"]), Command::Clients(Clients::Uninstall(_))));
        assert!(matches!(command(&["mcp", "--client", "x"]), Command::Mcp(_)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, why) in [
            (&["mcp", "install"][..], "which client? Name one of claude-code, "),
            (&["mcp", "install", "curser"], "unknown client curser; did you mean cursor?"),
            (&["mcp", "install", "zed", "x"], "unexpected argument x"),
            (&["mcp", "install", "zed", "--only", "a"], "did you mean a/*?"),
            (&["mcp", "uninstall", "zed", "--client", "x"], "--client has no meaning here"),
            (&["mcp", "status", "x"], "unexpected argument x"),
            (&["mcp", "install", "zed", "--http", "127.0.0.1:1"], "--http has no meaning here"),
            (&["mcp", "--dry-run"], "--dry-run has no meaning here"),
            (&["import", "curser"], "did you mean cursor?"),
            (&["import", "zed", "x"], "unexpected argument x"),
        ] {
            let said = complaint(line);
            assert!(said.contains(why), "{line:?}: {said}");
        }
    }

    #[test]
    fn imports() {
        let all = Import::default();
        assert_eq!(command(&["import"]), Command::Import(all.clone()));
        let from = |from| Command::Import(Import { from: Some(from), ..all.clone() });
        assert_eq!(command(&["import", "zed"]), from(Source::Client(client("zed").unwrap())));
        assert_eq!(command(&["import", "./zed"]), from(Source::File("./zed".into())));
        assert_eq!(command(&["import", ".mcp.json"]), from(Source::File(".mcp.json".into())));
        let Command::Import(import) =
            command(&["import", "--only", "a", "--only=b", "--disabled", "--dry-run", "--start", "--expand"])
        else {
            panic!("import")
        };
        assert_eq!(
            import,
            Import {
                from: None,
                only: vec!["a".into(), "b".into()],
                disabled: true,
                dry_run: true,
                start: true,
                expand: true,
                ..all
            }
        );
    }
}
