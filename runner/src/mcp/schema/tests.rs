//! What fits a schema, what is said of what does not, and what is left unchecked: a bound that does not hold shows
//! itself as a test without end. The fuzz target `schema` measures time.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

fn checker(schema: &Value) -> Checker {
    Checker::compile(&schema.to_string()).unwrap()
}

fn refused(schema: &Value) -> String {
    Checker::compile(&schema.to_string()).unwrap_err()
}

fn wrong(path: &str, why: &str, rule: &str) -> Verdict {
    Verdict::Wrong(Mismatch { path: path.into(), why: why.into(), rule: rule.into() })
}

#[test]
fn mismatches_are_told_by_place_and_expectation_without_the_value() {
    let checker = checker(&json!({
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"properties": {"b": {"type": "string"}}}},
            "n": {"minimum": 3},
            "e": {"enum": ["x", "y"]},
            "c": {"const": 1},
            "p": {"pattern": "^a+$"},
            "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "m": {"propertyNames": {"maxLength": 3}},
            "at": {"format": "date-time"},
            "a/b~": {"type": "null"},
        },
        "required": ["n"],
        "additionalProperties": false,
    }));
    let rows = [
        (r#"{"n":3,"a":[{"b":"x"}],"at":"never","any":null}"#, Verdict::Fits),
        (
            r#"{"n":3,"a":[{"b":5}]}"#,
            wrong("/a/0/b", r#"it is not of type "string""#, "/properties/a/items/properties/b/type"),
        ),
        ("{}", wrong("", r#""n" is a required property"#, "/required")),
        (r#"{"n":2}"#, wrong("/n", "it is less than the minimum of 3", "/properties/n/minimum")),
        (r#"{"n":3,"e":"secret"}"#, wrong("/e", r#"it is none of ["x","y"]"#, "/properties/e/enum")),
        (r#"{"n":3,"c":"secret"}"#, wrong("/c", "it is not 1", "/properties/c/const")),
        (r#"{"n":3,"p":"secret"}"#, wrong("/p", r#"it does not match "^a+$""#, "/properties/p/pattern")),
        (
            r#"{"n":3,"any":5}"#,
            wrong(
                "/any",
                "it is not valid under any of the schemas listed in the 'anyOf' keyword",
                "/properties/any/anyOf",
            ),
        ),
        (
            r#"{"n":3,"m":{"secret":1}}"#,
            wrong(
                "/m",
                "the name of a property is wrong: it is longer than 3 characters",
                "/properties/m/propertyNames/maxLength",
            ),
        ),
        (r#"{"n":3,"a/b~":1}"#, wrong("/a~1b~0", r#"it is not of type "null""#, "/properties/a~1b~0/type")),
        (
            r#"{"n":3,"x":1}"#,
            wrong("", "Additional properties are not allowed ('x' was unexpected)", "/additionalProperties"),
        ),
        (r#"{"n":"#, wrong("", "it cannot be read: EOF while parsing a value at line 1 column 5", "")),
    ];
    for (data, verdict) in rows {
        assert_eq!(checker.check(data), verdict, "{data}");
    }
}

#[test]
fn json_without_a_value_here_is_left_unchecked() {
    let checker = checker(&json!({"properties": {"n": {"type": "null"}}}));
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for n in [
        nested(127),
        "1e999".into(),
        "-1e999".into(),
        "9".repeat(5000),
        r#""\ud800""#.into(),
        nested(100_000),
    ] {
        let why = "the data has a number, a text or a depth that Harbor cannot read";
        assert_eq!(checker.check(&format!("{{\"n\":{n}}}")), Verdict::NotChecked(why), "{n:.20}");
    }
    assert_eq!(
        checker.check(&format!("{{\"n\":{}}}", nested(126))),
        wrong("/n", r#"it is not of type "null""#, "/properties/n/type")
    );
    for no_json in ["", "{", "{} {}", r#"{"n":01}"#, r#"{"n":1e}"#, r#"{"n":"\x"}"#, "{\"n\":\"\n\"}"] {
        assert!(matches!(checker.check(no_json), Verdict::Wrong(_)), "{no_json}");
    }
}

#[test]
fn the_draft_is_the_one_that_the_schema_names() {
    let tuple = |draft: &str| checker(&json!({"$schema": draft, "items": [{"type": "string"}]}));
    let draft_7 = tuple("http://json-schema.org/draft-07/schema#");
    assert_eq!(draft_7.check("[5]"), wrong("/0", r#"it is not of type "string""#, "/items/0/type"));
    assert!(refused(&json!({"items": [{"type": "string"}]})).contains("its schema is invalid at `/items`"));
    assert!(refused(&json!({"$schema": "https://example.com/own", "type": "object"})).contains("invalid"));
}

#[test]
fn references_lead_to_the_schema_itself_and_nowhere_else() {
    let tree = checker(&json!({
        "$defs": {"a b%": {"type": "object", "properties": {"in": {"$ref": "#/$defs/a%20b%25"}, "n": {"type": "integer"}}}},
        "$ref": "#/$defs/a%20b%25",
    }));
    assert_eq!(tree.check(r#"{"in":{"in":{"n":1}}}"#), Verdict::Fits);
    assert_eq!(
        tree.check(r#"{"in":{"in":{"n":"1"}}}"#),
        wrong("/in/in/n", r#"it is not of type "integer""#, "/$defs/a b%/properties/n/type")
    );
    for to in ["https://example.com/x", "file:///etc/passwd", "other.json#/a", "#/$defs/none", "#anchor", "x"]
    {
        assert_eq!(refused(&json!({"$ref": to})), format!("its schema refers to something outside it: {to}"));
    }
    assert!(refused(&json!({"$dynamicRef": "#a"})).contains("dynamic"));
    assert!(refused(&json!({"properties": {"a": {"$id": "x"}}})).contains("with their own identifiers"));
    // As names of properties, or as data in a draft without them, these are no keywords.
    let names = json!({"properties": {"$id": {}, "id": {}, "$ref": {}}, "default": {"id": "x"}});
    assert_eq!(checker(&names).check(r#"{"id":1,"$ref":"x"}"#), Verdict::Fits);
    let named =
        json!({"$id": "https://example.com/s", "$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"});
    assert_eq!(checker(&named).check("1"), wrong("", r#"it is not of type "null""#, "/$defs/a/type"));
}

#[test]
fn what_is_too_much_is_not_compiled() {
    let mut deep = json!({});
    for _ in 0..70 {
        deep = json!({"not": deep});
    }
    assert_eq!(refused(&deep), "its schema is nested more than 64 deep");
    assert_eq!(refused(&json!({"title": "x".repeat(MAX_SCHEMA)})), "its schema is longer than 128 KiB");
    let patterns: Map<_, _> = (0..101).map(|n| (format!("^{n}"), json!(true))).collect();
    assert!(refused(&json!({"patternProperties": patterns})).contains("patterns"));
    assert!(refused(&json!({"pattern": "x".repeat(5000)})).contains("pattern"));
    for pattern in ["((a{0,100}){0,100}){0,100}", "(?=a)b", "(a)\\1", "^.{0,404600}$", "("] {
        assert!(refused(&json!({"pattern": pattern})).contains("invalid at `/pattern`"), "{pattern}");
    }
    assert!(Checker::compile("{\"a\":1e999}").unwrap_err().contains("cannot be read"));
    assert!(refused(&json!({"type": 5})).contains("invalid at `/type`"));
}

#[test]
fn ordinary_patterns_are_compiled() {
    for pattern in ["^[^/]{1,255}$", "[\\w.-]{1,128}", "^\\d{4}-\\d{2}$", "^\\p{L}{1,20}$", "(a*)*b"] {
        let checker = checker(&json!({"properties": {"p": {"pattern": pattern}}}));
        assert!(matches!(checker.check(r#"{"p":"\n"}"#), Verdict::Fits | Verdict::Wrong(_)), "{pattern}");
    }
}

/// Definitions of which each has the next one twice.
fn doubling(keyword: &str, levels: u32, last: &Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        definitions.insert(level.to_string(), json!({keyword: [next, next]}));
    }
    definitions.insert(levels.to_string(), last.clone());
    json!({"$defs": definitions, "$ref": "#/$defs/0"})
}

#[test]
fn a_schema_that_asks_for_too_many_steps_is_left_unchecked() {
    const STEPS: Verdict = Verdict::NotChecked("the check takes too many steps");
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let checker = checker(&doubling(keyword, 40, &json!({"type": "string"})));
        assert_eq!(checker.check("{}"), STEPS, "{keyword}");
    }
    for circle in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#/not"}], "not": {"$ref": "#"}}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
    ] {
        assert_eq!(checker(&circle).check("{}"), STEPS, "{circle}");
    }
    let long = json!({"s": "x".repeat(200_000)}).to_string();
    let pattern = json!({"properties": {"s": {"pattern": "^(\\p{L}|x){0,20}$"}}});
    assert_eq!(checker(&pattern).check(&long), STEPS);
    let doubled =
        json!({"anyOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]});
    let deep = format!("{}1{}", "{\"x\":".repeat(100), "}".repeat(100));
    assert_eq!(checker(&doubled).check(&deep), STEPS);
    let mut marks = json!({"properties": {"x": {}}});
    for _ in 0..12 {
        marks =
            json!({"allOf": [marks], "anyOf": [{"properties": {"y": {}}}], "unevaluatedProperties": false});
    }
    let verdict = Checker::compile(&marks.to_string()).map(|checker| checker.check(r#"{"x":1,"y":2}"#));
    assert_eq!(verdict, Err("its schema has too many branches".into()));
    let mut unfolds = doubling("allOf", 20, &json!({"properties": {"x": {}}}));
    unfolds["unevaluatedProperties"] = json!(false);
    assert_eq!(refused(&unfolds), "its schema has too many branches");
    assert_eq!(
        checker(&json!({"type": "object"})).check(&" ".repeat(MAX_DATA + 1)),
        Verdict::NotChecked("the data is longer than 1 MiB")
    );
}

#[test]
fn a_base_schema_that_is_widened_is_checked() {
    let checker = checker(&json!({
        "$defs": {"base": {"properties": {"a": {"type": "string"}}}},
        "allOf": [{"$ref": "#/$defs/base"}],
        "properties": {"b": {"type": "integer"}},
        "unevaluatedProperties": false,
    }));
    assert_eq!(checker.check(r#"{"a":"x","b":1}"#), Verdict::Fits);
    assert!(matches!(checker.check(r#"{"a":"x","c":1}"#), Verdict::Wrong(_)));
}

#[test]
fn the_place_of_an_error_is_not_worth_a_thousand_copies() {
    let branches: Vec<_> = (0..1000).map(|_| json!({"type": "string"})).collect();
    let checker = checker(&json!({"properties": {"a": {"anyOf": branches}}}));
    let large = json!({"a": (0..200_000).collect::<Vec<_>>()}).to_string();
    assert!(large.len() > MAX_DATA, "so it takes a smaller one too");
    let small = json!({"a": (0..50_000).collect::<Vec<_>>()}).to_string();
    assert_eq!(checker.check(&small), wrong("", "it does not fit the schema", ""));
}

#[test]
fn each_name_that_is_missed_or_wrong_is_an_error_with_a_copy() {
    let names: Vec<_> = (0..1000).map(|n| format!("n{n}")).collect();
    let members: Map<_, _> = (0..2000).map(|n| (format!("m{n}"), json!(n))).collect();
    for schema in [
        json!({"required": names}),
        json!({"dependentRequired": {"m0": names}}),
        json!({"propertyNames": {"maxLength": 1}}),
    ] {
        let either = checker(&json!({"anyOf": [schema, {"type": "null"}]}));
        let verdict = either.check(&json!(members).to_string());
        assert_eq!(verdict, wrong("", "it does not fit the schema", ""), "{schema:.40}");
    }
}

#[test]
fn huge_numbers_do_no_harm() {
    for (schema, data) in [
        (r#"{"multipleOf":1e-300}"#, "1e300"),
        (r#"{"multipleOf":1e-300}"#, "3"),
        (r#"{"multipleOf":1.7e308}"#, "18446744073709551615"),
        (r#"{"minLength":1e30}"#, r#""x""#),
        (r#"{"maxItems":1e30,"minItems":1e30}"#, "[]"),
        (r#"{"minimum":1e308,"exclusiveMaximum":-1e308}"#, "0"),
    ] {
        let Ok(checker) = Checker::compile(schema) else { continue };
        assert!(!matches!(checker.check(data), Verdict::NotChecked(_)), "{schema}");
    }
}

/// The deepest recursion that the bounds leave, on a stack that is half of a program's.
#[test]
fn the_stack_is_enough_for_the_deepest_check() {
    let tree = json!({"anyOf": [{"allOf": [{"type": "object", "properties": {"x": {"$ref": "#"}}}]}, {"type": "null"}]});
    let deep = format!("{}5{}", "{\"x\":".repeat(120), "}".repeat(120));
    let sixty = format!("{}5{}", "{\"x\":".repeat(60), "}".repeat(60));
    let mut nested = json!({"type": "null"});
    for _ in 0..31 {
        nested = json!({"allOf": [nested]});
    }
    let chain = |levels: u32| {
        let mut definitions = Map::new();
        for level in 0..levels {
            definitions
                .insert(level.to_string(), json!({"allOf": [{"$ref": format!("#/$defs/{}", level + 1)}]}));
        }
        definitions.insert(levels.to_string(), json!({"type": "null"}));
        json!({"$defs": definitions, "$ref": "#/$defs/0"})
    };
    let run = move || {
        let tree = checker(&tree);
        assert!(matches!(tree.check(&sixty), Verdict::Wrong(_)));
        assert!(matches!(tree.check(&deep), Verdict::NotChecked(_)));
        assert!(matches!(checker(&nested).check("5"), Verdict::Wrong(_)));
        assert!(matches!(checker(&chain(80)).check("5"), Verdict::Wrong(_)));
        assert!(matches!(checker(&chain(1500)).check("5"), Verdict::NotChecked(_)));
    };
    std::thread::Builder::new().stack_size(4 * 1024 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn some_schemas_ask_nothing_of_an_object() {
    for open in [
        "{}",
        "true",
        r#"{"type":"object"}"#,
        r#"{"$schema":"x","type":"object","title":"t","description":"d","properties":{},"required":[]}"#,
        r#"{"additionalProperties":true,"$defs":{}}"#,
        r#"{"additionalProperties":{}}"#,
    ] {
        assert!(any_object_fits(open), "{open}");
    }
    for asking in [
        "false",
        "null",
        r#"{"type":"string"}"#,
        r#"{"type":["object"]}"#,
        r#"{"required":["a"]}"#,
        r#"{"additionalProperties":false}"#,
        r#"{"properties":{"a":{}}}"#,
        r#"{"x-own":1}"#,
        "{",
    ] {
        assert!(!any_object_fits(asking), "{asking}");
    }
}

#[test]
fn what_is_told_is_bounded() {
    let long = "é".repeat(400);
    let checker = checker(&json!({"additionalProperties": {"enum": [long]}}));
    let Verdict::Wrong(mismatch) = checker.check(&json!({ &*long: 1 }).to_string()) else { panic!() };
    assert!(
        mismatch.path.len() <= MAX_PATH && mismatch.path.starts_with("/é") && mismatch.path.ends_with("é…")
    );
    assert!(mismatch.why.len() <= MAX_WHY && mismatch.why.starts_with("it is none of [\"é"));
}

/// Small schemas of the keywords that the short cut knows, and of some that it does not.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just("object"), Just("string"), Just("integer")].prop_map(|kind| json!({"type": kind})),
        Just(json!({"type": ["object", "null"]})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let keyword = prop_oneof![
            ("[ab]", inner.clone()).prop_map(|(name, schema)| ("properties", json!({ name: schema }))),
            Just(("properties", json!({}))),
            inner.clone().prop_map(|schema| ("additionalProperties", schema)),
            inner.clone().prop_map(|schema| ("not", schema)),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|schemas| ("anyOf", Value::from(schemas))),
            prop::collection::vec("[ab]", 0..2).prop_map(|names| {
                let mut names = names;
                names.dedup();
                ("required", json!(names))
            }),
            Just(("type", json!("object"))),
            Just(("title", json!("t"))),
            inner.prop_map(|schema| ("$defs", json!({"d": schema}))),
            Just(("minProperties", json!(1))),
        ];
        prop::collection::vec(keyword, 0..4)
            .prop_map(|members| Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()))
    })
}

proptest! {
    #[test]
    fn the_short_cut_agrees_with_the_check(
        schema in schema(),
        objects in prop::collection::vec(
            prop::collection::btree_map("[abc]", prop_oneof![Just(json!({})), Just(json!(1)), Just(json!("x"))], 0..3),
            1..6,
        ),
    ) {
        let text = schema.to_string();
        let checker = Checker::compile(&text).unwrap();
        for object in objects {
            let data = json!(object).to_string();
            if any_object_fits(&text) {
                prop_assert_eq!(checker.check(&data), Verdict::Fits);
            }
            // The bounds, and the copy of the schema that they look at, change no verdict.
            let plain = jsonschema::is_valid(&schema, &json!(object));
            prop_assert_eq!(checker.check(&data) == Verdict::Fits, plain);
        }
    }
}
