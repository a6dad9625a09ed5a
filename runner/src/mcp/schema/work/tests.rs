//! What is counted for each keyword: data that would keep it busy is left unchecked, and ordinary data is not.

use serde_json::{Map, Value, json};

use super::super::{Checker, Verdict};

const STEPS: Verdict = Verdict::NotChecked("the check takes too many steps");

fn verdict(schema: &Value, data: &Value) -> Verdict {
    Checker::compile(&schema.to_string()).unwrap().check(&data.to_string())
}

/// Tries `last` 4096 times.
fn often(last: &Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..12 {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        definitions.insert(level.to_string(), json!({"anyOf": [next, next]}));
    }
    definitions.insert("12".into(), last.clone());
    json!({"$defs": definitions, "allOf": [{"$ref": "#/$defs/0"}]})
}

/// A name that differs from others in its middle alone.
fn long(middle: usize) -> String {
    format!("{0}{middle:03}{0}", "x".repeat(2000))
}

fn object(names: impl Iterator<Item = String>) -> Value {
    Value::Object(names.map(|name| (name, Value::Null)).collect())
}

/// Differs from a list of zeros in its last item.
fn zeros_but_the_last(len: usize, last: usize) -> Value {
    let mut items = vec![0; len];
    items[len - 1] = last;
    json!(items)
}

#[test]
fn large_texts_count() {
    let million = json!("x".repeat(1_000_000));
    let texts: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    for schema in [
        json!({"maxLength": 1}),
        json!({"minLength": 2_000_000}),
        json!({"enum": texts}),
        json!({"const": "x"}),
    ] {
        assert_eq!(verdict(&often(&schema), &million), STEPS, "{schema}");
    }
    let one = "x".repeat(100_000);
    let other = json!(format!("{}y", &one[1..]));
    assert_eq!(verdict(&often(&json!({"const": one})), &other), STEPS);
    assert_eq!(verdict(&often(&json!({"enum": [one, 5]})), &other), STEPS);
    let branches = |count: usize| {
        let branch = |n: usize| json!({"properties": {"k": {"const": n.to_string()}}, "required": ["k"]});
        json!({"oneOf": (0..count).map(branch).collect::<Vec<_>>()})
    };
    assert_eq!(verdict(&often(&branches(4)), &json!({"k": million})), STEPS);
    for keyword in [r#""contentMediaType":"application/json""#, r#""contentEncoding":"base16""#] {
        let draft_7 = r#"{"$schema":"http://json-schema.org/draft-07/schema#","allOf":["#.to_owned();
        let schema = format!("{draft_7}{}{{}}]}}", format!("{{{keyword}}},").repeat(9));
        assert_eq!(Checker::compile(&schema).unwrap().check(&million.to_string()), STEPS, "{keyword}");
    }
}

#[test]
fn large_constants_count() {
    let zeros = json!(vec![0; 25_000]);
    let data = zeros_but_the_last(25_000, 1);
    assert_eq!(verdict(&often(&json!({"const": zeros})), &data), STEPS);
    assert_eq!(verdict(&often(&json!({"enum": [5, zeros]})), &data), STEPS);
    let names = |last: &'static str| (0..4000).map(|n| format!("k{n:04}")).chain([last.to_owned()]);
    assert_eq!(verdict(&often(&json!({"const": object(names("y"))})), &object(names("z"))), STEPS);
}

#[test]
fn long_names_count() {
    let wanted: Vec<_> = (0..15).map(long).collect();
    let data = object((100..115).map(long));
    let schemas = object((0..14).map(long)).to_string().replace("null", "true");
    let schemas: Value = serde_json::from_str(&schemas).unwrap();
    for schema in [
        json!({"required": wanted}),
        json!({"dependentRequired": {(long(100)): wanted}}),
        json!({"properties": schemas, "required": ["none"]}),
    ] {
        assert_eq!(verdict(&often(&schema), &data), STEPS, "{schema:.40}");
    }
    let million = object(["x".repeat(1_000_000)].into_iter());
    let many: Value = (0..16).map(|n| (n.to_string(), json!(true))).collect();
    for schema in [
        json!({"properties": many, "required": ["none"]}),
        json!({"additionalProperties": true, "required": ["none"]}),
        json!({"propertyNames": true, "required": ["none"]}),
    ] {
        assert_eq!(verdict(&often(&schema), &million), STEPS, "{schema:.40}");
    }
}

