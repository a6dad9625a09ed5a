//! Tools as the bridge has to know them, from the items of `tools/list`.
//!
//! ```text
//!  item ─► name, five member texts as written, the object of all others ─► Tool
//!            └─► values ─► RFC 8785 form ─► sha256
//!                  └─────► hidden characters?
//! ```
//!
//! Owns what a tool's identity is. Must never change a text, and never keep the values: a list is read once and
//! its texts go up.

mod depth;
pub mod object_schema;
mod value;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use harbor_ipc_proto::hidden::has_hidden;
use harbor_ipc_proto::link::runner::Tool;
use harbor_ipc_proto::members::Members;
use harbor_ipc_proto::strings::{put_str, text_of};
use harbor_ipc_proto::via::{self, VIA};
use harbor_policy::tool_name::wrong_of_server;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The most bytes of a tool's name.
const MAX_NAME: usize = 512;

/// Nobody reads deeper members: neither the runner nor a reader of the list.
const MAX_DEPTH: usize = 127;

/// More members beside the six are a mistake: clients accept objects of this size.
const MAX_MORE: usize = 50;

/// Precedes the text of an item whose members have no RFC 8785 form, so that its hash differs from that of any such form.
const RAW: &[u8] = b"raw:";

/// The items of `tools/list` that are no tools.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of items.
    pub count: u32,
    /// The reason why the first of these items is no tool.
    pub first: &'static str,
}

/// The members of a tool that the bridge has one by one.
const KNOWN: [&str; 6] = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/// An item's members, each value as it was written.
struct ItemMembers<'a> {
    /// The values, in the order of [`KNOWN`].
    known: [Option<&'a str>; 6],
    /// All others, without what Harbors tell each other.
    more: Vec<(Cow<'a, str>, Cow<'a, str>)>,
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
            false => Err("its name occurs twice"),
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
/// Says what is wrong when the item is no tool: no object, or nested too deep. Or its name is absent, empty, too long, or
/// means something else. Or a member stands twice, of which two readers may take different ones.
pub fn read_tool(item: &str) -> Result<Tool<'_>, &'static str> {
    if !item.starts_with('{') {
        return Err("it is not an object");
    }
    let read = ItemMembers::read(item)?;
    let [name, title, description, input_schema, output_schema, annotations] = read.known;
    let name = name.and_then(text_of).ok_or("it has no name")?;
    if name.is_empty() || name.len() > MAX_NAME {
        return Err("its name is empty or longer than 512 bytes");
    }
    if let Some(wrong) = wrong_of_server(&name) {
        return Err(wrong);
    }
    let identity = identity(&read);
    if identity.hash.is_none() && read.is_deep() {
        return Err("it is nested more than 128 deep");
    }
    Ok(Tool {
        name,
        title: title.map(Cow::Borrowed),
        description: description.map(Cow::Borrowed),
        input_schema: input_schema.map(Cow::Borrowed),
        output_schema: output_schema.map(Cow::Borrowed),
        annotations: annotations.map(Cow::Borrowed),
        hidden: identity.hidden || identity.hash.is_none(),
        hash: identity.hash.unwrap_or_else(|| raw_hash(item)),
        former: identity.former,
        via: via::said(item).map(Cow::Owned),
        more: read.more().map(Cow::Owned),
    })
}

impl<'a> ItemMembers<'a> {
    fn read(item: &'a str) -> Result<Self, &'static str> {
        let (mut known, mut more, mut seen) = ([None; 6], Vec::new(), HashSet::new());
        for member in Members::of(item) {
            let (name, text) = member.map_err(|_| "it is not an object")?;
            // Half a surrogate pair comes as it was written, and so may a name that begins with a quotation mark.
            if name.starts_with('"') && serde_json::from_str::<BTreeMap<String, IgnoredAny>>(item).is_err() {
                return Err("one of its members has no name");
            }
            if !seen.insert(name.clone()) {
                return Err("it has a member twice");
            }
            // One that is null says nothing.
            match KNOWN.iter().position(|known| *known == name) {
                Some(at) => known[at] = Some(text).filter(|text| *text != "null"),
                None if name == "_meta" => more.extend(without_via(text).map(|text| (name, text))),
                None => more.push((name, Cow::Borrowed(text))),
            }
        }
        if more.len() > MAX_MORE {
            return Err("it has more than 50 unknown members");
        }
        Ok(Self { known, more })
    }

    /// The object of the members that are none of the six.
    fn more(&self) -> Option<String> {
        (!self.more.is_empty()).then(|| object(&self.more))
    }

    fn is_deep(&self) -> bool {
        let known = self.known.iter().flatten().copied();
        known.chain(self.more.iter().map(|(_, text)| text.as_ref())).any(|text| depth::of(text) > MAX_DEPTH)
    }
}

/// `_meta` without the members that Harbors tell each other. None if there are no others.
fn without_via(meta: &str) -> Option<Cow<'_, str>> {
    let Ok(members) = Members::of(meta).collect::<Result<Vec<_>, _>>() else { return Some(meta.into()) };
    let has_via = members.iter().any(|(name, _)| name == VIA);
    if !has_via {
        return Some(meta.into());
    }
    let kept = members.into_iter().filter(|(name, _)| name != VIA);
    let kept: Vec<_> = kept.map(|(name, text)| (name, Cow::Borrowed(text))).collect();
    (!kept.is_empty()).then(|| object(&kept).into())
}

fn object(members: &[(Cow<'_, str>, Cow<'_, str>)]) -> String {
    let mut out = vec![b'{'];
    for (at, (name, text)) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        put_str(&mut out, name);
        out.push(b':');
        out.extend_from_slice(text.as_bytes());
    }
    out.push(b'}');
    String::from_utf8(out).unwrap_or_default()
}

/// The identity of a tool.
struct Identity {
    /// None without an RFC 8785 form of its values.
    hash: Option<[u8; 32]>,
    /// The hash of the six members alone, if there are other members.
    former: Option<[u8; 32]>,
    /// True if it has hidden characters, where a model reads.
    hidden: bool,
}

/// The hash of a tool, and whether it has hidden characters.
///
/// Without an RFC 8785 form of its values (a number out of range, half a surrogate pair, a key that stands twice) the
/// whole item is hashed in its written form, with a prefix. Its texts cannot be looked through, so they count as hidden.
fn identity(read: &ItemMembers<'_>) -> Identity {
    let mut hidden = false;
    let mut values = Map::new();
    let mut is_whole = true;
    for (name, text) in KNOWN.iter().zip(read.known) {
        let Some(text) = text else { continue };
        match value::read(text, &mut |text| hidden |= has_hidden(text)) {
            Some(value) => drop(values.insert((*name).to_owned(), value)),
            None => is_whole = false,
        }
    }
    let of_six = is_whole.then(|| hash(&values)).flatten();
    let more: Vec<_> = read.more.iter().filter(|(_, text)| text != "null").collect();
    if more.is_empty() {
        return Identity { hash: of_six, former: None, hidden };
    }
    for (name, text) in more {
        match value::read(text, &mut |_| ()) {
            Some(value) => drop(values.insert(name.to_string(), value)),
            None => is_whole = false,
        }
    }
    Identity { hash: is_whole.then(|| hash(&values)).flatten(), former: of_six, hidden }
}

fn hash(values: &Map<String, Value>) -> Option<[u8; 32]> {
    Some(Sha256::digest(serde_json_canonicalizer::to_vec(values).ok()?).into())
}

fn raw_hash(item: &str) -> [u8; 32] {
    Sha256::new().chain_update(RAW).chain_update(item).finalize().into()
}

#[cfg(test)]
mod tests;
