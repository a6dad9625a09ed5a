//! The questions to an engine: short commands that run below a runner, each with a limit.
//!
//! Owns the environment of an engine's program, and the words where it refuses. Must never judge an answer.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{Launch, LogSource};
use harbor_policy::container::{Engine, variables};
use harbor_policy::limits;

use super::super::Server;
use crate::link::EndReport;
use crate::runtimes::FoundRuntimes;

/// How long an engine may take to answer from its own knowledge: a moment, and much longer on a busy machine.
pub(super) const QUICK: Duration = Duration::from_secs(60);

/// Lines of an answer that are kept.
const MOST_LINES: usize = 256;

/// An engine's answer to a command.
type EngineOutput = Result<Vec<String>, Rc<EndReport>>;

impl Server {
    /// Asks the engine something short.
    pub(super) async fn ask_engine(
        &self,
        engine: Engine,
        words: Vec<String>,
        limit: Duration,
    ) -> EngineOutput {
        let mut lines = Vec::new();
        let hear = |source, text| {
            if source == LogSource::Stdout && lines.len() < MOST_LINES {
                lines.push(text);
            }
        };
        let report = self.run_engine(engine, words, limit, hear).await?;
        let why = || format!("{} refuses: {}", engine.as_str(), said(&report));
        if succeeded(&report) { Ok(lines) } else { Err(failed_with(&why(), &report)) }
    }

    pub(super) async fn run_engine(
        &self,
        engine: Engine,
        args: Vec<String>,
        limit: Duration,
        hear: impl FnMut(LogSource, String),
    ) -> Result<Rc<EndReport>, Rc<EndReport>> {
        let path = self.looked().await.path;
        let launch = Launch {
            command: engine.as_str().into(),
            args: args.into_iter().map(Into::into).collect(),
            start_timeout_ms: millis(limit),
            ..self.engine_launch(self.engine_environment(path))
        };
        let done = self.runners().errand(launch, hear).await;
        done.map_err(|error| failed(&format!("a runner could not be started: {error}")))
    }

    pub(super) fn engine_launch(&self, env: BTreeMap<String, String>) -> Launch<'static> {
        Launch {
            env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: "/".into(),
            max_line: limits::MAX_LINE,
            eof_grace_ms: millis(self.settings().eof_grace),
            term_grace_ms: millis(self.settings().term_grace),
            ..Launch::default()
        }
    }

    /// Looks for the engines beyond the bridge's PATH.
    pub(super) async fn looked(&self) -> FoundRuntimes {
        let runtimes = self.runners().shared.runtimes.clone();
        let looked = tokio::task::spawn_blocking(move || runtimes.look()).await;
        looked.unwrap_or_else(|error| {
            tracing::error!(%error, "programs could not be looked for");
            FoundRuntimes::none()
        })
    }

    pub(super) fn engine_environment(&self, path: String) -> BTreeMap<String, String> {
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let instance = &self.runners().shared.marks.instance;
        let mut all = variables::of_engine(inherited, instance, self.id().as_str());
        all.insert("PATH".into(), path);
        all
    }
}

pub(super) fn succeeded(report: &EndReport) -> bool {
    report.cause == "exited" && report.exit_code == Some(0)
}

/// The engine's own error text, else how the engine ended.
pub(super) fn said(report: &EndReport) -> String {
    let last = report
        .stderr_tail
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty() && !line.starts_with("See '"));
    let last = last.map(|line| line.strip_prefix("Error: ").unwrap_or(line).to_owned());
    last.unwrap_or_else(|| report.message.clone())
}

pub(super) fn failed(why: &str) -> Rc<EndReport> {
    Rc::new(EndReport::because("install_failed", format!("could not get its image: {why}")))
}

/// The end of an engine's command for this reason, with what else is known of it.
pub(super) fn failed_with(why: &str, report: &EndReport) -> Rc<EndReport> {
    if report.was_asked_for() {
        return Rc::new(report.clone());
    }
    let EndReport { cause, message, .. } = (*failed(why)).clone();
    Rc::new(EndReport { cause, message, ..report.clone() })
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_quoted_by_its_last_words() {
        let report =
            |tail: &str| EndReport { stderr_tail: tail.into(), ..EndReport::because("exited", "it exited") };
        assert_eq!(said(&report("Trying to pull\nError: no such image\n\n")), "no such image");
        assert_eq!(said(&report("docker: denied.\nSee 'docker run --help'.")), "docker: denied.");
        assert_eq!(said(&report("")), "it exited");
    }
}
