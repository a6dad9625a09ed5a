//! A request from its first attempt to the head of a good answer.
//!
//! ```text
//!  ask ─┬─ head ────────────────────────────────────► the answer
//!       ├─ silent, and the program loads the model ─► told once ─► waited for
//!       ├─ refused, since it loads the model ───────► told once ─► once more, until it is loaded
//!       ├─ refused for one tool, or a setting ──────► once more without it; settings are told at the end
//!       └─ passes? ─► told ─► pause ────────────────► once more
//! ```
//!
//! Owns what is tried again. Must never be asked once a byte of an answer has come: it could cost twice, and say something else.

use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::time::Duration;

use harbor_ipc_proto::link::model::{Chat, Event, Failure};
use reqwest::Response;
use tokio::time::{sleep, timeout};

use crate::clock::Clock;
use crate::dialect::{self, Prepared};
use crate::errors::refused_tool;
use crate::names::wire_name;
use crate::provider_http::{Refusal, Way};
use crate::to_bridge::Up;
use crate::{loading, retry, settings};

/// After so long a silence a local program is asked whether it loads the model.
const LOOK: Duration = Duration::from_millis(500);

/// The pause before a program that loads its model is asked again.
const AGAIN: Duration = Duration::from_millis(500);

/// A request under way.
#[derive(Debug)]
pub struct Asking<'a> {
    /// The way to its provider.
    pub way: &'a Way,
    /// Its limits.
    pub clock: &'a Clock,
    /// The way to the bridge.
    pub up: &'a Up,
    /// True if the bridge was told that the model is loaded first.
    pub told_loading: bool,
}

impl Asking<'_> {
    /// The head of a good answer, and the tools that had to be left out for it.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn head(&mut self, chat: &mut Chat) -> Result<(Response, Vec<String>), Failure> {
        let (mut dropped, mut attempt) = (Vec::new(), 0);
        chat.options
            .refused
            .clone()
            .into_iter()
            .for_each(|setting| settings::leave_out(&mut chat.options, setting));
        let known = chat.options.refused.len();
        loop {
            let refusal = match self.posted(chat).await? {
                Ok(answer) => {
                    let refused = chat.options.refused.split_off(known);
                    if !refused.is_empty() {
                        self.up.event(chat.id, Event::Refused(refused));
                    }
                    return Ok((answer, dropped));
                }
                Err(refusal) => refusal,
            };
            if let Some(setting) = settings::refused(chat, &refusal) {
                chat.options.refused.push(setting);
                settings::leave_out(&mut chat.options, setting);
                continue;
            }
            if loading::is_said(&refusal.failure) && self.clock.has_time() {
                self.tell_loading(chat.id);
                sleep(AGAIN).await;
                continue;
            }
            if refusal.failure.status == Some(400) && dropped.is_empty() {
                let names: Vec<String> = chat.tools.iter().map(|tool| wire_name(&tool.name)).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                if let Some(at) = refused_tool(&refusal.about, &refusal.failure.message, &names) {
                    dropped.push(chat.tools.remove(at).name);
                    continue;
                }
            }
            let Some(pause) = retry::pause(attempt, &refusal.failure, refusal.says_retry, share()) else {
                return Err(refusal.failure);
            };
            self.up.event(chat.id, Event::Waiting(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)));
            self.clock.within(sleep(pause)).await?;
            attempt += 1;
        }
    }

    /// One attempt. A program that loads the model first is waited for as long as it does.
    async fn posted(&mut self, chat: &Chat) -> Result<Result<Response, Refusal>, Failure> {
        let Prepared { path, body, accept } = dialect::prepare(chat)?;
        let way = self.way;
        let mut post = pin!(way.post(way.endpoint(&path), body, accept));
        while loading::is_known(chat) && self.clock.has_time() {
            if let Ok(answered) = timeout(LOOK.min(self.clock.idle()), &mut post).await {
                return Ok(answered);
            }
            tokio::select! {
                answered = &mut post => return Ok(answered),
                loads = loading::loads(way, chat) => match loads {
                    true => self.tell_loading(chat.id),
                    false => break,
                },
            }
        }
        self.clock.within(post).await
    }

    fn tell_loading(&mut self, id: u32) {
        if !std::mem::replace(&mut self.told_loading, true) {
            self.up.event(id, Event::Loading);
        }
    }
}

/// A random share, of 0 to 1.
pub(crate) fn share() -> f64 {
    let random = RandomState::new().hash_one(0u8);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}
