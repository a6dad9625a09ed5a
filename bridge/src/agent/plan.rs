//! The plan of a turn: its model, its tools, its limits, and the prompt of each round.
//!
//! Owns how tools are described to a model that can call them, and to one that cannot. Must never ask the model.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::model::{ModelMessage, ModelTool, Options, Setting, ToolCall, ToolChoice};
use harbor_policy::history::Shortened;
use harbor_policy::text_calls::{instructions, written};
use harbor_policy::turn::Limits;
use harbor_policy::untrusted::Nonce;
use harbor_policy::windows::narrowed;

use super::citing::CitableResults;
use super::on_behalf::Answerers;
use super::session::Session;
use super::steps;
use super::text_reading::{HeardSoFar, TextReading};
use super::toolbox::{CallMeaning, PlannedCall, Toolbox};
use super::wanted_summary::Summarising;
use crate::models::{ChosenModel, Prompt};

/// The plan of a turn.
pub(super) struct TurnPlan {
    pub limits: Limits,
    /// The calls that scripts of this turn may still make: as many as the turn itself.
    pub script_calls: Rc<Cell<u32>>,
    pub model: ChosenModel,
    pub toolbox: Toolbox,
    /// Says if the next answer has to call a tool: the first one, if that is wanted.
    pub tool_choice: ToolChoice,
    pub max_tokens: Option<u32>,
    pub temperature: Option<f64>,
    /// The text that the model is told first.
    pub system: String,
    /// The servers that were named and have no tools now, a sentence each.
    pub missing: Vec<String>,
    /// Its results by number, if the answer has to name its sources.
    pub sources: Option<CitableResults>,
    /// The parts of the conversation that the model is no longer sent.
    pub shortened: Shortened,
    /// The word that ends the envelopes of attachments.
    pub nonce: Nonce,
    /// True if the model is sent a part of an attachment only.
    pub cuts_attachments: bool,
    /// About how many tokens the last prompt has, and whether its answer had to call a tool.
    pub asked: (u64, ToolChoice),
    /// The word with which a model that takes no tools begins a call.
    pub call_word: Nonce,
    /// How calls are read out of the text of the next answer; none where the model calls in another way.
    pub reading: Option<Rc<TextReading>>,
    /// True if the next answer is forced into a step, though the model takes tools.
    pub forces_step: bool,
    /// Answers the questions of servers during calls, if somebody can.
    pub answerers: Option<Answerers>,
    /// True once a result was left out that the model can read again.
    pub reads_again: bool,
    /// Says if the oldest turns are to be summarised.
    pub summarising: Summarising,
    /// The answers to calls in a text that are not made, by their ids.
    pub unmade: BTreeMap<String, String>,
    /// True once the model was reminded of the form of calls.
    pub was_reminded: bool,
    /// The calls in the texts of the session.
    pub heard: HeardSoFar,
}

impl TurnPlan {
    /// A sentence on how this model calls tools, if its provider has no way for it and there are some.
    pub fn how_it_calls(&self) -> Option<String> {
        let Self { model, toolbox, .. } = self;
        let is_told = self.writes_calls() && !toolbox.is_empty() && self.tool_choice != ToolChoice::None;
        is_told.then(|| {
            format!(
                "{}:{} takes no tools, so it is told of them in words and writes its calls as text",
                model.provider, model.model
            )
        })
    }

    /// True if the model writes its calls as text: it takes no tools, and its provider forces no form on an answer.
    fn writes_calls(&self) -> bool {
        self.model.tools == Some(false) && !self.model.takes_schemas
    }

    /// Takes from an error that the model takes no tools; false if the error is about something else, or that was known.
    pub fn without_tools(&mut self, error: &ErrorBody) -> bool {
        let is_new = self.model.tools != Some(false) && error.has("refused", Setting::Tools.name());
        if is_new {
            self.model.tools = Some(false);
            self.toolbox.fit(&self.model);
            self.asks_again();
        }
        is_new
    }

    /// Has the next answer forced into a call; false if the provider forces no form on an answer.
    pub fn force_call(&mut self) -> bool {
        if self.model.takes_schemas {
            self.forces_step = true;
            self.tool_choice = ToolChoice::Required;
        }
        self.model.takes_schemas
    }

    /// The prompt for the next round of a session. In the last round the model calls no tools.
    pub fn prompt(&mut self, session: &Session, is_last: bool) -> Prompt {
        let wanted = std::mem::replace(&mut self.tool_choice, ToolChoice::Auto);
        self.asked.1 = wanted.clone();
        let choice = if is_last { ToolChoice::None } else { wanted };
        let read_again = self.reads_again;
        let mut prompt = self.prompt_of(session, choice.clone(), is_last);
        if self.reads_again && !read_again {
            // The words in place of a result name a tool that this prompt does not have yet.
            prompt = self.prompt_of(session, choice, is_last);
        }
        self.forces_step = false;
        self.asked.0 = prompt.tokens();
        prompt
    }

