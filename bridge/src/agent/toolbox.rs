//! The tools of one turn: how the model is told of them, and how its calls are read.
//!
//! ```text
//!  usable tools ─► `tool_sets` ─► policy::agent_tools: an offer for this task and window ─► definitions for the model
//!  the model's call ─► name ─► a tool and its arguments ─► Planned
//!                        ├──► run_script ─► the script, whose calls are of the same tools
//!                        └──► one of ours (search, describe, read_more) ─► its answer, at once
//! ```
//!
//! Owns this translation, back and forth. Must never call a tool.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::rc::Rc;

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{ModelTool, ToolCall};
use harbor_ipc_proto::source_id::SourceKind;
use harbor_ipc_proto::strings::text_of;
use harbor_policy::agent_tools::meta::{self, Meta, RUN_SCRIPT};
use harbor_policy::agent_tools::{Offer, OfferableTools, code_search, declaration};
use harbor_policy::consent::facts::Effect;
use harbor_policy::consent::plan::{ActionPlan, UPDATE_PLAN, update_plan};
use harbor_policy::turn::Wanted;
use harbor_policy::untrusted::{Nonce, READ_MORE, cleaned};
use serde_json::Value;
use serde_json::value::RawValue;

use super::session::Session;
use super::tool_results::ResultWrapping;
use super::tool_sets::ToolSets;
use super::turn_log::Shown;
use crate::host::Usable;
use crate::models::ChosenModel;

/// The tools of one turn.
pub(super) struct Toolbox {
    usable: Rc<BTreeMap<String, Usable>>,
    /// The task, in the person's words.
    task: String,
    all: Rc<OfferableTools>,
    offer: Offer,
    /// How results are told to the model.
    pub telling: ResultWrapping,
    /// True if the model may propose a plan.
    takes_plans: bool,
    hasher: RandomState,
}

/// A call of the model, and its meaning.
pub(super) struct PlannedCall {
    /// The call as it is shown, and as its result names it.
    pub shown: Shown,
    /// The name that the model has used.
    pub name: String,
    /// Its meaning.
    pub what: CallMeaning,
}

/// The meaning of a call.
pub(super) enum CallMeaning {
    /// A tool is called.
    Tool(Box<Usable>, String),
    /// A script is run, which calls tools.
    Script(String),
    /// Its answer is known already.
    Known(String),
    /// The model proposes a plan.
    Plan(Box<ActionPlan>),
    /// It cannot be made, for this reason.
    Faulty(String),
}

impl Toolbox {
    /// Chooses among the usable tools, for this model and task.
    pub fn new(usable: Vec<Usable>, sets: &ToolSets, model: &ChosenModel, nonce: Nonce, task: &str) -> Self {
        let usable: BTreeMap<_, _> =
            usable.into_iter().map(|one| (format!("{}/{}", one.source, one.tool.name), one)).collect();
        let all = sets.of(model.dialect, &usable);
        let offer = all.offer(model.window, task, model.writes_scripts());
        let telling = ResultWrapping::new(nonce, model.window);
        let (usable, task, hasher) = (Rc::new(usable), task.to_owned(), RandomState::new());
        Self { usable, task, all, offer, telling, takes_plans: false, hasher }
    }

    /// These tools, and the model may propose a plan.
    #[must_use]
    pub fn with_plans(self) -> Self {
        Self { takes_plans: true, ..self }
    }

    /// Chooses once more, since something about the model was not as it seemed. The tools keep their names.
    pub fn fit(&mut self, model: &ChosenModel) {
        self.offer = self.all.offer(model.window, &self.task, model.writes_scripts());
        self.telling = ResultWrapping::new(self.telling.nonce.clone(), model.window);
    }

    /// The tools of the turn, by `source/tool`.
    pub fn usable(&self) -> Rc<BTreeMap<String, Usable>> {
        self.usable.clone()
    }

    /// The tools that the model is told of; `read_more` only once there is something to read.
    pub fn definitions(&self, has_more: bool) -> Vec<ModelTool> {
        let plan = (self.takes_plans && !self.is_empty()).then(update_plan);
        let offered = self.offer.tools.iter().filter(|tool| has_more || tool.name != READ_MORE).cloned();
        offered.chain(plan).collect()
    }

    /// True if the model is told of no tool.
    pub fn is_empty(&self) -> bool {
        self.offer.tools.iter().all(|tool| tool.name == READ_MORE)
    }

