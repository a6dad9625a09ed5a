//! The tools that the bridge knows of this server, and whether calls of them fit.
//!
//! ```text
//!  FetchTools ─► pages ─► Tools up ─► schemas kept, as text
//!  CallTool ─► arguments ─► fit? ─no─► InvalidArguments, nothing is sent
//!  result ─► structuredContent ─► fits? ─no─► a line in the log; the result goes on as it is
//! ```
//!
//! Owns the schemas of the newest list that was fetched. One is compiled at the first call that needs it, and few stay
//! compiled: an idle runner is to stay small. Must never refuse a call because its own bounds leave something unchecked.
//! Must never refuse a result that came, since the server has done its work by then. Either is a line in the log, once for
//! each schema.

use harbor_ipc_proto::link::runner::{CallFailure, LogSource, Outcome, Tool};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Session;
use super::open::Fetch;
use super::schemas::{MAX_REASON, Side, cut, named};
use crate::mcp::param_headers;
use crate::mcp::schema::Mismatch;
use crate::mcp::tools::{LeftOut, object_schema, read_tools};

/// Larger structured results are not checked.
const MAX_STRUCTURED: usize = 64 * 1024;

impl Session {
    /// Answers `ListTools` with the items of the whole list.
    pub(super) fn reply_listed_tools(&self, id: u64, (items, count): (&str, u32), mut flaws: Vec<String>) {
        let Some((items, left_out)) = object_schema::completed(items) else {
            return self.reply_items(id, items, count, &flaws);
        };
        flaws.extend(object_schema::remark(&left_out));
        let left_out = u32::try_from(left_out.len()).unwrap_or(u32::MAX);
        self.reply_items(id, &items, count.saturating_sub(left_out), &flaws);
    }

    /// Answers `FetchTools` with the items of the whole list.
    pub(super) fn reply_tools(&self, id: u64, items: &str, fetch: Fetch, mut flaws: Vec<String>) {
        let (mut tools, mut left_out) = read_tools(items);
        if self.is_remote {
            leave_out_wrong_headers(&mut tools, &mut left_out);
        }
        if left_out.count > 0 {
            let (count, first) = (left_out.count, left_out.first);
            flaws.push(format!("{count} items of tools/list are left out; the first because {first}"));
        }
        flaws.extend(object_schema::remark(&object_schema::complete(&mut tools)));
        self.tools.borrow_mut().keep(&tools, fetch.check_output);
        let items = object_schema::completed(items).map_or(items.into(), |(items, _)| items.into());
        let flaws = self.told(&flaws);
        self.reply(id, Outcome::Tools { items, tools, flaws });
    }

    /// The headers that say parts of a call to a remote server; `line` is the call.
    pub(super) fn headers_of_call(&self, tool: &str, line: &[u8]) -> Vec<(String, String)> {
        #[derive(Deserialize)]
        struct Line<'a> {
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            arguments: &'a RawValue,
        }
        let tools = self.tools.borrow();
        let schema = tools.known.get(tool).and_then(|schemas| schemas.input.as_ref());
        let schema =
            schema.filter(|schema| param_headers::designated(&schema.text).is_ok_and(|all| !all.is_empty()));
        let Some(schema) = schema else { return Vec::new() };
        let arguments = serde_json::from_slice::<Line<'_>>(line).map(|line| line.params.arguments);
        arguments
            .map_or_else(|_| Vec::new(), |arguments| param_headers::of_call(&schema.text, arguments.get()))
    }

    /// The reason why a tool is not called with these arguments.
    pub(super) fn wrong_arguments(&self, tool: &str, arguments: &str) -> Option<CallFailure<'static>> {
        let Mismatch { path, why, .. } = self.mismatch(tool, Side::Input, arguments)?;
        Some(CallFailure::InvalidArguments { path: path.into(), why: why.into() })
    }

    /// The tool's name, if its result should be checked.
    pub(super) fn tool_with_output(&self, tool: &str) -> Option<Box<str>> {
        self.tools.borrow_mut().schema(tool, Side::Output).map(|_| tool.into())
    }

    /// Says in the log that a tool's result does not fit its schema. The schema's words tell where, since
    /// words of results are in no log.
    pub(super) fn remark_on_result(&self, tool: &str, result: &str) {
        // The list may have become another one since the call was sent.
        if self.tools.borrow_mut().schema(tool, Side::Output).is_none() {
            return;
        }
        let why = match structured(result) {
            Ok(None) => return,
            Ok(Some(content)) if content.len() > MAX_STRUCTURED => return,
            Ok(Some(content)) => match self.mismatch(tool, Side::Output, content) {
                None => return,
                Some(mismatch) if mismatch.rule.is_empty() => "a rule of the schema is broken".into(),
                Some(mismatch) => format!("the rule {} is broken", cut(&mismatch.rule, MAX_REASON)),
            },
            Err(why) => why.to_owned(),
        };
        let text =
            format!("a result of {} does not fit its outputSchema: {why}; Harbor passes it on", named(tool));
        let remark = self.tools.borrow_mut().schema(tool, Side::Output).and_then(|schema| schema.once(text));
        self.remark(remark);
    }

    fn remark(&self, remark: Option<String>) {
        if let Some(remark) = remark {
            self.up.log(self.number, LogSource::Runner, None, &remark);
        }
    }

    fn mismatch(&self, tool: &str, side: Side, data: &str) -> Option<Mismatch> {
        let checked = self.tools.borrow_mut().check(tool, side, data);
        self.remark(checked.remark);
        checked.wrong
    }
}

/// Tools of which no client may say which arguments go as headers.
fn leave_out_wrong_headers(tools: &mut Vec<Tool<'_>>, left_out: &mut LeftOut) {
    tools.retain(|tool| {
        let schema = tool.input_schema.as_deref().unwrap_or_default();
        let Err(why) = param_headers::designated(schema) else { return true };
        left_out.first = if left_out.count == 0 { why } else { left_out.first };
        left_out.count += 1;
        false
    });
}

/// The structured content of a result, as text. None if the tool failed.
fn structured(result: &str) -> Result<Option<&str>, &'static str> {
    #[derive(Deserialize)]
    struct StructuredResult<'a> {
        #[serde(rename = "structuredContent", borrow, default, deserialize_with = "even_null")]
        content: Option<&'a RawValue>,
        #[serde(rename = "isError", borrow)]
        is_error: Option<&'a RawValue>,
    }
    let said: StructuredResult<'_> =
        serde_json::from_str(result).map_err(|_| "it has structuredContent or isError twice")?;
    if said.is_error.is_some_and(|is_error| is_error.get() == "true") {
        return Ok(None);
    }
    said.content.map(|content| Some(content.get())).ok_or("it has no structuredContent")
}

/// A member that is there, whatever it is: null may be a tool's result.
fn even_null<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(value).map(Some)
}

#[cfg(test)]
mod tests;
