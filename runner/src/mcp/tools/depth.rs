//! How deep a JSON text is nested.
//!
//! Owns the count of its brackets, for texts that are too deep to be read. Must never be asked about a text that is no JSON.

/// The deepest nesting of lists and objects. Zero in a plain value.
pub(super) fn of(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_count_where_they_are_no_text() {
        let rows = [
            ("7", 0),
            ("[]", 1),
            (r#"[[],{"a":[1]},[]]"#, 3),
            (r#""[[[""#, 0),
            (r#"{"[[\"[":"\\"}"#, 1),
            (r#"["\\",["\"["]]"#, 2),
        ];
        for (json, depth) in rows {
            assert_eq!(of(json), depth, "{json}");
        }
    }
}
