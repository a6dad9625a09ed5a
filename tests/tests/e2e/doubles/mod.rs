//! The test doubles alone, without Harbor: what they are said to do, they do. Otherwise a test that passes means
//! nothing.

mod calls;
mod echo;
mod ending;
mod lines;
mod sound;

use std::process::Command;
use std::time::Duration;

use harbor_tests::faults::Settings;
use harbor_tests::{Direct, Fault, Journal, programs};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const MOMENT: Duration = Duration::from_millis(300);

pub(crate) struct Scene {
    dir: TempDir,
    pub(crate) settings: Settings,
}

impl Scene {
    pub(crate) fn new(fault: Fault) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { journal: Some(dir.path().join("journal")), ..Settings::new(fault) };
        Self { dir, settings }
    }

    pub(crate) fn modern() -> Self {
        let mut scene = Self::new(Fault::None);
        scene.settings.modern = true;
        scene
    }

    pub(crate) fn start(&self) -> Direct {
        start_as(&self.settings)
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::at(self.dir.path().join("journal"))
    }
}

/// One that writes no journal.
pub(crate) fn start(fault: Fault) -> Direct {
    start_as(&Settings::new(fault))
}

pub(crate) fn start_modern() -> Direct {
    start_as(&Settings { modern: true, ..Settings::new(Fault::None) })
}

pub(crate) fn start_as(settings: &Settings) -> Direct {
    Direct::start(Command::new(programs::double("misbehaving-server")).args(settings.to_args()))
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

pub(crate) fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": 5})
}
