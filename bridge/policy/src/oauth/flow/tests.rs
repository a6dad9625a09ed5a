//! Whole authorizations against documents of every kind, and against whatever may come.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::oauth::proof::RANDOM;

const MCP: &str = "https://a.example/mcp";
const CHALLENGE: &str = "Bearer resource_metadata=\"https://a.example/about\", scope=\"read\"";
const REDIRECT: &str = "http://127.0.0.1:4321/callback";

fn wish() -> Wish<'static> {
    Wish {
        redirect_uri: REDIRECT.into(),
        client: None,
        client_document: None,
        scopes: Vec::new(),
        challenge: None,
    }
}

fn begin(wish: Wish<'static>) -> (Flow, LoginAction) {
    let nonces = Nonces::of(&[1; RANDOM], &[2; RANDOM]);
    Flow::begin(Url::parse(MCP).unwrap(), AllowedAddresses::Public, wish, nonces)
}

fn resource() -> Value {
    json!({"resource": MCP, "authorization_servers": ["https://b.example/t"], "scopes_supported": ["all"]})
}

fn issuer() -> Value {
    json!({
        "issuer": "https://b.example/t",
        "authorization_endpoint": "https://b.example/authorize?x=1",
        "token_endpoint": "https://b.example/token",
        "registration_endpoint": "https://b.example/register",
        "code_challenge_methods_supported": ["S256"],
    })
}

fn answer(flow: &mut Flow, body: &Value) -> LoginAction {
    flow.on(LoginEvent::Answered(200, body.to_string().as_bytes()), 1000)
}

fn text(status: u16, flow: &mut Flow, body: &str) -> LoginAction {
    flow.on(LoginEvent::Answered(status, body.as_bytes()), 1000)
}

fn get(url: &str) -> LoginAction {
    LoginAction::Get(Url::parse(url).unwrap())
}

fn failure(action: LoginAction) -> Failure {
    match action {
        LoginAction::Fail(failure) => failure,
        other => panic!("{other:?}"),
    }
}

/// As far as the document of the authorization server.
fn at_issuer(wish: Wish<'static>) -> Flow {
    let (mut flow, first) = begin(wish);
    assert_eq!(first, LoginAction::Probe);
    assert_eq!(flow.on(LoginEvent::Probed(401, CHALLENGE), 0), get("https://a.example/about"));
    let next = answer(&mut flow, &resource());
    assert_eq!(next, get("https://b.example/.well-known/oauth-authorization-server/t"));
    flow
}

/// The query of the URL that the person is to open.
fn asked(action: &LoginAction) -> std::collections::BTreeMap<String, String> {
    match action {
        LoginAction::Ask(url) => url.query_pairs().map(|(name, value)| (name.into(), value.into())).collect(),
        other => panic!("{other:?}"),
    }
}

fn form(action: LoginAction) -> (TokenForm, std::collections::BTreeMap<String, String>) {
    let LoginAction::Redeem(form) = action else { panic!("{action:?}") };
    let fields = url::form_urlencoded::parse(form.body.expose().as_bytes());
    let fields = fields.map(|(name, value)| (name.into(), value.into())).collect();
    (form, fields)
}

fn with_state(flow: &Flow, rest: &str) -> String {
    format!("state={}&{rest}", flow.state().expose())
}

