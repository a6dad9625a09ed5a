//! The tools of an upgrade beside those before it.
//!
//! Owns which tools count as new, gone or changed. Must never decide what follows from that.

use harbor_ipc_proto::client::ToolDifference;

use super::trial::Installed;
use crate::link::{Tool, ToolList};

/// The tools as the person saw them, and a function that tells if a tool still says the same.
pub(super) type SeenTools<'a> = (&'a ToolList, &'a dyn Fn(&Tool, &Tool) -> bool);

/// Tools that are new, tools that are gone, and tools that have changed.
pub(super) type Differences = (Vec<String>, Vec<String>, Vec<ToolDifference>);

/// New and missing tools are found by comparison with the last list; changed tools by comparison with those that the
/// person saw.
pub(super) fn differences(
    tried: &Installed,
    known: &ToolList,
    (seen, is_same): SeenTools<'_>,
) -> Differences {
    let nothing = ToolList::default();
    let tools = tried.tools.as_deref().unwrap_or(&nothing);
    let absent_in = |list: &ToolList, of: &ToolList| {
        let absent = of.iter().filter(|tool| list.get(&tool.name).is_none());
        absent.map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    let changed = tools.iter().filter_map(|now| {
        let before = seen.get(&now.name).filter(|before| !is_same(before, now))?;
        let tool_name = now.name.to_string();
        Some(ToolDifference { tool_name, before: before.shown(), after: now.shown() })
    });
    let changed: Vec<_> = changed.collect();
    let mut added = absent_in(known, tools);
    // A tool that comes back as another one is shown as changed.
    added.retain(|name| changed.iter().all(|change| change.tool_name != *name));
    (added, absent_in(tools, known), changed)
}
