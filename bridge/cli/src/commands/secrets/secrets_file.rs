//! encrypt, decrypt, unlock, lock, move: what becomes of the file of all secrets.
//!
//! Owns asking for a passphrase. Must never print one.

use std::io::{self, IsTerminal as _};

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    DecryptSecrets, EncryptSecrets, GetSecretStore, LockSecrets, MoveSecrets, SecretStoreView, UnlockSecrets,
};
use harbor_ipc_proto::field::Ask;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::{LONGEST_PASSPHRASE, wrong_passphrase};

use super::prompt;
use super::stdin::{PATIENT, from_stdin};
use crate::args::Keeping;
use crate::client::{Client, QUICK};
use crate::commands::printing::print;
use crate::screen::Screen;

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
        return Err(Failure::Usage("the two do not match; nothing was changed".into()));
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
    let passphrase = match keeping {
        Keeping::Unlock if standing(client)?.asks => Some(asked("passphrase of the secrets (not shown): ")?),
        _ => passphrase,
    };
    match keeping {
        Keeping::Encrypt => {
            let passphrase = passphrase.unwrap_or_default();
            let said = "the secrets are encrypted; if you forget the passphrase, they are lost";
            done(client, &EncryptSecrets { passphrase }, said, screen)
        }
        Keeping::Decrypt => done(client, &DecryptSecrets {}, "the secrets are stored unencrypted", screen),
        Keeping::Unlock => {
            let said = "the secrets are unlocked until the bridge ends, or `harbor secrets lock`";
            done(client, &UnlockSecrets { passphrase }, said, screen)
        }
        Keeping::Lock => {
            let said = "the secrets are locked; running servers keep theirs";
            done(client, &LockSecrets {}, said, screen)
        }
        Keeping::Move => {
            done(client, &MoveSecrets {}, "the secrets are already where config.toml says", screen)
        }
    }
}

fn done<A: Ask>(client: &mut Client, ask: &A, said: &str, screen: &mut Screen) -> Result<(), Failure> {
    print(screen, &client.ask(ask, PATIENT)?, |_| said.into())
}

/// The store of secrets.
fn standing(client: &mut Client) -> Result<SecretStoreView, Failure> {
    Ok(client.ask(&GetSecretStore {}, QUICK)?.into_value().secret_store)
}

/// Warns if the secrets are kept in the wrong place.
pub fn remind(client: &mut Client) -> Result<(), Failure> {
    standing(client)?.misplaced.iter().for_each(|misplaced| remark(misplaced));
    Ok(())
}
