//! Finding out which generation of MCP a server speaks, without harming it.
//!
//! ```text
//!            known legacy                               Hello(version)
//!  begin ───────────────────► Initializing ──────────────────────────────► Made(legacy)
//!    │                           ▲   ▲  │ error, and no probe was sent yet ─► Probing
//!    │ else                      │   │  │ error after a probe, or twice ────► Refused
//!    ▼          any other error  │   │
//!  Probing ──────────────────────┘   │ silence
//!    │  │ └────────────────────────► Both: probe and initialize are open
//!    ▼  ▼
//!  Made(modern)  or  UnknownVersion          exit after a probe ─► StartAgain, known legacy
//! ```
//!
//! The probe may kill a server late: servers on MCP's Python SDK up to 1.8 hang on the probe and exit at the line behind it.
//!
//! In `Both` the server was only slow, or ignores what it does not know. Its answer to `initialize` decides, even when the
//! late probe succeeds first: once it read `initialize`, a server of both generations has chosen the older one. A server
//! that refuses the revision of `initialize` and names others is asked once more, by the newest of them that Harbor speaks.
//! A server may answer `initialize` with the modern revision, which has no such request. That only says what its SDK knows
//! as the newest: it is taken at the revision that it was asked by. Pure: events in, steps out, no clock.

use harbor_ipc_proto::link::runner::Era;

/// The modern revision that Harbor speaks.
pub const MODERN: &str = "2026-07-28";

/// The legacy revisions that Harbor speaks, newest first.
pub const LEGACY: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// JSON-RPC number of "I do not speak this revision", by which a modern server shows itself.
const UNSUPPORTED_VERSION: i64 = -32022;

/// An event of contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// `server/discover` was answered: these revisions are supported.
    Discovered(Vec<String>),
    /// `server/discover` was answered by an error, with the revisions it names, if any.
    ProbeRefused {
        /// JSON-RPC's number.
        code: i64,
        /// `data.supported`.
        supported: Vec<String>,
    },
    /// Nothing came for a while.
    Silence,
    /// `initialize` was answered: this revision.
    Initialized(String),
    /// `initialize` was answered by an error.
    InitializeRefused {
        /// JSON-RPC's number.
        code: i64,
        /// Its sentence.
        message: String,
        /// The revisions that it names.
        supported: Vec<String>,
    },
    /// The server ended.
    Exited,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Do nothing; keep listening.
    Wait,
    /// Send `server/discover`, and report silence after a while.
    Probe,
    /// Send `initialize`.
    Initialize,
    /// Contact is made.
    Made(Era, String),
    /// The server does not survive the probe: start it again without one.
    StartAgain,
    /// The server speaks only these revisions.
    UnknownVersion(String),
    /// The server refuses.
    Refused {
        /// JSON-RPC's number.
        code: i64,
        /// Its sentence.
        message: String,
    },
    /// The server ended before contact was made.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    Probing,
    Initializing,
    /// Both requests are open; holds whether the probe has succeeded meanwhile.
    Both {
        discovered: bool,
    },
    Over,
}

/// The machine.
#[derive(Debug)]
pub struct Contact {
    phase: Phase,
    probed: bool,
    /// True if the probe was sent again to a server that refused the revision that it names.
    insisted: bool,
    /// How `initialize` was refused, when the probe came after it.
    refusal: Option<Step>,
    /// The revision by which `initialize` asks.
    revision: &'static str,
    /// True if `initialize` was sent again by another revision.
    gave_way: bool,
}

impl Contact {
    /// Begins with what is known from an earlier start: the generation, and a revision that the server insisted on.
    pub fn begin(known: Option<Era>, revision: Option<&str>) -> (Self, Step) {
        let revision = LEGACY.iter().find(|legacy| Some(**legacy) == revision).unwrap_or(&LEGACY[0]);
        let (phase, probed, first) = match known {
            Some(Era::Legacy) => (Phase::Initializing, false, Step::Initialize),
            _ => (Phase::Probing, true, Step::Probe),
        };
        (Self { phase, probed, insisted: false, refusal: None, revision, gave_way: false }, first)
    }

