//! chat: a conversation at a terminal, kept by the bridge.
//!
//! ```text
//!  a line ─┬─ /model, /tools, … ─► words ─► chat_update_session, or what the next message has
//!          └─ a message ─► chat_create_session, before the first one ─► a turn (commands/turn)
//!  Ctrl-C in a turn stops it; on an empty line twice leaves, as Ctrl-D does
//! ```
//!
//! Owns the handling of each line. Must never write down anything of a private conversation.

mod editor;
mod lines;
mod talk;
mod words;

use std::io::{self, IsTerminal as _};

use harbor_client::errors::Failure;
use harbor_home::Paths;

use self::editor::Editor;
use self::talk::Talk;
use super::turn::{Console, Stopper};
use crate::args::Chat;
use crate::client::Client;
use crate::screen::Screen;

/// Fails if there is no terminal to talk on.
pub fn check() -> Result<(), Failure> {
    match Console::can_ask_here() && io::stdout().is_terminal() {
        true => Ok(()),
        false => Err(Failure::Usage("a chat needs a terminal\n`harbor ask` is for scripts".into())),
    }
}

pub fn run(mut client: Client, wanted: &Chat, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let stopper = Stopper::obey_signals(&client, paths)?;
    let mut console = Console::of_process(screen)?;
    let history = (!wanted.private).then(|| paths.chat_history());
    let mut editor = Editor::open(history)?;
    let mut talk = Talk::begin(&mut client, wanted, &mut console, &stopper)?;
    let ended = talk.converse(&mut editor);
    // What was begun is told, however it ends.
    let left = talk.leave();
    ended.and(left)
}
