//! What the command line says: `harbor` run to its end, on pipes or with a terminal as its stderr.
//!
//! Must never start a bridge on purpose: a test starts its own first.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;

use nix::pty::openpty;

use crate::Home;

impl Home {
    /// What `harbor` with these arguments printed on stdout and on stderr, and its exit code.
    ///
    /// # Panics
    /// When it does not run, or prints what is no text.
    #[must_use]
    pub fn harbor(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let mut command = self.command("harbor");
        if args.first() == Some(&"doctor") {
            // What browsers of the tester's know is none of its business.
            command.env("HOME", self.scratch("person"));
        }
        said(command.args(args))
    }

    /// Stdout of one that did what was asked for, and had nothing to remark on.
    ///
    /// # Panics
    /// When it is another one.
    #[must_use]
    pub fn done(&self, args: &[&str]) -> String {
        let (out, err, code) = self.harbor(args);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?} {out}");
        out
    }

    /// Stderr and exit code of one that did not, and printed nothing.
    ///
    /// # Panics
    /// When it printed something.
    #[must_use]
    pub fn refused(&self, args: &[&str]) -> (String, Option<i32>) {
        let (out, err, code) = self.harbor(args);
        assert_eq!(out, "", "{args:?}");
        (err, code)
    }

    /// As [`Self::harbor`], with a terminal as its stderr.
    ///
    /// # Panics
    /// When there is no terminal to be had, and as there.
    #[must_use]
    pub fn harbor_on_a_terminal(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let terminal = openpty(None, None).expect("a terminal can be had");
        let mut command = self.command("harbor");
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(terminal.slave);
        let child = command.spawn().expect("it starts");
        // The terminal's other end reads until nobody holds this one.
        drop(command);
        let mut master = File::from(terminal.master);
        let reader = thread::spawn(move || {
            let mut shown = Vec::new();
            // Its end is an error on Linux.
            let _ = master.read_to_end(&mut shown);
            shown
        });
        let output = child.wait_with_output().expect("it ends");
        (text(output.stdout), text(reader.join().expect("it reads")), output.status.code())
    }
}

/// What this command printed on stdout and on stderr, and its exit code.
///
/// # Panics
/// When it does not run, or prints what is no text.
#[must_use]
pub fn said(command: &mut Command) -> (String, String, Option<i32>) {
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("it prints text")
}
