//! Messages about logins: what the person lets Harbor do at remote servers.
//!
//! ```text
//!  oauth_start ─► Asked, and its URL ─► the front opens it ─► oauth_finish ─► stored ─► the server is started with it
//! ```
//!
//! Owns which client an authorization belongs to: it ends with that client. No token goes out.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    AuthorizationView, CredentialType, OauthCancelResult, OauthFinish, OauthFinishResult, OauthRevoke,
    OauthRevokeResult, OauthStart, OauthStartResult, OauthStatusResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, wrong_value};
use harbor_policy::oauth::{KEY, is_scope};

use harbor_home::clock::wall_clock;

use super::client::Client;
use super::flows::AuthorizationGuard;
use super::refusals::shutting_down;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::{invalid, to_the_end};
use crate::install::about;
use crate::link::EndReport;
use crate::oauth_callback::Name;
use crate::supervisor::{AuthorizationRequest, PERSON, Server};

/// The longest name of a client, in bytes.
const MAX_CLIENT: usize = 4096;

pub(super) async fn start(router: &Rc<Router>, client: &Rc<Client>, message: OauthStart) -> Handled {
    let id = message.server_id.clone();
    let (server, wanted) = (remote_server(router, &id)?, wanted(message)?);
    let before = router.flows.0.borrow_mut().remove(&id);
    drop(before);
    router.host.trail.decided(OauthStart::TAG, &client.sender(), about(&id), true).await?;
    let asked = server.authorize(wanted).await.map_err(|report| failed(&id, &report))?;
    let answer = OauthStartResult {
        authorization_url: asked.url.clone(),
        redirect_uri: asked.redirect_uri().to_owned(),
        expires_at: wall_clock() + u64::try_from(PERSON.as_millis()).unwrap_or(u64::MAX),
    };
    // At once: the browser may be faster than the front.
    let waiting = AuthorizationGuard(tokio::task::spawn_local(asked.answered()));
    router.flows.0.borrow_mut().insert(id, (Rc::downgrade(client), waiting));
    reply(answer)
}

/// Checks what the message's types do not.
fn wanted(message: OauthStart) -> Result<AuthorizationRequest, ErrorBody> {
    let OauthStart { client_id, client_secret, scopes, redirect_port, redirect_host, .. } = message;
    let scopes = scopes.unwrap_or_default();
    if !scopes.iter().all(|scope| is_scope(scope)) {
        return Err(invalid("scopes", "scopes: words of visible ASCII characters without quotes"));
    }
    if client_id.as_ref().is_some_and(|id| id.is_empty() || id.len() > MAX_CLIENT) {
        return Err(invalid("client_id", "a text of 1 to 4096 bytes"));
    }
    if client_secret.is_some() && client_id.is_none() {
        return Err(invalid("client_id", "the client that the secret belongs to"));
    }
    if let Some(secret) = &client_secret
        && let Some(expected) = wrong_value(CredentialType::Oauth, secret)
    {
        return Err(invalid("client_secret", expected));
    }
    let port = u16::try_from(redirect_port.unwrap_or_default());
    let port = port.map_err(|_| invalid("redirect_port", "a port: 1 to 65535"))?;
    let name = match redirect_host.as_deref() {
        None | Some("127.0.0.1") => Name::Address,
        Some("localhost") => Name::Localhost,
        Some(_) => return Err(invalid("redirect_host", "127.0.0.1 or localhost")),
    };
    Ok(AuthorizationRequest { client: client_id.map(|id| (id, client_secret)), scopes, port, name })
}

pub(super) async fn finish(router: &Rc<Router>, client: &Client, id: ServerId) -> Handled {
    let mut waiting = router.flows.take(&id, client).ok_or_else(|| {
        let message = format!("no sign-in to {id} is in progress; oauth_start begins one");
        ErrorBody::new(Code::NotFound, message).with("server_id", id.as_str())
    })?;
    let answered = (&mut waiting.0).await.map_err(|_| shutting_down())?;
    let grant = answered.map_err(|report| failed(&id, &report))?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(OauthFinish::TAG, &sender, about(&id), true).await?;
        let server = remote_server(&router, &id)?;
        server.stop();
        tokio::task::spawn_local(async move { server.start(None).await });
        reply(OauthFinishResult { authorization: view(&id, grant) })
    })
    .await
}

pub(super) fn cancel(router: &Router, id: &ServerId) -> Handled {
    let cancelled = router.flows.0.borrow_mut().remove(id);
    reply(OauthCancelResult { cancelled: cancelled.is_some() })
}

pub(super) async fn status(router: &Router, id: &ServerId) -> Handled {
    let server = remote_server(router, id)?;
    let grant = server.grant().await.map_err(|report| failed(id, &report))?;
    reply(OauthStatusResult { authorization: grant.map(|grant| view(id, grant)) })
}

pub(super) async fn revoke(router: &Rc<Router>, client: &Client, id: ServerId) -> Handled {
    let server = remote_server(router, &id)?;
    let (router, sender) = (router.clone(), client.sender());
    to_the_end(async move {
        router.host.trail.decided(OauthRevoke::TAG, &sender, about(&id), false).await?;
        if server.grant().await.map_err(|report| failed(&id, &report))?.is_none() {
            return reply(OauthRevokeResult { revoked: false, told: false, why: None });
        }
        server.stop();
        server.down().await;
        let told = server.give_back().await;
        let removed = router.supervisor.secrets().remove(id.as_str(), KEY).await;
        removed.map_err(|error| ErrorBody::new(Code::Internal, format!("could not {error}")))?;
        let why = told.as_ref().err().map(|report| report.message.clone());
        reply(OauthRevokeResult { revoked: true, told: told.is_ok(), why })
    })
    .await
}

/// The server of this name, if it is remote.
fn remote_server(router: &Router, id: &ServerId) -> Result<Rc<Server>, ErrorBody> {
    let server = router.host.server(id)?;
    match server.definition().remote {
        Some(_) => Ok(server),
        None => {
            let message = format!("{id} runs on this machine; `harbor secrets set {id} KEY` gives it a key");
            Err(ErrorBody::new(Code::InvalidParams, message).with("field", "server_id"))
        }
    }
}

fn failed(id: &ServerId, report: &EndReport) -> ErrorBody {
    let message = format!("the sign-in to {id} failed: {}", report.message);
    ErrorBody::new(Code::AuthorizationFailed, message)
        .with("server_id", id.as_str())
        .with("cause", report.cause)
}

fn view(id: &ServerId, grant: Grant) -> AuthorizationView {
    let Grant { issuer, resource, scopes, granted_at, expires_at, .. } = grant.clone();
    let (client_id, renews) = (grant.client.id.clone(), grant.refresh_token.is_some());
    let is_expired = Credential::of_grant(grant, 0).is_expired(wall_clock());
    AuthorizationView {
        server_id: id.to_string(),
        issuer,
        resource,
        client_id,
        scopes,
        granted_at,
        expires_at,
        renews,
        is_expired,
    }
}
