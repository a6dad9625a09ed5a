//! Starts the work that each message of the bridge asks for.
//!
//! Owns that each request has one task and one answer. Must never wait: a slow provider holds up its own request only.

use std::rc::Rc;

use harbor_ipc_proto::link::model::{Cause, Chat, Event, FromModel, ToModel};

use crate::credit::Credit;
use crate::failure::failed;
use crate::open::Open;
use crate::provider_http::Clients;
use crate::to_bridge::Up;
use crate::{catalog, chat, check, count, detect, pictures, pull, ready, transcribe};

/// The worker.
#[derive(Debug)]
pub struct Worker {
    up: Rc<Up>,
    open: Rc<Open>,
    clients: Rc<Clients>,
}

impl Worker {
    /// One that tells `up`.
    pub fn new(up: Rc<Up>) -> Self {
        Self { up, open: Rc::default(), clients: Rc::default() }
    }

    /// Takes a message of the bridge.
    pub fn take(&self, message: ToModel) {
        match message {
            // The program's own.
            ToModel::Hello { .. } | ToModel::Shutdown => {}
            ToModel::Chat(chat) => self.chat(chat),
            ToModel::More { id, deltas } => self.open.more(id, deltas),
            ToModel::Cancel { id } => self.open.cancel(id),
            ToModel::Models { id, target } => {
                self.answer(id, async move |clients| match catalog::models(&clients, &target).await {
                    Ok(models) => FromModel::Models { id, models },
                    Err(failure) => FromModel::Failed { id, failure },
                })
            }
            ToModel::Check { id, target } => self.answer(id, async move |clients| {
                let (latency_ms, failure) = check::check(&clients, &target).await;
                FromModel::Checked { id, latency_ms, failure }
            }),
            ToModel::Await { id, target, limit_ms } => self.answer(id, async move |clients| {
                let (latency_ms, failure) = ready::ready(&clients, &target, limit_ms).await;
                FromModel::Checked { id, latency_ms, failure }
            }),
            ToModel::Pull { id, target, model } => {
                let up = self.up.clone();
                self.answer(id, async move |clients| {
                    let told = |status: String, done, total| {
                        up.send(&FromModel::Pulling { id, status, done, total })
                    };
                    match pull::pull(&clients, &target, &model, told).await {
                        Ok(()) => FromModel::Pulled { id },
                        Err(failure) => FromModel::Failed { id, failure },
                    }
                })
            }
            ToModel::Detect { id, places } => self.answer(id, async move |clients| {
                let found = detect::detect(&clients, &places).await;
                FromModel::Detected { id, found }
            }),
            ToModel::Scale { id, image, longest } => self.answer(id, async move |_| {
                match tokio::task::spawn_blocking(move || pictures::scaled(image, longest)).await {
                    Ok(Some(image)) => FromModel::Scaled { id, image },
                    Ok(None) | Err(_) => FromModel::Failed {
                        id,
                        failure: failed(Cause::Refused, "no provider takes this picture"),
                    },
                }
            }),
            ToModel::Transcribe(asked) => self.answer(asked.id, async move |clients| {
                let id = asked.id;
                match transcribe::transcribe(&clients, asked).await {
                    Ok((text, usage)) => FromModel::Transcribed { id, text, usage },
                    Err(failure) => FromModel::Failed { id, failure },
                }
            }),
            ToModel::Count(chat) => self.answer(chat.id, async move |clients| {
                let id = chat.id;
                match count::count(&clients, &chat).await {
                    Ok(input_tokens) => FromModel::Counted { id, input_tokens },
                    Err(failure) => FromModel::Failed { id, failure },
                }
            }),
        }
    }

    fn chat(&self, chat: Chat) {
        let id = chat.id;
        if self.open.refuses(id) {
            let failure = failed(Cause::Refused, "too many requests to models are open; try again later");
            return self.up.event(id, Event::Error(failure));
        }
        let credit = Rc::new(Credit::new(chat.credit));
        let (up, clients, spent) = (self.up.clone(), self.clients.clone(), credit.clone());
        self.open.start(id, Some(credit), async move {
            if let Err(failure) = chat::perform(&clients, chat, &up, &spent).await {
                up.event(id, Event::Error(failure));
            }
        });
    }

    fn answer<F>(&self, id: u32, ask: F)
    where
        F: AsyncFnOnce(Rc<Clients>) -> FromModel + 'static,
    {
        if self.open.refuses(id) {
            let failure = failed(Cause::Refused, "too many requests to models are open; try again later");
            return self.up.send(&FromModel::Failed { id, failure });
        }
        let (up, clients) = (self.up.clone(), self.clients.clone());
        self.open.start(id, None, async move {
            let answer = ask(clients).await;
            up.send(&answer);
        });
    }
}
