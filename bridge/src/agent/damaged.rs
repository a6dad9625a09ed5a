//! A session's file that is not whole: a disk that lost power leaves zeroes, or half of it.
//!
//! ```text
//!  {"session":{…},"messages":[{…},{…},{"ro▒▒▒▒          what stands before the damage is read; the file is kept beside what is written anew
//! ```
//!
//! Owns what of such a file can be read. Must never guess at what cannot.

use serde_json::value::RawValue;

/// Where the messages begin.
const MESSAGES: &[u8] = b"\"messages\":[";

/// The file as far as it can be read, as JSON; nothing where not even its beginning can be.
pub(super) fn whole_part(file: &[u8]) -> Option<String> {
    let at = file.windows(MESSAGES.len()).position(|window| window == MESSAGES)? + MESSAGES.len();
    let (head, mut rest) = (std::str::from_utf8(file.get(..at)?).ok()?, file.get(at..)?);
    let mut messages = Vec::new();
    loop {
        let mut read = serde_json::Deserializer::from_slice(rest).into_iter::<Box<RawValue>>();
        let Some(Ok(message)) = read.next() else { break };
        rest = rest.get(read.byte_offset()..)?;
        messages.push(message.get().to_owned());
        match rest.trim_ascii_start().strip_prefix(b",") {
            Some(further) => rest = further,
            None => break,
        }
    }
    Some(format!("{head}{}]}}", messages.join(",")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str =
        r#"{"session":{"id":"a"},"messages":[{"a":"\ud83d\ude00 \u2028"},{"b":[1,2]},{"c":3}]}"#;

    #[test]
    fn what_stands_before_the_damage_is_read() {
        let part = |text: &[u8]| whole_part(text);
        let all = part(FILE.as_bytes()).unwrap();
        assert_eq!(all, FILE);
        let two = FILE.replace(r#",{"c":3}"#, "");
        assert_eq!(part(&FILE.as_bytes()[..FILE.len() - 4]).unwrap(), two, "cut");
        let mut zeroes = FILE.as_bytes().to_vec();
        let at = FILE.find(r#"{"c""#).unwrap();
        zeroes[at..].fill(0);
        assert_eq!(part(&zeroes).unwrap(), two, "zeroes");
        assert_eq!((part(b""), part(&[0; 512]), part(b"{\"session\":{}")), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0..FILE.len(), bytes in prop::collection::vec(any::<u8>(), 0..16)) {
            let mut file = FILE.as_bytes().to_vec();
            file.splice(at.., bytes);
            if let Some(part) = whole_part(&file) {
                let _ = serde_json::from_str::<serde_json::Value>(&part);
            }
        }
    }
}
