//! The place where we print: a terminal or a pipe, for people or for programs.
//!
//! Owns stdout and stderr of the command line. Must never pass control characters of a server to a terminal:
//! they could change what the person sees, or type for them.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use harbor_client::terminal::disarm;
use harbor_ipc_proto::field::PutField;

use crate::markdown::Markdown;
use crate::pretty::pretty;
use crate::table::{Table, fit};
use crate::wrap::wrap_all;

/// The width of a terminal that does not tell.
pub const WIDTH: usize = 80;

/// The tone of a word for a person; a colour on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warning,
    Bad,
    Faint,
}

impl Tone {
    /// The tone of a state that people are shown.
    pub fn of_state(state: &str) -> Option<Self> {
        Some(match state.split([' ', '(']).next().unwrap_or_default() {
            "running" | "ok" => Self::Good,
            "failed" | "failing" | "restarting" | "crashed" | "down" => Self::Bad,
            "needs" | "degraded" | "installing" | "starting" | "stopping" => Self::Warning,
            "ready" | "stopped" => Self::Faint,
            _ => return None,
        })
    }

    pub fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Good => 32,
            Self::Warning => 33,
            Self::Bad => 31,
            Self::Faint => 2,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The place for results.
pub struct Screen {
    out: Box<dyn Write>,
    /// True if results are JSON.
    pub json: bool,
    terminal: bool,
    colour: bool,
    /// The answer of a model that is coming.
    answer: Markdown,
}

impl Screen {
    /// Our stdout.
    pub fn of_process(json: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self::over(Box::new(io::stdout()), json, terminal, terminal && !no_colour && !dumb)
    }

    fn over(out: Box<dyn Write>, json: bool, terminal: bool, colour: bool) -> Self {
        Self { out, json, terminal, colour, answer: Markdown::default() }
    }

