//! Values of a definition that are secrets: by their names, or by what they look like. They are kept apart from it.
//!
//! Owns the choice of these values, and how they are stored. Must never show one.

use std::collections::BTreeMap;

use harbor_client::errors::Failure;
use harbor_client::id;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{CredentialType, SetCredential};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::{is_secret_name, wrong_key, wrong_value};
use harbor_policy::telltale::is_secret_value;

use crate::args::Definition;
use crate::client::{Client, QUICK};

/// A secret: its name, what it is, and its value.
pub type Apart = (String, CredentialType, Secret);

/// The values that are secrets by name or by value.
pub fn secrets_of(values: &BTreeMap<String, String>, kind: CredentialType) -> Vec<Apart> {
    found(values, kind, |name, value| is_secret_name(name) || is_secret_value(value))
}

fn found(
    values: &BTreeMap<String, String>,
    kind: CredentialType,
    is_meant: impl Fn(&str, &str) -> bool,
) -> Vec<Apart> {
    let meant = values.iter().filter(|(name, value)| is_meant(name, value));
    let all = meant.map(|(name, value)| (name.clone(), kind, Secret::new(value.clone())));
    all.filter(|(name, kind, value)| wrong_key(*kind, name).is_none() && wrong_value(*kind, value).is_none())
        .collect()
}

/// Takes out of a definition that was typed what looks like a key; what is only called so was meant to stay.
pub fn take(definition: &mut Definition) -> Vec<Apart> {
    let mut all = keys(&mut definition.env);
    match &mut definition.remote {
        Some(remote) => all.extend(taken(&mut remote.headers, CredentialType::Header)),
        // Without them it is not started, should they not arrive.
        None => definition.secrets.extend(all.iter().map(|(name, ..)| name.clone())),
    }
    all
}

/// The secrets among variables alone.
pub fn keys(env: &mut BTreeMap<String, String>) -> Vec<Apart> {
    taken(env, CredentialType::ApiKey)
}

fn taken(values: &mut BTreeMap<String, String>, kind: CredentialType) -> Vec<Apart> {
    let all = found(values, kind, |_, value| is_secret_value(value));
    values.retain(|name, _| !all.iter().any(|(key, ..)| key == name));
    all
}

/// Stores them.
pub fn keep(client: &mut Client, server: &str, secrets: &[Apart]) -> Result<(), Failure> {
    for (key, kind, value) in secrets {
        let ask = SetCredential {
            server_id: id::server_id(server)?,
            key: key.clone(),
            value: value.clone(),
            credential_type: Some(*kind),
            username: None,
            expires_at: None,
            site: None,
        };
        client.ask(&ask, QUICK)?;
    }
    Ok(())
}

/// Says that they are kept so, and how they come in unseen.
pub fn tell(server: &str, secrets: &[Apart]) {
    let names: Vec<_> = secrets.iter().map(|(name, ..)| name.as_str()).collect();
    if let Some(first) = names.first() {
        remark(&format!(
            "{server}: {} looks like a key and is stored as a secret. The command line may be in your shell's history: next time \
             `--secret {first}`, then `harbor secrets set {server} {first}`",
            names.join(", ")
        ));
    }
}

/// Arguments that look like secrets: nothing keeps them apart.
pub fn warn_of_arguments(server: &str, names: &[String]) {
    if !names.is_empty() {
        remark(&format!(
            "{server}: {} in its arguments looks like a secret. It is stored unencrypted, and your other programs can read it while \
             {server} runs. If {server} can take it as a variable, replace it: `harbor remove {server}`, then `harbor add {server} \
             --secret KEY` with its command, then `harbor secrets set {server} KEY`",
            names.join(", ")
        ));
    }
}

/// Variables of an installer that look like secrets: no installer is given any of those.
pub fn warn_of_installer(server: &str, env: &BTreeMap<String, String>) {
    let names: Vec<_> = secrets_of(env, CredentialType::ApiKey).into_iter().map(|(name, ..)| name).collect();
    if !names.is_empty() {
        remark(&format!(
            "{server}: {} of --install-env looks like a key. It is stored unencrypted, and code of the package sees it when it is \
             installed or upgraded",
            names.join(", ")
        ));
    }
}

/// Arguments that look like secrets: their names, or their places.
pub fn in_arguments(args: &[String]) -> Vec<String> {
    let passwords = args.iter().enumerate().filter(|(_, arg)| harbor_policy::telltale::masked(arg).is_some());
    let passwords = passwords.map(|(at, _)| format!("the password in argument {}", at + 1));
    let told = harbor_policy::telltale::telltales(args).into_iter().map(|told| told.name);
    told.chain(passwords).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Remote;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_looks_like_a_key_is_taken_out_of_what_was_typed() {
        let env = map(&[("DB", "postgres://u:pw@h/db"), ("MODE", "x"), ("NOT_A_TOKEN", "short")]);
        let mut here = Definition { env: env.clone(), ..Definition::default() };
        let names: Vec<_> = take(&mut here).into_iter().map(|(name, ..)| name).collect();
        assert_eq!((names, here.secrets), (vec!["DB".to_owned()], vec!["DB".to_owned()]));
        assert_eq!(here.env, map(&[("MODE", "x"), ("NOT_A_TOKEN", "short")]));
        let imported = secrets_of(&env, CredentialType::ApiKey);
        assert_eq!(imported.iter().map(|(name, ..)| name).collect::<Vec<_>>(), ["DB", "NOT_A_TOKEN"]);

        let headers = map(&[("X-Auth", "ghp_0123456789abcdef"), ("X-Team", "a")]);
        let remote = Remote { headers, ..Remote::default() };
        let mut elsewhere = Definition { remote: Some(remote), ..Definition::default() };
        let taken = take(&mut elsewhere);
        assert_eq!((taken[0].0.as_str(), taken[0].1), ("X-Auth", CredentialType::Header));
        assert_eq!(elsewhere.remote.unwrap().headers, map(&[("X-Team", "a")]));
    }
}
