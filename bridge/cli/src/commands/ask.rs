//! ask: puts one question to a language model and prints the answer as it comes.
//!
//! ```text
//!  llm_chat ─► llm_event, … (credit) ─► text on stdout ─► the answer ─► usage on stderr
//!                 Ctrl-C ─► cancel ─┘   what came stays
//! ```
//!
//! Owns how a conversation of one question looks; as JSON each event is a line, and the answer is the last. Must never print the model's thoughts, nor wait for a
//! reader: the bridge sends no more than was read.

pub mod chat_request;
pub mod code_block;
mod tools;

use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use harbor_ipc_proto::client::{LlmChat, LlmChatResult, LlmEvent, LlmMore};
use harbor_ipc_proto::codes::Code;
use nix::sys::signal::{Signal, raise};

pub use self::chat_request::chat;
pub use self::tools::{run as run_with_tools, wanted};
use super::sessions::transcript::words;
use super::signals::Signals;
use super::turn::ending::tokens;
use crate::client::{Canceller, Client};
use crate::screen::{Screen, Status};
use harbor_client::errors::{Exit, Failure};
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_policy::model_status;

/// The bridge and the model worker end a request by limits of their own; this is later than all of them.
const LIMIT: Duration = Duration::from_secs(3600);

/// The number of pushes after which more are asked for: half of those that come without asking.
const CREDIT: u32 = 32;

/// The part that has been printed so far.
struct AnswerPrinter<'a> {
    screen: &'a mut Screen,
    /// The status line, shown until the first word comes.
    status: Option<Status>,
    /// True if only the code block of the answer is printed, at the end.
    extracts: bool,
    /// True if the answer follows a schema: it is no Markdown.
    is_data: bool,
    /// True if the last line has ended, or if there is nothing yet.
    is_at_margin: bool,
}

pub fn run(mut client: Client, chat: &LlmChat, extracts: bool, screen: &mut Screen) -> Result<(), Failure> {
    obey_signals(&client)?;
    let status = Status::is_visible().then(|| Status::new("waiting for the model …"));
    let is_data = chat.response_schema.is_some();
    let mut shown = AnswerPrinter { screen, status, extracts, is_data, is_at_margin: true };
    let answered = asked(&mut client, chat, &mut shown);
    shown.end_line()?;
    match answered {
        Ok(answer) => {
            if extracts && !shown.screen.json {
                extract(&words(answer.response.message.content.as_ref()), shown.screen)?;
            }
            finish(&answer, shown.screen)
        }
        Err(Failure::Refused(refusal)) if refusal.is(Code::Cancelled) => {
            remark("harbor: the answer was cancelled; the part that arrived stands above");
            Err(Failure::Said(Exit::Failed))
        }
        Err(failure) => Err(failure.of_question()),
    }
}

fn asked(
    client: &mut Client,
    chat: &LlmChat,
    shown: &mut AnswerPrinter<'_>,
) -> Result<Answer<LlmChatResult>, Failure> {
    let (target, mut taken) = (client.coming_id(), 0);
    client.ask_with_pushes::<LlmEvent, _>(chat, LIMIT, &mut |push, client| {
        shown.take(&push)?;
        taken += 1;
        if taken == CREDIT {
            taken = 0;
            client.say(&LlmMore { target: target.clone(), n: CREDIT })?;
        }
        Ok(())
    })
}

impl AnswerPrinter<'_> {
    fn take(&mut self, push: &LlmEvent) -> Result<(), Failure> {
        if self.screen.json {
            return Ok(self.screen.event(&push.event)?);
        }
        match (&*push.event.r#type, &push.event.text) {
            ("text", Some(text)) if !text.is_empty() && !self.extracts => {
                self.status = None;
                self.is_at_margin = text.ends_with('\n');
                match self.is_data {
                    true => self.screen.piece(text)?,
                    false => self.screen.answer(text)?,
                }
            }
            ("reasoning", _) => self.status.iter_mut().for_each(|status| status.show("the model thinks …")),
            _ => match (model_status::told(&push.event), &mut self.status) {
                (Some(text), Some(status)) => status.show(&text),
                (Some(text), None) => remark(&format!("harbor: {text}")),
                (None, _) => {}
            },
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        self.status = None;
        self.screen.end_answer()?;
        if !self.is_at_margin {
            self.is_at_margin = true;
            self.screen.piece("\n")?;
        }
        Ok(())
    }
}

/// Prints the first code block of an answer; all of an answer that has none.
pub fn extract(answer: &str, screen: &mut Screen) -> Result<(), Failure> {
    Ok(screen.text(code_block::first(answer).unwrap_or(answer))?)
}

fn finish(answer: &Answer<LlmChatResult>, screen: &mut Screen) -> Result<(), Failure> {
    if screen.json {
        screen.json_line(&answer.to_json())?;
    } else if io::stderr().is_terminal() {
        remark(&format!("{}:{}: {}", answer.provider, answer.model, tokens(&answer.response.usage)));
    }
    if let Some(details) = answer.response.details.as_ref().filter(|details| !details.left_out.is_empty()) {
        let left_out = details.left_out.join(", ");
        remark(&format!(
            "harbor: {}:{} refuses {left_out}, so it was left out",
            answer.provider, answer.model
        ));
    }
    match &*answer.response.finishReason {
        "length" => remark("harbor: the answer was cut off at its token limit"),
        "error" => {
            let word = answer.response.raw_finish.as_deref().unwrap_or("it gave no reason");
            remark(&format!("harbor: {} ended the answer: {word}", answer.provider));
            return Err(Failure::Said(Exit::Unavailable));
        }
        _ => {}
    }
    Ok(())
}

