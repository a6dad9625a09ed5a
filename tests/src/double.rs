//! A misbehaving server as a test sees it: its definition for the bridge, and its journal.
//!
//! Also holds what the server's `echo` answers, since tests compare that byte for byte.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::faults::{Fault, Settings};
use crate::home::TEST_ID;
use crate::{Home, LIMIT, programs, wait_until};

/// A test double, to be built up and then defined as a server.
#[derive(Debug, Clone)]
pub struct Double {
    settings: Settings,
    journal: PathBuf,
    test_id: String,
    roots: Option<Vec<String>>,
    supervision: Map<String, Value>,
    memory_kib: Option<u64>,
    is_closed: bool,
}

/// What a double wrote down: one line per event.
///
/// ```text
///  start PID | request METHOD | notification METHOD | call TOOL ID | cancelled ID REASON | grandchild PID
///  early METHOD | bad-meta METHOD | late ID | eof
/// ```
#[derive(Debug, Clone)]
pub struct Journal(PathBuf);

impl Double {
    /// A legacy server with this fault. It writes a journal, and carries the home's mark.
    #[must_use]
    pub fn new(home: &Home, fault: Fault) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // A directory of their own: that they may write it is granted, and Harbor's home lies beside it.
        let journals = home.scratch("journals");
        fs::create_dir_all(&journals).expect("a scratch directory can be made");
        // The test's Harbor may be another user's.
        let everybody = fs::Permissions::from_mode(0o777);
        fs::set_permissions(&journals, everybody).expect("its owner may do so");
        let journal = journals.join(NEXT.fetch_add(1, Ordering::Relaxed).to_string());
        let settings = Settings { journal: Some(journal.clone()), ..Settings::new(fault) };
        Self {
            settings,
            journal,
            test_id: home.id().to_owned(),
            roots: None,
            supervision: Map::new(),
            memory_kib: None,
            is_closed: false,
        }
    }

    /// One without a fault.
    #[must_use]
    pub fn sound(home: &Home) -> Self {
        Self::new(home, Fault::None)
    }

    /// Speaks 2026-07-28.
    #[must_use]
    pub fn modern(mut self) -> Self {
        self.settings.modern = true;
        self
    }

    /// Gives its lists in three pages.
    #[must_use]
    pub fn paged(mut self) -> Self {
        self.settings.paged = true;
        self
    }

    /// Offers these tools, a JSON array, instead of its own. It does what it does for names of its own, and echoes
    /// for others.
    ///
    /// # Panics
    /// As [`offer`](Self::offer).
    #[must_use]
    pub fn offering(mut self, tools: &str) -> Self {
        self.settings.tools = Some(self.journal.with_extension("tools"));
        self.offer(tools);
        self
    }

    /// Has no network: it tells nobody what it is given.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.is_closed = true;
        self
    }

    /// Offers others from its next list on. Needs [`offering`](Self::offering).
    ///
    /// # Panics
    /// When they cannot be written down.
    pub fn offer(&self, tools: &str) {
        let path = self.settings.tools.as_ref().expect("it offers what it is told to");
        let new = path.with_extension("new");
        // A message is a line.
        let tools = tools.replace('\n', " ");
        fs::write(&new, tools).and_then(|()| fs::rename(&new, path)).expect("a scratch file can be written");
    }

    /// Waits so long before it reads stdin.
    #[must_use]
    pub fn delay_ms(mut self, delay: u64) -> Self {
        self.settings.delay_ms = delay;
        self
    }

    /// Is defined with these roots.
    #[must_use]
    pub fn roots(mut self, roots: &[&str]) -> Self {
        self.roots = Some(roots.iter().map(ToString::to_string).collect());
        self
    }

    /// Is defined with this limit for its start.
    #[must_use]
    pub fn start_timeout_ms(self, limit: u64) -> Self {
        self.supervision(&json!({"start_timeout_ms": limit}))
    }

    /// Is defined with these settings of its supervision, besides those that were given before.
    ///
    /// # Panics
    /// When they are no object.
    #[must_use]
    pub fn supervision(mut self, settings: &Value) -> Self {
        self.supervision.extend(settings.as_object().expect("an object of settings").clone());
        self
    }

    /// Starts with the bridge.
    #[must_use]
    pub fn auto_start(self) -> Self {
        self.supervision(&json!({"auto_start": true}))
    }

    /// Only a person starts it.
    #[must_use]
    pub fn manual(self) -> Self {
        self.supervision(&json!({"lazy": false}))
    }

    /// Is restarted for ever, and at once.
    #[must_use]
    pub fn quick_restarts(self) -> Self {
        self.supervision(&json!({"restart_attempts": "unlimited", "restart_delays_ms": [10]}))
    }

    /// Gets no more address space than this.
    #[must_use]
    pub fn memory_kib(mut self, limit: u64) -> Self {
        self.memory_kib = Some(limit);
        self
    }

    /// The program and its arguments.
    ///
    /// # Panics
    /// When a path is no UTF-8.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let text = |arg: OsString| arg.into_string().expect("paths of tests are UTF-8");
        let limited = self.memory_kib.map(|kib| {
            let script = format!("ulimit -v {kib}; ulimit -c 0; exec \"$@\"");
            ["/bin/sh".into(), "-c".into(), script, "sh".into()]
        });
        let program = programs::double("misbehaving-server").into_os_string();
        let own = std::iter::once(program).chain(self.settings.to_args()).map(text);
        limited.into_iter().flatten().chain(own).collect()
    }

    /// The fields of `add_server`.
    #[must_use]
    pub fn definition(&self, id: &str) -> Value {
        let command = self.command();
        let mut definition = json!({
            "server_id": id,
            "command": command[0],
            "args": command[1..],
            "env": {TEST_ID: self.test_id},
            "sandbox": self.sandbox(),
        });
        if let Some(roots) = &self.roots {
            definition["roots"] = json!(roots);
        }
        if !self.supervision.is_empty() {
            definition["supervision"] = json!(self.supervision);
        }
        definition
    }

    /// What every double needs besides the defaults: its journal.
    fn sandbox(&self) -> Value {
        let mut sandbox = json!({"write": [self.journal.parent()]});
        if self.is_closed {
            sandbox["network"] = json!("none");
        }
        sandbox
    }

    /// What it writes down.
    #[must_use]
    pub fn journal(&self) -> Journal {
        Journal(self.journal.clone())
    }
}

