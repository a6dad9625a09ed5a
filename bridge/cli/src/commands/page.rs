//! Pages of the web that go with a message: the bridge has them fetched.
//!
//! Owns telling an address from a file. Must never connect to one.

use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::{ChatFetchPage, ChatPart};

use crate::args::PageRules;
use crate::client::Client;
use crate::screen::Status;

/// The fetcher ends by itself after 30 s.
const LIMIT: Duration = Duration::from_secs(60);

/// Gets a page: the part of a message that it becomes.
pub type Fetching<'a> = dyn FnMut(&str) -> Result<ChatPart, Failure> + 'a;

/// True if what was named as a file is an address.
pub fn is_address(named: &str) -> bool {
    let begins = |with: &str| named.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    begins("https://") || begins("http://")
}

/// Has a page fetched.
pub fn fetch(client: &mut Client, url: &str, rules: PageRules) -> Result<ChatPart, Failure> {
    let ask = ChatFetchPage {
        url: url.to_owned(),
        allow_http: rules.allow_http.then_some(true),
        allow_private: rules.allow_private.then_some(true),
    };
    let _status = Status::new(&format!("fetching {url} …"));
    Ok(client.ask(&ask, LIMIT)?.into_value().part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_no_file() {
        assert!(is_address("https://a.example") && is_address("HTTP://a.example/b"));
        assert!(!is_address("https:/a") && !is_address("http") && !is_address("é".repeat(9).as_str()));
    }
}
