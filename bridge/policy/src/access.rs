//! Decides which principal may send which message.
//!
//! ```text
//!  message ─► check ─► Pass ─┬─ of the owner: Right ──────────────────────┬─► consent: Run ─► Permit
//!                            └─ for an origin: its grants are asked ─► Right ┘
//! ```
//!
//! The first frame of a connection fixes its kind. Only this crate makes a [`Right`] and a permit (`consent`). The supervisor
//! takes one by value for each call, so the compiler answers the question "was it checked?".

use std::sync::Arc;

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
        /// An id of its own token, where it came with one: its connections are one client's.
        token_id: Option<Arc<str>>,
    },
}

/// The kind of principal that may send a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllowedSender {
    /// Anybody who is connected.
    Everybody,
    /// The person, at the command line or on the extension's own pages.
    Owner,
    /// The person; and an AI client for itself, as far as its grants go.
    OwnerOrClient,
    /// An AI client. It may speak only about itself.
    Client,
    /// Harbor's own browser extension. It may speak only about its browser.
    Extension,
}

/// Each message type and its allowed sender. Nobody may send a type that is missing here.
const TABLE: &[(&str, AllowedSender)] = &[
    // Most of what comes.
    ("mcp_call_tool", AllowedSender::Owner),
    ("host_call_tool", AllowedSender::Everybody),
    ("host_run_script", AllowedSender::Everybody),
    ("hello", AllowedSender::Everybody),
    ("ping", AllowedSender::Everybody),
    ("cancel", AllowedSender::Everybody),
    ("shutdown", AllowedSender::Owner),
    ("add_server", AllowedSender::Owner),
    ("add_remote_server", AllowedSender::Owner),
    ("remove_server", AllowedSender::Owner),
    ("list_servers", AllowedSender::Owner),
    ("get_definition", AllowedSender::Owner),
    ("compare_server", AllowedSender::Owner),
    ("set_credential", AllowedSender::Owner),
    ("set_server_secrets", AllowedSender::Owner),
    ("get_credential_status", AllowedSender::Owner),
    ("validate_credentials", AllowedSender::Owner),
    ("delete_credential", AllowedSender::Owner),
    ("list_credentials", AllowedSender::Owner),
    ("oauth_start", AllowedSender::Owner),
    ("oauth_finish", AllowedSender::Owner),
    ("oauth_cancel", AllowedSender::Owner),
    ("oauth_status", AllowedSender::Owner),
    ("oauth_revoke", AllowedSender::Owner),
    ("get_secret_store", AllowedSender::Owner),
    ("unlock_secrets", AllowedSender::Owner),
    ("lock_secrets", AllowedSender::Owner),
    ("encrypt_secrets", AllowedSender::Owner),
    ("decrypt_secrets", AllowedSender::Owner),
    ("move_secrets", AllowedSender::Owner),
    ("connect_server", AllowedSender::Owner),
    ("disconnect_server", AllowedSender::Owner),
    ("mcp_connect", AllowedSender::Owner),
    ("mcp_disconnect", AllowedSender::Owner),
    ("mcp_list_connections", AllowedSender::Owner),
    ("mcp_list_tools", AllowedSender::Owner),
    ("mcp_list_resources", AllowedSender::Owner),
    ("mcp_list_resource_templates", AllowedSender::Owner),
    ("mcp_list_prompts", AllowedSender::Owner),
    ("mcp_read_resource", AllowedSender::OwnerOrClient),
    ("mcp_get_prompt", AllowedSender::OwnerOrClient),
    ("mcp_answer", AllowedSender::Everybody),
    ("mcp_complete", AllowedSender::OwnerOrClient),
    ("mcp_subscribe_resource", AllowedSender::OwnerOrClient),
    ("mcp_unsubscribe_resource", AllowedSender::OwnerOrClient),
    ("mcp_set_log_level", AllowedSender::Owner),
    ("mcp_ping", AllowedSender::Owner),
    ("mcp_task", AllowedSender::Owner),
    ("mcp_get_logs", AllowedSender::Owner),
    ("status", AllowedSender::Owner),
    ("subscribe_status", AllowedSender::Owner),
    ("health", AllowedSender::Owner),
    ("get_metrics", AllowedSender::Owner),
    ("get_config", AllowedSender::Owner),
    ("watch_servers", AllowedSender::Owner),
    ("get_sandbox", AllowedSender::Owner),
    ("set_sandbox", AllowedSender::Owner),
    ("set_supervision", AllowedSender::Owner),
    ("host_grant_permission", AllowedSender::Owner),
    ("host_revoke_permission", AllowedSender::Owner),
    ("host_check_permission", AllowedSender::Everybody),
    ("host_begin_page_act", AllowedSender::Owner),
    ("host_get_permissions", AllowedSender::Everybody),
    ("host_expire_tab_grants", AllowedSender::Owner),
    ("host_list_all_permissions", AllowedSender::Owner),
    ("host_list_tools", AllowedSender::Everybody),
    ("host_list_servers", AllowedSender::Everybody),
    ("host_list_offers", AllowedSender::Everybody),
    ("host_create_run", AllowedSender::Everybody),
    ("host_end_run", AllowedSender::Everybody),
    ("host_get_run", AllowedSender::Everybody),
    ("host_get_stats", AllowedSender::Everybody),
    ("host_watch", AllowedSender::Everybody),
    ("host_name_profile", AllowedSender::Owner),
    ("host_note_consent", AllowedSender::Owner),
    ("host_get_audit", AllowedSender::Owner),
    ("host_list_tool_changes", AllowedSender::Owner),
    ("host_accept_tool_change", AllowedSender::Owner),
    ("host_accept_server_change", AllowedSender::Owner),
    ("catalog_get", AllowedSender::Owner),
    ("catalog_search", AllowedSender::Owner),
    ("catalog_entry", AllowedSender::Owner),
    ("catalog_refresh", AllowedSender::Owner),
    ("catalog_enrich", AllowedSender::Owner),
    ("catalog_status", AllowedSender::Owner),
    ("mcp_follow_messages", AllowedSender::Client),
    ("mcp_begin", AllowedSender::Client),
    ("install_server", AllowedSender::Owner),
    ("resolve_server", AllowedSender::Owner),
    ("get_server_status", AllowedSender::Owner),
    ("get_curated_list", AllowedSender::Owner),
    ("upgrade_server", AllowedSender::Owner),
    ("undo_upgrade", AllowedSender::Owner),
    ("uninstall_server", AllowedSender::Owner),
    ("update_server_args", AllowedSender::Owner),
    ("list_installed", AllowedSender::Owner),
    ("check_runtimes", AllowedSender::Owner),
    ("llm_detect", AllowedSender::Owner),
    ("llm_list_providers", AllowedSender::Owner),
    ("llm_get_supported_providers", AllowedSender::Owner),
    ("llm_add_provider", AllowedSender::Owner),
    ("llm_configure_provider", AllowedSender::Owner),
    ("llm_remove_provider", AllowedSender::Owner),
    ("llm_set_api_key", AllowedSender::Owner),
    ("llm_remove_api_key", AllowedSender::Owner),
    ("llm_check_provider", AllowedSender::Owner),
    ("llm_list_models", AllowedSender::Owner),
    ("llm_list_models_for", AllowedSender::Owner),
    ("llm_set_active", AllowedSender::Owner),
    ("llm_set_model", AllowedSender::Owner),
    ("llm_set_model_options", AllowedSender::Owner),
    ("llm_list_configured_models", AllowedSender::Owner),
    ("llm_add_configured_model", AllowedSender::Owner),
    ("llm_remove_configured_model", AllowedSender::Owner),
    ("llm_set_configured_model_default", AllowedSender::Owner),
    ("llm_set_default_for", AllowedSender::Owner),
    ("llm_get_active", AllowedSender::Owner),
    ("llm_get_config", AllowedSender::Owner),
    ("llm_chat", AllowedSender::Owner),
    ("llm_count_tokens", AllowedSender::Owner),
    ("llm_transcribe", AllowedSender::Owner),
    ("llm_usage", AllowedSender::Owner),
    ("llm_set_budget", AllowedSender::Owner),
    ("llm_list_budgets", AllowedSender::Owner),
    ("llm_setup_status", AllowedSender::Owner),
    ("llm_start_local", AllowedSender::Owner),
    ("llm_stop_local", AllowedSender::Owner),
    ("llm_download_model", AllowedSender::Owner),
    ("llm_delete_model", AllowedSender::Owner),
    ("host_llm_chat", AllowedSender::Everybody),
    ("host_llm_list_models", AllowedSender::Everybody),
    ("llm_more", AllowedSender::Everybody),
    ("chat_create_session", AllowedSender::Owner),
    ("chat_send_message", AllowedSender::Owner),
    ("chat_fetch_page", AllowedSender::Owner),
    ("chat_watch", AllowedSender::Owner),
    ("chat_stop", AllowedSender::Owner),
    ("chat_branch", AllowedSender::Owner),
    ("chat_import", AllowedSender::Owner),
    ("chat_export", AllowedSender::Owner),
    ("chat_get_session", AllowedSender::Owner),
    ("chat_list_sessions", AllowedSender::Owner),
    ("chat_update_session", AllowedSender::Owner),
    ("chat_clear_messages", AllowedSender::Owner),
    ("chat_delete_session", AllowedSender::Owner),
    ("approvals_list", AllowedSender::Owner),
    ("approvals_answer", AllowedSender::Owner),
    ("approvals_revoke", AllowedSender::Owner),
    ("approvals_guard", AllowedSender::Owner),
    ("approvals_watch", AllowedSender::Owner),
    ("run_start", AllowedSender::Everybody),
    ("run_more", AllowedSender::Everybody),
    ("session_create", AllowedSender::Everybody),
    ("session_get", AllowedSender::Everybody),
    ("session_list", AllowedSender::Everybody),
    ("session_end", AllowedSender::Everybody),
    ("source_register", AllowedSender::Extension),
    ("source_unregister", AllowedSender::Extension),
    ("source_result", AllowedSender::Extension),
    ("source_event", AllowedSender::Extension),
    ("source_file", AllowedSender::Extension),
    ("list_sources", AllowedSender::Owner),
];

