//! The servers' offers, as the AI client is told of them: tools, resources, their templates, prompts.
//!
//! ```text
//!  host_list_tools ───► Directory ─► pages of MCP's lists
//!  host_list_offers ──►     └──────► which server is meant by a name, a URI
//! ```
//!
//! Owns both directions. The servers' own text stays as it is, except for names that have to tell servers
//! apart. Names of tools and prompts always do; those of resources only where two servers have the same URI.

use std::collections::HashSet;

use harbor_client::payload::items;
use harbor_ipc_proto::client::answer::Heard;
use harbor_ipc_proto::client::{
    HostListOffers, HostListOffersResult, HostListTools, HostListToolsResult, OffersView, Request,
    ToolDescriptor,
};
use harbor_ipc_proto::field::{FieldError, read_object};
use harbor_ipc_proto::json::{Fields, Json, with_member};
use harbor_ipc_proto::root_schema::Root;
use harbor_ipc_proto::source_id::SourceId;
use harbor_ipc_proto::strings::put_str;
use harbor_ipc_proto::via::{self, VIA};
use harbor_policy::own_prompts::META;
use harbor_policy::tool_name::{Allowlist, EVERY};

use super::names::Names;
use super::uris::Uris;

/// A page is no longer than this once it has an item, in bytes.
const PAGE: usize = 1024 * 1024;

/// One of MCP's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum McpList {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl McpList {
    /// The bridge's request for this list.
    pub fn ask(self) -> Request {
        let (origin, profile, tab_id) = (None, None, None);
        let offers = |kind: &str| {
            HostListOffers { origin: None, profile: None, tab_id: None, kind: kind.to_owned() }.into()
        };
        match self {
            Self::Tools => HostListTools { origin, profile, tab_id, server_ids: None }.into(),
            Self::Resources => offers("resources"),
            Self::Templates => offers("resource_templates"),
            Self::Prompts => offers("prompts"),
        }
    }

    /// Reads the list from the bridge's answer.
    ///
    /// # Errors
    /// When the answer is of another type.
    pub fn read(self, answer: &Heard<'_>) -> Result<Told, FieldError> {
        Ok(match self {
            Self::Tools => Told::Tools(answer.read::<HostListToolsResult>()?.tools.to_json()),
            Self::Resources | Self::Templates | Self::Prompts => {
                Told::Offers(answer.read::<HostListOffersResult>()?.servers)
            }
        })
    }

    /// The member of MCP's result.
    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

/// A list of the bridge.
#[derive(Debug)]
pub enum Told {
    /// An array of `ToolDescriptor`.
    Tools(Json),
    Offers(Vec<OffersView>),
}

/// Something that the client is told of.
#[derive(Debug, PartialEq, Eq)]
pub struct Listed {
    /// The cursor of a page that continues behind this item.
    pub cursor: String,
    /// MCP's object.
    pub json: String,
}

impl Listed {
    /// True for a prompt of Harbor's own, which another Harbor has itself.
    fn is_own(&self) -> bool {
        let meta = Fields::parse(self.json.as_bytes())
            .ok()
            .and_then(|fields| fields.get("_meta").map(str::to_owned));
        meta.as_deref() == Some(META)
    }

    /// Adds to the object that it is passed on `by` this Harbor; true if it may be passed on.
    fn pass_on(&mut self, by: &str) -> bool {
        let passed = via::passed_on(&self.json, by);
        passed.map(|passed| self.json = passed).is_some()
    }
}

/// A part of a list.
#[derive(Debug, PartialEq, Eq)]
pub enum Page {
    /// The result of MCP's request.
    Whole(String),
    /// The item behind which it was to begin is not there any more.
    NoSuchCursor,
}

/// The last lists, and what stands for what in them.
#[derive(Debug, Default)]
pub struct Directory {
    pub tools: Names,
    pub prompts: Names,
    pub uris: Uris,
}

impl Directory {
    /// Learns from the bridge's answer, and returns the part for the client: the tools that `only` covers,
    /// and everything else from servers whose tools it covers all. Another Harbor is told that it is passed
    /// on `by` this one.
    pub fn learn(
        &mut self,
        kind: McpList,
        told: &Told,
        only: Option<&Allowlist>,
        by: Option<&str>,
    ) -> Vec<Listed> {
        let mut listed = self.read(kind, told, only, by.is_some());
        // What a server lists twice is there once: a page that goes on behind it could go on behind either.
        let mut seen = HashSet::new();
        listed.retain(|item| seen.insert(item.cursor.clone()));
        if let Some(by) = by {
            listed.retain_mut(|item| !item.is_own() && item.pass_on(by));
        }
        listed
    }

