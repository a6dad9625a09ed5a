//! The answers that stand: taken, listed, taken back.
//!
//! Owns two promises: a yes for always is on disk, and an answer that is taken back covers nothing from that instant on,
//! even if the disk cannot note that.

use std::sync::Arc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Approval, Sampling, StandingAnswer};
use harbor_ipc_proto::codes::Code;
use harbor_policy::consent::answers::{A_WHILE, Cover, RememberedAnswer};
use harbor_policy::consent::{Names, Who};

use super::asking::{Decision, QuestionSubject};
use super::requested_call::{QuestionedCall, RequestedCall};
use super::{Consent, plans};
use crate::host::asker::{Asker, Caller, Sender};
use crate::host::{Host, invalid};
use crate::store::audit::AuditRecord;
use crate::store::consent::StandingApproval;

impl Consent {
    /// A yes to a call stands from now on; one for always is stored.
    pub(super) async fn take(&self, wanted: &QuestionedCall, cover: Cover, shown: Names) {
        let id = random_token().unwrap_or_default();
        let answer = RememberedAnswer::to(&wanted.call(), cover, Some(shown), id, boot_clock());
        let stored = self.stored(wanted, cover);
        self.answers.borrow_mut().add(answer);
        if let Some(always) = stored
            && let Err(error) = self.tables.put(always).await
        {
            tracing::warn!(%error, "a yes for always is not stored: it holds until the bridge ends");
        }
    }

    fn stored(&self, wanted: &QuestionedCall, cover: Cover) -> Option<StandingApproval> {
        let hash = wanted.known.hash.filter(|_| cover == Cover::Always)?;
        let tool = format!("{}/{}", wanted.source, wanted.tool);
        Some(StandingApproval { principal: wanted.principal.to_string(), tool, hash, at: wall_clock() })
    }

    /// A no to a call stands.
    pub(super) fn deny(&self, wanted: &QuestionedCall) {
        let until = (!wanted.in_turn).then(|| boot_clock().saturating_add(A_WHILE));
        self.answers.borrow_mut().deny(&wanted.call(), until);
    }

    /// Notes that private names lie in a closed store. If the disk refuses, the note lasts only until the bridge ends.
    pub(super) fn store_carried(&self, source: String, names: Names) {
        let tables = self.tables.clone();
        tokio::task::spawn_local(async move {
            if let Err(error) = tables.carry(&source, names).await {
                tracing::warn!(%error, server = source, "what lies in its store is known until the bridge ends only");
            }
        });
    }

    /// The questions that wait or were missed, the oldest first, and the answers that stand, the newest
    /// first.
    #[must_use]
    pub fn all(&self) -> (Vec<Approval>, Vec<StandingAnswer>) {
        let waiting = self.questions.all().iter().map(|asked| asked.view()).collect();
        let (answers, now) = (self.answers.borrow(), boot_clock());
        let mut standing: Vec<_> = answers.standing(now).map(|answer| view(answer, now)).collect();
        standing.reverse();
        standing.extend(answers.plans.standing().map(|plan| plans::view(plan, now)));
        standing.extend(self.never.borrow().iter().map(|(principal, source)| never(principal, source)));
        (waiting, standing)
    }

    /// A question, with its arguments in full.
    #[must_use]
    pub fn question(&self, id: &str) -> Option<(Approval, String)> {
        self.questions.find(id).map(|asked| (asked.view(), asked.subject.arguments().to_owned()))
    }

