//! A grant as the audit log, the disk and clients have it.
//!
//! Owns the meaning of rows that make no sense: such a row may have been a DENY, so it is one.

use harbor_ipc_proto::client::GrantView;
use harbor_policy::grants::{self, Grant, GrantType, Grants, Key, NewGrant};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::Allowlist;

use crate::store::audit::AuditRecord;
use crate::store::grants::{Row, StoredGrant};

pub(super) fn about(key: &Key) -> AuditRecord {
    AuditRecord {
        origin: Some(key.origin.shared()),
        profile: Some(key.profile.clone()),
        scope: Some(key.scope.as_str()),
        ..AuditRecord::default()
    }
}

pub(super) fn record_of(key: &Key, grant: &NewGrant, created_at: u64) -> AuditRecord {
    AuditRecord {
        decision: if grant.grant_type == GrantType::Deny { "denied" } else { "allowed" },
        allowed_tools: grant.tools.as_ref().map(|tools| tools.entries().into()),
        expires_at: grant.lifetime_ms.map(|lifetime| created_at.saturating_add(lifetime)),
        tab_id: grant.tab.as_ref().map(|tab| tab.tab),
        ..of(key, grant.grant_type)
    }
}

/// A grant that is to hold, in the form of the disk.
pub(super) fn stored(key: &Key, grant: &NewGrant, created_at: u64) -> StoredGrant {
    row(key, grant.grant_type, grant.tools.as_ref(), created_at)
}

/// A grant that holds, in the form of the disk.
pub(super) fn stored_as(key: &Key, grant: &Grant) -> StoredGrant {
    row(key, grant.grant_type, grant.tools.as_ref(), grant.created_at)
}

fn row(key: &Key, grant_type: GrantType, tools: Option<&Allowlist>, created_at: u64) -> StoredGrant {
    StoredGrant {
        origin: key.origin.to_string(),
        profile: key.profile.to_string(),
        scope: key.scope.as_str().into(),
        grant_type: grant_type.as_str().into(),
        allowed_tools: tools.map(Allowlist::entries),
        created_at,
    }
}

pub(super) fn of(key: &Key, grant_type: GrantType) -> AuditRecord {
    AuditRecord { grant_type: Some(grant_type.as_str()), ..about(key) }
}

pub(super) fn view(key: &Key, grant: &Grant) -> GrantView {
    GrantView {
        origin: key.origin.to_string(),
        profile: key.profile.to_string(),
        scope: key.scope.as_str().into(),
        grant_type: grant.grant_type.as_str().into(),
        created_at: grant.created_at,
        expires_at: grant.expires_at,
        tab_id: grant.tab.as_ref().map(|tab| tab.tab),
        allowed_tools: grant.tools.as_ref().map(Allowlist::entries),
        running: None,
        unstored: None,
    }
}

/// Takes a row from the disk, and returns its key. A row without sense may have been a DENY, so it becomes a DENY.
pub(super) fn restore(grants: &mut Grants, row: Row) -> Option<Key> {
    let (origin, profile, scope) = match &row {
        Row::Whole(grant) => (&grant.origin, &grant.profile, &grant.scope),
        Row::Broken { origin, profile, scope } => (origin, profile, scope),
    };
    let key = Origin::parse(origin).ok().zip(grants::profile(profile)).zip(Scope::parse(scope));
    let Some(((origin, profile), scope)) = key else {
        tracing::warn!(origin, scope, "harbor.db: a grant is for nothing that exists; left out");
        return None;
    };
    let key = Key { origin, profile, scope };
    let whole = match row {
        Row::Whole(grant) => lasting(&grant).map(|new| (new, grant.created_at)),
        Row::Broken { .. } => None,
    };
    if whole.is_some_and(|(new, created_at)| grants.restore(key.clone(), new, created_at).is_ok()) {
        return None;
    }
    let scope = key.scope.as_str();
    tracing::warn!(origin = %key.origin, scope, "harbor.db: a grant cannot be read; it counts as DENY");
    let deny = NewGrant { grant_type: GrantType::Deny, tools: None, tab: None, lifetime_ms: None };
    // A plain DENY can always be made.
    let _ = grants.restore(key.clone(), deny, 0);
    Some(key)
}

fn lasting(stored: &StoredGrant) -> Option<NewGrant> {
    let grant_type = GrantType::parse(&stored.grant_type)?;
    let tools = match &stored.allowed_tools {
        None => None,
        Some(tools) => Some(Allowlist::parse(tools).ok()?),
    };
    Some(NewGrant { grant_type, tools, tab: None, lifetime_ms: None })
}
