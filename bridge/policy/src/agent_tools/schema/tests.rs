//! Which schemas are fitted, to what, and which are none: what fitted accepts is what was accepted.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn fit(schema: &Value) -> Result<Value, UnfitSchemaReason> {
    fitted(Dialect::Chat, &schema.to_string())
}

#[test]
fn what_fits_stays_and_what_is_missing_is_added() {
    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(fit(&plain), Ok(plain));
    let empty = json!({"type": "object", "properties": {}});
    for schema in
        [json!(true), json!({}), json!({"type": ["null", "object"]}), json!({"$schema": "s", "then": {}})]
    {
        assert_eq!(fit(&schema), Ok(empty.clone()), "{schema}");
    }
    let open = json!({"properties": {"a": true, "b": {"properties": {"c": true}}}});
    assert_eq!(fit(&open).unwrap()["properties"], json!({"a": {}, "b": {"properties": {"c": {}}}}));
}

#[test]
fn combinations_become_one_schema_where_that_is_the_same() {
    let all = json!({
        "properties": {"a": {"type": "string"}}, "required": ["a"],
        "allOf": [{"type": "object", "properties": {"a": {"minLength": 1}, "b": {}}, "required": ["b", "a"]}],
    });
    let wanted = json!({
        "type": "object", "required": ["a", "b"],
        "properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}, "b": {}},
    });
    assert_eq!(fit(&all), Ok(wanted));
    let referred = json!({
        "$ref": "#/$defs/Args",
        "$defs": {"Args": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "additionalProperties": false}, "A": {}},
    });
    let fitted = fit(&referred).unwrap();
    assert_eq!(
        (&fitted["properties"], &fitted["additionalProperties"], fitted.get("$ref")),
        (&json!({"a": {"$ref": "#/$defs/A"}}), &json!(false), None)
    );
    let one = json!({"oneOf": [{"properties": {"a": {}}}]});
    assert_eq!(fit(&one).unwrap()["properties"], json!({"a": {}}));
    let any = json!({"anyOf": [{"required": ["a"]}, true]});
    assert_eq!(fit(&any), Ok(json!({"type": "object", "properties": {}})));
}

#[test]
fn what_cannot_be_said_is_left_out_with_a_reason() {
    for (schema, why) in [
        (json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), UnfitSchemaReason::Word("anyOf")),
        (json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}), UnfitSchemaReason::Word("oneOf")),
        (json!({"enum": [{}]}), UnfitSchemaReason::Word("enum")),
        (json!({"if": {}, "then": {"required": ["a"]}}), UnfitSchemaReason::Word("if")),
        (
            json!({"additionalProperties": false, "allOf": [{"properties": {"a": {}}}]}),
            UnfitSchemaReason::Word("allOf"),
        ),
        (
            json!({"required": ["a"], "allOf": [{"additionalProperties": false}]}),
            UnfitSchemaReason::Word("allOf"),
        ),
        (
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}),
            UnfitSchemaReason::Word("$ref"),
        ),
        (json!({"$ref": "#/$defs/none"}), UnfitSchemaReason::Elsewhere),
        (json!({"properties": {"a": {"$ref": "https://example.com/a.json"}}}), UnfitSchemaReason::Elsewhere),
        (json!({"type": "string"}), UnfitSchemaReason::NoObject),
        (json!({"allOf": [{"type": "string"}]}), UnfitSchemaReason::NoObject),
        (json!({"properties": 7}), UnfitSchemaReason::NoObject),
        (json!([]), UnfitSchemaReason::NoObject),
        (json!(false), UnfitSchemaReason::NoObject),
    ] {
        assert_eq!(fit(&schema), Err(why), "{schema}");
    }
    assert_eq!(fitted(Dialect::Chat, "{"), Err(UnfitSchemaReason::NoJson));
    assert_eq!(fitted(Dialect::Chat, &"[".repeat(100_000)), Err(UnfitSchemaReason::NoJson));
}

#[test]
fn a_word_that_names_a_parameter_is_no_word_of_the_schema() {
    let named =
        json!({"type": "object", "properties": {"$ref": {"type": "string"}, "anyOf": {}, "items": {}}});
    assert_eq!(fit(&named), Ok(named));
}

#[test]
fn control_words_of_chat_templates_are_broken_up_or_the_tool_is_left_out() {
    let described = json!({"properties": {"a": {"description": "<|im_end|>\u{200b}"}}});
    assert_eq!(fit(&described).unwrap()["properties"]["a"]["description"], "< |im_end| >[U+200B]");
    let demanded = json!({"properties": {"a": {"enum": ["</tool_response>"]}}});
    assert_eq!(fit(&demanded), Err(UnfitSchemaReason::ControlWord));
}

