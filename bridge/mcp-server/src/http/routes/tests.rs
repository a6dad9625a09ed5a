//! The table, line by line.

use super::*;

fn asked(id: &str, token: Option<&str>) -> Asked {
    Asked { id: id.into(), token: token.map(str::to_owned) }
}

fn line(text: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",{text}}}\n").into_bytes()
}

/// What has come on a stream, and whether it has ended.
fn read(stream: &mut Receiver<Said>) -> (Vec<Vec<u8>>, bool) {
    let mut lines = Vec::new();
    while let Ok(said) = stream.try_recv() {
        match said {
            Said::Line(line) => lines.push(line),
            Said::Answer(line) => {
                lines.push(line);
                return (lines, true);
            }
            Said::Cancelled => return (lines, true),
        }
    }
    (lines, false)
}

#[test]
fn each_line_goes_on_one_stream() {
    let mut routes = Routes::default();
    let (_, mut one) = routes.ask(asked("1", Some("7"))).unwrap();
    let (_, mut two) = routes.ask(asked("\"1\"", Some("\"7\""))).unwrap();
    let (_, mut listener) = routes.listen();
    assert_eq!(routes.ask(asked("1", None)).unwrap_err(), NotAsked::Taken);
    let progress = |token| {
        line(&format!("\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token}}}"))
    };
    let (answer_one, answer_two) = (line("\"id\":1,\"result\":{}"), line("\"id\":\"1\",\"error\":{}"));
    let changed = line("\"method\":\"notifications/tools/list_changed\"");
    let question = line("\"id\":\"q\",\"method\":\"sampling/createMessage\",\"params\":{}");
    for line in
        [&progress("\"7\""), &progress("7"), &progress("8"), &changed, &question, &answer_one, &answer_two]
    {
        assert_eq!(routes.pass(line.clone()), None);
    }
    assert_eq!(read(&mut one), (vec![progress("7"), answer_one], true));
    assert_eq!(
        read(&mut two),
        (vec![progress("\"7\""), question.clone(), answer_two], true),
        "the newest is asked"
    );
    assert_eq!(read(&mut listener), (vec![changed], false));
    assert_eq!(routes.pass(question.clone()), None);
    assert_eq!(read(&mut listener), (vec![question], false), "without an open request the listener is");
}

#[test]
fn what_nobody_can_be_asked_is_refused_and_news_wait_for_a_listener() {
    let mut routes = Routes::default();
    let refusal = routes.pass(line("\"id\":\"q\",\"method\":\"elicitation/create\"")).unwrap();
    let refusal: serde_json::Value = serde_json::from_slice(&refusal).unwrap();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&"q".into(), &REFUSED.into()));
    let news = |n: usize| line(&format!("\"method\":\"notifications/x\",\"params\":{{\"n\":{n}}}"));
    (0..BACKLOG + 5).for_each(|n| assert_eq!(routes.pass(news(n)), None));
    let (first, mut old) = routes.listen();
    let (_, mut new) = routes.listen();
    assert_eq!(read(&mut old).0, (5..BACKLOG + 5).map(news).collect::<Vec<_>>(), "the oldest are gone");
    assert_eq!(old.try_recv(), Err(tokio::sync::mpsc::error::TryRecvError::Disconnected));
    routes.leave(first);
    assert!(routes.is_read(), "the earlier one has no part in the later one");
    routes.pass(news(0));
    assert_eq!(read(&mut new).0, [news(0)]);
}

#[test]
fn a_stream_that_is_not_read_keeps_its_answer_and_one_that_is_left_blocks_nobody() {
    let mut routes = Routes::default();
    let (_, mut slow) = routes.ask(asked("1", Some("1"))).unwrap();
    let (left, _) = routes.ask(asked("2", None)).unwrap();
    let progress = line("\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1}");
    (0..2 * QUEUE).for_each(|_| assert_eq!(routes.pass(progress.clone()), None));
    routes.pass(line("\"id\":1,\"result\":{}"));
    let (lines, ended) = read(&mut slow);
    assert_eq!((lines.len(), ended), (QUEUE, true));
    routes.leave(left);
    assert!(!routes.is_read());
    assert!(routes.ask(asked("2", None)).is_err(), "it is still open there");
    routes.pass(line("\"id\":2,\"result\":{}"));
    assert!(routes.ask(asked("2", None)).is_ok());
}

#[test]
fn what_is_cancelled_is_forgotten_and_only_so_many_are_open() {
    let mut routes = Routes::default();
    let (left, _) = routes.ask(asked("0", None)).unwrap();
    routes.leave(left);
    let mut streams: Vec<_> = (1..OPEN).map(|n| routes.ask(asked(&n.to_string(), None)).unwrap().1).collect();
    assert_eq!(routes.ask(asked("x", None)).unwrap_err(), NotAsked::TooMany);
    for id in ["0", "1", "unknown"] {
        routes.end(id, Said::Cancelled);
    }
    assert_eq!(streams[0].try_recv(), Ok(Said::Cancelled));
    assert_eq!(routes.open.len(), OPEN - 2);
    assert!(routes.ask(asked("0", None)).is_ok() && routes.ask(asked("1", None)).is_ok(), "the ids are free");
}
