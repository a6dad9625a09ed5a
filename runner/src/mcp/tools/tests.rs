//! What a tool is read as. The hashes were computed by another program, from the canonical texts beside them.

use harbor_ipc_proto::hex::hex;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn hash_of(item: &str) -> String {
    hex(&read_tool(item).unwrap().hash)
}

#[test]
fn members_are_the_text_that_the_server_wrote() {
    let item = r#"{"inputSchema": {"type" : "object"},"name":"a\u0062","title":"T\u00e9","_meta":{"x":1},
        "annotations":null,"outputSchema":true ,"description": 5}"#;
    let tool = read_tool(item).unwrap();
    assert_eq!(
        tool,
        Tool {
            name: "ab".into(),
            title: Some(r#""T\u00e9""#.into()),
            description: Some("5".into()),
            input_schema: Some(r#"{"type" : "object"}"#.into()),
            output_schema: Some("true".into()),
            annotations: None,
            hash: tool.hash,
            hidden: false,
            via: None,
            more: Some(r#"{"_meta":{"x":1}}"#.into()),
            former: tool.former,
        }
    );
}

#[test]
fn what_it_has_come_through_is_no_part_of_what_a_tool_is() {
    let through = r#"{"name":"read","_meta":{"harbor\/via":[ "0123456789abcdef", "ffffffffffffffff" ]}}"#;
    let tool = read_tool(through).unwrap();
    assert_eq!(tool.via.as_deref(), Some(r#"["0123456789abcdef","ffffffffffffffff"]"#));
    assert_eq!((hex(&tool.hash), &tool.more), (hash_of(r#"{"name":"read"}"#), &None));
    let with_more = through.replace("[ ", "[").replace("{\"harbor", "{\"x\": 1,\"harbor");
    let tool = read_tool(&with_more).unwrap();
    assert_eq!(tool.more.as_deref(), Some(r#"{"_meta":{"x":1}}"#));
    assert_eq!(hex(&tool.hash), hash_of(r#"{"name":"read","_meta":{"x":1}}"#));
    assert_eq!(tool.former.map(|hash| hex(&hash)), Some(hash_of(r#"{"name":"read"}"#)));
}

#[test]
fn what_is_no_tool_is_left_out_and_counted() {
    let long = "x".repeat(513);
    let items = format!(
        r#"[{{"name":"a"}},{{"title":"no name"}},7,["b"],{{"name":5}},{{"name":""}},{{"name":"{long}"}},
            {{"name":"a","title":"again"}},{{"name":"\u0061"}},{{"name":"c","name":"d"}},{{"name":"\ud800"}},
            {{"name":"b","\"":1}},{{"name":"e","\ud800":1}}]"#
    );
    let (tools, left_out) = read_tools(&items);
    let names: Vec<_> = tools.iter().map(|tool| (tool.name.as_ref(), tool.title.as_deref())).collect();
    assert_eq!(names, [("a", None), ("b", None)]);
    assert_eq!(left_out, LeftOut { count: 11, first: "it has no name" });
    assert_eq!(read_tools("[]"), (Vec::new(), LeftOut::default()));
}

#[test]
fn golden_hashes() {
    let rows = [
        (r#"{"name":"read"}"#, "6a7296be2d50ccb2ca26b9ea6ec1692b395c27c07fdfe9a1a705c0e1c04a3b99"),
        (
            r#"{"name":"read_file","title":"Read","description":"Reads “a file”.\n\u20AC","inputSchema":
               {"type":"object","properties":{"path":{"type":"string","minLength":1},"limit":{"maximum":1e3}},
               "required":["path"]},"outputSchema":{"type":"object"},
               "annotations":{"readOnlyHint":true,"title":null},"icons":[{}],"execution":{}}"#,
            "29e3941050836ec7620d4c014f3b528a584b6ea72edba06bb4f0c1e5ed08ff1c",
        ),
        // RFC 8785, 3.2.2: numbers, strings and literals.
        (
            r#"{"annotations":{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
               "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]},"name":"rfc"}"#,
            "7f027c1406a3629002c00f5d587e16d3a176dd7d1a616546475a02c2416e2497",
        ),
        // RFC 8785, 3.2.3: keys by their UTF-16 code units.
        (
            r#"{"name":"rfc","annotations":{"\u20ac":"Euro Sign","\r":"Carriage Return",
               "\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face",
               "\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}}"#,
            "ca595533a0eb0bed29b4249adb119965ebc8781f81c5c21b18e065c5f19bbaba",
        ),
        (
            r#"{"name":"n","annotations":[0,-0.0,9007199254740993,1000000000000000000000,100000000000000000000,
               5e-324,1.7976931348623157e308,1e-6,0.0000001]}"#,
            "93bb784905eb9cd3be7f7910be0dde281bc765193ac7e213287c2e09eaa9e4f3",
        ),
        // No RFC 8785 form: the text, behind "raw:".
        (
            r#"{"name":"t","annotations":{"n":1e999}}"#,
            "2e2adf234042e72e286f7d9308702d827eeb8ed813f0087ab4e2c0d517d731aa",
        ),
    ];
    for (item, wanted) in rows {
        assert_eq!(hash_of(item), wanted, "{item}");
    }
}

#[test]
fn what_has_no_canonical_form_is_hashed_as_text_and_counts_as_hidden() {
    for annotations in [r#"{"a":1,"a":2}"#, r#""\ud800""#, "-1e400", "[[[[1e400]]]]"] {
        let item = format!("{{\"name\":\"t\",\"annotations\":{annotations}}}");
        let spaced = format!("{{\"name\":\"t\", \"annotations\":{annotations}}}");
        let tool = read_tool(&item).unwrap();
        assert!(tool.hidden, "{annotations}");
        assert_eq!(tool.hash, read_tool(&item).unwrap().hash);
        assert_eq!(tool.hash, raw_hash(&item));
        assert_ne!(tool.hash, read_tool(&spaced).unwrap().hash, "the text counts");
    }
}

#[test]
fn a_tool_that_is_nested_too_deep_is_left_out() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let tool =
        |name: &str, member: &str, value: &str| format!("{{\"name\":\"{name}\",\"{member}\":{value}}}");
    for member in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
        for deep in [nested(128), nested(2000), format!("[1e999,{}]", nested(127))] {
            let items = format!("[{},{}]", tool("a", member, &deep), tool("b", member, &nested(127)));
            let (tools, left_out) = read_tools(&items);
            assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["b"], "{member}");
            assert_eq!(left_out, LeftOut { count: 1, first: "it is nested more than 128 deep" });
        }
    }
    let twice = format!("{{\"name\":\"a\",\"title\":1e999,\"inputSchema\":{}}}", nested(128));
    assert_eq!(read_tool(&twice), Err("it is nested more than 128 deep"), "whatever else is wrong");
    let text = tool("a", "description", &format!("\"{}\"", nested(500)));
    assert!(!read_tool(&text).unwrap().hidden, "brackets in a text are none");
    assert!(read_tool(&tool("a", "_meta", &nested(500))).is_err(), "what clients get of it is as deep");
}

#[test]
fn hidden_characters_are_found_in_every_text() {
    for member in [
        r#""name":"a\u200b""#,
        r#""name":"a","title":"\u202e""#,
        r#""name":"a","description":"x\udb40\udc41""#,
        r#""name":"a","inputSchema":{"properties":{"a\u0000":{}}}"#,
        r#""name":"a","inputSchema":{"enum":[["\ufeff"]]}"#,
        r#""name":"a","outputSchema":{"description":"\u2066"}"#,
        r#""name":"a","annotations":{"title":"\u007f"}"#,
    ] {
        assert!(read_tool(&format!("{{{member}}}")).unwrap().hidden, "{member}");
    }
    let ordinary = r#"{"name":"a","description":"👩\u200d💻\n\tx","_meta":{"x":"\u200b"}}"#;
    assert!(!read_tool(ordinary).unwrap().hidden);
}

/// Small JSON values.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<i16>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "[a-z\"\\\\é😀\n]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-dé]{0,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The text of `value` with its members the other way round and white space between all tokens.
fn otherwise(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            out.push_str("{ \n");
            for (at, (key, member)) in members.iter().rev().enumerate() {
                out.push_str(if at > 0 { " ,\t" } else { "" });
                out.push_str(&format!("{} :\r ", Value::from(key.as_str())));
                otherwise(member, out);
            }
            out.push_str(" }");
        }
        Value::Array(items) => {
            out.push_str("[ ");
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { " , " } else { "" });
                otherwise(item, out);
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

const MEMBERS: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

proptest! {
    #[test]
    fn the_hash_depends_on_all_members(
        values in prop::collection::vec(value(), 5),
        more in value(),
        changed in 0usize..6,
        new in value(),
    ) {
        let mut tool = json!({"name": "t"});
        for (member, value) in MEMBERS[1..].iter().zip(values) {
            tool[*member] = value;
        }
        let hash = hash_of(&tool.to_string());
        let mut text = String::new();
        otherwise(&tool, &mut text);
        prop_assert_eq!(&hash_of(&text), &hash);
        let mut wider = tool.clone();
        for member in ["_meta", "icons", "execution"] {
            wider[member] = more.clone();
        }
        let read = read_tool(&wider.to_string()).map(|tool| (hex(&tool.hash), tool.former.map(|former| hex(&former))));
        match more.is_null() {
            true => prop_assert_eq!(read, Ok((hash.clone(), None))),
            false => {
                let (wide, former) = read.unwrap();
                prop_assert_ne!(&wide, &hash);
                prop_assert_eq!(former, Some(hash.clone()));
            }
        }
        let member = MEMBERS[changed];
        let new = if member == "name" { json!("other") } else { new };
        if tool[member] != new {
            // An absent member and a null one are the same.
            tool[member] = new;
            prop_assert_ne!(&hash_of(&tool.to_string()), &hash);
        }
    }
}
