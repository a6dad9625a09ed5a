//! The way of a server's request for a language model's answer: to whoever has a model of the person's answer it.
//!
//! Owns which calls have such an answerer, and that the work on an answer ends with its call. Must never look into a question.

use std::cell::RefCell;
use std::rc::Rc;

use harbor_ipc_proto::client::Sampling;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::Mode;
use tokio::task::JoinSet;

use super::Host;
use super::asker::Caller;
use super::consent::chat::Chat;
use super::consent::sampling_call::{Samples, SamplingCall};
use super::tool_call::Consenting;
use crate::link::Answerer;

impl Host {
    /// Has `samples` answer servers from now on.
    pub fn sample_by(&self, samples: Rc<dyn Samples>) {
        self.sampler.set(samples);
    }

    /// The answerer of a call of this server: its maker as far as that answers, else a model of the person's. When
    /// the answerer is dropped, the work that is under way is given up.
    pub(super) fn with_model(
        &self,
        server: ServerId,
        caller: &Caller,
        consent: &Consenting,
        party: Option<Answerer>,
    ) -> Option<Answerer> {
        let samples = self.sampler.get().filter(|samples| samples.may(&server));
        let Some(samples) = samples else { return party };
        let Consenting { chat, form, .. } = consent;
        let chat = chat.clone().filter(|chat| has_person(caller, chat));
        let call = SamplingCall { server, sender: caller.sender().clone(), chat, form: form.clone() };
        let (call, work) = (Rc::new(call), RefCell::new(JoinSet::new()));
        Some(Answerer::with_model(party, move |question| {
            let mut work = work.borrow_mut();
            while work.try_join_next().is_some() {}
            work.spawn_local(samples.answer(call.clone(), question));
        }))
    }

    /// Keeps the person's word on a server that wants answers of models.
    ///
    /// # Errors
    /// When there is no such server any more, or it cannot be stored.
    pub(super) async fn keep_sampling(
        &self,
        source: &SourceId,
        client: u64,
        word: Sampling,
    ) -> Result<(), ErrorBody> {
        match self.sampler.get().zip(source.as_server()) {
            Some((samples, server)) => samples.keep(&server, client, word).await,
            None => Err(self.unknown(source)),
        }
    }
}

/// True if the person sees the questions of this conversation.
fn has_person(caller: &Caller, chat: &Chat) -> bool {
    matches!(caller, Caller::Owner(..)) && !chat.is_client && chat.mode.get() != Mode::Reads
}
