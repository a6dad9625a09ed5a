//! Files of age (age-encryption.org/v1) that have a passphrase.
//!
//! ```text
//!  age-encryption.org/v1
//!  -> scrypt SALT LOG_N          passphrase ─ scrypt(SALT, 2^LOG_N) ─► opens the next line
//!  FILE KEY, sealed              FILE KEY ─ HKDF ─► of the header, of the payload
//!  --- MAC of the header
//!  NONCE, pieces of 64 KiB       each with its number, the last one marked
//! ```
//!
//! Owns the format: what is written is opened by `age -d`, and the other way round. Must never allocate by what a file says
//! before that is bounded, nor tell why a passphrase does not open a file. The primitives are RustCrypto's: the crate `age` has
//! the rest of its ecosystem in its tree (137 crates, two of many).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{AeadInPlace as _, KeyInit as _};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use harbor_ipc_proto::secret::Secret;
use hkdf::Hkdf;
use hmac::{Hmac, Mac as _};
use scrypt::Params;
use sha2::Sha256;
use zeroize::Zeroizing;

const VERSION: &str = "age-encryption.org/v1";
const SALT_LABEL: &[u8] = b"age-encryption.org/v1/scrypt";

/// The work to stretch a passphrase of a person: 2^17 blocks of 1 KiB, 128 MiB for a moment.
pub const OF_A_PERSON: u8 = 17;

/// The work to stretch a key of 256 random bits: there is nothing to be guessed.
pub const OF_A_KEY: u8 = 1;

/// A file that wants more is refused; `age` itself writes 18.
const MOST: u8 = 18;

const SALT: usize = 16;
const NONCE: usize = 16;
const FILE_KEY: usize = 16;
const TAG: usize = 16;
const PIECE: usize = 64 * 1024;

/// The reason why a file is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It is no file of age that has a passphrase.
    Foreign,
    /// The passphrase is wrong, or the file is damaged: nobody can tell which.
    Wrong,
}

/// The random values in a file.
#[derive(Debug, Clone)]
pub struct Random {
    /// The salt for stretching the passphrase.
    pub salt: [u8; SALT],
    /// The key that seals the pieces.
    pub file_key: Zeroizing<[u8; FILE_KEY]>,
    /// Gives the pieces a key that was never used.
    pub nonce: [u8; NONCE],
}

/// True if a file begins as age's do.
#[must_use]
pub fn is_age(bytes: &[u8]) -> bool {
    bytes.starts_with(VERSION.as_bytes())
}

/// A file with this text, sealed with a passphrase that is stretched 2^`work` times.
#[must_use]
pub fn seal(text: &[u8], passphrase: &Secret, work: u8, random: &Random) -> Option<Vec<u8>> {
    let key = stretched(passphrase, &random.salt, work)?;
    let mut sealed = random.file_key.to_vec();
    let tag = cipher(&key).encrypt_in_place_detached(&Nonce::default(), b"", &mut sealed).ok()?;
    sealed.extend_from_slice(&tag);
    let (salt, sealed) = (STANDARD_NO_PAD.encode(random.salt), STANDARD_NO_PAD.encode(sealed));
    let header = format!("{VERSION}\n-> scrypt {salt} {work}\n{sealed}\n---");
    let mac = header_mac(&*random.file_key, header.as_bytes())?.finalize().into_bytes();
    let mut out = Vec::with_capacity(header.len() + text.len() + text.len() / PIECE * TAG + 128);
    out.extend_from_slice(format!("{header} {}\n", STANDARD_NO_PAD.encode(mac)).as_bytes());
    out.extend_from_slice(&random.nonce);
    put_pieces(&mut out, text, &payload_cipher(&*random.file_key, &random.nonce)?)?;
    Some(out)
}

