//! The tools that a turn of the agent may use.
//!
//! Owns the rule that a model sees no tool that its person, or the origin that it works for, would not see. Must never
//! call one.

use harbor_ipc_proto::client::Supervision;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::browser_tools::is_by_name;
use harbor_policy::consent::facts::Effect;
use harbor_policy::curated;
use harbor_policy::scope::Scope;
use harbor_policy::tool_name;

use super::asker::Asker;
use super::origin_refusals::tool_not_found;
use super::{Host, invalid};
use crate::link::Tool;

/// A tool that may be used.
#[derive(Debug, Clone)]
pub struct Usable {
    /// The source that has it.
    pub source: SourceId,
    /// The tool.
    pub tool: Tool,
    /// Its effect, as far as Harbor knows it.
    pub effect: Effect,
}

/// The effect of a tool, as the person has named it. If several lists name it, the worst counts.
pub(super) fn said_effect(host: &Host, source: &SourceId, tool: &str) -> Option<Effect> {
    let server = source.as_server().and_then(|id| host.supervisor.get(&id))?;
    let said = &server.definition().supervision;
    said_of(said, tool)
}

fn said_of(said: &Supervision, tool: &str) -> Option<Effect> {
    let is_among = |list: &Option<Vec<String>>| list.iter().flatten().any(|named| named == tool);
    match (is_among(&said.destroys), is_among(&said.writes), is_among(&said.reads)) {
        (true, ..) => Some(Effect::Destroys),
        (_, true, _) => Some(Effect::Writes),
        (_, _, true) => Some(Effect::Reads),
        _ => None,
    }
}

/// The effect by Harbor's own list, for a tool of a package that is in it.
pub(super) fn listed_effect(host: &Host, source: &SourceId, tool: &str) -> Option<Effect> {
    let server = source.as_server().and_then(|id| host.supervisor.get(&id))?;
    curated::effect(&server.definition().package()?, tool)
}

impl Host {
    /// The tools for the person's own turns: those of all servers, or of the named sources, if they are as
    /// the person has seen them.
    #[must_use]
    pub fn usable(&self, only: Option<&[String]>) -> Vec<Usable> {
        let is_meant = |source: &SourceId| match only {
            // The person has switched a page's tools on for this; other sources must be named.
            None => matches!(source.kind(), SourceKind::Server | SourceKind::Page),
            Some(only) => only.iter().any(|named| named == source.as_str()),
        };
        self.usable_where(false, |source, tool| is_meant(source) && !is_by_name(source, tool))
    }

    /// The tools that an origin may call; if some are named as `source/tool`, only those.
    ///
    /// # Errors
    /// Why it may not call a named one.
    pub fn usable_by(&self, asker: &Asker, only: Option<&[String]>) -> Result<Vec<Usable>, ErrorBody> {
        let view = self.permissions.view(asker, Scope::McpToolsCall);
        let usable =
            self.usable_where(self.may_start(asker), |source, tool| view.of_source(source).covers(tool));
        let Some(only) = only else { return Ok(usable) };
        let mut named = Vec::new();
        for name in only {
            let (source, tool) =
                tool_name::split(name).map_err(|_| invalid("tools", "names such as `server/tool`"))?;
            self.permissions.check(asker, Scope::McpToolsCall, Some((&source, tool)))?;
            let found = usable.iter().find(|one| one.source == source && &*one.tool.name == tool);
            named.push(found.cloned().ok_or_else(|| tool_not_found(&source, tool))?);
        }
        Ok(named)
    }

    /// The sentence that a source has no tools for a model, and which command shows why.
    #[must_use]
    pub fn why_no_tools(&self, named: &str) -> String {
        let source = SourceId::parse(named).and_then(|id| self.sources.get(&id));
        no_tools(named, source.map_or(0, |source| self.registry.changed(&*source)))
    }

    fn usable_where(&self, stopped: bool, is_meant: impl Fn(&SourceId, &str) -> bool) -> Vec<Usable> {
        let mut usable = Vec::new();
        for (source, written) in self.listed_sources(stopped) {
            let id = source.id();
            let meant = written.tools().filter(|(name, _)| is_meant(&id, name));
            let tools = meant.filter_map(|(name, _)| written.get(name).cloned());
            usable.extend(tools.map(|tool| {
                let effect = self.effect(&id, &tool);
                Usable { source: id.clone(), tool, effect }
            }));
        }
        usable
    }
}

fn no_tools(named: &str, changed: usize) -> String {
    match changed {
        0 => format!("{named} has no tools now: `harbor list` says why"),
        1 => format!("{named} has no tools now: one has changed, see `harbor tools --changed {named}`"),
        _ => {
            format!("{named} has no tools now: {changed} have changed, see `harbor tools --changed {named}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_tools_have_changed_that_is_why_there_are_none() {
        assert_eq!(no_tools("rug", 0), "rug has no tools now: `harbor list` says why");
        let changed = "rug has no tools now: one has changed, see `harbor tools --changed rug`";
        assert_eq!(no_tools("rug", 1), changed);
        assert!(no_tools("rug", 2).contains("2 have changed"));
    }

    #[test]
    fn of_what_the_person_says_of_a_tool_the_worst_counts() {
        let said = Supervision::parse(r#"{"reads":["list","both"],"writes":["note"],"destroys":["both"]}"#);
        let said = said.unwrap();
        let of = |tool| said_of(&said, tool);
        assert_eq!(of("other"), None);
        assert_eq!(
            [of("list"), of("note"), of("both")],
            [Effect::Reads, Effect::Writes, Effect::Destroys].map(Some)
        );
    }
}
