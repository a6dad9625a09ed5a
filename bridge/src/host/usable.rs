//! The tools that a turn of the agent may use, and whether they are still what it was told of.
//!
//! Owns that a model sees no tool that its person, or the origin that it works for, would not see. Must never call one.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Level, Supervision};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::approval::{Correction, Traits};
use harbor_policy::scope::Scope;
use harbor_policy::tool_name;

use super::asker::Asker;
use super::refused::tool_not_found;
use super::source::ToolSource;
use super::{Host, invalid};
use crate::link::{Tool, ToolHash};

/// A tool that may be used.
#[derive(Debug, Clone)]
pub struct Usable {
    /// What has it.
    pub source: SourceId,
    /// The tool.
    pub tool: Tool,
    /// What it may do: as it says itself, and as the person says, who knows better.
    pub traits: Traits,
}

/// Where annotations stand among what a tool says of itself.
pub(super) const ANNOTATIONS: usize = 4;

/// What the person says of a tool. Of several lists the worst counts.
pub(super) fn correction(said: &Supervision, tool: &str) -> Correction {
    let is_among = |list: &Option<Vec<String>>| list.iter().flatten().any(|named| named == tool);
    let (reads_only, destroys) =
        match (is_among(&said.destroys), is_among(&said.writes), is_among(&said.reads)) {
            (true, ..) => (Some(false), Some(true)),
            (_, true, _) => (Some(false), Some(false)),
            (_, _, true) => (Some(true), Some(false)),
            _ => (None, None),
        };
    Correction { reads_only, destroys, open_world: None }
}

impl Host {
    /// The tools of the person's own turns: those of all servers, or of the sources that are named, as far as the person has seen them
    /// as they are.
    #[must_use]
    pub fn usable(&self, only: Option<&[String]>) -> Vec<Usable> {
        let is_meant = |source: &SourceId| match only {
            // What is no server has to be named.
            None => source.kind() == SourceKind::Server,
            Some(only) => only.iter().any(|named| named == source.as_str()),
        };
        self.usable_where(|source, _| is_meant(source))
    }

    /// The tools that an origin may call; those that are named, `source/tool`, where some are.
    ///
    /// # Errors
    /// Why it may not call one that is named.
    pub fn usable_by(&self, asker: &Asker, only: Option<&[String]>) -> Result<Vec<Usable>, ErrorBody> {
        let view = self.permissions.view(asker, Scope::McpToolsCall);
        let usable = self.usable_where(|source, tool| view.of_source(source).covers(tool));
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

    fn usable_where(&self, is_meant: impl Fn(&SourceId, &str) -> bool) -> Vec<Usable> {
        let mut usable = Vec::new();
        for (source, written) in self.listed_sources() {
            let id = source.id();
            let meant = written.tools().filter(|(name, _)| is_meant(&id, name));
            let tools = meant.filter_map(|(name, _)| written.get(name).cloned());
            let server = id.as_server().and_then(|id| self.supervisor.get(&id));
            let said = server.map(|server| server.definition().supervision.clone()).unwrap_or_default();
            usable.extend(tools.map(|tool| {
                let annotations = tool.members[ANNOTATIONS].as_ref().map(Json::as_str);
                let traits = Traits::of(annotations, correction(&said, &tool.name));
                Usable { source: id.clone(), tool, traits }
            }));
        }
        usable
    }

    /// Whether what a source answers may be private: it was given secrets or files of the person's, or is elsewhere under their name.
    #[must_use]
    pub fn has_private(&self, source: &SourceId) -> bool {
        let server = source.as_server().and_then(|id| self.supervisor.get(&id));
        // Of what is no server nothing is known.
        let Some(server) = server else { return true };
        let definition = server.definition();
        let sandbox = &definition.sandbox;
        let given = [&sandbox.read, &sandbox.write, &sandbox.sockets];
        let is_open = matches!(sandbox.level, Some(Level::Off | Level::Basic));
        let has_files = given.into_iter().flatten().any(|paths| !paths.is_empty());
        definition.supervision.private == Some(true)
            || is_open
            || has_files
            || !definition.secrets.is_empty()
            || definition.remote.is_some()
    }

    /// Whether a tool is what it was when a model was told of it, as far as its source has listed its tools since.
    #[must_use]
    pub fn is_as_told(&self, source: &SourceId, name: &str, hash: &ToolHash) -> bool {
        let source: Option<Rc<dyn ToolSource>> = self.sources.get(source);
        let list = source.as_ref().and_then(|source| self.registry.known(&**source));
        list.is_some_and(|list| list.get(name).is_some_and(|tool| tool.hash == *hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_person_knows_better_what_a_tool_does_and_the_worst_that_they_say_counts() {
        let said = Supervision::parse(r#"{"reads":["list","both"],"writes":["note"],"destroys":["both"]}"#);
        let said = said.unwrap();
        let of = |tool: &str| {
            Traits::of(Some(r#"{"readOnlyHint":true,"openWorldHint":false}"#), correction(&said, tool))
        };
        assert!(of("other").reads_only && of("list").reads_only);
        assert!(!of("note").reads_only && !of("note").destroys);
        assert!(!of("both").reads_only && of("both").destroys);
        assert!(Traits::of(None, correction(&said, "list")).reads_only, "it says nothing itself");
    }
}
