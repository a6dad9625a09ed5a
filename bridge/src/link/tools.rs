//! The tools of one server, as its runner tells them, checked and owned.
//!
//! Texts stay as the server wrote them. A runner is taken for hostile: a tool whose texts could break out of the
//! object around them is left out.

use std::collections::HashMap;
use std::sync::Arc;

use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::Tool as Told;
use serde::de::IgnoredAny;

/// sha256 of what a tool says about itself.
pub type ToolHash = [u8; 32];

/// A tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its own name.
    pub name: Arc<str>,
    /// Its description of itself, in the order of `MEMBERS`.
    pub members: [Option<Json>; 5],
    /// The hash of it.
    pub hash: ToolHash,
    /// True if its texts have hidden or control characters.
    pub hidden: bool,
    /// The Harbors that it has come through: an array.
    pub via: Option<Json>,
    /// Its other members: an object.
    pub more: Option<Json>,
    /// The hash without `via` and `more`, as earlier versions of Harbor have pinned it.
    pub former: Option<ToolHash>,
}

/// The members by which a tool describes itself, beside its name.
const MEMBERS: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// The indexes of these two among the members.
const SCHEMA: usize = 2;
const ANNOTATIONS: usize = 4;

impl Tool {
    /// The schema of its arguments, in written form.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.members[SCHEMA].as_ref().map(Json::as_str)
    }

    /// Its hints, a JSON object.
    #[must_use]
    pub fn annotations(&self) -> Option<&str> {
        self.members[ANNOTATIONS].as_ref().map(Json::as_str)
    }

    /// How many bytes its texts have.
    #[must_use]
    pub fn size(&self) -> usize {
        let texts = self.members.iter().chain([&self.via, &self.more]).flatten();
        self.name.len() + texts.map(|text| text.as_str().len()).sum::<usize>()
    }

    /// A copy with other words for what `hide` finds; its hash is still that of what the server said. `None` where `hide` finds
    /// something in the name: called by another name it would be another tool.
    fn hidden(&self, hide: &impl Fn(&str) -> Option<String>) -> Option<Self> {
        let member = |text: &Json| match hide(text.as_str()) {
            // A text that hides more than strings is none any more.
            Some(other) => serde_json::from_str::<IgnoredAny>(&other).ok().map(|_| Json::from_valid(other)),
            None => Some(text.clone()),
        };
        let members = self.members.each_ref().map(|text| text.as_ref().and_then(member));
        let via = self.via.clone().filter(|via| hide(via.as_str()).is_none());
        let more = self.more.as_ref().and_then(member);
        hide(&self.name).is_none().then(|| Self { members, via, more, ..self.clone() })
    }

    /// The object of its members.
    #[must_use]
    pub fn shown(&self) -> Json {
        Json::from_valid(format!("{{{}}}", self.written().join(",")))
    }

    /// The object of its members, with its name.
    #[must_use]
    pub fn whole(&self) -> Json {
        let name = format!("\"name\":{}", Json::string(&self.name).as_str());
        Json::from_valid(format!("{{{}}}", [vec![name], self.written()].concat().join(",")))
    }

    fn written(&self) -> Vec<String> {
        let members = MEMBERS.iter().zip(&self.members);
        let members =
            members.filter_map(|(name, text)| Some(format!("\"{name}\":{}", text.as_ref()?.as_str())));
        members.chain(self.more.as_ref().and_then(inside)).collect()
    }

    /// The tool with the members of the object `shown`. None if `shown` is no object.
    #[must_use]
    pub fn from_shown(name: &str, shown: &str, hash: ToolHash, hidden: bool) -> Option<Self> {
        let fields = Fields::parse(shown.as_bytes()).ok()?;
        let members = MEMBERS.map(|member| fields.get(member).map(|text| Json::from_valid(text.to_owned())));
        let others = fields.names().filter(|name| !MEMBERS.contains(name));
        let written =
            |name: &str| fields.get(name).map(|text| format!("{}:{text}", Json::string(name).as_str()));
        let others: Vec<_> = others.filter_map(written).collect();
        let more = (!others.is_empty()).then(|| Json::from_valid(format!("{{{}}}", others.join(","))));
        Some(Self { name: name.into(), members, hash, hidden, via: None, more, former: None })
    }
}

/// The tools of one server, each name once, in the server's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolList {
    tools: Vec<Tool>,
    by_name: HashMap<Arc<str>, usize>,
}

impl ToolList {
    pub(super) fn checked(told: Vec<Told<'_>>) -> Self {
        told.into_iter().filter_map(checked).collect()
    }

