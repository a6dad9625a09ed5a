//! The plan of a turn: which sites and servers the model wants to use, and how. The person approves it once, as data.
//!
//! ```text
//!  update_plan {sites, servers, kinds, reason} ─► wanted plan ─► the person's yes ─► approved plan ─► covers(call)?
//!                                                      └► another one, with its reason ─► asked again, with what is new in it
//!
//! A plan ends with its turn; `approved_plans` keeps it until then.
//! ```
//!
//! Owns what a plan may have in it, and which calls are within it. Must never cover a call that destroys or that lets private data
//! leave; must never be read out of the words of a conversation.

use std::collections::BTreeSet;
use std::fmt;

use harbor_ipc_proto::model::ModelTool;
use serde_json::{Map, Value};

use super::call::Call;
use super::facts::Effect;

/// The name of the tool by which a model proposes a plan.
pub const UPDATE_PLAN: &str = "update_plan";

/// Sites of a plan at most, and servers likewise.
const MOST: usize = 16;

/// The longest reason, in bytes, and the longest name.
const LONGEST_REASON: usize = 1000;
const LONGEST_NAME: usize = 253;

/// The prefix of a call's private name where it acts in a page.
const IN_BROWSER: &str = "browser:";

/// A kind of action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlannedKind {
    /// Clicks and types in pages of the plan's sites.
    Act,
    /// Calls tools of the plan's servers that write.
    Write,
}

impl PlannedKind {
    /// Its word in a plan.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Write => "write",
        }
    }

    /// The kind of this word.
    fn of(word: &str) -> Option<Self> {
        [Self::Act, Self::Write].into_iter().find(|kind| kind.word() == word)
    }

    /// The actions that it lets the model do, for the person.
    fn words(self) -> &'static str {
        match self {
            Self::Act => "act: click and type in pages of these sites",
            Self::Write => "write: call tools of these servers that change something",
        }
    }
}

/// A plan, as it is shown and approved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionPlan {
    /// The hosts of sites, with a port where it is not the usual one.
    pub sites: BTreeSet<String>,
    /// The names of servers.
    pub servers: BTreeSet<String>,
    /// The kinds of action.
    pub kinds: BTreeSet<PlannedKind>,
    /// Why the model wants it, in its words. It is shown as such, and decides nothing.
    pub reason: String,
}

/// The reason why a plan is not shown to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfitPlan {
    /// It is no object with these members.
    Form,
    /// It has no site, no server or no kind of action.
    Empty,
    /// It asks for everything.
    Everything,
    /// It names something that is no host.
    NoSite,
    /// It names a server that the turn does not have.
    NoServer,
    /// It names a kind of action that is none.
    NoKind,
    /// It is too long.
    TooLong,
    /// It changes an approved plan and does not say why.
    NoReason,
}

impl fmt::Display for UnfitPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "a plan is an object with the lists `sites`, `servers` and `kinds`, and a `reason`",
            Self::Empty => "a plan needs a site or a server, and a kind of action",
            Self::Everything => "a plan names its sites and servers one by one; it cannot ask for all",
            Self::NoSite => "a site is a host, as example.org",
            Self::NoServer => "the plan names a server that you do not have",
            Self::NoKind => "a kind of action is `act` or `write`",
            Self::TooLong => "a plan has at most 16 sites, 16 servers and a reason of 1000 bytes",
            Self::NoReason => "say in `reason` why the plan has to change",
        })
    }
}

impl std::error::Error for UnfitPlan {}

/// The tool by which a model proposes a plan.
#[must_use]
pub fn update_plan() -> ModelTool {
    ModelTool {
        name: UPDATE_PLAN.into(),
        description: "Proposes which sites and servers you will use, and how, before you act. The person approves it once; within it \
                      you can act alone. Deleting, and sending private data, is asked about in any case."
            .into(),
        schema: r#"{"type":"object","properties":{"sites":{"type":"array","items":{"type":"string"},"description":"Hosts of web sites, one by one."},"servers":{"type":"array","items":{"type":"string"},"description":"Names of servers."},"kinds":{"type":"array","items":{"enum":["act","write"]},"description":"act: click and type in pages of these sites. write: call tools of these servers that change something."},"reason":{"type":"string","description":"The approach, or why the plan changes."}},"required":["kinds","reason"]}"#.into(),
    }
}

