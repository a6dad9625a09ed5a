//! A key, as far as keys matter here, and the help about all of them.
//!
//! Owns their names. Must never carry out a key's meaning: `keys` does.

/// A key, as far as keys matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    /// Ctrl-C.
    Interrupt,
}

/// Every key and what it does, for the help.
pub const HELP: &[(&str, &str)] = &[
    ("↑ ↓ PgUp PgDn Home End", "select a server; in the detail: scroll"),
    ("Enter", "open the selected server"),
    ("s", "start it"),
    ("x", "stop it; asks first when it is working"),
    ("r", "restart it; asks first when it is working"),
    ("/", "show only names that contain this; Esc shows all"),
    ("o", "order by name, calls a second, memory, or state"),
    ("Tab 1 2 3 4", "in the detail: overview, log, tools, limits"),
    ("End", "in the log: follow it again"),
    ("Esc q", "back; from the overview: quit"),
    ("Ctrl-C", "quit"),
    ("Ctrl-Z", "suspend; the shell's fg comes back"),
    ("", ""),
    ("CALLS/S, MS NOW", "of the last five seconds; MS NOW: the mean of a call"),
    ("LATENCY", "each second the mean of the calls that ended in it"),
    ("P50 MS, P99 MS", "of all calls since the bridge started"),
    ("MEM MIB, CPU %", "of all its processes, measured every ten seconds"),
    ("OPEN", "calls that it is working on"),
];
