//! A session's file that is damaged: a disk that lost power leaves zeroes, or half of the file.
//!
//! ```text
//!  {"session":{…},"messages":[{…},{…},{"ro▒▒▒▒          what stands before the damage is read; the file is kept beside what is written anew
//! ```
//!
//! Owns which parts of such a file can be read. Must never guess at the others.

use serde_json::value::RawValue;

/// Where the messages begin.
const MESSAGES: &[u8] = b"\"messages\":[";

/// A file's beginning, up to its messages, and each message that is whole.
#[derive(Debug)]
pub(super) struct WholePart {
    head: String,
    messages: Vec<String>,
}

impl WholePart {
    /// The longest part that `read` understands: a message may be whole JSON and yet no message.
    pub fn longest<T>(&self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let counts: Vec<_> = (1..=self.messages.len()).collect();
        let most = counts.partition_point(|count| read(&self.text(*count)).is_some());
        read(&self.text(most))
    }

    /// The file with this many messages, as JSON.
    fn text(&self, count: usize) -> String {
        format!("{}{}]}}", self.head, self.messages.get(..count).unwrap_or_default().join(","))
    }
}

/// The file as far as it is JSON; nothing if not even its beginning is.
pub(super) fn whole_part(file: &[u8]) -> Option<WholePart> {
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
    Some(WholePart { head: head.to_owned(), messages })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str =
        r#"{"session":{"id":"a"},"messages":[{"a":"\ud83d\ude00 \u2028"},{"b":[1,2]},{"c":3}]}"#;

    #[test]
    fn what_stands_before_the_damage_is_read() {
        let part = |text: &[u8]| whole_part(text)?.longest(|text| Some(text.to_owned()));
        let all = part(FILE.as_bytes()).unwrap();
        assert_eq!(all, FILE);
        let two = FILE.replace(r#",{"c":3}"#, "");
        assert_eq!(part(&FILE.as_bytes()[..FILE.len() - 4]).unwrap(), two, "cut");
        let mut zeroes = FILE.as_bytes().to_vec();
        let at = FILE.find(r#"{"c""#).unwrap();
        zeroes[at..].fill(0);
        assert_eq!(part(&zeroes).unwrap(), two, "zeroes");
        let until_c = |text: &str| (!text.contains("\"c\"")).then(|| text.to_owned());
        assert_eq!(whole_part(FILE.as_bytes()).unwrap().longest(until_c).unwrap(), two, "no message");
        assert_eq!((part(b""), part(&[0; 512]), part(b"{\"session\":{}")), (None, None, None));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(at in 0..FILE.len(), bytes in prop::collection::vec(any::<u8>(), 0..16)) {
            let mut file = FILE.as_bytes().to_vec();
            file.splice(at.., bytes);
            if let Some(part) = whole_part(&file) {
                let _ = part.longest(|text| serde_json::from_str::<serde_json::Value>(text).ok());
            }
        }
    }
}