impl Journal {
    /// At this path.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// The lines so far, whole ones only.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(str::to_owned).collect()
    }

    /// How many lines begin with `start`.
    #[must_use]
    pub fn count(&self, start: &str) -> usize {
        self.lines().iter().filter(|line| line.starts_with(start)).count()
    }

    /// Waits for a line that begins with `start`; returns what follows in it.
    ///
    /// # Panics
    /// When none comes.
    #[must_use]
    pub fn wait_for(&self, start: &str) -> String {
        self.wait_for_within(start, LIMIT)
    }

    /// The same, within a limit of its own.
    ///
    /// # Panics
    /// When none comes in time.
    #[must_use]
    pub fn wait_for_within(&self, start: &str, limit: Duration) -> String {
        let mut found = None;
        wait_until(&format!("the journal to say `{start}`"), limit, || {
            found = self
                .lines()
                .iter()
                .find_map(|line| line.strip_prefix(start).map(|rest| rest.trim().to_owned()));
            found.is_some()
        });
        found.expect("the loop ended with one")
    }
}

/// The result of the tool `echo` for these arguments: fields that nobody knows, in an unusual order.
///
/// # Panics
/// Never: a string can always be written as JSON.
#[must_use]
pub fn echo_result(arguments: &str, modern: bool) -> String {
    let text = serde_json::to_string(arguments).expect("a string is JSON");
    let kind = if modern { "\"resultType\":\"complete\"," } else { "" };
    format!(
        "{{\"futureField\":{{\"z\":1,\"a\":12345678901234567890}},{kind}\"content\":[{{\"type\":\"text\",\
         \"text\":{text},\"novel\":1e2}}],\"structuredContent\":{arguments},\"_zeta\":null}}"
    )
}