    /// The tools that a model of this dialect cannot be told of, a sentence each.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        self.all.left_out().iter().map(|out| format!("{} is left out: {}", out.tool, out.why))
    }

    /// True if the task names what one of the tools is for.
    pub fn is_for_task(&self) -> bool {
        self.all.is_named_by(&self.task)
    }

    /// True if a text has the name of a tool that the model is told of.
    pub fn is_named_in(&self, text: &str) -> bool {
        self.offer.tools.iter().any(|tool| text.contains(&tool.name))
    }

    /// Finds the meaning of a call of the model.
    pub fn plan(&self, call: ToolCall, session: &Session) -> PlannedCall {
        let ToolCall { id, name, arguments } = call;
        let what = self.meaning(&name, arguments.clone(), session);
        let tool = match &what {
            CallMeaning::Tool(usable, _) => format!("{}/{}", usable.source, usable.tool.name),
            _ => name.clone(),
        };
        let arguments = match &what {
            CallMeaning::Tool(_, arguments) => arguments.clone(),
            _ => arguments,
        };
        PlannedCall { shown: Shown { id, tool, arguments: json(arguments) }, name, what }
    }

    fn meaning(&self, name: &str, arguments: String, session: &Session) -> CallMeaning {
        if !arguments.trim_start().starts_with('{') {
            let wrote = text_of(&arguments).unwrap_or_default();
            let wrote: String = wrote.chars().take(200).collect();
            return CallMeaning::Faulty(format!("the arguments are not a JSON object: {wrote}"));
        }
        if name == READ_MORE {
            let read = |more| session.kept.read(&self.telling, &more, &session.messages.borrow());
            return match meta::unpack_read_more(&arguments).and_then(read) {
                Ok(text) => CallMeaning::Known(text),
                Err(why) => CallMeaning::Faulty(why.to_owned()),
            };
        }
        if name == UPDATE_PLAN && self.takes_plans {
            return self.plan_of(&arguments);
        }
        if self.offer.scripts && name == RUN_SCRIPT {
            return match meta::script(&arguments) {
                Ok(script) => CallMeaning::Script(script),
                Err(why) => CallMeaning::Faulty(why.to_owned()),
            };
        }
        if self.offer.lazy {
            match meta::unpack(name, &arguments) {
                Ok(Meta::Search(words)) => return CallMeaning::Known(self.found(&words)),
                Ok(Meta::Describe(name)) => return self.described(&name),
                Ok(Meta::Call { name, arguments }) => return self.tool(&name, arguments),
                Err(Some(why)) => return CallMeaning::Faulty(why.to_owned()),
                Err(None) => {}
            }
        }
        self.tool(name, arguments)
    }

    /// The answer of a search: names, or declarations for scripts.
    fn found(&self, words: &str) -> String {
        match (self.offer.scripts, words.trim().is_empty()) {
            (false, _) => self.all.found(words),
            (true, true) => {
                let all = self.usable.values();
                code_search::names(all.map(|one| (one.source.to_string(), one.tool.name.to_string())))
            }
            (true, false) => {
                let best = self.all.best(words).into_iter();
                code_search::declared(
                    best.map(|name| declaration_of(self.usable.get(name)?)),
                    self.usable.len(),
                )
            }
        }
    }

    fn plan_of(&self, arguments: &str) -> CallMeaning {
        // What a browser does belongs to a site.
        let is_named = |usable: &&Usable| usable.source.kind() != SourceKind::Browser;
        let servers = self.usable.values().filter(is_named).map(|usable| usable.source.to_string());
        match ActionPlan::proposed(arguments, &servers.collect()) {
            Ok(plan) => CallMeaning::Plan(Box::new(plan)),
            Err(why) => CallMeaning::Faulty(why.to_string()),
        }
    }

    fn tool(&self, name: &str, arguments: String) -> CallMeaning {
        // Some models write a tool's full name.
        let full = self.all.names().tool(name).unwrap_or(name);
        match self.usable.get(full).filter(|_| self.all.names().name(full).is_some()) {
            Some(usable) => CallMeaning::Tool(Box::new(usable.clone()), arguments),
            None => CallMeaning::Faulty(format!("there is no tool {name:.100}")),
        }
    }

    fn described(&self, name: &str) -> CallMeaning {
        let full = self.all.names().tool(name).unwrap_or(name);
        match self.usable.get(full) {
            Some(usable) => CallMeaning::Known(cleaned(usable.tool.shown().as_str())),
            None => CallMeaning::Faulty(format!("there is no tool {name:.100}; search_tools finds tools")),
        }
    }

    /// The facts about a call that a turn needs.
    pub fn wanted(&self, planned: &PlannedCall) -> Wanted {
        let canonical: Option<Value> = serde_json::from_str(planned.shown.arguments.as_str()).ok();
        let reads = match &planned.what {
            CallMeaning::Tool(usable, _) => usable.effect == Effect::Reads,
            CallMeaning::Known(_) | CallMeaning::Faulty(_) => true,
            // The calls behind it are judged by it, or in it.
            CallMeaning::Plan(_) | CallMeaning::Script(_) => false,
        };
        Wanted {
            fingerprint: self.hash(&(&planned.shown.tool, canonical.map(|value| value.to_string()))),
            reads,
        }
    }

    /// A hash that is valid in this turn only.
    pub fn hash(&self, of: &impl std::hash::Hash) -> u64 {
        self.hasher.hash_one(of)
    }
}

fn declaration_of(Usable { source, tool, .. }: &Usable) -> Option<String> {
    declaration::of_listed(source.as_str(), &tool.name, tool.shown().as_str())
}

/// The text as JSON, or as a JSON string if it is none: the model is not trusted to write JSON.
fn json(text: String) -> Json {
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(_) => Json::from_valid(text),
        Err(_) => Json::string(&text),
    }
}
