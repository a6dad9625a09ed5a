//! Clients get their frames, and are cut off when they do not read.

use harbor_child::turn::LARGE;
use harbor_ipc_proto::client::PingResult;
use harbor_ipc_proto::frame::{FrameDecoder, Popped};

use super::*;

fn frames(bytes: &[u8]) -> Vec<serde_json::Value> {
    let mut decoder = FrameDecoder::new(1 << 30);
    decoder.push(bytes);
    let mut frames = Vec::new();
    while let Some(Popped::Frame(frame)) = decoder.pop() {
        frames.push(serde_json::from_slice(frame).unwrap());
    }
    frames
}

async fn written(client: &Client) -> Vec<serde_json::Value> {
    let (mut peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
    let (_, writer) = harbor_child::socket::split(mine).unwrap();
    client.outbox.close();
    client.outbox.drive(&writer).await.unwrap();
    drop(writer);
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut peer, &mut bytes).unwrap();
    frames(&bytes)
}

#[tokio::test(flavor = "local")]
async fn a_large_answer_comes_in_chunks_and_keeps_its_place() {
    let client = Client::new(Principal::Owner);
    client.set_takes(4096, true);
    let lengths = [10, 20_000, 10, 40_000, 10];
    for (id, length) in lengths.into_iter().enumerate() {
        let reply = PingResult { echo: Some("x".repeat(length)), timestamp: 1 };
        client.send_result(&Envelope::Typed(id.to_string()), "ping", Ok(Box::new(reply)));
    }
    assert!((60_000..62_000).contains(&client.outbox.held()), "{}", client.outbox.held());
    let frames = written(&client).await;
    let mut ids: Vec<_> = frames.iter().map(|frame| frame["request_id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted() && ids.len() > 15, "{ids:?}");
    ids.dedup();
    assert_eq!(ids, ["0", "1", "2", "3", "4"]);
    assert_eq!((client.outbox.pending(), client.outbox.held()), (0, 0));
}

#[tokio::test(flavor = "local")]
async fn a_long_answer_costs_its_own_bytes_however_much_waits_before_it() {
    let client = Client::new(Principal::Owner);
    client.set_takes(4096, true);
    let answer = |length| {
        let reply = PingResult { echo: Some("x".repeat(length)), timestamp: 1 };
        client.send_result(&Envelope::Typed("1".into()), "ping", Ok(Box::new(reply)));
    };
    (0..1000).for_each(|_| answer(4000));
    let before = client.outbox.held();
    (0..100).for_each(|_| answer(5000));
    assert!((before + 500_000..before + 520_000).contains(&client.outbox.held()));
    client.set_takes(4096, false);
    (0..100).for_each(|_| answer(1_000_000));
    assert!(client.outbox.held() < before + 560_000, "what is too large is not kept");
    client.outbox.push(|out| assert!(out.capacity() <= LARGE)).unwrap();
}

#[tokio::test(flavor = "local")]
async fn a_follower_that_does_not_read_misses_lines_and_is_told_how_many() {
    let client = Client::new(Principal::Owner);
    client.follow_logs("s", true);
    let line = format!(r#"{{"x":"{}"}}"#, "x".repeat(10_000));
    let left_out =
        |server: &str, missed: u64| format!(r#"{{"server":"{server}","missed":{missed}}}"#).into_bytes();
    (0..1000).for_each(|_| client.send_log("s", line.as_bytes(), left_out));
    client.send_log("other", line.as_bytes(), |_, _| panic!("it is not followed"));
    assert!(client.outbox.pending() < limits::PUSHES_WAIT + 20_000);
    let (mut peer, mine) = std::os::unix::net::UnixStream::pair().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut peer, &mut bytes).map(|_| bytes)
    });
    let (_, writer) = harbor_child::socket::split(mine).unwrap();
    let driver = tokio::task::spawn_local({
        let client = client.clone();
        async move { client.outbox.drive(&writer).await }
    });
    while client.followed.borrow()["s"] > 0 || client.outbox.pending() > 0 {
        tokio::task::yield_now().await;
    }
    client.outbox.close();
    driver.await.unwrap().unwrap();
    let frames = frames(&reader.join().unwrap().unwrap());
    let missed = frames.last().unwrap()["missed"].as_u64().unwrap();
    assert_eq!(frames.len() as u64 - 1 + missed, 1000, "told without a further line, and exact");
}

#[tokio::test(flavor = "local")]
async fn who_does_not_read_news_is_cut_off() {
    let client = Client::new(Principal::Owner);
    let news = vec![b' '; 1 << 20];
    (0..8).for_each(|_| client.send_news(&news[..1000]));
    assert!(!client.outbox.is_closed());
    client.set_takes(2 << 20, false);
    (0..10).for_each(|_| client.send_news(&news));
    assert!(client.outbox.is_closed());
}

#[tokio::test(flavor = "local")]
async fn without_chunks_it_is_an_error_with_the_id() {
    let client = Client::new(Principal::Owner);
    client.set_takes(4096, false);
    let reply = PingResult { echo: Some("x".repeat(5000)), timestamp: 1 };
    client.send_result(&Envelope::Rpc("7".into()), "ping", Ok(Box::new(reply)));
    let sent = written(&client).await;
    assert_eq!(sent[0]["id"], 7);
    assert_eq!(sent[0]["error"]["data"]["code"], "message_too_large");
}
