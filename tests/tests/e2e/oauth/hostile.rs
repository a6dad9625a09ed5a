//! Servers and authorization servers that lead astray: nothing is opened, no code and no token goes anywhere.

use harbor_tests::authority::{Authority, Twists, visit};
use harbor_tests::{Bridge, Home};
use serde_json::{Value, json};

use super::{add, begin, finish};

/// How an authorization at this one fails: the cause and the sentence.
fn failure(twists: Twists) -> (String, String) {
    let (home, authority) = (Home::new(), Authority::start(twists));
    let bridge = Bridge::start(&home);
    add(&bridge, &authority.mcp.url());
    let error = begin(&bridge, &json!({})).unwrap_err();
    assert_eq!(
        (error.code.as_str(), authority.grants("authorization_code")),
        ("ERR_AUTHORIZATION_FAILED", 0)
    );
    (error.details["cause"].as_str().unwrap_or_default().to_owned(), error.message)
}

#[test]
fn documents_that_lead_astray_are_not_followed() {
    let about: [fn(&mut Value); 6] = [
        |about| about["issuer"] = json!("https://evil.example"),
        |about| about["authorization_endpoint"] = json!("javascript:alert(1)"),
        |about| about["authorization_endpoint"] = json!("file:///etc/passwd"),
        |about| about["token_endpoint"] = json!("http://evil.example/token"),
        |about| about["code_challenge_methods_supported"] = json!(["plain"]),
        |about| about["registration_endpoint"] = json!("ftp://evil.example"),
    ];
    for change in about {
        let (cause, said) = failure(Twists { about: Some(change), ..Twists::default() });
        assert_eq!(cause, "forbidden", "{said}");
        assert!(!said.contains("evil") && !said.contains("alert"), "{said}");
    }
    let resource: [fn(&mut Value); 2] = [
        |said| said["resource"] = json!("https://evil.example/mcp"),
        |said| said["authorization_servers"] = json!(["http://evil.example"]),
    ];
    for change in resource {
        let (cause, said) = failure(Twists { resource: Some(change), ..Twists::default() });
        assert_eq!(cause, "forbidden", "{said}");
    }
}

/// What is at this machine may name this machine, and nothing else that is private.
#[test]
fn a_server_here_does_not_lead_into_the_network() {
    let about: [fn(&mut Value); 3] = [
        |about| about["token_endpoint"] = json!("https://169.254.169.254/latest"),
        |about| about["registration_endpoint"] = json!("https://10.0.0.1/register"),
        |about| about["authorization_endpoint"] = json!("https://[fd00::1]/authorize"),
    ];
    for change in about {
        let (home, authority) =
            (Home::new(), Authority::start(Twists { about: Some(change), ..Twists::default() }));
        let bridge = Bridge::start(&home);
        let fields = json!({"server_id": "s", "url": authority.mcp.url()});
        bridge.call("add_remote_server", &fields).unwrap();
        let error = begin(&bridge, &json!({})).unwrap_err();
        assert_eq!(error.details["cause"], "forbidden", "{error:?}");
        assert!(error.message.contains("--allow-private"), "{error:?}");
    }
    let (home, authority) = (Home::new(), Authority::start(Twists::default()));
    let bridge = Bridge::start(&home);
    bridge.call("add_remote_server", &json!({"server_id": "s", "url": authority.mcp.url()})).unwrap();
    let _ = visit(&begin(&bridge, &json!({})).unwrap());
    finish(&bridge).unwrap();
}

#[test]
fn a_document_without_an_end_is_not_read_to_it() {
    let huge =
        Twists { about: Some(|about| about["more"] = json!("x".repeat(2 << 20))), ..Twists::default() };
    let (_, said) = failure(huge);
    assert!(said.contains("more than 1 MiB"), "{said}");
}

#[test]
fn an_answer_of_another_authorization_server_is_not_believed() {
    let another = Twists { also: "&iss=https%3A%2F%2Fevil.example", ..Twists::default() };
    let silent = Twists {
        about: Some(|about| about["authorization_response_iss_parameter_supported"] = json!(true)),
        ..Twists::default()
    };
    for twists in [another, silent] {
        let (home, authority) = (Home::new(), Authority::start(twists));
        let bridge = Bridge::start(&home);
        add(&bridge, &authority.mcp.url());
        let _ = visit(&begin(&bridge, &json!({})).unwrap());
        let error = finish(&bridge).unwrap_err();
        assert_eq!(
            (error.code.as_str(), &error.details["cause"]),
            ("ERR_AUTHORIZATION_FAILED", &json!("forbidden"))
        );
        assert_eq!(authority.grants("authorization_code"), 0, "no code goes anywhere");
    }
}

#[test]
fn a_server_that_knows_no_oauth_is_told_as_that() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let server = harbor_tests::Scripted::start(|_, _| false);
    add(&bridge, &server.url());
    let error = begin(&bridge, &json!({})).unwrap_err();
    assert!(error.message.contains("does not offer a sign-in"), "{}", error.message);
    let local = bridge.call("oauth_start", &json!({"server_id": "nobody"})).unwrap_err();
    assert_eq!(local.code, "not_found");
}
