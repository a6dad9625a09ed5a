//! Arguments as they are sent for a model: without blanks between values, and each letter written in one way.
//!
//! ```text
//!  { \t"q" :\n "h\u0065llo" }  ─►  {"q":"hello"}
//! ```
//!
//! A person who is asked does not see blanks and escapes, but the one who gets the arguments reads them. Owns that form. Must
//! never change what the JSON means: numbers, the order of keys, and keys that stand twice stay.

use serde_json::Value;

/// JSON in compact form, with the same meaning. Invalid JSON stays invalid.
#[must_use]
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => put_string(rest, &mut out),
            ' ' | '\t' | '\n' | '\r' => 1,
            _ => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Writes the string that `text` begins with; how long it was.
fn put_string(text: &str, out: &mut String) -> usize {
    let length = length_of_string(text);
    let raw = text.get(..length).unwrap_or(text);
    match serde_json::from_str::<String>(raw) {
        Ok(plain) if raw.contains('\\') => out.push_str(&Value::String(plain).to_string()),
        _ => out.push_str(raw),
    }
    length
}

fn length_of_string(text: &str) -> usize {
    let (mut escaped, mut at) = (false, 1);
    for byte in text.bytes().skip(1) {
        at += 1;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => break,
            _ => {}
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blanks_and_escapes_carry_nothing() {
        for (written, sent) in [
            ("{ \t\t\"q\" \r:\t  \"hello\"\t }", r#"{"q":"hello"}"#),
            (r#"{"q":"h\u0065ll\u006f \/ \u00e9"}"#, r#"{"q":"hello / é"}"#),
            (r#"{"a b":" x ","a b":[1.0, 1e2 , -0]}"#, r#"{"a b":" x ","a b":[1.0,1e2,-0]}"#),
            (r#"{"q":"a\"b\\\n"}"#, r#"{"q":"a\"b\\\n"}"#),
            (r#"{"half":"\ud83d"}"#, r#"{"half":"\ud83d"}"#),
            ("{\"open", "{\"open"),
            ("", ""),
        ] {
            assert_eq!(compact(written), sent);
        }
    }

    proptest! {
        #[test]
        fn what_it_means_stays(keys in prop::collection::vec((".{0,8}", ".{0,12}"), 0..5), blanks in "[ \t\r\n]{0,3}") {
            let members: Vec<_> = keys.iter().map(|(key, text)| {
                format!("{blanks}{}{blanks}:{blanks}{}", Value::String(key.clone()), Value::String(text.clone()))
            }).collect();
            let json = format!("{{{}{blanks}}}", members.join(","));
            let (before, after) = (serde_json::from_str::<Value>(&json).unwrap(), compact(&json));
            prop_assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), before);
            prop_assert_eq!(compact(&after), after);
        }
    }
}
