//! The sets of tools that turns have used last, read for models.
//!
//! ```text
//!  usable tools ─► known by a hash of their words? ─► as they were read before
//!                          └► no ─► schemas read, words counted ─► kept for the next turn
//! ```
//!
//! Owns which set is the same: the same names with the same words, for the same dialect. Must never give out a tool that has
//! changed since, also where only words in it were hidden.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::rc::Rc;

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{Dialect, ModelTool};
use harbor_ipc_proto::strings::text_of;
use harbor_policy::agent_tools::OfferableTools;
use harbor_policy::untrusted::cleaned;

use crate::host::Usable;
use crate::link::Tool;

/// Sets that are kept: a person talks in few sessions at a time.
const MOST: usize = 4;

/// A set's dialect, and the hash of all its words.
type SetKey = (Dialect, u64);

/// The sets that were used last.
#[derive(Debug, Default)]
pub(super) struct ToolSets {
    kept: RefCell<VecDeque<(SetKey, Rc<OfferableTools>)>>,
    /// Nobody can know which sets have the same hash.
    hasher: RandomState,
}

impl ToolSets {
    /// These tools, by `source/tool`, for models of this dialect.
    pub fn of(&self, dialect: Dialect, usable: &BTreeMap<String, Usable>) -> Rc<OfferableTools> {
        let key = (dialect, self.hash(usable));
        let mut kept = self.kept.borrow_mut();
        let found = kept.iter().position(|(known, _)| *known == key).and_then(|at| kept.remove(at));
        let (key, set) = found.unwrap_or_else(|| {
            let tools: Vec<_> = usable.iter().map(|(name, one)| definition(name, &one.tool)).collect();
            (key, Rc::new(OfferableTools::of(dialect, &tools)))
        });
        kept.push_front((key, set.clone()));
        kept.truncate(MOST);
        set
    }

    fn hash(&self, usable: &BTreeMap<String, Usable>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for (name, one) in usable {
            name.hash(&mut hasher);
            for member in &one.tool.members[..3] {
                member.as_ref().map(Json::as_str).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

fn definition(name: &str, tool: &Tool) -> ModelTool {
    let schema = tool.members[2].as_ref().map_or(r#"{"type":"object"}"#, Json::as_str);
    ModelTool { name: name.to_owned(), description: description(tool), schema: schema.to_owned() }
}

/// The tool's description, else its title.
fn description(tool: &Tool) -> String {
    let text = |at: usize| {
        tool.members[at]
            .as_ref()
            .and_then(|json: &Json| text_of(json.as_str()).map(std::borrow::Cow::into_owned))
    };
    cleaned(&text(1).or_else(|| text(0)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::source_id::SourceId;
    use harbor_policy::consent::facts::Effect;

    use super::*;

    fn usable(about: &str) -> BTreeMap<String, Usable> {
        let shown = format!(r#"{{"name":"t","description":"{about}","inputSchema":{{"type":"object"}}}}"#);
        let tool = Tool::from_shown("t", &shown, [1; 32], false).unwrap();
        let source = SourceId::parse("s").unwrap();
        [("s/t".to_owned(), Usable { source, tool, effect: Effect::Reads })].into()
    }

    #[test]
    fn a_set_is_read_once_until_a_word_of_it_changes() {
        let sets = ToolSets::default();
        let first = sets.of(Dialect::Chat, &usable("one"));
        assert!(Rc::ptr_eq(&first, &sets.of(Dialect::Chat, &usable("one"))));
        assert!(!Rc::ptr_eq(&first, &sets.of(Dialect::Anthropic, &usable("one"))));
        let other = sets.of(Dialect::Chat, &usable("two"));
        assert!(other.found("two").contains("s_t: two"), "its hash is the same, its words are not");
        for number in 0..MOST {
            let _ = sets.of(Dialect::Chat, &usable(&number.to_string()));
        }
        assert!(!Rc::ptr_eq(&first, &sets.of(Dialect::Chat, &usable("one"))), "others were used since");
    }
}
