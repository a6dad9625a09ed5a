//! The lines of the log that wait for stderr, and the thread that writes them.
//!
//! ```text
//!  put ─► queue (bounded, never waits) ─► thread ─► one write per line ─► stderr
//!                                           └─ refused: the line stays, and is tried again
//! ```
//!
//! Owns the bound, and the count of lines that found no room. Must never let code that logs wait: stderr may be a pipe
//! that nobody reads, or a file on a disk that does not answer. (tracing-appender does not fit: it swallows errors of the
//! disk. It also reports on stdout, which belongs to the protocol, that it could not end in time.)

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Most bytes that may wait.
const MAX: usize = 256 * 1024;

/// A write that takes longer counts as failed.
const SLOW: Duration = Duration::from_secs(1);

/// The pause before a refused line is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// The queue between the code that logs and the thread that writes.
#[derive(Debug, Default)]
pub(super) struct Sink {
    state: Mutex<SinkState>,
    /// Set off when a line, or the end, has come.
    came: Condvar,
    /// Set off when a line is written, or refused.
    done: Condvar,
}

#[derive(Debug, Default)]
struct SinkState {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Lines that found no room: since the log last said so, and in all.
    unsaid: u64,
    dropped: u64,
    /// The time since which a line is being written.
    since: Option<Instant>,
    /// The reason why the first line was refused, while that holds.
    refused: Option<String>,
}

/// The state of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogHealth {
    /// The reason why the log cannot be written at present.
    pub failing: Option<String>,
    /// Lines that found no room since the program began.
    pub dropped: u64,
}

impl Sink {
    /// Starts the thread that writes to `place`; `lacks` makes the line that says how many found no room.
    pub(super) fn start(
        place: impl Write + Send + 'static,
        lacks: impl Fn(u64) -> String + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let sink = Arc::<Self>::default();
        let theirs = sink.clone();
        Builder::new().name("harbor.log".into()).spawn(move || theirs.write_all(place, lacks))?;
        Ok(sink)
    }

    fn lock(&self) -> MutexGuard<'_, SinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a whole line. Never waits: a line that finds no room is counted.
    pub(super) fn put(&self, line: &[u8]) {
        let mut state = self.lock();
        if state.bytes >= MAX {
            state.unsaid += 1;
            state.dropped += 1;
            return;
        }
        state.bytes += line.len();
        state.lines.push_back(line.to_owned());
        drop(state);
        self.came.notify_one();
    }

    pub(super) fn standing(&self) -> LogHealth {
        let state = self.lock();
        let is_slow = state.since.is_some_and(|since| since.elapsed() >= SLOW);
        let slow = is_slow.then(|| "stderr accepts nothing".to_owned());
        LogHealth { failing: state.refused.clone().or(slow), dropped: state.dropped }
    }

    /// Waits until everything is written, at most for `limit`, and no longer if it is refused.
    pub(super) fn finish(&self, limit: Duration) {
        let is_under_way = |state: &mut SinkState| !state.lines.is_empty() && state.refused.is_none();
        drop(self.done.wait_timeout_while(self.lock(), limit, is_under_way));
    }

    fn write_all(&self, mut place: impl Write, lacks: impl Fn(u64) -> String) {
        loop {
            let line = self.first(&lacks);
            let (written, result) = write(&mut place, &line);
            let mut state = self.lock();
            state.since = None;
            state.bytes -= written;
            match result {
                Ok(()) => {
                    state.lines.pop_front();
                    state.refused = None;
                }
                Err(error) => {
                    state.refused = Some(error.to_string());
                    if let Some(line) = state.lines.front_mut() {
                        line.drain(..written);
                    }
                }
            }
            self.done.notify_all();
            if state.refused.is_some() {
                // Lines that come meanwhile are no reason to try earlier.
                drop(self.done.wait_timeout_while(state, AGAIN, |_| true));
            }
        }
    }

    /// Waits for the first line, which stays in the queue until it is written.
    fn first(&self, lacks: impl Fn(u64) -> String) -> Vec<u8> {
        let mut state = self
            .came
            .wait_while(self.lock(), |state| state.lines.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        if state.unsaid > 0 && state.bytes < MAX {
            let line = lacks(std::mem::take(&mut state.unsaid));
            state.bytes += line.len();
            state.lines.push_back(line.into_bytes());
        }
        state.since = Some(Instant::now());
        state.lines.front().cloned().unwrap_or_default()
    }
}

/// Writes a line. Returns how many bytes were written.
fn write(place: &mut impl Write, line: &[u8]) -> (usize, io::Result<()>) {
    let mut written = 0;
    while written < line.len() {
        match place.write(&line[written..]) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    const LIMIT: Duration = Duration::from_secs(30);

    /// Takes a line for each answer that it is given, and tells of it; without one it waits, as a full pipe does.
    struct Place {
        answers: Receiver<io::Result<()>>,
        taken: Sender<String>,
    }

    impl Write for Place {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.answers.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
            let _ = self.taken.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn place() -> (Arc<Sink>, Sender<io::Result<()>>, Receiver<String>) {
        let ((answer, answers), (taken, said)) = (channel(), channel());
        let lacks = |count| format!("{count} are lacking\n");
        (Sink::start(Place { answers, taken }, lacks).unwrap(), answer, said)
    }

    #[test]
    fn what_finds_no_room_is_counted_and_said() {
        let (sink, answer, said) = place();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        (0..300).for_each(|_| sink.put(&line));
        assert_eq!(sink.standing().dropped, 44);
        (0..257).for_each(|_| answer.send(Ok(())).unwrap());
        let all: Vec<_> = (0..257).map(|_| said.recv_timeout(LIMIT).unwrap()).collect();
        assert_eq!(all[256], "44 are lacking\n");
        sink.finish(LIMIT);
        assert_eq!(sink.standing(), LogHealth { failing: None, dropped: 44 });
    }

    #[test]
    fn what_is_refused_stays_and_is_written_later() {
        let (sink, answer, said) = place();
        sink.put(b"one\n");
        answer.send(Err(io::Error::other("full"))).unwrap();
        sink.finish(LIMIT);
        assert_eq!(sink.standing(), LogHealth { failing: Some("full".into()), dropped: 0 });
        sink.put(b"two\n");
        (0..2).for_each(|_| answer.send(Ok(())).unwrap());
        assert_eq!([(); 2].map(|()| said.recv_timeout(LIMIT).unwrap()), ["one\n", "two\n"]);
        sink.finish(LIMIT);
        assert_eq!(sink.standing(), LogHealth::default());
    }

    #[test]
    fn a_write_that_does_not_end_is_seen() {
        let (sink, answer, _said) = place();
        sink.put(b"one\n");
        let until = Instant::now() + LIMIT;
        while sink.standing().failing.is_none() && Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(sink.standing().failing.as_deref(), Some("stderr accepts nothing"));
        answer.send(Ok(())).unwrap();
        sink.finish(LIMIT);
        assert_eq!(sink.standing(), LogHealth::default());
    }
}
