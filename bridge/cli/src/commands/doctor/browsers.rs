//! Browsers: whether each that is here can start Harbor's native host.
//!
//! Owns how bad that is, and that `--fix` touches Harbor's own manifests only.

use harbor_client_configs::browsers::State as Manifest;
use harbor_home::Paths;

use super::super::native_host::{Here, ManifestStatus, look_at_all, put_again};
use super::findings::{Finding, State};

pub(super) fn look(paths: &Paths, fix: bool) -> Vec<Finding> {
    let seen = Here::of_process().and_then(|here| look_at_all(&here, paths));
    let seen = match seen {
        Ok(seen) => seen,
        Err(failure) => {
            let what = failure.message().unwrap_or_else(|| "Harbor could not look for browsers".into());
            return vec![Finding::wrong(State::Warning, "browsers", what, "")];
        }
    };
    let all: Vec<_> =
        seen.iter().filter(|seen| seen.matters()).map(|seen| finding(seen, paths, fix)).collect();
    match all.is_empty() {
        true => vec![Finding::ok("browsers", "no supported browser is installed")],
        false => all,
    }
}

fn finding(seen: &ManifestStatus, paths: &Paths, fix: bool) -> Finding {
    let (title, file) = (seen.target.browser.title, seen.target.file.display());
    let what = match seen.state {
        Manifest::Installed => {
            return Finding::ok("browsers", format!("{title} is connected to Harbor ({file})"));
        }
        Manifest::Missing => format!("{title} is installed but not connected to Harbor"),
        _ => format!("{title}: {file}: {}", seen.what()),
    };
    let next = seen.next().unwrap_or_default();
    if seen.state.is_foreign() {
        return Finding::wrong(State::Warning, "browsers", what, next);
    }
    if fix && put_again(seen, paths).is_ok() {
        return Finding::wrong(State::Fixed, "browsers", what, format!("done: {file} is written"));
    }
    let state = if seen.state == Manifest::NotExecutable { State::Broken } else { State::Warning };
    Finding::wrong(state, "browsers", what, format!("{next}, or `harbor doctor --fix`"))
}
