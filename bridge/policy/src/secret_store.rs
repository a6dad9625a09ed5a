//! The rules for the file that keeps the secrets of servers: its forms, and the changes between them.
//!
//! ```text
//!  config.toml              the file on the disk            its key
//!  store = "file"     ──►   plain, or passphrase   ──►      secrets/key.age, which a passphrase opens
//!  store = "keyring"  ──►   keyring                ──►      an item of the Secret Service
//! ```
//!
//! Owns which form belongs to which choice, and the reading of `secret-tool`. Must never have a new secret written in another
//! form than the person chose.

use harbor_ipc_proto::secret::Secret;

/// The person's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The file; a passphrase protects it, if there is one.
    #[default]
    File,
    /// The file, encrypted with a key that the session's keyring has.
    Keyring,
}

impl Choice {
    /// The word in `config.toml` and on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Keyring => "keyring",
        }
    }
}

/// The present protection of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoreProtection {
    /// There is none.
    #[default]
    None,
    /// Plain text.
    Plain,
    /// Encrypted; a passphrase opens the key.
    Passphrase,
    /// Encrypted; the keyring has the key.
    Keyring,
}

impl StoreProtection {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None | Self::Plain => "none",
            Self::Passphrase => "passphrase",
            Self::Keyring => "keyring",
        }
    }

    /// True if it takes a key to read it.
    #[must_use]
    pub fn is_encrypted(self) -> bool {
        matches!(self, Self::Passphrase | Self::Keyring)
    }

    /// The form in which a new secret is written.
    ///
    /// # Errors
    /// The step to take where the file is not as the person chose.
    pub fn of_new(self, choice: Choice) -> Result<Self, &'static str> {
        match (self, choice) {
            (Self::None, Choice::File) => Ok(Self::Plain),
            (Self::None, Choice::Keyring) => Ok(Self::Keyring),
            _ => self.misplaced(choice).map_or(Ok(self), Err),
        }
    }

    /// The step to take where the file is not as the person chose; it can be read all the same.
    #[must_use]
    pub fn misplaced(self, choice: Choice) -> Option<&'static str> {
        match (self, choice) {
            (Self::Plain, Choice::Keyring) => Some(
                "config.toml says `store = \"keyring\"`, but your secrets are in a plain file; `harbor secrets move` \
                 moves them",
            ),
            (Self::Passphrase, Choice::Keyring) => Some(
                "config.toml says `store = \"keyring\"`, but a passphrase protects their key; `harbor secrets move` \
                 moves it",
            ),
            (Self::Keyring, Choice::File) => Some(
                "config.toml says `store = \"file\"`, but the key of your secrets is not in secrets/key.age. If the \
                 system keyring has it, `harbor secrets encrypt` protects it by a passphrase and `harbor secrets move` \
                 moves your secrets into a plain file; if not, they are lost: set them again",
            ),
            _ => None,
        }
    }
}

/// The shortest new passphrase, in characters.
pub const SHORTEST_PASSPHRASE: usize = 8;

/// The longest passphrase, in bytes.
pub const LONGEST_PASSPHRASE: usize = 1024;

/// The rule for a new passphrase, if this one breaks it.
#[must_use]
pub fn wrong_passphrase(passphrase: &Secret) -> Option<&'static str> {
    let text = passphrase.expose();
    let fits = text.chars().count() >= SHORTEST_PASSPHRASE
        && text.len() <= LONGEST_PASSPHRASE
        && !text.chars().any(char::is_control);
    (!fits).then_some("a passphrase of 8 characters or more, on one line of at most 1 KiB")
}

/// The result of `secret-tool search`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searched {
    /// Nothing.
    Nothing,
    /// Something whose secret it cannot tell.
    Locked,
    /// Something with its secret.
    Open,
}

/// Reads what `secret-tool search` writes: for each item a line in brackets, then `name = value`.
#[must_use]
pub fn searched(said: &[u8]) -> Searched {
    let mut lines = said.split(|byte| *byte == b'\n').peekable();
    let has_item = lines.peek().is_some_and(|line| line.starts_with(b"["));
    match (has_item, lines.any(|line| line.starts_with(b"secret = "))) {
        (false, _) => Searched::Nothing,
        (true, false) => Searched::Locked,
        (true, true) => Searched::Open,
    }
}

/// How many hexadecimal digits a key has.
const KEY_DIGITS: usize = 64;

/// A key, from the output of `secret-tool lookup` or from `key.age`. None if it is no key.
#[must_use]
pub fn key(text: &[u8]) -> Option<Secret> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let is_key =
        text.len() == KEY_DIGITS && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_key.then(|| String::from_utf8(text.to_vec()).ok().map(Secret::new))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_secret_is_written_as_it_was_chosen_or_not_at_all() {
        use StoreProtection::{Keyring, None, Passphrase, Plain};
        for (form, in_file, in_keyring) in [
            (None, Some(Plain), Some(Keyring)),
            (Plain, Some(Plain), Option::None),
            (Passphrase, Some(Passphrase), Option::None),
            (Keyring, Option::None, Some(Keyring)),
        ] {
            assert_eq!(form.of_new(Choice::File).ok(), in_file);
            assert_eq!(form.of_new(Choice::Keyring).ok(), in_keyring);
        }
    }

    #[test]
    fn passphrases_are_judged() {
        let fits = |text: &str| wrong_passphrase(&Secret::new(text.into())).is_none();
        assert!(fits("correct horse") && fits("äöüäöüäö") && fits(&"x".repeat(1024)));
        assert!(!fits("") && !fits("1234567") && !fits("correct\nhorse") && !fits(&"x".repeat(1025)));
    }

    /// The texts are secret-tool's own, of libsecret 0.20.
    #[test]
    fn what_secret_tool_says_is_read() {
        let open =
            b"[/1]\nlabel = Harbor\nsecret = 0a\ncreated = 2026-11-22 12:40:34\nattribute.service = harbor\n";
        let locked =
            b"[/1]\nlabel = Harbor\ncreated = 2026-11-22 12:40:34\nschema = org.freedesktop.Secret.Generic\n";
        assert_eq!(searched(open), Searched::Open);
        assert_eq!(searched(locked), Searched::Locked);
        assert_eq!(searched(b""), Searched::Nothing);
        assert_eq!(searched(b"secret = 0a\n"), Searched::Nothing);
        let digits = "0123456789abcdef".repeat(4);
        assert_eq!(key(digits.as_bytes()).unwrap().expose(), digits);
        assert_eq!(key(format!("{digits}\n").as_bytes()).unwrap().expose(), digits);
        for other in ["", "0a", &digits.to_uppercase(), &format!("{digits}0"), &digits.replace('0', " ")] {
            assert_eq!(key(other.as_bytes()), Option::None, "{other}");
        }
    }
}
