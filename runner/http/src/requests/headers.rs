//! Headers between a script and a server: names and values as texts, each character of a value one byte.
//!
//! Owns which headers of a request are the client's own, as in browsers: those that say where a message ends, and whom it is
//! for.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::failure::FetchFailure;

/// Headers of a request that only the client sets. As in browsers, a script's are left out.
const OWN: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Headers that say who asks: they do not follow a redirect to another place.
const OF_THE_PLACE: &[&str] = &["authorization", "cookie"];

/// A script's headers for a request.
///
/// # Errors
/// For one that is none.
pub(super) fn of_request(headers: &[(String, String)]) -> Result<HeaderMap, FetchFailure> {
    let mut all = HeaderMap::new();
    for (name, value) in headers {
        let wrong = || FetchFailure::Header(name.clone());
        let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let bytes: Result<Vec<u8>, _> = value.chars().map(u8::try_from).collect();
        let value = bytes.ok().and_then(|bytes| HeaderValue::from_bytes(&bytes).ok()).ok_or_else(wrong)?;
        if !OWN.contains(&known.as_str()) && !known.as_str().starts_with("proxy-") {
            all.append(known, value);
        }
    }
    Ok(all)
}

/// Takes out what another place must not see.
pub(super) fn at_another_place(headers: &mut HeaderMap) {
    for name in OF_THE_PLACE {
        headers.remove(*name);
    }
}

/// Takes out what describes a body that is not sent any more.
pub(super) fn without_body(headers: &mut HeaderMap) {
    for name in ["content-encoding", "content-language", "content-location", "content-type"] {
        headers.remove(name);
    }
}

/// An answer's headers for a script.
pub(super) fn of_answer(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| value.as_bytes().iter().map(|byte| char::from(*byte)).collect();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, FetchFailure> {
        let pairs: Vec<_> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        of_request(&pairs).map(|headers| of_answer(&headers))
    }

    #[test]
    fn values_are_bytes_and_what_frames_a_message_is_left_out() {
        let kept = [
            ("x-a".to_owned(), "\u{e9}".to_owned()),
            ("x-a".into(), "2".into()),
            ("accept".into(), "*/*".into()),
        ];
        let given = [
            ("X-A", "\u{e9}"),
            ("Host", "evil"),
            ("Content-Length", "3"),
            ("Proxy-Authorization", "x"),
            ("x-a", "2"),
            ("transfer-encoding", "chunked"),
            ("Accept", "*/*"),
        ];
        assert_eq!(read(&given), Ok(kept.to_vec()));
        for (name, value) in [("a b", "c"), ("", "c"), ("a", "b\r\nc: d"), ("a", "\u{20ac}"), ("a", "\0")] {
            assert!(read(&[(name, value)]).is_err(), "{name:?} {value:?}");
        }
    }

    #[test]
    fn another_place_learns_nothing_of_who_asks() {
        let given = [
            ("authorization".to_owned(), "a".to_owned()),
            ("cookie".into(), "c".into()),
            ("x".into(), "y".into()),
        ];
        let mut headers = of_request(&given).unwrap();
        at_another_place(&mut headers);
        assert_eq!(of_answer(&headers), [("x".to_owned(), "y".to_owned())]);
    }
}
