//! The one command that a README leads to, where a server did not start without it.
//!
//! Owns its form. Each word is quoted for a shell; the sentence also says whose words they are.

use super::Package;
use super::readme::ReadmeStart;
use super::typed::source_of;
use crate::apis::service_of;
use crate::credentials::is_secret_name;
use crate::sandbox::hint::shell;

/// The most bytes of a command that a person would read before typing it.
const MAX_COMMAND: usize = 600;

/// The arguments and names that the person has given already.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenArguments<'a> {
    /// Arguments of the server.
    pub args: &'a [String],
    /// Names of variables and secrets.
    pub names: &'a [String],
}

/// The sentence, where the README adds to what was given, and to the one variable that the server has `named` itself. `with`: an
/// option that is wanted whatever the README says.
pub(super) fn from_readme(
    package: &Package,
    start: ReadmeStart,
    (named, said): (Option<&str>, &str),
    with: Option<&str>,
    given: GivenArguments<'_>,
) -> Option<String> {
    let ReadmeStart { args, variables } = start;
    let args = if given.args.is_empty() { args } else { Vec::new() };
    let is_new = |name: &str| !given.names.iter().any(|given| given == name);
    // What only its reader knows is not worth a word where the server has said what it lacks.
    let is_worth = |name: &str, value: Option<&str>| {
        value.is_some() || is_secret_name(name) || named.is_none() || said.contains(name)
    };
    let mut variables: Vec<_> = variables
        .into_iter()
        .filter(|(name, value)| is_new(name) && is_worth(name, value.as_deref()))
        .collect();
    // A setting alone, of which nobody has spoken, is hardly why it did not start.
    let leads = |name: &str| is_secret_name(name) || said.trim().is_empty() || said.contains(name);
    // Where it lacks just the variable that it has named, the README may still know a value for it.
    let adds = |(name, value): &(String, Option<String>)| {
        (Some(name.as_str()) != named || value.is_some()) && leads(name)
    };
    if args.is_empty() && !variables.iter().any(adds) {
        return None;
    }
    if let Some(named) =
        named.filter(|named| is_new(named) && !variables.iter().any(|(name, _)| name == named))
    {
        variables.insert(0, (named.to_owned(), None));
    }
    let foreign = foreign(variables.iter().map(|(name, _)| name.as_str()));
    let mut words: Vec<_> = with.map(str::to_owned).into_iter().collect();
    words.extend(variables.iter().map(|(name, value)| variable(name, value.as_deref())));
    if !args.is_empty() {
        words.push("--".into());
        words.extend(args.iter().map(|arg| shell(arg)));
    }
    let (words, source) = (words.join(" "), source_of(package));
    let is_whole = given.args.is_empty() && given.names.is_empty() && package.with.is_empty();
    let told = match is_whole {
        true => format!("its README starts it like this: `harbor install {source} {words}`"),
        false => format!("its README starts it with more arguments; add `{words}`"),
    };
    (told.len() <= MAX_COMMAND).then(|| told + &foreign)
}

/// Says whose advice it is to give a key of another service, since such a key is worth more than a server's start.
fn foreign<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let of_others: Vec<_> = names.filter_map(|name| Some((name, service_of(name)?))).collect();
    let Some((last, others)) = of_others.split_last() else { return String::new() };
    let named = |(name, service): &(&str, &str)| format!("{name} is a key of {service}");
    let said = match others {
        [] => named(last),
        others => format!("{} and {}", others.iter().map(named).collect::<Vec<_>>().join(", "), named(last)),
    };
    format!(
        "; that is the package's advice, not Harbor's: {said}, and the server could do everything that it allows"
    )
}

/// A key is asked for; a value that is not known is the reader's to fill in.
fn variable(name: &str, value: Option<&str>) -> String {
    match value {
        _ if is_secret_name(name) => format!("--secret {name}"),
        Some(value) => format!("--env {}", shell(&format!("{name}={value}"))),
        None => format!("--env {name}=…"),
    }
}