    /// Takes answers back: those with this id or about this subject, or all answers if `named` is none. Returns their number.
    ///
    /// # Errors
    /// When the disk still has one: it would stand again when the bridge starts.
    pub async fn revoke(&self, named: Option<&str>) -> Result<u32, ErrorBody> {
        let is_meant = |answer: &RememberedAnswer| match named {
            None => true,
            Some(named) => {
                answer.id == named
                    || answer.principal == named
                    || answer.source == named
                    || answer.chat.as_deref() == Some(named)
                    || named.split_once('/') == Some((&answer.source, &answer.tool))
            }
        };
        let gone = self.answers.borrow_mut().revoke(is_meant);
        let planned = self.answers.borrow_mut().plans.revoke(|plan| {
            let names = [&plan.id, &plan.principal, &plan.chat];
            named.is_none_or(|named| names.into_iter().chain(&plan.plan.servers).any(|name| name == named))
        });
        for answer in gone.iter().filter(|answer| answer.cover == Cover::Always) {
            let tool = format!("{}/{}", answer.source, answer.tool);
            let removed = self.tables.remove(&answer.principal, &tool);
            removed.await.map_err(|error| {
                ErrorBody::new(Code::Internal, format!("{error}; Harbor asks again until the bridge ends"))
            })?;
        }
        let reopened = self.reopen(named).await?;
        Ok(u32::try_from(gone.len() + planned + reopened).unwrap_or(u32::MAX))
    }

    /// Lets the person be asked again about a source that a client never gets. Returns the number of such sources.
    async fn reopen(&self, named: Option<&str>) -> Result<usize, ErrorBody> {
        let is_meant = |(principal, source): &&(String, String)| {
            named.is_none_or(|named| {
                named == never_id(principal, source) || named == principal || named == source
            })
        };
        let meant: Vec<_> = self.never.borrow().iter().filter(is_meant).cloned().collect();
        for (principal, source) in &meant {
            let stored = self.tables.set_never(principal, source, false).await;
            stored.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))?;
            self.never.borrow_mut().remove(&(principal.clone(), source.clone()));
        }
        Ok(meant.len())
    }

    /// Forgets a source that is gone: answers about it no longer stand, and its store counts as empty.
    pub fn forget_source(&self, source: &str) {
        self.answers.borrow_mut().forget(|_, of| of == source);
        self.carried.borrow_mut().remove(source);
        let (tables, source) = (self.tables.clone(), source.to_owned());
        tokio::task::spawn_local(async move {
            if let Err(error) = tables.forget(&source).await {
                tracing::warn!(%error, server = source, "the answers about it are still on disk");
            }
        });
    }
}

/// The id of the answer "never". It names client and source, since there is one for each pair.
fn never_id(principal: &str, source: &str) -> String {
    format!("never:{principal}:{source}")
}

fn never(principal: &str, source: &str) -> StandingAnswer {
    StandingAnswer {
        id: never_id(principal, source),
        covers: "never".into(),
        principal: principal.to_owned(),
        session_id: None,
        what: source.to_owned(),
        private: Vec::new(),
        since: 0,
        until: None,
    }
}

fn view(answer: &RememberedAnswer, now: u64) -> StandingAnswer {
    let at = |time: u64| wall_clock().saturating_sub(now.saturating_sub(time));
    let is_of_source = matches!(answer.cover, Cover::ChatServer | Cover::Flow | Cover::Pair);
    StandingAnswer {
        id: answer.id.clone(),
        covers: answer.cover.word().into(),
        principal: answer.principal.clone(),
        session_id: answer.chat.clone(),
        what: if is_of_source { answer.source.clone() } else { format!("{}/{}", answer.source, answer.tool) },
        private: answer.private.iter().flatten().cloned().collect(),
        since: if answer.cover == Cover::Always { answer.since } else { at(answer.since) },
        until: answer.until.map(|until| wall_clock().saturating_add(until.saturating_sub(now))),
    }
}

impl Host {
    /// Writes down the person's answer to a question about a call of an origin. The answer holds even if it
    /// cannot be written down.
    pub(super) async fn note_decision_of(&self, wish: &RequestedCall<'_>, decision: &Decision) {
        let Caller::Origin(asker) = wish.caller else { return };
        let outcome = match decision {
            Decision::Yes(_) => "allowed",
            Decision::No(_) | Decision::Never => "denied",
            Decision::Silence | Decision::Nobody => "dismissed",
        };
        // Questions in a run are written down with its turn.
        if wish.who() != Who::Run {
            let tools = vec![format!("{}/{}", wish.source, wish.tool)];
            let _ = self.note_consent(asker, Some(tools), outcome).await;
        }
    }