impl ActionPlan {
    /// The plan that a model proposes. `servers` are those of the turn.
    ///
    /// # Errors
    /// Why it cannot be shown.
    pub fn proposed(arguments: &str, servers: &BTreeSet<String>) -> Result<Self, UnfitPlan> {
        let members: Map<String, Value> = serde_json::from_str(arguments).map_err(|_| UnfitPlan::Form)?;
        let (sites, named) = (list(&members, "sites")?, list(&members, "servers")?);
        if sites.iter().chain(&named).any(|name| is_all(name)) {
            return Err(UnfitPlan::Everything);
        }
        if !named.is_subset(servers) {
            return Err(UnfitPlan::NoServer);
        }
        let sites = sites.iter().map(|site| host(site).ok_or(UnfitPlan::NoSite)).collect::<Result<_, _>>()?;
        let kinds = list(&members, "kinds")?;
        let kinds = kinds.iter().map(|word| PlannedKind::of(word).ok_or(UnfitPlan::NoKind));
        let reason = members.get("reason").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let plan = Self { sites, servers: named, kinds: kinds.collect::<Result<_, _>>()?, reason };
        if plan.reason.len() > LONGEST_REASON {
            return Err(UnfitPlan::TooLong);
        }
        if plan.kinds.is_empty() || (plan.sites.is_empty() && plan.servers.is_empty()) {
            return Err(UnfitPlan::Empty);
        }
        Ok(plan)
    }

    /// The part of the plan that the approved one does not have. Without any of it the person need not be asked again.
    #[must_use]
    pub fn beyond(&self, approved: &Self) -> Option<Self> {
        let more = Self {
            sites: &self.sites - &approved.sites,
            servers: &self.servers - &approved.servers,
            kinds: &self.kinds - &approved.kinds,
            reason: String::new(),
        };
        (!(more.sites.is_empty() && more.servers.is_empty() && more.kinds.is_empty())).then_some(more)
    }

    /// True if another plan names the same sites, servers and kinds. The reason does not count.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.sites, &self.servers, &self.kinds) == (&other.sites, &other.servers, &other.kinds)
    }

    /// The plan as a JSON object for the person: each part by its name, and `new` with what the approved plan does not have.
    #[must_use]
    pub fn shown(&self, new: Option<&Self>) -> String {
        let mut members = Vec::new();
        let mut add = |key: &str, text: String| {
            members.extend((!text.is_empty()).then(|| format!("{}:{}", json(key), json(&text))));
        };
        add("sites", joined(&self.sites));
        add("servers", joined(&self.servers));
        add("kinds", self.kinds.iter().map(|kind| kind.words()).collect::<Vec<_>>().join("; "));
        add("new", new.map(Self::names).unwrap_or_default());
        add("the model's reason", self.reason.clone());
        format!("{{{}}}", members.join(","))
    }

    /// All that it names, in a line.
    #[must_use]
    pub fn names(&self) -> String {
        let kinds = self.kinds.iter().map(|kind| kind.word().to_owned());
        self.sites.iter().chain(&self.servers).cloned().chain(kinds).collect::<Vec<_>>().join(", ")
    }

    /// True if a call is within the approved plan. `leaves`: private data would leave with it.
    #[must_use]
    pub fn covers(&self, call: &Call<'_>, leaves: bool) -> bool {
        if leaves || call.effect == Effect::Destroys {
            return false;
        }
        match call.name.strip_prefix(IN_BROWSER) {
            Some(site) => self.kinds.contains(&PlannedKind::Act) && self.sites.contains(site),
            None => self.kinds.contains(&PlannedKind::Write) && self.servers.contains(call.source),
        }
    }
}

/// True if a name stands for more than itself.
fn is_all(name: &str) -> bool {
    name.contains('*') || ["all", "any", "everything"].contains(&name.to_lowercase().as_str())
}

