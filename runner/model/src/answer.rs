//! Puts a provider's answer together into events: the same for all dialects.
//!
//! ```text
//!  text ─► thoughts? ─► Text | Reasoning          begin_call, arguments, end_call ─► ToolCallStart, …, ToolCallEnd
//!  finish(…) ─► open calls end, opaque parts, usage, End
//! ```
//!
//! Owns the ids of calls, their joined arguments, and the rule that there is one `End`, the last event. Half a call is never
//! ended: nobody runs a call that a limit has cut off. Characters whose halves came in two pieces are whole again in here.

use std::borrow::Cow;

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::model::{Cause, Event, Failure};
use harbor_ipc_proto::model::{Finish, Usage};
use serde::de::IgnoredAny;

use crate::failure::failed;
use crate::halves::{Halves, marked, unmarked};
use crate::names::Names;
use crate::thoughts::{TextPiece, Thoughts};

/// Calls of one answer.
const MAX_CALLS: usize = 256;

/// Bytes of the arguments of all calls of one answer.
const MAX_ARGUMENTS: usize = 16 * 1024 * 1024;

#[derive(Debug)]
struct Call {
    id: String,
    arguments: String,
    halves: Halves,
    ended: bool,
}

/// An answer that comes in.
#[derive(Debug)]
pub struct Answer {
    names: Names,
    /// Makes ids that no other answer has.
    nonce: String,
    thoughts: Option<Thoughts>,
    calls: Vec<Call>,
    argument_bytes: usize,
    usage: Usage,
    model: Option<String>,
    events: Vec<Event>,
    ended: bool,
    /// True if texts may hold marks of [`crate::halves`].
    has_marks: bool,
    text_halves: Halves,
    thought_halves: Halves,
}

impl Answer {
    /// An empty one. `nonce` is of no other answer; `marked`: thoughts may stand in the text between marks.
    #[must_use]
    pub(crate) fn new(names: Names, nonce: String, marked: bool) -> Self {
        Self {
            names,
            nonce,
            thoughts: marked.then(Thoughts::new),
            calls: Vec::new(),
            argument_bytes: 0,
            usage: Usage::default(),
            model: None,
            events: Vec::new(),
            ended: false,
            has_marks: false,
            text_halves: Halves::default(),
            thought_halves: Halves::default(),
        }
    }

    /// Lone halves of characters have come: from here on texts may hold their marks.
    pub(crate) fn set_marks(&mut self) {
        self.has_marks = true;
    }

    /// The events since the last time.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// True if `End` has come. Anything behind it does not belong to this answer.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The model that answers, once it is known.
    pub fn take_model(&mut self) -> Option<String> {
        self.model.take()
    }

    pub(crate) fn model(&mut self, model: &str) {
        if self.model.is_none() {
            let model: String = model.chars().take(200).collect();
            self.model = Some(self.plain(&model).into_owned());
        }
    }

