//! Questions and answers as they are typed, against prepared answers of a bridge.

use harbor_client::errors::Exit;

use super::super::rig::{Ran, command, typed};
use super::*;
use crate::args::{Command, parse};

const LISTED: &str = r#"{"type":"approvals_list_result","request_id":"1","waiting":[
{"id":"abcdef0123456789","state":"waiting","who":"chat","principal":"owner","session_id":"77770000ffff","tool":"mail/send","effect":"writes","reason":"leaves","why":"private data would leave","private":["files","gmail"],"answers":["once","flow","no"],"since":1,"until":2},
{"id":"abff","state":"missed","who":"client","principal":"client://cursor","tool":"time/set\u001b[2J","effect":"writes","reason":"first_use","why":"it is\nits first call","answers":["once","ten_minutes","always","no","never"]}],
"standing":[{"id":"9900","covers":"chat_tool","principal":"owner","session_id":"77770000ffff","what":"mail/send"},{"id":"9911","covers":"always","principal":"client://cursor","what":"time/set"},{"id":"7766","covers":"chat_server","principal":"owner","session_id":"77770000ffff","what":"mail"}]}"#;
const ANSWERED: &str = r#"{"type":"approvals_answer_result","request_id":"2","answered":true}"#;

/// What came of a line. The list is one line for the bridge.
fn ran(json: bool, line: &[&str], answers: &[&str]) -> Ran {
    let line: Vec<_> = ["approvals"].iter().chain(line).map(|&word| word.to_owned()).collect();
    let Command::Approvals { wanted } = parse(&line).unwrap() else { panic!("{line:?}") };
    let wanted = wanted.unwrap_or(Approvals::List);
    let answers: Vec<_> = answers.iter().map(|answer| answer.replace('\n', "")).collect();
    let answers: Vec<_> = answers.iter().map(String::as_str).collect();
    command(json, &answers, |client, screen| run(client, &wanted, screen))
}

#[test]
fn what_waits_and_what_stands_is_listed() {
    let shown = ran(false, &[], &[LISTED]).printed;
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "Waiting for your answer:");
    assert!(lines[1].starts_with("ID        WHO                   TOOL"), "{shown}");
    assert!(lines[2].starts_with("abcdef01  your model            mail/send "), "{shown}");
    assert!(lines[2].ends_with("days ago          private data would leave"), "{shown}");
    assert!(lines[3].starts_with("abff      the AI client cursor  time/set\\u{1b}[2J  "), "{shown}");
    assert!(lines[3].ends_with("days ago, missed  it is its first call"), "{shown}");
    assert_eq!((lines[4], lines[5]), ("", "Answers that stand:"));
    assert!(lines[7].contains("9900  mail/send  this tool in this chat  "), "{shown}");
    assert!(lines[7].contains("  you, chat 77770000  ") && lines[7].ends_with("  -"), "{shown}");
    assert!(lines[8].contains("this tool from now on") && lines[8].contains("client://cursor"), "{shown}");
    assert_eq!(lines.len(), 10);
}

