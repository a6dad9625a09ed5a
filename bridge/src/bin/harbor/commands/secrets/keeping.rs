//! encrypt, decrypt, unlock, lock, move: what becomes of the file of all secrets.
//!
//! Owns asking for a passphrase. Must never print one.

use std::io::{self, IsTerminal as _};

use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::{LONGEST_PASSPHRASE, wrong_passphrase};

use super::{PATIENT, from_stdin, prompt};
use crate::args::Keeping;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::commands::print;
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, remark};

/// A new passphrase, typed twice; from stdin once.
pub fn new_passphrase() -> Result<Secret, Failure> {
    let (passphrase, again) = match io::stdin().is_terminal() {
        true => twice()?,
        false => (from_stdin("the passphrase", LONGEST_PASSPHRASE)?, None),
    };
    if let Some(expected) = wrong_passphrase(&passphrase) {
        return Err(Failure::Usage(format!("expected {expected}")));
    }
    if again.is_some_and(|again| again != passphrase) {
        return Err(Failure::Usage("these are two; nothing was changed".into()));
    }
    Ok(passphrase)
}

fn twice() -> Result<(Secret, Option<Secret>), Failure> {
    let questions = ["new passphrase of the secrets (not shown): ", "the same again: "];
    let mut answers = prompt::ask(&questions.map(str::to_owned))?.into_iter();
    let first = answers.next().unwrap_or_else(|| Secret::new(String::new()));
    Ok((first, answers.next()))
}

fn asked(question: &str) -> Result<Secret, Failure> {
    match io::stdin().is_terminal() {
        true => prompt::ask_for(question),
        false => from_stdin("the passphrase", LONGEST_PASSPHRASE),
    }
}

pub fn run(
    client: &mut Client,
    keeping: Keeping,
    passphrase: Option<Secret>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let (ask, said) = match keeping {
        Keeping::Encrypt => {
            ("encrypt_secrets", "the secrets are encrypted; whoever forgets the passphrase loses them")
        }
        Keeping::Decrypt => ("decrypt_secrets", "the secrets are a plain file"),
        Keeping::Unlock => {
            ("unlock_secrets", "the secrets are unlocked until the bridge ends, or `harbor secrets lock`")
        }
        Keeping::Lock => ("lock_secrets", "the secrets are locked; servers that run go on with theirs"),
        Keeping::Move => ("move_secrets", "the secrets are where config.toml says"),
    };
    let passphrase = match keeping {
        Keeping::Unlock if standing(client)?.value("asks") == true => {
            Some(asked("passphrase of the secrets (not shown): ")?)
        }
        _ => passphrase,
    };
    let mut ask = Ask::new(ask);
    if let Some(passphrase) = &passphrase {
        ask = ask.text("passphrase", passphrase.expose());
    }
    let answer = client.request(&ask, PATIENT);
    ask.wipe();
    print(screen, &answer?, |_| said.into())
}

/// Where secrets are kept.
fn standing(client: &mut Client) -> Result<Members, Failure> {
    Ok(client.request(&Ask::new("get_secret_store"), QUICK)?.object("secret_store"))
}

/// Says what is to be minded about where they are kept.
pub fn remind(client: &mut Client) -> Result<(), Failure> {
    let standing = standing(client)?;
    if standing.raw("misplaced").is_some() {
        remark(&standing.text("misplaced"));
    }
    Ok(())
}
