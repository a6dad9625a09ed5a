//! Messages about what origins may do.
//!
//! Owns reading their fields. A change that was begun is made to its end, even when its client leaves in the middle of it.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    HostBeginPageAct, HostBeginPageActResult, HostCheckPermission, HostCheckPermissionResult,
    HostExpireTabGrants, HostExpireTabGrantsResult, HostGetPermissions, HostGetPermissionsResult,
    HostGrantPermission, HostGrantPermissionResult, HostListAllPermissions, HostListAllPermissionsResult,
    HostRevokePermission, HostRevokePermissionResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_policy::grants::{GrantType, Key, NewGrant, Tab};
use harbor_policy::scope::Scope;
use harbor_policy::suggest;
use harbor_policy::tool_name::{self, Allowlist};

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::asker::{Asker, parse_profile};
use crate::host::{Granted, RequestedGrant, Revoked, invalid, to_the_end};

pub(super) async fn grant(router: &Rc<Router>, client: &Rc<Client>, message: HostGrantPermission) -> Handled {
    let sender = client.sender();
    let asker = Asker::new(&sender, Some(&message.origin), message.profile.as_deref(), message.tab_id)?;
    let grant_type = match &message.grant_type {
        None => GrantType::AllowOnce,
        Some(text) => parse_type(text)?,
    };
    let key = key(&asker, &message.scope)?;
    refuse_useless(&key)?;
    let tools = message.allowed_tools.map(|tools| Allowlist::parse(&tools)).transpose();
    let tools = tools.map_err(|wrong| {
        ErrorBody::new(Code::InvalidParams, format!("field `allowed_tools`: {wrong}"))
            .with("field", "allowed_tools")
    })?;
    if tools.is_some() && !matches!(key.scope, Scope::McpToolsList | Scope::McpToolsCall) {
        return Err(invalid(
            "allowed_tools",
            "no value: only mcp:tools.list and mcp:tools.call are about tools",
        ));
    }
    if grant_type != GrantType::AllowOnce && message.expires_at.is_some() {
        return Err(invalid("expires_at", "no value: only ALLOW_ONCE ends after a time"));
    }
    let wish = RequestedGrant {
        key,
        grant: NewGrant { grant_type, tools, tab: asker.tab, lifetime_ms: None },
        expires_at: message.expires_at,
    };
    let is_alone = !client.has_named_session();
    let (router, client) = (router.clone(), Rc::downgrade(client));
    to_the_end(async move {
        let denies = wish.grant.grant_type == GrantType::Deny;
        router.host.has_decided_about(&wish.key.origin, denies).await?;
        let made = router.host.permissions.grant(&sender, wish).await?;
        let Granted { grant, denied, ended, unstored } = made;
        if is_alone && client.upgrade().is_none_or(|client| client.has_left()) {
            router.host.permissions.end_session(&sender.session);
        }
        reply(HostGrantPermissionResult { granted: true, denied, grant, ended, unstored })
    })
    .await
}

pub(super) async fn revoke(router: &Rc<Router>, client: &Client, message: HostRevokePermission) -> Handled {
    let sender = client.sender();
    let asker = Asker::new(&sender, Some(&message.origin), message.profile.as_deref(), message.tab_id)?;
    let grant_type = message.grant_type.as_deref().map(parse_type).transpose()?;
    let key = key(&asker, &message.scope)?;
    let router = router.clone();
    to_the_end(async move {
        router.host.has_decided_about(&key.origin, true).await?;
        let permissions = &router.host.permissions;
        let tab = asker.tab.as_ref();
        let Revoked { revoked, ended, unstored } = permissions.revoke(&sender, &key, grant_type, tab).await?;
        reply(HostRevokePermissionResult { revoked, ended, unstored })
    })
    .await
}

pub(super) fn check(router: &Router, client: &Client, message: &HostCheckPermission) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let scope = parse_scope(&message.scope)?;
    let tool = message.tool_name.as_deref().map(|name| tool_name::split(name).map_err(|w| wrong_tool(&w)));
    let tool = tool.transpose()?;
    let checked =
        router.host.permissions.check(&asker, scope, tool.as_ref().map(|(server, tool)| (server, *tool)));
    reply(match checked {
        Ok(by) => HostCheckPermissionResult {
            granted: true,
            grant_type: Some(by.as_str().into()),
            code: None,
            message: None,
        },
        Err(error) => HostCheckPermissionResult {
            granted: false,
            grant_type: None,
            code: Some(error.code.as_str().into()),
            message: Some(error.message),
        },
    })
}

