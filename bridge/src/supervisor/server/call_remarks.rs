//! The sentences beside the result of a call: nothing else says that a file was lost, or that it was the sandbox that refused.
//!
//! ```text
//!  its arguments ─► places that are not its own ─────────────┐
//!  what came: a failure, a timeout ─► what it was refused ───┴─► sentences
//! ```
//!
//! Owns looking for the places, and which sentences there are. Must never change the result, nor be told to a page: a sentence
//! names files of this machine.

use std::time::Duration;

use harbor_home::places::{is_directory, real};
use harbor_policy::sandbox::hint::{is_of_kernel, meant};
use harbor_policy::unreachable_places::{advised, find, its_own_refusal, of_arguments, told};
use harbor_policy::{browser_start, curated};

use super::Server;
use super::parts::confinement::Denied;

/// How long a disk may take for the places that arguments name.
const LOOK: Duration = Duration::from_secs(1);

/// The result of a call, as far as something is said beside it.
#[derive(Debug)]
pub enum RemarkedOutcome {
    /// A result.
    Result,
    /// A failure, in the server's words.
    Failed(String),
    /// Nothing, in its time.
    TimedOut,
}

impl Server {
    /// The sentences beside a result. None for a server that is confined by other means. `to_person` is false for a
    /// model, which may obey. A model gets no command for places that only the server names, since the server may lie.
    pub async fn beside(&self, arguments: &str, came: &RemarkedOutcome, to_person: bool) -> Vec<String> {
        let named = of_arguments(arguments);
        let is_trusted =
            |denied: &Denied| to_person || is_of_kernel(&denied.path) || named.contains(&denied.path);
        if !matches!(came, RemarkedOutcome::Result) {
            // A refusal that came just before the result is still looked at; a slow disk loses only the sentence.
            let _ = tokio::time::timeout(LOOK, self.confinement.settled()).await;
        }
        let denied = self.denied();
        let (mut said, is_failure) = match came {
            RemarkedOutcome::Result => (Vec::new(), false),
            RemarkedOutcome::TimedOut => (self.refusals(&denied, "", is_of_kernel, is_trusted), false),
            RemarkedOutcome::Failed(text) => match its_own_refusal(text, self.id().as_str()) {
                Some(own) => return vec![own],
                None => (self.on_failure(&denied, text, is_trusted), true),
            },
        };
        // Of what it speaks of itself there is a sentence already, or none helps.
        let is_told = |place: &String| is_failure && denied.iter().any(|denied| denied.path == *place);
        let places = named.iter().filter(|place| !is_told(place)).cloned().collect();
        said.extend(self.outside(places).await);
        said
    }

    fn on_failure(&self, denied: &[Denied], text: &str, is_trusted: impl Fn(&Denied) -> bool) -> Vec<String> {
        // It may be JSON.
        let mut said = self.refusals(denied, &text.replace("\\n", "\n"), |_| false, is_trusted);
        let entry = self.package.wanted().and_then(curated::of_package).map(|entry| entry.id);
        said.extend(browser_start::advice(text, self.id().as_str(), entry));
        said
    }

    fn refusals(
        &self,
        denied: &[Denied],
        text: &str,
        is_sure: fn(&str) -> bool,
        is_trusted: impl Fn(&Denied) -> bool,
    ) -> Vec<String> {
        let meant = meant(denied, text, |denied: &Denied| &denied.path, is_sure);
        let told = |denied: &Denied| match is_trusted(denied) {
            true => denied.told().sentence(self.id().as_str()),
            false => Some(format!(
                "it says that its sandbox refused it {}; `harbor sandbox {}` shows the person what would allow that",
                denied.path,
                self.id()
            )),
        };
        meant.into_iter().filter_map(told).collect()
    }

    /// A sentence for each of these places that the server does not have: what that means, and what would open it.
    async fn outside(&self, places: Vec<String>) -> Vec<String> {
        let Some(confined) = self.confined_by_grants().filter(|_| !places.is_empty()) else {
            return Vec::new();
        };
        let looked = tokio::task::spawn_blocking(move || {
            let look = |place: String| Some((find(&place, is_directory)?, real(&place), place));
            places.into_iter().filter_map(look).collect::<Vec<_>>()
        });
        let looked = tokio::time::timeout(LOOK, looked).await.ok().and_then(Result::ok).unwrap_or_default();
        let has = |place: &str| confined.profile.allows(place, false);
        let outside = looked.iter().filter(|(_, real, place)| !has(place) && !has(real));
        outside
            .map(|(found, _, place)| {
                told(self.id().as_str(), place, &advised(place, *found, &confined.facts))
            })
            .collect()
    }
}
