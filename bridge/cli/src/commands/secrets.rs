//! secrets: the keys and passwords of servers.
//!
//! Owns where a value comes from: a prompt without echo, or stdin. Must never print one.

pub mod prompt;
mod secrets_file;
mod stdin;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::server_id;
use harbor_client::payload::Payload;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    CredentialStatus, CredentialType, CredentialView, DeleteCredential, GetCredentialStatus, ListCredentials,
    SetCredential, ValidateCredentials, ValidateCredentialsResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::{MAX_VALUE, wrong_key, wrong_username, wrong_value};
use harbor_policy::tabs::typed::{SITE_RULE, site};

use self::stdin::{PATIENT, from_stdin};
use super::printing::{count, print};
use crate::args::{Keeping, NewSecret, Secrets};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::Table;
use crate::when::{now, until, utc};

/// The name whose secrets are kept for sites, and are no server's.
const BROWSER: &str = "browser";

/// A new passphrase, or a value that a program gives: it is there before a bridge is started for it.
pub fn value(wanted: &Secrets) -> Result<Option<Secret>, Failure> {
    if let Secrets::Set(new) = wanted {
        check_names(new)?;
    }
    match wanted {
        Secrets::Set(new) if !io::stdin().is_terminal() => one(new),
        Secrets::Keep(Keeping::Encrypt) => secrets_file::new_passphrase().map(Some),
        _ => Ok(None),
    }
}

fn check_names(new: &NewSecret) -> Result<(), Failure> {
    check_site(&new.server, new.site.as_deref(), new.server == BROWSER)?;
    if let Some(expected) = wrong_key(new.kind, &new.key) {
        return Err(Failure::Usage(format!("{:?} cannot be used: expected {expected}", new.key)));
    }
    match new.username.as_ref().and_then(|name| wrong_username(new.kind, name)) {
        Some(expected) => Err(Failure::Usage(format!("--username: expected {expected}"))),
        None => Ok(()),
    }
}

/// A secret is kept for a site or for a server.
fn check_site(server: &str, origin: Option<&str>, is_needed: bool) -> Result<(), Failure> {
    match origin {
        None if is_needed => {
            let wrong = "for which site? pass --site: ".to_owned() + SITE_RULE;
            Err(Failure::Usage(wrong))
        }
        Some(_) if server != BROWSER => {
            Err(Failure::Usage("--site goes with the secrets of `browser`".into()))
        }
        Some(origin) if site(origin).is_none() => {
            Err(Failure::Usage(format!("--site: expected {SITE_RULE}")))
        }
        _ => Ok(()),
    }
}

fn one(new: &NewSecret) -> Result<Option<Secret>, Failure> {
    Ok(ask(&new.server, std::slice::from_ref(&new.key), new.kind)?.pop())
}

/// Values for the secrets of a server that does not exist yet. A terminal gives all of them; stdin gives one, for a single key.
pub fn values(server: &str, keys: &[String]) -> Result<BTreeMap<String, Secret>, Failure> {
    let values = match (keys, io::stdin().is_terminal()) {
        (_, true) | ([], _) => ask(server, keys, CredentialType::ApiKey)?,
        ([key], false) => match from_stdin("the value", MAX_VALUE)? {
            none if none.is_empty() => Vec::new(),
            value => vec![right(key, CredentialType::ApiKey, value)?],
        },
        (_, false) => Vec::new(),
    };
    Ok(keys.iter().cloned().zip(values).collect())
}

/// Fails if a secret must not have one of these names.
pub fn are_keys(keys: &[String]) -> Result<(), Failure> {
    let wrong = keys.iter().find_map(|key| Some((key, wrong_key(CredentialType::ApiKey, key)?)));
    match wrong {
        Some((key, expected)) => Err(Failure::Usage(format!("--secret {key}: expected {expected}"))),
        None => Ok(()),
    }
}

fn ask(server: &str, keys: &[String], kind: CredentialType) -> Result<Vec<Secret>, Failure> {
    let values = match (keys, io::stdin().is_terminal()) {
        ([], _) => Vec::new(),
        (_, true) => {
            let question = |key: &String| format!("{key} of {server} (not shown): ");
            prompt::ask(&keys.iter().map(question).collect::<Vec<_>>())?
        }
        (_, false) => vec![from_stdin("the value", MAX_VALUE)?],
    };
    keys.iter().zip(values).map(|(key, value)| right(key, kind, value)).collect()
}

fn right(key: &str, kind: CredentialType, value: Secret) -> Result<Secret, Failure> {
    match wrong_value(kind, &value) {
        Some(expected) => Err(Failure::Usage(format!("the value of {key}: expected {expected}"))),
        None => Ok(value),
    }
}

/// Asks for a secret, or reads it from stdin.
pub fn read(question: &str) -> Result<Secret, Failure> {
    match io::stdin().is_terminal() {
        true => prompt::ask_for(question),
        false => from_stdin("the value", MAX_VALUE),
    }
}

