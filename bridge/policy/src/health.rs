//! Decides whether all is well, from the facts that the bridge has.
//!
//! ```text
//!  audit log, database, servers ─► reasons, the worst first ─► ok | degraded | failing
//! ```
//!
//! Owns what counts as wrong. A server that is stopped, slow or less confined than it could be does not count: the person or the
//! machine has it so.

use crate::lifecycle::State;

/// The severity of a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// Nothing is wrong.
    #[default]
    Ok,
    /// Something does not work, and the rest does.
    Degraded,
    /// Calls are refused, or their records are not written down.
    Failing,
}

impl Health {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Failing => "failing",
        }
    }
}

/// The facts about a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// Its id.
    pub id: String,
    /// The state of the server.
    pub state: State,
    /// A sentence about its last end against the person's will.
    pub last_error: Option<String>,
    /// The problems with its lists.
    pub lists: Vec<ListProblem>,
}

/// Something that is wrong with a list of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListProblem {
    /// It could not be had; else it is there, and not whole.
    pub has_failed: bool,
    /// A sentence.
    pub why: String,
}

/// The facts about the audit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditFacts {
    /// It cannot be written at present.
    pub failing: bool,
    /// Lines that could not be written to the audit log since the bridge began.
    pub lost: u64,
    /// Calls are refused that cannot be written down.
    pub required: bool,
}

/// The facts about the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseFacts {
    /// The reason why the last change was not stored.
    pub failing: Option<String>,
    /// How it was lost, as long as its remains are there.
    pub lost: Option<String>,
}

/// The facts about the bridge's own log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFacts {
    /// The reason why it cannot be written at present.
    pub failing: Option<String>,
    /// Lines that found no room since the bridge began.
    pub dropped: u64,
}

/// The facts about answers that clients have not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnreadFacts {
    /// Bytes that are held for them.
    pub held: u64,
    /// And how much that may be before who does not read is cut off.
    pub most: u64,
}

/// All facts that health depends on, besides those about servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HealthFacts {
    /// The audit log.
    pub audit: AuditFacts,
    /// The database.
    pub database: DatabaseFacts,
    /// Denials and revocations that are not stored, such as `mcp:tools.call of https://example.com`.
    pub unstored: Vec<String>,
    /// Conversations that are not on disk, and why, such as `ab12: No space left on device`.
    pub sessions: Vec<String>,
    /// Servers whose renewed login is not stored.
    pub logins: Vec<String>,
    /// The bridge's own log.
    pub log: LogFacts,
    /// The reason why the secrets of servers cannot be read even when unlocked.
    pub secrets: Option<String>,
    /// Answers that clients have not read.
    pub unread: UnreadFacts,
    /// The reason why the present `config.toml` is not in force.
    pub config: Option<String>,
    /// The reason why metrics are not served although they should be.
    pub metrics: Option<String>,
    /// Problems with providers of models that need a person, a sentence each.
    pub models: Vec<String>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Its severity.
    pub health: Health,
    /// The server that has it.
    pub server: Option<String>,
    /// A word for programs.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// All that is wrong, the worst first, then by server.
#[must_use]
pub fn reasons(facts: HealthFacts, servers: impl IntoIterator<Item = ServerFacts>) -> Vec<Reason> {
    let of_servers = servers.into_iter().flat_map(of_server);
    let mut all: Vec<_> = of_audit(facts.audit)
        .into_iter()
        .chain(of_database(facts.database))
        .chain(of_unstored(&facts.unstored))
        .chain(of_sessions(&facts.sessions))
        .chain(of_logins(&facts.logins))
        .chain(of_log(facts.log))
        .chain(facts.secrets.map(of_secrets))
        .chain(of_unread(facts.unread))
        .chain(facts.config.map(of_config))
        .chain(facts.metrics.map(of_metrics))
        .chain(facts.models.into_iter().map(of_model_provider))
        .chain(of_servers)
        .collect();
    all.sort_by(|a, b| b.health.cmp(&a.health).then_with(|| a.server.cmp(&b.server)));
    all
}

/// The severity of the worst fault.
#[must_use]
pub fn worst(reasons: &[Reason]) -> Health {
    reasons.iter().map(|reason| reason.health).max().unwrap_or_default()
}