    /// A text that came whole, without marks.
    fn plain<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.has_marks { unmarked(text).into() } else { text.into() }
    }

    pub(crate) fn text(&mut self, text: &str) {
        match self.has_marks {
            true => {
                let joined = self.text_halves.take(text);
                self.put_text(&joined);
            }
            false => self.put_text(text),
        }
    }

    fn put_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let events = &mut self.events;
        match &mut self.thoughts {
            Some(thoughts) => thoughts.take(text, &mut |piece| events.push(event(piece))),
            None => events.push(Event::Text(text.to_owned())),
        }
    }

    pub(crate) fn reasoning(&mut self, text: &str) {
        let text = if self.has_marks { self.thought_halves.take(text).into() } else { Cow::Borrowed(text) };
        if !text.is_empty() {
            self.events.push(Event::Reasoning(text.into_owned()));
        }
    }

    pub(crate) fn opaque(&mut self, json: String) {
        let json = if self.has_marks { unmarked(&json) } else { json };
        self.events.push(Event::Opaque(json));
    }

    /// True if a tool of this name was offered.
    pub(crate) fn is_offered(&self, wire_name: &str) -> bool {
        self.names.has(wire_name)
    }

    /// True if this is the name of a tool that was offered, and the beginning of no other one's.
    pub(crate) fn is_all_of_a_name(&self, wire_name: &str) -> bool {
        self.names.is_whole(wire_name)
    }

    /// A call begins; gives its number. An id that is missing or taken is made.
    pub(crate) fn begin_call(&mut self, id: Option<&str>, wire_name: &str) -> Result<usize, Failure> {
        self.flush();
        let number = self.calls.len();
        if number >= MAX_CALLS {
            return Err(failed(
                Cause::Protocol,
                format!("the model asked for more than {MAX_CALLS} calls at once"),
            ));
        }
        let is_free =
            |id: &&str| !id.is_empty() && id.len() <= 256 && !self.calls.iter().any(|call| call.id == *id);
        let made = || format!("call_{}_{number}", self.nonce);
        let id = id.filter(is_free).map_or_else(made, |id| self.plain(id).into_owned());
        let name = self.names.offered(&self.plain(wire_name));
        self.events.push(Event::ToolCallStart { call_id: id.clone(), name });
        self.calls.push(Call { id, arguments: String::new(), halves: Halves::default(), ended: false });
        Ok(number)
    }

    /// More of a call's arguments.
    pub(crate) fn arguments(&mut self, call: usize, text: &str) -> Result<(), Failure> {
        self.argument_bytes += text.len();
        if self.argument_bytes > MAX_ARGUMENTS {
            return Err(failed(Cause::Protocol, "the arguments of a call are too long"));
        }
        let Some(call) = self.calls.get_mut(call).filter(|call| !call.ended) else {
            return Ok(());
        };
        let text = if self.has_marks { call.halves.take(text).into() } else { Cow::Borrowed(text) };
        if !text.is_empty() {
            call.arguments.push_str(&text);
            let text = text.into_owned();
            self.events.push(Event::ToolCallArguments { call_id: call.id.clone(), text });
        }
        Ok(())
    }

    /// True if the arguments of a call, as they are now, are a whole JSON object.
    pub(crate) fn is_whole(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| is_object(&call.arguments))
    }

    /// A call is whole.
    pub(crate) fn end_call(&mut self, call: usize) {
        let Some(call) = self.calls.get_mut(call).filter(|call| !call.ended) else { return };
        call.ended = true;
        call.arguments.extend(call.halves.end());
        let arguments = match std::mem::take(&mut call.arguments) {
            none if none.trim().is_empty() || none.trim() == "null" => "{}".to_owned(),
            object if is_object(&object) => mended(object),
            other => Json::string(&other).as_str().to_owned(),
        };
        self.events.push(Event::ToolCallEnd { call_id: call.id.clone(), arguments });
    }

    /// Takes how many tokens were used. No conversation and no answer has 0 tokens, so 0 means that nobody counted.
    pub(crate) fn usage(&mut self, usage: Usage) {
        let counted = |tokens: Option<u64>| tokens.filter(|tokens| *tokens > 0);
        let (input_tokens, output_tokens) = (counted(usage.input_tokens), counted(usage.output_tokens));
        self.usage = Usage { input_tokens, output_tokens, ..usage };
    }

    /// The provider says that the answer is at its end. `opaque` are parts that are known only now.
    pub(crate) fn finish(&mut self, finish: Finish, raw: Option<&str>, opaque: Option<String>) {
        if self.ended {
            return;
        }
        self.flush();
        if matches!(finish, Finish::Stop | Finish::ToolCalls) {
            (0..self.calls.len()).for_each(|call| self.end_call(call));
        }
        let finish = match finish {
            // By the calls, whatever the word is.
            Finish::Stop | Finish::ToolCalls if self.calls.is_empty() => Finish::Stop,
            Finish::Stop | Finish::ToolCalls => Finish::ToolCalls,
            other => other,
        };
        opaque.into_iter().for_each(|json| self.opaque(json));
        self.tell_usage();
        let raw = raw.map(|raw| raw.chars().take(100).collect());
        self.events.push(Event::End { finish, raw });
        self.ended = true;
    }

    /// The answer broke off: what was held back is text, and what was used is told.
    pub(crate) fn break_off(&mut self) {
        self.flush();
        self.tell_usage();
    }

    fn tell_usage(&mut self) {
        if self.usage != Usage::default() {
            self.events.push(Event::Usage(self.usage));
        }
    }

    fn flush(&mut self) {
        if let Some(lone) = self.text_halves.end() {
            self.put_text(lone.encode_utf8(&mut [0; 4]));
        }
        if let Some(lone) = self.thought_halves.end() {
            self.events.push(Event::Reasoning(lone.into()));
        }
        let events = &mut self.events;
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.end(&mut |piece| events.push(event(piece)));
        }
    }
}

