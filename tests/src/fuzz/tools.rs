//! Tools of a list, and data against their schemas: texts stay what the server wrote, and no schema takes for ever.
//!
//! Input of `schema`: the schema, a line end, the data.

use std::time::{Duration, Instant};

use harbor_runner::mcp::schema::{Checker, Verdict, any_object_fits};
use harbor_runner::mcp::tools::{read_tool, read_tools};
use serde_json::Value;

use super::Target;
use super::json::{Pairs, one_value, string};

pub(super) const TOOL: Target = Target {
    name: "tool",
    run: tool,
    corpus: &[
        br#"{"name":"a","title":"A","description":"does a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#,
        br#"{"name":"a","\ud800":{"":true},"\"":1}"#,
        br#"{"_meta":{"x":[1]},"outputSchema":{ "type" : "object" },"inputSchema":null,"n\u0061me":"a\u0062"}"#,
        br#"{"name":"a","name":"b"}"#,
        br#"{"name":"","title":7}"#,
        br#"{"name":"\ud800"}"#,
        br#"{"name":"a","annotations":{"a":1,"a":2,"n":1e999,"s":"\udc00"}}"#,
        b"{\"name\":\"a\xe2\x80\x8bb\",\"inputSchema\":{\"properties\":{\"\\u202e\":{}}}}",
        br#"["a","b","c","d","e","f"]"#,
        br#"{"name":"a","inputSchema":[[[[[[[[[[[[[[[[{"enum":[-0,0.1e-7,1E400,9007199254740993]}]]]]]]]]]]]]]]]]}"#,
        br#"{"name":"a","title":"[[","inputSchema":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["\"["]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"#,
        br#"{"name":"a","title":"[[","inputSchema":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["\"["]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}"#,
    ],
};

pub(super) const SCHEMA: Target = Target {
    name: "schema",
    run: schema,
    corpus: &[
        b"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":3}},\"required\":[\"a\"]}\n{\"a\":2}",
        b"{\"$ref\":\"#\"}\n{}",
        b"{\"allOf\":[{\"$ref\":\"#\"}]}\n{}",
        b"{\"anyOf\":[{\"properties\":{\"a\":{\"$ref\":\"#\"}}},{\"items\":{\"$ref\":\"#\"}}]}\n{\"a\":[{\"a\":[{\"a\":[]}]}]}",
        b"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/b\"},{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"oneOf\":[{\"$ref\":\"#/$defs/c\"},{\"$ref\":\"#/$defs/c\"}]},\"c\":{\"type\":\"string\"}},\"$ref\":\"#/$defs/a\"}\n{}",
        b"{\"multipleOf\":1e-300,\"minimum\":1e308}\n1e300",
        b"{\"minLength\":1e30,\"maxItems\":-1}\n\"x\"",
        b"{\"pattern\":\"((a{0,100}){0,100}){0,100}\"}\n\"aaaa\"",
        b"{\"pattern\":\"^(([a-z])+.)+[A-Z]([a-z])+$\"}\n\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
        b"{\"pattern\":\"\\\\cA\\\\p{L}(?=x)\\\\1\"}\n\"x\"",
        b"{\"unevaluatedProperties\":false,\"allOf\":[{\"anyOf\":[{\"properties\":{\"a\":{}}},{\"$ref\":\"#/allOf/0\"}]}]}\n{\"a\":1}",
        b"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[{}],\"additionalItems\":false,\"definitions\":{}}\n[1,2]",
        b"{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"id\":\"x\",\"exclusiveMinimum\":true,\"minimum\":1}\n1",
        b"{\"patternProperties\":{\"^a\":{\"$ref\":\"#\"}},\"propertyNames\":{\"maxLength\":2},\"additionalProperties\":{}}\n{\"aaa\":{}}",
        b"{\"uniqueItems\":true,\"contains\":{\"const\":1},\"prefixItems\":[{}],\"unevaluatedItems\":false}\n[1,1.0,[]]",
        b"{\"not\":{\"not\":{\"not\":{\"not\":{\"if\":{},\"then\":false,\"else\":true}}}}}\n[[[[[[[[]]]]]]]]",
        b"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":true}\n{\"a\":1}",
        b"{\"$id\":\"https://example.com/a\",\"$anchor\":\"x\",\"$dynamicAnchor\":\"y\",\"$ref\":\"#x\"}\n1",
        b"{\"enum\":[[[1],[2]],{\"a\":[1,2]}],\"uniqueItems\":true,\"const\":[[1],[2]]}\n[[1],[2]]",
        b"{\"items\":{\"multipleOf\":0.1,\"pattern\":\"(x{2,9}[a-z]{3})+\",\"maxLength\":9}}\n[1e22,\"xxxabcxxabc\",1e999]",
        b"{\"dependentRequired\":{\"a\":[\"b\"]},\"propertyNames\":{\"enum\":[\"a\",\"c\"]}}\n{\"a\":\"\\ud800\"}",
        b"{\"dependentSchemas\":{\"a\":{\"minProperties\":2}},\"dependencies\":{\"a\":[\"b\"]}}\n{\"a\":1}",
    ],
};

/// A check of a few kilobytes, unoptimised and on a machine that does much else.
const SLOW: Duration = Duration::from_secs(5);

fn tool(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(item) = one_value(text) else { return };
    let list = format!("[{item},{item}]");
    let (tools, left_out) = read_tools(&list);
    assert_eq!(tools.len() + usize::try_from(left_out.count).unwrap_or_default(), 2);
    let Ok(tool) = read_tool(item) else { return assert!(tools.is_empty()) };
    assert_eq!(tools, std::slice::from_ref(&tool), "its name counts once");
    let pairs = Pairs::parse(item.as_bytes()).expect("a tool is an object");
    assert_eq!(pairs.get("name").and_then(string).as_deref(), Some(tool.name.as_ref()));
    assert!(!tool.name.is_empty() && tool.name.len() <= 512);
    let members = [
        ("title", &tool.title),
        ("description", &tool.description),
        ("inputSchema", &tool.input_schema),
        ("outputSchema", &tool.output_schema),
        ("annotations", &tool.annotations),
    ];
    for (name, member) in members {
        assert_eq!(member.as_deref(), pairs.get(name).filter(|text| *text != "null"), "{name}");
        let read = serde_json::from_str::<Value>(member.as_deref().unwrap_or("null"));
        let why = read.map_or_else(|error| error.to_string(), |_| String::new());
        assert!(!why.contains("recursion limit"), "{name} is readable in a list");
        assert!(why.is_empty() || tool.hidden, "{name}: {why}");
    }
    // White space before it changes no value; where the text itself is hashed, it is not of the item.
    assert_eq!(read_tool(one_value(&format!(" {item} ")).unwrap_or_default()), Ok(tool));
}

fn schema(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (schema, data) = text.split_once('\n').unwrap_or((&text, "{}"));
    let begun = Instant::now();
    let Ok(checker) = Checker::compile(schema) else { return };
    let verdict = checker.check(data);
    assert!(begun.elapsed() < SLOW, "it took {:?}", begun.elapsed());
    if let Verdict::Wrong(mismatch) = &verdict {
        assert!(mismatch.path.len() <= 200 && mismatch.why.len() <= 300 && !mismatch.why.is_empty());
    }
    let object = matches!(serde_json::from_str(data), Ok(Value::Object(_)));
    if object && any_object_fits(schema) {
        assert_eq!(verdict, Verdict::Fits, "the short cut says so");
    }
    assert_eq!(verdict, checker.check(data), "twice the same");
}
