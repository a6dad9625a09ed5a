//! Requests to a server besides tool calls: resources, prompts, completions, and those that only the person makes.
//!
//! ```text
//!  Caller ─┬─ the person ───────────────────────────────────────────────┬─► slot of the server ─► judged again ─► permit ─► server.call ─► result
//!          └─ an origin ─► all tools of the server? ─► consent ─► slot ─┘
//! ```
//!
//! Owns the order of these steps, and what is written down. A server's offers besides tools go with all of its tools:
//! there is no way to allow one resource. Must never look into parameters or results.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::consent::facts::Holding;
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::EVERY;

use super::asker::{Asker, Caller, Sender};
use super::consent::requested_call::{KnownTool, RequestedCall};
use super::errors::{self, ErrorReader};
use super::origin_refusals::not_all_tools;
use super::source;
use super::traced::{Asking, method_of};
use super::{AskedTime, Consenting, Host, calls, time_limit};
use crate::config::OriginLimits;
use crate::link::Audience;
use crate::store::audit::AuditRecord;

impl Host {
    /// Asks a server for anything but a tool call, within the time that `asked` and its definition give. The
    /// server is told when the future is dropped or the time is over.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn ask(
        &self,
        caller: Caller,
        id: &ServerId,
        operation: Operation<'_>,
        asked: AskedTime,
        mut audience: Audience,
    ) -> Result<Json, ErrorBody> {
        let (event, asking) = (event_of(&operation), Asking::begin(self, &caller, id, &operation));
        let record = AuditRecord {
            by: caller.sender().by.clone(),
            origin: caller.origin().map(Origin::shared),
            server: Some(id.shared()),
            // MCP's name of the request. No log has its subject: a URI, a prompt,
            // arguments.
            message: method_of(&operation),
            ..AuditRecord::default()
        };
        if let Caller::Origin(asker) = &caller {
            self.may_use(asker, id, &record).await.inspect_err(|error| asking.ended(Err(error)))?;
        }
        if event.is_some() {
            self.trail.is_open().inspect_err(|error| asking.ended(Err(error)))?;
            let party = audience.answerer.take();
            audience.answerer = self.with_model(id.clone(), &caller, &Consenting::default(), party);
        }
        let result = self.ask_with_slots(caller, (id, operation), asked, audience, &asking).await;
        asking.ended(result.as_ref());
        if let Some(event) = event {
            self.trail.called(AuditRecord {
                event,
                decision: "allowed",
                code: result.as_ref().err().map(|error| error.code.as_str()),
                duration_us: Some(u64::try_from(asking.began().elapsed().as_micros()).unwrap_or(u64::MAX)),
                bytes_out: result.as_ref().ok().map(|json| json.as_str().len() as u64),
                ..record
            });
            if result.is_ok() && self.trail.is_required() {
                Box::pin(self.trail.written()).await?;
            }
        }
        result
    }

    /// True if the sender may use everything that a server offers: the person, and an AI client with a grant
    /// for all its tools.
    #[must_use]
    pub fn may_use_all(&self, sender: &Rc<Sender>, id: &ServerId) -> bool {
        let id = SourceId::from(id);
        let all = Some((&id, EVERY));
        sender.own.is_none()
            || Asker::new(sender, None, None, None)
                .is_ok_and(|asker| self.permissions.check(&asker, Scope::McpToolsCall, all).is_ok())
    }

    /// Writes down that the sender is asked a question during a call of this server.
    pub fn note_question(&self, sender: &Sender, server: Arc<str>, method: &'static str) {
        let (by, server) = (sender.by.clone(), Some(server));
        self.trail.called(AuditRecord {
            event: "question",
            decision: "allowed",
            by,
            server,
            message: Some(method),
            ..AuditRecord::default()
        });
    }

    /// Checks the permission before it checks that the server exists, so that nobody can probe for names.
    async fn may_use(&self, asker: &Asker, id: &ServerId, record: &AuditRecord) -> Result<(), ErrorBody> {
        let id = SourceId::from(id);
        let checked = self.permissions.check(asker, Scope::McpToolsCall, Some((&id, EVERY)));
        let Err(error) = checked else { return Ok(()) };
        let error = match error.code {
            Code::ToolNotAllowed if !self.suspended.has(&id) => not_all_tools(&asker.origin, &id),
            _ => error,
        };
        let (scope, code) = (Scope::McpToolsCall, error.code.as_str());
        self.note_decision(asker.origin.as_str(), scope, code);
        let record = AuditRecord {
            profile: Some(asker.profile.clone()),
            scope: Some(scope.as_str()),
            code: Some(code),
            ..record.clone()
        };
        self.trail.refused(&asker.sender, Some(asker.origin.as_str()), record).await;
        Err(error)
    }

    async fn ask_with_slots(
        &self,
        caller: Caller,
        (id, operation): (&ServerId, Operation<'_>),
        asked: AskedTime,
        audience: Audience,
        asking: &Asking<'_>,
    ) -> Result<Json, ErrorBody> {
        let (server, reader) = (self.server(id)?, ErrorReader::of(&caller));
        let id = &SourceId::from(id);
        let mut limit = time_limit(server.settings().call_timeout, asked, audience.may_take_longer())?;
        let guarded = self.consent.guarded(&caller);
        // A list tells its server nothing, but the client has read the answer.
        let chat = guarded.as_ref().filter(|_| event_of(&operation).is_some());
        let (method, arguments) =
            (Arc::from(method_of(&operation).unwrap_or_default()), arguments_of(&operation));
        let wish = |caller| RequestedCall {
            caller,
            chat,
            source: id,
            tool: &method,
            is_request: true,
            arguments: &arguments,
            told: None,
            call_id: None,
        };
        // Nothing is held while the person is asked.
        self.clear(&wish(&caller), None, limit.quiet).await?;
        let _slots = match &caller {
            Caller::Owner(..) => None,
            Caller::Origin(_) => {
                let limits: OriginLimits = self.config.now().limits_of(calls::accounted(&caller));
                let began = Instant::now();
                let slots = self.origin_slots(&caller, (id, false), &limits, limit, began).await;
                let queued = began.elapsed();
                limit.used += queued;
                asking.set_queued(queued);
                Some(slots?)
            }
        };
        let server = match &caller {
            Caller::Owner(..) => server,
            Caller::Origin(asker) => {
                let own = server.instance_for(asker.user(), &mut limit).await;
                own.map_err(|why| errors::no_instance(id, &why, reader))?.unwrap_or(server)
            }
        };
        let slot = server.slot().ok_or_else(|| errors::too_many(id))?;
        let source: Rc<dyn source::ToolSource> = server.clone();
        let holding = match guarded {
            Some(_) => source.clone().holding().await,
            None => Holding::UNKNOWN,
        };
        let known = KnownTool::of_request(holding);
        let run = self.consent.run_request(&wish(&caller), &known)?;
        // What was allowed when the request came may have ended while it waited.
        let (right, running) = match caller {
            Caller::Owner(_, right) => (right, None),
            Caller::Origin(asker) => {
                server.ready(&mut limit).await.map_err(|why| {
                    errors::of_instance(errors::unavailable(id, &why, reader), server.instance())
                })?;
                if event_of(&operation).is_some() {
                    self.trail.is_open()?;
                }
                let right = self.permissions.right(&asker, (id, EVERY))?;
                (right, Some(self.permissions.calls.begin(asker, id.clone(), EVERY.into())))
            }
        };
        let permit = run.permit(right);
        asking.set_asked();
        let answer = source::call(source, (permit, slot), operation, limit, audience);
        let answer = calls::unless_ended(id, running.as_ref(), answer).await;
        guarded.iter().for_each(|chat| self.consent.reads(chat, (id, &method), &arguments, &known));
        let answer = answer?;
        calls::outcome(id, limit, answer, reader)
    }
}

