//! Answers of collectors: whatever is at the address, a verdict is final and follows from the status.

use harbor_bridge::traces::answer::{MAX_HEAD, Verdict, read};

use super::Target;

pub(super) const COLLECTOR_ANSWER: Target = Target {
    name: "collector_answer",
    run: collector_answer,
    corpus: &[
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.0 202 \r\n\r\n",
        b"HTTP/1.1 503 No\r\nRetry-After: 7\r\n\r\n",
        b"HTTP/1.1 429 No\nretry-after:  99999999999999999999999 \n\n",
        b"HTTP/1.1 504 No\r\nRetry-After: Fri, 07 Nov 2031 23:59:59 GMT\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 999 \xff\xfe\r\nA\x00: b\r\n\r\n",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
        b"\r\n\r\nHTTP/1.1 200",
    ],
};

fn collector_answer(bytes: &[u8]) {
    let whole = read(bytes);
    if let Ok(Some(Verdict::Later(code, Some(wait)))) = whole {
        assert!([429, 502, 503, 504].contains(&code) && wait.as_secs() <= 300);
    }
    if bytes.len() >= MAX_HEAD {
        assert_ne!(whole, Ok(None), "nobody is waited for who says so much");
    }
    // It comes in pieces: what was decided stays, whatever follows.
    let first = (0..=bytes.len().min(256)).find_map(|length| match read(&bytes[..length]) {
        Ok(None) => None,
        decided => Some(decided),
    });
    if let Some(first) = first {
        assert_eq!(first, whole, "{bytes:?}");
    }
}
