//! Whom a person lets in where, as it is typed.
//!
//! Owns that no secret is ever a word of the command line.

use harbor_policy::oauth::is_scope;

use super::Words;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    Begin(Box<NewAuth>),
    Status(String),
    Revoke(String),
}

/// An authorization to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewAuth {
    pub server: String,
    /// Whether a browser is opened.
    pub opens: bool,
    pub client_id: Option<String>,
    /// Whether what proves the client is asked for.
    pub has_secret: bool,
    pub scopes: Vec<String>,
    pub port: Option<u32>,
}

/// What goes with a new authorization only.
const OF_NEW: [&str; 5] = ["--no-browser", "--client-id", "--client-secret", "--scope", "--port"];

impl Words {
    pub(super) fn auth(&self) -> Result<Auth, String> {
        let server = self.server()?;
        let verb = match (self.has("--status"), self.has("--revoke")) {
            (true, true) => return Err("say --status or --revoke, not both".into()),
            (true, false) => Some(("--status", Auth::Status(server.clone()))),
            (false, true) => Some(("--revoke", Auth::Revoke(server.clone()))),
            (false, false) => None,
        };
        if let Some((name, verb)) = verb {
            return match OF_NEW.iter().find(|option| self.has(option)) {
                Some(option) => Err(format!("{option} does not go with {name}")),
                None => Ok(verb),
            };
        }
        let scopes: Vec<String> = self.all("--scope").map(str::to_owned).collect();
        if let Some(wrong) = scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(format!("--scope {wrong:?}: a scope is one word; repeat --scope for more"));
        }
        let client_id = self.named("--client-id", "the client")?.pop();
        if self.has("--client-secret") && client_id.is_none() {
            return Err("--client-secret belongs to --client-id: it proves who that is".into());
        }
        let port = self.option("--port").map(|text| {
            let port = text.parse::<u16>().ok().filter(|port| *port > 0);
            port.map(u32::from).ok_or_else(|| format!("--port {text}: use a port from 1 to 65535"))
        });
        Ok(Auth::Begin(Box::new(NewAuth {
            server,
            opens: !self.has("--no-browser"),
            client_id,
            has_secret: self.has("--client-secret"),
            scopes,
            port: port.transpose()?,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn authorizations_are_begun_shown_and_given_back() {
        let new = NewAuth { server: "a".into(), opens: true, ..NewAuth::default() };
        assert_eq!(command(&["auth", "a"]), Command::Auth(Auth::Begin(new.clone().into())));
        let line = [
            "auth",
            "a",
            "--no-browser",
            "--client-id",
            "me",
            "--client-secret",
            "--scope",
            "x",
            "--port",
            "9",
        ];
        let client = NewAuth {
            opens: false,
            client_id: Some("me".into()),
            has_secret: true,
            scopes: vec!["x".into()],
            port: Some(9),
            ..new
        };
        assert_eq!(command(&line), Command::Auth(Auth::Begin(client.into())));
        assert_eq!(command(&["auth", "a", "--status"]), Command::Auth(Auth::Status("a".into())));
        assert_eq!(command(&["auth", "a", "--revoke"]), Command::Auth(Auth::Revoke("a".into())));
        for (line, said) in [
            (&["auth"][..], "which server?"),
            (&["auth", "a", "--status", "--revoke"], "say --status or --revoke"),
            (&["auth", "a", "--revoke", "--scope", "x"], "--scope does not go with --revoke"),
            (&["auth", "a", "--scope", "x y"], "--scope \"x y\": a scope is one word"),
            (&["auth", "a", "--client-secret"], "--client-secret belongs to --client-id"),
            (&["auth", "a", "--port", "0"], "--port 0: use a port"),
        ] {
            assert!(complaint(line).starts_with(said), "{}", complaint(line));
        }
    }
}
