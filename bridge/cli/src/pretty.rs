//! JSON text laid out for reading.
//!
//! Owns the layout. Must never parse into values: key order, big numbers and repeated keys stay as their author
//! wrote them.

const INDENT: &str = "  ";

/// The deepest level of indentation. Nobody reads deeper ones, and their white space grows with the square of
/// the depth.
const MAX_LEVELS: usize = 40;

/// A longer text, in bytes, stays unchanged: nobody reads it, and formatted it may be forty times as long.
const LONGEST: usize = 256 * 1024;

/// Lays out valid JSON text, one member per line.
pub fn pretty(json: &str) -> String {
    if json.len() > LONGEST {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut just_opened, mut rest) = (0usize, false, json.trim_start());
    while !rest.is_empty() {
        let (token, behind) = rest.split_at(token_length(rest));
        let closes = matches!(token, "}" | "]");
        if closes {
            depth = depth.saturating_sub(1);
        }
        // Empty brackets stay together.
        if just_opened != closes {
            start_line(&mut out, depth);
        }
        out.push_str(token);
        match token {
            "," => start_line(&mut out, depth),
            ":" => out.push(' '),
            "{" | "[" => depth += 1,
            _ => {}
        }
        just_opened = matches!(token, "{" | "[");
        rest = behind.trim_start();
    }
    out
}

fn start_line(out: &mut String, depth: usize) {
    out.push('\n');
    (0..depth.min(MAX_LEVELS)).for_each(|_| out.push_str(INDENT));
}

/// The length of the first token: a mark, a string with its quotes, or a bare word.
fn token_length(text: &str) -> usize {
    match text.as_bytes()[0] {
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        b'"' => string_length(text),
        _ => text.find(|c: char| c.is_whitespace() || "{}[],:\"".contains(c)).unwrap_or(text.len()),
    }
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_member_per_line() {
        assert_eq!(
            pretty(r#" {"b":[1,{"x":"a,\"b\":{"}],"a":{},"e":[ ],"n":12345678901234567890} "#),
            r#"{
  "b": [
    1,
    {
      "x": "a,\"b\":{"
    }
  ],
  "a": {},
  "e": [],
  "n": 12345678901234567890
}"#
        );
        assert_eq!((pretty("7"), pretty("\"ä\\\\\"")), ("7".into(), "\"ä\\\\\"".into()));
    }

    #[test]
    fn long_text_stays_as_it_is() {
        let deep = "[".repeat(LONGEST + 1);
        assert_eq!(pretty(&deep), deep);
        assert!(pretty(&deep[1..]).len() > 40 * LONGEST);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in ".{0,40}|[\\[\\]{}\",:a\\\\ ]{0,24}") {
            pretty(&text);
        }
    }
}