    /// The tool of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.get(*self.by_name.get(name)?)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// A copy with other words for what `hide` finds, without the tools that have it in their names.
    #[must_use]
    pub fn hidden(&self, hide: impl Fn(&str) -> Option<String>) -> Self {
        self.tools.iter().filter_map(|tool| tool.hidden(&hide)).collect()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl FromIterator<Tool> for ToolList {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        let mut list = Self::default();
        for tool in tools {
            if !list.by_name.contains_key(&tool.name) {
                list.by_name.insert(tool.name.clone(), list.tools.len());
                list.tools.push(tool);
            }
        }
        list
    }
}

/// The members of an object, as they are written. None for an empty object.
fn inside(object: &Json) -> Option<String> {
    let inside = object.as_str().trim().strip_prefix('{')?.strip_suffix('}')?;
    (!inside.trim().is_empty()).then(|| inside.to_owned())
}

/// True if it is an object that may stand beside the members that have a place of their own.
fn is_beside(more: &str) -> bool {
    let is_other = |name: &str| name != "name" && !MEMBERS.contains(&name);
    Fields::parse(more.as_bytes()).is_ok_and(|fields| {
        fields.twice().is_none() && !fields.are_too_many() && fields.names().all(is_other)
    })
}

fn checked(told: Told<'_>) -> Option<Tool> {
    let texts = [told.title, told.description, told.input_schema, told.output_schema, told.annotations];
    let contained = texts.iter().chain([&told.via, &told.more]).flatten().all(|text| is_contained(text));
    let contained = contained && told.more.as_deref().is_none_or(is_beside);
    contained.then(|| Tool {
        name: told.name.as_ref().into(),
        members: texts.map(|text| text.map(|text| Json::from_valid(text.into_owned()))),
        hash: told.hash,
        hidden: told.hidden,
        via: told.via.map(|via| Json::from_valid(via.into_owned())),
        more: told.more.map(|more| Json::from_valid(more.into_owned())),
        former: told.former,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told<'a>(name: &'a str, description: &'a str) -> Told<'a> {
        Told {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            input_schema: Some("{}".into()),
            output_schema: None,
            annotations: None,
            hash: [1; 32],
            hidden: false,
            via: None,
            more: None,
            former: None,
        }
    }

    #[test]
    fn a_tool_that_would_break_out_or_has_the_name_of_another_is_left_out() {
        let through = Told { via: Some("[1],{".into()), ..told("c", "\"x\"") };
        let more = |more: &'static str| Told { more: Some(more.into()), ..told("d", "\"x\"") };
        let broken = [told("a", "\"x\""), told("b", "\"x\"},{\"name\":1"), told("a", "\"y\""), through];
        let others = [more("[]"), more(r#"{"name":"a"}"#), more(r#"{"title":1}"#), more(r#"{"x":1,"x":2}"#)];
        let list = ToolList::checked(broken.into_iter().chain(others).collect());
        assert_eq!(list.len(), 1);
        assert_eq!(list.get("a").unwrap().shown().as_str(), r#"{"description":"x","inputSchema":{}}"#);
        assert_eq!(list.get("b"), None);
    }

    #[test]
    fn what_is_hidden_is_nowhere_and_the_hash_stays() {
        let list = ToolList::checked(vec![
            told("a", "\"say s3cret\""),
            told("s3cret", "\"x\""),
            Told { via: Some("[\"s3cret\"]".into()), ..told("c", "\"}s3cret\"") },
        ]);
        let hide =
            |text: &str| text.contains("s3cret").then(|| text.replace("s3cret", "[K]").replace("}[K]\"", ""));
        let hidden = list.hidden(hide);
        let tool = hidden.get("a").unwrap();
        assert_eq!(tool.shown().as_str(), r#"{"description":"say [K]","inputSchema":{}}"#);
        assert_eq!((tool.hash, hidden.len()), ([1; 32], 2));
        let broken = hidden.get("c").unwrap();
        assert_eq!((&broken.members[1], &broken.via), (&None, &None), "what is no JSON any more");
    }

    #[test]
    fn what_is_shown_of_a_tool_gives_the_tool_again() {
        let list = ToolList::checked(vec![told("a", "\"x\"")]);
        let tool = list.get("a").unwrap();
        assert_eq!(Tool::from_shown("a", tool.shown().as_str(), [1; 32], false).as_ref(), Some(tool));
        let more = Told { more: Some(r#"{"icons":[ 1e2 ],"_meta":{}}"#.into()), ..told("a", "\"x\"") };
        let list = ToolList::checked(vec![more]);
        let tool = list.get("a").unwrap();
        let shown = r#"{"description":"x","inputSchema":{},"icons":[ 1e2 ],"_meta":{}}"#;
        assert_eq!(tool.shown().as_str(), shown);
        assert_eq!(Tool::from_shown("a", shown, [1; 32], false).as_ref(), Some(tool));
        assert_eq!(Tool::from_shown("a", "[]", [1; 32], false), None);
    }
}
