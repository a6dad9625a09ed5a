//! doctor: problems on this machine, and what to do about them.
//!
//! ```text
//!  files of HARBOR_HOME ─┐ whose content the bridge's program looks at: `harbor-bridge check`
//!  programs, PATH ───────┤
//!  browsers' manifests ──┼─► findings, the worst first ─► exit code: 1 if something is broken
//!  the bridge's status ──┘
//! ```
//!
//! Owns the findings and how they look. Must never change anything without `--fix`, and with it only what it
//! names.

mod bridge;
mod browsers;
mod entrance;
mod files;
mod findings;
mod programs;

pub use self::programs::PROGRAMS;

use std::env;

use harbor_client::errors::{Exit, Failure};
use harbor_home::Paths;
use harbor_ipc_proto::check::{CheckPart, Checked};
use serde_json::json;

use self::findings::{Finding, State};
use super::printing::count;
use super::service;
use crate::check;
use crate::client::Client;
use crate::screen::Screen;
use crate::table::flatten;

pub fn run(paths: &Paths, (fix, verbose): (bool, bool), screen: &mut Screen) -> Result<(), Failure> {
    // What it finds missing the bridge makes anew by itself, while the rest is looked at.
    let lost = entrance::look(paths, fix);
    let mut unanswered = None;
    let mut ask = |parts: &[CheckPart]| {
        check::ask(paths, parts).unwrap_or_else(|failure| {
            unanswered = failure.message();
            Checked::default()
        })
    };
    let mut all = files::look(paths, fix, &mut ask);
    all.extend(lost);
    all.extend(programs::look(ask(&[CheckPart::Programs]).programs.as_deref()));
    all.extend(browsers::look(paths, fix));
    all.extend(
        service::is_installed().then(|| logout(service::lingers(), env::var_os("SSH_CONNECTION").is_some())),
    );
    // It is the main thing to be found out whether one starts.
    match Client::connect(paths).and_then(|mut client| bridge::look(paths, &mut client)) {
        Ok(found) => {
            // The bridge may not have seen yet what was mended.
            let is_known = |new: &Finding| {
                let same = |found: &&Finding| matches!(found.state, State::Broken | State::Fixed);
                all.iter().filter(same).any(|found| new.what.ends_with(&found.what))
            };
            let new: Vec<_> = found.into_iter().filter(|found| !is_known(found)).collect();
            all.extend(new);
        }
        Err(failure) => {
            let what = failure.message().unwrap_or_else(|| "the bridge cannot be reached".into());
            // Why it does not start may have been found already.
            if !all.iter().any(|found| found.state == State::Broken && what.contains(&found.what)) {
                all.push(Finding::wrong(State::Broken, "bridge", what, ""));
            }
        }
    }
    // The bridge may have set one aside just now.
    all.extend(files::lost(&ask(&[CheckPart::Lost]).lost.unwrap_or_default()));
    all.extend(unanswered.map(|what| Finding::wrong(State::Broken, "bridge", what, "")));
    all.sort_by_key(|finding| std::cmp::Reverse(finding.state));
    show(&all, verbose, screen)?;
    match all.iter().any(|finding| finding.state == State::Broken) {
        true => Err(Failure::Said(Exit::Failed)),
        false => Ok(()),
    }
}

/// Tells if the service goes on when its user logs out. Over SSH an ending service is a warning, because an SSH session
/// is sure to end.
fn logout(lingers: Option<bool>, over_ssh: bool) -> Finding {
    match lingers {
        Some(true) => Finding::ok("service", "it keeps running when you log out"),
        Some(false) if over_ssh => Finding::wrong(
            State::Warning,
            "service",
            "Harbor's service ends when you log out, and does not start at boot",
            format!("`{}` keeps it", service::LINGER),
        ),
        Some(false) => Finding::ok("service", "it ends when you log out"),
        None => Finding::ok("service", "it is installed"),
    }
}

fn show(all: &[Finding], verbose: bool, screen: &mut Screen) -> Result<(), Failure> {
    let number = |state: State| all.iter().filter(|finding| finding.state == state).count();
    if screen.json {
        let findings = all.iter().map(|finding| {
            json!({"state": finding.state.as_str(), "about": finding.about, "message": finding.what, "next": finding.next})
        });
        let answer = json!({"broken": number(State::Broken), "warnings": number(State::Warning), "findings": findings.collect::<Vec<_>>()});
        return Ok(screen.json(&answer.to_string())?);
    }
    let shown: Vec<_> = all.iter().filter(|finding| verbose || finding.state != State::Ok).collect();
    for finding in &shown {
        let word = finding.state.as_str();
        let line = format!("{word:<8} {}: {}", finding.about, flatten(&finding.what));
        screen.headed(&line, word.len(), finding.state.tone())?;
        if let Some(next) = &finding.next {
            screen.prose(&format!("         {}", flatten(next)))?;
        }
    }
    if !shown.is_empty() {
        screen.text("")?;
    }
    let errors = match number(State::Broken) {
        0 => "no errors".to_owned(),
        some => count(some, "error"),
    };
    let hidden = number(State::Ok);
    let more = if verbose || hidden == 0 {
        String::new()
    } else {
        format!("; {} passed (-v shows them)", count(hidden, "check"))
    };
    Ok(screen.text(&format!("{errors}, {}{more}", count(number(State::Warning), "warning")))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::tests::Paper;

    #[test]
    fn a_service_that_ends_at_logout_is_a_warning_over_ssh() {
        let of = |lingers, over_ssh| logout(lingers, over_ssh).state;
        assert_eq!(of(Some(false), true), State::Warning);
        assert_eq!(
            (of(Some(false), false), of(Some(true), true), of(None, true)),
            (State::Ok, State::Ok, State::Ok)
        );
    }

    #[test]
    fn findings_are_shown_with_what_to_do() {
        let all = [
            Finding::wrong(State::Broken, "config", "config.toml:3: no", "mend it"),
            Finding::ok("home", "it is private"),
        ];
        let paper = Paper::default();
        show(&all, true, &mut paper.screen(false, false)).unwrap();
        assert_eq!(
            paper.read(),
            "broken   config: config.toml:3: no\n         mend it\nok       home: it is private\n\n1 error, 0 warnings\n"
        );
        let paper = Paper::default();
        show(&all, false, &mut paper.screen(false, true)).unwrap();
        assert_eq!(
            paper.read(),
            "\x1b[31mbroken\x1b[0m   config: config.toml:3: no\n         mend it\n\n1 error, 0 warnings; 1 check passed (-v shows them)\n"
        );
        let paper = Paper::default();
        show(&all[1..], true, &mut paper.screen(true, false)).unwrap();
        let shown: serde_json::Value = serde_json::from_str(&paper.read()).unwrap();
        assert_eq!((&shown["broken"], &shown["findings"][0]["about"]), (&json!(0), &json!("home")));
    }
}
