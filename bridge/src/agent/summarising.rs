//! Has the model summarise the oldest turns, if shorter results alone do not make a conversation fit.
//!
//! ```text
//!  fitting: turns do not fit ─► wanted ─► a request without tools to the same model ─► taken: stored beside the session
//!                                                                       └─► failed, empty or too long: these turns are left out
//! ```
//!
//! Owns that request, and what becomes of its answer. Must never rewrite a session, nor write down the summary of a private one.

use std::rc::Rc;

use harbor_ipc_proto::model::{Finish, ModelMessage, Part, Role};
use harbor_policy::history::{self, UnfitSummaryReason};
use harbor_policy::untrusted::wrap;

use super::Agent;
use super::fitting::SHARE_OF_ANSWER;
use super::plan::TurnPlan;
use super::session::Session;
use super::summary::HistorySummary;
use super::wanted_summary::WantedSummary;
use crate::models::{ModelAnswer, Prompt};
use crate::store::StoreError;

/// Tells the model what a summary has.
const SUMMARISE: &str = include_str!("prompts/summarise.md");

/// The words that a summary has at most; and its tokens, by which it is bounded at the provider.
const WORDS: u64 = 300;
const TOKENS: (u64, u64) = (256, 2048);

/// The share of the window that the text to summarise may take, in percent, and the bytes of a token.
const SHARE: usize = 60;
const BYTES_OF_A_TOKEN: usize = 3;

impl TurnPlan {
    /// The request for a summary.
    pub(super) fn prompt_of_summary(&self, session: &Session, wanted: WantedSummary) -> Prompt {
        let window = u64::from(self.model.window);
        let tokens = (window / SHARE_OF_ANSWER).clamp(TOKENS.0, TOKENS.1);
        let room = usize::try_from(window).unwrap_or(usize::MAX) / 100 * SHARE * BYTES_OF_A_TOKEN;
        let earlier = session.summary.borrow().as_ref().map(|summary| summary.text.clone());
        let earlier = earlier.map_or_else(String::new, |text| format!("Earlier summary: {text}\n"));
        let messages = session.messages.borrow();
        let text = earlier + &history::told(messages.get(wanted.from..wanted.to).unwrap_or_default());
        let text = wrap(&self.nonce, "the conversation to summarise", &text, room, None).text;
        let said = |role, text| ModelMessage { role, parts: vec![Part::Text(text)] };
        let words = WORDS.min(tokens / 2);
        let system = SUMMARISE.trim_end().replace("{words}", &words.to_string());
        let mut prompt = self.bare(vec![said(Role::System, system), said(Role::User, text)]);
        prompt.options.max_tokens = u32::try_from(tokens).ok();
        prompt
    }
}

impl Session {
    /// Takes a summary of these messages.
    ///
    /// # Errors
    /// Why it cannot stand for them.
    pub(super) fn take_summary(
        &self,
        answered: &ModelAnswer,
        wanted: WantedSummary,
    ) -> Result<String, UnfitSummaryReason> {
        let messages = self.messages.borrow();
        let all = messages.get(..wanted.to).ok_or(UnfitSummaryReason::Changed)?;
        let replaced = all.get(wanted.from..).ok_or(UnfitSummaryReason::Changed)?;
        let mut summary = self.summary.borrow_mut();
        let earlier = summary.as_ref();
        let text =
            history::accepted(&answered.message.text(), replaced, earlier.map_or(0, |one| one.text.len()))?;
        let text = if answered.finish == Finish::Length { text + " … (cut off)" } else { text };
        let turns = wanted.turns + earlier.map_or(0, |one| one.turns);
        let private = self.chat.read().private;
        let model = format!("{}:{}", answered.provider, answered.model);
        *summary = Some(HistorySummary::of(all, turns, text.clone(), model, private));
        Ok(text)
    }
}

impl Agent {
    /// Writes down the summary of a session, beside it.
    ///
    /// # Errors
    /// When the disk refuses, or the secrets are locked.
    pub(super) async fn save_summary(&self, session: &Session) -> Result<(), StoreError> {
        let file = session.summary.borrow().as_ref().map(HistorySummary::file);
        let is_kept = !session.head.borrow().private && !session.is_gone();
        match file.filter(|_| is_kept) {
            Some(file) => self.store.write_summary(&session.id, file).await,
            None => Ok(()),
        }
    }

    /// Reads the summary of a session, once. One that cannot be read is made again when it is needed.
    pub(super) async fn open_summary(&self, session: &Rc<Session>) {
        if session.head.borrow().private || session.has_looked_for_summary.replace(true) {
            return;
        }
        let Ok(Some(file)) = self.store.read_summary(&session.id).await else { return };
        let Some(summary) = HistorySummary::read(&file, &session.messages.borrow()) else { return };
        if !summary.private.is_empty() {
            session.chat.reads(summary.private.clone());
        }
        *session.summary.borrow_mut() = Some(summary);
    }
}
