//! The bytes of every message between the interpreter and its fetch process.

use super::super::codec::{get_message, put_message};
use super::*;

fn check<M>(message: &M, wanted: &[u8])
where
    M: Encode + PartialEq + std::fmt::Debug + for<'a> BorrowDecode<'a, ()>,
{
    let mut out = Vec::new();
    put_message(&mut out, message);
    assert_eq!(&out[4..], wanted, "{message:?}");
    assert_eq!(&get_message::<M>(wanted).unwrap(), message);
}

#[test]
fn to_the_fetch_process() {
    let ask = |redirects, body| WebRequest {
        id: 7,
        method: "GET".into(),
        url: "u".into(),
        headers: vec![("n".into(), "v".into())],
        body,
        redirects,
        limit_ms: 9,
    };
    check(&ToFetcher::Ask(ask(Redirects::Follow, None)), b"\x00\x07\x03GET\x01u\x01\x01n\x01v\x00\x00\x09");
    let body = Some(b"ab".to_vec());
    check(
        &ToFetcher::Ask(ask(Redirects::Error, body.clone())),
        b"\x00\x07\x03GET\x01u\x01\x01n\x01v\x01\x02ab\x01\x09",
    );
    check(
        &ToFetcher::Ask(ask(Redirects::Manual, body)),
        b"\x00\x07\x03GET\x01u\x01\x01n\x01v\x01\x02ab\x02\x09",
    );
    check(&ToFetcher::Abandon { id: 7 }, b"\x01\x07");
}

#[test]
fn from_the_fetch_process() {
    let answer = Answer {
        id: 7,
        status: 200,
        status_text: "OK".into(),
        url: "u".into(),
        redirected: true,
        headers: vec![("n".into(), "v".into())],
        body: b"ab".to_vec(),
    };
    check(&FromFetcher::Answered(answer), b"\x00\x07\xc8\x02OK\x01u\x01\x01\x01n\x01v\x02ab");
    check(&FromFetcher::Failed { id: 7, why: "w".into() }, b"\x01\x07\x01w");
}
