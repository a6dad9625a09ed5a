//! Decides which principal may send which message.
//!
//! ```text
//!  message ─► check ─► Pass ─┬─ of the owner: Right ──────────────────────┬─► consent: Run ─► Permit
//!                            └─ for an origin: its grants are asked ─► Right ┘
//! ```
//!
//! The first frame of a connection fixes its kind. Only this crate makes a [`Right`] and a permit (`consent`). The supervisor
//! takes one by value for each call, so the compiler answers the question "was it checked?".

use harbor_ipc_proto::source_id::SourceKind;

use crate::origin::Origin;

/// The principal at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// The person: the command line, or the parent of `serve --stdio`.
    Owner,
    /// Harbor's own browser extension, with the id that the browser gave.
    Extension {
        /// The id, for logs.
        id: String,
    },
    /// An AI client behind `harbor mcp`.
    Client {
        /// `client://<name>`.
        origin: Origin,
    },
}

/// The kind of principal that may send a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Whoever is connected.
    Everybody,
    /// The person, at the command line or on the extension's own pages.
    Owner,
    /// The person; and an AI client for itself, as far as its grants go.
    OwnerOrClient,
    /// An AI client: what it says is about itself.
    Client,
    /// Harbor's own browser extension: what it says is about its browser.
    Extension,
}

