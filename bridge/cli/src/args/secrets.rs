//! What is wanted of the secrets of servers, as it is typed.
//!
//! Owns that no value is ever a word of the command line: other programs and the shell's history would see it.

use harbor_ipc_proto::client::CredentialType;
use harbor_policy::credentials::{wrong_key, wrong_username};
use harbor_policy::suggest::hint;

use super::Words;
use super::times::ahead;
use super::values::checked_id;

const VERBS: [&str; 9] = ["list", "set", "remove", "check", "encrypt", "decrypt", "unlock", "lock", "move"];

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secrets {
    /// Of one server, or of all.
    List(Option<String>),
    Set(NewSecret),
    Remove {
        server: String,
        key: String,
    },
    Check(String),
    /// Of all of them.
    Keep(Keeping),
}

/// What is to become of the file of all secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    Encrypt,
    Decrypt,
    Unlock,
    Lock,
    Move,
}

impl Keeping {
    const ALL: [(&str, Self); 5] = [
        ("encrypt", Self::Encrypt),
        ("decrypt", Self::Decrypt),
        ("unlock", Self::Unlock),
        ("lock", Self::Lock),
        ("move", Self::Move),
    ];
}

/// A secret whose value is yet to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSecret {
    pub server: String,
    pub key: String,
    pub kind: CredentialType,
    pub username: Option<String>,
    /// In milliseconds since 1970.
    pub expires_at: Option<u64>,
}

impl Words {
    pub(super) fn secrets(&self) -> Result<Secrets, String> {
        let verb = self.plain.first().map_or("list", String::as_str);
        if verb != "set"
            && let Some(option) = ["--type", "--username", "--expires"].iter().find(|option| self.has(option))
        {
            return Err(format!("{option} goes with `set` only"));
        }
        Ok(match verb {
            "list" => {
                self.at_most(2)?;
                Secrets::List(self.plain.get(1).map(|name| checked_id(name)).transpose()?)
            }
            "check" => {
                self.at_most(2)?;
                Secrets::Check(self.server_of_secret()?)
            }
            "remove" => {
                self.at_most(3)?;
                Secrets::Remove { server: self.server_of_secret()?, key: self.key()?.to_owned() }
            }
            "set" => Secrets::Set(self.new_secret()?),
            other => {
                if let Some((_, keeping)) = Keeping::ALL.iter().find(|(verb, _)| *verb == other) {
                    if self.plain.len() > 1 {
                        return Err("a passphrase is not typed here, where other programs and the shell's history see \
                                    it: leave it out, and it is asked for"
                            .into());
                    }
                    return Ok(Secrets::Keep(*keeping));
                }
                return Err(format!(
                    "{other}: say {}{}",
                    VERBS.join(", "),
                    hint(other, VERBS.iter().copied())
                ));
            }
        })
    }

    fn new_secret(&self) -> Result<NewSecret, String> {
        let (server, key) = (self.server_of_secret()?, self.key()?);
        if self.plain.len() > 3 || key.contains('=') {
            return Err(
                "a value is not typed here, where other programs and the shell's history see it: leave it \
                        out, and it is asked for, or read from stdin"
                    .into(),
            );
        }
        let kind = match self.option("--type") {
            None => CredentialType::ApiKey,
            Some(word) => CredentialType::named(&word.replace('-', "_"))
                .ok_or_else(|| format!("--type {word}: use api_key, password, oauth or header"))?,
        };
        if let Some(expected) = wrong_key(kind, key) {
            return Err(format!("{key:?} cannot be used: expected {expected}"));
        }
        let username = self.option("--username").map(str::to_owned);
        if let Some(expected) = username.as_ref().and_then(|name| wrong_username(kind, name)) {
            return Err(format!("--username: expected {expected}"));
        }
        let expires_at = self.option("--expires").map(|text| ahead(text, self.now)).transpose()?;
        Ok(NewSecret { server, key: key.to_owned(), kind, username, expires_at })
    }

    fn server_of_secret(&self) -> Result<String, String> {
        checked_id(self.plain.get(1).ok_or("which server? Its name is missing")?)
    }

    fn key(&self) -> Result<&str, String> {
        let key = self.plain.get(2).ok_or("which secret? Its name is missing, such as API_KEY")?;
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Command;
    use super::super::tests::{command, complaint};
    use super::*;

    #[test]
    fn secrets_are_named_and_never_typed() {
        let list = |server: Option<&str>| Command::Secrets(Secrets::List(server.map(str::to_owned)));
        assert_eq!(command(&["secrets"]), list(None));
        assert_eq!(command(&["secrets", "list", "a"]), list(Some("a")));
        let new = NewSecret {
            server: "a".into(),
            key: "K".into(),
            kind: CredentialType::ApiKey,
            username: None,
            expires_at: None,
        };
        assert_eq!(command(&["secrets", "set", "a", "K"]), Command::Secrets(Secrets::Set(new.clone())));
        let password = ["secrets", "set", "a", "K", "--type", "password", "--username", "ada"];
        let wanted = NewSecret { kind: CredentialType::Password, username: Some("ada".into()), ..new };
        assert_eq!(command(&password), Command::Secrets(Secrets::Set(wanted)));
        for (verb, keeping) in Keeping::ALL {
            assert_eq!(command(&["secrets", verb]), Command::Secrets(Secrets::Keep(keeping)));
        }
        for (line, said) in [
            (&["secrets", "set", "a"][..], "which secret?"),
            (&["secrets", "set", "a", "K", "hunter2"], "a value is not typed here"),
            (&["secrets", "set", "a", "K=hunter2"], "a value is not typed here"),
            (&["secrets", "set", "a", "K L"], "\"K L\" cannot be used"),
            (&["secrets", "set", "a", "PATH"], "\"PATH\" cannot be used: expected a name that the system"),
            (&["secrets", "set", "a", "./key.txt"], "\"./key.txt\" cannot be used: expected a name"),
            (&["secrets", "set", "a", "K", "--type", "x"], "--type x: use api_key"),
            (&["secrets", "set", "a", "K", "--expires", "x"], "--expires x: use"),
            (&["secrets", "list", "--type", "oauth"], "--type goes with `set` only"),
            (
                &["secrets", "lst"],
                "lst: say list, set, remove, check, encrypt, decrypt, unlock, lock, move; did you mean list?",
            ),
            (&["secrets", "check"], "which server?"),
            (&["secrets", "unlock", "hunter2"], "a passphrase is not typed here"),
        ] {
            let complaint = complaint(line);
            assert!(complaint.starts_with(said) && !complaint.contains("hunter2"), "{complaint}");
        }
    }
}
