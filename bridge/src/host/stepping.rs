//! A call that stands for several calls of the same source, one after the other.
//!
//! ```text
//!  permission for the call itself ─► step ─► a call like any other: permission, consent, limits, note ─► its answer
//!                                     ▲                                                                   │
//!                                     └────────────── the source goes on ◄────────────────────────────────┘
//! ```
//!
//! Owns the order, and the time of all together. Must never let a step be less than a call by itself, nor know what stops a source.

use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::envelope::ErrorBody;

use super::asker::Caller;
use super::calls::{NotedCall, accounted};
use super::errors::{self, ErrorReader};
use super::source::Steps;
use super::tool_call::{Consenting, ToolCall};
use super::{AskedTime, Host, ToolAnswer};
use crate::link::{Audience, Failure};

/// A step is not begun with less time than this.
const LEAST: Duration = Duration::from_millis(100);

impl Host {
    /// The steps of a call. None if it is one call itself.
    pub(super) fn steps_of(&self, call: &ToolCall) -> Option<Result<Box<dyn Steps>, Failure>> {
        self.sources.get(&call.source)?.steps(&call.tool, &call.arguments)
    }

    /// Makes the steps of a call.
    ///
    /// # Errors
    /// When the caller may not call it, or it is no list of steps. What fails in a step is in the result.
    pub(super) async fn call_in_steps(
        self: &Rc<Self>,
        NotedCall { caller, call, note }: NotedCall,
        steps: Result<Box<dyn Steps>, Failure>,
    ) -> Result<ToolAnswer, ErrorBody> {
        let note = note?;
        self.may_begin(&caller, &call, &note).await?;
        let begun = Instant::now();
        let prepared = self.prepared(&caller, &call, steps);
        let (mut steps, time) = prepared.inspect_err(|error| note.failed(error))?;
        while let Some((tool, arguments)) = steps.next() {
            let left = time.saturating_sub(begun.elapsed());
            if left < LEAST {
                steps.run_out();
                break;
            }
            let step = ToolCall { tool, arguments, ..next_of(&call, left) };
            let noted = self.note_call(caller.for_another_try(), step);
            let came = self.make_call(noted).await;
            steps.take(came.map(|answer| answer.result));
        }
        let result = Ok(steps.whole());
        note.ended(&result);
        Ok(ToolAnswer { result: result?, beside: Vec::new(), took: begun.elapsed(), hash: note.hash() })
    }

    fn prepared(
        &self,
        caller: &Caller,
        call: &ToolCall,
        steps: Result<Box<dyn Steps>, Failure>,
    ) -> Result<(Box<dyn Steps>, Duration), ErrorBody> {
        let source = self.resolve(caller, call)?;
        let limits = self.config.now().limits_of(accounted(caller));
        let time = self.time_limit_of(call, &*source, &limits)?.quiet;
        let steps =
            steps.map_err(|failure| errors::no_answer(&call.source, &failure, ErrorReader::of(caller)))?;
        Ok((steps, time))
    }
}

/// A call in the place of `call`, with the rest of its time.
fn next_of(call: &ToolCall, left: Duration) -> ToolCall {
    let Consenting { chat, call_id, form, .. } = call.consent.clone();
    let Audience { party, conversation, .. } = &call.audience;
    ToolCall {
        source: call.source.clone(),
        tool: call.tool.clone(),
        arguments: String::new(),
        task: None,
        time: AskedTime { timeout: u64::try_from(left.as_millis()).ok(), whole: None },
        run_id: call.run_id.clone(),
        unless_stopped: call.unless_stopped,
        audience: Audience {
            party: party.clone(),
            conversation: conversation.clone(),
            ..Audience::default()
        },
        // The model was told of the tool that stands for the step, not of the step's own.
        consent: Consenting { chat, told: None, call_id, form },
    }
}
