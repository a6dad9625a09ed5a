//! A secret from stdin, and how long whoever is asked for one may take.
//!
//! Must never print it.

use std::io::{self, Read as _};
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_ipc_proto::secret::Secret;
use zeroize::Zeroizing;

/// The keyring may ask its person.
pub(super) const PATIENT: Duration = Duration::from_secs(120);

/// Reads a secret from stdin. One newline at the end is `echo`'s, not the secret's.
pub(super) fn from_stdin(what: &str, longest: usize) -> Result<Secret, Failure> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(longest + 3));
    let failed = |error| Failure::Io("read from stdin", error);
    io::stdin().take(longest as u64 + 3).read_to_end(&mut bytes).map_err(failed)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| Failure::Usage(format!("{what} is not UTF-8")))?;
    let text = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
    Ok(Secret::new(text.to_owned()))
}