pub fn run(
    client: &mut Client,
    wanted: &Secrets,
    value: Option<Secret>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    match (wanted, value) {
        (Secrets::List { server }, _) => {
            list(client, server.as_deref(), screen)?;
            secrets_file::remind(client)
        }
        (Secrets::Check { server }, _) => check(client, server, screen),
        (Secrets::Remove { server, key, site }, _) => {
            check_site(server, site.as_deref(), false)?;
            remove(client, (server, key), site.clone(), screen)
        }
        (Secrets::Set(new), Some(value)) => set(client, new, value, screen),
        (Secrets::Set(new), None) => {
            // Nobody types a value for a file that cannot be opened.
            client.ask(&ListCredentials { server_id: Some(server_id(&new.server)?) }, PATIENT)?;
            one(new)?.map_or(Ok(()), |value| set(client, new, value, screen))
        }
        (Secrets::Keep(wanted), passphrase) => secrets_file::run(client, *wanted, passphrase, screen),
    }
}

fn set(client: &mut Client, new: &NewSecret, value: Secret, screen: &mut Screen) -> Result<(), Failure> {
    let ask = SetCredential {
        server_id: server_id(&new.server)?,
        key: new.key.clone(),
        value,
        credential_type: Some(new.kind),
        username: new.username.clone(),
        expires_at: new.expires_at,
        site: new.site.clone(),
    };
    let answer = client.ask(&ask, PATIENT)?;
    print(screen, &answer, |answer| {
        if let Some(site) = new.site.as_deref().and_then(site) {
            let key = &new.key;
            return format!(
                "{key} is stored for {site}; browser tools type it on that site as {{\"secret\": \"{key}\"}}"
            );
        }
        let what = format!("{} of {} is stored", new.key, new.server);
        if answer.starts {
            return format!("{what}; {} waited for it and is starting", new.server);
        }
        match answer.running {
            true => format!("{what}; use it now: `harbor restart {}`", new.server),
            false => what,
        }
    })
}

fn remove(
    client: &mut Client,
    (server, key): (&str, &str),
    site: Option<String>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let ask = DeleteCredential { server_id: server_id(server)?, key: key.to_owned(), site };
    let answer = client.ask(&ask, QUICK)?;
    if !answer.deleted {
        let next = format!("`harbor secrets list {server}` lists its secrets");
        return Err(Failure::Nothing(format!("{server} has no secret {key}"), next));
    }
    print(screen, &answer, |answer| match answer.running {
        true => format!(
            "{key} of {server} is removed; the running server keeps it until `harbor restart {server}`"
        ),
        false => format!("{key} of {server} is removed"),
    })
}