/// Makes the first Ctrl-C cancel the request, and the next one end this program.
fn obey_signals(client: &Client) -> Result<(), Failure> {
    let failed = |error| Failure::Io("hold signals back", error);
    let canceller = client.canceller().map_err(failed)?;
    let target = client.coming_id();
    let signals = Signals::hold_back().map_err(|errno| failed(errno.into()))?;
    thread::spawn(move || obey(signals, canceller, &target));
    Ok(())
}

/// Runs as long as the program.
fn obey(signals: Signals, mut canceller: Canceller, target: &str) {
    let mut is_cancelled = false;
    while let Ok(signal) = signals.wait() {
        match signal {
            Signal::SIGCONT => {}
            Signal::SIGTSTP => {
                let _ = raise(Signal::SIGSTOP);
            }
            // Where the bridge is gone, so is the request, and whoever waits for it hears of it.
            Signal::SIGINT if !is_cancelled => is_cancelled = canceller.cancel(target).is_ok(),
            signal => {
                let _ = signals.obey(signal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::serve;
    use super::*;
    use crate::screen::tests::Paper;
    use std::os::unix::net::UnixStream;

    fn push(seq: u64, kind: &str, text: &str) -> String {
        format!(
            r#"{{"type":"llm_event","request_id":"1","seq":{seq},"event":{{"type":"{kind}","text":"{text}"}}}}"#
        )
    }

    /// The output for these frames, and the requests.
    fn ran(json: bool, frames: &[String]) -> (String, Vec<String>, Result<(), Failure>) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        // The second request is the one for more.
        let answers = vec![frames.join("\n"), String::new()];
        let bridge = thread::spawn(move || serve(theirs, &answers));
        let (paper, mut client) = (Paper::default(), Client::over(ours));
        let mut screen = paper.screen(json, false);
        let mut shown = AnswerPrinter {
            screen: &mut screen,
            status: None,
            extracts: false,
            is_data: false,
            is_at_margin: true,
        };
        let chat = chat_request::plain("hi");
        let answered = asked(&mut client, &chat, &mut shown).and_then(|answer| {
            shown.end_line()?;
            finish(&answer, shown.screen)
        });
        drop(client);
        (paper.read(), bridge.join().unwrap(), answered)
    }

    fn answer(finish: &str) -> String {
        format!(
            r#"{{"type":"llm_chat_result","request_id":"1","response":{{"message":{{"role":"assistant","content":"a b"}},"usage":{{"input_tokens":3,"exactness":"exact"}},"finishReason":"{finish}"}},"provider":"p","model":"m"}}"#
        )
    }

    #[test]
    fn text_is_printed_as_it_comes_and_thoughts_are_not() {
        let frames =
            [push(0, "start", ""), push(1, "reasoning", "hm"), push(2, "text", "a "), push(3, "text", "b")];
        let (printed, asked, answered) = ran(false, &[&frames[..], &[answer("stop")]].concat());
        assert!(answered.is_ok());
        assert_eq!(printed, "a b\n");
        assert_eq!(
            asked,
            [
                r#"{"type":"llm_chat","request_id":"1","messages":[{"role":"user","content":"hi"}],"stream":true,"credit":true}"#
            ]
        );
    }

    #[test]
    fn whoever_reads_gives_credit() {
        let frames: Vec<_> = (0..40).map(|seq| push(seq, "text", "x")).chain([answer("length")]).collect();
        let (printed, asked, answered) = ran(false, &frames);
        assert!(answered.is_ok(), "cut off is no failure");
        assert_eq!(printed, format!("{}\n", "x".repeat(40)));
        assert_eq!(asked[1], r#"{"type":"llm_more","request_id":"2","target":"1","n":32}"#);
    }

    #[test]
    fn a_refusal_ends_with_the_codes_of_this_command() {
        for (code, number) in [
            ("ERR_SCOPE_REQUIRED", 3),
            ("ERR_BUDGET_EXCEEDED", 4),
            ("ERR_MODEL_FAILED", 5),
            ("ERR_RATE_LIMITED", 1),
        ] {
            let (_, _, answered) = ran(false, &[super::super::rig::error(code)]);
            assert_eq!(answered.unwrap_err().of_question().number(), number, "{code}");
        }
        let (printed, _, answered) = ran(true, &[push(0, "text", "a "), answer("error")]);
        let lines: Vec<_> = printed.lines().collect();
        assert_eq!(lines[0], r#"{"type":"text","text":"a "}"#);
        assert!(lines.len() == 2 && lines[1].contains("\"finishReason\":\"error\""), "{printed}");
        assert_eq!(answered.unwrap_err().number(), 5);
    }
}