    /// Prints text, ending the line if the text does not.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        match self.terminal {
            true => write!(self.out, "{}{end}", disarm(text)),
            false => write!(self.out, "{text}{end}"),
        }
    }

    /// Prints a piece of a text that is still coming, at once.
    pub fn piece(&mut self, text: &str) -> io::Result<()> {
        match self.terminal {
            true => write!(self.out, "{}", disarm(text))?,
            false => write!(self.out, "{text}")?,
        }
        self.flush()
    }

    /// Prints a piece of a model's answer, at once. A terminal with colours shows what its Markdown means, and holds back
    /// what is not certain yet until [`Self::end_answer`].
    pub fn answer(&mut self, piece: &str) -> io::Result<()> {
        if !self.colour {
            return self.piece(piece);
        }
        let shown = self.answer.push(&disarm(piece));
        self.show(&shown)
    }

    /// Prints what was held back of an answer. The next piece begins another one.
    pub fn end_answer(&mut self) -> io::Result<()> {
        let shown = self.answer.end();
        self.show(&shown)
    }

    /// Prints what was made safe for a terminal before.
    fn show(&mut self, shown: &str) -> io::Result<()> {
        write!(self.out, "{shown}")?;
        self.flush()
    }

    /// Prints text whose lines may be long: a terminal gets them broken where it ends.
    pub fn prose(&mut self, text: &str) -> io::Result<()> {
        match self.terminal {
            true => self.text(&wrap_all(&disarm(text), terminal_width())),
            false => self.text(text),
        }
    }

    /// Like [`Self::prose`], with its first bytes in a colour. Those bytes are our own, and plain ASCII.
    pub fn headed(&mut self, text: &str, head: usize, tone: Tone) -> io::Result<()> {
        if !self.colour {
            return self.prose(text);
        }
        let text = wrap_all(&disarm(text), terminal_width());
        match text.split_at_checked(head) {
            Some((head, rest)) => writeln!(self.out, "{}{rest}", tone.paint(head)),
            None => writeln!(self.out, "{text}"),
        }
    }

    /// Prints JSON text: as it is for programs, laid out for people.
    pub fn json(&mut self, json: &str) -> io::Result<()> {
        match self.terminal {
            true => self.text(&pretty(json)),
            false => self.text(json),
        }
    }

    /// Prints an object as a line of JSON, at once.
    pub fn event(&mut self, event: &impl PutField) -> io::Result<()> {
        let mut json = Vec::new();
        event.put(&mut json);
        self.json_line(&String::from_utf8_lossy(&json))
    }

    /// Prints JSON text as one line, at once. A line may end between two values only, where a space means the same.
    pub fn json_line(&mut self, json: &str) -> io::Result<()> {
        self.piece(&format!("{}\n", json.replace(['\n', '\r'], " ")))
    }

    /// Prints a table.
    pub fn table(&mut self, table: &Table) -> io::Result<()> {
        let width = self.terminal.then(terminal_width);
        if self.colour {
            let lines = table.painted(width, |column, cell| match column {
                "STATE" => Tone::of_state(cell).map(|tone| tone.paint(cell)),
                "SERVER" => Some(format!("\x1b[1m{cell}\x1b[0m")),
                _ => None,
            });
            for (at, line) in lines.iter().enumerate() {
                match at {
                    0 => writeln!(self.out, "\x1b[1m{line}\x1b[0m")?,
                    _ => writeln!(self.out, "{line}")?,
                }
            }
            return Ok(());
        }
        for line in table.lines(width) {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// Ends the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line on stderr that is overwritten, and wiped when this is dropped. Nothing is written if stderr is no terminal.
#[derive(Debug)]
pub struct Status {
    shown: bool,
}

impl Status {
    pub fn new(text: &str) -> Self {
        let mut status = Self { shown: false };
        status.show(text);
        status
    }

    pub fn show(&mut self, text: &str) {
        if Self::is_visible() && !text.is_empty() {
            let line: String = disarm(text).replace(['\n', '\t'], " ");
            let _ = write!(io::stderr(), "\r{}\x1b[K", fit(&line, Some(WIDTH - 1)));
            self.shown = true;
        }
    }

    /// True if anybody would see a status line.
    pub fn is_visible() -> bool {
        io::stderr().is_terminal()
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// Asks a person at a terminal for a yes. Without a terminal the answer is no.
pub fn ask(question: &str) -> bool {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return false;
    }
    let mut answer = String::new();
    let _ = write!(io::stderr(), "{question}");
    io::stdin().read_line(&mut answer).is_ok_and(|_| matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Asking the kernel takes an ioctl, which has no safe wrapper here; `stty` asks it for us.
fn terminal_width() -> usize {
    width_of(&io::stdout())
}

/// The width of the terminal on stderr.
pub fn notes_width() -> usize {
    width_of(&io::stderr())
}

fn width_of(terminal: &impl AsFd) -> usize {
    let ask = || {
        let terminal = terminal.as_fd().try_clone_to_owned().ok()?;
        let mut stty = Command::new("stty");
        let answer = stty.arg("size").stdin(terminal).stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8(answer.stdout).ok()?;
        text.split_whitespace().nth(1)?.parse().ok().filter(|&width| width > 0)
    };
    ask().unwrap_or(WIDTH)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A screen whose text can be read.
    #[derive(Clone, Default)]
    pub struct Paper(Rc<RefCell<Vec<u8>>>);

    impl Paper {
        pub fn screen(&self, json: bool, terminal: bool) -> Screen {
            Screen::over(Box::new(self.clone()), json, terminal, terminal)
        }

        /// A screen whose reader leaves after this many lines.
        pub fn torn(&self, lines: usize) -> Screen {
            let torn = Torn { paper: self.clone(), lines };
            Screen::over(Box::new(torn), false, false, false)
        }

        pub fn read(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Torn {
        paper: Paper,
        lines: usize,
    }

    impl Write for Torn {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.paper.read().lines().count() >= self.lines && self.paper.read().ends_with('\n') {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.paper.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(terminal: bool, print: impl FnOnce(&mut Screen) -> io::Result<()>) -> String {
        let paper = Paper::default();
        print(&mut paper.screen(false, terminal)).unwrap();
        paper.read()
    }

    #[test]
    fn a_terminal_gets_no_control_characters_and_a_pipe_gets_all() {
        let evil = "a\x1b]0;title\x07\tb\r\n\u{9b}31m";
        assert_eq!(printed(true, |s| s.text(evil)), "a\\u{1b}]0;title\\u{7}\tb\n\\u{9b}31m\n");
        assert_eq!(printed(false, |s| s.text(evil)), format!("{evil}\n"));
    }

    #[test]
    fn an_answer_has_styles_on_a_terminal_only_and_never_its_own() {
        let say = |s: &mut Screen| {
            ["**a", "**\x1b[31m", "\n```\n"].iter().try_for_each(|piece| s.answer(piece))?;
            s.end_answer()?;
            s.answer("*b*\n")
        };
        let styled = "\x1b[1ma\x1b[0m\\u{1b}[31m\n\x1b[2m```\x1b[0m\n\x1b[3mb\x1b[0m\n";
        assert_eq!(printed(true, say), styled);
        assert_eq!(printed(false, say), "**a**\x1b[31m\n```\n*b*\n");
    }

    #[test]
    fn prose_is_broken_for_a_terminal_only() {
        let long = "network  all of it, and ".to_owned() + &"more ".repeat(20);
        let shown = printed(true, |s| s.prose(&long));
        assert!(shown.lines().count() > 1 && shown.lines().all(|line| line.len() <= WIDTH), "{shown}");
        assert!(shown.lines().skip(1).all(|line| line.starts_with("         m")), "{shown}");
        assert_eq!(printed(false, |s| s.prose(&long)), format!("{long}\n"));
    }

    #[test]
    fn json_is_laid_out_for_people_only() {
        assert_eq!(printed(true, |s| s.json(r#"{"a":1}"#)), "{\n  \"a\": 1\n}\n");
        assert_eq!(printed(false, |s| s.json(r#"{"a":1}"#)), "{\"a\":1}\n");
    }

    #[test]
    fn a_header_is_bold_on_a_terminal_only() {
        let mut table = Table::new(&["A"]);
        table.add(["1".into()]);
        assert_eq!(printed(true, |s| s.table(&table)), "\x1b[1mA\x1b[0m\n1\n");
        assert_eq!(printed(false, |s| s.table(&table)), "A\n1\n");
    }

    #[test]
    fn a_state_has_its_colour_on_a_terminal_only() {
        for (state, code) in [("running", 32), ("needs a key", 33), ("failed", 31), ("stopped", 2)] {
            let mut table = Table::new(&["STATE"]);
            table.add([state.into()]);
            let shown = printed(true, |s| s.table(&table));
            assert!(shown.ends_with(&format!("\n\x1b[{code}m{state}\x1b[0m\n")), "{shown:?}");
            assert_eq!(printed(false, |s| s.table(&table)), format!("STATE\n{state}\n"));
        }
    }
}