#[test]
fn dependencies_count() {
    let names: Vec<_> = (0..1000).map(|n| n.to_string()).collect();
    let data = object((0..1000).map(|n| n.to_string()));
    let schema = json!({"dependentRequired": {"1": names}, "maxProperties": 1});
    assert_eq!(verdict(&often(&schema), &data), STEPS);
    let mut draft_7 = often(&json!({"dependencies": {"1": names}, "maxProperties": 1}));
    draft_7["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert_eq!(verdict(&draft_7, &data), STEPS);
}

#[test]
fn items_that_are_compared_with_each_other_count() {
    let unique = json!({"uniqueItems": true});
    let few: Vec<_> = (0..15).map(|last| zeros_but_the_last(25_000, last)).collect();
    assert_eq!(verdict(&unique, &json!(few)), STEPS);
    // All have the same leaves.
    let many: Vec<_> = (0..2000).map(|n| json!([vec![1; n % 45], vec![1; 45 - n % 45], n / 45])).collect();
    assert_eq!(verdict(&unique, &json!(many)), STEPS);
    let numbers: Vec<_> = (0..12_000).map(|n| (1_u64 << 63) + n).collect();
    assert_eq!(verdict(&unique, &json!(numbers)), STEPS);
}

#[test]
fn divisions_count() {
    assert_eq!(verdict(&json!({"items": {"multipleOf": 0.1}}), &json!(vec![1e22; 60_000])), STEPS);
    assert_eq!(verdict(&json!({"items": {"multipleOf": 5}}), &json!(vec![5; 60_000])), Verdict::Fits);
}

#[test]
fn patterns_count_by_their_states() {
    let text = "ab".repeat(10_000);
    let pattern = |pattern: &str| json!({"pattern": pattern});
    assert_eq!(verdict(&pattern("[ab]*a[ab]{5000}c"), &json!(text)), STEPS);
    assert!(matches!(verdict(&pattern("[ab]*a[ab]{50}c"), &json!(text)), Verdict::Wrong(_)));
    for keywords in [
        json!({"patternProperties": {"[ab]*a[ab]{5000}c": {}}}),
        json!({"patternProperties": {"[ab]*a[ab]{3000}c": {}}, "additionalProperties": false}),
    ] {
        assert_eq!(verdict(&keywords, &object([text.clone()].into_iter())), STEPS, "{keywords}");
    }
}

#[test]
fn what_unevaluated_keywords_write_down_counts() {
    let branches: Vec<_> = (0..300).map(|_| json!({"minItems": 0, "minProperties": 0})).collect();
    let names = object((0..10_000).map(|n| n.to_string()));
    assert_eq!(verdict(&json!({"anyOf": branches, "unevaluatedProperties": false}), &names), STEPS);
    assert_eq!(
        verdict(&json!({"anyOf": branches, "unevaluatedItems": false}), &json!(vec![0; 10_000])),
        STEPS
    );
}

#[test]
fn the_way_along_a_reference_counts() {
    let mut definitions = json!({"type": "number"});
    for _ in 0..28 {
        definitions = json!({"a": {"b": definitions}});
    }
    let schema = json!({"$defs": definitions, "items": {"$ref": format!("#/$defs{}", "/a/b".repeat(28))}});
    assert_eq!(verdict(&schema, &json!(vec![0; 50_000])), STEPS);
}

#[test]
fn ordinary_sizes_are_checked() {
    let name = |n: usize| format!("property{n}");
    let objects: Vec<_> = (0..1000).map(|n| json!({"id": n, "name": name(n), "tags": ["a", "b"]})).collect();
    let texts: Vec<_> = (0..40_000).map(name).collect();
    let tree = json!({"$defs": {"n": {"type": "integer", "multipleOf": 1}}, "items": {"$ref": "#/$defs/n"}});
    let rows = [
        (json!({"minLength": 1, "maxLength": 1_000_000}), json!("x".repeat(1_000_000))),
        (json!({"const": vec![0; 25_000]}), json!(vec![0; 25_000])),
        (json!({"enum": texts[..5000]}), json!(name(4999))),
        (json!({"items": {"enum": texts[..20]}}), json!(vec![name(7); 40_000])),
        (json!({"uniqueItems": true}), json!(texts)),
        (json!({"uniqueItems": true}), json!(objects)),
        (json!({"uniqueItems": true}), json!((0..100_000).collect::<Vec<_>>())),
        (json!({"items": {"multipleOf": 0.01}}), json!(vec![0.25; 40_000])),
        (json!({"items": {"pattern": "^[a-z0-9._-]{1,255}$"}}), json!(texts[..2000])),
        (json!({"pattern": "\\S"}), json!("x".repeat(100_000))),
        (
            json!({"propertyNames": {"maxLength": 20}, "required": texts[..500]}),
            object((0..20_000).map(name)),
        ),
        (json!({"contentEncoding": "base64"}), json!("QUFB".repeat(200_000))),
        (tree, json!(vec![0; 100_000])),
    ];
    for (schema, data) in rows {
        assert_eq!(verdict(&schema, &data), Verdict::Fits, "{schema:.60}");
    }
}