/// Each message type and who may send it. A type that is missing here may be sent by nobody.
const TABLE: &[(&str, Reach)] = &[
    // Most of what comes.
    ("mcp_call_tool", Reach::Owner),
    ("host_call_tool", Reach::Everybody),
    ("hello", Reach::Everybody),
    ("ping", Reach::Everybody),
    ("cancel", Reach::Everybody),
    ("shutdown", Reach::Owner),
    ("add_server", Reach::Owner),
    ("add_remote_server", Reach::Owner),
    ("remove_server", Reach::Owner),
    ("list_servers", Reach::Owner),
    ("get_definition", Reach::Owner),
    ("compare_server", Reach::Owner),
    ("set_credential", Reach::Owner),
    ("set_server_secrets", Reach::Owner),
    ("get_credential_status", Reach::Owner),
    ("validate_credentials", Reach::Owner),
    ("delete_credential", Reach::Owner),
    ("list_credentials", Reach::Owner),
    ("oauth_start", Reach::Owner),
    ("oauth_finish", Reach::Owner),
    ("oauth_cancel", Reach::Owner),
    ("oauth_status", Reach::Owner),
    ("oauth_revoke", Reach::Owner),
    ("get_secret_store", Reach::Owner),
    ("unlock_secrets", Reach::Owner),
    ("lock_secrets", Reach::Owner),
    ("encrypt_secrets", Reach::Owner),
    ("decrypt_secrets", Reach::Owner),
    ("move_secrets", Reach::Owner),
    ("connect_server", Reach::Owner),
    ("disconnect_server", Reach::Owner),
    ("mcp_connect", Reach::Owner),
    ("mcp_disconnect", Reach::Owner),
    ("mcp_list_connections", Reach::Owner),
    ("mcp_list_tools", Reach::Owner),
    ("mcp_list_resources", Reach::Owner),
    ("mcp_list_resource_templates", Reach::Owner),
    ("mcp_list_prompts", Reach::Owner),
    ("mcp_read_resource", Reach::OwnerOrClient),
    ("mcp_get_prompt", Reach::OwnerOrClient),
    ("mcp_answer", Reach::Everybody),
    ("mcp_complete", Reach::OwnerOrClient),
    ("mcp_subscribe_resource", Reach::OwnerOrClient),
    ("mcp_unsubscribe_resource", Reach::OwnerOrClient),
    ("mcp_set_log_level", Reach::Owner),
    ("mcp_ping", Reach::Owner),
    ("mcp_task", Reach::Owner),
    ("mcp_get_logs", Reach::Owner),
    ("status", Reach::Owner),
    ("subscribe_status", Reach::Owner),
    ("health", Reach::Owner),
    ("get_metrics", Reach::Owner),
    ("get_config", Reach::Owner),
    ("watch_servers", Reach::Owner),
    ("get_sandbox", Reach::Owner),
    ("set_sandbox", Reach::Owner),
    ("set_supervision", Reach::Owner),
    ("host_grant_permission", Reach::Owner),
    ("host_revoke_permission", Reach::Owner),
    ("host_check_permission", Reach::Everybody),
    ("host_get_permissions", Reach::Everybody),
    ("host_expire_tab_grants", Reach::Owner),
    ("host_list_all_permissions", Reach::Owner),
    ("host_list_tools", Reach::Everybody),
    ("host_list_servers", Reach::Everybody),
    ("host_list_offers", Reach::Everybody),
    ("host_create_run", Reach::Everybody),
    ("host_end_run", Reach::Everybody),
    ("host_get_run", Reach::Everybody),
    ("host_get_stats", Reach::Everybody),
    ("host_watch", Reach::Everybody),
    ("host_note_consent", Reach::Owner),
    ("host_get_audit", Reach::Owner),
    ("host_list_tool_changes", Reach::Owner),
    ("host_accept_tool_change", Reach::Owner),
    ("host_accept_server_change", Reach::Owner),
    ("catalog_get", Reach::Owner),
    ("catalog_search", Reach::Owner),
    ("catalog_entry", Reach::Owner),
    ("catalog_refresh", Reach::Owner),
    ("catalog_enrich", Reach::Owner),
    ("catalog_status", Reach::Owner),
    ("mcp_follow_messages", Reach::Client),
    ("mcp_begin", Reach::Client),
    ("install_server", Reach::Owner),
    ("resolve_server", Reach::Owner),
    ("get_server_status", Reach::Owner),
    ("get_curated_list", Reach::Owner),
    ("upgrade_server", Reach::Owner),
    ("undo_upgrade", Reach::Owner),
    ("uninstall_server", Reach::Owner),
    ("update_server_args", Reach::Owner),
    ("list_installed", Reach::Owner),
    ("check_runtimes", Reach::Owner),
    ("llm_detect", Reach::Owner),
    ("llm_list_providers", Reach::Owner),
    ("llm_get_supported_providers", Reach::Owner),
    ("llm_add_provider", Reach::Owner),
    ("llm_configure_provider", Reach::Owner),
    ("llm_remove_provider", Reach::Owner),
    ("llm_set_api_key", Reach::Owner),
    ("llm_remove_api_key", Reach::Owner),
    ("llm_check_provider", Reach::Owner),
    ("llm_list_models", Reach::Owner),
    ("llm_list_models_for", Reach::Owner),
    ("llm_set_active", Reach::Owner),
    ("llm_set_model", Reach::Owner),
    ("llm_get_active", Reach::Owner),
    ("llm_get_config", Reach::Owner),
    ("llm_chat", Reach::Owner),
    ("llm_count_tokens", Reach::Owner),
    ("llm_usage", Reach::Owner),
    ("llm_set_budget", Reach::Owner),
    ("llm_list_budgets", Reach::Owner),
    ("host_llm_chat", Reach::Everybody),
    ("host_llm_list_models", Reach::Everybody),
    ("llm_more", Reach::Everybody),
    ("chat_create_session", Reach::Owner),
    ("chat_send_message", Reach::Owner),
    ("chat_watch", Reach::Owner),
    ("chat_stop", Reach::Owner),
    ("chat_export", Reach::Owner),
    ("chat_get_session", Reach::Owner),
    ("chat_list_sessions", Reach::Owner),
    ("chat_update_session", Reach::Owner),
    ("chat_clear_messages", Reach::Owner),
    ("chat_delete_session", Reach::Owner),
    ("approvals_list", Reach::Owner),
    ("approvals_answer", Reach::Owner),
    ("approvals_revoke", Reach::Owner),
    ("approvals_guard", Reach::Owner),
    ("approvals_watch", Reach::Owner),
    ("run_start", Reach::Everybody),
    ("run_more", Reach::Everybody),
    ("session_create", Reach::Everybody),
    ("session_get", Reach::Everybody),
    ("session_list", Reach::Everybody),
    ("session_end", Reach::Everybody),
    ("source_register", Reach::Extension),
    ("source_unregister", Reach::Extension),
    ("source_result", Reach::Extension),
    ("source_event", Reach::Extension),
    ("list_sources", Reach::Owner),
];

/// Proof that a message may be sent by who sent it.
#[derive(Debug)]
pub struct Pass(Reach);

impl Pass {
    /// The right to use a source, for a message of the owner: it needs nothing more. `None` where grants decide: for messages
    /// that everybody may send, and for messages of an AI client.
    #[must_use]
    pub fn right(self, kind: SourceKind) -> Option<Right> {
        (self.0 == Reach::Owner).then_some(Right(kind))
    }

    /// The permit to ask a model, for a message of the owner: it needs nothing more.
    #[must_use]
    pub fn model_permit(self) -> Option<ModelPermit> {
        (self.0 == Reach::Owner).then_some(ModelPermit(()))
    }

    /// The proof that the owner has begun a turn, for a message of the owner to the agent.
    #[must_use]
    pub fn turn(self) -> Option<OwnersTurn> {
        (self.0 == Reach::Owner).then_some(OwnersTurn(()))
    }
}

/// Proof that the owner has begun a turn of the agent: what is asked of models in it needs nothing more, and of tools nothing but
/// what `consent` says.
#[derive(Debug)]
pub struct OwnersTurn(());

