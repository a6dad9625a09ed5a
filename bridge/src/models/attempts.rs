//! The attempts at one answer: what is asked, and what is asked once more where a refusal says how it would go.
//!
//! ```text
//!  window to ask for, settings without those that it refuses
//!    └─► asked ─┬─ answered ──────────────────────────────► what it has refused is remembered ─► the answer
//!               ├─ nothing was said ──────────────────────► the failure, in words
//!               ├─ too long, though there could be more ──► asked with a larger window
//!               ├─ too long ─► learned ───────────────────► the failure, with the window
//!               └─ no tools taken ─► learned ─────────────► the failure, which says so
//! ```
//!
//! Owns that nothing is asked again once a part of an answer has come, and that only the last failure is told.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AnswerDetails, ChatEvent};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::model::{Chat, Event, Failure, Model, ToModel};
use harbor_ipc_proto::model::{Finish, Options, Setting};
use harbor_policy::budget::ANSWER;
use harbor_policy::refused_tools::refuses_tools;

use super::chat::{Bill, ModelAnswer};
use super::{Models, conversation, facts};
use crate::store::models::Provider;

/// The share of a window that is kept for an answer whose length has no bound.
const SHARE_OF_ANSWER: u64 = 8;

impl Models {
    /// Asks, and asks once more where that may help.
    pub(super) async fn attempts(
        self: &Rc<Self>,
        bill: &Bill,
        provider: &Provider,
        mut chat: Chat,
        push: &impl AsyncFn(ChatEvent),
    ) -> Result<ModelAnswer, ErrorBody> {
        let (model, has_tools) = (chat.model.clone(), !chat.tools.is_empty());
        let told = match facts::is_asked_for_a_window(provider) {
            true => self.told(provider, &model).await,
            false => None,
        };
        let window = self.window(provider, &model, told.as_ref()).0;
        let needed = bill.input.saturating_add(of_answer(&chat, window));
        chat.options.context_window = self.window_to_ask(provider, &model, told.as_ref(), needed);
        chat.options.refused = self.refused(provider, &model);
        bill.send();
        loop {
            let options = chat.options.clone();
            let spare =
                options.context_window.filter(|asked| *asked < window).map(|asked| (asked, chat.clone()));
            let asked = self.ask(|id| ToModel::Chat(Chat { id, ..chat }));
            let failure = match bill.follow(asked, push).await {
                Ok((finish, raw)) => match bill.emptiness(finish, raw.as_deref(), &options) {
                    None => {
                        if is_cut(finish, &options) && spare.is_some() {
                            // The window that was asked for has cut it off: the next one is larger.
                            let next = u64::from(options.context_window.unwrap_or_default()) + 1;
                            self.window_to_ask(provider, &model, told.as_ref(), next);
                        }
                        let details = self.details(bill, provider, &model, &options).await;
                        tell(&Event::End { finish, raw: None }, push).await;
                        return Ok(bill.ended(finish, raw, details));
                    }
                    Some(empty) => {
                        let wider = spare.clone().filter(|_| is_cut(finish, &options));
                        if let Some(wider) =
                            wider.and_then(|spare| self.wider(provider, told.as_ref(), spare, 0))
                        {
                            // Its thoughts have filled the window that was asked for, and nothing was said.
                            bill.begins_anew();
                            chat = wider;
                            continue;
                        }
                        empty
                    }
                },
                Err(failure) => failure,
            };
            chat = match spare.and_then(|spare| self.larger(bill, provider, told.as_ref(), spare, &failure)) {
                Some(larger) => larger,
                None => return Err(self.last_word(bill, provider, (&model, has_tools), failure, push).await),
            };
        }
    }

    /// Tells what was left out of a request. Settings that the model has refused just now are remembered.
    async fn details(
        &self,
        bill: &Bill,
        provider: &Provider,
        model: &str,
        asked: &Options,
    ) -> Option<AnswerDetails> {
        let (new, tools_left_out) = {
            let answer = bill.answer.borrow();
            (answer.refused.clone(), answer.dropped_tools.clone())
        };
        let all = [&asked.refused[..], &new].concat();
        if !new.is_empty() {
            self.learn_refused(provider, model, &all).await;
        }
        let left_out: Vec<String> = left_out(asked, &all).map(str::to_owned).collect();
        let is_something = !left_out.is_empty() || !tools_left_out.is_empty();
        is_something.then_some(AnswerDetails { left_out, tools_left_out })
    }

