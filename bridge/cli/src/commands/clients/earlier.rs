//! Harbor's own entry in a client's file: its settings hold until the person gives others.
//!
//! Owns reading its arguments. Must never widen what a client may use.

use serde_json::Value;

/// The arguments of `harbor mcp` in that entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// The client's name.
    pub name: Option<String>,
    /// The tools that it gets; all when empty.
    pub only: Vec<String>,
    /// Other options, as they stand there.
    pub others: Vec<String>,
}

impl Earlier {
    /// Reads an entry that is ours.
    pub fn of(entry: &Value) -> Self {
        let words = entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let (mut earlier, mut words) = (Self::default(), words.skip(1));
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            match option {
                "--client" => earlier.name = value.or_else(|| words.next()).map(str::to_owned),
                "--only" => earlier.only.extend(value.or_else(|| words.next()).map(str::to_owned)),
                _ => earlier.others.push(word.to_owned()),
            }
        }
        earlier
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_entry_says_is_read_in_both_forms() {
        let args = json!([
            "mcp",
            "--client",
            "a",
            "--only",
            "s/*",
            "--lazy",
            "--only=t/x",
            "--browser-session",
            "7"
        ]);
        let earlier = Earlier::of(&json!({"args": args}));
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let wanted = Earlier {
            name: Some("a".into()),
            only: words("s/* t/x"),
            others: words("--lazy --browser-session 7"),
        };
        assert_eq!(earlier, wanted);
        assert_eq!(Earlier::of(&json!({"args": ["mcp"]})), Earlier::default());
    }
}