/// The content that a request carries to its server, as consent sees it; an empty object if it carries none.
fn arguments_of(operation: &Operation<'_>) -> String {
    let object = |members: &[(&str, Json)]| {
        let members: Vec<_> =
            members.iter().map(|(name, value)| format!("\"{name}\":{}", value.as_str())).collect();
        format!("{{{}}}", members.join(","))
    };
    match operation {
        Operation::ReadResource { uri } | Operation::Subscribe { uri } => {
            object(&[("uri", Json::string(uri))])
        }
        Operation::GetPrompt { name, arguments } => {
            object(&[("name", Json::string(name)), ("arguments", Json::from_valid(arguments.to_string()))])
        }
        Operation::Complete { argument, .. } => {
            object(&[("argument", Json::from_valid(argument.to_string()))])
        }
        Operation::Task { params, .. } => params.to_string(),
        _ => "{}".to_owned(),
    }
}

/// The event's name for the audit log. None for requests that only look.
fn event_of(operation: &Operation<'_>) -> Option<&'static str> {
    match operation {
        Operation::ReadResource { .. } => Some("read_resource"),
        Operation::GetPrompt { .. } => Some("get_prompt"),
        Operation::Complete { .. } => Some("complete"),
        Operation::Subscribe { .. } => Some("subscribe_resource"),
        Operation::Task { .. } => Some("task"),
        _ => None,
    }
}