    /// Writes down the person's answer to a question of an origin. The answer grants nothing, so it is told
    /// even if the log cannot be written.
    ///
    /// # Errors
    /// When it cannot be written and has to be.
    pub async fn note_consent(
        &self,
        asker: &Asker,
        tools: Option<Vec<String>>,
        outcome: &'static str,
    ) -> Result<(), ErrorBody> {
        let record = AuditRecord {
            origin: Some(asker.origin.shared()),
            profile: Some(asker.profile.clone()),
            tab_id: asker.tab.as_ref().map(|tab| tab.tab),
            asked_tools: tools.map(Into::into),
            decision: if outcome == "allowed" { "allowed" } else { "denied" },
            outcome: Some(outcome),
            ..AuditRecord::default()
        };
        self.trail.decided("consent", &asker.sender, record, false).await
    }

    /// Takes an answer to a question; true if there is such a question. A yes to a missed question counts
    /// when the same call comes again.
    ///
    /// # Errors
    /// When the question does not offer this answer, or it cannot be stored.
    pub async fn answer_question(
        &self,
        id: &str,
        answer: &str,
        reason: Option<String>,
    ) -> Result<bool, ErrorBody> {
        let questions = &self.consent.questions;
        let Some(asked) = questions.find(id) else { return Ok(false) };
        if !asked.approval.answers.iter().any(|offered| offered == answer) {
            let expected = asked.approval.answers.join(", ");
            let message = format!("field `answer`: expected one of {expected}");
            return Err(ErrorBody::new(Code::InvalidParams, message).with("field", "answer"));
        }
        let decision = match (Cover::of(answer), answer) {
            (Some(cover), _) => Decision::Yes(cover),
            (None, "never") => Decision::Never,
            (None, _) => Decision::No(reason),
        };
        let Some((asked, waits)) = questions.answer(id, &decision) else { return Ok(false) };
        // A plan that nobody waits for is over with its turn.
        let QuestionSubject::Call(wanted) = &asked.subject else { return Ok(true) };
        match (decision, &asked.asker) {
            _ if waits => {}
            (decision @ (Decision::Yes(Cover::Always) | Decision::Never), _) if asked.is_about_model() => {
                let word = if decision == Decision::Never { Sampling::Deny } else { Sampling::Allow };
                self.keep_sampling(&wanted.source, asked.client, word).await?;
            }
            (Decision::Yes(Cover::Always), Some(asker)) if asked.is_about_reading() => {
                self.give_model(asker).await?;
            }
            (decision, Some(asker)) if asked.is_first_use() => {
                // A no is told to whoever waits, and nobody does.
                let _ = self.take_first_use(asker, wanted, &decision).await;
            }
            (decision, Some(asker)) if asked.is_about_start() => {
                let source = self.sources.get(&wanted.source);
                if let (Decision::Yes(cover), Some(source)) = (decision, source) {
                    self.take_start(asker, &source, cover).await?;
                }
            }
            (Decision::Yes(cover), _) => {
                let shown = asked.shown.clone().unwrap_or_default();
                self.consent.take(wanted, cover, shown).await;
            }
            _ => self.consent.deny(wanted),
        }
        Ok(true)
    }

    /// Takes answers back on behalf of the person.
    ///
    /// # Errors
    /// When that cannot be written down, or stored.
    pub async fn revoke_answers(&self, sender: &Sender, named: Option<&str>) -> Result<u32, ErrorBody> {
        if named.is_some_and(str::is_empty) {
            return Err(invalid("approval_id", "an id, `server/tool`, a server, an origin or a session"));
        }
        let record = AuditRecord { tool: named.map(Arc::from), ..AuditRecord::default() };
        // Before it is written down: allowing less is always possible.
        let revoked = self.consent.revoke(named).await;
        self.trail.decided("approvals_revoke", sender, record, false).await?;
        revoked
    }
}
