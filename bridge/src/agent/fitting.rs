//! The conversation of a turn within the window of its model.
//!
//! ```text
//!  session: [summarised │ said] ─► attachments in envelopes ─► policy::history: fit ─► messages
//!                                                                └─► some turns do not fit ─► a summary is wanted
//! ```
//!
//! Owns the room that messages have beside tools and an answer. Must never change the session.

use harbor_ipc_proto::model::{ModelMessage, ModelTool, ToolResult};
use harbor_policy::history::{Fitting, fit, replaceable};
use harbor_policy::models::estimate;

use super::attaching::{as_texts, wrapped};
use super::context;
use super::plan::TurnPlan;
use super::session::Session;

/// If a model's answers have no bound, this share of its window is left for one.
pub(super) const SHARE_OF_ANSWER: u64 = 8;

impl TurnPlan {
    /// The messages that fit into the model's window, beside its tools and an answer. Attachments are texts there.
    pub(super) fn fitted(
        &mut self,
        session: &Session,
        system: &str,
        is_last: bool,
        tools: &[ModelTool],
    ) -> Vec<ModelMessage> {
        let summary = session.summary.borrow();
        let (before, summary) = match &*summary {
            Some(summary) => (summary.messages, Some(summary.envelope(&self.nonce))),
            None => (0, None),
        };
        let all = session.messages.borrow();
        let said = all.get(before..).unwrap_or_default();
        let messages = context::messages(system, said, is_last);
        let (messages, is_cut) = wrapped(&self.nonce, self.model.window, messages);
        self.cuts_attachments = is_cut;
        let has_tools = !self.toolbox.is_empty();
        // The session has it, so the model can have it again.
        let id_of = |result: &ToolResult| has_tools.then(|| result.call_id.clone());
        let bounds = Fitting { room: self.room(tools), id_of: &id_of, summary: summary.as_deref() };
        if self.summarising.may_be_wanted() {
            self.summarising.want(replaceable(&messages, said, &bounds), before);
        }
        let (messages, shortened) = fit(messages, &bounds);
        self.shortened = shortened;
        self.reads_again |= has_tools && shortened.results > 0;
        as_texts(messages)
    }

    /// The tokens that messages may have.
    fn room(&self, tools: &[ModelTool]) -> u64 {
        let window = u64::from(self.model.window);
        let answer = self.max_tokens.map_or(window / SHARE_OF_ANSWER, u64::from);
        let of_tool =
            |tool: &ModelTool| estimate(tool.name.len() + tool.description.len() + tool.schema.len());
        window.saturating_sub(answer + tools.iter().map(of_tool).sum::<u64>())
    }
}