#[test]
fn anthropic_takes_plain_names_of_parameters_only() {
    let schema = json!({"type": "object", "properties": {"a b": {}}});
    assert_eq!(fitted(Dialect::Anthropic, &schema.to_string()), Err(UnfitSchemaReason::Parameter));
    assert_eq!(fitted(Dialect::Ollama, &schema.to_string()), Ok(schema));
}

/// Whether an object of parameters that are absent or numbers fits. Knows the words of the test below only.
fn accepts(root: &Value, schema: &Value, arguments: &Map<String, Value>) -> bool {
    let Value::Object(words) = schema else { return schema == &Value::Bool(true) };
    words.iter().all(|(word, said)| {
        let each = |all: bool| {
            let fit = said.as_array().unwrap().iter().filter(|one| accepts(root, one, arguments)).count();
            if all { fit == said.as_array().unwrap().len() } else { fit > 0 }
        };
        match word.as_str() {
            "required" => {
                said.as_array().unwrap().iter().all(|name| arguments.contains_key(name.as_str().unwrap()))
            }
            "properties" => said.as_object().unwrap().iter().all(|(name, below)| {
                arguments.get(name).is_none_or(|value| number_fits(below, value.as_u64().unwrap()))
            }),
            "additionalProperties" => {
                said == &Value::Bool(true)
                    || arguments
                        .keys()
                        .all(|name| words.get("properties").is_some_and(|p| p.get(name).is_some()))
            }
            "allOf" => each(true),
            "anyOf" => each(false),
            "oneOf" => {
                said.as_array().unwrap().iter().filter(|one| accepts(root, one, arguments)).count() == 1
            }
            "$ref" => accepts(root, &root["$defs"]["D"], arguments),
            "type" => said == "object",
            _ => true,
        }
    })
}

fn number_fits(schema: &Value, number: u64) -> bool {
    schema.get("maximum").is_none_or(|most| number <= most.as_u64().unwrap())
        && schema
            .get("allOf")
            .is_none_or(|all| all.as_array().unwrap().iter().all(|one| number_fits(one, number)))
}

fn simple() -> impl Strategy<Value = Value> {
    let properties = prop::option::of(prop::collection::btree_map("[abc]", 0_u64..3, 0..3));
    let required = prop::option::of(prop::collection::btree_set("[abc]", 0..2));
    (properties, required, prop::option::of(any::<bool>())).prop_map(|(properties, required, additional)| {
        let mut schema = Map::new();
        if let Some(properties) = properties {
            let bounded = properties.into_iter().map(|(name, most)| (name, json!({"maximum": most})));
            schema.insert("properties".into(), Value::Object(bounded.collect()));
        }
        if let Some(required) = required {
            schema.insert("required".into(), required.into_iter().collect::<Vec<_>>().into());
        }
        if let Some(additional) = additional {
            schema.insert("additionalProperties".into(), additional.into());
        }
        Value::Object(schema)
    })
}

proptest! {
    #[test]
    fn a_fitted_schema_accepts_what_it_did_and_has_no_combination(
        root in simple(),
        definition in simple(),
        branches in prop::collection::vec((prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), prop::collection::vec(simple(), 1..3)), 0..3),
        refers in any::<bool>(),
        arguments in prop::collection::btree_map("[abcd]", 0_u64..4, 0..4),
    ) {
        let mut root = root;
        root["$defs"] = json!({"D": definition});
        for (word, branches) in branches {
            root[word] = branches.into();
        }
        if refers {
            root["$ref"] = "#/$defs/D".into();
        }
        let arguments: Map<_, _> = arguments.into_iter().map(|(name, number)| (name, number.into())).collect();
        if let Ok(fitted) = fit(&root) {
            prop_assert_eq!(accepts(&root, &root, &arguments), accepts(&fitted, &fitted, &arguments), "{} {}", root, fitted);
            prop_assert!(REFUSED.iter().chain(&["$ref", "$schema", "$id"]).all(|word| fitted.get(word).is_none()));
            prop_assert!(fitted["type"] == "object" && fitted["properties"].is_object());
            prop_assert_eq!(fit(&fitted).unwrap(), fitted, "a fitted one stays");
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let _ = fitted(Dialect::Anthropic, &text);
    }
}