#[test]
fn the_whole_way_with_a_client_that_registers() {
    let mut flow = at_issuer(Wish { scopes: vec!["more".into()], ..wish() });
    let LoginAction::Register(url, body) = answer(&mut flow, &issuer()) else { panic!("no registration") };
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(url.as_str(), "https://b.example/register");
    assert_eq!((&body["redirect_uris"], &body["application_type"]), (&json!([REDIRECT]), &json!("native")));
    assert_eq!(body["token_endpoint_auth_method"], "none");
    let open = flow.on(LoginEvent::Answered(201, br#"{"client_id":"c 1"}"#), 1000);
    let query = asked(&open);
    assert_eq!((query["client_id"].as_str(), query["x"].as_str()), ("c 1", "1"));
    assert_eq!((query["scope"].as_str(), query["resource"].as_str()), ("read more", MCP));
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["state"], flow.state().expose());
    let back = with_state(&flow, "code=the%20code");
    let (form, fields) = form(flow.on(LoginEvent::Redirected(&back), 2000));
    assert_eq!((form.url.as_str(), form.basic), ("https://b.example/token", None));
    assert_eq!((fields["code"].as_str(), fields["client_id"].as_str()), ("the code", "c 1"));
    assert_eq!((fields["resource"].as_str(), fields["redirect_uri"].as_str()), (MCP, REDIRECT));
    assert!(fields["code_verifier"].len() >= 43);
    let tokens = br#"{"access_token":"t","token_type":"bearer","expires_in":1,"refresh_token":"r"}"#;
    let LoginAction::Done(grant) = flow.on(LoginEvent::Answered(200, tokens), 5000) else {
        panic!("no grant")
    };
    assert_eq!((grant.access_token.expose(), grant.expires_at, grant.granted_at), ("t", Some(6000), 5000));
    assert_eq!(
        (grant.issuer.as_str(), grant.scopes),
        ("https://b.example/t", vec!["read".into(), "more".into()])
    );
    assert_eq!(failure(text(200, &mut flow, "{}")).kind, RemoteEnd::NotAuthorized);
}

#[test]
fn who_one_is_there_is_said_by_the_person_by_a_document_or_by_registration() {
    let given = |issuer: Option<&str>| {
        let secret = Some(Secret::new("s".into()));
        let issuer = issuer.map(|text| text.to_owned().into());
        Wish { client: Some(Given { id: "me".into(), secret, issuer }), ..wish() }
    };
    let document = || Wish { client_document: Some("https://h.example/c.json".into()), ..wish() };
    let mut about = issuer();
    about["client_id_metadata_document_supported"] = json!(true);

    let mut flow = at_issuer(given(Some("https://b.example/t")));
    assert_eq!(asked(&answer(&mut flow, &about))["client_id"], "me");
    let back = with_state(&flow, "code=c");
    let (form, fields) = form(flow.on(LoginEvent::Redirected(&back), 0));
    assert!(form.basic.is_some() && !fields.contains_key("client_secret"));

    let failed = failure(answer(&mut at_issuer(given(Some("https://other.example"))), &about));
    assert!(failed.why.contains("--client-id"), "{failed:?}");

    let open = answer(&mut at_issuer(document()), &about);
    assert_eq!(asked(&open)["client_id"], "https://h.example/c.json");
    assert!(matches!(answer(&mut at_issuer(document()), &issuer()), LoginAction::Register(..)));

    let mut closed = issuer();
    closed["registration_endpoint"] = Value::Null;
    let failed = failure(answer(&mut at_issuer(wish()), &closed));
    assert!(failed.why.contains("--client-id") && failed.why.contains("b.example"), "{failed:?}");
    let mut flow = at_issuer(wish());
    let _ = answer(&mut flow, &issuer());
    let failed = failure(text(400, &mut flow, r#"{"error":"<b>no</b>"}"#));
    assert!(failed.why.contains("--client-id") && !failed.why.contains("<b>"), "{failed:?}");
}

#[test]
fn a_secret_that_is_given_is_shown_as_the_server_wants_it() {
    for (offered, body, basic, post) in [
        ("client_secret_basic", r#"{"client_id":"c","client_secret":"s"}"#, true, false),
        (
            "client_secret_post",
            r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#,
            false,
            true,
        ),
        (
            "none",
            r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"none"}"#,
            false,
            false,
        ),
    ] {
        let mut about = issuer();
        about["token_endpoint_auth_methods_supported"] = json!([offered]);
        let mut flow = at_issuer(wish());
        let LoginAction::Register(_, asked) = answer(&mut flow, &about) else { panic!("no registration") };
        assert!(asked.contains(offered), "{asked}");
        let _ = text(201, &mut flow, body);
        let back = with_state(&flow, "code=c");
        let (form, fields) = form(flow.on(LoginEvent::Redirected(&back), 0));
        assert_eq!((form.basic.is_some(), fields.contains_key("client_secret")), (basic, post), "{offered}");
    }
}

#[test]
fn without_a_challenge_the_well_known_places_are_asked() {
    let (mut flow, _) = begin(wish());
    let next = flow.on(LoginEvent::Probed(401, ""), 0);
    assert_eq!(next, get("https://a.example/.well-known/oauth-protected-resource/mcp"));
    assert_eq!(text(404, &mut flow, "{}"), get("https://a.example/.well-known/oauth-protected-resource"));
    assert_eq!(
        text(200, &mut flow, "<html>"),
        get("https://a.example/.well-known/oauth-authorization-server")
    );
    assert_eq!(text(404, &mut flow, ""), get("https://a.example/.well-known/openid-configuration"));
    // As of 2025-03-26.
    let LoginAction::Register(url, _) = text(404, &mut flow, "") else { panic!("no registration") };
    assert_eq!(url.as_str(), "https://a.example/register");
    // Nobody has named it: it calls itself as it likes, at this host.
    let at_home = |issuer: &str| {
        let (mut flow, _) = begin(wish());
        let _ = flow.on(LoginEvent::Probed(401, ""), 0);
        let _ = (text(404, &mut flow, ""), text(404, &mut flow, ""));
        answer(
            &mut flow,
            &json!({
                "issuer": issuer,
                "authorization_endpoint": "https://a.example/o/authorize",
                "token_endpoint": "https://a.example/o/token",
                "registration_endpoint": "https://a.example/o/register",
                "code_challenge_methods_supported": ["S256"],
            }),
        )
    };
    assert!(matches!(at_home("https://a.example/o"), LoginAction::Register(..)));
    assert_eq!(failure(at_home("https://b.example")).kind, RemoteEnd::Forbidden);
    // A server that refuses nobody has no such places.
    let (mut flow, _) = begin(wish());
    let _ = flow.on(LoginEvent::Probed(200, ""), 0);
    for _ in 0..3 {
        assert!(matches!(text(404, &mut flow, ""), LoginAction::Get(_)));
    }
    assert!(failure(text(404, &mut flow, "")).why.contains("does not offer a sign-in"));
}

#[test]
fn scopes_are_those_that_are_wanted_now_and_those_that_were_granted() {
    let mut about = issuer();
    about["scopes_supported"] = json!(["offline_access"]);
    let known = |text: &str| Wish {
        client: Some(Given { id: "me".into(), secret: None, issuer: None }),
        challenge: Some(text.to_owned().into()),
        scopes: vec!["old".into()],
        ..wish()
    };
    // What the running server has said is known: it is not asked again.
    let (mut flow, first) = begin(known("Bearer error=\"insufficient_scope\", scope=\"write\""));
    assert_eq!(first, get("https://a.example/.well-known/oauth-protected-resource/mcp"));
    let _ = answer(&mut flow, &resource());
    let query = asked(&answer(&mut flow, &about));
    assert_eq!((query["scope"].as_str(), query["prompt"].as_str()), ("write old offline_access", "consent"));
    let (mut flow, _) = begin(known("Bearer"));
    let _ = answer(&mut flow, &resource());
    assert_eq!(asked(&answer(&mut flow, &issuer()))["scope"], "all old");
    let (mut flow, _) = begin(Wish { scopes: Vec::new(), ..known("Bearer") });
    let _ = answer(
        &mut flow,
        &json!({"resource": "https://a.example", "authorization_servers": ["https://b.example/t"]}),
    );
    let query = asked(&answer(&mut flow, &issuer()));
    assert_eq!((query.get("scope"), query["resource"].as_str()), (None, "https://a.example"));
}

#[test]
fn documents_that_mislead_end_it() {
    let said = |document: Value| {
        let (mut flow, _) = begin(wish());
        let _ = flow.on(LoginEvent::Probed(401, CHALLENGE), 0);
        failure(answer(&mut flow, &document)).kind
    };
    assert_eq!(said(json!({"resource": "https://evil.example/mcp"})), RemoteEnd::Forbidden);
    for place in ["https://10.0.0.1", "http://b.example", "http://127.0.0.1:1", "javascript:x"] {
        assert_eq!(
            said(json!({"resource": MCP, "authorization_servers": [place]})),
            RemoteEnd::Forbidden,
            "{place}"
        );
    }
    let (mut flow, _) = begin(wish());
    let private = "Bearer resource_metadata=\"https://169.254.169.254/latest\"";
    assert_eq!(failure(flow.on(LoginEvent::Probed(401, private), 0)).kind, RemoteEnd::Forbidden);
    for (name, value) in [
        ("issuer", json!("https://evil.example")),
        ("code_challenge_methods_supported", json!(["plain"])),
        ("authorization_endpoint", json!("file:///etc/passwd")),
        ("token_endpoint", json!("http://b.example/token")),
    ] {
        let mut about = issuer();
        about[name] = value;
        let failed = failure(answer(&mut at_issuer(wish()), &about));
        assert_eq!(failed.kind, RemoteEnd::Forbidden, "{name}: {failed:?}");
    }
}

#[test]
fn a_wrong_answer_sends_no_code_anywhere() {
    let mut about = issuer();
    about["authorization_response_iss_parameter_supported"] = json!(true);
    let wish = || Wish { client: Some(Given { id: "me".into(), secret: None, issuer: None }), ..wish() };
    for (query, kind) in [
        ("code=c", RemoteEnd::Forbidden),
        ("code=c&iss=https://evil.example", RemoteEnd::Forbidden),
        ("error=access_denied&iss=https://b.example/t", RemoteEnd::NotAuthorized),
        ("iss=https://b.example/t", RemoteEnd::NotAuthorized),
    ] {
        let mut flow = at_issuer(wish());
        let _ = answer(&mut flow, &about);
        let query = with_state(&flow, query);
        assert_eq!(failure(flow.on(LoginEvent::Redirected(&query), 0)).kind, kind, "{query}");
    }
    let mut flow = at_issuer(wish());
    let _ = answer(&mut flow, &about);
    let _ = failure(flow.on(LoginEvent::Redirected("state=x&code=c&iss=https://b.example/t"), 0));
    let _ = failure(text(200, &mut flow, r#"{"access_token":"t","token_type":"bearer"}"#));
}

/// What may come, good and bad.
fn events() -> impl Strategy<Value = (u8, u16, String)> {
    let good = prop_oneof![
        Just(resource().to_string()),
        Just(issuer().to_string()),
        Just(r#"{"client_id":"c"}"#.to_owned()),
        Just(r#"{"access_token":"t","token_type":"bearer"}"#.to_owned()),
        Just("code=c".to_owned()),
        Just(CHALLENGE.to_owned()),
        ".{0,40}",
    ];
    (0u8..4, prop_oneof![Just(200u16), Just(401), Just(404), 100u16..600], good)
}

proptest! {
    /// Whatever comes: it ends, and no URL is asked that may not be.
    #[test]
    fn it_ends_and_asks_nobody_else(all in proptest::collection::vec(events(), 40)) {
        let (mut flow, mut action) = begin(wish());
        let failed = Failure { kind: RemoteEnd::Unreachable, why: "x".into() };
        let mut over = false;
        for (kind, status, text) in all {
            let url = match &action {
                LoginAction::Get(url) | LoginAction::Register(url, _) | LoginAction::Ask(url) => Some(url.clone()),
                LoginAction::Redeem(form) => Url::parse(&form.url).ok(),
                _ => None,
            };
            prop_assert!(url.is_none_or(|url| url.scheme() == "https" && url.host_str().is_some_and(|host| ["a.example", "b.example"].contains(&host))));
            over |= matches!(action, LoginAction::Done(_) | LoginAction::Fail(_));
            let query = with_state(&flow, &text);
            let event = match kind {
                0 => LoginEvent::Probed(status, &text),
                1 => LoginEvent::Unanswered(&failed),
                2 => LoginEvent::Redirected(&query),
                _ => LoginEvent::Answered(status, text.as_bytes()),
            };
            action = flow.on(event, 0);
            prop_assert!(!over || matches!(action, LoginAction::Fail(_)));
        }
        prop_assert!(over);
    }
}

#[test]
fn a_named_place_without_a_document_gives_way_to_the_usual_ones_and_is_named_at_the_end() {
    let usual = [
        "https://a.example/.well-known/oauth-protected-resource/mcp",
        "https://a.example/.well-known/oauth-protected-resource",
    ];
    let (mut flow, _) = begin(wish());
    assert_eq!(flow.on(LoginEvent::Probed(401, CHALLENGE), 0), get("https://a.example/about"));
    assert_eq!(text(404, &mut flow, ""), get(usual[0]));
    let found = answer(&mut flow, &resource());
    assert_eq!(found, get("https://b.example/.well-known/oauth-authorization-server/t"));

    let (mut flow, _) = begin(wish());
    let _ = flow.on(LoginEvent::Probed(401, CHALLENGE), 0);
    assert_eq!(text(404, &mut flow, ""), get(usual[0]));
    assert_eq!(text(200, &mut flow, "<p>"), get(usual[1]));
    let failed = failure(text(500, &mut flow, ""));
    assert!(
        failed.why.contains("https://a.example/about, which it names for that, answered HTTP 404"),
        "{failed:?}"
    );
}