    fn prompt_of(&mut self, session: &Session, choice: ToolChoice, is_last: bool) -> Prompt {
        match self.model.tools {
            _ if self.forces_step => self.prompt_of_steps(session, &choice, is_last),
            Some(false) if self.writes_calls() => self.prompt_of_text(session, &choice, is_last),
            Some(false) => self.prompt_of_steps(session, &choice, is_last),
            _ => self.prompt_with_tools(session, choice, is_last),
        }
    }

    /// The tools that the model is told of.
    fn definitions(&self, session: &Session) -> Vec<ModelTool> {
        self.toolbox.definitions(self.reads_again || !session.kept.is_empty())
    }

    /// Takes from an error how much shorter the next prompt has to be; false if the error is about something else.
    pub fn narrow(&mut self, error: &ErrorBody) -> bool {
        let detail = |name: &str| {
            let (_, value) = error.details.iter().find(|(known, _)| *known == name)?;
            serde_json::from_str::<u64>(value.as_str()).ok()
        };
        let Some(window) = detail("context_window").and_then(|window| u32::try_from(window).ok()) else {
            return false;
        };
        let window = narrowed(window, detail("input_tokens"), self.asked.0);
        self.model.window = window.min(self.model.window);
        self.toolbox.fit(&self.model);
        self.asks_again();
        true
    }

    /// The next answer is one to the same question.
    pub fn asks_again(&mut self) {
        self.tool_choice = self.asked.1.clone();
    }

    fn prompt_with_tools(&mut self, session: &Session, choice: ToolChoice, is_last: bool) -> Prompt {
        // Some providers want to hear of the tools that were called. Others write calls as long
        // as they hear of any.
        let tools = match choice == ToolChoice::None && !self.model.wants_tools_of_history {
            true => Vec::new(),
            false => self.definitions(session),
        };
        let messages = self.fitted(session, &self.system.clone(), is_last, &tools);
        self.reading = None;
        Prompt {
            tool_choice: if tools.is_empty() { ToolChoice::Auto } else { choice },
            tools,
            ..self.bare(messages)
        }
    }

    /// The prompt for a model that takes no tools: it is told of them in words.
    fn prompt_of_text(&mut self, session: &Session, choice: &ToolChoice, is_last: bool) -> Prompt {
        let tools = match *choice {
            ToolChoice::None => Vec::new(),
            _ => self.definitions(session),
        };
        let system = match tools.is_empty() {
            true => self.system.clone(),
            false => format!("{}\n{}", self.system, instructions(&tools, &self.call_word)),
        };
        let said = self.fitted(session, &system, is_last, &[]);
        let said = steps::messages(said, |call| written(&call.name, &call.arguments, &self.call_word));
        self.reading =
            TextReading::of(&tools, self.call_word.clone(), &mut self.heard, &session.messages.borrow());
        self.bare(said)
    }

    /// The prompt for a model that calls no tools: it writes steps, if its provider can force it to.
    fn prompt_of_steps(&mut self, session: &Session, choice: &ToolChoice, is_last: bool) -> Prompt {
        let tools = self.definitions(session);
        let is_step = self.model.takes_schemas && *choice != ToolChoice::None && !tools.is_empty();
        let system = match is_step {
            true => format!("{}\n{}", self.system, steps::told(&tools)),
            false => self.system.clone(),
        };
        let said = self.fitted(session, &system, is_last, &[]);
        let said = steps::messages(said, steps::step);
        self.reading = None;
        let mut prompt = self.bare(said);
        prompt.options.response_schema =
            is_step.then(|| steps::schema(&tools, *choice == ToolChoice::Required));
        prompt
    }

    /// The meaning of a call. That of a call in a text which is not made is its answer.
    pub fn planned(&self, call: ToolCall, session: &Session) -> PlannedCall {
        let answer = self.unmade.get(&call.id).cloned();
        let mut planned = self.toolbox.plan(call, session);
        if let Some(answer) = answer {
            planned.what = CallMeaning::Faulty(answer);
        }
        planned
    }

    /// A prompt of these messages, without tools.
    pub fn bare(&self, messages: Vec<ModelMessage>) -> Prompt {
        Prompt {
            provider: Some(self.model.provider.clone()),
            model: Some(self.model.model.clone()),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            options: Options {
                max_tokens: self.max_tokens,
                temperature: self.temperature,
                ..Options::default()
            },
        }
    }
}