    fn read(&mut self, kind: McpList, told: &Told, only: Option<&Allowlist>, with_via: bool) -> Vec<Listed> {
        let offers = match told {
            Told::Tools(tools) => {
                self.tools = Names::default();
                let tools = items(tools);
                let tools = tools.iter().filter_map(|tool| read_object::<ToolDescriptor>(tool.get()).ok());
                let tools: Vec<_> = tools.filter(|tool| covers(only, tool)).collect();
                let named = tools.iter().filter_map(|tool| Some((tool.serverId.clone(), app_of(tool)?.text)));
                self.uris.set_of_tools(named);
                let uris = &self.uris;
                let listed =
                    tools.iter().filter_map(|tool| listed_tool(tool, with_via, &mut self.tools, uris));
                return listed.collect();
            }
            Told::Offers(servers) => offers(servers, only),
        };
        match kind {
            McpList::Tools => Vec::new(),
            McpList::Prompts => {
                self.prompts = Names::default();
                offers.iter().filter_map(|offer| listed_prompt(offer, &mut self.prompts)).collect()
            }
            McpList::Resources => {
                let known =
                    offers.iter().filter_map(|offer| Some((offer.server.as_str(), offer.text("uri")?)));
                self.uris.set_resources(known);
                offers.iter().filter_map(|offer| self.listed_resource(offer)).collect()
            }
            McpList::Templates => {
                let named = |offer: &Offer| Some((offer.server.clone(), offer.text("uriTemplate")?));
                self.uris.set_templates(offers.iter().filter_map(named).collect());
                offers.iter().filter_map(listed_template).collect()
            }
        }
    }

    fn listed_resource(&self, offer: &Offer) -> Option<Listed> {
        let uri = self.uris.shown(&offer.server, &offer.text("uri")?);
        Some(Listed { json: offer.with("uri", &uri)?, cursor: uri })
    }
}

/// An item of a server's list.
struct Offer {
    server: String,
    json: String,
}

impl Offer {
    fn text(&self, name: &str) -> Option<String> {
        let fields = Fields::parse(self.json.as_bytes()).ok()?;
        fields.get(name).and_then(|text| serde_json::from_str(text).ok())
    }

    /// The object with another text in this member. Unchanged if the text is the same.
    fn with(&self, name: &str, text: &str) -> Option<String> {
        if self.text(name).as_deref() == Some(text) {
            return Some(self.json.clone());
        }
        let fields = Fields::parse(self.json.as_bytes()).ok()?;
        let mut out = b"{".to_vec();
        for member in fields.names() {
            if out.len() > 1 {
                out.push(b',');
            }
            put_str(&mut out, member);
            out.push(b':');
            match member == name {
                true => put_str(&mut out, text),
                false => out.extend_from_slice(fields.get(member).unwrap_or("null").as_bytes()),
            }
        }
        out.push(b'}');
        String::from_utf8(out).ok()
    }
}

fn offers(servers: &[OffersView], only: Option<&Allowlist>) -> Vec<Offer> {
    let covered = |server: &str| {
        let id = SourceId::parse(server);
        id.is_some_and(|id| only.is_none_or(|only| only.covers(&id, EVERY)))
    };
    let mut offers = Vec::new();
    for OffersView { server_id: server, items: list } in servers {
        if covered(server) {
            let items = items(list);
            offers.extend(items.iter().map(|item| Offer { server: server.clone(), json: item.get().into() }));
        }
    }
    offers
}

fn covers(only: Option<&Allowlist>, tool: &ToolDescriptor) -> bool {
    let server = SourceId::parse(&tool.serverId);
    server.is_some_and(|server| only.is_none_or(|only| only.covers(&server, &tool.originalName)))
}

/// The resource by which a tool shows itself (MCP Apps), and where the tool says so.
struct App {
    /// The member `ui`, if that is an object of its own.
    inside: Option<&'static str>,
    member: &'static str,
    text: String,
}

fn app_of(tool: &ToolDescriptor) -> Option<App> {
    let member = |object: &str, name: &str| {
        Fields::parse(object.as_bytes()).ok().and_then(|fields| fields.get(name).map(str::to_owned))
    };
    let text =
        |object: &str, name: &str| member(object, name).and_then(|text| serde_json::from_str(&text).ok());
    let meta = member(tool.otherMembers.as_ref()?.as_str(), "_meta")?;
    let inside = || {
        let text = text(&member(&meta, "ui")?, "resourceUri")?;
        Some(App { inside: Some("ui"), member: "resourceUri", text })
    };
    let flat = || Some(App { inside: None, member: "ui/resourceUri", text: text(&meta, "ui/resourceUri")? });
    inside().or_else(flat)
}

