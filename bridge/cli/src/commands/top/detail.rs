//! What is known of the server that is looked at, as lines that can be scrolled.
//!
//! Owns its log and its tools, and where one looks. Must never decide about requests: the conversation does.

use harbor_client::payload::Payload;
use harbor_ipc_proto::client::{LogLine as McpLogLine, SandboxView, ServerView, Supervision};
use harbor_ipc_proto::json::Json;

use super::flow::{Flow, Paragraph, View};
use super::requests::Aim;
use super::row::{Row, TextStyle};
use super::scroll::Scroll;
use super::words::{cut, line};
use crate::commands::tool_list;
use crate::table::flatten;
use crate::when::utc;

/// The number of a log's lines that are kept.
const KEPT: usize = 2000;

/// The number of bytes of a tool's description that are shown.
const DESCRIPTION: usize = 4096;

/// The subject of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Overview,
    Log,
    Tools,
    Limits,
}

/// The facts about the selected server.
#[derive(Debug)]
pub struct Detail {
    pub server: String,
    pub tab: Tab,
    scrolls: [Scroll; 4],
    log: Flow<LogLine>,
    /// The note in place of the log.
    log_note: Option<String>,
    tools: Option<Result<Flow<Tool>, String>>,
    pub supervision: Option<Supervision>,
    pub sandbox: Option<Result<SandboxView, String>>,
}

#[derive(Debug)]
struct LogLine {
    head: String,
    text: String,
    bad: bool,
}

#[derive(Debug)]
struct Tool {
    name: String,
    description: String,
}

impl Tab {
    pub const ALL: [Self; 4] = [Self::Overview, Self::Log, Self::Tools, Self::Limits];

    pub fn word(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Log => "Log",
            Self::Tools => "Tools",
            Self::Limits => "Limits",
        }
    }

    pub fn next(self) -> Self {
        match self {
            Self::Overview => Self::Log,
            Self::Log => Self::Tools,
            Self::Tools => Self::Limits,
            Self::Limits => Self::Overview,
        }
    }

    pub fn before(self) -> Self {
        self.next().next().next()
    }
}

impl Detail {
    /// The detail of a server before anything is known, on a screen of this width.
    pub fn of(server: &str, width: usize) -> Self {
        let still = Scroll::default();
        Self {
            server: server.into(),
            tab: Tab::Overview,
            scrolls: [still, Scroll::following(), still, still],
            log: Flow::new(width),
            log_note: Some("waiting for the log …".into()),
            tools: None,
            supervision: None,
            sandbox: None,
        }
    }

    pub fn scroll(&self) -> Scroll {
        let [overview, log, tools, limits] = self.scrolls;
        match self.tab {
            Tab::Overview => overview,
            Tab::Log => log,
            Tab::Tools => tools,
            Tab::Limits => limits,
        }
    }

    pub fn scroll_mut(&mut self) -> &mut Scroll {
        let [overview, log, tools, limits] = &mut self.scrolls;
        match self.tab {
            Tab::Overview => overview,
            Tab::Log => log,
            Tab::Tools => tools,
            Tab::Limits => limits,
        }
    }

    /// The screen has another width.
    pub fn on_width(&mut self, width: usize) {
        self.log.set_width(width);
        if let Some(Ok(tools)) = &mut self.tools {
            tools.set_width(width);
        }
    }

    /// Takes the log at the first look.
    pub fn on_log(&mut self, lines: Vec<McpLogLine>) {
        self.log = Flow::new(self.log.width());
        lines.into_iter().for_each(|line| self.add_line(line));
        self.log_note = self.log.is_empty().then(|| "it has logged nothing".into());
    }

    pub fn on_tools(&mut self, tools: &Json) {
        self.tools = Some(Ok(listed(tools, self.log.width())));
    }

    pub fn on_definitions(&mut self, servers: Vec<ServerView>) {
        let mut servers = servers.into_iter();
        let own = servers.find(|server| server.server_id == self.server);
        self.supervision = own.map(|server| server.supervision);
    }

