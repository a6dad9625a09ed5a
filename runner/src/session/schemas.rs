//! The schemas of the newest list of tools, compiled when a call needs them.
//!
//! Must never hold more compiled ones than its limits.

use std::collections::HashMap;

use harbor_ipc_proto::link::runner::Tool;

use crate::mcp::schema::{Checker, Mismatch, Verdict, any_object_fits};
use crate::mcp::tasks::is_required;

/// Schemas that stay compiled at most, and patterns that they may have together.
pub(super) const MAX_COMPILED: usize = 32;

pub(super) const MAX_PATTERNS: usize = 100;

/// The bytes of a server's own text in a log line: of a tool's name, and of a fault.
pub(super) const MAX_NAME: usize = 60;

pub(super) const MAX_REASON: usize = 140;

/// The tools of the newest list, by name.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pub(super) known: HashMap<Box<str>, Schemas>,
    /// Counts checks, so that the schema can be found which was used the longest ago.
    pub(super) clock: u64,
}

impl Tools {
    /// Replaces all tools. A schema whose text stays the same keeps its state, so that a server that sends
    /// its list again and again causes no new remarks.
    pub(super) fn keep(&mut self, tools: &[Tool<'_>], check_output: bool) {
        let mut before = std::mem::take(&mut self.known);
        for tool in tools {
            let old = before.remove(tool.name.as_ref());
            let (input, output) = old.map_or((None, None), |old| (old.input, old.output));
            let output_text = tool.output_schema.as_deref().filter(|_| check_output);
            let schemas = Schemas {
                input: tool.input_schema.as_deref().map(|text| Schema::again(input, text)),
                output: output_text.map(|text| Schema::again(output, text)),
                needs_task: is_required(tool.more.as_deref()),
            };
            self.known.insert(tool.name.as_ref().into(), schemas);
        }
    }

    /// True if a tool can only be called as a task.
    pub(super) fn needs_task(&self, tool: &str) -> bool {
        self.known.get(tool).is_some_and(|known| known.needs_task)
    }

    pub(super) fn schema(&mut self, tool: &str, side: Side) -> Option<&mut Schema> {
        let schemas = self.known.get_mut(tool)?;
        match side {
            Side::Input => schemas.input.as_mut(),
            Side::Output => schemas.output.as_mut(),
        }
    }

    /// Checks `data`; what is not known of a tool fits.
    pub(super) fn check(&mut self, tool: &str, side: Side, data: &str) -> Checked {
        self.clock += 1;
        let now = self.clock;
        let Some(schema) = self.schema(tool, side) else { return Checked::default() };
        let (was_compiled, mut checked) = (schema.is_compiled(), Checked::default());
        if let Err(why) = schema.prepare(side, now) {
            checked.remark = schema.once(format!(
                "{} of {} are not checked: {}",
                side.what(),
                named(tool),
                cut(&why, MAX_REASON)
            ));
        }
        if let State::Compiled(checker, used) = &mut schema.state {
            *used = now;
            match checker.check(data) {
                Verdict::Fits => {}
                Verdict::Wrong(mismatch) => checked.wrong = Some(mismatch),
                Verdict::NotChecked(why) => {
                    let remark = format!("{} of {} were not checked: {why}", side.what(), named(tool));
                    checked.remark = schema.once(remark);
                }
            }
        }
        let is_compiled = self.schema(tool, side).is_some_and(|schema| schema.is_compiled());
        if is_compiled && !was_compiled {
            self.make_room();
        }
        checked
    }

    /// Forgets what was compiled the longest ago, until few enough are left.
    pub(super) fn make_room(&mut self) {
        loop {
            let all = self.known.values_mut().flat_map(|tool| [&mut tool.input, &mut tool.output]).flatten();
            let (mut count, mut patterns, mut oldest) = (0, 0, None);
            for schema in all {
                let State::Compiled(checker, used) = &schema.state else { continue };
                (count, patterns) = (count + 1, patterns + checker.patterns());
                let used = *used;
                if oldest.as_ref().is_none_or(|(before, _)| used < *before) {
                    oldest = Some((used, schema));
                }
            }
            match oldest {
                // The one that was just used is never forgotten here: it alone is within the bounds.
                Some((_, schema)) if count > MAX_COMPILED || patterns > MAX_PATTERNS => {
                    schema.state = State::Unread;
                }
                _ => return,
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Schemas {
    pub(super) input: Option<Schema>,
    /// Only where results are checked.
    pub(super) output: Option<Schema>,
    /// True if the tool can only be called as a task.
    needs_task: bool,
}

#[derive(Debug)]
pub(super) struct Schema {
    pub(super) text: Box<str>,
    pub(super) state: State,
    /// True if the log has said that something was not checked.
    pub(super) told: bool,
}

impl Schema {
    pub(super) fn again(before: Option<Self>, text: &str) -> Self {
        match before {
            Some(before) if *before.text == *text => before,
            _ => Self { text: text.into(), state: State::Unread, told: false },
        }
    }

    pub(super) fn is_compiled(&self) -> bool {
        matches!(self.state, State::Compiled(..))
    }

    /// Compiles it where that was not done.
    pub(super) fn prepare(&mut self, side: Side, now: u64) -> Result<(), String> {
        if !matches!(self.state, State::Unread) {
            return Ok(());
        }
        self.state = State::Open;
        // Arguments are an object; structured content may be anything.
        if side == Side::Input && any_object_fits(&self.text) {
            return Ok(());
        }
        self.state = State::Compiled(Box::new(Checker::compile(&self.text)?), now);
        Ok(())
    }

    pub(super) fn once(&mut self, remark: String) -> Option<String> {
        (!std::mem::replace(&mut self.told, true)).then_some(remark)
    }
}

#[derive(Debug)]
pub(super) enum State {
    /// No call needed it yet.
    Unread,
    /// Every value fits, or nothing can be said about it.
    Open,
    /// Compiled; the time of its last use.
    Compiled(Box<Checker>, u64),
}

/// One of a tool's schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

impl Side {
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Input => "the arguments",
            Self::Output => "the results",
        }
    }
}

/// The outcome of a check: the mismatch, and a remark for the log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) wrong: Option<Mismatch>,
    pub(super) remark: Option<String>,
}

/// A tool's name for the log: quoted and escaped, since it is the server's.
pub(super) fn named(tool: &str) -> String {
    format!("tool \"{}\"", cut(tool, MAX_NAME))
}

/// Foreign text for the log.
pub(super) fn cut(text: &str, bytes: usize) -> String {
    let escaped = text.escape_debug().to_string();
    match escaped.len() <= bytes {
        true => escaped,
        false => format!("{}…", &escaped[..escaped.floor_char_boundary(bytes)]),
    }
}
