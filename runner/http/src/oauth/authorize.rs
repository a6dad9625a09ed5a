//! Gets a login, by what `Flow` decides, renews it, and gives it back. Using it is done elsewhere.
//!
//! Owns the requests, and the random bytes.

use harbor_ipc_proto::link::oauth::Wish;
use harbor_ipc_proto::link::runner::{EndCause, Remote, RemoteEnd};
use harbor_policy::oauth::flow::{Failure, Flow, LoginAction, LoginEvent};
use harbor_policy::oauth::proof::{Nonces, RANDOM};
use harbor_policy::oauth::token::{Refused, renewal, renewed, revocation};
use harbor_runner::Petition;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::fetch::{Fetch, Heard, of, reach_of};
use crate::clock::now;
use crate::http::{Ask, Http};
use crate::refusal::challenge_of;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Has the person let Harbor in; the cause of the end is `Stopped` where there is a grant.
pub async fn authorize(
    server: &Remote<'_>,
    env: Vec<(String, String)>,
    wish: Wish<'static>,
    petition: Petition,
) -> EndCause<'static> {
    match perform(server, env, wish, petition).await {
        Ok(()) => EndCause::Stopped,
        Err(failure) => end(failure),
    }
}

async fn perform(
    server: &Remote<'_>,
    env: Vec<(String, String)>,
    wish: Wish<'static>,
    mut petition: Petition,
) -> Result<(), Failure> {
    let http = Http::new(server, &env).map_err(of)?;
    let reach = reach_of(server);
    let fetch = Fetch { reach, env };
    let (mut flow, mut action) = Flow::begin(http.url().clone(), reach, wish, nonces()?);
    loop {
        action = match action {
            LoginAction::Probe => {
                let (status, said) = probe(&http).await?;
                flow.on(LoginEvent::Probed(status, &said), now())
            }
            LoginAction::Get(url) => heard(&mut flow, fetch.get(&url).await),
            LoginAction::Register(url, body) => heard(&mut flow, fetch.post_json(&url, body).await),
            LoginAction::Redeem(form) => heard(&mut flow, fetch.post(&form).await),
            LoginAction::Ask(url) => {
                petition.ask(url.as_str(), flow.state());
                let Some(query) = petition.answer().await else {
                    return Err(Failure {
                        kind: RemoteEnd::NotAuthorized,
                        why: "nobody is waiting for this sign-in any more".into(),
                    });
                };
                flow.on(LoginEvent::Redirected(query.expose()), now())
            }
            LoginAction::Done(grant) => {
                petition.granted(*grant);
                return Ok(());
            }
            LoginAction::Fail(failure) => return Err(failure),
        }
    }
}

fn heard(flow: &mut Flow, heard: Result<Heard, Failure>) -> LoginAction {
    match &heard {
        Ok((status, body)) => flow.on(LoginEvent::Answered(*status, body), now()),
        Err(failure) => flow.on(LoginEvent::Unanswered(failure), now()),
    }
}

fn nonces() -> Result<Nonces, Failure> {
    let random = || {
        let mut bytes = [0; RANDOM];
        let filled = rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes);
        let why = "this system gives no random numbers".into();
        filled.map(|()| bytes).map_err(|_| Failure { kind: RemoteEnd::NotAuthorized, why })
    };
    Ok(Nonces::of(&random()?, &random()?))
}

/// Asks the server without a token; returns the status and the challenge.
async fn probe(http: &Http) -> Result<(u16, String), Failure> {
    let body = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
        r#""clientInfo":{"name":"harbor","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#""}}}"#
    );
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let ask = |method, headers, body| Ask { method, url: http.url().clone(), headers, body };
    let answer = http.ask(ask(Method::POST, headers, Some(body.into()))).await.map_err(of)?;
    if let Some(session) = answer.headers().get(SESSION) {
        // It lets everybody in, and has begun a session that nobody needs. Not every server takes the word for its end.
        let _ = http.ask(ask(Method::DELETE, HeaderMap::from_iter([(SESSION, session.clone())]), None)).await;
    }
    Ok((answer.status().as_u16(), challenge_of(&answer)))
}

/// Gives the grant back. The cause of the end is `Stopped` if the server took it.
pub async fn revoke(server: &Remote<'_>, env: Vec<(String, String)>) -> EndCause<'static> {
    let no_place = || "the authorization server offers no way to revoke a login";
    let refused = |why: String| end(Failure { kind: RemoteEnd::NotAuthorized, why });
    let Some(form) = server.grant.as_ref().and_then(revocation) else { return refused(no_place().into()) };
    match (Fetch { reach: reach_of(server), env }).post(&form).await {
        Ok((200, _)) => EndCause::Stopped,
        Ok((status, _)) => {
            refused(format!("the authorization server did not revoke the login (HTTP {status})"))
        }
        Err(failure) => end(failure),
    }
}

/// Renews the grant; the cause of the end is `Stopped` where there is a newer one, `NotAuthorized` where there will be none.
pub async fn renew(
    server: &Remote<'_>,
    env: Vec<(String, String)>,
    petition: &Petition,
) -> EndCause<'static> {
    let never = |why: &str| end(Failure { kind: RemoteEnd::NotAuthorized, why: why.into() });
    let Some((grant, form)) = server.grant.as_ref().and_then(|grant| Some((grant, renewal(grant)?))) else {
        return never("the login has no refresh token");
    };
    let (status, body) = match (Fetch { reach: reach_of(server), env }).post(&form).await {
        Ok(heard) => heard,
        Err(failure) => return end(Failure { kind: RemoteEnd::Unreachable, ..failure }),
    };
    match renewed(grant, status, &body, now()) {
        Ok(newer) => {
            petition.granted(newer);
            EndCause::Stopped
        }
        Err(Refused::ForGood(word)) => never(word),
        Err(Refused::ForNow | Refused::Garbled) => {
            let why = format!("the token endpoint answered HTTP {status}");
            end(Failure { kind: RemoteEnd::Unreachable, why })
        }
    }
}

fn end(failure: Failure) -> EndCause<'static> {
    EndCause::Remote { kind: failure.kind, why: failure.why.into() }
}
