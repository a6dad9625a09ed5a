//! The advice after an installation whose server did not start: what to add at the next try.
//!
//! Owns the order in which advice is tried, the surest first; the sentences are the policy's. A server's output is other
//! people's text: nothing but advice may follow from it.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_policy::credentials::is_secret_name;
use harbor_policy::package::usage::{GivenArguments, listens, next_try};
use harbor_policy::timeout_advice::more_time;
use harbor_policy::unreachable_places::of_words;

use super::failures::missing_variable;
use super::package_request::RequestedInstall;
use super::trial::Trial;
use crate::supervisor::StartError;

/// Adds the advice to the error. A trial that may only lack arguments, or something from its README, keeps its package:
/// the next try need not fetch it again.
pub(super) async fn told(
    trial: &Trial,
    wanted: &RequestedInstall,
    why: &StartError,
    error: ErrorBody,
) -> ErrorBody {
    let StartError::Failed(report) = why else { return error };
    let Some(package) = trial.package().filter(|_| trial.is_installed(why)) else { return error };
    let said = &report.stderr_tail;
    let names = wanted.names();
    let given = GivenArguments { args: &wanted.definition.args, names: &names };
    let told = match about_a_value(trial, wanted, said).await {
        Some(told) => Some(told),
        None => trial.without_kept_file(said, &names).await,
    };
    let told = match told {
        Some(told) => Some(told),
        None => {
            next_try(package, said, missing_variable(said, &names), trial.readme().await.as_deref(), given)
        }
    };
    let told = match (told, trial.refused(said)) {
        // A server that would wait at a port gets the advice how to avoid that.
        (Some(told), Some((_, true))) if listens(said) => Some(told),
        // Otherwise its output is about the refusal.
        (_, Some((refused, true))) => Some(refused),
        (Some(told), Some((refused, false))) => Some(format!("{told}; {refused}")),
        (told, refused) => told.or(refused.map(|(refused, _)| refused)),
    };
    match told.or_else(|| trial.home_to_fill(said)) {
        None => error,
        Some(told) => {
            trial.keep_package();
            let more_time = more_time(wanted.id.as_str());
            let message = error.message.strip_suffix(&more_time).unwrap_or(&error.message).to_owned();
            ErrorBody { message, ..error }.with("arguments", &told)
        }
    }
}

/// The advice if a server speaks of the value of a variable that it was given: a place that is closed to it, or a value
/// that is hidden as a secret without being one.
async fn about_a_value(trial: &Trial, wanted: &RequestedInstall, said: &str) -> Option<String> {
    let of = |(name, value): (&String, &String)| {
        (said.contains(name.as_str()) || said.contains(value.as_str())).then(|| value.clone())
    };
    let values: Vec<_> = wanted.definition.env.iter().filter_map(of).collect();
    let places = of_words(values.iter().map(String::as_str));
    if let Some(told) = trial.closed(places).await {
        return Some(told);
    }
    let is_hidden = |name: &&String| said.contains(name.as_str()) && !is_secret_name(name);
    let name = wanted.given.iter().map(|(name, _)| name).find(is_hidden)?;
    Some(format!(
        "{name} is no key by its name, and as a secret it is hidden in what the server says: `--env {name}=…` gives it openly"
    ))
}
