//! Parts of a foreign file that need the person's yes before they are taken over.
//!
//! ```text
//!  variables of the person's that go somewhere ─┐
//!  a server at a private address, or without TLS ┴─► allowed by an option, or by a yes to all that was shown; else left out
//!  whatever is new ─► a yes, or `--yes`; where nobody can be asked, nothing is taken over
//! ```
//!
//! Owns these rules and the question. Must never show a value of a variable or of a header.

use std::collections::BTreeMap;

use harbor_client::errors::{Exit, Failure};
use harbor_client::terminal::remark;
use harbor_client_configs::Launch;
use harbor_policy::curated;
use harbor_policy::handover::warnings;
use harbor_policy::package::recognise;
use harbor_policy::remote::{is_exposed, parse, place, says_private};
use harbor_policy::telltale::{HIDDEN, without_secrets};
use url::Url;

use super::super::changes::quoted;
use super::super::definition_secrets::in_arguments;
use super::candidate::{ImportCandidate, secrets_of};
use crate::args::Import;
use crate::consent;
use crate::table::flatten;

/// The host of a remote server.
pub fn host(launch: &Launch) -> Option<String> {
    launch.remote.as_ref().map(|_| address(launch).map_or_else(|| "no URL".into(), |url| place(&url)))
}

fn address(launch: &Launch) -> Option<Url> {
    parse(&launch.remote.as_ref()?.url).ok()
}

/// The uses of variables: `TOKEN in the header Authorization`.
pub fn uses(launch: &Launch) -> Vec<String> {
    let mut places = BTreeMap::<&str, Vec<&str>>::new();
    for used in &launch.taken {
        places.entry(&used.variable).or_default().push(&used.place);
    }
    let said = |(variable, places): (&str, Vec<&str>)| format!("{variable} in {}", places.join(" and "));
    places.into_iter().map(said).collect()
}

/// Why a server is not taken over until the person has allowed it.
pub fn unallowed(launch: &Launch, wanted: &Import) -> Option<String> {
    if !launch.taken.is_empty() && !wanted.expand {
        let to = host(launch).map(|host| format!(", and so to {host}")).unwrap_or_default();
        let used = uses(launch).join(", ");
        return Some(format!("it would get your {used}{to}; allow that with --expand"));
    }
    let url = address(launch)?;
    if says_private(&url) && !wanted.allow_private {
        let at = place(&url);
        return Some(format!("its address {at} is private or on this machine; --allow-private imports it"));
    }
    if is_exposed(&url) && !wanted.allow_http {
        return Some(format!("its address {} has no TLS; --allow-http imports it", place(&url)));
    }
    None
}

/// Shows what is new, and asks for a yes to all of it. Whether that was said.
pub fn ask(new: &[&ImportCandidate], wanted: &Import) -> Result<bool, Failure> {
    if new.is_empty() || wanted.yes || wanted.dry_run {
        return Ok(false);
    }
    consent::is_possible("import")?;
    let shown: Vec<_> =
        new.iter().filter_map(|server| Some(described(server, server.launch.as_ref().ok()?))).collect();
    match consent::ask(&format!("{}\n{}", shown.join("\n"), question(wanted)))? {
        true => Ok(true),
        false => {
            remark("nothing was imported");
            Err(Failure::Said(Exit::Failed))
        }
    }
}

/// The question that the yes answers.
fn question(wanted: &Import) -> &'static str {
    match wanted.replace {
        true => {
            "Import them, and replace them by Harbor in the clients' files (Harbor keeps a copy of each)?"
        }
        false => "Import them?",
    }
}

/// One server with all its risks, in lines.
fn described(server: &ImportCandidate, launch: &Launch) -> String {
    let what = match host(launch) {
        Some(host) => format!("at {host}"),
        None => format!("runs {}", flatten(&shortened(launch))),
    };
    let mut lines = vec![format!("{}: {what}", flatten(&server.id))];
    lines.extend(named("its variables", launch, launch.env.keys()));
    let missing: Vec<_> = launch.missing.iter().map(|name| flatten(name)).collect();
    lines.extend((!missing.is_empty()).then(|| format!("  needs a key: {}", missing.join(", "))));
    let headers = launch.remote.iter().flat_map(|remote| remote.headers.keys());
    lines.extend(named("its headers", launch, headers));
    lines.extend(uses(launch).iter().map(|used| format!("  it gets your {}", flatten(used))));
    let is_plain = "looks like a secret, but would be stored unencrypted";
    lines.extend(plain_secrets(launch).iter().map(|name| format!("  {} {is_plain}", flatten(name))));
    let url = address(launch);
    let is = |what: fn(&Url) -> bool| url.as_ref().is_some_and(what);
    lines.extend(is(says_private).then(|| "  the address is private or on this machine".to_owned()));
    lines.extend(is(is_exposed).then(|| "  without TLS".to_owned()));
    lines.extend(warning(launch).map(|text| format!("  warning: {text}")));
    lines.join("\n")
}

