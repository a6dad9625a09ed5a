//! JSON text that is carried: what counts as contained, and the split into fields, against serde_json.
//!
//! Owns [`Pairs`], the plain reading of an object that other targets compare with too.

use std::fmt;

use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::json::{Fields, Json};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Target;

pub(super) const CONTAINED: Target = Target {
    name: "contained",
    run: contained,
    corpus: &[
        br#"{"content":[{"type":"text","text":"a \"b\" \\"}],"isError":false}"#,
        br#"[1,-2.5e+10,true,null,"\u0041"]"#,
        br#" "a string with \"quotes\" and more than sixteen bytes" "#,
        br#"1},"id":"x""#,
        br#""a","b":"c""#,
        br#"{"a":"\"}"},"id":"x","b":{"#,
        br#""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"","x":"y""#,
        br#""0123456789abcde\"","id":"x""#,
        br#"{"a":"\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"}","b":["{\""]}"#,
        br#"[{"name":"a","text":"[[[[{{{{ \"]]]]}}}}\" "},{"name":"b","text":"\\"},{"name":"c","n":[[[[[[1]]]]]]}]"#,
        b"{]",
        b"-",
        b"[[[[[[[[[[]]]]]]]]]]",
    ],
};

pub(super) const FIELDS: Target = Target {
    name: "fields",
    run: fields,
    corpus: &[
        br#"{"type":"ping","request_id":"1","echo":"x"}"#,
        br#"{"type":"rpc","id":1,"method":"ping","params":{"echo":"x","n":[1,{"a":2}]}}"#,
        br#"{ "a" : {"b":1} , "params":{"b":12345678901234567890} }"#,
        br#"{"a":1,"a":2}"#,
        br#"{"params":{},"params":{}}"#,
        br#"{"params":{"a":1,"\u0061":2}}"#,
        br#"{"\u0070arams":{"a":1},"x":"\ud800"}"#,
        br#"{"params":null}"#,
        br#"{"params":1e999}"#,
        br#"{"params":null,"params":{"a":1}}"#,
        b"{} {}",
    ],
};

/// An object as its author wrote it: every pair, in order, also those that stand twice.
#[derive(Debug)]
pub(super) struct Pairs<'a>(Vec<(String, &'a str)>);

impl<'a> Pairs<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The same, for an object in which no key stands twice.
    pub(super) fn unique(bytes: &'a [u8]) -> Option<Self> {
        Self::parse(bytes).filter(|pairs| !pairs.has_twins())
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    pub(super) fn keys(&self) -> Vec<&str> {
        self.0.iter().map(|(key, _)| key.as_str()).collect()
    }

    fn has_twins(&self) -> bool {
        let mut keys = self.keys();
        keys.sort_unstable();
        keys.windows(2).any(|two| two[0] == two[1])
    }
}

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            pairs.push((key, value.get()));
        }
        Ok(Pairs(pairs))
    }
}

/// The one JSON value in `text`, without what surrounds it. Unlike `Value` it takes any number and any escape.
pub(super) fn one_value(text: &str) -> Option<&str> {
    serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
}

/// The items of the array in `text`.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    let items = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// The string that `text` is.
pub(super) fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// The text alone, and moved to another place within the blocks that are looked at as one.
fn contained(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    contained_or_not(text);
    let key = "k".repeat(bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>() % 131);
    let moved = format!("{{\"{key}\":{text}}}");
    contained_or_not(&moved);
    if one_value(text).is_some() {
        assert!(!is_contained(&format!("{moved}}}")) && !is_contained(&moved[..moved.len() - 1]));
    }
}

fn contained_or_not(text: &str) {
    let quoted = Json::string(text);
    assert!(is_contained(quoted.as_str()));
    assert_eq!(string(quoted.as_str()).as_deref(), Some(text));
    if !is_contained(text) {
        assert!(one_value(text).is_none(), "JSON that is not contained");
        return;
    }
    let around = format!("{{\"id\":\"mine\",\"result\":{text}}}");
    if let Some(pairs) = Pairs::parse(around.as_bytes()) {
        assert_eq!(pairs.keys(), ["id", "result"]);
        assert_eq!(pairs.get("id"), Some("\"mine\""));
    }
    // What does not parse alone must not become something by its neighbours either.
    for (around, count) in [(format!("[{text}]"), 1), (format!("[{{}},{text},{{}}]"), 3)] {
        if let Some(items) = items(&around) {
            assert_eq!(items.len(), count, "{around}");
        }
    }
}

fn fields(bytes: &[u8]) {
    let Ok(fields) = Fields::parse(bytes) else {
        assert!(Pairs::unique(bytes).is_none(), "an object that is refused");
        return;
    };
    // Keys that are no text (half a surrogate pair) are beyond the plain reading.
    let Some(plain) = Pairs::parse(bytes) else { return };
    assert_eq!(fields.twice().is_some(), plain.has_twins(), "twins are told");
    for (key, _) in &plain.0 {
        assert_eq!(fields.get(key), plain.get(key), "the first one counts");
    }
    assert_eq!(fields.get("no such key"), plain.get("no such key"));
}