/// Proof that a message may be sent by who sent it.
#[derive(Debug)]
pub struct Pass(AllowedSender);

impl Pass {
    /// The right to use a source, for a message of the owner: it needs nothing more. `None` where grants decide: for messages
    /// that everybody may send, and for messages of an AI client.
    #[must_use]
    pub fn right(self, kind: SourceKind) -> Option<Right> {
        (self.0 == AllowedSender::Owner).then_some(Right(kind))
    }

    /// The permit to ask a model, for a message of the owner: it needs nothing more.
    #[must_use]
    pub fn model_permit(self) -> Option<ModelPermit> {
        (self.0 == AllowedSender::Owner).then_some(ModelPermit(()))
    }

    /// The proof that the owner has begun a turn, for a message of the owner to the agent.
    #[must_use]
    pub fn turn(self) -> Option<OwnersTurn> {
        (self.0 == AllowedSender::Owner).then_some(OwnersTurn(()))
    }
}

/// Proof that the owner has begun a turn of the agent: requests to models in it need nothing more, and calls
/// of tools only the consent.
#[derive(Debug)]
pub struct OwnersTurn(());

impl OwnersTurn {
    /// The permit for one request to a model.
    #[must_use]
    pub fn model_permit(&self) -> ModelPermit {
        ModelPermit(())
    }

