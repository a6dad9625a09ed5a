//! The words about an AI client whose grants end by themselves.

use harbor_tests::Bridge;

use super::mcp_clients::Person;

/// The first grant replaces what a new client gets, and says what it lacks then.
#[test]
fn a_client_with_a_grant_for_a_while_is_not_told_that_it_has_none() {
    let person = Person::new();
    let bridge = Bridge::start(&person.home);
    person.done(&["grant", "client://cursor", "mcp:tools.call", "--for", "2h"]);
    let said = person.done(&["mcp", "install", "cursor"]);
    assert!(said.contains("Cursor may use all tools for a while, but not list them: "), "{said}");
    let (_, err, code) = person.harbor(&["tools", "--client", "cursor", "--off", "s/*"]);
    assert_eq!(code, Some(4), "{err}");
    assert!(err.contains("cursor has no lasting permission to call tools"), "{err}");
    person.done(&["grant", "client://cursor", "mcp:tools.list", "--for", "2h"]);
    let (out, err, _) = person.harbor(&["grants", "client://cursor"]);
    assert!(bridge.is_alive() && (out + &err).contains("may use all tools for a while; "), "{err}");
}