fn joined(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// A list of short names.
fn list(members: &Map<String, Value>, name: &str) -> Result<BTreeSet<String>, UnfitPlan> {
    let list = match members.get(name) {
        None | Some(Value::Null) => return Ok(BTreeSet::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(UnfitPlan::Form),
    };
    let names =
        list.iter().map(|entry| entry.as_str().map(|name| name.trim().to_owned()).ok_or(UnfitPlan::Form));
    let names: BTreeSet<String> = names.collect::<Result<_, _>>()?;
    match names.len() > MOST || names.iter().any(|name| name.len() > LONGEST_NAME) {
        true => Err(UnfitPlan::TooLong),
        false => Ok(names),
    }
}

/// The host of a site, with its port where it is not the usual one. A plan names hosts, never a whole domain.
fn host(site: &str) -> Option<String> {
    let address = if site.contains("://") { site.to_owned() } else { format!("https://{site}") };
    let url = url::Url::parse(&address).ok()?;
    let is_web = ["http", "https"].contains(&url.scheme());
    let is_bare = url.username().is_empty() && url.password().is_none();
    let host =
        url.host_str().filter(|host| is_web && is_bare && (host.contains('.') || *host == "localhost"))?;
    // A name with a dot at its end is another origin, and a single label is a whole top domain.
    let host = (!host.ends_with('.')).then_some(host)?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Names;
    use super::super::facts::Holding;
    use super::*;

    static NO_FILES: Names = Names::new();

    fn servers() -> BTreeSet<String> {
        ["files", "mail"].map(String::from).into()
    }

    fn plan(arguments: &str) -> Result<ActionPlan, UnfitPlan> {
        ActionPlan::proposed(arguments, &servers())
    }

    fn call<'a>(source: &'a str, name: &'a str, effect: Effect) -> Call<'a> {
        Call {
            principal: "owner",
            chat: None,
            source,
            tool: "t",
            hash: None,
            arguments: "{}",
            schema: None,
            effect,
            is_sure: true,
            holding: Holding::UNKNOWN,
            name,
            within: true,
            looks: false,
            ids: &[],
            files: &NO_FILES,
        }
    }

    #[test]
    fn a_plan_covers_its_sites_and_servers_and_never_what_destroys_or_leaves() {
        let plan = plan(r#"{"sites":["https://Shop.example/cart"],"servers":["files"],"kinds":["act","write"],"reason":"x"}"#).unwrap();
        for (source, name, effect, is_covered) in [
            ("files", "files", Effect::Writes, true),
            ("files", "files", Effect::Destroys, false),
            ("mail", "mail", Effect::Writes, false),
            ("browser", "browser:shop.example", Effect::Writes, true),
            ("browser", "browser:shop.example", Effect::Destroys, false),
            ("browser", "browser:evil.shop.example", Effect::Writes, false),
            ("browser", "browser:shop.example:8443", Effect::Writes, false),
        ] {
            let call = call(source, name, effect);
            assert_eq!(
                (plan.covers(&call, false), plan.covers(&call, true)),
                (is_covered, false),
                "{name} {effect:?}"
            );
        }
        let reads = ActionPlan { kinds: [PlannedKind::Act].into(), ..plan };
        assert!(!reads.covers(&call("files", "files", Effect::Writes), false));
    }

    #[test]
    fn a_plan_that_asks_for_everything_or_is_no_plan_is_refused() {
        let of = |sites: &str, servers: &str, kinds: &str| {
            plan(&format!(r#"{{"sites":[{sites}],"servers":[{servers}],"kinds":[{kinds}],"reason":"x"}}"#))
        };
        let many: Vec<String> = (0..17).map(|at| format!("\"a{at}.example\"")).collect();
        for (got, why) in [
            (of("\"*\"", "", "\"act\""), UnfitPlan::Everything),
            (of("\"*.example.org\"", "", "\"act\""), UnfitPlan::Everything),
            (of("", "\"all\"", "\"write\""), UnfitPlan::Everything),
            (of("\"com\"", "", "\"act\""), UnfitPlan::NoSite),
            (of("\"file:///etc\"", "", "\"act\""), UnfitPlan::NoSite),
            (of("\"a.example.\"", "", "\"act\""), UnfitPlan::NoSite),
            (of("\"u:p@a.example\"", "", "\"act\""), UnfitPlan::NoSite),
            (of("", "\"other\"", "\"write\""), UnfitPlan::NoServer),
            (of("", "\"files\"", "\"destroy\""), UnfitPlan::NoKind),
            (of("", "\"files\"", ""), UnfitPlan::Empty),
            (of("", "", "\"write\""), UnfitPlan::Empty),
            (of(&many.join(","), "", "\"act\""), UnfitPlan::TooLong),
            (plan("[]"), UnfitPlan::Form),
            (plan(r#"{"sites":"a.example"}"#), UnfitPlan::Form),
        ] {
            assert_eq!(got, Err(why));
        }
    }

    #[test]
    fn a_plan_is_shown_with_what_is_new_in_it() {
        let first = plan(r#"{"servers":["files"],"kinds":["write"],"reason":"tidy up"}"#).unwrap();
        let more = r#"{"sites":["a.example"],"servers":["files","mail"],"kinds":["write"],"reason":"and \"tell\" Ann"}"#;
        let second = plan(more).unwrap();
        let new = second.beyond(&first).unwrap();
        assert_eq!((new.names().as_str(), first.beyond(&second)), ("a.example, mail", None));
        assert_eq!(
            second.shown(Some(&new)),
            r#"{"sites":"a.example","servers":"files, mail","kinds":"write: call tools of these servers that change something","new":"a.example, mail","the model's reason":"and \"tell\" Ann"}"#
        );
        assert_eq!((first.is_same(&second), first.is_same(&first.clone())), (false, true));
        assert!(serde_json::from_str::<Value>(&update_plan().schema).is_ok());
    }

    proptest! {
        #[test]
        fn no_arguments_make_a_plan_that_covers_what_destroys(arguments in "\\PC{0,60}", site in "[a-z.*:/]{0,12}") {
            let _ = plan(&arguments);
            let wanted = serde_json::json!({"sites": [site], "servers": ["files"], "kinds": ["act", "write"], "reason": ""});
            if let Ok(plan) = plan(&wanted.to_string()) {
                prop_assert!(!plan.covers(&call("files", "files", Effect::Destroys), false));
                prop_assert!(!plan.covers(&call("files", "files", Effect::Writes), true));
            }
        }
    }
}