    pub fn on_sandbox(&mut self, sandbox: SandboxView) {
        self.sandbox = Some(Ok(sandbox));
    }

    pub fn on_refusal(&mut self, aim: &Aim, why: String) {
        match aim {
            Aim::Log => self.log_note = Some(why),
            Aim::Tools => self.tools = Some(Err(why)),
            Aim::Sandbox => self.sandbox = Some(Err(why)),
            Aim::Definition | Aim::Greeting | Aim::Status | Aim::Act(_) => {}
        }
    }

    /// Adds a new line of the log. A person who reads older lines still sees the same ones.
    pub fn add_line(&mut self, line: McpLogLine) {
        self.log_note = None;
        self.log.push(LogLine::of(line));
        if self.log.len() > KEPT {
            let rows = self.log.drop_first();
            let [_, scroll, ..] = &mut self.scrolls;
            scroll.top = scroll.top.saturating_sub(rows);
        }
    }

    pub fn log_view(&self, page: usize) -> View {
        match &self.log_note {
            Some(note) => View::of(vec![Row::new("", note).toned(TextStyle::Faint)], self.scroll(), page),
            None => self.log.view(self.scroll(), page),
        }
    }

    pub fn tools_view(&self, running: bool, width: usize, page: usize) -> View {
        let faint = |text: &str| vec![Row::new("", text).toned(TextStyle::Faint)];
        let rows = match &self.tools {
            None if running => faint("waiting for its tools …"),
            None => faint("it is not running, so its tools are unknown (s starts it)"),
            Some(Err(why)) => Row::new("", why).toned(TextStyle::Bad).wrapped(width).collect(),
            Some(Ok(tools)) if tools.is_empty() => faint("it offers no tools"),
            Some(Ok(tools)) => return tools.view(self.scroll(), page),
        };
        View::of(rows, self.scroll(), page)
    }
}

impl LogLine {
    fn of(line: McpLogLine) -> Self {
        let time = utc(line.timestamp);
        let (source, level) = (flatten(&line.source), flatten(line.level.as_deref().unwrap_or_default()));
        let level = if level.is_empty() { level } else { format!(" {level}") };
        let head = format!("{}Z {source}{level}: ", time.get(11..19).unwrap_or_default());
        let bad = ["error", "critical", "alert", "emergency"].contains(&level.trim());
        Self { head, text: line.text, bad }
    }
}

impl Paragraph for LogLine {
    /// The rows of a line of the log. The first row says when and whence; text that only looks like a
    /// line of the log is indented.
    fn rows(&self, width: usize) -> Vec<Row> {
        let tone = if self.bad { TextStyle::Bad } else { TextStyle::Plain };
        let text = self.text.trim_end().replace("\r\n", "\n");
        let lines: Vec<_> = text.split('\n').map(line).collect();
        let heads = [self.head.clone()].into_iter().chain(std::iter::repeat("    ".to_owned()));
        let rows = lines.into_iter().zip(heads).map(move |(text, head)| Row { head, text, tone });
        rows.flat_map(move |row| row.flowed(width)).collect()
    }
}

impl Tool {
    fn of(tool: &Payload) -> Self {
        let (name, told) = (flatten(&tool.text("name")), tool.text("description"));
        let (kept, is_cut) = cut(&told, DESCRIPTION);
        let more = format!(" … ({} bytes in all: harbor tools NAME --json)", told.len());
        let description = flatten(kept) + if is_cut { &more } else { "" };
        Self { name, description }
    }
}

impl Paragraph for Tool {
    fn rows(&self, width: usize) -> Vec<Row> {
        let name = Row::new("", &self.name).toned(TextStyle::Strong);
        [name].into_iter().chain(Row::new("    ", &self.description).wrapped(width)).collect()
    }
}

fn listed(list: &Json, width: usize) -> Flow<Tool> {
    let (tools, _) = tool_list::read(list);
    let mut listed = Flow::new(width);
    tools.iter().map(Tool::of).for_each(|tool| listed.push(tool));
    listed
}