fn event(piece: TextPiece) -> Event {
    match piece {
        TextPiece::Text(text) => Event::Text(text),
        TextPiece::Thought(text) => Event::Reasoning(text),
    }
}

/// Arguments without a lone half of a character in them: no server could read them, and no provider would take them back.
fn mended(arguments: String) -> String {
    match marked(arguments.as_bytes()) {
        Cow::Borrowed(_) => arguments,
        Cow::Owned(marked) => String::from_utf8(marked).map_or(arguments, |marked| unmarked(&marked)),
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer::new(Names::default(), "n".into(), false)
    }

    fn start(id: &str) -> Event {
        Event::ToolCallStart { call_id: id.into(), name: "t".into() }
    }

    fn end(id: &str, arguments: &str) -> Event {
        Event::ToolCallEnd { call_id: id.into(), arguments: arguments.into() }
    }

    #[test]
    fn calls_decide_how_an_answer_ended() {
        let mut answer = answer();
        for id in [Some("a"), Some("a"), None] {
            answer.begin_call(id, "t").unwrap();
        }
        answer.arguments(1, "no \"json").unwrap();
        answer.finish(Finish::Stop, Some("stop"), None);
        let wanted = [
            start("a"),
            start("call_n_1"),
            start("call_n_2"),
            Event::ToolCallArguments { call_id: "call_n_1".into(), text: "no \"json".into() },
            end("a", "{}"),
            end("call_n_1", r#""no \"json""#),
            end("call_n_2", "{}"),
            Event::End { finish: Finish::ToolCalls, raw: Some("stop".into()) },
        ];
        assert_eq!(answer.take(), wanted);
        let mut none = self::answer();
        none.finish(Finish::ToolCalls, None, None);
        assert_eq!(none.take(), [Event::End { finish: Finish::Stop, raw: None }]);
    }

    #[test]
    fn who_says_that_nothing_was_used_has_not_counted() {
        let used = |input, output| {
            let mut answer = answer();
            answer.usage(Usage {
                input_tokens: Some(input),
                output_tokens: Some(output),
                ..Usage::default()
            });
            answer.finish(Finish::Stop, None, None);
            answer.take()
        };
        let end = Event::End { finish: Finish::Stop, raw: None };
        assert_eq!(used(0, 0), std::slice::from_ref(&end));
        let of_input = Usage { input_tokens: Some(3), ..Usage::default() };
        assert_eq!(used(3, 0), [Event::Usage(of_input), end]);
    }

    #[test]
    fn characters_that_came_in_halves_are_whole_and_marks_of_others_stay() {
        let mut answer = answer();
        answer.text("\u{10f83d}");
        answer.set_marks();
        answer.text("ok \u{10f83d}");
        answer.reasoning("\u{10f83d}");
        answer.text("\u{10fe00}");
        let call = answer.begin_call(Some("a"), "t").unwrap();
        answer.arguments(call, "{\"x\":\"\u{10f83d}").unwrap();
        answer.arguments(call, "\u{10fe00}\\ud83d\"}").unwrap();
        answer.finish(Finish::Stop, None, None);
        let text = |text: &str| Event::Text(text.into());
        let more = |text: &str| Event::ToolCallArguments { call_id: "a".into(), text: text.into() };
        let wanted = [
            text("\u{10f83d}"),
            text("ok "),
            text("😀"),
            Event::Reasoning("\u{fffd}".into()),
            start("a"),
            more("{\"x\":\""),
            more("😀\\ud83d\"}"),
            end("a", "{\"x\":\"😀\u{fffd}\"}"),
            Event::End { finish: Finish::ToolCalls, raw: None },
        ];
        assert_eq!(answer.take(), wanted);
    }

    #[test]
    fn what_a_limit_cut_off_is_no_call() {
        let mut answer = answer();
        let call = answer.begin_call(Some("a"), "t").unwrap();
        answer.arguments(call, "{\"x\":").unwrap();
        answer.finish(Finish::Length, None, None);
        answer.finish(Finish::Stop, None, None);
        let events = answer.take();
        assert!(!events.iter().any(|event| matches!(event, Event::ToolCallEnd { .. })));
        assert_eq!(events.last(), Some(&Event::End { finish: Finish::Length, raw: None }));
        assert_eq!(events.len(), 3);
    }
}
