//! The place where a turn is shown, and where the person is asked.
//!
//! Owns that a line on stderr begins at the margin of the terminal, which it shares with the answer. Owns
//! that nothing which was typed before a question answers it. Must never write text that is not harmless.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::os::fd::{AsFd as _, BorrowedFd};

use harbor_client::errors::Failure;
use harbor_client::terminal::reveal;
use nix::sys::termios::{FlushArg, tcflush};

use crate::screen::{Screen, WIDTH, notes_width};

/// The most bytes of an answer that are read. A terminal hands over no longer line.
const LONGEST: usize = 4096;

/// stdout for the answer, stderr for everything else, and the person.
pub struct Console<'a> {
    /// The place for results.
    pub screen: &'a mut Screen,
    /// True if pieces of the answer are not printed.
    pub is_silent: bool,
    notes: Box<dyn Write + 'a>,
    input: Option<File>,
    /// The present width of the terminal that notes go to.
    width: fn() -> usize,
    /// True if the last line of the answer has ended, or if there is nothing yet.
    is_at_margin: bool,
}

impl<'a> Console<'a> {
    /// The console of this process.
    pub fn of_process(screen: &'a mut Screen) -> io::Result<Self> {
        let input = match Self::can_ask_here() {
            true => Some(File::from(io::stdin().as_fd().try_clone_to_owned()?)),
            false => None,
        };
        Ok(Self { width: notes_width, ..Self::new(screen, Box::new(io::stderr()), input) })
    }

    pub fn new(screen: &'a mut Screen, notes: Box<dyn Write + 'a>, input: Option<File>) -> Self {
        Self { screen, is_silent: false, notes, input, width: || WIDTH, is_at_margin: true }
    }

    /// True if a person is at this process.
    pub fn can_ask_here() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// True if there is somebody to ask.
    pub fn can_ask(&self) -> bool {
        self.input.is_some()
    }

    pub fn input(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(|input| input.as_fd())
    }

    /// The number of places that a note has.
    pub fn width(&self) -> usize {
        (self.width)()
    }

    /// True if a line of the answer is begun.
    pub fn is_in_line(&self) -> bool {
        !self.is_at_margin
    }

    /// Prints a piece of the answer. As JSON the answer comes whole at the end.
    pub fn piece(&mut self, text: &str) -> io::Result<()> {
        if self.is_silent || self.screen.json || text.is_empty() {
            return Ok(());
        }
        self.is_at_margin = text.ends_with('\n');
        self.screen.answer(text)
    }

    /// Ends what the model says, if it says something.
    pub fn end_line(&mut self) -> io::Result<()> {
        self.screen.end_answer()?;
        match std::mem::replace(&mut self.is_at_margin, true) {
            true => Ok(()),
            false => self.screen.piece("\n"),
        }
    }

    /// A line beside the answer.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        // Nobody is left to be told that stderr is closed.
        let _ = writeln!(self.notes, "{}", reveal(text));
        Ok(())
    }

    /// Asks; what was typed before is no answer.
    pub fn ask(&mut self, question: &str) -> io::Result<()> {
        self.note(question)?;
        if let Some(input) = &self.input {
            // Where it is no terminal, nobody has typed.
            let _ = tcflush(input, FlushArg::TCIFLUSH);
        }
        Ok(())
    }

    /// A line of the person; `None` at the end of what they type.
    pub fn line(&mut self) -> Result<Option<String>, Failure> {
        let Some(input) = &mut self.input else { return Ok(None) };
        let (mut line, mut byte) = (Vec::new(), [0]);
        // Byte by byte: what stands behind the line is for the next question, or for nobody.
        loop {
            match input.read(&mut byte) {
                Ok(0) if line.is_empty() => return Ok(None),
                Ok(0) => break,
                Ok(_) if byte[0] == b'\n' => break,
                Ok(_) if line.len() < LONGEST => line.push(byte[0]),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::Io("read the answer", error)),
            }
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}
