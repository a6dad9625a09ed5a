//! The limits of time, without waiting for them.

use tokio::time::Instant;

use super::*;

async fn proxied(rules: &[&str]) -> (std::net::SocketAddr, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    (address, tokio::task::spawn_local(serve(listener, Allowed::parse(&rules).unwrap())))
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_head_that_does_not_come_is_waited_for_ten_seconds() {
    let (address, proxy) = proxied(&[]).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"GET http://example.com/ HTTP/1.1\r\n").await.unwrap();
    let begin = Instant::now();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(begin.elapsed() >= HEAD_LIMIT);
    assert_eq!(answer.into_bytes(), Refusal::Slow.answer());
    proxy.abort();
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_refused_client_that_stays_is_left_after_a_while() {
    let (address, proxy) = proxied(&[]).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"CONNECT example.com:443 HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.ends_with(
        "\r\n\r\nrefused example.com:443: it is not among the allowed hosts; to allow it: harbor sandbox NAME \
         --host example.com\n"
    ));
    let begin = Instant::now();
    while client.write_all(b"more").await.is_ok() {
        sleep(PAUSE).await;
    }
    assert!(begin.elapsed() >= FAREWELL);
    proxy.abort();
}
