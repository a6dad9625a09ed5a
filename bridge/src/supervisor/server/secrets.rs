//! The secrets of a server, from the disk into its start.
//!
//! ```text
//!  start (not of an installer) ─► store::secrets ─► missing ones? ─► environment of the launch
//!             │ locked, unreadable                  │ yes    └──► redactor: its log, its end, its progress
//!             │                                     └──► failed, and started when they are set
//!             └──► barred: not tried again, and started when they can be read
//! ```
//!
//! Owns a start's knowledge of them. Must never give them to an installer, nor to another server.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::{Launch, ToRunner};
use harbor_policy::credentials::Credentials;
use harbor_policy::environment::wrong_variable;
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::standing::Need;
use zeroize::Zeroize as _;

use super::Server;
use super::prepared::Unprepared;
use crate::link::{EndReport, MISSING_SECRETS};
use crate::store::StoreError;

impl Server {
    /// True if its definition needs secrets.
    fn needs_secrets(&self) -> bool {
        !self.definition().secrets.is_empty()
    }

    /// The secrets for its next start. If they cannot be read, only a server without secrets starts.
    pub(super) async fn secrets(&self) -> Result<Credentials, Unprepared> {
        let store = &self.runners().shared.secrets;
        let mut secrets = match store.of(self.id().as_str()).await {
            Ok(secrets) => secrets,
            Err(error) => {
                if self.needs_secrets() || store.may_have(self.id().as_str()).await {
                    let barred = Some(Box::new(barred(&error)));
                    return Err(Unprepared { barred, ..Unprepared::default() });
                }
                Credentials::default()
            }
        };
        self.secrets.withhold(&mut secrets);
        secrets.0.extend(self.identity.trial().into_iter().flat_map(|trial| trial.secrets.0.clone()));
        self.secrets.set_barred(false);
        let missing = secrets.missing(&self.definition().secrets);
        self.secrets.set_lacking(!missing.is_empty());
        match missing {
            missing if missing.is_empty() => Ok(secrets),
            missing => Err(Unprepared { missing, ..Unprepared::default() }),
        }
    }

    /// Secrets that were set before this time were given to another program of this name: this one does not get them until
    /// the person has accepted it.
    pub fn withhold_secrets(&self, until: Option<u64>) {
        self.secrets.set_since(until);
    }

    /// The thing that its start lacks and that the person has, so far as known.
    pub fn need(&self) -> Option<Need> {
        let at_its_end = || self.life.last_exit().and_then(|report| report.need());
        match self.secrets.are_lacking() {
            true => Some(Need::Key),
            // How it ended before is of no matter once a start of it may end otherwise.
            false if self.state() == State::Stopped => None,
            false => at_its_end(),
        }
    }

