//! The pauses between two tries to open a stream of events.
//!
//! Owns how long they are, and how many. Must never sleep itself.

use std::time::Duration;

/// Failed tries in a row until the stream is given up.
const TRIES: u32 = 4;

const FIRST: Duration = Duration::from_millis(500);

/// The pauses between tries: each twice the one before.
#[derive(Debug, Default)]
pub struct Pause {
    tries: u32,
}

impl Pause {
    /// The next pause, at least as long as the server wishes. None after enough pauses.
    pub fn next(&mut self, wished: Option<Duration>) -> Option<Duration> {
        self.tries += 1;
        (self.tries < TRIES).then(|| (FIRST * 2u32.pow(self.tries - 1)).max(wished.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_come_to_an_end() {
        let mut pause = Pause::default();
        let wished = Some(Duration::from_millis(700));
        let pauses: Vec<_> = (0..4).map(|_| pause.next(wished).map(|pause| pause.as_millis())).collect();
        assert_eq!(pauses, [Some(700), Some(1000), Some(2000), None]);
    }
}