/// The text of a file, in memory that is overwritten.
///
/// # Errors
/// Why not.
pub fn open(bytes: &[u8], passphrase: &Secret) -> Result<Zeroizing<Vec<u8>>, Closed> {
    let header = Header::parse(bytes).ok_or(Closed::Foreign)?;
    let key = stretched(passphrase, &header.salt, header.work).ok_or(Closed::Foreign)?;
    let (sealed, tag) = header.sealed.split_at(FILE_KEY);
    let mut file_key = Zeroizing::new([0; FILE_KEY]);
    file_key.copy_from_slice(sealed);
    let opened =
        cipher(&key).decrypt_in_place_detached(&Nonce::default(), b"", &mut *file_key, Tag::from_slice(tag));
    opened.map_err(|_| Closed::Wrong)?;
    let mac = header_mac(&*file_key, header.signed).ok_or(Closed::Wrong)?;
    mac.verify_slice(&header.mac).map_err(|_| Closed::Wrong)?;
    let (nonce, pieces) = header.payload.split_at_checked(NONCE).ok_or(Closed::Foreign)?;
    let cipher = payload_cipher(&*file_key, nonce).ok_or(Closed::Wrong)?;
    opened_pieces(pieces, &cipher).ok_or(Closed::Wrong)
}

/// The part before the payload.
struct Header<'a> {
    salt: [u8; SALT],
    work: u8,
    sealed: [u8; FILE_KEY + TAG],
    /// The bytes from the beginning to the `---`, which the MAC is over.
    signed: &'a [u8],
    mac: [u8; 32],
    payload: &'a [u8],
}

impl<'a> Header<'a> {
    /// One stanza, as age demands it of a file with a passphrase.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut lines = bytes.splitn(5, |byte| *byte == b'\n');
        let mut line = || std::str::from_utf8(lines.next()?).ok();
        (line()? == VERSION).then_some(())?;
        let (salt, work) = line()?.strip_prefix("-> scrypt ")?.split_once(' ')?;
        let sealed = decoded(line()?)?;
        let mac = decoded(line()?.strip_prefix("--- ")?)?;
        let payload = lines.next()?;
        let begins = bytes.len() - payload.len();
        // Behind the `---` come a space, the MAC and a newline.
        let signed = bytes.get(..begins.checked_sub(1 + 43 + 1)?)?;
        let is_number = work.bytes().all(|byte| byte.is_ascii_digit()) && !work.starts_with('0');
        let work = work.parse().ok().filter(|work| is_number && (1..=MOST).contains(work))?;
        Some(Self { salt: decoded(salt)?, work, sealed, signed, mac, payload })
    }
}

/// The bytes of a text in Base64. None if they are not exactly `N`.
fn decoded<const N: usize>(text: &str) -> Option<[u8; N]> {
    // A longer one is not even looked at.
    (text.len() <= 4 * N).then(|| STANDARD_NO_PAD.decode(text).ok())??.try_into().ok()
}

fn stretched(passphrase: &Secret, salt: &[u8; SALT], work: u8) -> Option<Zeroizing<[u8; 32]>> {
    let salt = [SALT_LABEL, salt].concat();
    let mut key = Zeroizing::new([0; 32]);
    let params = Params::new(work, 8, 1, key.len()).ok()?;
    scrypt::scrypt(passphrase.expose().as_bytes(), &salt, &params, &mut *key).ok()?;
    Some(key)
}

fn cipher(key: &[u8; 32]) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(Key::from_slice(key))
}

fn derived(file_key: &[u8], salt: &[u8], info: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(salt), file_key).expand(info, &mut *key).ok()?;
    Some(key)
}

fn header_mac(file_key: &[u8], signed: &[u8]) -> Option<Hmac<Sha256>> {
    let key = derived(file_key, b"", b"header")?;
    let mut mac = <Hmac<Sha256> as hmac::Mac>::new_from_slice(&*key).ok()?;
    mac.update(signed);
    Some(mac)
}

fn payload_cipher(file_key: &[u8], nonce: &[u8]) -> Option<ChaCha20Poly1305> {
    Some(cipher(&*derived(file_key, nonce, b"payload")?))
}

/// The nonce of a piece: eleven bytes of its number, and a byte that is 1 for the last piece.
fn piece_nonce(at: usize, is_last: bool) -> Nonce {
    let mut nonce = Nonce::default();
    if let Some(number) = nonce.get_mut(3..11) {
        number.copy_from_slice(&(at as u64).to_be_bytes());
    }
    if let Some(last) = nonce.last_mut() {
        *last = u8::from(is_last);
    }
    nonce
}