impl OwnersTurn {
    /// For one request to a model.
    #[must_use]
    pub fn model_permit(&self) -> ModelPermit {
        ModelPermit(())
    }

    /// For one call of a source of this kind.
    #[must_use]
    pub fn right(&self, kind: SourceKind) -> Right {
        Right(kind)
    }
}

/// The right to have a source of one kind called, as the person's own message or a grant gives it. Whether a call runs now is
/// `consent`'s to say: together they make a permit.
#[derive(Debug)]
pub struct Right(SourceKind);

impl Right {
    /// A copy for one more try of a call, in case its source refuses the first one unread.
    #[must_use]
    pub fn for_another_try(&self) -> Self {
        Self(self.0)
    }

    pub(crate) fn kind(&self) -> SourceKind {
        self.0
    }
}

/// Proof that a model may be asked. It is used up by that.
#[derive(Debug)]
pub struct ModelPermit(());

/// The permit of a request to a model that a grant covers.
pub(crate) fn model_permit() -> ModelPermit {
    ModelPermit(())
}

/// The right to a call that the person has let a client make once.
pub(crate) fn let_in_once(kind: SourceKind) -> Right {
    Right(kind)
}

/// The message is not for this principal.
#[derive(Debug, PartialEq, Eq)]
pub struct Denied;

/// Decides whether `principal` may send messages of type `tag`.
///
/// # Errors
/// When it may not.
pub fn check(principal: &Principal, tag: &str) -> Result<Pass, Denied> {
    let reach = TABLE.iter().find(|(known, _)| *known == tag).map(|(_, reach)| *reach);
    match (reach, principal) {
        (Some(Reach::Everybody), _) => Ok(Pass(Reach::Everybody)),
        (Some(Reach::Owner | Reach::OwnerOrClient), Principal::Owner | Principal::Extension { .. }) => {
            Ok(Pass(Reach::Owner))
        }
        (Some(Reach::Client | Reach::OwnerOrClient), Principal::Client { .. }) => Ok(Pass(Reach::Client)),
        (Some(Reach::Extension), Principal::Extension { .. }) => Ok(Pass(Reach::Extension)),
        _ => Err(Denied),
    }
}

/// The right to a call that a grant covers.
pub(crate) fn covered_by_a_grant(kind: SourceKind) -> Right {
    Right(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::client::REQUESTS;

    /// What an AI client may send: list, call, read, run, cancel, and what it may use.
    const OF_CLIENTS: &[&str] = &[
        "hello",
        "ping",
        "cancel",
        "host_check_permission",
        "host_get_permissions",
        "host_list_tools",
        "host_list_servers",
        "host_list_offers",
        "host_call_tool",
        "host_create_run",
        "host_end_run",
        "host_get_run",
        "host_get_stats",
        "host_watch",
        "mcp_begin",
        "mcp_follow_messages",
        "mcp_answer",
        "mcp_read_resource",
        "mcp_get_prompt",
        "mcp_complete",
        "mcp_subscribe_resource",
        "mcp_unsubscribe_resource",
        "host_llm_chat",
        "host_llm_list_models",
        "llm_more",
        "run_start",
        "run_more",
        "session_create",
        "session_get",
        "session_list",
        "session_end",
    ];

    /// What nobody else may.
    const OF_CLIENTS_ONLY: &[&str] = &["mcp_begin", "mcp_follow_messages"];

    /// What the extension alone may, of the owner's connections.
    const OF_THE_EXTENSION: &[&str] =
        &["source_register", "source_unregister", "source_result", "source_event"];

    /// Every message × every kind of principal.
    #[test]
    fn the_table_knows_every_message() {
        let extension = Principal::Extension { id: "x".into() };
        let client = Principal::Client { origin: Origin::client("x").unwrap() };
        for request in REQUESTS.iter().filter(|request| request.tag != "attach") {
            let of_owner = !OF_CLIENTS_ONLY.contains(&request.tag);
            let of_command_line = of_owner && !OF_THE_EXTENSION.contains(&request.tag);
            assert_eq!(check(&Principal::Owner, request.tag).is_ok(), of_command_line, "{}", request.tag);
            assert_eq!(check(&extension, request.tag).is_ok(), of_owner, "{}", request.tag);
            let pass = check(&client, request.tag);
            assert_eq!(pass.is_ok(), OF_CLIENTS.contains(&request.tag), "{}", request.tag);
            assert!(
                pass.is_err() || pass.is_ok_and(|pass| pass.right(SourceKind::Server).is_none()),
                "{}",
                request.tag
            );
        }
        for principal in [Principal::Owner, extension, client] {
            assert!(check(&principal, "attach").is_err(), "the role is stated once");
            assert!(check(&principal, "nope").is_err());
        }
        assert_eq!(TABLE.len(), REQUESTS.len() - 1);
    }
}
