//! A tool call, from its caller to the tool's answer.
//!
//! ```text
//!  Caller ─► permission, allowlist ─► consent ─► server and tool ─► budget of the run ─► slot of the origin ─► slot
//!                                        ▲                                                                     │
//!                                        └── it is another call now ──┐                                        │
//!  result, or error ◄── server.call ◄── permit ◄── judged again, with the tool as it is ◄── the server runs ◄──┘
//! ```
//!
//! Owns the order of these steps, for every caller: the owner skips what only grants decide, nothing else. Everything
//! that a call holds on its way is a guard. A call is sent once. Only a call that its server refused unread, for its
//! headers, goes all the way once more. Must never look into arguments or results.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::consent::compact::compact;
use harbor_policy::consent::{Permit, Run};
use harbor_policy::limiter::CallLimits;
use harbor_policy::runs::Share;
use harbor_policy::scope::Scope;
use harbor_policy::slots::Slot;

use super::admission::{Entrant, OriginSlot};
use super::asker::{Asker, Caller};
use super::consent::requested_call::KnownTool;
use super::consent::{MOST_ASKED, changed_twice, holding};
use super::errors::ErrorReader;
use super::note::CallNote;
use super::origin_refusals::{rate_limited, revoked, tool_not_found};
use super::remarks_audience::Hears;
use super::running::Running;
use super::runs::Reserved;
use super::source::{self, ToolSource};
use super::tool_call::ToolCall;
use super::{Host, errors, remarks_audience, time_limit};
use crate::config::{Feature, OWNER, OriginLimits, ServerLimits};
use crate::link::{Failure, ServerAnswer, TimeLimit, Tool, ToolHash};
use crate::supervisor::UnansweredReason;

/// The answer of a tool.
#[derive(Debug)]
pub struct ToolAnswer {
    /// MCP's CallToolResult, as the source wrote it.
    pub result: Json,
    /// Notes for readers who may know of this machine: what the sandbox refused, which places the source does
    /// not have.
    pub beside: Vec<String>,
    /// How long the source took.
    pub took: Duration,
    /// The tool's hash at the time of the call. None if its source does not list its tools.
    pub hash: Option<ToolHash>,
}

/// Everything that a call holds on its way until it ends.
struct AdmittedCall {
    source: Rc<dyn ToolSource>,
    limit: TimeLimit,
    reader: ErrorReader,
    reserved: Option<Reserved>,
    /// A call of an origin, whose right may be taken back.
    running: Option<Running>,
    known: KnownTool,
    _slots: OriginSlots,
}

/// The call's places: among its origin's calls to one server, where that is limited, and among all of the origin's.
type OriginSlots = (Option<OriginSlot>, OriginSlot);

impl AdmittedCall {
    /// The source is asked now.
    fn begin(&self, note: &CallNote) {
        if let Some(reserved) = &self.reserved {
            reserved.set_spent(true);
        }
        note.set_asked();
    }

    /// The request counts as never made.
    fn take_back(self) {
        if let Some(reserved) = &self.reserved {
            reserved.set_spent(false);
        }
    }

    /// Ends the call, and notes it.
    fn end(
        self,
        note: CallNote,
        answer: Result<ServerAnswer, UnansweredReason>,
    ) -> Result<ToolAnswer, ErrorBody> {
        if let Some(reserved) = self.reserved.filter(|_| !was_sent(&answer)) {
            reserved.set_spent(false);
        }
        note.set_tool_failed(matches!(answer, Ok(ServerAnswer::ToolError(_))));
        let result = outcome(&self.source.id(), self.limit, answer, self.reader);
        note.ended(&result);
        Ok(ToolAnswer { result: result?, beside: Vec::new(), took: note.asked_for(), hash: note.hash() })
    }
}

/// A call that has come and is noted. Nothing has been done for it yet.
pub struct NotedCall {
    pub(super) caller: Caller,
    pub(super) call: ToolCall,
    /// The note; or the error for a caller that is only told that the source is at rest.
    pub(super) note: Result<CallNote, ErrorBody>,
}