    /// The right to one call of a source of this kind.
    #[must_use]
    pub fn right(&self, kind: SourceKind) -> Right {
        Right(kind)
    }
}

/// The right to have a source of one kind called, as the person's own message or a grant gives it. `consent`
/// decides if a call runs now. The right and that decision make a permit.
#[derive(Debug)]
pub struct Right(SourceKind);

impl Right {
    /// A copy for another try of a call, in case its source refuses the first one unread.
    #[must_use]
    pub fn for_another_try(&self) -> Self {
        Self(self.0)
    }

    pub(crate) fn kind(&self) -> SourceKind {
        self.0
    }
}

/// Proof that a model may be asked once.
#[derive(Debug)]
pub struct ModelPermit(());

/// The permit of a request to a model that a grant covers, or the person's word on a server.
pub(crate) fn model_permit() -> ModelPermit {
    ModelPermit(())
}

/// The right to a call that the person has let a client make once.
pub(crate) fn let_in_once(kind: SourceKind) -> Right {
    Right(kind)
}

/// The message is not for this principal.
#[derive(Debug, PartialEq, Eq)]
pub struct AccessDenied;

/// Decides whether `principal` may send messages of type `tag`.
///
/// # Errors
/// When it may not.
pub fn check(principal: &Principal, tag: &str) -> Result<Pass, AccessDenied> {
    let reach = TABLE.iter().find(|(known, _)| *known == tag).map(|(_, reach)| *reach);
    match (reach, principal) {
        (Some(AllowedSender::Everybody), _) => Ok(Pass(AllowedSender::Everybody)),
        (
            Some(AllowedSender::Owner | AllowedSender::OwnerOrClient),
            Principal::Owner | Principal::Extension { .. },
        ) => Ok(Pass(AllowedSender::Owner)),
        (Some(AllowedSender::Client | AllowedSender::OwnerOrClient), Principal::Client { .. }) => {
            Ok(Pass(AllowedSender::Client))
        }
        (Some(AllowedSender::Extension), Principal::Extension { .. }) => Ok(Pass(AllowedSender::Extension)),
        _ => Err(AccessDenied),
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

    /// The messages that an AI client may send: list, call, read, run, cancel, and what it may use.
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
        "host_run_script",
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

    /// The messages that only AI clients may send.
    const OF_CLIENTS_ONLY: &[&str] = &["mcp_begin", "mcp_follow_messages"];

    /// The messages that only the extension may send, among the owner's connections.
    const OF_THE_EXTENSION: &[&str] =
        &["source_register", "source_unregister", "source_result", "source_event", "source_file"];

    /// Every message × every kind of principal.
    #[test]
    fn the_table_knows_every_message() {
        let extension = Principal::Extension { id: "x".into() };
        let client = Principal::Client { origin: Origin::client("x").unwrap(), token_id: None };
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
