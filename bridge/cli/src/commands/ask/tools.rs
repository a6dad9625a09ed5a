//! A question whose model may use tools: one turn of a session that is never written down.
//!
//! ```text
//!  chat_create_session (private) ─► chat_send_message ─► the turn (commands/turn) ─► chat_delete_session
//! ```
//!
//! Owns the meaning of the options. Must never leave the session behind, unless the bridge is gone or a
//! signal ends us that cannot be held back.

use harbor_client::errors::{Exit, Failure};
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_ipc_proto::client::{
    ChatCreateSession, ChatDeleteSession, ChatPart, ChatSendMessage, ChatSendMessageResult,
};

use super::super::attach::text_part;
use super::super::page::Fetching;
use super::{chat_request, extract};
use crate::args::{Approve, AskOptions, servers_of};
use crate::client::{Client, QUICK};
use crate::commands::turn::{self, Console, Stopper, ending};
use crate::screen::{Screen, Status};

/// Advice for a person who wants more than came.
const MORE: &str = "ask for less at once, or let it make more calls with --max-tool-calls N";

/// The question, with all files read that it names.
#[derive(Debug)]
pub struct PreparedQuestion {
    create: ChatCreateSession,
    text: String,
    attachments: Option<Vec<ChatPart>>,
    tool_choice: Option<String>,
    max_tool_calls: Option<u32>,
    max_tokens: Option<u32>,
    extracts: bool,
}

pub fn wanted(question: &AskOptions, fetch: &mut Fetching<'_>) -> Result<PreparedQuestion, Failure> {
    wanted_of(question, Console::can_ask_here(), fetch)
}

fn wanted_of(
    question: &AskOptions,
    is_somebody_here: bool,
    fetch: &mut Fetching<'_>,
) -> Result<PreparedQuestion, Failure> {
    let using = &question.using;
    let approve = match (using.approve, is_somebody_here) {
        (Some(Approve::Ask), false) => {
            let wrong = "--approve ask needs a terminal\nuse --approve reads, which refuses calls that may change \
                         something, or --approve all, which refuses only calls that may destroy something";
            return Err(Failure::Usage(wrong.into()));
        }
        (Some(approve), _) => approve,
        (None, true) => Approve::Ask,
        (None, false) => Approve::Reads,
    };
    let (mut text, mut attachments) = chat_request::said(question, fetch)?;
    if question.question.as_deref() == Some("-") {
        // What came by stdin may be anybody's words.
        attachments.push(text_part(std::mem::take(&mut text)));
    }
    Ok(PreparedQuestion {
        create: ChatCreateSession {
            enabled_servers: servers_of(&using.tools),
            name: None,
            system_prompt: question.system.clone(),
            model: question.model.clone(),
            mode: Some(approve.mode().into()),
            private: Some(true),
        },
        text,
        attachments: Some(attachments).filter(|attachments| !attachments.is_empty()),
        tool_choice: using.tool_choice.map(|choice| choice.word().into()),
        max_tool_calls: using.max_tool_calls,
        max_tokens: question.max_tokens,
        extracts: question.extract,
    })
}

impl PreparedQuestion {
    fn message(&self, session: &str) -> ChatSendMessage {
        ChatSendMessage {
            attachments: self.attachments.clone(),
            tool_choice: self.tool_choice.clone(),
            max_tool_calls: self.max_tool_calls,
            max_tokens: self.max_tokens,
            ..turn::message(session, self.text.clone())
        }
    }
}

pub fn run(
    mut client: Client,
    wanted: &PreparedQuestion,
    paths: &Paths,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let stopper = Stopper::obey_signals(&client, paths)?;
    let mut console = Console::of_process(screen)?;
    ask(&mut client, wanted, &mut console, &stopper)
}

fn ask(
    client: &mut Client,
    wanted: &PreparedQuestion,
    console: &mut Console<'_>,
    stopper: &Stopper,
) -> Result<(), Failure> {
    let created = client.ask(&wanted.create, QUICK).map_err(Failure::of_question)?;
    let session_id = created.into_value().session.id;
    stopper.goes_with_us(&session_id);
    console.is_silent = wanted.extracts;
    let said = turn::say(client, &wanted.message(&session_id), console, stopper);
    let deleted = client.ask(&ChatDeleteSession { session_id }, QUICK);
    let said = said.map_err(Failure::of_question)?;
    if wanted.extracts && !console.screen.json {
        extract(&said.response, console.screen)?;
    }
    finish(&said, console.screen)?;
    deleted.map(|_| ()).map_err(Failure::of_question)
}