impl Host {
    /// Notes that a call has come: from here on it is in the audit log, even if it is cancelled before it begins.
    #[must_use]
    pub fn note_call(self: &Rc<Self>, caller: Caller, mut call: ToolCall) -> NotedCall {
        if call.consent.chat.is_none() {
            call.consent.chat = self.consent.guarded(&caller);
            // Nothing is sent that the person would not be shown.
            if call.consent.chat.is_some() {
                call.arguments = compact(&call.arguments);
            }
        }
        if let Some(server) = call.source.as_server() {
            let party = call.audience.answerer.take();
            call.audience.answerer = self.with_model(server, &caller, &call.consent, party);
        }
        call.audience.page_search = self.page_search((&call.source, &call.tool), &caller, &call.consent);
        let source = self.sources.get(&call.source);
        let at_rest = source.as_ref().filter(|_| call.unless_stopped).and_then(|source| source.at_rest());
        let note = match at_rest {
            Some(at_rest) => Err(errors::unavailable(&call.source, &at_rest, ErrorReader::of(&caller))),
            None => Ok(CallNote::begin(self, &caller, &call, source.is_some())),
        };
        NotedCall { caller, call, note }
    }

    /// Makes a call. Every caller reaches a tool only by this function. If the future is dropped or its time
    /// ends, the source is told.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn call_tool(self: &Rc<Self>, noted: NotedCall) -> Result<ToolAnswer, ErrorBody> {
        let called = match self.steps_of(&noted.call) {
            Some(steps) => Box::pin(self.call_in_steps(noted, steps)).await,
            None => self.make_call(noted).await,
        };
        if called.is_ok() && self.trail.is_required() {
            Box::pin(self.trail.written()).await?;
        }
        called
    }

    pub(super) async fn make_call(
        &self,
        NotedCall { caller, call, note }: NotedCall,
    ) -> Result<ToolAnswer, ErrorBody> {
        let note = note?;
        self.may_begin(&caller, &call, &note).await?;
        self.begin_server(&caller, &call, &note).await?;
        let hears = remarks_audience::hears(&caller, call.run_id.is_some());
        let (mut way, mut answer) = self.put_to_source(&caller, &call, &note).await?;
        if wants_other_headers(&answer) && way.source.clone().relisted(&mut way.limit).await {
            // Nothing of it was done, and the tool may have changed: everything is
            // judged anew.
            way.take_back();
            (way, answer) = self.put_to_source(&caller, &call, &note).await?;
        }
        told(way, note, answer, call.arguments.as_str(), hears).await
    }

    /// Checks that the caller has the permission for the call; the person may give it now.
    pub(super) async fn may_begin(
        &self,
        caller: &Caller,
        call: &ToolCall,
        note: &CallNote,
    ) -> Result<(), ErrorBody> {
        if let Caller::Origin(asker) = caller
            && let Err(refusal) = self.may_call(asker, call)
        {
            let let_in = self.let_in(&call.wish(caller), asker, call.consent.form.clone(), refusal).await;
            if let Err(error) = let_in {
                Box::pin(note.refused(&error)).await;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Has a stopped server started for a caller that may have that; the person may allow it now.
    async fn begin_server(&self, caller: &Caller, call: &ToolCall, note: &CallNote) -> Result<(), ErrorBody> {
        let Caller::Origin(asker) = caller else { return Ok(()) };
        let started = self.have_started(&call.wish(caller), asker, call.consent.form.clone()).await;
        match &started {
            // Nobody has decided about it.
            Err(error) if error.code == Code::ServerUnavailable => note.failed(error),
            Err(error) => Box::pin(note.refused(error)).await,
            Ok(()) => {}
        }
        started
    }

    /// Asks the source, once everything lets the call be made.
    async fn put_to_source(
        &self,
        caller: &Caller,
        call: &ToolCall,
        note: &CallNote,
    ) -> Result<(AdmittedCall, Result<ServerAnswer, UnansweredReason>), ErrorBody> {
        let (mut way, slot, run) = self.cleared_way(caller, call, note).await?;
        // Kept only where a conversation reads the answer.
        let wished = call.consent.chat.clone().map(|chat| (chat, way.known.clone()));
        let permit = self
            .permit(caller.for_another_try(), call, run, &mut way)
            .inspect_err(|error| note.failed(error))?;
        way.begin(note);
        let operation = operation(&call.tool, &call.arguments, call.task.as_deref());
        let (source, held) = (way.source.clone(), (permit, slot));
        let answer = source::call(source, held, operation, way.limit, call.audience.clone());
        let answer = unless_ended(&call.source, way.running.as_ref(), answer).await;
        if let Some((chat, known)) = &wished {
            // Failed calls, too: the source may have written why.
            self.consent.reads(chat, (&call.source, &call.tool), &call.arguments, known);
        }
        let answer = answer.inspect_err(|error| note.failed(error))?;
        Ok((way, answer))
    }

    /// The way of a call that may be made. The person was asked where that was needed; nothing was held
    /// meanwhile.
    async fn cleared_way(
        &self,
        caller: &Caller,
        call: &ToolCall,
        note: &CallNote,
    ) -> Result<(AdmittedCall, Slot, Run), ErrorBody> {
        for _ in 0..=MOST_ASKED {
            let cleared = self.clear(&call.wish(caller), call.consent.form.clone(), call.patience()).await;
            if let Err(error) = cleared {
                Box::pin(note.refused(&error)).await;
                return Err(error);
            }
            let way = self.way(caller, call, note).await.inspect_err(|error| note.failed(error))?;
            if let Some(way) = way {
                return Ok(way);
            }
        }
        let error = changed_twice(&call.wish(caller));
        Box::pin(note.refused(&error)).await;
        Err(error)
    }

    /// Checks the permission before it checks that the tool exists, so that nobody can probe for names.
    fn may_call(&self, asker: &Asker, call: &ToolCall) -> Result<(), ErrorBody> {
        self.offers(asker, Feature::ToolCalling)?;
        self.permissions.check(asker, Scope::McpToolsCall, Some((&call.source, &call.tool))).map(drop)
    }

    /// Prepares a call: waits for its source, slot and consent. None if the person has to be asked about it
    /// as it is now.
    async fn way(
        &self,
        caller: &Caller,
        call: &ToolCall,
        note: &CallNote,
    ) -> Result<Option<(AdmittedCall, Slot, Run)>, ErrorBody> {
        self.trail.is_open()?;
        let reader = ErrorReader::of(caller);
        let source = self.resolve(caller, call)?;
        let limits = self.config.now().limits_of(accounted(caller));
        let mut limit = self.time_limit_of(call, &*source, &limits)?;
        let reserved = self.reserve(caller, call)?;
        let began = Instant::now();
        let looks = source.about(&call.wish(caller)).looks;
        let slots = self.origin_slots(caller, (&call.source, looks), &limits, limit, began).await;
        let queued = began.elapsed();
        limit.used += queued;
        note.set_queued(queued);
        let slots = slots?;
        let source = match caller {
            Caller::Owner(..) => source,
            Caller::Origin(asker) => {
                let own = source.clone().instance_for(asker.user(), &mut limit).await;
                own.map_err(|why| errors::no_instance(&call.source, &why, reader))?.unwrap_or(source)
            }
        };
        note.set_instance(source.instance());
        let slot = source.slot().ok_or_else(|| errors::too_many(&call.source))?;
        let ready = source.clone().ready(&mut limit).await;
        ready.map_err(|why| {
            errors::of_instance(errors::unavailable(&call.source, &why, reader), source.instance())
        })?;
        // A source that has just told of a new tool is about to be asked for its list.
        if source.tools().is_none_or(|tools| tools.get(&call.tool).is_none()) {
            source.clone().listed(&mut limit).await;
        }
        let holding = holding(&source, &call.wish(caller)).await;
        let files = source.clone().files(&call.wish(caller)).await;
        let hash = self.tool_as_it_is(caller, &*source, &call.tool)?;
        note.set_hash(hash);
        // What was allowed when the call came may have ended while it waited.
        self.trail.is_open()?;
        let wish = call.wish(caller);
        if wish.told.is_some() && wish.told != hash {
            return Ok(None);
        }
        let tools = source.tools();
        let tool = tools.as_ref().and_then(|tools| tools.get(&call.tool));
        let known = self.known_of(&wish, tool, (holding, files));
        let Some(run) = self.consent.run(&wish, &known) else { return Ok(None) };
        let way = AdmittedCall { source, limit, reader, reserved, running: None, known, _slots: slots };
        Ok(Some((way, slot, run)))
    }

    /// The permit for the call at this instant: it may run, and its caller has the right.
    fn permit(
        &self,
        caller: Caller,
        call: &ToolCall,
        run: Run,
        way: &mut AdmittedCall,
    ) -> Result<Permit, ErrorBody> {
        let right = match caller {
            Caller::Owner(_, right) => right,
            Caller::Origin(asker) => {
                let right = self.permissions.right(&asker, (&call.source, &call.tool));
                // The person may have let it in for this call alone.
                let caller = Caller::Origin(asker.clone());
                let right =
                    right.or_else(|refusal| self.consent.enter(&call.wish(&caller)).ok_or(refusal))?;
                let running = self.permissions.calls.begin(asker, call.source.clone(), call.tool.clone());
                way.running = Some(running);
                right
            }
        };
        Ok(run.permit(right))
    }

    /// Reserves the call in the run that it counts in.
    fn reserve(&self, caller: &Caller, call: &ToolCall) -> Result<Option<Reserved>, ErrorBody> {
        let (Some(run_id), Caller::Origin(asker)) = (&call.run_id, caller) else { return Ok(None) };
        let most = self.config.now().server_limits(call.source.as_str()).max_calls_per_run;
        let share = most.map(|most| Share { server: call.source.shared(), most });
        self.runs.reserve(asker, run_id, share).map(Some)
    }

    /// The source, unless it is already known that the tool cannot be called there.
    pub(super) fn resolve(&self, caller: &Caller, call: &ToolCall) -> Result<Rc<dyn ToolSource>, ErrorBody> {
        let source = self.sources.get(&call.source).ok_or_else(|| match caller {
            _ if call.source.kind() == SourceKind::Browser => errors::no_browser(&call.source),
            Caller::Owner(..) => self.unknown(&call.source),
            Caller::Origin(_) => tool_not_found(&call.source, &call.tool),
        })?;
        if source.tools().is_some() && !source.is_listing() {
            self.tool_as_it_is(caller, &*source, &call.tool)?;
        }
        Ok(source)
    }

    /// The call's time limit: the call's own, else the source's from the configuration, else the
    /// definition's, else the origin's.
    pub(super) fn time_limit_of(
        &self,
        call: &ToolCall,
        source: &dyn ToolSource,
        limits: &OriginLimits,
    ) -> Result<TimeLimit, ErrorBody> {
        let of_source = self.config.now().server_limits(call.source.as_str()).default_timeout;
        let own = source.default_time();
        let of_origin = limits.default_timeout.filter(|_| !own.is_set);
        let default = of_source.or(of_origin).unwrap_or(own.timeout);
        time_limit(default, call.time, call.audience.may_take_longer())
    }

    /// Waits for the origin's slots for a call that came at `began`. If a server has its own limit for each origin,
    /// the call waits for that slot first. So a call that waits for one server takes no slot from calls to others. Calls
    /// that only look at a page have slots of their own: looking waits for nothing that is done in another tab.
    pub(super) async fn origin_slots(
        &self,
        caller: &Caller,
        (id, looks): (&SourceId, bool),
        limits: &OriginLimits,
        limit: TimeLimit,
        began: Instant,
    ) -> Result<OriginSlots, ErrorBody> {
        let of_server = self.config.now().server_limits(id.as_str());
        let (entrant, of_origin) = (entrant(caller, id, &of_server), of_origin(limits));
        let named = entrant.origin;
        // No origin has a space in it.
        let looking = looks.then(|| format!("{named} looking"));
        let entrant = Entrant { origin: looking.as_deref().unwrap_or(named), ..entrant };
        let slots = async {
            let at_server = match at_server(caller, &of_server) {
                None => None,
                Some(concurrent) => {
                    let here = format!("{} {id}", entrant.origin);
                    let entrant = Entrant { origin: &here, server_per_minute: None, ..entrant };
                    let limits = CallLimits { concurrent, per_minute: None, ..of_origin };
                    Some(self.admission.enter(entrant, &limits, limit.quiet).await?)
                }
            };
            // One wait covers both.
            let most = limit.quiet.min(Duration::from_millis(limits.queue_wait_ms));
            let left = most.saturating_sub(began.elapsed());
            Ok((at_server, self.admission.enter(entrant, &of_origin, left).await?))
        };
        slots.await.map_err(|refusal| rate_limited(named, id, refusal))
    }

    /// The hash of the tool, if it may be called. If a source's tools cannot be listed, only the owner may call them.
    pub(super) fn tool_as_it_is(
        &self,
        caller: &Caller,
        source: &dyn ToolSource,
        name: &str,
    ) -> Result<Option<ToolHash>, ErrorBody> {
        let tools = source.tools();
        let is_owner = matches!(caller, Caller::Owner(..));
        let tool: Option<&Tool> = tools.as_ref().and_then(|tools| tools.get(name));
        match tool {
            Some(tool) if !is_owner => self.registry.admit(&source.id(), tool).map(|()| Some(tool.hash)),
            Some(tool) => Ok(Some(tool.hash)),
            None if is_owner && tools.is_none() => Ok(None),
            None => Err(tool_not_found(&source.id(), name)),
        }
    }
}

/// Ends a call, and adds its source's notes for a caller that reads them.
async fn told(
    way: AdmittedCall,
    note: CallNote,
    answer: Result<ServerAnswer, UnansweredReason>,
    arguments: &str,
    hears: Hears,
) -> Result<ToolAnswer, ErrorBody> {
    let (source, came) =
        (way.source.clone(), remarks_audience::came(&answer).filter(|_| hears != Hears::Nothing));
    let called = way.end(note, answer);
    let said = match &came {
        Some(came) => source.beside(arguments, came, hears == Hears::Person).await,
        None => Vec::new(),
    };
    match called {
        Ok(called) => Ok(ToolAnswer { beside: said, ..called }),
        Err(error) => Err(remarks_audience::with(error, &said)),
    }
}

/// Waits for the answer of a source. If the right to ask is taken back first, tells the source to stop.
pub(super) async fn unless_ended(
    id: &SourceId,
    running: Option<&Running>,
    answer: impl Future<Output = Result<ServerAnswer, UnansweredReason>>,
) -> Result<Result<ServerAnswer, UnansweredReason>, ErrorBody> {
    let Some(running) = running else { return Ok(answer.await) };
    tokio::select! {
        // First, because an answer that is there already is not given any more, either.
        biased;
        verdict = running.ended() => Err(revoked(id, &verdict)),
        answer = answer => Ok(answer),
    }
}

/// The entrant of a call to a source.
fn entrant<'a>(caller: &'a Caller, id: &'a SourceId, of_server: &ServerLimits) -> Entrant<'a> {
    let lane = match caller {
        Caller::Owner(sender, _) => sender.client,
        Caller::Origin(asker) => asker.lane(),
    };
    let server_per_minute = of_server.per_minute;
    Entrant { origin: accounted(caller), lane, server: id.as_str(), server_per_minute }
}

fn of_origin(limits: &OriginLimits) -> CallLimits {
    CallLimits {
        concurrent: limits.concurrent,
        queue: limits.queue,
        queue_wait_ms: limits.queue_wait_ms,
        per_minute: limits.per_minute,
    }
}

/// How many calls of one origin a server takes at once, if it has its own limit for that.
fn at_server(caller: &Caller, of_server: &ServerLimits) -> Option<u32> {
    of_server.concurrent.filter(|_| matches!(caller, Caller::Origin(_)))
}

fn operation<'a>(tool: &'a str, arguments: &'a str, task: Option<&'a str>) -> Operation<'a> {
    Operation::CallTool { name: tool.into(), arguments: arguments.into(), task: task.map(Into::into) }
}

