//! sessions: the person's conversations with language models.
//!
//! Owns finding a session by the beginning of its id. Must never delete one that was not clearly meant.

pub mod transcript;

use std::fs;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    ChatDeleteSession, ChatExport, ChatGetSession, ChatImport, ChatListSessions, ChatSessionView,
    SessionExcerpt,
};

use super::ids::{meant, short};
use super::printing::print;
use crate::args::{Form, Sessions};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::{Table, flatten};
use crate::when;

/// The number of sessions that are listed, more than anybody has.
const ALL: u64 = 1_000_000;

/// The longest file that can be imported, in bytes.
const LONGEST: u64 = 32 * 1024 * 1024;

pub fn run(client: &mut Client, wanted: &Sessions, screen: &mut Screen) -> Result<(), Failure> {
    match wanted {
        Sessions::List { search } => list(client, search.clone(), screen),
        Sessions::Import { file } => import(client, file, screen),
        Sessions::Show { id } => show(client, id, screen),
        Sessions::Delete { id } => delete(client, id, screen),
        Sessions::Export { id, format } => export(client, id, *format, screen),
    }
}

/// The id that begins with the typed text. If there is none, the typed text itself, since the bridge says what is wrong with it.
pub fn id_of(client: &mut Client, typed: &str) -> Result<String, Failure> {
    let all = client.ask(&every_session(None), QUICK)?.into_value().sessions;
    let ids = all.into_iter().map(|session| session.id);
    Ok(meant(ids, typed, ("sessions", "`harbor sessions`"))?.unwrap_or_else(|| typed.to_owned()))
}

/// The session that was used last.
pub fn last_used(client: &mut Client) -> Result<String, Failure> {
    let all = client.ask(&every_session(None), QUICK)?.into_value().sessions;
    let last = all.into_iter().max_by_key(|session| session.updatedAt);
    let none = || Failure::Usage("there is no session to go on with yet; `harbor chat` begins one".into());
    last.map(|session| session.id).ok_or_else(none)
}

/// Asks for all sessions, or for those with these words.
pub fn every_session(query: Option<String>) -> ChatListSessions {
    ChatListSessions { limit: Some(ALL), query, offset: None }
}

fn list(client: &mut Client, search: Option<String>, screen: &mut Screen) -> Result<(), Failure> {
    let is_search = search.is_some();
    let answer = client.ask(&every_session(search), QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    match answer.sessions.is_empty() {
        true if is_search => remark("no session has all these words"),
        true if answer.unreadable.is_empty() => remark("there is no session yet; `harbor chat` begins one"),
        true => {}
        false => screen.table(&table(&answer.sessions, when::now()))?,
    }
    for SessionExcerpt { session_id, text } in &answer.excerpts {
        screen.text(&format!("{}: {}\n", short(session_id), flatten(text)))?;
    }
    if answer.is_partial {
        remark("the search took too long: the oldest sessions were not read");
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

fn import(client: &mut Client, file: &str, screen: &mut Screen) -> Result<(), Failure> {
    let wrong = |what: String| Failure::Usage(format!("{file}: {what}"));
    let length = fs::metadata(file).map_err(|error| wrong(format!("cannot read it: {error}")))?.len();
    if length > LONGEST {
        return Err(wrong("it is longer than 32 MiB".into()));
    }
    let text = fs::read_to_string(file).map_err(|error| wrong(format!("cannot read it: {error}")))?;
    let answer = client.ask(&ChatImport { text }, QUICK)?;
    print(screen, &answer, |answer| {
        format!("the session is there; `harbor chat {}` goes on with it", short(&answer.session.id))
    })
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
        let ran = command(false, &[LISTED], |c, s| run(c, &Sessions::List { search: None }, s));
        let lines: Vec<_> = ran.printed.lines().collect();
        assert!(lines[0].starts_with("ID        USED"), "{}", ran.printed);
        assert!(
            lines[1].starts_with("abcdef01  ") && lines[1].ends_with("4         p:m    Time"),
            "{}",
            lines[1]
        );
        assert!(lines[2].ends_with("- (private)"), "{}", lines[2]);
        let ran = command(true, &[LISTED], |c, s| run(c, &Sessions::List { search: None }, s));
        assert!(ran.printed.contains("\"unreadable\":[\"x: broken\"]"), "{}", ran.printed);
        let none = r#"{"type":"chat_list_sessions_result","request_id":"1"}"#;
        let ran = command(false, &[none], |c, s| run(c, &Sessions::List { search: None }, s));
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
    fn a_search_shows_where_its_words_stand() {
        let found = LISTED.replace(
            "\"unreadable\"",
            r#""excerpts":[{"session_id":"abff","text":"a\nb"}],"is_partial":true,"unreadable""#,
        );
        let wanted = Sessions::List { search: Some("a b".into()) };
        let ran = command(false, &[&found], |c, s| run(c, &wanted, s));
        assert!(ran.printed.ends_with("abff: a b\n"), "{}", ran.printed);
        assert!(ran.asked[0].contains(r#""query":"a b""#), "{:?}", ran.asked);
    }

    #[test]
    fn a_file_becomes_a_session() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("talk.json");
        let file = path.to_str().unwrap().to_owned();
        let import = |answers: &[&str]| {
            command(false, answers, |c, s| run(c, &Sessions::Import { file: file.clone() }, s))
        };
        assert_eq!((import(&[]).exit, import(&[]).asked.len()), (Exit::Usage, 0), "there is no such file");
        fs::write(&path, "{}").unwrap();
        let ran = import(&[r#"{"type":"chat_import_result","request_id":"1","session":{"id":"abff"}}"#]);
        assert_eq!(ran.printed, "the session is there; `harbor chat abff` goes on with it\n");
        assert!(ran.asked[0].contains(r#""text":"{}""#), "{:?}", ran.asked);
    }

    #[test]
    fn what_was_said_is_shown() {
        let got = r#"{"type":"chat_get_session_result","request_id":"2","session":{"id":"abff","name":"Time"},"messages":[{"role":"user","content":"now?"},{"role":"assistant","content":"9"}]}"#;
        let ran = command(false, &[LISTED, got], |c, s| run(c, &Sessions::Show { id: "abff".into() }, s));
        assert_eq!(ran.printed, "Time\n> now?\n\n9\n");
    }
}