    /// Gives the request a larger window, if it was refused for the window that was asked for.
    fn larger(
        &self,
        bill: &Bill,
        provider: &Provider,
        told: Option<&Model>,
        (asked, chat): (u32, Chat),
        failure: &Failure,
    ) -> Option<Chat> {
        let said = facts::too_long(failure).filter(|_| bill.answer.borrow().is_nothing())?;
        let counted = said.counted.unwrap_or_default().saturating_add(of_answer(&chat, asked));
        self.wider(provider, told, (asked, chat), counted)
    }

    /// The request with a larger window than it asked for, and one for so many tokens; none where there is no larger one.
    fn wider(
        &self,
        provider: &Provider,
        told: Option<&Model>,
        (asked, mut chat): (u32, Chat),
        needed: u64,
    ) -> Option<Chat> {
        let needed = needed.max(u64::from(asked) + 1);
        chat.options.context_window = self.window_to_ask(provider, &chat.model, told, needed);
        chat.options.context_window.filter(|window| *window > asked)?;
        Some(chat)
    }

    /// The failure that is told. One for the length of the conversation has the model's window, one for its tools the word `tools`.
    async fn last_word(
        &self,
        bill: &Bill,
        provider: &Provider,
        (model, has_tools): (&str, bool),
        failure: Failure,
        push: &impl AsyncFn(ChatEvent),
    ) -> ErrorBody {
        tell(&Event::Error(failure.clone()), push).await;
        let error = bill.failed(&failure);
        if has_tools && refuses_tools(failure.status, &failure.message) {
            let all = [self.refused(provider, model), vec![Setting::Tools]].concat();
            self.learn_refused(provider, model, &all).await;
            return error.with("refused", Setting::Tools.name());
        }
        let Some(said) = facts::too_long(&failure) else { return error };
        let window = self.learn_window(provider, model, said, bill.input).await;
        let number = |number: u64| Json::from_valid(number.to_string());
        let error = error.with_json("context_window", number(window.into()));
        match said.counted {
            Some(counted) => error.with_json("input_tokens", number(counted)),
            None => error,
        }
    }
}

/// True if an answer broke off at the end of the window that was asked for.
fn is_cut(finish: Finish, options: &Options) -> bool {
    finish == Finish::Length && options.max_tokens.is_none()
}

/// The tokens that are kept for the answer.
fn of_answer(chat: &Chat, window: u32) -> u64 {
    chat.options.max_tokens.map_or_else(|| ANSWER.min(u64::from(window) / SHARE_OF_ANSWER), u64::from)
}

/// The settings that were asked for and are not sent, since the model refuses them.
fn left_out(asked: &Options, refused: &[Setting]) -> impl Iterator<Item = &'static str> {
    let both = [Setting::MaxTokens, Setting::MaxCompletionTokens].iter().all(|cap| refused.contains(cap));
    let all = [
        (Setting::Temperature, asked.temperature.is_some()),
        (Setting::TopP, asked.top_p.is_some()),
        (Setting::Stop, !asked.stop.is_empty()),
        (Setting::Effort, asked.reasoning_effort.is_some()),
        (Setting::MaxTokens, asked.max_tokens.is_some() && both),
    ];
    let refused = refused.to_vec();
    all.into_iter()
        .filter(move |(setting, is_asked)| *is_asked && refused.contains(setting))
        .map(|(setting, _)| setting.name())
}

async fn tell(event: &Event, push: &impl AsyncFn(ChatEvent)) {
    if let Some(told) = conversation::told(event) {
        push(told).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_left_out() {
        let asked = Options { temperature: Some(0.5), max_tokens: Some(9), ..Options::default() };
        let of = |refused: &[Setting]| left_out(&asked, refused).collect::<Vec<_>>();
        assert_eq!(of(&[Setting::TopP, Setting::Temperature]), ["temperature"]);
        assert_eq!(of(&[Setting::MaxTokens]), [""; 0], "it goes by its other name");
        assert_eq!(of(&[Setting::MaxTokens, Setting::MaxCompletionTokens]), ["max_tokens"]);
    }
}