/// `  its variables: MODE, TOKEN (stored as a secret)`.
fn named<'a>(title: &str, launch: &Launch, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let secrets = secrets_of(launch);
    let is_kept = |name: &String| secrets.iter().any(|(key, ..)| key == name);
    let kept = |name: &String| if is_kept(name) { " (stored as a secret)" } else { "" };
    let names: Vec<_> = names.map(|name| format!("{}{}", flatten(name), kept(name))).collect();
    (!names.is_empty()).then(|| format!("  {title}: {}", names.join(", ")))
}

/// The warning about values that its command would hand over, or hide.
pub fn warning(launch: &Launch) -> Option<String> {
    let mut all = warnings(&launch.command, &launch.args);
    let entry = recognise(&launch.command, &launch.args).and_then(|package| curated::of_package(&package));
    all.extend(entry.map(|entry| {
        format!(
            "Harbor has a tested setup for this server; to use that instead of this import: `harbor install {}`",
            entry.id
        )
    }));
    (!all.is_empty()).then(|| all.join("; "))
}

/// Arguments that look like secrets by their names. The definition would hold them in plain text.
pub fn plain_secrets(launch: &Launch) -> Vec<String> {
    in_arguments(&launch.args)
}

/// The whole command, without what has a variable's value in it, or looks like a secret.
pub fn shortened(launch: &Launch) -> String {
    let has = |place: &str| launch.taken.iter().any(|used| used.place == place);
    let word = |word: &String| if word == HIDDEN { word.clone() } else { quoted(word) };
    let program = match &launch.image {
        Some(image) if has("its arguments") => format!("an image ({})", image.engine),
        Some(image) => format!("the image {} ({})", image.reference, image.engine),
        None if has("its command") => HIDDEN.into(),
        None => word(&launch.command),
    };
    let args = without_secrets(&launch.args);
    let args = match has("its arguments") {
        true => HIDDEN.to_owned(),
        false => args.iter().map(word).collect::<Vec<_>>().join(" "),
    };
    format!("{program} {args}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use harbor_client_configs::{RemoteEntry, Use};

    use super::*;

    fn remote(url: &str) -> Launch {
        let remote = RemoteEntry { url: url.into(), ..RemoteEntry::default() };
        Launch { remote: Some(remote), ..Launch::default() }
    }

    #[test]
    fn what_is_special_needs_to_be_allowed() {
        let none = Import::default();
        assert_eq!(unallowed(&remote("https://example.com/mcp"), &none), None);
        let private = unallowed(&remote("http://localhost:3/mcp"), &none).unwrap();
        assert_eq!(
            private,
            "its address localhost:3 is private or on this machine; --allow-private imports it"
        );
        let allowed = Import { allow_private: true, ..none.clone() };
        assert_eq!(unallowed(&remote("http://localhost:3/mcp"), &allowed), None);
        assert!(unallowed(&remote("http://192.168.1.2/"), &allowed).unwrap().contains("--allow-http"));
        assert!(unallowed(&remote("http://example.com/"), &none).unwrap().contains("--allow-http"));

        let mut taken = remote("https://evil.example/?k=v4lue");
        let place = |place: &str| Use { variable: "TOKEN".into(), place: place.into() };
        taken.taken = [place("its URL"), place("the header X")].into();
        let said = unallowed(&taken, &none).unwrap();
        assert_eq!(
            said,
            "it would get your TOKEN in its URL and the header X, and so to evil.example; allow that with --expand"
        );
        assert_eq!(unallowed(&taken, &Import { expand: true, ..none }), None);
    }

    #[test]
    fn a_question_shows_hosts_and_variables_and_no_values() {
        let mut launch = Launch { command: "npx".into(), args: vec!["v4lue".into()], ..Launch::default() };
        launch.taken = [Use { variable: "TOKEN".into(), place: "its arguments".into() }].into();
        let server = |launch: &Launch| ImportCandidate {
            name: "s".into(),
            file: "f".into(),
            client: None,
            id: "s".into(),
            launch: Ok(launch.clone()),
        };
        assert_eq!(
            described(&server(&launch), &launch),
            "s: runs npx …\n  it gets your TOKEN in its arguments"
        );
        let args = ["run", "--token", "v4lue", "-e", "KEY=v4lue"].map(str::to_owned).into();
        let plain = Launch { command: "npx".into(), args, ..Launch::default() };
        assert_eq!(
            described(&server(&plain), &plain),
            "s: runs npx run --token … -e …\n  --token looks like a secret, but would be stored unencrypted\n  \
             KEY looks like a secret, but would be stored unencrypted"
        );
        let mut shell = Launch {
            command: "bash".into(),
            args: ["-c", "a b"].map(str::to_owned).into(),
            ..Launch::default()
        };
        shell.env = [("MODE", "v4lue"), ("API_KEY", "v4lue-0123456789")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        assert_eq!(
            described(&server(&shell), &shell),
            "s: runs bash -c 'a b'\n  its variables: API_KEY (stored as a secret), MODE\n  \
             warning: bash -c runs its argument as code: read all of it"
        );
        let launch = remote("http://192.168.1.2:80/x?key=v4lue");
        assert_eq!(
            described(&server(&launch), &launch),
            "s: at 192.168.1.2\n  the address is private or on this machine\n  without TLS"
        );
    }
}