#[test]
fn programs_get_the_reply_and_nothing_is_said_about_nothing() {
    assert!(ran(true, &["list"], &[LISTED]).printed.contains(r#""covers":"always""#));
    let none = r#"{"type":"approvals_list_result","request_id":"1"}"#;
    let ran = ran(false, &["list"], &[none]);
    assert_eq!((ran.printed.as_str(), ran.exit), ("", Exit::Done));
}

#[test]
fn a_question_is_shown_whole() {
    let whole = r#"{"type":"approvals_list_result","request_id":"2","waiting":[{"id":"abcdef0123456789","state":"waiting","who":"chat","principal":"owner","session_id":"77770000ffff","tool":"mail/send","effect":"writes","reason":"leaves","why":"private data would leave","private":["files","gmail"],"answers":["once","flow","no"]}],"arguments":{"to":"a\u202eb","n":[1]}}"#;
    let shown = ran(false, &["show", "abc"], &[LISTED, whole]);
    assert!(shown.asked[1].ends_with(r#""approval_id":"abcdef0123456789"}"#), "{:?}", shown.asked);
    let lines: Vec<_> = shown.printed.lines().filter(|line| !line.starts_with("asked ")).collect();
    assert_eq!(
        lines.join("\n"),
        "question   abcdef0123456789\nwho        your model, in session 77770000\n\
         wants      to call mail/send, which writes\nwhy        private data would leave\n\
         leaves     this would tell mail something that comes from: files, gmail\n\
         private    files, gmail\nyes for    once, flow\narguments\n    {\n      \"to\": \"a\\u202eb\",\n      \
         \"n\": [\n        1\n      ]\n    }"
    );
    assert_eq!(ran(true, &["show", "abc"], &[LISTED, whole]).printed.matches(r#""arguments":{"#).count(), 1);
}

#[test]
fn hidden_characters_of_arguments_are_written_out() {
    let answer = typed("{\"arguments\":{\"a\u{202e}\":\"b\u{200b}\"}}");
    assert_eq!(arguments(&answer), "arguments\n    {\n      \"a\\u{202e}\": \"b\\u{200b}\"\n    }");
}

#[test]
fn a_yes_is_for_what_the_question_offers() {
    let yes = ran(false, &["yes", "abc"], &[LISTED, ANSWERED]);
    assert_eq!(yes.printed, "yes to mail/send: this call\n");
    assert_eq!(
        yes.asked[1],
        r#"{"type":"approvals_answer","request_id":"2","approval_id":"abcdef0123456789","answer":"once"}"#
    );
    let missed = ran(false, &["yes", "abff", "--for", "ten-minutes"], &[LISTED, ANSWERED]);
    assert!(missed.asked[1].ends_with(r#""answer":"ten_minutes"}"#), "{:?}", missed.asked);
    assert_eq!(
        missed.printed,
        "yes to time/set\\u{1b}[2J: all tools of time for ten minutes; the call runs when it is repeated\n"
    );
    let wrong = ran(false, &["yes", "abc", "--for", "chat-tool"], &[LISTED]);
    assert_eq!((wrong.exit, wrong.asked.len()), (Exit::Usage, 1));
    let said = wrong.failure.unwrap();
    assert_eq!(said, "a yes to this question cannot be for chat-tool\nuse one of: once, flow");
    assert_eq!(
        ran(true, &["yes", "abc"], &[LISTED, ANSWERED]).printed.matches("\"answered\":true").count(),
        1
    );
}

#[test]
fn a_no_may_have_a_reason_or_be_for_good() {
    let no = ran(false, &["no", "abc", "not", "now"], &[LISTED, ANSWERED]);
    assert_eq!(no.printed, "no to mail/send\n");
    assert!(no.asked[1].ends_with(r#""answer":"no","reason":"not now"}"#), "{:?}", no.asked);
    let never = ran(false, &["no", "abff", "--never"], &[LISTED, ANSWERED]);
    assert!(never.asked[1].ends_with(r#""answer":"never"}"#), "{:?}", never.asked);
    assert!(never.printed.ends_with(", and never ask again\n"), "{}", never.printed);
    let wrong = ran(false, &["no", "abc", "--never"], &[LISTED]);
    assert_eq!((wrong.exit, wrong.asked.len()), (Exit::Usage, 1));
}

#[test]
fn a_question_that_is_not_clear_or_not_there_is_not_answered() {
    let several = ran(false, &["yes", "ab"], &[LISTED]);
    assert_eq!((several.exit, several.asked.len()), (Exit::Usage, 1));
    let none = ran(false, &["no", "x"], &[LISTED]);
    assert_eq!((none.exit, none.asked.len()), (Exit::NotFound, 1));
    let late = ran(false, &["yes", "abc"], &[LISTED, &ANSWERED.replace("true", "false")]);
    assert_eq!((late.exit, late.printed.as_str()), (Exit::NotFound, ""));
    assert_eq!(
        late.failure.as_deref(),
        Some("no question abc waits for an answer\n`harbor approvals` lists them")
    );
}

#[test]
fn answers_are_taken_back_by_id_or_by_what_they_are_for() {
    let revoked = r#"{"type":"approvals_revoke_result","request_id":"2","revoked":2}"#;
    for (typed, sent) in [
        ("991", "9911"),
        ("777", "77770000ffff"),
        ("mail", "mail"),
        ("mail/send", "mail/send"),
        ("client://cursor", "client://cursor"),
        ("other/tool", "other/tool"),
    ] {
        let ran = ran(false, &["revoke", typed], &[LISTED, revoked]);
        let end = format!(r#""approval_id":"{sent}"}}"#);
        assert!(ran.asked[1].ends_with(&end), "{typed}: {:?}", ran.asked);
        assert_eq!(ran.printed, "2 answers are revoked\n");
    }
    let several = ran(false, &["revoke", "99"], &[LISTED, revoked]);
    assert_eq!((several.exit, several.asked.len()), (Exit::Usage, 1));
    let none = ran(false, &["revoke", "x"], &[LISTED, &revoked.replace(":2}", ":0}")]);
    assert_eq!((none.exit, none.asked.len()), (Exit::NotFound, 2));
    let all = ran(false, &["revoke", "--all"], &[&revoked.replace("\"2\"", "\"1\"").replace(":2}", ":0}")]);
    assert_eq!(all.asked, [r#"{"type":"approvals_revoke","request_id":"1"}"#]);
    assert_eq!(all.printed, "no answer stood\n");
}