fn of_audit(audit: AuditFacts) -> Option<Reason> {
    let reason = |health, code, message: String| Some(Reason { health, server: None, code, message });
    match audit {
        AuditFacts { failing: true, required: true, .. } => {
            let message =
                "the audit log cannot be written, so calls are refused; is the disk full or read-only?";
            reason(Health::Failing, "audit_failing", message.into())
        }
        AuditFacts { failing: true, .. } => {
            let message =
                "the audit log cannot be written, so its entries wait for room on the disk; is it full?";
            reason(Health::Failing, "audit_failing", message.into())
        }
        AuditFacts { lost: 0, .. } => None,
        AuditFacts { lost, .. } => reason(
            Health::Degraded,
            "audit_incomplete",
            format!("{lost} lines are missing in the audit log since the bridge started"),
        ),
    }
}

fn of_database(database: DatabaseFacts) -> impl Iterator<Item = Reason> {
    let failing =
        database.failing.map(|why| ("database_failing", format!("new decisions are not stored: {why}")));
    let lost = database.lost.map(|how| ("database_rebuilt", how));
    let reason = |(code, message)| Reason { health: Health::Degraded, server: None, code, message };
    failing.into_iter().chain(lost).map(reason)
}

fn of_unstored(unstored: &[String]) -> Option<Reason> {
    let named = unstored.first()?;
    let more = if unstored.len() > 1 { format!(", and {} more", unstored.len() - 1) } else { String::new() };
    let message = format!(
        "what you denied or revoked holds only until the bridge ends, since it cannot be written to the disk: {named}{more}"
    );
    Some(Reason { health: Health::Degraded, server: None, code: "grants_unstored", message })
}

fn of_sessions(unsaved: &[String]) -> Option<Reason> {
    let named = unsaved.first()?;
    let more = if unsaved.len() > 1 { format!(", and {} more", unsaved.len() - 1) } else { String::new() };
    let message = format!(
        "a conversation cannot be written to the disk, and is lost if the bridge ends before that: {named}{more}"
    );
    Some(Reason { health: Health::Degraded, server: None, code: "sessions_unsaved", message })
}

fn of_logins(unstored: &[String]) -> Option<Reason> {
    let first = unstored.first()?;
    let message = format!(
        "the renewed login of {} is not stored, and is lost if the bridge ends before that: make room on the disk or \
         unlock the secrets, or sign in again with `harbor auth {first}`",
        unstored.join(", ")
    );
    Some(Reason { health: Health::Degraded, server: None, code: "logins_unstored", message })
}

/// The reason, while the log cannot be written. Once it can be written again, the log itself says how many lines were dropped.
fn of_log(log: LogFacts) -> Option<Reason> {
    let why = log.failing?;
    let message =
        format!("the bridge's own log cannot be written: {why}; {} lines were dropped", log.dropped);
    Some(Reason { health: Health::Degraded, server: None, code: "log_failing", message })
}

fn of_model_provider(message: String) -> Reason {
    Reason { health: Health::Degraded, server: None, code: "model_provider_refuses", message }
}

fn of_secrets(why: String) -> Reason {
    let message = format!("servers that have secrets are not started: {why}");
    Reason { health: Health::Degraded, server: None, code: "secrets_unreadable", message }
}

/// A few of them are usual; as many as may be are memory that the machine lacks.
fn of_unread(UnreadFacts { held, most }: UnreadFacts) -> Option<Reason> {
    let message = || {
        format!(
            "clients have not read {} MiB of answers, and the limit is {} MiB: Harbor disconnects clients that do not read",
            held >> 20,
            most >> 20
        )
    };
    (held > most).then(|| Reason {
        health: Health::Degraded,
        server: None,
        code: "unread_answers",
        message: message(),
    })
}

fn of_config(why: String) -> Reason {
    let message = format!("the earlier configuration stays in force: {why}");
    Reason { health: Health::Degraded, server: None, code: "config_refused", message }
}

fn of_metrics(message: String) -> Reason {
    Reason { health: Health::Degraded, server: None, code: "metrics_unavailable", message }
}

