//! The settings of `config.toml` that are in force.
//!
//! ```text
//!  the file changes ─► read ─┬─ it is right ─► in force from now on: whoever asks next gets it
//!                            └─ it is wrong ─► what was in force stays, and why is kept
//! ```
//!
//! Owns the values in force. Must never hold half of a file: it is all of one or all of the other.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{ConfigError, HostConfig};

/// The values in force.
#[derive(Debug, Default)]
pub struct LiveConfig {
    current: RefCell<Rc<HostConfig>>,
    refused: RefCell<Option<String>>,
    /// How often new settings have come into force.
    changes: Cell<u64>,
}

impl LiveConfig {
    /// These values.
    #[must_use]
    pub fn new(first: HostConfig) -> Rc<Self> {
        let current = RefCell::new(Rc::new(first));
        Rc::new(Self { current, ..Self::default() })
    }

    /// The values in force now. A caller that keeps them keeps these, also when others come into force.
    #[must_use]
    pub fn now(&self) -> Rc<HostConfig> {
        self.current.borrow().clone()
    }

    /// The reason why the present file is not in force.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        self.refused.borrow().clone()
    }

    /// How often new settings have come into force.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// Takes over what the file says now. True if that changes anything, even if only that the file is wrong now.
    pub fn take(&self, read: Result<HostConfig, ConfigError>) -> bool {
        let before = self.refused.take();
        match read {
            Ok(config) => {
                let changes = config != **self.current.borrow();
                if changes {
                    *self.current.borrow_mut() = Rc::new(config);
                    self.changes.set(self.changes.get() + 1);
                }
                changes || before.is_some()
            }
            Err(wrong) => {
                let why = wrong.to_string();
                let changes = before.as_ref() != Some(&why);
                *self.refused.borrow_mut() = Some(why);
                changes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_wrong_file_changes_nothing_but_what_is_said() {
        let config = |seconds| HostConfig { once: Duration::from_secs(seconds), ..HostConfig::default() };
        let live = LiveConfig::new(config(1));
        let held = live.now();
        assert!(!live.take(Ok(config(1))), "the same again");
        assert!(live.take(Ok(config(2))));
        let wrong = || Err(ConfigError("line 3".into()));
        assert!(live.take(wrong()));
        assert!(!live.take(wrong()), "for the same reason");
        assert_eq!((live.now().once, live.refused().as_deref()), (Duration::from_secs(2), Some("line 3")));
        assert!(live.take(Ok(config(2))), "it is right again");
        assert_eq!((live.refused(), live.changes(), held.once), (None, 1, Duration::from_secs(1)));
    }
}
