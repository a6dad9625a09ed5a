//! New random values.
//!
//! Must never be kept where a file can be read without its key.

use std::fs::File;
use std::io::{self, Read as _};

use zeroize::Zeroizing;

use super::age::Random;

pub(super) fn filled<const N: usize>() -> io::Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    File::open("/dev/urandom")?.read_exact(&mut *bytes)?;
    Ok(bytes)
}

/// New random values for one file.
pub(in crate::store) fn random() -> io::Result<Random> {
    Ok(Random { salt: *filled()?, file_key: filled()?, nonce: *filled()? })
}
