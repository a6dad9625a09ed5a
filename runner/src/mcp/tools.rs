//! Tools as the bridge has to know them, from the items of `tools/list`.
//!
//! ```text
//!  item ─► name, five member texts as written ─► Tool
//!            └─► values ─► RFC 8785 form ─► sha256
//!                  └─────► hidden characters?
//! ```
//!
//! Owns what a tool's identity is. Must never change a text, and never keep the values: a list is read once and
//! its texts go up.

mod depth;
mod value;

use std::borrow::Cow;
use std::collections::HashSet;

use harbor_ipc_proto::hidden::has_hidden;
use harbor_ipc_proto::json::text_of;
use harbor_ipc_proto::link::runner::Tool;
use harbor_ipc_proto::via;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// A longer name is none.
const MAX_NAME: usize = 512;

/// Deeper members are read by nobody: neither here, nor by whoever is to read a list of them.
const MAX_DEPTH: usize = 127;

/// Stands before the text of an item whose members have no RFC 8785 form, so that its hash is none of such a form.
const RAW: &[u8] = b"raw:";

/// What `tools/list` has that is no tool.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// How many items.
    pub count: u32,
    /// What is wrong with the first of them.
    pub first: &'static str,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputSchema")]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow, rename = "outputSchema")]
    output_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
}

/// The tools of a whole list, each name once: the first one counts.
#[must_use]
pub fn read_tools(items: &str) -> (Vec<Tool<'_>>, LeftOut) {
    let items: Vec<&RawValue> = serde_json::from_str(items).unwrap_or_default();
    let mut tools = Vec::with_capacity(items.len());
    let (mut names, mut left_out) = (HashSet::new(), LeftOut::default());
    for item in items {
        let tool = read_tool(item.get()).and_then(|tool| match names.insert(tool.name.clone()) {
            true => Ok(tool),
            false => Err("its name stands twice"),
        });
        match tool {
            Ok(tool) => tools.push(tool),
            Err(why) => {
                left_out.first = if left_out.count == 0 { why } else { left_out.first };
                left_out.count += 1;
            }
        }
    }
    (tools, left_out)
}

/// One tool.
///
/// # Errors
/// Says what is wrong when the item is none: no object, no name, an empty or too long one, a member that stands
/// twice, of which two readers may take different ones, or one that is nested too deep.
pub fn read_tool(item: &str) -> Result<Tool<'_>, &'static str> {
    if !item.starts_with('{') {
        return Err("it is no object");
    }
    let read: Item<'_> = serde_json::from_str(item).map_err(|_| "a member stands twice")?;
    let name = read.name.and_then(|name| text_of(name.get())).ok_or("it has no name")?;
    if name.is_empty() || name.len() > MAX_NAME {
        return Err("its name is empty or longer than 512 bytes");
    }
    let (hash, hidden) = match identity(&read) {
        Some(identity) => identity,
        None if read.is_deep() => return Err("it is nested more than 128 deep"),
        None => (raw_hash(item), true),
    };
    Ok(Tool {
        name,
        title: text(read.title),
        description: text(read.description),
        input_schema: text(read.input_schema),
        output_schema: text(read.output_schema),
        annotations: text(read.annotations),
        hash,
        hidden,
        via: via::said(item).map(Cow::Owned),
    })
}

fn text(member: Option<&RawValue>) -> Option<Cow<'_, str>> {
    member.map(|member| Cow::Borrowed(member.get()))
}

impl<'a> Item<'a> {
    fn members(&self) -> [(&'static str, Option<&'a RawValue>); 6] {
        [
            ("name", self.name),
            ("title", self.title),
            ("description", self.description),
            ("inputSchema", self.input_schema),
            ("outputSchema", self.output_schema),
            ("annotations", self.annotations),
        ]
    }

    fn is_deep(&self) -> bool {
        self.members().iter().filter_map(|(_, member)| *member).any(|text| depth::of(text.get()) > MAX_DEPTH)
    }
}

/// The hash of a tool, and whether it has hidden characters.
///
/// Without an RFC 8785 form of its values (a number out of range, half a surrogate pair, a key that stands twice) the
/// whole item is hashed as it was written, with a prefix. Its texts cannot be looked through, so they count as hidden.
fn identity(read: &Item<'_>) -> Option<([u8; 32], bool)> {
    let mut hidden = false;
    let mut values = Map::new();
    for (name, member) in read.members() {
        let Some(member) = member else { continue };
        let value = value::read(member.get(), &mut |text| hidden |= has_hidden(text))?;
        values.insert(name.to_owned(), value);
    }
    let canonical = serde_json_canonicalizer::to_vec(&Value::Object(values)).ok()?;
    Some((Sha256::digest(canonical).into(), hidden))
}

fn raw_hash(item: &str) -> [u8; 32] {
    Sha256::new().chain_update(RAW).chain_update(item).finalize().into()
}

#[cfg(test)]
mod tests;
