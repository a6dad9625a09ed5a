//! What is done with each line of the session, until the connection has ended.
//!
//! ```text
//!  request ─► a task of its own: exchange         notifications/cancelled ─► the task's end, which closes the answer;
//!  answer, notification ─► a task: note                                      older servers are told, too
//!  notifications/initialized ─► note, and then the session's own stream
//! ```
//!
//! Owns the tasks. Must never wait for one request before the next.

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{EndCause, Transport};
use reqwest::Method;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::connection::{Connection, NOTE_LIMIT};
use crate::exchange::COPIES;
use crate::held::FULL;
use crate::http::Ask;
use crate::outgoing::Outgoing;
use crate::renewing::Loss;

/// Requests that are open at once; further ones are refused.
const MAX_REQUESTS: usize = 256;

/// How long a server may take to take its leave.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// Bytes that a notification or an answer counts for at least: a server may ask faster than it lets itself be answered.
const MIN_NOTE: usize = 1024 * 1024;

impl Connection {
    /// Carries messages until the session ends or the connection is lost. Its tasks end with it.
    pub async fn run(self: Rc<Self>) -> EndCause<'static> {
        let Some(mut jobs) = self.waiting.take() else { return EndCause::Stopped };
        let mut tasks = JoinSet::new();
        if self.transport == Transport::Sse {
            self.go_by_events();
        }
        loop {
            tokio::select! {
                biased;
                () = self.ended.notified() => {
                    return self.cause.take().unwrap_or(EndCause::Stopped);
                }
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                Some(job) = jobs.recv() => drop(tasks.spawn_local(job)),
                lines = self.wire.next() => {
                    let Some(lines) = lines else {
                        tasks.abort_all();
                        self.leave().await;
                        return EndCause::Stopped;
                    };
                    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                        self.send(line, &mut tasks).await;
                    }
                }
            }
        }
    }

    async fn send(self: &Rc<Self>, line: &[u8], tasks: &mut JoinSet<()>) {
        let Some(out) = Outgoing::read(line) else { return };
        let line = line.to_vec();
        if let Some(id) = out.id {
            if self.requests.borrow().len() >= MAX_REQUESTS {
                return self.wire.lost(id, "too many requests are open");
            }
            self.greets.set(self.greets.get() || out.is("initialize"));
            self.keep(&out, &line);
            let task = tasks.spawn_local(self.clone().exchange(out, id, line));
            self.requests.borrow_mut().insert(id, task);
        } else if let Some(id) = out.cancels {
            let request = self.requests.borrow_mut().remove(&id);
            if let Some(request) = request {
                request.abort();
            }
            if self.revision.borrow().is_some() {
                tasks.spawn_local(self.clone().note(out, line));
            }
        } else if out.is("notifications/initialized") {
            // What follows may depend on it.
            self.clone().note(out, line).await;
            if !self.goes_by_events() {
                tasks.spawn_local(self.clone().stand());
            }
        } else {
            tasks.spawn_local(self.clone().note(out, line));
        }
    }

    /// Keeps what another session begins with.
    fn keep(&self, out: &Outgoing, line: &[u8]) {
        let known = || (out.clone(), line.to_vec());
        let subject = out.subject.as_deref().unwrap_or_default();
        match out.method.as_deref() {
            Some("initialize") => *self.greeting.borrow_mut() = Some(known()),
            Some("resources/subscribe") => drop(self.kept.borrow_mut().insert(subject.to_owned(), known())),
            Some("resources/unsubscribe") => drop(self.kept.borrow_mut().remove(subject)),
            Some("logging/setLevel") => drop(self.kept.borrow_mut().insert(String::new(), known())),
            _ => {}
        }
    }

    /// Posts what has no answer.
    async fn note(self: Rc<Self>, out: Outgoing, line: Vec<u8>) {
        let mut share = self.held.share();
        if share.take(MIN_NOTE + COPIES * line.len()).is_err() {
            if !self.overwhelmed.replace(true) {
                self.wire.remark(FULL);
            }
            return;
        }
        let session = self.session();
        let mut answer = match timeout(NOTE_LIMIT, self.post(&out, &line)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(trouble)) if !trouble.broken => return self.end(trouble.end()),
            Ok(Err(_)) | Err(_) => {
                return self.wire.remark("a notification or an answer may not have reached the server");
            }
        };
        let status = answer.status();
        if status.is_success() {
            return;
        }
        let body = self.error_body(&mut answer).await;
        if session.is_some() && Loss::of(status, &body, true) == Some(Loss::Said) {
            self.add(Box::pin(self.clone().renew_or_end(session)));
        } else {
            self.wire
                .remark(&format!("the server refused a notification or an answer: HTTP {}", status.as_u16()));
        }
    }

    /// Tells the server that its session is over.
    async fn leave(&self) {
        if self.session().is_none() {
            return;
        }
        let (url, headers) = (self.http.url().clone(), self.session_headers());
        // Servers need not offer this.
        let _ = timeout(LEAVE_LIMIT, self.http.ask(Ask { method: Method::DELETE, url, headers, body: None }))
            .await;
    }
}