pub(super) async fn begin_act(router: &Router, client: &Client, message: &HostBeginPageAct) -> Handled {
    let sender = client.sender();
    let asker = Asker::new(&sender, Some(&message.origin), message.profile.as_deref(), message.tab_id)?;
    let act = &message.act;
    if act.is_empty() || act.len() > 32 || !act.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Err(invalid("act", "a function of agent.browser: letters, at most 32"));
    }
    router.host.begin_page_act(&asker, parse_scope(&message.scope)?, act).await?;
    reply(HostBeginPageActResult {})
}

pub(super) async fn of_origin(router: &Router, client: &Client, message: &HostGetPermissions) -> Handled {
    let asker = asker(client, &message.origin, &message.profile, message.tab_id)?;
    let profile = message.profile.as_ref().map(|_| &asker.profile);
    let grants = router.host.permissions.list(Some(&asker.origin), profile, asker.tab.as_ref());
    let (origin, mut unstored) = (asker.origin.to_string(), router.host.permissions.unstored());
    unstored.retain(|one| one.origin == origin && profile.is_none_or(|profile| **profile == *one.profile));
    let is_new = router.host.would_be_new(&asker.origin).await.then_some(true);
    reply(HostGetPermissionsResult { origin, grants, unstored, is_new })
}

pub(super) fn all(router: &Router, client: &Client, message: &HostListAllPermissions) -> Handled {
    let profile = message.profile.as_deref().map(|profile| parse_profile(Some(profile))).transpose()?;
    let tab = message.tab_id.map(|tab| Tab { session: client.sender().session.clone(), tab });
    let grants = router.host.permissions.list(None, profile.as_ref(), tab.as_ref());
    let unstored = router.host.permissions.unstored();
    reply(HostListAllPermissionsResult { grants, unstored })
}

pub(super) fn expire_tab(router: &Router, client: &Client, message: &HostExpireTabGrants) -> Handled {
    let profile = message.profile.as_deref().map(|profile| parse_profile(Some(profile))).transpose()?;
    let session = client.has_named_session().then(|| client.sender().session.clone());
    if profile.is_none() {
        router.agent.end_tab(message.tab_id, session.as_deref());
    }
    let expired = router.host.permissions.end_tab(message.tab_id, session.as_deref(), profile.as_ref());
    reply(HostExpireTabGrantsResult { expired: u32::try_from(expired).unwrap_or(u32::MAX) })
}

/// The asker, from the fields that most messages have.
pub(super) fn asker(
    client: &Client,
    origin: &Option<String>,
    profile: &Option<String>,
    tab_id: Option<u64>,
) -> Result<Asker, ErrorBody> {
    Asker::new(&client.sender(), origin.as_deref(), profile.as_deref(), tab_id)
}

fn key(asker: &Asker, scope: &str) -> Result<Key, ErrorBody> {
    Ok(Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope: parse_scope(scope)? })
}

fn parse_scope(text: &str) -> Result<Scope, ErrorBody> {
    Scope::parse(text).ok_or_else(|| {
        let nearest = suggest::closest(text, Scope::ALL.iter().map(|scope| scope.as_str()));
        let hint = nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
        let message = format!("field `scope`: expected a scope such as mcp:tools.call{hint}");
        ErrorBody::new(Code::InvalidParams, message)
            .with("field", "scope")
            .with("expected", "a scope such as mcp:tools.call")
    })
}

/// Refuses a grant that would allow nothing: whoever makes it expects something of it.
fn refuse_useless(Key { origin, scope, .. }: &Key) -> Result<(), ErrorBody> {
    let no_effect = |message: String| {
        Err(ErrorBody::new(Code::InvalidParams, message).with("field", "scope").with("reason", "no_effect"))
    };
    if origin.is_client() && scope.as_str().starts_with("browser:") {
        return no_effect(
            "field `scope`: an AI client has no page, for which alone this scope is; it is given tools of the browser by \
             `harbor tools --client NAME --on 'browser/*'`"
                .into(),
        );
    }
    if scope.has_effect() {
        return Ok(());
    }
    let names: Vec<_> = Scope::with_effect().map(Scope::as_str).collect();
    no_effect(format!(
        "field `scope`: this version of Harbor has nothing that {} would allow; it has {}",
        scope.as_str(),
        names.join(", ")
    ))
}

fn parse_type(text: &str) -> Result<GrantType, ErrorBody> {
    GrantType::parse(text).ok_or_else(|| invalid("grant_type", "ALLOW_ONCE, ALLOW_ALWAYS or DENY"))
}

/// The error for a text that is no tool name.
pub(super) fn wrong_tool(wrong: &tool_name::WrongToolName) -> ErrorBody {
    let message = format!("field `tool_name`: {wrong}");
    ErrorBody::new(Code::InvalidParams, message).with("field", "tool_name").with("expected", "server/tool")
}
