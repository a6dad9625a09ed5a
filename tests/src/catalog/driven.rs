//! The worker, and the bridge's end of its link.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use harbor_child::link::{self, Ends};
use harbor_ipc_proto::link::codec::{get_message, put_message};
use harbor_ipc_proto::link::worker::{
    CatalogSourceKind, Changes, Enrichment, FromWorker, SourceOutcome, ToWorker, WorkerFailure,
    WorkerSettings, WorkerSource, WorkerStatus, WorkerStep,
};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::{LIMIT, programs};

/// What it said, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The database is open; the place where a broken one was set aside.
    Opened(Option<String>),
    /// How it is.
    Status(WorkerStatus<'static>),
    /// Its `Debug` form.
    Step(String),
    /// One source was read.
    SourceDone(SourceOutcome<'static>),
    /// The end of a request: its number, changes, sources, and how many entries were enriched and were not.
    Done(u32, Changes, Vec<SourceOutcome<'static>>, (u32, u32)),
    /// The request of this number failed.
    Failed(u32, WorkerFailure<'static>),
}

/// A directory for catalog.db, and settings.
#[derive(Debug)]
pub struct Place {
    dir: TempDir,
    /// What it reads.
    pub sources: Vec<(&'static str, CatalogSourceKind, String)>,
    /// Milliseconds between refreshes; 0: never by itself.
    pub interval: u64,
    /// Milliseconds for one request.
    pub timeout: u64,
    /// The address of GitHub's double.
    pub github: Option<String>,
    /// The address of the npm downloads' double.
    pub npm: Option<String>,
}

impl Place {
    /// A new directory, and these sources.
    pub fn new(sources: &[(&'static str, CatalogSourceKind, String)]) -> Self {
        let dir = tempfile::Builder::new().prefix("hb-").tempdir().unwrap();
        Self { dir, sources: sources.to_vec(), interval: 0, timeout: 5000, github: None, npm: None }
    }

    /// The path of catalog.db.
    pub fn database(&self) -> PathBuf {
        self.dir.path().join("catalog.db")
    }

    /// As the bridge reads.
    pub fn read(&self) -> Connection {
        let connection =
            Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        connection.busy_timeout(LIMIT).unwrap();
        connection
    }

    /// One text per row.
    pub fn rows(&self, query: &str) -> Vec<String> {
        let connection = self.read();
        let mut statement = connection.prepare(query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    fn settings(&self) -> WorkerSettings<'_> {
        let source = |(id, kind, url): &(&'static str, CatalogSourceKind, String)| WorkerSource {
            id: (*id).into(),
            kind: *kind,
            url: url.clone().into(),
        };
        let enrichment = (self.github.is_some() || self.npm.is_some()).then(|| Enrichment {
            github: self.github.clone().map(Into::into),
            npm_downloads: self.npm.clone().map(Into::into),
            pypi_downloads: None,
        });
        WorkerSettings {
            database: self.database().to_str().unwrap().to_owned().into(),
            sources: self.sources.iter().map(source).collect(),
            interval_ms: self.interval,
            request_timeout_ms: self.timeout,
            enrichment,
        }
    }
}

/// A worker that runs; killed at its end.
#[derive(Debug)]
pub struct Driven {
    child: Child,
    link: Ends,
    next_id: u32,
    /// How long one request may take.
    pub limit: Duration,
}

impl Driven {
    /// Started and greeted.
    pub fn bare() -> Self {
        Self::bare_with(&[])
    }

    /// The same in this environment.
    fn bare_with(env: &[(&str, &str)]) -> Self {
        let (link, [stdin, stdout]) = link::pair().unwrap();
        let child = Command::new(programs::product("harbor-catalog-worker"))
            .arg(std::process::id().to_string())
            .env_clear()
            .envs(env.iter().copied())
            .stdin(stdin)
            .stdout(stdout)
            .spawn()
            .unwrap();
        let mut driven = Self { child, link, next_id: 1, limit: LIMIT };
        let hello = driven.frame();
        let expected = FromWorker::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() };
        assert_eq!(get_message::<FromWorker<'_>>(&hello), Ok(expected));
        driven.send(&ToWorker::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
        driven
    }

    /// With the settings of a place.
    pub fn configured(place: &Place) -> Self {
        Self::configured_with(place, &[])
    }

    /// The same in this environment.
    pub fn configured_with(place: &Place, env: &[(&str, &str)]) -> Self {
        let mut driven = Self::bare_with(env);
        driven.configure(place);
        assert_eq!(driven.heard(), Said::Opened(None));
        assert!(matches!(driven.heard(), Said::Status(_)));
        driven
    }

    /// Sends the settings.
    pub fn configure(&mut self, place: &Place) {
        self.send(&ToWorker::Configure(place.settings()));
    }

    /// Sends one message.
    pub fn send(&mut self, message: &ToWorker<'_>) {
        let mut bytes = Vec::new();
        put_message(&mut bytes, message);
        // A worker that was killed does not read.
        let _ = self.link.to.write_all(&bytes);
    }

    fn frame(&mut self) -> Vec<u8> {
        self.try_frame().expect("the worker has ended")
    }

    fn try_frame(&mut self) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        self.fill(&mut length)?;
        let mut body = vec![0; u32::from_le_bytes(length) as usize];
        self.fill(&mut body)?;
        Some(body)
    }

    /// Reads so many bytes; none once the worker has ended, or has said nothing for too long.
    fn fill(&mut self, mut bytes: &mut [u8]) -> Option<()> {
        while !bytes.is_empty() {
            let mut waiting = [PollFd::new(self.link.from.as_fd(), PollFlags::POLLIN)];
            let ready = poll(&mut waiting, PollTimeout::try_from(self.limit).unwrap()).unwrap();
            let n = (ready > 0).then(|| self.link.from.read(bytes).ok()).flatten().filter(|n| *n > 0)?;
            bytes = &mut bytes[n..];
        }
        Some(())
    }

    /// The next message.
    pub fn heard(&mut self) -> Said {
        let frame = self.frame();
        owned(get_message(&frame).unwrap())
    }

    /// The next one that fits.
    pub fn until<T>(&mut self, fits: impl Fn(Said) -> Option<T>) -> T {
        let end = Instant::now() + self.limit;
        loop {
            assert!(Instant::now() < end);
            if let Some(found) = fits(self.heard()) {
                return found;
            }
        }
    }

    /// Asks for a refresh; its number.
    pub fn ask_refresh(&mut self, full: bool) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&ToWorker::Refresh { id, full });
        id
    }

    /// Asks for one, and waits for its end.
    pub fn refresh(&mut self, full: bool) -> (Changes, Vec<SourceOutcome<'static>>) {
        let id = self.ask_refresh(full);
        self.done(id)
    }

    /// Waits for the end of a refresh.
    pub fn done(&mut self, id: u32) -> (Changes, Vec<SourceOutcome<'static>>) {
        self.until(|said| match said {
            Said::Done(of, changes, sources, _) if of == id => Some((changes, sources)),
            Said::Failed(of, why) if of == id => panic!("{why:?}"),
            _ => None,
        })
    }

    /// Refreshes, which its only source fails: why, and when it is tried again.
    pub fn failure(&mut self) -> (String, Option<u64>) {
        let (changes, sources) = self.refresh(false);
        assert_eq!(changes, Changes::default());
        assert_eq!(sources.len(), 1);
        (sources[0].error.clone().expect("it failed").into_owned(), sources[0].not_before)
    }

    /// Enriches; how many entries were, and how many were not.
    pub fn enrich(&mut self) -> (u32, u32) {
        self.send(&ToWorker::Enrich { id: 900 });
        self.until(|said| match said {
            Said::Done(900, _, _, counts) => Some(counts),
            Said::Failed(900, why) => panic!("{why:?}"),
            _ => None,
        })
    }

    /// The worker's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it by SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Says so, and waits for its end.
    pub fn shut_down(&mut self) -> bool {
        self.send(&ToWorker::Shutdown);
        let end = Instant::now() + LIMIT;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn owned(message: FromWorker<'_>) -> Said {
    match message {
        FromWorker::Hello { .. } => panic!("it greets once"),
        FromWorker::Opened { set_aside } => Said::Opened(set_aside.map(Into::into)),
        FromWorker::Status(status) => Said::Status(WorkerStatus {
            snapshot: status.snapshot.map(|date| date.into_owned().into()),
            ..WorkerStatus { snapshot: None, ..status }
        }),
        FromWorker::Progress(WorkerStep::SourceDone(outcome)) => Said::SourceDone(of(outcome)),
        FromWorker::Progress(step) => Said::Step(format!("{step:?}")),
        FromWorker::Done { id, changes, sources, enriched, not_enriched } => {
            Said::Done(id, changes, sources.into_iter().map(of).collect(), (enriched, not_enriched))
        }
        FromWorker::Failed { id, why } => Said::Failed(
            id,
            match why {
                WorkerFailure::NotConfigured => WorkerFailure::NotConfigured,
                WorkerFailure::Nothing => WorkerFailure::Nothing,
                WorkerFailure::Settings(why) => WorkerFailure::Settings(why.into_owned().into()),
                WorkerFailure::Database(why) => WorkerFailure::Database(why.into_owned().into()),
            },
        ),
    }
}

fn of(outcome: SourceOutcome<'_>) -> SourceOutcome<'static> {
    SourceOutcome {
        source: outcome.source.into_owned().into(),
        entries: outcome.entries,
        changes: outcome.changes,
        error: outcome.error.map(|error| error.into_owned().into()),
        not_before: outcome.not_before,
    }
}
