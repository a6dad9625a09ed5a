//! Models, providers, usage and budgets as tables.
//!
//! Owns how each looks. Must never take the absence of an answer for a no: a value that a provider does not
//! tell is `-`.

use harbor_ipc_proto::client::{
    BudgetView, ChatSessionView, EngineView, LlmListModelsResult, ModelFileView, ModelUsageView, ModelView,
    ProviderView,
};

use crate::commands::ids::short;
use crate::money::dollars;
use crate::table::Table;

/// `default`: the id of the one that is used where none is named.
pub fn models(models: &[ModelView], default: Option<&str>) -> Table {
    let mut table = Table::new(&["MODEL", "CONTEXT", "CAN", "RUNS", "PRICE"]).without(&["PRICE"]);
    for model in models {
        let abilities = [(model.tools, "tools"), (model.vision, "images"), (model.reasoning, "reasoning")];
        let can: Vec<_> =
            abilities.iter().filter(|(can, _)| *can == Some(true)).map(|(_, what)| *what).collect();
        table.add([
            format!("{}{}", model.id, if default == Some(model.id.as_str()) { " (default)" } else { "" }),
            or_dash(model.context_window),
            if can.is_empty() { "-".into() } else { can.join(", ") },
            format!("{}{}", place(model.is_local), state(model)),
            price(model),
        ]);
    }
    table
}

/// A note beside a model that is being loaded, or could not be loaded.
fn state(model: &ModelView) -> String {
    match (model.state.as_deref(), &model.problem) {
        (_, Some(problem)) => format!(" ({problem})"),
        (Some("loading"), None) => " (it is being loaded)".into(),
        _ => String::new(),
    }
}

/// A sentence about the window of a model.
pub fn window(model: &ModelView) -> String {
    let id = &model.id;
    match (model.context_window, model.window_from.as_deref()) {
        (Some(window), Some("stated")) => format!("{id} has a window of {window} tokens now"),
        (Some(window), Some("memory")) => {
            format!("{id} has a window of {window} tokens: this machine has no memory for more")
        }
        (Some(window), _) => format!("{id} has a window of {window} tokens, as its provider says"),
        (None, _) => {
            format!("the provider does not say the window of {id}; Harbor takes it for 32768 tokens")
        }
    }
}

/// `$2.50 in, $10.00 out`, for a million tokens.
fn price(model: &ModelView) -> String {
    match (model.input_price, model.output_price) {
        _ if model.is_local => "free".into(),
        (Some(input), Some(output)) => format!("{} in, {} out", dollars(input), dollars(output)),
        _ => "-".into(),
    }
}

fn or_dash(number: Option<u64>) -> String {
    number.map_or_else(|| "-".into(), |number| number.to_string())
}

fn place(is_local: bool) -> String {
    if is_local { "here".into() } else { "elsewhere".into() }
}

/// The message about a port that another person's program has.
pub fn of_another_person(base_url: &str, user: &str) -> String {
    format!(
        "a program of the user {user} answers at {base_url}: it would read every conversation; `harbor models add … \
         --allow-other-user` allows that"
    )
}

/// The reason why a provider's models are not in the list.
pub fn trouble(provider: &ProviderView, listed: &LlmListModelsResult) -> Option<String> {
    let id = &provider.id;
    if !provider.enabled {
        return Some(format!("{id} is switched off"));
    }
    if provider.needs_api_key && !provider.has_api_key {
        return Some(format!("{id} needs a key: `harbor models key {id}`"));
    }
    if listed.failed.contains(id) {
        let why = provider.problem.as_deref().unwrap_or("it does not answer");
        return Some(format!("{id}: {why}; `harbor models check {id}` tries again"));
    }
    let has_models = listed.models.iter().any(|model| model.provider == *id);
    (!has_models).then(|| format!("{id} has no model"))
}

pub fn found(providers: &[ProviderView]) -> Table {
    let mut table = Table::new(&["PROVIDER", "TYPE", "ADDRESS", "RUNS", "ADDED"]);
    for provider in providers {
        let added = if provider.is_added { "yes" } else { "no" };
        table.add([
            provider.id.clone(),
            provider.r#type.clone(),
            provider.base_url.clone(),
            place(provider.is_local),
            added.into(),
        ]);
    }
    table
}

pub fn usage(rows: &[ModelUsageView]) -> Table {
    let mut table = Table::new(&["DAY", "WHO", "MODEL", "REQUESTS", "IN", "OUT", "COST", "COUNT"])
        .without(&["COUNT", "REQUESTS"]);
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    for row in rows {
        table.add([
            text(&row.day),
            text(&row.principal),
            format!("{}:{}", text(&row.provider), text(&row.model)),
            row.requests.to_string(),
            row.input_tokens.to_string(),
            row.output_tokens.to_string(),
            cost(row),
            row.exactness.to_string(),
        ]);
    }
    table
}

/// The chats that have used tokens, in the order of the bridge.
pub fn usage_of_chats(sessions: &[ChatSessionView]) -> Table {
    let mut table = Table::new(&["CHAT", "IN", "OUT", "COST", "COUNT", "NAME"]).without(&["COUNT"]);
    for session in sessions {
        let Some(used) = &session.usage else { continue };
        table.add([
            short(&session.id).to_owned(),
            used.input_tokens.to_string(),
            used.output_tokens.to_string(),
            used.cost_microdollars.map_or_else(|| "unknown".into(), dollars),
            used.exactness.to_string(),
            if session.name.is_empty() { "-".into() } else { session.name.clone() },
        ]);
    }
    table
}

/// The cost of the requests of a row, as far as it is known.
fn cost(row: &ModelUsageView) -> String {
    match row.unpriced_requests {
        0 => dollars(row.cost_microdollars),
        all if all >= row.requests => "unknown".into(),
        some => format!("{} without {some}", dollars(row.cost_microdollars)),
    }
}

pub fn budgets(budgets: &[BudgetView]) -> Table {
    let mut table = Table::new(&["WHO", "TOKENS A DAY", "USED TODAY", "KEPT", "SET"]);
    for budget in budgets {
        let most = budget.tokens_per_day.map_or_else(|| "no limit".into(), |most| most.to_string());
        let set = if budget.is_set { "yes" } else { "no" };
        table.add([
            budget.principal.clone(),
            most,
            budget.used.to_string(),
            budget.reserved.to_string(),
            set.into(),
        ]);
    }
    table
}

/// The programs that Harbor has started.
pub fn engines(engines: &[EngineView]) -> Table {
    let mut table = Table::new(&["ENGINE", "STATE", "FILE", "WHY"]);
    for engine in engines {
        let why = engine.last_error.clone().unwrap_or_default();
        table.add([engine.provider.clone(), engine.state.to_string(), engine.file.clone(), why]);
    }
    table
}

/// The models that were fetched. `memory`: the bytes that programs may still take.
pub fn files(files: &[ModelFileView], memory: Option<u64>) -> Table {
    let mut table = Table::new(&["MODEL", "SIZE", "TAKES", "FITS"]);
    for file in files {
        let fits = memory.map_or("-", |memory| if file.memory_bytes <= memory { "yes" } else { "no" });
        table.add([file.modelId.clone(), gigabytes(file.bytes), gigabytes(file.memory_bytes), fits.into()]);
    }
    table
}

/// A size for people: `4.7 GB`.
pub fn gigabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_add(50_000_000) / 100_000_000;
    format!("{}.{} GB", tenths / 10, tenths % 10)
}