fn list(client: &mut Client, server: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let ask = ListCredentials { server_id: server.map(server_id).transpose()? };
    let answer = client.ask(&ask, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.credentials.as_slice() {
        [] => {
            let of = server.map(|server| format!(" of {server}")).unwrap_or_default();
            remark(&format!("there are no secrets{of}; store one: `harbor secrets set NAME KEY`"));
            Ok(())
        }
        all => Ok(screen.table(&tabulate(all, now()))?),
    }
}

fn tabulate(all: &[CredentialView], now: u64) -> Table {
    let mut table = Table::new(&["SERVER", "KEY", "TYPE", "USERNAME", "SET", "EXPIRES"]);
    for secret in all {
        let expires = match secret.expires_at {
            None => "-".into(),
            Some(_) if secret.is_expired => "expired".into(),
            Some(at) => until(at, now),
        };
        table.add([
            secret.server_id.clone(),
            secret
                .site
                .as_ref()
                .map_or_else(|| secret.key.clone(), |site| format!("{} for {site}", secret.key)),
            secret.credential_type.as_str().to_owned(),
            if secret.has_username { "yes".into() } else { "-".into() },
            utc(secret.set_at).chars().take(16).collect::<String>() + "Z",
            expires,
        ]);
    }
    table
}

/// Checks a server's secrets; a fault in them is this command's failure.
fn check(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let found = client.ask(&ValidateCredentials { server_id: server_id(server)? }, QUICK)?;
    // A file that cannot be read is among what was found.
    let status = match client.ask(&GetCredentialStatus { server_id: server_id(server)? }, QUICK) {
        Ok(answer) => Some(answer),
        Err(Failure::Refused(refusal)) if refusal.is(Code::Internal) => None,
        Err(other) => return Err(other),
    };
    if screen.json {
        let mut whole = found.members();
        let status = status.map_or_else(Payload::default, |status| status.part("status"));
        whole.insert("status", status.to_json());
        screen.json(&whole.to_json())?;
    } else {
        screen.text(&findings(server, &found, status.as_ref().map(|answer| &answer.status)))?;
    }
    if found.valid { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}

fn findings(server: &str, found: &ValidateCredentialsResult, status: Option<&CredentialStatus>) -> String {
    let mut lines: Vec<_> = found.errors.iter().map(|error| format!("wrong: {error}")).collect();
    lines.extend(found.warnings.iter().map(|warning| format!("note: {warning}")));
    if let Some(key) = status.and_then(|status| status.missing.first()) {
        lines.push(format!("set it: `harbor secrets set {server} {key}`"));
    }
    if found.valid {
        let set = status.map_or(0, |status| status.configured.len());
        lines.insert(0, format!("{server} has {}, everything that it requires", count(set, "secret")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    #[test]
    fn a_name_that_cannot_be_used_is_told_before_the_value_is_asked_for() {
        for (key, username) in [("K L", None), ("PATH", None), ("./key.txt", None), ("K", Some("ada"))] {
            let (server, kind, expires_at) = ("a".into(), CredentialType::ApiKey, None);
            let username = username.map(str::to_owned);
            let new = NewSecret { server, key: key.into(), kind, username, expires_at, site: None };
            let new = Secrets::Set(new);
            assert!(matches!(value(&new), Err(Failure::Usage(_))), "{key}");
        }
    }

    #[test]
    fn a_secret_is_stored_and_never_shown() {
        let new = NewSecret {
            server: "a".into(),
            key: "K".into(),
            kind: CredentialType::Password,
            username: Some("ada".into()),
            expires_at: Some(5),
            site: None,
        };
        let value = || Secret::new("hunter\"2".into());
        let answer =
            r#"{"type":"set_credential_result","request_id":"1","credential":{"key":"K"},"running":true}"#;
        let ran = command(false, &[answer], |c, s| set(c, &new, value(), s));
        assert_eq!(ran.printed, "K of a is stored; use it now: `harbor restart a`\n");
        assert_eq!(
            ran.asked,
            [
                r#"{"type":"set_credential","request_id":"1","server_id":"a","key":"K","value":"hunter\"2","credential_type":"password","username":"ada","expires_at":5}"#
            ]
        );
        let waited = answer.replace(r#""running":true"#, r#""running":false,"starts":true"#);
        let ran = command(false, &[&waited], |c, s| set(c, &new, value(), s));
        assert_eq!(ran.printed, "K of a is stored; a waited for it and is starting\n");
        let ran = command(true, &[answer], |c, s| set(c, &new, value(), s));
        assert!(!ran.printed.contains("hunter"), "{}", ran.printed);
    }

    #[test]
    fn a_secret_of_a_site_is_none_of_a_server() {
        let new = |server: &str, site: Option<&str>| NewSecret {
            server: server.into(),
            key: "PIN".into(),
            kind: CredentialType::ApiKey,
            username: None,
            expires_at: None,
            site: site.map(str::to_owned),
        };
        let site = "https://example.com";
        for (server, site) in [("browser", None), ("browser", Some("example.com")), ("a", Some(site))] {
            assert!(matches!(check_names(&new(server, site)), Err(Failure::Usage(_))), "{server} {site:?}");
        }
        assert!(check_names(&new("browser", Some(site))).is_ok());
        let answer =
            r#"{"type":"set_credential_result","request_id":"1","credential":{"key":"PIN"},"running":false}"#;
        let value = Secret::new("hunter2".into());
        let ran = command(false, &[answer], |c, s| set(c, &new("browser", Some(site)), value, s));
        assert_eq!(
            ran.printed,
            "PIN is stored for https://example.com; browser tools type it on that site as {\"secret\": \"PIN\"}\n"
        );
        assert!(ran.asked[0].contains(r#""site":"https://example.com""#), "{}", ran.asked[0]);
    }

    #[test]
    fn a_list_has_names_and_times() {
        let answer = r#"{"type":"list_credentials_result","request_id":"1","credentials":[{"server_id":"a","key":"K","credential_type":"api_key","has_username":false,"set_at":1795262400000,"is_expired":false},{"server_id":"a","key":"P","credential_type":"password","has_username":true,"set_at":1795262400000,"expires_at":1,"is_expired":true}]}"#;
        let ran = command(false, &[answer], |c, s| list(c, None, s));
        assert_eq!(
            ran.printed,
            "SERVER  KEY  TYPE      USERNAME  SET                EXPIRES\n\
             a       K    api_key   -         2026-11-21 12:00Z  -\n\
             a       P    password  yes       2026-11-21 12:00Z  expired\n"
        );
        let ran = command(
            false,
            &[r#"{"type":"list_credentials_result","request_id":"1","credentials":[]}"#],
            |c, s| list(c, Some("a"), s),
        );
        assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
    }

    #[test]
    fn what_is_not_there_cannot_be_removed() {
        let answer =
            r#"{"type":"delete_credential_result","request_id":"1","deleted":false,"running":false}"#;
        let ran = command(false, &[answer], |c, s| remove(c, ("a", "K"), None, s));
        assert_eq!(ran.exit, Exit::NotFound);
    }

    #[test]
    fn a_check_says_what_to_do_and_fails() {
        let found = r#"{"type":"validate_credentials_result","request_id":"1","valid":false,"errors":["K is not set"],"warnings":["P has fewer than 6 characters"]}"#;
        let status = r#"{"type":"get_credential_status_result","request_id":"2","status":{"missing":["K"],"configured":["P"]}}"#;
        let ran = command(false, &[found, status], |c, s| check(c, "a", s));
        assert_eq!(
            ran.printed,
            "wrong: K is not set\nnote: P has fewer than 6 characters\nset it: `harbor secrets set a K`\n"
        );
        assert_eq!(ran.exit, Exit::Failed);
    }
}