fn of_server(server: ServerFacts) -> Vec<Reason> {
    let why = server.last_error.map(|why| format!(": {why}")).unwrap_or_default();
    let reason =
        |code, message| Reason { health: Health::Degraded, server: Some(server.id.clone()), code, message };
    let (code, message) = match server.state {
        State::Failed => ("server_failed", format!("{} has failed{why}", server.id)),
        State::Crashed => ("server_crashed", format!("{} waits to be restarted{why}", server.id)),
        State::Running => {
            let of_list = |problem: &ListProblem| {
                let code = if problem.has_failed { "list_failed" } else { "list_incomplete" };
                reason(code, format!("{}: {}", server.id, problem.why))
            };
            return server.lists.iter().map(of_list).collect();
        }
        State::Installing | State::Stopped | State::Starting | State::Stopping => return Vec::new(),
    };
    vec![reason(code, message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(id: &str, state: State) -> ServerFacts {
        ServerFacts { id: id.into(), state, last_error: Some("it was killed".into()), lists: Vec::new() }
    }

    #[test]
    fn lists_that_are_not_whole_are_told_while_their_server_runs() {
        let problem = |has_failed, why: &str| ListProblem { has_failed, why: why.into() };
        let lists = vec![problem(true, "no tools"), problem(false, "no end")];
        let with = |state| ServerFacts { lists: lists.clone(), ..server("s", state) };
        let found = reasons(HealthFacts::default(), [with(State::Running), with(State::Stopped)]);
        let shown: Vec<_> = found.iter().map(|reason| (reason.code, reason.message.as_str())).collect();
        assert_eq!(shown, [("list_failed", "s: no tools"), ("list_incomplete", "s: no end")]);
        assert_eq!(worst(&found), Health::Degraded);
    }

    #[test]
    fn what_is_as_the_person_has_it_is_well() {
        let states = [State::Stopped, State::Installing, State::Starting, State::Running, State::Stopping];
        let reasons = reasons(HealthFacts::default(), states.map(|state| server("s", state)));
        assert_eq!((worst(&reasons), reasons), (Health::Ok, vec![]));
    }

    #[test]
    fn the_worst_comes_first_and_names_what_it_is() {
        let audit = AuditFacts { failing: true, lost: 3, required: false };
        let database = DatabaseFacts { failing: Some("full".into()), lost: Some("it was corrupt".into()) };
        let (config, metrics) = (Some("config.toml:3: no".into()), Some("in use".into()));
        let unstored = vec!["mcp:tools.call of https://a".into(), "b".into()];
        let sessions = vec!["ab: full".into()];
        let logins = vec!["r".into()];
        let log = LogFacts { failing: Some("full".into()), dropped: 2 };
        let secrets = Some("could not read them".into());
        let unread = UnreadFacts { held: 3 << 20, most: 2 << 20 };
        let models = vec!["openai refuses its key".into()];
        let facts = HealthFacts {
            audit,
            database,
            unstored,
            sessions,
            logins,
            log,
            secrets,
            unread,
            config,
            metrics,
            models,
        };
        let found = reasons(facts, [server("b", State::Crashed), server("a", State::Failed)]);
        let shown: Vec<_> =
            found.iter().map(|reason| (reason.health, reason.code, reason.server.as_deref())).collect();
        assert_eq!(
            shown,
            [
                (Health::Failing, "audit_failing", None),
                (Health::Degraded, "database_failing", None),
                (Health::Degraded, "database_rebuilt", None),
                (Health::Degraded, "grants_unstored", None),
                (Health::Degraded, "sessions_unsaved", None),
                (Health::Degraded, "logins_unstored", None),
                (Health::Degraded, "log_failing", None),
                (Health::Degraded, "secrets_unreadable", None),
                (Health::Degraded, "unread_answers", None),
                (Health::Degraded, "config_refused", None),
                (Health::Degraded, "metrics_unavailable", None),
                (Health::Degraded, "model_provider_refuses", None),
                (Health::Degraded, "server_failed", Some("a")),
                (Health::Degraded, "server_crashed", Some("b")),
            ]
        );
        assert_eq!(found[6].message, "the bridge's own log cannot be written: full; 2 lines were dropped");
        assert_eq!(found[12].message, "a has failed: it was killed");
        assert_eq!(worst(&found), Health::Failing);
        let lost = reasons(
            HealthFacts { audit: AuditFacts { lost: 3, ..AuditFacts::default() }, ..HealthFacts::default() },
            [],
        );
        assert_eq!((worst(&lost), lost[0].code), (Health::Degraded, "audit_incomplete"));
    }
}
