//! Contact with a server that may answer anything, in any order, at any time.
//!
//! Input: what is known of the server; then an event a byte.

use harbor_ipc_proto::link::runner::Era;
use harbor_runner::mcp::contact::{Contact, Event, LEGACY, MODERN, Step};

use super::Target;
use super::input::Input;

pub(super) const CONTACT: Target = Target {
    name: "contact",
    run: contact,
    corpus: &[
        b"\x00\x00",
        b"\x00\x04\x07",
        b"\x00\x06\x00\x08",
        b"\x01\x07",
        b"\x01\x08\x00",
        b"\x00\x05\x07",
        b"\x02\x09\x08\x06",
    ],
};

fn event(byte: u8) -> Event {
    let supported = |known: &str| vec!["1999-01-01".to_owned(), known.to_owned()];
    match byte % 13 {
        0 => Event::Discovered(supported(MODERN)),
        1 => Event::Discovered(supported(LEGACY[0])),
        2 => Event::Discovered(supported("2030-01-01")),
        3 => Event::Discovered(Vec::new()),
        4 => Event::ProbeRefused { code: -32601, supported: Vec::new() },
        5 => Event::ProbeRefused { code: -32022, supported: supported(LEGACY[1]) },
        6 => Event::Silence,
        7 => Event::Initialized(LEGACY[0].to_owned()),
        8 => Event::InitializeRefused { code: -32600, message: "no".to_owned(), supported: Vec::new() },
        9 => Event::Initialized("1999-01-01".to_owned()),
        10 => Event::ProbeRefused { code: -32022, supported: supported(MODERN) },
        11 => Event::InitializeRefused {
            code: -32000,
            message: "no".to_owned(),
            supported: supported(LEGACY[2]),
        },
        _ => Event::Exited,
    }
}

/// Handshake and probe are sent at most twice; it ends at most once, and says nothing after its end. A server that exited
/// has ended.
fn contact(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let known = input.choose(&[None, Some(Era::Legacy), Some(Era::Modern)]);
    let (mut contact, first) = Contact::begin(known, None);
    let (mut probes, mut handshakes, mut over) = (0, 0, false);
    count(&first, &mut probes, &mut handshakes);
    for byte in input.rest() {
        let event = event(*byte);
        let exited = event == Event::Exited;
        let step = contact.on(event);
        assert!(!over || step == Step::Wait, "{step:?} after the end");
        count(&step, &mut probes, &mut handshakes);
        assert!(probes <= 2 && handshakes <= 2, "{probes} probes, {handshakes} handshakes");
        over |= !matches!(step, Step::Wait | Step::Probe | Step::Initialize);
        assert!(over || !exited, "it goes on without its server");
        check(&step);
    }
}

fn count(step: &Step, probes: &mut u32, handshakes: &mut u32) {
    match step {
        Step::Probe => *probes += 1,
        Step::Initialize => *handshakes += 1,
        _ => {}
    }
}

fn check(step: &Step) {
    match step {
        Step::Made(Era::Modern, version) => assert_eq!(version, MODERN),
        Step::Made(Era::Legacy, version) => assert!(LEGACY.contains(&version.as_str())),
        _ => {}
    }
}
