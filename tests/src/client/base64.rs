//! Reads base64 with padding. Written here, so that the bridge's encoder is checked by another hand.

const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes; `None` when the text is no base64.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut values = [None; 256];
    for (value, byte) in (0u32..).zip(ALPHABET) {
        values[usize::from(*byte)] = Some(value);
    }
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let body = bytes.strip_suffix(b"==").or_else(|| bytes.strip_suffix(b"=")).unwrap_or(bytes);
    let mut out = Vec::with_capacity(body.len() / 4 * 3 + 2);
    for group in body.chunks(4) {
        let mut bits = 0;
        for byte in group {
            bits = bits << 6 | values[usize::from(*byte)]?;
        }
        let [_, three @ ..] = (bits << (6 * (4 - group.len()))).to_be_bytes();
        out.extend_from_slice(&three[..group.len().checked_sub(1)?]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn known_values() {
        for (text, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("/+8=", b"\xff\xef")]
        {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
        for text in ["Z", "Zm9", "Zm9$", "Z==="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
