//! A call during which its server may ask for a language model's answer, and the part of Harbor that has models.
//!
//! Owns these types. Must never look into a question.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::Sampling;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::server_id::ServerId;

use super::asking::Form;
use super::chat::Chat;
use super::page_search_call::PageSearchCall;
use crate::host::asker::Sender;
use crate::link::{PageSearchWork, Question, WantedPlaces};

/// Work on an answer.
pub type SamplingWork<T> = Pin<Box<dyn Future<Output = T>>>;

/// A call during which its server may ask for a model's answer.
pub struct SamplingCall {
    /// The server.
    pub server: ServerId,
    /// The connection that made the call.
    pub sender: Rc<Sender>,
    /// The person's conversation that the call is part of.
    pub chat: Option<Rc<Chat>>,
    /// The form by which its client can ask the person.
    pub form: Option<Form>,
}

/// The part of Harbor that has models.
pub trait Samples {
    /// True if a model could answer this server, perhaps after a question to the person.
    fn may(&self, server: &ServerId) -> bool;

    /// Answers what a server asks. Dropping the future refuses it.
    fn answer(&self, call: Rc<SamplingCall>, question: Question) -> SamplingWork<()>;

    /// Has a model look in a page for what the maker of a call means, until then.
    fn search(&self, call: Rc<PageSearchCall>, wanted: WantedPlaces, until: Instant) -> PageSearchWork;

    /// Keeps the person's word on a server, which they gave on the connection `client`.
    fn keep(&self, server: &ServerId, client: u64, word: Sampling) -> SamplingWork<Result<(), ErrorBody>>;
}

/// The part of Harbor that has models, once it is there.
#[derive(Default)]
pub(in crate::host) struct Sampler(RefCell<Option<Rc<dyn Samples>>>);

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

impl Sampler {
    pub fn set(&self, samples: Rc<dyn Samples>) {
        *self.0.borrow_mut() = Some(samples);
    }

    pub fn get(&self) -> Option<Rc<dyn Samples>> {
        self.0.borrow().clone()
    }
}
