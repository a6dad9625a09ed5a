//! The line editor, with the lines that were typed earlier.
//!
//! Owns the file of earlier lines, which is the person's alone. Must never write to it in a private conversation.

use std::path::PathBuf;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_home::files;
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;

use super::lines::{Lines, Typed};

const PROMPT: &str = "> ";

/// The number of lines that are kept.
const KEPT: usize = 1000;

/// A line editor.
pub struct Editor {
    lines: rustyline::Editor<(), FileHistory>,
    history: Option<PathBuf>,
}

impl Editor {
    /// Opens the editor. `history` is the file of earlier lines; without it none are kept.
    pub fn open(history: Option<PathBuf>) -> Result<Self, Failure> {
        let config = Config::builder().auto_add_history(true).history_ignore_space(true);
        let config = config.max_history_size(KEPT).map_err(failed)?.build();
        let lines = rustyline::Editor::with_config(config).map_err(failed)?;
        let mut editor = Self { lines, history };
        editor.load();
        Ok(editor)
    }

    /// Without its earlier lines a chat is a chat all the same.
    fn load(&mut self) {
        let Some(path) = &self.history else { return };
        let opened = files::private_file(path).map_err(|error| error.to_string());
        let loaded = opened.and_then(|_| self.lines.load_history(path).map_err(|error| error.to_string()));
        if let Err(error) = loaded {
            remark(&format!("harbor: your input history cannot be read: {error}"));
            self.history = None;
        }
    }

    fn keep(&mut self) {
        if let Some(path) = &self.history
            && let Err(error) = self.lines.append_history(path)
        {
            remark(&format!("harbor: your input history cannot be saved: {error}"));
            self.history = None;
        }
    }
}

impl Lines for Editor {
    fn next(&mut self) -> Result<Typed, Failure> {
        match self.lines.readline(PROMPT) {
            Ok(line) => {
                self.keep();
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(failed(error)),
        }
    }
}

fn failed(error: ReadlineError) -> Failure {
    Failure::Io("read a line", std::io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn earlier_lines_are_the_persons_alone_and_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("chat_history");
        for said in ["one", "two\nlines"] {
            let mut editor = Editor::open(Some(path.clone())).unwrap();
            editor.lines.add_history_entry(said).unwrap();
            editor.keep();
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let editor = Editor::open(Some(path)).unwrap();
        let lines: Vec<_> = editor.lines.history().iter().cloned().collect();
        assert_eq!(lines, ["one", "two\nlines"]);
    }

    #[test]
    fn a_private_conversation_leaves_no_file() {
        let mut editor = Editor::open(None).unwrap();
        editor.lines.add_history_entry("secret").unwrap();
        editor.keep();
        assert_eq!(editor.lines.history().iter().count(), 1, "the arrow keys know it as long as it lasts");
    }
}