/// The name under which a caller's calls are counted and limited.
pub(super) fn accounted(caller: &Caller) -> &str {
    caller.origin().map_or(OWNER, |origin| origin.as_str())
}

/// True if a remote server refused a call unread because its headers did not say what they have to say by now.
fn wants_other_headers(answer: &Result<ServerAnswer, UnansweredReason>) -> bool {
    const HEADER_MISMATCH: i64 = -32020;
    matches!(answer, Ok(ServerAnswer::ServerError { code: HEADER_MISMATCH, .. }))
}

/// True if the source may have got the call. An uncertain one counts as sent.
fn was_sent(answer: &Result<ServerAnswer, UnansweredReason>) -> bool {
    !matches!(
        answer,
        Err(UnansweredReason::NotSent(_) | UnansweredReason::NotPermitted)
            | Ok(ServerAnswer::Failed(
                Failure::NotConnected | Failure::Congested | Failure::InvalidArguments(..)
            ))
    )
}

/// The result or error of a request to a source.
pub(super) fn outcome(
    id: &SourceId,
    limit: TimeLimit,
    answer: Result<ServerAnswer, UnansweredReason>,
    reader: ErrorReader,
) -> Result<Json, ErrorBody> {
    match answer {
        Ok(
            ServerAnswer::Result(json)
            | ServerAnswer::ToolError(json)
            | ServerAnswer::Items(json, ..)
            | ServerAnswer::Tools(json, ..),
        ) => Ok(json),
        Ok(ServerAnswer::ServerError { code, message, data }) => {
            Err(errors::server_error(id, code, &message, data))
        }
        Ok(ServerAnswer::Failed(failure)) => Err(errors::no_answer(id, &failure, reader)),
        Err(UnansweredReason::NotSent(unavailable)) => Err(errors::unavailable(id, &unavailable, reader)),
        Err(UnansweredReason::Lost(why)) => Err(errors::lost(id, limit, &why, reader)),
        Err(UnansweredReason::Removed) => Err(errors::removed(id)),
        Err(UnansweredReason::NotPermitted) => Err(errors::not_permitted(id)),
    }
}
