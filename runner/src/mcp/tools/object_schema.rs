//! A list of tools as it leaves Harbor: each with a schema of objects, or left out.
//!
//! Owns the remark about those that are left out. The rest of an item stays as its server wrote it.

use std::borrow::Cow;
use std::collections::HashSet;

use harbor_ipc_proto::json::with_member;
use harbor_ipc_proto::link::runner::Tool;
use harbor_ipc_proto::root_schema::Root;
use harbor_ipc_proto::strings::text_of;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Names that the remark has at most.
const MOST_NAMED: usize = 10;

/// Characters of a name that the remark has at most: the name is the server's.
const MAX_NAME: usize = 60;

#[derive(Deserialize)]
struct ItemSchema<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputSchema")]
    schema: Option<&'a RawValue>,
}

/// The array `items` with complete schemas, and the names of the items left out because no schema could be
/// completed. `None` if nothing had to change.
pub fn completed(items: &str) -> Option<(String, Vec<String>)> {
    let all: Vec<&RawValue> = serde_json::from_str(items).ok()?;
    let (mut kept, mut left_out, mut is_other) = (Vec::with_capacity(all.len()), Vec::new(), false);
    for item in all {
        let text = item.get();
        let read = serde_json::from_str::<ItemSchema<'_>>(text).ok();
        let Some((schema, name)) = read.and_then(|read| Some((read.schema?, read.name))) else {
            kept.push(Cow::Borrowed(text));
            continue;
        };
        match Root::of(schema.get()) {
            Root::Object => kept.push(Cow::Borrowed(text)),
            Root::Completed(schema) => {
                is_other = true;
                kept.extend(with_member(text, "inputSchema", &schema).map(Cow::Owned));
            }
            Root::Other => {
                is_other = true;
                left_out.push(name.and_then(|name| text_of(name.get())).unwrap_or_default().into_owned());
            }
        }
    }
    is_other.then(|| (format!("[{}]", kept.join(",")), left_out))
}

/// Completes the schemas of `tools`. Takes out each tool whose schema cannot be completed, and returns the names.
pub fn complete(tools: &mut Vec<Tool<'_>>) -> Vec<String> {
    let mut left_out = HashSet::new();
    let mut names = Vec::new();
    for (at, tool) in tools.iter_mut().enumerate() {
        match tool.input_schema.as_deref().map(Root::of) {
            None | Some(Root::Object) => {}
            Some(Root::Completed(schema)) => tool.input_schema = Some(schema.into()),
            Some(Root::Other) => {
                left_out.insert(at);
                names.push(tool.name.to_string());
            }
        }
    }
    let mut at = 0..;
    tools.retain(|_| at.next().is_some_and(|at| !left_out.contains(&at)));
    names
}

/// The remark about tools that were left out.
pub fn remark(left_out: &[String]) -> Option<String> {
    let shown = |name: &String| {
        let name: String = name.chars().take(MAX_NAME).flat_map(char::escape_debug).collect();
        format!("\"{name}\"")
    };
    let mut names: Vec<_> = left_out.iter().take(MOST_NAMED).map(shown).collect();
    names.extend((left_out.len() > MOST_NAMED).then(|| format!("{} more", left_out.len() - MOST_NAMED)));
    (!names.is_empty()).then(|| {
        format!(
            "tools are left out: their inputSchema is not an object schema, and AI clients would reject the whole list: {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools::read_tools;

    #[test]
    fn what_cannot_be_completed_is_left_out_alone_and_named() {
        let items = r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{ },"x":1e2},{"name":"c"},
            {"name":"d\n","inputSchema":{"type":"string"}},7]"#;
        let (kept, left_out) = completed(items).unwrap();
        let wanted = r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{ "type":"object"},"x":1e2},{"name":"c"},7]"#;
        assert_eq!((kept.as_str(), &left_out), (wanted, &vec!["d\n".to_owned()]));
        assert_eq!(completed(&kept), None);
        let (mut tools, _) = read_tools(items);
        let hashes: Vec<_> = tools.iter().map(|tool| tool.hash).take(3).collect();
        assert_eq!(complete(&mut tools), left_out);
        let schemas: Vec<_> = tools.iter().map(|tool| tool.input_schema.as_deref()).collect();
        assert_eq!(schemas, [Some(r#"{"type":"object"}"#), Some(r#"{ "type":"object"}"#), None]);
        assert!(tools.iter().map(|tool| tool.hash).eq(hashes), "the pin is of what the server wrote");
        assert!(remark(&left_out).unwrap().ends_with(r#": "d\n""#));
        assert_eq!(remark(&[]), None);
        assert!(remark(&vec!["x".to_owned(); 12]).unwrap().ends_with(r#""x", 2 more"#));
    }
}