/// The tool with another URI there.
fn with_app(tool: &str, App { inside, member, .. }: &App, uri: &str) -> Option<String> {
    let uri = Json::string(uri);
    let meta = Fields::parse(tool.as_bytes()).ok()?.get("_meta")?.to_owned();
    let meta = match inside {
        None => with_member(&meta, member, uri.as_str())?,
        Some(name) => {
            let ui = Fields::parse(meta.as_bytes()).ok()?.get(name)?;
            with_member(&meta, name, &with_member(ui, member, uri.as_str())?)?
        }
    };
    with_member(tool, "_meta", &meta)
}

fn listed_tool(tool: &ToolDescriptor, with_via: bool, names: &mut Names, uris: &Uris) -> Option<Listed> {
    let server = SourceId::parse(&tool.serverId)?;
    let name = names.add(server.as_str(), &tool.originalName);
    let mut json = b"{\"name\":".to_vec();
    put_str(&mut json, &name);
    let said = |part: &Option<Json>| part.as_ref().map(|part| part.as_str().to_owned());
    // What goes over as it is.
    let parts = [
        ("title", said(&tool.title)),
        ("description", said(&tool.description)),
        ("inputSchema", Some(of_objects(said(&tool.inputSchema))?)),
        ("outputSchema", said(&tool.outputSchema)),
        ("annotations", said(&tool.annotations)),
    ];
    for (member, value) in parts {
        if let Some(value) = value {
            json.extend_from_slice(format!(",\"{member}\":{value}").as_bytes());
        }
    }
    let more = said(&tool.otherMembers).unwrap_or_default();
    if let Some(inside) =
        more.strip_prefix('{').and_then(|more| more.strip_suffix('}')).filter(|more| !more.is_empty())
    {
        json.push(b',');
        json.extend_from_slice(inside.as_bytes());
    }
    json.push(b'}');
    let json = String::from_utf8(json).ok()?;
    let app = app_of(tool).map(|app| (uris.shown(&tool.serverId, &app.text), app));
    let app = app.filter(|(shown, app)| *shown != app.text);
    let json = app.and_then(|(shown, app)| with_app(&json, &app, &shown)).unwrap_or(json);
    let via = said(&tool.via).filter(|_| with_via);
    let json = via.and_then(|via| with_via_of(&json, &via)).unwrap_or(json);
    Some(Listed { cursor: name, json })
}

/// The tool with the Harbors that it has come through.
fn with_via_of(tool: &str, via: &str) -> Option<String> {
    let meta = Fields::parse(tool.as_bytes()).ok()?.get("_meta").unwrap_or("{}");
    with_member(tool, "_meta", &with_member(meta, VIA, via)?)
}

/// A tool's schema as clients need it. None if it cannot be made so: clients would drop the whole list for it.
fn of_objects(schema: Option<String>) -> Option<String> {
    let Some(schema) = schema else { return Some("{\"type\":\"object\"}".into()) };
    match Root::of(&schema) {
        Root::Object => Some(schema),
        Root::Completed(schema) => Some(schema),
        Root::Other => None,
    }
}

fn listed_prompt(offer: &Offer, names: &mut Names) -> Option<Listed> {
    let cursor = names.add(&offer.server, &offer.text("name")?);
    Some(Listed { json: offer.with("name", &cursor)?, cursor })
}

fn listed_template(offer: &Offer) -> Option<Listed> {
    let cursor = format!("{} {}", offer.server, offer.text("uriTemplate")?);
    Some(Listed { cursor, json: offer.json.clone() })
}

