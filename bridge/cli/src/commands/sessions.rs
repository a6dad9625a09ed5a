//! sessions: the person's conversations with language models.
//!
//! Owns finding a session by the beginning of its id. Must never delete one that was not clearly meant.

pub mod transcript;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    ChatDeleteSession, ChatExport, ChatGetSession, ChatListSessions, ChatSessionView,
};

use super::ids::{meant, short};
use super::printing::print;
use crate::args::{Form, Sessions};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::Table;
use crate::when;

/// The number of sessions that are listed; nobody has more.
const ALL: u64 = 1_000_000;

pub fn run(client: &mut Client, wanted: &Sessions, screen: &mut Screen) -> Result<(), Failure> {
    match wanted {
        Sessions::List => list(client, screen),
        Sessions::Show { id } => show(client, id, screen),
        Sessions::Delete { id } => delete(client, id, screen),
        Sessions::Export { id, format } => export(client, id, *format, screen),
    }
}

/// The id that begins like this; what was typed where there is none: the bridge says what is wrong with it.
pub fn id_of(client: &mut Client, typed: &str) -> Result<String, Failure> {
    let all = client.ask(&ChatListSessions { limit: Some(ALL) }, QUICK)?.into_value().sessions;
    let ids = all.into_iter().map(|session| session.id);
    Ok(meant(ids, typed, ("sessions", "`harbor sessions`"))?.unwrap_or_else(|| typed.to_owned()))
}

fn list(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&ChatListSessions { limit: Some(ALL) }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.sessions.is_empty() {
        true if answer.unreadable.is_empty() => remark("there is no session yet; `harbor chat` begins one"),
        true => {}
        false => screen.table(&table(&answer.sessions, when::now()))?,
    }
    answer.unreadable.iter().for_each(|why| remark(&format!("harbor: {why}")));
    Ok(())
}

fn table(sessions: &[ChatSessionView], now: u64) -> Table {
    let mut table = Table::new(&["ID", "USED", "MESSAGES", "MODEL", "NAME"]).without(&["MESSAGES", "MODEL"]);
    for session in sessions {
        let private = if session.private { " (private)" } else { "" };
        table.add([
            short(&session.id).to_owned(),
            when::ago(session.updatedAt, now),
            session.messageCount.to_string(),
            session.model.clone().unwrap_or_else(|| "-".into()),
            format!("{}{private}", if session.name.is_empty() { "-" } else { &session.name }),
        ]);
    }
    table
}

fn show(client: &mut Client, id: &str, screen: &mut Screen) -> Result<(), Failure> {
    let session_id = id_of(client, id)?;
    let answer = client.ask(&ChatGetSession { session_id }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    screen.text(&format!("{}\n", answer.session.name))?;
    Ok(screen.prose(&transcript::text(&answer.messages))?)
}

fn delete(client: &mut Client, id: &str, screen: &mut Screen) -> Result<(), Failure> {
    let session_id = id_of(client, id)?;
    let answer = client.ask(&ChatDeleteSession { session_id: session_id.clone() }, QUICK)?;
    if !answer.deleted {
        return Err(Failure::Nothing(
            format!("there is no session {id}"),
            "`harbor sessions` lists them".into(),
        ));
    }
    print(screen, &answer, |_| format!("the session {} is deleted", short(&session_id)))
}

fn export(client: &mut Client, id: &str, format: Form, screen: &mut Screen) -> Result<(), Failure> {
    let session_id = id_of(client, id)?;
    let answer = client.ask(&ChatExport { session_id, format: format.word().into() }, QUICK)?;
    print(screen, &answer, |answer| answer.text.clone())
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;

    use super::super::rig::command;
    use super::*;

    const LISTED: &str = r#"{"type":"chat_list_sessions_result","request_id":"1","sessions":[{"id":"abcdef0123456789","name":"Time","model":"p:m","messageCount":4,"updatedAt":1},{"id":"abff","name":"","private":true}],"unreadable":["x: broken"]}"#;

    #[test]
    fn sessions_are_a_table_and_without_any_there_is_a_next_step() {
        let ran = command(false, &[LISTED], |c, s| run(c, &Sessions::List, s));
        let lines: Vec<_> = ran.printed.lines().collect();
        assert!(lines[0].starts_with("ID        USED"), "{}", ran.printed);
        assert!(
            lines[1].starts_with("abcdef01  ") && lines[1].ends_with("4         p:m    Time"),
            "{}",
            lines[1]
        );
        assert!(lines[2].ends_with("- (private)"), "{}", lines[2]);
        let ran = command(true, &[LISTED], |c, s| run(c, &Sessions::List, s));
        assert!(ran.printed.contains("\"unreadable\":[\"x: broken\"]"), "{}", ran.printed);
        let none = r#"{"type":"chat_list_sessions_result","request_id":"1"}"#;
        let ran = command(false, &[none], |c, s| run(c, &Sessions::List, s));
        assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
    }

    #[test]
    fn an_id_may_be_cut_short_as_long_as_it_is_clear() {
        let deleted = r#"{"type":"chat_delete_session_result","request_id":"2","deleted":true}"#;
        let delete = |id: &str, answers: &[&str]| {
            command(false, answers, |c, s| run(c, &Sessions::Delete { id: id.into() }, s))
        };
        let ran = delete("abc", &[LISTED, deleted]);
        assert_eq!(ran.printed, "the session abcdef01 is deleted\n");
        assert!(ran.asked[1].contains("\"session_id\":\"abcdef0123456789\""), "{:?}", ran.asked);
        let ran = delete("ab", &[LISTED, deleted]);
        assert_eq!((ran.exit, ran.asked.len()), (Exit::Usage, 1));
        // The bridge knows it: a file that cannot be read is not listed.
        let ran = delete("x", &[LISTED, &deleted.replace("true", "false")]);
        assert_eq!((ran.exit, ran.asked.len()), (Exit::NotFound, 2));
    }

    #[test]
    fn a_session_is_exported_as_the_bridge_wrote_it() {
        let text = r##"{"type":"chat_export_result","request_id":"2","text":"# Time\n"}"##;
        let wanted = Sessions::Export { id: "abff".into(), format: Form::Markdown };
        let ran = command(false, &[LISTED, text], |c, s| run(c, &wanted, s));
        assert_eq!(ran.printed, "# Time\n");
        assert!(ran.asked[1].ends_with(r#""session_id":"abff","format":"markdown"}"#), "{:?}", ran.asked);
    }

    #[test]
    fn what_was_said_is_shown() {
        let got = r#"{"type":"chat_get_session_result","request_id":"2","session":{"id":"abff","name":"Time"},"messages":[{"role":"user","content":"now?"},{"role":"assistant","content":"9"}]}"#;
        let ran = command(false, &[LISTED, got], |c, s| run(c, &Sessions::Show { id: "abff".into() }, s));
        assert_eq!(ran.printed, "Time\n> now?\n\n9\n");
    }
}
