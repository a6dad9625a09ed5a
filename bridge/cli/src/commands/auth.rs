//! auth: signs Harbor in to remote servers, by way of the person's browser.
//!
//! Owns the check of the page: a URL with TLS, or one of this machine; nothing else is opened. Must never
//! print a token; none comes here.

use std::process::{Command, Stdio};
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{AuthorizationView, OauthFinish, OauthRevoke, OauthStart, OauthStatus};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::remote::{is_exposed, parse};

use super::printing::print;
use super::{secrets, servers};
use crate::args::Auth;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::when::{now, until, utc};

/// The bridge ends these by itself: after 90 s, five minutes and 45 s, and 45 s behind a stop.
const DISCOVERY: Duration = Duration::from_secs(100);
const PERSON: Duration = Duration::from_secs(300 + 45 + 10);
const REVOCATION: Duration = Duration::from_secs(2 * 60 + 45 + 10);

/// Programs that open a page in the person's browser.
const OPENERS: [&str; 2] =
    if cfg!(target_os = "macos") { ["open", "xdg-open"] } else { ["xdg-open", "open"] };

/// Reads the client's secret, if it is wanted. This comes before a bridge is started for it.
pub fn secret(wanted: &Auth) -> Result<Option<Secret>, Failure> {
    if !wanted.client_secret {
        return Ok(None);
    }
    let client = wanted.client_id.as_deref().unwrap_or_default();
    secrets::read(&format!("secret of the client {client} (not shown): ")).map(Some)
}

pub fn run(
    wanted: &Auth,
    secret: Option<Secret>,
    client: &mut Client,
    screen: &mut Screen,
) -> Result<(), Failure> {
    match (wanted.status, wanted.revoke) {
        (true, _) => status(client, &wanted.server, screen),
        (false, true) => revoke(client, &wanted.server, screen),
        (false, false) => begin(client, wanted, secret, screen),
    }
}

/// Has the person let Harbor in, and starts the server with that.
pub fn begin(
    client: &mut Client,
    new: &Auth,
    secret: Option<Secret>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let ask = OauthStart {
        server_id: server_id(&new.server)?,
        client_id: new.client_id.clone(),
        client_secret: secret,
        scopes: Some(new.scopes.clone()),
        redirect_port: new.port.map(u32::from),
        redirect_host: new.localhost.then(|| "localhost".into()),
    };
    let url = client.ask(&ask, DISCOVERY)?.into_value().authorization_url;
    let is_safe = parse(&url).is_ok_and(|url| !is_exposed(&url));
    if !is_safe {
        return Err(Failure::Garbled("a page that is not safe to open"));
    }
    remark(&format!("Sign in on this page in your browser:\n\n{url}\n"));
    if !new.no_browser && !open(&url) {
        remark("no browser could be opened; open the address yourself, on this machine");
    }
    let finished = client.ask(&OauthFinish { server_id: ask.server_id }, PERSON)?;
    if !screen.json {
        screen.text(&format!("signed in to {}: {}", new.server, rights(&finished.authorization)))?;
    }
    let connected = servers::connect(client, &new.server)?;
    if screen.json {
        let mut shown = connected.members();
        shown.insert("authorization", finished.part("authorization").to_json());
        return Ok(screen.json(&shown.to_json())?);
    }
    servers::tell(client, &new.server, &connected, screen)
}

/// Opens a page. True if a program to open it with was started. Its output is ignored.
fn open(url: &str) -> bool {
    OPENERS.iter().any(|opener| {
        let mut command = Command::new(opener);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // It goes on by itself where it is the browser.
        command.spawn().is_ok()
    })
}

fn rights(authorization: &AuthorizationView) -> String {
    match authorization.scopes.as_slice() {
        [] => "scopes chosen by the server".into(),
        scopes => scopes.join(" "),
    }
}

fn status(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&OauthStatus { server_id: server_id(server)? }, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let Some(authorization) = &answer.authorization else {
        let next = format!("`harbor auth {server}` signs in");
        return Err(Failure::Nothing(format!("not signed in to {server}"), next));
    };
    Ok(screen.text(&described(server, authorization, now()))?)
}