/// The page that begins behind the item at the cursor `behind`, or with the first.
pub fn page(kind: McpList, items: &[Listed], behind: Option<&str>, modern: bool) -> Page {
    let start = match behind {
        None => 0,
        Some(cursor) => match items.iter().position(|item| item.cursor == cursor) {
            Some(at) => at + 1,
            None => return Page::NoSuchCursor,
        },
    };
    let mut result = format!("{{\"{}\":[", kind.member()).into_bytes();
    let mut shown: &[Listed] = &[];
    for (at, item) in items.iter().enumerate().skip(start) {
        if at > start && result.len() + item.json.len() > PAGE {
            break;
        }
        if at > start {
            result.push(b',');
        }
        result.extend_from_slice(item.json.as_bytes());
        shown = &items[start..=at];
    }
    result.push(b']');
    if start + shown.len() < items.len()
        && let Some(last) = shown.last()
    {
        result.extend_from_slice(b",\"nextCursor\":");
        put_str(&mut result, &last.cursor);
    }
    if modern {
        result.extend_from_slice(b",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"");
    }
    result.push(b'}');
    Page::Whole(String::from_utf8(result).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::{complete_object, typed};
    use crate::target::Target;
    use serde_json::{Value, json};

    /// An answer of the bridge about this kind of list, as a test gives it.
    fn told(kind: McpList, answer: &str) -> Told {
        match kind {
            McpList::Tools => {
                let answer: HostListToolsResult = read_object(answer).unwrap();
                let list = items(&answer.tools.to_json());
                let tools = list.iter().map(|tool| complete_object("ToolDescriptor", tool.get()));
                Told::Tools(Json::from_valid(format!("[{}]", tools.collect::<Vec<_>>().join(","))))
            }
            _ => Told::Offers(typed::<HostListOffersResult>(answer).servers),
        }
    }

    fn learn(kind: McpList, answer: &str, only: &[&str]) -> (Directory, Vec<Listed>) {
        let only: Vec<_> = only.iter().map(ToString::to_string).collect();
        let only = (!only.is_empty()).then(|| Allowlist::parse(&only).unwrap());
        let mut directory = Directory::default();
        let listed = directory.learn(kind, &told(kind, answer), only.as_ref(), None);
        (directory, listed)
    }

    #[test]
    fn what_a_server_wrote_of_a_tool_stands_as_it_wrote_it() {
        let answer = r#"{"tools":[{"name":"s/a b","serverId":"s","serverLabel":"S","originalName":"a b","toolHash":"00",
            "hiddenCharacters":true,"title":"T","description":"d\u0065","inputSchema":{"n":1e2,"a":[]},"outputSchema":{"z":1},
            "annotations":{"x":12345678901234567890},"otherMembers":{"icons":[1e2],"_meta":{}}},
            {"name":"t/b","serverId":"t","originalName":"b"},{"serverId":"t","originalName":"c","inputSchema":[]},7]}"#;
        let shown: Vec<_> = learn(McpList::Tools, answer, &[]).1.into_iter().map(|tool| tool.json).collect();
        let name = Names::default().add("s", "a b");
        let first = r#"","title":"T","description":"d\u0065","inputSchema":{"n":1e2,"a":[],"type":"object"},"outputSchema":{"z":1},"annotations":{"x":12345678901234567890},"icons":[1e2],"_meta":{}}"#;
        let second = r#"{"name":"t__b","inputSchema":{"type":"object"}}"#;
        assert_eq!(shown, [format!(r#"{{"name":"{name}{first}"#), second.to_owned()]);
        assert_eq!(learn(McpList::Tools, answer, &["t/*", "s/x"]).1.len(), 1);
    }

    #[test]
    fn tools_of_two_servers_that_show_themselves_by_one_uri_are_told_apart() {
        let tool = |server: &str, meta: &str| {
            format!(r#"{{"serverId":"{server}","originalName":"t","otherMembers":{{"_meta":{meta}}}}}"#)
        };
        let answer = |tools: &[String]| format!(r#"{{"tools":[{}]}}"#, tools.join(","));
        let (one, other) = (r#"{"ui":{"x":1e2,"resourceUri":"ui://a"}}"#, r#"{"ui/resourceUri":"ui://a"}"#);
        let (directory, listed) = learn(McpList::Tools, &answer(&[tool("s", one)]), &[]);
        assert!(listed[0].json.ends_with(&format!(r#","_meta":{one}}}"#)), "as it was: {}", listed[0].json);
        assert_eq!(directory.uris.find("ui://a").unwrap().server, "s");
        let (directory, listed) = learn(McpList::Tools, &answer(&[tool("s", one), tool("t", other)]), &[]);
        for (item, server) in listed.iter().zip(["s", "t"]) {
            let shown = format!("ui://harbor/{server}/ui%3A%2F%2Fa");
            assert!(item.json.contains(&format!("\"{shown}\"")), "{}", item.json);
            let target = Target { server: server.into(), name: "ui://a".into() };
            assert_eq!(directory.uris.find(&shown), Ok(target));
        }
    }

    #[test]
    fn another_harbor_is_told_whom_everything_has_come_through() {
        let passed = |kind, answer: &str| {
            let listed =
                Directory::default().learn(kind, &told(kind, answer), None, Some("aaaaaaaaaaaaaaaa"));
            listed.into_iter().map(|item| item.json).collect::<Vec<_>>()
        };
        let tools = r#"{"tools":[{"serverId":"s","originalName":"a","inputSchema":{}},
            {"serverId":"t","originalName":"b","inputSchema":{},"via":["0123456789abcdef","ffffffffffffffff"],"otherMembers":{"_meta":{"x":1}}}]}"#;
        let wanted = [
            r#"{"name":"s__a","inputSchema":{"type":"object"},"_meta":{"harbor/via":["aaaaaaaaaaaaaaaa"]}}"#,
            r#"{"name":"t__b","inputSchema":{"type":"object"},"_meta":{"x":1,"harbor/via":["aaaaaaaaaaaaaaaa","0123456789abcdef","ffffffffffffffff"]}}"#,
        ];
        assert_eq!(passed(McpList::Tools, tools), wanted);
        let alone = r#"{"name":"t__b","inputSchema":{"type":"object"},"_meta":{"x":1}}"#;
        assert_eq!(learn(McpList::Tools, tools, &["t/*"]).1[0].json, alone);
        let prompts = r#"{"servers":[{"server_id":"s","items":[{"name":"p","_meta":{"harbor/via":["0123456789abcdef"],"a":1}}]}]}"#;
        let wanted =
            [r#"{"name":"s__p","_meta":{"harbor/via":["aaaaaaaaaaaaaaaa","0123456789abcdef"],"a":1}}"#];
        assert_eq!(passed(McpList::Prompts, prompts), wanted);
    }

    #[test]
    fn other_lists_keep_everything_but_the_names_that_tell_servers_apart() {
        let answer = r#"{"servers":[
            {"server_id":"s","items":[{"uri":"a:1","x":1e2,"name":"n"},{"uri":"b:1"},{"no":"uri"},7]},
            {"server_id":"t","items":[{"y":[12345678901234567890],"uri":"a:1","name":"n"}]}]}"#;
        let (directory, listed) = learn(McpList::Resources, answer, &[]);
        let shown: Vec<_> = listed.iter().map(|item| item.json.as_str()).collect();
        let wanted = [
            r#"{"uri":"harbor://s/a%3A1","x":1e2,"name":"n"}"#,
            r#"{"uri":"b:1"}"#,
            r#"{"y":[12345678901234567890],"uri":"harbor://t/a%3A1","name":"n"}"#,
        ];
        assert_eq!(shown, wanted);
        assert_eq!(directory.uris.find("harbor://t/a%3A1").unwrap().server, "t");
        assert_eq!(
            learn(McpList::Resources, answer, &["s/*", "t/x"]).1.len(),
            2,
            "a server whole, or not at all"
        );
        let twice = r#"{"servers":[{"server_id":"s","items":[{"uri":"a:1"},{"uri":"b:1"},{"uri":"a:1"}]}]}"#;
        assert_eq!(learn(McpList::Resources, twice, &[]).1.len(), 2, "what stands there twice is one");
        let answer = r#"{"servers":[{"server_id":"s","items":[{"title":"T","name":"p q"},{"name":"r"}]}]}"#;
        let (directory, listed) = learn(McpList::Prompts, answer, &[]);
        let first: Value = serde_json::from_str(&listed[0].json).unwrap();
        assert_eq!((&first["title"], listed[1].json.as_str()), (&json!("T"), r#"{"name":"s__r"}"#));
        assert_eq!(directory.prompts.find(first["name"].as_str().unwrap()).unwrap().name, "p q");
    }

    #[test]
    fn a_long_list_comes_in_pages_that_have_each_item_once() {
        let tool = |at: usize, length: usize| {
            let text = "x".repeat(length);
            format!(r#"{{"serverId":"s","originalName":"t{at}","description":"{text}"}}"#)
        };
        let lengths = [10, 2 * PAGE, PAGE / 2, PAGE / 3, PAGE / 2];
        let all: Vec<_> = lengths.iter().enumerate().map(|(at, length)| tool(at, *length)).collect();
        let all = learn(McpList::Tools, &format!(r#"{{"tools":[{}]}}"#, all.join(",")), &[]).1;
        let (mut cursor, mut pages) = (None::<String>, Vec::new());
        loop {
            let Page::Whole(result) = page(McpList::Tools, &all, cursor.as_deref(), false) else {
                panic!("no page")
            };
            let result: Value = serde_json::from_str(&result).unwrap();
            let names = result["tools"].as_array().unwrap().iter();
            pages.push(names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>());
            cursor = result["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(pages, [vec!["s__t0"], vec!["s__t1"], vec!["s__t2", "s__t3"], vec!["s__t4"]]);
        assert_eq!(page(McpList::Tools, &all, Some("gone"), false), Page::NoSuchCursor);
        let empty = r#"{"prompts":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
        assert_eq!(page(McpList::Prompts, &[], None, true), Page::Whole(empty.into()));
    }
}