    /// Looks for the secrets that its definition names, so that a missing one is shown before the start.
    pub(in crate::supervisor) fn look_for_secrets(self: &Rc<Self>) {
        if !self.needs_secrets() {
            return;
        }
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let missing = server.missing_secrets().await;
            server.secrets.set_lacking(missing.is_ok_and(|missing| !missing.is_empty()));
        });
    }

    /// The secrets that its definition names and that it has not got; or why that cannot be known.
    async fn missing_secrets(&self) -> Result<Vec<String>, EndReport> {
        let (store, id) = (&self.runners().shared.secrets, self.id().as_str());
        match store.of(id).await {
            Ok(mut secrets) => {
                self.secrets.withhold(&mut secrets);
                Ok(secrets.missing(&self.definition().secrets))
            }
            Err(error) if self.needs_secrets() || store.may_have(id).await => Err(barred(&error)),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The reason against its next start, as far as can be known without one: secrets that it lacks, and a sentence.
    pub async fn cannot_start(&self) -> Option<(Vec<String>, String)> {
        match self.missing_secrets().await {
            Ok(missing) if missing.is_empty() => {}
            Ok(missing) => {
                let message = self.lacks(&missing).message.clone();
                return Some((missing, message));
            }
            Err(barred) => return Some((Vec::new(), barred.message)),
        }
        let none = |why| (Vec::new(), why);
        if let Err(report) = self.version_is_known() {
            return Some(none(report.message.clone()));
        }
        // It is held to nothing of this machine where it is remote.
        let held =
            if self.definition().remote.is_some() { None } else { Some(self.would_be_confined().await) };
        held.and_then(Result::err).map(none)
    }

    /// Gives up a start whose secrets cannot be read, until they can.
    pub(super) fn bar(self: &Rc<Self>, why: EndReport) {
        self.life.note_exit(Rc::new(why));
        self.secrets.set_barred(true);
        self.apply(LifecycleEvent::Barred);
    }

    /// Its secrets can be read now.
    pub(in crate::supervisor) fn unbar(self: &Rc<Self>) {
        if self.secrets.take_barred() && self.state() == State::Failed {
            self.apply(LifecycleEvent::Start);
        }
    }

    /// Starts it if it has failed for the lack of secrets that are there now. True if it does.
    pub fn has_secrets_now(self: &Rc<Self>, all: &Credentials) -> bool {
        let lacked = |report: &Rc<EndReport>| report.cause == MISSING_SECRETS;
        let waits = self.state() == State::Failed && self.life.last_exit().as_ref().is_some_and(lacked);
        let mut all = all.clone();
        self.secrets.withhold(&mut all);
        self.secrets.set_lacking(!all.missing(&self.definition().secrets).is_empty());
        let starts = waits && !self.secrets.are_lacking();
        if starts {
            self.apply(LifecycleEvent::Start);
        }
        starts
    }

    /// The end of a start that needs secrets which are not set.
    pub(super) fn lacks(&self, missing: &[String]) -> EndReport {
        let (id, first) = (self.id(), missing.first().map_or("KEY", String::as_str));
        let of_another = match self.secrets.since() {
            Some(_) => format!(
                "; its earlier secrets belong to another program of this name; `harbor accept {id}` gives them to this program"
            ),
            None => String::new(),
        };
        let (is, them) = if missing.len() == 1 { ("is", "it") } else { ("are", "them") };
        let message = format!(
            "it needs {}, which {is} not set; set {them}: `harbor secrets set {id} {first}`{of_another}",
            missing.join(", "),
        );
        EndReport::because(MISSING_SECRETS, message)
    }

    /// Puts them into a launch, and has them hidden from now on.
    pub(super) fn give(&self, secrets: &Credentials, launch: &mut Launch<'static>) {
        let mut variables = secrets.variables();
        // Whoever wrote the file by hand may have called one what no variable can be called.
        variables.retain(|name, value| wrong_variable(name, value.expose()).is_none());
        launch.env.retain(|(name, _)| !variables.contains_key(&**name));
        self.secrets.note_given(secrets, &[], variables.keys().cloned().collect());
        let pairs = variables.into_iter();
        launch.env.extend(pairs.map(|(name, value)| (name.into(), value.expose().to_owned().into())));
    }

    /// Has the secrets of a remote server hidden: its headers have them.
    pub(super) fn give_in_headers(&self, secrets: &Credentials, headers: &[(&str, &str)]) {
        let names = secrets.variables().into_keys().collect();
        self.secrets.note_given(secrets, headers, names);
    }

    /// The text without the secrets. None if it contains none.
    pub(super) fn without_secrets(&self, text: &str) -> Option<String> {
        let hidden = self.hidden(text.to_owned());
        (hidden != text).then_some(hidden)
    }

    /// A text without the secrets of its last start.
    pub(super) fn hidden(&self, text: String) -> String {
        self.secrets.hidden(&text)
    }
}

/// Overwrites the environment and the headers in a message that was sent.
pub(super) fn wipe(message: ToRunner<'static>) {
    if let ToRunner::Connect { launch, .. }
    | ToRunner::Run { launch, .. }
    | ToRunner::Authorize { launch, .. }
    | ToRunner::Revoke { launch, .. }
    | ToRunner::Renew { launch, .. } = message
    {
        let headers = launch.remote.into_iter().flat_map(|remote| remote.headers);
        for (_, value) in launch.env.into_iter().chain(headers) {
            value.into_owned().zeroize();
        }
    }
}

/// Why a start waits until its secrets can be read.
fn barred(error: &StoreError) -> EndReport {
    match error {
        StoreError::Locked(why) => {
            let message = format!("it needs its secrets: {why}; it starts when they are unlocked");
            EndReport::because("secrets_locked", message)
        }
        error => {
            let message = format!("it needs its secrets: could not {error}; it starts when they can be read");
            EndReport::because("secrets_unreadable", message)
        }
    }
}