    /// The revision by which `initialize` asks.
    pub fn revision(&self) -> &'static str {
        self.revision
    }

    /// The newest revision of these that `initialize` may ask by, if it has not given way before.
    fn other(&self, supported: &[String]) -> Option<&'static str> {
        let is_other =
            |legacy: &&str| *legacy != self.revision && supported.iter().any(|version| version == legacy);
        LEGACY.iter().copied().find(is_other).filter(|_| !self.gave_way)
    }

    /// Takes an event. Events that do not fit the phase are late answers; they change nothing.
    pub fn on(&mut self, event: Event) -> Step {
        match (self.phase.clone(), event) {
            (Phase::Over, _) => Step::Wait,
            (phase, Event::Exited) => {
                let last = self.end_of(&phase);
                self.over(last)
            }
            (Phase::Probing, Event::Discovered(supported)) => self.choose(&supported),
            // It did not take the revision that it has: once more, for whoever tests that.
            (Phase::Probing, Event::ProbeRefused { code: UNSUPPORTED_VERSION, supported })
                if !self.insisted && supported.iter().any(|v| v == MODERN) =>
            {
                self.insisted = true;
                Step::Probe
            }
            (Phase::Probing, Event::ProbeRefused { code: UNSUPPORTED_VERSION, supported })
                if !supported.iter().any(|v| v == MODERN) =>
            {
                self.choose(&supported)
            }
            (Phase::Probing, Event::ProbeRefused { .. }) => self.initialize(),
            (Phase::Probing, Event::Silence) => {
                let step = self.initialize();
                if step == Step::Initialize {
                    self.phase = Phase::Both { discovered: false };
                }
                step
            }
            (Phase::Both { .. }, Event::Discovered(supported)) => {
                self.phase = Phase::Both { discovered: supported.iter().any(|v| v == MODERN) };
                Step::Wait
            }
            (Phase::Both { discovered: true }, Event::InitializeRefused { .. } | Event::Silence) => {
                self.over(Step::Made(Era::Modern, MODERN.into()))
            }
            (Phase::Initializing | Phase::Both { .. }, Event::Initialized(version)) => {
                self.over(match version.as_str() {
                    MODERN => Step::Made(Era::Legacy, self.revision.into()),
                    known if LEGACY.contains(&known) => Step::Made(Era::Legacy, version),
                    _ => Step::UnknownVersion(version),
                })
            }
            (Phase::Initializing | Phase::Both { .. }, Event::InitializeRefused { supported, .. })
                if self.other(&supported).is_some() =>
            {
                self.revision = self.other(&supported).unwrap_or(self.revision);
                self.gave_way = true;
                Step::Initialize
            }
            (Phase::Initializing, Event::InitializeRefused { code, message, .. }) if !self.probed => {
                self.probed = true;
                self.refusal = Some(Step::Refused { code, message });
                self.phase = Phase::Probing;
                Step::Probe
            }
            (Phase::Initializing | Phase::Both { .. }, Event::InitializeRefused { code, message, .. }) => {
                self.over(Step::Refused { code, message })
            }
            (Phase::Probing, Event::Initialized(_) | Event::InitializeRefused { .. })
            | (Phase::Initializing | Phase::Both { .. }, _) => Step::Wait,
        }
    }

    /// The step at the end of the server. A server that has refused `initialize` would refuse it again. A server that has
    /// answered the probe did not die of it.
    fn end_of(&mut self, phase: &Phase) -> Step {
        match self.refusal.take() {
            Some(refusal) => refusal,
            None if self.probed && *phase != (Phase::Both { discovered: true }) => Step::StartAgain,
            None => Step::Lost,
        }
    }

    /// The server named its revisions: modern if we share that one, else the handshake, else the end.
    fn choose(&mut self, supported: &[String]) -> Step {
        if supported.iter().any(|v| v == MODERN) {
            self.over(Step::Made(Era::Modern, MODERN.into()))
        } else if supported.iter().any(|v| LEGACY.contains(&v.as_str())) {
            self.initialize()
        } else {
            self.over(Step::UnknownVersion(supported.join(", ")))
        }
    }

    /// The handshake, once.
    fn initialize(&mut self) -> Step {
        if let Some(refusal) = self.refusal.take() {
            return self.over(refusal);
        }
        self.phase = Phase::Initializing;
        Step::Initialize
    }

    fn over(&mut self, last: Step) -> Step {
        self.phase = Phase::Over;
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn modern() -> Step {
        Step::Made(Era::Modern, MODERN.into())
    }

    fn legacy() -> Step {
        Step::Made(Era::Legacy, "2025-06-18".into())
    }

    fn refused(code: i64, supported: &[&str]) -> Event {
        Event::ProbeRefused { code, supported: supported.iter().map(ToString::to_string).collect() }
    }

    fn discovered(supported: &[&str]) -> Event {
        Event::Discovered(supported.iter().map(ToString::to_string).collect())
    }

    fn initialized() -> Event {
        Event::Initialized("2025-06-18".into())
    }

    fn no() -> Event {
        no_but(&[])
    }

    fn no_but(supported: &[&str]) -> Event {
        let supported = supported.iter().map(ToString::to_string).collect();
        Event::InitializeRefused { code: -32600, message: "no".into(), supported }
    }

    #[test]
    fn a_server_that_names_its_revisions_is_asked_by_the_newest_that_both_have_once() {
        let (mut contact, _) = Contact::begin(Some(Era::Legacy), None);
        assert_eq!(contact.revision(), LEGACY[0]);
        let named = [LEGACY[0], "2024-11-05", "2025-06-18", "2030-01-01"];
        assert_eq!(contact.on(no_but(&named[1..])), Step::Initialize);
        assert_eq!(contact.revision(), "2025-06-18");
        assert_eq!(contact.on(no_but(&["2024-11-05"])), Step::Probe, "not for ever");
        let (mut contact, _) = Contact::begin(Some(Era::Legacy), Some("2025-06-18"));
        assert_eq!(contact.revision(), "2025-06-18");
        assert_eq!(contact.on(no_but(&named)), Step::Initialize, "it has become a newer one");
        assert_eq!(contact.revision(), LEGACY[0]);
        let (mut contact, _) = Contact::begin(Some(Era::Legacy), Some("2030-01-01"));
        assert_eq!((contact.revision(), contact.on(no_but(&["2030-01-01"]))), (LEGACY[0], Step::Probe));
    }

    type Row = (Option<Era>, Step, Vec<(Event, Step)>);

    /// Each row: what is known, then event after event with the step that it leads to.
    #[test]
    fn the_table() {
        let rows: Vec<Row> = vec![
            (None, Step::Probe, vec![(discovered(&[MODERN]), modern())]),
            (None, Step::Probe, vec![(refused(-32601, &[]), Step::Initialize), (initialized(), legacy())]),
            (None, Step::Probe, vec![(Event::Exited, Step::StartAgain)]),
            (Some(Era::Legacy), Step::Initialize, vec![(initialized(), legacy())]),
            (Some(Era::Legacy), Step::Initialize, vec![(Event::Exited, Step::Lost)]),
            // A server that became modern since: the refusal of initialize leads back to the probe.
            (
                Some(Era::Legacy),
                Step::Initialize,
                vec![(no(), Step::Probe), (discovered(&[MODERN]), modern())],
            ),
            // Silent on the probe.
            (None, Step::Probe, vec![(Event::Silence, Step::Initialize), (initialized(), legacy())]),
            // Slow and of both generations: it has read initialize, so that counts.
            (
                None,
                Step::Probe,
                vec![
                    (Event::Silence, Step::Initialize),
                    (discovered(&[MODERN]), Step::Wait),
                    (initialized(), legacy()),
                ],
            ),
            // Slow and modern only.
            (
                None,
                Step::Probe,
                vec![
                    (Event::Silence, Step::Initialize),
                    (discovered(&[MODERN]), Step::Wait),
                    (no(), modern()),
                ],
            ),
            // Slow and legacy: the late refusal of the probe is no answer to initialize.
            (
                None,
                Step::Probe,
                vec![
                    (Event::Silence, Step::Initialize),
                    (refused(-32601, &[]), Step::Wait),
                    (initialized(), legacy()),
                ],
            ),
            (None, Step::Probe, vec![(refused(-32022, &["2025-11-25"]), Step::Initialize)]),
            // It refuses the very revision that it names: once more, then by the handshake.
            (
                None,
                Step::Probe,
                vec![(refused(-32022, &[MODERN]), Step::Probe), (discovered(&[MODERN]), modern())],
            ),
            (
                None,
                Step::Probe,
                vec![
                    (refused(-32022, &[MODERN]), Step::Probe),
                    (refused(-32022, &[MODERN]), Step::Initialize),
                ],
            ),
            (None, Step::Probe, vec![(refused(-32022, &["2030"]), Step::UnknownVersion("2030".into()))]),
            (
                None,
                Step::Probe,
                vec![
                    (refused(-32601, &[]), Step::Initialize),
                    (Event::Initialized("1999-01-01".into()), Step::UnknownVersion("1999-01-01".into())),
                ],
            ),
            (
                None,
                Step::Probe,
                vec![
                    (refused(-32601, &[]), Step::Initialize),
                    (no(), Step::Refused { code: -32600, message: "no".into() }),
                ],
            ),
        ];
        hold(rows);
    }

    fn hold(rows: Vec<Row>) {
        for (known, first, events) in rows {
            let (mut contact, step) = Contact::begin(known, None);
            assert_eq!(step, first);
            for (event, wanted) in events {
                assert_eq!(contact.on(event.clone()), wanted, "{known:?} {event:?}");
            }
        }
    }

    #[test]
    fn the_table_of_ends_and_of_odd_servers() {
        hold(vec![
            // Hangs on the probe, and dies at the next line; or answers by an error, and dies all the same.
            (None, Step::Probe, vec![(Event::Silence, Step::Initialize), (Event::Exited, Step::StartAgain)]),
            (
                None,
                Step::Probe,
                vec![(refused(-32602, &[]), Step::Initialize), (Event::Exited, Step::StartAgain)],
            ),
            // It has survived the probe, and dies of initialize.
            (
                None,
                Step::Probe,
                vec![
                    (Event::Silence, Step::Initialize),
                    (discovered(&[MODERN]), Step::Wait),
                    (Event::Exited, Step::Lost),
                ],
            ),
            // It refuses initialize, and dies of the probe: another start would come to the same.
            (
                Some(Era::Legacy),
                Step::Initialize,
                vec![
                    (no(), Step::Probe),
                    (Event::Exited, Step::Refused { code: -32600, message: "no".into() }),
                ],
            ),
            // It names the newest revision that its SDK knows, and works by sessions.
            (
                None,
                Step::Probe,
                vec![
                    (refused(-32601, &[]), Step::Initialize),
                    (Event::Initialized(MODERN.into()), Step::Made(Era::Legacy, LEGACY[0].into())),
                ],
            ),
        ]);
    }

    proptest! {
        /// Whatever a server does, initialize and the probe are sent at most twice, and contact ends once.
        #[test]
        fn nothing_is_sent_for_ever(known in 0..3, events in prop::collection::vec(0..10, 0..20)) {
            let known = [None, Some(Era::Legacy), Some(Era::Modern)][usize::try_from(known).unwrap()];
            let (mut contact, first) = Contact::begin(known, None);
            let mut steps = vec![first];
            for event in events {
                steps.push(contact.on(match event {
                    0 => discovered(&[MODERN]),
                    1 => discovered(&["2030"]),
                    2 => refused(-32601, &[]),
                    3 => refused(-32022, &["2025-11-25"]),
                    4 => Event::Silence,
                    5 => initialized(),
                    6 => no(),
                    7 => refused(-32022, &[MODERN]),
                    8 => no_but(&["2025-03-26"]),
                    _ => Event::Exited,
                }));
            }
            let count = |wanted: &dyn Fn(&Step) -> bool| steps.iter().filter(|step| wanted(step)).count();
            prop_assert!(count(&|s| *s == Step::Probe) <= 2);
            prop_assert!(count(&|s| *s == Step::Initialize) <= 2);
            let last = |s: &Step| !matches!(s, Step::Wait | Step::Probe | Step::Initialize);
            prop_assert!(count(&last) <= 1);
        }
    }
}