fn described(server: &str, authorization: &AuthorizationView, now: u64) -> String {
    let ends = match (authorization.expires_at, authorization.renews) {
        (_, true) => "is renewed automatically".into(),
        (_, false) if authorization.is_expired => {
            format!("has expired: `harbor auth {server}` signs in again")
        }
        (Some(at), false) => format!("ends {}", until(at, now)),
        (None, false) => "ends when the server says so".into(),
    };
    let is_over = !authorization.renews && authorization.is_expired;
    format!(
        "{server}: {}signed in\n\
         by        {}\n\
         as        {}\n\
         may       {}\n\
         since     {}\n\
         the token {ends}",
        if is_over { "was " } else { "" },
        authorization.issuer,
        authorization.client_id,
        rights(authorization),
        utc(authorization.granted_at).chars().take(16).collect::<String>() + "Z",
    )
}

fn revoke(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&OauthRevoke { server_id: server_id(server)? }, REVOCATION)?;
    if !answer.revoked {
        let next = format!("`harbor auth {server}` signs in");
        return Err(Failure::Nothing(format!("not signed in to {server}"), next));
    }
    print(screen, &answer, |_| format!("signed out of {server}; it is stopped"))?;
    if !answer.told {
        remark(&format!(
            "the tokens are deleted here, but may stay valid at the server: {}",
            answer.why.as_deref().unwrap_or_default()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use harbor_client::errors::Exit;

    use super::super::rig::command;
    use super::*;

    const VIEW: &str = r#"{"server_id":"a","issuer":"https://b.example","client_id":"c","scopes":["x","y"],"granted_at":1795262400000,"renews":true,"is_expired":false}"#;

    #[test]
    fn what_was_granted_is_shown() {
        let answer = format!(r#"{{"type":"oauth_status_result","request_id":"1","authorization":{VIEW}}}"#);
        let ran = command(false, &[&answer], |c, s| status(c, "a", s));
        assert_eq!(
            ran.printed,
            "a: signed in\nby        https://b.example\nas        c\nmay       x y\n\
             since     2026-11-21 12:00Z\nthe token is renewed automatically\n"
        );
        let over =
            answer.replace("\"renews\":true,\"is_expired\":false", "\"renews\":false,\"is_expired\":true");
        let ran = command(false, &[&over], |c, s| status(c, "a", s));
        assert!(ran.printed.starts_with("a: was signed in\n"), "{}", ran.printed);
        assert!(ran.printed.ends_with("the token has expired: `harbor auth a` signs in again\n"));
        let ran =
            command(false, &[r#"{"type":"oauth_status_result","request_id":"1"}"#], |c, s| status(c, "a", s));
        assert_eq!(ran.exit, Exit::NotFound);
    }

    #[test]
    fn what_is_no_page_is_not_opened() {
        for url in ["javascript:alert(1)", "file:///etc/passwd", "http://b.example/", ""] {
            let answer =
                format!(r#"{{"type":"oauth_start_result","request_id":"1","authorization_url":"{url}"}}"#);
            let new = Auth { server: "a".into(), no_browser: true, ..Auth::default() };
            let ran = command(false, &[&answer], |c, s| begin(c, &new, None, s));
            assert_ne!(ran.exit, Exit::Done, "{url}");
        }
    }

    #[test]
    fn what_is_given_back_is_told() {
        let answer = r#"{"type":"oauth_revoke_result","request_id":"1","revoked":true,"told":true}"#;
        let ran = command(false, &[answer], |c, s| revoke(c, "a", s));
        assert_eq!(ran.printed, "signed out of a; it is stopped\n");
        let answer = r#"{"type":"oauth_revoke_result","request_id":"1","revoked":false,"told":false}"#;
        assert_eq!(command(false, &[answer], |c, s| revoke(c, "a", s)).exit, Exit::NotFound);
    }
}