fn put_pieces(out: &mut Vec<u8>, text: &[u8], cipher: &ChaCha20Poly1305) -> Option<()> {
    // A text of nothing has one piece, too.
    let count = text.len().div_ceil(PIECE).max(1);
    for at in 0..count {
        let piece = text.get(at * PIECE..text.len().min((at + 1) * PIECE))?;
        let begins = out.len();
        out.extend_from_slice(piece);
        let nonce = piece_nonce(at, at + 1 == count);
        let tag = cipher.encrypt_in_place_detached(&nonce, b"", out.get_mut(begins..)?).ok()?;
        out.extend_from_slice(&tag);
    }
    Some(())
}

fn opened_pieces(pieces: &[u8], cipher: &ChaCha20Poly1305) -> Option<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(Vec::with_capacity(pieces.len()));
    let count = pieces.len().div_ceil(PIECE + TAG);
    for (at, piece) in pieces.chunks(PIECE + TAG).enumerate() {
        let (sealed, tag) = piece.split_at_checked(piece.len().checked_sub(TAG)?)?;
        if sealed.is_empty() && at > 0 {
            return None;
        }
        let begins = text.len();
        text.extend_from_slice(sealed);
        let nonce = piece_nonce(at, at + 1 == count);
        let open = text.get_mut(begins..)?;
        cipher.decrypt_in_place_detached(&nonce, b"", open, Tag::from_slice(tag)).ok()?;
    }
    (count > 0).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn random(byte: u8) -> Random {
        Random { salt: [byte; SALT], file_key: Zeroizing::new([byte; FILE_KEY]), nonce: [byte; NONCE] }
    }

    fn secret(text: &str) -> Secret {
        Secret::new(text.into())
    }

    fn sealed(text: &[u8]) -> Vec<u8> {
        seal(text, &secret("correct horse"), 1, &random(7)).unwrap()
    }

    #[test]
    fn what_is_sealed_is_opened_by_its_passphrase_alone() {
        for size in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let text: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let file = sealed(&text);
            assert!(is_age(&file) && !(size > 0 && file.ends_with(&text)));
            assert_eq!(*open(&file, &secret("correct horse")).unwrap(), text, "{size}");
            assert_eq!(open(&file, &secret("correct horsf")), Err(Closed::Wrong));
            // No piece less, none cut, none in another's place.
            for cut in [1, TAG, TAG + 1, PIECE + TAG] {
                let Some(left) = file.len().checked_sub(cut) else { continue };
                assert!(open(&file[..left], &secret("correct horse")).is_err(), "{size} without {cut}");
            }
        }
    }

    /// The first two lines are what a file costs; who changes them shall not make us work for hours.
    #[test]
    fn what_would_cost_too_much_or_is_for_others_is_not_even_tried() {
        let text = String::from_utf8_lossy(&sealed(b"")).into_owned();
        let line = text.lines().nth(1).unwrap().to_owned();
        let stanza = line.strip_suffix(" 1").unwrap();
        for other in ["0", "01", "19", "22", "255", "256", "-1", "+1", "1 2", "", "x"] {
            let file = sealed(b"");
            let header = format!("{VERSION}\n{line}\n").len();
            let file = [format!("{VERSION}\n{stanza} {other}\n").as_bytes(), &file[header..]].concat();
            assert_eq!(open(&file, &secret("correct horse")), Err(Closed::Foreign), "{other}");
        }
        for other in ["", "age-encryption.org/v1", "age-encryption.org/v2\n", "{\"version\":1}"] {
            assert_eq!(open(other.as_bytes(), &secret("")), Err(Closed::Foreign));
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_noticed(at in 0_usize..250, bit in 0_u32..8) {
            let mut file = sealed(b"a text of some length, to have a payload too");
            let at = at % file.len();
            file[at] ^= 1 << bit;
            // Other digits would be another amount of work, within its bounds.
            prop_assume!(Header::parse(&file).is_none_or(|header| header.work < 4));
            prop_assert!(open(&file, &secret("correct horse")).is_err());
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(open(&bytes, &secret("x")), Err(Closed::Foreign));
        }
    }
}