fn finish(answer: &Answer<ChatSendMessageResult>, screen: &mut Screen) -> Result<(), Failure> {
    if screen.json {
        screen.json_line(&answer.to_json())?;
    } else if Status::is_visible() {
        remark(&ending::spent(answer));
    }
    if let Some(why) = ending::remark(&answer.ended, MORE) {
        remark(&why);
    }
    match &*answer.ended {
        "stopped" => Err(Failure::Said(Exit::Failed)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::super::super::rig::{Ran, command, error};
    use super::*;
    use crate::args::{Command, parse};

    fn wanted(line: &[&str], is_somebody_here: bool) -> Result<PreparedQuestion, Failure> {
        let line: Vec<_> = line.iter().map(|&word| word.to_owned()).collect();
        let Command::Ask(question) = parse(&line).unwrap() else { panic!("{line:?}") };
        wanted_of(&question, is_somebody_here, &mut |url| panic!("{url} is fetched"))
    }

    fn ran(json: bool, wanted: &PreparedQuestion, answers: &[&str]) -> Ran {
        command(json, answers, |client, screen| {
            let mut console = Console::new(screen, Box::new(io::sink()), None);
            ask(client, wanted, &mut console, &Stopper::default())
        })
    }

    const CREATED: &str = r#"{"type":"chat_create_session_result","request_id":"1","session":{"id":"s"}}"#;
    const DELETED: &str = r#"{"type":"chat_delete_session_result","request_id":"3","deleted":true}"#;

    fn answer(ended: &str) -> String {
        format!(
            r#"{{"type":"chat_send_message_result","request_id":"2","response":"It is 9.","ended":"{ended}","turn_id":"t"}}"#
        )
    }

    #[test]
    fn a_question_is_a_turn_of_a_session_that_is_private_and_gone_afterwards() {
        let line = [
            "ask",
            "now?",
            "--tools",
            "time,files",
            "--tool-choice",
            "required",
            "--max-tool-calls",
            "1",
            "--max-tokens",
            "9",
            "--model",
            "p:m",
            "--system",
            "be brief",
            "--approve",
            "all",
        ];
        let ran = ran(false, &wanted(&line, false).unwrap(), &[CREATED, &answer("done"), DELETED]);
        assert_eq!((ran.printed.as_str(), ran.exit), ("It is 9.\n", Exit::Done));
        assert_eq!(
            ran.asked,
            [
                r#"{"type":"chat_create_session","request_id":"1","enabled_servers":["time","files"],"system_prompt":"be brief","model":"p:m","mode":"auto","private":true}"#,
                r#"{"type":"chat_send_message","request_id":"2","session_id":"s","message":"now?","stream":true,"tool_choice":"required","max_tool_calls":1,"max_tokens":9}"#,
                r#"{"type":"chat_delete_session","request_id":"3","session_id":"s"}"#,
            ]
        );
    }

    #[test]
    fn who_may_be_asked_depends_on_the_terminal() {
        let create = |line: &[&str], is_here| wanted(line, is_here).unwrap().create;
        let all = create(&["ask", "x", "--tools", "all"], true);
        assert_eq!((all.enabled_servers, all.mode.as_deref()), (None, Some("ask")));
        let none = create(&["ask", "x", "--tools", "a"], false);
        assert_eq!((none.enabled_servers, none.mode.as_deref()), (Some(vec!["a".into()]), Some("reads")));
        let wrong = wanted(&["ask", "x", "--tools", "a", "--approve", "ask"], false).unwrap_err();
        assert_eq!(wrong.exit(), Exit::Usage);
    }

    #[test]
    fn json_is_the_whole_answer_and_nothing_else() {
        let ran = ran(
            true,
            &wanted(&["ask", "x", "--tools", "a"], false).unwrap(),
            &[CREATED, &answer("calls"), DELETED],
        );
        let whole: serde_json::Value = serde_json::from_str(&ran.printed).unwrap();
        assert_eq!((&whole["response"], &whole["ended"]), (&"It is 9.".into(), &"calls".into()));
        assert_eq!(ran.exit, Exit::Done, "it has answered");
    }

    #[test]
    fn of_an_answer_with_code_the_code_alone_is_printed() {
        let code = answer("done").replace("It is 9.", "So:\\n```sh\\nls\\n```\\nDone.");
        for (answer, printed) in [(code, "ls\n"), (answer("done"), "It is 9.\n")] {
            let wanted = wanted(&["ask", "x", "-x", "--tools", "a"], false).unwrap();
            assert_eq!(ran(false, &wanted, &[CREATED, &answer, DELETED]).printed, printed);
        }
    }

    #[test]
    fn the_session_goes_also_after_a_refusal_whose_code_is_that_of_a_question() {
        for (code, number) in
            [("ERR_TOOL_NOT_ALLOWED", 3), ("ERR_BUDGET_EXCEEDED", 4), ("ERR_MODEL_FAILED", 5)]
        {
            let refused = error(code).replace("\"1\"", "\"2\"");
            let wanted = wanted(&["ask", "x", "--tools", "a"], false).unwrap();
            let mut found = None;
            let ran = command(false, &[CREATED, &refused, DELETED], |client, screen| {
                let mut console = Console::new(screen, Box::new(io::sink()), None);
                let failure = ask(client, &wanted, &mut console, &Stopper::default()).unwrap_err();
                found = Some(failure.number());
                Err(failure)
            });
            assert_eq!((found, ran.asked.len()), (Some(number), 3), "{code}");
        }
        let stopped = ran(
            false,
            &wanted(&["ask", "x", "--tools", "a"], false).unwrap(),
            &[CREATED, &answer("stopped"), DELETED],
        );
        assert_eq!((stopped.exit, stopped.asked.len()), (Exit::Failed, 3));
    }
}
