//! The packages and remotes of a server, as the registry's server.json has them.
//!
//! Owns their bounds: how many, how deep, how long. Must never decide how one is installed: unknown fields stay.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::text;

/// The most packages of an entry.
const MAX_PACKAGES: usize = 16;
/// A package deeper than this is left out.
const MAX_DEPTH: usize = 12;
/// The longest string in one; longer ones are cut.
const MAX_STRING: usize = 1000;
/// A package of more bytes is left out.
const MAX_PACKAGE: usize = 16 * 1024;
/// All of one list together.
const MAX_LIST: usize = 32 * 1024;

/// Reads a JSON array; what is no object, or out of bounds, is left out.
#[must_use]
pub fn list(json: Option<&RawValue>) -> Vec<Value> {
    let all: Vec<&RawValue> = json.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default();
    let sound = all.into_iter().filter(|raw| raw.get().len() <= MAX_PACKAGE).filter_map(|raw| {
        let value = cleaned(serde_json::from_str(raw.get()).ok()?, MAX_DEPTH)?;
        value.is_object().then_some(value)
    });
    let mut room = MAX_LIST;
    let fits = |value: &Value| {
        let fits = value.to_string().len() <= room;
        room = room.saturating_sub(value.to_string().len());
        fits
    };
    sound.take(MAX_PACKAGES).filter(fits).collect()
}

fn cleaned(value: Value, depth: usize) -> Option<Value> {
    let below = depth.checked_sub(1)?;
    Some(match value {
        Value::String(string) => Value::String(text::clean(&string, MAX_STRING)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| cleaned(item, below)).collect::<Option<_>>()?)
        }
        Value::Object(members) => {
            let member = |(name, value): (String, Value)| {
                Some((text::clean(&name, text::MAX_NAME), cleaned(value, below)?))
            };
            Value::Object(members.into_iter().map(member).collect::<Option<_>>()?)
        }
        plain => plain,
    })
}

/// The list as JSON.
#[must_use]
pub fn text(list: &[Value]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".into())
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The identifiers of packages and addresses of remotes, for the search.
#[must_use]
pub fn identifiers(packages: &[Value], remotes: &[Value]) -> String {
    let packages = packages.iter().filter_map(|package| field(package, "identifier"));
    let remotes = remotes.iter().filter_map(|remote| field(remote, "url"));
    packages.chain(remotes).collect::<Vec<_>>().join(" ")
}

/// The ways to install it: `npm`, `pypi`, `oci`, `remote` …
#[must_use]
pub fn kinds(packages: &[Value], remotes: &[Value]) -> Vec<String> {
    let is_word = |kind: &&str| kind.len() <= 16 && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let kinds = packages.iter().filter_map(|package| field(package, "registryType")).filter(is_word);
    let mut kinds: Vec<String> = kinds.map(str::to_owned).collect();
    if !remotes.is_empty() {
        kinds.push("remote".into());
    }
    kinds.sort();
    kinds.dedup();
    kinds
}

/// The first package of npm or PyPI: whose downloads can be counted.
#[must_use]
pub fn countable(packages: &str) -> Option<(bool, String)> {
    let packages: Vec<Value> = serde_json::from_str(packages).ok()?;
    packages.iter().find_map(|package| {
        let npm = match field(package, "registryType")? {
            "npm" => true,
            "pypi" => false,
            _ => return None,
        };
        let name = field(package, "identifier")?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@/._-".contains(&byte);
        (name.len() <= text::MAX_NAME && !name.contains("..") && name.bytes().all(plain))
            .then(|| (npm, name.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> Vec<Value> {
        list(Some(&serde_json::value::to_raw_value(value).unwrap()))
    }

    #[test]
    fn packages_stay_as_they_are_but_for_what_cannot_be_kept() {
        let package = json!({"registryType": "npm", "identifier": "@a/b", "future": [1, {"x": null}]});
        assert_eq!(of(&json!([package, 1, "x", null])), vec![package.clone()]);
        assert_eq!(of(&json!({"a": 1})), [Value::Null; 0]);
        assert_eq!(of(&json!([{"a\u{7}": "b\u{202e}c\nd"}])), [json!({"a": "bc d"})]);
        let mut deep = json!({});
        for _ in 0..MAX_DEPTH {
            deep = json!({"a": deep});
        }
        assert_eq!(of(&json!([deep, package])), vec![package.clone()]);
        assert_eq!(of(&json!([{"a": "x".repeat(MAX_PACKAGE)}, package])), vec![package.clone()]);
        assert_eq!(of(&Value::Array(vec![package; 100])).len(), MAX_PACKAGES);
        assert_eq!(list(None), [Value::Null; 0]);
    }

    #[test]
    fn names_and_kinds_are_found() {
        let packages = [json!({"registryType": "npm", "identifier": "@a/b"}), json!({"registryType": "a b"})];
        let remotes = [json!({"type": "sse", "url": "https://a.example"})];
        assert_eq!(identifiers(&packages, &remotes), "@a/b https://a.example");
        assert_eq!(kinds(&packages, &remotes), ["npm", "remote"]);
        assert_eq!(countable(&text(&packages)), Some((true, "@a/b".into())));
        for none in [json!({"registryType": "npm", "identifier": "../x"}), json!({"registryType": "oci"})] {
            assert_eq!(countable(&text(&[none])), None);
        }
    }
}
